"""QoS samples in the file, each stored once, times counted from the stream's own beginning.

The newest are rows of one table in the order of their times, so that a tick of all streams is written side by side.
From there they go, many at a time, into slots of three minutes: one row of the roll-up with all the slot's samples and
what they come to, so that a long stretch costs slots and not samples. A slot is a function of its samples: for one that
comes late, or is corrected, it is made anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.packing import NOTHING, SLOT, Columns, Row, columns_of, merged, pack, summaries, unpack
from livedeck.monitor.readings import MISSING, NO_STATUS, Readings
from livedeck.monitor.records import StreamRecord

FPS_SCALE = 1000

_EVER = 2**52
"""Milliseconds, or slots of them, beyond all samples, on either side of the beginning."""

_UPSERT = """
INSERT INTO recent VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (time, stream) DO UPDATE SET
video = excluded.video, audio = excluded.audio, fps = excluded.fps, status = excluded.status
"""

_OLDER = f"""
SELECT (SELECT min(time) FROM recent), time / {SLOT} * {SLOT} FROM recent
ORDER BY time LIMIT 1 OFFSET (SELECT count(*) * 3 / 4 FROM recent)
"""  # noqa: S608  constants

_EARLIER = f"""
SELECT time, coalesce(video, {NOTHING}), coalesce(audio, {NOTHING}), coalesce(fps, {NOTHING}),
    coalesce(status, {NO_STATUS})
