"""The writing side of the history: a bounded queue, one writer thread, and what is new of each stream."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from math import copysign, isfinite
from pathlib import Path
from threading import Thread
from typing import TypeVar

import structlog

from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import alarm_actions, alarms, events, journal, learnt, links, published, samples
from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import CORRUPT, Database, StorageError, set_aside
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.salvage import salvage_in_process
from livedeck.monitor.history.samples import FPS_SCALE, Row, Stream, StreamKey, prune
from livedeck.monitor.model.alarm import Alarm, AlarmKey
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.readings import NO_STATUS, Readings
from livedeck.monitor.model.snapshot import Snapshot

_LARGEST = 2**62

_RECENT = 60
"""Known samples that are looked at for corrections; older ones are final while the deck runs."""

_BATCH = 4000
"""Rows in one transaction at most, so that another deck's turn comes soon."""


class SampleWriter:
    """Writes what is new of each stream. Knows what it wrote last, so that a tick costs what the tick brought.

    `db`: the file that it writes to.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self._version = -1
        self._streams: dict[StreamKey, Stream] = {}
        self._written: dict[StreamKey, Readings] = {}

    def write(self, news: Mapping[StreamKey, Readings], now: datetime) -> None:
        """Store every sample that is not stored, as known since `now`; where a time is, the newer answer wins.

        Raises StorageError.
        """
        if self._version != (version := self.db.version()):  # another deck may have rolled up more
            self._version = version
            self._streams.clear()
        batch: dict[StreamKey, list[Row]] = {}
        count = 0
        for key, readings in news.items():
            batch[key] = self._new_rows(key, readings)
            count += len(batch[key])
            if count >= _BATCH:
                self._commit(batch, news, now)
                batch, count = {}, 0
        self._commit(batch, news, now)

    def forget_all_but(self, keys: Iterable[StreamKey]) -> None:
        """Let go of the memory of streams that are over. `keys`: those last written."""
        kept = set(keys)
        if len(kept) == len(self._written):
            return
        self._streams = {key: stream for key, stream in self._streams.items() if key in kept}
        self._written = {key: readings for key, readings in self._written.items() if key in kept}

    def _new_rows(self, key: StreamKey, readings: Readings) -> list[Row]:
        start = _first_new(self._written.get(key), readings)
        if start == len(readings):
            return []
        stream = self._streams.get(key) or self._find(key, readings)
        return _rows(readings, start, stream)

    def _find(self, key: StreamKey, readings: Readings) -> Stream:
        """The stream in the file, which gets to know it here."""
        stream = samples.find_stream(self.db, key)
        if stream is None:
            with self.db.transaction():
                samples.make_stream(self.db, key, _milliseconds(readings.time[0]) // SLOT * SLOT)
            return self._find(key, readings)
        self._streams[key] = stream
        return stream

    def _commit(self, batch: Mapping[StreamKey, list[Row]], news: Mapping[StreamKey, Readings], now: datetime) -> None:
        changed = {key: rows for key, rows in batch.items() if rows}
        if changed:
            with self.db.transaction():
                samples.store(self.db, chain.from_iterable(changed.values()))
                samples.note_late(self.db, [row for key in changed for row in self._late_rows(key, changed[key])], now)
                rolled = {key: self._roll_up(self._streams[key], rows) for key, rows in changed.items()}
            self._streams |= rolled
        self._written |= {key: news[key] for key in batch}

    def _late_rows(self, key: StreamKey, rows: Sequence[Row]) -> list[Row]:
        """Those that came after a newer one."""
        written, stream = self._written.get(key), self._streams[key]
        if written is None or rows[0][1] > (newest := _milliseconds(written.time[-1]) - stream.base):
            return []
        known = {_milliseconds(time) - stream.base for time in written.time}
        return [row for row in rows if row[1] < newest and row[1] not in known]

    def _roll_up(self, stream: Stream, rows: Sequence[Row]) -> Stream:
        """Roll up the slots that are over, and those of late samples anew. Returns the stream as it is then."""
        slots = [row[1] // SLOT for row in rows]
        first, end = min(stream.rolled, *slots), max(stream.rolled, *slots)
        if first == end:
            return stream
        samples.roll_up(self.db, stream, first, end)
        return replace(stream, rolled=end)


def _first_new(written: Readings | None, readings: Readings) -> int:
    """The index from which on `readings` is new, where it goes on from `written`; 0 where all may be.

    Of a correction the video rate or the status must tell: this is asked of every stream at every tick.
    """
    if written is readings:
        return len(readings)
    if written is None:
        return 0
    times, before = readings.time, written.time
    start = bisect_right(times, before[-1])
    forgotten = len(before) - start
    if start and (forgotten < 0 or before[forgotten] != times[0]):
        return 0
    count = min(start, _RECENT)
    was, now = slice(len(before) - count, None), slice(start - count, start)
    same = _alike(written.video[was], readings.video[now]) and _alike(written.status[was], readings.status[now])
    return start if same else 0


def _alike(first: array[float] | array[int], other: array[float] | array[int]) -> bool:
    return first.tobytes() == other.tobytes()  # NaN is unlike itself


def _rows(readings: Readings, start: int, stream: Stream) -> list[Row]:
    time, video, audio, fps, status = readings.time, readings.video, readings.audio, readings.fps, readings.status
    return [
        (
            stream.id,
            _milliseconds(time[index]) - stream.base,
            _whole(video[index]),
            _whole(audio[index]),
            _whole(fps[index] * FPS_SCALE),
            None if status[index] == NO_STATUS else status[index],
        )
        for index in range(start, len(time))
    ]


def _milliseconds(time: float) -> int:
    return round(time * 1000)


def _whole(value: float) -> int | None:
    if -_LARGEST < value < _LARGEST:
        return round(value)
    return round(copysign(_LARGEST, value)) if isfinite(value) else None


PRUNED_EACH = timedelta(hours=1)

_WAITING = 10_000
"""Entries that wait in memory at most while the file cannot be written; samples wait as the monitor has them."""

_WAITING_SNAPSHOTS = 32
"""The same of snapshots: the next one that is written says all that changed since the last that was."""

_log = structlog.get_logger("livedeck.history")


@dataclass(frozen=True, slots=True)
class Batch:
    """What waits to be written: entries, how alarms that changed stand (by key and onset), what was answered to alarms,
    every present stream as the monitor knows it now, what is newly learnt of streams, and what was published."""

    samples: Mapping[StreamKey, Readings] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    alarms: Mapping[tuple[AlarmKey, datetime], Alarm] = field(default_factory=dict)
    answers: tuple[AlarmAction, ...] = ()
    learnt: Mapping[StreamKey, Learnt] = field(default_factory=dict)
    snapshots: tuple[Snapshot, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.samples) or self.has_rows

    @property
    def has_rows(self) -> bool:
        """Whether there is more than samples."""
        return bool(self.entries or self.answers or self.alarms or self.learnt or self.snapshots)

    def then(self, later: Batch) -> Batch:
        """Both, the later one winning; of too many entries the oldest are lost."""
        return Batch(
            {**self.samples, **later.samples},
            (*self.entries, *later.entries)[-_WAITING:],
            dict([*self.alarms.items(), *later.alarms.items()][-_WAITING:]),
            (*self.answers, *later.answers)[-_WAITING:],
            {**self.learnt, **later.learnt},
            (*self.snapshots, *later.snapshots)[-_WAITING_SNAPSHOTS:],
        )


class HistoryWriter:
    """Writes batches. `notice`: what became of a file that was corrupt, or empty. `salvage`: what copies what is left
    of such a file into the new one, in a thread that nothing waits for; None before there was any.

    `limit`: bytes that the file may take, None as many as the disk has. Each method belongs on the writer's thread.
    """

    def __init__(self, path: Path | None, now: datetime, retention: timedelta, limit: int | None) -> None:
        self.notice = ""
        self.salvage: Thread | None = None
        self._path, self._now, self._retention, self._limit = path, now, retention, limit
        self._samples: SampleWriter | None = None
        self._pruning: Iterator[None] | None = None
        self._pruned: datetime | None = None
        self._segment: published.Segment | None = None

    def open(self) -> Database:
        """The open file. A corrupt one is set aside and a new one begun. Raises StorageError."""
        return self._open().db

    def write(self, batch: Batch, now: datetime) -> None:
        """Store all of it, then take a step of pruning. Raises StorageError; what was stored by then is stored once."""
        self._now = now
        try:
            try:
                self._write(batch)
            finally:
                self._prune()
        except StorageError as error:
            if not error.aside:
                raise
            self._renew()
            self._write(batch)

    def _write(self, batch: Batch) -> None:
        writer = self._open()
        if batch.samples:
            writer.write(batch.samples, self._now)
            writer.forget_all_but(batch.samples)
        if not batch.has_rows:
            return
        with writer.db.transaction():
            alarm_actions.write(writer.db, batch.answers)
            entries: Iterable[Entry] = batch.entries
            for untold in (alarms.untold, links.untold, events.untold):
                entries = untold(writer.db, entries)
            journal.write(writer.db, entries)
            alarms.keep(writer.db, batch.alarms.values())
            learnt.keep(writer.db, batch.learnt, journal.milliseconds(self._now))
        with writer.db.transaction():  # of its own: whatever fails here, what was done is kept
            segment = published.write(writer.db, self._segment, batch.snapshots)
        self._segment = segment

    def _open(self) -> SampleWriter:
        if self._samples is None or not self._samples.db.in_place:
            self.close()
            try:
                self._samples = self._open_file()
            except StorageError as error:
                if not error.aside:
                    raise
                self._set_aside(error.aside)
                self._samples = self._open_file()
        return self._samples

    def _open_file(self) -> SampleWriter:
        return SampleWriter(Database(self._path, limit=self._limit))

    def _prune(self) -> None:
        """One step; a file that is full is pruned too. Raises StorageError for one that is corrupt."""
        if self._samples is None:
            return
        db = self._samples.db
        try:
            if self._pruning is None and (self._pruned is None or self._now - self._pruned >= PRUNED_EACH):
                self._pruned = self._now
                old = journal.milliseconds(self._now - self._retention)
                self._pruning = prune(db, old)
            if self._pruning and next(self._pruning, self) is self:
                self._pruning = None
        except StorageError as error:
            if error.aside:
                raise
            _log.warning("history is not pruned", why=str(error))

    def renew(self) -> None:
        """What was read of the file shows that it is corrupt: begin a new one. Raises StorageError."""
        self._renew()
        self._open()

    def _renew(self) -> None:
        """The open file is corrupt: set it aside, unless another deck did."""
        spoilt = self._samples is not None and self._samples.db.in_place
        self.close()
        if spoilt:
            self._set_aside(CORRUPT)

    def _set_aside(self, word: str) -> None:
        if self._path is None:
            return
        aside = set_aside(self._path, self._now, word)
        reason = "it was corrupt" if word == CORRUPT else "an older livedeck made it"
        self.notice = f"history {self._path}: {reason}; it is now {aside.name}, and a new one was begun"
        _log.error("history set aside", path=str(self._path), aside=str(aside))
        if word == CORRUPT:
            self.salvage = Thread(target=self._salvage, args=(self._path, aside), name="livedeck-salvage", daemon=True)
            self.salvage.start()

    def _salvage(self, path: Path, aside: Path) -> None:
        begun, self.notice = self.notice, f"{self.notice}; what can be read of it is being copied over"
        found = salvage_in_process(aside, path, self._now)
        self.notice = f"{begun}; {found.text}"
        _log.warning("history salvaged", aside=str(aside), what=found.text, saved=found.saved, lost=found.lost)

    def close(self) -> None:
        """Let go of the file, tidied."""
        writer, self._samples, self._pruning, self._segment = self._samples, None, None, None
        if writer:
            writer.db.close()


class Reader:
    """The reading side. A file has a connection of its own; a history in memory has one, and one thread, for both."""

    def __init__(self, path: Path | None, writer: HistoryWriter) -> None:
        self._path, self._writer = path, writer
        self._db: Database | None = None

    def read(self, query: Callable[[Database], T]) -> T:
        """What the open file answers, all of it of one moment. Raises StorageError."""
        db = self._open()
        with db.transaction("DEFERRED"):
            return query(db)

    def interrupt(self) -> None:
        """End what is being read, from another thread."""
        if self._db:
            self._db.interrupt()

    def close(self) -> None:
        """Let go of the file."""
        db, self._db = self._db, None
        if db:
            db.close()

    def _open(self) -> Database:
        if self._path is None:
            return self._writer.open()
        if self._db is None or not self._db.in_place:
            self.close()
            self._db = Database(self._path, reads=True)
        return self._db


T = TypeVar("T")

_LEAVE = 2.0
"""Seconds that closing may take."""

_WRITTEN, _READ, _CLOSED = "written", "read", "closed"

_MENDS = {_WRITTEN: {_WRITTEN, _READ}, _READ: {_READ}, _CLOSED: set[str]()}
"""What works again once that was done: what can be written can be read."""

log = structlog.get_logger("livedeck.history")


class HistoryQueue:
    """Bounded queue between the event loop and the threads of the history: one writes, another reads.

    What cannot be written waits here, bounded, and is tried again with the next batch.
    """

    def __init__(self, writer: HistoryWriter, path: Path | None, now: datetime) -> None:
        self.now, self.path = now, path
        self._writer, self._reader = writer, Reader(path, writer)
        self._write_thread = ThreadPoolExecutor(1, "livedeck-history-writer")
        self._read_thread = ThreadPoolExecutor(1, "livedeck-history-reader") if path else self._write_thread
        self._waiting = Batch()
        self._writing: asyncio.Task[None] | None = None
        self._faults: dict[str, str] = {}
        self._closed = False

    @property
    def fault(self) -> str:
        """What is wrong, with which file, and what to do; empty while all is kept."""
        return next(iter(self._faults.values()), self._writer.notice)

    async def open(self) -> None:
        """Open the file, or learn why not."""
        await self._try(_WRITTEN, self._write_thread, self._writer.open)

    def put(self, batch: Batch) -> None:
        """Have it written, as soon as what is being written is. Once closed, nothing is."""
        if self._closed:
            return
        self._waiting = self._waiting.then(batch)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="history")

    def retry(self) -> None:
        """Have what waits tried again: the file may take it by now."""
        if self._waiting:
            self.put(Batch())

    async def write(self, entry: Entry) -> None:
        """Have that written, and return once it was tried."""
        self.put(Batch(entries=(entry,)))
        await self.flush()

    async def salvaged(self) -> None:
        """Return once what could be read of a corrupt file has been copied; at once where none was."""
        if self._writer.salvage:
            await asyncio.to_thread(self._writer.salvage.join)

    async def flush(self) -> bool:
        """Return once all that was given has been tried: whether the file took it."""
        self.put(Batch())
        if self._writing:
            await asyncio.shield(self._writing)
        return _WRITTEN not in self._faults

    async def read(self, query: Callable[[Database], T], otherwise: T) -> T:
        """What the file answers; `otherwise` where it cannot be read, and then `fault` says why."""
        if self._closed:
            return otherwise
        answer = await self._try(_READ, self._read_thread, partial(self._reader.read, query))
        return answer[0] if answer else otherwise

    async def close(self) -> None:
        """Write what waits and let go of the file, in a bounded time: a file that hangs must not keep the terminal."""
        if self._closed:
            return
        self._reader.interrupt()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE):
                await self.flush()
                await self._try(_CLOSED, self._read_thread, self._reader.close)
                await self._try(_CLOSED, self._write_thread, self._writer.close)
        self._closed = True
        for thread in (self._read_thread, self._write_thread):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _write(self) -> None:
        """Until nothing waits, or the file fails. What we ourselves got wrong is logged and not tried again."""
        while self._waiting:
            batch, self._waiting = self._waiting, Batch()
            try:
                done = await self._try(_WRITTEN, self._write_thread, partial(self._writer.write, batch, self.now))
            except Exception as error:
                log.exception("history: a write failed")
                self._faults[_WRITTEN] = f"history: {type(error).__name__}, a fault of livedeck itself; see the log"
                return
            if not done:
                self._waiting = batch.then(self._waiting)
                return

    async def _try(self, what: str, thread: ThreadPoolExecutor, work: Callable[[], T]) -> tuple[T] | None:
        """The result of `work` on that thread; None where it failed, which is logged as it begins and as it ends."""
        try:
            result = await asyncio.get_running_loop().run_in_executor(thread, work)
        except StorageError as error:
            if what not in self._faults:
                log.warning("history fails", what=what, why=str(error))
            self._faults[what] = str(error)
            if error.aside and what == _READ:
                await self._try(_WRITTEN, self._write_thread, self._writer.renew)
            return None
        for mended in self._faults.keys() & _MENDS[what]:
            del self._faults[mended]
            log.warning("history works again", what=mended)
        return (result,)
