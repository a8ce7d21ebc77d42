"""Cells and columns of the current streams. Pure."""

from __future__ import annotations

from datetime import datetime

from livedeck.monitor import EventState, IngestState, Snapshot, planned_start
from livedeck.presentation.events import (
    EVENTS,
    clock_cell,
    elapsed_seconds,
    has_critical_finding,
    health_score,
    is_doubtful,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import UNKNOWN, safe, short_duration


def streaming_events(snapshot: Snapshot) -> tuple[EventState, ...]:
    """Return the events that have a stream, in the order of the monitor."""
    return tuple(state for state in snapshot.events if state.event.stream is not None)


def _status_text(state: EventState) -> str:
    stream = state.event.stream
    return safe((stream and stream.status) or UNKNOWN, 20)


def _status(state: EventState, render_time: RenderTime) -> Line:
    """Return the platform's status. `live` does not prove that a signal arrives; see the column INGEST."""
    status = _status_text(state)
    role = StyleRole.STRONG if status == "live" else StyleRole.DIM
    return [(status, StyleRole.STALE if is_doubtful(state, render_time) else role)]


def _start(state: EventState, render_time: RenderTime) -> datetime | None:
    """Return the start of the stream; the planned one while the stream is pending."""
    stream = state.event.stream
    if stream and stream.status == "pending":
        return planned_start(state.event, render_time.server)
    return stream.started_at if stream else None


def _started(state: EventState, render_time: RenderTime) -> Line:
    start = _start(state, render_time)
    return [(f"{start:%d %b %H:%M:%S}" if start else UNKNOWN, StyleRole.TEXT)]


def _started_at(state: EventState, render_time: RenderTime) -> Value:
    start = _start(state, render_time)
    return start.timestamp() if start else None


def window_used(state: EventState, render_time: RenderTime) -> float | None:
    """Return the elapsed share of the reconnect window, from 0 to 1; None if unknown or while the encoder is connected.

    Uses the window of the phase, because the platform's number may be far too large.
    """
    ingest = state.phase.ingest
    since, ends = ingest.since, ingest.window_ends
    if ingest.state is not IngestState.INTERRUPTED or state.event.reconnect_window is None:
        return None
    if since is None or ends is None or ends <= since:
        return None
    return min(max(render_time.server_seconds_since(since) / (ends - since).total_seconds(), 0.0), 1.0)


def _window(state: EventState, render_time: RenderTime) -> Line:
    """Return the elapsed share of the window while the encoder is away; otherwise the length of the window."""
    share, seconds = window_used(state, render_time), state.event.reconnect_window
    length = UNKNOWN if seconds is None else short_duration(seconds)
    if share is None:
        return [(f"of {length} ", StyleRole.DIM)]
    role = StyleRole.STALE if is_doubtful(state, render_time) else StyleRole.CRITICAL
    return [(f" {share:.0%} of {length} ", role)]


def _stream_id(state: EventState, _: RenderTime) -> Line:
    stream = state.event.stream
    return [(safe((stream and stream.id) or UNKNOWN, 40), StyleRole.DIM)]


_EVENT_COLUMNS = {column.name: column for column in EVENTS.columns}

STREAMS: TableSchema[EventState] = TableSchema(
    columns=(
        _EVENT_COLUMNS["tally"],
        _EVENT_COLUMNS["event"],
        Column("status", "STATUS", 9, 1, _status, lambda state, _: _status_text(state)),
        Column("started", "STARTED (UTC)", 15, 4, _started, _started_at, right=True),
        Column("elapsed", "ELAPSED", 11, 2, clock_cell, elapsed_seconds, right=True),
        _EVENT_COLUMNS["ingest"],
        Column("window", "WINDOW USED ", 14, 0, _window, window_used, right=True),
        _EVENT_COLUMNS["out"],
        Column("stream", "STREAM", 12, 9, _stream_id, grows=True, max_width=36),
    ),
    key=EVENTS.key,
    text=EVENTS.text,
    is_critical=has_critical_finding,
    count=EVENTS.count,
    rows=streaming_events,
    fields={**EVENTS.fields, "health": health_score},
)
