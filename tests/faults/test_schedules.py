"""Two and five clients in random order against one open Space, without sockets: all end byte-equal with the server."""

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dots import codec
from dots.components import Catalogue
from dots.components import catalogue as load_catalogue
from igc import igb
from igc.graph import Graph
from igc.ops import Op, op_from_value
from igc.patch import apply_ops
from spaces import wire
from spaces.engine import Engine
from spaces.errors import Reason, Refused
from spaces.log import Log
from spaces.open_space import OpenSpace
from spaces.open_spaces import OpenSpaces
from spaces.room import decode_ops
from spaces.runs import Runs
from spaces.store import Store
from tests.faults.client import Frame, Replica
from tests.faults.gestures import gesture, large_graph, mint
from tests.spaces.conftest import ScriptedEngine

FIELDS = ("set", "flag", "move", "label")
STEPS = 90  # of one schedule


@dataclass
class Seat:
    """A member of the open Space whose frames arrive when the schedule says so, or never."""

    client: str
    name: str = "tester"
    replica: Replica = field(default_factory=lambda: Replica(""))
    inbox: deque[Frame] = field(default_factory=deque)
    gone: bool = True

    def send(self, frame: wire.ServerFrame) -> None:
        if not isinstance(frame, wire.Diagnosed):
            self.inbox.append(received(wire.encode(frame)))

    def begin(self, log: Log) -> None: ...

    def wake(self) -> None: ...

    def leave(self, reason: Reason, why: str) -> None:
        self.gone = True


def received(data: bytes) -> Frame:
    frame: Any = codec.decode(data)
    assert isinstance(frame, dict)
    return frame


@dataclass
class Count:
    schedules: int = 0
    pushes: int = 0
    overtaken: int = 0
    refused: int = 0
    returns: int = 0

    def __str__(self) -> str:
        more = f"{self.overtaken} keys overtaken, {self.refused} ops refused, {self.returns} returns"
        return f"{self.schedules} schedules, {self.pushes} pushes, {more}"


