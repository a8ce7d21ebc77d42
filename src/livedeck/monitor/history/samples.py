"""Samples in columns of whole numbers; the bytes that a slot of them takes in the file; what a chart tells of them.

In the file a slot is one byte, 4 or 8, and then, deflated, its columns one after the other in signed numbers of so many
bytes, times as steps from one to the next: the least bytes of all numbers, then those above them, and so on, for like
goes with like. Some 5 to 10 bytes a sample.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, chain, groupby
from operator import itemgetter, sub
from typing import NamedTuple

from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.journal import LASTING
from livedeck.monitor.model.readings import MISSING, NO_STATUS, Readings
from livedeck.monitor.model.records import StreamRecord

SLOT = 180_000

"""Milliseconds that one row of the roll-up stands for: 24 h in 480 columns are still read from it."""


NOTHING = -(2**63)

"""Stands where a sample carried no number."""


STATUSES = (0, 3, 4, 5)

_USUAL = frozenset({NO_STATUS, *STATUSES})


_NARROW, _WIDE = 4, 8

_CODES = {_NARROW: "i", _WIDE: "q"}

_LIMIT = 2**31


Row = tuple[int, int, int, int, int]

"""Time (ms since the stream's base), video, audio (bit/s), fps (frames per 1000 s), status."""


Summary = tuple[int | None, ...]

"""Count; lowest, highest, last of video, audio and fps; how many of each status; the greatest of the unnamed ones."""


class Columns(NamedTuple):
    """Rows, a column each, ascending by time, one row a time."""

    time: Sequence[int]
    video: Sequence[int]
    audio: Sequence[int]
    fps: Sequence[int]
    status: Sequence[int]

    def part(self, first: int, end: int) -> Columns:
        """The rows from one index to before another."""
        return Columns(*(column[first:end] for column in self))

    def by_slot(self) -> Iterator[tuple[int, Columns]]:
        """Each slot that has rows, and those."""
        first, count = 0, len(self.time)
        while first < count:
            slot = self.time[first] // SLOT
            end = bisect_left(self.time, (slot + 1) * SLOT, first)
            yield slot, self.part(first, end)
            first = end


def columns_of(rows: Iterable[Row]) -> Columns:
    """Rows that ascend by time."""
    columns = [*zip(*rows, strict=True)]
    return Columns(*columns) if columns else Columns((), (), (), (), ())


def merged(older: Columns, newer: Columns) -> Columns:
    """Both; where a time is, the newer row wins."""
    if not older.time or not newer.time:
        return older if older.time else newer
    if older.time[-1] < newer.time[0]:
        return Columns(*([*one, *other] for one, other in zip(older, newer, strict=True)))
    rows = {row[0]: row for row in chain(zip(*older, strict=True), zip(*newer, strict=True))}
    return columns_of(rows[time] for time in sorted(rows))


def pack(samples: Columns, start: int) -> bytes:
    """The bytes of samples, whose slot begins at `start`."""
    steps = map(sub, samples.time, chain((start,), samples.time))
    numbers = [*steps, *samples.video, *samples.audio, *samples.fps, *samples.status]
    width = _NARROW if min(numbers) >= -_LIMIT and max(numbers) < _LIMIT else _WIDE
    flat = struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)
    return bytes([width]) + zlib.compress(b"".join(flat[place::width] for place in range(width)), 1)


def unpack(content: bytes, start: int) -> Columns:
    """The samples that `pack` made into these bytes. Raises ValueError for others."""
    try:
        width, planes = content[0], zlib.decompress(content[1:])
        count = len(planes) // width
        flat = bytearray(len(planes))
        for place in range(width):
            flat[place::width] = planes[place * count : (place + 1) * count]
        length, odd = divmod(count, len(Columns._fields))
        if odd or not length:
            raise ValueError(f"{count} numbers are no rows")
        numbers = struct.unpack(f"<{count}{_CODES[width]}", flat)
    except (LookupError, ArithmeticError, zlib.error, struct.error) as error:
        raise ValueError(str(error)) from error
    steps, *rest = (numbers[first : first + length] for first in range(0, count, length))
    return Columns(list(accumulate(steps, initial=start))[1:], *rest)


def summaries(samples: Columns, bounds: Sequence[tuple[int, int]]) -> Iterator[Summary]:
    """What the rows from one index to before another, at least one, come to; for each of these pairs."""
    video, audio, fps, status = ([column[first:end] for first, end in bounds] for column in samples[1:])
    seen, none = set(samples.status), [0] * len(bounds)
    counts = ([part.count(known) for part in status] if known in seen else none for known in STATUSES)
    odd = [max((one for one in part if one not in _USUAL), default=None) if seen - _USUAL else None for part in status]
    return zip(map(len, status), *_band(video), *_band(audio), *_band(fps), *counts, odd, strict=True)


def _band(parts: list[Sequence[int]]) -> Iterator[Iterable[int | None]]:
    """The least, the greatest and the last number of each part."""
    least = list(map(min, parts))
    if NOTHING in least:
        known = [[value for value in part if value != NOTHING] for part in parts]
        yield [min(part, default=None) for part in known]
        yield [max(part, default=None) for part in known]
        yield [None if part[-1] == NOTHING else part[-1] for part in parts]
    else:
        yield least
        yield map(max, parts)
        yield [part[-1] for part in parts]


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


NewSamples = tuple[Stream, Iterable[Row]]

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


def add_recent(db: Database, news: Iterable[NewSamples]) -> None:
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


_STEP = 200

"""Rows that one step deletes at most: a millisecond or two."""


_OLD_SLOTS = (
    "DELETE FROM rollup WHERE stream = :stream AND slot < :end AND slot <= coalesce("
    "(SELECT slot FROM rollup WHERE stream = :stream ORDER BY slot LIMIT 1 OFFSET :step), :end)"
)

_OLD_ENTRIES = "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE at < ? AND kind NOT IN (?, ?) LIMIT ?)"


def prune(db: Database, before: int) -> Iterator[None]:
    """Delete what is older than `before` (epoch ms), a step each time that the next item is asked for.

    Events and streams stay, a few bytes each: another deck may be writing to them. Raises StorageError.
    """
    for stream, base in db.rows("SELECT id, base FROM stream"):
        end = (before - base) // SLOT
        while _any(db, "SELECT 1 FROM rollup WHERE stream = ? AND slot < ? LIMIT 1", stream, end):
            db.run(_OLD_SLOTS, {"stream": stream, "end": end, "step": _STEP})
            yield
    db.run("DELETE FROM recent WHERE time < ?", [before // SLOT * SLOT])
    while _any(db, "SELECT 1 FROM journal WHERE at < ? AND kind NOT IN (?, ?) LIMIT 1", before, *LASTING):
        db.run(_OLD_ENTRIES, (before, *LASTING, _STEP))
        yield


def _any(db: Database, query: str, *values: object) -> bool:
    return bool(db.rows(query, values))
