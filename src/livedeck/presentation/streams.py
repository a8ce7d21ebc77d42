"""Cells and columns of the current streams: what arrives, and where it goes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from livedeck.client import EventRestream
from livedeck.monitor import BroadcastState, EventState, IngestState, Snapshot, enabled, planned_start
from livedeck.presentation.event_detail import restream_mark
from livedeck.presentation.events import (
    EVENTS,
    arriving_rate,
    has_critical_finding,
    health_score,
    is_doubtful,
    known_ingest,
    name,
    was_asked,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text.names import name_order
from livedeck.text.segments import Group, Line, Segment, StyleRole, list_parts, wrap_groups
from livedeck.text.values import NOT_APPLICABLE, NOT_ASKED, UNKNOWN, compact_duration, safe, short_duration


def streaming_events(snapshot: Snapshot) -> tuple[EventState, ...]:
    """Return the events that have a stream, in the order of the monitor."""
    return tuple(state for state in snapshot.events if state.event.stream is not None)


def _status_text(state: EventState) -> str:
    stream = state.event.stream
    return safe((stream and stream.status) or UNKNOWN, 20)


def _status(state: EventState, render_time: RenderTime) -> Line:
    """Return the platform's status. `live` does not prove that a signal arrives; see the column ARRIVES."""
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
    ingest = known_ingest(state, render_time)
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
        return [(f"{length} ", StyleRole.DIM)]
    return [(f" {share:.0%} of {length} ", StyleRole.CRITICAL)]


def _since(state: EventState, render_time: RenderTime) -> Line:
    """Return the duration of the ingest's state: `41:17`; `15:00+` if it is longer than the samples in memory."""
    since, times = state.phase.ingest.since, state.qos.readings.time
    if state.phase.ingest.state in _BEFORE_INGEST:
        return [(NOT_APPLICABLE, StyleRole.DIM)]
    if known_ingest(state, render_time).state is IngestState.UNKNOWN:
        return [(UNKNOWN, StyleRole.STALE)]
    if since is None and not (state.phase.ingest.state is IngestState.RECEIVING and times):
        return [(NOT_ASKED if not was_asked(state) else UNKNOWN, StyleRole.DIM)]
    start = since or datetime.fromtimestamp(times[0], UTC)
    text = compact_duration(render_time.server_seconds_since(start))
    return [(text if since else f"{text}+", StyleRole.STALE if is_doubtful(state, render_time) else StyleRole.TEXT)]


_BEFORE_INGEST = frozenset({IngestState.NONE, IngestState.UNKNOWN})


def _since_value(state: EventState, render_time: RenderTime) -> Value:
    since = state.phase.ingest.since
    return None if since is None else render_time.server_seconds_since(since)


def destination_mark(state: EventState, restream: EventRestream, render_time: RenderTime) -> tuple[str, StyleRole]:
    """Return glyph and role of a destination. On air, an enabled destination that is not connected is a fault."""
    glyph, role = restream_mark(restream)
    is_missed = glyph == "○" and state.phase.tally.expects_signal
    glyph, role = ("▲", StyleRole.WARNING) if is_missed else (glyph, role)
    return glyph, StyleRole.STALE if is_doubtful(state, render_time) else role


