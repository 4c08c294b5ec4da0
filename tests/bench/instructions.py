"""Instructions of one decode step, counted by valgrind: a figure that needs no clock and no quiet machine.

`python -m tests.bench.instructions` (a few minutes) runs the AVX2 kernels on one thread, as valgrind knows nothing
wider, once with few steps and once with more; the difference over the steps between is one step's.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.peers import ROOT

FEW, MANY = 2, 10
REFS = re.compile(r"I\s+refs:\s+([\d,]+)")
STEPS = """
import sys
import numpy as np
from dots.models.device import Batch
from dots.models.model import load

executor = load("smollm2-135m-instruct", "numba-avx2").executor
steps, context = int(sys.argv[1]), 128
memory = np.zeros((context + steps) * executor.geometry.kv_bytes, np.uint8)
rows, zero = np.array([memory.ctypes.data], np.uint64), np.zeros(1, np.int32)
for i in range(steps):
    executor.forward(Batch(zero + 500, zero + context + i, zero, rows, zero))
"""


def counted(steps: int, folder: Path) -> int:
    environment = os.environ | {"SPACES_THREADS": "1", "NUMBA_CPU_NAME": "haswell", "PYTHONHASHSEED": "0"}
    features = "+sse2,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2"
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder / 'out'}"]
    done = subprocess.run(
        [*command, sys.executable, "-c", STEPS, str(steps)],
        cwd=ROOT,
        env=environment | {"NUMBA_CPU_FEATURES": features},
        capture_output=True,
        text=True,
        check=True,
    )
    found = REFS.search(done.stderr)
    if found is None:
        raise SystemExit(f"valgrind counted nothing: {done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def main() -> None:
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        few, many = (counted(steps, Path(folder)) for steps in (FEW, MANY))
    step = (many - few) / (MANY - FEW)
    print(f"one decode step after 128 tokens, AVX2, one thread: {step / 1e6:.2f} million instructions")


if __name__ == "__main__":
    main()
