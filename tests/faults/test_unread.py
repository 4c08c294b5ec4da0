"""Clients that never read: what they cost the server stays bounded while runs stream."""

import base64
import os
import socket
import time
from pathlib import Path

import pytest

from dots import codec
from dots.components import catalogue
from igc import igb
from spaces.templates import TEMPLATES, build
from tests.faults.serving import Served
from tests.spaces.conftest import PATIENCE, TOKEN

MIB = 1 << 20


def deaf_client(server: Served, space: str, client: str) -> socket.socket:
    """A WebSocket that says hello and then reads no byte, with the smallest buffer that the kernel gives."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    made.connect(("127.0.0.1", server.port))
    head = (
        f"GET /ws/spaces/{space} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
        f"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    made.sendall(head.encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += made.recv(1)
    assert b" 101 " in answer
    hello = codec.encode({"type": "hello", "protocol": 1, "client": client, "resume": {}})
    assert len(hello) < 126
    made.sendall(bytes((0x82, 0x80 | len(hello), 0, 0, 0, 0)) + hello)  # a mask of zeros
    return made


def unread(data: Path, clients: int, runs: int) -> tuple[int, int, int]:
    """Bytes of memory with one client that reads, and the growth while so many do not; characters streamed."""
    words, word = 2000, "{} " + "x" * 500 + " "
    server = Served(data, "--words", str(words), "--word", word, "--pause", "0.0005")
    with server.http() as client:
        space = client.post("/api/spaces", json={"name": "Unread", "template": "summary"}).json()["id"]
    peer = server.join(space, "c000000001")
    graph = peer.until("welcome")["igb"]
    program = igb.write(build(TEMPLATES["summary"], catalogue()))
    peer.send(type="run", run="r000000000", igb=program)  # the first run warms the server up
    text = "".join(event["data"].get("text", "") for event in peer.events("r000000000") if event["kind"] == "tokens")
    before = server.memory()["VmRSS"]
    deaf = [deaf_client(server, space, f"d{number:09d}") for number in range(clients)]
    wait_for_members(server, space, clients + 1)
    for number in range(runs):
        run = f"r00000{number + 1:04d}"
        peer.send(type="run", run=run, igb=graph)
        assert peer.events(run)[-1]["data"]["status"] == "done"
        big = [["set", [next(iter(igb.read(graph).nodes)), "note"], [], ["y" * 200_000 + str(number)]]]
        peer.push(*big)
        while peer.receive()["type"] not in ("ack", "patched"):
            pass
    peak = server.memory()["VmHWM"]
    for sock in deaf:
        sock.close()
    peer.socket.close()
    server.kill()
    return before, peak - before, len(text) * (runs + 1)


def wait_for_members(server: Served, space: str, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        peer = server.join(space, "c000000002")
        members = peer.until("welcome")["members"]
        peer.socket.close()
        if len(members) > number:
            return
        assert time.monotonic() < deadline, f"{len(members)} members"


def report(clients: int, before: int, grown: int, text: int) -> str:
    return (
        f"{clients} clients that never read, {text / 1e6:.1f} million characters streamed: "
        f"{before / MIB:.0f} MiB before, {grown / MIB:.0f} MiB more at the peak"
    )


@pytest.mark.slow
def test_clients_that_never_read_cost_little(tmp_path: Path) -> None:
    before, grown, text = unread(tmp_path / "data", 10, 1)
    print(report(10, before, grown, text))
    assert grown < 100 * MIB


@pytest.mark.slow
@pytest.mark.long
def test_fifty_clients_that_never_read_cost_a_bounded_amount(tmp_path: Path) -> None:
    before, grown, text = unread(tmp_path / "data", 50, 20)
    print(report(50, before, grown, text))
    assert grown < 600 * MIB
