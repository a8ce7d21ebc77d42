"""Exports a recording: some events and a time range of a history, in one portable file.

A history has no credentials, so a recording has none either (trust.md, "Secrets"). Baselines are left out, because
a recording is judged again from its first sample on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from livedeck.atomic_file import AtomicFile
from livedeck.monitor.history import events, journal, published
from livedeck.monitor.history.columns import SLOT, TABLES
from livedeck.monitor.history.database import ADDED, Database, Values
from livedeck.monitor.history.database import TABLES as TABLE_NAMES
from livedeck.monitor.history.foreign import Foreign, check_whole, open_foreign
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.model.records import IntentRecord
from livedeck.monitor.published.difference import Values as Published

_LATEST = 2**52
"""Milliseconds since the epoch, later than any time."""

_ALL = "SELECT name FROM event UNION SELECT event FROM alarm UNION SELECT topic FROM journal WHERE kind = 'event'"
"""Query for the ids of all events."""

_STREAM_ROWS = {"sample": ("time", SLOT), "recent": ("time", SLOT), "late": ("time", SLOT), "rollup": ("slot", 1)}
"""Table with rows of streams -> its column of time, and the number of the column's units in a minute.

The time counts from the stream's base, but in `recent` from the epoch.
"""

_ENTRIES = "SELECT * FROM journal WHERE at >= :since AND at < :until AND kind <> 'event' ORDER BY id"
_ALARMS = "SELECT * FROM alarm WHERE changed >= :since * 1000 AND since < :until * 1000"
_SILENCES = "SELECT * FROM silence WHERE at < :until * 1000 AND ends_at >= :since * 1000"
_ROUNDS = "SELECT * FROM viewer_round WHERE at >= :since AND at < :until ORDER BY event, at"
_ANSWERS = "SELECT * FROM answer WHERE at >= :since * 1000 AND at < :until * 1000"

_BATCH = 1000
"""Maximum number of rows in memory at a time."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Result of an export. `rows`: table -> number of rows. `size`: bytes of the file."""

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
    """Write some events and a time range of a history into a recording. Decks may write to the history meanwhile.

    Args:
        source: The history.
        target: The recording.
        event_ids: Events to export; empty for all events. The deck's own records are always exported.
        since: Start of the time range; None for the start of the history. Samples are exported by whole minutes.
        until: End of the time range, not included; None for the end of the history.
        replace: Replace an existing target.

    Raises:
        StorageError: The history cannot be read or has an unsound row.
        FileExistsError: The target exists and `replace` is false.
        OSError: The target cannot be written.
    """
    bounds = {
        "since": 0 if since is None else journal.milliseconds(since),
        "until": _LATEST if until is None else journal.milliseconds(until),
    }
    check_whole(source)
    with AtomicFile(target, replace=replace) as file, closing(open_foreign(source)) as history:
        with closing(Database(file.path)) as db:
            db.become_recording()
            history.attach(file.path)
            with history.transaction("DEFERRED"):
                chosen = {*event_ids, DECK}
                if not event_ids:
                    chosen |= {name for (name,) in history.checked("event.name", _ALL)}
                copy = _Copy(history, db, chosen, bounds)
                with db.transaction():
                    copy.copy_records(is_all=not event_ids)
                    _copy_states(history, db, chosen, since, until)
                    if "published" in history.tables:
                        keep = partial(_reduced, chosen=chosen) if event_ids else None
                        published.copy(history, db, bounds["since"] * 1000, bounds["until"] * 1000, keep)
                copy.copy_samples()
            tables = ["event", "stream", "sample", "journal", "alarm", "answer", "published"]
            there = {name for (name,) in db.rows(TABLE_NAMES)}
            tables += [table for table in ADDED if table in there]
            rows = {table: db.rows(f"SELECT count(*) FROM main.{table}")[0][0] for table in tables}  # noqa: S608  ours
            rows["sample"] += db.rows("SELECT count(*) FROM recent")[0][0]
        return Recording(target, rows, file.path.stat().st_size)


