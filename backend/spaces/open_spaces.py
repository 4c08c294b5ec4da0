"""The open Spaces of this server: opened on first use from snapshot and journal, let go when nobody looks."""

import asyncio

from dots.components import Catalogue
from igc import igb
from spaces.errors import Reason
from spaces.open_space import OpenSpace
from spaces.room import Room, decode_ops
from spaces.runs import Runs
from spaces.store import Store

IDLE_SECONDS = 600.0  # an open Space without members stays in memory so long: whoever asked for it has joined by then


class OpenSpaces:
    def __init__(self, store: Store, runs: Runs, catalogue: Catalogue) -> None:
        self.store = store
        self.runs = runs
        self.catalogue = catalogue
        self.open: dict[str, OpenSpace] = {}
        self.opening = asyncio.Lock()

    async def get(self, space: str) -> OpenSpace:
        """An open Space.

        Raises Refused when there is none of this id.
        """
        async with self.opening:
            found = self.open.get(space)
            if found is None:
                self.let_go()
                found = self.open[space] = await asyncio.to_thread(self.load, space)
            found.asked_for = asyncio.get_running_loop().time()
            return found

    def load(self, space: str) -> OpenSpace:
        row = self.store.space(space)
        rows = self.store.journal_after(space, row.snapshot_seq)
        journal = ((entry.seq, entry.client, decode_ops(entry.ops or b"\x80")) for entry in rows)
        room = Room.opened(igb.read(row.snapshot), row.snapshot_seq, journal)
        counters, version = self.store.counters(space), self.store.newest_version(space)
        return OpenSpace(row, room, counters, version, self.store, self.runs, self.catalogue)

    def let_go(self) -> None:
        """Forget Spaces that nobody looks at; their Rooms stand in the journal."""
        since = asyncio.get_running_loop().time() - IDLE_SECONDS
        for space in [s for s in self.open.values() if s.asked_for < since and not s.members]:
            if space.lock.locked() or self.runs.running(space.id):
                continue
            space.close(Reason.UNAVAILABLE, "")
            self.runs.forget(space.id)
            del self.open[space.id]

    def wake(self, space: str) -> None:
        """A log of this Space grew."""
        found = self.open.get(space)
        if found is not None:
            for member in found.members:
                member.wake()

    def renamed(self, space: str, name: str) -> None:
        if space in self.open:
            self.open[space].name = name

    async def deleted(self, space: str) -> None:
        await self.runs.cancel_space(space)
        found = self.open.pop(space, None)
        if found is not None:
            found.close(Reason.NOT_FOUND, "this Space was deleted")

    def close(self) -> None:
        for space in self.open.values():
            space.close(Reason.UNAVAILABLE, "the server stops")
