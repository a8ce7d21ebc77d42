"""The selected event in full: what it is, what arrives, where it goes, what is wrong. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from livedeck.client import EventRestream
from livedeck.monitor import EventState, Finding, Profile, ProfileChoice, Readings, diagnose
from livedeck.presentation import events
from livedeck.presentation.badges import severity_chip, words_role
from livedeck.presentation.qos import (
    Axis,
    area_lines,
    bucket_columns,
    bucket_statuses,
    clock_labels,
    recent_axis,
    round_top,
    status_strip,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.text import addresses
from livedeck.text.segments import Group, Line, StyleRole, clip, fit, join, justify, labelled, wrap_groups
from livedeck.text.segments import width as line_width
from livedeck.text.values import UNKNOWN, bits, compact_duration, safe, short_duration

LABEL_CELLS = 11

MAX_TITLE_NAME_CELLS = 32
"""A longer name is cut: what is wrong must still fit beside it."""


def problem_lines(state: EventState, render_time: RenderTime, cells: int) -> list[Line]:
    """What is wrong, the worst first; that the last list lacks the event; which fields could not be read."""
    return [
        *(_finding_line(finding, render_time, cells) for finding in state.assessment.findings),
        *([] if state.is_listed else [[(events.UNLISTED, StyleRole.WARNING)]]),
        *_unread(state),
    ]


def fact_lines(state: EventState, render_time: RenderTime, cells: int) -> list[Line]:
    """Where it goes, how it is set, its addresses: each behind its label."""
    facts: list[tuple[str, Line]] = [
        ("out", _restreams(state, render_time)),
        ("set", _settings(state, cells - GUTTER)),
        ("ingest", [(safe(str(state.event.rtmp_link or UNKNOWN)), StyleRole.DIM)]),
        ("play", [(addresses.show(state.event.play_link), StyleRole.DIM)]),
    ]
    return [labelled(label, line, GUTTER) for label, line in facts]


def cockpit_lines(state: EventState, render_time: RenderTime, width: int, height: int) -> list[Line]:
    """The event in so many cells and lines: what it is, what is wrong, what arrives, where it goes.

    Three charts where there is room for them, else that of the video; the facts behind it give way to it, what a person
    ruled never does.
    """
    head = wrap_groups(_state_groups(state, render_time), width, 2)
    problems = problem_lines(state, render_time, width)[: 1 if height < TALL_CHART_LINES else 3]
    problems += [labelled("judged", line, GUTTER) for line in _rulings(state)]
    facts = fact_lines(state, render_time, width)
    if not len(state.qos.readings):
        return [head, *problems, [], [(" " + (safe(state.qos.error) or "no samples yet"), StyleRole.DIM)], [], *facts]
    left = height - 1 - len(problems)
    facts = facts[: min(max(0, left - MIN_CHART_LINES), 2 if left < TALL_CHART_LINES else len(facts))]
    return [head, *problems, *_charts(state, render_time, width, left - len(facts)), *facts]


def short_lines(state: EventState, render_time: RenderTime, width: int) -> list[Line]:
    """The event in three lines: what is wrong, what arrives, what to do and where it goes."""
    first = state.assessment.findings[0] if state.assessment.findings else None
    name = clip([(f" {events.name(state)}  ", StyleRole.STRONG)], MAX_TITLE_NAME_CELLS)
    problems = problem_lines(state, render_time, width - line_width(name))
    wrong = (
        problems[0]
        if problems
        else [(state.assessment.health.detail or events.lag_text(state) or _calm(state), StyleRole.DIM)]
    )
    bars = max(8, width - 36)
    advice = safe(diagnose(first.kind, state).advice) if first else ""
    outputs = [
        (f" {glyph}", StyleRole.STALE if render_time.stale else role)
        for glyph, role in map(restream_mark, state.event.restreams or ())
    ]
    return [
        clip([*name, *wrong], width),
        labelled(
            "video", [*fit(events.recent_signal(state, render_time, bars), bars), *_video_now(state, render_time)], 9
        ),
        join(
            labelled("do", [(advice or "nothing", StyleRole.TEXT if advice else StyleRole.DIM)], 9),
            [("  out", StyleRole.HEAD), *outputs, (" ", StyleRole.TEXT)] if outputs else [],
            width,
        ),
    ]


def _calm(state: EventState) -> str:
    return "nothing is wrong" if state.phase.tally.expects_signal else ""


def _state_groups(state: EventState, render_time: RenderTime) -> list[Group]:
    health_detail = state.assessment.health.detail
    return [
        (0, events.tally(state, render_time)),
        (0, [(events.clock(state, render_time), StyleRole.TEXT)]),
        (0, events.health(state, render_time)),
        (3, [] if render_time.stale or not health_detail else [(health_detail, StyleRole.TEXT)]),
        (1, _reconnect_window(state, render_time)),
        (4, [(lag, StyleRole.DIM)] if (lag := events.lag_text(state)) else []),
    ]


GUTTER = 9
"""Cells left of a chart, for its scale."""

MIN_CHART_LINES, TALL_CHART_LINES = 6, 22
"""Lines of the charts with their strip and time: under the first the facts give way, from the second on three fit."""


def _charts(state: EventState, render_time: RenderTime, width: int, height: int) -> list[Line]:
    axis = recent_axis(state, render_time, events.RECENT_SECONDS, width - GUTTER)
    assert axis is not None
    readings, stale = state.qos.readings, events.is_doubtful(state, render_time)
    below = [
        labelled("status", status_strip(bucket_statuses(axis, readings), stale=stale), GUTTER),
        labelled("UTC", [(clock_labels(axis), StyleRole.DIM)], GUTTER),
    ]
    rows = height - len(below)
    video = _Curve("video Mbit/s", readings.video, 1e6, StyleRole.VIDEO, StyleRole.VIDEO_QUIET)
    curves = [(video, rows)]
    if height >= TALL_CHART_LINES:
        audio = _Curve("audio kbit/s", readings.audio, 1e3, StyleRole.AUDIO, StyleRole.AUDIO_QUIET)
        fps = _Curve("fps", readings.fps, 1.0, StyleRole.FPS, StyleRole.FPS_QUIET)
        curves = [(video, rows - 2 * (rows // 4)), (audio, rows // 4), (fps, rows // 4)]
    now = (_video_now(state, render_time), events.audio(state, render_time), events.fps(state, render_time))
    lines = [
        line
        for (curve, count), text in zip(curves, now, strict=False)
        for line in _chart(curve, axis, readings, text, count, stale=stale)
    ]
    return [*lines, *below]


class _Curve(NamedTuple):
    """One curve: its title, its values and their unit, its colour at the top and below it."""

    title: str
    values: array[float]
    unit: float
    role: StyleRole
    quiet: StyleRole


def _chart(curve: _Curve, axis: Axis, readings: Readings, now: Line, rows: int, *, stale: bool) -> list[Line]:
    """A head with the value now, and the curve with the area under it; left of it the top of the scale and zero."""
    buckets = bucket_columns(axis, readings, curve.values)
    top = round_top(max((bucket.high for bucket in buckets if bucket), default=0.0) / curve.unit)
    roles = (StyleRole.STALE, StyleRole.STALE) if stale else (curve.role, curve.quiet)
    head = justify([(0, [(" ■", roles[0]), (f" {curve.title}", StyleRole.STRONG)])], [(0, now)], GUTTER + axis.columns)
    labels = {0: f"{top:g}", rows - 2: "0"}
    return [
        head,
        *(
            [(f"{labels.get(row, ''):>{GUTTER - 1}} ", StyleRole.DIM), *line]
            for row, line in enumerate(area_lines(buckets, rows - 1, top * curve.unit, roles))
        ),
    ]


def _video_now(state: EventState, render_time: RenderTime) -> Line:
    """The rate now, what is usual, and the limit."""
    usual, limit = state.assessment.baseline_video, state.assessment.limit_video
    line = [(" ", StyleRole.TEXT), *events.video(state, render_time)]
    if usual is not None and limit is not None:
        line += [(f"  base {bits(usual)}  limit ", StyleRole.DIM), (f"{bits(limit)} ", StyleRole.TEXT)]
    return line


def title(state: EventState, render_time: RenderTime, width: int) -> Line:
    """Name, tally, clock, health, and what is left of the reconnect window while the encoder is away."""
    name = clip([(f" {events.name(state)}", StyleRole.STRONG)], MAX_TITLE_NAME_CELLS)
    return fit(wrap_groups([(0, name), *_state_groups(state, render_time)], width), width)


def _reconnect_window(state: EventState, render_time: RenderTime) -> Line:
    ends = state.phase.ingest.window_ends
    if ends is None:
        return []
    left = -render_time.server_seconds_since(ends)
    text = f"window {short_duration(left)} left" if left > 0 else "window over"
    return [(text, StyleRole.STALE if render_time.stale else StyleRole.STRONG)]


def _finding_line(finding: Finding, render_time: RenderTime, cells: int) -> Line:
    """Severity, for how long, kind, actual; what was expected, where there is room."""
    chip, role = severity_chip(finding.severity)
    since = finding.since
    lasted = UNKNOWN if since is None else compact_duration(render_time.server_seconds_since(since))
    head: Line = [
        (chip, StyleRole.STALE if render_time.stale else role),
        (f" {lasted:>6}  ", StyleRole.TEXT),
        (f"{finding.kind}  ", StyleRole.STALE if render_time.stale else words_role(finding.severity)),
        (finding.actual, StyleRole.TEXT),
    ]
    return wrap_groups([(0, head), (1, [(f"expected {finding.expected}", StyleRole.DIM)])], cells)


def _unread(state: EventState) -> Iterator[Line]:
    """The first field that could not be read, and how many there are: twenty would leave no room for the signal."""
    faults = events.faults(state)
    for fault in faults[:1]:
        count = f"1 of {len(faults)}  " if len(faults) > 1 else ""
        yield [(f"≠ {count}{fault}", StyleRole.WARNING)]


def _restreams(state: EventState, render_time: RenderTime) -> Line:
    line: Line = []
    for restream in state.event.restreams or ():
        glyph, role = restream_mark(restream)
        name, status = safe(restream.name or UNKNOWN, 40), safe(restream.status or UNKNOWN, 20)
        words = name if glyph == "✓" else f"{name} {status}"
        line.append((f"{glyph} {words}   ", StyleRole.STALE if render_time.stale else role))
    return line or [("none", StyleRole.DIM)]


def restream_mark(restream: EventRestream) -> tuple[str, StyleRole]:
    """Glyph and role of a restream: off, connected, or not."""
    if not restream.enabled:
        return "·", StyleRole.DIM
    return ("✓", StyleRole.OK) if restream.status == "connected" else ("○", StyleRole.TEXT)


def _settings(state: EventState, cells: int) -> Line:
    """The first of its settings that there is room for."""
    event = state.event
    presets = (event.video and event.video.presets) or ()
    window = event.reconnect_window
    facts = [
        event.type or UNKNOWN,
        " ".join(presets) or "no presets",
        f"{event.latency_mode or UNKNOWN} latency",
        f"window {UNKNOWN if window is None else short_duration(window)}",
        f"protected {_yes_or_no(event.protected)}",
        f"time shift {_yes_or_no(event.time_shift)}",
        f"chat {_yes_or_no(event.chat_active)}",
    ]
    return wrap_groups([(rank, [(safe(fact), StyleRole.TEXT)]) for rank, fact in enumerate(facts)], cells, 3)


def _rulings(state: EventState) -> Iterator[Line]:
    """What persons, or the settings, said of how it is judged; nothing where nobody did."""
    facts = [f"{ruling.text} {ruling.moment:%H:%M:%S}Z" for ruling in state.rulings[-2:]]
    if state.profile is not Profile.SHOW and not any(isinstance(ruling, ProfileChoice) for ruling in state.rulings):
        facts.append(f"profile {state.profile}, by the settings")
    if facts:
        yield [(safe("   ".join(facts)), StyleRole.TEXT)]


def _yes_or_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"
