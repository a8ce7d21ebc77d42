"""The selected event in full, under the table: what it is, what arrives, where it goes, what is wrong."""

from __future__ import annotations

from livedeck.monitor import EventState, Finding
from livedeck.presentation import events
from livedeck.presentation.events import recent_status, recent_video
from livedeck.presentation.qos import status_style
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, clip, fit, wrap_groups

LABEL_CELLS = 11

TITLE_CELLS = 32

"""What a name may take at most: what is wrong must still find room beside it."""


def detail(state: EventState, moment: RenderTime, width: int) -> list[Line]:
    """Most needed first, so that a short panel keeps what matters: title, what is wrong, signal, outputs, addresses."""
    return [
        title(state, moment, width),
        *[_labelled("wrong", finding_line(one, moment)) for one in state.assessment.findings],
        _labelled("signal", _signal(state, moment, width - LABEL_CELLS)),
        _labelled("restreams", _restreams(state, moment)),
        _labelled("settings", _settings(state)),
        _labelled("ingest", [(values.safe(str(state.event.rtmp_link or values.UNKNOWN)), StyleRole.DIM)]),
        _labelled("play", [(values.link(state.event.play_link or values.UNKNOWN), StyleRole.DIM)]),
    ]


def title(state: EventState, moment: RenderTime, width: int) -> Line:
    """Name, tally, clock, health, and the window that is left while the encoder is away."""
    parts = [
        (0, clip([(f" {events.name(state)}", StyleRole.STRONG)], TITLE_CELLS)),
        (0, events.tally(state, moment)),
        (2, [(events.clock(state, moment), StyleRole.TEXT)]),
        (0, events.health(state, moment)),
        (3, _detail(state, moment)),
        (1, _window(state, moment)),
    ]
    return fit(wrap_groups([part for part in parts if part[1]], width), width)


def _detail(state: EventState, moment: RenderTime) -> Line:
    said = state.assessment.health.detail
    return [] if moment.stale or not said else [(said, StyleRole.TEXT)]


def _window(state: EventState, moment: RenderTime) -> Line:
    """What is left of the reconnect window, while the encoder is away."""
    ends = state.phase.ingest.window_ends
    if ends is None:
        return []
    left = -moment.server_seconds_since(ends)
    words = f"window {values.short_duration(left)} left" if left > 0 else "window over"
    return [(words, StyleRole.STALE if moment.stale else StyleRole.CRITICAL)]


def finding_line(one: Finding, moment: RenderTime) -> Line:
    """One thing that is wrong: for how long, kind, actual, expected."""
    glyph, word, ink = events.SEVERITIES[one.severity]
    lasted = values.UNKNOWN if one.since is None else values.compact_duration(moment.server_seconds_since(one.since))
    return [
        (f"{glyph} {word} {lasted:>6}  {one.kind}  ", StyleRole.STALE if moment.stale else ink),
        (one.actual, StyleRole.TEXT),
        (f"  expected {one.expected}", StyleRole.DIM),
    ]


def _labelled(label: str, line: Line) -> Line:
    return [(f" {label:<{LABEL_CELLS - 1}}", StyleRole.HEAD), *line]


def _signal(state: EventState, moment: RenderTime, width: int) -> Line:
    if not len(state.qos.readings):
        return [("no samples", StyleRole.DIM)]
    columns = max(4, min(40, (width - 46) // 2))
    return [
        *recent_video(state, moment, columns),
        ("  ", StyleRole.TEXT),
        *recent_status(state, moment, columns),
        ("  ", StyleRole.TEXT),
        *_now(state, moment),
    ]


def _now(state: EventState, moment: RenderTime) -> Line:
    line: Line = [
        *events.video(state, moment),
        (" video  ", StyleRole.DIM),
        *events.audio(state, moment),
        (" audio  ", StyleRole.DIM),
    ]
    line += [*events.fps(state, moment), (" fps", StyleRole.DIM)]
    known = events.reading(state)
    if known is None or known.status is None:
        return line
    shown = status_style(known.status)
    return [*line, (f"  {shown.glyph} {shown.word}", StyleRole.STALE if moment.stale else shown.ink)]


def _restreams(state: EventState, moment: RenderTime) -> Line:
    restreams = state.event.restreams or ()
    if not restreams:
        return [("none", StyleRole.DIM)]
    line: Line = []
    for one in restreams:
        glyph, ink = destination(enabled=bool(one.enabled), status=one.status)
        name, status = values.safe(one.name or values.UNKNOWN, 40), values.safe(one.status or values.UNKNOWN, 20)
        line.append((f"{glyph} {name} {status}   ", StyleRole.STALE if moment.stale else ink))
    return line


def destination(*, enabled: bool, status: str | None) -> tuple[str, StyleRole]:
    if not enabled:
        return "·", StyleRole.DIM
    return ("✓", StyleRole.OK) if status == "connected" else ("○", StyleRole.TEXT)


def _settings(state: EventState) -> Line:
    event = state.event
    presets = (event.video and event.video.presets) or ()
    window = event.reconnect_window
    facts = [
        event.type or values.UNKNOWN,
        " ".join(presets) or "no presets",
        f"{event.latency_mode or values.UNKNOWN} latency",
        f"window {values.UNKNOWN if window is None else values.short_duration(window)}",
        f"protected {_yes(event.protected)}",
        f"time shift {_yes(event.time_shift)}",
        f"chat {_yes(event.chat_active)}",
    ]
    return [(values.safe("   ".join(facts)), StyleRole.TEXT)]


def _yes(value: bool | None) -> str:
    return values.UNKNOWN if value is None else "yes" if value else "no"
