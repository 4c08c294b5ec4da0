"""llama.cpp's start under measurement: `python llama_start.py FILE THREADS EXTRA_BUFFERS TOKEN...`"""

import sys

from llama_contender import LlamaCpp  # the folder of a script is on its path

file, threads, extra, *ids = sys.argv[1:]
contender = LlamaCpp(file, int(threads), 1, 320, extra == "1")
print(contender.prefill(0, [int(i) for i in ids]), flush=True)
