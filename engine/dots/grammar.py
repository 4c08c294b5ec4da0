"""Grammars that a dot's text must follow: from text to a matcher that says which tokens may come next.

`Grammars` belongs to whoever runs an engine and holds one matcher process (`dots.matcher`), which forks for every dot
with a grammar. Everything a grammar can do wrong happens there: here it is a Failure, within a stated time. Compiling
takes its time and is done beside the engine's thread; a matcher is then the engine's, and computes its next mask while
the model computes. This module gives out token ids and knows nothing of logits.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dots.errors import Code, Failure
from dots.request import Grammar
from dots.vocabulary import MEMORY, PACKET, is_text, packed

COMPILE: Final = 5.0  # seconds until the first mask is there
STEP: Final = 2.0  # seconds for one mask; its work is limited too, and ends far sooner
START: Final = 30.0  # seconds for the process to read a vocabulary, once
MOST: Final = 128  # matchers at once: each is a process
MAX_TEXT: Final = 64 << 10  # bytes of a grammar
FREE: Final = '\n%llguidance {"no_forcing": true}\n'
# One way to write each value: where white space is free a model may write it without end.
LAYOUT: Final = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}

Ids = NDArray[np.intp]


@dataclass(eq=False)
class Grammars:
    """Makes matchers for one vocabulary. Any thread may ask; `close` ends all that are left."""

    pieces: Sequence[bytes]
    ends: Iterable[int]
    _process: "subprocess.Popen[bytes] | None" = None
    _control: socket.socket | None = None
    _live: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)  # of the process
    _count: threading.Lock = field(default_factory=threading.Lock)  # of `_live`; never held for long

    def __post_init__(self) -> None:
        self.last = sorted(self.ends)
        self.text = np.array([is_text(piece) for piece in self.pieces], np.bool_)
        self.text[self.last] = False

    def matcher(self, grammar: Grammar) -> "Matcher":
        """A matcher that still has to `compile`."""
        return Matcher(self, grammar)

    def open(self) -> tuple[socket.socket, int]:
        """A channel to a fork of the process, and the handle that ends it; raises OSError."""
        with self._count:
            if self._live >= MOST:
                raise BlockingIOError(f"{MOST} grammars are in use")
            self._live += 1
        try:
            return self._fork()
        except BaseException:
            self.closed()
            raise

    def closed(self) -> None:
        """A matcher was given back."""
        with self._count:
            self._live -= 1

    def close(self) -> None:
        """End the process. Its forks end with their channels."""
        with self._lock:
            self._end()

    def _fork(self) -> tuple[socket.socket, int]:
        with self._lock:
            control = self._started()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                with theirs:
                    socket.send_fds(control, [b"f"], [theirs.fileno()])
                _, given, _, _ = socket.recv_fds(control, 1, 1)
                if not given:
                    raise BrokenPipeError("the matcher process ended")
            except BaseException:
                ours.close()
                self._end()
                raise
            return ours, given[0]

    def _started(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._control is not None:
            return self._control
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        vocabulary = os.memfd_create("vocabulary")
        with theirs, os.fdopen(vocabulary, "w+b") as file:
            file.write(packed(self.pieces, self.last))
            file.seek(0)
            command = [sys.executable, "-P", "-m", "dots.matcher", str(theirs.fileno()), str(vocabulary)]
            environment = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
            self._process = subprocess.Popen(
                command,
                pass_fds=(theirs.fileno(), vocabulary),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt at the terminal is for us to hear
            )
        ours.settimeout(START)
        self._control = ours
        return ours

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Matcher:
    """One dot's grammar and where its text stands in it. After `compile` one thread uses it; any may close it."""

    def __init__(self, grammars: Grammars, grammar: Grammar) -> None:
        self.grammars, self.grammar = grammars, grammar
        self._channel: socket.socket | None = None
        self._handle = -1
        self._mask: bytes | None = None
        self._compiling = self._closed = False
        self._lock = threading.Lock()

    def compile(self) -> Failure | None:
        """Until the first mask is there; None when it is. Blocks for at most `COMPILE`, but for the first start."""
        text = source(self.grammar)
        if isinstance(text, Failure):
            return text
        if not self.grammars.last:
            return wrong("a model that can end a text", "no end token")
        with self._lock:
            self._compiling = not self._closed
        failure = self._compiled(text) if self._compiling else wrong("a grammar", "it was cancelled")
        with self._lock:
            self._compiling = False
            if self._closed:
                failure = failure or wrong("a grammar", "it was cancelled")
            if failure:
                self._release()
        return failure

    def allowed(self) -> Ids | Failure:
        """The tokens that may come next, in order: text that the grammar can go on from, and end tokens where it may
        end. Waits for the mask."""
        if failure := self._wait():
            return failure
        assert self._mask is not None
        bits = np.unpackbits(np.frombuffer(self._mask, np.uint8, offset=1), bitorder="little")
        allowed = bits[: len(self.grammars.text)].astype(np.bool_) & self.grammars.text
        allowed[self.grammars.last] = bool(self._mask[0])
        ids = np.flatnonzero(allowed)
        return ids if len(ids) else wrong("a token that can come next", "none")

    def took(self, token: int) -> bool | Failure:
        """Go on by a token that was allowed; True when nothing can follow it. The next mask is then being made."""
        if failure := self._wait():
            return failure
        self._mask = None
        try:
            if self._channel is not None:
                self._channel.send(token.to_bytes(4, "little"))
        except OSError:
            return wrong("a matcher", "it ended")
        answer = self._answer(b"T", STEP)
        return answer if isinstance(answer, Failure) else bool(answer[0])

    def close(self) -> None:
        """End it, wherever it stands; a second call does nothing."""
        with self._lock:
            self._closed = True
            if self._compiling:
                self._kill()
            else:
                self._release()

    def _compiled(self, text: str) -> Failure | None:
        try:
            channel, handle = self.grammars.open()
        except BlockingIOError as error:
            return Failure(Code.OUT_OF_MEMORY, "grammar", f"at most {MOST} grammars at once", str(error), retry=True)
        except OSError as error:
            return wrong("a matcher process", str(error))
        with self._lock:
            self._channel, self._handle = channel, handle
            if self._closed:
                self._kill()
        try:
            channel.send(text.encode())
        except OSError:
            return wrong("a grammar", "it was cancelled")
        answer = self._answer(b"M", COMPILE)
        if isinstance(answer, Failure):
            return answer
        self._mask = answer
        return None

    def _wait(self) -> Failure | None:
        """Until the mask is there."""
        if self._mask is None:
            answer = self._answer(b"M", STEP)
            if isinstance(answer, Failure):
                return answer
            self._mask = answer
        return None

    def _answer(self, kind: bytes, seconds: float) -> bytes | Failure:
        """The next packet of this kind, without its mark."""
        if self._channel is None:
            return wrong("a matcher", "it was closed")
        try:
            self._channel.settimeout(seconds)
            packet = self._channel.recv(PACKET)
        except TimeoutError:
            return wrong(f"an answer of the grammar within {seconds:g} s", "none")
        except OSError as error:
            return wrong("a matcher", str(error))
        if packet[:1] == kind:
            return packet[1:]
        if packet[:1] == b"E":
            return wrong("a grammar that can be followed", told(packet[1:].decode("utf-8", "replace")))
        return wrong(f"a grammar that needs at most {MEMORY >> 20} MiB and {COMPILE:g} s", "more, or one too deep")

    def _kill(self) -> None:
        """End the fork; who waits for it hears so."""
        if self._channel is not None:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _release(self) -> None:
        if self._channel is not None:
            self._kill()
            self._channel.close()
            os.close(self._handle)
            self._channel = None
            self.grammars.closed()


def source(grammar: Grammar) -> str | Failure:
    """The grammar as the library reads it, in its Lark."""
    size = len(grammar.text.encode())
    if size > MAX_TEXT:
        return wrong(f"a grammar of at most {MAX_TEXT} bytes", f"{size} bytes")
    if grammar.kind == "lark":
        return grammar.text + FREE
    try:
        schema = json.loads(grammar.text)
        if not isinstance(schema, dict):
            return wrong("a JSON Schema, which is an object", type(schema).__name__)
        schema["x-guidance"] = LAYOUT
        return f"start: %json {json.dumps(schema, allow_nan=False)}{FREE}"
    except (ValueError, RecursionError) as error:
        return wrong("a JSON Schema", str(error) or type(error).__name__)


def told(message: str) -> str:
    """The library's first line, in our words where it has only its own."""
    line = message.split("\n", 1)[0].strip()
    return "nothing that can come next" if line.startswith("NoExtension") else line


def wrong(expected: str, got: str) -> Failure:
    return Failure(Code.INVALID_VALUE, "grammar", expected, got)
