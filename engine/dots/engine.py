"""The engine: dots in, tokens out. One thread owns it; every step is schedule, run, postprocess, emit.

A dot ends in one way, `release`, whatever the cause. The engine knows no programs, no sockets and no users.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from time import monotonic

from dots.arena import PAGE, Region
from dots.dot import Dot, State, Work, never_fits
from dots.errors import Code, Failure, Refused
from dots.grammar import Matcher
from dots.kv import pages_for
from dots.language import Language
from dots.pages import Pool
from dots.runner import Result, Runner
from dots.scheduler import Plan, Scheduler


@dataclass(frozen=True, slots=True)
class Usage:
    """The KV pool in bytes, and the steps promised to admitted dots and not yet taken."""

    kv_used: int
    kv_committed: int
    kv_reserved: int
    kv_total: int
    steps_reserved: int
    dots: int


class Engine:
    def __init__(self, language: Language, pool: Pool, region: Region, clock: Callable[[], float] = monotonic) -> None:
        self.language = language
        self.geometry = language.executor.geometry
        self.pool = pool
        self.clock = clock
        self.scheduler = Scheduler(pool, region, self.geometry.kv_bytes)
        self.pieces = language.tokenizer.pieces
        self.runner = Runner(language.executor, min(self.geometry.vocab, len(self.pieces)))
        self._keys = count(1)

    def step(self) -> None:
        plan = self.scheduler.schedule(self.clock())
        results = self.runner.run(plan)
        changed = self.postprocess(plan, results)
        self.emit(changed)

    @property
    def busy(self) -> bool:
        return bool(self.scheduler.running or self.scheduler.waiting)

    def submit(self, work: Work, on_change: Callable[[Dot], None], matcher: Matcher | None = None) -> Dot:
        """Queue a dot; raises Refused with the numbers when it could never run. A compiled matcher is then its own."""
        failure = never_fits(work, self.geometry, self.pool.total)
        if failure:
            raise Refused(failure)
        dot = Dot(next(self._keys), work, pages_for(work.rows, self.geometry.kv_bytes), on_change, matcher)
        self.scheduler.add(dot)
        return dot

    def cancel(self, dot: Dot) -> None:
        """End a dot now, between two steps. Ended dots stay as they are."""
        self.release(dot, State.CANCELLED)

    def release(self, dot: Dot, state: State, finish: str | None = None, failure: Failure | None = None) -> None:
        """The one way a dot ends: finish, error, cancel or crash. A second call does nothing."""
        if not dot.live:
            return
        dot.measure()
        dot.state, dot.finish, dot.failure, dot.ended = state, finish, failure, self.clock()
        dot.stream.close()
        self.scheduler.remove(dot)
        if dot.kv is not None:
            dot.kv.release()
        if dot.matcher is not None:
            dot.matcher.close()

    def postprocess(self, plan: Plan, results: Iterable[Result]) -> list[Dot]:
        """Take the tokens, end what is at its end; returns every dot that changed."""
        for dot in plan.expired:
            limit = f"{dot.work.limits.seconds} s"
            got = f"{dot.steps} steps after {self.clock() - dot.started:.1f} s"
            self.release(dot, State.FAILED, failure=Failure(Code.LAUNCH_TIMEOUT, "deadline", limit, got, retry=True))
        changed = dict.fromkeys((*plan.expired, *plan.admitted))
        for result in results:
            changed[result.dot] = None
            if result.failure:
                self.release(result.dot, State.FAILED, failure=result.failure)
            elif result.token is not None:
                self._append(result.dot, result.token)
            result.dot.measure()
        return list(changed)

    def emit(self, changed: Iterable[Dot]) -> None:
        """Tell whoever asked for a dot; waiting dots hear of their place."""
        # Taken before anyone is told: what they submit now has not been tried yet.
        waiting = self.scheduler.queue() if self.scheduler.moved else []
        self.scheduler.moved = False
        reason = "dots" if len(self.scheduler.running) >= self.scheduler.max_dots else "pool"
        for dot in changed:
            dot.on_change(dot)
        for place, dot in enumerate(waiting, 1):
            if dot.state is State.QUEUED:
                dot.place, dot.reason = place, reason
                dot.on_change(dot)

    def usage(self) -> Usage:
        running = self.scheduler.running
        return Usage(
            kv_used=sum(dot.kv.used for dot in running if dot.kv),
            kv_committed=self.pool.held * PAGE,
            kv_reserved=self.pool.reserved * PAGE,
            kv_total=self.pool.total * PAGE,
            steps_reserved=sum(dot.work.steps - dot.steps for dot in running),
            dots=len(running) + sum(map(len, self.scheduler.waiting.values())),
        )

    def _append(self, dot: Dot, token: int) -> None:
        dot.tokens.append(token)
        work = dot.work
        if (work.end_tokens or dot.matcher) and token in self.language.end_tokens:
            self.release(dot, State.DONE, finish="end")
            return
        if dot.stream.push(self.pieces[token]):
            self.release(dot, State.DONE, finish="stop")
            return
        complete = dot.matcher.took(token) if dot.matcher else False
        if isinstance(complete, Failure):
            self.release(dot, State.FAILED, failure=complete)
        elif complete:  # nothing could follow but an end token
            self.release(dot, State.DONE, finish="end")
        elif work.max_tokens is not None and dot.steps >= work.max_tokens:
            self.release(dot, State.DONE, finish="cut")
        elif dot.steps >= work.limits.steps:
            limit, got = f"{work.limits.steps} steps", f"{dot.steps} taken and no end"
            failure = Failure(Code.LAUNCH_OUT_OF_RESOURCES, "step limit", limit, got)
            self.release(dot, State.FAILED, failure=failure)
