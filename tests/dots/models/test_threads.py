"""The choice of threads follows what passes cost, and never stays where it was wrong."""

from collections import Counter

import pytest

from dots.models.threads import LAST_TRY, ThreadChoice

IDLE = {1: (3.0, 1.0), 2: (2.0, 0.97)}  # by threads: seconds of a pass, and the share of the processors it got
BUSY = {1: (3.0, 0.9), 2: (90.0, 0.5)}


class Machine:
    def __init__(self, most: int = 2) -> None:
        self.choice, self.processor = ThreadChoice(most), 0.0

    def spend(self, costs, passes, tokens=1):
        """How often each number of threads was used while passes cost this much."""
        used = Counter()
        for _ in range(passes):
            threads = self.choice.choose(tokens)
            seconds, share = costs[threads]
            self.processor += seconds * threads * share
            self.choice.took(tokens, threads, seconds, self.processor)
            used[threads] += 1
        return used


def test_an_idle_machine_uses_all_cores_always():
    assert Machine().spend(IDLE, 1000) == {2: 1000}


def test_a_busy_machine_uses_one_thread_nearly_always():
    assert Machine().spend(BUSY, 1000)[1] > 980


def test_all_threads_are_kept_where_they_are_faster_though_others_want_the_cores():
    machine = Machine()
    machine.spend({1: (3.0, 0.5), 2: (2.5, 0.5)}, 100)
    assert machine.spend({1: (3.0, 0.5), 2: (2.5, 0.5)}, 1000)[2] > 970


def test_a_machine_that_becomes_busy_is_noticed_soon_and_one_that_becomes_idle_within_a_trial():
    machine = Machine()
    machine.spend(IDLE, 100)
    assert machine.spend(BUSY, 20)[2] <= 5
    assert machine.spend(IDLE, 2 * LAST_TRY)[2] > LAST_TRY


def test_one_hiccup_costs_a_few_passes_only():
    machine = Machine()
    machine.spend(IDLE, 500)
    machine.spend({1: (3.0, 0.5), 2: (60.0, 0.5)}, 1)
    assert machine.spend(IDLE, 50)[1] <= 10


def test_long_and_short_passes_are_judged_apart():
    machine = Machine()
    machine.spend(BUSY, 50, tokens=1)
    assert machine.spend({1: (300.0, 0.9), 2: (200.0, 0.6)}, 50, tokens=64)[2] > 45


@pytest.mark.parametrize("costs", [{1: (1.0, 1.0)}, {1: (1.0, 0.3)}])
def test_one_core_leaves_no_choice(costs):
    assert Machine(1).spend(costs, 50) == {1: 50}
