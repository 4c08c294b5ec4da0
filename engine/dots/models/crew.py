"""The threads of a pass: one native function runs on all of them at once, each told its number.

The caller is the first of them; the others sleep between passes. One pass runs at a time in a process, whoever asks:
its threads spin while they wait for each other, so two on the same cores would wait for each other's time slices.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from threading import Lock, Thread, get_native_id

Work = Callable[[int, int, int], None]


class Member:
    """A thread that waits to be asked."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.native = 0
        self._work: tuple[Work, int, int] | None = None
        self._asked = Lock()
        self._asked.acquire()
        self._there = Lock()
        self._there.acquire()
        Thread(target=self._serve, name=f"kernels {number}", daemon=True).start()
        self._there.acquire()

    def ask(self, work: Work, order: int, parts: int) -> None:
        self._work = work, order, parts
        self._asked.release()

    def _serve(self) -> None:
        self.native = get_native_id()
        self._there.release()
        while True:
            self._asked.acquire()
            assert self._work is not None
            work, order, parts = self._work
            self._work = None
            work(order, self.number, parts)


class Crew:
    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """No members yet; nor are there any in a process that was forked."""
        self._members: list[Member] = []
        self._busy = Lock()
        self._left = -1  # the core that was left to the caller

    def run(self, work: Work, order: int, parts: int) -> None:
        """work(order, part, parts) on so many threads. All parts must end together, as they do who meet at the end."""
        with self._busy:
            while len(self._members) < parts - 1:
                self._members.append(Member(len(self._members) + 1))
                self._left = -1
            if parts > 1:
                self._leave_core()
            for member in self._members[: parts - 1]:
                member.ask(work, order, parts)
            work(order, 0, parts)

    def _leave_core(self) -> None:
        """The caller's core is for the caller: woken on the same one, a member would not start before it is moved, and
        the caller would spin for the ten milliseconds which that can take."""
        core = current_core()
        if core == self._left:
            return
        self._left = core
        others = os.sched_getaffinity(0) - {core}
        for member in self._members if others else ():
            os.sched_setaffinity(member.native, others)


if sys.platform == "linux":
    current_core: Callable[[], int] = ctypes.PyDLL(None).sched_getcpu
else:

    def current_core() -> int:
        """Always the same where it cannot be told, nor used."""
        return -1


CREW = Crew()
os.register_at_fork(after_in_child=CREW.begin)
