"""The cache of compiled kernels: one process at a time, and each finds its own code whoever compiled it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
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


VARIANTS = """
import sys
import numpy as np
from numba import prange
from dots.models.compiling import compiled, parallel

def build(number):
    def fill(out):
        for i in prange(len(out)):
            out[i] = number

    filled = parallel(fill, number)

    def twice(out):
        filled(out[:1])
        filled(out[1:])

    return compiled(twice, number)

for word in sys.argv[1:]:
    out = np.zeros(2, np.int64)
    build(int(word))(out)
    print(*out)
"""


def test_variants_compiled_by_two_processes_stay_themselves_in_a_third(tmp_path: Path) -> None:
    """Both count their functions alike: with Numba's own numbers the two variants' symbols have one name."""
    script = tmp_path / "variants.py"
    script.write_text(VARIANTS)

    def run(*numbers: int) -> list[int]:
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_NUM_THREADS": "1"}
        command = [sys.executable, str(script), *map(str, numbers)]
        return [int(n) for n in subprocess.run(command, env=env, capture_output=True, check=True).stdout.split()]

    assert run(100) == [100, 100]
    assert run(200) == [200, 200]
    assert run(100, 200) == [100, 100, 200, 200]
    assert run(200, 100) == [200, 200, 100, 100]
