"""The vectors of `.patch` (docs/formats.md §3), written by hand: verdicts are what the page demands."""

from collections.abc import Mapping

from tests.spec.case import Case, bytes_case
from tests.spec.cbor import item
from tests.spec.graphs import DROP, IGB, A, B, C, changed

IGP = b"\x89IGP\r\n\x1a\n"
ZERO, ONE = bytes(32), b"\x01" * 32
EMPTY: dict[int, object] = {0: [1, 0], 1: [ZERO, ONE], 2: [ONE, ZERO], 3: []}
NODE = ["t.a", 1, {}, {}]


def patch_file(changes: Mapping[int, object]) -> bytes:
    return IGP + item(changed(EMPTY, changes))


def patch_good(name: str, *ops: object) -> Case:
    return bytes_case(name, patch_file({3: list(ops)}), "accept")


def patch_bad(name: str, ops: list[object], code: str, path: str) -> Case:
    return bytes_case(name, patch_file({3: ops}), "invalid", code=code, path=path)


def patch_header(name: str, changes: Mapping[int, object], code: str, path: str) -> Case:
    return bytes_case(name, patch_file(changes), "invalid", code=code, path=path)


def link(kind: str, *key: object) -> list[object]:
    return [kind, list(key)]


def bad_op(name: str, op: object) -> Case:
    return patch_bad(name, [op], "section", "ops[0]")


