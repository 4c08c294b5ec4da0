"""The readers in Python and TypeScript say the same to hostile bytes, and write the same bytes of what they accept."""

import hashlib
import json
import struct
import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dots.codec import Malformed
from dots.shape import Invalid
from tests.hostile.mutate import mutants
from tests.hostile.readers import READERS

SCRIPT = Path(__file__).with_name("verdicts.mjs")
KINDS = ("codec", "igb", "patch", "apply")


def verdict(kind: str, data: bytes) -> dict[str, Any]:
    try:
        written = READERS[kind].read(data)
    except Malformed as error:
        return {"verdict": "malformed", "code": error.code, "offset": error.offset}
    except Invalid as error:
        return {"verdict": "invalid", "code": error.code, "path": error.path}
    assert written is not None
    return {"verdict": "accept", "bytes": hashlib.sha256(written).hexdigest()}


def agree(kind: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal, but for a path that one of them names in more detail; ops that do not apply have a code alone."""
    a, b = one.get("path", ""), other.get("path", "")
    same = all(one.get(key) == other.get(key) for key in ("verdict", "code", "offset", "bytes"))
    return same and (kind == "apply" or a.startswith(b) or b.startswith(a))


def differences(kind: str, count: int, seed: int) -> list[str]:
    found = list(islice(mutants(READERS[kind].corpus(), seed, READERS[kind].magic), count))
    records = b"".join(struct.pack("<I", len(data)) + data for data in found)
    done = subprocess.run(["node", str(SCRIPT), kind], input=records, capture_output=True, check=True)
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == count
    pairs = ((data, verdict(kind, data), their) for data, their in zip(found, theirs, strict=True))
    return [f"{data.hex()}: {our} {their}" for data, our, their in pairs if not agree(kind, our, their)]


@pytest.mark.parametrize("kind", KINDS)
def test_both_readers_say_the_same_to_mutants(kind: str) -> None:
    assert differences(kind, 2_000, 5) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_both_readers_say_the_same_to_many_mutants(kind: str) -> None:
    assert differences(kind, 50_000, 6) == []
