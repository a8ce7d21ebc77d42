"""Pane of the selected event: identity, faults, charts and destinations. Pure."""

from __future__ import annotations

from livedeck.monitor import EventState
from livedeck.presentation import event_detail, events
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import recent_series
from livedeck.text.segments import ShadedLine, StyleRole
from livedeck.text.values import safe
from livedeck.ui.events.preflight import pane_lines
from livedeck.ui.kit.signal_chart import MIN_CHART_LINES, TALL_CHART_LINES, Chart, chart_columns, recent_chart
from livedeck.ui.shell.context import ActionRegistry

MAX_SHORT_FACTS = 2
"""Maximum number of facts (advice and destinations) in a pane with one chart."""


def waiting_lines(
    state: EventState, render_time: RenderTime, actions: ActionRegistry, width: int, height: int
) -> list[ShadedLine]:
    """Return the lines of an event that is about to start: its preflight, and as many of its facts as fit."""
    lines: list[ShadedLine] = [event_detail.state_line(state, render_time, width, has_finding=True)]
    lines += event_detail.problem_lines(state, render_time, width, findings=0)
    lines += event_detail.ruling_lines(state)
    lines += pane_lines(render_time.preflights[state.id], render_time, actions, width, height - len(lines))
    facts = event_detail.fact_lines(state, render_time, width)
    return [*lines, *([[], *facts] if len(lines) + 1 + len(facts) <= height else [])]


def cockpit_lines(
    state: EventState,
    render_time: RenderTime,
    width: int,
    height: int,
    *,
    has_grid: bool = True,
    chart: Chart | None = None,
) -> list[ShadedLine]:
    """Return the lines of an event in a pane of `width` cells and `height` lines.

    A tall pane has three charts, a short one only the video chart. Facts are omitted for the charts, but never a
    person's rulings, nor what to do. A short pane has the faults in its first line, a tall one in a line each.
    `chart`: cache of the charts, which are drawn again only for other samples, limits or sizes.
    """
    is_tall = height >= TALL_CHART_LINES
    lines: list[ShadedLine] = [event_detail.state_line(state, render_time, width, has_finding=not is_tall)]
    lines += event_detail.problem_lines(state, render_time, width, findings=3 if is_tall else 0)
    lines += event_detail.ruling_lines(state)
    facts = event_detail.fact_lines(state, render_time, width)
    series = recent_series(state, render_time, events.RECENT_SECONDS, chart_columns(width))
    if series is None or series.is_empty:
        return [*lines, [], [(" " + (safe(state.qos.error) or "No samples yet"), StyleRole.DIM)], [], *facts]
    advice = [event_detail.advice_line(state, render_time, width)]
    left = height - len(lines)
    if is_tall:
        room = max(1, left - TALL_CHART_LINES)
        whole = [*facts, *(event_detail.advice_lines(state, render_time, width) or advice)]
        facts = whole if len(whole) <= room else [*advice, *facts][:room]
    else:
        facts = [*advice, *facts][: min(max(0, left - MIN_CHART_LINES), MAX_SHORT_FACTS)]
    charts = recent_chart(
        state, render_time, series, lines=left - len(facts), width=width, has_grid=has_grid, cache=chart
    )
    return [*lines, *charts, *facts]
