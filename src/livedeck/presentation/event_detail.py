"""The selected event in full: what it is, what arrives, where it goes, what is wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.client import EventRestream
from livedeck.monitor import EventState, Finding, Profile, ProfileChoice
from livedeck.presentation import events
from livedeck.presentation.badges import severity_chip, words_role
from livedeck.presentation.qos import status_style
from livedeck.presentation.render_time import RenderTime
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole, clip, fit, wrap_groups
from livedeck.text.values import UNKNOWN, compact_duration, safe, short_duration

LABEL_CELLS = 11

MAX_TITLE_NAME_CELLS = 32
"""A longer name is cut: what is wrong must still fit beside it."""


def detail_lines(state: EventState, render_time: RenderTime, width: int) -> list[Line]:
    """Most needed first, so that a short panel keeps what matters: title, what is wrong, signal, outputs, addresses."""
    event = state.event
    panel: list[tuple[str, Line]] = [
        *[("wrong", _finding_line(finding, render_time)) for finding in state.assessment.findings],
        *([] if state.is_listed else [("list", [(events.UNLISTED, StyleRole.WARNING)])]),
        *[("unread", line) for line in _unread(state)],
        ("signal", _signal(state, render_time, width - LABEL_CELLS)),
        ("restreams", _restreams(state, render_time)),
        ("settings", _settings(state)),
        *[("judged", line) for line in _rulings(state)],
        ("ingest", [(safe(str(event.rtmp_link or UNKNOWN)), StyleRole.DIM)]),
        ("play", [(addresses.show(event.play_link), StyleRole.DIM)]),
    ]
    return [
        title(state, render_time, width),
        *([(f" {label:<{LABEL_CELLS - 1}}", StyleRole.HEAD), *line] for label, line in panel),
    ]


def title(state: EventState, render_time: RenderTime, width: int) -> Line:
    """Name, tally, clock, health, and what is left of the reconnect window while the encoder is away."""
    health_detail = state.assessment.health.detail
    groups = [
        (0, clip([(f" {events.name(state)}", StyleRole.STRONG)], MAX_TITLE_NAME_CELLS)),
        (0, events.tally(state, render_time)),
        (2, [(events.clock(state, render_time), StyleRole.TEXT)]),
        (0, events.health(state, render_time)),
        (3, [] if render_time.stale or not health_detail else [(health_detail, StyleRole.TEXT)]),
        (1, _reconnect_window(state, render_time)),
    ]
    return fit(wrap_groups(groups, width), width)


def _reconnect_window(state: EventState, render_time: RenderTime) -> Line:
    ends = state.phase.ingest.window_ends
    if ends is None:
        return []
    left = -render_time.server_seconds_since(ends)
    text = f"window {short_duration(left)} left" if left > 0 else "window over"
    return [(text, StyleRole.STALE if render_time.stale else StyleRole.STRONG)]


def _finding_line(finding: Finding, render_time: RenderTime) -> Line:
    """Severity, for how long, kind, actual, expected."""
    chip, role = severity_chip(finding.severity)
    since = finding.since
    lasted = UNKNOWN if since is None else compact_duration(render_time.server_seconds_since(since))
    return [
        (chip, StyleRole.STALE if render_time.stale else role),
        (f" {lasted:>6}  ", StyleRole.TEXT),
        (f"{finding.kind}  ", StyleRole.STALE if render_time.stale else words_role(finding.severity)),
        (finding.actual, StyleRole.TEXT),
        (f"  expected {finding.expected}", StyleRole.DIM),
    ]


def _unread(state: EventState) -> Iterator[Line]:
    """The first field that could not be read, and how many there are: twenty would leave no room for the signal."""
    faults = events.faults(state)
    for fault in faults[:1]:
        count = f"1 of {len(faults)}  " if len(faults) > 1 else ""
        yield [(f"{count}{fault}", StyleRole.WARNING)]


def _signal(state: EventState, render_time: RenderTime, width: int) -> Line:
    if not len(state.qos.readings):
        return [("no samples", StyleRole.DIM)]
    columns = max(4, min(40, (width - 46) // 2))
    line: Line = [
        *events.recent_video(state, render_time, columns),
        ("  ", StyleRole.TEXT),
        *events.recent_status(state, render_time, columns),
        ("  ", StyleRole.TEXT),
        *events.video(state, render_time),
        (" video  ", StyleRole.DIM),
        *events.audio(state, render_time),
        (" audio  ", StyleRole.DIM),
        *events.fps(state, render_time),
        (" fps", StyleRole.DIM),
    ]
    reading = events.current_reading(state)
    if reading is not None and reading.status is not None:
        style = status_style(reading.status)
        line.append((f"  {style.glyph} {style.word}", StyleRole.STALE if render_time.stale else style.role))
    if lag := events.lag_text(state):
        line.append((f"  {lag}", StyleRole.DIM))
    return line


def _restreams(state: EventState, render_time: RenderTime) -> Line:
    line: Line = []
    for restream in state.event.restreams or ():
        glyph, role = restream_mark(restream)
        name, status = safe(restream.name or UNKNOWN, 40), safe(restream.status or UNKNOWN, 20)
        line.append((f"{glyph} {name} {status}   ", StyleRole.STALE if render_time.stale else role))
    return line or [("none", StyleRole.DIM)]


def restream_mark(restream: EventRestream) -> tuple[str, StyleRole]:
    """Glyph and role of a restream: off, connected, or not."""
    if not restream.enabled:
        return "·", StyleRole.DIM
    return ("✓", StyleRole.OK) if restream.status == "connected" else ("○", StyleRole.TEXT)


def _settings(state: EventState) -> Line:
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
    return [(safe("   ".join(facts)), StyleRole.TEXT)]


def _rulings(state: EventState) -> Iterator[Line]:
    """What persons, or the settings, said of how it is judged; nothing where nobody did."""
    facts = [f"{ruling.text} {ruling.moment:%H:%M:%S}Z" for ruling in state.rulings[-2:]]
    if state.profile is not Profile.SHOW and not any(isinstance(ruling, ProfileChoice) for ruling in state.rulings):
        facts.append(f"profile {state.profile}, by the settings")
    if facts:
        yield [(safe("   ".join(facts)), StyleRole.TEXT)]


def _yes_or_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"
