"""The face of the history. It never raises for its file: `fault` says what is wrong, and monitoring goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar
from uuid import uuid4

from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import alarms, journal
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.events import EpisodeWatch, EventWatch, PlatformWatch
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.reads import HistoryReads
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.history.writer import Batch, HistoryQueue, HistoryWriter
from livedeck.monitor.model.alarm import Alarm, AlarmKey
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.records import (
    ActionRecord,
    AlarmRecord,
    CollectedStream,
    IntentRecord,
    LinkRecord,
    Marker,
    MaterialRecord,
    NotificationRecord,
    WatchRecord,
)
from livedeck.monitor.model.ruling import Ruling
from livedeck.monitor.model.snapshot import Snapshot

T = TypeVar("T")


@dataclass(eq=False)
class History(HistoryReads):
    """Keeps and gives back; made by `open`. Nothing of it blocks the event loop: one thread writes, another reads.

    A write returns once it is on its way (`append`) or has been tried (the others). What cannot be written is kept in
    memory, bounded, and tried again with the next write. A read while the file cannot be read gives nothing, and
    `fault` says so.
    """

    _queue: HistoryQueue
    _last: Snapshot | None = field(default=None, init=False)
    _process: str = field(default_factory=lambda: uuid4().hex, init=False)
    _events: EventWatch = field(default_factory=EventWatch, init=False)
    _episodes: EpisodeWatch = field(default_factory=EpisodeWatch, init=False)
    _alarms: Mapping[AlarmKey, Alarm] = field(default_factory=dict, init=False)  # as they were last written
    _is_unrestored: bool = field(default=False, init=False)  # the alarms of the deck before were asked for in vain

    @classmethod
    async def open(
        cls, path: Path | None, now: datetime, *, retention_days: float = 30, limit: int | None = None
    ) -> Self:
        """The history in that file, made anew where there is none; None: in memory. See `fault` for what is wrong.

        `limit`: bytes that the file may take; None: what the disk has.
        """
        queue = HistoryQueue(HistoryWriter(path, now, timedelta(days=retention_days), limit), path, now)
        await queue.open()
        return cls(queue)

    def __post_init__(self) -> None:
        super().__init__()
        self._watch = PlatformWatch(self._process)

    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        return await self._queue.read(query, otherwise)

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._queue.path

    @property
    def fault(self) -> str:
        """What is wrong, with which file, and what to do; empty while all is kept."""
        return self._queue.fault

    async def flush(self) -> bool:
        """Return once all that was given has been tried: whether the file took it."""
        return await self._queue.flush()

    async def salvaged(self) -> None:
        """Return once what could be read of a damaged file has been copied into this one; `fault` says what."""
        await self._queue.salvaged()

    async def close(self) -> None:
        """Write what is left, tidy the file and let go of it, within two seconds."""
        self._queue.put(Batch(entries=tuple(_watched(record) for record in self._watch.end())))
        await self._queue.close()

    async def append(self, snapshot: Snapshot) -> None:
        """Keep what a snapshot brought (new samples, what became of alarms, the link's changes), and all that it says.

        Returns at once.
        """
        before, self._last = self._last, snapshot
        self._queue.now = snapshot.at
        batch = _batch(before, snapshot, self._process)
        batch = replace(batch, entries=(*batch.entries, *self._entries(snapshot)))
        if not self._is_unrestored:
            batch = replace(batch, alarms=self._changed_alarms(snapshot))
        self._queue.put(batch)

    def _entries(self, snapshot: Snapshot) -> Iterator[Entry]:
        """What is new of events, of their faults and of the watch."""
        for event in self._events.changes(snapshot):
            yield journal.entry(event, event.at, event.event_id)
        for episode in self._episodes.ended(snapshot):
            yield journal.entry(episode, episode.until, episode.event_id)
        yield from map(_watched, self._watch.news(snapshot))

    def _changed_alarms(self, snapshot: Snapshot) -> dict[tuple[AlarmKey, datetime], Alarm]:
        """Those that stand otherwise than they were last written, by the clock of this machine."""
        before = self._alarms
        self._alarms = {alarm.key: alarm for alarm in (*snapshot.alarms, *snapshot.quiet)}
        offset = snapshot.link.clock_offset
        changed = (alarm for key, alarm in self._alarms.items() if _stands_otherwise(before.get(key), alarm))
        return {(alarm.key, alarm.since): alarm.moved(offset) for alarm in changed}

    def record_alarm_action(self, answer: AlarmAction) -> None:
        """Keep what a person answered to an alarm. Returns at once."""
        self._queue.put(Batch(answers=(answer,)))

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """What was answered since the last time, by whichever deck, in the order in which it was written. What waits
        here for a file that was locked is tried again: the others look for it."""
        self._queue.retry()
        return await super().new_alarm_actions()

    async def record_ruling(self, ruling: Ruling) -> None:
        """Keep how a person had an event judged."""
        await self._queue.write(journal.entry(ruling, ruling.at, ruling.event_id))

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

    def record_learnt(self, news: Mapping[StreamKey, Learnt]) -> None:
        """Keep what detection has learnt of these streams. Returns at once."""
        if news:
            self._queue.put(Batch(learnt=news))

    def record_collected(self, record: CollectedStream) -> None:
        """Keep that the samples of a stream were asked for after its end. Returns at once."""
        self._queue.put(Batch(entries=(journal.entry(record, record.at, record.event_id),)))

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


def _watched(record: WatchRecord) -> Entry:
    return journal.entry(record, record.at, record.process)


def _stands_otherwise(before: Alarm | None, alarm: Alarm) -> bool:
    """Whether more has changed than the words and figures of the moment."""
    if before is None or before is alarm:
        return before is None
    return replace(before, actual=alarm.actual, expected=alarm.expected, diagnosis=alarm.diagnosis) != alarm


def _batch(before: Snapshot | None, now: Snapshot, process: str) -> Batch:
    records = [AlarmRecord.of(change, process, now.link.clock_offset) for change in now.changes]
    entries = [journal.entry(record, record.at, record.event_id) for record in records]
    if before is None or (before.link.state, before.link.problem) != (now.link.state, now.link.problem):
        entries.append(journal.entry(LinkRecord.of(now.link, process), now.at, ""))
    current = _readings_by_stream(now)
    last = _readings_by_stream(before) if before else {}
    has_changed = current.keys() != last.keys() or any(last[key] is not readings for key, readings in current.items())
    return Batch(current if has_changed else {}, tuple(entries), snapshots=(now,))


def _readings_by_stream(snapshot: Snapshot) -> dict[StreamKey, Readings]:
    """The streams that have samples now."""
    return {
        StreamKey(state.id, stream.id): state.qos.readings
        for state in snapshot.events
        if (stream := state.event.stream) and stream.id and len(state.qos.readings)
    }
