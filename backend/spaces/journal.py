"""The Room of an open Space with its journal: what changes the Room was written first, so the two never part.

Called by `open_space.py` and `versions.py` under the lock of the open Space. It tells nobody.
"""

import asyncio

from dots import codec
from igc import igb, patch
from spaces import wire
from spaces.room import Outcome, Room, encode_ops, key_value
from spaces.store import Entry, Store


def patched_frame(seq: int, outcome: Outcome, author: str) -> wire.Patched:
    """An outcome that was taken, as members hear of it."""
    overtaken = [(key_value(key), writer) for key, writer in outcome.overtaken]
    return wire.Patched(seq, [patch.to_value(op) for op in outcome.ops], author, overtaken)


class Journal:
    def __init__(self, space: str, room: Room, counters: dict[str, int], store: Store) -> None:
        self.space = space
        self.room = room
        self.counters = counters  # the newest push of each client
        self.store = store

    def has(self, client: str, counter: int) -> bool:
        return counter <= self.counters.get(client, -1)

    async def answered(self, client: str, counter: int) -> int:
        """The seq after a push that was taken before; where that is forgotten, what the Room has come to."""
        seq = await asyncio.to_thread(self.store.answered, self.space, client, counter)
        return self.room.seq if seq is None else seq

    async def take(self, client: str, counter: int, author: str, planned: Outcome) -> Outcome:
        """Write what a push comes to, then make it so. One that is too long to write comes to nothing."""
        outcome, is_snapshot = await asyncio.to_thread(self.write, client, counter, planned)
        self.counters[client] = counter
        self.room.take(author, outcome)
        if is_snapshot:
            self.room.snapshot_taken()
        return outcome

    def write(self, client: str, counter: int, outcome: Outcome) -> tuple[Outcome, bool]:
        """In a thread. Says also whether the graph was written as a whole."""
        try:
            encoded = encode_ops(outcome.ops) if outcome.ops else None
        except codec.Unencodable as error:  # deletes that take too many edges along
            outcome, encoded = self.room.nothing(error.expected, error.got), None
        is_snapshot = bool(outcome.ops) and self.room.wants_snapshot
        entry = Entry(client, counter, self.room.seq + bool(outcome.ops), encoded)
        self.store.append(self.space, entry, igb.write(outcome.graph) if is_snapshot else None)
        return outcome, is_snapshot
