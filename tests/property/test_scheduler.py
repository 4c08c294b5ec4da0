"""Dots under random submits, steps, cancels, deadlines and failures: limits hold, nothing leaks, texts never differ.

The toy model hashes its KV rows, so that the text of a dot depends on every byte it read: equal to the text computed
apart means right addresses, zeroed pages, whole rows, whatever else ran, in whatever chunks.
"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule

from dots.arena import PAGE, Arena
from dots.dot import Dot, State, Work
from dots.engine import Engine
from dots.errors import Code, Refused
from dots.models.device import Batch
from dots.pages import Pool
from dots.program import Limits
from tests.dots.toy import ToyExecutor, ToyModel, tokens_of
from tests.dots.world import Clock, World

PAGES = 12
prompts = st.lists(st.integers(1, 63), min_size=0, max_size=150)


class Failing:
    """A region whose commits fail when told to."""

    def __init__(self, arena: Arena) -> None:
        self.region = arena.high
        self.address, self.pages = arena.high.address, arena.high.pages
        self.fail_in = 0

    def commit(self, page: int, count: int) -> None:
        if self.fail_in:
            self.fail_in -= 1
            if not self.fail_in:
                raise OSError("no memory")
        self.region.commit(page, count)

    def decommit(self, page: int, count: int) -> None:
        self.region.decommit(page, count)

    def zero(self, page: int, count: int) -> None:
        self.region.zero(page, count)


class EngineMachine(RuleBasedStateMachine):
    dots = Bundle("dots")

    def __init__(self) -> None:
        super().__init__()
        self.arena = Arena(4 * PAGES * PAGE)
        self.memory = Failing(self.arena)
        self.pool = Pool(self.memory, PAGES)
        self.clock = Clock()
        self.broken = False
        self.model = ToyModel(ToyExecutor(before=self.before))
        self.engine = Engine(self.model, self.pool, self.arena.high, self.clock)
        self.all: list[Dot] = []
        self.ended: dict[int, State] = {}

    def before(self, batch: Batch) -> None:
        if self.broken:
            self.broken = False
            raise RuntimeError("broken")

    @rule(
        target=dots,
        prompt=prompts,
        steps=st.integers(1, 60),
        soft=st.none() | st.integers(1, 70),
        space=st.sampled_from("abc"),
        kv=st.sampled_from([64, 640, 4096]),
        seconds=st.integers(1, 5),
        end_tokens=st.booleans(),
    )
    def submit(
        self, prompt: list[int], steps: int, soft: int | None, space: str, kv: int, seconds: int, end_tokens: bool
    ) -> object:
        work = Work(space, tuple(prompt), Limits(steps, kv, seconds), max_tokens=soft, end_tokens=end_tokens)
        pages = -(-work.rows * 5000 // PAGE)
        try:
            dot = self.engine.submit(work, self.changed)
        except Refused as refused:
            assert not prompt or pages > min(kv * 1024 // PAGE, PAGES), refused
            return multiple()
        self.all.append(dot)
        return dot

    def changed(self, dot: Dot) -> None:
        assert dot.key not in self.ended, "told of a dot that had ended"
        if not dot.live:
            self.ended[dot.key] = dot.state

    @rule(times=st.integers(1, 20))
    def step(self, times: int) -> None:
        for _ in range(times):
            self.engine.step()

    @rule(dot=dots)
    def cancel(self, dot: Dot) -> None:
        held, steps = self.pool.held + self.pool.reserved, dot.steps
        self.engine.cancel(dot)
        if dot.state is State.CANCELLED and dot.kv is not None and dot.key not in self.ended:
            assert self.pool.held + self.pool.reserved < held
        self.ended[dot.key] = dot.state
        assert dot.steps == steps
        assert dot not in self.engine.scheduler.running

    @rule(seconds=st.floats(0.1, 2))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(n=st.integers(1, 4))
    def fail_a_commit(self, n: int) -> None:
        self.memory.fail_in = n

    @precondition(lambda self: self.engine.scheduler.running)
    @rule()
    def break_a_forward(self) -> None:
        self.broken = True
        running = list(self.engine.scheduler.running)
        self.engine.step()
        self.broken = False
        for dot in running:  # whoever was in that batch failed with it; nobody else did
            assert not dot.live or dot.steps == dot.launched

    @invariant()
    def no_quota_is_exceeded(self) -> None:
        for dot in self.all:
            assert dot.steps <= dot.launched <= dot.work.limits.steps
            assert dot.kv_committed <= dot.work.limits.kv * 1024
            if dot.failure and dot.failure.code is Code.LAUNCH_OUT_OF_RESOURCES:
                assert dot.steps == dot.work.limits.steps
            if dot.finish == "cut":
                assert dot.steps == dot.work.max_tokens

    @invariant()
    def pages_are_those_of_running_dots(self) -> None:
        running = self.engine.scheduler.running
        assert self.pool.free + self.pool.held + self.pool.reserved == PAGES
        assert self.pool.held + self.pool.reserved == sum(dot.pages for dot in running)
        assert self.pool.held * PAGE == sum(dot.kv.committed for dot in running if dot.kv)
        usage = self.engine.usage()
        assert usage.kv_committed + usage.kv_reserved == sum(dot.pages for dot in running) * PAGE
        assert usage.steps_reserved == sum(dot.work.steps - dot.steps for dot in running)
        assert usage.dots == sum(dot.live for dot in self.all)

    @invariant()
    def texts_are_those_of_dots_alone(self) -> None:
        for dot in self.all:
            if dot.tokens:
                assert dot.tokens == tokens_of(dot.work.prompt, len(dot.tokens))

    def teardown(self) -> None:
        self.memory.fail_in = 0
        steps = 0
        while self.engine.busy:
            self.engine.step()
            steps += 1
            assert steps < 5000, "the queue is stuck"
        assert not any(dot.live for dot in self.all)
        assert {dot.key for dot in self.all} == set(self.ended)
        assert (self.pool.free, self.pool.ranges, self.engine.scheduler.served) == (PAGES, [], {})
        self.arena.close()


TestEngine = EngineMachine.TestCase
TestEngine.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@settings(max_examples=25, deadline=None)
@given(
    jobs=st.lists(st.tuples(st.lists(st.integers(1, 63), min_size=1, max_size=150), st.integers(1, 30)), max_size=5),
    chunk=st.sampled_from([1, 3, 64]),
    budget=st.integers(64, 200),
)
def test_alone_in_a_batch_in_chunks_and_on_used_pages_a_dot_says_the_same(
    jobs: list[tuple[list[int], int]], chunk: int, budget: int
) -> None:
    w = World(pages=64)
    w.engine.scheduler.chunk, w.engine.scheduler.budget = chunk, budget
    works = [Work("s", tuple(p), Limits(60, 8192, 60), max_tokens=n, end_tokens=False) for p, n in jobs]
    try:
        for _ in range(2):  # the second time on parked pages
            dots = [w.submit(work) for work in works]
            w.run()
            assert [d.tokens for d in dots] == [tokens_of(p, n) for p, n in jobs]
            assert w.is_empty()
    finally:
        w.close()


@settings(max_examples=30, deadline=None)
@given(at=st.integers(0, 12), prompt=st.integers(1, 200))
def test_cancel_at_any_step_leaves_nothing(at: int, prompt: int) -> None:
    w = World(pages=32)
    try:
        work = Work("s", (7,) * prompt, Limits(10, 8192, 60), max_tokens=10, end_tokens=False)
        other = w.submit(Work("t", (9,) * 30, Limits(10, 8192, 60), max_tokens=10, end_tokens=False))
        dot = w.submit(work)
        for _ in range(at):
            w.engine.step()
        w.engine.cancel(dot)
        assert dot.state in (State.CANCELLED, State.DONE)
        assert dot.tokens == tokens_of(work.prompt, 10)[: dot.steps]
        w.run()
        assert other.tokens == tokens_of((9,) * 30, 10)
        assert w.is_empty()
    finally:
        w.close()


def test_spaces_share_the_prompt_budget_and_the_pool_fairly() -> None:
    w = World(pages=400)
    w.engine.scheduler.budget = w.engine.scheduler.chunk = 64
    try:
        crowd = [w.submit(Work("crowd", (5,) * 640, Limits(1, 8192, 60))) for _ in range(6)]
        single = w.submit(Work("single", (6,) * 640, Limits(1, 8192, 60)))
        steps = 0
        while single.live:
            w.engine.step()
            steps += 1
        assert steps <= 21  # ten chunks of its own and as many of the crowd's
        assert sum(not dot.live for dot in crowd) <= 1
        w.run()
    finally:
        w.close()


def test_a_large_dot_is_passed_only_so_often() -> None:
    w = World(pages=12)
    try:
        small = Limits(20, 8192, 60)
        first = w.submit(Work("small", (5,) * 5, small, max_tokens=20))
        w.engine.step()
        large = w.submit(Work("large", (6,) * 140, small, max_tokens=10))  # needs nearly the whole pool
        crowd = [w.submit(Work("small", (5,) * 5, small, max_tokens=20)) for _ in range(40)]
        while large.live:
            w.engine.step()
        assert not first.live
        assert any(dot.live for dot in crowd)
        assert large.passed <= 8
        w.run()
    finally:
        w.close()


def test_the_first_of_a_space_is_served_first() -> None:
    w = World(pages=6)
    try:
        dots = [w.submit(Work("s", (n + 1,) * 20, Limits(40, 8192, 60), max_tokens=30)) for n in range(6)]
        order = []
        while w.engine.busy:
            w.engine.step()
            order += [d.key for d in dots if not d.live and d.key not in order]
        assert order == sorted(order)
    finally:
        w.close()
