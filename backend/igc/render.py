"""Graphs and patches as text, one fact per line. No control or bidirectional character of a file comes out."""

from collections.abc import Iterable, Iterator, Mapping

from dots import codec, notation
from dots.codec import Value
from igc.conflicts import MOST_AGAINST, Conflict
from igc.graph import Graph
from igc.patch import Op, Patch


def value(found: object) -> str:
    """A value in one line; tuples show as the arrays they are in the file."""
    plain: Value = codec.decode(codec.encode(found))
    return notation.show(plain)


def name(text: str) -> str:
    """A name of a port or a param; printable as it is, else in quotes."""
    return text if text.isprintable() else notation.quoted(text)


def graph_lines(graph: Graph) -> Iterator[str]:
    for key in sorted(graph.settings):
        yield f"setting {value(key)} = {value(graph.settings[key])}"
    for node_id in sorted(graph.nodes):
        node = graph.nodes[node_id]
        yield f"node {node_id} {node.component}@{node.version}"
        yield from (f"  param {name(key)} = {value(entry)}" for key, entry in sorted(node.params.items()))
        yield from (f"  flag {key} = {value(entry)}" for key, entry in sorted(node.flags.items()))
        if node_id in graph.labels:
            yield f"  label {value(graph.labels[node_id])}"
        if node_id in graph.positions:
            yield f"  at {value(graph.positions[node_id])}"
    yield from (f"edge {edge(tuple(one))}" for one in sorted(graph.edges))
    yield from (f"note {key} = {value(entry)}" for key, entry in sorted(graph.notes.items()))
    yield from (f"group {key} = {value(entry)}" for key, entry in sorted(graph.groups.items()))
    yield from (f"section {key} = {value(entry)}" for key, entry in sorted(graph.extra.items()))


def patch_lines(patch: Patch) -> Iterator[str]:
    yield f"base {patch.base.file.hex()}"
    yield f"target {patch.target.file.hex()}"
    yield from ops_lines(patch.ops)


def ops_lines(ops: tuple[Op, ...]) -> Iterator[str]:
    for op in ops:
        if op.kind in ("edge-", "edge+"):
            yield f"{op.kind} {edge(op.key)}"
        elif op.kind in ("node-", "node+"):
            yield f"{op.kind} {op.key[0]} {value((op.old or op.new)[0])}"
        else:
            yield f"{key((op.kind, *op.key))}: {side(op.old)} -> {side(op.new)}"


def conflict_lines(conflicts: Iterable[Conflict]) -> Iterator[str]:
    for one in conflicts:
        ours, theirs = side(one.ours), side(one.theirs)
        yield f"conflict {one.code} {key(one.key)}: {side(one.base)} -> ours {ours}, theirs {theirs}"
        yield from (f"  against {key(other)}" for other in one.against[:MOST_AGAINST])


def key(parts: tuple[str | int, ...]) -> str:
    return f"{parts[0]} {'.'.join(name(str(part)) for part in parts[1:])}"


def side(maybe: tuple[object, ...]) -> str:
    return value(maybe[0]) if maybe else "nothing"


def edge(key: tuple[object, ...]) -> str:
    source, output, target, entry, slot = key
    place = f" at {slot}" if slot else ""
    return f"{source}.{name(str(output))} -> {target}.{name(str(entry))}{place}"


def plain(found: object) -> object:
    """A value for JSON: bytes as hex, every key as text."""
    if isinstance(found, bytes):
        return found.hex()
    if isinstance(found, Mapping):
        return {str(key): plain(entry) for key, entry in found.items()}
    if isinstance(found, list | tuple):
        return [plain(entry) for entry in found]
    return found
