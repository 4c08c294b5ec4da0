"""The journal of an open Space: the graph is written as a whole now and then, and what is too long is refused."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dots import codec
from dots.components import catalogue
from igc import igb
from igc.graph import Graph
from spaces import journal as journals
from spaces import room as rooms
from spaces.errors import Reason, Refused
from spaces.journal import Journal
from spaces.members import Members
from spaces.room import Room, decode_ops, read_ops
from spaces.store import Store
from spaces.versions import Versions

SPACE, NODE, CLIENT = "s000000001", "n000000001", "c000000001"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "spaces.db")
    opened.add_space(SPACE, "Journal", igb.write(Graph()))
    yield opened
    opened.close()


def opened(store: Store) -> Journal:
    row = store.space(SPACE)
    rows = store.journal_after(SPACE, row.snapshot_seq)
    since = [(entry.seq, entry.client, decode_ops(entry.ops or b"\x80")) for entry in rows]
    return Journal(SPACE, Room.opened(igb.read(row.snapshot), row.snapshot_seq, since), store.counters(SPACE), store)


async def push(journal: Journal, *ops: list[Any]) -> None:
    counter = journal.counters.get(CLIENT, -1) + 1
    await journal.take(CLIENT, counter, CLIENT, journal.room.plan(read_ops(ops)))


def test_the_database_gets_the_whole_graph_again_after_many_pushes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "HISTORY", 10)
    journal = opened(store)
    snapshots = []

    async def pushes() -> None:
        await push(journal, ["node+", [NODE], ["text.input", 1, {}, {}]])
        for x in range(1, 30):
            await push(journal, ["move", [NODE], [[x - 1, 0]] if x > 1 else [], [[x, 0]]])
            row = store.space(SPACE)
            snapshots.append((row.snapshot_seq, igb.read(row.snapshot).positions.get(NODE)))

    asyncio.run(pushes())
    # The node came with the first push, so the second moved it to 1.
    assert list(dict.fromkeys(snapshots)) == [(0, None), (11, (10, 0)), (17, (16, 0)), (23, (22, 0)), (29, (28, 0))]
    assert igb.write(opened(store).room.graph) == igb.write(journal.room.graph)


def test_a_restore_that_one_push_cannot_hold_is_refused_and_changes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(store)
    versions = Versions(None, journal, Members(), store, catalogue())

    def too_long(ops: object) -> bytes:
        raise codec.Unencodable("size", "at most 16 MiB", "more")

    async def restored() -> None:
        empty = Graph()
        assert await versions.take_file(empty, igb.write(empty), None, "empty", "t") is not None
        await push(journal, ["node+", [NODE], ["text.input", 1, {}, {}]])
        monkeypatch.setattr(journals, "encode_ops", too_long)
        await versions.restore(1, "", "t")

    with pytest.raises(Refused) as error:
        asyncio.run(restored())
    assert (error.value.reason, error.value.refusal.where) == (Reason.TOO_LARGE, "version 1")
    assert (list(journal.room.graph.nodes), journal.room.seq) == ([NODE], 1)
