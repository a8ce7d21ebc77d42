"""The selected event in full, under the table: what it is, what arrives, where it goes, what is wrong."""

from __future__ import annotations

from livedeck import wording
from livedeck.monitor import EventState, Finding
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.event_rows import recent_status, recent_video
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, clip, fit, flow
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.status import look

LABEL_CELLS = 11
TITLE_CELLS = 32
"""What a name may take at most: what is wrong must still find room beside it."""


def detail(state: EventState, moment: Moment, width: int) -> list[Line]:
    """Most needed first, so that a short panel keeps what matters: title, what is wrong, signal, outputs, addresses."""
    return [
        title(state, moment, width),
        *[_labelled("wrong", finding_line(one, moment)) for one in state.verdict.findings],
        _labelled("signal", _signal(state, moment, width - LABEL_CELLS)),
        _labelled("restreams", _restreams(state, moment)),
        _labelled("settings", _settings(state)),
        _labelled("ingest", [(wording.safe(str(state.event.rtmp_link or wording.UNKNOWN)), Ink.DIM)]),
        _labelled("play", [(wording.link(state.event.play_link or wording.UNKNOWN), Ink.DIM)]),
    ]


def title(state: EventState, moment: Moment, width: int) -> Line:
    """Name, tally, clock, health, and the window that is left while the encoder is away."""
    parts = [
        (0, clip([(f" {cells.name(state)}", Ink.STRONG)], TITLE_CELLS)),
        (0, cells.tally(state, moment)),
        (2, [(cells.clock(state, moment), Ink.TEXT)]),
        (0, cells.health(state, moment)),
        (3, _detail(state, moment)),
        (1, _window(state, moment)),
    ]
    return fit(flow([part for part in parts if part[1]], width), width)


def _detail(state: EventState, moment: Moment) -> Line:
    said = state.verdict.health.detail
    return [] if moment.stale or not said else [(said, Ink.TEXT)]


def _window(state: EventState, moment: Moment) -> Line:
    """What is left of the reconnect window, while the encoder is away."""
    ends = state.phase.ingest.window_ends
    if ends is None:
        return []
    left = -moment.server_since(ends)
    words = f"window {wording.short_duration(left)} left" if left > 0 else "window over"
    return [(words, Ink.STALE if moment.stale else Ink.CRITICAL)]


def finding_line(one: Finding, moment: Moment) -> Line:
    """One thing that is wrong: for how long, kind, actual, expected."""
    glyph, word, ink = cells.SEVERITIES[one.severity]
    lasted = wording.UNKNOWN if one.since is None else wording.brief(moment.server_since(one.since))
    return [
        (f"{glyph} {word} {lasted:>6}  {one.kind}  ", Ink.STALE if moment.stale else ink),
        (one.actual, Ink.TEXT),
        (f"  expected {one.expected}", Ink.DIM),
    ]


def _labelled(label: str, line: Line) -> Line:
    return [(f" {label:<{LABEL_CELLS - 1}}", Ink.HEAD), *line]


def _signal(state: EventState, moment: Moment, width: int) -> Line:
    if not len(state.qos.readings):
        return [("no samples", Ink.DIM)]
    columns = max(4, min(40, (width - 46) // 2))
    return [
        *recent_video(state, moment, columns),
        ("  ", Ink.TEXT),
        *recent_status(state, moment, columns),
        ("  ", Ink.TEXT),
        *_now(state, moment),
    ]


def _now(state: EventState, moment: Moment) -> Line:
    line: Line = [
        *cells.video(state, moment),
        (" video  ", Ink.DIM),
        *cells.audio(state, moment),
        (" audio  ", Ink.DIM),
    ]
    line += [*cells.fps(state, moment), (" fps", Ink.DIM)]
    known = cells.reading(state)
    if known is None or known.status is None:
        return line
    shown = look(known.status)
    return [*line, (f"  {shown.glyph} {shown.word}", Ink.STALE if moment.stale else shown.ink)]


def _restreams(state: EventState, moment: Moment) -> Line:
    restreams = state.event.restreams or ()
    if not restreams:
        return [("none", Ink.DIM)]
    line: Line = []
    for one in restreams:
        glyph, ink = destination(enabled=bool(one.enabled), status=one.status)
        name, status = wording.safe(one.name or wording.UNKNOWN, 40), wording.safe(one.status or wording.UNKNOWN, 20)
        line.append((f"{glyph} {name} {status}   ", Ink.STALE if moment.stale else ink))
    return line


def destination(*, enabled: bool, status: str | None) -> tuple[str, Ink]:
    if not enabled:
        return "·", Ink.DIM
    return ("✓", Ink.OK) if status == "connected" else ("○", Ink.TEXT)


def _settings(state: EventState) -> Line:
    event = state.event
    presets = (event.video and event.video.presets) or ()
    window = event.reconnect_window
    facts = [
        event.type or wording.UNKNOWN,
        " ".join(presets) or "no presets",
        f"{event.latency_mode or wording.UNKNOWN} latency",
        f"window {wording.UNKNOWN if window is None else wording.short_duration(window)}",
        f"protected {_yes(event.protected)}",
        f"time shift {_yes(event.time_shift)}",
        f"chat {_yes(event.chat_active)}",
    ]
    return [(wording.safe("   ".join(facts)), Ink.TEXT)]


def _yes(value: bool | None) -> str:
    return wording.UNKNOWN if value is None else "yes" if value else "no"
