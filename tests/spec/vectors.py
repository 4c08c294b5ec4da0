"""The vector files: pytest and vitest run them; `tools/generate.py` writes them and finds drift."""

import json
from collections.abc import Callable, Mapping

from tests.spec import apply, codec, igb, merge, patch, slots
from tests.spec.case import Case

VECTORS: Mapping[str, Callable[[], list[Case]]] = {
    "tests/spec/codec.json": codec.cases,
    "tests/spec/igb.json": igb.cases,
    "tests/spec/patch.json": patch.cases,
    "tests/spec/apply.json": apply.cases,
    "tests/spec/slots.json": slots.cases,
    "tests/spec/merge.json": merge.cases,
}


def text(cases: Callable[[], list[Case]]) -> str:
    found = cases()
    names = [str(case["name"]) for case in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"expected a name of its own for each case, got {twice} twice"
    return "[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n"
