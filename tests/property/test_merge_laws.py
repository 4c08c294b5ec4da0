"""Laws of the rest of the algebra: compose, rebase, three-way merge."""

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from dots.components import catalogue
from igc import igb, patch
from igc.check import check
from igc.compose import compose
from igc.graph import CONFLICTS, Graph
from igc.merge import merge3
from igc.rebase import ends, rebase
from tests.property.graphs import flows, graphs, law

CATALOGUE = catalogue()


def same(a: Graph, b: Graph) -> bool:
    return igb.write(a) == igb.write(b)


@st.composite
def kin(draw: st.DrawFn, count: int = 2) -> tuple[Graph, ...]:
    """A graph and descendants of it, each with some of the changes that lead to another graph."""
    base = draw(graphs() | flows())
    return base, *(descendant(draw, base) for _ in range(count))


def descendant(draw: st.DrawFn, base: Graph) -> Graph:
    ops = patch.diff_ops(base, draw(graphs() | flows()))
    chosen = [op for op in ops if draw(st.integers(0, 2))]
    return rebase(chosen, base).graph


@law
@given(kin(), st.booleans())
def test_compose_does_one_after_the_other(graphs: tuple[Graph, ...], back: bool) -> None:
    a, b, c = graphs[0], graphs[1], graphs[0] if back else graphs[2]
    both = compose(patch.diff(a, b), patch.diff(b, c))
    assert patch.write(both) == patch.write(patch.diff(a, c))
    assert same(patch.apply(both, a), c)


@law
@given(kin(3))
def test_compose_is_associative(graphs: tuple[Graph, ...]) -> None:
    p, q, r = (patch.diff(a, b) for a, b in pairwise(graphs))
    assert patch.write(compose(compose(p, q), r)) == patch.write(compose(p, compose(q, r)))


@law
@given(graphs(), graphs())
def test_a_patch_and_its_inverse_compose_to_nothing(a: Graph, b: Graph) -> None:
    change = patch.diff(a, b)
    assert compose(change, patch.invert(change)) == patch.diff(a, a)


@law
@given(graphs(), graphs())
def test_merging_one_change_gives_it(base: Graph, changed: Graph) -> None:
    for found in (merge3(base, changed, base), merge3(base, base, changed), merge3(base, changed, changed)):
        assert found.clean
        assert same(found.graph, changed)


@law
@given(kin())
def test_a_merge_is_a_valid_graph_and_conflicts_stand_in_it(graphs: tuple[Graph, ...]) -> None:
    base, ours, theirs = graphs
    found = merge3(base, ours, theirs)
    assert same(igb.read(igb.write(found.graph)), found.graph)
    held = found.graph.extra.get(CONFLICTS, [])
    assert isinstance(held, list) and len(held) == len(found.conflicts)


@law
@given(kin())
def test_a_clean_merge_has_no_diagnostic_that_neither_side_had(graphs: tuple[Graph, ...]) -> None:
    base, ours, theirs = graphs
    found = merge3(base, ours, theirs, CATALOGUE)
    if found.clean:
        had = {*check(ours, CATALOGUE), *check(theirs, CATALOGUE)}
        assert [one for one in check(found.graph, CATALOGUE) if one not in had] == []


@law
@given(kin())
def test_a_clean_merge_means_the_same_from_either_side(graphs: tuple[Graph, ...]) -> None:
    base, ours, theirs = graphs
    one, other = merge3(base, ours, theirs, CATALOGUE), merge3(base, theirs, ours, CATALOGUE)
    if one.clean:
        assert other.clean
        assert igb.hashes_of(one.graph).sem == igb.hashes_of(other.graph).sem


@law
@given(kin())
def test_a_merge_keeps_what_only_one_side_changed(graphs: tuple[Graph, ...]) -> None:
    base, ours, theirs = graphs
    found = merge3(base, ours, theirs)
    wanted = {(op.kind, op.key): op for op in patch.diff_ops(base, theirs) if op.kind in ("set", "flag", "graph")}
    named = {tuple(one.key) for one in found.conflicts}
    for op in patch.diff_ops(base, ours):
        wanted.pop((op.kind, op.key), None)
    for (kind, key), op in wanted.items():
        if (kind, *key) in named or (kind != "graph" and {("retype", key[0]), ("node", key[0])} & named):
            continue
        if kind != "graph" and key[0] not in found.graph.nodes:
            continue
        assert rebase([op], found.graph).ops == () or same(rebase([op], found.graph).graph, found.graph)


def nodes_of(ops: tuple[patch.Op, ...]) -> set[str]:
    return {str(end) for op in ops for end in ends(op)}


@law
@given(kin())
def test_patches_that_share_nothing_rebase_to_equal_bytes_in_both_orders(graphs: tuple[Graph, ...]) -> None:
    base, p, q = graphs[0], patch.diff_ops(*graphs[:2]), patch.diff_ops(graphs[0], graphs[2])
    taken = nodes_of(p)
    q = tuple(op for op in q if not taken & nodes_of((op,)))  # at least some of it shares nothing
    q = rebase(q, base).ops
    assume(not taken & nodes_of(q) and not {(op.kind, op.key) for op in p} & {(op.kind, op.key) for op in q})
    one, other = rebase(q, rebase(p, base).graph), rebase(p, rebase(q, base).graph)
    if {dropped.code for dropped in (*one.dropped, *other.dropped)} == {"cycle"}:
        return  # new edges of both close a ring through old ones: the later of them gives way
    assert not one.dropped and not other.dropped
    assert same(one.graph, other.graph)


@law
@given(kin())
def test_a_rebase_names_what_it_really_did(graphs: tuple[Graph, ...]) -> None:
    base, ours, theirs = graphs
    found = rebase(patch.diff_ops(base, theirs), ours)
    assert same(patch.apply_ops(ours, found.ops), found.graph)
    assert same(patch.apply_ops(found.graph, patch.invert_ops(found.ops)), ours)
