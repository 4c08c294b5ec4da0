"""An open Space, the owner of its Room: journals pushes, tells members, saves versions, starts runs.

Everything that changes the Room happens under its lock, in the order: plan, journal, take, tell. A member that goes
away in between does not stop it (the work is shielded): Room and journal never part.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dots import codec
from dots.components import Catalogue
from igc import igb, patch
from igc.graph import Graph
from spaces import tables, wire
from spaces.errors import Reason, Refused
from spaces.graphs import Compiled, compiled, diagnose, patch_file, read_igb
from spaces.log import Log
from spaces.room import Outcome, Room, encode_ops, key_value, read_ops
from spaces.runs import Runs
from spaces.stale import Standing, standing
from spaces.store import Entry, Files, Store
from spaces.typed import Mismatch

log = logging.getLogger("spaces.open_space")

QUIET = 0.15  # seconds without a push before the graph is diagnosed again
RESTORER = "restore"  # in the journal, whoever asked: no client id has this form
PUSHER = "push"  # likewise of files


class Member(Protocol):
    """A connection, as an open Space sees it; `send` never blocks."""

    client: str
    name: str

    def send(self, frame: wire.ServerFrame) -> None: ...
    def follow(self, log: Log, cursor: int) -> None: ...
    def wake(self) -> None: ...
    def leave(self, reason: Reason, why: str) -> None: ...


def version_frame(row: tables.Version) -> wire.Version:
    created = tables.iso(row.created)
    return wire.Version(row.number, row.message, row.author, created, row.file, row.sem, row.patch, row.dotbin)


class OpenSpace:
    def __init__(
        self,
        row: tables.Space,
        room: Room,
        counters: dict[str, int],
        version: tables.Version | None,
        store: Store,
        runs: Runs,
        catalogue: Catalogue,
    ) -> None:
        self.id = row.id
        self.name = row.name
        self.room = room
        self.counters = counters
        self.version = version
        self.store = store
        self.runs = runs
        self.catalogue = catalogue
        self.members: dict[str, Member] = {}
        self.lock = asyncio.Lock()
        self.diagnosing: asyncio.Task[None] | None = None
        self.asked_for = 0.0  # when, on the loop's clock

    # Members

    async def join(self, member: Member) -> wire.Welcome:
        """Add a member; a connection that had its client id before is replaced."""
        async with self.lock:
            data = await asyncio.to_thread(igb.write, self.room.graph)
            before = self.members.pop(member.client, None)
            if before is not None:
                before.leave(Reason.CONFLICT, "another connection of this client took over")
            self.members[member.client] = member
            self.diagnose_soon(0.0)
            return wire.Welcome(
                space=wire.SpaceInfo(self.id, self.name),
                seq=self.room.seq,
                igb=data,
                transfer=None,
                version=None if self.version is None else version_frame(self.version),
                members=[wire.Member(other.client, other.name) for other in self.members.values()],
                runs=self.runs.running(self.id),
            )

    def leave(self, member: Member) -> None:
        # A connection that was replaced must not take its successor along.
        if self.members.get(member.client) is member:
            del self.members[member.client]

    def tell(self, frame: wire.ServerFrame, without: Member | None = None) -> None:
        for member in list(self.members.values()):
            if member is not without:
                member.send(frame)

    def present(self, member: Member, data: dict[str, Any]) -> None:
        self.tell(wire.Present(member.client, data), without=member)

    # Pushes

    async def push(self, member: Member, frame: wire.Push) -> None:
        await asyncio.shield(asyncio.create_task(self.push_in_order(member, frame)))

    async def push_in_order(self, member: Member, frame: wire.Push) -> None:
        async with self.lock:
            client, counter = frame.id
            if client != member.client:
                raise Refused(Reason.INVALID, "field", "push.id[0]", member.client, client)
            if counter <= self.counters.get(client, -1):
                seq = await asyncio.to_thread(self.store.answered, self.id, client, counter)
                member.send(wire.Ack(frame.id, self.room.seq if seq is None else seq))
                return
            try:
                ops = read_ops(frame.ops)
            except Mismatch as error:
                member.send(wire.Refusal(frame.id, "field", error.where, error.expected, error.got))
                return
            outcome = await asyncio.to_thread(self.plan_and_journal, client, counter, ops)
            self.room.take(client, outcome)
            self.counters[client] = counter
            if outcome.ops and self.room.wants_snapshot:
                self.room.snapshot_taken()
            self.answer(member, frame, outcome)
        if outcome.ops:
            self.diagnose_soon(QUIET)

    def plan_and_journal(self, client: str, counter: int, ops: list[patch.Op]) -> Outcome:
        """In a thread, under the lock: what the push comes to, written before anyone is told."""
        outcome = self.room.plan(ops)
        try:
            encoded = encode_ops(outcome.ops) if outcome.ops else None
        except codec.Unencodable as error:  # deletes that take too many edges along
            outcome, encoded = self.room.nothing(error.expected, error.got), None
        entry = Entry(client, counter, self.room.seq + bool(outcome.ops), encoded)
        snapshot = igb.write(outcome.graph) if outcome.ops and self.room.wants_snapshot else None
        self.store.append(self.id, entry, snapshot)
        return outcome

    def answer(self, member: Member, frame: wire.Push, outcome: Outcome) -> None:
        """What stands first, then what was refused; when nothing stands, the first refusal settles the push."""
        overtaken = [(key_value(key), author) for key, author in outcome.overtaken]
        patched = wire.Patched(self.room.seq, [patch.to_value(op) for op in outcome.ops], member.client, overtaken)
        if outcome.ops:
            self.tell(patched, without=member)
        if outcome.as_sent:
            member.send(wire.Ack(frame.id, self.room.seq))
        elif outcome.ops or not outcome.refused:
            member.send(patched)
        for op in outcome.refused:
            member.send(wire.Refusal(frame.id, op.code, op.where, op.expected, op.got))

    # Versions

    async def save(self, member: Member, frame: wire.Save) -> None:
        await asyncio.shield(asyncio.create_task(self.save_in_order(member, frame)))

    async def save_in_order(self, member: Member, frame: wire.Save) -> None:
        async with self.lock:
            graph = self.room.as_of(frame.seq)
            if graph is None:
                expected = f"a seq from {self.room.base_seq} to {self.room.seq}"
                raise Refused(Reason.CONFLICT, "seq", "save.seq", expected, str(frame.seq))
            data = await asyncio.to_thread(igb.write, graph)
            if self.version is not None and hashlib.sha256(data).digest() == self.version.file:
                member.send(wire.Saved(frame.id, version_frame(self.version)))
                return
            if self.version is not None and frame.base_version != self.version.number:
                expected = f"the newest version, {self.version.number}"
                got = "none" if frame.base_version is None else str(frame.base_version)
                raise Refused(Reason.CONFLICT, "stale", "save.base_version", expected, got)
            self.version = await asyncio.to_thread(self.add_version, graph, data, frame.message, member.name)
            self.tell(wire.Saved(frame.id, version_frame(self.version)))

    def add_version(self, graph: Graph, data: bytes, message: str, author: str) -> tables.Version:
        before = Graph() if self.version is None else self.graph_of(self.version)
        change = patch.diff(before, graph)
        program = compiled(graph, self.catalogue)
        files = Files(data, patch_file(change), program.data)
        return self.store.add_version(self.id, message, author, change.target.sem, files)

    async def restore(self, number: int, message: str, author: str) -> tables.Version:
        """Make the Room a version's graph, as one push, and that graph the newest version.

        A Space whose newest version is this graph already gets no other. Raises Refused when there is no such version.
        """
        return await asyncio.shield(asyncio.create_task(self.restore_in_order(number, message, author)))

    async def restore_in_order(self, number: int, message: str, author: str) -> tables.Version:
        async with self.lock:
            counter = self.counters.get(RESTORER, -1) + 1
            row, data, outcome = await asyncio.to_thread(self.journal_restored, number, counter)
            if outcome.ops:
                self.room.take(author, outcome)
                self.counters[RESTORER] = counter
                if self.room.wants_snapshot:
                    self.room.snapshot_taken()
                self.tell(wire.Patched(self.room.seq, [patch.to_value(op) for op in outcome.ops], author, []))
                self.diagnose_soon(QUIET)
            if self.version is None or self.version.file != row.file:
                self.version = await asyncio.to_thread(self.add_version, outcome.graph, data, message, author)
                self.tell(wire.Saved((RESTORER, counter), version_frame(self.version)))
            return self.version

    def journal_restored(self, number: int, counter: int) -> tuple[tables.Version, bytes, Outcome]:
        """In a thread, under the lock: the version, its bytes, and the ops to it, written before anyone is told."""
        row = self.store.version(self.id, number)
        data = self.store.file(row.file).content
        graph = igb.read(data)
        outcome = Outcome(graph, patch.diff_ops(self.room.graph, graph), as_sent=True)
        if outcome.ops:
            entry = Entry(RESTORER, counter, self.room.seq + 1, encode_ops(outcome.ops))
            self.store.append(self.id, entry, data if self.room.wants_snapshot else None)
        return row, data, outcome

    async def take_file(
        self, data: bytes, base: int | None, message: str, author: str
    ) -> tuple[tables.Version, list[str]] | Standing:
        """Make a file the newest version, and the Room what it comes to with the file's changes.

        Equal bytes make no version; the first version needs no base; where another is newer than `base`: how it stands.
        The list names ops that unsaved edits in the Room leave no place for.

        Raises Refused for bytes that are no graph.
        """
        graph = await asyncio.to_thread(read_igb, data, "body")
        work = self.take_file_in_order(graph, data, base, message, author)
        found = await asyncio.shield(asyncio.create_task(work))
        return await self.standing(graph, base) if found is None else found

    async def take_file_in_order(
        self, graph: Graph, data: bytes, base: int | None, message: str, author: str
    ) -> tuple[tables.Version, list[str]] | None:
        async with self.lock:
            if self.version is not None and hashlib.sha256(data).digest() == self.version.file:
                return self.version, []
            if self.version is not None and base != self.version.number:
                return None
            counter = self.counters.get(PUSHER, -1) + 1
            outcome = await asyncio.to_thread(self.journal_file, graph, counter)
            self.counters[PUSHER] = counter
            if not outcome.ops and any(op.code == "size" for op in outcome.refused):
                one = outcome.refused[0]
                raise Refused(Reason.TOO_LARGE, one.code, "body", one.expected, one.got)
            self.room.take(author, outcome)
            if outcome.ops:
                if self.room.wants_snapshot:
                    self.room.snapshot_taken()
                ops = [patch.to_value(op) for op in outcome.ops]
                overtaken = [(key_value(key), writer) for key, writer in outcome.overtaken]
                self.tell(wire.Patched(self.room.seq, ops, author, overtaken))
                self.diagnose_soon(QUIET)
            self.version = await asyncio.to_thread(self.add_version, graph, data, message, author)
            self.tell(wire.Saved((PUSHER, counter), version_frame(self.version)))
            return self.version, [f"{op.where}: {op.code}" for op in outcome.refused]

    def journal_file(self, graph: Graph, counter: int) -> Outcome:
        """In a thread, under the lock: what the file changed since the newest version, laid over the Room."""
        before = self.room.graph if self.version is None else self.graph_of(self.version)
        return self.plan_and_journal(PUSHER, counter, list(patch.diff_ops(before, graph)))

    async def standing(self, graph: Graph, base: int | None) -> Standing:
        """How a graph that was made from a version stands to the newest one.

        Raises Refused when there is no such version.
        """
        row = None if base is None else await asyncio.to_thread(self.store.version, self.id, base)
        return await asyncio.to_thread(self.compare, graph, row, self.version)

    def compare(self, graph: Graph, row: tables.Version | None, newest: tables.Version | None) -> Standing:
        base, theirs = (Graph() if one is None else self.graph_of(one) for one in (row, newest))
        return standing(base, graph, theirs, None if newest is None else newest.number, self.catalogue)

    def graph_of(self, row: tables.Version) -> Graph:
        return igb.read(self.store.file(row.file).content)

    async def rename_version(self, number: int, message: str) -> tables.Version:
        """Give a version another message; its bytes and its number stay. Raises Refused when there is none."""
        async with self.lock:
            row = await asyncio.to_thread(self.store.rename_version, self.id, number, message)
            if self.version is not None and self.version.number == number:
                self.version = row
                self.tell(wire.Saved((RESTORER, self.counters.get(RESTORER, 0)), version_frame(row)))
            return row

    # Runs

    async def run(self, member: Member, frame: wire.Run, transferred: Callable[[str], bytes]) -> None:
        """Compile exactly the bytes sent, or a saved version, and start it; every member follows.

        Raises Refused.
        """
        which = sole(("igb", "transfer", "version"), (frame.igb, frame.transfer, frame.version))
        if which == "version":
            row = await asyncio.to_thread(self.store.version, self.id, frame.version or 0)
            data = (await asyncio.to_thread(self.store.file, row.file)).content
        else:
            data = frame.igb if frame.igb is not None else transferred(frame.transfer or "")
        program = await asyncio.to_thread(self.compile, data, frame.targets)
        if program.data is None:
            first = program.diagnostics[0]
            raise Refused(Reason.INVALID, first.code, first.where, first.expected, first.got, first.hint)
        started = await self.runs.start(frame.run, self.id, program, frame.inputs or {})
        for other in list(self.members.values()):
            other.follow(started, 0)

    def compile(self, data: bytes, targets: list[str] | None) -> Compiled:
        return compiled(read_igb(data, "run.igb"), self.catalogue, targets)

    # Diagnostics

    def diagnose_soon(self, seconds: float) -> None:
        if self.diagnosing is not None and not self.diagnosing.done():
            self.diagnosing.cancel()
        self.diagnosing = asyncio.create_task(self.diagnose(seconds), name=f"diagnose {self.id}")

    async def diagnose(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seq, graph = self.room.seq, self.room.graph
        try:
            found = await asyncio.to_thread(diagnose, graph, self.catalogue)
        except Exception:  # a component of a third party may fail here; editing goes on
            log.exception("diagnosing %s", self.id)
            return
        self.tell(wire.Diagnosed(seq, found))

    def close(self, reason: Reason, why: str) -> None:
        if self.diagnosing is not None:
            self.diagnosing.cancel()
        for member in list(self.members.values()):
            member.leave(reason, why)


def sole(names: Sequence[str], given: Sequence[object]) -> str:
    """Which one of several fields was given.

    Raises Refused unless it is exactly one.
    """
    found = [name for name, value in zip(names, given, strict=True) if value is not None]
    if len(found) != 1:
        expected = f"exactly one of {', '.join(names)}"
        raise Refused(Reason.MALFORMED, "field", "run", expected, " and ".join(found) or "none")
    return found[0]
