"""Connection to a history's SQLite file, with its tables and errors.

For a file that this program may not have made, use `foreign.py`.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias

from livedeck.atomic_file import open_private
from livedeck.monitor.history.columns import SLOT, UnsoundError, checked
from livedeck.text.values import safe

Values: TypeAlias = Sequence[object] | Mapping[str, object]

APPLICATION = 0x6C646869  # "ldhi" in the header: a history
RECORDING = 0x6C647263  # "ldrc": a portable copy, which nothing writes to
SCHEMA = 6
OLDEST = 3
"""Oldest schema that can be upgraded; an older file is renamed, and a new one is begun."""

BUSY_TIMEOUT = 0.5
"""Seconds that a statement waits for the transaction of another process."""

_CREATING_TIMEOUT = 5.0
"""Value of `BUSY_TIMEOUT` while a new file is made, because several decks that start together wait for each other."""

_CREATING_TRIES = 50
"""Maximum number of tries to begin a write-ahead log, while other processes also make the file."""

_PAGE = 2048
"""Bytes of a page. Each minute, the samples of 200 streams move to one page each, so larger pages write more bytes."""

CACHE = 4096
"""Size of SQLite's page cache in KiB: enough for the last page of each stream and the pages of a chart."""

_LOG_LIMIT = 4 * 2**20
"""Bytes at which SQLite moves the write-ahead log into the file. Also the maximum size on disk of an empty log."""

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
CREATE TABLE rollup (  -- one row for each minute of samples, with their count, extremes and statuses
    stream INTEGER, slot INTEGER, count INTEGER,
    video_low INTEGER, video_high INTEGER, audio_low INTEGER, audio_high INTEGER, fps_low INTEGER, fps_high INTEGER,
    normal INTEGER, key20 INTEGER, key50 INTEGER, loss INTEGER, odd INTEGER,
    PRIMARY KEY (stream, slot)
) WITHOUT ROWID;
CREATE TABLE journal (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, topic TEXT, body TEXT NOT NULL);
CREATE INDEX journal_by_kind ON journal (kind, at);
"""

STREAM_COPY = "CREATE INDEX IF NOT EXISTS stream_copy ON stream (id, event, name, base)"
"""Index with a second copy of each stream's base, the origin of its samples' times.

Salvage reads this copy if the page of the streams is lost.
"""

SILENCES = """
CREATE TABLE IF NOT EXISTS silence (  -- actions on silences; times in microseconds since the epoch
    id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, silence TEXT NOT NULL, at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL, body TEXT NOT NULL
)
"""
"""Statement that adds the table of silences to a file of any version (`silences.write`)."""

VIEWER_ROUNDS = """
CREATE TABLE IF NOT EXISTS viewer_round (  -- rounds of the probe; times in ms since the epoch, other numbers times 1000
    event TEXT NOT NULL, at INTEGER NOT NULL, delivery TEXT NOT NULL, picture TEXT NOT NULL, sound TEXT NOT NULL,
    latency INTEGER, ratio INTEGER, luma INTEGER, change INTEGER, loudness INTEGER, peak INTEGER,
    listed INTEGER NOT NULL, missed INTEGER NOT NULL, PRIMARY KEY (event, at)
) WITHOUT ROWID
"""
"""Statement that adds the table of the probe's rounds to a file of any version (`viewers.write`)."""

ADDED = {"silence": SILENCES, "viewer_round": VIEWER_ROUNDS}
"""Name of an optional table -> the statement that adds it to a file, before its first row is stored.

Most files lack these tables, because older versions refuse a file with an unknown table.
"""

_OF_ALARMS = """
CREATE TABLE IF NOT EXISTS answer (  -- alarm actions; times in microseconds since the epoch
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
CREATE TABLE learnt (  -- baseline of a stream; `at` in ms since the epoch
    event TEXT NOT NULL, stream TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (event, stream)
);
"""

_OF_THE_PAST = """
CREATE TABLE published (  -- snapshots: part 0 of a segment is whole, each other part is a difference
    segment INTEGER NOT NULL, part INTEGER NOT NULL,
    at INTEGER NOT NULL,  -- microseconds since the epoch
    is_news INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (segment, part)
) WITHOUT ROWID;
CREATE INDEX published_by_time ON published (at);
CREATE TABLE late (  -- samples that arrived after a newer one, and when (microseconds since the epoch)
    stream INTEGER, time INTEGER, at INTEGER NOT NULL, PRIMARY KEY (stream, time)
) WITHOUT ROWID;
"""

