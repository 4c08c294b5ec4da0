"""What of a Space's past is dropped, and when: old pushes, the events of old runs, old runs, files without a version.

Called by the store inside its transactions.
"""

from sqlmodel import Session, col, delete, func, select

from spaces import tables

KEPT_JOURNAL = 2000  # pushes of a Space that stay behind its snapshot, to answer repeats
KEPT_RUNS = 50  # ended runs of a Space whose events stay
KEPT_EVENTS = 64 << 20  # bytes of events that stay of a Space's ended runs
LISTED_RUNS = 500  # ended runs of a Space that are remembered at all


def drop_old_pushes(session: Session, space: str, seq: int) -> None:
    """Of a journal whose snapshot is at `seq`; the newest push of each client stays, to answer its repeat."""
    newest = select(func.max(tables.Journal.counter)).where(tables.Journal.space == space)
    newest = newest.group_by(tables.Journal.client)
    session.exec(
        delete(tables.Journal).where(
            col(tables.Journal.space) == space,
            col(tables.Journal.seq) <= seq - KEPT_JOURNAL,
            col(tables.Journal.counter).not_in(newest),
        )
    )


def drop_old_runs(session: Session, space: str) -> None:
    """Keep a Space's history within its bounds: the oldest runs lose their events first, then their rows."""
    sizes = select(tables.Run.id, func.length(tables.RunTail.events)).outerjoin(
        tables.RunTail, col(tables.RunTail.run) == col(tables.Run.id)
    )
    ended = sizes.where(tables.Run.space == space, tables.Run.status != "running")
    rows = session.exec(ended.order_by(col(tables.Run.started).desc(), col(tables.Run.id))).all()
    total, silent = 0, []
    for place, (run, size) in enumerate(rows):
        total += size or 0
        if size is not None and (place >= KEPT_RUNS or (place > 0 and total > KEPT_EVENTS)):
            silent.append(run)
    session.exec(delete(tables.RunTail).where(col(tables.RunTail.run).in_(silent)))
    forgotten = [run for run, _ in rows[LISTED_RUNS:]]
    session.exec(delete(tables.Run).where(col(tables.Run.id).in_(forgotten)))


def drop_unused_files(session: Session) -> None:
    """Files that no version names."""
    used: set[bytes] = set()
    for column in (tables.Version.file, tables.Version.patch, tables.Version.dotbin):
        used |= set(session.exec(select(column).where(col(column).is_not(None))).all())  # type: ignore[arg-type]
    session.exec(delete(tables.File).where(col(tables.File.hash).not_in(used)))
