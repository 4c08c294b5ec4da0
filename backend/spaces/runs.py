"""Runs: a program is started on the engine and told into a log that every member reads by cursor.

Owns the runs of all Spaces. A run outlives its clients; it ends with exactly one `ended`, whatever happens to the host
or to this server.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dots.errors import DotsError, HostLost
from dots.events import END_KINDS, Event
from spaces.engine import Engine
from spaces.errors import Reason, Refused
from spaces.graphs import Compiled
from spaces.log import Log
from spaces.store import Store

log = logging.getLogger("spaces.runs")

MAX_RUNNING = 8  # runs of one Space at a time
KEPT_LOGS = 8  # ended runs of one Space whose logs stay in memory
START_SECONDS = 600.0  # a run waits so long for a host that is still loading its model
STOP_SECONDS = 3.0
KEEP_AGAIN = 5.0  # seconds until an ended run that the disk did not take is tried again
STOPPED = "the server was stopped while this ran"
HOST_LOST = 999  # CUDA's "unknown": nothing is known of what the host was doing


@dataclass(slots=True)
class Live:
    """A run in memory, ended or not."""

    id: str
    space: str
    log: Log
    skipped: Mapping[str, dict[str, Any]]  # nodes that the compiler left out
    open_nodes: dict[str, int] = field(default_factory=dict)  # nodes begun and not ended, with their steps
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None
    begun: bool = False  # its task has taken its first step
    cancelled: bool = False
    stopped: bool = False  # by the end of this server
    kept: bool = False  # its end stands in the database; until then only its log can tell it
    forgotten: bool = False  # let go of it as soon as it is kept
    started: float = 0.0


class Runs:
    def __init__(self, engine: Engine, store: Store, news: Callable[[str], None]) -> None:
        self.engine = engine
        self.store = store
        self.news = news  # called with a Space's id when one of its logs grew
        self.live: dict[str, Live] = {}
        self.starting: dict[str, str] = {}  # runs that have taken their id and may yet be refused, with their Space

    def running(self, space: str) -> list[str]:
        return [run.id for run in self.live.values() if run.space == space and not run.log.ended]

    async def start(self, run: str, space: str, program: Compiled, inputs: Mapping[str, Any]) -> Log:
        """Start a compiled program.

        Raises Refused when the id is taken or the Space has too many runs.
        """
        starting = (other for other, where in self.starting.items() if where == space)
        if len({*self.running(space), *starting}) >= MAX_RUNNING:
            raise Refused(Reason.BUSY, "busy", "run", f"at most {MAX_RUNNING} runs at a time", "one more")
        if run in self.live or run in self.starting:
            raise Refused(Reason.CONFLICT, "duplicate", "run.run", "a new id", run)
        started = asyncio.get_running_loop().time()
        live = Live(run, space, Log(run, lambda: self.news(space)), program.skipped, started=started)
        self.starting[run] = space  # before the first await: a second frame with this id is refused
        try:
            if await asyncio.to_thread(self.store.run, run) is not None:
                raise Refused(Reason.CONFLICT, "duplicate", "run.run", "a new id", run)
            self.live[run] = live  # before its row: whoever finds the row finds its log
            await asyncio.to_thread(self.store.add_run, run, space, program.sem)
        except BaseException as error:
            if self.live.pop(run, None) is not None:
                self.end(live, "failed", f"it could not be recorded: {error}")  # for who follows it already
            raise
        finally:
            del self.starting[run]
        live.task = asyncio.create_task(self.follow(live, program.data or b"", inputs), name=f"run {run}")
        return live.log

    async def follow(self, live: Live, program: bytes, inputs: Mapping[str, Any]) -> None:
        """Read a run to its end, and see that it has one."""
        status, reason = "failed", "the engine ended the stream without an end"
        live.begun = True
        try:
            if live.cancelled:
                raise asyncio.CancelledError
            async for event in self.engine.run(live.id, program, inputs, live.space, START_SECONDS):
                self.take(live, event)
            status = "cancelled" if live.cancelled else status
        except HostLost as error:
            reason = f"the engine host was lost: {error}"
        except (DotsError, Refused) as error:
            reason = str(error)
        except asyncio.CancelledError:
            status, reason = ("failed", STOPPED) if live.stopped else ("cancelled", "cancelled before it began")
        except Exception as error:
            log.exception("run %s", live.id)
            reason = f"the server failed: {type(error).__name__}"
        if not live.log.ended:
            self.end(live, status, reason)
        await asyncio.shield(self.keep(live))

    def take(self, live: Live, event: Event) -> None:
        if live.log.ended:
            return
        if event.kind == "ended" and live.stopped and event.data["status"] == "cancelled":
            event = replace(event, data={**event.data, "status": "failed", "reason": STOPPED})
        if event.node is not None:
            if event.kind in END_KINDS:
                live.open_nodes.pop(event.node, None)
            else:
                live.open_nodes[event.node] = int(event.data.get("steps") or live.open_nodes.get(event.node, 0))
        clock = asyncio.get_running_loop().time()
        due = live.log.add(event, clock)
        if event.kind == "started":
            for node, why in live.skipped.items():
                due = live.log.add(Event(event.run, node, "skipped", why, event.time), clock)
        self.again(live, due, clock)

    def again(self, live: Live, due: float | None, clock: float) -> None:
        """Have the log flushed when what it holds is due."""
        if due is None or live.timer is not None:
            return
        live.timer = asyncio.get_running_loop().call_later(max(0.0, due - clock), self.flush, live)

    def flush(self, live: Live) -> None:
        live.timer = None
        clock = asyncio.get_running_loop().time()
        self.again(live, live.log.flush(clock), clock)

    def end(self, live: Live, status: str, reason: str) -> None:
        """The events that the engine did not live to send."""
        seconds = asyncio.get_running_loop().time() - live.started
        for node, steps in list(live.open_nodes.items()):
            data: dict[str, Any] = {"text": "", "steps": steps}
            if status == "failed":
                facts = {"where": "engine host", "expected": "a host that answers", "got": reason}
                data |= {"code": HOST_LOST, "name": "HOST_LOST", **facts}
            self.take(live, Event(live.id, node, status, data, seconds))
        data = {"status": status, "outputs": {}, "reason": reason, "seconds": seconds}
        self.take(live, Event(live.id, None, "ended", data, seconds))

    async def keep(self, live: Live) -> None:
        """Store an ended run and let go of the oldest logs of its Space."""
        data = live.log.entries[-1].data
        while True:
            try:
                status, reason = data["status"], data.get("reason")
                await asyncio.to_thread(self.store.end_run, live.id, status, reason, live.log.tail())
                break
            except Refused as error:  # a disk without room: its log stays in memory until there is some
                log.error("run %s is not recorded yet: %s", live.id, error)
                await asyncio.sleep(KEEP_AGAIN)
        live.kept = True
        kept = [run.id for run in self.live.values() if run.space == live.space and run.kept]
        for run in [live.id] if live.forgotten else kept[:-KEPT_LOGS]:
            self.live.pop(run, None)

    async def cancel(self, run: str, space: str) -> None:
        """Cancel a run by id; one that has ended stays as it is.

        Raises Refused for an unknown run.
        """
        live = self.live.get(run)
        if live is None or live.space != space:
            await self.log(run, space)
            return
        if live.log.ended:
            return
        live.cancelled = True
        if live.log.seq:
            await self.engine.cancel(run)
        elif live.begun and live.task is not None:  # still waiting for a host; before its first step it looks by itself
            live.task.cancel()

    def forget(self, space: str) -> None:
        """Let go of the logs of a Space whose runs have all ended, each once it stands in the database."""
        for run in [run for run in self.live.values() if run.space == space]:
            run.forgotten = True
            if run.kept:
                del self.live[run.id]

    async def cancel_space(self, space: str) -> None:
        for run in self.running(space):
            await self.cancel(run, space)

    async def log(self, run: str, space: str) -> Log:
        """The log of a run of this Space, from memory or from the database.

        Raises Refused for an unknown run.
        """
        live = self.live.get(run)
        if live is not None and live.space == space:
            return live.log
        row = await asyncio.to_thread(self.store.run, run)
        live = self.live.get(run)  # it may have begun while the table was read
        if live is not None and live.space == space:
            return live.log
        if row is None or row.space != space:
            raise Refused(Reason.NOT_FOUND, "not_found", "run", "a run of this Space", run)
        tail = await asyncio.to_thread(self.store.run_tail, run)
        if tail is not None:
            return Log.stored(run, tail)
        stored = Log(run, lambda: None)
        data: dict[str, Any] = {"status": row.status, "outputs": {}, "reason": row.reason, "seconds": 0.0}
        stored.add(Event(run, None, "ended", data, 0.0), 0.0)
        return stored

    async def close(self) -> None:
        """End every run as failed, if nobody cancelled it; the engine first, so that the last events are true ones."""
        live = [run for run in self.live.values() if not run.log.ended]
        for run in live:
            run.stopped = not run.cancelled
        tasks = [run.task for run in live if run.task is not None]
        for run in live:
            try:
                await self.cancel(run.id, run.space)
            except DotsError as error:
                log.warning("cancelling run %s: %s", run.id, error)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
