"""The real model, loaded once a test process, and sequences to feed it with."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dots.models.device import Batch, Executor
from dots.models.model import Model, load

NAME = "smollm2-135m-instruct"
GOLDEN = Path(__file__).parents[2] / "golden" / "model" / "vectors.json"


class Sequences:
    """Sequences of one executor, with KV memory for each and nothing else: the runtime in its smallest form."""

    def __init__(self, executor: Executor, rows: int, count: int = 1) -> None:
        self.executor = executor
        self.memory = np.full((count, rows * executor.geometry.kv_bytes), 0xAA, np.uint8)
        self.lengths = [0] * count

    def feed(self, parts: dict[int, list[int]], want: str = "last") -> NDArray[np.float32]:
        """One forward over new tokens of some sequences; logits of all tokens, of each sequence's last, or of none."""
        tokens, positions, sequence, last = [], [], [], []
        for s, ids in parts.items():
            tokens += ids
            positions += range(self.lengths[s], self.lengths[s] + len(ids))
            sequence += [s] * len(ids)
            last.append(len(tokens) - 1)
            self.lengths[s] += len(ids)
        batch = Batch(
            tokens=np.array(tokens, np.int32),
            positions=np.array(positions, np.int32),
            sequence=np.array(sequence, np.int32),
            rows=np.array([m.ctypes.data for m in self.memory], np.uint64),
            want=np.array({"last": last, "all": range(len(tokens)), "none": ()}[want], np.int32),
        )
        return self.executor.forward(batch).copy()

    def greedy(self, ids: list[int], steps: int) -> list[int]:
        made: list[int] = []
        logits = self.feed({0: ids})
        while True:
            made.append(int(logits[0].argmax()))
            if len(made) == steps:
                return made
            logits = self.feed({0: made[-1:]})


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return recorded


@pytest.fixture(scope="session")
def oracle() -> Model:
    return load(NAME, "numpy-f32")


@pytest.fixture(scope="session")
def sequences() -> Callable[..., Sequences]:
    return Sequences


@pytest.fixture(scope="session")
def surprise() -> Callable[[NDArray[np.float32], list[int]], float]:
    """Mean negative log likelihood of a text, from the logits of each of its tokens."""

    def mean(logits: NDArray[np.float32], ids: list[int]) -> float:
        before = logits[:-1].astype(np.float64)
        above = before - before[np.arange(len(ids) - 1), ids[1:]][:, None]
        return float(np.mean(np.log(np.exp(above).sum(axis=1))))

    return mean
