"""The threads of a pass: one native function runs on all of them at once, each told its number.

The caller is the first of them; the others sleep between passes. One pass runs at a time in a process, whoever asks:
its threads spin while they wait for each other, so two on the same cores would wait for each other's time slices.
"""

import os
from collections.abc import Callable
from threading import Lock, Thread

Work = Callable[[int, int, int], None]


class Member:
    """A thread that waits to be asked."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.work: tuple[Work, int, int] | None = None
        self._asked = Lock()
        self._asked.acquire()
        Thread(target=self._serve, name=f"kernels {number}", daemon=True).start()

    def ask(self, work: Work, order: int, parts: int) -> None:
        self.work = work, order, parts
        self._asked.release()

    def _serve(self) -> None:
        while True:
            self._asked.acquire()
            assert self.work is not None
            work, order, parts = self.work
            self.work = None
            work(order, self.number, parts)


class Crew:
    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """No members yet; nor are there any in a process that was forked."""
        self._members: list[Member] = []
        self._busy = Lock()

    def run(self, work: Work, order: int, parts: int) -> None:
        """work(order, part, parts) on so many threads. All parts must end together, as they do who meet at the end."""
        with self._busy:
            while len(self._members) < parts - 1:
                self._members.append(Member(len(self._members) + 1))
            for member in self._members[: parts - 1]:
                member.ask(work, order, parts)
            work(order, 0, parts)


CREW = Crew()
os.register_at_fork(after_in_child=CREW.begin)
