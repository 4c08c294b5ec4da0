"""A real server on a loopback port with a real SQLite file; only the engine is the tests' own."""

import asyncio
import contextlib
import itertools
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.sync.client import ClientConnection, connect

from dots import codec
from dots.errors import HostLost
from dots.events import Event
from spaces.app import create_app
from spaces.cli import server_config
from spaces.database import lock_data
from spaces.engine import StartEngine
from spaces.settings import Settings

TOKEN = "start-token-of-the-tests"
PATIENCE = 20.0


class ScriptedEngine:
    """The engine's events without a model: a node with a dot streams numbered words, others are done at once."""

    def __init__(self) -> None:
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.words = 5
        self.pause = 0.0
        self.word = "word{} "
        self.free = 0  # words that a node says before it waits for `go`
        self.go = threading.Event()
        self.go.set()
        self.cancelled: set[str] = set()
        self.programs: list[bytes] = []
        self.closed = False

    async def run(self, run_id: str, program: bytes, inputs: Mapping[str, Any], space: str) -> AsyncIterator[Event]:
        self.programs.append(program)
        body: Any = codec.decode(program[8:])
        instructions = body[8][0][1]
        started = {"device": "cpu", "executor": "scripted", "model": "words", "digest": b"", "nodes": []}
        yield Event(run_id, None, "started", started | {"nodes": [i[8] for i in instructions]}, 0.0)
        status = "done"
        for instruction in instructions:
            async for event in self.node(run_id, instruction[8], bool(instruction[7])):
                status = "cancelled" if event.kind == "cancelled" else status
                yield event
        yield Event(run_id, None, "ended", {"status": status, "outputs": {}, "reason": None, "seconds": 0.1}, 0.1)

    async def node(self, run: str, node: str, streams: bool) -> AsyncIterator[Event]:
        yield Event(run, node, "running", {"steps_limit": None, "kv_limit": None, "seconds_limit": None}, 0.0)
        text = ""
        for place in range(self.words if streams else 0):
            while place >= self.free and not self.go.is_set() and run not in self.cancelled and not self.lost.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await asyncio.sleep(self.pause)
            if self.lost.done():
                raise HostLost(self.lost.result())
            if run in self.cancelled:
                yield Event(run, node, "cancelled", {"text": text, "steps": place}, 0.0)
                return
            word = self.word.format(place)
            text += word
            yield Event(run, node, "tokens", {"text": word, "steps": place + 1, "rate": 1.5}, 0.0)
        yield Event(run, node, "done", {"outputs": {"text": text}, "seconds": 0.0, "steps": 0, "finish": "end"}, 0.0)

    async def cancel(self, run_id: str) -> None:
        self.cancelled.add(run_id)

    async def status(self) -> dict[str, Any]:
        return {"state": "ready", "reason": None, "device": "cpu", "executor": "scripted", "model": "words"}

    async def close(self) -> None:
        self.closed = True
        self.lost.cancel()


def get(url: str, **options: Any) -> httpx.Response:
    """A request of a stranger. Without certificates: reading them takes longer than most tests."""
    return httpx.get(url, verify=False, **options)


@dataclass
class Peer:
    """A client of an open Space."""

    socket: ClientConnection
    client: str
    counter: int = 0
    seen: list[dict[str, Any]] = field(default_factory=list)

    def send(self, **frame: Any) -> None:
        self.socket.send(codec.encode(frame))

    def receive(self) -> dict[str, Any]:
        frame: Any = codec.decode(self.socket.recv(timeout=PATIENCE, decode=False))
        self.seen.append(frame)
        return frame

    def until(self, kind: str, **facts: Any) -> dict[str, Any]:
        """The next frame of this type in which these facts stand; what comes before is passed over."""
        while True:
            frame = self.receive()
            if frame["type"] == kind and all(frame[name] == value for name, value in facts.items()):
                return frame

    def push(self, *ops: list[Any], seq: int = 0) -> list[Any]:
        """Send a push; its id."""
        self.counter += 1
        self.send(type="push", id=[self.client, self.counter], base_seq=seq, ops=list(ops))
        return [self.client, self.counter]

    def events(self, run: str) -> list[dict[str, Any]]:
        """The events of a run to its end."""
        found = [self.until("event", run=run)]
        while found[-1]["kind"] != "ended":
            found.append(self.until("event", run=run))
        return found


@dataclass
class Running:
    """A server that runs."""

    settings: Settings
    engines: list[ScriptedEngine]
    peers: list[Peer] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    @property
    def engine(self) -> ScriptedEngine:
        return self.engines[-1]

    @contextlib.contextmanager
    def browser(self) -> Iterator[httpx.Client]:
        """Signed in with the cookie, requests from our own pages."""
        with httpx.Client(verify=False, base_url=self.url, headers={"origin": self.url}, timeout=PATIENCE) as client:
            assert client.get("/", params={"token": TOKEN}).status_code == 303
            yield client

    def program(self) -> httpx.Client:
        """With the bearer."""
        return httpx.Client(
            verify=False, base_url=self.url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
        )

    def new_space(self, template: str = "empty") -> str:
        with self.program() as client:
            made = client.post("/api/spaces", json={"name": "A test", "template": template})
            assert made.status_code == 201, made.text
            found: str = made.json()["id"]
            return found

    def connect(self, space: str, **options: Any) -> ClientConnection:
        headers = options.pop("headers", {"authorization": f"Bearer {TOKEN}"})
        url = f"ws://127.0.0.1:{self.settings.port}/ws/spaces/{space}"
        return connect(
            url, additional_headers=headers, compression=None, proxy=None, max_size=1 << 20, legacy=True, **options
        )

    def join(
        self, space: str, client: str = "c000000001", resume: Mapping[str, int] | None = None, **options: Any
    ) -> Peer:
        peer = Peer(self.connect(space, **options), client)
        self.peers.append(peer)
        peer.send(type="hello", protocol=1, client=client, resume=dict(resume or {}))
        return peer

    def close_peers(self) -> None:
        for peer in self.peers:
            peer.socket.close()
        self.peers.clear()


@contextlib.contextmanager
def running(data: Path, start: StartEngine | None = None, **options: Any) -> Iterator[Running]:
    """Serve until the block ends, as `spaces serve` does, in a thread."""
    engines: list[ScriptedEngine] = []

    async def scripted() -> ScriptedEngine:
        engines.append(ScriptedEngine())
        return engines[-1]

    with lock_data(data), socket.create_server(("127.0.0.1", 0)) as listening:
        settings = replace(Settings(data, token=TOKEN, user="tester"), port=listening.getsockname()[1], **options)
        server = uvicorn.Server(server_config(create_app(settings, start or scripted)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        wait_for(lambda: server.started and (start is not None or bool(engines)))
        found = Running(settings, engines)
        try:
            yield found
        finally:
            found.close_peers()
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def wait_for(holds: Callable[[], bool]) -> None:
    for _ in range(int(PATIENCE / 0.01)):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came to hold")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for the tests of a file; each makes Spaces of its own."""
    with running(tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def server(shared: Running) -> Iterator[Running]:
    engine = shared.engine
    engine.words, engine.pause, engine.word, engine.free = 5, 0.0, "word{} ", 0
    engine.go.set()
    yield shared
    engine.go.set()
    shared.close_peers()


NODES = itertools.count(1)


def node_id() -> str:
    return f"n{next(NODES):09d}"


def node(name: str, component: str = "text.input", **params: Any) -> list[Any]:
    return ["node+", [name], [component, 1, params, {}]]


def edge(source: str, output: str, target: str, entry: str) -> list[Any]:
    return ["edge+", [source, output, target, entry, 0]]
