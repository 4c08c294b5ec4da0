"""All SQL of the server. A transaction is one method; nothing else touches a session, and no method knows a frame.

SQLite in WAL mode, one writer at a time (a lock in this process, a lock file against other processes). Methods block:
the event loop calls them through `asyncio.to_thread`, REST routes run in threads anyway.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from sqlalchemy.exc import OperationalError
from sqlmodel import Session, col, func, select

from spaces import tables
from spaces.database import opened
from spaces.errors import Reason, Refused
from spaces.retention import drop_old_pushes, drop_old_runs, drop_unused_files
from spaces.tables import now

log = logging.getLogger("spaces.store")


@dataclass(frozen=True, slots=True)
class Files:
    """What one save stores, with hashes; a file without content is None."""

    igb: bytes
    patch: bytes | None
    dotbin: bytes | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One journal row to be written: the push, the seq after it, and its ops as encoded (None: nothing stood)."""

    client: str
    counter: int
    seq: int
    ops: bytes | None


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as a list shows it: `version` is the newest of the graph that ran, `replays` whether its events stay."""

    row: tables.Run
    version: int | None
    replays: bool


def missing(what: str, name: str) -> Refused:
    return Refused(Reason.NOT_FOUND, "not_found", what, f"a {what} that exists", name)


class Store:
    """The database of one data directory. Opening migrates it to the newest tables.

    Raises DataUnusable.
    """

    def __init__(self, path: Path) -> None:
        self.engine = opened(path)
        self.writing = RLock()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """All of it stands durably afterwards, or nothing does.

        Raises Refused when the disk does not take it; nothing is lost then, and a later try may do.
        """
        try:
            with self.writing, Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except OperationalError as error:
            got = str(error.orig)
            log.error("the database could not be written: %s", got)
            raise Refused(Reason.UNAVAILABLE, "storage", "database", "a disk with room for it", got) from error

    # Spaces

    def spaces(self) -> list[tables.Space]:
        with self.reading() as session:
            return list(session.exec(select(tables.Space).order_by(col(tables.Space.changed).desc())))

    def space(self, space: str) -> tables.Space:
        with self.reading() as session:
            return existing_space(session, space)

    def add_space(self, space: str, name: str, igb: bytes) -> tables.Space:
        row = tables.Space(id=space, name=name, snapshot=igb)
        with self.transaction() as session:
            session.add(row)
        return row

    def rename_space(self, space: str, name: str) -> tables.Space:
        with self.transaction() as session:
            row = existing_space(session, space)
            row.name, row.changed = name, now()
            session.add(row)
        return row

    def delete_space(self, space: str) -> None:
        with self.transaction() as session:
            session.delete(existing_space(session, space))
            session.flush()
            drop_unused_files(session)

    # The journal

    def journal_after(self, space: str, seq: int) -> list[tables.Journal]:
        """Pushes that changed the Space after `seq`, in order."""
        with self.reading() as session:
            rows = select(tables.Journal).where(
                tables.Journal.space == space, tables.Journal.seq > seq, col(tables.Journal.ops).is_not(None)
            )
            return list(session.exec(rows.order_by(col(tables.Journal.seq))))

    def counters(self, space: str) -> dict[str, int]:
        """The newest push of each client."""
        with self.reading() as session:
            rows = select(tables.Journal.client, func.max(tables.Journal.counter)).where(tables.Journal.space == space)
            return dict(session.exec(rows.group_by(tables.Journal.client)).all())

    def answered(self, space: str, client: str, counter: int) -> int | None:
        """The seq after a push that was taken before, or None when it is not known (any more)."""
        with self.reading() as session:
            row = session.get(tables.Journal, (space, client, counter))
            return row.seq if row else None

    def append(self, space: str, entry: Entry, snapshot: bytes | None) -> None:
        """Write a push; with a snapshot (the graph after it) also drop what the snapshot made old."""
        with self.transaction() as session:
            row = existing_space(session, space)
            session.add(tables.Journal(space=space, **{name: getattr(entry, name) for name in Entry.__slots__}))
            row.seq, row.changed = entry.seq, now()
            if snapshot is not None:
                row.snapshot, row.snapshot_seq = snapshot, entry.seq
                drop_old_pushes(session, space, entry.seq)
            session.add(row)

    # Versions and files

    def versions(self, space: str) -> list[tables.Version]:
        with self.reading() as session:
            existing_space(session, space)
            rows = select(tables.Version).where(tables.Version.space == space)
            return list(session.exec(rows.order_by(col(tables.Version.number).desc())))

    def newest_version(self, space: str) -> tables.Version | None:
        with self.reading() as session:
            rows = select(tables.Version).where(tables.Version.space == space)
            return session.exec(rows.order_by(col(tables.Version.number).desc()).limit(1)).first()

    def version(self, space: str, number: int) -> tables.Version:
        with self.reading() as session:
            row = session.get(tables.Version, (space, number))
        if row is None:
            raise missing("version", str(number))
        return row

    def add_version(self, space: str, message: str, author: str, sem: bytes, files: Files) -> tables.Version:
        with self.transaction() as session:
            last = session.exec(select(func.max(tables.Version.number)).where(tables.Version.space == space)).one()
            hashes = {
                kind: put_file(session, kind, content)
                for kind, content in (("igb", files.igb), ("patch", files.patch), ("dotbin", files.dotbin))
                if content is not None
            }
            session.flush()
            row = tables.Version(
                space=space,
                number=(last or 0) + 1,
                message=message,
                author=author,
                file=hashes["igb"],
                sem=sem,
                patch=hashes.get("patch"),
                dotbin=hashes.get("dotbin"),
            )
            session.add(row)
        return row

    def rename_version(self, space: str, number: int, message: str) -> tables.Version:
        with self.transaction() as session:
            row = session.get(tables.Version, (space, number))
            if row is None:
                raise missing("version", str(number))
            row.message = message
            session.add(row)
        return row

    def file(self, digest: bytes) -> tables.File:
        with self.reading() as session:
            row = session.get(tables.File, digest)
        if row is None:
            raise missing("file", digest.hex())
        return row

    # Runs

    def run(self, run: str) -> tables.Run | None:
        with self.reading() as session:
            return session.get(tables.Run, run)

    def add_run(self, run: str, space: str, sem: bytes) -> None:
        with self.transaction() as session:
            session.add(tables.Run(id=run, space=space, sem=sem, status="running"))

    def end_run(self, run: str, status: str, reason: str | None, events: bytes) -> None:
        """Record how a run ended and keep its events; a run whose Space was deleted meanwhile is gone."""
        with self.transaction() as session:
            row = session.get(tables.Run, run)
            if row is None:
                return
            row.status, row.reason, row.ended = status, reason, now()
            session.add(row)
            session.add(tables.RunTail(run=run, events=events))
            session.flush()
            drop_old_runs(session, row.space)

    def runs(self, space: str) -> list[PastRun]:
        """The runs of a Space, newest first."""
        with self.reading() as session:
            existing_space(session, space)
            rows = session.exec(
                select(tables.Run, tables.RunTail.run)
                .outerjoin(tables.RunTail, col(tables.RunTail.run) == col(tables.Run.id))
                .where(tables.Run.space == space)
                .order_by(col(tables.Run.started).desc(), col(tables.Run.id))
            ).all()
            numbers = select(tables.Version.sem, func.max(tables.Version.number)).where(tables.Version.space == space)
            versions = dict(session.exec(numbers.group_by(col(tables.Version.sem))).all())
        return [PastRun(row, versions.get(row.sem), tail is not None) for row, tail in rows]

    def run_tail(self, run: str) -> bytes | None:
        with self.reading() as session:
            row = session.get(tables.RunTail, run)
            return row.events if row else None

    def end_orphaned_runs(self, reason: str) -> int:
        """Runs that a server left behind when it was killed; called at start, before there is any other run."""
        with self.transaction() as session:
            rows = session.exec(select(tables.Run).where(tables.Run.status == "running")).all()
            for row in rows:
                row.status, row.reason, row.ended = "failed", reason, now()
                session.add(row)
            return len(rows)

    # Tokens

    def add_token(self, token: str, name: str) -> None:
        with self.transaction() as session:
            session.add(tables.Token(hash=hashlib.sha256(token.encode()).digest(), name=name))

    def token_name(self, token: str) -> str | None:
        """Who a bearer token belongs to. Looked up by hash, so time tells nothing of the token."""
        with self.reading() as session:
            row = session.get(tables.Token, hashlib.sha256(token.encode()).digest())
            return row.name if row else None


def existing_space(session: Session, space: str) -> tables.Space:
    row = session.get(tables.Space, space)
    if row is None:
        raise missing("space", space)
    return row


def put_file(session: Session, kind: str, content: bytes) -> bytes:
    digest = hashlib.sha256(content).digest()
    if session.get(tables.File, digest) is None:
        session.add(tables.File(hash=digest, kind=kind, content=content))
    return digest
