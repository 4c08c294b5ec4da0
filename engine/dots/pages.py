"""The pages of one region: who holds them, what is promised, what is free. One pool per region, owned by the engine.

free + held + reserved = total, always. A range is contiguous addresses for one owner; its pages are committed from the
front as it grows and every page reads as zeros when it is given out. Freed pages stay mapped (parked) and are unmapped
only when another range needs the memory. It knows no dots and no rows.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Protocol


class Memory(Protocol):
    """What a driver does for a pool: `arena.Region` on a CPU."""

    @property
    def pages(self) -> int: ...

    def commit(self, page: int, count: int) -> None: ...

    def decommit(self, page: int, count: int) -> None: ...

    def zero(self, page: int, count: int) -> None: ...


class PoolFull(Exception):
    """The pool or its addresses cannot hold this now."""


@dataclass(eq=False, slots=True)
class Range:
    """Contiguous pages promised to one owner; the first `held` of them are committed."""

    owner: str
    first: int
    pages: int
    held: int = 0
    released: bool = False


@dataclass(slots=True)
class Pool:
    memory: Memory
    total: int  # pages of memory that may be in use; the region's addresses may span many more
    held: int = 0
    reserved: int = 0  # promised, not yet committed
    ranges: list[Range] = field(default_factory=list)  # in address order
    parked: dict[int, None] = field(default_factory=dict)  # mapped and free, oldest first

    def __post_init__(self) -> None:
        if not 0 < self.total <= self.memory.pages:
            raise ValueError(f"pool: expected 1..{self.memory.pages} pages, got {self.total}")

    @property
    def free(self) -> int:
        return self.total - self.held - self.reserved

    def can_reserve(self, pages: int) -> bool:
        return pages <= self.free and self._hole(pages) is not None

    def reserve(self, owner: str, pages: int) -> Range:
        """Promise pages and their addresses; nothing is committed yet."""
        if pages <= 0:
            raise ValueError(f"reserve: expected at least one page, got {pages}")
        if pages > self.free:
            raise PoolFull(f"expected {pages} free pages, got {self.free} of {self.total}")
        first = self._hole(pages)
        if first is None:
            raise PoolFull(f"expected {pages} contiguous pages of addresses, got none")
        new = Range(owner, first, pages)
        self.ranges.insert(bisect_left(self.ranges, first, key=lambda r: r.first), new)
        self.reserved += pages
        return new

    def commit(self, target: Range, pages: int) -> None:
        """Grow a range to `pages` held pages, zeroed. A failure leaves what was committed before it."""
        if target.released or pages > target.pages:
            raise ValueError(f"{target.owner}: expected at most {target.pages} pages of a live range, got {pages}")
        while target.held < pages:
            page = target.first + target.held
            if page in self.parked:
                self.memory.zero(page, 1)
                del self.parked[page]
            else:
                self._make_room()
                self.memory.commit(page, 1)
            target.held += 1
            self.held += 1
            self.reserved -= 1

    def release(self, target: Range) -> None:
        """End a range; a second call does nothing. Its pages are parked."""
        if target.released:
            return
        target.released = True
        self.ranges.remove(target)
        self.held -= target.held
        self.reserved -= target.pages - target.held
        self.parked.update(dict.fromkeys(range(target.first, target.first + target.held)))

    def trim(self) -> None:
        """Unmap everything parked. Only between steps."""
        while self.parked:
            self._unpark()

    def _hole(self, pages: int) -> int | None:
        """The lowest gap that fits: low addresses were used last, so their pages are the likeliest to be parked."""
        at = 0
        for taken in self.ranges:
            if taken.first - at >= pages:
                return at
            at = taken.first + taken.pages
        return at if self.memory.pages - at >= pages else None

    def _make_room(self) -> None:
        while self.parked and self.held + len(self.parked) >= self.total:
            self._unpark()

    def _unpark(self) -> None:
        page = next(iter(self.parked))
        self.memory.decommit(page, 1)
        del self.parked[page]
