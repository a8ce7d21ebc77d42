"""The history's SQLite file: opening it, its tables, and what its failures mean. The monitor's only sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

Values: TypeAlias = Sequence[object] | Mapping[str, object]


_APPLICATION = 0x6C646869  # "ldhi", in the header of our files

_SCHEMA = 2

_PATIENCE = 0.5

"""Seconds that a statement waits for another deck's transaction."""


_PAGE = 8192

"""Bytes. A slot of samples, up to 2 kB, is a part of its page and has none of its own."""


_CACHE = 4096

"""KiB of pages in memory: the last page of every stream, and those that a chart reads."""


_LOG_LIMIT = 4 * 2**20

"""Bytes of the write-ahead log at which it goes into the file, and that it keeps on disk once it is emptied."""


_RECENT = """
CREATE TABLE recent (  -- samples in no slot yet: ms since the epoch, bit/s, frames per 1000 s; -2^63 is missing
    time INTEGER, stream INTEGER, video INTEGER, audio INTEGER, fps INTEGER, status INTEGER,
    PRIMARY KEY (time, stream)
) WITHOUT ROWID;
"""


_STREAM = """
    id INTEGER PRIMARY KEY, event INTEGER NOT NULL, name TEXT NOT NULL,
    base INTEGER NOT NULL,  -- ms since the epoch, a whole slot: slots count from here
    UNIQUE (event, name)
"""


_TABLES = f"""
CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE stream ({_STREAM});
{_RECENT}
CREATE TABLE rollup (  -- three minutes of samples a row, and what they come to
    stream INTEGER, slot INTEGER, count INTEGER,
    video_low INTEGER, video_high INTEGER, video_last INTEGER,
    audio_low INTEGER, audio_high INTEGER, audio_last INTEGER,
    fps_low INTEGER, fps_high INTEGER, fps_last INTEGER,
    normal INTEGER, key20 INTEGER, key50 INTEGER, loss INTEGER, odd INTEGER,
    samples BLOB,  -- packing.py
    PRIMARY KEY (stream, slot)
) WITHOUT ROWID;
CREATE TABLE journal (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, topic TEXT, body TEXT NOT NULL);
CREATE INDEX journal_by_kind ON journal (kind, at);
CREATE TABLE kept (id INTEGER PRIMARY KEY CHECK (id = 1), alarms TEXT NOT NULL);
"""


_UPGRADE = f"""
{_RECENT}
INSERT INTO recent SELECT base + time, stream, coalesce(video, -1 << 63), coalesce(audio, -1 << 63),
    coalesce(fps, -1 << 63), coalesce(status, -1) FROM stream JOIN sample ON stream = id AND time >= rolled * 180000;
DELETE FROM sample WHERE (stream, time) IN (SELECT stream, time - base FROM recent JOIN stream ON stream = id);
DELETE FROM rollup WHERE slot * 180000 + 179999 <
    coalesce((SELECT min(time) FROM sample WHERE sample.stream = rollup.stream), 1 << 62);
ALTER TABLE rollup ADD COLUMN samples BLOB;
CREATE TABLE moved ({_STREAM});
INSERT INTO moved SELECT id, event, name, base FROM stream;
DROP TABLE stream;
ALTER TABLE moved RENAME TO stream;
"""  # noqa: S608  constants

"""From the first format, whose `sample` had a row for each sample. Those of whole slots stay in it for `earlier.py`.

Roll-ups before all samples go: pruning was stopped between the two. No DROP COLUMN: SQLite has it since 3.35 alone.
"""


_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space, or lower retention_days",
    sqlite3.SQLITE_BUSY: "another program has it locked: close that one",
    sqlite3.SQLITE_LOCKED: "another program has it locked: close that one",
    sqlite3.SQLITE_READONLY: "it may not be written: chmod u+w it and its folder, or set `history` to another file",
    sqlite3.SQLITE_PERM: "it may not be written: chmod u+w it and its folder, or set `history` to another file",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check its folder, or set `history` to another file",
    sqlite3.SQLITE_IOERR: "the disk fails: check it, or set `history` to another file",
}


_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class StorageError(Exception):
    """The file could not be used: which one, why, and what to do. `corrupt`: it is no database any more."""

    def __init__(self, path: Path | None, why: str, *, corrupt: bool = False) -> None:
        super().__init__(f"history {path or 'in memory'}: {why}")
        self.corrupt = corrupt


class Database:
    """One connection; one thread at a time. Every failure is a StorageError.

    `reads`: it only reads a file that another connection has made, and writes not even its log into it. `limit`: bytes
    that the file may take.
    """

    def __init__(self, path: Path | None, *, reads: bool = False, limit: int | None = None) -> None:
        self.path, self._reads = path, reads
        with self._named():
            if path and not reads:
                _make_private(path)
            self._inode = path.stat().st_ino if path else 0  # before: another deck may set it aside from now on
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
            return self.path is None or self.path.stat().st_ino == self._inode
        return False

    def rows(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All that a query finds."""
        with self._named():
            return self._db.execute(statement, values).fetchall()

    def run(self, statement: str, values: Values = ()) -> None:
        """One change."""
        with self._named():
            self._db.execute(statement, values)

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
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

    def interrupt(self) -> None:
        """End what another thread is asking of this connection."""
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
        fresh = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        # another deck may make the tables just now: asked earlier, the file would have them and not yet be ours
        application, schema = (_number(db, name) for name in ("application_id", "user_version"))
        if not fresh and application != _APPLICATION:
            raise StorageError(self.path, "it belongs to another program: set `history` to another file")
        if schema > _SCHEMA:
            raise StorageError(self.path, "a newer livedeck made it: set `history` to another file")
        db.execute(f"PRAGMA page_size = {_PAGE}")
        if not reads:
            db.execute("PRAGMA journal_mode = WAL")
            if schema < _SCHEMA:
                _bring_up(db)
        page = _number(db, "page_size")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{_CACHE}")
        db.execute(f"PRAGMA wal_autocheckpoint = {_LOG_LIMIT // page}")
        db.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
        if limit is not None:
            db.execute(f"PRAGMA max_page_count = {limit // page}")

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            why = _ADVICE.get(code) or str(error)
            raise StorageError(self.path, why, corrupt=code in _CORRUPT) from error
        except OSError as error:
            raise StorageError(self.path, f"{error.strerror}: set `history` to another file") from error


def set_aside(path: Path, now: datetime) -> Path:
    """Give a corrupt file, and what belongs to it, another name. Returns that. Raises StorageError."""
    aside = path.with_name(f"{path.name}.corrupt-{now:%Y%m%dT%H%M%SZ}")
    try:
        path.rename(aside)
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    except OSError as error:
        raise StorageError(path, f"it is corrupt, and cannot be renamed ({error.strerror}): move it away") from error
    return aside


def _make_private(path: Path) -> None:
    """The file exists, and its owner alone can read it; SQLite gives its companions the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _connect(path: Path | None, *, reads: bool) -> sqlite3.Connection:
    place = f"{path.absolute().as_uri()}?mode={'ro' if reads else 'rwc'}" if path else ":memory:"
    return sqlite3.connect(
        place, uri=path is not None, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )


def _bring_up(db: sqlite3.Connection) -> None:
    """Make the tables of a new file, or those of an earlier one ours; another deck may do so in the meantime."""
    db.execute("BEGIN IMMEDIATE")
    script = {0: _TABLES, 1: _UPGRADE}.get(_number(db, "user_version"), "")
    for statement in script.split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {_APPLICATION}")
    db.execute(f"PRAGMA user_version = {_SCHEMA}")
    db.execute("COMMIT")


def _number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])
