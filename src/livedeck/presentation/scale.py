"""Scales of a chart: round values with ticks at equal distances, the dot of a value, and round times. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from math import ceil, floor, log10
from typing import NamedTuple

from livedeck.presentation.qos import Axis
from livedeck.record import Record

DOTS = 4
"""Number of dots in the height of a row."""

STEPS = {1.0: 6, 2.0: 6, 2.5: 4, 4.0: 6, 5.0: 6}
"""Possible step of a scale, to be multiplied by a power of ten -> maximum number of steps of this size."""

MIN_TICK_ROWS = 2
"""Minimum distance of two ticks, in rows. Closer ticks would have different distances."""

LABEL_CELLS = 6

_MIN_SPAN = 0.05
"""Minimum span of a scale, as a share of the greatest value. A scale of nearly equal values has this span."""

_MIN_VALUE, _MAX_VALUE = 1e-6, 1e300
"""Values near the limits of floats. If no value exceeds `_MIN_VALUE`, all values count as zero.

A value above `_MAX_VALUE` counts as `_MAX_VALUE`.
"""


class Scale(Record):
    """Scale of `rows` rows from `low` (bottom) to `high` (top). `ticks`: labelled values, lowest first."""

    low: float
    high: float
    rows: int
    ticks: tuple[float, ...] = ()

    def dot(self, value: float) -> int:
        """Return the dot of a value, counted from the bottom. A value outside the scale gets the nearest dot."""
        share = (value - self.low) / (self.high - self.low)
        if share >= 1:
            return DOTS * self.rows - 1
        return int(share * DOTS * self.rows) if share > 0 else 0

    def row(self, value: float) -> int:
        """Return the row of a value, counted from the top."""
        return self.rows - 1 - self.dot(value) // DOTS

    def label(self, value: float, unit: float) -> str:
        """Return the label of a tick, in this unit. All labels have the same number of decimals."""
        decimals = next((count for count in range(4) if all(_is_round(tick / unit, count) for tick in self.ticks)), 3)
        text = f"{value / unit:.{decimals}f}"
        return text if len(text) <= LABEL_CELLS else f"{value / unit:.0e}"


def _is_round(value: float, decimals: int) -> bool:
    return abs(round(value, decimals) - value) <= 1e-9 * max(1.0, abs(value))


def round_scale(values: Iterable[float], rows: int, *, is_fitted: bool = False, fallback: float = 1.0) -> Scale:
    """Return a scale that contains the values. It begins at zero; if `is_fitted`, at a round value below the least.

    Chooses the scale with round steps that has the most ticks. Among several, the one with the least room above the
    greatest value wins. `fallback`: assumed greatest value if no value is above zero.
    """
    drawn = [min(value, _MAX_VALUE) for value in values if value >= 0]
    highest = max(drawn, default=0.0)
    highest = highest if highest > _MIN_VALUE else fallback
    lowest = min(drawn, default=0.0) if is_fitted else 0.0
    return max(_scales(lowest, highest, max(rows, 1)), key=lambda scale: (len(scale.ticks), -scale.high, scale.low))


def _scales(lowest: float, highest: float, rows: int) -> Iterator[Scale]:
    span = max(highest - lowest, _MIN_SPAN * highest)
    power = floor(log10(span))
    for exponent in range(power - 1, power + 2):
        for mantissa, max_count in STEPS.items():
            first = floor(lowest / _times_power(mantissa, exponent))
            count = floor(highest / _times_power(mantissa, exponent)) + 1 - first
            if count <= max_count and _times_power(mantissa * count, exponent) >= span:
                yield _scale(mantissa, exponent, first, count, rows)


def _scale(mantissa: float, exponent: int, first: int, count: int, rows: int) -> Scale:
    """Return a scale of `count` steps, with as many evenly spaced labels as the rows allow.

    A step is `mantissa` times ten to the power of `exponent`. The lowest value of the scale is `first` times a step.
    """
    labelled = [
        every
        for every in range(1, count + 1)
        if not count % every and not (rows - 1) % (count // every) and (rows - 1) // (count // every) >= MIN_TICK_ROWS
    ]
    edges = [_times_power(mantissa * (first + index), exponent) for index in range(count + 1)]
    return Scale(edges[0], edges[-1], rows, tuple(edges[:: labelled[0]]) if labelled else ())


def _times_power(value: float, exponent: int) -> float:
    """Return `value` times ten to the power of `exponent`, exactly rounded: 12 / 10 is 1.2, but 12 * 0.1 is not."""
    return value * 10.0**exponent if exponent >= 0 else value / 10.0**-exponent


class TimeTick(NamedTuple):
    """Round time on the axis: column and label."""

    cell: int
    label: str


TIME_STEPS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
"""Possible distances of two round times, in seconds. If none is wide enough, the distance is whole days."""

TICK_CELLS = 13
"""Minimum distance of two labels, in cells."""

DAY_SECONDS = 86_400


def time_ticks(axis: Axis) -> list[TimeTick]:
    """Return the round times on the axis, at least `TICK_CELLS` apart.

    On an axis longer than a day, the label of midnight is the date.
    """
    shortest = axis.step * TICK_CELLS
    step = next((step for step in TIME_STEPS if step >= shortest), ceil(shortest / DAY_SECONDS) * DAY_SECONDS)
    first, clock = ceil(axis.start / step), "%H:%M:%S" if step < 60 else "%H:%M"
    ticks = []
    for at in range(first * step, ceil(axis.end), step):
        is_date = not at % DAY_SECONDS and axis.end - axis.start > DAY_SECONDS
        ticks.append(
            TimeTick(axis.column_of(at), datetime.fromtimestamp(at, UTC).strftime("%d %b" if is_date else clock))
        )
    return ticks