_OF_RECENT = """
CREATE TABLE recent (  -- the newest samples, in the order of their times (ms since the epoch); the rest as in `sample`
    time INTEGER, stream INTEGER, video INTEGER, audio INTEGER, fps INTEGER, status INTEGER, PRIMARY KEY (time, stream)
) WITHOUT ROWID;
"""

NO_RECENT = _OF_RECENT.replace("CREATE TABLE", "CREATE TEMP TABLE")
"""Statement that makes an empty table `recent`, to read a file of an older schema without this table."""

ROLL_UP = f"""
INSERT OR REPLACE INTO rollup
SELECT stream, slot, count(*), min(video), max(video), min(audio), max(audio), min(fps), max(fps),
    sum(status = 0), sum(status = 3), sum(status = 4), sum(status = 5),
    max(CASE WHEN status NOT IN (0, 3, 4, 5) THEN status END)
FROM (
    SELECT sample.*, (time + {SLOT << 24}) / {SLOT} - {1 << 24} AS slot FROM stream JOIN sample ON stream = stream.id
    WHERE {{rows}}
) GROUP BY stream, slot
"""  # noqa: S608  constants
"""Statement that computes the roll-ups of some rows of `sample`.

SQL rounds a division towards zero, but a time before the stream's base must be rounded down. So a number of slots is
added before the division and subtracted after it.
"""

_ROLL_UP_ALL = f"""
{ROLL_UP.format(rows=f"time >= rolled * {SLOT}")};
UPDATE stream SET rolled = max(rolled, coalesce((SELECT max(slot) + 1 FROM rollup WHERE stream = stream.id), rolled));
"""  # noqa: S608  constants
"""Statements that upgrade schema 5: they make a roll-up of every row of `sample`."""

_UPGRADE = """
INSERT INTO alarm SELECT json_extract(value, '$.event_id'), json_extract(value, '$.kind'),
    json_extract(value, '$.target'), strftime('%s', json_extract(value, '$.since')) * 1000000,
    json_extract(value, '$.state'), strftime('%s', json_extract(value, '$.changed')) * 1000000,
    NOT (json_extract(value, '$.present') OR json_extract(value, '$.flapping')), value
    FROM kept, json_each(CASE WHEN json_valid(alarms) THEN alarms ELSE '[]' END);
DROP TABLE kept;
"""
"""Statements that upgrade schema 3, which has all alarms in one text."""

MADE = {
    0: _TABLES + _OF_ALARMS + _OF_DETECTION + _OF_THE_PAST + _OF_RECENT,
    3: _OF_ALARMS + _OF_DETECTION + _UPGRADE + _OF_THE_PAST + _OF_RECENT + _ROLL_UP_ALL,
    4: _OF_THE_PAST + _OF_RECENT + _ROLL_UP_ALL,
    5: _OF_RECENT + _ROLL_UP_ALL,
}
"""Schema version -> statements that upgrade a file to `SCHEMA`; 0 is a new file."""

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
"""Query for the names of the tables in a file, without the tables of SQLite itself."""

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space, or lower retention_days",
    sqlite3.SQLITE_BUSY: "another program has locked it: close that program",
    sqlite3.SQLITE_LOCKED: "another program has locked it: close that program",
    sqlite3.SQLITE_READONLY: "not writable: run `chmod u+w` on it and its folder, or set `history` to another file",
    sqlite3.SQLITE_PERM: "not writable: run `chmod u+w` on it and its folder, or set `history` to another file",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check its folder, or set `history` to another file",
    sqlite3.SQLITE_IOERR: "the disk reported an error: check the disk, or set `history` to another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged: run `livedeck past salvage` to save the readable rows",
    sqlite3.SQLITE_NOTADB: "not a history or recording",
}
"""Error code of SQLite -> reason and remedy."""

CORRUPT = "corrupt"
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class StorageError(Exception):
    """A history file cannot be used. The message names the file, the reason and the remedy.

    `aside`: word to add to the name of an unusable file when the writer renames it; empty if the file keeps its name.
    `is_locked`: another process holds the file, perhaps only for the moment of a write.
    """

    def __init__(self, path: Path | None, reason: str, *, aside: str = "", is_locked: bool = False) -> None:
        super().__init__(f"history {path or 'in memory'}: {reason}")
        self.aside, self.is_locked = aside, is_locked