class _Copy:
    """Copier of the chosen events' rows in a time range (epoch ms). An unsound row raises StorageError."""

    def __init__(self, source: Foreign, target: Database, chosen: Collection[str], bounds: Mapping[str, int]) -> None:
        self._source, self._target, self._chosen, self._bounds = source, target, chosen, bounds

    def copy_samples(self) -> None:
        """Copy the rows of the chosen streams inside SQLite, because a month of ten events has 13 million of them."""
        streams = self._target.rows("SELECT id, base FROM stream")
        for table, (column, unit) in _STREAM_ROWS.items():
            if table not in self._source.tables:  # a file of an older version lacks some tables
                continue
            for number, base in streams:
                origin = base if table == "recent" else 0
                first = origin + (self._bounds["since"] - base) // SLOT * unit
                end = origin - ((base - self._bounds["until"]) // SLOT) * unit
                self._source.copy(table, f"stream = ? AND {column} >= ? AND {column} < ?", (number, first, end))

    def copy_records(self, *, is_all: bool) -> None:
        """Copy the other tables, except `published`. `is_all`: copy the journal entries of every topic."""
        events = [row for row in self._read("event", "SELECT * FROM event") if row[1] in self._chosen]
        ids = {number for number, _ in events}
        streams = [row for row in self._read("stream", "SELECT * FROM stream") if row[1] in ids]
        self._write("event", events)
        self._write("stream", streams)
        entries = self._read("journal", _ENTRIES, self._bounds)
        self._write("journal", ((None, *row) for _, *row in entries if is_all or self._is_about_chosen(row)))
        self._write("alarm", (row for row in self._read("alarm", _ALARMS, self._bounds) if row[0] in self._chosen))
        rounds = (row for row in self._read("viewer_round", _ROUNDS, self._bounds) if row[0] in self._chosen)
        self._write_added("viewer_round", rounds)
        if is_all:
            self._write_added("silence", self._read("silence", _SILENCES, self._bounds))
        self._write("answer", (row for row in self._read("answer", _ANSWERS, self._bounds) if row[2] in self._chosen))

    def _read(self, table: str, query: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query on a table; none if the file has no such table."""
        rows = self._source.each(query, values) if table in self._source.tables else iter(())
        while batch := list(islice(rows, _BATCH)):
            yield from self._source.sound(f"{table}.*", batch)

    def _write(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(TABLES[table]))
        self._target.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608  our tables

    def _write_added(self, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
        """Write rows into an optional table, and add the table to the target before the first row."""
        for row in rows:
            self._target.run(ADDED[table])
            self._write(table, chain([row], rows))

    def _is_about_chosen(self, row: Sequence[Any]) -> bool:
        """Return whether a journal row is about a chosen event; an intent names its event in the body."""
        kind, _, topic, body = row
        if topic in self._chosen:
            return True
        intents = journal.parse(IntentRecord, [body]) if kind == journal.KINDS[IntentRecord] else ()
        return any(intent.target_id in self._chosen for intent in intents)


def _copy_states(
    source: Database, target: Database, chosen: Collection[str], since: datetime | None, until: datetime | None
) -> None:
    """Copy the state of each chosen event at the start of the range, and each change in it."""
    states = (record for record in events.read(source, since, until, None) if record.event_id in chosen)
    journal.write(target, [journal.entry(record, record.at, record.event_id) for record in states])


_NEWS = ("ended", "changes", "answers", "rule_changes", "bells")
"""Fields of a snapshot that hold news. Each item of news is in one snapshot only."""


def _reduced(values: Published, chosen: Collection[str]) -> Published:
    """Return the values of a snapshot with only the chosen events, and without lists polled on demand."""
    head, order = values["head"], values["order"]
    alarms = {key: alarm for key, alarm in values["alarms"].items() if alarm.get("event_id", DECK) in chosen}
    return {
        **values,
        "head": {**head, **{name: [item for item in head[name] if _event_of(item) in chosen] for name in _NEWS}},
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
    """Return the event id of an item of news: an alarm's key, a change with its alarm, or an object with an id."""
    if isinstance(item, list):
        return item[0]
    item = item.get("alarm", item)
    return item["key"][0] if "key" in item else item.get("event_id", item.get("id", DECK))
