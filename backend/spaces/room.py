"""A Room: the graph of an open Space, its order, and who wrote what last. A pure state machine: no I/O, no clock.

Its open Space calls it under its lock: `plan` says what a push comes to, `journal.py` makes it so with `take` once that
is written. Ops are fitted by the patch algebra: the last writer wins a field, a structural op fits or is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dots import codec
from igc.graph import Graph, Invalid
from igc.patch import PHASES, Key, Op, apply_op, apply_ops, op_from_value, to_value
from igc.rebase import is_overtaken
from spaces.typed import Mismatch

HISTORY = 256  # pushes between two snapshots
MAX_WORK = 2_000_000  # ops times graph size of a push that has to be fitted op by op

OpKey = tuple[str, Key]


@dataclass(frozen=True, slots=True)
class RefusedOp:
    """An op that does not stand. `where` is its key."""

    code: str
    where: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a push comes to: `ops` apply in this order to the graph it was planned on."""

    graph: Graph
    ops: tuple[Op, ...]
    as_sent: bool
    overtaken: tuple[tuple[OpKey, str], ...] = ()
    refused: tuple[RefusedOp, ...] = ()


def read_ops(values: Iterable[Any]) -> list[Op]:
    """The ops of a frame.

    Raises Mismatch with the place.
    """
    ops = []
    for place, value in enumerate(values):
        try:
            ops.append(op_from_value(value, f"push.ops[{place}]"))
        except Invalid as error:
            raise Mismatch(error.path, error.expected, error.got) from error
    return ops


def key_value(key: OpKey) -> list[Any]:
    return [key[0], *key[1]]


def encode_ops(ops: Iterable[Op]) -> bytes:
    return codec.encode([to_value(op) for op in ops])


def decode_ops(data: bytes) -> list[Op]:
    values: Any = codec.decode(data)
    return read_ops(values)


@dataclass(slots=True)
class Room:
    """`base` is the graph as of `base_seq`; `since` holds the pushes after it."""

    base: Graph
    base_seq: int
    graph: Graph
    seq: int
    since: list[tuple[int, tuple[Op, ...]]] = field(default_factory=list)
    writers: dict[OpKey, str] = field(default_factory=dict)

    @classmethod
    def opened(cls, snapshot: Graph, snapshot_seq: int, journal: Iterable[tuple[int, str, list[Op]]]) -> "Room":
        """The Room from its last snapshot and the journal after it."""
        room = cls(snapshot, snapshot_seq, snapshot, snapshot_seq)
        for seq, author, ops in journal:
            room.graph = apply_ops(room.graph, ops)
            room.note(seq, author, tuple(ops))
        return room

    def plan(self, ops: list[Op]) -> Outcome:
        """What these ops come to now; nothing changes."""
        try:
            return Outcome(apply_ops(self.graph, ops), tuple(ops), as_sent=True)
        except Invalid:
            size = len(self.graph.nodes) + len(self.graph.edges) + 1
            if len(ops) * size > MAX_WORK:
                return self.nothing("fewer ops, or ops that fit as they stand", f"{len(ops)} ops")
            return self.fit(ops)

    def nothing(self, expected: str, got: str) -> Outcome:
        """A push refused as a whole."""
        return Outcome(self.graph, (), as_sent=False, refused=(RefusedOp("size", "push", expected, got),))

    def fit(self, ops: list[Op]) -> Outcome:
        """Op by op. What does not fit is tried once more in the order of the normal form: ops may come in any order."""
        work = Fitting(self)
        later = [op for op in ops if not work.take(op, last=False)]
        for op in sorted(later, key=lambda op: PHASES.index(op.kind)):
            work.take(op, last=True)
        return Outcome(work.graph, tuple(work.done), False, tuple(work.overtaken), tuple(work.refused))

    def take(self, author: str, outcome: Outcome) -> None:
        """Make an outcome so; it gets the next seq."""
        if outcome.ops:
            self.graph = outcome.graph
            self.note(self.seq + 1, author, outcome.ops)

    def note(self, seq: int, author: str, ops: tuple[Op, ...]) -> None:
        self.seq = seq
        self.since.append((seq, ops))
        for op in ops:
            self.writers[(op.kind, op.key)] = author

    @property
    def wants_snapshot(self) -> bool:
        return len(self.since) >= HISTORY

    def snapshot_taken(self) -> None:
        """The graph as it stands is stored. The pushes before it stay in memory for one more round."""
        keep = HISTORY // 2
        for _, ops in self.since[:-keep]:
            self.base = apply_ops(self.base, ops)
        if len(self.since) > keep:
            self.base_seq = self.since[-keep - 1][0]
            self.since = self.since[-keep:]
        if len(self.writers) > 200_000:
            self.writers.clear()

    def as_of(self, seq: int) -> Graph | None:
        """The graph after that push, or None when it is too long ago or has not been."""
        if seq == self.seq:
            return self.graph
        if not self.base_seq <= seq < self.seq:
            return None
        graph = self.base
        for number, ops in self.since:
            if number <= seq:
                graph = apply_ops(graph, ops)
        return graph


class Fitting:
    """One push being fitted op by op."""

    def __init__(self, room: Room) -> None:
        self.writers = room.writers
        self.graph = room.graph
        self.done: list[Op] = []
        self.gone: set[str] = set()  # nodes that this push deleted: what went along is no longer there to delete
        self.own: set[OpKey] = set()
        self.overtaken: list[tuple[OpKey, str]] = []
        self.refused: list[RefusedOp] = []

    def take(self, op: Op, last: bool) -> bool:
        """Apply an op if it fits; False when it should be tried again later."""
        if not op.new and self.ends(op) & self.gone:
            return True
        try:
            self.graph, applied = apply_op(self.graph, op)
        except Invalid as error:
            if last:
                self.refused.append(RefusedOp(error.code, op.where, error.expected, error.got))
            return last
        if op.kind == "node-":
            self.gone.add(str(op.key[0]))
        key = (op.kind, op.key)
        alone = op.kind in ("node-", "edge-") or key in self.own
        if not alone and is_overtaken(op, applied):
            self.overtaken.append((key, self.writers.get(key, "")))
        self.own.update((did.kind, did.key) for did in applied)
        self.done += applied
        return True

    @staticmethod
    def ends(op: Op) -> set[str]:
        """The nodes that an op needs."""
        if op.kind == "edge-":
            return {str(op.key[0]), str(op.key[2])}
        return {str(op.key[0])} if op.kind in ("move", "label", "set", "flag") else set()
