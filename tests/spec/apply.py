"""The vectors of applying ops and stored patches to a graph: the result, byte for byte, or the code of the refusal."""

from collections.abc import Mapping
from hashlib import sha256

from tests.spec.case import Case, Parts
from tests.spec.cbor import HALF, head, item
from tests.spec.graphs import NODES, SMALL, A, B, C, D, changed, crowd, igb_file, with_param
from tests.spec.patch import NODE, ONE, patch_file

LAST = "zzzzzzzzzz"
GROUPED = {64: {A: [1, 2]}, 65: {A: "x"}, 67: {D: ["g", [A, B]]}}


def applies(name: str, before: Mapping[int, object], ops: list[object], after: Mapping[int, object] | str) -> Case:
    case: Case = {"name": name, "graph": igb_file(before).hex(), "ops": item(ops).hex()}
    return case | ({"code": after} if isinstance(after, str) else {"result": igb_file(after).hex()})


def fills(name: str, value: Parts, head_of_value: bytes, verdict: str) -> Case:
    """A set of a long value, in the small graph."""
    op = head(4, 1) + head(4, 4) + item("set") + item([A, "p"]) + item([5]) + head(4, 1) + head_of_value
    return {"name": name, "graph": igb_file({}).hex(), "ops": [[op.hex(), 1], *map(list, value)], "code": verdict}


def compares(name: str, there: object, old: object) -> Case:
    """A set that takes one value for another."""
    return applies(name, with_param(there), [["set", [A, "p"], [old], [None]]], "stale")


def hashes_of(changes: Mapping[int, object]) -> list[bytes]:
    sections = changed(SMALL, changes)
    semantic = {key: value for key, value in sections.items() if key < 64}
    return [sha256(item(semantic)).digest(), sha256(igb_file(changes)).digest()]


def stored(
    name: str,
    before: Mapping[int, object],
    ops: list[object],
    after: Mapping[int, object],
    code: str | None = None,
    base: list[bytes] | None = None,
    target: list[bytes] | None = None,
) -> Case:
    file = {1: base or hashes_of(before), 2: target or hashes_of(after), 3: ops}
    case: Case = {"name": name, "graph": igb_file(before).hex(), "patch": patch_file(file).hex()}
    return case | ({"code": code} if code else {"result": igb_file(after).hex()})


