"""A dot: one running model instruction and its quota. Steps, KV pages and wall time are hard limits.

The scheduler moves a dot from queued to running, the engine ends it; nobody else changes its state. A step is one token
appended after the prompt, end tokens included.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from dots.arena import KIB, PAGE
from dots.errors import Code, Failure
from dots.grammar import Matcher
from dots.kv import Sequence, pages_for
from dots.models.device import Geometry
from dots.program import Limits
from dots.request import Sampling
from dots.stream import TextStream


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Work:
    """What a dot is asked to do, with its prompt already in tokens."""

    space: str
    prompt: tuple[int, ...]
    limits: Limits
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None  # soft: ends `cut`
    end_tokens: bool = True  # False: end tokens are ordinary tokens

    @property
    def steps(self) -> int:
        """Most steps that can be launched."""
        return self.limits.steps if self.max_tokens is None else min(self.limits.steps, self.max_tokens)

    @property
    def rows(self) -> int:
        """Most KV rows; the last token is never read back, so it needs none."""
        return len(self.prompt) + self.steps - 1


@dataclass(eq=False, slots=True)
class Dot:
    key: int  # order of arrival
    work: Work
    pages: int  # reserved at admission
    on_change: Callable[["Dot"], None]
    matcher: Matcher | None = None  # closed when the dot ends
    state: State = State.QUEUED
    place: int = 0  # in the queue, from 1
    reason: str = ""  # why it waits: pool or dots
    passed: int = 0  # how often a later dot of another Space was admitted first
    kv: Sequence | None = None
    computed: int = 0  # tokens whose KV row is written
    launched: int = 0  # steps given to the device
    tokens: list[int] = field(default_factory=list)
    started: float = 0.0
    ended: float = 0.0
    finish: str | None = None  # end, stop or cut
    failure: Failure | None = None
    kv_used: int = 0
    kv_committed: int = 0
    stream: TextStream = field(init=False)

    def __post_init__(self) -> None:
        self.stream = TextStream(self.work.stop)

    @property
    def steps(self) -> int:
        return len(self.tokens)

    @property
    def pending(self) -> int:
        """Tokens known and not yet computed; computing the last of them is a step."""
        return len(self.work.prompt) + len(self.tokens) - self.computed

    @property
    def decodes(self) -> bool:
        return self.computed >= len(self.work.prompt)

    @property
    def live(self) -> bool:
        return self.state in (State.QUEUED, State.RUNNING)

    def token_at(self, position: int) -> int:
        prompt = self.work.prompt
        return prompt[position] if position < len(prompt) else self.tokens[position - len(prompt)]

    def launch(self, count: int) -> None:
        """Account for `count` tokens given to the device, before they are. The step after the last is our mistake."""
        if count == self.pending:
            if self.launched >= self.work.limits.steps:
                raise AssertionError(
                    f"dot {self.key}: step {self.launched + 1} of {self.work.limits.steps} was scheduled"
                )
            self.launched += 1
        self.computed += count

    def measure(self) -> None:
        """Note what it holds; called for the last time before its pages go."""
        if self.kv is not None and self.live:
            self.kv_used, self.kv_committed = self.kv.used, self.kv.committed


def never_fits(work: Work, geometry: Geometry, pool_pages: int) -> Failure | None:
    """Why this work could never run, with the numbers; None when it could."""
    if not work.prompt:
        return Failure(Code.INVALID_VALUE, "prompt", "at least one token", "none")
    if min(work.steps, work.limits.seconds) < 1:
        return Failure(Code.INVALID_VALUE, "limits", "at least one step and one second", f"{work.limits}")
    what = f"{work.rows} rows ({len(work.prompt)} prompt tokens, {work.steps} steps)"
    if work.rows > geometry.context:
        return Failure(Code.OUT_OF_MEMORY, "context", f"at most {geometry.context} rows", what)
    pages = pages_for(work.rows, geometry.kv_bytes)
    need = f"{pages * PAGE // KIB} KiB for {what}"
    if pages > work.limits.kv * KIB // PAGE:
        return Failure(Code.OUT_OF_MEMORY, "kv limit", f"at most {work.limits.kv} KiB", need)
    if pages > pool_pages:
        return Failure(Code.OUT_OF_MEMORY, "kv pool", f"at most {pool_pages * PAGE // KIB} KiB", need)
    return None
