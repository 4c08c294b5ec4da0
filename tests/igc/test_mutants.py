"""Every check of the readers is needed: with one of them gone, some vector of `tests/spec/` has another verdict."""

import pytest

from tests.igc import mutants

ALIVE = {
    "igc.igb read: check_count('edges', len(links), MAX_EDGES)": "60,001 edges are more items than the codec lets through",
    "igc.patch _shaped: or not isinstance(parts[0], str)": "what is no text is no phase either; it is there for the type checker",
    "igc.patch _key: high of integer(only, path, igb.CONFLICTS, codec.MAX_INT)": "the codec has bounded every int",
    "igc.patch Draft.graph: check_count('nodes', len(self.nodes), MAX_NODES)": "needs a vector of a megabyte; see test_patch",
    "igc.patch Draft.graph: check_count('edges', len(self.edges), MAX_EDGES)": "the budget of items is met before; see test_patch",
    "igc.patch Draft.graph: except Unencodable": "needs a vector of 16 MiB; see test_patch",
    "igc.patch Draft._semantic: array(op.new[0], op.where)": "op_from_value has looked at it; it is there for the type checker",
}


@pytest.mark.slow
def test_each_check_dropped_is_seen_by_a_vector_or_listed_with_its_reason() -> None:
    total, alive = mutants.survivors(mutants.MODULES)
    assert total > 250
    assert sorted(alive) == sorted(ALIVE)
