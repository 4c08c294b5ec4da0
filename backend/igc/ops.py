"""Ops as values (docs/formats.md §3): their forms, their order, their inverse. Nothing here touches a graph.

A value from a frame or a file is hostile until `op_from_value` has looked at it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from dots import codec
from dots.codec import Value
from dots.shape import Invalid, array, distinct, integer, no_raw_secret, node_id, port, section, text
from igc.graph import (
    CONFLICTS,
    FLAGS,
    Node,
    edge_of,
    extra_of,
    flags_of,
    group_of,
    label_of,
    node_of,
    note_of,
    position_of,
)

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
INVERSE: Final = {"edge-": "edge+", "edge+": "edge-", "node-": "node+", "node+": "node-"}
WITH_SECRETS: Final = frozenset(("node-", "node+", "set", "graph"))

Key = tuple[str | int, ...]
Maybe = tuple[Any, ...]
"""(value,), or () for ABSENT; what the value is depends on the op's kind."""


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

    @property
    def is_of_conflicts(self) -> bool:
        """Whether it writes the open conflicts, entries that several people take out at once."""
        return self.kind == "extra" and self.key == (CONFLICTS,)


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
    op = shaped(value, path)
    check_secret(op, path)
    return op


def shaped(value: Value, path: str) -> Op:
    parts = array(value, path)
    if not parts or not isinstance(parts[0], str) or parts[0] not in PHASES:
        raise section(path, f"one of {', '.join(PHASES)}", parts[:1])
    kind = parts[0]
    if kind in ("edge-", "edge+"):
        _, place = array(value, path, 2)
        return one_sided(kind, tuple(edge_of(place, path)), None)
    if kind in ("node-", "node+"):
        _, name, body = array(value, path, 3)
        (only,) = array(name, path, 1)
        node = node_of(node_id(only, path), body, path)
        return one_sided(kind, (node.id,), value_of(node))
    _, key, old, new = array(value, path, 4)
    return _field(kind, key, array(old, path), array(new, path), path)


def one_sided(kind: str, key: Key, value: object) -> Op:
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
        return (integer(only, path, CONFLICTS, codec.MAX_INT),)
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


def check_secret(op: Op, path: str) -> None:
    if op.kind not in WITH_SECRETS:
        return
    for side in (*op.old, *op.new):
        if op.kind in ("set", "graph"):
            no_raw_secret(side, path)
            continue
        for value in side[2].values():  # a param may be named secret, so its map is not looked at
            no_raw_secret(value, path)


def value_of(node: Node) -> list[object]:
    return [node.component, node.version, node.params, node.flags]


K = TypeVar("K", str, int)


def value_at(values: Mapping[K, object], key: K) -> Maybe:
    return (values[key],) if key in values else ()


def place_of(op: Op) -> tuple[int, bytes]:
    return PHASES.index(op.kind), codec.encode(op.key)


def normal(ops: Iterable[Op]) -> tuple[Op, ...]:
    """The order of a stored patch."""
    return tuple(sorted(ops, key=place_of))


def inverse(op: Op) -> Op:
    return Op(INVERSE.get(op.kind, op.kind), op.key, op.new, op.old)


def invert_ops(ops: Iterable[Op]) -> tuple[Op, ...]:
    """What undoes loose ops that were applied in this order."""
    return tuple(inverse(op) for op in reversed(tuple(ops)))
