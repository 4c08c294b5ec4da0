"""A pool under random reserving, growing, releasing, trimming and failing: its books always balance."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from dots.pages import Pool, PoolFull, Range


class FakeMemory:
    """Pages as the driver's rules have them: commit once, touch only what is committed."""

    pages = 64

    def __init__(self) -> None:
        self.content: dict[int, str] = {}  # committed pages and what they hold; "" is zero
        self.fail_in = 0  # the nth commit from now raises

    def commit(self, page: int, count: int) -> None:
        for n in range(page, page + count):
            assert 0 <= n < self.pages
            assert n not in self.content, "committed twice"
            if self.fail_in:
                self.fail_in -= 1
                if not self.fail_in:
                    raise OSError("no memory")
            self.content[n] = ""

    def decommit(self, page: int, count: int) -> None:
        for n in range(page, page + count):
            del self.content[n]

    def zero(self, page: int, count: int) -> None:
        for n in range(page, page + count):
            assert n in self.content, "touched before it was committed"
            self.content[n] = ""


class PoolMachine(RuleBasedStateMachine):
    ranges = Bundle("ranges")

    def __init__(self) -> None:
        super().__init__()
        self.memory = FakeMemory()
        self.pool = Pool(self.memory, 20)
        self.live: list[Range] = []
        self.owners = 0

    @rule(target=ranges, pages=st.integers(1, 22))
    def reserve(self, pages: int) -> Range:
        self.owners += 1
        could = self.pool.can_reserve(pages)
        try:
            made = self.pool.reserve(f"dot {self.owners}", pages)
        except PoolFull:
            assert not could
            return Range("nobody", 0, 0, released=True)
        assert could
        self.live.append(made)
        return made

    @rule(target=ranges, taken=consumes(ranges), pages=st.integers(0, 22))
    def commit(self, taken: Range, pages: int) -> Range:
        if taken.released or pages > taken.pages:
            try:
                self.pool.commit(taken, pages)
            except ValueError:
                return taken
            raise AssertionError("committed beyond its range")
        before = taken.held
        try:
            self.pool.commit(taken, pages)
            assert taken.held == max(before, pages)
        except OSError:
            assert before <= taken.held < pages
        for page in range(taken.first + before, taken.first + taken.held):
            assert self.memory.content[page] == "", "not zero when given out"
        for page in range(taken.first, taken.first + taken.held):
            self.memory.content[page] = taken.owner
        return taken

    @rule(taken=ranges)
    def release(self, taken: Range) -> None:
        self.pool.release(taken)
        self.pool.release(taken)
        self.live = [r for r in self.live if r is not taken]

    @rule()
    def trim(self) -> None:
        self.pool.trim()
        assert len(self.memory.content) == self.pool.held

    @precondition(lambda self: not self.memory.fail_in)
    @rule(n=st.integers(1, 5))
    def fail_the_nth_commit(self, n: int) -> None:
        self.memory.fail_in = n

    @invariant()
    def the_books_balance(self) -> None:
        pool = self.pool
        assert pool.free + pool.held + pool.reserved == pool.total
        assert min(pool.free, pool.held, pool.reserved) >= 0
        assert pool.held == sum(r.held for r in self.live)
        assert pool.reserved == sum(r.pages - r.held for r in self.live)

    @invariant()
    def no_page_has_two_owners(self) -> None:
        pages = [p for r in self.live for p in range(r.first, r.first + r.pages)]
        assert len(pages) == len(set(pages))
        assert sorted(self.pool.ranges, key=lambda r: r.first) == sorted(self.live, key=lambda r: r.first)

    @invariant()
    def memory_in_use_never_exceeds_the_pool(self) -> None:
        held = {p for r in self.live for p in range(r.first, r.first + r.held)}
        assert set(self.memory.content) == held | set(self.pool.parked)
        assert not held & set(self.pool.parked)
        assert len(self.memory.content) <= self.pool.total

    @invariant()
    def every_owner_reads_only_what_it_wrote(self) -> None:
        for r in self.live:
            assert {self.memory.content[p] for p in range(r.first, r.first + r.held)} <= {r.owner}

    def teardown(self) -> None:
        for taken in list(self.live):
            self.pool.release(taken)
        self.pool.trim()
        assert (self.pool.free, self.memory.content) == (self.pool.total, {})


def test_parked_pages_make_room_for_a_range_elsewhere() -> None:
    memory = FakeMemory()
    pool = Pool(memory, 20)
    low, high = pool.reserve("low", 10), pool.reserve("high", 5)
    pool.commit(low, 10)
    pool.commit(high, 5)
    pool.release(low)
    wide = pool.reserve("wide", 11)  # too wide for the gap
    pool.commit(wide, 11)
    assert (wide.first, len(memory.content), len(pool.parked)) == (15, 20, 4)


TestPool = PoolMachine.TestCase
TestPool.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
