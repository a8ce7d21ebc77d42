"""The face of the history. It never raises for its file: `fault` says what is wrong, and monitoring goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from uuid import uuid4

from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import alarms, answers, journal, learnt, queries, samples
from livedeck.monitor.history.cursor import RowCursor
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.history.writer import Batch, HistoryQueue, HistoryWriter
from livedeck.monitor.model.alarm import Alarm, AlarmKey
from livedeck.monitor.model.answer import AlarmAnswer
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.records import (
    ActionRecord,
    AlarmRecord,
    Buckets,
    IntentRecord,
    LinkRecord,
    Marker,
    MaterialRecord,
    NotificationRecord,
    OpenChange,
    StreamRecord,
)
from livedeck.monitor.model.ruling import Ruling
from livedeck.monitor.model.snapshot import Snapshot

T = TypeVar("T")


class Recorded(NamedTuple):
    """What the history knows of a stream: its samples, and what detection learnt of it."""

    readings: Readings
    learnt: Learnt | None = None


def _recorded(db: Database, streams: Mapping[str, str], until: float, newest: int) -> dict[str, Recorded]:
    keys = {event_id: StreamKey(event_id, stream_id) for event_id, stream_id in streams.items()}
    return {
        event_id: Recorded(samples.readings(db, key, until, newest), learnt.find(db, key))
        for event_id, key in keys.items()
    }


@dataclass(eq=False)
class History:
    """Keeps and gives back; made by `open`. Nothing of it blocks the event loop: one thread writes, another reads.

    A write returns once it is on its way (`append`) or has been tried (the others). What cannot be written is kept in
    memory, bounded, and tried again with the next write. A read while the file cannot be read gives nothing, and
    `fault` says so.
    """

    _queue: HistoryQueue
    _last: Snapshot | None = field(default=None, init=False)
    _answers: RowCursor[AlarmAnswer] = field(default_factory=lambda: RowCursor(answers.read), init=False)
    _rulings: RowCursor[Ruling] = field(default_factory=lambda: RowCursor(journal.rulings), init=False)
    _process: str = field(default_factory=lambda: uuid4().hex, init=False)
    _alarms: Mapping[AlarmKey, Alarm] = field(default_factory=dict, init=False)  # as they were last written
    _is_unrestored: bool = field(default=False, init=False)  # the alarms of the deck before were asked for in vain

    @classmethod
    async def open(
        cls, path: Path | None, now: datetime, *, retention_days: float = 30, limit: int | None = None
    ) -> History:
        """The history in that file, made anew where there is none; None: in memory. See `fault` for what is wrong.

        `limit`: bytes that the file may take; None: what the disk has.
        """
        queue = HistoryQueue(HistoryWriter(path, now, timedelta(days=retention_days), limit), path, now)
        await queue.open()
        return cls(queue)

    @property
    def fault(self) -> str:
        """What is wrong, with which file, and what to do; empty while all is kept."""
        return self._queue.fault

    async def flush(self) -> None:
        """Return once all that was given has been tried."""
        await self._queue.flush()

    async def close(self) -> None:
        """Write what is left, tidy the file and let go of it, within two seconds."""
        await self._queue.close()

    async def append(self, snapshot: Snapshot) -> None:
        """Keep what a snapshot brought: new samples, what became of alarms, the link's changes. Returns at once."""
        before, self._last = self._last, snapshot
        self._queue.now = snapshot.at
        batch = _batch(before, snapshot, self._process)
        if not self._is_unrestored:
            batch = replace(batch, alarms=self._changed_alarms(snapshot))
        self._queue.put(batch)

    def _changed_alarms(self, snapshot: Snapshot) -> dict[tuple[AlarmKey, datetime], Alarm]:
        """Those that stand otherwise than they were last written, by the clock of this machine."""
        before = self._alarms
        self._alarms = {alarm.key: alarm for alarm in (*snapshot.alarms, *snapshot.quiet)}
        offset = snapshot.link.clock_offset
        changed = (alarm for key, alarm in self._alarms.items() if _stands_otherwise(before.get(key), alarm))
        return {(alarm.key, alarm.since): alarm.moved(offset) for alarm in changed}

    def record_answer(self, answer: AlarmAnswer) -> None:
        """Keep what a person answered to an alarm. Returns at once."""
        self._queue.put(Batch(answers=(answer,)))

    async def new_answers(self) -> tuple[AlarmAnswer, ...]:
        """What was answered since the last time, by whichever deck, in the order in which it was written. What waits
        here for a file that was locked is tried again: the others look for it."""
        self._queue.retry()
        return await self._queue.read(self._answers.read, ())

    async def record_ruling(self, ruling: Ruling) -> None:
        """Keep how a person had an event judged."""
        await self._queue.write(journal.entry(ruling, ruling.at, ruling.event_id))

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """How events are to be judged, by whichever process since the last time, in the order in which it was
        written."""
        return await self._queue.read(self._rulings.read, ())

    async def record_intent(self, record: IntentRecord) -> None:
        """Keep what is about to be sent."""
        await self._queue.write(journal.entry(record, record.at, record.id))

    async def record_action(self, record: ActionRecord) -> None:
        """Keep what a person did."""
        await self._queue.write(journal.entry(record, record.at, record.target_id))

    async def mark(self, event_id: str, at: datetime, text: str = "") -> None:
        """Keep a marker of that event (server clock)."""
        await self._queue.write(journal.entry(Marker(at, event_id, text), at, event_id))

    async def notified(self, record: NotificationRecord) -> None:
        """Keep what the deck told."""
        await self._queue.write(journal.entry(record, record.at, record.event_id))

    async def remember_material(self, record: MaterialRecord) -> None:
        """Keep the id of a material that this deck made."""
        await self._queue.write(journal.entry(record, record.at, record.video_id))

    async def forget_material(self, material_id: str) -> None:
        """It was deleted."""
        await self._queue.write(Entry(journal.FORGOTTEN, journal.milliseconds(self._queue.now), material_id))

    async def series(self, event_id: str, stream_id: str, since: float, until: float, columns: int) -> Buckets:
        """The stretch from `since` to `until` (epoch s, server clock) in so many columns."""

        def gather(db: Database) -> Buckets | None:
            stream = samples.find_stream(db, StreamKey(event_id, stream_id))
            return queries.gather(db, stream, since, until, columns) if stream else None

        return await self._queue.read(gather, None) or queries.empty(since, until, columns)

    async def recorded(self, streams: Mapping[str, str], until: float, *, newest: int = -1) -> Mapping[str, Recorded]:
        """What is known of those streams (event id -> stream id), by event id; of the samples of each at most `newest`,
        -1 is all.

        `until`: epoch s, server clock, included. All in one read: a file that is locked is waited for once.
        """

        return await self._queue.read(partial(_recorded, streams=streams, until=until, newest=newest), {})

    def record_learnt(self, news: Mapping[StreamKey, Learnt]) -> None:
        """Keep what detection has learnt of these streams. Returns at once."""
        if news:
            self._queue.put(Batch(learnt=news))

    async def streams(self, event_id: str) -> tuple[StreamRecord, ...]:
        """The streams of that event, the earliest first."""
        return await self._queue.read(lambda db: samples.streams_of(db, event_id), ())

    async def alarm_log(self, since: datetime, event_id: str | None = None) -> tuple[AlarmRecord, ...]:
        """What became of alarms since then, oldest first; of one event, or of all and the deck."""
        return await self._queue.read(lambda db: journal.read(db, AlarmRecord, since, event_id), ())

    async def audit(self, since: datetime) -> tuple[ActionRecord, ...]:
        """What was done since then, oldest first."""
        return await self._queue.read(lambda db: journal.read(db, ActionRecord, since), ())

    async def intents(self, since: datetime) -> tuple[IntentRecord, ...]:
        """What was about to be sent since then, by whichever deck, oldest first."""
        return await self._queue.read(partial(journal.read, kind=IntentRecord, since=since), ())

    async def open_changes(self) -> tuple[OpenChange, ...]:
        """The changes that were sent, by whichever deck, and have no end, oldest first."""
        return await self._queue.read(journal.open_changes, ())

    async def markers(self, event_id: str) -> tuple[Marker, ...]:
        """The markers of that event, oldest first."""
        return await self._queue.read(lambda db: journal.read(db, Marker, topic=event_id), ())

    async def connection_log(self, since: datetime) -> tuple[LinkRecord, ...]:
        """How the link changed since then, oldest first."""
        return await self._queue.read(lambda db: journal.read(db, LinkRecord, since), ())

    async def notifications(self, since: datetime) -> tuple[NotificationRecord, ...]:
        """What the deck told since then, oldest first."""
        return await self._queue.read(lambda db: journal.read(db, NotificationRecord, since), ())

    async def materials(self, video_id: str) -> tuple[MaterialRecord, ...]:
        """The materials of that video that this deck made and did not delete, oldest first."""
        return await self._queue.read(lambda db: journal.materials(db, video_id), ())

    async def restored(self) -> tuple[Alarm, ...] | None:
        """The alarms as they last stood: what a deck that starts again goes on from.

        None while they cannot be read: until they were, `append` leaves them as they are. What has rotted is lost.
        """
        lost = False

        def read(db: Database) -> tuple[Alarm, ...]:
            nonlocal lost
            try:
                return alarms.standing(db, self._queue.now)
            except StorageError as error:
                lost = bool(error.aside)
                raise

        restored = await self._queue.read(read, None)
        self._is_unrestored = restored is None and not lost
        return () if lost else restored


