"""The engine host as the server sees it: started in the background, started again when it is lost, stopped at the end.

Owns the one client. `runs.py` asks it to run programs; it knows no Space and no graph.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from dots.client import Client
from dots.errors import DotsError, HostLost
from dots.events import Event
from spaces.errors import Reason, Refused
from spaces.settings import Settings

log = logging.getLogger("spaces.engine")

FIRST_PAUSE = 0.5  # seconds before a lost host is started again; doubles up to the longest
LONGEST_PAUSE = 30.0
STATUS_SECONDS = 5.0
STOP_SECONDS = 12.0


class EngineClient(Protocol):
    """What `dots.client.Client` offers; tests bring their own. `lost` is done, with the reason, when the host dies."""

    lost: asyncio.Future[str]

    def run(self, run_id: str, program: bytes, inputs: Mapping[str, Any], space: str) -> AsyncIterator[Event]: ...
    async def cancel(self, run_id: str) -> None: ...
    async def status(self) -> dict[str, Any]: ...
    async def close(self) -> None: ...


StartEngine = Callable[[], Awaitable[EngineClient]]


def packaged(settings: Settings) -> StartEngine:
    """Starts the real host."""

    async def start() -> EngineClient:
        return await Client.start(model=settings.model, executor=settings.executor, kv_pool=settings.kv_pool)

    return start


class Engine:
    """Keeps one host running. Its own state is starting, running, failed (the next try is due) or closed."""

    def __init__(self, start: StartEngine) -> None:
        self.start_client = start
        self.client: EngineClient | None = None
        self.state = "starting"
        self.reason: str | None = None
        self.changed = asyncio.Event()
        self.keeper: asyncio.Task[None] | None = None

    def open(self) -> None:
        self.keeper = asyncio.create_task(self.keep(), name="engine keeper")

    async def keep(self) -> None:
        """Have a host at all times; one that keeps failing is tried again later each time."""
        clock = asyncio.get_running_loop().time
        pause = FIRST_PAUSE
        while True:
            began = clock()
            try:
                self.client = await self.start_client()
                self.enter("running", None)
                reason = await asyncio.shield(self.client.lost)
            except (DotsError, OSError) as error:
                reason = str(error)
            log.error("the engine host is gone: %s", reason)
            await self.drop()
            self.enter("failed", reason)
            pause = FIRST_PAUSE if clock() - began > LONGEST_PAUSE else min(pause * 2, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    def enter(self, state: str, reason: str | None) -> None:
        self.state, self.reason = state, reason
        self.changed.set()
        self.changed = asyncio.Event()

    async def drop(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            try:
                await asyncio.wait_for(client.close(), STOP_SECONDS)
            except (DotsError, OSError, TimeoutError) as error:
                log.warning("closing the engine host: %s", error)

    async def ready(self, seconds: float) -> EngineClient:
        """The client, waiting while a host is started.

        Raises Refused when there is none in time.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        while self.client is None:
            left = deadline - asyncio.get_running_loop().time()
            if self.state == "closed" or left <= 0:
                got = self.reason or self.state
                raise Refused(Reason.UNAVAILABLE, "engine", "engine", "an engine host that runs", got)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), left)
        return self.client

    async def run(
        self, run: str, program: bytes, inputs: Mapping[str, Any], space: str, wait: float
    ) -> AsyncIterator[Event]:
        """The events of a run, once there is a host; raises what the client raises."""
        client = await self.ready(wait)
        async for event in client.run(run, program, inputs, space):
            yield event

    async def cancel(self, run: str) -> None:
        if self.client is not None:
            await self.client.cancel(run)

    async def status(self, seconds: float = STATUS_SECONDS) -> dict[str, Any]:
        """For people: what the host tells of itself, or why it tells nothing."""
        if self.client is None:
            return {"state": self.state, "reason": self.reason}
        try:
            return await asyncio.wait_for(self.client.status(), seconds)
        except HostLost as error:
            return {"state": "failed", "reason": str(error)}
        except TimeoutError:
            return {"state": "silent", "reason": f"the engine host has not answered for {seconds:g} s"}

    async def close(self) -> None:
        if self.keeper is not None:
            self.keeper.cancel()
            await asyncio.gather(self.keeper, return_exceptions=True)
        await self.drop()
        self.enter("closed", None)
