"""Details of the selected stream: its signal, destinations, settings and recordings. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from livedeck.client import EventRestream, Recording
from livedeck.monitor import CachedList, EventState, Snapshot, recordings_key
from livedeck.presentation import event_detail, events
from livedeck.presentation.connection import missing_rows
from livedeck.presentation.event_detail import LABEL_CELLS, title
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.streams import all_destinations, destination_mark
from livedeck.presentation.time_series import recent_series
from livedeck.text import addresses
from livedeck.text.segments import Line, ShadedLine, StyleRole, clip, fit, labelled
from livedeck.text.values import NOT_APPLICABLE, UNKNOWN, age, compact_duration, duration, safe
from livedeck.ui.kit.signal_chart import Chart, chart_columns, recent_chart

WIDE_CELLS = 94
"""Minimum width of a line with a destination and its address. In narrower panes the address has its own line."""

NAME_CELLS, STATUS_CELLS = 22, 22


def signal_lines(
    state: EventState, render_time: RenderTime, width: int, height: int, *, has_grid: bool, chart: Chart
) -> list[ShadedLine]:
    """Return the state of the signal, then its faults, then its chart in all lines that are left.

    `chart`: cache of the chart.
    """
    lines: list[ShadedLine] = [event_detail.state_line(state, render_time, width, has_finding=False)]
    lines += event_detail.problem_lines(state, render_time, width, findings=3)
    series = recent_series(state, render_time, events.RECENT_SECONDS, chart_columns(width))
    if series is None or series.is_empty:
        return [*lines, [], [(safe(state.qos.error) or "No samples yet", StyleRole.DIM)]]
    left = height - len(lines)
    return [*lines, *recent_chart(state, render_time, series, lines=left, width=width, has_grid=has_grid, cache=chart)]


def way_lines(state: EventState, snapshot: Snapshot, render_time: RenderTime, width: int, height: int) -> list[Line]:
    """Return the destinations of a stream, its recordings and settings, and the destinations of all streams.

    If the pane is too low, it drops connected destinations of other streams first, then all their destinations, then
    the settings.
    """
    parts = [
        destination_lines(state, render_time, width),
        recording_lines(snapshot.cached(recordings_key(state.id)), render_time, width),
        _setting_lines(state, width),
    ]
    left = height - sum(len(part) + 1 for part in parts)
    if left < -1:
        parts.pop()
    elif left > 1:
        parts.append(_all_lines(snapshot.events, render_time, width, left))
    return [line for part in parts for line in (*part, [])][:-1]


def _all_lines(states: Iterable[EventState], render_time: RenderTime, width: int, height: int) -> list[Line]:
    """Return the destinations of all streams on air that fit, unconnected ones first.

    In a narrow line, the name of the event takes the place of the status, because the sign tells the status.
    """
    found = all_destinations(states, render_time)
    count = len(found) if len(found) <= height else height - 1
    has_status = width >= LABEL_CELLS + NAME_CELLS + STATUS_CELLS + events.NAME_CELLS
    rows: list[Line] = [
        [
            *fit([(f"{glyph} {safe(restream.name or UNKNOWN, 40)}", role)], NAME_CELLS, ellipsis=True),
            *(fit([(safe(restream.status or UNKNOWN, 20), role)], STATUS_CELLS) if has_status else ()),
            (name, StyleRole.TEXT),
        ]
        for (glyph, role), name, restream in found[:count]
    ]
    rows += [[(f"{len(found) - count} more", StyleRole.DIM)]] if found[count:] else []
    return [clip(labelled("" if index else "on air", row, LABEL_CELLS), width) for index, row in enumerate(rows)]


def panel(state: EventState, recordings: CachedList[Recording], render_time: RenderTime, width: int) -> list[Line]:
    """Return the stream's title, destinations and recordings, for a screen without panes."""
    return [
        title(state, render_time, width),
        *destination_lines(state, render_time, width),
        *recording_lines(recordings, render_time, width),
    ]


