"""Ops that were made for one graph, laid over another: what fits applies as the last writer, the rest is named.

The same reading as `rebase` in `frontend/src/igb/patch.ts`: pending edits, undo entries and offline work go through it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from igc.graph import Graph, Invalid
from igc.ops import INVERSE, Op
from igc.patch import apply_op, apply_ops


@dataclass(frozen=True, slots=True)
class Dropped:
    """An op that no longer fits, and why."""

    op: Op
    code: str


@dataclass(frozen=True, slots=True)
class Rebased:
    graph: Graph
    ops: tuple[Op, ...]  # what applied, each `old` as it was met
    overtaken: tuple[Op, ...] = ()  # those of the given ops that wrote over another value than they knew
    dropped: tuple[Dropped, ...] = ()


def rebase(ops: Iterable[Op], over: Graph) -> Rebased:
    """The ops as they apply to `over`, in the order they stand."""
    given = tuple(ops)
    try:
        return Rebased(apply_ops(over, given), given)
    except Invalid:
        return _one_by_one(given, over)


def _one_by_one(ops: tuple[Op, ...], over: Graph) -> Rebased:
    graph = over
    done: list[Op] = []
    overtaken: list[Op] = []
    dropped: list[Dropped] = []
    gone: set[str] = set()  # nodes that these ops took away: what went along is no longer there to take
    for op in ops:
        if not op.new and gone.intersection(map(str, ends(op))):
            continue
        try:
            graph, applied = apply_op(graph, op)
        except Invalid as error:
            if op.kind == "edge-" and _leaves(op, ops):
                continue  # its node goes too and takes what it finds
            dropped.append(Dropped(op, error.code))
            continue
        if op.kind == "node-":
            gone.add(str(op.key[0]))
        elif op.kind not in INVERSE and is_overtaken(op, applied):
            overtaken.append(op)
        done += applied
    return Rebased(graph, tuple(done), tuple(overtaken), tuple(dropped))


def is_overtaken(op: Op, applied: tuple[Op, ...]) -> bool:
    """Whether it met another value than it knew; on the open conflicts, whether another had done it all already."""
    return not applied or (applied[-1].old != op.old and not op.is_of_conflicts)


def _leaves(op: Op, ops: tuple[Op, ...]) -> bool:
    leaving = {other.key[0] for other in ops if other.kind == "node-"}
    return not leaving.isdisjoint(ends(op))


def ends(op: Op) -> tuple[str | int, ...]:
    """The nodes that an op needs or changes."""
    if op.kind in ("edge-", "edge+"):
        return op.key[0], op.key[2]
    if op.kind == "group":
        return tuple(member for side in (*op.old, *op.new) for member in side[1])
    return () if op.kind in ("graph", "note", "extra") else op.key[:1]
