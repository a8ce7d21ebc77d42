"""Queries of a history, which this process or another process writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import alarm_actions, alarms, events, journal, learnt, queries, samples, silences, viewers
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.foreign import in_thread, open_filled
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.model.alarm import Alarm
from livedeck.monitor.model.alarm_action import AlarmAction
from livedeck.monitor.model.own import NotWatched
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.records import (
    ActionRecord,
    AlarmRecord,
    Buckets,
    CollectedStream,
    EpisodeRecord,
    EventRecord,
    IntentRecord,
    LinkRecord,
    Marker,
    MaterialRecord,
    NotificationRecord,
    OpenChange,
    StreamRecord,
    StreamSpan,
    UnwatchedRecord,
    WatchRecord,
)
from livedeck.monitor.model.ruling import Ruling
from livedeck.monitor.model.silence import Silence
from livedeck.monitor.model.viewer import ViewerRound

T = TypeVar("T")

_EVER = 2.0**40
"""Time after every sample (epoch s)."""

_LONGEST_WATCH = timedelta(hours=2)
"""Upper bound for the length of a stretch of watched time; `PlatformWatch` ends a stretch after an hour."""


class Recorded(NamedTuple):
    """Stored samples and baseline of a stream.

    `learnt`: the baseline; None if none is stored. `before`: delivery delay of the event's newest other stream within 7
    days; None without one. `had_sound`: an earlier stream of the event had sound, by its baseline.
    """

    readings: Readings
    learnt: Learnt | None = None
    before: Learnt | None = None
    had_sound: bool = False


def _recorded(db: Database, streams: Mapping[str, str], until: float, newest: int) -> dict[str, Recorded]:
    keys = {event_id: StreamKey(event_id, stream_id) for event_id, stream_id in streams.items()}
    return {
        event_id: Recorded(
            samples.readings(db, key, until, newest),
            learnt.find(db, key),
            learnt.find_before(db, key, until),
            learnt.had_sound_before(db, key),
        )
        for event_id, key in keys.items()
    }


class _RowCursor(Generic[T]):
    """Reader of an append-only table. It returns each row once, and starts again if the file is replaced.

    Args:
        read: Takes a row id. Returns the id of the last row and the records of the rows after that id, in the order of
            their ids.
    """

    def __init__(self, read: Callable[[Database, int], tuple[int, tuple[T, ...]]]) -> None:
        self._read = read
        self._db: Database | None = None
        self._version, self._last = -1, 0
        self._inode = 0

    def read(self, db: Database) -> tuple[T, ...]:
        """Return the records that any process appended since the previous call. Raises StorageError."""
        version = db.version()
        if db is self._db and version == self._version:
            return ()
        if db.inode != self._inode:
            self._inode, self._last = db.inode, 0
        self._last, records = self._read(db, self._last)
        self._db, self._version = db, version
        return records


class NotReadError(Exception):
    """Queries of a history failed, so an empty result proves nothing. `reason`: the fault."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The history could not be read: {reason}")


