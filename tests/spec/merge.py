"""The vectors of merges: files with open conflicts, and what taking theirs comes to.

A case is `{name, graph, conflicts: [{code, key, take | why}]}`: `graph` is the merged `.igb`, made by `merge3` from the
three graphs here; `take` are the ops that bring theirs of one conflict into that graph, in normal form and without the
op that removes the conflict; `why` says what stands in the way. Both are written here by hand.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final
from unittest import mock

from dots import codec
from dots.components import catalogue
from igc import igb, merge
from igc.conflicts import Conflict, with_section
from igc.graph import CONFLICTS, Graph
from tests.igc.build import chat, edited, graph, nid, node
from tests.spec.case import Case

IN, TPL, GEN, OUT, NEW = (nid(name) for name in ("in", "tpl", "gen", "out", "new"))
NOTE, GROUP = nid("n"), nid("g")

Take = list[Any] | str  # ops as they travel, or why there are none
Merged = tuple[str, Graph, dict[tuple[object, ...], Take]]


def merged(base: Graph, ours: Graph, theirs: Graph, checked: bool = False) -> Graph:
    return merge.merge3(base, ours, theirs, catalogue() if checked else None).graph


def field(kind: str, key: list[Any], *sides: Any) -> Graph:
    """The merge of two graphs that wrote one field differently: base, ours, theirs; `...` is ABSENT."""
    base, mine, yours = ([] if side is ... else [side] for side in sides)
    start = edited([kind, key, [], base])
    ours, theirs = (edited([kind, key, base, new], of=start) for new in (mine, yours))
    return merged(start, ours, theirs)


def fields() -> Iterator[Merged]:
    """One field that both sides wrote."""
    tokens = [GEN, "max_tokens"]
    yield (
        "a setting",
        field("set", tokens, 9, 4, 16),
        {("set", GEN, "max_tokens"): [["set", tokens, [4], [16]]]},
    )
    yield (
        "a setting that theirs left to its default",
        field("set", tokens, 9, 4, ...),
        {("set", GEN, "max_tokens"): [["set", tokens, [4], []]]},
    )
    yield (
        "a template whose slots differ",
        field("set", [TPL, "template"], "Answer: {text}", "Answer in French: {text}", "Answer: {question}"),
        {
            ("set", TPL, "template"): [
                ["edge-", [IN, "text", TPL, "text", 0]],
                ["set", [TPL, "template"], ["Answer in French: {text}"], ["Answer: {question}"]],
            ]
        },
    )
    yield (
        "a limit",
        field("flag", [GEN, "steps"], 64, 9, 12),
        {("flag", GEN, "steps"): [["flag", [GEN, "steps"], [9], [12]]]},
    )
    yield (
        "a setting of the graph",
        field("graph", ["a"], 1, {"b": [1.5, None]}, b"\x00"),
        {("graph", "a"): [["graph", ["a"], [{"b": [1.5, None]}], [b"\x00"]]]},
    )
    yield (
        "a name",
        field("label", [GEN], "Answer", "One", "Two"),
        {("label", GEN): [["label", [GEN], ["One"], ["Two"]]]},
    )
    yield (
        "a section of another program",
        field("extra", [100], 1, 2, 3),
        {("extra", 100): [["extra", [100], [2], [3]]]},
    )


def drawings() -> Iterator[Merged]:
    """Notes and groups."""
    note = [5, 6, 80, 90]
    yield (
        "the text of a note",
        field("note", [NOTE], [*note, "old"], [*note, "ours"], [*note, "theirs"]),
        {("note", NOTE): [["note", [NOTE], [[*note, "ours"]], [[*note, "theirs"]]]]},
    )
    yield (
        "a note that ours took away",
        field("note", [NOTE], [*note, "old"], ..., [*note, "theirs"]),
        {("note", NOTE): [["note", [NOTE], [], [[*note, "theirs"]]]]},
    )
    yield (
        "a note that theirs took away",
        field("note", [NOTE], [*note, "old"], [*note, "ours"], ...),
        {("note", NOTE): [["note", [NOTE], [[*note, "ours"]], []]]},
    )
    yield (
        "the name of a group",
        field("group", [GROUP], ["Both", [IN, TPL]], ["Ours", [IN, TPL]], ["Theirs", [IN]]),
        {("group", GROUP): [["group", [GROUP], [["Ours", [IN]]], [["Theirs", [IN]]]]]},
    )
    yield (
        "a group that ours took away",
        field("group", [GROUP], ["Both", [IN, TPL]], ..., ["Theirs", [IN, TPL]]),
        {("group", GROUP): [["group", [GROUP], [], [["Theirs", [IN, TPL]]]]]},
    )
    yield (
        "a group that theirs took away",
        field("group", [GROUP], ["Both", [IN, TPL]], ["Ours", [IN, TPL]], ...),
        {("group", GROUP): [["group", [GROUP], [["Ours", [IN, TPL]]], []]]},
    )


def nodes() -> Iterator[Merged]:
    """Nodes as a whole: added twice, deleted and changed, of another component."""
    written = edited(["node+", [NEW], ["text.template", 1, {"template": "One"}, {}]])
    rewritten = edited(["node+", [NEW], ["text.clean", 1, {"mode": "hard"}, {"disabled": True}]])
    yield (
        "one id added twice",
        merged(chat(), written, rewritten),
        {
            ("node", NEW): [
                ["retype", [NEW], [["text.template", 1]], [["text.clean", 1]]],
                ["set", [NEW, "mode"], [], ["hard"]],
                ["set", [NEW, "template"], ["One"], []],
                ["flag", [NEW, "disabled"], [], [True]],
            ]
        },
    )
    gone = edited(["node-", [TPL], ["text.template", 1, {}, {}]])
    changed = edited(["set", [TPL, "template"], [], ["Be brief: {text}"]], ["label", [TPL], [], ["Brief"]])
    changed = edited(["group", [GROUP], [], [["G", [IN, TPL]]]], of=changed)
    kept: dict[str, Any] = {"template": "Be brief: {text}"}
    yield (
        "changed here, deleted there",
        merged(chat(), changed, gone),
        {
            ("node", TPL): [
                ["edge-", [IN, "text", TPL, "text", 0]],
                ["edge-", [TPL, "text", GEN, "prompt", 0]],
                ["node-", [TPL], ["text.template", 1, kept, {}]],
                ["move", [TPL], [[280, 0]], []],
                ["label", [TPL], ["Brief"], []],
                ["group", [GROUP], [["G", [IN, TPL]]], [["G", [IN]]]],
            ]
        },
    )
    yield (
        "deleted here, changed there",
        merged(chat(), gone, changed),
        {
            ("node", TPL): [
                ["node+", [TPL], ["text.template", 1, kept, {}]],
                ["move", [TPL], [], [[0, 320]]],
            ]
        },
    )
    retyped = edited(["retype", [GEN], [["llm.generate", 1]], [["x.y", 2]]], ["set", [GEN, "max_tokens"], [8], []])
    tuned = edited(["set", [GEN, "temperature"], [], [0.5]])
    yield (
        "a setting of what became another component here",
        merged(chat(), retyped, tuned),
        {("set", GEN, "temperature"): [["set", [GEN, "temperature"], [], [0.5]]]},
    )
    yield (
        "another component there",
        merged(chat(), tuned, retyped),
        {
            ("retype", GEN): [["retype", [GEN], [["llm.generate", 1]], [["x.y", 2]]]],
            ("set", GEN, "max_tokens"): [["set", [GEN, "max_tokens"], [8], []]],
        },
    )
    yield (
        "another component on either side",
        merged(chat(), retyped, edited(["retype", [GEN], [["llm.generate", 1]], [["x.z", 3]]])),
        {("retype", GEN): [["retype", [GEN], [["x.y", 2]], [["x.z", 3]]]]},
    )


def wires() -> Iterator[Merged]:
    """Wires, and nodes that wires need."""
    rewired: list[Any] = ["edge-", [TPL, "text", GEN, "prompt", 0]]
    mine = edited(rewired, ["edge+", [IN, "text", GEN, "prompt", 0]])
    yours = edited(
        ["node+", [NEW], ["text.input", 1, {"name": "two"}, {}]], rewired, ["edge+", [NEW, "text", GEN, "prompt", 0]]
    )
    yield (
        "two sources of one input",
        merged(chat(), mine, yours),
        {
            ("edge", GEN, "prompt", 0): [
                ["edge-", [IN, "text", GEN, "prompt", 0]],
                ["edge+", [NEW, "text", GEN, "prompt", 0]],
            ]
        },
    )
    gone = edited(["node-", [OUT], ["flow.output", 1, {}, {}]])
    used = edited(["edge-", [GEN, "text", OUT, "value", 0]], ["edge+", [TPL, "text", OUT, "value", 0]])
    yield "a wire to what ours deleted", merged(chat(), gone, used), {("edge", OUT, "value", 0): "gone"}
    yield (
        "a deletion of what ours has put to use",
        merged(chat(), used, gone),
        {
            ("node", OUT): [
                ["edge-", [TPL, "text", OUT, "value", 0]],
                ["node-", [OUT], ["flow.output", 1, {}, {}]],
                ["move", [OUT], [[840, 0]], []],
            ]
        },
    )
    base = graph(*(node(name, "t.a") for name in "abcd"), edges=("b.o > c.i", "d.o > a.i"))
    ours = edited(["edge+", [nid("a"), "o", nid("b"), "i", 0]], of=base)
    theirs = edited(["edge+", [nid("c"), "o", nid("d"), "i", 0]], of=base)
    yield "wires that close a loop", merged(base, ours, theirs), {("edge", nid("d"), "i", 0): "cycle"}


def diagnosed() -> Iterator[Merged]:
    """What only the catalogue knows, and what is kept out for another reason."""
    ours = edited(["set", [TPL, "template"], [], ["Answer: {question}"]])
    ours = edited(["edge-", [IN, "text", TPL, "text", 0]], ["edge+", [IN, "text", TPL, "question", 0]], of=ours)
    theirs = edited(
        ["node+", [NEW], ["text.input", 1, {"name": "more"}, {}]],
        ["edge-", [IN, "text", TPL, "text", 0]],
        ["edge+", [NEW, "text", TPL, "text", 0]],
    )
    yield (
        "a wire into a slot that is gone",
        merged(chat(), ours, theirs, True),
        {("edge", TPL, "text", 0): [["edge+", [NEW, "text", TPL, "text", 0]]]},
    )

    def named(name: str) -> Graph:
        made: list[Any] = ["node+", [nid(name)], ["flow.output", 1, {"name": "same"}, {}]]
        return edited(made, ["edge+", [TPL, "text", nid(name), "value", 0]])

    yield (
        "two results of one name, with a wire",
        merged(chat(), named("a"), named("b"), True),
        {
            ("node", nid("b")): [
                ["node+", [nid("b")], ["flow.output", 1, {"name": "same"}, {}]],
                ["move", [nid("b")], [], [[0, 320]]],
            ],
            ("edge", nid("b"), "value", 0): "gone",
        },
    )
    gone = edited(["node-", [OUT], ["flow.output", 1, {}, {}]])
    theirs = edited(
        ["edge-", [IN, "text", TPL, "text", 0]],
        ["edge-", [GEN, "text", OUT, "value", 0]],
        ["edge+", [TPL, "text", OUT, "value", 0]],
        ["flag", [GEN, "disabled"], [], [True]],
    )
    with mock.patch.object(merge, "MAX_ROUNDS", 1):
        kept_out = merged(chat(), gone, theirs)
    yield (
        "the rest of theirs",
        kept_out,
        {
            ("flag", GEN, "disabled"): [["flag", [GEN, "disabled"], [], [True]]],
            ("edge", OUT, "value", 0): "gone",
            ("edge", TPL, "text", 0): [["edge-", [IN, "text", TPL, "text", 0]]],
        },
    )
    nothing = Conflict("size", ("graph",), (), (), ())
    yield "more than a file holds", with_section(chat(), [nothing]), {("graph",): "empty"}
    long = Conflict("modify", ("set", GEN, "max_tokens"), (8,), (4,), (16,))
    yield "values left out", with_section(chat(), [long], False), {("set", GEN, "max_tokens"): "empty"}


GROUPS: Final[tuple[Callable[[], Iterator[Merged]], ...]] = (fields, drawings, nodes, wires, diagnosed)


def told(name: str, made: Graph, takes: dict[tuple[object, ...], Take]) -> Case:
    """One case; the conflicts of the merge must be those that have an answer here, in their order."""
    held: Any = made.extra[CONFLICTS]
    conflicts: list[dict[str, object]] = []
    for entry in held:
        take = takes[tuple(entry["key"])]
        answer = {"why": take} if isinstance(take, str) else {"take": codec.encode(take).hex()}
        conflicts.append({"code": entry["code"], "key": entry["key"], **answer})
    assert len(conflicts) == len(takes), name
    return {"name": name, "graph": igb.write(made).hex(), "conflicts": conflicts}


def cases() -> list[Case]:
    return [told(*merged) for group in GROUPS for merged in group()]
