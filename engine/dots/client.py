"""The owner's side of an engine host, for asyncio: start it, run programs, cancel, look, close.

It is light: no model, no arrays. The host is a process of its own. When it dies the client says so once, through
`lost`, and every run in progress raises HostLost.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from dots import frames
from dots.errors import Code, Failure, HostLost, Refused
from dots.events import Event

PATIENCE: Final = 10.0  # seconds a stopping host gets


Status = dict[str, Any]
"""`state` (loading, ready or failed), `progress` (0 to 1), `seconds` (how long the model has been loading, or
took), `reason` (why it failed), `device`, `executor` and `digest` (null until it is loaded), `model`, `kv_used`,
`kv_committed`, `kv_reserved`, `kv_total` (bytes), `steps_reserved`, `dots`, `pid`."""

Answer = Event | Refused | HostLost


class Client:
    """One host, owned. Made by `start` and used in one event loop."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._runs: dict[str, asyncio.Queue[Answer]] = {}
        self._asked: list[asyncio.Future[Status]] = []
        self._loaded = asyncio.Event()
        self._closing = False
        self.known: Status | None = None  # the newest that the host said by itself
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done, with the reason, when the host died without being asked to."""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, model: str = "smollm2-135m-instruct", executor: str = "auto", kv_pool: int | None = None
    ) -> "Client":
        """Start a host; returns while its model still loads (`loaded` waits for it)."""
        ours, theirs = socket.socketpair()
        options = [
            "--owner",
            str(os.getpid()),
            "--model",
            model,
            "--executor",
            executor,
            "--kv-pool",
            str(kv_pool or 0),
        ]
        with theirs:
            process = spawn(theirs.fileno(), options)
        client = cls(process, *await asyncio.open_unix_connection(sock=ours))
        client._send({"type": "hello", "protocol": frames.PROTOCOL})
        return client

    async def run(
        self,
        run_id: str,
        program: bytes,
        inputs: Mapping[str, Any],
        space: str,
        secrets: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Event]:
        """Events of a run, to its end. Raises Refused or HostLost. Leaving early cancels the run."""
        if run_id in self._runs:
            raise Refused(Failure(Code.INVALID_VALUE, "run", "a new run id", run_id))
        answers = self._runs[run_id] = asyncio.Queue()
        ended = False
        try:
            frame = {"type": "run", "run": run_id, "program": program, "inputs": dict(inputs), "space": space}
            self._send(frame | {"secrets": dict(secrets or {})})
            while not ended:
                answer = await answers.get()
                if not isinstance(answer, Event):
                    ended = True
                    raise answer
                ended = answer.kind == "ended"
                yield answer
        finally:
            del self._runs[run_id]
            if not ended:
                self._cancel(run_id)

    async def cancel(self, run_id: str) -> None:
        """Ask for the end of a run; its iterator still gives the last events. Unknown runs are no mistake."""
        self._cancel(run_id)

    def _cancel(self, run_id: str) -> None:
        if not self._gone:
            self._send({"type": "cancel", "run": run_id})

    async def status(self) -> Status:
        """The host as it is now; raises HostLost."""
        asked: asyncio.Future[Status] = asyncio.get_running_loop().create_future()
        self._send({"type": "status"})
        self._asked.append(asked)
        return await asked

    async def loaded(self) -> Status:
        """Wait until the model is loaded or has failed to load; raises HostLost."""
        await self._loaded.wait()
        if self.known is None or self.known["state"] == "loading":
            raise HostLost(self.reason)
        return self.known

    async def close(self) -> None:
        """Stop the host: its runs end as cancelled. A second call does nothing."""
        if not self._closing:
            self._closing = True
            if not self._listening.done():
                with contextlib.suppress(ConnectionError):
                    self._writer.write(frames.pack({"type": "stop"}))
            try:
                await asyncio.wait_for(asyncio.shield(self._listening), PATIENCE)
            except TimeoutError:
                self._process.kill()
                await self._listening
            self.lost.cancel()

    @property
    def reason(self) -> str:
        """How the host ended."""
        status = self._process.returncode
        if status is None:
            return "the engine host closed its socket"
        return f"the engine host ended with {f'signal {-status}' if status < 0 else f'exit status {status}'}"

    @property
    def _gone(self) -> bool:
        return self._closing or self._listening.done()

    def _send(self, frame: Mapping[str, object]) -> None:
        if self._gone:
            raise HostLost(self.reason)
        self._writer.write(frames.pack(frame))

    async def _listen(self) -> None:
        """Hand out what the host says, until it says no more."""
        try:
            while (frame := await frames.read(self._reader)) is not None:
                self._take(frame)
        except frames.BadFrame:
            self._process.kill()
        finally:
            self._writer.close()
            await asyncio.to_thread(self._reap)
            self._tell_lost()

    def _reap(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell_lost(self) -> None:
        for answers in self._runs.values():
            answers.put_nowait(HostLost(self.reason))
        for asked in self._asked:
            if not asked.done():
                asked.set_exception(HostLost(self.reason))
        self._asked.clear()
        self._loaded.set()
        if not self._closing and not self.lost.done():
            self.lost.set_result(self.reason)

    def _take(self, frame: Mapping[str, Any]) -> None:
        match frame:
            case {"type": "event", "run": str(run), "node": node, "kind": str(kind), "data": dict(data), "time": time}:
                self._give(run, Event(run, node, kind, data, float(time)))
            case {"type": "refused", "run": str(run), "code": int(code)}:
                failure = Failure(Code(code), frame["where"], frame["expected"], frame["got"], frame["retry"])
                self._give(run, Refused(failure))
            case {"type": "ready"}:
                self.known = read_status(frame)
                if self.known["state"] != "loading":
                    self._loaded.set()
            case {"type": "status"} if self._asked:
                asked = self._asked.pop(0)
                if not asked.done():
                    asked.set_result(read_status(frame))
            case _:
                raise frames.BadFrame(f"expected event, refused, ready or status, got {str(frame)[:200]}")

    def _give(self, run: str, answer: Answer) -> None:
        answers = self._runs.get(run)
        if answers is not None:
            answers.put_nowait(answer)


def spawn(descriptor: int, options: list[str]) -> "subprocess.Popen[bytes]":
    """Standard output belongs to the owner's results; what the host says to people goes to standard error."""
    command = [sys.executable, "-P", "-m", "dots.host", "--fd", str(descriptor), *options]
    return subprocess.Popen(command, pass_fds=(descriptor,), stdin=subprocess.DEVNULL, stdout=2)


def read_status(frame: Mapping[str, Any]) -> Status:
    return {key: value for key, value in frame.items() if key not in ("type", "protocol")}
