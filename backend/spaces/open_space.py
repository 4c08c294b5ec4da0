"""An open Space, the owner of its Room: takes pushes, tells members, starts runs; its versions stand next door.

Everything that changes the Room happens under its lock, in the order: plan, journal, take, tell. A member that goes
away in between does not stop it (the work is shielded): Room and journal never part.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from dots.components import Catalogue
from igc import igb
from spaces import tables, wire
from spaces.errors import Reason, Refused
from spaces.graphs import Compiled, compiled, diagnose, read_igb
from spaces.journal import Journal, patched_frame
from spaces.members import Member, Members
from spaces.room import Outcome, Room, read_ops
from spaces.runs import Runs
from spaces.stale import Standing
from spaces.store import Store
from spaces.typed import Mismatch
from spaces.versions import Versions, version_frame

log = logging.getLogger("spaces.open_space")

QUIET = 0.15  # seconds without a push before the graph is diagnosed again

P = ParamSpec("P")
T = TypeVar("T")


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
        self.members = Members()
        self.journal = Journal(row.id, room, counters, store)
        self.versions = Versions(version, self.journal, self.members, store, catalogue)
        self.store = store
        self.runs = runs
        self.catalogue = catalogue
        self.lock = asyncio.Lock()
        self.diagnosing: asyncio.Task[None] | None = None
        self.asked_for = 0.0  # when, on the loop's clock

    async def in_order(self, act: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what may change the Room: one at a time, and to its end even when the asker goes away meanwhile."""
        return await asyncio.shield(asyncio.create_task(self.locked(act, *args, **kwargs)))

    async def locked(self, act: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self.lock:
            seq = self.room.seq
            try:
                return await act(*args, **kwargs)
            finally:
                if self.room.seq != seq:
                    self.diagnose_soon(QUIET)

    # Members

    async def join(self, member: Member) -> wire.Welcome:
        async with self.lock:
            data = await asyncio.to_thread(igb.write, self.room.graph)
            self.members.join(member)
            self.present(member, {})
            self.diagnose_soon(0.0)
            version = self.versions.newest
            return wire.Welcome(
                space=wire.SpaceInfo(self.id, self.name),
                seq=self.room.seq,
                igb=data,
                transfer=None,
                version=None if version is None else version_frame(version),
                members=[wire.Member(other.client, other.name) for other in self.members],
                runs=self.runs.running(self.id),
            )

    def leave(self, member: Member) -> None:
        self.members.leave(member)

    def present(self, member: Member, data: dict[str, Any]) -> None:
        self.members.tell(wire.Present(member.client, member.name, data), without=member)

    # Pushes

    async def push(self, member: Member, frame: wire.Push) -> None:
        await self.in_order(self.take_push, member, frame)

    async def take_push(self, member: Member, frame: wire.Push) -> None:
        client, counter = frame.id
        if client != member.client:
            raise Refused(Reason.INVALID, "field", "push.id[0]", member.client, client)
        if self.journal.has(client, counter):
            member.send(wire.Ack(frame.id, await self.journal.answered(client, counter)))
            return
        try:
            ops = read_ops(frame.ops)
        except Mismatch as error:
            member.send(wire.Refusal(frame.id, "field", error.where, error.expected, error.got))
            return
        planned = await asyncio.to_thread(self.room.plan, ops)
        self.answer(member, frame, await self.journal.take(client, counter, client, planned))

    def answer(self, member: Member, frame: wire.Push, outcome: Outcome) -> None:
        """What stands first, then what was refused; when nothing stands, the first refusal settles the push."""
        patched = patched_frame(self.room.seq, outcome, member.client)
        if outcome.ops:
            self.members.tell(patched, without=member)
        if outcome.as_sent:
            member.send(wire.Ack(frame.id, self.room.seq))
        elif outcome.ops or not outcome.refused:
            member.send(patched)
        for op in outcome.refused:
            member.send(wire.Refusal(frame.id, op.code, op.where, op.expected, op.got))

    # Versions

    async def save(self, member: Member, frame: wire.Save) -> None:
        await self.in_order(self.versions.save, member, frame)

    async def restore(self, number: int, message: str, author: str) -> tables.Version:
        return await self.in_order(self.versions.restore, number, message, author)

    async def rename_version(self, number: int, message: str) -> tables.Version:
        return await self.in_order(self.versions.rename, number, message)

    async def take_file(
        self, data: bytes, base: int | None, message: str, author: str
    ) -> tuple[tables.Version, list[str]] | Standing:
        """The version made of a file, and the ops that found no place; where another is newer: how the file stands.

        Raises Refused for bytes that are no graph.
        """
        graph = await asyncio.to_thread(read_igb, data, "body")
        found = await self.in_order(self.versions.take_file, graph, data, base, message, author)
        # A merge takes long: who asks for one does not hold up the others.
        return await self.versions.standing(graph, base) if found is None else found

    # Runs

    async def run(self, frame: wire.Run, transferred: Callable[[str], bytes]) -> None:
        """Compile exactly the bytes sent, or a saved version, and start it; every member follows.

        Whoever asked may go meanwhile: a start that stops half-way would leave a row that says running for ever.
        Raises Refused.
        """
        await asyncio.shield(asyncio.create_task(self.run_whole(frame, transferred)))

    async def run_whole(self, frame: wire.Run, transferred: Callable[[str], bytes]) -> None:
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
        for other in self.members:
            other.begin(started)

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
        self.members.tell(wire.Diagnosed(seq, found))

    def close(self, reason: Reason, why: str) -> None:
        if self.diagnosing is not None:
            self.diagnosing.cancel()
        for member in self.members:
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
