"""Three-way merge of graphs, per field and edge (docs/formats.md §6).

A result is always a valid graph: ours and what of theirs does not collide with it. What would dangle, cycle or bring a
diagnostic that neither side had is kept out and named. Keeping one thing out may make another stand alone, so the
result is built anew until nothing more has to be kept out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dots import codec
from dots.components import Catalogue
from igc.blame import Blame
from igc.check import Diagnostic, check
from igc.conflicts import Conflict, merged_section, with_section
from igc.cycles import on_cycles
from igc.graph import CONFLICTS, Edge, Graph, Invalid, Node
from igc.ops import Key, Maybe, value_at, value_of
from igc.patch import apply_ops, diff_ops
from igc.three_way import ThreeWay

MAX_ROUNDS: Final = 24  # then all of theirs is kept out: a chain of things that need each other can be long

End = tuple[str, str]
Slot = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Merge:
    graph: Graph
    conflicts: tuple[Conflict, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.conflicts


def merge3(base: Graph, ours: Graph, theirs: Graph, catalogue: Catalogue | None = None) -> Merge:
    """Both sides' changes to `base` in one graph. With a catalogue what no longer fits by type is a conflict too.

    Raises Invalid when ours has no room left for a conflict.
    """
    merging = Merging(base, ours, theirs)
    graph = merging.settled(catalogue)
    conflicts = tuple(sorted(merging.conflicts.values(), key=lambda one: codec.encode(one.key)))
    for with_values in (True, False):
        try:
            return Merge(valid(ours, with_section(graph, conflicts, with_values)), conflicts)
        except (Invalid, codec.Unencodable):
            continue
    rest = Conflict("size", ("graph",), (), (), ())  # together they are more than one file holds
    return Merge(valid(ours, with_section(ours, [rest])), (rest,))


def valid(ours: Graph, result: Graph) -> Graph:
    """The result, looked at as any patched graph is."""
    return apply_ops(ours, diff_ops(ours, result))


class Merging(ThreeWay):
    """One merge in the making: nodes, edges, and what does not go together. `merge3` owns it."""

    def __init__(self, base: Graph, ours: Graph, theirs: Graph) -> None:
        super().__init__(base, ours, theirs)
        self.slots = tuple(inputs(graph) for graph in (base, ours, theirs))

    # Rounds

    def settled(self, catalogue: Catalogue | None) -> Graph:
        had: frozenset[Diagnostic] = frozenset()
        if catalogue is not None:
            had = frozenset((*check(self.ours, catalogue), *check(self.theirs, catalogue)))
        for _ in range(MAX_ROUNDS):
            graph = self.built()
            if self.dangling(graph) or self.cycles(graph):
                continue
            if catalogue is None or not self.mistyped(graph, catalogue, had):
                return graph
        for key in list(self.taken):
            self.keep_out("rest", key)
        return self.ours

    def built(self) -> Graph:
        while True:  # a conflict found late may concern what was built before it
            before = len(self.conflicts)
            self.taken = {}
            graph = self.build()
            if len(self.conflicts) == before:
                return graph

    def build(self) -> Graph:
        base, ours, theirs = self.base, self.ours, self.theirs
        nodes = {name: node for name in self.names("nodes") if (node := self.node(name)) is not None}
        merged = {slot: end for slot in sorted(self.all_slots()) if (end := self.edge(slot))}
        extra = self.fields("extra", (), *(plain_extra(graph) for graph in (base, ours, theirs)))
        open_before = merged_section(base.extra, ours.extra, theirs.extra)
        return Graph(
            nodes,
            tuple(sorted(Edge(end[0][0], end[0][1], slot[0], slot[1], slot[2]) for slot, end in merged.items())),
            self.fields("graph", (), base.settings, ours.settings, theirs.settings),
            {name: at[0] for name in nodes if (at := self.position(name))},
            {name: label[0] for name in nodes if (label := self.label(name))},
            {name: note[0] for name in self.names("notes") if (note := self.note(name))},
            {name: group[0] for name in self.names("groups") if (group := self.group(name, nodes))},
            {**extra, CONFLICTS: open_before} if open_before else extra,
        )

    def all_slots(self) -> set[Slot]:
        return {slot for side in self.slots for slot in side}

    # Nodes and edges

    def node(self, name: str) -> Node | None:
        base, ours, theirs = (graph.nodes.get(name) for graph in (self.base, self.ours, self.theirs))
        key, sides = ("node", name), (semantic(base), semantic(ours), semantic(theirs))
        if base is not None and ours is not None and theirs is not None:
            return self.kept(base, ours, theirs)
        if base is None and (ours is None or theirs is None):
            if ours is None and key not in self.conflicts:
                self.took(key, *sides)
                return theirs
            return ours
        if key in self.conflicts or codec.same(sides[1], sides[2]):
            return ours
        if base is None or not codec.same(sides[0], sides[1] or sides[2]):
            self.conflict("add" if base is None else "delete", key, *sides)
            return ours
        if ours is not None:
            self.took(key, *sides)
        return None

    def kept(self, base: Node, ours: Node, theirs: Node) -> Node:
        """A node that all three have."""
        key: Key = ("retype", base.id)
        kinds: tuple[Maybe, ...] = tuple(([node.component, node.version],) for node in (base, ours, theirs))
        flags = self.fields("flag", (base.id,), base.flags, ours.flags, theirs.flags)
        if kinds[1] == kinds[2]:
            params = self.fields("set", (base.id,), base.params, ours.params, theirs.params)
            return replace(ours, params=params, flags=flags)
        if kinds[1] == kinds[0] and codec.same(ours.params, base.params) and not self.any_set(base, theirs):
            if key not in self.conflicts:  # params go with the component they are for
                self.took(key, *kinds)
                return replace(theirs, flags=flags)
        elif kinds[2] != kinds[0]:
            self.conflict("modify" if kinds[1] != kinds[0] else "retype", key, *kinds)
        for param in sorted({*base.params, *theirs.params}):
            old, mine, other = (value_at(node.params, param) for node in (base, ours, theirs))
            if not codec.same(old, other) and not codec.same(mine, other):
                self.conflict("retype", ("set", base.id, param), old, mine, other, [key])
        return replace(ours, flags=flags)

    def any_set(self, *nodes: Node) -> bool:
        """Whether one of these params is in conflict."""
        return any(("set", node.id, param) in self.conflicts for node in nodes for param in node.params)

    def edge(self, slot: Slot) -> Maybe:
        """Where an input comes from. What one side took away gives way to what the other put there."""
        base, ours, theirs = (end_at(side, slot) for side in self.slots)
        key: Key = ("edge", *slot)
        if base and not theirs and self.stays(base[0][0], slot[0]):
            theirs = base
        if key in self.conflicts or theirs == base or ours == theirs:
            return ours
        if ours == base or not ours:
            return self.took(key, base, ours, theirs)
        if theirs:
            self.conflict("input", key, base, ours, theirs)
        return ours

    def stays(self, source: str, target: str) -> bool:
        """Whether an edge went only because theirs took away a node that is kept, and its other end is there."""
        gone = [end for end in (source, target) if end not in self.theirs.nodes]
        return bool(gone) and all(("node", end) in self.conflicts for end in gone)

    # What does not go together

    def dangling(self, graph: Graph) -> bool:
        """Keep out edges of theirs to nodes that ours took away, and deletions of nodes that ours has put to use."""
        before = len(self.conflicts)
        for edge in graph.edges:
            slot = edge[2:]
            for end in {edge.source, edge.target} - graph.nodes.keys():
                if end_at(self.slots[1], slot) == (edge[:2],):
                    self.keep_out("dangling", ("node", end), [("edge", *slot)])
                else:
                    self.keep_out("dangling", ("edge", *slot), [("node", end)])
        return len(self.conflicts) > before

    def cycles(self, graph: Graph) -> bool:
        """Keep out the edges of theirs on a cycle, naming ours on it."""
        before = len(self.conflicts)
        for edges in on_cycles(graph.nodes, graph.edges):
            mine = sorted(edge for edge in edges if end_at(self.slots[1], edge[2:]) == (edge[:2],))
            added: list[Key] = [("edge", *edge[2:]) for edge in mine if end_at(self.slots[0], edge[2:]) != (edge[:2],)]
            for edge in set(edges).difference(mine):
                self.keep_out("cycle", ("edge", *edge[2:]), added)
        return len(self.conflicts) > before

    def mistyped(self, graph: Graph, catalogue: Catalogue, had: frozenset[Diagnostic]) -> bool:
        """Keep out what of theirs brings a diagnostic that neither side had.

        An input that is empty as something else was kept out shows by itself; what follows it is no reason to go too.
        """
        new = [one for one in check(graph, catalogue) if one not in had]
        if self.conflicts:
            new = [one for one in new if one.code != "missing_input"]
        if new:
            blame = Blame(graph, self.taken, self.changed_by_ours(), catalogue)
            for one in new:
                theirs, ours = blame.of(one)
                for key in theirs:
                    self.keep_out(one.code, key, ours)
        return bool(new)

    def changed_by_ours(self) -> Iterator[Key]:
        for op in diff_ops(self.base, self.ours):
            if op.kind in ("edge-", "edge+"):
                yield ("edge", *op.key[2:])
            elif op.kind in ("node-", "node+"):
                yield ("node", *op.key)
            elif op.kind in ("retype", "set", "flag"):
                yield (op.kind, *op.key)


def inputs(graph: Graph) -> dict[Slot, End]:
    return {(edge.target, edge.input, edge.slot): (edge.source, edge.output) for edge in graph.edges}


def end_at(ends: Mapping[Slot, End], slot: Slot) -> tuple[End, ...]:
    return (ends[slot],) if slot in ends else ()


def semantic(node: Node | None) -> Maybe:
    return () if node is None else (value_of(node),)


def plain_extra(graph: Graph) -> dict[int, codec.Value]:
    return {key: value for key, value in graph.extra.items() if key != CONFLICTS}
