"""Runs programs on one device: the thread that owns engine and flows, the calls beside it, the model it loads.

Everything that changes happens on the runtime's thread; other threads hand it work through `post`. Results of workers
come back the same way. The engine host and the command line both hold one.
"""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Final, TypeVar

import numpy as np

from dots.arena import PAGE, Arena
from dots.calls import Calls
from dots.components import Catalogue
from dots.dot import Dot, Work
from dots.engine import Engine, Usage
from dots.errors import Code, Failure, Refused
from dots.flow import Emit, Flow, Prepared
from dots.grammar import Grammars, Matcher
from dots.language import Language
from dots.models.device import Batch, Tell
from dots.pages import Pool
from dots.program import Program
from dots.request import ModelRequest
from dots.spec import Values
from dots.unit import Handle
from dots.worker import Call, Log

log = logging.getLogger(__name__)
T = TypeVar("T")

GIB: Final = 1 << 30


def default_pool() -> int:
    """Bytes of the KV pool on a CPU: at most 4 GiB and a quarter of memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(4 * GIB, memory // 4) // PAGE * PAGE


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run's first event says of where it runs."""

    device: str
    executor: str | None
    model: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class Status:
    state: str  # loading, ready or failed
    progress: float  # of loading, 0 to 1
    facts: Facts
    usage: Usage
    seconds: float  # since the model began to load, or how long that took
    failure: Failure | None = None


