"""Builders for tests: the smallest graphs that say what a test needs. Ids come from short names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dots import notation
from dots.codec import Value
from igc import igb, patch
from igc.graph import Edge, Graph, Group, Node, Note, Position

LETTERS = str.maketrans({"i": "1", "l": "1", "o": "0", "u": "v"})


def nid(name: str) -> str:
    """The id of a short name: `nid("gen")` is "0000000gen". Letters that ids lack become ones that look alike."""
    return name.translate(LETTERS).rjust(10, "0")


def node(
    name: str, component: str, params: Mapping[str, Value] | None = None, version: int = 1, **flags: Value
) -> Node:
    return Node(nid(name), component, version, params or {}, flags)


def edge(text: str, slot: int = 0) -> Edge:
    """`edge("in.text > gen.prompt")`."""
    (source, output), (target, entry) = (end.strip().split(".") for end in text.split(">"))
    return Edge(nid(source), output, nid(target), entry, slot)


def graph(
    *nodes: Node,
    edges: tuple[str | Edge, ...] = (),
    settings: Mapping[str, Value] | None = None,
    positions: Mapping[str, Position] | None = None,
    labels: Mapping[str, str] | None = None,
    notes: Mapping[str, Note] | None = None,
    groups: Mapping[str, Group] | None = None,
    extra: Mapping[int, Value] | None = None,
) -> Graph:
    """A graph that has been through its file once; ids of sections are short names."""
    made = Graph(
        {n.id: n for n in sorted(nodes, key=lambda n: n.id)},
        tuple(sorted(e if isinstance(e, Edge) else edge(e) for e in edges)),
        settings or {},
        {nid(name): value for name, value in (positions or {}).items()},
        {nid(name): value for name, value in (labels or {}).items()},
        {nid(name): value for name, value in (notes or {}).items()},
        {nid(k): (label, tuple(sorted(map(nid, members)))) for k, (label, members) in (groups or {}).items()},
        extra or {},
    )
    return igb.read(igb.write(made))


def chat() -> Graph:
    """Input, template, model, output: the flow that most tests need."""
    return graph(
        node("in", "text.input", {"text": "Good morning"}),
        node("tpl", "text.template", {"template": "Answer briefly: {text}"}),
        node("gen", "llm.generate", {"max_tokens": 8}),
        node("out", "flow.output"),
        edges=("in.text > tpl.text", "tpl.text > gen.prompt", "gen.text > out.value"),
        positions={"in": (0, 0), "tpl": (280, 0), "gen": (560, 0), "out": (840, 0)},
        labels={"gen": "Answer"},
    )


def edited(*ops: list[Any], of: Graph | None = None) -> Graph:
    """A graph after ops of the last writer; `chat()` where none is given."""
    now = chat() if of is None else of
    for op in ops:
        now, _ = patch.apply_op(now, patch.op_from_value(op))
    return now


def parse(text: str) -> tuple[Graph, tuple[str, ...]]:
    """A graph in lines: `node NAME COMPONENT`, then `param = value` or `!flag = value`; `edge a.x > b.y`; `target`."""
    nodes: list[Node] = []
    edges: list[str] = []
    targets: list[str] = []
    for line in filter(None, text.splitlines()):
        word, _, rest = line.strip().partition(" ")
        if word == "node":
            name, kind = rest.split()
            nodes.append(node(name, kind))
        elif word == "edge":
            edges.append(rest)
        elif word == "target":
            targets.append(nid(rest))
        elif not word.startswith(";"):
            last, value = nodes.pop(), notation.parse(rest.removeprefix("= "), line)
            added = {word.removeprefix("!"): value}
            changed = {"flags": {**last.flags, **added}} if word[0] == "!" else {"params": {**last.params, **added}}
            nodes.append(replace(last, **changed))  # type: ignore[arg-type]
    return graph(*nodes, edges=tuple(edges)), tuple(targets)
