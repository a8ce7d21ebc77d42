"""Details of the selected event: state, signal, restreams, settings and faults. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.client import EventRestream
from livedeck.monitor import (
    ENDED_ON_AIR,
    AlarmKey,
    Content,
    Diagnosis,
    Episode,
    EventState,
    Finding,
    ProfileChoice,
    diagnose,
    enabled,
    is_enabled,
)
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_RANKS, severity_chip, words_role
from livedeck.presentation.connection import MEASURING, not_known_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text import addresses
from livedeck.text.segments import (
    Group,
    Line,
    Segment,
    StyleRole,
    abridge,
    clip,
    fit,
    join,
    labelled,
    shorten,
    wrap,
    wrap_groups,
)
from livedeck.text.segments import width as line_width
from livedeck.text.values import UNKNOWN, bits, compact_duration, evidence_text, safe, short_duration

LABEL_CELLS = 11

MAX_TITLE_NAME_CELLS = 32
"""Maximum width of the name in cells, so that the first fault fits beside the name."""


def problem_lines(state: EventState, render_time: RenderTime, cells: int, *, findings: int | None = None) -> list[Line]:
    """Return a line for each finding, worst first, then the doubts about the event, then the unreadable fields.

    The doubts are: the encoder may have left, and the last list lacks the event. `findings`: maximum number of
    findings.
    """
    return [
        *(_finding_line(finding, render_time, cells) for finding in state.assessment.findings[:findings]),
        *([[(doubt, StyleRole.WARNING)]] if (doubt := events.doubt_of_encoder(state, render_time)) else []),
        *([] if state.is_listed else [[(events.UNLISTED, StyleRole.WARNING)]]),
        *_unreadable(state),
    ]


def fact_lines(state: EventState, render_time: RenderTime, cells: int) -> list[Line]:
    """Return restreams, settings and addresses, each after its label."""
    facts: list[tuple[str, Line]] = [
        ("out", _restreams(state, render_time, cells - GUTTER)),
        ("set", _settings(state, cells - GUTTER)),
        ("ingest", [(safe(str(state.event.rtmp_link or UNKNOWN)), StyleRole.DIM)]),
        ("play", [(addresses.show(state.event.play_link), StyleRole.DIM)]),
    ]
    return [labelled(label, line, GUTTER) for label, line in facts]


def short_lines(state: EventState, render_time: RenderTime, width: int) -> list[Line]:
    """Return the event in three lines: first fault, signal, and advice with restreams."""
    name = clip([(f" {events.name(state)}  ", StyleRole.STRONG)], MAX_TITLE_NAME_CELLS)
    problems = problem_lines(state, render_time, width - line_width(name))
    wrong = problems[0] if problems else [_unfaulted(state, render_time)]
    now = wrap_groups(_video_groups(state, render_time), width - GUTTER - MIN_BARS)
    bars = max(1, width - GUTTER - line_width(now) - 2)
    signal = fit(events.recent_signal(state, render_time, bars), bars)
    outputs: Line = [
        (f" {glyph}", StyleRole.STALE if render_time.stale else role)
        for glyph, role in map(restream_mark, state.event.restreams or ())
    ]
    out: Line = [("  out", StyleRole.HEAD), *outputs, (" ", StyleRole.TEXT)] if outputs else []
    return [
        clip([*name, *wrong], width),
        labelled("video", [*signal, (" ", StyleRole.TEXT), *now], GUTTER),
        join(advice_line(state, render_time, width - line_width(out)), out, width),
    ]


def advice_line(state: EventState, render_time: RenderTime, width: int) -> Line:
    """Return what to do about the worst finding, cut to one line; without a finding, whether all is well."""
    diagnosis, is_doubtful = _diagnosis(state, render_time), events.is_doubtful(state, render_time)
    calm = events.doubt_cause(state, render_time).advice if is_doubtful else ""
    advice = safe(diagnosis.advice if diagnosis else calm)
    text = abridge(advice, width - GUTTER) if advice else _calm(state, is_doubtful=is_doubtful)
    return labelled("do", [(text, StyleRole.TEXT if advice else StyleRole.DIM)], GUTTER)


def _diagnosis(state: EventState, render_time: RenderTime) -> Diagnosis | None:
    """Return the diagnosis of the worst finding, or of the incident that hides its alarm.

    Without a finding, returns the diagnosis of an open ENDED_ON_AIR, or None.
    """
    if not state.assessment.findings:
        return render_time.explained.get(AlarmKey(state.id, ENDED_ON_AIR))
    worst = state.assessment.findings[0]
    return render_time.explained.get(AlarmKey(state.id, worst.kind, worst.target)) or diagnose(worst.kind, state)


def _calm(state: EventState, *, is_doubtful: bool) -> str:
    """Return the text in place of advice for an event without findings."""
    if is_doubtful:
        return "wait for the platform"
    if not state.phase.tally.expects_signal:
        return "Nothing to do"
    return _unconnected_text(state) or "All well" if state.is_measured else "wait for samples"


MIN_BARS = 16
"""Minimum width of the bars in `short_lines` in cells. A narrower line has no baseline, so that the bars fit."""


def _unfaulted(state: EventState, render_time: RenderTime) -> Segment:
    """Return the text for an event without findings: `no faults` only if its data are current."""
    if events.is_doubtful(state, render_time):
        return (doubt_text(state, render_time), StyleRole.STALE)
    if unanswered := unanswered_text(state, render_time):
        return (unanswered, StyleRole.WARNING)
    if doubt := events.doubt_of_encoder(state, render_time):
        return (doubt, StyleRole.WARNING)
    well = _unconnected_text(state) or "no faults"
    calm = (well if state.is_measured else MEASURING) if state.phase.tally.expects_signal else ""
    return (state.assessment.health.detail or events.lag_text(state) or calm, StyleRole.DIM)


def _unconnected_text(state: EventState) -> str:
    """Return the number of restreams that are not connected, before RESTREAM_DOWN reports them; empty for none."""
    outputs = enabled(state.event.restreams or ())
    down = sum(restream.status not in {None, "connected"} for restream in outputs)
    return f"{down} of {len(outputs)} restreams not connected" if down else ""


def unanswered_text(state: EventState, render_time: RenderTime) -> str:
    """Return the duration of the event's failing calls: `no reply for 12 s`; empty if they succeed."""
    since = state.qos.as_of or state.qos.failing_since
    if state.qos.failing_since is None or since is None:
        return ""
    return f"no reply for {render_time.seconds_since(since):.0f} s"


