"""Runs beside a slow or a full database: what is told of them is true."""

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import WebSocket

from dots.components import catalogue
from igc import igb
from spaces import tables, wire
from spaces.engine import Engine
from spaces.errors import Reason, Refused
from spaces.graphs import compiled
from spaces.log import Log
from spaces.open_space import OpenSpace
from spaces.runs import Runs
from spaces.socket import Connection
from spaces.store import Store
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import ScriptedEngine

SPACE, RUN = "s000000001", "r000000001"


class TroubledStore(Store):
    """Reads the table of runs only when the test says so, and has no room for an end so many times."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked, self.go = threading.Event(), threading.Event()
        self.slow = False
        self.full = 0

    def run(self, run: str) -> tables.Run | None:
        if self.slow:
            self.slow = False
            self.asked.set()
            assert self.go.wait(10)
        return super().run(run)

    def end_run(self, *facts: Any) -> None:
        if self.full:
            self.full -= 1
            raise Refused(Reason.UNAVAILABLE, "storage", "database", "a disk with room for it", "disk is full")
        super().end_run(*facts)


class Scene:
    """A Space and the runs of a server without sockets."""

    def __init__(self, data: Path) -> None:
        async def scripted() -> ScriptedEngine:
            return ScriptedEngine()

        components = catalogue()
        graph = build(TEMPLATES["summary"], components)
        self.program = compiled(graph, components)
        self.store = TroubledStore(data / "spaces.db")
        self.store.add_space(SPACE, "Trouble", igb.write(graph))
        self.engine = Engine(scripted)
        self.engine.open()
        self.runs = Runs(self.engine, self.store, lambda space: None)

    async def to_the_end(self) -> list[str]:
        """How the run ended, as a reader from the start is told."""
        live = self.runs.live[RUN]
        assert live.task is not None
        await live.task
        return [told.entry.data["status"] for told in live.log.read(0) if told.entry.kind == "ended"]

    async def close(self) -> None:
        await self.runs.close()
        await self.engine.close()
        self.store.close()


def test_a_run_asked_for_while_it_begins_is_followed_to_its_true_end(tmp_path: Path) -> None:
    """A client comes back before the `run` frame of its old link is read: it is told the run, not an end."""

    async def race() -> list[str]:
        scene = Scene(tmp_path)
        scene.store.slow = True
        resumed = asyncio.create_task(scene.runs.log(RUN, SPACE))
        await asyncio.to_thread(scene.store.asked.wait, 10)
        started = await scene.runs.start(RUN, SPACE, scene.program, {})
        scene.store.go.set()
        assert await resumed is started
        ended = await scene.to_the_end()
        await scene.close()
        return ended

    assert asyncio.run(race()) == ["done"]


def test_a_run_that_ends_on_a_full_disk_is_recorded_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spaces.runs.KEEP_AGAIN", 0.01)

    async def fill() -> str:
        scene = Scene(tmp_path)
        scene.store.full = 3
        await scene.runs.start(RUN, SPACE, scene.program, {})
        assert await scene.to_the_end() == ["done"]
        row = scene.store.run(RUN)
        await scene.close()
        assert row is not None
        return row.status

    assert asyncio.run(fill()) == "done"


def test_a_run_whose_end_is_not_yet_recorded_is_told_by_its_log_though_everyone_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All links break as a run ends, and one comes back before the disk has it: the row still says `running`."""
    monkeypatch.setattr("spaces.runs.KEEP_AGAIN", 0.01)

    async def leave() -> list[str]:
        scene = Scene(tmp_path)
        scene.store.full = 1 << 30
        grown = asyncio.Event()
        scene.runs.news = lambda space: grown.set()
        log = await scene.runs.start(RUN, SPACE, scene.program, {})
        while not log.ended:
            await grown.wait()
            grown.clear()
        scene.runs.forget(SPACE)
        told = [
            one.entry.data["status"] for one in (await scene.runs.log(RUN, SPACE)).read(0) if one.entry.kind == "ended"
        ]
        scene.store.full = 0
        task = scene.runs.live[RUN].task
        assert task is not None
        await task
        assert not scene.runs.live
        row = scene.store.run(RUN)
        await scene.close()
        assert row is not None
        return [*told, row.status]

    assert asyncio.run(leave()) == ["done", "done"]


@pytest.mark.parametrize("known", [True, False], ids=["found", "not found"])
def test_a_run_that_begins_between_a_welcome_and_its_resume_is_told_once(tmp_path: Path, known: bool) -> None:
    """It was asked for on the link before: the start follows it for the new link, and so would the resume."""

    async def race() -> tuple[int, bool]:
        scene = Scene(tmp_path)
        connection = Connection(cast(WebSocket, None), "someone")

        class Reopened:
            id, runs = SPACE, scene.runs

        connection.space = cast(OpenSpace, Reopened)
        log = Log(RUN, lambda: None)
        if known:
            scene.store.add_run(RUN, SPACE, b"s" * 32)
        scene.store.slow = True
        taken_up = asyncio.create_task(connection.take_up(wire.Resume(RUN, 0)))
        await asyncio.to_thread(scene.store.asked.wait, 10)
        connection.begin(log)
        connection.logs[RUN] = (log, 3)  # what was sent meanwhile
        scene.store.go.set()
        await taken_up
        await scene.close()
        return connection.logs[RUN][1], connection.logs[RUN][0] is log

    assert asyncio.run(race()) == (3, True)
