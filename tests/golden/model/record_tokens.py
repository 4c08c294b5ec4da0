"""Records the greedy tokens of the kernels on each instruction set of this machine, into tokens.json beside this file.

    .venv/bin/python -m tests.golden.model.record_tokens

They follow the prompts of vectors.json. A change of the kernels' arithmetic may change them, and then they are recorded
anew, after the kernels have passed against the oracle; on the same arithmetic they never change.
"""

import json
from pathlib import Path

from dots.models.isa import available
from dots.models.model import load
from tests.dots.models.conftest import GOLDEN, NAME, Sequences

STEPS = 48
TOKENS = Path(__file__).with_name("tokens.json")


def main() -> None:
    prompts = [run["ids"] for run in json.loads(GOLDEN.read_text(encoding="utf-8"))["greedy"]]
    recorded = json.loads(TOKENS.read_text(encoding="utf-8")) if TOKENS.exists() else {}
    for isa in available():
        executor = load(NAME, f"numba-{isa}").executor
        recorded[isa] = [Sequences(executor, len(ids) + STEPS).greedy(ids, STEPS) for ids in prompts]
    lines = ",\n".join(
        f" {json.dumps(isa)}: [\n  " + ",\n  ".join(map(json.dumps, runs)) + "\n ]" for isa, runs in recorded.items()
    )
    TOKENS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