def cases() -> list[Case]:
    ab = (A, "o", B, "i", 0)
    return [
        patch_good("no ops"),
        patch_good(
            "every kind in its phase",
            link("edge-", *ab),
            ["node-", [A], NODE],
            ["node+", [B], ["t.a", 1, {"p": None}, {"disabled": True}]],
            ["retype", [C], [["t.a", 1]], [["t.b", 1]]],
            ["set", [C, "p"], [], [None]],
            ["flag", [C, "steps"], [1], []],
            ["graph", ["seed"], [1], [2]],
            link("edge+", A, "o", B, "i", 1),
            ["move", [A], [[0, 0]], []],
            ["label", [A], [], ["x"]],
            ["note", [A], [], [[0, 0, 1, 1, ""]]],
            ["group", [A], [["", [A]]], [["", [A, B]]]],
            ["extra", [68], [], [[1]]],
            ["extra", [69], [None], []],
        ),
        patch_good("two sets of one node", ["set", [C, "a"], [1], []], ["set", [C, "b"], [1], []]),
        patch_good(
            "keys sort by their encoding: shorter names first", ["set", [C, "b"], [1], []], ["set", [C, "aa"], [1], []]
        ),
        patch_good("a move beside a new node", ["node+", [A], NODE], ["move", [A], [], [[1, 1]]]),
        patch_good("true to 1", ["set", [C, "a"], [True], [1]]),
        patch_good("null to nothing", ["set", [C, "a"], [None], []]),
        patch_good("a setting named secret", ["graph", ["secret"], [], ["x"]]),
        patch_good("a higher minor is read") | {"hex": patch_file({0: [1, 3]}).hex()},
        bytes_case("no bytes", b"", "invalid", code="magic", path="file"),
        bytes_case("the magic of a graph", IGB + item(EMPTY), "invalid", code="magic", path="file"),
        bytes_case("a unified diff", b"--- a/x\n+++ b/x\n", "invalid", code="magic", path="file"),
        bytes_case("magic alone", IGP, "malformed", code="empty", offset=8),
        bytes_case("not a map", IGP + b"\x80", "invalid", code="section", path="file"),
        patch_header("major 2", {0: [2, 0]}, "version", "format"),
        patch_header("unknown key 4", {4: 0}, "key", "4"),
        patch_header("unknown key 64", {64: 0}, "key", "64"),
        patch_header("no format", {0: DROP}, "key", "0"),
        patch_header("no base", {1: DROP}, "key", "1"),
        patch_header("no target", {2: DROP}, "key", "2"),
        patch_header("no ops section", {3: DROP}, "key", "3"),
        patch_header("base is no array", {1: ZERO}, "section", "base"),
        patch_header("base of one hash", {1: [ZERO]}, "section", "base"),
        patch_header("base of three hashes", {1: [ZERO, ZERO, ZERO]}, "section", "base"),
        patch_header("a base hash of 31 bytes", {1: [ZERO[1:], ZERO]}, "section", "base"),
        patch_header("a second base hash of 33 bytes", {1: [ZERO, ZERO + b"0"]}, "section", "base"),
        patch_header("a base hash as text", {1: ["0" * 32, ZERO]}, "section", "base"),
        patch_header("target is no array", {2: 0}, "section", "target"),
        patch_header("a target hash of 20 bytes", {2: [ZERO, ZERO[:20]]}, "section", "target"),
        patch_header("ops are a map", {3: {}}, "section", "ops"),
        bad_op("an op that is no array", 0),
        bad_op("an empty op", []),
        bad_op("an op that is null", None),
        bad_op("an unknown kind", ["rename", [A], [], ["x"]]),
        bad_op("a kind that is no text", [1, [A], [], ["x"]]),
        bad_op("an edge op of three", ["edge+", list(ab), 0]),
        bad_op("an edge of four", ["edge+", list(ab[:4])]),
        bad_op("an edge of six", ["edge+", [*ab, 0]]),
        bad_op("an edge that is no array", ["edge+", 0]),
        bad_op("an edge from no id", link("edge+", "a", "o", B, "i", 0)),
        bad_op("an edge to no id", link("edge+", A, "o", "b", "i", 0)),
        bad_op("an edge from a bad output", link("edge+", A, "", B, "i", 0)),
        bad_op("an edge to a bad input", link("edge+", A, "o", B, "a b", 0)),
        bad_op("an edge at slot 256", link("edge-", A, "o", B, "i", 256)),
        bad_op("an edge at slot -1", link("edge-", A, "o", B, "i", -1)),
        bad_op("a node op of four", ["node+", [A], NODE, 0]),
        bad_op("a node op of two ids", ["node+", [A, B], NODE]),
        bad_op("a node op whose id is none", ["node+", ["a"], NODE]),
        bad_op("a node op whose key is no array", ["node+", A, NODE]),
        bad_op("a node of three", ["node+", [A], NODE[:3]]),
        bad_op("a node of five", ["node+", [A], [*NODE, 0]]),
        bad_op("a node that is no array", ["node+", [A], 0]),
        bad_op("a node whose flags are an array", ["node+", [A], ["t.a", 1, {}, []]]),
        bad_op("a node of a bad component", ["node+", [A], ["ta", 1, {}, {}]]),
        bad_op("a node whose component is no text", ["node+", [A], [1, 1, {}, {}]]),
        bad_op("a node whose component is an array", ["node+", [A], [["t.a"], 1, {}, {}]]),
        bad_op("a node whose params are an array", ["node+", [A], ["t.a", 1, [], {}]]),
        bad_op("a node of version 0", ["node+", [A], ["t.a", 0, {}, {}]]),
        bad_op("a node of version 65536", ["node+", [A], ["t.a", 65_536, {}, {}]]),
        bad_op("a node whose params have int keys", ["node+", [A], ["t.a", 1, {1: 1}, {}]]),
        bad_op("a node whose param has a bad name", ["node+", [A], ["t.a", 1, {"a b": 1}, {}]]),
        bad_op("a node with an unknown flag", ["node-", [A], ["t.a", 1, {}, {"x": True}]]),
        bad_op("retype from nothing", ["retype", [A], [], [["t.a", 1]]]),
        bad_op("retype to nothing", ["retype", [A], [["t.a", 1]], []]),
        bad_op("retype of one", ["retype", [A], [["t.a", 1]], [["t.b"]]]),
        bad_op("retype of three", ["retype", [A], [["t.a", 1]], [["t.b", 1, 0]]]),
        bad_op("retype to a number", ["retype", [A], [["t.a", 1]], [0]]),
        bad_op("retype to a bad component", ["retype", [A], [["t.a", 1]], [["t", 1]]]),
        bad_op("retype to version 0", ["retype", [A], [["t.a", 1]], [["t.a", 0]]]),
        bad_op("retype whose id is none", ["retype", ["a"], [["t.a", 1]], [["t.b", 1]]]),
        bad_op("a set of three", ["set", [A, "p"], []]),
        bad_op("a set of five", ["set", [A, "p"], [], [1], 0]),
        bad_op("a set without a param", ["set", [A], [], [1]]),
        bad_op("a set whose id is none", ["set", ["a", "p"], [], [1]]),
        bad_op("a set of a bad param", ["set", [A, "{p}"], [], [1]]),
        bad_op("a set of a param that is no text", ["set", [A, 1], [], [1]]),
        bad_op("a set of a param that is an array", ["set", [A, []], [], [1]]),
        bad_op("a set to null, not in an array", ["set", [A, "p"], [1], None]),
        bad_op("a set whose key is text", ["set", A, [], [1]]),
        bad_op("a set of two values", ["set", [A, "p"], [], [1, 2]]),
        bad_op("a set from two values", ["set", [A, "p"], [1, 2], []]),
        bad_op("a set whose new is no array", ["set", [A, "p"], [], 1]),
        bad_op("a set whose old is no array", ["set", [A, "p"], None, [1]]),
        bad_op("a set to the same", ["set", [A, "p"], [[1]], [[1]]]),
        bad_op("a set from nothing to nothing", ["set", [A, "p"], [], []]),
        bad_op("a flag without a name", ["flag", [A], [], [True]]),
        bad_op("an unknown flag", ["flag", [A, "fast"], [], [True]]),
        bad_op("an unknown flag of a number", ["flag", [A, "fast"], [], [1]]),
        bad_op("a flag whose name is no text", ["flag", [A, 1], [], [True]]),
        bad_op("a flag whose name is an array", ["flag", [A, []], [], [True]]),
        bad_op("disabled false", ["flag", [A, "disabled"], [True], [False]]),
        bad_op("steps 0", ["flag", [A, "steps"], [], [0]]),
        bad_op("a bad old flag", ["flag", [A, "steps"], [0], []]),
        bad_op("a graph key that is no text", ["graph", [1], [], [1]]),
        bad_op("a graph key of two", ["graph", ["a", "b"], [], [1]]),
        bad_op("a move of three", ["move", [A], [], [[0, 0, 0]]]),
        bad_op("a move beyond the limit", ["move", [A], [], [[0, 1_000_001]]]),
        bad_op("a move whose id is none", ["move", ["x"], [], [[0, 0]]]),
        bad_op("an empty label", ["label", [A], [], [""]]),
        bad_op("a label of 201 bytes", ["label", [A], [], ["x" * 201]]),
        bad_op("a note without width", ["note", [A], [], [[0, 0, 0, 1, ""]]]),
        bad_op("a note whose id is none", ["note", ["x"], [], [[0, 0, 1, 1, ""]]]),
        bad_op("a group without members", ["group", [A], [], [["", []]]]),
        bad_op("a group whose id is none", ["group", ["x"], [], [["", [A]]]]),
        bad_op("an extra of section 67", ["extra", [67], [], [1]]),
        bad_op("an extra of a section as text", ["extra", ["68"], [], [[1]]]),
        bad_op("an extra of empty conflicts", ["extra", [68], [], [[]]]),
        bad_op("an extra of conflicts that are no array", ["extra", [68], [], [1]]),
        patch_bad("phases out of order", [["set", [C, "p"], [], [1]], ["node+", [A], NODE]], "order", "ops[1]"),
        patch_bad("edges come in before sets", [link("edge+", *ab), ["set", [C, "p"], [], [1]]], "order", "ops[1]"),
        patch_bad("ids out of order", [["node+", [B], NODE], ["node+", [A], NODE]], "order", "ops[1]"),
        patch_bad("a key twice", [["set", [C, "p"], [], [1]], ["set", [C, "p"], [1], [2]]], "order", "ops[1]"),
        patch_bad("keys sorted as text", [["set", [C, "aa"], [1], []], ["set", [C, "b"], [1], []]], "order", "ops[1]"),
        patch_bad("shapes before order", [["node+", [B], NODE], ["node+", [A], NODE], 0], "section", "ops[2]"),
        patch_bad("a set beside a new node", [["node+", [A], NODE], ["set", [A, "p"], [], [1]]], "duplicate", "ops[1]"),
        patch_bad(
            "a flag beside a new node", [["node+", [A], NODE], ["flag", [A, "steps"], [], [1]]], "duplicate", "ops[1]"
        ),
        patch_bad(
            "a set beside a deleted node", [["node-", [A], NODE], ["set", [A, "p"], [1], []]], "duplicate", "ops[1]"
        ),
        patch_bad(
            "a retype beside a new node",
            [["node+", [A], NODE], ["retype", [A], [["t.a", 1]], [["t.b", 1]]]],
            "duplicate",
            "ops[1]",
        ),
        patch_bad(
            "a node deleted and made", [["node-", [A], NODE], ["node+", [A], ["t.b", 1, {}, {}]]], "duplicate", "ops[1]"
        ),
        patch_bad("an edge deleted and made", [link("edge-", *ab), link("edge+", *ab)], "duplicate", "ops[1]"),
        patch_bad(
            "order before duplicate", [link("edge-", *ab), link("edge+", *ab), ["node+", [A], NODE]], "order", "ops[2]"
        ),
        patch_bad("a raw secret in a set", [["set", [A, "p"], [], [{"secret": "x"}]]], "secret", "ops[0]"),
        patch_bad("a raw secret in an old value", [["set", [A, "p"], [{"secret": "x"}], []]], "secret", "ops[0]"),
        patch_bad(
            "a raw secret in a new node", [["node+", [A], ["t.a", 1, {"p": [{"secret": 1}]}, {}]]], "secret", "ops[0]"
        ),
        patch_bad(
            "a raw secret in a deleted node",
            [["node-", [A], ["t.a", 1, {"p": {"secret": "a"}}, {}]]],
            "secret",
            "ops[0]",
        ),
        patch_bad("a raw secret in the settings", [["graph", ["k"], [], [{"secret": ""}]]], "secret", "ops[0]"),
        patch_good("a param named secret", ["node+", [A], ["t.a", 1, {"secret": 1}, {}]]),
        patch_good("a secret by name", ["set", [A, "p"], [], [{"secret": "X"}]]),
        patch_good("what looks like a secret in an ancillary section", ["extra", [70], [], [{"secret": 1}]]),
    ]