FROM sample WHERE stream = ? AND time BETWEEN ? AND ? ORDER BY time
"""  # noqa: S608  constants

_CONTENT = "SELECT samples FROM rollup WHERE stream = ? AND slot = ?"
_STORE = "INSERT OR REPLACE INTO rollup VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class StreamKey(NamedTuple):
    """The platform's names of an event and of one of its streams."""

    event_id: str
    stream_id: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream in the file. `base`: epoch ms, a whole slot."""

    id: int
    base: int


News = tuple[Stream, Iterable[Row]]
"""Rows of a stream, ascending by time."""


def find_stream(db: Database, key: StreamKey) -> Stream | None:
    """That stream, or None where the file does not know it."""
    found = db.rows(
        "SELECT stream.id, base FROM stream JOIN event ON event.id = event WHERE event.name = ? AND stream.name = ?",
        key,
    )
    return Stream(*found[0]) if found else None


def stored(db: Database, stream: Stream, first: int, last: int, newest: int = -1) -> Columns:
    """The samples of that stretch (ms since the stream's base), both ends included; the `newest` of them, -1 is all.

    In a caller's transaction: another deck may be packing. Raises StorageError.
    """
    recent = columns_of(
        db.rows(
            "SELECT time - :base, video, audio, fps, status FROM recent "
            "WHERE stream = :stream AND time BETWEEN :base + :first AND :base + :last ORDER BY time",
            {"stream": stream.id, "base": stream.base, "first": first, "last": last},
        )
    )
    found = merged(_packed(db, stream, first, last, newest), recent)
    end = bisect_right(found.time, last)
    begin = bisect_left(found.time, first)
    return found.part(begin if newest < 0 else max(begin, end - newest), end)


def oldest_recent(db: Database, stream: Stream, first: int = -_EVER) -> int | None:
    """The time of its first sample from `first` on (ms since the stream's base) that is in no slot yet."""
    found: list[tuple[int | None]] = db.rows(
        "SELECT min(time) - :base FROM recent WHERE stream = :stream AND time >= :base + :first",
        {"stream": stream.id, "base": stream.base, "first": first},
    )
    return found[0][0]


def streams_of(db: Database, event_id: str) -> tuple[StreamRecord, ...]:
    """The streams of that event that have samples, the earliest first."""
    rows = db.rows(
        "SELECT stream.name, stream.id, base FROM stream JOIN event ON event.id = event WHERE event.name = ?",
        [event_id],
    )
    records = (_record(db, name, Stream(*stream)) for name, *stream in rows)
    return tuple(sorted((record for record in records if record), key=lambda record: record.first))


def add_recent(db: Database, news: Iterable[News]) -> None:
    """Store these; where a time is, the newer row wins. Raises StorageError."""
    db.run_many(_UPSERT, ((stream.base + row[0], stream.id, *row[1:]) for stream, rows in news for row in rows))


def count_recent(db: Database) -> int:
    """How many samples are in no slot yet."""
    ((count,),) = db.rows("SELECT count(*) FROM recent")
    return int(count)


def pack_older(db: Database) -> None:
    """Move recent samples into their slots, in a caller's transaction. Raises StorageError.

    Of the older three quarters the whole slots: the newest are not over, or have late samples to come, and so each is
    made once. Where that is none, all.
    """
    for oldest, end in db.rows(_OLDER):
        pack_recent(db, end if oldest < end else _EVER)


def pack_recent(db: Database, end: int = _EVER) -> None:
    """Move recent samples before `end` (epoch ms) into their slots, in a caller's transaction. Raises StorageError."""
    rows = db.rows(
        "SELECT stream, time - base, video, audio, fps, status FROM recent JOIN stream ON stream.id = stream "
        "WHERE time < ? ORDER BY stream, time",
        [end],
    )
    for stream, group in groupby(rows, itemgetter(0)):
        store(db, stream, (row[1:] for row in group))
    db.run("DELETE FROM recent WHERE time < ?", [end])


def store(db: Database, stream: int, rows: Iterable[Row]) -> None:
    """Put rows of the stream with that id, ascending by time, into their slots; where a time is, the newer one wins.

    In a caller's transaction, and where none of them is among the recent ones. Raises StorageError.
    """
    for slot, newer in columns_of({row[0]: row for row in rows}.values()).by_slot():
        found = db.rows(_CONTENT, (stream, slot))
        _fill(db, stream, slot, merged(_samples_in(db, stream, slot, found[0][0]), newer) if found else newer)


def store_earlier(db: Database, stream: int, slot: int) -> None:
    """Put the rows of an earlier livedeck into that slot, which has some; where a time is, what was packed wins.

    In a caller's transaction. Raises StorageError.
    """
    samples = _samples_in(db, stream, slot, None)
    for (content,) in db.rows(_CONTENT, (stream, slot)):
        if content is not None:
            samples = merged(samples, _samples_in(db, stream, slot, content))
    _fill(db, stream, slot, samples)


def readings_of(samples: Columns, base: int) -> Readings:
    """Samples of the file as the monitor knows them."""
    readings = Readings()
    readings.time.extend((base + time) / 1000 for time in samples.time)
    readings.video.extend(_known(samples.video))
    readings.audio.extend(_known(samples.audio))
    readings.fps.extend(value / FPS_SCALE for value in _known(samples.fps))
    readings.status.extend(samples.status)
    return readings


def _known(values: Iterable[int]) -> Iterator[float]:
    return (MISSING if value == NOTHING else value for value in values)


def _packed(db: Database, stream: Stream, first: int, last: int, newest: int) -> Columns:
    """All of the slots that the stretch touches; of those, as many as hold the `newest` of it."""
    parts: list[Columns] = []
    wanting = newest
    for slot, content in db.rows(
        "SELECT slot, samples FROM rollup WHERE stream = ? AND slot BETWEEN ? AND ? ORDER BY slot DESC LIMIT ?",
        (stream.id, first // SLOT, last // SLOT, newest if newest < 0 else newest + 1),  # one may begin after `last`
    ):
        parts.append(_samples_in(db, stream.id, slot, content))
        wanting -= bisect_right(parts[-1].time, last)
        if newest >= 0 >= wanting:
            break
    parts.reverse()
    return Columns(*(list(chain.from_iterable(part[place] for part in parts)) for place in range(len(Columns._fields))))


def _fill(db: Database, stream: int, slot: int, samples: Columns) -> None:
    (summary,) = summaries(samples, [(0, len(samples.time))])
    db.run(_STORE, (stream, slot, *summary, pack(samples, slot * SLOT)))


def _samples_in(db: Database, stream: int, slot: int, content: bytes | None) -> Columns:
    """The samples of that slot; without content they are still the rows of an earlier livedeck."""
    if content is None:
        return columns_of(db.rows(_EARLIER, (stream, slot * SLOT, slot * SLOT + SLOT - 1)))
    try:
        return unpack(content, slot * SLOT)
    except ValueError as error:
        raise StorageError(db.path, f"samples that cannot be read ({error})", corrupt=True) from error


def _record(db: Database, name: str, stream: Stream) -> StreamRecord | None:
    """None where its oldest slot, or the newest, is empty: an earlier livedeck's pruning is not over."""
    newest = stored(db, stream, -_EVER, _EVER, 1)
    if not newest.time:
        return None
    fresh = oldest_recent(db, stream)
    loose = _EVER if fresh is None else fresh // SLOT
    ((oldest, count),) = db.rows(
        "SELECT min(slot), coalesce(sum(count * (slot < ?)), 0) FROM rollup WHERE stream = ?",
        (loose, stream.id),
    )
    begin = min(loose, _EVER if oldest is None else oldest) * SLOT
    first = stored(db, stream, begin, begin + SLOT - 1).time
    if not first:
        return None
    if fresh is not None:
        count += len(stored(db, stream, loose * SLOT, _EVER).time)
    begun, ended = (datetime.fromtimestamp((stream.base + time) / 1000, UTC) for time in (first[0], newest.time[0]))
    return StreamRecord(name, begun, ended, count)