def _stands_otherwise(before: Alarm | None, alarm: Alarm) -> bool:
    """Whether more has changed than the words and figures of the moment."""
    if before is None or before is alarm:
        return before is None
    return replace(before, actual=alarm.actual, expected=alarm.expected, diagnosis=alarm.diagnosis) != alarm


def _batch(before: Snapshot | None, now: Snapshot, process: str) -> Batch:
    records = [AlarmRecord.of(change, process, now.link.clock_offset) for change in now.changes]
    entries = [journal.entry(record, record.at, record.event_id) for record in records]
    if before is None or (before.link.state, before.link.problem) != (now.link.state, now.link.problem):
        entries.append(journal.entry(LinkRecord.of(now.link), now.at, ""))
    current = _readings_by_stream(now)
    last = _readings_by_stream(before) if before else {}
    has_changed = current.keys() != last.keys() or any(last[key] is not readings for key, readings in current.items())
    return Batch(current if has_changed else {}, tuple(entries))


def _readings_by_stream(snapshot: Snapshot) -> dict[StreamKey, Readings]:
    """The streams that have samples now."""
    return {
        StreamKey(state.id, stream.id): state.qos.readings
        for state in snapshot.events
        if (stream := state.event.stream) and stream.id and len(state.qos.readings)
    }


