"""Curves of `livedeck status --plot`: the video rate of each event on air, all with the same time axis."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.monitor import EventState, IngestState, Snapshot
from livedeck.presentation import events
from livedeck.presentation.connection import missing_text
from livedeck.presentation.plot import (
    VIDEO,
    Period,
    Plot,
    curve_lines,
    legend_lines,
    missing_between,
    plot_axis,
    range_text,
    status_line,
    time_lines,
)
from livedeck.presentation.qos import USUAL_CADENCE, Axis, longest_step
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole, clip

SPAN = 900.0
"""Seconds before now that the curves show."""

ROWS = 3
"""Height of a curve."""

NOTHING_ON_AIR = "nothing is on air, so there is no curve"
NO_SAMPLES = "no samples: whether a signal arrives is unknown"


def status_plot(snapshot: Snapshot, render_time: RenderTime, width: int) -> Iterator[Line]:
    """Yield a curve for each event on air, under its name, then the times and the meaning of all signs."""
    states, now = snapshot.events, render_time.server.timestamp()
    first = min((state.qos.readings.time[0] for state in states if len(state.qos.readings)), default=now)
    axis, plots = plot_axis(max(first, now - SPAN), now, width), list[Plot]()
    for state in states:
        plot = event_plot(state, render_time, axis)
        if not len(plot.samples):
            if state.phase.tally.expects_signal:
                yield clip([(events.name(state), StyleRole.STRONG), (f"  {NO_SAMPLES}", StyleRole.DIM)], width)
        elif state.phase.tally.expects_signal or len(plot.on_axis()):
            plots.append(plot)
            rates = f"  video {range_text(plot, VIDEO)}"
            yield clip([(events.name(state), StyleRole.STRONG), (rates, StyleRole.DIM)], width)
            yield from curve_lines(plot, VIDEO, ROWS)
            yield status_line(plot)
    if plots:
        yield from time_lines(axis)
        yield from (clip(line, width) for line in legend_lines(plots))
    elif not any(state.phase.tally.expects_signal for state in states):
        missing = missing_text(snapshot)
        text = f"no curve: {missing}" if missing else NOTHING_ON_AIR
        yield clip([(text, StyleRole.DIM)], width)


def event_plot(state: EventState, render_time: RenderTime, axis: Axis) -> Plot:
    """Return the plot of an event's samples on the axis. Late samples make no gap, as in the deck."""
    qos, spacing = state.qos, state.qos.cadence or USUAL_CADENCE
    if qos.as_of is None or not len(qos.readings):
        return Plot(axis, qos.readings, spacing)
    newest, known_until = qos.readings.time[-1], render_time.to_server(qos.as_of).timestamp()
    is_gone = state.phase.ingest.state is IngestState.INTERRUPTED
    patience = 0.0 if is_gone else longest_step(spacing) + (qos.lag or 0.0)
    gaps, unwatched = missing_between(qos.readings.time, spacing), list[Period](qos.not_watched)
    if state.phase.tally.expects_signal:
        gaps.append((newest, known_until - patience))
    if events.is_doubtful(state, render_time):
        unwatched.append((max(newest, known_until), axis.end))
    return Plot(axis, qos.readings, spacing, gaps, unwatched, until=newest if is_gone else newest + patience)
