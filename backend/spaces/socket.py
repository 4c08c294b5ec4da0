"""One connection to an open Space: a reader, a bounded writer, and a dict from frame type to handler.

A client that cannot keep up costs a bounded queue: run events wait in their logs behind its cursor, presence and
diagnostics keep only the newest, and when the rest does not fit the connection is closed and may come back.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from dots import codec
from spaces import wire
from spaces.auth import Auth
from spaces.errors import Reason, Refused
from spaces.ids import new_id
from spaces.log import Log
from spaces.open_space import OpenSpace
from spaces.open_spaces import OpenSpaces
from spaces.outbox import Outbox
from spaces.transfers import Transfers, parts

log = logging.getLogger("spaces.socket")

HELLO_SECONDS = 10.0
CLOSE_SECONDS = 2.0
MAX_BAD_FRAMES = 20
PRESENCE_LIMIT = 16 << 10
INLINE_IGB = 700 << 10  # a longer graph goes ahead in parts


class Connection:
    """A member of an open Space. `open_space.py` calls send, follow, wake and leave; none of them blocks."""

    client = ""

    def __init__(self, websocket: WebSocket, name: str) -> None:
        self.websocket = websocket
        self.name = name
        self.outbox = Outbox()
        self.news = asyncio.Event()
        self.gone = asyncio.Event()
        self.last_words = (1000, "")
        self.logs: dict[str, tuple[Log, int]] = {}  # runs followed, each with the cursor
        self.begun: set[str] = set()  # runs that began after the welcome, until the hello's resumes are taken up
        self.taken_up = False
        self.transfers = Transfers()
        self.space: OpenSpace

    # What an open Space asks of a member

    def send(self, frame: wire.ServerFrame) -> None:
        try:
            data = wire.encode(frame)
        except codec.Unencodable as error:
            log.warning("a %s frame cannot be encoded: %s", frame.type, error)
            self.leave(Reason.TOO_LARGE, f"{frame.type} is too large")
            return
        if len(data) > wire.FRAME_LIMIT:
            # It stands in the Room: the welcome of the next connection brings it in parts.
            self.leave(Reason.BUSY, f"{frame.type} is too large for a frame, connect again")
        elif isinstance(frame, wire.Diagnosed | wire.Present):
            self.outbox.put_newest(frame.client if isinstance(frame, wire.Present) else "", data)
        else:
            self.outbox.put(data)
            if self.outbox.full:
                self.leave(Reason.BUSY, "too slow, connect again")
        self.news.set()

    def begin(self, log: Log) -> None:
        """Follow a run that begins now."""
        if not self.taken_up:
            self.begun.add(log.run)
        self.follow(log, 0)

    def follow(self, log: Log, cursor: int) -> None:
        self.logs[log.run] = (log, cursor)
        self.news.set()

    def wake(self) -> None:
        self.news.set()

    def leave(self, reason: Reason, why: str) -> None:
        if not self.gone.is_set():
            self.last_words = (reason.value.close, why)
            self.gone.set()

    # Life

    async def serve(self, spaces: OpenSpaces, space: str) -> None:
        await self.websocket.accept()
        try:
            await spaces.get(space)  # a Space that is not there needs no hello
            async with asyncio.timeout(HELLO_SECONDS):
                hello = await self.hello()
            self.space = await spaces.get(space)
        except WebSocketDisconnect:
            return
        except TimeoutError:
            self.leave(Reason.MALFORMED, "expected hello")
        except Refused as error:
            self.refuse(error, None)
            self.leave(error.reason, str(error))
        else:
            self.client = hello.client
            await self.live(hello)
        await self.say_goodbye()

    async def hello(self) -> wire.Hello:
        """The first frame.

        Raises Refused when it is another one.
        """
        frame = wire.decode(await self.message())
        if not isinstance(frame, wire.Hello):
            raise Refused(Reason.MALFORMED, "frame", "frame.type", "hello", frame.type)
        return frame

    async def live(self, hello: wire.Hello) -> None:
        self.welcome(await self.space.join(self))
        tasks = [asyncio.create_task(work) for work in (self.read(hello), self.write(), self.gone.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.space.leave(self)
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
                    log.error("connection of %s", self.client, exc_info=result)
                    self.leave(Reason.INTERNAL, "internal error")

    def welcome(self, frame: wire.Welcome) -> None:
        if frame.igb is not None and len(frame.igb) > INLINE_IGB:
            transfer = new_id()
            for part in parts(transfer, frame.igb):
                self.outbox.put(wire.encode(part), counted=False)  # a graph's size bounds them
            frame = replace(frame, igb=None, transfer=transfer)
        self.send(frame)

    async def say_goodbye(self) -> None:
        """Send what still fits, then close. A peer that does not read is not waited for."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                while not self.outbox.full and (data := self.outbox.take()) is not None:
                    await self.websocket.send_bytes(data)
                code, why = self.last_words
                await self.websocket.close(code, why.encode()[:120].decode("utf-8", "ignore"))
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            pass  # the peer is gone

    async def message(self) -> bytes:
        """The next binary message.

        Raises Refused for a text message, WebSocketDisconnect at the end.
        """
        message = await self.websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        data = message.get("bytes")
        if data is None:
            raise Refused(Reason.MALFORMED, "frame", "message", "a binary message", "a text message")
        return bytes(data)

    async def read(self, hello: wire.Hello) -> None:
        for run, cursor in (hello.resume or {}).items():
            resume = wire.Resume(run, cursor)
            await self.answered(resume, self.take_up(resume))
        self.taken_up = True
        bad = 0
        while bad < MAX_BAD_FRAMES:
            try:
                frame = wire.decode(await self.message())
            except Refused as error:
                bad += 1
                self.refuse(error, None)
                continue
            await self.answered(frame, HANDLERS[type(frame)](self, frame))
        self.leave(Reason.MALFORMED, f"{bad} frames that could not be read")

    async def answered(self, frame: wire.ClientFrame, work: Awaitable[None]) -> None:
        """Do it, and turn a refusal into a frame; our own failures are told and logged."""
        try:
            await work
        except Refused as error:
            self.refuse(error, frame)
        except Exception:
            log.exception("frame %s", frame.type)
            self.refuse(Refused(Reason.INTERNAL, "internal", "server", "an answer", "an internal error"), frame)

    def refuse(self, error: Refused, frame: wire.ClientFrame | None) -> None:
        told = error.refusal
        unread = error.frame_id if isinstance(error, wire.BadFrame) else None
        name = unread if frame is None else wire.frame_id(frame)
        self.send(wire.Refusal(name, told.code, told.where, told.expected, told.got))

    async def write(self) -> None:
        """Frames first, then what the logs have; each log is read up to its end before anything else goes."""
        while True:
            self.news.clear()
            while (data := self.outbox.take()) is not None:
                await self.websocket.send_bytes(data)
            for run, state in list(self.logs.items()):
                followed, cursor = state
                for first, entry in followed.read(cursor):
                    event = wire.Event(run, entry.seq, first, entry.node, entry.kind, entry.data, entry.time)
                    await self.websocket.send_bytes(wire.encode(event))
                    cursor = entry.seq
                if self.logs.get(run) is not state:
                    continue  # a resume came meanwhile, with a cursor of its own
                self.logs[run] = (followed, cursor)
                if followed.ended and cursor >= followed.seq:
                    del self.logs[run]
            await self.news.wait()

    # Frames

    async def on_hello(self, frame: wire.Hello) -> None:
        raise Refused(Reason.MALFORMED, "frame", "frame.type", "hello once, as the first frame", "hello again")

    async def on_push(self, frame: wire.Push) -> None:
        await self.space.push(self, frame)

    async def on_save(self, frame: wire.Save) -> None:
        await self.space.save(self, frame)

    async def on_run(self, frame: wire.Run) -> None:
        await self.space.run(frame, self.transfers.take)

    async def on_cancel(self, frame: wire.Cancel) -> None:
        await self.space.runs.cancel(frame.run, self.space.id)

    async def take_up(self, frame: wire.Resume) -> None:
        """A resume of the hello. A run asked for on the link before may have begun since the welcome: that one is told
        from its start already, and would be told twice."""
        try:
            log = await self.space.runs.log(frame.run, self.space.id)
        except Refused:
            if frame.run not in self.begun:
                raise
        else:
            if frame.run not in self.begun:
                self.follow(log, frame.after_seq)

    async def on_resume(self, frame: wire.Resume) -> None:
        self.follow(await self.space.runs.log(frame.run, self.space.id), frame.after_seq)

    async def on_presence(self, frame: wire.Presence) -> None:
        size = len(codec.encode(frame.data))
        if size > PRESENCE_LIMIT:
            raise Refused(Reason.TOO_LARGE, "size", "presence.data", f"at most {PRESENCE_LIMIT} bytes", str(size))
        self.space.present(self, frame.data)

    async def on_part(self, frame: wire.Part) -> None:
        self.transfers.add(frame)


HANDLERS: dict[type[wire.ClientFrame], Callable[[Connection, Any], Awaitable[None]]] = {
    wire.Hello: Connection.on_hello,
    wire.Push: Connection.on_push,
    wire.Save: Connection.on_save,
    wire.Run: Connection.on_run,
    wire.Cancel: Connection.on_cancel,
    wire.Resume: Connection.on_resume,
    wire.Presence: Connection.on_presence,
    wire.Part: Connection.on_part,
}


async def serve(websocket: WebSocket, auth: Auth, spaces: OpenSpaces, space: str) -> None:
    """The endpoint: nobody is accepted before cookie and Origin, or bearer, are right."""
    try:
        caller = await asyncio.to_thread(auth.socket_caller, websocket)
    except Refused as error:
        await websocket.close(error.reason.value.close)
        return
    await Connection(websocket, caller.name).serve(spaces, space)
