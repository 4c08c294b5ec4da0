"""The database: migrations both ways, pragmas, one server a directory, what a snapshot drops."""

from datetime import UTC
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import inspect, text

from spaces import retention
from spaces.database import alembic_config, lock_data
from spaces.errors import DataTaken, Refused
from spaces.store import Entry, Files, Store
from spaces.tables import metadata

SPACE = "s000000001"


@pytest.fixture
def store(tmp_path: Path) -> object:
    opened = Store(tmp_path / "spaces.db")
    opened.add_space(SPACE, "A test", b"igb")
    yield opened
    opened.close()


def test_the_migrations_make_exactly_the_tables(tmp_path: Path) -> None:
    opened = Store(tmp_path / "spaces.db")
    with opened.engine.connect() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.check(config)
    opened.close()


def test_the_migrations_go_down_and_up_again(tmp_path: Path) -> None:
    opened = Store(tmp_path / "spaces.db")
    config = alembic_config()
    with opened.engine.connect() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        connection.commit()
        assert inspect(connection).get_table_names() == ["alembic_version"]
        command.upgrade(config, "head")
        connection.commit()
        assert set(inspect(connection).get_table_names()) == {"alembic_version", *metadata.tables}
    opened.close()


def test_every_connection_has_the_pragmas(store: Store) -> None:
    with store.engine.connect() as connection:
        found = [
            connection.execute(text(f"PRAGMA {p}")).scalar() for p in ("journal_mode", "foreign_keys", "busy_timeout")
        ]
    assert found == ["wal", 1, 10_000]


def test_a_second_server_on_one_directory_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    with lock_data(tmp_path), pytest.raises(DataTaken, match=r"in use by another server \(process \d+\)"):
        lock_data(tmp_path)
    lock_data(tmp_path).close()


def test_times_come_back_as_utc(store: Store) -> None:
    assert store.space(SPACE).created.tzinfo is UTC


def test_a_push_is_written_once(store: Store) -> None:
    store.append(SPACE, Entry("c000000001", 1, 1, b"\x80"), None)
    with pytest.raises(Exception, match="UNIQUE"):
        store.append(SPACE, Entry("c000000001", 1, 2, b"\x80"), None)
    assert (store.space(SPACE).seq, store.answered(SPACE, "c000000001", 1)) == (1, 1)
    assert store.answered(SPACE, "c000000001", 2) is None


def test_a_snapshot_drops_old_rows_and_keeps_each_clients_newest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "KEPT_JOURNAL", 2)
    store.append(SPACE, Entry("c000000002", 9, 1, b"\x80"), None)
    for counter in range(1, 6):
        store.append(SPACE, Entry("c000000001", counter, counter + 1, b"\x80"), b"new" if counter == 5 else None)
    row = store.space(SPACE)
    assert (row.snapshot, row.snapshot_seq, row.seq) == (b"new", 6, 6)
    assert store.counters(SPACE) == {"c000000001": 5, "c000000002": 9}
    assert [store.answered(SPACE, "c000000001", counter) for counter in range(1, 6)] == [None, None, None, 5, 6]


def test_a_deleted_space_takes_its_files_along_unless_another_has_them(store: Store) -> None:
    store.add_space("s000000002", "Another", b"igb")
    both = Files(b"shared", None, None)
    one = store.add_version(SPACE, "", "t", b"s" * 32, Files(b"own", b"patch", None))
    shared = [store.add_version(space, "", "t", b"s" * 32, both) for space in (SPACE, "s000000002")]
    store.delete_space(SPACE)
    assert store.file(shared[1].file).content == b"shared"
    with pytest.raises(Refused):
        store.file(one.file)
    with pytest.raises(Refused):
        store.versions(SPACE)


def test_the_history_of_runs_stays_within_its_bounds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "KEPT_RUNS", 3)
    monkeypatch.setattr(retention, "LISTED_RUNS", 5)
    for number in range(8):
        store.add_run(f"r00000000{number}", SPACE, b"s" * 32)
        store.end_run(f"r00000000{number}", "done", None, b"events")
    store.add_run("r000000009", SPACE, b"s" * 32)
    runs = store.runs(SPACE)
    assert [run.row.id for run in runs] == [f"r00000000{number}" for number in (9, 7, 6, 5, 4, 3)]
    assert [run.replays for run in runs] == [False, True, True, True, False, False]

    monkeypatch.setattr(retention, "KEPT_EVENTS", 100)
    store.end_run("r000000009", "done", None, b"e" * 95)
    assert [run.row.id for run in store.runs(SPACE) if run.replays] == ["r000000009"]
    store.add_run("r00000000a", SPACE, b"s" * 32)
    store.end_run("r00000000a", "done", None, b"e" * 500)
    assert [run.row.id for run in store.runs(SPACE) if run.replays] == ["r00000000a"], "the newest one always stays"


def test_a_run_that_a_killed_server_left_is_failed_at_the_next_start(store: Store) -> None:
    store.add_run("r000000001", SPACE, b"s" * 32)
    assert store.end_orphaned_runs("stopped") == 1
    row = store.run("r000000001")
    assert row is not None and (row.status, row.reason) == ("failed", "stopped")
