"""Settings of one server: values only, made by the command line or a test; nothing reads the environment later."""

import getpass
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def data_home() -> Path:
    """`SPACES_HOME`, else `~/.local/share/spaces`."""
    home = os.environ.get("SPACES_HOME")
    return Path(home) if home else Path.home() / ".local" / "share" / "spaces"


def user_name() -> str:
    """Who saves versions from the browser; machines without a user database have no name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "local"


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # further host names under which this server may be reached
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    user: str = field(default_factory=user_name)
    dist: Path = ROOT / "frontend" / "dist"
    model: str = "smollm2-135m-instruct"
    executor: str = "auto"
    kv_pool: int | None = None  # bytes; None: the engine's default

    @property
    def database(self) -> Path:
        return self.data / "spaces.db"

    @property
    def hosts(self) -> frozenset[str]:
        """Host headers that this server answers."""
        own = self.host if ":" not in self.host else f"[{self.host}]"
        return frozenset(f"{name}:{self.port}".lower() for name in (*LOOPBACK, own, *self.names))

    @property
    def origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self.hosts)

    @property
    def url(self) -> str:
        shown = self.host if ":" not in self.host else f"[{self.host}]"
        return f"http://{shown}:{self.port}/?token={self.token}"
