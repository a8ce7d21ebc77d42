"""The samples of one event in the columns of a chart: from memory, from the history, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from livedeck.monitor import NO_STATUS, Buckets, EventState, Marker, MinMax, Readings
from livedeck.presentation.qos import Axis, Bucket, StatusStyle, bucket_columns, bucket_statuses, status_style
from livedeck.presentation.render_time import RenderTime

if TYPE_CHECKING:
    from livedeck.ui.shell.screen import BaseScreen


T = TypeVar("T")

Columns = list[Bucket | None]


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Each list has one entry a column of `axis`; None is a gap. `counts`: how many samples carried each status."""

    axis: Axis
    video: Columns
    audio: Columns
    fps: Columns
    statuses: list[StatusStyle | None]
    counts: Mapping[int, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured."""
        return not any(self.statuses) and not any(self.video)


def chart_axis(state: EventState, render_time: RenderTime, span: float | None, columns: int) -> Axis | None:
    """The last `span` seconds up to the last answer; None: since the stream began. None where there was no answer."""
    if state.qos.as_of is None:
        return None
    end = render_time.to_server(state.qos.as_of).timestamp()
    return Axis.ending_at(end, span if span is not None else max(60.0, end - _stream_start(state, end)), columns)


def _stream_start(state: EventState, end: float) -> float:
    stream, times = state.event.stream, state.qos.readings.time
    starts = [times[0]] if len(times) else []
    if stream and stream.started_at:
        starts.append(stream.started_at.timestamp())
    return min(starts, default=end)


def needs_history(axis: Axis, readings: Readings) -> bool:
    """Whether the samples in memory begin after the axis does."""
    return not len(readings) or readings.time[0] > axis.start + axis.step


def from_memory(axis: Axis, readings: Readings) -> TimeSeries:
    """The samples that the platform still answers."""
    bounds = axis.bounds(readings.time)
    counts: dict[int, int] = {}
    for status in readings.status[bounds[0] : bounds[-1]]:
        counts[status] = counts.get(status, 0) + 1
    video, audio, fps = (
        bucket_columns(axis, readings, values) for values in (readings.video, readings.audio, readings.fps)
    )
    return TimeSeries(axis, video, audio, fps, bucket_statuses(axis, readings), counts)


def from_history(axis: Axis, buckets: Buckets) -> TimeSeries:
    """The buckets of the history, whose columns are those of the axis."""
    statuses = [
        status_style(status) if count and status != NO_STATUS else None
        for status, count in zip(buckets.status, buckets.count, strict=True)
    ]
    counts = {status: sum(column) for status, column in buckets.statuses.items()}
    return TimeSeries(axis, _columns(buckets.video), _columns(buckets.audio), _columns(buckets.fps), statuses, counts)


def _columns(values: MinMax) -> Columns:
    pairs = zip(values.low, values.high, strict=True)
    return [Bucket(low, high) if isfinite(low) and isfinite(high) else None for low, high in pairs]


def concat(old: TimeSeries | None, new: TimeSeries) -> TimeSeries:
    """`new`, its gaps filled from `old` where that has columns of the same width.

    The axis moves on by whole columns, so the columns of an older series are shifted.
    """
    if old is None or abs(old.axis.step - new.axis.step) > 1e-6 * new.axis.step:
        return new
    shift = round((new.axis.start - old.axis.start) / new.axis.step)
    return TimeSeries(
        new.axis,
        _fill_gaps(old.video, new.video, shift),
        _fill_gaps(old.audio, new.audio, shift),
        _fill_gaps(old.fps, new.fps, shift),
        _fill_gaps(old.statuses, new.statuses, shift),
        {status: max(old.counts.get(status, 0), new.counts.get(status, 0)) for status in {*old.counts, *new.counts}},
    )


def _fill_gaps(old: Sequence[T | None], new: Sequence[T | None], shift: int) -> list[T | None]:
    return [
        value if value is not None else (old[column + shift] if 0 <= column + shift < len(old) else None)
        for column, value in enumerate(new)
    ]


STALE_COLUMNS = 4
"""The history is queried again when the axis has moved on by so many columns."""


class _Request(NamedTuple):
    """What the history was last asked for."""

    event_id: str
    stream_id: str
    axis: Axis


class HistoryQuery:
    """The history's part of a chart, queried in a worker of the screen; empty where there is no history.

    `group`: of the worker; a new query ends the one before it.
    """

    def __init__(self, screen: BaseScreen, group: str = "past") -> None:
        self._screen, self._group = screen, group
        self._series: tuple[tuple[str, str], TimeSeries] | None = None
        self._markers: dict[str, tuple[Marker, ...]] = {}
        self._request: _Request | None = None

    def series(self, state: EventState, axis: Axis) -> TimeSeries | None:
        """What is known now of that event's current stream; queries what is missing and paints it when it comes."""
        stream = state.event.stream
        request = _Request(state.id, (stream.id if stream else None) or "", axis)
        if self._screen.ctx.history is not None and request.stream_id and self._is_stale(state, request):
            self._request = request
            self._screen.run_worker(self._query(request), group=self._group, exclusive=True)
        return self._series[1] if self._series and self._series[0] == request[:2] else None

    def markers(self, event_id: str) -> tuple[Marker, ...]:
        """The markers of that event."""
        return self._markers.get(event_id, ())

    def invalidate(self) -> None:
        """Query again at the next paint: a marker was added."""
        self._request = None
        self._markers.clear()

    def _is_stale(self, state: EventState, request: _Request) -> bool:
        last = self._request if self._request and self._request[:2] == request[:2] else None
        if state.id not in self._markers:
            return last is None
        if not needs_history(request.axis, state.qos.readings):
            return False
        if last is None or last.axis.step != request.axis.step:
            return True
        return request.axis.start - last.axis.start >= STALE_COLUMNS * request.axis.step

    async def _query(self, request: _Request) -> None:
        history, axis = self._screen.ctx.history, request.axis
        assert history is not None
        self._markers[request.event_id] = await history.markers(request.event_id)
        buckets = await history.series(*request[:2], axis.start, axis.end, axis.columns)
        self._series = request[:2], from_history(axis, buckets)
        self._screen.refresh_all()
