"""Curves of a recorded show, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.presentation.plot import Period, Plot, missing_between, plot_axis, plot_lines
from livedeck.presentation.qos import USUAL_CADENCE
from livedeck.report.facts import EventFacts
from livedeck.report.spans import Spans, seconds_of
from livedeck.report.text import stretch_text
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import short_duration


def facts_plot(facts: EventFacts, width: int) -> Iterator[Line]:
    """Yield the curves of a show from the start to the end of its charts, or why there are none."""
    within, times = facts.charted, facts.samples.time
    if within is None or not len(times):
        yield [(_without_samples(facts), StyleRole.TEXT)]
        return
    cadence = facts.cadence or USUAL_CADENCE
    last = times[-1] + cadence
    axis = plot_axis(within.since.timestamp(), max(within.until.timestamp(), last), width)
    gaps = _periods(facts.outages) if facts.on_air else missing_between(times, cadence)
    yield from plot_lines(Plot(axis, facts.samples, cadence, gaps, _periods(facts.unknown), until=last))


def _without_samples(facts: EventFacts) -> str:
    """Return a line in place of the curves: an outage, or that the signal is unknown."""
    text = f"no samples from {stretch_text(facts.span)} UTC: "
    if facts.outages:
        return f"{text}an outage of {short_duration(seconds_of(facts.outages))}"
    return f"{text}whether a signal arrived is unknown"


def _periods(spans: Spans) -> list[Period]:
    return [(span.since.timestamp(), span.until.timestamp()) for span in spans]
