"""The kernels' greedy tokens on each instruction set, as `tests/golden/model/record_tokens.py` recorded them."""

import json
from pathlib import Path

import pytest

from dots.models.isa import Isa, available
from dots.models.model import load

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "model" / "tokens.json").read_text(encoding="utf-8"))


@pytest.mark.model
@pytest.mark.parametrize("isa", Isa)
def test_greedy_tokens_are_the_recorded_ones(isa, vectors, sequences):
    if isa not in available():
        pytest.skip("not this processor")
    executor = load("smollm2-135m-instruct", f"numba-{isa}").executor
    for run, expected in zip(vectors["greedy"], RECORDED[isa], strict=True):
        memory = sequences(executor, len(run["ids"]) + len(expected))
        assert memory.greedy(run["ids"], len(expected)) == expected


def test_tokens_are_recorded_for_every_instruction_set():
    assert sorted(RECORDED) == sorted(Isa)
