"""Checks, prunes and shrinks a history file. Each function blocks until its work is done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from livedeck.monitor.history import alarm_actions, events, journal, published, samples, silences, viewers
from livedeck.monitor.history.columns import SLOT, TABLES, sound
from livedeck.monitor.history.database import Database, StorageError, check_file
from livedeck.monitor.history.foreign import Foreign, open_filled, open_to_change
from livedeck.monitor.history.salvage import JUDGED, is_sound_row
from livedeck.monitor.model.records import StreamRecord

_PATIENCE = 30_000
"""Milliseconds that a statement waits for decks that write to the file."""

_STEP = 1000
"""Maximum number of rows deleted in one transaction; decks can write between two transactions."""

_ROOM = 16 * 2**20
"""Number of bytes that must stay free on the disk."""

_MAX_FAULTS = 20


class KnownEvent(NamedTuple):
    """Event in the history. `name`: its last name, or its id if no name was recorded."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class EventSpan:
    """Streams of an event in the history, earliest first."""

    event: KnownEvent
    streams: tuple[StreamRecord, ...]


@dataclass(frozen=True, slots=True)
class FileReport:
    """Condition of a history file.

    Attributes:
        path: The file.
        size: Bytes, including the write-ahead log.
        free: Bytes that `vacuum` would give back to the disk.
        schema: Version of the schema.
        rows: Table -> number of rows.
        rotten: Table -> number of unreadable rows, for tables with any.
        faults: Messages of SQLite's integrity check.
        spans: Streams of each event that has samples.
    """

    path: Path
    size: int
    free: int
    schema: int
    rows: Mapping[str, int]
    rotten: Mapping[str, int]
    faults: tuple[str, ...]
    spans: tuple[EventSpan, ...]

    @property
    def is_sound(self) -> bool:
        """True if the file has neither faults nor unreadable rows."""
        return not self.faults and not self.rotten


def known_events(path: Path) -> tuple[KnownEvent, ...]:
    """Return the events with any data in the file, sorted by name. Raises StorageError."""
    with closing(open_filled(path)) as db:
        return _known_events(db)


def _known_events(db: Database) -> tuple[KnownEvent, ...]:
    names = {record.event_id: record.name for record in events.read(db, None, None, None)}
    ids = [
        event_id
        for (event_id,) in db.checked(
            "event.name", "SELECT name FROM event UNION SELECT event FROM alarm WHERE event <> ''"
        )
    ]
    found = (KnownEvent(event_id, names.get(event_id) or event_id) for event_id in {*names, *ids})
    return tuple(sorted(found, key=lambda event: (event.name.casefold(), event.id)))


def verify(path: Path) -> FileReport:
    """Check a whole file without changing it. Raises StorageError if it is empty, or is no history."""
    with closing(open_filled(path)) as db:
        faults = [text for (text,) in db.rows(f"PRAGMA integrity_check({_MAX_FAULTS})") if text != "ok"]
        free, page, schema = (
            db.rows(f"PRAGMA {name}")[0][0] for name in ("freelist_count", "page_size", "user_version")
        )
        rows, rotten, spans = {}, dict[str, int](), tuple[EventSpan, ...]()
        try:
            counts = {name: _counts(db, name) for name in sorted(db.tables)}
            rows = {name: count for name, (count, _) in counts.items()}
            rotten = {name: count for name, (_, count) in counts.items() if count}
            rows, rotten = _with_recent(rows), _with_recent(rotten)
            found = _known_events(db)
            spans = tuple(EventSpan(event, streams) for event in found if (streams := samples.streams_of(db, event.id)))
        except StorageError as error:
            faults.append(str(error))
        return FileReport(path, _size(path), free * page, schema, rows, rotten, tuple(faults), spans)


