"""A host as its owner sees it: runs, refusals, cancel, and what happens when either side dies."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from dots import frames
from dots.client import Client
from dots.errors import Code, HostLost, Refused
from dots.events import Event
from dots.program import Limits, write
from tests.dots.world import data, generate, program, pure, story

SOURCE, MODEL_NODE = "aaaaaaaaaa", "bbbbbbbbbb"  # files hold real ids
INPUT = pure(SOURCE, "text.input", {"name": "text", "text": "hello"}, {"given": 0}, text=1)
PLAIN = write(program(INPUT, inputs={"text": 0}, out=1))
MODEL = "smollm2-135m-instruct"
LONG = write(
    program(
        INPUT,
        generate(MODEL_NODE, 1, 2, Limits(2000, 1 << 20, 60), model=MODEL, max_tokens=2000),
        inputs={"text": 0},
        out=2,
    )
)


@pytest.fixture(autouse=True)
def one_kernel_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run side by side; kernels that wait for each other's threads would make them wait for minutes."""
    monkeypatch.setenv("SPACES_THREADS", "1")


def with_client(test: Callable[[Client], Awaitable[None]]) -> None:
    async def inside() -> None:
        client = await Client.start(kv_pool=256 << 20)
        try:
            await asyncio.wait_for(test(client), 60)
        finally:
            await client.close()

    asyncio.run(inside())


async def events(client: Client, run: str, compiled: bytes = PLAIN, **inputs: Any) -> list[Event]:
    return [event async for event in client.run(run, compiled, inputs, "space")]


def test_a_run_without_a_model_goes_through_while_the_model_loads() -> None:
    async def test(client: Client) -> None:
        told = await events(client, "r1", text="bye")
        assert story(told) == [(None, "started"), (SOURCE, "running"), (SOURCE, "done"), (None, "ended")]
        assert data(told, "ended")["outputs"] == {"out": "bye"}
        status = await client.status()
        assert (status["device"], status["model"], status["kv_total"]) == ("cpu", MODEL, 256 << 20)
        assert (status["kv_committed"], status["kv_reserved"], status["steps_reserved"], status["dots"]) == (0, 0, 0, 0)

    with_client(test)


def test_what_is_no_program_or_no_known_input_is_refused() -> None:
    async def test(client: Client) -> None:
        for compiled, inputs, where in (
            (b"nonsense", {}, "program"),
            (PLAIN[:-1], {}, "program"),
            (PLAIN, {"x": 1}, "inputs"),
        ):
            with pytest.raises(Refused) as caught:
                await events(client, "r", compiled, **inputs)
            assert (caught.value.failure.code, caught.value.failure.where) == (Code.INVALID_VALUE, where)
        assert data(await events(client, "r"), "ended")["status"] == "done"

    with_client(test)


def test_a_host_that_is_killed_is_told_once_and_ends_its_runs() -> None:
    async def test(client: Client) -> None:
        pid = (await client.status())["pid"]
        told = []
        with pytest.raises(HostLost, match="signal 9"):
            async for event in client.run("r", LONG, {}, "space"):
                told.append(event)
                os.kill(pid, signal.SIGKILL)
        assert await client.lost == "the engine host ended with signal 9"
        with pytest.raises(HostLost):
            await client.status()
        with pytest.raises(HostLost):
            await events(client, "r2")
        await client.cancel("r")

    with_client(test)


def test_close_ends_the_process_and_may_be_called_twice() -> None:
    async def test(client: Client) -> None:
        pid = (await client.status())["pid"]
        await client.close()
        await client.close()
        assert not is_alive(pid)
        assert client.lost.cancelled()

    with_client(test)


def test_a_model_nobody_knows_is_reported_and_plain_runs_go_on() -> None:
    async def inside() -> None:
        client = await Client.start(model="no-such-model", kv_pool=1 << 20)
        try:
            status = await client.loaded()
            assert status["state"] == "failed"
            assert "no-such-model" in status["reason"]
            assert data(await events(client, "r"), "ended")["status"] == "done"
        finally:
            await client.close()

    asyncio.run(inside())


def host(*options: str) -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "dots.host", "--fd", str(theirs.fileno()), "--model", "none", *options]
        return subprocess.Popen(command, pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE), ours


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"\xff\xff\xff\xff", "at most 16777216 bytes"),
        (b"\x01\x00\x00\x00\xff", "reserved|indefinite|simple"),
        (frames.HEAD.pack(1) + b"\x00", "expected a map"),
        (frames.pack({"type": "dance"}), "expected hello, run, cancel, status or stop"),
        (frames.pack({"type": "run", "run": "r", "program": "text", "inputs": {}, "space": ""}), "expected hello, run"),
        (frames.pack({"type": "hello", "protocol": 2}), "expected hello, run"),
    ],
)
def test_nonsense_on_the_socket_ends_the_host_with_a_reason(said: bytes, answer: str) -> None:
    process, sock = host("--kv-pool", "1048576")
    with sock:
        sock.sendall(said)
        _, complaint = process.communicate(timeout=30)
    assert process.returncode == 2
    assert any(word in complaint.decode() for word in answer.split("|")), complaint


def test_the_host_dies_with_its_owner() -> None:
    code = (
        "import asyncio\nfrom dots.client import Client\n"
        "async def main():\n client = await Client.start(kv_pool=1 << 20)\n"
        " print((await client.status())['pid'], flush=True)\n await asyncio.sleep(60)\nasyncio.run(main())"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    end = monotonic() + 10
    while is_alive(pid) and monotonic() < end:
        sleep(0.02)
    assert not is_alive(pid)


def is_alive(pid: int) -> bool:
    """Running; a zombie that nobody reaps is not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.model
def test_tokens_stream_and_a_cancelled_run_leaves_nothing_reserved() -> None:
    async def test(client: Client) -> None:
        status = await client.loaded()
        assert status["state"] == "ready"
        told: list[Event] = []
        async for event in client.run("r", LONG, {"text": "Once upon a time"}, "space"):
            told.append(event)
            if event.kind == "tokens" and event.data["steps"] > 3:
                await client.cancel("r")
        assert story(told)[-2:] == [(MODEL_NODE, "cancelled"), (None, "ended")]
        assert data(told, "started")["digest"] == status["digest"]
        last = [e.data for e in told if e.kind == "pool"][-1]
        assert {last[k] for k in ("kv_used", "kv_committed", "kv_reserved", "steps_reserved", "dots")} == {0}

    with_client(test)


@pytest.mark.model
def test_leaving_a_run_early_cancels_it() -> None:
    async def test(client: Client) -> None:
        await client.loaded()
        run = client.run("r", LONG, {"text": "Once upon a time"}, "space")
        async for event in run:
            if event.kind == "tokens":
                break
        assert (await client.status())["dots"] == 1
        await run.aclose()  # type: ignore[attr-defined]
        for _ in range(500):  # each answer comes between two steps
            if not (await client.status())["dots"]:
                break
        else:
            raise AssertionError("the run goes on")

    with_client(test)
