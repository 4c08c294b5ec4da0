"""The smallest worlds for the runtime's tests: an engine over a small arena, a runtime over the toy model, programs."""

import queue
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dots.arena import PAGE, Arena
from dots.components import Catalogue, catalogue
from dots.dot import Dot, Work
from dots.engine import Engine
from dots.events import Event
from dots.flow import Flow
from dots.language import Language
from dots.models.device import Tell
from dots.pages import Pool
from dots.program import Block, Instruction, Limits, Program, Step
from dots.request import Sampling
from dots.runtime import Runtime
from tests.dots.toy import ROW, ToyModel, letters

ROOMY = Limits(steps=64, kv=64 * 1024, seconds=60)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """An engine stepped by hand, on a clock set by hand."""

    pages: int = 256
    model: ToyModel = field(default_factory=ToyModel)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.arena = Arena(4 * self.pages * PAGE)
        self.pool = Pool(self.arena.high, self.pages)
        self.engine = Engine(self.model, self.pool, self.arena.high, self.clock)
        self.heard: list[tuple[int, str, int]] = []  # dot, state, steps: every change told

    def submit(self, work: Work) -> Dot:
        return self.engine.submit(work, lambda dot: self.heard.append((dot.key, dot.state, dot.steps)))

    def run(self) -> None:
        while self.engine.busy:
            self.engine.step()

    def is_empty(self) -> bool:
        """Nothing held, nothing promised, nobody known."""
        scheduler = self.engine.scheduler
        known = (scheduler.running, scheduler.waiting, scheduler.served, self.pool.ranges)
        return not any(known) and self.pool.free == self.pool.total and self.pool.held == self.pool.reserved == 0

    def close(self) -> None:
        self.arena.close()


@contextmanager
def world(pages: int = 256, model: ToyModel | None = None) -> Iterator[World]:
    made = World(pages, model or ToyModel())
    try:
        yield made
    finally:
        made.close()


def work(
    prompt: str | list[int] = "hello",
    limits: Limits = ROOMY,
    space: str = "a",
    stop: tuple[str, ...] = (),
    max_tokens: int | None = None,
    end_tokens: bool = True,
    sampling: Sampling = Sampling(),  # noqa: B008  # frozen
) -> Work:
    ids = letters(prompt) if isinstance(prompt, str) else prompt
    return Work(space, tuple(ids), limits, sampling, stop, max_tokens, end_tokens)


def kib(rows: int) -> int:
    """KV limit that just holds this many rows, in KiB of whole pages."""
    return -(-rows * ROW // PAGE) * PAGE // 1024


# ---- programs ----------


def program(*instructions: Instruction, inputs: Mapping[str, int] | None = None, **outputs: int) -> Program:
    slots = [s for i in instructions for p in (i, *i.prologue, *i.epilogue) for s in p.outputs.values()]
    slots += [
        s for i in instructions for p in (i, *i.prologue, *i.epilogue) for many in p.inputs.values() for s in many
    ]
    count = max([*slots, *(inputs or {}).values(), -1]) + 1
    return Program(bytes(32), "0", bytes(32), "none", (), inputs or {}, outputs, (Block(count, instructions),))


def pure(
    node: str, component: str, params: Mapping[str, Any], inputs: Mapping[str, int], **outputs: int
) -> Instruction:
    return Instruction(component, 1, params, {port: (slot,) for port, slot in inputs.items()}, outputs, node)


def fused(instruction: Instruction) -> Step:
    i = instruction
    return Step(i.component, i.version, i.params, i.inputs, i.outputs, i.node)


def generate(
    node: str, prompt: int, text: int, limits: Limits = ROOMY, before: tuple[Instruction, ...] = (), **params: Any
) -> Instruction:
    settings = {"model": "toy", "mode": "raw", **params}
    steps = tuple(map(fused, before))
    return Instruction("llm.generate", 1, settings, {"prompt": (prompt,)}, {"text": text}, node, steps, (), limits)


@dataclass
class Running:
    """A runtime with its thread, and what its runs told."""

    runtime: Runtime
    events: "queue.SimpleQueue[Event]" = field(default_factory=queue.SimpleQueue)

    def start(self, made: Program, run: str = "run", space: str = "space", **given: Any) -> Flow:
        secrets = given.pop("secrets", {})
        return self.runtime.run(run, made, given, space, secrets, self.events.put)

    def until(self, kind: str, run: str = "run") -> list[Event]:
        """Events up to the first of this kind."""
        seen: list[Event] = []
        while not seen or (seen[-1].kind, seen[-1].run) != (kind, run):
            seen.append(self.events.get(timeout=10))
        return seen

    def ended(self, made: Program, run: str = "run", **given: Any) -> list[Event]:
        self.start(made, run, **given)
        return self.until("ended", run)


@contextmanager
def running(
    model: Language | None = None,
    components: Catalogue | None = None,
    load: Callable[[Tell], Language] | None = None,
    kv_pool: int = 256 * PAGE,
) -> Iterator[Running]:
    made = model or ToyModel()
    runtime = Runtime(components or catalogue(), "toy", load or (lambda tell: made), kv_pool)
    runtime.start()
    try:
        yield Running(runtime)
    finally:
        runtime.close()


def story(events: list[Event]) -> list[tuple[str | None, str]]:
    """Who told what, in order, without the kinds that depend on the clock."""
    return [(e.node, e.kind) for e in events if e.kind not in ("pool", "prefill", "tokens")]


def data(events: list[Event], kind: str, node: str | None = None) -> Mapping[str, Any]:
    (found,) = [e.data for e in events if e.kind == kind and e.node == node]
    return found
