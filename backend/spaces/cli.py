"""`spaces`: serve the editor, make a token for a program, pull and push graphs. Only results go to stdout."""

import argparse
import asyncio
import contextlib
import logging
import re
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import uvicorn

from spaces import remote
from spaces.app import create_app
from spaces.database import lock_data, make_data
from spaces.errors import PortTaken, SpacesError
from spaces.parts import Parts
from spaces.settings import Settings, data_home
from spaces.store import Store
from spaces.wire import FRAME_LIMIT

FIRST_PORT = 8000
PORTS_TRIED = 50
LOOPBACK = ("127.0.0.1", "localhost", "::1")
STOP_SECONDS = 5


class Server(uvicorn.Server):
    """Says where it serves once it does, and stops in order on the first signal."""

    def __init__(self, config: uvicorn.Config, parts: Parts) -> None:
        super().__init__(config)
        self.parts = parts

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            status = await self.parts.engine.status(0.2)
            loading = "" if status.get("state") == "ready" else "   (the model is still loading)"
            print(f"Spaces: {self.parts.settings.url}{loading}", flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not uvicorn's: that one raises the signal again afterwards, and a stop that was asked for is no failure."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket: on the port asked for, else on the first free one from 8000.

    Raises PortTaken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, None, family)
    except OSError as error:
        raise PortTaken(f"--host {host}: {error.strerror}") from error
    tried = range(FIRST_PORT, FIRST_PORT + PORTS_TRIED) if port is None else (port,)
    for candidate in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if port is not None:
                hint = "give another --port, or none for the first free one"
                raise PortTaken(f"port {port} on {host}: {error.strerror}; {hint}") from error
            continue
        return listening
    raise PortTaken(f"no free port on {host} from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1}")


def plain_text(text: str) -> str:
    """Python keeps argument bytes that are no text as lone surrogates; the database takes none."""
    if not text or not text.isprintable():
        raise argparse.ArgumentTypeError(f"expected printable text, got {text!r}")
    return text


def port_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


def byte_count(text: str) -> int:
    """A size such as 512MiB, 2GiB or a number of bytes."""
    found = re.fullmatch(r"(\d{1,15})\s*(KiB|MiB|GiB)?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 512MiB or 2GiB, got {text!r}")
    return int(found[1]) << {"KiB": 10, "MiB": 20, "GiB": 30}.get(found[2], 0)


def serve(arguments: argparse.Namespace) -> int:
    if arguments.host not in LOOPBACK and not arguments.expose:
        print(
            f"--host {arguments.host} opens this server to other machines; add --expose if that is meant",
            file=sys.stderr,
        )
        return 2
    data: Path = arguments.data
    with contextlib.ExitStack() as held:
        held.enter_context(lock_data(data))
        listening = held.enter_context(listen(arguments.host, arguments.port))
        settings = Settings(
            data=data,
            host=arguments.host,
            port=listening.getsockname()[1],
            names=tuple(arguments.name),
            executor=arguments.executor,
            kv_pool=arguments.kv_pool,
        )
        app = create_app(settings)
        server = Server(server_config(app), app.state.parts)
        server.run(sockets=[listening])
    return 0 if server.started else 3


def server_config(app: object) -> uvicorn.Config:
    """No access log: the way in carries the token in its address."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # uvicorn's protocol type does not know Starlette's
        ws="websockets-sansio",
        ws_max_size=FRAME_LIMIT,
        ws_per_message_deflate=False,
        http="h11",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def token(arguments: argparse.Namespace) -> int:
    """A new bearer token. It is shown once; the database keeps its hash."""
    make_data(arguments.data)
    store = Store(Settings(arguments.data).database)
    made = secrets.token_urlsafe(32)
    store.add_token(made, arguments.name)
    store.close()
    print(made)
    return 0


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="spaces", description=__doc__)
    root.add_argument("--version", action="version", version=f"spaces {version('spaces')}")
    commands = root.add_subparsers(required=True, metavar="command")
    serving = commands.add_parser("serve", help="serve the editor on this machine")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (loopback only, unless --expose)")
    serving.add_argument("--port", type=port_number, help=f"default: the first free one from {FIRST_PORT}")
    serving.add_argument("--expose", action="store_true", help="allow a --host that other machines can reach")
    serving.add_argument("--name", action="append", default=[], help="another host name that may be used to reach it")
    serving.add_argument("--data", type=Path, default=data_home(), help="directory of the database")
    serving.add_argument("--kv-pool", type=byte_count, help="memory for the model's KV cache, such as 2GiB")
    serving.add_argument("--executor", default="auto", help="which executor runs the model")
    serving.set_defaults(command=serve)
    making = commands.add_parser("token", help="make a bearer token for a program")
    making.add_argument("name", type=plain_text, help="who it is for; versions that it saves carry this name")
    making.add_argument("--data", type=Path, default=data_home())
    making.set_defaults(command=token)
    remote.add_commands(commands)
    return root


def main() -> int:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    arguments = parser().parse_args()
    try:
        status: int = arguments.command(arguments)
    except SpacesError as error:
        print(f"spaces: {error}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
