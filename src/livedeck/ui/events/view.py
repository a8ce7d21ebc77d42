"""Pane of the selected event: identity, faults, charts and destinations. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from livedeck.monitor import EventState
from livedeck.presentation import event_detail, events
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import recent_series
from livedeck.text.segments import ShadedLine, StyleRole, clip, fit_height, wrap_groups
from livedeck.text.values import age, safe
from livedeck.ui.kit.graphics import Frame
from livedeck.ui.kit.signal_chart import MIN_CHART_LINES, TALL_CHART_LINES, Chart, chart_columns, recent_chart
from livedeck.ui.shell.context import ActionRegistry
from livedeck.ui.shell.preflight import pane_lines

if TYPE_CHECKING:
    from livedeck.ui.kit.viewer_picture import Look

PICTURE = Frame(24, 7)
"""Size of the picture that viewers get, in cells."""

MIN_CHART_CELLS, GAP, METER_CELLS = 30, 2, 9
"""Minimum width of a chart beside the picture; cells around the picture; width of a channel's meter in a line."""

_BLANK: tuple[str, StyleRole] = (" ", StyleRole.TEXT)
_NO_PICTURE: ShadedLine = [(" " * PICTURE.columns, StyleRole.TEXT)]

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
    look: Look | None = None,
) -> list[ShadedLine]:
    """Return the lines of an event in a pane of `width` cells and `height` lines.

    A tall pane has three charts and a line for each fault. A short pane has the video chart and the faults in its first
    line. If lines are short, facts are dropped for the charts, but rulings and advice stay. While the event is probed,
    the pane says what viewers get. If it has room, it also shows sound meter and picture. `chart`: cache of the charts,
    which are drawn again only for other samples, limits or sizes. `look`: way to show the picture; None for no picture.
    """
    if state.viewer is None:
        return _signal_lines(state, render_time, width, height, has_grid=has_grid, chart=chart)
    from livedeck.ui.kit.viewer_picture import picture_rows

    viewers = _viewer_lines(state, render_time, width, has_blocks=has_grid)
    rows = picture_rows(state, render_time, PICTURE, look) if look else []
    if not rows or height < len(rows) + 2 or width < PICTURE.columns + MIN_CHART_CELLS:
        lines = _signal_lines(state, render_time, width, height - 1, has_grid=has_grid, chart=chart)
        return [*fit_height(lines, height - 1), _in_one_line(viewers, width)]
    if height >= TALL_CHART_LINES + len(rows):
        lines = _signal_lines(state, render_time, width, height - len(rows), has_grid=has_grid, chart=chart)
        return [*fit_height(lines, height - len(rows)), *_beside(rows, fit_height(viewers, len(rows)))]
    cells = width - PICTURE.columns - GAP
    _, *charts = _signal_lines(state, render_time, cells, height - 1, has_grid=has_grid, chart=chart)
    head = event_detail.state_line(state, render_time, width, has_finding=True)
    beside = _beside([*rows, *[_NO_PICTURE] * height], fit_height(charts, height - 2))
    return [head, *beside, _in_one_line(viewers, width)]


def _beside(left: Sequence[ShadedLine], right: Sequence[ShadedLine]) -> list[ShadedLine]:
    return [[_BLANK, *row, _BLANK, *line] for row, line in zip(left, right, strict=False)]


def _in_one_line(lines: Sequence[ShadedLine], cells: int) -> ShadedLine:
    """Return as many of the lines as fit side by side."""
    return [_BLANK, *wrap_groups([(rank, [*line]) for rank, line in enumerate(lines)], cells - 1)]


def _viewer_lines(state: EventState, render_time: RenderTime, width: int, *, has_blocks: bool) -> list[ShadedLine]:
    """Return what viewers get: the state, the level of each channel, the loudness and the age of the picture."""
    from livedeck.presentation import viewer
    from livedeck.ui.kit.meter import meter_line

    found = state.viewer
    lines: list[ShadedLine] = [clip(viewer.short_text(state, render_time), width)]
    if found is None or found.as_of is None:
        return lines
    peaks, is_old = viewer.shown_peaks(state, render_time), viewer.is_past(state, render_time)
    lines.append(meter_line(peaks, METER_CELLS, has_blocks=has_blocks, is_old=is_old))
    loudness = f"{found.loudness:.0f} LUFS" if peaks and found.loudness is not None else ""
    peak = f"peak {max(peaks):.0f}" if peaks else ""
    lines.append([("  ".join(filter(None, (loudness, peak))), StyleRole.DIM)])
    lines.append(clip([(f"sound of {safe(found.track)}", StyleRole.DIM)], width) if found.track else [])
    seconds = viewer.picture_age(found, render_time)
    lines.append([] if seconds is None else [(f"picture {age(seconds)} old", StyleRole.DIM)])
    return [line for line in lines if any(text for text, _ in line)]


def _signal_lines(
    state: EventState, render_time: RenderTime, width: int, height: int, *, has_grid: bool, chart: Chart | None
) -> list[ShadedLine]:
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
