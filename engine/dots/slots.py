"""The slots of a running program: what is in each, kept until its last reader has ended, and bounded together.

A value that is handed on stands in several slots and counts once. Templates can double a text in every step: without
the bound a small program would fill the host's memory.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from dots.errors import Code, Failure
from dots.excerpts import weight

MOST: Final = 256 << 20  # characters and bytes of a run's values at once
ITEM: Final = 64  # and what an item of a structured value counts


class Slots:
    """Owned by one flow. `readers` says how many units read each slot; `kept` are those read after the run."""

    def __init__(self, count: int, readers: Mapping[int, int], kept: Collection[int]) -> None:
        self.values: list[object] = [None] * count
        self.left = dict(readers)
        self.kept = frozenset(kept)
        self.size = 0
        self.held: dict[int, tuple[int, int]] = {}  # by identity: slots that hold the value, and its size

    def __getitem__(self, slot: int) -> object:
        return self.values[slot]

    def __setitem__(self, slot: int, value: object) -> None:
        """Written once; what nobody will read is not kept."""
        if not self.left.get(slot) and slot not in self.kept:
            return
        self.values[slot] = value
        slots, size = self.held.get(id(value), (0, 0))
        if not slots:
            size = size_of(value)
            self.size += size
        self.held[id(value)] = slots + 1, size

    def read(self, slots: Iterable[int]) -> None:
        """A reader of these has ended."""
        for slot in slots:
            self.left[slot] -= 1
            if not self.left[slot] and slot not in self.kept:
                self._let_go(slot)

    def overfull(self, values: Iterable[object]) -> Failure | None:
        """Why there is no room for these values of a unit."""
        new = {id(value): value for value in values if id(value) not in self.held}
        size = self.size + sum(map(size_of, new.values()))
        if size <= MOST:
            return None
        return Failure(Code.OUT_OF_MEMORY, "values of the run", f"at most {MOST >> 20} MiB at once", f"{size} bytes")

    def _let_go(self, slot: int) -> None:
        value, self.values[slot] = self.values[slot], None
        slots, size = self.held.pop(id(value), (0, 0))
        if slots > 1:
            self.held[id(value)] = slots - 1, size
        elif slots:
            self.size -= size


def size_of(value: object) -> int:
    return len(value) if isinstance(value, str | bytes) else ITEM * weight(value, MOST)