def cases() -> list[Case]:
    cut = {3: ["t.a", "p"], 5: []}
    edge = [A, "o", B, "i", 0]
    third = [C, 0, 1, {}, {}]
    first = ["t.a", 1, {"p": 5}, {}]
    moved = {64: {A: [3, 4]}}
    return [
        applies("no ops", {}, [], {}),
        applies("an edge goes", {}, [["edge-", edge]], cut),
        applies("an edge comes", cut, [["edge+", edge]], {}),
        applies("a node comes", {}, [["node+", [C], NODE]], {4: [*NODES, third]}),
        applies("a node goes with its edge", {}, [["edge-", edge], ["node-", [B], NODE]], {**cut, 4: NODES[:1]}),
        applies(
            "a node goes with all that names it",
            {**GROUPED},
            [
                ["edge-", edge],
                ["node-", [A], first],
                ["move", [A], [[1, 2]], []],
                ["label", [A], ["x"], []],
                ["group", [D], [["g", [A, B]]], [["g", [B]]]],
            ],
            {3: ["t.a"], 4: [[B, 0, 1, {}, {}]], 5: [], 67: {D: ["g", [B]]}},
        ),
        applies("a param set", {}, [["set", [A, "p"], [5], [6]]], {4: [[A, 0, 1, {1: 6}, {}], NODES[1]]}),
        applies(
            "a param goes",
            {},
            [["set", [A, "p"], [5], []]],
            {
                3: ["t.a", "o", "i"],
                4: [[A, 0, 1, {}, {}], [B, 0, 1, {}, {}]],
                5: [[0, 1, 1, 2, 0]],
            },
        ),
        applies("a param to null", {}, [["set", [A, "p"], [5], [None]]], {4: [[A, 0, 1, {1: None}, {}], NODES[1]]}),
        applies(
            "retype",
            {},
            [["retype", [A], [["t.a", 1]], [["s.a", 2]]]],
            {
                3: ["s.a", "p", "t.a", "o", "i"],
                4: [[A, 0, 2, {1: 5}, {}], [B, 2, 1, {}, {}]],
                5: [[0, 3, 1, 4, 0]],
            },
        ),
        applies(
            "a flag", {}, [["flag", [B, "disabled"], [], [True]]], {4: [NODES[0], [B, 0, 1, {}, {"disabled": True}]]}
        ),
        applies("a setting", {}, [["graph", ["seed"], [], [1]]], {6: {"seed": 1}}),
        applies("the last setting goes", {6: {"seed": 1}}, [["graph", ["seed"], [1], []]], {}),
        applies("a move", {}, [["move", [A], [], [[3, 4]]]], moved),
        applies("a label", {}, [["label", [A], [], ["x"]]], {65: {A: "x"}}),
        applies("a note", {}, [["note", [A], [], [[0, 0, 1, 1, "x"]]]], {66: {A: [0, 0, 1, 1, "x"]}}),
        applies("a note goes", {66: {A: [0, 0, 1, 1, "x"]}}, [["note", [A], [[0, 0, 1, 1, "x"]], []]], {}),
        applies("a group", {}, [["group", [D], [], [["g", [A]]]]], {67: {D: ["g", [A]]}}),
        applies("an unknown section", {}, [["extra", [70], [], [{"any": 1}]]], {70: {"any": 1}}),
        applies(
            "ops in the order they stand",
            {},
            [
                ["set", [A, "p"], [5], [6]],
                ["set", [A, "p"], [6], [7]],
            ],
            {4: [[A, 0, 1, {1: 7}, {}], NODES[1]]},
        ),
        applies(
            "a new edge before the old one goes",
            {4: [*NODES, third]},
            [
                ["edge+", [C, "o", B, "i", 0]],
                ["edge-", edge],
            ],
            {4: [*NODES, third], 5: [[2, 2, 1, 3, 0]]},
        ),
        applies(
            "an edge before its node",
            cut,
            [["edge+", [A, "o", C, "i", 0]], ["node+", [C], NODE]],
            {
                4: [*NODES, third],
                5: [[0, 2, 2, 3, 0]],
            },
        ),
        applies(
            "a node again after it went",
            {},
            [
                ["edge-", edge],
                ["node-", [B], NODE],
                ["node+", [B], NODE],
                ["edge+", edge],
            ],
            {},
        ),
        applies("an edge that is not there", {}, [["edge-", [A, "o", B, "i", 1]]], "stale"),
        applies("an edge that is there", {}, [["edge+", edge]], "duplicate"),
        applies("an edge that is there, and goes", {}, [["edge+", edge], ["edge-", edge]], "duplicate"),
        applies("an input slot that is taken", {4: [*NODES, third]}, [["edge+", [C, "o", B, "i", 0]]], "duplicate"),
        applies("an edge from no node", {}, [["edge+", [C, "o", B, "i", 1]]], "dangling"),
        applies("an edge to no node", {}, [["edge+", [A, "o", C, "i", 0]]], "dangling"),
        applies("an edge to itself", {}, [["edge+", [A, "o", A, "i", 0]]], "cycle"),
        applies("an edge that closes a cycle", {}, [["edge+", [B, "o", A, "i", 0]]], "cycle"),
        applies("a node that is there", {}, [["node+", [A], NODE]], "duplicate"),
        applies("a node that is not there goes", {}, [["node-", [C], NODE]], "dangling"),
        applies("a node goes with another value", {}, [["edge-", edge], ["node-", [A], NODE]], "stale"),
        applies("a node goes and leaves its edge", {}, [["node-", [B], NODE]], "dangling"),
        applies("a node goes and leaves its position", GROUPED, [["edge-", edge], ["node-", [A], first]], "dangling"),
        applies(
            "a node goes and leaves its group",
            {67: {D: ["g", [B]]}},
            [["edge-", edge], ["node-", [B], NODE]],
            "dangling",
        ),
        applies("a set of no node", {}, [["set", [C, "p"], [], [1]]], "dangling"),
        applies("a set before its node", {}, [["set", [C, "p"], [], [1]], ["node+", [C], NODE]], "dangling"),
        applies("a set of another value", {}, [["set", [A, "p"], [6], [7]]], "stale"),
        applies("a set of a value as if there were none", {}, [["set", [A, "p"], [], [7]]], "stale"),
        applies("a set of none as if there were null", {}, [["set", [B, "p"], [None], [7]]], "stale"),
        compares("an array as if it were text", ["a"], "a"),
        compares("bytes as if they were an array", b"a", [97]),
        compares("bytes as if they were others", b"a", b"b"),
        compares("bytes as if they were longer", b"a", b"ab"),
        compares("a map as if its value were another", {"x": 1}, {"x": 2}),
        compares("a map as if its key were another", {"x": 1}, {"y": 1}),
        compares("a map as if it had more", {"x": 1}, {"x": 1, "y": 2}),
        compares("a map as if it had less", {"x": 1, "y": 2}, {"x": 1}),
        compares("text as if it were a map", "a", {}),
        compares("an empty map as if it were an empty array", {}, []),
        applies(
            "a set of a map with bytes in an array",
            with_param({"x": [b"a", HALF]}),
            [["set", [A, "p"], [{"x": [b"a", HALF]}], [1]]],
            with_param(1),
        ),
        applies(
            "a set of 1 as if it were true",
            {4: [[A, 0, 1, {1: 1}, {}], NODES[1]]},
            [["set", [A, "p"], [True], [0]]],
            "stale",
        ),
        applies("retype of no node", {}, [["retype", [C], [["t.a", 1]], [["t.b", 1]]]], "dangling"),
        applies("retype of another version", {}, [["retype", [A], [["t.a", 2]], [["t.b", 1]]]], "stale"),
        applies("a flag of no node", {}, [["flag", [C, "steps"], [], [1]]], "dangling"),
        applies("a flag of another value", {}, [["flag", [A, "steps"], [2], [1]]], "stale"),
        applies("a setting of another value", {}, [["graph", ["seed"], [2], [1]]], "stale"),
        applies("a move of no node", {}, [["move", [C], [], [[0, 0]]]], "dangling"),
        applies("a move from elsewhere", moved, [["move", [A], [[0, 0]], [[1, 1]]]], "stale"),
        applies("a label of no node", {}, [["label", [C], [], ["x"]]], "dangling"),
        applies("a label of another text", {65: {A: "x"}}, [["label", [A], ["y"], ["z"]]], "stale"),
        applies("a note of another text", {}, [["note", [A], [[0, 0, 1, 1, ""]], []]], "stale"),
        applies("a group of no node", {}, [["group", [D], [], [["g", [C]]]]], "dangling"),
        applies("a group of another label", {}, [["group", [D], [["g", [A]]], []]], "stale"),
        applies("a section of another value", {}, [["extra", [70], [1], [2]]], "stale"),
        applies("an op of a bad shape", {}, [["set", [A, "p"], [5], [5]]], "section"),
        applies("an op with a raw secret", {}, [["set", [A, "p"], [5], [{"secret": "x"}]]], "secret"),
        applies("one bad op spoils all", {}, [["set", [A, "p"], [5], [6]], ["edge+", edge]], "duplicate"),
        {
            "name": "a node more than 19999",
            "graph": [list(part) for part in crowd(19_999)],
            "ops": item([["node+", [LAST], NODE]]).hex(),
            "result": [list(part) for part in crowd(19_999, LAST)],
        },
        {
            "name": "a node more than 20000",
            "graph": [list(part) for part in crowd(20_000)],
            "ops": item([["node+", [LAST], NODE]]).hex(),
            "code": "section",
        },
        fills(
            "a text that fills more than a file",
            [("78" * 4096, 4095), ("78" * 4068, 1)],
            head(3, 2**24 - 28),
            "section",
        ),
        fills("items that fill more than a file", [("00", 199_990)], head(4, 199_990), "section"),
        stored("a stored patch", {}, [["move", [A], [], [[3, 4]]]], moved),
        stored("a stored patch of nothing", {}, [], {}),
        stored("another base", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=hashes_of(moved)),
        stored(
            "a base with another sem", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=[ONE, hashes_of({})[1]]
        ),
        stored(
            "a base with another file", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=[hashes_of({})[0], ONE]
        ),
        stored("another target", {}, [["move", [A], [], [[3, 4]]]], moved, "target", target=hashes_of({})),
        stored(
            "a target with another sem",
            {},
            [["move", [A], [], [[3, 4]]]],
            moved,
            "target",
            target=[ONE, hashes_of(moved)[1]],
        ),
        stored("base before ops", {}, [["move", [A], [[0, 0]], [[3, 4]]]], moved, "base", base=[ONE, ONE]),
        stored("ops before target", {}, [["move", [A], [[0, 0]], [[3, 4]]]], moved, "stale", target=[ONE, ONE]),
    ]
