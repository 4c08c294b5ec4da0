"""The shared vectors of merges: what they say of taking theirs holds for this side's algebra too."""

import json
from pathlib import Path
from typing import Any

import pytest

from dots import codec
from igc import igb, patch
from igc.graph import CONFLICTS, Invalid
from igc.ops import Op

SPEC = Path(__file__).resolve().parent.parent / "spec"
CASES: list[dict[str, Any]] = json.loads((SPEC / "merge.json").read_text("utf-8"))


def ops_of(values: Any) -> list[Op]:
    return [patch.op_from_value(value) for value in values]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_theirs_can_be_taken_and_the_conflict_removed_in_one_patch(case: dict[str, Any]) -> None:
    graph = igb.read(bytes.fromhex(case["graph"]))
    held: Any = graph.extra[CONFLICTS]
    for at, conflict in enumerate(case["conflicts"]):
        assert [held[at]["code"], held[at]["key"]] == [conflict["code"], conflict["key"]]
        rest = [*held[:at], *held[at + 1 :]]
        settled = ["extra", [CONFLICTS], [held], [rest] if rest else []]
        take: Any = codec.decode(bytes.fromhex(conflict["take"])) if "take" in conflict else []
        ops = ops_of([*take, settled])
        result = patch.apply_ops(graph, ops)
        assert result.extra.get(CONFLICTS, []) == rest
        assert sorted(map(repr, patch.diff_ops(graph, result))) == sorted(map(repr, ops))


def test_wires_that_cannot_be_taken_do_not_fit() -> None:
    found = []
    for case in CASES:
        graph = igb.read(bytes.fromhex(case["graph"]))
        held: Any = graph.extra[CONFLICTS]
        for entry, conflict in zip(held, case["conflicts"], strict=True):
            if conflict.get("why") in ("gone", "cycle"):
                (source, output), (_, target, name, slot) = entry["theirs"][0], entry["key"]
                with pytest.raises(Invalid) as error:
                    patch.apply_ops(graph, ops_of([["edge+", [source, output, target, name, slot]]]))
                found.append((conflict["why"], error.value.code))
    assert set(found) == {("gone", "dangling"), ("cycle", "cycle")}
