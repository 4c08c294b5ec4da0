"""The shared vectors of `tests/spec/`: every reader gives the verdict that docs/formats.md demands."""

import json
from pathlib import Path
from typing import Any

import pytest

from dots import codec, template
from dots.codec import Malformed
from igc import igb, patch
from igc.graph import Invalid
from tests.spec.case import data_of, file_of

SPEC = Path(__file__).resolve().parent.parent / "spec"
Verdict = dict[str, Any]


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in json.loads((SPEC / f"{name}.json").read_text("utf-8"))]


def verdict(read: Any, data: bytes) -> Verdict:
    try:
        read(data)
    except Malformed as error:
        return {"verdict": "malformed", "code": error.code, "offset": error.offset}
    except Invalid as error:
        return {"verdict": "invalid", "code": error.code, "path": error.path}
    return {"verdict": "accept"}


def agrees(got: Verdict, case: Verdict) -> bool:
    """Equal, but for a path that may go deeper than the page demands."""
    same = {key: got.get(key) for key in ("verdict", "code", "offset")} == {
        key: case.get(key) for key in ("verdict", "code", "offset")
    }
    return same and str(got.get("path", "")).startswith(case.get("path", ""))


@pytest.mark.parametrize("case", cases("codec"))
def test_codec_verdicts(case: Verdict) -> None:
    data = file_of(case)
    got = verdict(codec.decode, data)
    assert agrees(got, case), got
    if case["verdict"] == "accept":
        assert codec.encode(codec.decode(data)) == data


@pytest.mark.parametrize("case", cases("igb"))
def test_igb_verdicts(case: Verdict) -> None:
    data = file_of(case)
    got = verdict(igb.read, data)
    assert agrees(got, case), got
    if case["verdict"] == "accept" and case["name"] != "a higher minor":
        assert igb.write(igb.read(data)) == data


@pytest.mark.parametrize("case", cases("patch"))
def test_patch_verdicts(case: Verdict) -> None:
    data = file_of(case)
    got = verdict(patch.read, data)
    assert agrees(got, case), got
    if case["verdict"] == "accept" and case["name"] != "a higher minor is read":
        assert patch.write(patch.read(data)) == data


@pytest.mark.parametrize("case", cases("apply"))
def test_apply_gives_the_result_or_the_refusal(case: Verdict) -> None:
    graph = igb.read(data_of(case["graph"]))
    try:
        if "patch" in case:
            result = patch.apply(patch.read(data_of(case["patch"])), graph)
        else:
            ops = codec.decode(data_of(case["ops"]))
            assert isinstance(ops, list)
            result = patch.apply_ops(graph, [patch.op_from_value(op, f"ops[{at}]") for at, op in enumerate(ops)])
    except Invalid as error:
        assert error.code == case.get("code")
        return
    assert "code" not in case
    assert igb.write(result) == data_of(case["result"])


@pytest.mark.parametrize("case", cases("slots"))
def test_template_slots(case: Verdict) -> None:
    assert list(template.slots(case["template"])) == case["slots"]
