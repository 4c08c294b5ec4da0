"""Our start under measurement: `python spaces_start.py TOKEN...` prints the likeliest token after these."""

import sys

import numpy as np

from dots.models.device import Batch
from dots.models.model import load

ids = np.array(sys.argv[1:], np.int32)
executor = load("smollm2-135m-instruct").executor
memory = np.zeros(len(ids) * executor.geometry.kv_bytes, np.uint8)
places = np.arange(len(ids), dtype=np.int32)
batch = Batch(ids, places, 0 * places, np.array([memory.ctypes.data], np.uint64), places[-1:])
print(executor.forward(batch)[0].argmax(), flush=True)
