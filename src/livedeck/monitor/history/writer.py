"""Writing side of the history: a bounded queue, a writer thread, and the new samples of each stream."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from math import copysign, isfinite
from pathlib import Path
from threading import Thread
from typing import TypeVar

from msgspec import field

from livedeck.log import Log
from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import (
    alarm_actions,
    alarms,
    events,
    journal,
    learnt,
    published,
    samples,
    silences,
    viewers,
)
from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import CORRUPT, Database, StorageError, set_aside
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.samples import FPS_SCALE, Row, Stream, StreamKey, prune
from livedeck.monitor.model.alarm import Alarm, AlarmKey
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.readings import NO_STATUS, Readings
from livedeck.monitor.model.records import LinkRecord
from livedeck.monitor.model.silence import Silence
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.viewer import ViewerRound
from livedeck.record import Record

_LARGEST = 2**62

_RECENT = 60
"""Number of newest stored samples that are compared to find corrections; older samples count as final."""

_EVER = 2**62
"""Milliseconds since the epoch, later than any time."""

_AHEAD = 5 * SLOT
"""Maximum lead in ms of a stream over the others; samples of a stream further ahead are not stored in `recent`."""

_BATCH = 4000
"""Number of rows after which a transaction ends, so that another deck can write soon."""


class SampleWriter:
    """Writer of the new samples of each stream. It remembers the last written samples, to skip them quickly."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._version = -1
        self._minute = 0  # minute of the samples (epoch ms) at the last `_settle`
        self._streams: dict[StreamKey, Stream] = {}
        self._written: dict[StreamKey, Readings] = {}

    def write(self, news: Mapping[StreamKey, Readings], now: datetime) -> None:
        """Store the samples that are new or corrected since the previous call.

        Args:
            news: Samples of each stream in the monitor.
            now: This machine's clock.

        Raises:
            StorageError: The file cannot be written.
        """
        usual = sorted(readings.time[-1] for readings in news.values() if len(readings))
        if not usual:
            return
        minute = _milliseconds(usual[len(usual) // 2]) // SLOT * SLOT
        batch: dict[StreamKey, list[Row]] = {}
        count = 0
        for key, readings in news.items():
            batch[key] = self._new_rows(key, readings)
            count += len(batch[key])
            if count >= _BATCH:
                self._commit(batch, news, now, minute)
                batch, count = {}, 0
        self._commit(batch, news, now, minute)
        if minute != self._minute:
            self._settle(minute - SLOT)
            self._minute = minute

    def forget_all_but(self, keys: Iterable[StreamKey]) -> None:
        """Forget the streams that are not in `keys`."""
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
        """Return the stream in the file, and add it if it is missing."""
        stream = samples.find_stream(self.db, key)
        if stream is None:
            with self.db.transaction():
                samples.make_stream(self.db, key, _milliseconds(readings.time[0]) // SLOT * SLOT)
            return self._find(key, readings)
        self._streams[key] = stream
        return stream

    def _commit(
        self, batch: Mapping[StreamKey, list[Row]], news: Mapping[StreamKey, Readings], now: datetime, minute: int
    ) -> None:
        """Store a batch of rows. `minute`: minute (epoch ms) of most streams' newest samples."""
        changed = {key: rows for key, rows in batch.items() if rows}
        if changed:
            with self.db.transaction():
                self._refresh(changed)
                parts = {key: _parted(self._streams[key], rows, minute) for key, rows in changed.items()}
                samples.store(self.db, chain.from_iterable(older for older, _ in parts.values()))
                samples.add_recent(
                    self.db, ((self._streams[key].base, row) for key, (_, recent) in parts.items() for row in recent)
                )
                samples.note_late(self.db, [row for key in changed for row in self._late_rows(key, changed[key])], now)
                rolled = {key: self._roll_up(self._streams[key], older) for key, (older, _) in parts.items() if older}
            self._streams |= rolled
        self._written |= {key: news[key] for key in batch}

    def _refresh(self, keys: Iterable[StreamKey]) -> None:
        """Read these streams again if another connection has changed the file: they may have more roll-ups now."""
        if self._version != (version := self.db.version()):
            self._version = version
            self._streams.clear()
            for key in keys:
                if (stream := samples.find_stream(self.db, key)) is not None:
                    self._streams[key] = stream

    def settle_all(self) -> None:
        """Move every sample from `recent` to `sample`, if this process wrote samples. Raises StorageError."""
        if self._written:
            self._settle(_EVER)

    def _settle(self, end: int) -> None:
        """Move the samples before `end` (epoch ms) from `recent` to `sample`."""
        while True:
            with self.db.transaction():
                rolled = samples.settle(self.db, end)
            if not rolled:
                return
            self._streams = {
                key: replace(stream, rolled=rolled.get(stream.id, stream.rolled))
                for key, stream in self._streams.items()
            }

    def _late_rows(self, key: StreamKey, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that are older than the newest written sample and were not written before."""
        written, stream = self._written.get(key), self._streams[key]
        if written is None or rows[0][1] > (newest := _milliseconds(written.time[-1]) - stream.base):
            return []
        times = {_milliseconds(time) - stream.base for time in written.time}
        return [row for row in rows if row[1] < newest and row[1] not in times]

    def _roll_up(self, stream: Stream, rows: Sequence[Row]) -> Stream:
        """Make or renew the roll-ups of the slots of these rows in `sample`. Returns the updated stream."""
        slots = [row[1] // SLOT for row in rows]
        first, end = min(stream.rolled, *slots), max(stream.rolled, max(slots) + 1)
        samples.roll_up(self.db, stream, first, end)
        return replace(stream, rolled=end)


def _parted(stream: Stream, rows: Sequence[Row], minute: int) -> tuple[list[Row], list[Row]]:
    """Return the rows for `sample`, and the rows for `recent`, which are near `minute` and have no roll-up yet."""
    first = max(minute - SLOT - stream.base, stream.rolled * SLOT)
    end = minute + _AHEAD - stream.base
    recent = [row for row in rows if first <= row[1] < end]
    return [row for row in rows if not first <= row[1] < end] if len(recent) < len(rows) else [], recent


def _first_new(written: Readings | None, readings: Readings) -> int:
    """Return the index of the first new sample in `readings`; 0 if every sample may be new.

    Only video rates and statuses are compared to find a correction, because this runs for every stream at every tick.
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
    old, new = slice(len(before) - count, None), slice(start - count, start)
    same = _alike(written.video[old], readings.video[new]) and _alike(written.status[old], readings.status[new])
    return start if same else 0


def _alike(first: array[float] | array[int], other: array[float] | array[int]) -> bool:
    return first.tobytes() == other.tobytes()  # bytes, because NaN does not equal itself


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
"""Maximum number of entries that wait in memory for the file.

Waiting samples need no limit, because the monitor keeps the same samples in memory.
"""

_WAITING_SNAPSHOTS = 32
"""Maximum number of snapshots that wait in memory; the oldest are dropped.

Later snapshots stay readable, because each is stored as a difference to the snapshot that was written before it.
"""

_SAME_LINK_CHANGE = timedelta(minutes=1)
"""Two records of a connection change by two processes are at most this far apart, as each polls at its own times."""

log = Log("livedeck.history")


class Batch(Record):
    """Data that waits to be written to the file.

    Attributes:
        samples: Samples of every present stream in the monitor.
        entries: Journal entries.
        alarms: State of each changed alarm, by key and onset.
        actions: Alarm actions.
        silences: Rows of silences.
        rounds: Rounds of the probe.
        learnt: New baselines of streams.
        snapshots: Published snapshots, oldest first.
    """

    samples: Mapping[StreamKey, Readings] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    alarms: Mapping[tuple[AlarmKey, datetime], Alarm] = field(default_factory=dict)
    actions: tuple[AlarmAction, ...] = ()
    learnt: Mapping[StreamKey, Learnt] = field(default_factory=dict)
    snapshots: tuple[Snapshot, ...] = ()
    silences: tuple[Silence, ...] = ()
    rounds: tuple[ViewerRound, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.samples) or self.has_rows

    @property
    def has_rows(self) -> bool:
        """True if the batch has anything besides samples."""
        rows = self.entries, self.actions, self.silences, self.alarms, self.learnt, self.snapshots, self.rounds
        return any(map(bool, rows))

    def then(self, later: Batch) -> Batch:
        """Return both batches as one. Values of `later` replace earlier values of the same key.

        Beyond the limits, the oldest entries are dropped.
        """
        return Batch(
            {**self.samples, **later.samples},
            (*self.entries, *later.entries)[-_WAITING:],
            dict([*self.alarms.items(), *later.alarms.items()][-_WAITING:]),
            (*self.actions, *later.actions)[-_WAITING:],
            {**self.learnt, **later.learnt},
            (*self.snapshots, *later.snapshots)[-_WAITING_SNAPSHOTS:],
            (*self.silences, *later.silences)[-_WAITING:],
            (*self.rounds, *later.rounds)[-_WAITING:],
        )


class HistoryWriter:
    """Writer of batches to the file. Call every method on the writer's thread.

    Args:
        path: The file; None for a history in memory.
        now: Current time of this machine.
        retention: Age at which rows are deleted.
        limit: Largest size of the file in bytes; None for no limit.

    Attributes:
        notice: Sentence about a corrupt file and its salvage; empty if no file was corrupt.
        salvage: Thread that copies the readable rows of a corrupt file; None if no file was corrupt.
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
        """Open the file and return its connection. A corrupt file is renamed, and a new one is begun.

        Raises StorageError.
        """
        return self._open().db

    def write(self, batch: Batch, now: datetime) -> None:
        """Store a batch, then prune one step. Raises StorageError; a retry stores nothing twice."""
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
            alarm_actions.write(writer.db, batch.actions)
            silences.write(writer.db, batch.silences)
            viewers.write(writer.db, batch.rounds)
            entries: Iterable[Entry] = batch.entries
            for without_duplicates in (alarms.without_duplicates, _without_duplicate_links, events.without_duplicates):
                entries = without_duplicates(writer.db, entries)
            journal.write(writer.db, entries)
            alarms.keep(writer.db, batch.alarms.values())
            learnt.keep(writer.db, batch.learnt, journal.milliseconds(self._now))
        with writer.db.transaction():  # separate, so that a failure here does not undo the rows above
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
        """Delete a part of the rows that are too old. Raises StorageError only if the file is corrupt."""
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
            log.warning("history is not pruned", why=str(error))

    def renew(self) -> None:
        """Begin a new file, because a read has found the current file corrupt. Raises StorageError."""
        self._renew()
        self._open()

    def _renew(self) -> None:
        """Rename the corrupt file, unless another process has done so."""
        in_place = self._samples is not None and self._samples.db.in_place
        self.close()
        if in_place:
            self._set_aside(CORRUPT)

    def _set_aside(self, word: str) -> None:
        if self._path is None:
            return
        aside = set_aside(self._path, self._now, word)
        reason = "it was corrupt" if word == CORRUPT else "an older version of livedeck made it"
        self.notice = f"history {self._path}: {reason}; renamed to {aside.name}, and a new file was begun"
        log.error("history set aside", path=str(self._path), aside=str(aside))
        if word == CORRUPT:
            self.salvage = Thread(target=self._salvage, args=(self._path, aside), name="livedeck-salvage", daemon=True)
            self.salvage.start()

    def _salvage(self, path: Path, aside: Path) -> None:
        begun, self.notice = self.notice, f"{self.notice}; its readable rows are being copied"
        from livedeck.monitor.history.salvage import salvage_in_process  # a whole file seldom needs it

        result = salvage_in_process(aside, path, self._now)
        self.notice = f"{begun}; {result.text}"
        log.warning("history salvaged", aside=str(aside), what=result.text, saved=result.saved, lost=result.lost)

    def close(self) -> None:
        """Move the newest samples from `recent` to `sample`, and close the file."""
        writer, self._samples, self._pruning, self._segment = self._samples, None, None, None
        if writer:
            try:
                with suppress(StorageError):
                    writer.settle_all()
            finally:
                writer.db.close()


def _without_duplicate_links(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """Drop the connection changes that another process has already logged, and return the other entries.

    Raises StorageError.
    """
    entries = list(entries)
    moments = [entry.record.at for entry in entries if isinstance(entry.record, LinkRecord)]
    if not moments:
        return entries
    logged = journal.read(db, LinkRecord, min(moments) - _SAME_LINK_CHANGE)
    return [
        entry
        for entry in entries
        if not (isinstance(entry.record, LinkRecord) and any(_is_same_change(entry.record, other) for other in logged))
    ]


def _is_same_change(record: LinkRecord, other: LinkRecord) -> bool:
    is_soon = abs(other.at - record.at) <= _SAME_LINK_CHANGE
    return other.process != record.process and other.state is record.state and is_soon


class Reader:
    """Reader of the history, with a connection of its own. A history in memory shares the writer's connection."""

    def __init__(self, path: Path | None, writer: HistoryWriter) -> None:
        self._path, self._writer = path, writer
        self._db: Database | None = None

    def read(self, query: Callable[[Database], T]) -> T:
        """Run a query and return its result. The whole query sees the file at one moment. Raises StorageError."""
        db = self._open()
        with db.transaction("DEFERRED"):
            return query(db)

    def interrupt(self) -> None:
        """Interrupt a running query from another thread."""
        if self._db:
            self._db.interrupt()

    def close(self) -> None:
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
"""Maximum number of seconds for closing."""

LOCKED_FOR = timedelta(seconds=10)
"""Time after which a lock of another process on the file counts as a fault. Shorter locks are writes of other decks."""

_WRITTEN, _READ, _CLOSED = "written", "read", "closed"

_MENDS = {_WRITTEN: {_WRITTEN, _READ}, _READ: {_READ}, _CLOSED: set[str]()}
"""Operation that succeeded -> operations whose faults end, because a file that can be written can also be read."""


class HistoryQueue:
    """Bounded queue between the event loop and the history's two threads, one for writing and one for reading.

    Unwritten data wait here, up to a limit, and are retried with the next batch.
    """

    def __init__(self, writer: HistoryWriter, path: Path | None, now: datetime) -> None:
        self.now, self.path = now, path
        self._writer, self._reader = writer, Reader(path, writer)
        self._write_thread = ThreadPoolExecutor(1, "livedeck-history-writer")
        self._read_thread = ThreadPoolExecutor(1, "livedeck-history-reader") if path else self._write_thread
        self._waiting = Batch()
        self._writing: asyncio.Task[None] | None = None
        self._faults: dict[str, str] = {}
        self.failures = 0  # of reads
        self._locked_since: dict[str, datetime] = {}  # operations that fail because another process holds the file
        self._closed = False

    @property
    def fault(self) -> str:
        """Current fault with file, reason and remedy, or the writer's notice; empty if all is well."""
        return next(iter(self._faults.values()), self._writer.notice)

    @property
    def lasting_fault(self) -> str:
        """Current fault or notice, without a lock of another process that has lasted less than `LOCKED_FOR`."""
        locked = {operation for operation, since in self._locked_since.items() if self.now - since < LOCKED_FOR}
        faults = (fault for operation, fault in self._faults.items() if operation not in locked)
        return next(faults, self._writer.notice)

    async def open(self) -> None:
        """Open the file. If this fails, `fault` names the reason."""
        await self._try(_WRITTEN, self._write_thread, self._writer.open)

    def put(self, batch: Batch) -> None:
        """Queue a batch for writing. Does nothing once the queue is closed."""
        if self._closed:
            return
        self._waiting = self._waiting.then(batch)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="history")

    def retry(self) -> None:
        """Write the waiting data, if any."""
        if self._waiting:
            self.put(Batch())

    async def write(self, entry: Entry) -> bool:
        """Queue an entry and wait until it is written or has failed once. Returns whether it is written."""
        self.put(Batch(entries=(entry,)))
        return await self.flush()

    async def salvaged(self) -> None:
        """Wait until the salvage of a corrupt file, if any, has ended."""
        if self._writer.salvage:
            await asyncio.to_thread(self._writer.salvage.join)

    @property
    def is_written(self) -> bool:
        """True if nothing waits, no write is under way, and the last write did not fail."""
        is_done = self._writing is None or self._writing.done()
        return is_done and not self._waiting and _WRITTEN not in self._faults

    @property
    def was_set_aside(self) -> bool:
        """True if the writer has set a file aside."""
        return bool(self._writer.notice)

    async def flush(self) -> bool:
        """Wait until all queued data are written or have failed once. Returns whether they are written."""
        self.put(Batch())
        if self._writing:
            await asyncio.shield(self._writing)
        return _WRITTEN not in self._faults

    async def read(self, query: Callable[[Database], T], otherwise: T) -> T:
        """Run a query on the file. Returns its result, or `otherwise` if the file cannot be read (see `fault`)."""
        if self._closed:
            return otherwise
        result = await self._try(_READ, self._read_thread, partial(self._reader.read, query))
        return result[0] if result else otherwise

    async def close(self) -> None:
        """Write the waiting data and close the file, in at most two seconds, so that a hanging file blocks nobody."""
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
        """Write until nothing waits or the file fails. After an unexpected error the batch is logged and dropped."""
        while self._waiting:
            batch, self._waiting = self._waiting, Batch()
            try:
                done = await self._try(_WRITTEN, self._write_thread, partial(self._writer.write, batch, self.now))
            except Exception as error:
                log.exception("history: a write failed")
                self._faults[_WRITTEN] = f"history: {type(error).__name__}, a bug in livedeck; see the log"
                return
            if not done:
                self._waiting = batch.then(self._waiting)
                return

    async def _try(self, operation: str, thread: ThreadPoolExecutor, work: Callable[[], T]) -> tuple[T] | None:
        """Run `work` on a thread. Returns its result in a tuple, or None if it failed.

        Logs the first failure of an operation, and its recovery.
        """
        try:
            result = await asyncio.get_running_loop().run_in_executor(thread, work)
        except StorageError as error:
            if operation not in self._faults:
                log.warning("history fails", what=operation, why=str(error))
            self._faults[operation] = str(error)
            self.failures += operation == _READ
            if error.is_locked:
                self._locked_since.setdefault(operation, self.now)
            else:
                self._locked_since.pop(operation, None)
            if error.aside and operation == _READ:
                await self._try(_WRITTEN, self._write_thread, self._writer.renew)
            return None
        for mended in self._faults.keys() & _MENDS[operation]:
            del self._faults[mended]
            self._locked_since.pop(mended, None)
            log.warning("history works again", what=mended)
        return (result,)
