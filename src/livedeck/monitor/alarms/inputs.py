"""Which events are fed by one encoder: what fails with them is one fault (monitoring.md, "PLATFORM incident"). Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Hashable, Mapping

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import EventState

_ROWS = 8
"""Newest samples that are the same numbers in no two encoders' streams ..."""

_DISTINCT_ROWS = 4
"""... where so many of them differ from one another: a constant tells nothing."""


def distinct_inputs(events: Collection[EventState]) -> Mapping[str, Hashable]:
    """Event id -> its input: the same for events with one stream key or ingest link, or with the same samples."""
    end = min((event.qos.readings.time[-1] for event in events if event.qos.readings.time), default=0.0)
    first_with: dict[Hashable, Hashable] = {}
    inputs: dict[str, Hashable] = {}
    for event in events:
        names = [name for name in (event.event.streamkey, event.event.rtmp_link) if name]
        marks: list[Hashable] = [*names, *_newest_rows(event.qos.readings, end)]
        known = next((first_with[mark] for mark in marks if mark in first_with), event.id)
        inputs[event.id] = known
        for mark in marks:
            first_with.setdefault(mark, known)
    return inputs


def _newest_rows(readings: Readings, end: float) -> list[Hashable]:
    """The samples up to that time (epoch s) as one mark; none where they tell nothing."""
    stop = bisect_right(readings.time, end)
    columns = (readings.video, readings.audio, readings.fps)
    rows = tuple(zip(*(column[max(0, stop - _ROWS) : stop] for column in columns), strict=True))
    return [rows] if len(rows) == _ROWS and len(set(rows)) >= _DISTINCT_ROWS else []
