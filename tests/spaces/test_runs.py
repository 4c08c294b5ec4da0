"""Runs: the bytes sent are what runs; cancel; resume without gap or duplicate; the host's and the server's end."""

import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dots.components import catalogue
from igc import igb
from igc.compile import compile
from spaces.store import Store
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import Peer, Running, running, wait_for

RUN = "r000000001"


def graph_of(peer: Peer) -> bytes:
    found: bytes = peer.until("welcome")["igb"]
    return found


def told(events: list[dict[str, Any]]) -> str:
    return "".join(event["data"]["text"] for event in events if event["kind"] == "tokens")


def start(server: Running, run: str = RUN, template: str = "summary", **frame: Any) -> tuple[str, Peer]:
    space = server.new_space(template)
    peer = server.join(space)
    data = graph_of(peer)
    peer.send(**({"type": "run", "run": run, "igb": data} | frame))
    return space, peer


def test_a_run_is_told_to_every_member_in_order(server: Running) -> None:
    space = server.new_space("summary")
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    data = graph_of(one)
    two.until("welcome")
    one.send(type="run", run="r000000101", igb=data)
    events = one.events("r000000101")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["first"] for event in events] == [event["seq"] for event in events]
    assert (events[0]["kind"], events[-1]["data"]["status"]) == ("started", "done")
    assert told(events) == "word0 word1 word2 word3 word4 "
    assert two.events("r000000101") == events


def test_what_runs_is_compiled_from_exactly_the_bytes_sent(server: Running) -> None:
    """The Room is empty; the graph comes with the run, as parts where it is long."""
    space = server.new_space()
    peer = server.join(space)
    components = catalogue()
    graph = build(TEMPLATES["parallel"], components)
    data = igb.write(graph)
    for offset in range(0, len(data), 100):
        part = {"transfer": "t000000001", "offset": offset, "total": len(data), "bytes": data[offset : offset + 100]}
        peer.send(type="part", **part)
    peer.send(type="run", run="r000000102", transfer="t000000001", inputs={"subject": "a bridge"})
    assert peer.events("r000000102")[-1]["data"]["status"] == "done"
    program = compile(graph, components)
    assert not isinstance(program, list)
    sent: Any = server.engine.programs[-1]
    assert sent[:8] == b"\x89DOT\r\n\x1a\n" and program.source in sent


def test_a_saved_version_runs_by_its_number(server: Running) -> None:
    space = server.new_space("summary")
    peer = server.join(space)
    peer.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="")
    peer.until("saved")
    peer.send(type="run", run="r000000103", version=1)
    assert peer.events("r000000103")[-1]["data"]["status"] == "done"
    peer.send(type="run", run="r000000104", version=7)
    assert peer.until("refused")["id"] == "r000000104"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"igb": b"nonsense"}, "magic"),
        ({"igb": None}, "field"),
        ({"version": 1}, "field"),
        ({"igb": None, "transfer": "t000000009"}, "part"),
        ({"targets": ["n999999999"]}, "unknown_target"),
        ({"igb": igb.write(build(TEMPLATES["empty"], catalogue()))}, "nothing_to_run"),
    ],
)
def test_a_run_that_cannot_start_is_refused_under_its_id(server: Running, frame: dict[str, Any], code: str) -> None:
    _, peer = start(server, "r000000105", **frame)
    refusal = peer.until("refused")
    assert (refusal["id"], refusal["code"]) == ("r000000105", code)


def test_a_run_id_is_used_once(server: Running) -> None:
    _, peer = start(server, "r000000106")
    peer.events("r000000106")
    peer.send(type="run", run="r000000106", version=None, igb=igb.write(build(TEMPLATES["summary"], catalogue())))
    assert peer.until("refused")["code"] == "duplicate"


def test_a_cancelled_run_ends_as_cancelled(server: Running) -> None:
    server.engine.words, server.engine.pause = 10_000, 0.002
    _, peer = start(server, "r000000107")
    while peer.until("event")["kind"] != "tokens":
        pass
    peer.send(type="cancel", run="r000000107")
    events = peer.events("r000000107")
    assert events[-1]["data"]["status"] == "cancelled"
    assert "cancelled" in [event["kind"] for event in events if event["node"]]


