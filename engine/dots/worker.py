"""The worker process: where a component runs that may do I/O, or whose work is too long for the engine's own thread.

`Worker` is the parent's side: it starts the process, makes one call at a time, and kills it on a deadline or a cancel.
`python -m dots.worker FD BYTES` is the child's side. Limits are the kernel's: address space and processor time. Secret
values travel in the call, over a private socket, and are kept nowhere.
"""

import asyncio
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic, sleep
from typing import Any, Final

from dots import codec, frames
from dots.components import Component, load
from dots.errors import Code, Failure
from dots.spec import Effect, Params, Values

MEMORY: Final = 1 << 30  # bytes of address space
GRACE: Final = 2.0  # seconds between a cancel and the kill
KEPT: Final = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV")
CODES: Final = {int(code) for code in Code}
LEVELS: Final = ("debug", "info", "warning", "error")

Log = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Context:
    """What an opaque component gets beside its params and inputs."""

    seconds: float
    deadline: float  # of time.monotonic() in the worker
    cancel: asyncio.Event  # set when the run is cancelled; the process is killed soon after
    secrets: Mapping[str, str]
    log: Log


@dataclass(frozen=True, slots=True)
class Call:
    component: Component
    params: Params
    raw: Mapping[str, Any]  # the same params as the program has them
    inputs: Values
    seconds: float
    secrets: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Worker:
    """One child process. Any thread may `kill` it; only one may `call` at a time."""

    memory: int = MEMORY
    _process: "subprocess.Popen[bytes] | None" = None
    _socket: socket.socket | None = None
    _killed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, call: Call, log: Log) -> Values | Failure:
        """Run a component to its outputs, or the reason why there are none. Blocks; the child cannot make it raise."""
        try:
            return self._call(call, log)
        finally:
            if not self.alive:
                self.close()

    def cancel(self) -> None:
        """Tell the component, and end the process shortly after. Does not block."""
        with self._lock:
            if self._socket is not None and self.alive:
                self._socket.shutdown(socket.SHUT_WR)
                timer = threading.Timer(GRACE, self.kill)
                timer.daemon = True
                timer.start()
            else:
                self._killed = True

    def kill(self) -> None:
        """End the process, at once and for good; a call in progress reports it."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def close(self) -> None:
        """End the process and forget the socket; no call may be in progress."""
        self.kill()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    @property
    def alive(self) -> bool:
        return not self._killed and (self._process is None or self._process.poll() is None)

    def _call(self, call: Call, log: Log) -> Values | Failure:
        name = call.component.spec.name
        request = {
            "module": call.component.module.__name__,
            "params": dict(call.raw),
            "inputs": dict(call.inputs),
            "seconds": call.seconds,
            "secrets": dict(call.secrets),
        }
        end = monotonic() + call.seconds
        try:
            data = frames.pack(request)
            sock = self._start()
            sock.settimeout(call.seconds)
            sock.sendall(data)
            while True:
                sock.settimeout(max(end - monotonic(), 0.001))
                answer = frames.receive(sock)
                if answer is None:
                    return self._ended(call)
                if "log" not in answer:
                    return _answer(answer, name)
                log(*_logged(answer["log"]))
        except codec.Unencodable as error:
            return Failure(Code.INVALID_VALUE, f"{name}.{error.path}", error.expected, error.got)
        except TimeoutError:
            self.kill()
            return Failure(Code.LAUNCH_TIMEOUT, name, f"an answer within {call.seconds} s", "none", retry=True)
        except frames.BadFrame as error:
            self.kill()
            return Failure(Code.INVALID_VALUE, name, "an answer in frames", str(error))
        except OSError:
            return self._ended(call)

    def _start(self) -> socket.socket:
        with self._lock:
            if self._killed:
                raise BrokenPipeError("the worker was ended")
            if self._socket is not None:
                return self._socket
            ours, theirs = socket.socketpair()
            with theirs:
                command = [sys.executable, "-P", "-m", "dots.worker", str(theirs.fileno()), str(self.memory)]
                kept = {key: value for key, value in os.environ.items() if key in KEPT}
                path = os.pathsep.join(p for p in sys.path if p)
                # Standard output belongs to results; what a component prints goes to standard error.
                self._process = subprocess.Popen(
                    command,
                    pass_fds=(theirs.fileno(),),
                    env=kept | {"PYTHONPATH": path},
                    stdin=subprocess.DEVNULL,
                    stdout=2,
                )
            self._socket = ours
            return ours

    def _ended(self, call: Call) -> Failure:
        """Why the child is gone without an answer."""
        name = call.component.spec.name
        was_killed = self._killed
        self.kill()
        status = self._process.returncode if self._process else None
        if was_killed:
            return Failure(Code.LAUNCH_TIMEOUT, name, "an answer", "the worker was ended", retry=True)
        if status == -signal.SIGXCPU:
            return Failure(Code.LAUNCH_TIMEOUT, name, f"at most {call.seconds} s", "more processor time", retry=True)
        got = f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        return Failure(
            Code.OUT_OF_MEMORY, name, f"an answer within {self.memory >> 20} MiB", f"the worker ended with {got}"
        )


def _logged(entry: Any) -> tuple[str, str]:
    match entry:
        case [str(level), str(message)]:
            return (level if level in LEVELS else "info"), message[:4096]
        case _:
            raise frames.BadFrame(f"log: expected [level, message], got {type(entry).__name__}")


def _answer(answer: Mapping[str, Any], name: str) -> Values | Failure:
    match answer:
        case {"outputs": dict(outputs)} if all(isinstance(port, str) for port in outputs):
            return outputs
        case {"failed": [int(code), str(where), str(expected), str(got)]} if code in CODES:
            return Failure(Code(code), where, expected, got)
        case _:
            raise frames.BadFrame(f"{name}: expected outputs or failed, got {sorted(answer)}")


# ---- the child's side ----------


@dataclass(slots=True)
class Child:
    """Serves calls on an inherited socket until it closes."""

    socket: socket.socket
    running: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None  # of the opaque call in progress

    def serve(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()
        while (request := frames.receive(self.socket)) is not None:
            seconds = float(request["seconds"])
            spent = resource.getrusage(resource.RUSAGE_SELF)
            processor = int(spent.ru_utime + spent.ru_stime + seconds) + 2
            resource.setrlimit(resource.RLIMIT_CPU, (processor, resource.RLIM_INFINITY))
            self._send(self._run(request))

    def _run(self, request: Mapping[str, Any]) -> Mapping[str, object]:
        """Whatever a component does wrong becomes an answer; only the end of the process is none."""
        name = str(request["module"])
        try:
            component = load(import_module(name))
            name = component.spec.name
            params = component.spec.params.model_validate(request["params"])
            if component.spec.effect is Effect.OPAQUE:
                outputs = asyncio.run(self._opaque(component, params, request))
            else:
                outputs = component.module.run(params, request["inputs"])
            return {"outputs": dict(outputs)}
        except MemoryError:
            limit = f"{resource.getrlimit(resource.RLIMIT_AS)[0] >> 20} MiB"
            return {"failed": [int(Code.OUT_OF_MEMORY), name, f"at most {limit} of memory", "more"]}
        except Exception as error:
            return {"failed": [int(Code.INVALID_VALUE), name, "outputs", f"{type(error).__name__}: {error}"[:4096]]}

    async def _opaque(self, component: Component, params: Any, request: Mapping[str, Any]) -> Values:
        seconds = float(request["seconds"])

        def log(level: str, message: str) -> None:
            self._send({"log": [level, message[:4096]]})

        context = Context(seconds, monotonic() + seconds, asyncio.Event(), request["secrets"], log)
        self.running = asyncio.get_running_loop(), context.cancel
        try:
            outputs: Values = await component.module.run(params, request["inputs"], context)
            return outputs
        finally:
            self.running = None

    def _send(self, answer: Mapping[str, object]) -> None:
        try:
            data = frames.pack(answer)
        except codec.Unencodable as error:
            failed = [int(Code.INVALID_VALUE), f"outputs.{error.path}", error.expected, error.got]
            data = frames.pack({"failed": failed})
        self.socket.sendall(data)

    def _watch(self) -> None:
        """The parent closes its side to cancel, and its end closes it: tell the component, then end."""
        closed = select.poll()
        closed.register(self.socket, select.POLLRDHUP)
        closed.poll()
        if running := self.running:
            loop, cancel = running
            loop.call_soon_threadsafe(cancel.set)
            sleep(GRACE)
        os._exit(0)


def main(arguments: list[str]) -> int:
    descriptor, memory = map(int, arguments)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=descriptor) as sock:
        Child(sock).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
