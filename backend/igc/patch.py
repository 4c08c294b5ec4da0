"""The patch algebra (docs/formats.md §3): the `.patch` file, diff, apply, invert, and ops of the last writer.

Everything here is a pure function over frozen values; a graph is copied, never changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dots import codec
from dots.codec import Value
from dots.shape import array, digest
from igc import igb
from igc.conflicts import laid_over
from igc.draft import Draft
from igc.graph import Graph, Invalid, Node
from igc.igb import Hashes
from igc.ops import INVERSE, K, check_secret, one_sided, place_of, shaped, value_at, value_of
from igc.ops import PHASES as PHASES
from igc.ops import Key as Key
from igc.ops import Op as Op
from igc.ops import Stale as Stale
from igc.ops import inverse as inverse
from igc.ops import invert_ops as invert_ops
from igc.ops import normal as normal
from igc.ops import op_from_value as op_from_value
from igc.ops import to_value as to_value

MAGIC: Final = b"\x89IGP\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Patch:
    base: Hashes
    target: Hashes
    ops: tuple[Op, ...]  # in normal form


def write(patch: Patch) -> bytes:
    ops = [to_value(op) for op in patch.ops]
    return MAGIC + codec.encode({0: [1, 0], 1: patch.base, 2: patch.target, 3: ops})


def read(data: bytes) -> Patch:
    """The patch in a file; raises Malformed or Invalid."""
    sections = igb.item(data, MAGIC)
    igb.check_format(sections, range(4), range(4), float("inf"))
    base, target = _hashes(sections[1], "base"), _hashes(sections[2], "target")
    ops = [shaped(value, f"ops[{at}]") for at, value in enumerate(array(sections[3], "ops"))]
    _check_order(ops)
    _check_beside(ops)
    for at, op in enumerate(ops):
        check_secret(op, f"ops[{at}]")
    return Patch(base, target, tuple(ops))


def _hashes(value: Value, path: str) -> Hashes:
    sem, file = array(value, path, 2)
    return Hashes(digest(sem, path), digest(file, path))


def _check_order(ops: Sequence[Op]) -> None:
    last = (-1, b"")
    for at, op in enumerate(ops):
        rank = place_of(op)
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
    ops = [one_sided("edge-", tuple(edge), None) for edge in set(a.edges) - set(b.edges)]
    ops += [one_sided("edge+", tuple(edge), None) for edge in set(b.edges) - set(a.edges)]
    for name in a.nodes.keys() | b.nodes.keys():
        ops += node_changes(name, a.nodes.get(name), b.nodes.get(name))
    ops += _changes("graph", (), a.settings, b.settings)
    ops += _changes("move", (), a.positions, b.positions)
    ops += _changes("label", (), a.labels, b.labels)
    ops += _changes("note", (), a.notes, b.notes)
    ops += _changes("group", (), a.groups, b.groups)
    ops += _changes("extra", (), a.extra, b.extra)
    return normal(ops)


def node_changes(name: str, old: Node | None, new: Node | None) -> list[Op]:
    """The ops that lead from one state of a node to another, None where it is not there; in no order."""
    if old is new:
        return []
    if old is None or new is None:
        found = [one_sided("node-", (name,), value_of(old))] if old else []
        return found + ([one_sided("node+", (name,), value_of(new))] if new else [])
    ops = []
    if (old.component, old.version) != (new.component, new.version):
        ops.append(Op("retype", (name,), ([old.component, old.version],), ([new.component, new.version],)))
    return ops + _changes("set", (name,), old.params, new.params) + _changes("flag", (name,), old.flags, new.flags)


def _changes(kind: str, prefix: Key, a: Mapping[K, object], b: Mapping[K, object]) -> list[Op]:
    ops = []
    for key in a.keys() | b.keys():
        old, new = value_at(a, key), value_at(b, key)
        if not codec.same(old, new):
            ops.append(Op(kind, (*prefix, key), old, new))
    return ops


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

    A field's `old` is not compared; of the open conflicts those go and come that the op takes out and puts in.
    `node-` takes the node as it is, with its edges and whatever else names it.
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
    new = laid_over(old, op.old, op.new) if op.is_of_conflicts else op.new
    return () if codec.same(old, new) else (replace(op, old=old, new=new),)


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
