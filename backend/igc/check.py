"""What needs the catalogue: components, params, ports, types, names, flags. A finding is a value; nothing here raises.

A diagnosed graph opens, saves, diffs and merges; it does not compile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from dots.components import Catalogue, Component
from dots.shape import shown
from dots.spec import Port, Spec
from igc.graph import CONFLICTS, FLAGS, Edge, Graph, Node
from igc.ports import inputs_of, outputs_of, run_input, run_name, run_output

SETTINGS: Final[frozenset[str]] = frozenset()
"""Graph settings that mean something; none yet."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A mistake in a graph; `code` is the message's key, `field` a param, a port or a flag of the node."""

    code: str
    where: str
    node: str | None
    field: str | None
    expected: str
    got: str
    hint: str = ""


def check(graph: Graph, catalogue: Catalogue) -> list[Diagnostic]:
    """Every finding, in the order of the nodes, then of the edges, then of the graph."""
    found: list[Diagnostic] = []
    for name in sorted(graph.nodes):
        found += _node(graph.nodes[name], catalogue)
    known = {
        name: (node, catalogue[node.component].spec)
        for name, node in graph.nodes.items()
        if node.component in catalogue and catalogue[node.component].spec.version == node.version
    }
    for edge in sorted(graph.edges):
        found += _edge(edge, known)
    connected = {(edge.target, edge.input) for edge in graph.edges}
    for name in sorted(known):
        found += _missing(*known[name], connected)
    found += _names(known)
    for key in sorted(graph.settings.keys() - SETTINGS):
        found.append(Diagnostic("unknown_setting", f"settings.{key}", None, key, "no setting of this name", shown(key)))
    if CONFLICTS in graph.extra:
        found.append(
            Diagnostic(
                "open_conflicts", "conflicts", None, None, "no open conflicts", "some", "Choose a side for each."
            )
        )
    return found


def _at(node: Node, code: str, field: str | None, expected: str, got: object, hint: str = "") -> Diagnostic:
    where = f"nodes.{node.id}" + (f".{field}" if field is not None else "")
    return Diagnostic(code, where, node.id, field, expected, got[:80] if isinstance(got, str) else shown(got), hint)


def _node(node: Node, catalogue: Catalogue) -> Iterator[Diagnostic]:
    component = catalogue.get(node.component)
    if component is None:
        yield _at(node, "unknown_component", None, "a component of the catalogue", node.component)
        return
    if component.spec.version != node.version:
        yield _at(node, "unknown_version", None, f"{node.component} {component.spec.version}", str(node.version))
        return
    yield from _params(node, component)
    if not component.spec.budget.steps:
        for flag in sorted(node.flags.keys() & FLAGS.keys()):
            hint = "Only components that ask a model have limits."
            yield _at(node, "idle_flag", flag, "a component with limits", node.component, hint)


def _params(node: Node, component: Component) -> Iterator[Diagnostic]:
    try:
        component.spec.params.model_validate(dict(node.params))
    except ValidationError as error:
        for one in error.errors(include_url=False, include_context=False):
            field = str(one["loc"][0]) if one["loc"] else None
            if one["type"] == "extra_forbidden":
                expected = f"one of {', '.join(component.spec.params.model_fields) or 'no params'}"
                yield _at(node, "unknown_param", field, expected, field or "")
            elif one["type"] == "missing":
                yield _at(node, "missing_param", field, "a value", "nothing")
            else:
                yield _at(node, "bad_param", field, one["msg"].removeprefix("Input should be "), one["input"])


def _edge(edge: Edge, known: dict[str, tuple[Node, Spec]]) -> Iterator[Diagnostic]:
    output = entry = None
    if edge.source in known:
        node, spec = known[edge.source]
        output = outputs_of(spec).get(edge.output)
        if output is None or output.hidden:
            shown_ports = _listed(outputs_of(spec))
            yield _at(
                node, "unknown_output" if output is None else "hidden_port", edge.output, shown_ports, edge.output
            )
    if edge.target in known:
        node, spec = known[edge.target]
        ports = inputs_of(spec, node.params)
        entry = ports.get(edge.input)
        if entry is None or entry.hidden:
            yield _at(node, "unknown_input" if entry is None else "hidden_port", edge.input, _listed(ports), edge.input)
        elif edge.slot:
            yield _at(node, "one_edge_only", edge.input, "one edge", f"an edge at place {edge.slot}")
        elif output is not None and not entry.type.accepts(output.type):
            hint = f"{edge.source}.{edge.output} gives {output.type}."
            yield _at(node, "type_mismatch", edge.input, entry.type.value, output.type.value, hint)


def _listed(ports: dict[str, Port]) -> str:
    names = [name for name, port in ports.items() if not port.hidden]
    return f"one of {', '.join(names)}" if names else "no edge here"


def _missing(node: Node, spec: Spec, connected: set[tuple[str, str]]) -> Iterator[Diagnostic]:
    for port in inputs_of(spec, node.params).values():
        if port.required and not port.hidden and (node.id, port.name) not in connected:
            yield _at(node, "missing_input", port.name, port.type.value, "no edge", "Connect an output to this input.")


def _names(known: dict[str, tuple[Node, Spec]]) -> Iterator[Diagnostic]:
    """Run inputs and run outputs each have names of their own; a disabled node takes none."""
    for kind, port_of in (("input", run_input), ("output", run_output)):
        taken: dict[str, str] = {}
        for name in sorted(known):
            node, spec = known[name]
            called = run_name(spec, node.params) if port_of(spec) is not None else None
            if not isinstance(called, str) or "disabled" in node.flags:
                continue
            if called in taken:
                hint = f"{taken[called]} has this name too."
                yield _at(node, "duplicate_name", "name", f"a name that no other {kind} of the run has", called, hint)
            taken.setdefault(called, name)
