"""One reader against many mutants, in a process with limits: `python -m tests.hostile.child NAME COUNT SEED`.

The last line is JSON. An input that takes more CPU than allowed ends the process by SIGXCPU. What
fails is named on stderr; seed and number give the bytes again.
"""

import gc
import json
import resource
import sys
import time
from itertools import islice

from tests.hostile.mutate import mutants
from tests.hostile.readers import READERS

CPU = 2  # seconds an input


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
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    for at, data in enumerate(islice(mutants(corpus, seed, reader.magic), count)):
        start = time.process_time()
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(start) + CPU + 2, hard)
        )  # whole seconds: the exact figure is below
        try:
            reader.read(data)
            accepted += 1
        except reader.refusals:
            pass
        except BaseException:
            print(f"{name}: mutant {at} of seed {seed}: {data.hex()}", file=sys.stderr, flush=True)
            raise
        slowest = max(slowest, time.process_time() - start)
    print(json.dumps({"accepted": accepted, "slowest": slowest, "memory": peak() - idle}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
