"""Cold starts: a fresh process each time, from its first instruction to the first token of a short prompt.

The files are in the page cache and compiled code is in its cache, as on every start but a machine's first; imports,
the model's check and loading, and the prompt are part of it.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench.measure import settle

PROMPT = 20  # tokens


@dataclass
class Starting:
    """A program that prints a line when its first token is there, and ends."""

    name: str
    command: Sequence[str]
    failed: str = ""
    seconds: list[float] = field(default_factory=list)

    def run(self, keep: bool) -> None:
        if self.failed:
            return
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
        if process.wait() or not line:
            self.failed = f"ended with status {process.returncode}"
        elif keep:
            self.seconds.append(seconds)


def race(starters: Sequence[Starting], rounds: int) -> int:
    """Like `measure.compete`: one round to warm up, then all in turn; how many began on a busy machine."""
    disturbed = 0
    for i in range(rounds + 1):
        for starter in starters:
            disturbed += not settle()
            starter.run(keep=i > 0)
        print(f"start {i}/{rounds}", file=sys.stderr)
    return disturbed
