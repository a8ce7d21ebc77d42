"""Chart of an event's signal: panels with heads and curves, a strip of statuses, and times. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from livedeck.monitor import EventState, HealthAssessment
from livedeck.presentation import events
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.scale import time_ticks
from livedeck.presentation.time_series import TimeSeries
from livedeck.text.segments import Group, Line, Segment, ShadedLine, StyleRole, fit, justify
from livedeck.text.values import UNKNOWN
from livedeck.ui.kit.chart import GUTTER, Backdrop, Curve, blocks_line, panel_lines, status_line, time_line

MBIT, KBIT = 1e6, 1e3

NUMBER_CELLS = 7
"""Number of cells to the right of a panel of one row, for its newest value."""

MARGIN = 1
"""Number of cells to the right of all other panels."""

FIXED_CHART_LINES = 3
"""Number of lines of a chart besides its first panel: head, statuses, times."""

MIN_CHART_LINES, TALL_CHART_LINES = 6, 22
"""Minimum number of lines of a chart, and minimum number of lines of a chart with three panels."""

Chart = Remembered[list[ShadedLine]]
"""Cache of the last chart of a pane."""


def signal_curves(
    assessment: HealthAssessment, series: TimeSeries, second: TimeSeries | None = None
) -> tuple[Curve, Curve, Curve]:
    """Return the curves of video, audio and frame rate, with baselines, limits and the values of a second event."""
    video, audio, fps = second.curves if second else ([], [], [])
    base, limit, nominal = assessment.baseline_video, assessment.limit_video, assessment.nominal_fps
    return (
        Curve("video", "Mbit/s", MBIT, StyleRole.VIDEO, series.video, limit, base, video),
        Curve("audio", "kbit/s", KBIT, StyleRole.AUDIO, series.audio, second=audio),
        Curve("fps", "frames/s", 1, StyleRole.FPS, series.fps, None, nominal, fps),
    )


def signal_backdrop(
    series: TimeSeries, *, cursor: int | None = None, has_grid: bool = True, is_stale: bool = False
) -> Backdrop:
    """Return the parts that all panels of a series share."""
    ticks, unwatched = time_ticks(series.axis), series.unwatched
    return Backdrop(
        series.statuses, series.expected, ticks, cursor, has_grid=has_grid, is_stale=is_stale, unwatched=unwatched
    )


def signal_lines(
    state: EventState,
    render_time: RenderTime,
    series: TimeSeries,
    backdrop: Backdrop,
    *,
    rows: Sequence[int],
    width: int,
    second: TimeSeries | None = None,
    marks: Mapping[int, Segment] | None = None,
    is_fitted: bool = False,
    first: str = "video",
) -> list[ShadedLine]:
    """Return the panels, then the statuses and times. Curves before the curve named `first` are omitted.

    A panel of one row has name and newest value beside it instead of a head, unless it is the first panel. `rows`:
    number of rows of each panel. `marks`: cell -> sign of a fault or a marker, for the first panel.
    """
    lines: list[ShadedLine] = []
    curves = signal_curves(state.assessment, series, second)
    panels = [*zip(curves, current_numbers(state, render_time), strict=True)]
    panels = panels[next(index for index, curve in enumerate(curves) if curve.name == first) :]
    for index, ((curve, number), count) in enumerate(zip(panels, rows, strict=False)):
        scale = curve.scale(count, is_fitted=is_fitted)
        if index and count == 1:
            beside = [*fit(number, NUMBER_CELLS - MARGIN, right=True), (" " * MARGIN, StyleRole.TEXT)]
            lines.append([*blocks_line(curve, scale, backdrop), *beside])
            continue
        lines.append(panel_head(curve, scale.low, number, width, is_stale=backdrop.is_stale))
        lines += panel_lines(curve, scale, backdrop if index else replace(backdrop, marks=marks or {}))
    return [*lines, status_line("status", backdrop), time_line(series.axis, backdrop)]


def panel_head(curve: Curve, low: float, number: Line, width: int, *, is_stale: bool) -> Line:
    """Return the head of a panel: name and unit, and at the right the newest value.

    A wide head also has baseline and limit.
    """
    sign = StyleRole.STALE if is_stale else curve.role
    left: list[Group] = [
        (0, [(" ■ ", sign), (curve.name, StyleRole.STRONG), (f" {curve.unit}", StyleRole.DIM)]),
        (1, [(f"from {low / curve.scale_unit:g}", StyleRole.DIM)] if low else []),
    ]
    word = "nominal" if curve.name == "fps" else "base"
    right: list[Group] = [
        (0, number),
        (2, [(f"{word} {curve.base / curve.scale_unit:.3g}", StyleRole.DIM)] if curve.base is not None else []),
        (1, [(f"limit {curve.limit / curve.scale_unit:.3g}", StyleRole.LIMIT)] if curve.limit is not None else []),
    ]
    return [*justify(left, right, width - MARGIN), (" " * MARGIN, StyleRole.TEXT)]


def current_numbers(state: EventState, render_time: RenderTime) -> tuple[Line, Line, Line]:
    """Return the newest values of video, audio and frame rate, in the units of their scales."""
    words = events.video(state, render_time), events.audio(state, render_time), events.fps(state, render_time)
    reading = events.current_reading(state)
    if reading is None:
        return words
    texts = _number(reading.video, MBIT, 2), _number(reading.audio, KBIT, 0), _number(reading.fps, 1, 1)
    video, audio, fps = ([(text, line[0][1])] for text, line in zip(texts, words, strict=True))
    return video, audio, fps


def _number(value: float | None, unit: float, decimals: int) -> str:
    return UNKNOWN if value is None else f"{value / unit:.{decimals}f}"


def chart_columns(width: int) -> int:
    """Return the number of cells of a panel in a chart `width` cells wide."""
    return max(8, width - GUTTER - MARGIN)


def recent_chart(
    state: EventState,
    render_time: RenderTime,
    series: TimeSeries,
    *,
    lines: int,
    width: int,
    has_grid: bool = True,
    cache: Chart | None = None,
) -> list[ShadedLine]:
    """Return the chart of a pane with room for `lines` lines.

    A tall chart has three panels, a low one only video. `cache`: the last chart, which is drawn again only for other
    samples, limits or sizes.
    """
    rows, stale, assessment = panel_rows(lines), events.is_doubtful(state, render_time), state.assessment

    def draw() -> list[ShadedLine]:
        backdrop = signal_backdrop(series, has_grid=has_grid, is_stale=stale)
        return signal_lines(state, render_time, series, backdrop, rows=rows, width=width)

    limits = assessment.baseline_video, assessment.limit_video, assessment.nominal_fps
    shown = series, limits, current_numbers(state, render_time), rows, width, has_grid, stale
    return (cache or Remembered()).get((), shown, draw)


def panel_rows(lines: int) -> tuple[int, ...]:
    """Return the number of rows of each panel: video, audio, frame rate. Odd numbers give evenly spaced ticks.

    Below `TALL_CHART_LINES`, only video has a panel. From there on, audio has the fewest rows, and the frame rate about
    half as many as video.
    """
    if lines < TALL_CHART_LINES:
        return (_odd(lines - FIXED_CHART_LINES),)
    rows = lines - FIXED_CHART_LINES - 2
    audio, fps = _odd(rows // 5), _odd(rows // 4)
    return _odd(rows - audio - fps), audio, fps


def _odd(rows: int) -> int:
    return max(1, rows - (rows > MIN_CHART_LINES and not rows % 2))
