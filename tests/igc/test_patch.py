"""Patches beyond their laws: the last writer, deletions, budgets of a result."""

from dataclasses import replace

import pytest

from igc import igb, patch
from igc.graph import Graph, Invalid, Node
from igc.patch import Stale, apply_op, apply_ops, op_from_value
from igc.rebase import rebase
from tests.igc.build import chat, graph, nid, node

GEN, IN = nid("gen"), nid("in")


def applied(source: Graph, value: list[object]) -> list[list[object]]:
    after, ops = apply_op(source, op_from_value(value))  # type: ignore[arg-type]
    assert igb.write(apply_ops(source, ops)) == igb.write(after)
    return [patch.to_value(op) for op in ops]


def test_an_overtaken_set_applies_with_the_true_old() -> None:
    assert applied(chat(), ["set", [GEN, "max_tokens"], [99], [4]]) == [["set", [GEN, "max_tokens"], [8], [4]]]


@pytest.mark.parametrize(
    ("sent", "done"),
    [
        (["flag", [GEN, "steps"], [9], [4]], ["flag", [GEN, "steps"], [], [4]]),
        (["graph", ["speed"], [9], [4]], ["graph", ["speed"], [], [4]]),
        (["move", [GEN], [[9, 9]], [[1, 2]]], ["move", [GEN], [(560, 0)], [(1, 2)]]),
        (["label", [GEN], [], ["New"]], ["label", [GEN], ["Answer"], ["New"]]),
        (["note", [nid("n")], [[0, 0, 9, 9, ""]], [[0, 0, 1, 1, ""]]], ["note", [nid("n")], [], [(0, 0, 1, 1, "")]]),
        (["group", [nid("g")], [["", [IN]]], [["x", [IN]]]], ["group", [nid("g")], [], [("x", (IN,))]]),
        (["extra", [70], [1], [2]], ["extra", [70], [], [2]]),
    ],
    ids=lambda value: value[0],
)
def test_the_last_writer_wins_every_field(sent: list[object], done: list[object]) -> None:
    assert applied(chat(), sent) == [done]


@pytest.mark.parametrize(
    ("standing", "old", "new", "after"),
    [
        (["b", "c"], ["a", "b", "c"], ["a", "c"], ["c"]),
        (["b"], ["a", "b"], ["a"], []),
        (["b"], ["a", "b"], ["b"], ["b"]),
        ([], ["a"], ["a", "b"], ["b"]),
        (["a", "b"], ["a"], ["a", "b"], ["a", "b"]),
        ([], ["a", "b"], ["a"], []),
        (["b"], ["b"], ["a", "b"], ["a", "b"]),
    ],
    ids=["settles another", "the last", "settled already", "comes back", "came back already", "all settled", "place"],
)
def test_open_conflicts_settled_at_once_take_nothing_of_each_other(
    standing: list[str], old: list[str], new: list[str], after: list[str]
) -> None:
    flow = replace(chat(), extra={68: standing} if standing else {})
    op = op_from_value(["extra", [68], [old], [new]])
    assert apply_op(flow, op)[0].extra == ({68: after} if after else {})
    found = rebase([op], flow)
    assert (found.graph.extra, found.overtaken) == ({68: after} if after else {}, (op,) if standing == after else ())


def test_what_is_so_already_changes_nothing() -> None:
    assert applied(chat(), ["label", [GEN], ["Old"], ["Answer"]]) == []


def test_deleting_a_node_takes_along_all_that_names_it() -> None:
    flow = replace(chat(), groups={nid("g"): ("one", (GEN,)), nid("h"): ("two", (IN, GEN))})
    stale_value = ["node-", [GEN], ["llm.generate", 1, {}, {}]]
    assert applied(igb.read(igb.write(flow)), stale_value) == [
        ["edge-", [GEN, "text", nid("out"), "value", 0]],
        ["edge-", [nid("tpl"), "text", GEN, "prompt", 0]],
        ["node-", [GEN], ["llm.generate", 1, {"max_tokens": 8}, {}]],
        ["move", [GEN], [(560, 0)], []],
        ["label", [GEN], ["Answer"], []],
        ["group", [nid("g")], [("one", (GEN,))], []],
        ["group", [nid("h")], [("two", (IN, GEN))], [("two", (IN,))]],
    ]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (["edge-", [IN, "text", GEN, "prompt", 0]], "stale"),
        (["edge+", [IN, "text", GEN, "prompt", 0]], "duplicate"),
        (["edge+", [GEN, "text", nid("tpl"), "more", 0]], "cycle"),
        (["edge+", [nid("x"), "text", GEN, "more", 0]], "dangling"),
        (["node-", [nid("x")], ["text.clean", 1, {}, {}]], "dangling"),
        (["node+", [GEN], ["text.clean", 1, {}, {}]], "duplicate"),
        (["retype", [GEN], [["text.clean", 1]], [["text.clean", 2]]], "stale"),
        (["set", [nid("x"), "p"], [], [1]], "dangling"),
        (["move", [nid("x")], [], [[1, 1]]], "dangling"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else value,
)
def test_structure_that_no_longer_fits_is_refused(value: list[object], code: str) -> None:
    with pytest.raises(Invalid) as error:
        applied(chat(), value)
    assert error.value.code == code
    assert isinstance(error.value, Stale) == (code == "stale")


def test_strict_compares_what_was_there() -> None:
    with pytest.raises(Stale):
        apply_op(chat(), op_from_value(["label", [GEN], ["Old"], ["New"]]), strict=True)


def test_a_result_with_too_many_nodes_is_refused() -> None:
    many = Graph({f"{at:010d}": Node(f"{at:010d}", "t.a", 1) for at in range(20_000)})
    with pytest.raises(Invalid) as error:
        apply_ops(many, [op_from_value(["node+", [GEN], ["t.a", 1, {}, {}]])])
    assert (error.value.code, error.value.path) == ("section", "nodes")


def test_a_result_that_no_file_can_hold_is_refused() -> None:
    half = graph(node("a", "t.a", {"p": "x" * 9_000_000}))
    with pytest.raises(Invalid) as error:
        apply_ops(half, [op_from_value(["node+", [nid("b")], ["t.a", 1, {"p": "y" * 9_000_000}, {}]])])
    assert (error.value.code, error.value.path) == ("section", "file")


def test_a_long_chain_is_checked_for_cycles_without_a_deep_stack() -> None:
    count = 3000
    chain = graph(
        *(node(f"n{at}", "t.a") for at in range(count)),
        edges=tuple(f"n{at}.o > n{at + 1}.i" for at in range(count - 1)),
    )
    with pytest.raises(Invalid) as error:
        apply_op(chain, op_from_value(["edge+", [nid(f"n{count - 1}"), "o", nid("n0"), "i", 0]]))
    assert error.value.code == "cycle"
