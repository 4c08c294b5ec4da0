"""Two patches after each other as one, without their graphs: a key goes from its first `old` to its last `new`."""

from collections.abc import Iterable
from dataclasses import replace

from dots import codec
from igc.graph import Invalid, Node, node_of
from igc.ops import INVERSE, Key, Op, inverse, normal, one_sided
from igc.patch import Patch, node_changes

FIELDS = ("retype", "set", "flag")


def compose(p: Patch, q: Patch) -> Patch:
    """The patch that does what p and then q do; raises Invalid when q does not begin where p ends."""
    if p.target != q.base:
        raise Invalid("base", "base", f"file {p.target.file.hex()}", q.base.file.hex())
    return Patch(p.base, q.target, compose_ops(p.ops, q.ops))


def compose_ops(p: Iterable[Op], q: Iterable[Op]) -> tuple[Op, ...]:
    """The same of ops in normal form."""
    first, second = Changes(p), Changes(q)
    whole = first.whole.keys() | second.whole.keys()
    ops: list[Op] = []
    for name in whole:
        ops += _node(name, first, second)
    for key in first.fields.keys() | second.fields.keys():
        if key[0] in FIELDS and key[1] in whole:
            continue
        ops += _field(first.fields.get(key), second.fields.get(key))
    for kind, edge in first.edges - {(INVERSE[kind], edge) for kind, edge in second.edges}:
        ops.append(one_sided(kind, edge, None))
    for kind, edge in second.edges - {(INVERSE[kind], edge) for kind, edge in first.edges}:
        ops.append(one_sided(kind, edge, None))
    return normal(ops)


class Changes:
    """The ops of one patch by what they change."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self.whole: dict[str, Op] = {}  # nodes that come or go
        self.edges: set[tuple[str, Key]] = set()
        self.fields: dict[Key, Op] = {}  # by kind and key
        self.of: dict[str, list[Op]] = {}  # field ops of a node that stays
        for op in ops:
            if op.kind in ("node-", "node+"):
                self.whole[str(op.key[0])] = op
            elif op.kind in INVERSE:
                self.edges.add((op.kind, op.key))
            else:
                self.fields[(op.kind, *op.key)] = op
                if op.kind in FIELDS:
                    self.of.setdefault(str(op.key[0]), []).append(op)


def _field(first: Op | None, second: Op | None) -> list[Op]:
    if first is None or second is None:
        return [op for op in (first, second) if op is not None]
    return [] if codec.same(first.old, second.new) else [replace(first, new=second.new)]


def _node(name: str, first: Changes, second: Changes) -> list[Op]:
    p, q = first.whole.get(name), second.whole.get(name)
    if p is not None:
        before, between = _side(name, p.old), _side(name, p.new)
        after = (
            changed(between, second.of.get(name, [])) if q is None and between else _side(name, q.new) if q else None
        )
    else:
        assert q is not None  # one of the two brings or takes the node
        between, after = _side(name, q.old), _side(name, q.new)
        before = changed(between, [inverse(op) for op in first.of.get(name, [])]) if between else None
    return node_changes(name, before, after)


def _side(name: str, side: tuple[list[codec.Value], ...]) -> Node | None:
    return node_of(name, side[0], "node") if side else None


def changed(node: Node, ops: Iterable[Op]) -> Node:
    """A node after field ops; what stood there before is not compared."""
    fields: dict[str, dict[str, codec.Value]] = {"set": dict(node.params), "flag": dict(node.flags)}
    component, version = node.component, node.version
    for op in ops:
        if op.kind == "retype":
            component, version = op.new[0]
        elif op.new:
            fields[op.kind][str(op.key[1])] = op.new[0]
        else:
            fields[op.kind].pop(str(op.key[1]), None)
    return Node(node.id, component, version, fields["set"], fields["flag"])
