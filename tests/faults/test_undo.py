"""Undo with others present: the editor's own store under node, two or five of it, against a real server over sockets.

`undo.mjs` plays seeded schedules of gestures, undo, redo, pushes, deliveries and lost links; `undo_law.mjs` says what
an undo owes: what nobody else wrote since is as it was before the gesture, what someone else wrote stays and is named,
and undo then redo with nothing between gives the same bytes. A schedule that fails is printed with its seed, shrunk.
"""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.serving import Served
from tests.spaces.conftest import TOKEN

SCRIPT = Path(__file__).with_name("undo.mjs")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path / "data")
    yield served
    served.kill()


# One writes a text; another, who heard of it, writes a text and deletes the node in one push, and undoes the latter.
BROUGHT_BACK = [
    *(["set", 0, 1, 1], ["push", 0, 0, 0], ["listen", 1, 0, 0]),
    *(["set", 1, 1, 2], ["remove", 1, 1, 0], ["push", 1, 0, 0], ["listen", 1, 0, 0]),
    *(["undo", 1, 0, 0], ["push", 1, 0, 0], ["listen", 0, 0, 0], ["undo", 0, 0, 0]),
]


def schedules(server: Served, clients: int, number: int, seed: int, **more: object) -> dict[str, int]:
    """Counts of what was played. Node 20 knows WebSocket behind a flag."""
    given = {"base": f"http://127.0.0.1:{server.port}", "token": TOKEN, "clients": clients}
    given |= {"schedules": number, "seed": seed, **more}
    command = ["node", "--experimental-websocket", "--no-warnings", str(SCRIPT), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{clients} clients: {done.stdout}{done.stderr[-2000:]}"
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("clients", [2, 5])
def test_an_undo_restores_exactly_what_is_still_its_own(server: Served, clients: int) -> None:
    count = schedules(server, clients, 16, 7)
    print(f"{clients} clients: {count}")
    assert count["schedules"] == 16
    assert all(count[what] for what in ("undone", "partly", "redone", "equal", "returns"))


@pytest.mark.slow
def test_a_node_brought_back_with_a_new_text_keeps_it(server: Served) -> None:
    count = schedules(server, 2, 1, 1, steps=BROUGHT_BACK)
    assert (count["undone"], count["partly"]) == (2, 1)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("clients", [2, 5])
def test_three_hundred_schedules_of_undo_restore_exactly_what_is_still_their_own(server: Served, clients: int) -> None:
    began = time.monotonic()
    count = schedules(server, clients, 300, 1)
    print(f"{clients} clients: {count}; {time.monotonic() - began:.0f} s")
    assert count["schedules"] == 300
    assert all(count[what] > 20 for what in ("undone", "partly", "redone", "equal", "returns"))
