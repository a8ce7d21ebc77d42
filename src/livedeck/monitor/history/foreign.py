"""The only way to a history or recording that this process did not make itself: a file may come from anybody.

Its schema is code that SQLite would run (views, triggers, generated columns), its pages may form circles, and its rows
hold any value. So a file is opened read-only; its schema has to be that of livedeck, statement by statement; no query
may do more work or bring more than the size of the file explains; and nothing but our tables and a few functions can be
named. After https://sqlite.org/security.html. (SQLITE_DBCONFIG_DEFENSIVE needs `setconfig` of Python 3.12; on a
connection that cannot write it would guard nothing.)
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
    APPLICATION,
    BUSY_TIMEOUT,
    CACHE,
    CORRUPT,
    MADE,
    OLDEST,
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
"""Of schema 3: all alarms as one text."""

_NEEDED = {
    3: ("event", "stream", "sample", "rollup", "journal"),
    4: ("answer", "alarm", "learnt"),
    5: ("published", "late"),
}
"""Tables that a file has from that schema on."""

_ENTRIES = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?"
_MAX_ENTRIES = 64
"""Entries of a schema that are read; ours has 20."""

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
"""What SQLite takes while it reads the schema of a stranger."""

_LONGEST = 8 * 2**20 + 65_536
"""Bytes of a row: the longest body, and what stands beside it."""

_TURN = 1000
"""Steps of SQLite's machine between two looks at the budget; a look costs as much as some ten steps."""

_OPENING_STEPS = 20_000
"""Steps that reading a schema may take: ours takes some hundred, and each entry makes SQLite's own copy larger."""

_BASE_STEPS, _STEPS_PER_BYTE = 500_000, 16
"""What one statement may take: scanning a table of ours costs up to two steps for each of its bytes."""

_BASE_ROWS, _BYTES_PER_ROW = 1000, 2
_BASE_TEXT, _TEXT_PER_BYTE = 2**20, 4
"""What one statement may bring: no row of ours is shorter, and no query repeats a text more often."""

_TARGET = "target"
"""The recording that an export writes, as SQL names it."""

_CHECKED = 20_000
"""Rows whose values are checked at once: some hundredths of a second."""

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
    """A reading was ended from another thread: nothing is wrong with the file."""


class Stop:
    """Ends from another thread what is read of foreign files in its `with` block."""

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
        """Have every reading end with ReadingEndedError."""
        self.is_set = True
        for file in list(self._files):
            file.interrupt()

    def add(self, file: Foreign) -> None:
        """Have that file's statements end with this."""
        self._files.add(file)

    def check(self) -> None:
        """Raise ReadingEndedError once `set` was called; for loops that ask no file."""
        if self.is_set:
            raise ReadingEndedError


_STOP: ContextVar[Stop] = ContextVar("stop")


