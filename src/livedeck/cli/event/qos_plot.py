"""Curves of `livedeck event qos --plot`: the last samples of one event."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.monitor import Readings
from livedeck.monitor.signal.series import cadence
from livedeck.presentation.plot import Plot, missing_between, plot_axis, plot_lines
from livedeck.presentation.qos import USUAL_CADENCE
from livedeck.text.segments import Line


def qos_plot(samples: Readings, seconds: float, width: int, *, now: float | None, is_stale: bool) -> Iterator[Line]:
    """Yield the curves of the last `seconds` before `now`. At least one sample is needed.

    `now`: time of the platform's clock (epoch s); None if the stream is over: the curves then end at the newest sample.
    `is_stale`: draw the time since the newest sample as a gap.
    """
    spacing, newest = cadence(samples) or USUAL_CADENCE, samples.time[-1]
    end = max(now or 0.0, newest + spacing)
    axis = plot_axis(max(samples.time[0], end - seconds), end, width)
    gaps = missing_between(samples.time, spacing)
    if now is not None and is_stale:
        yield from plot_lines(Plot(axis, samples, spacing, [*gaps, (newest, now)]))
    else:
        yield from plot_lines(Plot(axis, samples, spacing, gaps, until=end))
