"""A server in a process of its own, to be killed, starved or left unread; the engine is the tests' scripted one.

`python -m tests.faults.serving --data DIR` prints its port. `Served` is the tests' handle on such a process.
"""

import argparse
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import httpx
import uvicorn
from websockets.sync.client import ClientConnection, connect

from spaces.app import create_app
from spaces.cli import server_config
from spaces.database import lock_data
from spaces.settings import Settings
from tests.spaces.conftest import PATIENCE, TOKEN, Peer, ScriptedEngine

ROOT = Path(__file__).resolve().parents[2]
BEARER = {"authorization": f"Bearer {TOKEN}"}


class Served:
    """One life of a server process."""

    living: ClassVar[list["Served"]] = []

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.errors = (data.parent / f"{data.name}.log").open("a+")
        command = [sys.executable, "-m", "tests.faults.serving", "--data", str(data), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=ROOT)
        self.living.append(self)
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"the server did not start: {self.said()[-2000:]}"
        self.port = int(line)

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read()

    def kill(self) -> None:
        """`kill -9`, and nothing is left of it."""
        self.living.remove(self)
        self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stdout
        self.process.stdout.close()
        self.errors.close()

    def http(self) -> httpx.Client:
        url = f"http://127.0.0.1:{self.port}"
        return httpx.Client(verify=False, base_url=url, headers=BEARER, timeout=PATIENCE)

    def connect(self, space: str) -> ClientConnection:
        url = f"ws://127.0.0.1:{self.port}/ws/spaces/{space}"
        return connect(url, additional_headers=BEARER, compression=None, proxy=None, max_size=1 << 20, legacy=True)

    def join(self, space: str, client: str = "c000000001") -> Peer:
        peer = Peer(self.connect(space), client)
        peer.send(type="hello", protocol=1, client=client, resume={})
        return peer

    def memory(self) -> dict[str, int]:
        """Bytes resident now (`VmRSS`) and at most so far (`VmHWM`)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        lines = (line.split() for line in status.splitlines())
        return {words[0][:-1]: int(words[1]) << 10 for words in lines if words[0] in ("VmRSS:", "VmHWM:")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--words", type=int, default=5)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--word", default="word{} ")
    parser.add_argument("--file-limit", type=int, default=0, help="bytes that a file may grow to")
    given = parser.parse_args()

    async def scripted() -> ScriptedEngine:
        engine = ScriptedEngine()
        engine.words, engine.pause, engine.word = given.words, given.pause, given.word
        return engine

    with lock_data(given.data), socket.create_server(("127.0.0.1", 0)) as listening:
        settings = Settings(given.data, token=TOKEN, user="tester", port=listening.getsockname()[1])
        app: Any = create_app(settings, scripted)
        if given.file_limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_limit, given.file_limit))
        server = uvicorn.Server(server_config(app))
        print(settings.port, flush=True)
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