class HistoryReads(ABC):
    """Queries of a history. If the file cannot be read, a query returns its empty value, and `fault` names the reason.

    Times are datetimes with a time zone by this machine's clock, unless a method says otherwise. `since` is included
    and `until` is not, unless a method says otherwise. An `event_id` of None means every event.

    `unknown_questions`: names of the queries that the collector of this history does not have, because it is older.
    """

    unknown_questions: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._actions: _RowCursor[AlarmAction] = _RowCursor(alarm_actions.read)
        self._rulings: _RowCursor[Ruling] = _RowCursor(journal.rulings)
        self._silences: _RowCursor[Silence] = _RowCursor(silences.read)

    @property
    @abstractmethod
    def fault(self) -> str:
        """Reason and remedy if the last query failed; empty if it did not."""

    @property
    @abstractmethod
    def failures(self) -> int:
        """Number of failed queries. If it rises during several queries, their results are incomplete."""

    async def whole(self, reading: Awaitable[T]) -> T:
        """Return the result of a reading of this history. Raises NotReadError if one of its queries failed."""
        failures = self.failures
        found = await reading
        if self.failures != failures:
            raise NotReadError(self.fault or "not every query succeeded")
        return found

    @abstractmethod
    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        """Run a query on the file. Returns its result, or `otherwise` if the file cannot be read."""

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """Return the alarm actions that any process has stored since the previous call, in the order of writing."""
        return await self._read(self._actions.read, ())

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """Return the rulings that any process has stored since the previous call, in the order of writing."""
        return await self._read(self._rulings.read, ())

    async def new_silences(self) -> tuple[Silence, ...]:
        """Return the rows of silences that any process has stored since the previous call, in the order of writing."""
        return await self._read(self._silences.read, ())

    async def series(self, event_id: str, stream_id: str, since: float, until: float, columns: int) -> Buckets:
        """Return the samples of a stream from `since` to `until` (epoch s, server clock), gathered into `columns`."""

        def gather(db: Database) -> Buckets | None:
            stream = samples.find_stream(db, StreamKey(event_id, stream_id))
            return queries.gather(db, stream, since, until, columns) if stream else None

        return await self._read(gather, None) or queries.empty(since, until, columns)

    async def recorded(self, streams: Mapping[str, str], until: float, *, newest: int = -1) -> Mapping[str, Recorded]:
        """Return the samples and baselines of several streams in one query, so that it waits for a locked file once.

        Args:
            streams: Event id -> stream id.
            until: Time of the newest sample, included (epoch s, server clock).
            newest: Maximum number of samples of each stream, the newest ones; -1 for all.

        Returns:
            Event id -> samples and baseline; empty if the file cannot be read.
        """
        return await self._read(partial(_recorded, streams=streams, until=until, newest=newest), {})

    async def streams(self, event_id: str) -> tuple[StreamRecord, ...]:
        """Return the streams of an event that have samples, earliest first. Their times are by the server clock."""
        return await self._read(lambda db: samples.streams_of(db, event_id), ())

    async def spans(self, event_id: str | None = None) -> tuple[StreamSpan, ...]:
        """Return the times of the first and last sample of each stream, earliest first (server clock)."""
        return await self._read(partial(samples.spans, event_id=event_id), ())

    async def events(
        self, since: datetime | None = None, until: datetime | None = None, event_id: str | None = None
    ) -> tuple[EventRecord, ...]:
        """Return the names and states of events, oldest first: the last record up to `since`, then each change.

        `since`: None for the start of the history. `until`: None for its end.
        """
        return await self._read(lambda db: events.read(db, since, until, event_id), ())

    async def on_air_since(self, since: datetime) -> tuple[str, ...]:
        """Return the ids of events that are on air by their last record and have a sample at `since` or later."""

        def read(db: Database) -> tuple[str, ...]:
            records = {record.event_id: record for record in events.read(db, since, None, None)}
            sent = {
                record.event_id: samples.readings(
                    db, StreamKey(record.event_id, record.stream_id), _EVER, newest=1
                ).last
                for record in records.values()
                if record.stream_id and record.tally.expects_signal and not record.is_gone
            }
            return tuple(key for key, last in sent.items() if last and last.time >= since.timestamp())

        return await self._read(read, ())

    async def readings(self, event_id: str, stream_id: str, since: float, until: float) -> Readings:
        """Return the samples of a stream from `since` to `until` (epoch s, server clock, both included)."""
        key = StreamKey(event_id, stream_id)
        return await self._read(lambda db: samples.readings(db, key, until, since=since), Readings())

    async def episodes(
        self, since: datetime, until: datetime, event_id: str | None = None
    ) -> tuple[EpisodeRecord, ...]:
        """Return the episodes that overlap a time range (server clock), sorted by their end."""

        def read(db: Database) -> tuple[EpisodeRecord, ...]:
            found = journal.read(db, EpisodeRecord, since, event_id)
            return tuple(episode for episode in found if episode.since < until)

        return await self._read(read, ())

    async def watched(self, since: datetime, until: datetime) -> tuple[WatchRecord, ...]:
        """Return the stretches of time with good replies that overlap the range, sorted by their start."""

        def read(db: Database) -> tuple[WatchRecord, ...]:
            found = journal.read(db, WatchRecord, since - _LONGEST_WATCH)
            return tuple(record for record in found if record.at < until and record.until >= since)

        return await self._read(read, ())

    async def unwatched(
        self, since: datetime, until: datetime, event_id: str | None = None
    ) -> tuple[UnwatchedRecord, ...]:
        """Return the unwatched times of streams that overlap the range, oldest first."""

        def read(db: Database) -> tuple[UnwatchedRecord, ...]:
            found = journal.read(db, UnwatchedRecord, topic=event_id)
            return tuple(record for record in found if record.at < until and record.until >= since)

        return await self._read(read, ())

    async def stops(self, since: datetime, until: datetime) -> tuple[NotWatched, ...]:
        """Return the stops of all processes that overlap the range, sorted by their end."""

        def read(db: Database) -> tuple[NotWatched, ...]:
            return tuple(stop for stop in journal.read(db, NotWatched, since) if stop.since < until)

        return await self._read(read, ())

    async def standing_alarms(self, now: datetime) -> tuple[Alarm, ...]:
        """Return the alarms that are open or were cleared in the hour before `now`."""
        return await self._read(lambda db: alarms.standing(db, now), ())

    async def answer_log(self, since: datetime) -> tuple[AlarmAction, ...]:
        """Return the alarm actions since a time, in the order of writing."""

        def read(db: Database) -> tuple[AlarmAction, ...]:
            return tuple(action for action in alarm_actions.read(db, 0)[1] if action.at >= since)

        return await self._read(read, ())

    async def silence_log(self, since: datetime) -> tuple[Silence, ...]:
        """Return the silences that end at a time or later, with their present values, in the order of their start."""
        return await self._read(partial(silences.since, moment=since), ())

    async def viewer_rounds(self, event_id: str, since: datetime, until: datetime) -> tuple[ViewerRound, ...]:
        """Return the rounds of an event's probe in a time range, oldest first."""
        return await self._read(partial(viewers.read, event_id=event_id, since=since, until=until), ())

    async def ruling_log(self, since: datetime) -> tuple[Ruling, ...]:
        """Return the rulings of people since a time, in the order of writing."""

        def read(db: Database) -> tuple[Ruling, ...]:
            return tuple(ruling for ruling in journal.rulings(db, 0)[1] if ruling.at >= since)

        return await self._read(read, ())

    async def collected_streams(self, since: datetime) -> tuple[CollectedStream, ...]:
        """Return the ended streams whose samples a process has collected since a time, oldest first."""
        return await self._read(partial(journal.read, kind=CollectedStream, since=since), ())

    async def alarm_log(self, since: datetime, event_id: str | None = None) -> tuple[AlarmRecord, ...]:
        """Return the changes of alarms since a time, oldest first. `event_id` None includes the deck's own alarms."""
        return await self._read(lambda db: journal.read(db, AlarmRecord, since, event_id), ())

    async def audit(self, since: datetime) -> tuple[ActionRecord, ...]:
        """Return the changes that people made since a time, with their outcomes, oldest first."""
        return await self._read(lambda db: journal.read(db, ActionRecord, since), ())

    async def intents(self, since: datetime) -> tuple[IntentRecord, ...]:
        """Return the intents that any process stored since a time, oldest first."""
        return await self._read(partial(journal.read, kind=IntentRecord, since=since), ())

    async def open_changes(self) -> tuple[OpenChange, ...]:
        """Return the changes with an unknown outcome, by any process, oldest first."""
        return await self._read(journal.open_changes, ())

    async def markers(self, event_id: str | None = None) -> tuple[Marker, ...]:
        """Return the markers, oldest first (server clock)."""
        return await self._read(lambda db: journal.read(db, Marker, topic=event_id), ())

    async def connection_log(self, since: datetime) -> tuple[LinkRecord, ...]:
        """Return the changes of the connection to the platform since a time, oldest first."""
        return await self._read(lambda db: journal.read(db, LinkRecord, since), ())

    async def notifications(self, since: datetime) -> tuple[NotificationRecord, ...]:
        """Return the deck's notifications since a time, oldest first."""
        return await self._read(lambda db: journal.read(db, NotificationRecord, since), ())

    async def materials(self, video_id: str) -> tuple[MaterialRecord, ...]:
        """Return the materials of a video that livedeck created and did not delete, oldest first."""
        return await self._read(lambda db: journal.materials(db, video_id), ())


class HistoryReader(HistoryReads):
    """Read-only history in the file of another process, which may create, rename or delete the file at any time.

    `is_strict`: queries raise StorageError if the file cannot be read, instead of returning an empty result.
    """

    fault: str = ""
    failures: int = 0

    def __init__(self, path: Path, *, is_strict: bool = False) -> None:
        super().__init__()
        self.path, self._is_strict = path, is_strict

    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        return await in_thread(partial(self._query, query, otherwise))

    def _query(self, query: Callable[[Database], T], otherwise: T) -> T:
        self.fault = ""
        try:
            with closing(open_filled(self.path)) as db:
                return query(db)
        except StorageError as error:
            if self._is_strict:
                raise
            self.fault = str(error)
            self.failures += 1
        return otherwise
