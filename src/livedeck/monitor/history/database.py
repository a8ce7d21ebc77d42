"""The history's SQLite file: opening our own, its tables, and what its failures mean.

A file that this process did not make is opened by `foreign.py` alone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from livedeck.atomic_file import open_private
from livedeck.monitor.history.columns import UnsoundError, checked
from livedeck.text.values import safe

Values: TypeAlias = Sequence[object] | Mapping[str, object]

APPLICATION = 0x6C646869  # "ldhi", in the header of our files
RECORDING = 0x6C647263  # "ldrc": a copy to be carried elsewhere, which nothing writes to
SCHEMA = 5
OLDEST = 3
"""The oldest schema that is made into ours; what is older is set aside."""

BUSY_TIMEOUT = 0.5
"""Seconds that a statement waits for another deck's transaction."""

_PAGE = 2048
"""Bytes. A tick of 200 streams changes a page of each: with small ones it writes a quarter of what 8192 would."""

CACHE = 4096
"""KiB of pages in memory: the last page of every stream, and those that a chart reads."""

_LOG_LIMIT = 4 * 2**20
"""Bytes of the write-ahead log at which it goes into the file, and that it keeps on disk once it is emptied."""

_TABLES = """
CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE stream (
    id INTEGER PRIMARY KEY, event INTEGER NOT NULL, name TEXT NOT NULL,
    base INTEGER NOT NULL,  -- ms since the epoch, a whole slot: samples and slots count from here
    rolled INTEGER NOT NULL,  -- the first slot without a roll-up
    UNIQUE (event, name)
);
CREATE TABLE sample (  -- ms since the stream's base, bit/s, frames per 1000 s; NULL is missing
    stream INTEGER, time INTEGER, video INTEGER, audio INTEGER, fps INTEGER, status INTEGER, PRIMARY KEY (stream, time)
) WITHOUT ROWID;
CREATE TABLE rollup (  -- a minute of samples a row, and what they come to
    stream INTEGER, slot INTEGER, count INTEGER,
    video_low INTEGER, video_high INTEGER, audio_low INTEGER, audio_high INTEGER, fps_low INTEGER, fps_high INTEGER,
    normal INTEGER, key20 INTEGER, key50 INTEGER, loss INTEGER, odd INTEGER,
    PRIMARY KEY (stream, slot)
) WITHOUT ROWID;
CREATE TABLE journal (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, topic TEXT, body TEXT NOT NULL);
CREATE INDEX journal_by_kind ON journal (kind, at);
"""

STREAM_COPY = "CREATE INDEX IF NOT EXISTS stream_copy ON stream (id, event, name, base)"
"""What the times of all samples count from, a second time: where the one page of the streams is lost, it is there."""

_OF_ALARMS = """
CREATE TABLE IF NOT EXISTS answer (  -- what a person did to an alarm; times in microseconds since the epoch
    id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, since INTEGER NOT NULL,
    answer TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, severity TEXT NOT NULL, stage INTEGER NOT NULL,
    until INTEGER, reason TEXT NOT NULL
);
CREATE TABLE alarm (  -- one occurrence of a fault; times in microseconds since the epoch
    event TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, since INTEGER NOT NULL,
    state TEXT NOT NULL, changed INTEGER NOT NULL, is_over INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (event, kind, target, since)
);
"""

_OF_DETECTION = """
CREATE TABLE learnt (  -- what detection knows of a stream; `at` in ms since the epoch
    event TEXT NOT NULL, stream TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (event, stream)
);
"""

_OF_THE_PAST = """
CREATE TABLE published (  -- what the monitor said: part 0 of a segment is whole, the others are what changed after it
    segment INTEGER NOT NULL, part INTEGER NOT NULL,
    at INTEGER NOT NULL,  -- microseconds since the epoch
    is_news INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (segment, part)
) WITHOUT ROWID;
CREATE INDEX published_by_time ON published (at);
CREATE TABLE late (  -- a sample that came after a newer one, and when (microseconds since the epoch)
    stream INTEGER, time INTEGER, at INTEGER NOT NULL, PRIMARY KEY (stream, time)
) WITHOUT ROWID;
"""

