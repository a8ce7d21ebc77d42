"""A stretch of time of one event in the columns of a chart, whether from what is at hand, the history, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeVar

from livedeck.monitor import NO_STATUS, Band, Buckets, EventState, Readings
from livedeck.ui.renderables import buckets
from livedeck.ui.renderables.buckets import Axis, Bucket
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.status import Look, look

T = TypeVar("T")

Columns = list[Bucket | None]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Each list has a place a column of `axis`; None is a gap. `counts`: status -> samples that carried it."""

    axis: Axis
    video: Columns
    audio: Columns
    fps: Columns
    looks: list[Look | None]
    counts: Mapping[int, int]

    @property
    def empty(self) -> bool:
        """Whether nothing was measured in it."""
        return not any(self.looks) and not any(self.video)


def axis_for(state: EventState, moment: Moment, span: float | None, columns: int) -> Axis | None:
    """The last `span` seconds up to the last answer; None: since the stream began. None where there is no end."""
    if state.qos.as_of is None:
        return None
    end = moment.to_server(state.qos.as_of).timestamp()
    return Axis.ending(end, span if span is not None else max(60.0, end - _begun(state, end)), columns)


def _begun(state: EventState, end: float) -> float:
    stream, times = state.event.stream, state.qos.readings.time
    known = [times[0]] if len(times) else []
    if stream and stream.started_at:
        known.append(stream.started_at.timestamp())
    return min(known, default=end)


def reaches_back(axis: Axis, readings: Readings) -> bool:
    """Whether the samples at hand begin after the axis does: the history may know more."""
    return not len(readings) or readings.time[0] > axis.start + axis.step


def at_hand(axis: Axis, readings: Readings) -> Stretch:
    """From the samples that the platform still answers."""
    cuts = axis.cuts(readings.time)
    counts: dict[int, int] = {}
    for status in readings.status[cuts[0] : cuts[-1]]:
        counts[status] = counts.get(status, 0) + 1
    video, audio, fps = (
        buckets.columns(axis, readings, values) for values in (readings.video, readings.audio, readings.fps)
    )
    return Stretch(axis, video, audio, fps, buckets.statuses(axis, readings), counts)


def remembered(axis: Axis, known: Buckets) -> Stretch:
    """From the history, whose columns are those of the axis."""
    pairs = zip(known.status, known.count, strict=True)
    looks = [look(status) if count and status != NO_STATUS else None for status, count in pairs]
    counts = {status: sum(column) for status, column in known.statuses.items()}
    return Stretch(axis, _columns(known.video), _columns(known.audio), _columns(known.fps), looks, counts)


def _columns(band: Band) -> Columns:
    pairs = zip(band.low, band.high, strict=True)
    return [Bucket(low, high) if isfinite(low) and isfinite(high) else None for low, high in pairs]


def joined(old: Stretch | None, new: Stretch) -> Stretch:
    """`new`, with the columns that it lacks from `old` where that was gathered for columns of the same width.

    The axis moves on by whole columns, so an older gathering fits after a shift.
    """
    if old is None or abs(old.axis.step - new.axis.step) > 1e-6 * new.axis.step:
        return new
    shift = round((new.axis.start - old.axis.start) / new.axis.step)
    return Stretch(
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
