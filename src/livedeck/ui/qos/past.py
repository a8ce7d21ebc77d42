"""Streams from the history for the charts. While they are loaded, the screen shows the data in memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from livedeck.client import Event
from livedeck.monitor import EventState, HistoryReads, Readings
from livedeck.presentation import events
from livedeck.presentation.past_streams import PastStream, end_of, past_streams, state_of, worst_of
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import stream_start

MAX_READINGS = 14_400
"""Maximum number of samples of a past stream in memory: eight hours of samples every 2 s.

Earlier samples are read from the history when they become visible.
"""


class Subject(NamedTuple):
    """Event or past stream in the charts, and its shown time.

    `stream`: past stream; None for the event's current stream.
    """

    state: EventState
    render_time: RenderTime
    stream: PastStream | None = None


async def load_streams(history: HistoryReads, now: datetime, event_id: str | None = None) -> tuple[PastStream, ...]:
    """Return the streams of an event, newest first; of all events if `event_id` is None."""
    spans = await history.spans(event_id)
    if not spans:
        return ()
    first = min(span.first for span in spans)
    faults = await history.episodes(first, now + timedelta(days=1), event_id)
    return past_streams(spans, await history.events(now, event_id=event_id), faults)


async def open_stream(history: HistoryReads, stream: PastStream, event: Event | None) -> Subject:
    """Return a past stream as a subject of the charts, with the event's state at the end of the stream.

    `event`: event of the stream; None if unknown.
    """
    until = stream.last.timestamp()
    found = await history.recorded({stream.event_id: stream.stream_id}, until, newest=MAX_READINGS)
    faults = [
        fault
        for fault in await history.episodes(stream.first, stream.last + timedelta(days=1), stream.event_id)
        if fault.since <= stream.last
    ]
    readings = found[stream.event_id].readings if stream.event_id in found else Readings()
    return Subject(state_of(stream, readings, faults, event), end_of(stream), stream)


def current_stream(state: EventState, render_time: RenderTime) -> PastStream | None:
    """Return the event's current stream from its start to its newest sample; None without samples."""
    stream, as_of = state.event.stream, state.qos.as_of
    if stream is None or not stream.id or as_of is None or not len(state.qos.readings):
        return None
    last = render_time.to_server(as_of)
    first = datetime.fromtimestamp(stream_start(state, last.timestamp()), UTC)
    severities = [episode.severity for episode in state.episodes if episode.since >= first]
    return PastStream(state.id, stream.id, events.name(state), first, last, worst_of(severities))


def with_current(streams: tuple[PastStream, ...], current: PastStream | None) -> tuple[PastStream, ...]:
    """Return the streams and `current`, newest first. `current` replaces an older copy of itself."""
    if current is None:
        return streams
    others = [stream for stream in streams if stream.stream_id != current.stream_id]
    return tuple(sorted([current, *others], key=lambda stream: stream.first, reverse=True))
