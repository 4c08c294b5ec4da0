"""Threads that meet: nobody goes on alone, however often and from whichever thread they are called."""

from threading import Barrier, Thread

import numpy as np
import pytest
from numba import njit
from numba.core import types

from dots.models.barrier import meet
from dots.models.compiling import array_at
from dots.models.crew import Crew
from dots.models.layout import BARRIER

longs = array_at(types.int64, 1)


@njit(nogil=True)
def count_in_step(numbers, barrier, thread, threads, rounds):
    """Each thread adds one to its own number and then compares all: between meetings they are equal."""
    counts = longs(numbers, threads)
    for i in range(rounds):
        counts[thread] += 1
        meet(barrier, threads)
        for other in range(threads):
            if counts[other] != i + 1:
                return 1
        meet(barrier, threads)
    return 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_between_two_meetings_everyone_is_at_the_same_place(threads):
    """Five threads are more than many machines have cores: whoever waits lets the others run."""
    space = np.zeros(2 * BARRIER, np.uint8)
    barrier = -(-space.ctypes.data // BARRIER) * BARRIER
    crew, wrong = Crew(), []

    def work(numbers, thread, threads):
        wrong.append(count_in_step(numbers, barrier, thread, threads, 300))

    for _ in range(5):
        numbers = np.zeros(threads, np.int64)
        crew.run(work, numbers.ctypes.data, threads)
        assert numbers.tolist() == [300] * threads
    assert not any(wrong)


def test_passes_asked_for_at_once_follow_one_another():
    crew, running, most = Crew(), [], []

    def work(order, thread, threads):
        running.append(order)
        both.wait()
        most.append(len(set(running)))
        both.wait()
        running.remove(order)
        both.wait()  # as a pass does: its threads end together

    both = Barrier(2)
    callers = [Thread(target=crew.run, args=(work, order, 2)) for order in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert most == [1] * 8
