"""SQLite documents: every API keeps its objects here, and only this module contains SQL.

A document is a JSON object with a string `id`. Rows are (kind, id, workspace, json). Filters and orders read the JSON
itself, so that no column can disagree with it.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import AsyncIterator, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from livedeck.simulator.errors import SimulatorError, not_found

Document: TypeAlias = dict[str, Any]
Order: TypeAlias = Sequence[tuple[str, str]]
Where: TypeAlias = Sequence[tuple[str, str | tuple[str, ...] | None]]

_APPLICATION_ID = 0x6C697665  # "live", in the header of our files
_SCHEMA_VERSION = 4
_TABLE = """
CREATE TABLE IF NOT EXISTS document (
    kind TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS listing ON document (kind, workspace);
CREATE INDEX IF NOT EXISTS by_created_at ON document (kind, workspace, json_extract(json, '$.created_at'));
CREATE INDEX IF NOT EXISTS by_name ON document (kind, workspace, json_extract(json, '$.name'));
CREATE INDEX IF NOT EXISTS newest_first
    ON document (kind, workspace, json_extract(json, '$.created_at') DESC, json_extract(json, '$.name'));
CREATE INDEX IF NOT EXISTS of_event
    ON document (kind, workspace, json_extract(json, '$.event_id'), json_extract(json, '$.created_at'))
    WHERE json_extract(json, '$.event_id') IS NOT NULL;
CREATE INDEX IF NOT EXISTS of_video
    ON document (kind, workspace, json_extract(json, '$.of_video'), json_extract(json, '$.created_at'))
    WHERE json_extract(json, '$.of_video') IS NOT NULL;
CREATE INDEX IF NOT EXISTS of_video_by_position
    ON document (kind, workspace, json_extract(json, '$.of_video'), json_extract(json, '$.position'))
    WHERE json_extract(json, '$.of_video') IS NOT NULL;
CREATE INDEX IF NOT EXISTS of_video_by_start_time
    ON document (kind, workspace, json_extract(json, '$.of_video'), json_extract(json, '$.start_time'))
    WHERE json_extract(json, '$.of_video') IS NOT NULL;
CREATE TABLE IF NOT EXISTS tally (
    kind TEXT NOT NULL, workspace TEXT NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (kind, workspace)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS add_to_tally AFTER INSERT ON document BEGIN
    INSERT INTO tally VALUES (new.kind, new.workspace, 1) ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER IF NOT EXISTS take_from_tally AFTER DELETE ON document BEGIN
    UPDATE tally SET documents = documents - 1 WHERE kind = old.kind AND workspace = old.workspace;
END;
CREATE TABLE IF NOT EXISTS measured (
    stream TEXT NOT NULL, tick INTEGER NOT NULL, video INTEGER NOT NULL, audio INTEGER NOT NULL, fps INTEGER NOT NULL,
    status INTEGER NOT NULL, PRIMARY KEY (stream, tick)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS recorded (
    stream TEXT NOT NULL, at INTEGER NOT NULL, video REAL, audio REAL, fps REAL, status INTEGER,
    PRIMARY KEY (stream, at)
) WITHOUT ROWID;
DELETE FROM tally;
INSERT INTO tally SELECT kind, workspace, count(*) FROM document GROUP BY kind, workspace;
"""
_INDEXED = {
    name: f"json_extract(json, '$.{name}')"
    for name in ("created_at", "name", "event_id", "of_video", "position", "start_time")
}
"""Field with an index -> its SQL expression. SQLite uses the index only if a query has exactly this text.

No text from a caller becomes part of a query: a field is a key of this table, or the value of a placeholder.
"""


@dataclass(frozen=True, slots=True)
class Query:
    """Selection of documents of one kind and workspace, with fields equal to `where`.

    In `where`, None selects a null or absent field, and a tuple any of its values.

    `contains` is (field, text) pairs: the field contains the text, in either case. `not_after` is (field, timestamp)
    pairs. `order` is (field, "asc" or "desc") pairs; the id breaks ties. `page` counts from 1.
    """

    kind: str
    workspace: str
    where: Where = ()
    contains: Sequence[tuple[str, str]] = ()
    not_after: Sequence[tuple[str, str]] = ()
    order: Order = ()
    page: int = 1
    per_page: int = 100

    @property
    def is_whole(self) -> bool:
        """True if the query selects every document of the kind and workspace."""
        return not (self.where or self.contains or self.not_after)


class Store:
    """Documents, in memory (`path` None) or in a file that belongs to this process alone.

    Raises SimulatorError if the file is unusable or in use by another process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._is_kept = path is not None
        with ExitStack() as held:
            try:
                if path is not None:
                    held.callback(os.close, _lock(path))
                self._db = _connect(path)
            except (sqlite3.Error, OSError) as error:
                raise SimulatorError(f"cannot use the data file {path}: {error}") from error
            held.callback(self._db.close)
            self.close = weakref.finalize(self, held.pop_all().close)

    @property
    def is_kept(self) -> bool:
        """True if the documents outlive this process."""
        return self._is_kept

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction; an inner call joins the outer one. Raises OSError if the disk is full."""
        if self._db.in_transaction:
            yield
            return
        with _explained_disk():
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.rollback()  # does nothing if SQLite itself has rolled back, as it does on a full disk
                raise

    def get(self, kind: str, document_id: str, workspace: str | None = None) -> Document | None:
        """Return a document; None if no document of `workspace` has this id. `workspace`: None for any."""
        row = self._db.execute(
            "SELECT json FROM document WHERE kind = ? AND id = ? AND workspace = coalesce(?, workspace)",
            (kind, document_id, workspace),
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def find(self, query: Query) -> tuple[list[Document], int]:
        """Return one page of the documents, and the number of all that match."""
        clause, values = _clause(query)
        directions = "".join(
            f"{_INDEXED.get(name, 'json_extract(json, ?)')} {_DIRECTIONS[direction]}, "
            for name, direction in query.order
        )
        if query.is_whole:
            count = "SELECT coalesce(sum(documents), 0) FROM tally WHERE kind = ? AND workspace = ?"
        else:
            count = f"SELECT count(*) {clause}"
        total = self._db.execute(count, values).fetchone()[0]
        rows = self._db.execute(
            f"SELECT json {clause} ORDER BY {directions} id LIMIT ? OFFSET ?",
            [
                *values,
                *(_json_path(name) for name, _ in query.order if name not in _INDEXED),
                query.per_page,
                (query.page - 1) * query.per_page,
            ],
        )
        return [json.loads(row[0]) for row in rows], total

    def find_all(self, kind: str, workspace: str, where: Where = (), order: Order = ()) -> list[Document]:
        return self.find(Query(kind, workspace, where, order=order, per_page=-1))[0]

    def insert(self, kind: str, workspace: str, document: Document) -> None:
        row = kind, document["id"], workspace, json.dumps(document)
        self._write("INSERT INTO document (kind, id, workspace, json) VALUES (?, ?, ?, ?)", row)

    def put(self, kind: str, document: Document) -> None:
        """Store or replace a document without a workspace."""
        row = kind, document["id"], json.dumps(document)
        self._write("INSERT OR REPLACE INTO document (kind, id, workspace, json) VALUES (?, ?, '', ?)", row)

    def update(self, kind: str, document: Document) -> None:
        """Replace a document with its new state."""
        row = json.dumps(document), kind, document["id"]
        self._write("UPDATE document SET json = ? WHERE kind = ? AND id = ?", row)

    def delete(self, kind: str, document_id: str) -> None:
        """Delete a document, if it exists."""
        self._write("DELETE FROM document WHERE kind = ? AND id = ?", (kind, document_id))

    def mirror(self, other: Store) -> None:
        """Replace every document with those of `other`, in one step. Raises OSError if the disk is full."""
        with _explained_disk():
            other._db.backup(self._db)

    def dump(self) -> bytes:
        """Return the documents as the bytes of a database file."""
        content = self._db.serialize()
        return content[:18] + b"\1\1" + content[20:]  # without a write-ahead log, which no memory can have

    @classmethod
    def load(cls, content: bytes) -> Store:
        """Return a store in memory with the documents of `dump`. Raises ValueError for anything else."""
        store = cls()
        schema = store._schema()
        try:
            store._db.deserialize(content)
            if store._schema() != schema:
                raise ValueError("its world belongs to another program or another version")
            damages = store._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            invalid = store._db.execute(
                "SELECT count(*) FROM document WHERE NOT json_valid(json) OR json_type(json) != 'object'"
            ).fetchone()[0]
        except sqlite3.Error as error:
            raise ValueError(f"its world is no database: {error}") from error
        if damages != "ok" or invalid or store.get("world", "world") is None:
            raise ValueError("its world is damaged")
        return store

    def _schema(self) -> list[object]:
        pragmas = ("application_id", "user_version", "page_size")
        return [
            *(self._db.execute(f"PRAGMA {name}").fetchone() for name in pragmas),
            *self._db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"),
        ]

    def clear(self, keep: Sequence[str] = ()) -> None:
        """Delete the measured samples and every document, except documents of the kinds `keep`.

        Recorded samples stay.
        """
        with self.transaction():
            self._write("DELETE FROM document WHERE kind NOT IN (SELECT value FROM json_each(?))", [json.dumps(keep)])
            self._write("DELETE FROM measured", ())

    def add_measured(self, rows: Iterable[tuple[str, int, int, int, int, int]]) -> None:
        """Store measured samples (stream, tick, video, audio, fps, status), and keep the newest 3,600 of a stream."""
        added = [*rows]
        with self.transaction():
            self._db.executemany("INSERT OR REPLACE INTO measured VALUES (?, ?, ?, ?, ?, ?)", added)
            for stream in {row[0] for row in added}:
                self._db.execute(_FORGET_MEASURED, (stream, stream))

    def forget_measured_after(self, stream: str, tick: int) -> None:
        """Delete the measured samples of a stream after `tick`."""
        with self.transaction():
            self._db.execute("DELETE FROM measured WHERE stream = ? AND tick > ?", (stream, tick))

    def measured(self, stream: str) -> list[tuple[int, int, int, int, int]]:
        """Return the measured samples of a stream (tick, video, audio, fps, status), ascending."""
        return self._db.execute(
            "SELECT tick, video, audio, fps, status FROM measured WHERE stream = ? ORDER BY tick", (stream,)
        ).fetchall()

    def add_recorded(
        self, rows: Iterable[tuple[str, int, float | None, float | None, float | None, int | None]]
    ) -> None:
        """Store recorded samples: stream, time (epoch ms), video, audio, fps, status; None for a missing value."""
        with self.transaction():
            self._db.executemany("INSERT OR REPLACE INTO recorded VALUES (?, ?, ?, ?, ?, ?)", rows)

    def recorded(self, stream: str, after: int, until: int, most: int) -> list[tuple[Any, ...]]:
        """Return the newest recorded samples of a stream in (after, until], newest first, without the stream."""
        return self._db.execute(
            "SELECT at, video, audio, fps, status FROM recorded WHERE stream = ? AND at > ? AND at <= ? "
            "ORDER BY at DESC LIMIT ?",
            (stream, after, until, most),
        ).fetchall()

    def has_recorded(self, stream: str) -> bool:
        """Return whether there are recorded samples of a stream."""
        return self._db.execute("SELECT 1 FROM recorded WHERE stream = ? LIMIT 1", (stream,)).fetchone() is not None

    def _write(self, statement: str, values: Sequence[str]) -> None:
        with self.transaction():
            self._db.execute(statement, values)


_FORGET_MEASURED = """
DELETE FROM measured WHERE stream = ? AND tick <= (
    SELECT tick FROM measured WHERE stream = ? ORDER BY tick DESC LIMIT 1 OFFSET 3600
)
"""


@contextmanager
def _explained_disk() -> Iterator[None]:
    """Convert SQLite's error for a full disk into OSError with ENOSPC."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in _DISK_ERRORS:
            raise OSError(errno.ENOSPC, str(error)) from error
        raise


_DISK_ERRORS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_DIRECTIONS = {"asc": "ASC", "desc": "DESC"}


def _clause(query: Query) -> tuple[str, list[Any]]:
    """Return the selection as SQL, with the values of its placeholders."""
    clause = "FROM document WHERE kind = ? AND workspace = ?"
    values: list[Any] = [query.kind, query.workspace]
    for name, value in query.where:
        if isinstance(value, tuple):
            clause += " AND json_extract(json, ?) IN (SELECT value FROM json_each(?))"
            values += [_json_path(name), json.dumps(value)]
        elif name in _INDEXED and value is not None:
            clause += f" AND {_INDEXED[name]} = ?"
            values.append(value)
        else:
            clause += " AND json_extract(json, ?) IS ?"
            values += [_json_path(name), value]
    for name, value in query.contains:
        clause += " AND instr(folded(json_extract(json, ?)), folded(?))"
        values += [_json_path(name), value]
    for name, value in query.not_after:
        clause += " AND json_extract(json, ?) <= ?"
        values += [_json_path(name), value]
    return clause, values


def _json_path(name: str) -> str:
    return f"$.{name}"


def _lock(path: Path) -> int:
    """Lock a file beside the data file and return its descriptor; a killed process releases the lock.

    The lock is not on the data file: closing a second descriptor of it would release SQLite's own locks.
    """
    if path.is_dir():
        raise IsADirectoryError("it is a folder")
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.truncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except BaseException as error:
        holder = os.read(lock, 20).decode().strip()
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise OSError(
                f"process {holder or 'of another simulator'} uses it; end that process, or give another file"
            ) from None
        raise
    return lock


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.touch(mode=0o600)  # it holds tokens and stream keys
    db = sqlite3.connect(path or ":memory:", timeout=2, isolation_level=None, check_same_thread=False)
    db.create_function("folded", 1, str.casefold, deterministic=True)  # SQLite's own lower() handles ASCII only
    try:
        _prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection) -> None:
    application_id, version = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables and (application_id, version) != (_APPLICATION_ID, _SCHEMA_VERSION):
        raise OSError("it belongs to another program or another version; give another file")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA temp_store = MEMORY")  # reading needs no room on the disk
    db.execute("PRAGMA recursive_triggers = ON")  # replaced documents fire delete triggers, too
    db.executescript(f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_SCHEMA_VERSION}; {_TABLE}")


class Files:
    """Files, each under an id that the simulator makes. No name from outside becomes part of a path.

    `folder`: folder of the files; None for a temporary folder, created at first use and removed with the simulator. A
    file appears under its id only when it is complete and, in a given folder, on the disk.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder
        self._temporary: Path | None = None
        self._digests: dict[str, tuple[tuple[int, int, int], str]] = {}

    def path(self, storage_id: str) -> Path:
        """Return the path of the file `storage_id`."""
        return self._folder() / storage_id

    async def save_stream(self, storage_id: str, chunks: AsyncIterator[bytes]) -> int:
        """Write the chunks as they arrive and return the size in bytes. Nothing remains if the stream breaks off."""
        with self._writing(storage_id) as file:
            async for chunk in chunks:
                file.write(chunk)
            await asyncio.to_thread(self._sync, file)  # the disk needs seconds for hundreds of megabytes
            return file.tell()

    def save(self, storage_id: str, content: bytes) -> None:
        """Write a small file whole, in this thread. `save_stream` writes large files in chunks."""
        with self._writing(storage_id) as file:
            file.write(content)
            self._sync(file)

    def _sync(self, file: BinaryIO) -> None:
        file.flush()
        if self._given is not None:
            os.fsync(file.fileno())

    @contextmanager
    def _writing(self, storage_id: str) -> Iterator[BinaryIO]:
        """Yield a temporary file that gets its name when the block ends; nothing remains if the block fails.

        Raises the documented error if the file is gone by then, because the workspace was created anew.
        """
        part = self.path(f"{storage_id}.part")
        try:
            with part.open("wb") as file:
                yield file
            try:
                part.replace(self.path(storage_id))
            except FileNotFoundError:
                raise not_found() from None
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    async def digest(self, storage_id: str) -> str:
        """Return the hash of the content, in hexadecimal."""
        path = self.path(storage_id)
        status = path.stat()
        version = status.st_ino, status.st_mtime_ns, status.st_size
        stamp, digest = self._digests.get(storage_id, (None, ""))
        if stamp != version:
            digest = await asyncio.to_thread(digest_of, path)
            self._digests[storage_id] = version, digest
        return digest

    def delete(self, storage_id: str) -> None:
        """Delete the file, if it exists."""
        self.path(storage_id).unlink(missing_ok=True)

    def names(self) -> set[str]:
        """Return the ids of the files that are complete."""
        folder = self._existing()
        return {file.name for file in folder.iterdir() if file.suffix != ".part"} if folder else set()

    def add(self, other: Files) -> None:
        """Link each file of `other` that is missing or different here, so that the disk holds its content once."""
        for name in other.names():
            source, target = other.path(name), self.path(name)
            if not (target.exists() and target.samefile(source)):
                part = self.path(f"{name}.part")
                part.unlink(missing_ok=True)
                try:
                    part.hardlink_to(source)
                except OSError:  # on another disk, or on one without links
                    shutil.copyfile(source, part)
                part.replace(target)

    def mirror(self, other: Files) -> None:
        """Add the files of `other`, and delete every other file."""
        self.add(other)
        self.keep(other.names())

    def keep(self, storage_ids: Container[str]) -> None:
        """Delete every file except these."""
        folder = self._existing()
        for file in folder.iterdir() if folder else ():
            if file.name not in storage_ids:
                file.unlink()

    def _existing(self) -> Path | None:
        """Return the folder, or None if no file has needed it yet."""
        return self._given if self._given and self._given.is_dir() else self._temporary

    def _folder(self) -> Path:
        if self._given is not None:
            self._given.mkdir(mode=0o700, exist_ok=True)
            return self._given
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="livedeck-"))
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary


@dataclass(frozen=True, slots=True)
class State:
    """Documents and files of one moment."""

    store: Store
    files: Files


def digest_of(path: Path) -> str:
    """Return the hash of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