def destination_lines(state: EventState, render_time: RenderTime, width: int) -> list[Line]:
    """Return each destination: sign, name, status and since when, and its address."""
    restreams = state.event.restreams or ()
    if not restreams:
        text = UNKNOWN if state.event.restreams is None else "no destinations"
        return [labelled("goes to", [(text, StyleRole.DIM)], LABEL_CELLS)]
    lines: list[Line] = []
    for restream in restreams:
        label = "" if lines else "goes to"
        glyph, role = destination_mark(state, restream, render_time)
        status = "off" if glyph == "·" else safe(restream.status or UNKNOWN, 20)
        name = fit([(f"{glyph} {safe(restream.name or UNKNOWN, 40)}", role)], NAME_CELLS, ellipsis=True)
        address, since = addresses.show(restream.url), _fault_words(state, restream, render_time)
        if width >= WIDE_CELLS:
            words = fit([(status, role), (since, StyleRole.DIM)], STATUS_CELLS)
            lines.append(labelled(label, [*name, *words, (address, StyleRole.DIM)], LABEL_CELLS))
        else:
            lines.append(labelled(label, [*name, (status, role), (since, StyleRole.DIM)], LABEL_CELLS))
            lines.append(labelled("", [(f"  {address}", StyleRole.DIM)], LABEL_CELLS))
    return [clip(line, width) for line in lines]


def _fault_words(state: EventState, restream: EventRestream, render_time: RenderTime) -> str:
    """Return how long the destination has been at fault, or how long ago its last fault ended; empty without a fault.

    Only faults that this deck has seen count.
    """
    faults = [episode for episode in state.episodes if episode.target and episode.target == restream.id]
    if not faults:
        return ""
    last = faults[-1]
    return f" for {compact_duration(render_time.server_seconds_since(last.until or last.since))}"


def _setting_lines(state: EventState, width: int) -> list[Line]:
    """Return the addresses of the stream, its settings, and its status and id as the platform has them."""
    event, stream = state.event, state.event.stream
    presets = event.video.presets if event.video else None
    facts = (
        ("from", safe(str(event.rtmp_link or UNKNOWN)), StyleRole.DIM),
        ("watch at", addresses.show(event.play_link), StyleRole.DIM),
        ("quality", " ".join(map(safe, presets)) if presets else NOT_APPLICABLE, StyleRole.TEXT),
        ("latency", safe(event.latency_mode or UNKNOWN, 20), StyleRole.TEXT),
        ("status", safe((stream and stream.status) or UNKNOWN, 20), StyleRole.TEXT),
        ("stream", safe((stream and stream.id) or UNKNOWN, 40), StyleRole.DIM),
    )
    return [clip(labelled(label, [(text, role)], LABEL_CELLS), width) for label, text, role in facts]


def recording_lines(recordings: CachedList[Recording], render_time: RenderTime, width: int) -> list[Line]:
    """Return the recordings with the age of their list: length, creation, status, title."""
    if recordings.as_of is None and not recordings.error:
        return [labelled("recorded", [("loading", StyleRole.DIM)], LABEL_CELLS)]
    as_of = recordings.as_of
    freshness = "no reply yet" if as_of is None else f"as of {age(render_time.seconds_since(as_of))} ago"
    head: Line = [(freshness, StyleRole.DIM)]
    if recordings.error:
        head = [(f"▲ failed  {freshness}  {safe(recordings.error, 120)}", StyleRole.WARNING)]
    elif missing := missing_rows(recordings, "recording"):
        head = [*missing, (f"  {freshness}", StyleRole.DIM)]
    elif not recordings.items:
        head = [("none", StyleRole.DIM), (f"  {freshness}", StyleRole.DIM)]
    role = StyleRole.STALE if render_time.stale or recordings.error else StyleRole.TEXT
    lines = (labelled("", _recording(recording, role), LABEL_CELLS) for recording in recordings.items)
    return [clip(line, width) for line in (labelled("recorded", head, LABEL_CELLS), *lines)]


def _recording(recording: Recording, role: StyleRole) -> Line:
    length = UNKNOWN if recording.duration is None else duration(recording.duration)
    created_at = f"{recording.created_at:%d %b %H:%M}" if recording.created_at else UNKNOWN
    return [
        *fit([(length, role)], 10),
        *fit([(created_at, StyleRole.DIM)], 14),
        *fit([(safe(recording.status or UNKNOWN, 20), role)], 10),
        (safe(recording.title or recording.id, 60), role),
    ]
