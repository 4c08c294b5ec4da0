"""Who runs in the next step: a pure plan over dots and pages, without tensors. Owned by the engine.

One token budget a step: every decoding dot first, the rest for prompts in chunks, shared fairly between Spaces. A dot
is admitted when all that it may ever need can be promised, so that an admitted dot never waits for memory.
"""

from collections import deque
from dataclasses import dataclass, field

from dots.arena import Region
from dots.dot import Dot, State
from dots.kv import sequence
from dots.pages import Pool

PATIENCE = 8  # how often a dot that does not fit yet may be passed by dots of other Spaces


@dataclass(frozen=True, slots=True)
class Chunk:
    """`count` tokens of a dot from position `start`; `step` when their last logits are sampled."""

    dot: Dot
    start: int
    count: int
    step: bool


@dataclass(frozen=True, slots=True)
class Plan:
    admitted: tuple[Dot, ...]
    expired: tuple[Dot, ...]
    chunks: tuple[Chunk, ...]


@dataclass(slots=True)
class Scheduler:
    pool: Pool
    region: Region
    row_bytes: int
    budget: int = 128  # tokens a step
    chunk: int = 64  # most prompt tokens of one dot in a step
    alone: int = 256  # and of the only dot there is: nobody else waits for the step
    max_dots: int = 64
    running: list[Dot] = field(default_factory=list)
    waiting: dict[str, deque[Dot]] = field(default_factory=dict)  # by Space, first come first served
    served: dict[str, int] = field(default_factory=dict)  # tokens by active Space
    moved: bool = False  # places in the queue changed

    def __post_init__(self) -> None:
        if self.max_dots > self.budget:
            raise ValueError(f"scheduler: expected at most {self.budget} dots (one token each), got {self.max_dots}")

    def add(self, dot: Dot) -> None:
        """Queue a dot. A Space that was idle starts level with the least served: waiting earns no credit."""
        space = dot.work.space
        if space not in self.served:
            self.served[space] = min(self.served.values(), default=0)
        self.waiting.setdefault(space, deque()).append(dot)
        self.moved = True

    def remove(self, dot: Dot) -> None:
        """Forget a dot, wherever it stands; a second call does nothing."""
        space = dot.work.space
        queue = self.waiting.get(space, deque())
        if dot in queue:
            queue.remove(dot)
            self.moved = True
        if not queue:
            self.waiting.pop(space, None)
        if dot in self.running:
            self.running.remove(dot)
        if not queue and not any(other.work.space == space for other in self.running):
            self.served.pop(space, None)

    def schedule(self, now: float) -> Plan:
        expired = tuple(dot for dot in self.running if now - dot.started >= dot.work.limits.seconds)
        admitted = self._admit(now)
        ready = [dot for dot in self.running if dot not in expired]
        chunks = [self._launch(dot, 1) for dot in ready if dot.decodes]
        prompts = [dot for dot in ready if not dot.decodes]
        left, most = self.budget - len(chunks), self.chunk
        if len(ready) == 1:
            left = most = self.alone
        while prompts and left:
            dot = min(prompts, key=lambda d: (self.served[d.work.space], d.key))
            prompts.remove(dot)
            chunks.append(self._launch(dot, min(dot.pending, most, left)))
            left -= chunks[-1].count
        return Plan(admitted, expired, tuple(chunks))

    def queue(self) -> list[Dot]:
        """Waiting dots in order of arrival."""
        return sorted((dot for queue in self.waiting.values() for dot in queue), key=lambda d: d.key)

    def _launch(self, dot: Dot, count: int) -> Chunk:
        chunk = Chunk(dot, dot.computed, count, step=count == dot.pending)
        dot.launch(count)
        self.served[dot.work.space] += count
        return chunk

    def _admit(self, now: float) -> tuple[Dot, ...]:
        admitted: list[Dot] = []
        while self.waiting and len(self.running) < self.max_dots:
            heads = sorted((queue[0] for queue in self.waiting.values()), key=self._turn)
            place = next((n for n, dot in enumerate(heads) if self.pool.can_reserve(dot.pages)), None)
            if place is None or any(dot.passed >= PATIENCE for dot in heads[:place]):
                break
            for dot in heads[:place]:
                dot.passed += 1
            admitted.append(self._start(heads[place], now))
        return tuple(admitted)

    def _turn(self, dot: Dot) -> tuple[int, int, int]:
        """The Space with the fewest running dots first, then the least served, then the earliest dot."""
        space = dot.work.space
        return sum(other.work.space == space for other in self.running), self.served[space], dot.key

    def _start(self, dot: Dot, now: float) -> Dot:
        queue = self.waiting[dot.work.space]
        queue.popleft()
        if not queue:
            del self.waiting[dot.work.space]
        dot.kv = sequence(self.pool, self.region, f"dot {dot.key}", dot.work.rows, self.row_bytes)
        dot.state, dot.started = State.RUNNING, now
        self.running.append(dot)
        self.moved = True
        return dot
