"""Find events that share one encoder: their faults are one fault (monitoring.md, "PLATFORM incident"). Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Mapping

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import EventState

_ROWS = 8
"""Number of newest samples to compare: two encoders never send the same numbers in so many of them."""

_DISTINCT_ROWS = 4
"""Minimum number of different samples among these `_ROWS`; constant values prove nothing."""


def distinct_inputs(events: Collection[EventState]) -> Mapping[str, Hashable]:
    """Return event id -> input. Events with the same stream key or the same samples have the same input.

    The same ingest address proves nothing: many events may share it and differ by their keys.
    """
    end = min((event.qos.readings.time[-1] for event in events if event.qos.readings.time), default=0.0)
    newest = {event.id: _newest_row(event.qos.readings, end) for event in events}
    counts = Counter(newest.values())
    first_with: dict[Hashable, Hashable] = {}
    inputs: dict[str, Hashable] = {}
    for event in events:
        # if no other event has the same newest sample, the samples before need no comparison
        rows = _newest_rows(event.qos.readings, end) if counts[newest[event.id]] > 1 else []
        marks: list[Hashable] = [*([key] if (key := event.event.streamkey) else []), *rows]
        first = next((first_with[mark] for mark in marks if mark in first_with), event.id)
        inputs[event.id] = first
        for mark in marks:
            first_with.setdefault(mark, first)
    return inputs


def _newest_row(readings: Readings, end: float) -> Hashable:
    """Return the values of the newest sample up to `end` (epoch s); None without a sample."""
    place = bisect_right(readings.time, end) - 1
    return (readings.video[place], readings.audio[place], readings.fps[place]) if place >= 0 else None


def _newest_rows(readings: Readings, end: float) -> list[Hashable]:
    """Return a list with one value, the newest `_ROWS` samples up to `end` (epoch s); empty if they prove nothing."""
    stop = bisect_right(readings.time, end)
    columns = (readings.video, readings.audio, readings.fps)
    rows = tuple(zip(*(column[max(0, stop - _ROWS) : stop] for column in columns), strict=True))
    return [rows] if len(rows) == _ROWS and len(set(rows)) >= _DISTINCT_ROWS else []
