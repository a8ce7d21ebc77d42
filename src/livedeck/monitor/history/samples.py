"""QoS samples in the file: integers, each stored once, times counted from the stream's own beginning.

A slot of three minutes that is over is rolled up into one row, so that a long stretch costs slots and not samples.
The roll-up is a function of the samples: one that comes late, or is corrected, has its slot rolled up anew.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import copysign, isfinite
from typing import NamedTuple

from livedeck.monitor.history.database import Database
from livedeck.monitor.readings import MISSING, NO_STATUS, Readings
from livedeck.monitor.records import StreamRecord

SLOT = 180_000
"""Milliseconds that one row of the roll-up stands for: 24 h in 480 columns are still read from it."""

FPS_SCALE = 1000

_LARGEST = 2**62
_RECENT = 60
"""Known samples that are looked at for corrections; older ones are final while the deck runs."""

_BATCH = 4000
"""Rows in one transaction at most, so that another deck's turn comes soon."""

_BY_SLOT = f"(time - (time % {SLOT} + {SLOT}) % {SLOT}) / {SLOT}"

_UPSERT = """
INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
video = excluded.video, audio = excluded.audio, fps = excluded.fps, status = excluded.status
"""

GATHER = """
WITH span AS (
    SELECT {bucket} AS bucket, max(time) AS newest, count(*) AS count,
        min(video) AS video_low, max(video) AS video_high, min(audio) AS audio_low, max(audio) AS audio_high,
        min(fps) AS fps_low, max(fps) AS fps_high,
        count(*) FILTER (WHERE status = 0) AS normal, count(*) FILTER (WHERE status = 3) AS key20,
        count(*) FILTER (WHERE status = 4) AS key50, count(*) FILTER (WHERE status = 5) AS loss,
        max(CASE status WHEN 0 THEN NULL WHEN 3 THEN NULL WHEN 4 THEN NULL WHEN 5 THEN NULL ELSE status END) AS odd
    FROM sample WHERE stream = :stream AND time >= :first AND time < :end GROUP BY bucket
)
SELECT bucket, count, video_low, video_high, video, audio_low, audio_high, audio, fps_low, fps_high, fps,
    normal, key20, key50, loss, odd
FROM span JOIN sample ON stream = :stream AND time = newest
"""
"""Samples by bucket: count; lowest, highest, last of each measure; how many of each status."""

ROLL_UP = f"INSERT OR REPLACE INTO rollup SELECT :stream, * FROM ({GATHER.format(bucket=_BY_SLOT)})"  # noqa: S608  constants


