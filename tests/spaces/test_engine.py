"""The keeper of the engine host: hosts that do not start, that die, that keep silent; runs that wait for one."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dots.errors import HostLost
from spaces import engine as engines
from spaces.engine import Engine
from spaces.errors import Refused
from tests.spaces.conftest import ScriptedEngine, running, wait_for

RUN = "r000000001"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(engines, "FIRST_PAUSE", 0.01)
    return


class Starts:
    """Starts hosts, the first few in vain."""

    def __init__(self, num_failures: int) -> None:
        self.num_failures = num_failures
        self.hosts: list[ScriptedEngine] = []

    async def __call__(self) -> ScriptedEngine:
        if self.num_failures:
            self.num_failures -= 1
            raise HostLost("exit status 1")
        self.hosts.append(ScriptedEngine())
        return self.hosts[-1]


def test_a_host_that_does_not_start_is_tried_again() -> None:
    async def scene() -> tuple[int, str]:
        engine = Engine(starts := Starts(3))
        engine.open()
        await engine.ready(5)
        state = engine.state
        await engine.close()
        return len(starts.hosts), state

    assert asyncio.run(scene()) == (1, "running")


def test_a_host_that_dies_is_closed_and_another_started() -> None:
    async def scene() -> list[bool]:
        engine = Engine(starts := Starts(0))
        engine.open()
        await engine.ready(5)
        starts.hosts[0].lost.set_result("signal 11")
        while len(starts.hosts) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await engine.ready(5)
        await engine.close()
        return [host.closed for host in starts.hosts]

    assert asyncio.run(scene()) == [True, True]


def test_without_a_host_the_wait_ends_with_the_reason() -> None:
    async def scene() -> Refused:
        engine = Engine(Starts(10**9))
        engine.open()
        try:
            with pytest.raises(Refused) as caught:
                await engine.ready(0.1)
            return caught.value
        finally:
            await engine.close()

    refusal = asyncio.run(scene()).refusal
    assert (refusal.code, refusal.got) == ("engine", "exit status 1")


def test_a_silent_host_is_told_as_silent() -> None:
    class Silent(ScriptedEngine):
        async def status(self) -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

    async def start() -> ScriptedEngine:
        return Silent()

    async def scene() -> dict[str, Any]:
        engine = Engine(start)
        engine.open()
        await engine.ready(5)
        status = await engine.status(0.01)
        await engine.close()
        return status

    assert asyncio.run(scene())["state"] == "silent"


def test_a_run_waits_for_the_first_host_and_can_be_cancelled_while_it_does(tmp_path: Path) -> None:
    may_start = threading.Event()
    hosts: list[ScriptedEngine] = []

    async def late() -> ScriptedEngine:
        await asyncio.to_thread(may_start.wait)
        hosts.append(ScriptedEngine())
        return hosts[-1]

    with running(tmp_path, start=late) as server:
        try:
            peer = server.join(server.new_space("summary"))
            graph = peer.until("welcome")["igb"]
            for run in (RUN, "r000000002"):
                peer.send(type="run", run=run, igb=graph)
            peer.send(type="cancel", run=RUN)
            (ended,) = peer.events(RUN)
            assert ended["data"]["status"] == "cancelled"
            with server.program() as client:
                assert client.get("/api/engine").json() == {"state": "starting", "reason": None}
        finally:
            may_start.set()
        assert peer.events("r000000002")[-1]["data"]["status"] == "done"
        wait_for(lambda: len(hosts) == 1)
