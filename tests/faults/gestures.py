"""Random edits, seeded: ops that fit a graph as their author sees it. Edges lead to higher ids, never back."""

from random import Random
from typing import Any

from igc import patch
from igc.graph import Edge, Graph, Node
from igc.ops import Op, op_from_value
from tests.spec.case import ALPHABET

WORDS = ("alpha", "beta", "gamma", "δέλτα", "五", "🜁")


def op_of(*parts: Any) -> Op:
    """An op as its array says it."""
    return op_from_value(list(parts))


def mint(random: Random) -> str:
    return "".join(random.choices(ALPHABET, k=10))


def large_graph(nodes: int, seed: int = 1) -> Graph:
    """Pairs of a text and a template that uses it."""
    random = Random(seed)
    made: dict[str, Node] = {}
    edges: list[Edge] = []
    for _ in range(nodes // 2):
        source, target = sorted((mint(random), mint(random)))
        made[source] = Node(source, "text.input", 1, {"text": random.choice(WORDS)})
        made[target] = Node(target, "text.template", 1, {"template": "Say {value}."})
        edges.append(Edge(source, "text", target, "value"))
    ordered = dict(sorted(made.items()))
    positions = {name: (at % 50 * 320, at // 50 * 200) for at, name in enumerate(ordered)}
    return Graph(nodes=ordered, edges=tuple(sorted(edges)), positions=positions)


def gesture(random: Random, graph: Graph) -> list[Op]:
    """What one gesture of a person does: mostly a field, at times a node or an edge."""
    names = sorted(graph.nodes)
    kind = random.choices(("field", "add", "delete", "edge", "cut"), (60, 18, 6, 10, 6))[0]
    if kind == "add" or not names:
        return added(random)
    if kind == "delete":
        return list(patch.deletion(graph, random.choice(names)))
    if kind == "cut" and graph.edges:
        return [op_of("edge-", list(random.choice(graph.edges)))]
    if kind == "edge" and len(names) > 1:
        return connected(graph, *sorted(random.sample(names, 2)))
    return [field(random, graph, random.choice(names))]


def added(random: Random) -> list[Op]:
    name = mint(random)
    params = random.choice((["text.input", 1, {"text": ""}, {}], ["text.template", 1, {"template": "{value}"}, {}]))
    place = [random.randrange(1000), random.randrange(1000)]
    return [op_of("node+", [name], params), op_of("move", [name], [], [place])]


def connected(graph: Graph, source: str, target: str) -> list[Op]:
    """One that stands at that place of the input gives way."""
    made = Edge(source, "text", target, "value")
    if made in graph.edges:
        return []
    taken = [edge for edge in graph.edges if (edge.target, edge.input, edge.slot) == (target, "value", 0)]
    return [op_of("edge-", list(edge)) for edge in taken] + [op_of("edge+", list(made))]


def field(random: Random, graph: Graph, name: str) -> Op:
    """A param, a position, a label or a flag gets another value, or loses it."""
    kind = random.choice(("set", "set", "move", "label", "flag"))
    number = random.randrange(1, 1_000_000)
    old: object
    new: object = f"{random.choice(WORDS)} {number}"
    key = [name]
    if kind == "set":
        key, old = [name, "text"], graph.nodes[name].params.get("text")
    elif kind == "label":
        old = graph.labels.get(name)
    elif kind == "flag":
        key, old, new = [name, "steps"], graph.nodes[name].flags.get("steps"), number
    else:
        place = graph.positions.get(name)
        old, new = place and list(place), [number, -number]
    before, after = ([] if old is None else [old]), [new]
    if before and (before == after or random.random() < 0.15):
        after = []
    return op_of(kind, key, before, after)
