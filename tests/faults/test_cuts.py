"""Sockets are cut at random moments during edits and runs: texts complete, no gap, no duplicate, bytes equal."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from dots.components import catalogue
from igc import igb
from igc.graph import Graph
from igc.patch import apply_ops
from spaces.templates import TEMPLATES, build
from tests.faults.gestures import gesture, large_graph, mint, op_of
from tests.faults.proxy import HALF, Proxy
from tests.faults.seat import Seat
from tests.spaces.conftest import Running, running

WORDS = 120
TEXT = "".join(f"word{n} " for n in range(WORDS))
SETTLED_SECONDS = 20.0


@dataclass
class Writer:
    """A seat with a node of its own: the number it writes there counts its edits."""

    seat: Seat
    node: str
    theirs: frozenset[str]  # the nodes of all writers, which nothing else touches
    edits: int = 0
    runs: int = 0

    def edit(self, random: Random) -> None:
        shared = gesture(random, self.seat.replica.shown)
        self.seat.edit([op for op in shared if not self.theirs & {str(part) for part in op.key}])
        there = self.seat.replica.shown.nodes[self.node].params["text"]
        assert there == str(self.edits)
        self.edits += 1
        self.seat.edit([op_of("set", [self.node, "text"], [there], [str(self.edits)])])

    def run(self, random: Random, program: bytes) -> None:
        if sum(run.status is None for run in self.seat.runs.values()) < 2:
            self.seat.run(mint(random), program)
            self.runs += 1


def setting(random: Random) -> tuple[Graph, frozenset[str]]:
    """A graph, and two nodes of it for the writers."""
    own = frozenset((mint(random), mint(random)))
    ops = [op_of("node+", [name], ["text.input", 1, {"text": "0"}, {}]) for name in sorted(own)]
    return apply_ops(large_graph(40), ops), own


def new_space(server: Running, graph: Graph) -> str:
    with server.program() as client:
        made = client.post("/api/spaces/import", params={"name": "Cut"}, content=igb.write(graph))
        return str(made.json()["id"])


def graph_bytes(server: Running, space: str) -> bytes:
    with server.program() as client:
        return client.get(f"/api/spaces/{space}/graph.igb").content


async def cut_and_compare(server: Running, cuts: int, seed: int) -> tuple[Proxy, list[Writer]]:
    """Two writers and a reader, until so many cuts were made and everything has come to rest."""
    random = Random(seed)
    graph, own = setting(random)
    space = await asyncio.to_thread(new_space, server, graph)
    proxy = Proxy(server.settings.port)
    await proxy.open()
    people = [
        Writer(Seat(server.settings.port, proxy.port, space, f"c00000000{at}"), name, own)
        for at, name in enumerate(sorted(own))
    ]
    reader = Seat(server.settings.port, proxy.port, space, "c000000009")
    seats = [reader, *(person.seat for person in people)]
    lives = [asyncio.create_task(seat.live()) for seat in seats]
    program = igb.write(build(TEMPLATES["summary"], catalogue()))
    try:
        await until(lambda: all(seat.socket is not None for seat in seats), lives)
        while sum(proxy.cuts.values()) < cuts:
            await asyncio.sleep(random.uniform(0.0, 0.06))
            alive(lives)
            for person in people:
                if random.random() < 0.7:
                    person.edit(random)
                if random.random() < 0.3:
                    person.run(random, program)
            if random.random() < 0.35:
                proxy.cut_somewhere(random)
        for pair in proxy.pairs:
            pair.due = None
        await until(lambda: all(seat.settled for seat in seats), lives)
        # A frame that is still on its way to someone comes before the answer to a last edit of theirs.
        newest = max(seat.replica.seq for seat in seats)
        await until(lambda: all(seat.replica.seq == newest for seat in seats), lives)
        data = await asyncio.to_thread(graph_bytes, server, space)
    finally:
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
        await proxy.close()
    for seat in seats:
        assert igb.write(seat.replica.confirmed) == data
        assert igb.write(seat.replica.shown) == data
    for person in people:
        assert igb.read(data).nodes[person.node].params["text"] == str(person.edits)
        for run in person.seat.runs.values():
            assert (run.status, list(run.texts.values())) == ("done", [TEXT])
    return proxy, people


def alive(lives: list["asyncio.Task[None]"]) -> None:
    for life in lives:
        if life.done():
            life.result()


async def until(holds: Callable[[], bool], lives: list["asyncio.Task[None]"]) -> None:
    async with asyncio.timeout(SETTLED_SECONDS):
        while not holds():
            alive(lives)
            await asyncio.sleep(0.01)


def report(proxy: Proxy, people: list[Writer], seconds: float) -> str:
    edits, runs = sum(p.edits for p in people), sum(p.runs for p in people)
    half = sum(proxy.cuts.get(mode, 0) for mode in HALF)
    total = sum(proxy.cuts.values())
    welcomes = sum(p.seat.welcomes for p in people)
    return f"{total} cuts ({half} half-open), {edits} edits, {runs} runs, {welcomes} welcomes, {seconds:.0f} s"


def cut(data: Path, cuts: int, seed: int) -> str:
    with running(data) as server:
        server.engine.words, server.engine.pause = WORDS, 0.004
        began = time.monotonic()
        proxy, people = asyncio.run(cut_and_compare(server, cuts, seed))
        return report(proxy, people, time.monotonic() - began)


@pytest.mark.slow
def test_cut_links_lose_and_repeat_nothing(tmp_path: Path) -> None:
    print(cut(tmp_path / "data", 15, seed=5))


@pytest.mark.slow
@pytest.mark.long
def test_two_hundred_cuts_lose_and_repeat_nothing(tmp_path: Path) -> None:
    print(cut(tmp_path / "data", 200, seed=11))
