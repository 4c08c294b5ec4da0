"""How many threads a forward pass uses just now. Its results are bitwise the same for any number.

Threads wait for the slowest of them a hundred times a pass. On an idle machine all cores pay off; where others want the
cores too, a thread that waits for its turn holds up the rest, and one thread alone is many times faster. Whether others
want them shows in the processor time that the passes got. Only then both are tried as work goes on: the faster is used,
the slower again from time to time.
"""

from dataclasses import dataclass, field

FIRST_TRY, LAST_TRY = 8, 128  # passes between trials of the slower choice; doubled while it stays slower
UNDISTURBED = 0.85  # of the time of all cores that were asked for
FADE = 0.9  # how much a pass counts for less with each one after it


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
        self._most = most
        self._paces: dict[int, Pace] = {}
        self._used = self._asked = 0.0  # seconds of processors that passes on all threads used, and asked for
        self._processor: float | None = None  # seconds that the process had used before

    def choose(self, tokens: int) -> int:
        pace = self._pace(tokens)
        best = pace.best(default=self._most)
        other = 1 if best == self._most else self._most
        disturbed = self._used < UNDISTURBED * self._asked
        if other == 1 and not disturbed:
            return best
        return other if other not in pace.seconds or pace.passes >= pace.interval else best

    def took(self, tokens: int, threads: int, seconds: float, processor: float) -> None:
        """`processor` is what the process has used in all, seconds."""
        if threads == self._most and self._processor is not None:
            self._used = FADE * self._used + min(processor - self._processor, seconds * threads)
            self._asked = FADE * self._asked + seconds * threads
        self._processor = processor
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
