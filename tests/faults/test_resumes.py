"""A resume beside the start of its run."""

import asyncio
import threading
from pathlib import Path

from dots.components import catalogue
from igc import igb
from spaces import tables
from spaces.engine import Engine
from spaces.graphs import compiled
from spaces.runs import Runs
from spaces.store import Store
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import ScriptedEngine


class SlowTable(Store):
    """Reads the table of runs only when the test says so."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked, self.go = threading.Event(), threading.Event()
        self.slow = False

    def run(self, run: str) -> tables.Run | None:
        if self.slow:
            self.slow = False
            self.asked.set()
            assert self.go.wait(10)
        return super().run(run)


def test_a_run_asked_for_while_it_begins_is_followed_to_its_true_end(tmp_path: Path) -> None:
    """A client comes back before the `run` frame of its old link is read: it is told the run, not an end."""

    async def race() -> list[str]:
        async def scripted() -> ScriptedEngine:
            return ScriptedEngine()

        store = SlowTable(tmp_path / "spaces.db")
        components = catalogue()
        graph = build(TEMPLATES["summary"], components)
        store.add_space("s000000001", "Race", igb.write(graph))
        engine = Engine(scripted)
        engine.open()
        runs = Runs(engine, store, lambda space: None)
        store.slow = True
        resumed = asyncio.create_task(runs.log("r000000001", "s000000001"))
        await asyncio.to_thread(store.asked.wait, 10)
        started = await runs.start("r000000001", "s000000001", compiled(graph, components), {})
        store.go.set()
        log = await resumed
        assert started is log and runs.live[log.run].task is not None
        await runs.live[log.run].task
        await runs.close()
        await engine.close()
        store.close()
        return [told.entry.data["status"] for told in log.read(0) if told.entry.kind == "ended"]

    assert asyncio.run(race()) == ["done"]
