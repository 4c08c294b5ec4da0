"""A data directory and the database in it: made, held by one server, opened and migrated. Knows no table."""

import fcntl
import os
from pathlib import Path
from typing import IO, Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DatabaseError

from spaces.errors import DataTaken, DataUnusable
from spaces.settings import ROOT


def make_data(data: Path) -> None:
    """See that a data directory is there and its owner's alone.

    Raises DataUnusable.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        data.chmod(0o700)
    except OSError as error:
        raise DataUnusable(f"--data {data}: {error.strerror}; give a directory that you can write to") from error


def lock_data(data: Path) -> IO[str]:
    """The lock file of a data directory, held until it is closed or this process ends in any way.

    Raises DataUnusable, or DataTaken when another process holds it.
    """
    make_data(data)
    try:
        lock = (data / "server.lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise DataUnusable(f"--data {data}: {error.strerror}; give a directory that you can write to") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise DataTaken(
            f"{data} is in use by another server (process {holder}); stop it or give another --data"
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def connect(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False, "timeout": 10})

    @event.listens_for(engine, "connect")
    def pragmas(connection: Any, record: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def opened(path: Path) -> Engine:
    """A database with the newest tables.

    Raises DataUnusable.
    """
    engine = connect(path)
    try:
        path.touch(mode=0o600, exist_ok=True)
        with engine.connect() as connection:
            config = alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
    except (OSError, DatabaseError, CommandError) as error:
        engine.dispose()
        why = error.orig if isinstance(error, DatabaseError) else error
        raise DataUnusable(f"{path}: expected a database of this version or an older one, got {why}") from error
    return engine
