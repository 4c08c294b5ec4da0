"""A graph in the making: ops fall on it one by one, and the result is a valid graph or an error."""

from dataclasses import replace
from typing import Any

from dots import codec
from dots.codec import Unencodable
from dots.shape import Invalid, section, shown
from igc import igb
from igc.graph import (
    MAX_EDGES,
    MAX_NODES,
    Edge,
    Graph,
    Node,
    check_count,
    check_cycle,
    check_dangling,
    node_of,
)
from igc.ops import Maybe, Op, Stale, value_at, value_of


class Draft:
    """A graph in the making; one call of `apply_ops` owns it."""

    def __init__(self, graph: Graph) -> None:
        self.base = graph
        self.nodes = dict(graph.nodes)
        self.edges = set(graph.edges)
        self.fields: dict[str, dict[Any, Any]] = {  # by the kind of their ops, in the order of Graph's own fields
            "graph": dict(graph.settings),
            "move": dict(graph.positions),
            "label": dict(graph.labels),
            "note": dict(graph.notes),
            "group": dict(graph.groups),
            "extra": dict(graph.extra),
        }

    def apply(self, op: Op) -> None:
        if op.kind in ("edge-", "edge+"):
            self._edge(op)
        elif op.kind in ("node-", "node+"):
            self._node(op)
        elif op.kind in self.fields:
            self._compare(op, self.field(op))
            _put(self.fields[op.kind], op.key[0], op.new)
        else:
            self._compare(op, self.field(op))
            self._semantic(op)

    def field(self, op: Op) -> Maybe:
        """What stands at an op's key now."""
        if op.kind in self.fields:
            return value_at(self.fields[op.kind], op.key[0])
        node = self._known(op)
        if op.kind == "retype":
            return ([node.component, node.version],)
        return value_at(node.params if op.kind == "set" else node.flags, str(op.key[1]))

    def graph(self) -> Graph:
        """The result, if it is a valid graph."""
        check_count("nodes", len(self.nodes), MAX_NODES)
        check_count("edges", len(self.edges), MAX_EDGES)
        edges = tuple(sorted(self.edges))
        result = Graph(
            {name: self.nodes[name] for name in sorted(self.nodes)},
            edges,
            *(dict(sorted(values.items())) for values in self.fields.values()),
        )
        for edge in edges:
            if edge.source not in self.nodes or edge.target not in self.nodes:
                raise Invalid("dangling", "edges", "ends that are nodes of this graph", ".".join(map(str, edge)))
        check_dangling(result)
        taken: set[tuple[str, str, int]] = set()
        for edge in edges:
            if edge[2:] in taken:
                raise Invalid("duplicate", "edges", "one edge an input slot", f"{edge.target}.{edge.input}")
            taken.add(edge[2:])
        if self.edges - set(self.base.edges):
            check_cycle(result.nodes, edges)
        try:
            igb.write(result)
        except Unencodable as error:
            raise section("file", error.expected, error.got) from error
        return result

    def _edge(self, op: Op) -> None:
        edge = Edge(*op.key)  # type: ignore[arg-type]  # the key of an edge op is an edge
        if op.kind == "edge+":
            if edge in self.edges:
                raise Invalid("duplicate", op.where, "an edge that is not there", "one that is")
            self.edges.add(edge)
            return
        if edge not in self.edges:
            raise Stale(op.where, "an edge that is there", "none")
        self.edges.remove(edge)

    def _node(self, op: Op) -> None:
        name = str(op.key[0])
        if op.kind == "node+":
            if name in self.nodes:
                raise Invalid("duplicate", op.where, "a new id", "one that is there")
            self.nodes[name] = node_of(name, op.new[0], op.where)
            return
        self._compare(op, (value_of(self._known(op)),))
        del self.nodes[name]

    def _semantic(self, op: Op) -> None:
        node = self.nodes[str(op.key[0])]
        if op.kind == "retype":
            retyped = node_of(node.id, [*op.new[0], {}, {}], op.where)
            self.nodes[node.id] = replace(node, component=retyped.component, version=retyped.version)
            return
        values = dict(node.params if op.kind == "set" else node.flags)
        _put(values, str(op.key[1]), op.new)
        self.nodes[node.id] = replace(node, params=values) if op.kind == "set" else replace(node, flags=values)

    def _known(self, op: Op) -> Node:
        node = self.nodes.get(str(op.key[0]))
        if node is None:
            raise Invalid("dangling", op.where, "a node of this graph", "an id that is not there")
        return node

    def _compare(self, op: Op, there: Maybe) -> None:
        if not codec.same(there, op.old):
            raise Stale(op.where, *(shown(side[0]) if side else "nothing" for side in (op.old, there)))


def _put(values: dict[Any, Any], key: str | int, new: Maybe) -> None:
    if new:
        values[key] = new[0]
    else:
        values.pop(key, None)
