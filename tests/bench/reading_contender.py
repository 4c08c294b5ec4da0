"""The bound of single-stream decoding: what it takes to read every weight once and do nothing with it.

`python reading_contender.py EXECUTOR`. It reads the very matrices that the executor computes with (but for less than
512 bytes at the end of a share), as fast as a loop of vector loads on all threads can, and takes only the task of one
stream; its tokens a second are passes a second.
"""

import json
import sys
import time
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import njit, prange
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from dots.models.isa import physical_cores
from dots.models.lanes import I32, I64, load, offset
from dots.models.model import load as load_model

LINES = 8  # loads that need not wait for each other


@intrinsic
def read(typing: Any, start: Any, size: Any) -> Any:
    """All bytes from `start` on, a whole number of 512, to one number that depends on every one."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        start, size = args
        vector = ir.VectorType(I64, 8)
        slots = [cgutils.alloca_once_value(b, ir.Constant(vector, [0] * 8)) for _ in range(LINES)]
        with cgutils.for_range(b, b.udiv(size, I64(64 * LINES)), intp=I64) as loop:
            for i, slot in enumerate(slots):
                line = load(b, offset(b, start, (loop.index, 64 * LINES), 64 * i), vector, 8)
                b.store(b.xor(b.load(slot), line), slot)
        total = b.load(slots[0])
        for slot in slots[1:]:
            total = b.xor(total, b.load(slot))
        numbers = [b.extract_element(total, I32(i)) for i in range(8)]
        found = numbers[0]
        for number in numbers[1:]:
            found = b.xor(found, number)
        return found

    return types.int64(types.intp, types.intp), codegen


@njit(parallel=True)
def read_all(starts: NDArray[np.int64], sizes: NDArray[np.int64], parts: int) -> int:
    found = np.zeros(parts, np.int64)
    for p in prange(parts):
        for i in range(len(starts)):
            share = sizes[i] // parts
            found[p] ^= read(starts[i] + p * share, share)
    return int(found.sum())


def main(executor: str) -> None:
    matrices = load_model("smollm2-135m-instruct", executor).executor._matrices
    arrays = [array for m in matrices for array in (m.weights, m.scales)]
    starts = np.array([a.ctypes.data for a in arrays])
    sizes = np.array([a.nbytes for a in arrays])
    parts = physical_cores()
    numba.set_num_threads(parts)
    read_all(starts, sizes, parts)
    print(json.dumps({"ready": True, "megabytes": round(int(sizes.sum()) / 1e6, 1)}), flush=True)
    for line in sys.stdin:
        steps = int(json.loads(line)["steps"])
        start = time.perf_counter()
        for _ in range(steps):
            read_all(starts, sizes, parts)
        print(json.dumps({"seconds": time.perf_counter() - start, "tokens": steps}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
