"""What is new of each stream, tick by tick, on its way into the file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import copysign, isfinite

from livedeck.monitor.history import samples
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.packing import NOTHING, SLOT, Row
from livedeck.monitor.history.samples import FPS_SCALE, Stream, StreamKey
from livedeck.monitor.readings import Readings

_LARGEST = 2**62
_RECENT = 60
"""Known samples that are looked at for corrections; older ones are final while the deck runs."""

_BATCH = 4000
"""Rows in one transaction at most, so that another deck's turn comes soon."""

_LOOSE = 180
"""Samples that wait for their slots, for each stream on average; more of one stream at once do not wait."""


class SampleWriter:
    """Writes what is new of each stream. Knows what it wrote last, so that a tick costs what the tick brought.

    Made with a query: raises StorageError. `db`: the file that it writes to.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self._streams: dict[StreamKey, Stream] = {}
        self._written: dict[StreamKey, Readings] = {}
        self._loose = samples.count_recent(db)

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
        stream = self._streams.get(key) or self._found(key, readings)
        start = _first_new(self._written.get(key), readings)
        if start is not None:
            return _rows(readings, start, stream.base)
        rows = _rows(readings, 0, stream.base)
        if not rows:
            return []
        with self.db.transaction("DEFERRED"):
            known = samples.stored(self.db, stream, rows[0][0], rows[-1][0])
        already = dict(zip(known.time, zip(*known, strict=True), strict=True))
        return [row for row in rows if already.get(row[0]) != row]

    def _found(self, key: StreamKey, readings: Readings) -> Stream:
        """The stream in the file, which gets to know it here."""
        stream = samples.find_stream(self.db, key)
        if stream is None:
            base = _milliseconds(readings.time[0]) // SLOT * SLOT if len(readings) else 0
            with self.db.transaction():
                self.db.run("INSERT OR IGNORE INTO event (name) VALUES (?)", [key.event_id])
                self.db.run(
                    "INSERT OR IGNORE INTO stream (event, name, base) SELECT id, ?, ? FROM event WHERE name = ?",
                    (key.stream_id, base, key.event_id),
                )
            return self._found(key, readings)
        self._streams[key] = stream
        return stream

    def _commit(self, batch: Mapping[StreamKey, list[Row]], news: Mapping[StreamKey, Readings]) -> None:
        news_of = [(self._streams[key], rows) for key, rows in batch.items() if rows]
        if news_of:
            with self.db.transaction():
                loose = self._store(news_of)
            self._loose = loose
        self._written |= {key: news[key] for key in batch}

    def _store(self, news: Sequence[tuple[Stream, list[Row]]]) -> int:
        """Returns how many samples are then in no slot."""
        sizes = [len(rows) for _, rows in news]
        if max(sizes) > _LOOSE:
            samples.pack_recent(self.db)
            for stream, rows in news:
                samples.store(self.db, stream.id, rows)
            return 0
        samples.add_recent(self.db, news)
        loose = self._loose + sum(sizes)
        if loose < _LOOSE * len(self._streams):
            return loose
        samples.pack_older(self.db)
        return samples.count_recent(self.db)


def _first_new(written: Readings | None, readings: Readings) -> int | None:
    """The index from which on `readings` is new, where it goes on from `written`; None where all must be compared.

    Of a correction the video rate or the status must tell: this is asked of every stream at every tick.
    """
    if written is readings:
        return len(readings)
    if written is None:
        return None
    times, before = readings.time, written.time
    start = bisect_right(times, before[-1])
    forgotten = len(before) - start
    if start and (forgotten < 0 or before[forgotten] != times[0]):
        return None
    look = min(start, _RECENT)
    was, now = slice(len(before) - look, None), slice(start - look, start)
    same = _alike(written.video[was], readings.video[now]) and _alike(written.status[was], readings.status[now])
    return start if same else None


def _alike(one: array[float] | array[int], other: array[float] | array[int]) -> bool:
    return one.tobytes() == other.tobytes()  # NaN is unlike itself


def _rows(readings: Readings, start: int, base: int) -> list[Row]:
    time, video, audio, fps, status = readings.time, readings.video, readings.audio, readings.fps, readings.status
    return [
        (
            _milliseconds(time[index]) - base,
            _whole(video[index]),
            _whole(audio[index]),
            _whole(fps[index] * FPS_SCALE),
            status[index],
        )
        for index in range(start, len(time))
    ]


def _milliseconds(time: float) -> int:
    return round(time * 1000)


def _whole(value: float) -> int:
    if -_LARGEST < value < _LARGEST:
        return round(value)
    return round(copysign(_LARGEST, value)) if isfinite(value) else NOTHING
