"""Tables of the database, values only; `store.py` alone queries them, Alembic alone changes them.

Table models do not validate: what goes in was checked by `wire.py` or a route.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, LargeBinary, MetaData, TypeDecorator
from sqlalchemy.engine import Dialect
from sqlmodel import Field, SQLModel

SQLModel.metadata.naming_convention = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
).naming_convention
metadata = SQLModel.metadata


class UtcTime(TypeDecorator[datetime]):
    """SQLite drops the zone; what is stored is UTC and comes back as UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    return datetime.now(UTC)


def iso(time: datetime) -> str:
    """A time as frames and JSON tell it."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_column(**options: Any) -> Any:
    return Column(UtcTime, **options)


class Space(SQLModel, table=True):
    """A named graph. The Room is `snapshot` (an `.igb`, as of `snapshot_seq`) plus the journal after it."""

    __tablename__ = "space"
    id: str = Field(primary_key=True)
    name: str
    snapshot: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    snapshot_seq: int = 0
    seq: int = 0  # of the newest applied push
    created: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))
    changed: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))


class Journal(SQLModel, table=True):
    """One push as it was applied. `ops` is empty when nothing of it stood; the row then only answers a repeat."""

    __tablename__ = "journal"
    space: str = Field(primary_key=True, foreign_key="space.id", ondelete="CASCADE")
    client: str = Field(primary_key=True)
    counter: int = Field(primary_key=True)
    seq: int = Field(index=True)
    ops: bytes | None = Field(default=None, sa_column=Column(LargeBinary, nullable=True))
    time: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))


class File(SQLModel, table=True):
    """Stored bytes by SHA-256: an `.igb`, `.patch` or `.dotbin`."""

    __tablename__ = "file"
    hash: bytes = Field(sa_column=Column(LargeBinary(32), primary_key=True))
    kind: str
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


def file_reference(nullable: bool = False) -> Any:
    return Column(LargeBinary(32), nullable=nullable)


class Version(SQLModel, table=True):
    __tablename__ = "version"
    __table_args__ = (
        ForeignKeyConstraint(["file"], ["file.hash"]),
        ForeignKeyConstraint(["patch"], ["file.hash"]),
        ForeignKeyConstraint(["dotbin"], ["file.hash"]),
    )
    space: str = Field(primary_key=True, foreign_key="space.id", ondelete="CASCADE")
    number: int = Field(primary_key=True)
    message: str
    author: str
    created: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))
    file: bytes = Field(sa_column=file_reference())
    sem: bytes = Field(sa_column=Column(LargeBinary(32), nullable=False))
    patch: bytes | None = Field(default=None, sa_column=file_reference(nullable=True))
    dotbin: bytes | None = Field(default=None, sa_column=file_reference(nullable=True))


class Run(SQLModel, table=True):
    __tablename__ = "run"
    id: str = Field(primary_key=True)
    space: str = Field(foreign_key="space.id", ondelete="CASCADE", index=True)
    sem: bytes = Field(sa_column=Column(LargeBinary(32), nullable=False))
    status: str  # running, done, failed or cancelled
    reason: str | None = None
    started: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))
    ended: datetime | None = Field(default=None, sa_column=time_column(nullable=True))


class RunTail(SQLModel, table=True):
    """The events of an ended run, folded: one codec item."""

    __tablename__ = "run_tail"
    run: str = Field(primary_key=True, foreign_key="run.id", ondelete="CASCADE")
    events: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Token(SQLModel, table=True):
    """A bearer token of a program, by its SHA-256."""

    __tablename__ = "token"
    hash: bytes = Field(sa_column=Column(LargeBinary(32), primary_key=True))
    name: str
    created: datetime = Field(default_factory=now, sa_column=time_column(nullable=False))