class Schedule:
    """One seeded order of events among a few clients."""

    def __init__(self, seed: int, clients: int, store: Store, catalogue: Catalogue, count: Count) -> None:
        self.random = Random(seed)
        self.store, self.count = store, count
        self.space = mint(self.random)
        store.add_space(self.space, "Schedule", igb.write(large_graph(6, seed)))

        async def scripted() -> ScriptedEngine:
            return ScriptedEngine()

        self.spaces = OpenSpaces(store, Runs(Engine(scripted), store, lambda space: None), catalogue)
        self.seats = [Seat(f"c00000000{at}", replica=Replica(f"c00000000{at}")) for at in range(clients)]
        self.writers: dict[tuple[Any, ...], str] = {}  # who wrote what last, kept by this test
        self.expected: dict[str, list[tuple[list[Any], str]]] = {seat.client: [] for seat in self.seats}
        self.unsure: set[str] = set()  # clients that came back without some of their answers

    async def run(self) -> None:
        self.open: OpenSpace = await self.spaces.get(self.space)
        for seat in self.seats:
            await self.come(seat)
        for _ in range(STEPS):
            seat = self.random.choice(self.seats)
            what = self.random.choices((self.edit, self.deliver, self.push, self.come, self.save), (40, 30, 30, 3, 3))
            await what[0](seat)
        for _ in range(3):  # an answer may let another push go
            for seat in self.seats:
                await self.push(seat)
            for seat in self.seats:
                while seat.inbox:
                    await self.deliver(seat)
        self.compare()
        self.spaces.close()

    async def come(self, seat: Seat) -> None:
        """Join, or come back: what was on its way to this client is lost, and its open push goes again."""
        self.open.leave(seat)
        self.count.returns += seat.replica.seq >= 0
        if seat.inbox:
            self.unsure.add(seat.client)
        seat.inbox.clear()
        seat.gone = False
        welcome = await self.open.join(seat)
        seat.replica.take(received(wire.encode(welcome)))
        if seat.replica.sent is not None:
            await self.pushed(seat, seat.replica.sent)

    async def edit(self, seat: Seat) -> None:
        seat.replica.queued += gesture(self.random, seat.replica.shown)

    async def deliver(self, seat: Seat) -> None:
        if seat.inbox:
            seat.replica.take(seat.inbox.popleft())

    async def push(self, seat: Seat) -> None:
        frame = seat.replica.next_push()
        if frame is not None:
            self.count.pushes += 1
            await self.pushed(seat, frame)

    async def pushed(self, seat: Seat, frame: Frame) -> None:
        before, seq, waiting = self.open.room.graph, self.open.room.seq, len(seat.inbox)
        read = wire.decode(codec.encode(frame))
        assert isinstance(read, wire.Push)
        await self.open.push(seat, read)
        ops = [op_from_value(value) for value in frame["ops"]]
        answers = {answer["type"] for answer in list(seat.inbox)[waiting:]}
        if self.open.room.seq > seq or "patched" in answers:  # else it is a repeat, or nothing of it stands
            self.expected[seat.client] += self.overtaken(before, ops)
        if self.open.room.seq > seq:
            applied = self.open.room.since[-1][1]
            self.writers |= {(op.kind, *op.key): seat.client for op in applied}
            assert igb.write(apply_ops(before, applied)) == igb.write(self.open.room.graph)

    def overtaken(self, before: Graph, ops: list[Op]) -> list[tuple[list[Any], str]]:
        """The fields that this push writes over something its author had not seen."""
        found: list[tuple[list[Any], str]] = []
        seen: set[tuple[Any, ...]] = set()
        whole: set[str | int] = set()  # nodes that this push made or took away so far
        for op in ops:
            key = (op.kind, *op.key)
            there = op.key[0] in before.nodes
            if op.kind == "node+" or (op.kind == "node-" and there):
                whole.add(op.key[0])
            if op.kind not in FIELDS or key in seen or op.key[0] in whole:
                continue
            if not there and (op.new or op.kind in ("set", "flag")):
                continue  # refused; what went along with a node that another deleted first was overtaken by that
            seen.add(key)
            if value_in(before, op) != list(op.old):
                found.append((list(key), self.writers.get(key, "")))
        return found

    async def save(self, seat: Seat) -> None:
        frame = wire.Save([seat.client, 10_000 + self.open.room.seq], seat.replica.seq, seat.replica.version, "")
        try:
            await self.open.save(seat, frame)
        except Refused as refused:
            assert refused.refusal.code == "stale"

    def compare(self) -> None:
        data = igb.write(self.open.room.graph)
        for seat in self.seats:
            assert seat.replica.settled and seat.replica.seq == self.open.room.seq
            assert igb.write(seat.replica.confirmed) == data
            assert igb.write(seat.replica.shown) == data
            if seat.client not in self.unsure:
                told = sorted(seat.replica.overtaken, key=repr)
                assert told == sorted(self.expected[seat.client], key=repr)
            self.count.overtaken += len(seat.replica.overtaken)
            self.count.refused += len(seat.replica.refused)
        again = self.spaces.load(self.space)
        assert igb.write(again.room.graph) == data, "the journal tells of another graph"
        first = igb.read(self.store.space(self.space).snapshot)
        journal = self.store.journal_after(self.space, 0)
        assert [row.seq for row in journal] == list(range(1, self.open.room.seq + 1))
        for row in journal:
            first = apply_ops(first, decode_ops(row.ops or b"\x80"))
        assert igb.write(first) == data


def value_in(graph: Graph, op: Op) -> list[Any]:
    """What stands at a field, in the form of an op's `old`."""
    name = str(op.key[0])
    if op.kind in ("set", "flag"):
        node = graph.nodes[name]
        values: Any = node.params if op.kind == "set" else node.flags
        return [values[op.key[1]]] if op.key[1] in values else []
    if op.kind == "label":
        return [graph.labels[name]] if name in graph.labels else []
    return [graph.positions[name]] if name in graph.positions else []


def schedules(data: Path, number: int, clients: int) -> Count:
    """Each is its seed: a failure names it, and `STEPS` may be lowered to shorten it."""
    count, catalogue = Count(), load_catalogue()
    data.mkdir()
    store = Store(data / "spaces.db")
    for seed in range(number):
        try:
            asyncio.run(Schedule(seed, clients, store, catalogue, count).run())
        except AssertionError as error:
            raise AssertionError(f"schedule {seed} of {clients} clients: {error}") from error
        count.schedules += 1
    store.close()
    return count


@pytest.mark.slow
@pytest.mark.parametrize("clients", [2, 5])
def test_clients_in_any_order_end_equal_with_the_server(tmp_path: Path, clients: int) -> None:
    count = schedules(tmp_path / "data", 20, clients)
    print(f"{clients} clients: {count}")
    assert count.overtaken and count.refused and count.returns


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("clients", [2, 5])
def test_three_hundred_orders_of_clients_end_equal_with_the_server(tmp_path: Path, clients: int) -> None:
    began = time.monotonic()
    count = schedules(tmp_path / "data", 300, clients)
    print(f"{clients} clients: {count}; {time.monotonic() - began:.0f} s")
