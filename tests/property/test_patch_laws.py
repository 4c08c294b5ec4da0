"""Laws of the patch algebra (docs/architecture.md): those that need no merge, rebase or compose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dots import codec
from dots.codec import Malformed
from igc import igb, patch
from igc.graph import Graph, Invalid
from tests.property.graphs import graphs, law

COSMETIC = ("move", "label", "note", "group", "extra")


@law
@given(graphs(), graphs())
def test_apply_of_diff_gives_the_other_graph_byte_for_byte(a: Graph, b: Graph) -> None:
    assert igb.write(patch.apply(patch.diff(a, b), a)) == igb.write(b)


@law
@given(graphs(), graphs())
def test_the_diff_back_is_the_inverse(a: Graph, b: Graph) -> None:
    assert patch.write(patch.diff(b, a)) == patch.write(patch.invert(patch.diff(a, b)))


@law
@given(graphs(), graphs())
def test_the_inverse_undoes(a: Graph, b: Graph) -> None:
    change = patch.diff(a, b)
    assert igb.write(patch.apply(patch.invert(change), patch.apply(change, a))) == igb.write(a)


@law
@given(graphs())
def test_the_diff_of_a_graph_with_itself_is_empty(a: Graph) -> None:
    assert patch.diff(a, igb.read(igb.write(a))).ops == ()


@law
@given(graphs(), graphs())
def test_a_patch_with_cosmetic_ops_alone_keeps_sem(a: Graph, b: Graph) -> None:
    change = patch.diff(a, b)
    assert (change.base.sem == change.target.sem) == all(op.kind in COSMETIC for op in change.ops)


@law
@given(graphs(), graphs())
def test_a_diff_is_in_normal_form_and_is_read_back_byte_for_byte(a: Graph, b: Graph) -> None:
    change = patch.diff(a, b)
    assert patch.normal(reversed(change.ops)) == change.ops
    data = patch.write(change)
    assert patch.write(patch.read(data)) == data


@law
@given(graphs(), graphs())
def test_equal_effect_has_equal_bytes(a: Graph, b: Graph) -> None:
    change = patch.diff(a, b)
    again = patch.diff(igb.read(igb.write(a)), patch.apply(patch.read(patch.write(change)), a))
    assert patch.write(again) == patch.write(change)


@law
@given(graphs(), graphs())
def test_loose_ops_are_undone_by_their_inverse_in_reverse(a: Graph, b: Graph) -> None:
    ops = patch.diff(a, b).ops
    assert igb.write(patch.apply_ops(patch.apply_ops(a, ops), patch.invert_ops(ops))) == igb.write(a)


@law
@given(graphs(), graphs(), graphs())
def test_a_patch_for_another_base_is_refused(a: Graph, b: Graph, other: Graph) -> None:
    if igb.write(a) == igb.write(other):
        return
    with pytest.raises(Invalid) as error:
        patch.apply(patch.diff(a, b), other)
    assert error.value.code == "base"


@law
@given(graphs(), graphs(), graphs())
def test_what_the_last_writer_really_did_can_be_replayed_and_undone(a: Graph, b: Graph, other: Graph) -> None:
    """Ops made for one graph fall on another: each is refused or applies, and a replica that gets the result agrees."""
    now = other
    for op in patch.diff(a, b).ops:
        try:
            after, applied = patch.apply_op(now, op)
        except Invalid:
            continue
        assert igb.write(patch.apply_ops(now, applied)) == igb.write(after)
        assert igb.write(patch.apply_ops(after, patch.invert_ops(applied))) == igb.write(now)
        assert igb.write(igb.read(igb.write(after))) == igb.write(after)
        now = after


@law
@given(graphs(), graphs())
def test_ops_survive_the_wire(a: Graph, b: Graph) -> None:
    ops = patch.diff(a, b).ops
    sent = codec.decode(codec.encode([patch.to_value(op) for op in ops]))
    assert isinstance(sent, list)
    assert igb.write(patch.apply_ops(a, [patch.op_from_value(value) for value in sent])) == igb.write(b)


@law
@given(graphs(), graphs(), st.data())
def test_a_changed_byte_is_refused_or_gives_another_canonical_patch(a: Graph, b: Graph, data: st.DataObject) -> None:
    encoded = bytearray(patch.write(patch.diff(a, b)))
    place = data.draw(st.integers(13, len(encoded) - 1))  # behind the format's minor, which is not kept
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        read = patch.read(bytes(encoded))
    except (Malformed, Invalid):
        return
    assert patch.write(read) == encoded