@dataclass(eq=False)
class Runtime:
    catalogue: Catalogue
    model: str
    load: Callable[[Tell], Language]
    kv_pool: int = field(default_factory=default_pool)
    region: str = "high"
    on_loaded: Callable[[Status], None] = lambda status: None
    on_crash: Callable[[BaseException], None] = lambda error: None

    def __post_init__(self) -> None:
        if self.kv_pool < PAGE:
            raise Refused(Failure(Code.INVALID_VALUE, "kv pool", f"at least {PAGE} bytes", str(self.kv_pool)))
        total = self.kv_pool // PAGE
        # Addresses cost nothing, and ranges of unlike lengths leave gaps: reserve several times the pool.
        self.arena = Arena(max(4 * total * PAGE, 4 * GIB))
        self.home = self.arena.high if self.region == "high" else self.arena.low
        self.pool = Pool(self.home, min(total, self.home.pages))
        self.loaded: Language | Failure | None = None
        self.load_began = monotonic()
        self.load_seconds: float | None = None
        self.progress = 0.0  # of loading; written by its thread, read by any
        self.engine: Engine | None = None
        self.flows: dict[str, Flow] = {}
        self.held_back: list[Flow] = []  # until the model is loaded
        self.inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.calls = Calls(self.post)
        self.tokenizing = ThreadPoolExecutor(1, "dots-tokens")
        self.compiling = ThreadPoolExecutor(2, "dots-grammar")
        self.grammars: Grammars | None = None  # of the loaded model
        self.thread = threading.Thread(target=self._main, name="dots-engine", daemon=True)
        self.running = True

    def start(self, model: bool = True) -> None:
        """Begin; the model loads on a thread of its own. Without a model only programs that ask none can run."""
        self.thread.start()
        if model:
            threading.Thread(target=self._load, name="dots-load", daemon=True).start()
        else:
            self.post(lambda: self._take(Failure(Code.NOT_FOUND, "model", "a model", "none was loaded")))

    def close(self) -> None:
        """Cancel every run and give everything back. Called once, from another thread than the runtime's."""
        if self.thread.is_alive():
            self.post(self._stop)
            self.thread.join()
        self.calls.close()
        self.tokenizing.shutdown(cancel_futures=True)
        self.compiling.shutdown(cancel_futures=True)
        if self.grammars is not None:
            self.grammars.close()
        self.arena.close()

    def post(self, work: Callable[[], None]) -> None:
        """Have the runtime's thread do this between two steps."""
        self.inbox.put(work)

    def ask(self, question: Callable[[], T]) -> "Future[T]":
        """The same, with an answer."""
        answer: Future[T] = Future()

        def work() -> None:
            try:
                answer.set_result(question())
            except Exception as error:
                answer.set_exception(error)

        self.post(work)
        return answer

    def run(
        self, run: str, program: Program, inputs: Values, space: str, secrets: Mapping[str, str], emit: Emit
    ) -> Flow:
        """Start a compiled program; raises Refused. Events come on the runtime's thread. Any thread may call this."""
        flow = Flow(run, program, inputs, space, secrets, self.catalogue, self, emit)
        self.post(lambda: self._start_flow(flow))
        return flow

    def cancel(self, flow: Flow) -> None:
        self.post(flow.cancel)

    def status(self) -> Status:
        """On the runtime's thread only."""
        state = "loading" if self.loaded is None else "failed" if isinstance(self.loaded, Failure) else "ready"
        seconds = monotonic() - self.load_began if self.load_seconds is None else self.load_seconds
        failure = self.loaded if isinstance(self.loaded, Failure) else None
        return Status(state, self.progress, self.facts(), self.usage(), seconds, failure)

    def facts(self) -> Facts:
        if self.loaded is None or isinstance(self.loaded, Failure):
            return Facts("cpu", None, self.model, None)
        return Facts("cpu", self.loaded.executor.name, self.loaded.name, self.loaded.digest)

    # ---- the thread ----------

    def _main(self) -> None:
        try:
            while self.running:
                self._drain()
                if self.engine is not None and self.engine.busy:
                    self.engine.step()
                now = monotonic()
                for flow in self.flows.values():
                    flow.tell_pool(now)
        except BaseException as error:
            log.exception("the engine's thread ended")
            self.on_crash(error)

    def _drain(self) -> None:
        """Do what was posted; wait for something when there is nothing to step."""
        busy = self.engine is not None and self.engine.busy
        if not busy:
            self.inbox.get()()
        for _ in range(self.inbox.qsize()):  # what these post waits for the next step
            self.inbox.get()()

    def _stop(self) -> None:
        for flow in list(self.flows.values()):
            flow.cancel()
        self.calls.kill()
        self.running = False

    def _load(self) -> None:
        loaded: Language | Failure
        try:
            loaded = self.load(self._tell)
            warm_up(loaded)
        except Refused as refused:
            loaded = refused.failure
        except Exception as error:
            log.exception("loading %s", self.model)
            loaded = Failure(Code.NOT_FOUND, f"model {self.model}", "a model", f"{type(error).__name__}: {error}")
        self.post(lambda: self._take(loaded))

    def _tell(self, share: float) -> None:
        self.progress = max(self.progress, share)

    def _take(self, loaded: Language | Failure) -> None:
        """The model is there, or never will be: flows that waited for it begin."""
        self.loaded, self.load_seconds = loaded, monotonic() - self.load_began
        if not isinstance(loaded, Failure):
            self.engine = Engine(loaded, self.pool, self.home)
            self.grammars = Grammars(loaded.tokenizer.pieces, loaded.end_tokens)
            self.progress = 1.0
        self.on_loaded(self.status())
        held_back, self.held_back = self.held_back, []
        for flow in held_back:
            if flow.status is None:
                self._begin(flow)

    def _start_flow(self, flow: Flow) -> None:
        self.flows[flow.run] = flow
        if self.loaded is None and flow.needs_model:
            self.held_back.append(flow)
        else:
            self._begin(flow)

    def _begin(self, flow: Flow) -> None:
        flow.start(asdict(self.facts()))

    # ---- what flows ask (dots.flow.Services) ----------

    def ended(self, flow: Flow) -> None:
        self.flows.pop(flow.run, None)

    def submit(self, work: Work, on_change: Callable[[Dot], None], matcher: Matcher | None) -> Dot:
        assert self.engine is not None, "a flow that asks a model starts after it is loaded"
        return self.engine.submit(work, on_change, matcher)

    def cancel_dot(self, dot: Dot) -> None:
        if self.engine is not None:
            self.engine.cancel(dot)

    def usage(self) -> Usage:
        if self.engine is not None:
            return self.engine.usage()
        return Usage(0, 0, 0, self.pool.total * PAGE, 0, 0)

    def language(self) -> Language | Failure:
        return self.loaded or Failure(Code.NOT_FOUND, "model", self.model, "it is still loading", retry=True)

    def prepare(self, request: ModelRequest, done: Callable[[Prepared | Failure], None]) -> Handle:
        """Prompts are cut into tokens and grammars are compiled beside the engine, so that the others' tokens keep
        coming; the handle ends a compilation and gives back what it made."""
        language = self.language()
        if isinstance(language, Failure) or self.grammars is None:
            done(language if isinstance(language, Failure) else Failure(Code.NOT_FOUND, "model", self.model, "none"))
            return lambda: None
        matcher = self.grammars.matcher(request.grammar) if request.grammar else None

        def cut_up() -> None:
            prompt = tokens(language, request)
            if matcher is None or isinstance(prompt, Failure):
                answer = prompt if isinstance(prompt, Failure) else Prepared(prompt, None)
                self.post(lambda: done(answer))
            else:
                self.compiling.submit(compiled, prompt, matcher)

        def compiled(prompt: list[int], matcher: Matcher) -> None:
            answer = matcher.compile() or Prepared(prompt, matcher)
            self.post(lambda: done(answer))

        self.tokenizing.submit(cut_up)
        return matcher.close if matcher else lambda: None

    def call(self, call: Call, log: Log, done: Callable[[Values | Failure], None]) -> Handle:
        return self.calls.begin(call, log, done)


def warm_up(language: Language) -> None:
    """One token on rows of its own: what is read late is read now, not in somebody's first step."""
    rows = np.zeros(64 * language.executor.geometry.kv_bytes, np.uint8)
    zero = np.zeros(1, np.int32)
    language.executor.forward(Batch(zero, zero, zero, np.array([rows.ctypes.data], np.uint64), zero))


def tokens(language: Language, request: ModelRequest) -> list[int] | Failure:
    try:
        return language.prompt_tokens(request)
    except Refused as refused:
        return refused.failure
    except Exception as error:
        log.exception("tokens of a prompt")
        return Failure(Code.INVALID_VALUE, "prompt", "text with tokens", f"{type(error).__name__}: {error}")
