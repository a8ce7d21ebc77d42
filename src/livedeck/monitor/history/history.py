"""History of this process. If the file fails, no method raises: `fault` names the reason, and monitoring goes on."""

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
from livedeck.monitor.history.events import EpisodeWatch, EventWatch, GapWatch, PlatformWatch
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
from livedeck.monitor.model.silence import Silence
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.viewer import ViewerRound, ViewerState

T = TypeVar("T")


@dataclass(eq=False)
class History(HistoryReads):
    """History that this process writes and reads. Create it with `open`.

    One thread writes and another reads, so no method blocks the event loop. Methods that "return at once" queue their
    data. The other writing methods return after the first attempt to write. Unwritten data stay in memory, up to a
    limit, and are retried with the next write. While the file cannot be read, reads return their empty value, and
    `fault` names the reason.
    """

    _queue: HistoryQueue
    _last: Snapshot | None = field(default=None, init=False)
    _process: str = field(default_factory=lambda: uuid4().hex, init=False)
    _events: EventWatch = field(default_factory=EventWatch, init=False)
    _episodes: EpisodeWatch = field(default_factory=EpisodeWatch, init=False)
    _gaps: GapWatch = field(default_factory=GapWatch, init=False)
    _alarms: Mapping[AlarmKey, Alarm] = field(default_factory=dict, init=False)  # last written state of each
    _is_unrestored: bool = field(default=False, init=False)  # the alarms of the previous run could not be read

    @classmethod
    async def open(
        cls, path: Path | None, now: datetime, *, retention_days: float = 30, limit: int | None = None
    ) -> Self:
        """Open the history in a file, and create a missing file. Problems of the file are in `fault`.

        Args:
            path: The file; None keeps the history in memory.
            now: Current time of this machine.
            retention_days: Age in days at which rows are deleted.
            limit: Largest size of the file in bytes; None for no limit.
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
        """Path of the file; None for a history in memory."""
        return self._queue.path

    @property
    def fault(self) -> str:
        """Current fault with file, reason and remedy, or a notice about a file set aside; empty if all is well."""
        return self._queue.fault

    @property
    def is_written(self) -> bool:
        """True if everything that was queued is in the file."""
        return self._queue.is_written

    @property
    def was_set_aside(self) -> bool:
        """True if this process has set a corrupt or older file aside, so the present file lacks its rows."""
        return self._queue.was_set_aside

    @property
    def failures(self) -> int:
        """Number of failed queries."""
        return self._queue.failures

    @property
    def lasting_fault(self) -> str:
        """Current fault or notice; empty if all is well. A short lock by another process does not count."""
        return self._queue.lasting_fault

    async def flush(self) -> bool:
        """Wait until all queued data are written or have failed once. Returns whether they are written."""
        return await self._queue.flush()

    async def salvaged(self) -> None:
        """Wait until the readable rows of a damaged file are copied into this file. `fault` reports the result."""
        await self._queue.salvaged()

    async def close(self) -> None:
        """Write the queued data and close the file, in at most two seconds."""
        self._queue.put(Batch(entries=tuple(_watched(record) for record in self._watch.end())))
        await self._queue.close()

    async def append(self, snapshot: Snapshot) -> None:
        """Store a snapshot, with its new samples and its changes of alarms, events and link. Returns at once."""
        before, self._last = self._last, snapshot
        self._queue.now = snapshot.at
        batch = _batch(before, snapshot, self._process)
        batch = replace(batch, entries=(*batch.entries, *self._entries(snapshot)))
        if not self._is_unrestored:
            batch = replace(batch, alarms=self._changed_alarms(snapshot))
        self._queue.put(batch)

    def _entries(self, snapshot: Snapshot) -> Iterator[Entry]:
        """Yield the journal entries of changed events, ended episodes, and time watched and not watched."""
        for event in self._events.changes(snapshot):
            yield journal.entry(event, event.at, event.event_id)
        for episode in self._episodes.ended(snapshot):
            yield journal.entry(episode, episode.until, episode.event_id)
        for gap in self._gaps.news(snapshot):
            yield journal.entry(gap, gap.at, gap.event_id)
        yield from map(_watched, self._watch.news(snapshot))

    def _changed_alarms(self, snapshot: Snapshot) -> dict[tuple[AlarmKey, datetime], Alarm]:
        """Return the alarms that have changed since they were last written, with times by this machine's clock."""
        before = self._alarms
        self._alarms = {alarm.key: alarm for alarm in (*snapshot.alarms, *snapshot.quiet)}
        offset = snapshot.link.clock_offset
        changed = (alarm for key, alarm in self._alarms.items() if _has_changed(before.get(key), alarm))
        return {(alarm.key, alarm.since): alarm.moved(offset) for alarm in changed}

    def record_alarm_action(self, action: AlarmAction) -> None:
        """Store an alarm action. Returns at once."""
        self._queue.put(Batch(actions=(action,)))

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """Return the alarm actions that any process has stored since the previous call, in the order of writing.

        Also retries waiting writes of this process, so that other processes see its actions.
        """
        self._queue.retry()
        return await super().new_alarm_actions()

    def record_silence(self, row: Silence) -> None:
        """Store a row of a silence. Returns at once."""
        self._queue.put(Batch(silences=(row,)))

    async def record_ruling(self, ruling: Ruling) -> None:
        """Store a person's ruling on how to judge an event."""
        await self._queue.write(journal.entry(ruling, ruling.at, ruling.event_id))

    async def record_intent(self, record: IntentRecord) -> None:
        """Store the intent of a change before the change is sent."""
        await self._queue.write(journal.entry(record, record.at, record.id))

    async def record_action(self, record: ActionRecord) -> bool:
        """Store a person's change and its outcome in the audit. Returns whether it is written."""
        return await self._queue.write(journal.entry(record, record.at, record.target_id))

    async def mark(self, event_id: str, at: datetime, text: str = "") -> None:
        """Store a marker of an event (`at`: server clock)."""
        await self._queue.write(journal.entry(Marker(at, event_id, text), at, event_id))

    async def notified(self, record: NotificationRecord) -> None:
        """Store a message that this deck has shown."""
        await self._queue.write(journal.entry(record, record.at, record.event_id))

    async def remember_material(self, record: MaterialRecord) -> None:
        """Store the id of a material that this deck created."""
        await self._queue.write(journal.entry(record, record.at, record.video_id))

    async def forget_material(self, material_id: str) -> None:
        """Store the deletion of a material."""
        await self._queue.write(Entry(journal.FORGOTTEN, journal.milliseconds(self._queue.now), material_id))

    def record_learnt(self, news: Mapping[StreamKey, Learnt]) -> None:
        """Store new baselines of streams. Returns at once."""
        if news:
            self._queue.put(Batch(learnt=news))

    def record_collected(self, record: CollectedStream) -> None:
        """Store that all samples of an ended stream were collected. Returns at once."""
        self._queue.put(Batch(entries=(journal.entry(record, record.at, record.event_id),)))

    async def restored(self) -> tuple[Alarm, ...] | None:
        """Return the stored alarms, for a restarted deck to continue.

        Returns None if the file cannot be read; `append` then does not change the stored alarms. A damaged file counts
        as a file without alarms.
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


def _has_changed(before: Alarm | None, alarm: Alarm) -> bool:
    """Return whether an alarm has changed in more than its texts and figures."""
    if before is None or before is alarm:
        return before is None
    return replace(before, actual=alarm.actual, expected=alarm.expected, diagnosis=alarm.diagnosis) != alarm


def _batch(before: Snapshot | None, now: Snapshot, process: str) -> Batch:
    records = [AlarmRecord.of(change, process, now.link.clock_offset) for change in now.true_changes]
    entries = [journal.entry(record, record.at, record.event_id) for record in records]
    if before is None or (before.link.state, before.link.problem) != (now.link.state, now.link.problem):
        entries.append(journal.entry(LinkRecord.of(now.link, process), now.at, ""))
    earlier, offset = before.link.own.stops if before else (), now.link.clock_offset
    stops = [stop.moved(offset) for stop in now.link.own.stops if stop not in earlier]
    entries += [journal.entry(stop, stop.until, process) for stop in stops]
    current = _readings_by_stream(now)
    last = _readings_by_stream(before) if before else {}
    has_changed = current.keys() != last.keys() or any(last[key] is not readings for key, readings in current.items())
    return Batch(current if has_changed else {}, tuple(entries), snapshots=(now,), rounds=tuple(_rounds(before, now)))


def _rounds(before: Snapshot | None, now: Snapshot) -> Iterator[ViewerRound]:
    """Yield the new rounds of the probe, dated by this machine's clock including its steps."""
    offset = now.link.clock_offset
    earlier: dict[str, ViewerState | None] | None = None
    for state in now.events:
        if state.viewer is None:
            continue
        earlier = {event.id: event.viewer for event in before.events} if before and earlier is None else earlier
        last = earlier.get(state.id) if earlier else None
        if last is not state.viewer and (found := ViewerRound.of(state.id, state.viewer, last)):
            yield replace(found, at=found.at + timedelta(seconds=offset))


def _readings_by_stream(snapshot: Snapshot) -> dict[StreamKey, Readings]:
    """Return the samples of every event whose stream has any."""
    return {
        StreamKey(state.id, stream.id): state.qos.readings
        for state in snapshot.events
        if (stream := state.event.stream) and stream.id and len(state.qos.readings)
    }
