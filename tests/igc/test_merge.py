"""Three-way merge, situation by situation; graphs are small and whole conflicts are compared."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from dots.codec import Value
from dots.components import catalogue
from igc import cli, igb, merge, patch
from igc.check import check
from igc.compose import compose
from igc.cycles import on_cycles
from igc.graph import CONFLICTS, Edge, Graph, Invalid
from igc.merge import Merge, merge3
from tests.igc.build import chat, edge, edited, graph, nid, node

CATALOGUE = catalogue()
IN, TPL, GEN, OUT, NEW = (nid(name) for name in ("in", "tpl", "gen", "out", "new"))


def said(found: Merge) -> list[tuple[str, tuple[object, ...], tuple[object, ...]]]:
    return [(one.code, one.key, one.against) for one in found.conflicts]


def test_fields_of_one_node_merge() -> None:
    ours = edited(["set", [GEN, "max_tokens"], [8], [4]], ["label", [GEN], [], ["Ours"]])
    theirs = edited(
        ["set", [GEN, "temperature"], [], [0.5]], ["flag", [GEN, "steps"], [], [9]], ["move", [GEN], [], [[1, 2]]]
    )
    found = merge3(chat(), ours, theirs, CATALOGUE)
    assert found.clean
    assert found.graph.nodes[GEN].params == {"max_tokens": 4, "temperature": 0.5}
    assert found.graph.nodes[GEN].flags == {"steps": 9}
    assert (found.graph.labels[GEN], found.graph.positions[GEN]) == ("Ours", (1, 2))


def test_a_field_that_both_changed_is_a_conflict_and_ours_stands() -> None:
    ours, theirs = (edited(["set", [GEN, "max_tokens"], [8], [value]]) for value in (4, 16))
    found = merge3(chat(), ours, theirs)
    assert replace(found.graph, extra={}) == ours
    assert found.graph.extra[CONFLICTS] == [
        {"code": "modify", "key": ["set", GEN, "max_tokens"], "base": [8], "ours": [4], "theirs": [16], "against": []}
    ]
    assert [one.code for one in check(found.graph, CATALOGUE)] == ["open_conflicts"]


def test_a_place_never_conflicts_and_a_label_does() -> None:
    ours = edited(["move", [GEN], [], [[1, 1]]], ["label", [GEN], [], ["One"]])
    theirs = edited(["move", [GEN], [], [[2, 2]]], ["label", [GEN], [], ["Two"]])
    found = merge3(chat(), ours, theirs)
    assert said(found) == [("modify", ("label", GEN), ())]
    assert (found.graph.positions[GEN], found.graph.labels[GEN]) == ((1, 1), "One")


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_deleted_node_that_was_only_moved_or_relabelled_is_deleted(mirrored: bool) -> None:
    gone = edited(["node-", [OUT], ["flow.output", 1, {}, {}]])
    moved = edited(
        ["move", [OUT], [], [[5, 5]]], ["label", [OUT], [], ["Result"]], ["group", [nid("g")], [], [["", [OUT]]]]
    )
    found = merge3(chat(), *((moved, gone) if mirrored else (gone, moved)))
    assert found.clean
    assert igb.write(found.graph) == igb.write(gone)


def test_a_deleted_node_that_was_changed_is_a_conflict_from_either_side() -> None:
    gone = edited(["node-", [TPL], ["text.template", 1, {}, {}]])
    changed = edited(["set", [TPL, "template"], [], ["Be brief: {text}"]])
    kept, lost = merge3(chat(), changed, gone), merge3(chat(), gone, changed)
    assert said(kept) == said(lost) == [("delete", ("node", TPL), ())]
    assert replace(kept.graph, extra={}) == changed  # its edges stay with it
    assert replace(lost.graph, extra={}) == gone


def test_only_the_changed_one_of_several_deleted_nodes_is_kept() -> None:
    gone = edited(["node-", [TPL], ["text.template", 1, {}, {}]], ["node-", [GEN], ["llm.generate", 1, {}, {}]])
    changed = edited(["set", [TPL, "template"], [], ["Be brief: {text}"]])
    found = merge3(chat(), changed, gone)
    assert said(found) == [("delete", ("node", TPL), ())]
    assert sorted(found.graph.nodes) == sorted((IN, TPL, OUT))
    assert found.graph.edges == (edge("in.text > tpl.text"),)


def test_an_edge_to_a_node_that_the_other_side_deleted_dangles() -> None:
    gone = edited(["node-", [OUT], ["flow.output", 1, {}, {}]])
    used = edited(
        ["node+", [NEW], ["flow.output", 1, {"name": "two"}, {}]],
        ["edge-", [GEN, "text", OUT, "value", 0]],
        ["edge+", [TPL, "text", OUT, "value", 0]],
    )
    lost, kept = merge3(chat(), gone, used), merge3(chat(), used, gone)
    assert said(lost) == [("dangling", ("edge", OUT, "value", 0), (("node", OUT),))]
    assert said(kept) == [("dangling", ("node", OUT), (("edge", OUT, "value", 0),))]
    assert NEW in lost.graph.nodes and OUT not in lost.graph.nodes
    assert replace(kept.graph, extra={}) == used


def test_two_sources_for_one_input_are_a_conflict_that_names_all_three() -> None:
    mine, yours = (
        edited(["edge-", [TPL, "text", GEN, "prompt", 0]], ["edge+", [IN, "text", GEN, "prompt", 0]]),
        edited(
            ["node+", [NEW], ["text.input", 1, {"name": "two"}, {}]],
            ["edge-", [TPL, "text", GEN, "prompt", 0]],
            ["edge+", [NEW, "text", GEN, "prompt", 0]],
        ),
    )
    found = merge3(chat(), mine, yours, CATALOGUE)
    (one,) = found.conflicts
    assert (one.code, one.key) == ("input", ("edge", GEN, "prompt", 0))
    assert (one.base, one.ours, one.theirs) == (((TPL, "text"),), ((IN, "text"),), ((NEW, "text"),))
    assert NEW in found.graph.nodes


def test_edges_that_close_a_ring_together_are_a_conflict_that_names_both() -> None:
    base = graph(*(node(name, "t.a") for name in "abcd"), edges=("b.o > c.i", "d.o > a.i"))
    ours = edited(["edge+", [nid("a"), "o", nid("b"), "i", 0]], of=base)
    theirs = edited(["edge+", [nid("c"), "o", nid("d"), "i", 0]], ["move", [nid("d")], [], [[7, 7]]], of=base)
    found = merge3(base, ours, theirs)
    assert said(found) == [("cycle", ("edge", nid("d"), "i", 0), (("edge", nid("b"), "i", 0),))]
    assert found.graph.edges == ours.edges and found.graph.positions == theirs.positions


def test_what_no_longer_fits_by_type_is_a_conflict_that_names_both() -> None:
    ours = edited(["set", [TPL, "template"], [], ["Answer: {question}"]])  # its slot has another name now
    ours = edited(["edge-", [IN, "text", TPL, "text", 0]], ["edge+", [IN, "text", TPL, "question", 0]], of=ours)
    theirs = edited(
        ["node+", [NEW], ["text.input", 1, {"name": "more"}, {}]],
        ["edge-", [IN, "text", TPL, "text", 0]],
        ["edge+", [NEW, "text", TPL, "text", 0]],
    )
    assert merge3(chat(), ours, theirs).clean  # structure alone is fine
    found = merge3(chat(), ours, theirs, CATALOGUE)
    (one,) = found.conflicts
    assert (one.code, one.key) == ("unknown_input", ("edge", TPL, "text", 0))
    assert ("set", TPL, "template") in one.against
    assert [one.code for one in check(found.graph, CATALOGUE)] == ["open_conflicts"]


def test_two_new_outputs_of_one_name_are_a_conflict() -> None:
    def side(name: str) -> Graph:
        return edited(
            ["node+", [nid(name)], ["flow.output", 1, {"name": "same"}, {}]],
            ["edge+", [TPL, "text", nid(name), "value", 0]],
        )

    found = merge3(chat(), side("a"), side("b"), CATALOGUE)
    assert [(one.code, one.key) for one in found.conflicts] == [
        ("duplicate_name", ("node", nid("b"))),
        ("dangling", ("edge", nid("b"), "value", 0)),
    ]
    assert nid("b") not in found.graph.nodes and nid("a") in found.graph.nodes


def test_what_follows_a_node_that_is_kept_out_stays() -> None:
    ours = edited(["node+", [nid("a")], ["text.input", 1, {"name": "same"}, {}]])
    theirs = edited(
        ["node+", [NEW], ["text.input", 1, {"name": "same"}, {}]],
        ["node+", [nid("c")], ["text.clean", 1, {}, {}]],
        ["edge+", [NEW, "text", nid("c"), "text", 0]],
    )
    found = merge3(chat(), ours, theirs, CATALOGUE)
    assert [(one.code, one.key) for one in found.conflicts] == [
        ("duplicate_name", ("node", NEW)),
        ("dangling", ("edge", nid("c"), "text", 0)),
    ]
    assert nid("c") in found.graph.nodes
    assert [one.code for one in check(found.graph, CATALOGUE)] == ["missing_input", "open_conflicts"]


@pytest.mark.parametrize("mirrored", [False, True])
def test_another_component_and_another_param_of_one_node_are_a_conflict(mirrored: bool) -> None:
    retyped = edited(["retype", [GEN], [["llm.generate", 1]], [["x.y", 2]]], ["set", [GEN, "max_tokens"], [8], []])
    tuned = edited(["set", [GEN, "temperature"], [], [0.5]])
    ours, theirs = (tuned, retyped) if mirrored else (retyped, tuned)
    found = merge3(chat(), ours, theirs)
    assert {one.code for one in found.conflicts} == {"retype"}
    assert replace(found.graph, extra={}) == ours


def test_a_retyped_node_can_be_moved_and_disabled_on_the_other_side() -> None:
    retyped = edited(["retype", [GEN], [["llm.generate", 1]], [["x.y", 2]]], ["set", [GEN, "max_tokens"], [8], [1]])
    moved = edited(["move", [GEN], [], [[3, 3]]], ["flag", [GEN, "disabled"], [], [True]])
    found = merge3(chat(), moved, retyped)
    assert found.clean
    assert (found.graph.nodes[GEN].component, found.graph.nodes[GEN].params) == ("x.y", {"max_tokens": 1})
    assert found.graph.nodes[GEN].flags == {"disabled": True}


def test_groups_take_members_of_both_sides_and_notes_text_and_place() -> None:
    base = replace(chat(), groups={nid("g"): ("Both", (IN, TPL))}, notes={nid("n"): (0, 0, 9, 9, "old")})
    ours = replace(base, groups={nid("g"): ("Ours", (TPL,))}, notes={nid("n"): (5, 5, 9, 9, "old")})
    theirs = replace(base, groups={nid("g"): ("Both", (IN, TPL, GEN))}, notes={nid("n"): (0, 0, 9, 9, "new")})
    found = merge3(base, ours, theirs)
    assert found.clean
    assert found.graph.groups == {nid("g"): ("Ours", tuple(sorted((TPL, GEN))))}
    assert found.graph.notes == {nid("n"): (5, 5, 9, 9, "new")}


def test_open_conflicts_of_the_graphs_stay_until_a_side_resolved_them() -> None:
    base, ours, theirs = (
        replace(chat(), extra={CONFLICTS: found}) for found in (["a", "b"], ["b", "c"], ["a", "b", "d"])
    )
    found = merge3(base, ours, theirs)
    assert found.clean
    assert found.graph.extra == {CONFLICTS: ["b", "c", "d"]}


def test_a_merge_that_no_file_can_hold_gives_ours_and_says_so() -> None:
    def side(name: str) -> Graph:
        return graph(node(name, "t.a", {"p": name * 9_000_000}))

    found = merge3(Graph(), side("a"), side("b"))
    assert said(found) == [("size", ("graph",), ())]
    assert found.graph.nodes == side("a").nodes


def test_values_too_large_to_stand_twice_are_left_out_of_the_section() -> None:
    def side(text: str) -> Graph:
        return graph(node("a", "t.a", {"p": text * 7_000_000}))

    found = merge3(side("x"), side("y"), side("z"))
    assert found.graph.extra[CONFLICTS] == [
        {"code": "modify", "key": ["set", nid("a"), "p"], "base": [], "ours": [], "theirs": [], "against": []}
    ]
    assert found.conflicts[0].theirs == ("z" * 7_000_000,)


def test_a_long_chain_of_things_that_need_each_other_ends() -> None:
    count = 400
    names = [f"n{at}" for at in range(count)]
    chain = tuple(f"{a}.o > {b}.i" for a, b in pairwise(names))
    base = graph(*(node(name, "t.a") for name in names), edges=chain)
    ours = edited(["set", [nid("n0"), "p"], [], [1]], of=base)
    found = merge3(base, ours, Graph())
    assert said(found) == [("delete", ("node", nid("n0")), ())]
    assert list(found.graph.nodes) == [nid("n0")]


def test_when_things_go_on_colliding_all_of_theirs_is_kept_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "MAX_ROUNDS", 1)
    ours = edited(["node-", [OUT], ["flow.output", 1, {}, {}]])
    theirs = edited(
        ["edge-", [GEN, "text", OUT, "value", 0]],
        ["edge+", [TPL, "text", OUT, "value", 0]],
        ["set", [GEN, "max_tokens"], [8], [4]],
    )
    found = merge3(chat(), ours, theirs)
    assert replace(found.graph, extra={}) == ours
    assert [(one.code, one.key) for one in found.conflicts] == [
        ("rest", ("set", GEN, "max_tokens")),
        ("dangling", ("edge", OUT, "value", 0)),
    ]


def test_edges_on_cycles_are_found_without_those_between() -> None:
    ring = [Edge(a, "o", b, "i") for a, b in ("ab", "ba", "bc", "cd", "de", "ed", "ff")]
    assert on_cycles("abcdef", ring) == [ring[:2], ring[4:6], ring[6:]]


def test_patches_that_do_not_meet_are_not_composed() -> None:
    change = patch.diff(Graph(), chat())
    with pytest.raises(Invalid) as error:
        compose(change, change)
    assert error.value.code == "base"


def test_the_command_writes_the_merge_and_exits_1_on_conflicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(name: str, value: Value) -> str:
        (tmp_path / name).write_bytes(igb.write(edited(["set", [GEN, "max_tokens"], [8], [value]])))
        return str(tmp_path / name)

    base, ours, theirs, out = written("b", 9), written("o", 4), written("t", 16), str(tmp_path / "out")
    assert cli.main(["merge", base, base, theirs, "-o", out]) == 0
    assert Path(out).read_bytes() == Path(theirs).read_bytes()
    assert capsys.readouterr().out == ""
    assert cli.main(["merge", base, ours, theirs, "-o", out]) == 1
    assert capsys.readouterr().out == f"conflict modify set {GEN}.max_tokens: 9 -> ours 4, theirs 16\n"
    assert CONFLICTS in igb.read(Path(out).read_bytes()).extra
    assert cli.main(["merge", base, ours, str(tmp_path / "none"), "-o", out]) == 2
