"""Last five minutes of an event: a curve with shaded faults above a status strip, or a line of bars.

Pure, except for the drawing cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil

from livedeck.monitor import EventState
from livedeck.presentation import events
from livedeck.presentation.events import RECENT_SECONDS
from livedeck.presentation.qos import StatusStyle, recent_axis, recent_columns, signal_bars, unwatched_columns
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Link, Pixels, Role, Shade, ShadedLine, StyleRole
from livedeck.ui.kit.chart import Backdrop, Curve, panel_lines, status_line
from livedeck.ui.wallboard.cache import DrawCache

MAX_STEPS = 60
"""Maximum number of steps in the five minutes. Shorter steps would mostly repeat the sample before."""

DOTS = 2
"""Number of dots of a curve in the width of a cell."""


def recent_chart(
    state: EventState, render_time: RenderTime, size: tuple[int, int], cache: DrawCache
) -> list[ShadedLine]:
    """Draw the chart of an event in a size of cells and lines. The last line is the status strip.

    Without samples, the lines are empty. If the steps do not fill the cells, the chart is narrower. The result is
    cached until the platform's next response.
    """
    doubtful = events.is_doubtful(state, render_time)
    draw = partial(_draw_chart, state, render_time, size, doubtful=doubtful)
    return cache.get(f"chart {size}", state.id, state.qos.readings, (state.qos.as_of, doubtful), draw)


def _draw_chart(
    state: EventState, render_time: RenderTime, size: tuple[int, int], *, doubtful: bool
) -> list[ShadedLine]:
    cells, height = size
    repeated = max(1, ceil(DOTS * cells / MAX_STEPS))
    axis = recent_axis(state, render_time, RECENT_SECONDS, max(1, DOTS * cells // repeated))
    if axis is None:
        return [[] for _ in range(height)]
    rates, styles = recent_columns(axis, state)
    dots = [bucket for bucket in rates for _ in range(repeated)]
    statuses = [style for style in styles for _ in range(repeated)]
    pairs = zip(statuses[::DOTS], statuses[1::DOTS], strict=False)
    unwatched = {column * repeated // DOTS for column in unwatched_columns(axis, state)}
    backdrop = Backdrop([_worse(*pair) for pair in pairs], unwatched=unwatched, has_grid=False, is_stale=doubtful)
    strip = status_line("", backdrop)[1:]
    if height < MIN_CURVE_LINES:
        return [strip][:height]
    curve = Curve("video", "", 1e6, StyleRole.VIDEO, dots)
    return [*(line[1:] for line in panel_lines(curve, curve.scale(height - 1), backdrop)), strip]


MIN_CURVE_LINES = 2
"""Minimum lines of a chart with a curve. A lower chart has only the status strip."""


def _worse(first: StatusStyle | None, second: StatusStyle | None) -> StatusStyle | None:
    return max((style for style in (first, second) if style), key=lambda style: style.weight, default=None)


def recent_bars(state: EventState, render_time: RenderTime, cells: int, cache: DrawCache) -> ShadedLine:
    """Draw the chart of an event as one line of faint bars. A fault has the sign of its status in place of a bar."""
    doubtful = events.is_doubtful(state, render_time)
    draw = partial(_draw_bars, state, render_time, cells, doubtful=doubtful)
    return cache.get(f"bars {cells}", state.id, state.qos.readings, (state.qos.as_of, doubtful), draw)


def _draw_bars(state: EventState, render_time: RenderTime, cells: int, *, doubtful: bool) -> ShadedLine:
    repeated = max(1, ceil(cells / MAX_STEPS))
    axis = recent_axis(state, render_time, RECENT_SECONDS, max(1, cells // repeated))
    if axis is None:
        return []
    rates, styles = recent_columns(axis, state)
    buckets = [bucket for bucket in rates for _ in range(repeated)]
    statuses = [style for style in styles for _ in range(repeated)]
    columns = unwatched_columns(axis, state)
    unwatched = [repeated * column + place for column in columns for place in range(repeated)]
    return signal_bars(buckets, statuses, stale=doubtful, unwatched=unwatched)


def on_board(line: Sequence[tuple[str, Role]], board: StyleRole) -> ShadedLine:
    """Return the line with the background of a tile."""
    return [
        (text, role if isinstance(role, Pixels) else _on_board(role.role if isinstance(role, Link) else role, board))
        for text, role in line
    ]


def _on_board(role: StyleRole | Shade, board: StyleRole) -> Shade:
    return role._replace(board=board) if isinstance(role, Shade) else Shade(role, board=board)