_UPGRADE = """
INSERT INTO alarm SELECT json_extract(value, '$.event_id'), json_extract(value, '$.kind'),
    json_extract(value, '$.target'), strftime('%s', json_extract(value, '$.since')) * 1000000,
    json_extract(value, '$.state'), strftime('%s', json_extract(value, '$.changed')) * 1000000,
    NOT (json_extract(value, '$.present') OR json_extract(value, '$.flapping')), value
    FROM kept, json_each(CASE WHEN json_valid(alarms) THEN alarms ELSE '[]' END);
DROP TABLE kept;
"""
"""From schema 3, where all alarms were one text."""

MADE = {
    0: _TABLES + _OF_ALARMS + _OF_DETECTION + _OF_THE_PAST,
    3: _OF_ALARMS + _OF_DETECTION + _UPGRADE + _OF_THE_PAST,
    4: _OF_THE_PAST,
}
"""What makes a file of that schema ours; 0: a new one."""

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
"""The names of the tables of a file, but for those of SQLite itself."""

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space, or lower retention_days",
    sqlite3.SQLITE_BUSY: "another program has it locked: close that one",
    sqlite3.SQLITE_LOCKED: "another program has it locked: close that one",
    sqlite3.SQLITE_READONLY: "it may not be written: chmod u+w it and its folder, or set `history` to another file",
    sqlite3.SQLITE_PERM: "it may not be written: chmod u+w it and its folder, or set `history` to another file",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check its folder, or set `history` to another file",
    sqlite3.SQLITE_IOERR: "the disk fails: check it, or set `history` to another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged: `livedeck past salvage` saves what can be read",
    sqlite3.SQLITE_NOTADB: "it is no history and no recording",
}

CORRUPT = "corrupt"
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class StorageError(Exception):
    """The file could not be used: which one, why, and what to do.

    `aside`: nothing can be done with it, and it is set aside under this word; empty: it is left as it is.
    """

    def __init__(self, path: Path | None, reason: str, *, aside: str = "") -> None:
        super().__init__(f"history {path or 'in memory'}: {reason}")
        self.aside = aside


