"""Reading and writing `.igb` (docs/formats.md §2). Reading is validating: it accepts just what `write` gives."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from dots import codec
from dots.codec import Malformed as Malformed
from dots.codec import Value
from dots.shape import (
    MAX_VERSION,
    array,
    component,
    integer,
    no_raw_secret,
    node_id,
    port,
    section,
    shown,
    text,
    text_map,
    uint_map,
)
from igc.graph import (
    MAX_EDGES,
    MAX_NODES,
    Edge,
    Graph,
    Node,
    check_count,
    check_cycle,
    check_dangling,
    extra_of,
    flags_of,
    group_of,
    label_of,
    note_of,
    position_of,
)
from igc.graph import Invalid as Invalid

MAGIC: Final = b"\x89IGB\r\n\x1a\n"
FORMAT, FEATURES, STRINGS, NODES, EDGES, SETTINGS = 0, 1, 3, 4, 5, 6
POSITIONS, LABELS, NOTES, GROUPS, CONFLICTS = 64, 65, 66, 67, 68
REQUIRED: Final = (FORMAT, STRINGS, NODES, EDGES)
SEMANTIC: Final = (FORMAT, FEATURES, STRINGS, NODES, EDGES, SETTINGS)
FIRST_ANCILLARY: Final = 64


class Hashes(NamedTuple):
    sem: bytes
    file: bytes


def item(data: bytes, magic: bytes) -> dict[int, Value]:
    """The map behind the magic of a file; offsets of errors count from the file's first byte."""
    if data[: len(magic)] != magic:
        raise Invalid("magic", "file", magic.hex(" "), data[: len(magic)].hex(" ") or "no bytes")
    try:
        value = codec.decode(data[len(magic) :])
    except Malformed as error:
        raise Malformed(error.code, error.offset + len(magic), error.expected, error.got) from None
    return uint_map(value, "file")


def check_format(
    sections: Mapping[int, Value], known: Iterable[int], required: Iterable[int], closed_below: float
) -> None:
    """The version of the format, then its keys: an unknown one below `closed_below` and a missing one are refused."""
    if FORMAT in sections:
        version = sections[FORMAT]
        if not isinstance(version, list) or len(version) != 2 or any(type(n) is not int or n < 0 for n in version):
            raise Invalid("version", "format", "[major, minor]", shown(version))
        if version[0] != 1:
            raise Invalid("version", "format", "major 1", str(version[0]))
    for key in sections:
        if key < closed_below and key not in known:
            raise Invalid("key", str(key), "a known section", f"section {key}")
    for key in required:
        if key not in sections:
            raise Invalid("key", str(key), f"section {key}", "none")


def read(data: bytes) -> Graph:
    """The graph in a file; raises Malformed or Invalid."""
    sections = item(data, MAGIC)
    check_format(sections, SEMANTIC, REQUIRED, FIRST_ANCILLARY)
    if FEATURES in sections:
        refuse_features(sections[FEATURES])
    strings = [text(entry, f"strings[{at}]") for at, entry in enumerate(array(sections[STRINGS], "strings"))]
    rows = array(sections[NODES], "nodes")
    check_count("nodes", len(rows), MAX_NODES)
    nodes = [_node(row, f"nodes[{at}]", strings) for at, row in enumerate(rows)]
    rows = array(sections[EDGES], "edges")
    check_count("edges", len(rows), MAX_EDGES)
    links = [_link(row, f"edges[{at}]", strings, len(nodes)) for at, row in enumerate(rows)]
    edges = [Edge(nodes[link.source].id, link.output, nodes[link.target].id, link.input, link.slot) for link in links]
    graph = Graph(
        {node.id: node for node in nodes},
        tuple(edges),
        _filled(sections, SETTINGS, "settings"),
        {
            name: position_of(value, f"positions.{name}")
            for name, value in _filled(sections, POSITIONS, "positions").items()
        },
        {name: label_of(value, f"labels.{name}") for name, value in _filled(sections, LABELS, "labels").items()},
        {
            node_id(name, f"notes.{name}"): note_of(value, f"notes.{name}")
            for name, value in _filled(sections, NOTES, "notes").items()
        },
        {
            node_id(name, f"groups.{name}"): group_of(value, f"groups.{name}")
            for name, value in _filled(sections, GROUPS, "groups").items()
        },
        {key: extra_of(key, value, "conflicts") for key, value in sections.items() if key >= CONFLICTS},
    )
    _check_table(strings, nodes, edges)
    _check_order(nodes, links)
    _check_duplicates(nodes, edges)
    check_dangling(graph)
    check_cycle(graph.nodes, graph.edges)
    check_secrets(graph)
    return graph


def refuse_features(value: Value) -> None:
    features = [text(entry, "features") for entry in array(value, "features")]
    if not features or any(a >= b for a, b in pairwise(features)):
        raise section("features", "a non-empty array, sorted, each once", features)
    raise Invalid("feature", "features[0]", "no required feature", shown(features[0]))


