"""Files of strangers are refused, or read as far as they are valid, with bounded work and memory (trust.md)."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from cli.commands import TIMEOUT, environment
from livedeck.cli.wiring import SystemClock
from livedeck.monitor import History, HistoryReader, PastError, Playback
from livedeck.monitor.history.columns import TABLES
from livedeck.monitor.history.database import ADDED, Database, StorageError
from livedeck.monitor.history.foreign import check_whole, in_thread, open_foreign
from livedeck.monitor.history.salvage import salvage
from monitor import hostile_files
from monitor.recordings import NOW, everything, readings, snapshot, ticking

SOURCE = Path(__file__).parents[2] / "src" / "livedeck"
DOORS = ("judge", "report", "day", "show", "verify", "salvage", "export")

SCHEMA, WHOLE = "nothing was read", "it is damaged"

REFUSED = {
    "endless-samples": f"its view `sample` is not a livedeck view; {SCHEMA}",
    "endless-journal": f"its view `journal` is not a livedeck view; {SCHEMA}",
    "generated-column": f"its table `journal` differs from livedeck's; {SCHEMA}",
    "text-for-a-rate": "table sample, column video: expected a whole number",
    "base-beyond-all-times": "table stream, column base: expected a whole number from 0 to 7,258,118,400,000",
    "view-of-the-published": f"its view `published` is not a livedeck view; {SCHEMA}",
    "trigger": f"its trigger `grow` is not a livedeck trigger; {SCHEMA}",
    "stored-column": f"its table `sample` differs from livedeck's; {SCHEMA}",
    "virtual-table": f"its table `words` is not a livedeck table; {SCHEMA}",
    "virtual-journal": f"its table `journal` differs from livedeck's; {SCHEMA}",
    "index-of-an-expression": f"its index `slow` is not a livedeck index; {SCHEMA}",
    "check-with-a-function": f"its table `event` differs from livedeck's; {SCHEMA}",
    "default-with-a-function": f"its table `journal` differs from livedeck's; {SCHEMA}",
    "another-collation": f"its table `journal` differs from livedeck's; {SCHEMA}",
    "million-tables": f"its schema is longer than livedeck's; {SCHEMA}",
    "statement-of-megabytes": "it has a text or blob that is longer than livedeck writes",
    "rubbish-in-the-schema": WHOLE,
    "two-tables-on-the-schema-page": WHOLE,
    "pages-in-circles": WHOLE,
    "log-in-circles": WHOLE,
    "page-that-is-its-own-child": WHOLE,
    "gigabyte-of-nothing": WHOLE,
    "more-pages-than-it-has": WHOLE,
    "stream-without-a-base": "NULL value in stream.base",
    "of-another-program": "it belongs to another program",
    "text-of-utf16": "its text is not UTF-8, so livedeck did not write it",
    "hostile-log-beside-it": f"its view `sample` is not a livedeck view; {SCHEMA}",
    "bytes-for-a-name": "table event, column name: expected a text",
    "dangling-link": "no such file",
    "pipe": "not a regular file",
    "folder": "it is a folder",
}
"""File -> words with which `past replay --judge` refuses it."""

ROTTEN = {
    "published-in-ages": "119 published snapshots",
    "text-for-a-rate": "779 samples",
    "base-beyond-all-times": "3 streams",
    "bomb-in-a-snapshot": "2 published snapshots",
    "snapshot-of-empty-lists": "2 published snapshots",
    "deep-records": "9 log entries, 1 alarm",
    "records-of-no-time-zone": "7 log entries",
    "unknown-kinds": "9 log entries",
    "answers-in-ages": "1 alarm action",
    "alarms-of-rubbish": "1 alarm",
    "rollups-without-end": "24 other rows",
    "samples-of-an-eternity": "4 samples",
    "late-at-a-text": "779 other rows",
    "stream-without-a-base": "3 streams",
    "bytes-for-a-name": "9 log entries",
}
"""File with a valid schema and invalid rows -> what `past check` counts in it."""


def opened(home: Path, doors: tuple[str, ...]) -> dict[str, dict[str, tuple[int, str]]]:
    """Open every hostile file through these doors, in a process with little memory."""
    script = str(Path(__file__).parent / "hostile_doors.py")
    places = os.pathsep.join([str(Path(__file__).parents[1]), str(SOURCE.parent)])
    done = subprocess.run(
        [sys.executable, script, str(home), ",".join(doors), *hostile_files.FILES],
        env=environment(home, PYTHONPATH=places, MALLOC_ARENA_MAX="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, tuple[int, str]]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[int, str]]]:
    """Output of both commands for each file."""
    return opened(tmp_path_factory.mktemp("doors"), ("judge", "verify"))


def test_a_recording_that_is_not_read_is_refused_in_one_line(judged: dict[str, dict[str, tuple[int, str]]]) -> None:
    said = {name: found["judge"] for name, found in judged.items()}
    assert {name for name, (code, _) in said.items() if code == 1} == REFUSED.keys()
    for name, words in REFUSED.items():
        assert words in said[name][1], name
        assert said[name][1].count("\n") == 1, name


def test_verify_counts_the_rows_that_cannot_be_read(judged: dict[str, dict[str, tuple[int, str]]]) -> None:
    for name, found in judged.items():
        code, text = found["verify"]
        is_ours = SCHEMA not in REFUSED.get(name, "")
        assert code in ({0, 1, 6} if is_ours else {1}), name
        counted = [line for line in text.splitlines() if line.startswith("cannot be read: ")]
        assert counted == ([f"cannot be read: {ROTTEN[name]}"] if name in ROTTEN else []), name


@pytest.mark.slow
def test_every_door_takes_every_file_in_little_memory_and_says_no_more_than_words(tmp_path: Path) -> None:
    for name, found in opened(tmp_path, DOORS).items():
        for door, (code, text) in found.items():
            assert code in {0, 1, 2, 6}, (name, door)
            assert "Traceback" not in text, (name, door)
            assert "\x1b" not in text, (name, door)
            assert "\x07" not in text, (name, door)


@pytest.mark.parametrize("name", [name for name in hostile_files.FILES if name not in {"million-tables", "pipe"}])
async def test_the_deck_is_given_the_past_of_each_file_or_told_why_not(tmp_path: Path, name: str) -> None:
    """What raises anything but PastError, or never ends, would end the deck."""
    path = hostile_files.make(name, tmp_path)
    try:
        past = await Playback.open(path, NextDay())
    except PastError:
        return
    try:
        for _ in range(4):
            with suppress(PastError):
                await past.step(1)
                await past.jump(past.moment + timedelta(seconds=20))
        since = datetime(2026, 11, 21, tzinfo=UTC)
        for state in past.snapshot.events:
            for span in await past.history.spans(state.id):
                seconds = span.first.timestamp(), span.last.timestamp()
                await past.history.series(span.event_id, span.stream_id, *seconds, 200)
        await past.history.alarm_log(since)
        await past.history.answer_log(since)
        await past.history.standing_alarms(since)
    finally:
        await past.close()


class NextDay(SystemClock):
    """Clock of a machine on the day after the recording."""

    def now(self) -> datetime:
        return datetime(2026, 11, 22, tzinfo=UTC)


async def test_a_chart_of_two_centuries_has_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    reader = HistoryReader(hostile_files.make("samples-of-two-centuries", tmp_path), is_strict=True)
    span = max(await reader.spans(), key=lambda span: span.last - span.first)
    assert span.last - span.first > timedelta(days=200 * 365)
    chart = await reader.series(span.event_id, span.stream_id, span.first.timestamp(), span.last.timestamp() + 1, 300)
    assert (len(chart), sum(chart.count)) == (300, 291)


def test_of_a_file_with_good_and_bad_rows_the_good_are_salvaged_and_the_bad_counted(tmp_path: Path) -> None:
    path = Path(shutil.copy(hostile_files.RECORDING, tmp_path))
    with hostile_files.changed(path) as db:
        db.execute(
            "UPDATE sample SET fps = 9000000000000000000 "
            "WHERE (stream, time) IN (SELECT stream, time FROM sample LIMIT 5)"
        )
        db.execute("UPDATE journal SET at = 'soon' WHERE id IN (SELECT id FROM journal LIMIT 2)")
    found = salvage(path, tmp_path / "new.sqlite", datetime(2026, 11, 22, tzinfo=UTC))
    assert (found.saved["sample"], found.lost["sample"]) == (774, 5)
    assert (found.saved["journal"], found.lost["journal"]) == (7, 2)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT randomblob(9)",
        "SELECT load_extension('x')",
        "SELECT name FROM pragma_table_info('sample')",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
        "DELETE FROM sample",
        "CREATE TEMP TABLE mine (a)",
        "PRAGMA writable_schema = ON",
        "PRAGMA trusted_schema = ON",
        "ATTACH DATABASE ':memory:' AS other",
        "VACUUM",
    ],
)
def test_of_a_foreign_file_nothing_can_be_asked_but_our_tables(statement: str) -> None:
    with closing(open_foreign(hostile_files.RECORDING)) as db, pytest.raises(StorageError):
        db.rows(statement)


def test_pages_that_lead_in_circles_end_a_query_by_what_the_file_can_hold(tmp_path: Path) -> None:
    path = hostile_files.make("pages-in-circles", tmp_path)
    with closing(open_foreign(path)) as db:
        rows = db.each("SELECT * FROM sample")
        most = list(islice(rows, path.stat().st_size // 3))
        with pytest.raises(StorageError, match="circles"):
            list(islice(rows, path.stat().st_size))
    assert most


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_column_of_our_tables_has_its_range(table: str, tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    history = Database(path)
    for statement in ADDED.values():
        history.run(statement)
    history.close()
    with closing(sqlite3.connect(path)) as db:
        columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    assert [column.name for column in TABLES[table]] == columns


def _older(path: Path, version: int) -> None:
    """Turn a file into one of an older schema version, with further columns between its own."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        tables = ("recent", "published", "late", "alarm", "learnt")[: {5: 1, 4: 3, 3: 5}[version]]
        for table in tables:
            db.execute(f"DROP TABLE {table}")
        if version == 3:
            db.execute("DROP INDEX stream_copy")
            db.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY CHECK (id = 1), alarms TEXT NOT NULL)")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, '-- ms since the epoch, ', '--  it''s \"older\" /* ')")
        db.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("is_upgraded", [False, True])
