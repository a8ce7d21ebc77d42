"""What is usual for a stream, learnt from the stream itself (monitoring.md, "Alarms"). Pure."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import isnan
from statistics import median

from livedeck.monitor.readings import Readings
from livedeck.monitor.thresholds import Thresholds

NORMAL = 0
"""The QoS status of a sample with nothing to complain of (platform-api.md, 2)."""


@dataclass(frozen=True, slots=True)
class Usual:
    """`video` in bit/s, `fps` in frames/s; None where too little was seen to say."""

    video: float | None = None
    fps: float | None = None


def usual(readings: Readings, thresholds: Thresholds) -> Usual:
    """The video rate of the last minutes' normal samples, and the frame rate that the encoder was set to."""
    return Usual(_video(readings, thresholds), _fps(readings, thresholds))


def _video(readings: Readings, thresholds: Thresholds) -> float | None:
    """Median of the normal samples. Dark ones are left out, or a long blackout would become the usual."""
    times, rates = readings.time, readings.video
    start = bisect_left(times, times[-1] - thresholds.baseline) if times else 0
    rows = [
        index
        for index in range(start, len(times))
        if readings.status[index] == NORMAL and rates[index] >= thresholds.dark_video
    ]
    if not rows or times[rows[-1]] - times[rows[0]] < thresholds.baseline_least:
        return None
    return median(rates[index] for index in rows)


def _fps(readings: Readings, thresholds: Thresholds) -> float | None:
    """The usual rate nearest to a high percentile of all that is kept.

    All of it, and not the last minutes: an encoder that has been overloaded for long must not become its own measure.
    """
    rates = sorted(rate for rate in readings.fps if not isnan(rate))
    if not rates:
        return None
    top = rates[int((len(rates) - 1) * thresholds.fps_percentile)]
    return min(thresholds.usual_fps, key=lambda rate: abs(rate - top)) if top >= thresholds.dark_fps else None
