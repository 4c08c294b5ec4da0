"""The choice of threads follows what passes cost, and never stays where it was wrong."""

from collections import Counter

from dots.models.threads import LAST_TRY, ThreadChoice


def spent(choice, costs, passes, tokens=1):
    """How often each number of threads was used while passes cost this much."""
    used = Counter()
    for _ in range(passes):
        threads = choice.choose(tokens)
        choice.took(tokens, threads, costs[threads])
        used[threads] += 1
    return used


def test_an_idle_machine_uses_all_cores_nearly_always():
    assert spent(ThreadChoice(2), {1: 3.0, 2: 2.0}, 1000)[2] > 980


def test_a_busy_machine_uses_one_thread_nearly_always():
    assert spent(ThreadChoice(2), {1: 3.0, 2: 90.0}, 1000)[1] > 980


def test_a_machine_that_becomes_busy_is_noticed_at_once_and_one_that_becomes_idle_within_a_trial():
    choice = ThreadChoice(2)
    spent(choice, {1: 3.0, 2: 2.0}, 100)
    assert spent(choice, {1: 3.0, 2: 90.0}, 20)[2] <= 2
    assert spent(choice, {1: 3.0, 2: 2.0}, 2 * LAST_TRY)[2] > LAST_TRY


def test_one_hiccup_costs_a_few_passes_only():
    choice = ThreadChoice(2)
    spent(choice, {1: 3.0, 2: 2.0}, 500)
    spent(choice, {1: 3.0, 2: 60.0}, 1)
    assert spent(choice, {1: 3.0, 2: 2.0}, 50)[1] <= 10


def test_long_and_short_passes_are_judged_apart():
    choice = ThreadChoice(2)
    spent(choice, {1: 3.0, 2: 90.0}, 50, tokens=1)
    assert spent(choice, {1: 300.0, 2: 200.0}, 50, tokens=64)[2] > 45


def test_one_core_leaves_no_choice():
    assert spent(ThreadChoice(1), {1: 1.0}, 50) == {1: 50}
