"""A stretch of time of one event in the columns of a chart: from what is at hand, the history, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from livedeck.monitor import NO_STATUS, Buckets, EventState, Marker, MinMax, Readings
from livedeck.presentation.qos import Axis, Bucket, StatusStyle, bucket_columns, bucket_statuses, status_style
from livedeck.presentation.render_time import RenderTime

if TYPE_CHECKING:
    from livedeck.ui.shell.screen import BaseScreen


T = TypeVar("T")


Columns = list[Bucket | None]


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """Each list has a place a column of `axis`; None is a gap. `counts`: status -> samples that carried it."""

    axis: Axis
    video: Columns
    audio: Columns
    fps: Columns
    looks: list[StatusStyle | None]
    counts: Mapping[int, int]

    @property
    def empty(self) -> bool:
        """Whether nothing was measured in it."""
        return not any(self.looks) and not any(self.video)


def axis_for(state: EventState, moment: RenderTime, span: float | None, columns: int) -> Axis | None:
    """The last `span` seconds up to the last answer; None: since the stream began. None where there is no end."""
    if state.qos.as_of is None:
        return None
    end = moment.to_server(state.qos.as_of).timestamp()
    return Axis.ending_at(end, span if span is not None else max(60.0, end - _begun(state, end)), columns)


def _begun(state: EventState, end: float) -> float:
    stream, times = state.event.stream, state.qos.readings.time
    known = [times[0]] if len(times) else []
    if stream and stream.started_at:
        known.append(stream.started_at.timestamp())
    return min(known, default=end)


def reaches_back(axis: Axis, readings: Readings) -> bool:
    """Whether the samples at hand begin after the axis does: the history may know more."""
    return not len(readings) or readings.time[0] > axis.start + axis.step


def from_memory(axis: Axis, readings: Readings) -> TimeSeries:
    """From the samples that the platform still answers."""
    cuts = axis.bounds(readings.time)
    counts: dict[int, int] = {}
    for status in readings.status[cuts[0] : cuts[-1]]:
        counts[status] = counts.get(status, 0) + 1
    video, audio, fps = (
        bucket_columns(axis, readings, values) for values in (readings.video, readings.audio, readings.fps)
    )
    return TimeSeries(axis, video, audio, fps, bucket_statuses(axis, readings), counts)


def from_history(axis: Axis, known: Buckets) -> TimeSeries:
    """From the history, whose columns are those of the axis."""
    pairs = zip(known.status, known.count, strict=True)
    looks = [status_style(status) if count and status != NO_STATUS else None for status, count in pairs]
    counts = {status: sum(column) for status, column in known.statuses.items()}
    return TimeSeries(axis, _columns(known.video), _columns(known.audio), _columns(known.fps), looks, counts)


def _columns(band: MinMax) -> Columns:
    pairs = zip(band.low, band.high, strict=True)
    return [Bucket(low, high) if isfinite(low) and isfinite(high) else None for low, high in pairs]


def concat(old: TimeSeries | None, new: TimeSeries) -> TimeSeries:
    """`new`, with the columns that it lacks from `old` where that was gathered for columns of the same width.

    The axis moves on by whole columns, so an older gathering fits after a shift.
    """
    if old is None or abs(old.axis.step - new.axis.step) > 1e-6 * new.axis.step:
        return new
    shift = round((new.axis.start - old.axis.start) / new.axis.step)
    return TimeSeries(
        new.axis,
        _over(old.video, new.video, shift),
        _over(old.audio, new.audio, shift),
        _over(old.fps, new.fps, shift),
        _over(old.looks, new.looks, shift),
        {status: max(old.counts.get(status, 0), new.counts.get(status, 0)) for status in {*old.counts, *new.counts}},
    )


def _over(old: Sequence[T | None], new: Sequence[T | None], shift: int) -> list[T | None]:
    return [
        value if value is not None else (old[at + shift] if 0 <= at + shift < len(old) else None)
        for at, value in enumerate(new)
    ]


COLUMNS_OLD = 4

"""The history is asked again when the axis has moved on by so many columns."""


class HistoryQuery:
    """For one screen. Where there is no history nothing is known, and nothing is asked.

    `group`: that of its worker; a new question ends the one before it.
    """

    def __init__(self, screen: BaseScreen, group: str = "past") -> None:
        self._screen, self._group = screen, group
        self._stretch: tuple[tuple[str, str], TimeSeries] | None = None
        self._markers: dict[str, tuple[Marker, ...]] = {}
        self._asked: tuple[str, str, Axis] | None = None

    def known(self, state: EventState, axis: Axis) -> TimeSeries | None:
        """What is known for that axis now; what is missing is asked for, and painted when it came."""
        stream = state.event.stream
        place = state.id, (stream.id if stream else None) or ""
        if self._screen.ctx.history is not None and place[1] and self._wanted(state, place, axis):
            self._asked = *place, axis
            self._screen.run_worker(self._ask(place, axis), group=self._group, exclusive=True)
        return self._stretch[1] if self._stretch and self._stretch[0] == place else None

    def markers(self, event_id: str) -> tuple[Marker, ...]:
        """What people marked in that event."""
        return self._markers.get(event_id, ())

    def forget(self) -> None:
        """Something was added: ask again."""
        self._asked = None
        self._markers.clear()

    def _wanted(self, state: EventState, place: tuple[str, str], axis: Axis) -> bool:
        if state.id not in self._markers:
            return self._asked is None or self._asked[:2] != place
        if not reaches_back(axis, state.qos.readings):
            return False
        if self._asked is None or self._asked[:2] != place or self._asked[2].step != axis.step:
            return True
        return axis.start - self._asked[2].start >= COLUMNS_OLD * axis.step

    async def _ask(self, place: tuple[str, str], axis: Axis) -> None:
        history = self._screen.ctx.history
        assert history is not None
        self._markers[place[0]] = await history.markers(place[0])
        known = await history.series(*place, axis.start, axis.end, axis.columns)
        self._stretch = place, from_history(axis, known)
        self._screen.refresh_all()