def test_a_run_cancelled_in_the_same_breath_ends_as_cancelled(server: Running) -> None:
    space = server.new_space("summary")
    peer = server.join(space)
    data = graph_of(peer)
    server.engine.go.clear()
    for number in range(10):
        run = f"r00000041{number}"
        peer.send(type="run", run=run, igb=data)
        peer.send(type="cancel", run=run)
        assert peer.events(run)[-1]["data"]["status"] == "cancelled"
    again = server.join(space, "c000000002")
    assert again.until("welcome")["runs"] == []


def test_a_run_outlives_its_clients_and_resumes_without_gap_or_duplicate(server: Running) -> None:
    server.engine.words, server.engine.pause, server.engine.free = 60, 0.005, 20
    server.engine.go.clear()
    space, peer = start(server, "r000000108")
    before = [peer.until("event") for _ in range(4)]
    peer.socket.close()
    again = server.join(space, resume={"r000000108": before[-1]["seq"]})
    assert again.until("welcome")["runs"] == ["r000000108"]
    server.engine.go.set()
    events = before + again.events("r000000108")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert told(events) == "".join(f"word{n} " for n in range(60))
    later = server.join(space, "c000000002")
    later.send(type="resume", run="r000000108", after_seq=0)
    assert told(later.events("r000000108")) == told(events)


def test_tokens_of_a_node_are_coalesced(server: Running) -> None:
    server.engine.words = 2000
    _, peer = start(server, "r000000109")
    events = peer.events("r000000109")
    assert told(events) == "".join(f"word{n} " for n in range(2000))
    streamed = [event for event in events if event["kind"] == "tokens"]
    assert len(streamed) < 200
    assert streamed[0]["data"]["at"] == 0


def test_an_unknown_run_is_refused_under_its_id(server: Running) -> None:
    peer = server.join(server.new_space())
    for frame in ("resume", "cancel"):
        peer.send(**({"type": frame, "run": RUN} | ({"after_seq": 0} if frame == "resume" else {})))
        refusal = peer.until("refused")
        assert (refusal["id"], refusal["code"]) == (RUN, "not_found")


def test_a_run_of_another_space_is_not_found(server: Running) -> None:
    _, peer = start(server, "r000000110")
    peer.events("r000000110")
    stranger = server.join(server.new_space())
    stranger.send(type="resume", run="r000000110", after_seq=0)
    assert stranger.until("refused")["code"] == "not_found"


def test_nodes_that_are_no_part_of_the_program_are_told_as_skipped(server: Running) -> None:
    space = server.new_space("summary")
    peer = server.join(space)
    graph = igb.read(graph_of(peer))
    clean = next(name for name, node in graph.nodes.items() if node.component == "text.clean")
    peer.send(type="run", run="r000000111", igb=igb.write(graph), targets=[clean])
    events = peer.events("r000000111")
    skipped = {event["node"]: event["data"] for event in events if event["kind"] == "skipped"}
    others = {
        n for n, node in graph.nodes.items() if node.component in ("text.template", "llm.generate", "flow.output")
    }
    assert skipped == {name: {"reason": "pruned"} for name in others}


