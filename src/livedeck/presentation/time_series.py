"""Samples of an event in the columns of a chart, from memory, from the history or from both. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil, isfinite
from typing import TypeVar

from livedeck.monitor import NO_STATUS, Buckets, EventState, IngestState, MinMax, Readings
from livedeck.presentation.qos import (
    USUAL_CADENCE,
    Axis,
    Bucket,
    StatusStyle,
    bucket_columns,
    bucket_statuses,
    longest_step,
    status_style,
    unwatched_columns,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.record import Record

T = TypeVar("T")

Columns = list[Bucket | None]


class TimeSeries(Record):
    """Samples by column. `statuses`: an entry for each column of `axis`. Each curve has two entries for each column.

    An entry of None is a gap. `counts`: number of samples by status. `expected`: columns that should have samples.
    `unwatched`: columns that were not watched.
    """

    axis: Axis
    video: Columns
    audio: Columns
    fps: Columns
    statuses: list[StatusStyle | None]
    counts: Mapping[int, int]
    expected: range = range(0)
    unwatched: frozenset[int] = frozenset()

    @property
    def curves(self) -> tuple[Columns, Columns, Columns]:
        """Curves of video, audio and frame rate."""
        return self.video, self.audio, self.fps

    @property
    def is_empty(self) -> bool:
        return not any(self.statuses) and not any(self.video)


def chart_axis(
    state: EventState, render_time: RenderTime, span: float | None, columns: int, until: float | None = None
) -> Axis | None:
    """Return an axis of at least `span` seconds before the last response, or before `until` (epoch s).

    With a `span` of None the axis begins with the stream. Returns None before the first response.
    """
    if state.qos.as_of is None:
        return None
    end = render_time.to_server(state.qos.as_of).timestamp()
    if span is None:
        span = max(60.0, end - stream_start(state, end))
    return Axis.on_clock(end if until is None else until, span, columns)


def stream_start(state: EventState, default: float) -> float:
    """Return the start of the stream (epoch s); `default` if unknown.

    If the first sample is earlier, or follows within `_ENCODER_STARTS`, the start is the time of the first sample.
    """
    stream, times = state.event.stream, state.qos.readings.time
    first = times[0] if len(times) else None
    started = stream.started_at.timestamp() if stream and stream.started_at else None
    if first is None or started is None:
        return default if first is started is None else first or started or default
    return first if first - started <= _ENCODER_STARTS else started


_ENCODER_STARTS = 15.0
"""Seconds that the encoder may take from the start of the stream to its first sample."""


def needs_history(axis: Axis, readings: Readings) -> bool:
    """Return whether the axis begins before the first sample in memory."""
    return not len(readings) or readings.time[0] > axis.start + axis.step


@lru_cache(maxsize=8)
def from_memory(axis: Axis, readings: Readings) -> TimeSeries:
    """Return the series of the samples in memory. The result is cached between two responses."""
    bounds, dots = axis.bounds(readings.time), axis.halved()
    counts: dict[int, int] = {}
    for status in readings.status[bounds[0] : bounds[-1]]:
        counts[status] = counts.get(status, 0) + 1
    video, audio, fps = (
        bucket_columns(dots, readings, values) for values in (readings.video, readings.audio, readings.fps)
    )
    return TimeSeries(axis, video, audio, fps, bucket_statuses(axis, readings), counts)


def from_history(axis: Axis, buckets: Buckets) -> TimeSeries:
    """Return the series of the history's buckets, two per column. The median of a bucket is the middle of its range."""
    statuses = [
        status_style(status) if count and status != NO_STATUS else None
        for status, count in zip(buckets.status, buckets.count, strict=True)
    ]
    pairs = zip(statuses[::2], statuses[1::2], strict=True)
    worst = [max(filter(None, pair), key=lambda style: style.weight, default=None) for pair in pairs]
    counts = {status: sum(column) for status, column in buckets.statuses.items()}
    return TimeSeries(axis, _columns(buckets.video), _columns(buckets.audio), _columns(buckets.fps), worst, counts)


def _columns(values: MinMax) -> Columns:
    pairs = zip(values.low, values.high, strict=True)
    return [Bucket(low, (low + high) / 2, high) if isfinite(low) and isfinite(high) else None for low, high in pairs]


