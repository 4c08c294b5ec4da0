"""The engine host: the process that owns one device's arena and engine. `python -m dots.host --fd N` speaks on an
inherited Unix socket (docs/wire.md, "The engine's own socket").

It lives as long as its owner: the end of the socket, or of the owner's process, ends it. The socket's loop and the
engine's thread are two threads; only values pass between them.
"""

import argparse
import asyncio
import ctypes
import dataclasses
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any, Final

from dots import codec, frames
from dots.components import catalogue
from dots.errors import Code, Failure, Refused
from dots.events import Event
from dots.excerpts import facts, said
from dots.flow import Flow
from dots.models.model import load
from dots.program import read
from dots.runtime import Runtime, Status, default_pool

PARENT_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG
MOST_BUFFERED: Final = 256 << 20  # bytes an owner may leave unread

log = logging.getLogger(__name__)


class BadRequest(ValueError):
    """A frame of the owner that asks for nothing we know."""


class Host:
    """The owner's connection. Lives in the loop's thread."""

    def __init__(self, runtime: Runtime, writer: asyncio.StreamWriter) -> None:
        self.runtime = runtime
        self.writer = writer
        self.loop = asyncio.get_running_loop()
        self.flows: dict[str, Flow | None] = {}  # None: still being read

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Answer until the owner goes, says `stop`, or speaks nonsense."""
        waiting: set[asyncio.Task[None]] = set()
        while (frame := await frames.read(reader)) is not None:
            match frame:
                case {"type": "hello", "protocol": frames.PROTOCOL}:
                    self.runtime.post(self._tell_ready)
                case {"type": "run", "run": str(run), "program": bytes(), "inputs": dict(), "space": str()}:
                    task = asyncio.create_task(self._run(run, frame))
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
                case {"type": "cancel", "run": str(run)}:
                    self._cancel(run)
                case {"type": "status"}:
                    self.runtime.post(self._tell_status)
                case {"type": "stop"}:
                    return
                case _:
                    raise BadRequest(f"expected hello, run, cancel, status or stop, got {str(frame)[:200]}")

    async def _run(self, run: str, frame: Mapping[str, Any]) -> None:
        """Read and start a program; the reading happens off both threads."""
        try:
            if run in self.flows:
                raise Refused(Failure(Code.INVALID_VALUE, "run", "a new run id", run))
            self.flows[run] = None
            secrets = checked_secrets(frame.get("secrets", {}))
            flow = await asyncio.to_thread(self._start, run, frame, secrets)
        except Refused as refused:
            self._refuse(run, refused.failure)
            return
        except Exception as error:
            log.exception("starting a run")
            self._refuse(run, Failure(Code.INVALID_VALUE, "run", "a start", type(error).__name__))
            return
        if run not in self.flows:  # cancelled or ended while it was read
            self.runtime.cancel(flow)
        else:
            self.flows[run] = flow

    def _refuse(self, run: str, failure: Failure) -> None:
        if self.flows.get(run, self) is None:
            del self.flows[run]
        self._send(refusal(run, failure))

    def _start(self, run: str, frame: Mapping[str, Any], secrets: Mapping[str, str]) -> Flow:
        try:
            program = read(frame["program"])
        except ValueError as error:
            raise Refused(Failure(Code.INVALID_VALUE, "program", "a valid program", str(error))) from None
        return self.runtime.run(run, program, frame["inputs"], frame["space"], secrets, self._tell_event)

    def _cancel(self, run: str) -> None:
        flow = self.flows.get(run)
        if flow is not None:
            self.runtime.cancel(flow)
        elif run in self.flows:
            del self.flows[run]

    # ---- from the runtime's thread ----------

    def _tell_event(self, event: Event) -> None:
        data = {"run": event.run, "node": event.node, "kind": event.kind, "data": dict(event.data), "time": event.time}
        self._post({"type": "event", **data}, event.run if event.kind == "ended" else None)

    def _tell_ready(self) -> None:
        self._post(ready(self.runtime.status()))

    def _tell_status(self) -> None:
        self._post(ready(self.runtime.status()) | {"type": "status"})

    def tell_loaded(self, status: Status) -> None:
        self._post(ready(status))

    def _post(self, frame: Mapping[str, object], ended: str | None = None) -> None:
        data = frames.pack(frame)
        try:
            self.loop.call_soon_threadsafe(self._write, data, ended)
        except RuntimeError:
            log.info("the owner is gone; a frame is dropped")

    # ---- in the loop ----------

    def _send(self, frame: Mapping[str, object]) -> None:
        self._write(frames.pack(frame), None)

    def _write(self, data: bytes, ended: str | None) -> None:
        if ended is not None:
            self.flows.pop(ended, None)
        if self.writer.is_closing():
            return
        self.writer.write(data)
        if self.writer.transport.get_write_buffer_size() > MOST_BUFFERED:
            log.error("the owner left %d bytes unread; its connection is closed", MOST_BUFFERED)
            self.writer.transport.abort()


def refusal(run: str, failure: Failure) -> dict[str, object]:
    return {"type": "refused", "run": run, **facts(failure), "retry": failure.retry}


def ready(status: Status) -> dict[str, object]:
    """What owner and status page see of this host."""
    failure = status.failure
    return {
        "type": "ready",
        "protocol": frames.PROTOCOL,
        "state": status.state,
        "progress": round(status.progress, 2),
        "seconds": round(status.seconds, 3),
        "reason": said(str(failure)) if failure else None,
        "pid": os.getpid(),
        **dataclasses.asdict(status.facts),
        **dataclasses.asdict(status.usage),
    }


def checked_secrets(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()):
        raise Refused(Failure(Code.INVALID_VALUE, "secrets", "a map of text to text", type(value).__name__))
    return value


def die_with(parent: int) -> None:
    """End when the owner's process ends, even if it cannot close the socket."""
    ctypes.CDLL(None, use_errno=True).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if parent and os.getppid() != parent:
        sys.exit("the owner is gone already")


