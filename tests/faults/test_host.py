"""The engine host is killed in the middle of a run: the run says so, the next one works, nothing stays reserved."""

import os
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dots.client import Client
from spaces.engine import EngineClient
from tests.spaces.conftest import Peer, Running, running

HELD = ("kv_reserved", "kv_committed", "kv_used", "steps_reserved", "dots")


async def real_host() -> EngineClient:
    return await Client.start(kv_pool=256 << 20)


def status(server: Running) -> dict[str, Any]:
    with server.program() as client:
        found: dict[str, Any] = client.get("/api/engine").json()
        return found


def ready(server: Running) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while (found := status(server)).get("state") != "ready":
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def run_to_the_first_tokens(peer: Peer, run: str, data: bytes) -> None:
    peer.send(type="run", run=run, igb=data)
    while peer.until("event", run=run)["kind"] != "tokens":
        pass


def kill_hosts(data: Path, rounds: int) -> int:
    random = Random(rounds)
    killed = 0
    with running(data, real_host) as server:
        space = server.new_space("summary")
        peer = server.join(space)
        graph = peer.until("welcome")["igb"]
        for number in range(5 * rounds):  # an answer may be over before its kill
            if killed == rounds:
                break
            before = ready(server)
            run, after = f"r00000{number:04d}", f"s00000{number:04d}"
            run_to_the_first_tokens(peer, run, graph)
            time.sleep(random.uniform(0.0, 0.03))
            os.kill(before["pid"], signal.SIGKILL)
            peer.send(type="run", run=after, igb=graph)  # pressed again at once: it waits for the next host
            events = peer.events(run)
            if events[-1]["data"]["status"] == "done":
                continue  # it was over before the kill
            failed = [event["data"] for event in events if event["kind"] == "failed"]
            assert [data["name"] for data in failed] == ["HOST_LOST"] and "signal 9" in failed[0]["got"]
            assert events[-1]["data"]["status"] == "failed" and "signal 9" in events[-1]["data"]["reason"]
            ready(server)
            again = [event for event in peer.seen if event.get("run") == after] or peer.events(after)
            if again[-1]["kind"] != "ended":
                again += peer.events(after)
            assert again[-1]["data"]["status"] in ("done", "failed")  # failed: it reached the host that died
            last = f"t00000{number:04d}"
            peer.send(type="run", run=last, igb=graph)
            assert peer.events(last)[-1]["data"]["status"] == "done"
            found = ready(server)
            assert found["pid"] != before["pid"]
            assert {name: found[name] for name in HELD} == dict.fromkeys(HELD, 0)
            killed += 1
    print(f"{killed} of {rounds} hosts killed in the middle of a run, the run after each done, nothing held")
    return killed


@pytest.mark.model
@pytest.mark.slow
def test_a_killed_host_fails_its_run_and_holds_nothing(tmp_path: Path) -> None:
    assert kill_hosts(tmp_path / "data", 2) >= 1


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.long
def test_twenty_killed_hosts_fail_their_runs_and_hold_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spaces.engine.LONGEST_PAUSE", 1.0)  # a host that dies again and again is waited for longer
    assert kill_hosts(tmp_path / "data", 20) >= 10
