"""The cache of compiled kernels is used by one process at a time."""

import fcntl
from threading import Event, Thread

import pytest

from dots.models import compiling


@pytest.mark.skipif(compiling.FOLDER is None, reason="no folder to keep compiled code in")
def test_reading_and_writing_the_cache_waits_for_the_process_that_holds_it() -> None:
    """Numba numbers its files after an index read earlier: two writers at once would swap each other's code."""
    assert compiling.FOLDER is not None
    entered = Event()

    def enter() -> None:
        with compiling.alone(), compiling.alone():  # nested on one thread, as when a kernel pulls in another
            entered.set()

    other = Thread(target=enter)
    with (compiling.FOLDER / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other.start()
        assert not entered.wait(0.3)
    assert entered.wait(10)
    other.join()


@pytest.mark.skipif(compiling.FOLDER is None, reason="no folder to keep compiled code in")
def test_every_kernel_reads_and_writes_its_cache_under_the_lock() -> None:
    def twice(x: float) -> float:
        return x + x

    cache = compiling.compiled(twice)._cache  # type: ignore[attr-defined]
    assert cache.load_overload.__name__ == cache.save_overload.__name__ == "acting"
