"""A TCP proxy that cuts: closes, resets, or falls silent without a word, one way or both, at a byte or at a moment."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from random import Random

ENDS = ("close", "reset")  # told to both sides
HALF = ("silent", "silent up", "silent down", "lost by client", "lost by server")  # half-open: one side or none is told
MODES = ENDS + HALF


@dataclass
class Pair:
    """One connection through the proxy."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    up: bool = True  # what the client sends is passed on
    down: bool = True
    due: tuple[int, str] | None = None  # bytes left until a cut of this kind
    alive: bool = True

    def cut(self, mode: str) -> None:
        self.alive = False
        self.up = self.up and mode == "silent down"
        self.down = self.down and mode == "silent up"
        if mode in ("close", "lost by server"):
            self.client.close()
        if mode in ("close", "lost by client"):
            self.server.close()
        if mode == "reset":
            self.client.transport.abort()
            self.server.transport.abort()


@dataclass
class Proxy:
    target: int
    pairs: list[Pair] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    cuts: dict[str, int] = field(default_factory=dict)
    port: int = 0
    listening: asyncio.Server | None = None

    async def open(self) -> None:
        self.listening = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = self.listening.sockets[0].getsockname()[1]

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.target)
        pair = Pair(writer, to_server)
        self.pairs.append(pair)
        for work in (self.pump(pair, reader, to_server, True), self.pump(pair, from_server, writer, False)):
            self.begin(work)

    def begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def pump(self, pair: Pair, source: asyncio.StreamReader, sink: asyncio.StreamWriter, up: bool) -> None:
        try:
            while data := await source.read(4096):
                if pair.due is not None:
                    left, mode = pair.due
                    if len(data) >= left:  # the frame under way is cut in two
                        sink.write(data[:left])
                        self.cut(pair, mode)
                        data = data[left:]
                    else:
                        pair.due = (left - len(data), mode)
                if data and (pair.up if up else pair.down):
                    sink.write(data)
                    await sink.drain()
        except OSError:
            pass  # one side went: the other one is told below
        if pair.alive:
            sink.close()

    def cut(self, pair: Pair, mode: str) -> None:
        pair.due = None
        if pair.alive:
            self.cuts[mode] = self.cuts.get(mode, 0) + 1
            pair.cut(mode)

    def cut_somewhere(self, random: Random) -> None:
        """One living connection, now or after some more bytes."""
        alive = [pair for pair in self.pairs if pair.alive and pair.due is None]
        if not alive:
            return
        pair, mode = random.choice(alive), random.choice(MODES)
        if random.random() < 0.5:
            self.cut(pair, mode)
        else:
            pair.due = (random.randrange(1, 3000), mode)

    async def close(self) -> None:
        assert self.listening
        self.listening.close()
        for pair in self.pairs:
            pair.client.transport.abort()
            pair.server.transport.abort()
        await asyncio.gather(*self.tasks, return_exceptions=True)
