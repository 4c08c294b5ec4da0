"""One reader against many mutants, in a process with limits: `python -m tests.hostile.child NAME COUNT SEED`.

The last line is JSON. What fails is named on stderr (seed and number give the bytes again); a hang is ended by a limit
of CPU time, with the place where it stood.
"""

import faulthandler
import gc
import json
import resource
import signal
import sys
import time
from itertools import islice

from tests.hostile.mutate import mutants
from tests.hostile.readers import READERS, largest

CPU = 2  # seconds an input may take, by the process's own clock
HANG = 60  # seconds after which the kernel ends it: its clock and that of the limit drift apart in a long run


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main(name: str, count: int, seed: int) -> None:
    reader = READERS[name]
    corpus = reader.corpus()
    for data in corpus:
        try:
            reader.read(data)
        except reader.refusals:
            continue
    gc.collect()
    idle, accepted, slowest = peak(), 0, 0.0
    for read, data in largest(name):
        start = time.process_time()
        read(data)
        slowest = max(slowest, time.process_time() - start)
        del data  # before the next one is made
    faulthandler.register(signal.SIGXCPU, chain=True)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    for at, data in enumerate(islice(mutants(corpus, seed, reader.magic), count)):
        start = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(start) + HANG, hard))
        try:
            reader.read(data)
            accepted += 1
        except reader.refusals:
            pass
        except BaseException:
            print(f"{name}: input {at} of seed {seed}: {data[:4096].hex()}", file=sys.stderr, flush=True)
            raise
        slowest = max(slowest, time.process_time() - start)
    print(json.dumps({"accepted": accepted, "slowest": slowest, "memory": peak() - idle}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
