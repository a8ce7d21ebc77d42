"""Samples in the history as rows of integers, their roll-up for each minute, and the pruning of old rows.

A slot is a minute of a stream. The table `recent` has the newest samples of all streams side by side, so that a tick
writes one place in the file. After their slot, they move into the table `sample`, which has the samples of one stream
side by side. The slot then gets its roll-up. So the table `recent` has the slots from `Stream.rolled` on, and the table
`sample` has the earlier slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from livedeck.monitor.history import alarm_actions, alarms, events, published, silences, viewers
from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import ROLL_UP, Database, microseconds
from livedeck.monitor.history.journal import IN_FORCE, LASTING
from livedeck.monitor.model.readings import MISSING, NO_STATUS, Readings
from livedeck.monitor.model.records import StreamRecord, StreamSpan
from livedeck.record import Record

FPS_SCALE = 1000
STATUSES = (0, 3, 4, 5)

Row = tuple[int, int, int | None, int | None, int | None, int | None]
"""Stream, time (ms since the stream's base), video, audio (bit/s), fps (frames per 1000 s), status; None if missing."""

_UPSERT = """
INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (stream, time) DO UPDATE SET
    video = excluded.video, audio = excluded.audio, fps = excluded.fps, status = excluded.status
WHERE sample.video IS NOT excluded.video OR sample.audio IS NOT excluded.audio
    OR sample.fps IS NOT excluded.fps OR sample.status IS NOT excluded.status
"""

_ADD_RECENT = """
INSERT INTO recent (time, stream, video, audio, fps, status) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (time, stream) DO UPDATE SET
    video = excluded.video, audio = excluded.audio, fps = excluded.fps, status = excluded.status
WHERE recent.video IS NOT excluded.video OR recent.audio IS NOT excluded.audio
    OR recent.fps IS NOT excluded.fps OR recent.status IS NOT excluded.status
"""

_SETTLE = """
INSERT OR REPLACE INTO sample SELECT stream, time - base, video, audio, fps, status
FROM recent JOIN stream ON stream.id = stream WHERE {rows} ORDER BY stream, time
"""

_OVER = """
SELECT stream.id, base, rolled, min(time) - base, max(time) - base FROM recent JOIN stream ON stream.id = stream
WHERE time < ? GROUP BY stream.id ORDER BY stream.id LIMIT ?
"""

_SETTLED_AT_ONCE = 200
"""Maximum number of streams whose samples move in one transaction, so that another deck can write soon."""

_ROLL_UP_SLOTS = ROLL_UP.format(rows="stream = ? AND time >= ? AND time < ?")

_KEEP_ROLLUP = """
INSERT OR REPLACE INTO rollup SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
WHERE NOT EXISTS (SELECT 1 FROM rollup WHERE stream = ?1 AND slot = ?2 AND count >= ?3)
"""

_MISSING = f"""
SELECT sum(count - there), min(slot), max(slot) FROM (
    SELECT slot, count, (SELECT count(*) FROM sample WHERE sample.stream = rollup.stream
        AND time >= slot * {SLOT} AND time < (slot + 1) * {SLOT}) AS there
    FROM rollup WHERE stream = ?
) WHERE count > there
"""  # noqa: S608  constants

_FRESH = (
    "LEFT JOIN (SELECT stream, min(time) AS first, max(time) AS last, count(*) AS count FROM recent GROUP BY stream) "
    "AS fresh ON fresh.stream = stream.id"
)
"""Join that reads `recent` once for all streams."""

_FIRST = "SELECT min(time) + base FROM sample WHERE stream = stream.id"
_LAST = "SELECT max(time) + base FROM sample WHERE stream = stream.id"
_ENDS = f"""
    coalesce(min(fresh.first, ({_FIRST})), fresh.first, ({_FIRST})) AS first,
    coalesce(max(fresh.last, ({_LAST})), fresh.last, ({_LAST})) AS last
"""

_STREAMS = f"""
SELECT name, first, last, samples FROM (
    SELECT stream.name, {_ENDS},
        (SELECT coalesce(sum(count), 0) FROM rollup WHERE stream = stream.id AND slot < rolled)
        + (SELECT count(*) FROM sample WHERE stream = stream.id AND time >= rolled * {SLOT})
        + coalesce(fresh.count, 0) AS samples
    FROM stream JOIN event ON event.id = event {_FRESH} WHERE event.name = ?
) WHERE first IS NOT NULL ORDER BY first
"""  # noqa: S608  constants


_SPANS = f"""
SELECT event, stream, first, last FROM (
    SELECT event.name AS event, stream.name AS stream, {_ENDS}
    FROM stream JOIN event ON event.id = event {_FRESH}
    WHERE event.name = coalesce(?, event.name)
) WHERE first IS NOT NULL ORDER BY first
"""  # noqa: S608  constants

_READINGS = """
SELECT time, video, audio, fps, status FROM sample WHERE stream = :stream AND time <= :last AND time >= :first
UNION ALL SELECT time - :base, video, audio, fps, status FROM recent
WHERE stream = :stream AND time <= :base + :last AND time >= :base + :first
ORDER BY time DESC LIMIT :newest
"""


class StreamKey(NamedTuple):
    """Platform's ids of an event and of one of its streams."""

    event_id: str
    stream_id: str


class Stream(Record):
    """Stream in the file. `base`: epoch ms, a whole minute. `rolled`: first slot without a roll-up."""

    id: int
    base: int
    rolled: int = 0


def find_stream(db: Database, key: StreamKey) -> Stream | None:
    """Return the stream with this key, or None. Raises StorageError."""
    rows = db.checked(
        "stream.id .base .rolled",
        "SELECT stream.id, base, rolled FROM stream JOIN event ON event.id = event "
        "WHERE event.name = ? AND stream.name = ?",
        key,
    )
    return Stream(*rows[0]) if rows else None


def make_stream(db: Database, key: StreamKey, base: int) -> None:
    """Add a stream if the file does not have it, within the caller's transaction. Raises StorageError."""
    db.run("INSERT OR IGNORE INTO event (name) VALUES (?)", [key.event_id])
    db.run(
        "INSERT OR IGNORE INTO stream (event, name, base, rolled) SELECT id, ?, ?, 0 FROM event WHERE name = ?",
        (key.stream_id, base, key.event_id),
    )


def store(db: Database, rows: Iterable[Row]) -> None:
    """Store samples of slots that are over, within the caller's transaction. Call `roll_up` afterwards.

    A row replaces a stored row of the same time. Raises StorageError.
    """
    db.run_many(_UPSERT, rows)


def add_recent(db: Database, rows: Iterable[tuple[int, Row]]) -> None:
    """Store samples of slots without a roll-up, side by side in the file, within the caller's transaction.

    `rows`: pairs of the stream's base and the row, which replaces a stored row of the same time. Raises StorageError.
    """
    db.run_many(_ADD_RECENT, ((base + time, stream, *values) for base, (stream, time, *values) in rows))


def settle(db: Database, end: int) -> dict[int, int]:
    """Move recent samples before `end` (epoch ms) into `sample`, within the caller's transaction.

    Returns stream -> its first slot without a roll-up. One call moves the samples of up to `_SETTLED_AT_ONCE` streams;
    the result is empty if none are left. Raises StorageError.
    """
    over = db.rows(_OVER, (end, _SETTLED_AT_ONCE))
    if not over:
        return {}
    moved = (end, over[0][0], over[-1][0])
    db.run(_SETTLE.format(rows="time < ? AND stream BETWEEN ? AND ?"), moved)
    db.run("DELETE FROM recent WHERE time < ? AND stream BETWEEN ? AND ?", moved)
    for stream, base, rolled, first, last in over:
        roll_up(db, Stream(stream, base, rolled), min(rolled, first // SLOT), last // SLOT + 1)
    return {stream: max(rolled, last // SLOT + 1) for stream, _, rolled, _, last in over}


def note_late(db: Database, rows: Iterable[Row], now: datetime) -> None:
    """Store that these samples arrived at `now`, after newer samples of their streams. Raises StorageError."""
    statement = "INSERT OR IGNORE INTO late (stream, time, at) VALUES (?, ?, ?)"
    db.run_many(statement, [(*row[:2], microseconds(now)) for row in rows])


def roll_up(db: Database, stream: Stream, first: int, end: int) -> None:
    """Make the roll-ups from slot `first` up to slot `end` (excluded), within the caller's transaction.

    Earlier slots must have their roll-ups. Samples of these slots move from `recent` to `sample`. Raises StorageError.
    """
    moved = (stream.base + end * SLOT, stream.id)
    db.run(_SETTLE.format(rows="time < ? AND stream = ?"), moved)
    db.run("DELETE FROM recent WHERE time < ? AND stream = ?", moved)
    db.run(_ROLL_UP_SLOTS, (stream.id, first * SLOT, end * SLOT))
    db.run("UPDATE stream SET rolled = max(rolled, ?) WHERE id = ?", (end, stream.id))


def next_slot(db: Database, stream: int, slot: int) -> int | None:
    """Return the first slot from `slot` on with samples of a stream, or None. Raises StorageError."""
    ((time,),) = db.rows("SELECT min(time) FROM sample WHERE stream = ? AND time >= ?", (stream, slot * SLOT))
    return None if time is None else time // SLOT


def keep_rollups(db: Database, rows: Sequence[tuple[Any, ...]]) -> None:
    """Store roll-ups of another file, within the caller's transaction. Raises StorageError.

    A roll-up of this file stays if it counts at least as many samples.
    """
    db.run_many(_KEEP_ROLLUP, rows)
    db.run_many("UPDATE stream SET rolled = max(rolled, ?) WHERE id = ?", [(row[1] + 1, row[0]) for row in rows])


def missing(db: Database, stream: int) -> tuple[int, int, int]:
    """Return the number of samples that a stream's roll-ups count and the file lacks, and their first and last slot.

    Raises StorageError.
    """
    ((count, first, last),) = db.rows(_MISSING, [stream])
    return count or 0, first or 0, last or 0


def streams_of(db: Database, event_id: str) -> tuple[StreamRecord, ...]:
    """Return the streams of an event with samples, earliest first. Raises StorageError."""
    return tuple(
        StreamRecord(name, _datetime(first), _datetime(last), samples)
        for name, first, last, samples in db.checked("stream.name .moment .moment sample.count", _STREAMS, [event_id])
    )


def spans(db: Database, event_id: str | None = None) -> tuple[StreamSpan, ...]:
    """Return the times of the first and last sample of each stream, earliest first. Raises StorageError.

    `event_id`: event of the streams; None for all events.
    """
    return tuple(
        StreamSpan(event, stream, _datetime(first), _datetime(last))
        for event, stream, first, last in db.checked("event.name stream.name .moment .moment", _SPANS, [event_id])
    )


def _datetime(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def readings(db: Database, key: StreamKey, until: float, newest: int = -1, since: float = 0.0) -> Readings:
    """Return the samples of a stream from `since` to `until` (epoch s, both included).

    `newest`: maximum number of samples, the newest ones; -1 for all. Raises StorageError.
    """
    found, stream = Readings(), find_stream(db, key)
    if stream is None:
        return found
    bounds = {"first": round(since * 1000) - stream.base, "last": round(until * 1000) - stream.base}
    values = {"stream": stream.id, "base": stream.base, "newest": newest} | bounds
    rows = db.checked("sample.time .video .audio .fps .status", _READINGS, values)
    rows.reverse()
    found.time.extend([(stream.base + row[0]) / 1000 for row in rows])
    found.video.extend([MISSING if row[1] is None else row[1] for row in rows])
    found.audio.extend([MISSING if row[2] is None else row[2] for row in rows])
    found.fps.extend([MISSING if row[3] is None else row[3] / FPS_SCALE for row in rows])
    found.status.extend([NO_STATUS if row[4] is None else row[4] for row in rows])
    return found


_STEP = 1000
"""Maximum number of rows deleted in one step, which takes a few milliseconds."""

_OLD_ROWS = (
    "DELETE FROM {table} WHERE stream = :stream AND {column} < :end AND {column} <= coalesce("
    "(SELECT {column} FROM {table} WHERE stream = :stream ORDER BY {column} LIMIT 1 OFFSET :step), :end)"
)

_KEPT = (*LASTING, *IN_FORCE)
_OLD = f"SELECT id FROM journal WHERE at < ? AND kind NOT IN ({', '.join('?' * len(_KEPT))}) LIMIT ?"  # noqa: S608  constants
_OLD_ENTRIES = f"DELETE FROM journal WHERE id IN ({_OLD})"  # noqa: S608  constants


def prune(db: Database, before: int) -> Iterator[None]:
    """Delete rows older than `before` (epoch ms), one step for each item of the iterator.

    Events and streams stay, a few bytes each, because another deck may be writing samples of them. Raises StorageError.
    """
    if db.rows("SELECT 1 FROM recent WHERE time < ? LIMIT 1", [before]):  # no newer sample has moved them
        db.run("DELETE FROM recent WHERE time < ?", [before // SLOT * SLOT])
        yield
    for stream, base in db.rows("SELECT id, base FROM stream"):
        end = (before - base) // SLOT
        for table, column, limit in (
            ("sample", "time", end * SLOT),
            ("late", "time", end * SLOT),
            ("rollup", "slot", end),
        ):
            statement = _OLD_ROWS.format(table=table, column=column)
            query = f"SELECT 1 FROM {table} WHERE stream = ? AND {column} < ? LIMIT 1"  # noqa: S608  constants
            while db.rows(query, (stream, limit)):
                db.run(statement, {"stream": stream, "end": limit, "step": _STEP})
                yield
    while db.rows(_OLD, (before, *_KEPT, 1)):
        db.run(_OLD_ENTRIES, (before, *_KEPT, _STEP))
        yield
    while db.rows("SELECT 1 FROM learnt WHERE at < ? LIMIT 1", [before]):
        db.run("DELETE FROM learnt WHERE rowid IN (SELECT rowid FROM learnt WHERE at < ? LIMIT ?)", [before, _STEP])
        yield
    while any(rows.prune(db, before, _STEP) for rows in (alarm_actions, alarms, events, published, silences, viewers)):
        yield