def _filled(sections: Mapping[int, Value], key: int, name: str) -> dict[str, Value]:
    """A section that is absent when empty."""
    if key not in sections:
        return {}
    found = text_map(sections[key], name)
    if not found:
        raise section(name, "at least one entry, or no section", found)
    return found


def _named(index: Value, path: str, strings: list[str]) -> str:
    return strings[integer(index, path, 0, len(strings) - 1)]


def _node(row: Value, path: str, strings: list[str]) -> Node:
    name, kind, version, params, flags = array(row, path, 5)
    where = f"{path}.params"
    return Node(
        node_id(name, f"{path}.id"),
        component(_named(kind, f"{path}.component", strings), f"{path}.component"),
        integer(version, f"{path}.version", 1, MAX_VERSION),
        {port(_named(key, where, strings), where): entry for key, entry in uint_map(params, where).items()},
        flags_of(flags, f"{path}.flags"),
    )


class Link(NamedTuple):
    """An edge between places of nodes. The file sorts by these, which an id that stands twice cannot do."""

    source: int
    output: str
    target: int
    input: str
    slot: int


def _link(row: Value, path: str, strings: list[str], num_nodes: int) -> Link:
    source, output, target, entry, slot = array(row, path, 5)
    return Link(
        integer(source, f"{path}.source", 0, num_nodes - 1),
        port(_named(output, f"{path}.output", strings), f"{path}.output"),
        integer(target, f"{path}.target", 0, num_nodes - 1),
        port(_named(entry, f"{path}.input", strings), f"{path}.input"),
        integer(slot, f"{path}.slot", 0, 255),
    )


def _walk(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Every use of a string, in the order of the table."""
    for node in nodes:
        yield node.component
        yield from sorted(node.params)
    for edge in edges:
        yield edge.output
        yield edge.input


def _check_table(strings: list[str], nodes: list[Node], edges: list[Edge]) -> None:
    expected = list(dict.fromkeys(_walk(nodes, edges)))
    if strings != expected:
        at = next((n for n, (a, b) in enumerate(zip(strings, expected, strict=False)) if a != b), len(expected))
        raise Invalid("string_table", f"strings[{at}]", "each string once, in order of first use", shown(strings[at]))


def _check_order(nodes: list[Node], links: list[Link]) -> None:
    for at, (before, node) in enumerate(pairwise(nodes), 1):
        if node.id < before.id:
            raise Invalid("order", f"nodes[{at}]", "nodes sorted by id", f"{node.id} after {before.id}")
    for at, (last, link) in enumerate(pairwise(links), 1):
        if link < last:
            source = nodes[link.source].id
            raise Invalid("order", f"edges[{at}]", "edges sorted", f"{source}.{link.output} after a later one")


def _check_duplicates(nodes: list[Node], edges: list[Edge]) -> None:
    for at, (before, node) in enumerate(pairwise(nodes), 1):
        if node.id == before.id:
            raise Invalid("duplicate", f"nodes[{at}]", "each id once", node.id)
    taken: set[tuple[str, str, int]] = set()
    for at, edge in enumerate(edges):
        if edge[2:] in taken:
            raise Invalid("duplicate", f"edges[{at}]", "one edge an input slot", f"{edge.target}.{edge.input}")
        taken.add(edge[2:])


def check_secrets(graph: Graph) -> None:
    for at, node in enumerate(graph.nodes.values()):
        for name in sorted(node.params):
            no_raw_secret(node.params[name], f"nodes[{at}].params.{name}")
    for name, value in graph.settings.items():
        no_raw_secret(value, f"settings.{name}")


def sections_of(graph: Graph) -> dict[int, object]:
    """The file's map; node ids sort as text, so do edges through them."""
    nodes = [graph.nodes[name] for name in sorted(graph.nodes)]
    edges = sorted(graph.edges)
    place = {node.id: at for at, node in enumerate(nodes)}
    strings = {name: at for at, name in enumerate(dict.fromkeys(_walk(nodes, edges)))}
    found: dict[int, object] = {
        FORMAT: [1, 0],
        STRINGS: list(strings),
        NODES: [
            [n.id, strings[n.component], n.version, {strings[k]: v for k, v in n.params.items()}, n.flags]
            for n in nodes
        ],
        EDGES: [[place[e.source], strings[e.output], place[e.target], strings[e.input], e.slot] for e in edges],
    }
    ancillary = {
        SETTINGS: graph.settings,
        POSITIONS: graph.positions,
        LABELS: graph.labels,
        NOTES: graph.notes,
        GROUPS: graph.groups,
    }
    found |= {key: value for key, value in ancillary.items() if value}
    return found | dict(graph.extra)


def write(graph: Graph) -> bytes:
    """The one file of a graph; raises Unencodable when the graph exceeds a budget of the codec."""
    return MAGIC + codec.encode(sections_of(graph))


def hashes_of(graph: Graph) -> Hashes:
    """The semantic hash and the hash of all bytes of the file that `write` gives."""
    sections = sections_of(graph)
    semantic = codec.encode({key: value for key, value in sections.items() if key < FIRST_ANCILLARY})
    return Hashes(hashlib.sha256(semantic).digest(), hashlib.sha256(MAGIC + codec.encode(sections)).digest())
