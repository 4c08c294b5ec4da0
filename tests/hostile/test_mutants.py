"""Hostile bytes at every reader: the typed refusal or the same bytes again, and nothing else ever."""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.hostile.child import CPU
from tests.hostile.mutate import mutants
from tests.hostile.readers import READERS

ROOT = Path(__file__).resolve().parents[2]
SLICE, MANY, SEED = 2_000, 100_000, 3
MEMORY = 128 << 20  # bytes over an idle reader


@pytest.mark.parametrize("name", READERS)
def test_mutants_are_refused_by_type_or_written_again_as_they_came(name: str) -> None:
    reader = READERS[name]
    accepted = refused = 0
    for data in islice(mutants(reader.corpus(), SEED, reader.magic), SLICE):
        try:
            reader.read(data)
            accepted += 1
        except reader.refusals:
            refused += 1
    assert accepted, "no mutant reaches past the checks"
    assert refused


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_a_hundred_thousand_mutants_stay_within_time_and_memory(name: str) -> None:
    command = [sys.executable, "-m", "tests.hostile.child", name, str(MANY), str(SEED + 1)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {MANY} mutants, {figures}")
    assert figures["slowest"] <= CPU
    assert figures["memory"] <= MEMORY
    assert 0 < figures["accepted"] < MANY
