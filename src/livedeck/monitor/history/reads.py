"""What a history is asked for: the same of a deck's own, and of the file of another process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history import alarm_actions, alarms, events, journal, learnt, queries, samples
from livedeck.monitor.history.cursor import RowCursor
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.foreign import in_thread, open_foreign
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.model.alarm import Alarm
from livedeck.monitor.model.alarm_action import AlarmAction
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
    WatchRecord,
)
from livedeck.monitor.model.ruling import Ruling

T = TypeVar("T")

_LONGEST_WATCH = timedelta(hours=2)
"""No stretch of watching is longer."""


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


class HistoryReads(ABC):
    """Gives back what was kept; nothing where the file cannot be read."""

    def __init__(self) -> None:
        self._answers: RowCursor[AlarmAction] = RowCursor(alarm_actions.read)
        self._rulings: RowCursor[Ruling] = RowCursor(journal.rulings)

    @property
    @abstractmethod
    def fault(self) -> str:
        """Why what was asked last could not be answered, and what to do; empty where it was."""

    @abstractmethod
    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        """What the file answers; `otherwise` where it cannot be read."""

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """What was answered to alarms since the last time, by whichever deck, in the order in which it was written."""
        return await self._read(self._answers.read, ())

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """How events are to be judged, by whichever process since the last time, in the order in which it was
        written."""
        return await self._read(self._rulings.read, ())

    async def series(self, event_id: str, stream_id: str, since: float, until: float, columns: int) -> Buckets:
        """The stretch from `since` to `until` (epoch s, server clock) in so many columns."""

        def gather(db: Database) -> Buckets | None:
            stream = samples.find_stream(db, StreamKey(event_id, stream_id))
            return queries.gather(db, stream, since, until, columns) if stream else None

        return await self._read(gather, None) or queries.empty(since, until, columns)

    async def recorded(self, streams: Mapping[str, str], until: float, *, newest: int = -1) -> Mapping[str, Recorded]:
        """What is known of those streams (event id -> stream id), by event id; of the samples of each at most `newest`,
        -1 is all.

        `until`: epoch s, server clock, included. All in one read: a file that is locked is waited for once.
        """
        return await self._read(partial(_recorded, streams=streams, until=until, newest=newest), {})

    async def streams(self, event_id: str) -> tuple[StreamRecord, ...]:
        """The streams of that event, the earliest first."""
        return await self._read(lambda db: samples.streams_of(db, event_id), ())

    async def spans(self, event_id: str | None = None) -> tuple[StreamSpan, ...]:
        """From when to when there are samples of each stream, of that event or of all, the earliest first."""
        return await self._read(partial(samples.spans, event_id=event_id), ())

    async def events(
        self, since: datetime | None = None, until: datetime | None = None, event_id: str | None = None
    ) -> tuple[EventRecord, ...]:
        """What events were called and where they stood from then until before then, oldest first: how each stood at
        `since`, and every change; of one event, or of all."""
        return await self._read(lambda db: events.read(db, since, until, event_id), ())

    async def readings(self, event_id: str, stream_id: str, since: float, until: float) -> Readings:
        """The samples of that stream from then until then (epoch s, server clock, both included)."""
        key = StreamKey(event_id, stream_id)
        return await self._read(lambda db: samples.readings(db, key, until, since=since), Readings())

    async def episodes(
        self, since: datetime, until: datetime, event_id: str | None = None
    ) -> tuple[EpisodeRecord, ...]:
        """The faults that were over after `since` and had begun before `until` (server clock), by their end."""

        def read(db: Database) -> tuple[EpisodeRecord, ...]:
            found = journal.read(db, EpisodeRecord, since, event_id)
            return tuple(episode for episode in found if episode.since < until)

        return await self._read(read, ())

    async def watched(self, since: datetime, until: datetime) -> tuple[WatchRecord, ...]:
        """When some process had the platform's answers, in that time, by the beginning of each stretch."""

        def read(db: Database) -> tuple[WatchRecord, ...]:
            found = journal.read(db, WatchRecord, since - _LONGEST_WATCH)
            return tuple(record for record in found if record.at < until and record.until >= since)

        return await self._read(read, ())

    async def standing_alarms(self, now: datetime) -> tuple[Alarm, ...]:
        """How the alarms stand that any process has seen, but those that were cleared long before `now`."""
        return await self._read(lambda db: alarms.standing(db, now), ())

    async def answer_log(self, since: datetime) -> tuple[AlarmAction, ...]:
        """What was answered to alarms since then, in the order in which it was written."""

        def read(db: Database) -> tuple[AlarmAction, ...]:
            return tuple(answer for answer in alarm_actions.read(db, 0)[1] if answer.at >= since)

        return await self._read(read, ())

    async def ruling_log(self, since: datetime) -> tuple[Ruling, ...]:
        """How events were to be judged by a person's word since then, in the order in which it was written."""

        def read(db: Database) -> tuple[Ruling, ...]:
            return tuple(ruling for ruling in journal.rulings(db, 0)[1] if ruling.at >= since)

        return await self._read(read, ())

    async def collected_streams(self, since: datetime) -> tuple[CollectedStream, ...]:
        """The streams whose samples were asked for after their end, by whichever deck, since then."""
        return await self._read(partial(journal.read, kind=CollectedStream, since=since), ())

    async def alarm_log(self, since: datetime, event_id: str | None = None) -> tuple[AlarmRecord, ...]:
        """What became of alarms since then, oldest first; of one event, or of all and the deck."""
        return await self._read(lambda db: journal.read(db, AlarmRecord, since, event_id), ())

    async def audit(self, since: datetime) -> tuple[ActionRecord, ...]:
        """What was done since then, oldest first."""
        return await self._read(lambda db: journal.read(db, ActionRecord, since), ())

    async def intents(self, since: datetime) -> tuple[IntentRecord, ...]:
        """What was about to be sent since then, by whichever deck, oldest first."""
        return await self._read(partial(journal.read, kind=IntentRecord, since=since), ())

    async def open_changes(self) -> tuple[OpenChange, ...]:
        """The changes that were sent, by whichever deck, and have no end, oldest first."""
        return await self._read(journal.open_changes, ())

    async def markers(self, event_id: str | None = None) -> tuple[Marker, ...]:
        """The markers of that event, or of all, oldest first."""
        return await self._read(lambda db: journal.read(db, Marker, topic=event_id), ())

    async def connection_log(self, since: datetime) -> tuple[LinkRecord, ...]:
        """How the link changed since then, oldest first."""
        return await self._read(lambda db: journal.read(db, LinkRecord, since), ())

    async def notifications(self, since: datetime) -> tuple[NotificationRecord, ...]:
        """What the deck told since then, oldest first."""
        return await self._read(lambda db: journal.read(db, NotificationRecord, since), ())

    async def materials(self, video_id: str) -> tuple[MaterialRecord, ...]:
        """The materials of that video that this deck made and did not delete, oldest first."""
        return await self._read(lambda db: journal.materials(db, video_id), ())


class HistoryReader(HistoryReads):
    """Read-only history of another process: one file, which may come, go and be set aside at any time.

    `is_strict`: what cannot be read raises StorageError, for a caller who would take an empty answer for the truth.
    """

    fault: str = ""

    def __init__(self, path: Path, *, is_strict: bool = False) -> None:
        super().__init__()
        self.path, self._is_strict = path, is_strict

    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        return await in_thread(partial(self._query, query, otherwise))

    def _query(self, query: Callable[[Database], T], nothing: T) -> T:
        self.fault = ""
        try:
            with closing(open_foreign(self.path)) as db:
                return query(db)
        except StorageError as error:
            if self._is_strict:
                raise
            self.fault = str(error)
        return nothing
