"""QoS samples as text: the style of each status, and the samples of a time axis as bars and glyphs. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, inf, isfinite
from typing import NamedTuple, TypeVar

from livedeck.monitor import EventState, IngestState, Reading, Readings
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record
from livedeck.text.segments import Line, StyleRole, merge_neighbours
from livedeck.text.times import timestamp
from livedeck.text.values import UNKNOWN, bits, frames

T = TypeVar("T")


class StatusStyle(NamedTuple):
    """Appearance of a status. A column of samples shows the status with the greatest `weight`."""

    glyph: str
    word: str
    meaning: str
    role: StyleRole
    weight: int


NORMAL = StatusStyle("▁", "normal", "normal", StyleRole.OK, 0)
KEY_20 = StatusStyle("▲", "KEY>20%", "key-frame time difference over 20 %", StyleRole.KEY_20, 2)
KEY_50 = StatusStyle("◆", "KEY>50%", "key-frame time difference over 50 %", StyleRole.KEY_50, 3)
LOSS = StatusStyle("✖", "LOSS", "packet loss", StyleRole.LOSS, 4)
ODD = StatusStyle(UNKNOWN, "UNKNOWN", "a status that the API documentation does not name", StyleRole.ODD, 1)

STATUS_STYLES = {0: NORMAL, 3: KEY_20, 4: KEY_50, 5: LOSS}
HIGHLIGHTED = (KEY_20, KEY_50, LOSS)


def status_style(status: int) -> StatusStyle:
    """Return the style of a status. An undocumented status is unknown, neither normal nor bad."""
    return STATUS_STYLES.get(status, ODD)


def worst_status(statuses: Iterable[int]) -> StatusStyle | None:
    """Return the style with the greatest weight; None without statuses."""
    return max(map(status_style, set(statuses)), key=lambda style: style.weight, default=None)


UNWATCHED = "╱"
"""Sign of time that was not watched, in charts."""

MOVE_COLUMNS = 4
"""Number of columns that a moving time axis moves at once."""


class Axis(Record):
    """Time axis of `columns` equal steps from `start` to `end` (epoch seconds, the platform's clock)."""

    start: float
    end: float
    columns: int

    @property
    def step(self) -> float:
        """Seconds per column."""
        return (self.end - self.start) / self.columns

    @classmethod
    def ending_at(cls, at: float, span: float, columns: int) -> Axis:
        """Return an axis of `span` seconds with the time `at` in the last step.

        Steps start at multiples of their length, so old steps stay the same.
        """
        columns = max(1, columns)
        step = span / columns
        end = (floor(at / step) + 1) * step
        return cls(end - span, end, columns)

    @classmethod
    def on_clock(cls, at: float, span: float, columns: int) -> Axis:
        """Return an axis with at least the last `span` seconds before `at`, in columns of whole seconds.

        Columns begin at multiples of their length, so the contents of old columns never change. The axis moves by
        several columns at a time. Between two moves only the newest column is redrawn; columns after `at` are empty.
        """
        columns = max(1, columns)
        step = max(1, ceil(span / max(1, columns - MOVE_COLUMNS)))
        move = step * min(MOVE_COLUMNS, columns)
        end = (floor(at / move) + 1) * move
        return cls(end - step * columns, end, columns)

    def halved(self) -> Axis:
        """Return the same period in columns of half the length."""
        return Axis(self.start, self.end, 2 * self.columns)

    def shifted(self, seconds: float) -> Axis:
        """Return the axis moved by `seconds`, rounded to whole columns."""
        shift = round(seconds / self.step) * self.step
        return Axis(self.start + shift, self.end + shift, self.columns)

    def column_of(self, at: float) -> int:
        """Return the column of a time; negative for a time before the axis, `columns` or more for a time after it."""
        return int((at - self.start) // self.step)

    def bounds(self, times: array[float]) -> list[int]:
        """Return the index of each column's first time in ascending `times`, and the index after the last column."""
        return [bisect_left(times, self.start + self.step * column) for column in range(self.columns + 1)]


class Bucket(Record):
    """Minimum, median and maximum of the values in a step of time.

    The median of an even number of values is the lower one.
    """

    low: float
    median: float
    high: float


def bucket_columns(axis: Axis, readings: Readings, values: array[float]) -> list[Bucket | None]:
    """Return a bucket of `values` (a field of `readings`) for each step of the axis; None for a step without values."""
    return [_bucket(values[first:last]) for first, last in pairwise(axis.bounds(readings.time))]


def _bucket(values: array[float]) -> Bucket | None:
    measured = sorted(filter(isfinite, values))
    return Bucket(measured[0], measured[(len(measured) - 1) // 2], measured[-1]) if measured else None


def bucket_statuses(axis: Axis, readings: Readings) -> list[StatusStyle | None]:
    """Return the worst status of each step of the axis; None for a step without samples."""
    return [worst_status(readings.status[first:last]) for first, last in pairwise(axis.bounds(readings.time))]


USUAL_CADENCE = 2.0
"""Assumed seconds between two samples, until the cadence is learnt."""


def longest_step(cadence: float) -> float:
    """Return the seconds between two samples above which some are missing (monitoring.md, "Order and holes")."""
    return max(2.5 * cadence, cadence + 2.0)


def held(
    columns: Iterable[T | None], axis: Axis, times: array[float], spacing: float, until: float = -inf
) -> list[T | None]:
    """Return the columns with each value repeated until the next sample. A column that stays empty is a gap.

    A value is repeated only if the next sample comes within `spacing` seconds. Columns
    before the first value on the axis get that value if a sample before the axis is repeated into them. `times`: times
    of the samples (epoch s). `until`: time up to which the newest sample is repeated (epoch s).
    """
    found = list(columns)
    first = next((value for value in found if value is not None), None)
    for index in range(len(found)):
        start = axis.start + index * axis.step
        after = bisect_left(times, start)
        if found[index] is not None or not after:
            continue
        if after == len(times):
            is_held = start < until
        else:
            is_held = times[after] >= start + axis.step and times[after] - times[after - 1] <= spacing
        if is_held:
            found[index] = first if not index else found[index - 1]
    return found


def recent_columns(axis: Axis, state: EventState) -> tuple[list[Bucket | None], list[StatusStyle | None]]:
    """Return the video rates and the statuses of an event in the columns of an axis. An empty column is a gap.

    The newest sample is repeated until the next one is overdue, or not at all once the encoder is proven to have left.
    """
    readings, spacing = state.qos.readings, longest_step(state.qos.cadence or USUAL_CADENCE)
    is_gone = state.phase.ingest.state is IngestState.INTERRUPTED
    until = readings.time[-1] + spacing + (state.qos.lag or 0.0) if len(readings) and not is_gone else -inf
    rates, statuses = bucket_columns(axis, readings, readings.video), bucket_statuses(axis, readings)
    return held(rates, axis, readings.time, spacing, until), held(statuses, axis, readings.time, spacing, until)


def recent_axis(state: EventState, render_time: RenderTime, span: float, columns: int) -> Axis | None:
    """Return an axis of the last `span` seconds before the last response; None without samples."""
    if state.qos.as_of is None or not len(state.qos.readings):
        return None
    return Axis.ending_at(render_time.to_server(state.qos.as_of).timestamp(), span, columns)


def unwatched_columns(axis: Axis, state: EventState) -> frozenset[int]:
    """Return the columns of an axis that were not watched."""
    columns: set[int] = set()
    for since, until in state.qos.not_watched:
        first, end = ceil((since - axis.start) / axis.step), floor((until - axis.start) / axis.step)
        columns.update(range(max(0, first), min(axis.columns, end)))
    return frozenset(columns)


BARS = "▁▂▃▄▅▆▇█"

HEADROOM = 1.5
"""Value of a bar of full height, as a multiple of the highest value, so that bars of adjacent rows do not touch."""


def _bar(bucket: Bucket, top: float) -> str:
    level = round(bucket.low / top * (len(BARS) - 1)) if top > 0 else 0
    return BARS[min(max(level, 0), len(BARS) - 1)]


def signal_bars(
    buckets: Sequence[Bucket | None],
    styles: Sequence[StatusStyle | None],
    *,
    stale: bool = False,
    unwatched: Collection[int] = (),
) -> Line:
    """Return a dim bar for each column, the glyph of an abnormal status, or a dash for a column without a sample.

    `unwatched`: columns that were not watched.
    """
    top = HEADROOM * max((bucket.high for bucket in buckets if bucket), default=0.0)
    cells: Line = []
    for column, (bucket, style) in enumerate(zip(buckets, styles, strict=True)):
        if style is None or style is NORMAL:
            empty = UNWATCHED if column in unwatched else "╌"
            glyph, role = (_bar(bucket, top), StyleRole.VIDEO_QUIET) if bucket else (empty, StyleRole.DIM)
        else:
            glyph, role = style.glyph, style.role
        cells.append((glyph, StyleRole.STALE if stale else role))
    return merge_neighbours(cells)


SAMPLE_HEAD = f"{'TIME':<24}  {'VIDEO':>7}  {'AUDIO':>7}  {'FPS':>6}  STATUS"


def sample_text(reading: Reading) -> str:
    """Return a sample as a line of the table for people, under SAMPLE_HEAD."""
    rates = f"{bits(reading.video):>7}  {bits(reading.audio):>7}  {frames(reading.fps):>6}"
    return f"{timestamp(reading.time):<24}  {rates}  {_status_text(reading.status)}"


def _status_text(status: int | None) -> str:
    if status is None:
        return UNKNOWN
    style = status_style(status)
    return f"{status} {style.word}" if status == 0 else f"{status} {style.glyph} {style.word}"


def newest_readings(readings: Readings, seconds: float | None) -> Iterator[Reading]:
    """Yield the readings of the last `seconds` before the newest reading. Yields all if `seconds` is None."""
    newest = readings.last
    start = None if newest is None or seconds is None else newest.time - seconds
    for index in range(len(readings)):
        if start is None or readings.time[index] >= start:
            yield readings[index]
