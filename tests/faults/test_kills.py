"""The server is killed in the middle of its work: what it acknowledged is there, and one push more at most."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from igc import igb, patch
from igc.graph import Graph
from igc.ops import Op, to_value
from igc.patch import apply_ops
from tests.faults.gestures import gesture, large_graph
from tests.faults.serving import Served
from tests.spaces.conftest import Peer

CLIENT = "c000000001"


@dataclass
class Author:
    """One client that pushes and saves back to back, and remembers what was acknowledged."""

    random: Random
    graph: Graph
    counter: int = 0
    seq: int = 0
    version: int | None = None
    versions: list[dict[str, Any]] = field(default_factory=list)  # acknowledged
    pushes: int = 0
    asked: tuple[str, list[Any], list[Op]] | None = None  # sent, not answered

    def work(self, peer: Peer) -> None:
        """Until the socket breaks."""
        while True:
            self.counter += 1
            if self.random.random() < 0.15:
                self.save(peer)
            else:
                self.push(peer)

    def push(self, peer: Peer) -> None:
        graph, ops = self.graph, []
        for _ in range(self.random.randrange(1, 6)):
            more = gesture(self.random, graph)
            graph = apply_ops(graph, more)
            ops += more
        frame_id = [CLIENT, self.counter]
        self.asked = ("push", frame_id, ops)
        peer.send(type="push", id=frame_id, base_seq=self.seq, ops=[to_value(op) for op in ops])
        self.seq = max(self.seq, peer.until("ack", id=frame_id)["seq"])
        self.graph, self.asked = graph, None
        self.pushes += 1

    def save(self, peer: Peer) -> None:
        frame_id = [CLIENT, self.counter]
        self.asked = ("save", frame_id, [])
        message = f"save {self.counter}"
        peer.send(type="save", id=frame_id, seq=self.seq, base_version=self.version, message=message)
        version = peer.until("saved", id=frame_id)["version"]
        if version["number"] != self.version:
            assert version["message"] == message
            self.versions.append(version)
        self.version, self.asked = version["number"], None


def check_versions(server: Served, space: str, author: Author) -> None:
    """Every acknowledged one is there as told, at most one more; patches lead from the first to the last."""
    with server.http() as client:
        listed = sorted(client.get(f"/api/spaces/{space}/versions").json(), key=lambda row: int(row["number"]))
        assert [row["number"] for row in listed] == list(range(1, len(listed) + 1))
        told = [{k: v.hex() if isinstance(v, bytes) else v for k, v in row.items()} for row in author.versions]
        assert listed[: len(told)] == told
        extra = len(listed) - len(told)
        assert extra <= (author.asked is not None and author.asked[0] == "save")
        graph = Graph()
        for row in listed:
            files = {kind: client.get(f"/api/files/{row[kind]}").content for kind in ("file", "patch")}
            graph = patch.apply(patch.read(files["patch"]), graph)
            assert igb.write(graph) == files["file"]


def settle(server: Served, space: str, author: Author) -> None:
    """Compare, then repeat what was not answered under its id: it stands once, whether it had been taken or not."""
    with server.http() as client:
        found = client.get(f"/api/spaces/{space}/graph.igb").content
    allowed = [author.graph]
    if author.asked is not None and author.asked[0] == "push":
        allowed.append(apply_ops(author.graph, author.asked[2]))
    assert found in [igb.write(graph) for graph in allowed], "the graph is not the replay of what was acknowledged"
    check_versions(server, space, author)
    peer = server.join(space, CLIENT)
    welcome = peer.until("welcome")
    author.seq = welcome["seq"]
    if welcome["version"] is not None and welcome["version"]["number"] != author.version:
        author.version = welcome["version"]["number"]
        author.versions.append(welcome["version"])
    if author.asked is not None and author.asked[0] == "push":
        _, frame_id, ops = author.asked
        peer.send(type="push", id=frame_id, base_seq=0, ops=[to_value(op) for op in ops])
        author.seq = max(author.seq, peer.until("ack", id=frame_id)["seq"])
        author.graph = allowed[-1]
        with server.http() as client:
            assert client.get(f"/api/spaces/{space}/graph.igb").content == igb.write(author.graph)
    author.asked = None
    peer.socket.close()


@dataclass
class Count:
    kills: int = 0
    between: int = 0
    in_saves: int = 0
    pushes: int = 0
    versions: int = 0

    def __str__(self) -> str:
        facts = f"{self.between} between request and reply ({self.in_saves} in a save)"
        return f"{self.kills} kills, {facts}; {self.pushes} pushes and {self.versions} versions acknowledged, all there"


def kill_rounds(data: Path, rounds: int, nodes: int, seed: int, longest: float) -> Count:
    random = Random(seed)
    count = Count()
    author = Author(Random(seed + 1), large_graph(nodes))
    server = Served(data)
    with server.http() as client:
        made = client.post("/api/spaces/import", params={"name": "Killed"}, content=igb.write(author.graph))
        space = made.json()["id"]
    for _ in range(rounds):
        peer = server.join(space, CLIENT)
        author.seq = peer.until("welcome")["seq"]
        killer = threading.Timer(random.uniform(0.05, longest), server.process.kill)
        killer.start()
        with pytest.raises((ConnectionClosed, OSError)):
            author.work(peer)
        killer.join()
        server.kill()
        count.kills += 1
        count.between += author.asked is not None
        count.in_saves += author.asked is not None and author.asked[0] == "save"
        server = Served(data)
        settle(server, space, author)
    count.pushes, count.versions = author.pushes, len(author.versions)
    server.kill()
    return count


@pytest.mark.slow
def test_what_a_killed_server_acknowledged_is_there(tmp_path: Path) -> None:
    count = kill_rounds(tmp_path / "data", rounds=2, nodes=200, seed=3, longest=0.8)
    print(count)
    assert count.pushes > 0


@pytest.mark.slow
@pytest.mark.long
def test_twenty_kills_of_a_server_with_two_thousand_nodes_lose_nothing(tmp_path: Path) -> None:
    began = time.monotonic()
    count = kill_rounds(tmp_path / "data", rounds=20, nodes=2000, seed=7, longest=2.5)
    print(f"{count}; {time.monotonic() - began:.0f} s")
    assert count.between >= 8
