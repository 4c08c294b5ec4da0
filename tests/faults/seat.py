"""A person's place at an open Space over a bad link: edits and runs go on, the connection comes back by itself."""

import asyncio
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from dots import codec
from igc.ops import Op
from tests.faults.client import Frame, Replica, Told
from tests.faults.serving import BEARER

QUIET = 0.3  # seconds without a frame before the link is probed
SILENT = 0.6  # and before it is given up
PROBE = "r0000probe"  # a run that nobody started: the server answers, and nothing changes


class Seat:
    def __init__(self, server: int, through: int, space: str, client: str) -> None:
        self.url = f"ws://127.0.0.1:{server}/ws/spaces/{space}"
        self.through = through  # the proxy's port
        self.replica = Replica(client)
        self.runs: dict[str, Told] = {}
        self.socket: ClientConnection | None = None
        self.welcomes = 0
        self.heard = 0.0
        self.probed = False

    @property
    def settled(self) -> bool:
        return self.socket is not None and self.replica.settled and all(run.status for run in self.runs.values())

    # What a person does

    def edit(self, ops: list[Op]) -> None:
        self.replica.queued += ops

    def run(self, run: str, igb: bytes) -> None:
        self.runs[run] = Told({"type": "run", "run": run, "igb": igb})

    # The link

    async def live(self) -> None:
        """Until cancelled. A broken rule of the wire ends it, with the failure."""
        while True:
            try:
                await self.connected()
            except InvalidStatus:
                raise  # the server is there and refuses
            except (OSError, TimeoutError, WebSocketException):
                self.socket = None

    async def connected(self) -> None:
        async with asyncio.timeout(SILENT):
            socket = await connect(
                self.url,
                host="127.0.0.1",
                port=self.through,
                additional_headers=BEARER,
                compression=None,
                proxy=None,
                max_size=1 << 20,
                ping_interval=None,
                close_timeout=0.01,
            )
        try:
            open_runs = {name: run.cursor for name, run in self.runs.items() if run.status is None}
            hello = {"type": "hello", "protocol": 1, "client": self.replica.client, "resume": open_runs}
            await socket.send(codec.encode(hello))
            self.heard, self.probed = asyncio.get_running_loop().time(), False
            asked: set[str] = set(open_runs)
            while True:
                await self.step(socket, asked)
        finally:
            socket.transport.abort()

    async def step(self, socket: ClientConnection, asked: set[str]) -> None:
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(0.02):
                data: Any = await socket.recv(decode=False)
        except TimeoutError:
            silence = clock() - self.heard
            if silence > SILENT:
                raise
            if silence > QUIET and not self.probed:
                self.probed = True
                await socket.send(codec.encode({"type": "resume", "run": PROBE, "after_seq": 0}))
        else:
            self.heard, self.probed = clock(), False
            self.take(socket, codec.decode(data), asked)  # type: ignore[arg-type]
        if self.socket is not socket:
            return
        push = self.replica.next_push()
        if push is not None:
            await socket.send(codec.encode(push))
        for name, run in self.runs.items():
            if name not in asked:
                asked.add(name)
                await socket.send(codec.encode(run.frame))

    def take(self, socket: ClientConnection, frame: Frame, asked: set[str]) -> None:
        if frame["type"] == "welcome":
            self.replica.take(frame)
            self.socket = socket
            self.welcomes += 1
            if self.replica.sent is not None:  # not known whether it was taken: it goes again under its id
                asyncio.get_running_loop().create_task(self.again(socket, self.replica.sent))
        elif frame["type"] == "event" and frame["run"] in self.runs:
            self.runs[frame["run"]].take(frame)
        elif frame["type"] == "refused" and isinstance(frame["id"], str) and frame["id"] in self.runs:
            self.run_refused(frame, asked)
        elif frame["type"] == "refused" and frame["id"] == PROBE:
            assert frame["code"] == "not_found"
        elif frame["type"] != "event":
            self.replica.take(frame)

    @staticmethod
    async def again(socket: ClientConnection, frame: Frame) -> None:
        with suppress(OSError, WebSocketException):
            await socket.send(codec.encode(frame))

    def run_refused(self, frame: Frame, asked: set[str]) -> None:
        """The server has not heard of it, or had when it was asked again meanwhile."""
        run = self.runs[frame["id"]]
        assert frame["code"] in ("not_found", "duplicate"), frame
        if frame["code"] == "not_found":
            assert run.cursor == 0, "the server forgot a run"
            asked.discard(frame["id"])
