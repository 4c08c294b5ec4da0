"""Which changes a diagnostic of a merged graph may come from: rather one too many than none."""

from collections.abc import Iterable
from typing import Final

from dots.components import Catalogue
from igc.check import Diagnostic
from igc.graph import Edge, Graph, Node
from igc.ops import Key
from igc.ports import run_name

OF_EDGES: Final = frozenset(("unknown_input", "unknown_output", "hidden_port", "one_edge_only", "type_mismatch"))
MEANING: Final = frozenset(("node", "edge", "retype", "set", "flag", "graph"))


class Blame:
    """The changes of both sides by the node they are at, and the edges of the merged graph by their ends."""

    def __init__(self, graph: Graph, theirs: Iterable[Key], ours: Iterable[Key], catalogue: Catalogue) -> None:
        self.graph = graph
        self.catalogue = catalogue
        self.theirs, self.ours = by_node(theirs), by_node(ours)
        self.ports: dict[tuple[str, str | None], list[Edge]] = {}
        for edge in graph.edges:
            self.ports.setdefault((edge.source, edge.output), []).append(edge)
            self.ports.setdefault((edge.target, edge.input), []).append(edge)

    def of(self, one: Diagnostic) -> tuple[list[Key], list[Key]]:
        """What of theirs a diagnostic comes from, and what of ours stands near it."""
        edges = self.ports.get((one.node, one.field), []) if one.node is not None else []
        near = {end for edge in edges for end in (edge.source, edge.target)} | {one.node or ""}
        if one.code == "duplicate_name":
            near |= {name for name, node in self.graph.nodes.items() if self.called(node) == one.got}
        close = [key for name in sorted(near) for key in self.theirs.get(name, ())]
        against = [key for name in sorted(near) for key in self.ours.get(name, ())]
        slots: set[Key] = {edge[2:] for edge in edges}
        for tier in (
            [key for key in close if key[0] == "edge" and self.at_port(key, one, slots)],
            [key for key in close if key[0] != "edge" and self.concerns(key, one)],
            close,
        ):
            if tier:
                return tier, against
        return [key for keys in self.theirs.values() for key in keys], against

    def called(self, node: Node) -> object:
        """The name that a node takes in a run, if its component has one."""
        component = self.catalogue.get(node.component)
        named = component is not None and "name" in component.spec.params.model_fields
        return run_name(component.spec, node.params) if component is not None and named else None

    def at_port(self, key: Key, one: Diagnostic, slots: set[Key]) -> bool:
        if one.code == "missing_input":
            return key[1:3] == (one.node, one.field)
        return one.code in OF_EDGES and key[1:] in slots

    def concerns(self, key: Key, one: Diagnostic) -> bool:
        kind, *rest = key
        if kind in ("node", "retype"):
            return True
        if kind == "graph":
            return rest == [one.field]
        if one.code == "duplicate_name":
            return rest[1] == "name"
        node = self.graph.nodes.get(str(rest[0]))
        component = None if node is None else self.catalogue.get(node.component)
        template = None if component is None else component.spec.template
        return rest[1] in (one.field, template) or (rest[0] == one.node and one.field is None)


def by_node(keys: Iterable[Key]) -> dict[str, list[Key]]:
    """Keys of changes that mean something by the node they are at; those at none under the empty text."""
    found: dict[str, list[Key]] = {}
    for key in keys:
        if key[0] in MEANING:
            found.setdefault("" if key[0] == "graph" else str(key[1]), []).append(key)
    return found
