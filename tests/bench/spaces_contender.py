"""This project's executors under measurement: `python spaces_contender.py EXECUTOR STREAMS ROWS [FILE]`."""

import sys
from mmap import mmap
from pathlib import Path

import numpy as np
from contender import serve  # the folder of a script is on its path

from dots.models.device import Batch
from dots.models.model import load

CHUNK = 256  # as the scheduler feeds a prompt that has the machine to itself


class Spaces:
    def __init__(self, executor: str, streams: int, rows: int, file: Path | None = None) -> None:
        self.executor = load("smollm2-135m-instruct" if file is None else file.stem, executor, file).executor
        size = rows * self.executor.geometry.kv_bytes
        pages = mmap(-1, streams * size)  # as the arena's
        self.memory = np.frombuffer(pages, np.uint8).reshape(streams, size)
        self.rows = np.array([m.ctypes.data for m in self.memory], np.uint64)
        self.clear()

    def clear(self) -> None:
        self.lengths = [0] * len(self.memory)

    def feed(self, tokens: list[int], streams: list[int], want: list[int]) -> list[int]:
        positions = []
        for s in streams:
            positions.append(self.lengths[s])
            self.lengths[s] += 1
        arrays = (np.array(a, np.int32) for a in (tokens, positions, streams))
        logits = self.executor.forward(Batch(*arrays, self.rows, np.array(want, np.int32)))
        return [int(i) for i in logits.argmax(axis=1)]

    def prefill(self, stream: int, prompt: list[int]) -> int:
        last: list[int] = []
        for at in range(0, len(prompt), CHUNK):
            part = prompt[at : at + CHUNK]
            want = [len(part) - 1] if at + CHUNK >= len(prompt) else []
            last = self.feed(part, [stream] * len(part), want)
        return last[0]

    def step(self, tokens: list[int]) -> list[int]:
        return self.feed(tokens, list(range(len(tokens))), list(range(len(tokens))))


if __name__ == "__main__":
    serve(Spaces(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *map(Path, sys.argv[4:])))
