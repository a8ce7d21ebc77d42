"""Data of the history about a period, for one event or for all events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from livedeck.monitor import (
    WATCH_WRITTEN_EACH,
    ActionRecord,
    AlarmAction,
    AlarmRecord,
    EpisodeRecord,
    EventRecord,
    HistoryReads,
    IntentRecord,
    LinkRecord,
    Marker,
    NotificationRecord,
    Readings,
    Ruling,
    UnwatchedRecord,
    ViewerRound,
    WatchRecord,
)
from livedeck.report.spans import Span
from livedeck.text.values import safe

_BEFORE = timedelta(hours=12)
"""Time before a period that is also read, to find alarms that are present at its beginning."""


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Data of `span`. Each list is in order of time. `event_id`: event of the data; empty for all events.

    Data of the deck are always included. `events`: begins with the state of each event at the start of the span.
    `alarms`: begins before the span, because alarms may be present at its start. `alarm_actions`: actions of operators
    on alarms. `actions`: changes that livedeck sent to the platform; with an `event_id`, only those of this event.
    `samples`: samples by event and stream. `known_until`: time up to which `watched` is complete; None for the end of
    the span. `unrecorded`: names of fields that an older collector cannot fill. `rounds`: rounds of the event's probe.
    """

    span: Span
    event_id: str = ""
    events: tuple[EventRecord, ...] = ()
    alarms: tuple[AlarmRecord, ...] = ()
    alarm_actions: tuple[AlarmAction, ...] = ()
    episodes: tuple[EpisodeRecord, ...] = ()
    actions: tuple[ActionRecord, ...] = ()
    intents: Mapping[str, IntentRecord] = field(default_factory=dict)
    markers: tuple[Marker, ...] = ()
    links: tuple[LinkRecord, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    notifications: tuple[NotificationRecord, ...] = ()
    watched: tuple[WatchRecord, ...] = ()
    unwatched: tuple[UnwatchedRecord, ...] = ()
    samples: Mapping[tuple[str, str], Readings] = field(default_factory=dict)
    known_until: datetime | None = None
    unrecorded: frozenset[str] = frozenset()
    rounds: tuple[ViewerRound, ...] = ()

    def name_of(self, event_id: str) -> str:
        """Return the latest name of the event, or its id if the event had no name."""
        names = [record.name for record in self.events if record.event_id == event_id]
        return safe(next(filter(None, reversed(names)), event_id), 80)

    def contains(self, at: datetime) -> bool:
        """Return whether the time `at` is in the span."""
        return self.span.since <= at < self.span.until


async def gather(
    history: HistoryReads, span: Span, now: datetime, event_id: str = "", *, has_samples: bool = True
) -> Recorded:
    """Read the data of the span at the time `now`. `has_samples`: if False, omit the samples.

    If the file cannot be read, the result is empty and `history.fault` has the reason.
    """
    since, until = span
    topic = event_id or None
    events = await history.events(since, until, topic)
    spans = await history.spans(topic) if has_samples else ()
    streams = [(span.event_id, span.stream_id) for span in spans if span.first < until and span.last >= since]
    bounds = since.timestamp(), until.timestamp()
    rounds = await history.viewer_rounds(event_id, since, until) if event_id and has_samples else ()

    def is_relevant(other: str, at: datetime) -> bool:
        return at < until and (not event_id or other in {"", event_id})

    return Recorded(
        span,
        event_id,
        events,
        tuple(record for record in await history.alarm_log(since - _BEFORE) if is_relevant(record.event_id, record.at)),
        tuple(action for action in await history.answer_log(since) if is_relevant(action.key.event_id, action.at)),
        await history.episodes(since, until, topic),
        tuple(
            action
            for action in await history.audit(since)
            if action.at < until and event_id in {"", action.target_id}  # creations have no id
        ),
        {intent.id: intent for intent in await history.intents(since - _BEFORE)},
        tuple(marker for marker in await history.markers(topic) if since <= marker.at < until),
        tuple(link for link in await history.connection_log(since) if link.at < until),
        tuple(ruling for ruling in await history.ruling_log(since) if is_relevant(ruling.event_id, ruling.at)),
        tuple(notice for notice in await history.notifications(since) if notice.at < until),
        await history.watched(since, until),
        await history.unwatched(since, until, topic),
        {key: found for key in streams if len(found := await history.readings(*key, *bounds))},
        min(until, now - WATCH_WRITTEN_EACH),
        history.unknown_questions - {HistoryReads.viewer_rounds.__name__},
        rounds,
    )


def completions(records: Iterable[EventRecord]) -> dict[str, datetime]:
    """Return stream id -> end of each completed stream of an event. `records`: of the event, oldest first.

    Some platforms complete an event without a time. Then the end is the time at which the completion was first seen.
    """
    ends: dict[str, datetime] = {}
    for record in records:
        if record.tally.expects_signal:
            ends.pop(record.stream_id, None)
        elif record.is_completed:
            ends[record.stream_id] = record.finished_at or ends.get(record.stream_id, record.at)
    return ends


async def latest_events(history: HistoryReads) -> tuple[EventRecord, ...]:
    """Return the last record of each event. The event that was last on air is first."""
    last = await history.events(datetime.now(UTC) + timedelta(days=1))
    return tuple(sorted(last, key=_when, reverse=True))


def _when(record: EventRecord) -> datetime:
    return record.started_at or record.planned or record.at


def actor_of(action: ActionRecord, intents: Mapping[str, IntentRecord]) -> str:
    """Return the person who made an action as `user@host`; empty if not recorded."""
    intent = intents.get(action.intent)
    return intent.by if intent else ""
