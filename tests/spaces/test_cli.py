"""`spaces serve` as a person starts it: ports, messages, the real model, and nothing left behind."""

import contextlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from spaces import cli
from spaces.errors import PortTaken
from tests.spaces.conftest import Peer, get, wait_for

SPACES = [sys.executable, "-m", "spaces.cli"]


def test_a_port_that_was_asked_for_and_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PortTaken, match="in use; give another --port"):
        cli.listen("127.0.0.1", taken.getsockname()[1])


def test_without_a_port_the_next_free_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(cli, "FIRST_PORT", taken.getsockname()[1])
        with cli.listen("127.0.0.1", None) as found:
            assert taken.getsockname()[1] < found.getsockname()[1] < taken.getsockname()[1] + cli.PORTS_TRIED


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["token", "x"]])
@pytest.mark.parametrize("what", ["a file", "no database", "a newer database"])
def test_unusable_data_is_refused_in_one_line(
    command: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    if what == "a file":
        data.touch()
    else:
        data.mkdir()
        with contextlib.closing(sqlite3.connect(data / "spaces.db")) as made, made:
            made.execute("create table alembic_version (version_num varchar(32) primary key)")
            made.execute("insert into alembic_version values ('9999_later')")
    if what == "no database":
        (data / "spaces.db").write_bytes(b"no database" * 500)
    monkeypatch.setattr(sys, "argv", ["spaces", *command, "--data", str(data)])
    assert cli.main() == 1
    said = capsys.readouterr().err
    assert str(data) in said
    assert said.startswith("spaces: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--port", "-1"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "²"],
        ["token", "\udcff"],
        ["token", ""],
    ],
)
def test_what_cannot_be_meant_is_bad_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.parser().parse_args(arguments)
    assert caught.value.code == 2


def test_another_address_needs_the_explicit_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = cli.parser().parse_args(["serve", "--host", "0.0.0.0", "--data", str(tmp_path / "data")])
    assert arguments.command(arguments) == 2
    assert "--expose" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("text", "size"), [("0", 0), ("4096", 4096), ("512MiB", 512 << 20), ("2 GiB", 2 << 30)])
def test_sizes_are_read_with_their_units(text: str, size: int) -> None:
    assert cli.byte_count(text) == size


@pytest.mark.parametrize("text", ["", "-1", "2GB", "1.5GiB", "x"])
def test_a_size_of_another_form_is_bad_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.parser().parse_args(["serve", "--kv-pool", text])
    assert (caught.value.code, "size such as" in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize("text", ["65536", "-1", "http", "9" * 5000])
def test_a_port_that_no_machine_has_is_bad_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.parser().parse_args(["serve", "--port", text])
    assert (caught.value.code, "a port from 0 to 65535" in capsys.readouterr().err) == (2, True)


@contextmanager
def serving(data: Path) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """A server process, its address and token; killed when a test fails before it stopped it."""
    command = [*SPACES, "serve", "--port", "0", "--data", str(data), "--kv-pool", "256MiB"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.match(r"Spaces: (http://127\.0\.0\.1:\d+)/\?token=(\S+)", process.stdout.readline())
        assert found is not None
        yield process, found[1], found[2]
    finally:
        process.kill()
        process.communicate()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def joined(url: str, token: str) -> Peer:
    bearer = {"authorization": f"Bearer {token}"}
    (space,) = get(f"{url}/api/spaces", headers=bearer).json()
    address = url.replace("http", "ws", 1) + f"/ws/spaces/{space['id']}"
    peer = Peer(connect(address, additional_headers=bearer, proxy=None, legacy=True), "c000000001")
    peer.send(type="hello", protocol=1, client=peer.client)
    return peer


@pytest.mark.model
@pytest.mark.slow
def test_the_first_space_streams_real_tokens_cancels_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, token):
        peer = joined(url, token)
        graph = peer.until("welcome")["igb"]
        peer.send(type="run", run="r000000001", igb=graph)
        events = peer.events("r000000001")
        streamed = [event for event in events if event["kind"] == "tokens"]
        assert len(streamed) >= 2 and streamed[0]["seq"] < events[-1]["seq"]
        ended: dict[str, Any] = events[-1]["data"]
        assert ended["status"] == "done" and ended["outputs"]["summary"].strip()
        assert "".join(event["data"]["text"] for event in streamed) == ended["outputs"]["summary"]
        pools = [event["data"] for event in events if event["kind"] == "pool"]
        assert (pools[-1]["steps_reserved"], pools[-1]["kv_reserved"], pools[-1]["dots"]) == (0, 0, 0)

        peer.send(type="run", run="r000000002", igb=graph)
        while peer.until("event")["kind"] != "tokens":
            pass
        peer.send(type="cancel", run="r000000002")
        assert peer.events("r000000002")[-1]["data"]["status"] == "cancelled"

        second = subprocess.run([*SPACES, "serve", "--data", str(tmp_path)], capture_output=True, text=True)
        assert (second.returncode, f"process {process.pid}" in second.stderr) == (1, True)

        host = get(f"{url}/api/engine", headers={"authorization": f"Bearer {token}"}).json()["pid"]
        peer.send(type="run", run="r000000003", igb=graph)
        while peer.until("event")["kind"] != "tokens":
            pass
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert (process.returncode, "Traceback" in errors) == (0, False)
        assert time.monotonic() - began < 10
        peer.socket.close()
        wait_for(lambda: not alive(host))


@pytest.mark.model
@pytest.mark.slow
def test_a_killed_host_ends_its_run_and_the_next_run_has_a_new_one(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, token):
        bearer = {"authorization": f"Bearer {token}"}
        peer = joined(url, token)
        graph = peer.until("welcome")["igb"]
        peer.send(type="run", run="r000000001", igb=graph)
        while peer.until("event")["kind"] != "tokens":
            pass
        os.kill(get(f"{url}/api/engine", headers=bearer).json()["pid"], signal.SIGKILL)
        ended = peer.events("r000000001")[-1]["data"]
        assert ended["status"] == "failed" and "signal 9" in ended["reason"]
        peer.send(type="run", run="r000000002", igb=graph)
        assert peer.events("r000000002")[-1]["data"]["status"] == "done"
        peer.socket.close()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 0
