"""The patch algebra (docs/formats.md §3): ops with `old` and `new`, their normal form, and the `.patch` file.

Everything here is a pure function over frozen values; a graph is copied, never changed. Wire values are hostile.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from dots import codec
from dots.codec import Unencodable, Value
from dots.shape import array, digest, distinct, integer, no_raw_secret, node_id, port, section, shown, text
from igc import igb
from igc.graph import (
    FLAGS,
    MAX_EDGES,
    MAX_NODES,
    Edge,
    Graph,
    Invalid,
    Node,
    check_count,
    check_cycle,
    check_dangling,
    edge_of,
    extra_of,
    flags_of,
    group_of,
    label_of,
    node_of,
    note_of,
    position_of,
)
from igc.igb import Hashes

MAGIC: Final = b"\x89IGP\r\n\x1a\n"
PHASES: Final = (
    "edge-",
    "node-",
    "node+",
    "retype",
    "set",
    "flag",
    "graph",
    "edge+",
    "move",
    "label",
    "note",
    "group",
    "extra",
)
COSMETIC: Final = frozenset(("move", "label", "note", "group", "extra"))
INVERSE: Final = {"edge-": "edge+", "edge+": "edge-", "node-": "node+", "node+": "node-"}
WITH_SECRETS: Final = frozenset(("node-", "node+", "set", "graph"))

Key = tuple[str | int, ...]
Maybe = tuple[object, ...]
"""(value,), or () for ABSENT."""


class Stale(Invalid):
    """What an op wants to replace is not there."""

    def __init__(self, path: str, expected: str, got: str) -> None:
        super().__init__("stale", path, expected, got)


@dataclass(frozen=True, slots=True)
class Op:
    """One change. `key` is what stands first in its array; an edge has no value, its presence is `(None,)`."""

    kind: str
    key: Key
    old: Maybe
    new: Maybe

    @property
    def where(self) -> str:
        """The key in a message."""
        return f"{self.kind} {'.'.join(str(part) for part in self.key)}"


@dataclass(frozen=True, slots=True)
class Patch:
    base: Hashes
    target: Hashes
    ops: tuple[Op, ...]  # in normal form

    @property
    def cosmetic(self) -> bool:
        return self.base.sem == self.target.sem


# Ops as values -------------------------------------------------------------------------------------------------------


def to_value(op: Op) -> list[object]:
    """The array of an op, in files and in frames."""
    key = list(op.key)
    if op.kind in ("edge-", "edge+"):
        return [op.kind, key]
    if op.kind in ("node-", "node+"):
        return [op.kind, key, (op.new or op.old)[0]]
    return [op.kind, key, list(op.old), list(op.new)]


def op_from_value(value: Value, path: str = "ops[0]") -> Op:
    """The op in a value from a frame or a file; raises Invalid."""
    op = _shaped(value, path)
    _check_secret(op, path)
    return op


def _shaped(value: Value, path: str) -> Op:
    parts = array(value, path)
    if not parts or not isinstance(parts[0], str) or parts[0] not in PHASES:
        raise section(path, f"one of {', '.join(PHASES)}", parts[:1])
    kind = parts[0]
    if kind in ("edge-", "edge+"):
        _, place = array(value, path, 2)
        return _one_sided(kind, tuple(edge_of(place, path)), None)
    if kind in ("node-", "node+"):
        _, name, body = array(value, path, 3)
        (only,) = array(name, path, 1)
        node = node_of(node_id(only, path), body, path)
        return _one_sided(kind, (node.id,), _value_of(node))
    _, key, old, new = array(value, path, 4)
    return _field(kind, key, array(old, path), array(new, path), path)


def _one_sided(kind: str, key: Key, value: object) -> Op:
    return Op(kind, key, (value,), ()) if kind.endswith("-") else Op(kind, key, (), (value,))


def _field(kind: str, parts: Value, old: list[Value], new: list[Value], path: str) -> Op:
    key = _key(kind, parts, path)
    distinct(old, new, path)
    return Op(kind, key, _maybe(kind, key, old, path), _maybe(kind, key, new, path))


def _key(kind: str, parts: Value, path: str) -> Key:
    if kind in ("set", "flag"):
        name, entry = array(parts, path, 2)
        return node_id(name, path), port(entry, path) if kind == "set" else _flag_name(entry, path)
    (only,) = array(parts, path, 1)
    if kind == "extra":
        return (integer(only, path, igb.CONFLICTS, codec.MAX_INT),)
    return (text(only, path) if kind == "graph" else node_id(only, path),)


def _flag_name(value: Value, path: str) -> str:
    if not isinstance(value, str) or (value != "disabled" and value not in FLAGS):
        raise section(path, "disabled, steps, kv or seconds", value)
    return value


def _maybe(kind: str, key: Key, side: list[Value], path: str) -> Maybe:
    if not side and kind != "retype":
        return ()
    (value,) = array(side, path, 1)
    return (_VALUES[kind](key, value, path),)


def _retype(value: Value, path: str) -> list[Value]:
    kind, version = array(value, path, 2)
    node_of("", [kind, version, {}, {}], path)
    return [kind, version]


_VALUES: Final[Mapping[str, Callable[[Key, Value, str], object]]] = {
    "retype": lambda key, value, path: _retype(value, path),
    "set": lambda key, value, path: value,
    "flag": lambda key, value, path: flags_of({str(key[1]): value}, path)[str(key[1])],
    "graph": lambda key, value, path: value,
    "move": lambda key, value, path: position_of(value, path),
    "label": lambda key, value, path: label_of(value, path),
    "note": lambda key, value, path: note_of(value, path),
    "group": lambda key, value, path: group_of(value, path),
    "extra": lambda key, value, path: extra_of(int(key[0]), value, path),
}


def _check_secret(op: Op, path: str) -> None:
    if op.kind not in WITH_SECRETS:
        return
    for side in (*op.old, *op.new):
        if op.kind in ("set", "graph"):
            no_raw_secret(side, path)  # type: ignore[arg-type]
            continue
        for value in side[2].values():  # type: ignore[index]  # a param may be named secret, so its map is not looked at
            no_raw_secret(value, path)


def _value_of(node: Node) -> list[object]:
    return [node.component, node.version, node.params, node.flags]


# Normal form and the file --------------------------------------------------------------------------------------------


def _rank(op: Op) -> tuple[int, bytes]:
    return PHASES.index(op.kind), codec.encode(op.key)


def normal(ops: Iterable[Op]) -> tuple[Op, ...]:
    """The order of a stored patch."""
    return tuple(sorted(ops, key=_rank))


def write(patch: Patch) -> bytes:
    ops = [to_value(op) for op in patch.ops]
    return MAGIC + codec.encode({0: [1, 0], 1: patch.base, 2: patch.target, 3: ops})


def read(data: bytes) -> Patch:
    """The patch in a file; raises Malformed or Invalid."""
    sections = igb.item(data, MAGIC)
    igb.check_format(sections, range(4), range(4), float("inf"))
    base, target = _hashes(sections[1], "base"), _hashes(sections[2], "target")
    ops = [_shaped(value, f"ops[{at}]") for at, value in enumerate(array(sections[3], "ops"))]
    _check_order(ops)
    _check_beside(ops)
    for at, op in enumerate(ops):
        _check_secret(op, f"ops[{at}]")
    return Patch(base, target, tuple(ops))


def _hashes(value: Value, path: str) -> Hashes:
    sem, file = array(value, path, 2)
    return Hashes(digest(sem, path), digest(file, path))


def _check_order(ops: Sequence[Op]) -> None:
    last = (-1, b"")
    for at, op in enumerate(ops):
        rank = _rank(op)
        if rank <= last:
            raise Invalid("order", f"ops[{at}]", "ops in normal form, each key once", op.where)
        last = rank


def _check_beside(ops: Sequence[Op]) -> None:
    """What `node+` and `node-` carry is not said again, and nothing is taken away and put back."""
    whole: set[str | int] = set()
    gone: set[Key] = set()
    for at, op in enumerate(ops):
        if op.kind in ("node-", "node+", "retype", "set", "flag"):
            if op.key[0] in whole:
                raise Invalid("duplicate", f"ops[{at}]", "one op that says it", op.where)
            if op.kind in INVERSE:
                whole.add(op.key[0])
        if op.kind == "edge-":
            gone.add(op.key)
        if op.kind == "edge+" and op.key in gone:
            raise Invalid("duplicate", f"ops[{at}]", "one op that says it", op.where)


# Algebra -------------------------------------------------------------------------------------------------------------


def diff(a: Graph, b: Graph) -> Patch:
    """What leads from a to b."""
    return Patch(igb.hashes_of(a), igb.hashes_of(b), diff_ops(a, b))


def diff_ops(a: Graph, b: Graph) -> tuple[Op, ...]:
    """The ops of `diff`, in normal form."""
    ops = [_one_sided("edge-", tuple(edge), None) for edge in set(a.edges) - set(b.edges)]
    ops += [_one_sided("edge+", tuple(edge), None) for edge in set(b.edges) - set(a.edges)]
    for name in a.nodes.keys() - b.nodes.keys():
        ops.append(_one_sided("node-", (name,), _value_of(a.nodes[name])))
    for name in b.nodes.keys() - a.nodes.keys():
        ops.append(_one_sided("node+", (name,), _value_of(b.nodes[name])))
    for name in a.nodes.keys() & b.nodes.keys():
        old, new = a.nodes[name], b.nodes[name]
        if old is new:
            continue
        if (old.component, old.version) != (new.component, new.version):
            ops.append(Op("retype", (name,), ([old.component, old.version],), ([new.component, new.version],)))
        ops += _changes("set", (name,), old.params, new.params)
        ops += _changes("flag", (name,), old.flags, new.flags)
    ops += _changes("graph", (), a.settings, b.settings)
    ops += _changes("move", (), a.positions, b.positions)
    ops += _changes("label", (), a.labels, b.labels)
    ops += _changes("note", (), a.notes, b.notes)
    ops += _changes("group", (), a.groups, b.groups)
    ops += _changes("extra", (), a.extra, b.extra)
    return normal(ops)


K = TypeVar("K", str, int)


def _changes(kind: str, prefix: Key, a: Mapping[K, object], b: Mapping[K, object]) -> list[Op]:
    ops = []
    for key in a.keys() | b.keys():
        old, new = _at(a, key), _at(b, key)
        if not codec.same(old, new):
            ops.append(Op(kind, (*prefix, key), old, new))
    return ops


def _at(values: Mapping[K, object], key: K) -> Maybe:
    return (values[key],) if key in values else ()


def inverse(op: Op) -> Op:
    return Op(INVERSE.get(op.kind, op.kind), op.key, op.new, op.old)


def invert_ops(ops: Iterable[Op]) -> tuple[Op, ...]:
    """What undoes loose ops that were applied in this order."""
    return tuple(inverse(op) for op in reversed(tuple(ops)))


def invert(patch: Patch) -> Patch:
    return Patch(patch.target, patch.base, normal(inverse(op) for op in patch.ops))


def apply(patch: Patch, graph: Graph) -> Graph:
    """The graph after the patch: all ops, the hashes checked before and after, or an Invalid."""
    _check_hashes("base", patch.base, graph)
    result = apply_ops(graph, patch.ops)
    _check_hashes("target", patch.target, result)
    return result


def _check_hashes(code: str, expected: Hashes, graph: Graph) -> None:
    got = igb.hashes_of(graph)
    if got != expected:
        raise Invalid(code, code, f"file {expected.file.hex()}", got.file.hex())


def apply_ops(graph: Graph, ops: Iterable[Op]) -> Graph:
    """All ops in the order they stand, or an Invalid (a Stale where `old` is not what is there)."""
    draft = Draft(graph)
    for op in ops:
        draft.apply(op)
    return draft.graph()


def apply_op(graph: Graph, op: Op, strict: bool = False) -> tuple[Graph, tuple[Op, ...]]:
    """One op as the last writer: the new graph and the ops that were really applied, with their true `old`.

    A field's `old` is not compared. `node-` takes the node as it is, with its edges and whatever else names it.
    No ops: nothing was left to change. Raises Invalid or Stale when the op's structure no longer fits.
    """
    ops = (op,) if strict else _overtaking(graph, op)
    return (apply_ops(graph, ops), ops) if ops else (graph, ())


def _overtaking(graph: Graph, op: Op) -> tuple[Op, ...]:
    if op.kind == "node-":
        return deletion(graph, str(op.key[0]))
    if op.kind in INVERSE or op.kind == "retype":
        return (op,)
    draft = Draft(graph)
    old = draft.field(op)
    return () if codec.same(old, op.new) else (replace(op, old=old),)


def deletion(graph: Graph, name: str) -> tuple[Op, ...]:
    """The ops that delete a node and all that names it, in normal form."""
    if name not in graph.nodes:
        raise Invalid("dangling", f"node- {name}", "a node of this graph", name)
    gone = replace(
        graph,
        nodes={key: node for key, node in graph.nodes.items() if key != name},
        edges=tuple(edge for edge in graph.edges if name not in (edge.source, edge.target)),
        positions={key: value for key, value in graph.positions.items() if key != name},
        labels={key: value for key, value in graph.labels.items() if key != name},
        groups={
            key: (label, rest)
            for key, (label, members) in graph.groups.items()
            if (rest := tuple(member for member in members if member != name))
        },
    )
    return diff_ops(graph, gone)


class Draft:
    """A graph in the making; one call of `apply_ops` owns it."""

    def __init__(self, graph: Graph) -> None:
        self.base = graph
        self.nodes = dict(graph.nodes)
        self.edges = set(graph.edges)
        self.fields: dict[str, dict[str | int, object]] = {
            "graph": dict(graph.settings.items()),
            "move": dict(graph.positions.items()),
            "label": dict(graph.labels.items()),
            "note": dict(graph.notes.items()),
            "group": dict(graph.groups.items()),
            "extra": dict(graph.extra.items()),
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
            return _at(self.fields[op.kind], op.key[0])  # type: ignore[type-var]
        node = self._known(op)
        if op.kind == "retype":
            return ([node.component, node.version],)
        return _at(node.params if op.kind == "set" else node.flags, str(op.key[1]))

    def graph(self) -> Graph:
        """The result, if it is a valid graph."""
        check_count("nodes", len(self.nodes), MAX_NODES)
        check_count("edges", len(self.edges), MAX_EDGES)
        edges = tuple(sorted(self.edges))
        result = Graph(
            {name: self.nodes[name] for name in sorted(self.nodes)},
            edges,
            *(dict(sorted(self.fields[kind].items())) for kind in ("graph", "move", "label", "note", "group", "extra")),  # type: ignore[arg-type]
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
            self.nodes[name] = node_of(name, op.new[0], op.where)  # type: ignore[arg-type]
            return
        self._compare(op, (_value_of(self._known(op)),))
        del self.nodes[name]

    def _semantic(self, op: Op) -> None:
        node = self.nodes[str(op.key[0])]
        if op.kind == "retype":
            retyped = node_of(node.id, [*array(op.new[0], op.where), {}, {}], op.where)  # type: ignore[arg-type]
            self.nodes[node.id] = replace(node, component=retyped.component, version=retyped.version)
            return
        values = dict(node.params if op.kind == "set" else node.flags)
        _put(values, str(op.key[1]), op.new)  # type: ignore[arg-type]
        self.nodes[node.id] = replace(node, params=values) if op.kind == "set" else replace(node, flags=values)

    def _known(self, op: Op) -> Node:
        node = self.nodes.get(str(op.key[0]))
        if node is None:
            raise Invalid("dangling", op.where, "a node of this graph", "an id that is not there")
        return node

    def _compare(self, op: Op, there: Maybe) -> None:
        if not codec.same(there, op.old):
            raise Stale(op.where, *(shown(side[0]) if side else "nothing" for side in (op.old, there)))


def _put(values: dict[str | int, object], key: str | int, new: Maybe) -> None:
    if new:
        values[key] = new[0]
    else:
        values.pop(key, None)
