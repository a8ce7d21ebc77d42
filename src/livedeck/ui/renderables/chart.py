"""The one place that knows plotext: a curve drawn in braille on a bare canvas, as plain text.

plotext 6 keeps one global figure and its kernel is not safe against two threads: call this on the event loop only. It
also ends the process when a line is drawn to NaN or to infinity, so a gap starts a new line instead of being a point.
Its x range maps onto the first and the last dot, which is why a column's place is known and the status strip can stand
under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import plotext

from livedeck.ui.renderables.buckets import Bucket

plotext.terminal.limit(width=False, height=False)

_KEPT = 16
"""Pictures that are kept: between two answers a screen is painted several times, and its curves stay what they are."""


def curve(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> list[str]:
    """`rows` texts of `len(values)` cells: the values between `low` and `high`, a vertical stroke where one varies."""
    cells = len(values)
    if not cells or rows < 1 or not any(values) or not low < high:
        return [" " * cells for _ in range(max(rows, 0))]
    return [*_drawn(tuple(values), rows, low, high)]


@lru_cache(maxsize=_KEPT)
def _drawn(values: Sequence[Bucket | None], rows: int, low: float, high: float) -> tuple[str, ...]:
    cells = len(values)
    figure = _bare_figure(cells, rows, low, high)
    xs, ys, joined = _points(values, low, high)
    signal = figure.signal(xs, ys, marker="braille")
    for index in joined:
        signal.line(index)
    figure.draw(signal)
    drawn = figure.build().string(colorless=True).splitlines()
    return tuple(line.ljust(cells)[:cells] for line in drawn[:rows])


@lru_cache(maxsize=_KEPT)
def row_of(value: float, rows: int, low: float, high: float) -> int | None:
    """The row, from the top, in which `curve` draws that value: it is asked, not guessed. None outside the range."""
    if not low <= value <= high:
        return None
    drawn = curve([Bucket(value, value)], rows, low, high)
    return next((row for row, text in enumerate(drawn) if text.strip()), None)


def _bare_figure(cells: int, rows: int, low: float, high: float) -> plotext.figure:
    figure = plotext.figure
    figure.clear.all()
    figure.plot_size(cells, rows)
    figure.axes(False)
    figure.legend(False)
    figure.canvas("default")
    for axis in (0, 1):
        for side in (0, 1):
            figure.ruler(axis, side).frequency(0)
    figure.ruler(0, 0).alignment(lim="edge").lim(0, 2 * cells - 1)
    figure.ruler(1, 0).lim(low, high)
    return figure


def _points(values: Sequence[Bucket | None], low: float, high: float) -> tuple[list[float], list[float], list[int]]:
    """Two points a column at most, on its two dots, and the indexes of those that a line leads to."""
    xs: list[float] = []
    ys: list[float] = []
    joined: list[int] = []
    for column, value in enumerate(values):
        if value is None:
            continue
        follows = column > 0 and values[column - 1] is not None
        if follows:
            joined.append(len(xs))
        joined.append(len(xs) + 1)
        xs += [2 * column, 2 * column + 1]
        ys += [min(max(value.low, low), high), min(max(value.high, low), high)]
    return xs, ys, joined
