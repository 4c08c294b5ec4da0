"""How many threads a forward pass uses just now. Its results are bitwise the same for any number.

Parallel loops wait for their slowest thread a hundred times a pass. On an idle machine all cores pay off; where others
want the cores too, a thread that waits for its turn holds up the rest, and one thread alone is many times faster. So
both are measured as work goes on: the faster is used, the slower is tried again from time to time.
"""

from dataclasses import dataclass, field

FIRST_TRY, LAST_TRY = 8, 128  # passes between trials of the slower choice; doubled while it stays slower


@dataclass
class Pace:
    """What is known about passes of about one size."""

    seconds: dict[int, float] = field(default_factory=dict)  # of the latest passes, by number of threads
    passes: int = 0  # since the slower choice was tried
    interval: int = FIRST_TRY

    def best(self, default: int) -> int:
        return min(self.seconds, key=lambda n: self.seconds[n], default=default)


class ThreadChoice:
    def __init__(self, most: int) -> None:
        self._choices = sorted({1, most})
        self._paces: dict[int, Pace] = {}

    def choose(self, tokens: int) -> int:
        pace = self._pace(tokens)
        unknown = [n for n in self._choices if n not in pace.seconds]
        if unknown:
            return unknown[-1]
        best = pace.best(default=1)
        if len(self._choices) == 1 or pace.passes < pace.interval:
            return best
        return next(n for n in self._choices if n != best)

    def took(self, tokens: int, threads: int, seconds: float) -> None:
        pace = self._pace(tokens)
        best = pace.best(default=threads)
        pace.passes += 1
        if threads == best:
            pace.seconds[threads] = (pace.seconds.get(threads, seconds) + seconds) / 2
        else:
            pace.seconds[threads] = seconds
            pace.interval, pace.passes = min(2 * pace.interval, LAST_TRY), 0
        if pace.best(default=threads) != best:
            pace.interval, pace.passes = FIRST_TRY, 0

    def _pace(self, tokens: int) -> Pace:
        return self._paces.setdefault(tokens.bit_length(), Pace())
