"""The vectors of `.igb` that show what holds for a graph as a whole: string table, order, ids, wires, secrets."""

from tests.spec.case import Case
from tests.spec.graphs import STRINGS, A, B, C, D, invalid, linked, valid, with_param


def twice(first: int, second: int) -> dict[int, object]:
    """Two nodes of one id; the edge that stands first has the name that sorts first when it is from the later node."""
    names = ["a", "b"] if first > second else ["b", "a"]
    rows = [[A, 0, 1, {}, {}], [A, 0, 1, {}, {}], [B, 0, 1, {}, {}]]
    return {3: ["t.a", names[0], "i", names[1]], 4: rows, 5: [[first, 1, 2, 2, 0], [second, 3, 2, 2, 1]]}


def rules() -> list[Case]:
    return [
        invalid("a string not used", {3: [*STRINGS, "x"]}, "string_table", "strings[4]"),
        invalid("a string twice", {3: [*STRINGS, "p"]}, "string_table", "strings[4]"),
        invalid(
            "a string twice, both used",
            {
                3: ["t.a", "p", "p"],
                4: [[A, 0, 1, {1: 5, 2: 5}, {}]],
                5: [],
            },
            "string_table",
            "strings[2]",
        ),
        invalid(
            "strings not in order of first use",
            {
                3: ["t.a", "o", "p", "i"],
                4: [[A, 0, 1, {2: 5}, {}], [B, 0, 1, {}, {}]],
                5: [[0, 1, 1, 3, 0]],
            },
            "string_table",
            "strings[1]",
        ),
        invalid(
            "an input before its output",
            {
                3: ["t.a", "p", "i", "o"],
                5: [[0, 3, 1, 2, 0]],
            },
            "string_table",
            "strings[2]",
        ),
        invalid(
            "param names first used in another order",
            {
                3: ["t.a", "b", "a"],
                4: [[A, 0, 1, {1: 0, 2: 0}, {}]],
                5: [],
            },
            "string_table",
            "strings[1]",
        ),
        valid(
            "param names sort by UTF-8, not by UTF-16",
            {
                3: ["t.a", "\uff5e", "\U0001f600"],
                4: [[A, 0, 1, {1: 0, 2: 0}, {}]],
                5: [],
            },
        ),
        invalid(
            "string table before order",
            {
                3: ["t.a", "x"],
                4: [[B, 0, 1, {}, {}], [A, 0, 1, {}, {}]],
                5: [],
            },
            "string_table",
            "strings[1]",
        ),
        invalid(
            "nodes not sorted", {3: ["t.a"], 4: [[B, 0, 1, {}, {}], [A, 0, 1, {}, {}]], 5: []}, "order", "nodes[1]"
        ),
        invalid("edges not sorted by source", linked([1, 1, 2, 2, 0], [0, 1, 2, 2, 1]), "order", "edges[1]"),
        invalid("edges not sorted by target", linked([0, 1, 2, 2, 0], [0, 1, 1, 2, 0]), "order", "edges[1]"),
        invalid("edges not sorted by slot", linked([0, 1, 1, 2, 1], [0, 1, 1, 2, 0]), "order", "edges[1]"),
        invalid(
            "edges not sorted by output",
            {
                **linked([0, 1, 1, 2, 0], [0, 3, 1, 2, 1]),
                3: ["t.a", "o", "i", "b"],
            },
            "order",
            "edges[1]",
        ),
        invalid(
            "edges not sorted by input",
            {
                **linked([0, 1, 1, 2, 0], [0, 1, 1, 3, 0]),
                3: ["t.a", "o", "i", "b"],
            },
            "order",
            "edges[1]",
        ),
        valid(
            "edges sort by each of their parts",
            {
                3: ["t.a", "o", "i", "j", "p"],
                4: [[n, 0, 1, {}, {}] for n in (A, B, C)],
                5: [
                    [0, 1, 1, 2, 0],
                    [0, 1, 1, 2, 1],
                    [0, 1, 1, 3, 0],
                    [0, 1, 2, 2, 0],
                    [0, 4, 1, 2, 2],
                    [1, 1, 2, 2, 1],
                ],
            },
        ),
        valid(
            "edges sort by names, not by indexes",
            {
                **linked([0, 1, 2, 2, 0], [1, 3, 2, 2, 1], [1, 1, 2, 2, 2]),
                3: ["t.a", "o", "i", "b"],
            },
        ),
        valid(
            "edges sort by UTF-8, not by UTF-16",
            {
                **linked([0, 1, 1, 2, 0], [0, 3, 1, 2, 1]),
                3: ["t.a", "\uff5e", "i", "\U0001f600"],
            },
        ),
        invalid(
            "a node twice", {3: ["t.a"], 4: [[A, 0, 1, {}, {}], [A, 0, 1, {}, {}]], 5: []}, "duplicate", "nodes[1]"
        ),
        invalid("an edge twice", linked([0, 1, 1, 2, 0], [0, 1, 1, 2, 0]), "duplicate", "edges[1]"),
        invalid("two edges at one input slot", linked([0, 1, 2, 2, 0], [1, 1, 2, 2, 0]), "duplicate", "edges[1]"),
        invalid(
            "an input slot taken ahead of an edge that stands twice",
            linked([0, 1, 2, 2, 0], [1, 1, 2, 2, 0], [1, 1, 2, 2, 0]),
            "duplicate",
            "edges[1]",
        ),
        invalid("edges sort by the node's place: order, though an id stands twice", twice(1, 0), "order", "edges[1]"),
        invalid("edges sort by the node's place: the id that stands twice", twice(0, 1), "duplicate", "nodes[1]"),
        invalid(
            "order before duplicate",
            {
                3: ["t.a"],
                4: [[B, 0, 1, {}, {}], [B, 0, 1, {}, {}], [A, 0, 1, {}, {}]],
                5: [],
            },
            "order",
            "nodes[2]",
        ),
        invalid("a position of no node", {64: {C: [0, 0]}}, "dangling", f"positions.{C}"),
        invalid("a label of no node", {65: {C: "x"}}, "dangling", f"labels.{C}"),
        invalid("a group of no node", {67: {D: ["", [A, C]]}}, "dangling", f"groups.{D}"),
        invalid("a position whose id is none", {64: {"x": [0, 0]}}, "dangling", "positions.x"),
        invalid("an edge to itself", linked([0, 1, 0, 2, 0]), "cycle", "edges"),
        invalid("a cycle of two", linked([0, 1, 1, 2, 0], [1, 1, 0, 2, 0]), "cycle", "edges"),
        invalid("a cycle behind a node", linked([0, 1, 1, 2, 0], [1, 1, 2, 2, 0], [2, 1, 1, 2, 1]), "cycle", "edges"),
        valid("a diamond", linked([0, 1, 1, 2, 0], [0, 1, 2, 2, 0], [1, 1, 3, 2, 0], [2, 1, 3, 2, 1], nodes=4)),
        invalid("dangling before cycle", {**linked([0, 1, 0, 2, 0]), 64: {D: [0, 0]}}, "dangling", f"positions.{D}"),
        invalid("a secret in the open", with_param({"secret": "sk-live"}), "secret", "nodes[0].params.p"),
        invalid("a secret that is no text", with_param({"secret": 1}), "secret", "nodes[0].params.p"),
        invalid("a secret's name in an array", with_param({"secret": ["A"]}), "secret", "nodes[0].params.p"),
        invalid("a secret's name of 65 bytes", with_param({"secret": "A" * 65}), "secret", "nodes[0].params.p"),
        invalid("a secret's name that is empty", with_param({"secret": ""}), "secret", "nodes[0].params.p"),
        invalid("a secret's name with a line end", with_param({"secret": "A\n"}), "secret", "nodes[0].params.p"),
        invalid("a secret and more", with_param({"secret": "A", "x": 1}), "secret", "nodes[0].params.p"),
        invalid("a secret in a list in a map", with_param({"a": [{"secret": "a"}]}), "secret", "nodes[0].params.p"),
        invalid("a secret under an int key", with_param({1: {"secret": "a"}}), "secret", "nodes[0].params.p"),
        valid("a setting named secret", {6: {"secret": "x"}}),
        invalid("a secret in the settings", {6: {"key": {"secret": "a"}}}, "secret", "settings.key"),
        invalid("cycle before secret", {**linked([0, 1, 0, 2, 0]), 6: {"key": {"secret": "a"}}}, "cycle", "edges"),
    ]