class OpenFiles:
    """Files to which this process has connections.

    The system drops all locks of a process on a file once the process closes any descriptor of that file. SQLite guards
    its own descriptors, so only SQLite may open a file in this collection. Without the locks, another process would
    take itself for the last user and delete the write-ahead log. All later writes would be lost.
    """

    def __init__(self) -> None:
        self._counts = Counter[tuple[int, int]]()
        self._lock = RLock()

    @contextmanager
    def unless_open(self, path: Path) -> Iterator[bool]:
        """Yield whether this process may open the file without SQLite. No connection is added during the block."""
        with self._lock:
            try:
                status = path.stat()
            except OSError:
                yield True
            else:
                yield not self._counts[status.st_dev, status.st_ino]

    def add(self, path: Path) -> tuple[int, int]:
        """Note a connection before it is made, and return the file: device and inode. Raises OSError."""
        with self._lock:
            status = path.stat()
            file = status.st_dev, status.st_ino
            self._counts[file] += 1
            return file

    def remove(self, file: tuple[int, int]) -> None:
        """Note that a connection is closed."""
        with self._lock:
            self._counts[file] -= 1


OPEN_FILES = OpenFiles()
"""Files that this process has open."""


class Database:
    """Connection to a history that this program made, for one thread at a time. Every method raises StorageError.

    Args:
        path: The file; None keeps the history in memory.
        reads: Only read a file that a writer has made, and leave its write-ahead log alone.
        limit: Largest size of the file in bytes; None for no limit.

    Attributes:
        inode: Inode number of the opened file, 0 in memory. Another file at the same path has another number.
    """

    def __init__(self, path: Path | None, *, reads: bool = False, limit: int | None = None) -> None:
        self.path, self._reads = path, reads
        with self._named():
            if path:
                check_file(path, reads=reads)
            if path and not reads:
                _make_private(path)
            # before connecting: another process may set the file aside from now on
            self._file = OPEN_FILES.add(path) if path else (0, 0)
            self.inode = self._file[1]
            try:
                self._db = _connect(path, reads=reads)
                try:
                    self._prepare(reads=reads, limit=limit)
                except BaseException:
                    self._db.close()
                    raise
            except BaseException:
                OPEN_FILES.remove(self._file)
                raise

    @property
    def in_place(self) -> bool:
        """True while the path leads to the opened file; false once another process has set that file aside."""
        with suppress(OSError):
            return self.path is None or self.path.stat().st_ino == self.inode
        return False

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        with self._named():
            return self._db.execute(statement, values).fetchall()

    def each(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Return an iterator over the rows of a query. All rows are read at once, so that writers need not wait."""
        return iter(self.rows(statement, values))

    def checked(self, columns: str, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query, and check that each value fits its column.

        `columns`: names of the columns, such as `stream.id .base` (see `columns.py`). Raises StorageError, which names
        the table, the column and the expected value.
        """
        return self.sound(columns, self.rows(statement, values))

    def sound(self, columns: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return `rows` unchanged. Raises StorageError if a value does not fit its column (see `checked`)."""
        try:
            return checked(columns, rows)
        except UnsoundError as error:
            raise self.unsound(error) from None

    def unsound(self, error: UnsoundError) -> StorageError:
        """Return the StorageError for a value that does not fit its column."""
        return StorageError(self.path, f"{error}: run `livedeck past salvage` to save the readable rows")

    def run(self, statement: str, values: Values = ()) -> None:
        """Execute a statement that returns no rows."""
        with self._named():
            self._db.execute(statement, values)

    def run_many(self, statement: str, rows: Iterable[Values]) -> None:
        """Execute a statement once for each row of values."""
        with self._named():
            self._db.executemany(statement, rows)

    @contextmanager
    def transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        """Commit the block, or roll it back if it raises.

        `kind`: IMMEDIATE locks the file for writing at once, DEFERRED at the first write. Every read in the block sees
        the file at the same moment.
        """
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
        """Turn the history into a recording: one file without a log, which no deck writes to. Raises StorageError."""
        self.run("PRAGMA journal_mode = DELETE")
        self.run("PRAGMA synchronous = OFF")  # the writer of a recording syncs the file once, at the end
        self.run(f"PRAGMA application_id = {RECORDING}")

    def version(self) -> int:
        """Return a number that changes whenever another connection has changed the file. Raises StorageError."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def interrupt(self) -> None:
        """Interrupt the statement that another thread runs on this connection, if any."""
        with suppress(sqlite3.ProgrammingError):  # the reading thread may close the connection at any moment
            self._db.interrupt()

    def close(self) -> None:
        """Close the connection. A writer first moves the write-ahead log into the file, if nobody else reads it."""
        try:
            if not self._reads:
                with suppress(StorageError):
                    self.run("PRAGMA busy_timeout = 0")
                    self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._db.close()
            OPEN_FILES.remove(self._file)

    def _prepare(self, *, reads: bool, limit: int | None) -> None:
        db = self._db
        db.execute("PRAGMA trusted_schema = OFF")
        fresh = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        # read after `sqlite_master`, because a process that makes the tables sets these numbers in the same step
        application, schema = (number(db, name) for name in ("application_id", "user_version"))
        advice = "" if reads else ": set `history` to another file"
        if application == RECORDING and not reads:
            raise StorageError(self.path, "a recording cannot be changed: open it with `livedeck past replay`")
        if not fresh and application not in {APPLICATION, RECORDING}:
            raise StorageError(self.path, f"it belongs to another program{advice}")
        if 0 < schema < OLDEST:
            raise StorageError(self.path, "an older version of livedeck made it", aside="older")
        if schema > SCHEMA:
            raise StorageError(self.path, f"a newer version of livedeck made it{advice}")
        db.execute(f"PRAGMA page_size = {_PAGE}")
        if not reads:
            if fresh:
                db.execute(f"PRAGMA busy_timeout = {round(1000 * _CREATING_TIMEOUT)}")
            _log_ahead(db)
            if schema < SCHEMA:
                _make_tables(db)
            db.execute(STREAM_COPY)
            db.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY_TIMEOUT)}")
        elif schema < SCHEMA:
            db.execute(NO_RECENT)
        page = number(db, "page_size")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{CACHE}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_LOG_LIMIT // page}")
        db.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
        if limit is not None:
            db.execute(f"PRAGMA max_page_count = {limit // page}")

    def _reason(self, code: int) -> str:  # noqa: ARG002
        """Return the reason for an error code of SQLite; empty to use the reason in `_ADVICE`."""
        return ""

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = self._reason(code) or _ADVICE.get(code) or safe(str(error), 200)
            aside, is_locked = CORRUPT if code in _CORRUPT else "", code in _LOCKED
            raise StorageError(self.path, reason, aside=aside, is_locked=is_locked) from error
        except OSError as error:
            raise StorageError(self.path, f"{error.strerror}: set `history` to another file") from error


