"""A disk that fills: nothing acknowledged is lost, what is refused says why, and edits go on once there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from igc import igb
from igc.graph import Graph
from igc.ops import to_value
from igc.patch import apply_ops
from tests.faults.gestures import op_of
from tests.faults.serving import Served
from tests.spaces.conftest import Peer

CLIENT = "c000000001"
TEXT = "0123456789abcdef" * 2000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A tmpfs of 3 MiB, where this user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this user may not mount a tmpfs; the limit of a file's size is tried all the same")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def answer(peer: Peer, *kinds: str) -> dict[str, Any]:
    while (frame := peer.receive())["type"] not in kinds:
        pass
    return frame


def fill(peer: Peer, graph: Graph) -> tuple[Graph, dict[str, Any], int]:
    """Push until one is refused; the graph of what was acknowledged, the refusal, and how many were acknowledged."""
    for number in range(1000):
        ops = [op_of("node+", [f"n{number:09d}"], ["text.input", 1, {"text": TEXT}, {}])]
        peer.push(*(to_value(op) for op in ops))
        frame = answer(peer, "ack", "refused")
        if frame["type"] == "refused":
            return graph, frame, number
        graph = apply_ops(graph, ops)
    raise AssertionError("the disk never filled")


def filled(server: Served, again: list[str], free: Path | None) -> None:
    """`free` is a file whose removal makes room; else the next server has more room."""
    with server.http() as client:
        space = client.post("/api/spaces", json={"name": "Small", "template": "empty"}).json()["id"]
    peer = server.join(space, CLIENT)
    peer.until("welcome")
    graph, refusal, pushes = fill(peer, Graph())
    print(f"{pushes} pushes acknowledged, then: {refusal['code']}: {refusal['expected']}, got {refusal['got']}")
    assert pushes > 5
    assert (refusal["id"], refusal["code"]) == ([CLIENT, pushes + 1], "storage")
    peer.send(type="save", id=[CLIENT, 9000], seq=pushes, base_version=None, message="does not fit")
    assert answer(peer, "saved", "refused")["code"] == "storage"
    with server.http() as client:  # reading goes on
        assert client.get(f"/api/spaces/{space}/graph.igb").content == igb.write(graph)
    if free is not None:
        free.unlink()
        peer.counter += 1
        peer.push(["label", ["n000000000"], [], ["Goes on"]])
        assert answer(peer, "ack", "refused")["type"] == "ack"
        graph = apply_ops(graph, [op_of("label", ["n000000000"], [], ["Goes on"])])
    peer.socket.close()
    server.kill()
    server = Served(server.data, *again)
    peer = server.join(space, "c000000002")
    assert igb.read(whole(peer)) == igb.read(igb.write(graph))
    peer.push(["label", ["n000000001"], [], ["After"]])
    assert answer(peer, "ack", "refused")["type"] == "ack"
    peer.socket.close()
    server.kill()


def whole(peer: Peer) -> bytes:
    welcome = peer.until("welcome")
    data: bytes = welcome["igb"] or b"".join(frame["bytes"] for frame in peer.seen if frame["type"] == "part")
    return data


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_says_so(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(os.urandom(1 << 20))
    filled(Served(small_disk / "data"), [], ballast)


@pytest.mark.slow
def test_a_file_that_may_not_grow_loses_nothing_and_says_so(tmp_path: Path) -> None:
    filled(Served(tmp_path / "data", "--file-limit", str(1 << 20)), [], None)