async def serve(sock: socket.socket, model: str, executor: str, kv_pool: int) -> int:
    reader, writer = await asyncio.open_unix_connection(sock=sock)
    loop = asyncio.get_running_loop()
    crashed = asyncio.Event()
    runtime = Runtime(catalogue(), model, lambda tell: load(model, executor, tell=tell), kv_pool)
    host = Host(runtime, writer)
    runtime.on_loaded = host.tell_loaded

    def crash(error: BaseException) -> None:
        loop.call_soon_threadsafe(crashed.set)

    runtime.on_crash = crash
    runtime.start()
    serving = asyncio.create_task(host.serve(reader))
    crashing = asyncio.create_task(crashed.wait())
    done, _ = await asyncio.wait((serving, crashing), return_when=asyncio.FIRST_COMPLETED)
    if crashing in done:
        serving.cancel()
        return 3
    crashing.cancel()
    await asyncio.to_thread(runtime.close)
    try:
        serving.result()
    except (frames.BadFrame, BadRequest, codec.Malformed) as error:
        log.error("%s", error)
        return 2
    finally:
        writer.close()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dots.host", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="connected Unix socket of the owner")
    parser.add_argument("--owner", type=int, default=0, help="process id of the owner")
    parser.add_argument("--model", required=True)
    parser.add_argument("--executor", default="auto")
    parser.add_argument(
        "--kv-pool", type=int, default=0, help="bytes of the KV pool; 0: min(4 GiB, a quarter of memory)"
    )
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="dots.host: %(levelname)s %(name)s: %(message)s")
    die_with(given.owner)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt goes to the owner, who decides
    sock = socket.socket(fileno=given.fd)
    status = asyncio.run(serve(sock, given.model, given.executor, given.kv_pool or default_pool()))
    sys.stderr.flush()
    os._exit(status)  # a thread that is still loading a model must not keep the process


if __name__ == "__main__":
    main()
