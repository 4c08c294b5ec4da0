"""The page is enough: `reader.py`, written from docs/formats.md alone, reads every vector as the page demands."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SPEC = Path(__file__).resolve().parent
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


@pytest.fixture(scope="module")
def reader() -> ModuleType:
    found = importlib.util.spec_from_file_location("second_reader", SPEC / "reader.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def file_of(case: dict[str, Any]) -> bytes:
    """Hex, or parts: `[hex, times]`, or `[hex, times, hex]` around an id that counts from 0."""
    if "parts" not in case:
        return bytes.fromhex(case["hex"])
    found = b""
    for before, times, *after in case["parts"]:
        if after:
            ids = ("".join(ALPHABET[n >> 5 * place & 31] for place in reversed(range(10))) for n in range(times))
            found += b"".join(bytes.fromhex(before) + one.encode() + bytes.fromhex(after[0]) for one in ids)
        else:
            found += bytes.fromhex(before) * times
    return found


@pytest.mark.parametrize("kind", ["codec", "igb", "patch"])
def test_the_page_alone_is_enough_to_read_every_vector(reader: ModuleType, kind: str) -> None:
    cases = json.loads((SPEC / f"{kind}.json").read_text("utf-8"))
    wrong = []
    for case in cases:
        got = reader.verdict(getattr(reader, kind), file_of(case))
        same = all(got.get(key) == case.get(key) for key in ("verdict", "code", "offset"))
        if not same or not str(got.get("path", "")).startswith(case.get("path", "")):
            wrong.append((case["name"], got, {key: case.get(key) for key in ("verdict", "code", "offset", "path")}))
    assert cases
    assert not wrong


def test_the_reader_imports_nothing_of_ours() -> None:
    text = (SPEC / "reader.py").read_text("utf-8")
    for ours in ("dots", "igc", "sol", "spaces", "tests"):
        assert f"import {ours}" not in text
        assert f"from {ours}" not in text