class Database:
    """One connection to a file of our own; one thread at a time. Every failure is a StorageError.

    `reads`: it only reads a file that our writer has made, and writes not even its log into it. `limit`: bytes
    that the file may take. `inode`: which file it is, 0 in memory: another one may be put in its place.
    """

    def __init__(self, path: Path | None, *, reads: bool = False, limit: int | None = None) -> None:
        self.path, self._reads = path, reads
        with self._named():
            if path:
                check_file(path, reads=reads)
            if path and not reads:
                _make_private(path)
            self.inode = path.stat().st_ino if path else 0  # before: another deck may set it aside from now on
            self._db = _connect(path, reads=reads)
            try:
                self._prepare(reads=reads, limit=limit)
            except BaseException:
                self._db.close()
                raise

    @property
    def in_place(self) -> bool:
        """Whether the path still leads to the file that was opened: another deck may have set it aside."""
        with suppress(OSError):
            return self.path is None or self.path.stat().st_ino == self.inode
        return False

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All that a query finds."""
        with self._named():
            return self._db.execute(statement, values).fetchall()

    def each(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield what a query finds. Of a file of our own it is read at once, so that no writer waits for the caller."""
        return iter(self.rows(statement, values))

    def checked(self, columns: str, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return all that a query finds, if each value can stand in its column: `stream.id .base` (see `columns.py`).

        Raises StorageError, which names the table, the column and what was expected.
        """
        return self.sound(columns, self.rows(statement, values))

    def sound(self, columns: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return these rows as `checked` does."""
        try:
            return checked(columns, rows)
        except UnsoundError as error:
            raise self.unsound(error) from None

    def unsound(self, error: UnsoundError) -> StorageError:
        """Return the error of this file for a value that cannot stand in its column."""
        return StorageError(self.path, f"{error}: `livedeck past salvage` saves what can be read")

    def run(self, statement: str, values: Values = ()) -> None:
        """One change."""
        with self._named():
            self._db.execute(statement, values)

    def run_many(self, statement: str, rows: Iterable[Values]) -> None:
        """One change a row."""
        with self._named():
            self._db.executemany(statement, rows)

    @contextmanager
    def transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        """All of it or none of it. DEFERRED: all that is read is of one moment."""
        self.run(f"BEGIN {kind}")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with suppress(StorageError):
                if self._db.in_transaction:
                    self.run("ROLLBACK")
            raise

    def become_recording(self) -> None:
        """Have it be one file without a log, which no deck writes to once this connection is closed. Raises
        StorageError."""
        self.run("PRAGMA journal_mode = DELETE")
        self.run("PRAGMA synchronous = OFF")  # who writes a recording syncs it once, at the end
        self.run(f"PRAGMA application_id = {RECORDING}")

    def version(self) -> int:
        """Another number after each change that another connection made. Raises StorageError."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def interrupt(self) -> None:
        """End the statement that another thread is running on this connection; a closed connection has none."""
        with suppress(sqlite3.ProgrammingError):  # it may be closed at any moment by the thread that reads
            self._db.interrupt()

    def close(self) -> None:
        """Let go; who wrote empties the write-ahead log into the file first, where nobody is in the way."""
        try:
            if not self._reads:
                with suppress(StorageError):
                    self.run("PRAGMA busy_timeout = 0")
                    self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._db.close()

    def _prepare(self, *, reads: bool, limit: int | None) -> None:
        db = self._db
        db.execute("PRAGMA trusted_schema = OFF")
        fresh = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        # another deck may make the tables just now: asked earlier, the file would have them and not yet be ours
        application, schema = (number(db, name) for name in ("application_id", "user_version"))
        advice = "" if reads else ": set `history` to another file"
        if application == RECORDING and not reads:
            raise StorageError(self.path, "it is a recording, and stays as it is: `livedeck past replay` opens it")
        if not fresh and application not in {APPLICATION, RECORDING}:
            raise StorageError(self.path, f"it belongs to another program{advice}")
        if 0 < schema < OLDEST:
            raise StorageError(self.path, "an older livedeck made it", aside="older")
        if schema > SCHEMA:
            raise StorageError(self.path, f"a newer livedeck made it{advice}")
        db.execute(f"PRAGMA page_size = {_PAGE}")
        if not reads:
            db.execute("PRAGMA journal_mode = WAL")
            if schema < SCHEMA:
                _make_tables(db)
            db.execute(STREAM_COPY)
        page = number(db, "page_size")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{CACHE}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_LOG_LIMIT // page}")
        db.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
        if limit is not None:
            db.execute(f"PRAGMA max_page_count = {limit // page}")

    def _reason(self, code: int) -> str:  # noqa: ARG002
        """Return what that code of SQLite means here; empty if `_ADVICE` says it."""
        return ""

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = self._reason(code) or _ADVICE.get(code) or safe(str(error), 200)
            raise StorageError(self.path, reason, aside=CORRUPT if code in _CORRUPT else "") from error
        except OSError as error:
            raise StorageError(self.path, f"{error.strerror}: set `history` to another file") from error


def check_file(path: Path, *, reads: bool = True) -> None:
    """Raise StorageError where that path leads to no file; a pipe would keep who opens it waiting. One that is to be
    written may be yet to come."""
    if not path.is_file() and (reads or path.exists()):
        advice = "" if reads else ": set `history` to another file"
        reason = (
            "it is a folder" if path.is_dir() else "it is no regular file" if path.exists() else "there is no such file"
        )
        raise StorageError(path, f"{reason}{advice}")


def set_aside(path: Path, now: datetime, word: str = CORRUPT) -> Path:
    """Give a file, and what belongs to it, another name with that word. Returns that. Raises StorageError."""
    aside = path.with_name(f"{path.name}.{word}-{now:%Y%m%dT%H%M%SZ}")
    try:
        path.rename(aside)
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    except OSError as error:
        raise StorageError(path, f"it is {word}, and cannot be renamed ({error.strerror}): move it away") from error
    return aside


def _make_private(path: Path) -> None:
    """The file exists, and its owner alone can read it; SQLite gives its companions the same mode."""
    os.close(open_private(path, os.O_RDWR))


def _connect(path: Path | None, *, reads: bool) -> sqlite3.Connection:
    place = f"{path.absolute().as_uri()}?mode={'ro' if reads else 'rwc'}" if path else ":memory:"
    return sqlite3.connect(
        place, uri=path is not None, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )


def _make_tables(db: sqlite3.Connection) -> None:
    """Make the tables of a new file, or of an older one ours; another deck may do so in the meantime."""
    db.execute("BEGIN IMMEDIATE")
    for statement in MADE.get(number(db, "user_version"), "").split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("COMMIT")


def number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Since the epoch, exactly: who wrote a moment and who reads it must order it alike."""
    return (at - _EPOCH) // _MICROSECOND


def moment(microseconds: int) -> datetime:
    """That time since the epoch."""
    return _EPOCH + microseconds * _MICROSECOND
