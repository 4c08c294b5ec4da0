"""A whole client of an open Space, after docs/wire.md: what it knows (`Replica`, `Told`), without a socket.

It is strict: an event or a push that comes twice, or is missing, is an assertion, as is an op that does not fit.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dots import codec
from igc import igb
from igc.graph import Graph, Invalid
from igc.ops import Op, op_from_value, to_value
from igc.patch import apply_op, apply_ops

Frame = dict[str, Any]


def rebased(graph: Graph, ops: list[Op]) -> tuple[Graph, list[Op]]:
    """The ops as they come to stand on this graph; what no longer fits is left out."""
    done: list[Op] = []
    for op in ops:
        with suppress(Invalid):
            graph, applied = apply_op(graph, op)
            done += applied
    return graph, done


@dataclass
class Replica:
    """The confirmed graph, at most one push on its way, and ops that wait for it."""

    client: str
    seq: int = -1
    confirmed: Graph = field(default_factory=Graph)
    counter: int = 0
    sent: Frame | None = None
    queued: list[Op] = field(default_factory=list)
    overtaken: list[tuple[list[Any], str]] = field(default_factory=list)
    refused: list[Frame] = field(default_factory=list)
    acked: list[int] = field(default_factory=list)  # counters, in order
    version: int | None = None

    @property
    def settled(self) -> bool:
        return self.sent is None and not self.queued

    @property
    def shown(self) -> Graph:
        """What a person sees."""
        ops = [] if self.sent is None else [op_from_value(value) for value in self.sent["ops"]]
        return rebased(self.confirmed, ops + self.queued)[0]

    def next_push(self) -> Frame | None:
        """The push that is on its way now, when it was not before."""
        if self.sent is not None or not self.queued:
            return None
        _, ops = rebased(self.confirmed, self.queued)
        self.queued = []
        if not ops:
            return None
        self.counter += 1
        values: Any = codec.decode(codec.encode([to_value(op) for op in ops]))  # as the server reads them
        self.sent = {"type": "push", "id": [self.client, self.counter], "base_seq": self.seq, "ops": values}
        return self.sent

    def take(self, frame: Frame) -> None:
        match frame["type"]:
            case "welcome":
                assert frame["seq"] >= self.seq, "the server forgot what it had confirmed"
                self.confirmed, self.seq = igb.read(frame["igb"]), frame["seq"]
                self.version = frame["version"] and frame["version"]["number"]
            case "ack" if self.sent is not None and frame["id"] == self.sent["id"]:
                if frame["seq"] > self.seq:
                    self.advance(frame["seq"], self.sent["ops"])
                self.settle()
            case "patched":
                if frame["ops"]:
                    self.advance(frame["seq"], frame["ops"])
                assert frame["seq"] == self.seq  # nothing was left to change: no new seq
                if frame["author"] == self.client:
                    self.overtaken += [(key, author) for key, author in frame["overtaken"]]
                    self.settle()
            case "refused" if isinstance(frame["id"], list):
                assert frame["code"] != "internal", frame
                self.refused.append(frame)
                if self.sent is not None and frame["id"] == self.sent["id"]:
                    self.settle()
            case "saved":
                self.version = frame["version"]["number"]

    def advance(self, seq: int, ops: list[Any]) -> None:
        assert seq == self.seq + 1, f"push {seq} came after {self.seq}"
        self.confirmed = apply_ops(self.confirmed, [op_from_value(value) for value in ops])
        self.seq = seq

    def settle(self) -> None:
        if self.sent is not None:
            self.acked.append(self.sent["id"][1])
        self.sent = None


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@dataclass
class Told:
    """A run as far as its events came."""

    frame: Frame  # that asked for it
    cursor: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    status: str | None = None
    reason: str | None = None
    nodes: dict[str, str] = field(default_factory=dict)  # the kind of each one's last event

    def take(self, frame: Frame) -> None:
        assert frame["first"] == self.cursor + 1, f"event {frame['first']} came after {self.cursor}"
        assert frame["seq"] >= frame["first"] and self.status is None
        self.cursor = frame["seq"]
        node, data = frame["node"], frame["data"]
        if node is not None:
            self.nodes[node] = frame["kind"]
        if frame["kind"] == "tokens":
            before = self.texts.get(node, "")
            assert data["at"] == units(before), f"text at {data['at']} after {units(before)} units"
            self.texts[node] = before + data["text"]
        elif frame["kind"] == "ended":
            self.status, self.reason = data["status"], data["reason"]
