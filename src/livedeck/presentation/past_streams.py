"""Streams of the history by event, date, length and worst fault, and the search for a stream by time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from livedeck.client import Event, Stream
from livedeck.monitor import (
    BroadcastState,
    Episode,
    EpisodeRecord,
    EventRecord,
    EventState,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Readings,
    Severity,
    StreamSpan,
)
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record
from livedeck.text.segments import Line, StyleRole, fit
from livedeck.text.values import compact_duration, safe

NEAR = timedelta(seconds=60)
"""Tolerance for a time shortly before or after a stream, because people round times."""

MAX_DAYS_BACK = 31
"""Number of days that are searched for a time of day. The history has no older streams."""

WEEK = timedelta(days=7)


class PastStream(Record):
    """Stream from its first to its last sample (server clock), with the name of its event.

    `worst`: severity of the worst fault; None without a fault. `is_gone`: the event is no longer listed.
    """

    event_id: str
    stream_id: str
    name: str
    first: datetime
    last: datetime
    worst: Severity | None = None
    is_gone: bool = False

    def has(self, at: datetime) -> bool:
        """Return whether the stream ran at a time, with a tolerance of `NEAR` at both ends."""
        return self.first - NEAR <= at <= self.last + NEAR

    def distance(self, at: datetime) -> timedelta:
        """Return the distance between a time and the stream; 0 for a time in the stream."""
        return max(self.first - at, at - self.last, timedelta())


def past_streams(
    spans: Iterable[StreamSpan], events: Iterable[EventRecord], faults: Iterable[EpisodeRecord]
) -> tuple[PastStream, ...]:
    """Return all streams, newest first. An event without a record has its id as name."""
    records = {record.event_id: record for record in events}
    faults_by_event: dict[str, list[EpisodeRecord]] = {}
    for fault in faults:
        faults_by_event.setdefault(fault.event_id, []).append(fault)
    streams = [_past_stream(span, records.get(span.event_id), faults_by_event.get(span.event_id, ())) for span in spans]
    return tuple(sorted(streams, key=lambda stream: stream.first, reverse=True))


def _past_stream(span: StreamSpan, record: EventRecord | None, faults: Iterable[EpisodeRecord]) -> PastStream:
    within = [fault.severity for fault in faults if span.first <= fault.since <= span.last]
    name, is_gone = (record.name or span.event_id, record.is_gone) if record else (span.event_id, True)
    return PastStream(span.event_id, span.stream_id, name, span.first, span.last, worst_of(within), is_gone)


def worst_of(severities: Iterable[Severity]) -> Severity | None:
    """Return the highest severity; None without any."""
    return min(severities, key=SEVERITY_RANKS.__getitem__, default=None)


def stream_at(
    streams: Sequence[PastStream], at: datetime, *, any_day: bool = False
) -> tuple[PastStream, datetime] | None:
    """Return the stream that ran at the time `at`, and this time.

    `any_day`: only the time of day counts; take the latest day with a stream at that time of day.

    If no stream ran then, returns the nearest stream and its nearer end. Returns None without any streams.
    """
    for days in range(MAX_DAYS_BACK if any_day else 1):
        moment = at - timedelta(days=days)
        for stream in streams:
            if stream.has(moment):
                return stream, moment
    if not streams:
        return None
    nearest = min(streams, key=lambda stream: stream.distance(at))
    return nearest, nearest.first if at < nearest.first else nearest.last


def suggestion(streams: Sequence[PastStream], shown: PastStream) -> PastStream | None:
    """Return an earlier stream for a comparison, or None.

    Of the streams of the same event or name, returns the one whose start is closest to a week before.
    """
    earlier = [stream for stream in streams if stream.first < shown.first and stream.stream_id != shown.stream_id]
    related = [stream for stream in earlier if is_related(stream, shown)]
    return min(related, key=lambda stream: abs(shown.first - WEEK - stream.first), default=None)


def is_related(stream: PastStream, other: PastStream) -> bool:
    """Return whether two streams belong to the same event or to events with the same name."""
    return stream.event_id == other.event_id or stream.name.casefold() == other.name.casefold()


def day_words(at: datetime, today: date) -> str:
    """Return the day of a time in UTC: `today`, `yesterday`, `Tuesday`, `14 Nov` or `14 Nov 2025`."""
    day = at.astimezone(UTC).date()
    days = (today - day).days
    if days in {0, 1}:
        return ("today", "yesterday")[days]
    if 1 < days < 7:
        return f"{day:%A}"
    return f"{day:%d %b}" if day.year == today.year else f"{day:%d %b %Y}"


def stream_words(stream: PastStream, today: date) -> str:
    """Return `yesterday's stream` or `the stream of 14 Nov`."""
    day = day_words(stream.first, today)
    return f"the stream of {day}" if day[0].isdigit() else f"{day}'s stream"


def row(stream: PastStream, today: date, *, is_shown: bool) -> Line:
    """Return start, day, length, worst fault and event of a stream."""
    glyph, word, role = SEVERITY_BADGES[stream.worst] if stream.worst else ("✓", "no fault", StyleRole.OK)
    role = StyleRole.CRITICAL_MARK if stream.worst is Severity.CRITICAL else role
    length = compact_duration((stream.last - stream.first).total_seconds())
    gone = "  no longer listed" if stream.is_gone else ""
    return [
        *fit([(f"{stream.first:%a %d %b %H:%M}Z", StyleRole.STRONG)], 19),
        *fit([(day_words(stream.first, today), StyleRole.DIM)], 11),
        *fit([(length, StyleRole.TEXT)], 9),
        *fit([(f"{glyph} {word.lower()}", role)], 12),
        (safe(stream.name, 40), StyleRole.TEXT),
        (f"{gone}{'  shown now' if is_shown else ''}", StyleRole.DIM),
    ]


def state_of(
    stream: PastStream, readings: Readings, faults: Iterable[EpisodeRecord], event: Event | None = None
) -> EventState:
    """Return the event's state at the end of the stream. `event`: current data of the event, or None."""
    past = Stream(id=stream.stream_id, status="finished", started_at=stream.first, finished_at=stream.last)
    base = event or Event(id=stream.event_id, name=stream.name)
    ended = base.model_copy(update={"stream": past, "scheduled": None})
    episodes = {
        (fault.kind, fault.target, fault.since): Episode(
            fault.kind, fault.severity, fault.target, fault.since, fault.until, fault.actual, fault.expected
        )
        for fault in faults
    }
    ingest = Ingest(IngestState.ENDED, since=stream.last)
    elapsed = (stream.last - stream.first).total_seconds()
    return EventState(
        ended,
        stream.last,
        Phase(BroadcastState.COMPLETED, stream.last, ingest, elapsed),
        QosState(readings=readings, as_of=stream.last, cadence=_cadence(readings)),
        HealthAssessment(),
        episodes=tuple(sorted(episodes.values(), key=lambda episode: episode.since)),
    )


def _cadence(readings: Readings) -> float | None:
    """Return the median distance in seconds between the stream's newest samples; None if there are fewer than two."""
    newest = readings.time[-21:]
    steps = sorted(after - before for before, after in pairwise(newest))
    return steps[len(steps) // 2] if steps else None


def end_of(stream: PastStream) -> RenderTime:
    """Return the end of the stream as render time, so that displayed ages do not grow."""
    return RenderTime(stream.last, stream.last, stale=False)