class StreamKey(NamedTuple):
    """The platform's names of an event and of one of its streams."""

    event_id: str
    stream_id: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream in the file. `base`: epoch ms; `rolled`: slots since then that are rolled up."""

    id: int
    base: int
    rolled: int


Row = tuple[int, int | None, int | None, int | None, int | None]
"""Time (ms since the stream's base), video, audio, fps, status."""


def find_stream(db: Database, key: StreamKey) -> Stream | None:
    """That stream, or None where the file does not know it."""
    found = db.rows(
        "SELECT stream.id, base, rolled FROM stream JOIN event ON event.id = event "
        "WHERE event.name = ? AND stream.name = ?",
        key,
    )
    return Stream(*found[0]) if found else None


def stored(db: Database, stream: Stream, first: int, last: int, newest: int = -1) -> list[Row]:
    """The rows of that stretch (ms since the stream's base), both ends included; the `newest` of them, -1 is all."""
    rows = db.rows(
        "SELECT time, video, audio, fps, status FROM sample WHERE stream = ? AND time BETWEEN ? AND ? "
        "ORDER BY time DESC LIMIT ?",
        (stream.id, first, last, newest),
    )
    rows.reverse()
    return rows


def streams_of(db: Database, event_id: str) -> tuple[StreamRecord, ...]:
    """The streams of that event that have samples, the earliest first."""
    rows = db.rows(
        "SELECT stream.name, stream.id, base, rolled FROM stream JOIN event ON event.id = event WHERE event.name = ?",
        [event_id],
    )
    records = (_record(db, name, Stream(*stream)) for name, *stream in rows)
    return tuple(sorted((record for record in records if record), key=lambda record: record.first))


def _record(db: Database, name: str, stream: Stream) -> StreamRecord | None:
    ((first, last),) = db.rows(
        "SELECT (SELECT min(time) FROM sample WHERE stream = :stream), "
        "(SELECT max(time) FROM sample WHERE stream = :stream)",
        {"stream": stream.id},
    )
    if first is None:
        return None
    ((count,),) = db.rows(
        "SELECT (SELECT coalesce(sum(count), 0) FROM rollup WHERE stream = :stream AND slot < :rolled) "
        "+ (SELECT count(*) FROM sample WHERE stream = :stream AND time >= :rolled * :slot)",
        {"stream": stream.id, "rolled": stream.rolled, "slot": SLOT},
    )
    first, last = (datetime.fromtimestamp((stream.base + time) / 1000, UTC) for time in (first, last))
    return StreamRecord(name, first, last, count)


class SampleWriter:
    """Writes what is new of each stream. Knows what it wrote last, so that a tick costs what the tick brought."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._streams: dict[StreamKey, Stream] = {}
        self._written: dict[StreamKey, Readings] = {}

    def write(self, news: Mapping[StreamKey, Readings]) -> None:
        """Store every sample that is not stored; where a time is, the newer answer wins. Raises StorageError."""
        batch: dict[StreamKey, list[Row]] = {}
        count = 0
        for key, readings in news.items():
            batch[key] = self._news(key, readings)
            count += len(batch[key])
            if count >= _BATCH:
                self._commit(batch, news)
                batch, count = {}, 0
        self._commit(batch, news)

    def forget_all_but(self, keys: Iterable[StreamKey]) -> None:
        """Let go of the memory of streams that are over. `keys`: those last written."""
        kept = set(keys)
        if len(kept) == len(self._streams):
            return
        self._streams = {key: stream for key, stream in self._streams.items() if key in kept}
        self._written = {key: readings for key, readings in self._written.items() if key in kept}

    def _news(self, key: StreamKey, readings: Readings) -> list[Row]:
        stream = self._stream(key, readings)
        start = _first_new(self._written.get(key), readings)
        if start is not None:
            return list(_rows(readings, start, stream.base))
        rows = list(_rows(readings, 0, stream.base))
        if not rows:
            return []
        known = {row[0]: row for row in stored(self._db, stream, rows[0][0], rows[-1][0])}
        return [row for row in rows if known.get(row[0]) != row]

    def _stream(self, key: StreamKey, readings: Readings) -> Stream:
        stream = self._streams.get(key) or find_stream(self._db, key)
        if stream is None:
            base = _milliseconds(readings.time[0]) // SLOT * SLOT if len(readings) else 0
            with self._db.transaction():
                self._db.run("INSERT OR IGNORE INTO event (name) VALUES (?)", [key.event_id])
                self._db.run(
                    "INSERT OR IGNORE INTO stream (event, name, base, rolled) "
                    "SELECT id, ?, ?, 0 FROM event WHERE name = ?",
                    (key.stream_id, base, key.event_id),
                )
            return self._stream(key, readings)
        self._streams[key] = stream
        return stream

    def _commit(self, batch: Mapping[StreamKey, list[Row]], news: Mapping[StreamKey, Readings]) -> None:
        rows = [(self._streams[key].id, *row) for key, new in batch.items() for row in new]
        if rows:
            with self._db.transaction():
                self._db.run_many(_UPSERT, rows)
                rolled = {key: self._roll(self._streams[key], new) for key, new in batch.items() if new}
            self._streams |= rolled
        self._written |= {key: news[key] for key in batch}

    def _roll(self, stream: Stream, new: list[Row]) -> Stream:
        """Roll up the slots that these rows ended, and again those that they came late for."""
        if new[0][0] < stream.rolled * SLOT:
            for slot in sorted({row[0] // SLOT for row in new if row[0] // SLOT < stream.rolled}):
                self._roll_up(stream, slot, slot + 1)
        newest = new[-1][0]
        turn = stream.id * 7919 % SLOT  # each stream its own, or all would roll up in the same tick
        if newest < (stream.rolled + 1) * SLOT + turn:
            return stream
        end = newest // SLOT
        self._roll_up(stream, stream.rolled, end)
        self._db.run("UPDATE stream SET rolled = max(rolled, ?) WHERE id = ?", (end, stream.id))
        return replace(stream, rolled=end)

    def _roll_up(self, stream: Stream, first: int, end: int) -> None:
        self._db.run(ROLL_UP, {"stream": stream.id, "first": first * SLOT, "end": end * SLOT})


def readings_of(rows: Iterable[Row], base: int) -> Readings:
    """Rows of the file as the monitor knows samples."""
    readings = Readings()
    for time, video, audio, fps, status in rows:
        readings.time.append((base + time) / 1000)
        readings.video.append(MISSING if video is None else video)
        readings.audio.append(MISSING if audio is None else audio)
        readings.fps.append(MISSING if fps is None else fps / FPS_SCALE)
        readings.status.append(NO_STATUS if status is None else status)
    return readings


def _first_new(written: Readings | None, readings: Readings) -> int | None:
    """The index from which on `readings` is new, where it goes on from `written`; None where all must be compared.

    Of a correction the video rate or the status must tell: this is asked of every stream at every tick.
    """
    if written is None:
        return None
    times, before = readings.time, written.time
    if written is readings:
        return len(times)
    start = bisect_right(times, before[-1])
    if start != len(before) - bisect_left(before, times[0]):
        return None
    was, now = slice(max(0, len(before) - min(start, _RECENT)), None), slice(max(0, start - _RECENT), start)
    same = _alike(written.video[was], readings.video[now]) and _alike(written.status[was], readings.status[now])
    return start if same else None


def _alike(one: array[float] | array[int], other: array[float] | array[int]) -> bool:
    return one.tobytes() == other.tobytes()  # NaN is unlike itself


def _rows(readings: Readings, start: int, base: int) -> Iterator[Row]:
    for index in range(start, len(readings)):
        status = readings.status[index]
        yield (
            _milliseconds(readings.time[index]) - base,
            _whole(readings.video[index]),
            _whole(readings.audio[index]),
            _whole(readings.fps[index] * FPS_SCALE),
            None if status == NO_STATUS else status,
        )


def _milliseconds(time: float) -> int:
    return round(time * 1000)


def _whole(value: float) -> int | None:
    if -_LARGEST < value < _LARGEST:
        return round(value)
    return round(copysign(_LARGEST, value)) if isfinite(value) else None