def destinations(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Return the destinations that fit. `+2` counts the others.

    Destinations that are not connected are first, with their status: `▲ Host disconnected`.
    """
    marked = [(destination_mark(state, restream, render_time), restream) for restream in state.event.restreams or ()]
    marked.sort(key=lambda pair: _MARKS.index(pair[0][0]))
    parts: list[Line] = []
    for (glyph, role), restream in marked:
        word = {"▲": f" {safe(restream.status or UNKNOWN, 20)}", "·": " off"}.get(glyph, "")
        parts.append([(f"{glyph} {safe(restream.name or UNKNOWN, 40)}{word}", role)])
    nothing = UNKNOWN if state.event.restreams is None else NOT_APPLICABLE
    return list_parts(parts, cells) or [(nothing, StyleRole.DIM)]


_MARKS = ("▲", UNKNOWN, "○", "✓", "·")
"""Marks of destinations, worst first."""


def all_destinations(states: Iterable[EventState], render_time: RenderTime) -> list[tuple[Segment, str, EventRestream]]:
    """Return the enabled destinations of events on air: mark, name of the event, destination.

    Destinations that are not connected are first.
    """
    found = [
        (destination_mark(state, restream, render_time), name(state), restream)
        for state in states
        if state.phase.tally.expects_signal
        for restream in enabled(state.event.restreams or ())
    ]
    return sorted(found, key=lambda row: (_MARKS.index(row[0][0]), name_order(row[1])))


def _destinations(state: EventState, render_time: RenderTime) -> Line:
    return destinations(state, render_time, GOES_TO_CELLS)


GOES_TO_CELLS = 25
"""Minimum width of the destinations in cells: a name and its status."""


def summary_line(states: Sequence[EventState], render_time: RenderTime, cells: int) -> Line:
    """Return what arrives and where it goes: `↓ 7 of 8 arrive, 31.1 Mbit/s   ✖ 1 lost   → 12 of 14 connected`."""
    expected = [state for state in states if state.phase.tally.expects_signal]
    trusted = [state for state in expected if not is_doubtful(state, render_time)]
    ingests = Counter(state.phase.ingest.state for state in trusted if not state.is_undecided)
    arriving = ingests[IngestState.RECEIVING] + ingests[IngestState.WARMING_UP]
    rate = arriving_rate(expected, render_time)
    if render_time.stale:
        return [(f" ▒ {len(expected)} on air, not up to date", StyleRole.STALE)] if states else []
    unknown = len(expected) - sum(ingests[state] for state in _DECIDED)
    pending = sum(state.phase.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE} for state in states)
    groups: list[Group] = [
        (0, [(f" ↓ {arriving} of {len(expected)} arrive", StyleRole.STRONG), *_doubt(unknown)]),
        (2, [(f"{rate / 1e6:.1f} Mbit/s in", StyleRole.VIDEO)] if rate else []),
        (0, [(f" ✖ {lost} lost ", StyleRole.CRITICAL)] if (lost := ingests[IngestState.INTERRUPTED]) else []),
        (1, [(f"▲ {none} without signal", StyleRole.WARNING)] if (none := ingests[IngestState.NONE]) else []),
        (1, _connected_line(expected, trusted)),
        (3, [("○ ", StyleRole.INFO), (f"{pending} planned", StyleRole.DIM)] if pending else []),
    ]
    return wrap_groups(groups, cells, 3) if states else []


_DECIDED = (IngestState.RECEIVING, IngestState.WARMING_UP, IngestState.INTERRUPTED, IngestState.NONE, IngestState.ENDED)


def _connected_line(expected: Sequence[EventState], trusted: Sequence[EventState]) -> Line:
    """Return how many destinations are connected: `12 of 14 destinations connected, ? 2 unknown`.

    `trusted`: the expected events whose data are up to date.
    """
    count = sum(len(enabled(state.event.restreams or ())) for state in expected)
    if not count:
        return []
    statuses = Counter(restream.status for state in trusted for restream in enabled(state.event.restreams or ()))
    connected = statuses["connected"]
    lost = statuses.total() - connected - statuses[None]
    has_all = connected == count and all(state.event.restreams is not None for state in expected)
    role = StyleRole.WARNING if lost else StyleRole.OK if has_all else StyleRole.TEXT
    words = f"{connected} of {count} destinations connected"
    return [("→ ", StyleRole.DIM), (words, role), *_doubt(count - connected - lost)]


def _doubt(unknown: int) -> Line:
    """Return the number of unknown destinations, to add to a number of connected ones; empty for 0."""
    return [(f", {UNKNOWN} {unknown} unknown", StyleRole.STALE)] if unknown else []


_EVENT_COLUMNS = {column.name: column for column in EVENTS.columns}

STREAMS: TableSchema[EventState] = TableSchema(
    columns=(
        _EVENT_COLUMNS["tally"],
        replace(_EVENT_COLUMNS["event"], width=20),
        replace(_EVENT_COLUMNS["ingest"], title="ARRIVES", rank=0),
        Column("since", "SINCE", 7, 3, _since, _since_value, right=True),
        Column("window", "WINDOW ", 14, 0, _window, window_used, right=True),
        replace(_EVENT_COLUMNS["video"], rank=0),
        replace(_EVENT_COLUMNS["audio"], rank=6),
        replace(_EVENT_COLUMNS["fps"], rank=7),
        replace(_EVENT_COLUMNS["recent"], rank=5, stretches=False),
        replace(_EVENT_COLUMNS["out"], rank=1),
        Column(
            "goes",
            "GOES TO",
            GOES_TO_CELLS,
            4,
            _destinations,
            _EVENT_COLUMNS["out"].value,
            grows=True,
            draw=destinations,
            is_steady=True,
        ),
        Column("status", "STATUS", 9, 10, _status, lambda state, _: _status_text(state)),
        Column("started", "START (UTC)", 15, 9, _started, _started_at, right=True),
    ),
    key=EVENTS.key,
    text=EVENTS.text,
    is_critical=has_critical_finding,
    is_worst_first=True,
    count=EVENTS.count,
    has_pins=True,
    rows=streaming_events,
    fields={**EVENTS.fields, "health": health_score},
)
"""Table of the Streams screen: the signal of each event from its encoder to its destinations."""