def concat(old: TimeSeries | None, new: TimeSeries) -> TimeSeries:
    """Return `new` with its gaps filled from `old`. Returns `new` unchanged if the columns have different lengths.

    The axes may begin at different columns: the columns of `old` are shifted.
    """
    if old is None or abs(old.axis.step - new.axis.step) > 1e-6 * new.axis.step:
        return new
    shift = round((new.axis.start - old.axis.start) / new.axis.step)
    return TimeSeries(
        new.axis,
        _fill_gaps(old.video, new.video, 2 * shift),
        _fill_gaps(old.audio, new.audio, 2 * shift),
        _fill_gaps(old.fps, new.fps, 2 * shift),
        _fill_gaps(old.statuses, new.statuses, shift),
        {status: max(old.counts.get(status, 0), new.counts.get(status, 0)) for status in {*old.counts, *new.counts}},
    )


def _fill_gaps(old: Sequence[T | None], new: Sequence[T | None], shift: int) -> list[T | None]:
    return [
        value if value is not None else (old[column + shift] if 0 <= column + shift < len(old) else None)
        for column, value in enumerate(new)
    ]


def recent_series(state: EventState, render_time: RenderTime, span: float, columns: int) -> TimeSeries | None:
    """Return the samples of at least the last `span` seconds in `columns` columns; None before the first response."""
    axis = chart_axis(state, render_time, span, columns)
    return None if axis is None else hold_until_answer(state, render_time, from_memory(axis, state.qos.readings))


def hold_until_answer(state: EventState, render_time: RenderTime, series: TimeSeries) -> TimeSeries:
    """Return the series with each sample repeated until the next one, up to the last response.

    The newest sample is repeated until the next one is overdue, because a late sample is no gap.
    """
    readings, cadence = state.qos.readings, state.qos.cadence or USUAL_CADENCE
    now = render_time.to_server(state.qos.as_of).timestamp() if state.qos.as_of else 0.0
    is_gone = state.phase.ingest.state is IngestState.INTERRUPTED
    due = now if is_gone else now - (state.qos.lag or 0.0) - longest_step(cadence)
    newest = readings.time[-1] + cadence if len(readings) else now
    held = hold_samples(series, stream_start(state, series.axis.start), min(now, max(due, newest)), cadence)
    return replace(held, unwatched=unwatched_columns(series.axis, state)) if state.qos.not_watched else held


def hold_samples(series: TimeSeries, start: float, end: float, cadence: float) -> TimeSeries:
    """Return the series of a stream from `start` to `end` (epoch s) with a sample every `cadence` seconds.

    Empty columns between two samples are a gap if the samples are more than `longest_step` apart. If not, the columns
    repeat the sample before them.
    """
    axis = series.axis
    first, last = axis.column_of(start), axis.column_of(end)
    dots = range(max(0, 2 * first), 2 * last + 2)
    video, audio, fps = (_hold(values, cadence, axis.step / 2, dots) for values in series.curves)
    return TimeSeries(
        axis,
        video,
        audio,
        fps,
        _hold(series.statuses, cadence, axis.step, range(max(0, first), last + 1)),
        series.counts,
        range(max(0, first), max(0, min(axis.columns, last))),
    )


def _hold(values: Sequence[T | None], cadence: float, step: float, columns: range) -> list[T | None]:
    """Fill each run of empty columns that is too short to prove a gap.

    `step`: length of a column in seconds. `columns`: columns of the stream. The value before a gap is repeated for one
    cadence only, and so is the newest value.
    """
    result = list(values)
    filled = [column for column, value in enumerate(values) if value is not None]
    if not filled:
        return result
    longest = longest_step(cadence)
    if (filled[0] - columns.start) * step < longest:  # after a sample before the axis
        result[columns.start : filled[0]] = [values[filled[0]]] * max(0, filled[0] - columns.start)
    own = ceil(cadence / step)
    for before, after in zip(filled, [*filled[1:], len(values)], strict=True):
        if after == before + 1:
            continue
        is_last = after == len(values)
        is_gap = is_last or (after - before - 1) * step >= longest
        stop = min(before + own, after, columns.stop if is_last else after) if is_gap else after
        result[before + 1 : stop] = [values[before]] * max(0, stop - before - 1)
    return result