def _with_recent(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by table, with the rows of `recent` added to those of `sample`."""
    counts = dict(counts)
    if recent := counts.pop("recent", 0):
        counts["sample"] = counts.get("sample", 0) + recent
    return counts


def _counts(db: Foreign, table: str) -> tuple[int, int]:
    """Return the number of rows of a table, and the number of unreadable rows among them."""
    count, rotten = db.count(table)
    if table == "published":
        return count, rotten + published.count_unreadable(db)
    if table in JUDGED:
        names = [column.name for column in TABLES[table]]
        rows = db.each(f"SELECT {', '.join(names)} FROM {table} WHERE {sound(table)}")  # noqa: S608  our tables
        rotten += sum(not is_sound_row(table, dict(zip(names, row, strict=True))) for row in rows)
    return count, rotten


def _size(path: Path) -> int:
    companions = (path, Path(f"{path}-wal"))
    return sum(part.stat().st_size for part in companions if part.exists())


def vacuum(path: Path) -> tuple[int, int]:
    """Give the free pages of a file back to the disk. Returns its size in bytes before and after.

    Decks may use the file meanwhile. Raises StorageError, such as when the disk or the temporary folder has no room for
    a copy.
    """
    before = _size(path)
    for folder in {path.parent, Path(gettempdir())}:
        if shutil.disk_usage(folder).free < 2 * before + _ROOM:
            raise StorageError(path, f"not enough space in {folder}: free {2 * before + _ROOM:,} bytes there")
    with closing(_patient(path)) as db:
        db.run("VACUUM")
        db.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return before, _size(path)


def _patient(path: Path) -> Database:
    check_file(path)
    db = open_to_change(path)
    db.run(f"PRAGMA busy_timeout = {_PATIENCE}")
    return db


@dataclass(frozen=True, slots=True)
class Pruning:
    """Selection of rows to delete.

    `before`: delete rows older than this time; None for rows of any age. `event_id`: delete rows of this event; None
    for all events. Records that outlive the retention stay, unless all rows of one event are deleted (monitoring.md,
    "History").
    """

    before: datetime | None = None
    event_id: str | None = None


def count_pruned(path: Path, pruning: Pruning) -> Mapping[str, int]:
    """Return table -> number of rows that `prune` would delete. Raises StorageError."""
    with closing(open_filled(path)) as db:
        counts = dict[str, int]()
        for part in _parts(db, pruning):
            counts[part.table] = counts.get(part.table, 0) + db.rows(part.counting, part.values)[0][0]
        return {table: count for table, count in _with_recent(counts).items() if count}


def prune(path: Path, pruning: Pruning) -> Mapping[str, int]:
    """Delete rows in small steps, between which decks can write. Returns table -> number of deleted rows.

    Raises StorageError.
    """
    counts = dict[str, int]()
    with closing(_patient(path)) as db:
        for part in _parts(db, pruning):
            while gone := len(db.rows(part.deleting, part.values)):
                counts[part.table] = counts.get(part.table, 0) + gone
    return _with_recent(counts)


class _Part(NamedTuple):
    """Rows to delete from a table. `key`: columns that identify a row. `where`, `values`: SQL condition."""

    table: str
    key: str
    where: str
    values: Mapping[str, object]

    @property
    def counting(self) -> str:
        return f"SELECT count(*) FROM {self.table} WHERE {self.where}"  # noqa: S608  names and conditions of ours

    @property
    def deleting(self) -> str:
        found = f"SELECT {self.key} FROM {self.table} WHERE {self.where} LIMIT {_STEP}"  # noqa: S608
        return f"DELETE FROM {self.table} WHERE ({self.key}) IN ({found}) RETURNING 1"  # noqa: S608


def _parts(db: Database, pruning: Pruning) -> Iterator[_Part]:
    end = journal.milliseconds(pruning.before) if pruning.before else 2**52  # later than any time, also as microseconds
    event = pruning.event_id
    streams = db.checked(
        "stream.id .base",
        "SELECT stream.id, base FROM stream JOIN event ON event.id = event WHERE event.name = coalesce(?, event.name)",
        [event],
    )
    for number, base in streams:
        bounds = {"stream": number, "slot": (end - base) // SLOT, "time": (end - base) // SLOT * SLOT}
        for table in ("sample", "late"):
            yield _Part(table, "stream, time", "stream = :stream AND time < :time", bounds)
        recent = {"stream": number, "time": base + bounds["time"]}
        yield _Part("recent", "time, stream", "stream = :stream AND time < :time", recent)
        yield _Part("rollup", "stream, slot", "stream = :stream AND slot < :slot", bounds)
    values = {"end": end, "micro": end * 1000, "event": event}
    lasting = ", ".join(f"'{kind}'" for kind in (*journal.LASTING, *journal.IN_FORCE))
    of_all = f"AND kind NOT IN ({lasting})" if event is None or pruning.before else ""
    yield _Part("journal", "id", f"at < :end AND topic = coalesce(:event, topic) {of_all}", values)
    if event is None:  # a snapshot holds all events
        over = "segment IN (SELECT segment FROM published GROUP BY segment HAVING max(at) < :micro)"
        yield _Part("published", "segment, part", over, values)
        if silences.has_table(db):
            yield _Part("silence", "id", silences.OLD, {"before": end * 1000})
    if viewers.has_table(db):
        yield _Part("viewer_round", "event, at", "at < :end AND event = coalesce(:event, event)", values)
    yield _Part("learnt", "rowid", "at < :end AND event = coalesce(:event, event)", values)
    yield _Part("alarm", "rowid", "changed < :micro AND event = coalesce(:event, event)", values)
    yield _Part(
        "answer", "id", f"event = coalesce(:event, event) AND {alarm_actions.OLD}", {**values, "before": end * 1000}
    )