def current_stop() -> Stop:
    """Return the one whose block this is; outside of one, one that nobody sets."""
    return _STOP.get(None) or Stop()


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns in a thread. A cancellation (ctrl-c) ends what it reads of foreign files at once."""
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
    """Open a history or recording of whomever, to read it. The one function that does. Raises StorageError.

    `views`: the caller puts temporary tables and views before the file's own.
    """
    return Foreign(path, has_views=views)


def open_to_change(path: Path) -> Database:
    """Open a history that a person has named, to change it, once `open_foreign` takes it and its pages are whole.

    A file that does not exist yet is made. Raises StorageError.
    """
    if path.exists() and path.stat().st_size:
        check_whole(path)
    return Database(path)


def check_whole(path: Path) -> None:
    """Raise StorageError unless that file is a history or a recording whose pages are whole."""
    with closing(open_foreign(path)) as db:
        faults = [text for (text,) in db.rows("PRAGMA quick_check(1)") if text != "ok"]
        if not db.tables:
            raise StorageError(path, "it is empty")
    if faults:
        words = safe(faults[0], 200)
        raise StorageError(path, f"it is damaged ({words}): `livedeck past salvage` saves what can be read")


class Foreign(Database):
    """A connection to a file of whomever. `tables`: those of ours that it has; an older livedeck's has not all.

    It can read our tables and nothing else; a statement that takes or brings more than the size of the file explains
    is a StorageError.
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
            self._db = _connect(path, is_immutable=header.is_recording)
            try:
                self._stop.add(self)
                self._defend()
                self.tables = self._recognised()
                self._seal()
            except BaseException:
                self._db.close()
                raise

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All that a query finds. Raises StorageError, also for more than the file can hold."""
        return list(self.each(statement, values))

    def each(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield what a query finds, row by row, as `rows`."""
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
        """Return these rows as `checked` does; a stop is heeded meanwhile."""
        for start in range(0, len(rows), _CHECKED):
            self._stop.check()
            super().sound(columns, rows[start : start + _CHECKED])
        return rows

    def count(self, table: str, where: str = "TRUE", values: Values = ()) -> tuple[int, int]:
        """Return how many rows of a table a condition of SQL selects, and how many of them are not sound."""
        unsound = f"count(CASE WHEN {sound(table)} THEN NULL ELSE 1 END)"
        # `count(*)` alone would heed neither a limit nor ctrl-c
        ((all_rows, unsound_rows),) = self.rows(f"SELECT count(*), {unsound} FROM {table} WHERE {where}", values)  # noqa: S608  our tables
        return all_rows, unsound_rows

    def attach(self, target: Path) -> None:
        """Let `copy` write into a recording that this process has made. Raises StorageError."""
        with self._named():
            self._db.set_authorizer(None)
            self._db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
            self._db.execute("PRAGMA query_only = OFF")
            self._db.execute(f"ATTACH DATABASE ? AS {_TARGET}", [f"{target.absolute().as_uri()}?mode=rw"])
            self._db.execute(
                f"PRAGMA {_TARGET}.synchronous = OFF"
            )  # whoever writes a recording syncs it once, at the end
            self._seal()

    def copy(self, table: str, where: str, values: Values) -> None:
        """Copy the selected rows of a table into the attached recording. Raises StorageError if one is not sound."""
        if self.count(table, where, values)[1]:
            for row in self.each(f"SELECT * FROM {table} WHERE {where}", values):  # noqa: S608  our tables
                self.sound(f"{table}.*", [row])
        self.run(f"INSERT INTO {_TARGET}.{table} SELECT * FROM main.{table} WHERE {where}", values)  # noqa: S608  our tables

    def run(self, statement: str, values: Values = ()) -> None:
        """One change of a temporary table or of the attached recording, or a transaction."""
        self._steps = 0
        super().run(statement, values)

    def _defend(self) -> None:
        """Set what SQLite must know before it reads the first page."""
        db = self._db
        db.text_factory = _text
        for limit, value in _OPENING_LIMITS.items():
            db.setlimit(limit, value)
        db.set_progress_handler(self._is_enough, _TURN)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", f"cache_size = -{CACHE}"):
            db.execute(f"PRAGMA {pragma}")
        if not self._has_views:
            db.execute("PRAGMA query_only = ON")  # of temporary tables too

    def _recognised(self) -> frozenset[str]:
        """Return the tables of the file, if it has nothing that no livedeck makes. Raises StorageError."""
        db = self._db
        db.execute("BEGIN")  # another process may be making the tables: all of it is of one moment
        found = db.execute(_ENTRIES, [_MAX_ENTRIES]).fetchall()
        application, schema = (number(db, name) for name in ("application_id", "user_version"))
        db.execute("COMMIT")
        if not found:
            return frozenset()
        if application not in {APPLICATION, RECORDING}:
            raise StorageError(self.path, "it belongs to another program")
        if 0 < schema < OLDEST:
            raise StorageError(self.path, "an older livedeck made it", aside="older")
        if schema > SCHEMA:
            raise StorageError(self.path, "a newer livedeck made it")
        known = _known_entries()
        for entry in (_Entry.of(*row) for row in found):
            if entry not in known:
                is_ours = (entry.kind, entry.name) in {(other.kind, other.name) for other in known}
                fault = "is not as livedeck makes it" if is_ours else "is none of livedeck's"
                kind = safe(str(entry.kind), 10)
                raise StorageError(
                    self.path, f"its {kind} `{safe(str(entry.name), 40)}` {fault}, so nothing of it is read"
                )
        tables = frozenset(name for kind, name, *_ in found if kind == "table")
        needed = (table for since, names in _NEEDED.items() if since <= schema for table in names)
        if missing := [table for table in needed if table not in tables]:
            raise StorageError(self.path, f"it has no table `{missing[0]}`, so nothing of it is read")
        return tables & COLUMNS.keys()

    def _seal(self) -> None:
        """From now on our own queries are asked, and of our own tables."""
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        self._db.set_authorizer(self._may)
        self._most_steps = _BASE_STEPS + _STEPS_PER_BYTE * self._size

    def _may(self, action: int, one: str | None, other: str | None, place: str | None, source: str | None) -> int:
        """Answer SQLite, which asks for each thing that a statement names as it prepares it."""
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_TRANSACTION:
                is_allowed = True
            case sqlite3.SQLITE_READ:
                is_main = place == "main" or not other  # of a table without a column SQLite does not say whose it is
                is_ours = is_main and one in _READABLE and (source is None or self._has_views)
                is_allowed = is_ours or (place == "temp" and self._has_views)
            case sqlite3.SQLITE_FUNCTION:
                is_allowed = other in _FUNCTIONS
            case sqlite3.SQLITE_PRAGMA:
                is_allowed = one in _PRAGMAS
            case sqlite3.SQLITE_INSERT if place == _TARGET:
                is_allowed = one in COLUMNS
            case _:
                is_allowed = self._has_views and place == "temp" and action in _IN_TEMP
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    def _is_enough(self) -> bool:
        """Answer SQLite, which asks after each `_TURN` steps whether to end the statement."""
        self._steps += _TURN
        return self._stop.is_set or self._steps > self._most_steps

    def _reason(self, code: int) -> str:
        self._stop.check()
        if code == sqlite3.SQLITE_INTERRUPT:
            return self._excess()
        return _REASONS.get(code, "")

    def _excess(self) -> str:
        if not self.tables:
            return "its schema is longer than any of livedeck's, so nothing of it is read"
        return "its pages lead round in circles: more comes of a query than the file can hold"


