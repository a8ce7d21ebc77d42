"""Opens histories and recordings that may come from anybody. No other module opens such a file.

SQLite runs the schema of a file as code (views, triggers, generated columns). Pages may form circles, and rows may hold
any value. Therefore a file is opened read-only, and its schema must equal livedeck's, statement by statement. A query
may name only livedeck's tables and a few functions. The size of the file limits the work of a query and the data that
it returns. See https://sqlite.org/security.html. (SQLITE_DBCONFIG_DEFENSIVE needs `setconfig` of Python 3.12, and
protects nothing on a read-only connection.)
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakSet

from livedeck.monitor.history.columns import TABLES as COLUMNS
from livedeck.monitor.history.columns import sound
from livedeck.monitor.history.database import (
    ADDED,
    APPLICATION,
    BUSY_TIMEOUT,
    CACHE,
    CORRUPT,
    MADE,
    NO_RECENT,
    OLDEST,
    OPEN_FILES,
    RECORDING,
    SCHEMA,
    STREAM_COPY,
    Database,
    StorageError,
    Values,
    check_file,
    number,
)
from livedeck.text.values import safe

T = TypeVar("T")

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_UTF8 = 1

_KEPT = "CREATE TABLE kept (id INTEGER PRIMARY KEY CHECK (id = 1), alarms TEXT NOT NULL)"
"""Table of schema 3 that holds all alarms in one text."""

_NEEDED = {
    3: ("event", "stream", "sample", "rollup", "journal"),
    4: ("answer", "alarm", "learnt"),
    5: ("published", "late"),
    6: ("recent",),
}
"""Schema version -> tables that it added."""

_ENTRIES = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?"
_MAX_ENTRIES = 64
"""Maximum number of entries in a schema; livedeck's has fewer than 25."""

_OPENING_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 65_536,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 40,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 60,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 64,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""Limits of SQLite while it reads the schema of an unknown file."""

_LONGEST = 8 * 2**20 + 65_536
"""Maximum size of a row in bytes: 8 MiB for its largest column, and 64 KiB for the other columns."""

_TURN = 1000
"""Steps of SQLite's machine between two checks of the step limit; a check takes as long as about ten steps."""

_OPENING_STEPS = 20_000
"""Maximum number of steps for reading a schema. Livedeck's takes about a hundred."""

_BASE_STEPS, _STEPS_PER_BYTE = 500_000, 16
"""Maximum number of steps of a statement: a fixed part, and a part for each byte of the file.

A scan takes at most two steps for each byte.
"""

_BASE_ROWS, _BYTES_PER_ROW = 1000, 2
_BASE_TEXT, _TEXT_PER_BYTE = 2**20, 4
"""Maximum rows and bytes that a statement may return: a fixed part, and a part that grows with the file."""

_TARGET = "target"
"""SQL name of the recording that an export writes."""

_CHECKED = 20_000
"""Number of rows that are checked at once, which takes a few hundredths of a second."""

_FUNCTIONS = frozenset({"count", "min", "max", "sum", "coalesce", "abs", "typeof", "length"})
_PRAGMAS = frozenset(
    {"integrity_check", "quick_check", "freelist_count", "page_size", "user_version", "data_version", "cache_size"}
)
_READABLE = frozenset({*COLUMNS, "sqlite_master", "sqlite_schema"})
_IN_TEMP = frozenset(
    {
        sqlite3.SQLITE_CREATE_TEMP_TABLE,
        sqlite3.SQLITE_CREATE_TEMP_VIEW,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
    }
)


class ReadingEndedError(Exception):
    """Another thread stopped the reading of a file that has no fault."""


class Stop:
    """Switch for another thread to stop the reading of foreign files in the `with` block."""

    def __init__(self) -> None:
        self.is_set = False
        self._files: WeakSet[Foreign] = WeakSet()

    def __enter__(self) -> Self:
        self._token = _STOP.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _STOP.reset(self._token)

    def set(self) -> None:
        """Stop every reading in the block with ReadingEndedError."""
        self.is_set = True
        for file in list(self._files):
            file.interrupt()

    def add(self, file: Foreign) -> None:
        """Let `set` also stop the statements of this file."""
        self._files.add(file)

    def check(self) -> None:
        """Raise ReadingEndedError after `set`. Call this in loops that run no statement."""
        if self.is_set:
            raise ReadingEndedError


_STOP: ContextVar[Stop] = ContextVar("stop")