def worst_lasting(state: EventState) -> Episode | None:
    """Return the most severe fault that was present in the last data."""
    lasting = [episode for episode in state.episodes if episode.until is None]
    return min(lasting, key=lambda episode: SEVERITY_RANKS[episode.severity], default=None)


def doubt_text(state: EventState, render_time: RenderTime) -> str:
    """Return the time since which the event is not known, the worst fault until then, and the cause.

    Such as `not known since 21:14:07Z, PACKET_LOSS before: the platform answers 503`.
    """
    worst = worst_lasting(state)
    cause = events.doubt_cause(state, render_time)
    return not_known_text(events.known_until(state), cause, worst.kind if worst else "")


def state_line(state: EventState, render_time: RenderTime, width: int, *, has_finding: bool) -> Line:
    """Return tally, clock, health and the time left of the reconnect window. `has_finding`: add the first fault."""
    groups = _state_groups(state, render_time)
    findings = state.assessment.findings
    if has_finding and findings and not render_time.stale:
        kept = [(rank, group) for rank, group in groups if rank < _DETAIL_RANK]
        free = width - line_width(wrap_groups(kept, width)) - 2
        kept.append(
            (1, [(shorten(evidence_text(findings[0]), free), StyleRole.TEXT)] if free > MIN_FINDING_CELLS else [])
        )
        groups = kept
    return wrap_groups(groups, width)


MIN_FINDING_CELLS = 8
"""Minimum width of a finding in cells. A shorter text would not name the fault."""

_DETAIL_RANK = 3


def _state_groups(state: EventState, render_time: RenderTime) -> list[Group]:
    health_detail = state.assessment.health.detail
    return [
        (0, events.tally(state, render_time)),
        (2, [(events.clock(state, render_time), StyleRole.TEXT)]),
        (0, events.health(state, render_time)),
        (_DETAIL_RANK, [] if render_time.stale or not health_detail else [(health_detail, StyleRole.TEXT)]),
        (1, _reconnect_window(state, render_time)),
        (4, [(lag, StyleRole.DIM)] if (lag := events.lag_text(state)) else []),
        (_DETAIL_RANK, [(gap, StyleRole.DIM)] if (gap := events.not_watched_text(state)) else []),
    ]


GUTTER = 8
"""Width of a label in cells."""


def _video_groups(state: EventState, render_time: RenderTime) -> list[Group]:
    """Return the current bit rate, the baseline and the limit."""
    usual, limit = state.assessment.baseline_video, state.assessment.limit_video
    return [
        (0, events.video(state, render_time)),
        (2, [(f"base {bits(usual)}", StyleRole.DIM)] if usual is not None else []),
        (1, [(f"limit {bits(limit)}", StyleRole.LIMIT)] if limit is not None else []),
    ]


