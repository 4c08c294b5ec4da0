"""Every check of the readers is needed: with one of them gone, some vector of `tests/spec/` has another verdict."""

import pytest

from tests.igc import mutants

TYPES = "for the type checker; another check refuses the same"
ALIVE = {
    "igc.igb read: check_count('edges', len(rows), MAX_EDGES)": "60,001 edges exceed the codec's items first",
    "igc.draft Draft.graph: check_count('edges', len(self.edges), MAX_EDGES)": "the same, when the result is written",
    "igc.ops _key: high of integer(only, path, CONFLICTS, codec.MAX_INT)": "the codec has bounded every int",
    "igc.ops shaped: or not isinstance(parts[0], str)": TYPES,
}


@pytest.mark.slow
def test_each_check_dropped_is_seen_by_a_vector_or_listed_with_its_reason() -> None:
    total, alive = mutants.survivors(mutants.MODULES)
    assert total > 250
    assert sorted(alive) == sorted(ALIVE)