def current_stop() -> Stop:
    """Return the Stop of the current `with` block; outside of one, a Stop that is never set."""
    return _STOP.get(None) or Stop()


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread and return its result. Cancelling (ctrl-c) stops its reading of foreign files at once."""
    stop = Stop()

    def run() -> T:
        with stop:
            return work()

    try:
        return await asyncio.to_thread(run)
    except asyncio.CancelledError:
        stop.set()
        raise


def open_foreign(path: Path, *, views: bool = False) -> Foreign:
    """Open a history or recording from anybody, read-only. Raises StorageError if it is not safe to read.

    `views`: the caller will hide the file's tables behind temporary tables and views.
    """
    return Foreign(path, has_views=views)


def open_filled(path: Path) -> Foreign:
    """Open a history or recording as `open_foreign` does. Raises StorageError also if it has no tables."""
    db = open_foreign(path)
    if not db.tables:
        db.close()
        raise StorageError(path, "it is empty: name another file, or start a deck or collector, which fills it")
    return db


def open_to_change(path: Path) -> Database:
    """Open a history that the user named, for changes. Creates a missing file.

    Raises StorageError if `open_foreign` refuses an existing file, or if its pages are damaged.
    """
    if path.exists() and path.stat().st_size:
        check_whole(path)
    return Database(path)


def check_whole(path: Path) -> None:
    """Raise StorageError unless the file is a history or recording with undamaged pages."""
    with closing(open_filled(path)) as db:
        faults = [text for (text,) in db.rows("PRAGMA quick_check(1)") if text != "ok"]
    if faults:
        words = safe(faults[0], 200)
        raise StorageError(path, f"it is damaged ({words}): run `livedeck past salvage` to save the readable rows")


class Foreign(Database):
    """Read-only connection to a file from anybody, limited to livedeck's tables.

    A statement raises StorageError if its work or its data exceed the limits for the file's size.

    Attributes:
        tables: Livedeck's tables in the file; a file of an older version lacks some.
    """

    def __init__(self, path: Path, *, has_views: bool = False) -> None:
        self.path, self._reads, self._has_views = path, True, has_views
        self.tables = frozenset[str]()
        self._steps, self._most_steps = 0, _OPENING_STEPS
        self._stop = current_stop()
        self._stop.check()
        with self._named():
            check_file(path)
            header = _Header.of(path)
            self.inode, self._size = header.inode, header.size
            self._file = (0, 0) if header.is_recording else OPEN_FILES.add(path)  # a recording is read without locks
            try:
                self._db = _connect(path, is_immutable=header.is_recording)
                try:
                    self._stop.add(self)
                    self._defend()
                    self.tables = self._recognised()
                    if self.tables and "recent" not in self.tables:
                        self._add_recent()
                    self._seal()
                except BaseException:
                    self._db.close()
                    raise
            except BaseException:
                OPEN_FILES.remove(self._file)
                raise

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query. Raises StorageError, even if the result exceeds the limits of the class."""
        return list(self.each(statement, values))

    def each(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one. Raises StorageError as `rows` does."""
        rows_left = _BASE_ROWS + self._size // _BYTES_PER_ROW
        text_left = _BASE_TEXT + self._size * _TEXT_PER_BYTE
        with self._named():
            self._steps = 0
            for row in self._db.execute(statement, values):
                self._stop.check()
                rows_left -= 1
                text_left -= sum(len(value) for value in row if isinstance(value, str | bytes))
                if rows_left < 0 or text_left < 0:
                    raise StorageError(self.path, self._excess(), aside=CORRUPT)
                yield row

    def sound(self, columns: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return `rows` unchanged. Raises StorageError if a value does not fit its column.

        Raises ReadingEndedError if another thread stops the reading.
        """
        for start in range(0, len(rows), _CHECKED):
            self._stop.check()
            super().sound(columns, rows[start : start + _CHECKED])
        return rows

    def count(self, table: str, where: str = "TRUE", values: Values = ()) -> tuple[int, int]:
        """Return the number of rows that an SQL condition selects, and the number of unsound rows among them."""
        unsound = f"count(CASE WHEN {sound(table)} THEN NULL ELSE 1 END)"
        # a bare `count(*)` calls no progress handler, so neither the step limit nor ctrl-c would end it
        ((all_rows, unsound_rows),) = self.rows(f"SELECT count(*), {unsound} FROM {table} WHERE {where}", values)  # noqa: S608  our tables
        return all_rows, unsound_rows

    def attach(self, target: Path) -> None:
        """Attach a recording that this process has made, as the target of `copy`. Raises StorageError."""
        with self._named():
            self._db.set_authorizer(None)
            self._db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
            self._db.execute("PRAGMA query_only = OFF")
            self._db.execute(f"ATTACH DATABASE ? AS {_TARGET}", [f"{target.absolute().as_uri()}?mode=rw"])
            # the writer of a recording syncs the file once, at the end
            self._db.execute(f"PRAGMA {_TARGET}.synchronous = OFF")
            self._seal()

    def copy(self, table: str, where: str, values: Values) -> None:
        """Copy the selected rows of a table into the attached recording. Raises StorageError if a row is unsound."""
        if self.count(table, where, values)[1]:
            for row in self.each(f"SELECT * FROM {table} WHERE {where}", values):  # noqa: S608  our tables
                self.sound(f"{table}.*", [row])
        self.run(f"INSERT INTO {_TARGET}.{table} SELECT * FROM main.{table} WHERE {where}", values)  # noqa: S608  our tables

    def run(self, statement: str, values: Values = ()) -> None:
        """Execute a statement that changes a temporary table or the attached recording, or controls a transaction."""
        self._steps = 0
        super().run(statement, values)

    def _defend(self) -> None:
        """Set the limits that must apply before SQLite reads the first page."""
        db = self._db
        db.text_factory = _text
        for limit, value in _OPENING_LIMITS.items():
            db.setlimit(limit, value)
        db.set_progress_handler(self._is_enough, _TURN)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", f"cache_size = -{CACHE}"):
            db.execute(f"PRAGMA {pragma}")
        if not self._has_views:
            db.execute("PRAGMA query_only = ON")  # for temporary tables too

    def _recognised(self) -> frozenset[str]:
        """Return the names of livedeck's tables in the file. Raises StorageError if the schema has any other entry."""
        db = self._db
        db.execute("BEGIN")  # another process may make the tables now, so read schema and numbers at the same moment
        found = db.execute(_ENTRIES, [_MAX_ENTRIES]).fetchall()
        application, schema = (number(db, name) for name in ("application_id", "user_version"))
        db.execute("COMMIT")
        if not found:
            return frozenset()
        if application not in {APPLICATION, RECORDING}:
            raise StorageError(self.path, "it belongs to another program")
        if 0 < schema < OLDEST:
            raise StorageError(self.path, "an older version of livedeck made it", aside="older")
        if schema > SCHEMA:
            raise StorageError(self.path, "a newer version of livedeck made it")
        allowed = _allowed_entries()
        for entry in (_Entry.of(*row) for row in found):
            if entry not in allowed:
                is_ours = (entry.kind, entry.name) in {(other.kind, other.name) for other in allowed}
                fault = "differs from livedeck's" if is_ours else f"is not a livedeck {safe(str(entry.kind), 10)}"
                name = f"its {safe(str(entry.kind), 10)} `{safe(str(entry.name), 40)}`"
                raise StorageError(self.path, f"{name} {fault}; nothing was read")
        tables = frozenset(name for kind, name, *_ in found if kind == "table")
        needed = (table for since, names in _NEEDED.items() if since <= schema for table in names)
        if missing := [table for table in needed if table not in tables]:
            raise StorageError(self.path, f"it has no table `{missing[0]}`; nothing was read")
        return tables & COLUMNS.keys()

    def _add_recent(self) -> None:
        """Add an empty temporary table `recent` to a file of an older version, so that every query finds the table."""
        self._db.execute("PRAGMA temp_store = MEMORY")
        self._db.execute("PRAGMA query_only = OFF")
        self._db.execute(NO_RECENT)
        if not self._has_views:
            self._db.execute("PRAGMA query_only = ON")

    def _seal(self) -> None:
        """Allow only queries of livedeck's tables from now on."""
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        self._db.set_authorizer(self._may)
        self._most_steps = _BASE_STEPS + _STEPS_PER_BYTE * self._size

    def _may(self, action: int, first: str | None, second: str | None, place: str | None, source: str | None) -> int:
        """Allow or deny a name in a statement. SQLite calls this for each name while it prepares the statement.

        `first` and `second` depend on the action (a table and a column, for example). `place` is the database, and
        `source` the view or trigger that holds the name.
        """
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_TRANSACTION:
                is_allowed = True
            case sqlite3.SQLITE_READ:
                is_main = place == "main" or not second  # without a column SQLite does not name the database
                is_ours = is_main and first in _READABLE and (source is None or self._has_views)
                is_allowed = is_ours or (place == "temp" and (self._has_views or first == "recent"))
            case sqlite3.SQLITE_FUNCTION:
                is_allowed = second in _FUNCTIONS
            case sqlite3.SQLITE_PRAGMA:
                is_allowed = first in _PRAGMAS
            case sqlite3.SQLITE_INSERT if place == _TARGET:
                is_allowed = first in COLUMNS
            case _:
                is_allowed = self._has_views and place == "temp" and action in _IN_TEMP
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    def _is_enough(self) -> bool:
        """Return whether SQLite must end the statement. SQLite calls this after each `_TURN` steps."""
        self._steps += _TURN
        return self._stop.is_set or self._steps > self._most_steps

    def _reason(self, code: int) -> str:
        self._stop.check()
        if code == sqlite3.SQLITE_INTERRUPT:
            return self._excess()
        return _REASONS.get(code, "")

    def _excess(self) -> str:
        if not self.tables:
            return "its schema is longer than livedeck's; nothing was read"
        return "its pages form a circle: a query returned more than the file can hold"


_REASONS = {
    sqlite3.SQLITE_AUTH: "it needs a table or function that is not livedeck's; nothing was read",
    sqlite3.SQLITE_TOOBIG: "it has a text or blob that is longer than livedeck writes",
    sqlite3.SQLITE_READONLY: "the journal beside it holds an unfinished change: run `sqlite3 FILE .tables` to undo it",
}


class _Header(NamedTuple):
    """Facts about a file, read before SQLite opens it. `size`: bytes, including the write-ahead log."""

    inode: int
    size: int
    is_recording: bool

    @classmethod
    def of(cls, path: Path) -> _Header:
        """Return the facts about a file, from its first 100 bytes.

        A file that this process has open is not read again, because it was checked when it was opened.

        Raises OSError, or StorageError for a file that is not SQLite's or not in UTF-8.
        """
        with OPEN_FILES.unless_open(path) as may_open:
            if may_open:
                return cls._read(path)
        status = path.stat()
        return cls(status.st_ino, status.st_size + _log_size(path), is_recording=False)

    @classmethod
    def _read(cls, path: Path) -> _Header:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123  a pipe never waits
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise StorageError(path, "not a regular file")
            head = file.read(_HEADER)
        log = _log_size(path)
        if head and head[:16] != _MAGIC:
            raise StorageError(path, "not a history or recording", aside=CORRUPT)
        if len(head) == _HEADER and not log and int.from_bytes(head[56:60]) not in {0, _UTF8}:
            raise StorageError(path, "its text is not UTF-8, so livedeck did not write it")
        has_no_log = head[18:20] == b"\x01\x01"
        is_recording = has_no_log and int.from_bytes(head[68:72]) == RECORDING
        return cls(state.st_ino, state.st_size + log, is_recording)


def _log_size(path: Path) -> int:
    """Return the size of the write-ahead log, 0 without one."""
    with suppress(OSError):
        return Path(f"{path}-wal").stat().st_size
    return 0


class _Entry(NamedTuple):
    """Row of `sqlite_master`. `script`: its statement without comments and line breaks."""

    kind: object
    name: object
    table: object
    script: object

    @classmethod
    def of(cls, kind: object, name: object, table: object, script: object) -> _Entry:
        """Make an entry without comments and line breaks, which may differ between versions of livedeck.

        Livedeck's statements have no quote and no `/*`, so `--` always begins a comment.
        """
        plain = " ".join(re.sub("--[^\n]*", " ", script).split()) if isinstance(script, str) else script
        return cls(kind, name, table, plain)


@cache
def _allowed_entries() -> frozenset[_Entry]:
    """Return every schema entry that livedeck has made since schema 3."""
    entries = set[_Entry]()
    for script in (";".join([MADE[0], STREAM_COPY, *ADDED.values()]), _KEPT):
        with closing(sqlite3.connect(":memory:")) as db:
            db.executescript(script)
            entries |= {_Entry.of(*row) for row in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")}
    return frozenset(entries)


def _text(content: bytes) -> str | bytes:
    """Return a stored text decoded; invalid UTF-8 stays bytes, which no text column accepts."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _connect(path: Path, *, is_immutable: bool) -> sqlite3.Connection:
    """Connect read-only. `is_immutable`: ignore a log or journal beside the file.

    This suits a recording, which nobody writes. The newest rows of a deck's history may be in its log.
    """
    place = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_immutable else ''}"
    return sqlite3.connect(place, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