def title(state: EventState, render_time: RenderTime, width: int) -> Line:
    """Return name, tally, clock and health, and the time left of the reconnect window while the encoder is away.

    In a narrow title details are dropped first, then a long name is cut. The health stays.
    """
    groups = _state_groups(state, render_time)
    needed = wrap_groups([(rank, group) for rank, group in groups if not rank], width)
    cells = max(events.NAME_CELLS, min(MAX_TITLE_NAME_CELLS, width - line_width(needed) - 2))
    name = clip([(f" {events.name(state)}", StyleRole.STRONG)], cells)
    return fit(wrap_groups([(0, name), *groups], width), width, ellipsis=True)


def _reconnect_window(state: EventState, render_time: RenderTime) -> Line:
    ends = events.known_ingest(state, render_time).window_ends
    if ends is None:
        return []
    left = -render_time.server_seconds_since(ends)
    text = f"window {short_duration(left)} left" if left > 0 else "window expired"
    return [(text, StyleRole.STALE if render_time.stale else StyleRole.STRONG)]


def _finding_line(finding: Finding, render_time: RenderTime, cells: int) -> Line:
    """Return severity, age, kind, actual and expected value."""
    chip, role = severity_chip(finding.severity)
    since = finding.since
    lasted = UNKNOWN if since is None else compact_duration(render_time.server_seconds_since(since))
    head: Line = [
        (chip, StyleRole.STALE if render_time.stale else role),
        (f" {lasted:>6}  ", StyleRole.TEXT),
        (f"{finding.kind}  ", StyleRole.STALE if render_time.stale else words_role(finding.severity)),
    ]
    return [*head, (shorten(evidence_text(finding), cells - line_width(head)), StyleRole.TEXT)]


def _unreadable(state: EventState) -> Iterator[Line]:
    """Yield the first unreadable field and the number of all. A list of all would leave no room for the signal."""
    faults = events.faults(state)
    for fault in faults[:1]:
        count = f"1 of {len(faults)}  " if len(faults) > 1 else ""
        yield [(f"≠ {count}{fault}", StyleRole.WARNING)]


def _restreams(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Return the restreams in order. In a narrow line, connected restreams are dropped first."""
    groups: list[Group] = []
    for index, restream in enumerate(state.event.restreams or (), 1):
        glyph, role = restream_mark(restream)
        name, status = safe(restream.name or UNKNOWN, 40), safe(restream.status or UNKNOWN, 20)
        is_connected = glyph == "✓"
        words = f"{glyph} {name}" if glyph in {"✓", UNKNOWN} else f"{glyph} {name} {status}"
        groups.append((index if is_connected else 0, [(words, StyleRole.STALE if render_time.stale else role)]))
    return clip(wrap_groups(groups, cells, 3), cells) or [("none", StyleRole.DIM)]


def restream_mark(restream: EventRestream) -> tuple[str, StyleRole]:
    """Return glyph and role of a restream: off, not known, connected or not connected."""
    if not is_enabled(restream):
        return "·", StyleRole.DIM
    if restream.status is None:
        return UNKNOWN, StyleRole.DIM
    return ("✓", StyleRole.OK) if restream.status == "connected" else ("○", StyleRole.TEXT)


def _settings(state: EventState, cells: int) -> Line:
    """Return as many settings of the event as fit."""
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


def advice_lines(state: EventState, render_time: RenderTime, width: int) -> list[Line]:
    """Return cause and advice of the worst finding, wrapped."""
    diagnosis = _diagnosis(state, render_time)
    if diagnosis is None:
        return []
    return [
        labelled("" if row else label, line, GUTTER)
        for label, text in (("why", diagnosis.cause), ("do", diagnosis.advice))
        for row, line in enumerate(wrap(safe(text), StyleRole.TEXT, width - GUTTER))
    ]


def ruling_lines(state: EventState) -> list[Line]:
    """Return the rulings of people or settings that apply to the event; empty without any."""
    facts = [f"{ruling.text} {ruling.moment:%H:%M:%S}Z" for ruling in state.rulings[-2:]]
    if state.content is not Content.SHOW and not any(isinstance(ruling, ProfileChoice) for ruling in state.rulings):
        facts.append(f"content {state.content}, by the settings")
    return [labelled("judged", [(safe("   ".join(facts)), StyleRole.TEXT)], GUTTER)] if facts else []


def _yes_or_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"