class HistoryReader:
    """Read-only history of another process: one file, which may come, go and be set aside at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers, self._rulings = RowCursor(answers.read), RowCursor(journal.rulings)

    async def recorded(self, streams: Mapping[str, str], until: float, *, newest: int = -1) -> Mapping[str, Recorded]:
        """As `History.recorded`; nothing where there is no file that can be read."""
        find = partial(_recorded, streams=streams, until=until, newest=newest)
        return await asyncio.to_thread(self._query, find, {})

    async def new_answers(self) -> tuple[AlarmAnswer, ...]:
        """What was answered to alarms since the last time; none where there is no file that can be read."""
        return await asyncio.to_thread(self._query, self._answers.read, ())

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """How events are to be judged, said since the last time; none where there is no file that can be read."""
        return await asyncio.to_thread(self._query, self._rulings.read, ())

    async def intents(self, since: datetime) -> tuple[IntentRecord, ...]:
        """What was about to be sent since then; none where there is no file that can be read."""
        return await asyncio.to_thread(self._query, partial(journal.read, kind=IntentRecord, since=since), ())

    async def open_changes(self) -> tuple[OpenChange, ...]:
        """The changes that were sent and have no end; none where there is no file that can be read."""
        return await asyncio.to_thread(self._query, journal.open_changes, ())

    def _query(self, query: Callable[[Database], T], nothing: T) -> T:
        with suppress(StorageError):
            db = Database(self._path, reads=True)
            try:
                return query(db)
            finally:
                db.close()
        return nothing
