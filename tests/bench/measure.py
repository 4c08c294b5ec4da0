"""Rounds in which every contender does each task once, one after the other, so that a busy minute hits all alike."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 20.0  # seconds to wait for the machine to be idle before a measurement
WINDOW = 0.25


def idle() -> float:
    """The share of all cores that nobody used for a moment; 1 where the system does not tell."""

    def ticks() -> tuple[int, int]:
        fields = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return fields[3] + fields[4], sum(fields)

    if not Path("/proc/stat").exists():
        return 1.0
    before = ticks()
    time.sleep(WINDOW)
    after = ticks()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def settle() -> bool:
    """Wait until others leave the machine alone (the last contender's threads sleep by then); False: they did not."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if idle() > 0.85:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    do: str
    streams: int
    steps: int
    prompt: int  # tokens


@dataclass(frozen=True, slots=True)
class Spread:
    """Tokens a second over the rounds."""

    median: float
    least: float
    most: float


@dataclass
class Running:
    """A contender's process; `failed` says how it ended early."""

    name: str
    command: Sequence[str]
    only: Collection[str] = ()  # tasks by name; empty: all
    failed: str = ""
    speeds: dict[str, list[float]] = field(default_factory=dict)

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read()

    def read(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.failed = f"ended with status {self.process.wait()}"
            return {}
        answer: dict[str, float] = json.loads(line)
        return answer

    def takes(self, task: Task) -> bool:
        return not self.failed and (not self.only or task.name in self.only)

    def run(self, task: Task, prompt: list[int], keep: bool) -> None:
        assert self.process.stdin is not None
        order = {"do": task.do, "streams": task.streams, "steps": task.steps, "prompt": prompt[: task.prompt]}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.read()
        if answer and keep:
            self.speeds.setdefault(task.name, []).append(answer["tokens"] / answer["seconds"])

    def stop(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()


def compete(contenders: Sequence[Running], tasks: Sequence[Task], prompt: list[int], rounds: int) -> int:
    """One round to warm up, then `rounds` that count; how many measurements began on a busy machine."""
    disturbed = 0
    try:
        for contender in contenders:
            contender.start()
        for i in range(rounds + 1):
            for task in tasks:
                for contender in contenders:
                    if not contender.takes(task):
                        continue
                    disturbed += not settle()
                    contender.run(task, prompt, keep=i > 0)
            print(f"round {i}/{rounds}", file=sys.stderr)
    finally:
        for contender in contenders:
            contender.stop()
    return disturbed


def spread(speeds: Sequence[float]) -> Spread:
    return Spread(statistics.median(speeds), min(speeds), max(speeds))
