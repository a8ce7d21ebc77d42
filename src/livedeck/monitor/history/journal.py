"""Journal of the history: each record is a row with its kind, time and topic, and its content as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from livedeck.monitor.history.database import Database
from livedeck.monitor.model.own import NotWatched
from livedeck.monitor.model.records import (
    ActionRecord,
    AlarmRecord,
    AuditOutcome,
    CollectedStream,
    EpisodeRecord,
    EventRecord,
    IntentRecord,
    LinkRecord,
    Marker,
    MaterialRecord,
    NotificationRecord,
    OpenChange,
    UnwatchedRecord,
    WatchRecord,
)
from livedeck.monitor.model.ruling import ProfileChoice, Ruling, UnitChoice, UsualMark

T = TypeVar("T")

KINDS: dict[Any, str] = {
    AlarmRecord: "alarm",
    LinkRecord: "link",
    EventRecord: "event",
    EpisodeRecord: "episode",
    WatchRecord: "watch",
    NotWatched: "stop",
    ActionRecord: "action",
    IntentRecord: "intent",
    Marker: "marker",
    NotificationRecord: "notification",
    MaterialRecord: "material",
    UsualMark: "usual",
    ProfileChoice: "profile",
    UnitChoice: "unit",
    CollectedStream: "collected",
    UnwatchedRecord: "unwatched",
}

FORGOTTEN = "forgotten"
"""Kind of the entry of a deleted material; its topic is the material's id."""

LASTING = ("material", FORGOTTEN, "profile", "unit")
"""Kinds that the retention never deletes.

Only the history has the ids of materials (platform-api.md, "Missing operations"). Rulings on an event's content and on
the unit of the bit rates hold until a person changes them.
"""


IN_FORCE = ("event",)
"""Kinds whose records hold until the next record of their topic, so the retention keeps the last of each topic."""


_REPLACE = "DELETE FROM journal WHERE kind = ? AND at = ? AND topic = ?"
"""Statement that deletes a record of a stretch of watched time, to replace it with a record of a later end."""

_INSERT = f"""
INSERT INTO journal (kind, at, topic, body) SELECT ?1, ?2, ?3, ?4
WHERE ?1 NOT IN ('{KINDS[EpisodeRecord]}', '{KINDS[UnwatchedRecord]}')
OR NOT EXISTS (SELECT 1 FROM journal WHERE kind = ?1 AND at = ?2 AND topic = ?3 AND body = ?4)
"""  # noqa: S608  constants
"""Statement that stores a record. It stores an episode or an unwatched time once, even if several processes find it."""


class Entry(NamedTuple):
    """Journal row before it is written. `at`: epoch ms. `topic`: id of the subject, such as an event or a change.

    The writer's thread turns `record` into JSON.
    """

    kind: str
    at: int
    topic: str
    record: object = None


def entry(record: object, at: datetime, topic: str) -> Entry:
    """Make the entry of a record."""
    return Entry(KINDS[type(record)], milliseconds(at), topic, record)


def write(db: Database, entries: Iterable[Entry]) -> None:
    """Store entries, within the caller's transaction. Raises StorageError."""
    rows = [(entry.kind, entry.at, entry.topic, dump(entry.record)) for entry in entries]
    grown = {row[:3]: row for row in rows if row[0] == KINDS[WatchRecord]}
    db.run_many(_REPLACE, grown)
    db.run_many(_INSERT, [*(row for row in rows if row[:3] not in grown), *grown.values()])


def read(db: Database, kind: type[T], since: datetime | None = None, topic: str | None = None) -> tuple[T, ...]:
    """Return the records of a type, oldest first. Records that cannot be parsed are left out.

    Args:
        db: The history.
        kind: Type of the records, a key of `KINDS`.
        since: Earliest time, included; None for the beginning.
        topic: Id of the subject of the records; None for every subject.

    Raises:
        StorageError: The file cannot be read.
    """
    rows = db.each(
        "SELECT body FROM journal WHERE kind = ? AND at >= ? AND topic = coalesce(?, topic) ORDER BY at, id",
        (KINDS[kind], -(2**62) if since is None else milliseconds(since), topic),
    )
    return parse(kind, (body for (body,) in rows))


def rulings(db: Database, after: int) -> tuple[int, tuple[Ruling, ...]]:
    """Return the id of the journal's last row, and the rulings after row `after` in the order of writing."""
    ((last,),) = db.rows("SELECT coalesce(max(id), 0) FROM journal")
    types: dict[str, Any] = {KINDS[kind]: kind for kind in (UsualMark, ProfileChoice, UnitChoice)}
    marks = ", ".join("?" * len(types))
    query = f"SELECT kind, body FROM journal WHERE kind IN ({marks}) AND id > ? AND id <= ? ORDER BY id"  # noqa: S608  constants
    rows = db.rows(query, (*types, after, last))
    return last, tuple(ruling for kind, body in rows for ruling in parse(types[kind], [body]))


def materials(db: Database, video_id: str) -> tuple[MaterialRecord, ...]:
    """Return the materials of a video that livedeck created and did not delete, oldest first."""
    gone = {topic for (topic,) in db.rows("SELECT topic FROM journal WHERE kind = ?", [FORGOTTEN])}
    return tuple(record for record in read(db, MaterialRecord, topic=video_id) if record.id not in gone)


def open_changes(db: Database) -> tuple[OpenChange, ...]:
    """Return the changes with an unknown outcome, each with its latest action record, oldest first."""
    intents = [intent for intent in read(db, IntentRecord) if intent.pid]
    records = read(db, ActionRecord, intents[0].at) if intents else ()
    ended = {record.intent for record in records if record.outcome is not AuditOutcome.UNKNOWN}
    news = {record.intent: record for record in records}
    return tuple(_open_change(intent, news.get(intent.id)) for intent in intents if intent.id not in ended)


def _open_change(intent: IntentRecord, news: ActionRecord | None) -> OpenChange:
    return OpenChange(intent, news.detail, news.watched_until) if news else OpenChange(intent)


def milliseconds(at: datetime) -> int:
    """Return the milliseconds since the epoch."""
    return round(at.timestamp() * 1000)


def dump(record: object) -> str:
    """Return a record as JSON in one line."""
    kind: Any = type(record)
    return _adapter(kind).dump_json(record, by_alias=True).decode()


def parse(kind: type[T], lines: Iterable[str]) -> tuple[T, ...]:
    """Return the records of these JSON texts, without texts that this version cannot parse."""
    record_type: Any = kind
    return tuple(_valid(_adapter(record_type), lines))


def _valid(adapter: TypeAdapter[T], lines: Iterable[str]) -> Iterator[T]:
    for line in lines:
        try:
            record = adapter.validate_json(line)
        except ValidationError:
            continue
        if _is_sound(record):
            yield record


_FARTHEST = 1e11
"""Largest number in a record: numbers are minutes, or seconds since the epoch."""


def _is_sound(value: Any) -> bool:
    """Return whether every time has a time zone and a year from 2 to 9998, and every number is below `_FARTHEST`."""
    if isinstance(value, datetime):
        return value.tzinfo is not None and 1 < value.year < 9999
    if isinstance(value, float):
        return -_FARTHEST < value < _FARTHEST
    if isinstance(value, tuple):
        return all(map(_is_sound, value))
    if not is_dataclass(value):
        return True
    kind: Any = type(value)
    return all(_is_sound(getattr(value, name)) for name in _measured(kind))


@cache
def _measured(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields that `_is_sound` must check: all but those of type bool, int or str."""
    plain = {bool, int, str}
    return tuple(name for name, hint in get_type_hints(kind).items() if hint not in plain)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
