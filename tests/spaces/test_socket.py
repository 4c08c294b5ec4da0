"""Hostile peers: whatever arrives, the server goes on and other connections do not notice."""

import random
import socket
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from dots import codec
from spaces import wire
from tests.spaces.conftest import TOKEN, Running, get, node, node_id

DEEP = b"\x81" * 1000 + b"\xf6"


def hello(client: object = "c000000001", **more: object) -> dict[str, object]:
    return {"type": "hello", "protocol": 1, "client": client} | more


FIRST = [
    b"",
    b"\x00",
    b"\xff" * 100,
    DEEP,
    b"\x9b" + b"\xff" * 8,
    codec.encode({}),
    codec.encode([]),
    codec.encode({"type": 7}),
    codec.encode({"type": "nonsense"}),
    codec.encode({"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [[]]}),
    codec.encode(hello() | {"protocol": 2}),
    codec.encode(hello() | {"protocol": True}),
    codec.encode(hello("short")),
    codec.encode(hello("C000000001")),
    codec.encode(hello(resume={"r000000001": -1})),
    codec.encode(hello(resume={1: 1})),
    codec.encode(hello(surplus=1)),
]


@pytest.mark.parametrize("data", FIRST)
def test_a_first_frame_that_is_no_hello_is_refused_with_its_place_and_the_connection_closed(
    server: Running, data: bytes
) -> None:
    peer = server.connect(server.new_space())
    peer.send(data)
    refusal = codec.decode(peer.recv(timeout=5, decode=False))
    assert isinstance(refusal, dict) and refusal["type"] == "refused"
    assert refusal["where"] and refusal["expected"] and refusal["got"]
    with pytest.raises(ConnectionClosed):
        peer.recv(timeout=5)
    assert peer.close_code == 4400
    peer.close()


def test_a_text_frame_is_refused(server: Running) -> None:
    peer = server.join(server.new_space())
    peer.until("welcome")
    peer.socket.send("hello")
    assert peer.until("refused")["got"] == "a text message"
    peer.push(node(node_id()))
    assert peer.until("ack")["seq"] == 1


LATER: list[object] = [
    {"type": "hello", "protocol": 1, "client": "c000000001"},
    {"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": []},
    {"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [1]},
    {"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [["set", 1, [], []]]},
    {"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [["set", ["x", "y"], [], [{"a": [[]]}]]]},
    {"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [["extra", [3], [], [1]]]},
    {"type": "push", "id": ["c000000001", 1.5], "base_seq": 0, "ops": [["node-", ["x"], []]]},
    {"type": "push", "id": "c000000001", "base_seq": 0, "ops": [["node-"]]},
    {"type": "save", "id": ["c000000001", 1], "seq": "0", "base_version": None, "message": ""},
    {"type": "save", "id": ["c000000001", 1], "seq": 0, "base_version": None, "message": "x" * 10_001},
    {"type": "run", "run": "r000000001"},
    {"type": "run", "run": "r000000001", "igb": "text"},
    {"type": "run", "run": "../../../etc", "igb": b""},
    {"type": "cancel", "run": None},
    {"type": "resume", "run": "r000000001", "after_seq": 2**53 - 1},
    {"type": "presence", "data": []},
    {"type": "presence", "data": {"x": "y" * 20_000}},
    {"type": "part", "transfer": "t000000001", "offset": 5, "total": 10, "bytes": b"x"},
    {"type": "part", "transfer": "t000000001", "offset": 0, "total": 1 << 40, "bytes": b"x"},
    {"type": "part", "transfer": "t000000001", "offset": 0, "total": 1, "bytes": b"xx"},
    {"type": "part", "transfer": "t000000001", "offset": 0, "total": 1, "bytes": b""},
]


@pytest.mark.parametrize("frame", LATER, ids=lambda f: f["type"])
def test_a_frame_with_a_wrong_field_is_refused_and_the_connection_stays(server: Running, frame: object) -> None:
    peer = server.join(server.new_space())
    peer.until("welcome")
    peer.socket.send(codec.encode(frame))
    refusal = peer.until("refused")
    assert refusal["where"] and refusal["expected"] and refusal["got"]
    peer.push(node(node_id()))
    assert peer.until("ack")["seq"] == 1


def test_bytes_at_random_never_stop_the_server(server: Running) -> None:
    draw = random.Random(7)
    space = server.new_space()
    witness = server.join(space, "c000000009")
    valid = codec.encode({"type": "push", "id": ["c000000001", 1], "base_seq": 0, "ops": [node(node_id(), text="x")]})
    for _ in range(10):
        peer = server.join(space)
        try:
            for _ in range(25):
                broken = bytearray(valid)
                for _ in range(draw.randint(1, 4)):
                    broken[draw.randrange(len(broken))] = draw.randrange(256)
                peer.socket.send(bytes(broken))
            while True:
                peer.socket.recv(timeout=0.5)
        except (ConnectionClosed, TimeoutError):
            peer.socket.close()
    witness.push(node(node_id()))
    assert witness.until("ack")


def test_a_connection_that_sends_only_nonsense_is_closed(server: Running) -> None:
    peer = server.join(server.new_space())
    peer.until("welcome")
    with pytest.raises(ConnectionClosed):
        for _ in range(100):
            peer.socket.send(b"\xff")
        while True:
            peer.receive()
    assert peer.socket.close_code == 4400


def test_a_message_beyond_the_limit_closes_only_its_connection(server: Running) -> None:
    space = server.new_space()
    peer, witness = server.join(space), server.join(space, "c000000002")
    peer.until("welcome")
    peer.socket.send(b"\x00" * (wire.FRAME_LIMIT + 1))
    with pytest.raises(ConnectionClosed):
        peer.until("never")
    assert peer.socket.close_code == 1009
    witness.push(node(node_id()))
    assert witness.until("ack")


def test_open_transfers_have_a_cap(server: Running) -> None:
    peer = server.join(server.new_space())
    peer.until("welcome")
    for number in range(5):
        part = {"transfer": f"t00000000{number}", "offset": 0, "total": 5 << 20, "bytes": b"x" * wire.PART_SIZE}
        peer.send(type="part", **part)
    assert peer.until("refused")["where"] == "part.total"


def test_a_space_that_does_not_exist_closes_the_connection(server: Running) -> None:
    for space in ("0000000000", "..", "%00", "x" * 500):
        peer = server.connect(space)
        with pytest.raises(ConnectionClosed):
            while True:
                peer.recv(timeout=5)
        assert peer.close_code == 4404
        peer.close()


def test_a_reader_that_does_not_read_costs_a_bounded_queue_and_is_let_go(server: Running) -> None:
    """The sleeper's own window is small, so the server's queue fills; the other member does not wait for it."""
    space, a = server.new_space(), node_id()
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", server.settings.port))
    key = "GET /ws/spaces/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n"
    rest = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    narrow.sendall((key.format(space, server.settings.port, TOKEN) + rest).encode())
    assert b"101" in narrow.recv(1024)
    body = codec.encode(hello("c000000008"))
    narrow.sendall(bytes([0x82, 0x80 | len(body), 0, 0, 0, 0]) + body)
    writer = server.join(space)
    writer.until("welcome")
    time.sleep(0.1)
    writer.push(node(a, text=""))
    writer.until("ack")
    for number in range(40):  # far more than the socket buffers and the queue hold
        writer.push(["set", [a, "text"], [], [f"{number}" * 200_000]])
        writer.until("patched")
    watcher = server.join(space, "c000000007")
    assert "c000000008" not in [member["client"] for member in watcher.until("welcome")["members"]]
    narrow.close()


def test_a_body_beyond_its_limit_is_refused(server: Running) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}

    def chunks() -> object:
        for _ in range(18):
            yield b"\x00" * (1 << 20)

    with httpx.Client(verify=False, base_url=server.url, headers=headers) as client:
        answer = client.post("/api/spaces/import", params={"name": "x"}, content=chunks())  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["code"]) == (413, "size")
        answer = client.post("/api/spaces", content=b'{"name": "' + b"x" * (65 << 10) + b'"}')
        assert answer.status_code == 413


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2f..%2fetc/passwd", "/%00", "//etc/passwd"],
)
def test_no_path_leads_out_of_the_built_files(server: Running, path: str) -> None:
    answer = get(server.url + path)
    assert answer.status_code in (400, 401, 404)
    assert b"root:" not in answer.content