def test_a_lost_host_ends_its_runs_as_failed_and_is_started_again(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.engine.words, server.engine.pause = 10_000, 0.005
        _, peer = start(server)
        while peer.until("event")["kind"] != "tokens":
            pass
        server.engine.lost.get_loop().call_soon_threadsafe(server.engine.lost.set_result, "signal 9")
        events = peer.events(RUN)
        failed = [event for event in events if event["kind"] == "failed"]
        assert [event["data"]["name"] for event in failed] == ["HOST_LOST"]
        assert events[-1]["data"]["status"] == "failed" and "signal 9" in events[-1]["data"]["reason"]
        wait_for(lambda: len(server.engines) == 2)
        assert server.engines[0].closed
        peer.send(type="run", run="r000000002", igb=igb.write(build(TEMPLATES["summary"], catalogue())))
        assert peer.events("r000000002")[-1]["data"]["status"] == "done"


def test_a_stopping_server_ends_its_runs_as_failed_saying_why_and_remembers_them(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.engine.words = 10
        server.engine.go.clear()
        space, peer = start(server)
        while peer.until("event")["kind"] != "running":
            pass
        engine = server.engine
    assert engine.closed
    with running(tmp_path) as server:
        peer = server.join(space)
        assert peer.until("welcome")["runs"] == []
        peer.send(type="resume", run=RUN, after_seq=0)
        events = peer.events(RUN)
        assert events[0]["kind"] == "started"
        assert events[-1]["data"]["status"] == "failed"
        assert events[-1]["data"]["reason"] == "the server was stopped while this ran"


def test_a_run_that_was_open_when_its_server_was_killed_is_failed_and_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        space = server.new_space()
    store = Store(tmp_path / "spaces.db")  # what a killed server leaves: a row, and no events
    store.add_run(RUN, space, b"s" * 32)
    store.close()
    with running(tmp_path) as server, server.program() as client:
        (listed,) = client.get(f"/api/spaces/{space}/runs").json()
        assert (listed["status"], listed["replays"]) == ("failed", False)
        assert listed["reason"] == "the server was stopped while this ran"
        peer = server.join(space)
        peer.send(type="resume", run=RUN, after_seq=0)
        assert peer.events(RUN)[-1]["data"]["reason"] == listed["reason"]


def test_runs_are_listed_newest_first_across_a_restart_and_can_be_told_again(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        space = server.new_space("summary")
        peer = server.join(space)
        data = graph_of(peer)
        peer.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="first")
        peer.until("saved")
        told_live = {}
        for run in (RUN, "r000000002"):
            peer.send(type="run", run=run, igb=data)
            told_live[run] = told(peer.events(run))
    with running(tmp_path) as server, server.program() as client:
        listed = client.get(f"/api/spaces/{space}/runs").json()
        assert [run["id"] for run in listed] == ["r000000002", RUN]
        assert all(run["status"] == "done" and run["reason"] is None and run["replays"] for run in listed)
        assert all(run["version"] == 1 and run["seconds"] >= 0 for run in listed)
        peer = server.join(space)
        peer.send(type="resume", run=RUN, after_seq=0)
        again = peer.events(RUN)
        assert told(again) == told_live[RUN] != ""
        assert again[0]["first"] == 1
        assert all(after["first"] == before["seq"] + 1 for before, after in pairwise(again))
        assert client.get("/api/spaces/s0000000zz/runs").status_code == 404


def test_too_many_runs_at_a_time_are_refused(server: Running) -> None:
    server.engine.go.clear()
    space = server.new_space("summary")
    peer = server.join(space)
    data = graph_of(peer)
    for number in range(9):
        peer.send(type="run", run=f"r00000020{number}", igb=data)
    assert peer.until("refused")["code"] == "busy"
    server.engine.go.set()


def test_a_run_is_started_whole_though_who_asked_for_it_goes_meanwhile(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link breaks while the run is written down; who comes back is told the run, not that it ended `running`."""
    write, writing, go = Store.add_run, threading.Event(), threading.Event()

    def slowly(store: Store, *facts: Any) -> None:
        write(store, *facts)
        writing.set()
        assert go.wait(10)

    monkeypatch.setattr(Store, "add_run", slowly)
    space = server.new_space("summary")
    with server.program() as client:
        igb = client.get(f"/api/spaces/{space}/graph.igb").content
    server.engine.go.set()
    leaver = server.join(space, "c000000008")
    leaver.until("welcome")
    leaver.send(type="run", run="r000000901", igb=igb)
    assert writing.wait(10)
    leaver.socket.close()
    back = leaver

    def alone() -> bool:
        nonlocal back
        back = server.join(space, "c000000009")
        return [member["client"] for member in back.until("welcome")["members"]] == ["c000000009"]

    wait_for(alone)
    go.set()
    assert back.events("r000000901")[-1]["data"]["status"] == "done"
