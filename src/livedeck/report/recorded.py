"""What the history knows of a stretch of time: of one event, or of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from livedeck.monitor import (
    WATCH_WRITTEN_EACH,
    ActionRecord,
    AlarmAnswer,
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
    WatchRecord,
)
from livedeck.report.spans import Span
from livedeck.text.values import safe

_BEFORE = timedelta(hours=12)
"""Before a stretch: what became of alarms that stand at its beginning."""


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """All that is known of `span`, each oldest first. `event_id`: of that event and the deck's own; empty: of all.

    `events`: begins with how each stood. `alarms`: begins before the span, for alarms that stood at its beginning.
    `actions`: of an event those on it alone. `samples`: by event and stream. `known_until`: until when it is known
    whether somebody watched; None: to its end.
    """

    span: Span
    event_id: str = ""
    events: tuple[EventRecord, ...] = ()
    alarms: tuple[AlarmRecord, ...] = ()
    answers: tuple[AlarmAnswer, ...] = ()
    episodes: tuple[EpisodeRecord, ...] = ()
    actions: tuple[ActionRecord, ...] = ()
    intents: Mapping[str, IntentRecord] = field(default_factory=dict)
    markers: tuple[Marker, ...] = ()
    links: tuple[LinkRecord, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    notifications: tuple[NotificationRecord, ...] = ()
    watched: tuple[WatchRecord, ...] = ()
    samples: Mapping[tuple[str, str], Readings] = field(default_factory=dict)
    known_until: datetime | None = None

    def name_of(self, event_id: str) -> str:
        """What that event was called last; its id where it had no name."""
        names = [record.name for record in self.events if record.event_id == event_id]
        return safe(next(filter(None, reversed(names)), event_id), 80)

    def contains(self, at: datetime) -> bool:
        """Whether that moment lies in the stretch."""
        return self.span.since <= at < self.span.until


async def gather(
    history: HistoryReads, span: Span, now: datetime, event_id: str = "", *, has_samples: bool = True
) -> Recorded:
    """All of it, as it is known `now`; of samples none, where they are not wanted. Where the file cannot be read,
    nothing is known, and `history.fault` says why."""
    since, until = span
    topic = event_id or None
    events = await history.events(since, until, topic)
    spans = await history.spans(topic) if has_samples else ()
    streams = [(span.event_id, span.stream_id) for span in spans if span.first < until and span.last >= since]
    bounds = since.timestamp(), until.timestamp()

    def is_meant(other: str, at: datetime) -> bool:
        return at < until and (not event_id or other in {"", event_id})

    return Recorded(
        span,
        event_id,
        events,
        tuple(record for record in await history.alarm_log(since - _BEFORE) if is_meant(record.event_id, record.at)),
        tuple(answer for answer in await history.answer_log(since) if is_meant(answer.key.event_id, answer.at)),
        await history.episodes(since, until, topic),
        tuple(
            action
            for action in await history.audit(since)
            if action.at < until and event_id in {"", action.target_id}  # a creation knows no id: it is of no event
        ),
        {intent.id: intent for intent in await history.intents(since - _BEFORE)},
        tuple(marker for marker in await history.markers(topic) if since <= marker.at < until),
        tuple(link for link in await history.connection_log(since) if link.at < until),
        tuple(ruling for ruling in await history.ruling_log(since) if is_meant(ruling.event_id, ruling.at)),
        tuple(notice for notice in await history.notifications(since) if notice.at < until),
        await history.watched(since, until),
        {key: found for key in streams if len(found := await history.readings(*key, *bounds))},
        min(until, now - WATCH_WRITTEN_EACH),
    )


async def latest_events(history: HistoryReads) -> tuple[EventRecord, ...]:
    """How each event stood last, those that were on air last first."""
    last = await history.events(datetime.now(UTC) + timedelta(days=1))
    return tuple(sorted(last, key=_when, reverse=True))


def _when(record: EventRecord) -> datetime:
    return record.started_at or record.scheduled or record.at


def actor_of(action: ActionRecord, intents: Mapping[str, IntentRecord]) -> str:
    """Who did it, as `user@host`; empty where nobody wrote it down."""
    intent = intents.get(action.intent)
    return intent.by if intent else ""
