"""A recording: a history that holds some events and a stretch of time, in one file to be carried elsewhere.

Nothing that opens a door is in a history, so none is in a recording (trust.md, "Secrets"). What detection has learnt is
left out: who judges a recording anew begins with its first sample.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from livedeck.atomic_file import AtomicFile
from livedeck.monitor.history import events, journal, published
from livedeck.monitor.history.columns import SLOT, TABLES
from livedeck.monitor.history.database import Database, Values
from livedeck.monitor.history.foreign import Foreign, check_whole, open_foreign
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.model.records import IntentRecord
from livedeck.monitor.published.difference import Values as Published

_LATEST = 2**52
"""Ms since the epoch, beyond all times."""

_ALL = "SELECT name FROM event UNION SELECT event FROM alarm UNION SELECT topic FROM journal WHERE kind = 'event'"
"""The ids of all events."""

_STREAM_ROWS = {"sample": ("time", SLOT), "late": ("time", SLOT), "rollup": ("slot", 1)}
"""Tables whose rows are of a stream -> the column that counts from its base, and how much of it is a minute."""

_ENTRIES = "SELECT * FROM journal WHERE at >= :since AND at < :until AND kind <> 'event' ORDER BY id"
_ALARMS = "SELECT * FROM alarm WHERE changed >= :since * 1000 AND since < :until * 1000"
_ANSWERS = "SELECT * FROM answer WHERE at >= :since * 1000 AND at < :until * 1000"

_BATCH = 1000
"""Rows that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was written. `rows`: by table. `size`: bytes."""

    path: Path
    rows: Mapping[str, int]
    size: int


def export(
    source: Path,
    target: Path,
    *,
    event_ids: Collection[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    replace: bool = False,
) -> Recording:
    """Write what that history knows of these events (none: of all) and of the deck, from then until before then, into
    one file; samples by whole minutes. Decks may be writing meanwhile. Raises StorageError and OSError, FileExistsError
    where the target is there and was not to be replaced.
    """
    bounds = {
        "since": 0 if since is None else journal.milliseconds(since),
        "until": _LATEST if until is None else journal.milliseconds(until),
    }
    check_whole(source)
    with AtomicFile(target, replace=replace) as file, closing(open_foreign(source)) as known:
        with closing(Database(file.path)) as db:
            db.become_recording()
            known.attach(file.path)
            with known.transaction("DEFERRED"):
                chosen = {*event_ids, DECK}
                if not event_ids:
                    chosen |= {name for (name,) in known.checked("event.name", _ALL)}
                copy = _Copy(known, db, chosen, bounds)
                with db.transaction():
                    copy.copy_records(is_all=not event_ids)
                    _copy_states(known, db, chosen, since, until)
                    if "published" in known.tables:
                        keep = partial(_about, chosen=chosen) if event_ids else None
                        published.copy(known, db, bounds["since"] * 1000, bounds["until"] * 1000, keep)
                copy.copy_samples()
            tables = ("event", "stream", "sample", "journal", "alarm", "answer", "published")
            rows = {table: db.rows(f"SELECT count(*) FROM main.{table}")[0][0] for table in tables}  # noqa: S608  ours
        return Recording(target, rows, file.path.stat().st_size)


class _Copy:
    """Copies the rows of the chosen events in a stretch of time (epoch ms), each row checked. Raises StorageError."""

    def __init__(self, source: Foreign, target: Database, chosen: Collection[str], bounds: Mapping[str, int]) -> None:
        self._source, self._target, self._chosen, self._bounds = source, target, chosen, bounds

    def copy_samples(self) -> None:
        """Copy the rows of the chosen streams, which SQLite does itself: a month of ten events has 13 million."""
        streams = self._target.rows("SELECT id, base FROM stream")
        for table, (column, unit) in _STREAM_ROWS.items():
            if table not in self._source.tables:  # an older livedeck's has not all of them
                continue
            for number, base in streams:
                first = (self._bounds["since"] - base) // SLOT * unit
                end = -((base - self._bounds["until"]) // SLOT) * unit
                self._source.copy(table, f"stream = ? AND {column} >= ? AND {column} < ?", (number, first, end))

    def copy_records(self, *, is_all: bool) -> None:
        """Copy every table but `published` and those of samples. `is_all`: the log whole, of whatever event."""
        events = [row for row in self._read("event", "SELECT * FROM event") if row[1] in self._chosen]
        ids = {number for number, _ in events}
        streams = [row for row in self._read("stream", "SELECT * FROM stream") if row[1] in ids]
        self._write("event", events)
        self._write("stream", streams)
        entries = self._read("journal", _ENTRIES, self._bounds)
        self._write("journal", ((None, *row) for _, *row in entries if is_all or self._is_about_chosen(row)))
        self._write("alarm", (row for row in self._read("alarm", _ALARMS, self._bounds) if row[0] in self._chosen))
        self._write("answer", (row for row in self._read("answer", _ANSWERS, self._bounds) if row[2] in self._chosen))

    def _read(self, table: str, query: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table, none where an older livedeck's file has no such table."""
        rows = self._source.each(query, values) if table in self._source.tables else iter(())
        while batch := list(islice(rows, _BATCH)):
            yield from self._source.sound(f"{table}.*", batch)

    def _write(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(TABLES[table]))
        self._target.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608  our tables

    def _is_about_chosen(self, row: Sequence[Any]) -> bool:
        """Return whether a line of the log is about a chosen event; an intent names it within."""
        kind, _, topic, body = row
        if topic in self._chosen:
            return True
        intents = journal.parse(IntentRecord, [body]) if kind == journal.KINDS[IntentRecord] else ()
        return any(intent.target_id in self._chosen for intent in intents)


def _copy_states(
    source: Database, target: Database, chosen: Collection[str], since: datetime | None, until: datetime | None
) -> None:
    """Where the chosen events stood at the beginning, and each change of that."""
    stood = (record for record in events.read(source, since, until, None) if record.event_id in chosen)
    journal.write(target, [journal.entry(record, record.at, record.event_id) for record in stood])


_TOLD = ("ended", "changes", "answers", "rule_changes", "bells")
"""What a snapshot tells once."""


def _about(values: Published, chosen: Collection[str]) -> Published:
    """What was published, without the other events, and without lists of what belongs to no event."""
    head, order = values["head"], values["order"]
    alarms = {key: alarm for key, alarm in values["alarms"].items() if alarm.get("event_id", DECK) in chosen}
    return {
        **values,
        "head": {**head, **{name: [item for item in head[name] if _event_of(item) in chosen] for name in _TOLD}},
        "lists": {},
        "alarms": alarms,
        "events": {key: event for key, event in values["events"].items() if key in chosen},
        "order": {
            "events": [key for key in order["events"] if key in chosen],
            "alarms": [key for key in order["alarms"] if key in alarms],
            "quiet": [key for key in order["quiet"] if key in alarms],
        },
    }


def _event_of(item: Any) -> Any:
    """Whose it is that is told: an alarm's key, a change with its alarm, or what names the event itself."""
    if isinstance(item, list):
        return item[0]
    item = item.get("alarm", item)
    return item["key"][0] if "key" in item else item.get("event_id", item.get("id", DECK))
