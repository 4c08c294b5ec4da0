"""The versions of an open Space: the newest one, and what makes the next: a save, a restore, a file that is pushed.

Owned by `open_space.py`, which calls what changes anything under its lock. A restore and a file change the Room too, as
one push each; members hear of the push first, then of the version.
"""

import asyncio
import hashlib

from dots.components import Catalogue
from igc import igb, patch
from igc.graph import Graph
from spaces import tables, wire
from spaces.errors import Reason, Refused
from spaces.graphs import compiled, patch_file
from spaces.journal import Journal, patched_frame
from spaces.members import Member, Members
from spaces.room import Outcome
from spaces.stale import Standing, standing
from spaces.store import Files, Store

RESTORER = "restore"  # in the journal, whoever asked: no client id has this form
PUSHER = "push"  # likewise of files


def version_frame(row: tables.Version) -> wire.Version:
    created = tables.iso(row.created)
    return wire.Version(row.number, row.message, row.author, created, row.file, row.sem, row.patch, row.dotbin)


class Versions:
    def __init__(
        self, newest: tables.Version | None, journal: Journal, members: Members, store: Store, catalogue: Catalogue
    ) -> None:
        self.newest = newest
        self.journal = journal
        self.members = members
        self.store = store
        self.catalogue = catalogue

    async def save(self, member: Member, frame: wire.Save) -> None:
        """Make the Room as of a push the newest version. Raises Refused."""
        room = self.journal.room
        graph = room.as_of(frame.seq)
        if graph is None:
            expected = f"a seq from {room.base_seq} to {room.seq}"
            raise Refused(Reason.CONFLICT, "seq", "save.seq", expected, str(frame.seq))
        data = await asyncio.to_thread(igb.write, graph)
        if (same := self.newest_of(data)) is not None:
            member.send(wire.Saved(frame.id, version_frame(same)))
            return
        if self.newest is not None and frame.base_version != self.newest.number:
            expected = f"the newest version, {self.newest.number}"
            got = "none" if frame.base_version is None else str(frame.base_version)
            raise Refused(Reason.CONFLICT, "stale", "save.base_version", expected, got)
        await self.add(graph, data, frame.message, member.name, frame.id)

    async def restore(self, number: int, message: str, author: str) -> tables.Version:
        """Make the Room a version's graph, and that graph the newest version unless it is that already.

        Raises Refused when there is no such version.
        """
        row = await asyncio.to_thread(self.store.version, self.journal.space, number)
        data = (await asyncio.to_thread(self.store.file, row.file)).content
        outcome = await asyncio.to_thread(self.plan_restore, data)
        if outcome.ops:
            await self.push(RESTORER, author, outcome, f"version {number}")
        if self.newest is not None and self.newest.file == row.file:
            return self.newest
        return await self.add(outcome.graph, data, message, author, self.last_push(RESTORER))

    def plan_restore(self, data: bytes) -> Outcome:
        graph = igb.read(data)
        return Outcome(graph, patch.diff_ops(self.journal.room.graph, graph), as_sent=True)

    async def take_file(
        self, graph: Graph, data: bytes, base: int | None, message: str, author: str
    ) -> tuple[tables.Version, list[str]] | None:
        """Make a file the newest version, and the Room what it comes to with the file's changes.

        Equal bytes make no version; the first version needs no base; None where another is newer than `base`.
        The list names ops that unsaved edits in the Room leave no place for.

        Raises Refused when one push cannot hold what the file changes.
        """
        if (same := self.newest_of(data)) is not None:
            return same, []
        if self.newest is not None and base != self.newest.number:
            return None
        outcome = await asyncio.to_thread(self.plan_file, graph)
        outcome = await self.push(PUSHER, author, outcome, "body")
        row = await self.add(graph, data, message, author, self.last_push(PUSHER))
        return row, [f"{op.where}: {op.code}" for op in outcome.refused]

    def plan_file(self, graph: Graph) -> Outcome:
        """What the file changed since the newest version, laid over the Room."""
        room = self.journal.room
        before = room.graph if self.newest is None else self.graph_of(self.newest)
        return room.plan(list(patch.diff_ops(before, graph)))

    async def push(self, client: str, author: str, planned: Outcome, where: str) -> Outcome:
        """A push by the server itself, heard by every member. Raises Refused when it comes to nothing for its size."""
        outcome = await self.journal.take(client, self.journal.counters.get(client, -1) + 1, author, planned)
        for op in outcome.refused:
            if op.code == "size" and not outcome.ops:
                raise Refused(Reason.TOO_LARGE, op.code, where, op.expected, op.got)
        if outcome.ops:
            self.members.tell(patched_frame(self.journal.room.seq, outcome, author))
        return outcome

    def last_push(self, client: str) -> wire.PushId:
        """An id for `saved` of what no member asked for."""
        return (client, self.journal.counters.get(client, 0))

    async def add(self, graph: Graph, data: bytes, message: str, author: str, asked: wire.PushId) -> tables.Version:
        self.newest = await asyncio.to_thread(self.store_version, graph, data, message, author)
        self.members.tell(wire.Saved(asked, version_frame(self.newest)))
        return self.newest

    def store_version(self, graph: Graph, data: bytes, message: str, author: str) -> tables.Version:
        before = Graph() if self.newest is None else self.graph_of(self.newest)
        change = patch.diff(before, graph)
        files = Files(data, patch_file(change), compiled(graph, self.catalogue).data)
        return self.store.add_version(self.journal.space, message, author, change.target.sem, files)

    async def rename(self, number: int, message: str) -> tables.Version:
        """Give a version another message; its bytes and its number stay. Raises Refused when there is none."""
        row = await asyncio.to_thread(self.store.rename_version, self.journal.space, number, message)
        if self.newest is not None and self.newest.number == number:
            self.newest = row
            self.members.tell(wire.Saved(self.last_push(RESTORER), version_frame(row)))
        return row

    async def standing(self, graph: Graph, base: int | None) -> Standing:
        """How a graph that was made from a version stands to the newest one.

        Raises Refused when there is no such version.
        """
        row = None if base is None else await asyncio.to_thread(self.store.version, self.journal.space, base)
        return await asyncio.to_thread(self.compare, graph, row, self.newest)

    def compare(self, graph: Graph, row: tables.Version | None, newest: tables.Version | None) -> Standing:
        base, theirs = (Graph() if one is None else self.graph_of(one) for one in (row, newest))
        return standing(base, graph, theirs, None if newest is None else newest.number, self.catalogue)

    def graph_of(self, row: tables.Version) -> Graph:
        return igb.read(self.store.file(row.file).content)

    def newest_of(self, data: bytes) -> tables.Version | None:
        """The newest version, if these are its bytes."""
        if self.newest is None or hashlib.sha256(data).digest() != self.newest.file:
            return None
        return self.newest
