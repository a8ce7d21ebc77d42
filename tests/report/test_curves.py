"""A curve of a report has a gap where samples are missing, and only there, at every length and spacing."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Readings
from livedeck.report.facts import longest_step
from livedeck.report.spans import Span
from livedeck.report.svg import axis_of, columns_of, status_bars

START = datetime(2026, 11, 20, 18, tzinfo=UTC)


@given(
    cadence=st.floats(1, 30), steps=st.lists(st.sampled_from([1, 1, 1, 1, 1.2, 2, 4, 30]), min_size=12, max_size=900)
)
def test_a_curve_is_interrupted_where_samples_are_missing_and_nowhere_else(cadence: float, steps: list[float]) -> None:
    times = array("d", [START.timestamp()])
    for step in steps:
        times.append(times[-1] + step * cadence)
    count = len(times)
    values = array("d", [4e6] * count)
    samples = Readings(times, values, values, values, array("q", [5] * count))
    span, spacing = Span(START, datetime.fromtimestamp(times[-1], UTC)), longest_step(cadence)
    columns, axis = columns_of(samples, span, "video", spacing), axis_of(span)
    for before, after in pairwise(times):
        inner = range(axis.column_of(before) + 1, axis.column_of(after))
        assert all((columns[index] is not None) == (after - before <= spacing) for index in inner)
    drawn = sum(column is not None for column in columns)
    assert status_bars(samples, span, spacing).count("<rect") == drawn