async def test_what_an_older_livedeck_made_is_read_before_and_after_it_is_upgraded(
    tmp_path: Path, version: int, *, is_upgraded: bool
) -> None:
    path = tmp_path / "deck.sqlite"
    history = await History.open(path, NOW)
    await history.append(snapshot({"one": readings(ticking(50))}))
    await history.close()
    _older(path, version)
    if is_upgraded:
        history = await History.open(path, NOW)
        assert history.fault == ""
        await history.close()
    check_whole(path)
    reader = HistoryReader(path, is_strict=True)
    assert len(await reader.readings("one", "stream-one", 0.0, 4e9)) == 50
    assert [(found.samples, found.stream_id) for found in await reader.streams("one")] == [(50, "stream-one")]
    assert sum((await reader.series("one", "stream-one", NOW.timestamp(), NOW.timestamp() + 3600.0, 20)).count) == 50


async def test_the_newest_rows_of_a_deck_that_runs_are_read_from_its_log(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    history = await History.open(path, NOW)
    for count in (10, 20):
        await history.append(snapshot({"one": readings(ticking(count))}))
        await history.flush()
        found = await HistoryReader(path, is_strict=True).recorded({"one": "stream-one"}, 4e9)
        assert len(found["one"].readings) == count
    assert len(await everything(history)) == 20
    await history.close()


async def test_an_unfinished_change_names_the_command_that_undoes_it(tmp_path: Path) -> None:
    """A copy that is made while SQLite writes has the change half, and its undoing in the journal beside it."""
    made, own, path = (tmp_path / f"{name}.sqlite" for name in ("made", "own", "history"))
    history = await History.open(made, NOW)
    await history.append(snapshot({"one": readings(ticking(900))}))
    await history.close()
    with closing(sqlite3.connect(own, isolation_level=None)) as db:
        with closing(sqlite3.connect(made)) as source:
            source.backup(db)
        db.execute("PRAGMA journal_mode = delete")
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE sample SET video = 1")
        for ending in ("", "-journal"):
            shutil.copy(f"{own}{ending}", f"{path}{ending}")
    with pytest.raises(StorageError, match=r"unfinished change: run `sqlite3 FILE \.tables` to undo it"):
        open_foreign(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT name FROM sqlite_master").fetchall()
    open_foreign(path).close()


def test_what_lies_beside_a_recording_is_not_heeded_and_nothing_is_put_there(tmp_path: Path) -> None:
    path = Path(shutil.copy(hostile_files.RECORDING, tmp_path))
    other = tmp_path / "other" / path.name
    other.parent.mkdir()
    shutil.copy(path, other)
    with closing(sqlite3.connect(other, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("DELETE FROM sample")
        Path(f"{path}-wal").write_bytes(Path(f"{other}-wal").read_bytes())
    beside = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    with closing(open_foreign(path)) as foreign:
        assert foreign.rows("SELECT count(*) FROM sample") == [(779,)]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == beside


async def test_ctrl_c_ends_what_is_read_in_a_thread(tmp_path: Path) -> None:
    """The thread that reads is gone: nothing waits for it as the process ends."""
    path = Path(shutil.copy(hostile_files.RECORDING, tmp_path))
    begun, over, is_missed = threading.Event(), threading.Event(), threading.Event()

    def read_for_ever() -> None:
        try:
            with closing(open_foreign(path)) as db:
                while not is_missed.is_set():
                    db.rows("SELECT count(*) FROM sample WHERE video > 0")
                    begun.set()
        finally:
            over.set()

    reading = asyncio.create_task(in_thread(read_for_ever))
    await asyncio.to_thread(begun.wait)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    try:
        assert await asyncio.to_thread(over.wait, TIMEOUT)
    finally:
        is_missed.set()


async def test_ctrl_c_after_a_file_was_closed_is_still_a_cancellation(tmp_path: Path) -> None:
    """The reading may be past its last file when it is cancelled: that file is closed, and not yet collected."""
    path = Path(shutil.copy(hostile_files.RECORDING, tmp_path))
    closed, may_end = threading.Event(), threading.Event()
    kept = []

    def read_and_close() -> None:
        with closing(open_foreign(path)) as db:
            kept.append(db)
        closed.set()
        may_end.wait(TIMEOUT)

    reading = asyncio.create_task(in_thread(read_and_close))
    await asyncio.to_thread(closed.wait, TIMEOUT)
    reading.cancel()
    try:
        with pytest.raises(asyncio.CancelledError):
            await reading
    finally:
        may_end.set()


def _calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_one_function_opens_what_this_process_has_not_made() -> None:
    """A file is opened by its name in two places: ours by `Database`, all others by `open_foreign`."""
    rooms = [*(SOURCE / "monitor").rglob("*.py"), *(SOURCE / "cli").rglob("*.py")]
    connecting = {path.name for path in rooms for name, _ in _calls(path) if name == "sqlite3.connect"}
    assert connecting == {"database.py", "foreign.py"}
    making = {path.name: ast.unparse(call) for path in rooms for name, call in _calls(path) if name == "Foreign"}
    assert making == {"foreign.py": "Foreign(path, has_views=views)"}
    ours = {(path.name, ast.unparse(call)) for path in rooms for name, call in _calls(path) if name == "Database"}
    assert ours == {
        ("foreign.py", "Database(path)"),  # open_to_change, once open_foreign has taken it
        ("recording.py", "Database(file.path)"),  # the new file of an export
        ("salvage.py", "Database(Path(into))"),  # the deck's own new file
        ("writer.py", "Database(self._path, limit=self._limit)"),
        ("writer.py", "Database(self._path, reads=True)"),
    }
    assert [path.name for path in rooms if "ATTACH DATABASE" in path.read_text(encoding="utf-8")] == ["foreign.py"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO main.event VALUES (99, 'x')",
        "DELETE FROM target.event",
        "UPDATE target.event SET name = 'x'",
        "CREATE TABLE target.more (id)",
        "DROP TABLE target.event",
        "ATTACH DATABASE ':memory:' AS another",
        "DETACH DATABASE target",
        "PRAGMA target.writable_schema = ON",
    ],
)
def test_with_a_recording_attached_rows_can_be_added_to_it_and_nothing_else(statement: str, tmp_path: Path) -> None:
    source = Path(shutil.copy(hostile_files.RECORDING, tmp_path / "source.livedeck"))
    before = source.read_bytes()
    with closing(Database(tmp_path / "made.livedeck")) as made:
        made.become_recording()
        with closing(open_foreign(source)) as db:
            db.attach(tmp_path / "made.livedeck")
            with pytest.raises(StorageError):
                db.run(statement)
            db.copy("event", "TRUE", ())
            assert made.rows("SELECT * FROM event") == db.rows("SELECT * FROM main.event")
    assert source.read_bytes() == before