def check_file(path: Path, *, reads: bool = True) -> None:
    """Raise StorageError unless the path leads to a regular file, because opening a pipe would wait forever.

    A missing file is allowed for writing.
    """
    is_missing = not path.exists()  # checked first, because another process may make the file at any moment
    if not (is_missing and not reads) and not path.is_file():
        advice = "" if reads else ": set `history` to another file"
        reason = "it is a folder" if path.is_dir() else "no such file" if is_missing else "not a regular file"
        raise StorageError(path, f"{reason}{advice}")


def set_aside(path: Path, now: datetime, word: str = CORRUPT) -> Path:
    """Rename a file and its log, adding `word` and the time. Return the new path. Raises StorageError."""
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
    """Create the file, readable by its owner only, if it is missing. SQLite gives the log the same mode."""
    with OPEN_FILES.unless_open(path) as may_open:
        if may_open:
            os.close(open_private(path, os.O_RDWR))


def _connect(path: Path | None, *, reads: bool) -> sqlite3.Connection:
    place = f"{path.absolute().as_uri()}?mode={'ro' if reads else 'rwc'}" if path else ":memory:"
    return sqlite3.connect(
        place, uri=path is not None, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )


def _log_ahead(db: sqlite3.Connection) -> None:
    """Begin a write-ahead log, unless the file has one.

    SQLite fails at once while another process begins a log. So this function waits in an empty transaction, then
    retries.
    """
    for left in reversed(range(_CREATING_TRIES)):
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not left:
                raise
            db.execute("BEGIN EXCLUSIVE")
            db.execute("ROLLBACK")
        else:
            return


def _make_tables(db: sqlite3.Connection) -> None:
    """Create the tables of a new file or upgrade an older one, unless another process has done so meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    for statement in MADE.get(number(db, "user_version"), "").split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("COMMIT")


def number(db: sqlite3.Connection, pragma: str) -> int:
    """Return the value of a pragma that is a number."""
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Return the exact microseconds since the epoch, so that every process sorts times in the same order."""
    return (at - _EPOCH) // _MICROSECOND


def moment(microseconds: int) -> datetime:
    """Return a number of microseconds since the epoch as a time in UTC."""
    return _EPOCH + microseconds * _MICROSECOND
