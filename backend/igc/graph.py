"""A graph as `docs/formats.md` §2 defines it: frozen values, and the rules that hold for any graph without a catalogue.

Readers and patches build graphs; nothing changes one. Values of params are never changed in place either.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from dots.codec import Value
from dots.shape import LIMITS, MAX_VERSION, array, component, integer, node_id, port, section, text, text_map
from dots.shape import Invalid as Invalid

MAX_NODES: Final = 20_000
MAX_EDGES: Final = 60_000
MAX_PLACE: Final = 1_000_000
CONFLICTS: Final = 68  # the first section that only `extra` covers
FLAGS: Final = LIMITS

Flags = Mapping[str, Value]
Position = tuple[int, int]
Note = tuple[int, int, int, int, str]
Group = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    component: str
    version: int
    params: Mapping[str, Value] = field(default_factory=dict)
    flags: Flags = field(default_factory=dict)


class Edge(NamedTuple):
    """From an output to an input. As a tuple it sorts as the file does: code points order as UTF-8 does."""

    source: str
    output: str
    target: str
    input: str
    slot: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()  # sorted
    settings: Mapping[str, Value] = field(default_factory=dict)
    positions: Mapping[str, Position] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    extra: Mapping[int, Value] = field(default_factory=dict)  # sections 68 and above


def flags_of(value: Value, path: str) -> Flags:
    found = text_map(value, path)
    for name, flag in found.items():
        if name == "disabled":
            if flag is not True:
                raise section(f"{path}.disabled", "true", flag)
        elif name in FLAGS:
            integer(flag, f"{path}.{name}", 1, FLAGS[name])
        else:
            raise section(f"{path}.{name}", "disabled, steps, kv or seconds", name)
    return found


def position_of(value: Value, path: str) -> Position:
    x, y = array(value, path, 2)
    return integer(x, path, -MAX_PLACE, MAX_PLACE), integer(y, path, -MAX_PLACE, MAX_PLACE)


def label_of(value: Value, path: str) -> str:
    return text(value, path, 1, 200)


def note_of(value: Value, path: str) -> Note:
    x, y, width, height, body = array(value, path, 5)
    return (
        integer(x, path, -MAX_PLACE, MAX_PLACE),
        integer(y, path, -MAX_PLACE, MAX_PLACE),
        integer(width, path, 1, MAX_PLACE),
        integer(height, path, 1, MAX_PLACE),
        text(body, path, 0, 20_000),
    )


def group_of(value: Value, path: str) -> Group:
    label, ids = array(value, path, 2)
    members = tuple(text(entry, path) for entry in array(ids, path))
    if not members or any(a >= b for a, b in pairwise(members)):
        raise section(path, "at least one member, sorted, each once", list(members))
    return text(label, path, 0, 200), members


def extra_of(number: int, value: Value, path: str) -> Value:
    if number == CONFLICTS and not array(value, path):
        raise section(path, "a non-empty array", value)
    return value


def node_of(name: str, value: Value, path: str) -> Node:
    """A node from its semantic value, names as text."""
    kind, version, params, flags = array(value, path, 4)
    return Node(
        name,
        component(kind, path),
        integer(version, path, 1, MAX_VERSION),
        {port(param, path): entry for param, entry in text_map(params, path).items()},
        flags_of(flags, path),
    )


def edge_of(value: Value, path: str) -> Edge:
    source, output, target, entry, slot = array(value, path, 5)
    return Edge(
        node_id(source, path), port(output, path), node_id(target, path), port(entry, path), integer(slot, path, 0, 255)
    )


def check_count(path: str, count: int, most: int) -> None:
    if count > most:
        raise section(path, f"at most {most}", count)


def check_dangling(graph: Graph) -> None:
    """Sections keyed by node ids name nodes that are there; edges are looked at by whoever builds them from ids."""
    for name in graph.positions:
        if name not in graph.nodes:
            raise Invalid("dangling", f"positions.{name}", "a node of this graph", name)
    for name in graph.labels:
        if name not in graph.nodes:
            raise Invalid("dangling", f"labels.{name}", "a node of this graph", name)
    for name, (_, members) in graph.groups.items():
        for member in members:
            if member not in graph.nodes:
                raise Invalid("dangling", f"groups.{name}", "members that are nodes of this graph", member)


def check_cycle(names: Iterable[str], edges: Iterable[Edge]) -> None:
    """Kahn's walk; what it cannot reach lies on a cycle or behind one."""
    waiting = dict.fromkeys(names, 0)
    following: dict[str, list[str]] = {name: [] for name in waiting}
    for edge in edges:
        waiting[edge.target] += 1
        following[edge.source].append(edge.target)
    ready = [name for name, count in waiting.items() if not count]
    reached = 0
    while ready:
        reached += 1
        for target in following[ready.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if reached != len(waiting):
        stuck = min(name for name, count in waiting.items() if count)
        raise Invalid("cycle", "edges", "no path from a node back to it", f"a cycle before {stuck}")