_REASONS = {
    sqlite3.SQLITE_AUTH: "it names what is none of livedeck's, so nothing of it is read",
    sqlite3.SQLITE_TOOBIG: "it has a text or a blob that is longer than any of livedeck's",
    sqlite3.SQLITE_READONLY: "a journal beside it waits to be undone: open it once where it can be written",
}


class _Header(NamedTuple):
    """What the first bytes of a file say. `size`: bytes, with the write-ahead log. `is_recording`: nobody writes it."""

    inode: int
    size: int
    is_recording: bool

    @classmethod
    def of(cls, path: Path) -> _Header:
        """Read them. Raises StorageError for what is none of SQLite's in UTF-8, OSError."""
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123  a pipe never waits
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise StorageError(path, "it is no regular file")
            head = file.read(_HEADER)
        log = 0
        with suppress(OSError):
            log = Path(f"{path}-wal").stat().st_size
        if head and head[:16] != _MAGIC:
            raise StorageError(path, "it is no history and no recording", aside=CORRUPT)
        if len(head) == _HEADER and not log and int.from_bytes(head[56:60]) not in {0, _UTF8}:
            raise StorageError(path, "its text is not UTF-8, so no livedeck made it")
        has_no_log = head[18:20] == b"\x01\x01"
        is_recording = has_no_log and int.from_bytes(head[68:72]) == RECORDING
        return cls(state.st_ino, state.st_size + log, is_recording)


class _Entry(NamedTuple):
    """A line of `sqlite_master`, its statement without comments and line breaks."""

    kind: object
    name: object
    table: object
    script: object

    @classmethod
    def of(cls, kind: object, name: object, table: object, script: object) -> _Entry:
        """Leave out what differs between versions that make the same tables: comments and white space.

        None of our statements has a quote or `/*`, so no comment that is cut here can have begun in a text.
        """
        plain = " ".join(re.sub("--[^\n]*", " ", script).split()) if isinstance(script, str) else script
        return cls(kind, name, table, plain)


@cache
def _known_entries() -> frozenset[_Entry]:
    """Return all entries of a schema that a livedeck has made from schema 3 on, by making them."""
    entries = set[_Entry]()
    for script in (f"{MADE[0]};{STREAM_COPY}", _KEPT):
        with closing(sqlite3.connect(":memory:")) as db:
            db.executescript(script)
            entries |= {_Entry.of(*row) for row in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")}
    return frozenset(entries)


def _text(content: bytes) -> str | bytes:
    """Return a stored text; what is no UTF-8 stays bytes, which no column of ours takes."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _connect(path: Path, *, is_immutable: bool) -> sqlite3.Connection:
    """Connect read-only.

    A recording is one file that nobody writes: what lies beside it is not heeded. The history of a deck may be written
    this very moment, and its newest rows may be in its log.
    """
    place = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_immutable else ''}"
    return sqlite3.connect(place, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
