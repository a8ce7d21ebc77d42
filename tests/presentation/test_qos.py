"""Samples in columns and in charts: a gap is a gap, a dip is visible, and every curve has exactly its size."""

import re
from array import array
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Readings
from livedeck.presentation import qos
from livedeck.presentation.qos import Axis, Bucket, bucket_columns, bucket_statuses, sparkline, status_strip
from livedeck.text.segments import StyleRole, plain
from livedeck.ui.qos.plot import draw_curve, row_of
from livedeck.ui.qos.view import time_axis_line

LABEL = re.compile(r"\d\d:\d\d(:\d\d)?|\d\d [A-Z][a-z]{2}")
RATES = st.one_of(st.none(), st.floats(-1e9, 1e9))


def readings(times: list[float], values: list[float], statuses: list[int] | None = None) -> Readings:
    empty = array("d", [nan] * len(times))
    marks = array("q", statuses or [0] * len(times))
    return Readings(array("d", times), array("d", values), empty, empty, marks)


def test_a_column_keeps_the_least_and_the_greatest_of_its_samples() -> None:
    samples = readings([0, 2, 4, 6, 8], [5, 1, 9, nan, 3])
    assert bucket_columns(Axis(0, 10, 2), samples, samples.video) == [Bucket(1, 9), Bucket(3, 3)]


def test_a_step_without_a_sample_is_a_gap_and_zero_is_not() -> None:
    samples = readings([0, 9], [0, 7])
    assert bucket_columns(Axis(0, 10, 5), samples, samples.video) == [Bucket(0, 0), None, None, None, Bucket(7, 7)]


def test_the_worst_status_of_a_column_is_drawn() -> None:
    samples = readings([0, 1, 2, 3, 4, 5, 6], [1] * 7, [0, 3, 4, 3, 5, 0, 2])
    styles = bucket_statuses(Axis(0, 8, 4), samples)
    assert [style.glyph if style else None for style in styles] == ["▲", "◆", "✖", "?"]


@given(st.floats(1e9, 2e9), st.floats(0, 300), st.integers(1, 200))
def test_old_columns_stay_where_they_are_as_time_goes_on(at: float, later: float, columns: int) -> None:
    first, second = Axis.ending_at(at, 300, columns), Axis.ending_at(at + later, 300, columns)
    steps = (second.end - first.end) / first.step
    assert first.end - first.step * 1.001 <= at < first.end
    assert steps == pytest.approx(round(steps), abs=1e-3)


@given(st.lists(RATES, max_size=30), st.integers(0, 8), st.floats(-10, 10), st.floats(-10, 10))
def test_a_curve_has_the_requested_size(values: list[float | None], rows: int, low: float, high: float) -> None:
    columns = [None if value is None else Bucket(value, value) for value in values]
    lines = draw_curve(columns, rows, low, high)
    assert [len(line) for line in lines] == [len(columns)] * rows


def test_a_curve_leaves_its_gaps_empty_and_draws_no_line_across_them() -> None:
    flat = Bucket(1, 1)
    (line,) = draw_curve([flat, flat, None, None, None, flat, flat], 1, 0, 2)
    assert line[2:5].strip(" ⠀") == ""
    assert line[:2].strip(" ⠀")
    assert line[5:].strip(" ⠀")


def test_a_higher_value_is_drawn_higher() -> None:
    top, bottom = draw_curve([Bucket(9, 9), Bucket(9, 9), None, Bucket(1, 1), Bucket(1, 1)], 2, 0, 10)
    assert top[:2].strip(" ⠀")
    assert not top[3:].strip(" ⠀")
    assert bottom[3:].strip(" ⠀")
    assert not bottom[:2].strip(" ⠀")


def test_a_sparkline_shows_the_dip_of_a_column_and_a_blank_for_a_gap() -> None:
    assert plain(sparkline([Bucket(0, 8), Bucket(8, 8), None], 8)) == "▁█ "


def test_the_strip_joins_equal_neighbours() -> None:
    styles = [qos.status_style(0), qos.status_style(0), qos.status_style(4), None, qos.status_style(5)]
    assert status_strip(styles) == [
        ("▁▁", StyleRole.OK),
        ("◆", StyleRole.KEY_50),
        (" ", StyleRole.TEXT),
        ("✖", StyleRole.LOSS),
    ]


@pytest.mark.parametrize("number", [1, 2, 6, -1, 99])
def test_a_status_that_the_document_does_not_name_is_neither_normal_nor_bad(number: int) -> None:
    assert qos.status_style(number) is qos.ODD
    assert qos.ODD not in {qos.NORMAL, *qos.HIGHLIGHTED}


def test_the_highlighted_statuses_differ_in_glyph_word_and_role() -> None:
    styles = [qos.status_style(number) for number in (0, 3, 4, 5, 1)]
    for attribute in ("glyph", "word", "role"):
        assert len({getattr(style, attribute) for style in styles}) == len(styles)


@given(st.integers(1, 20), st.floats(0, 1), st.sampled_from([(0.0, 33.0), (3.03e6, 4.74e6), (0.0, 160e3)]))
def test_a_limit_is_drawn_in_the_row_of_its_value(rows: int, share: float, limits: tuple[float, float]) -> None:
    """A rate at nominal must never look as if it lay below it."""
    low, high = limits
    value = low + share * (high - low)
    lines = draw_curve([Bucket(value, value)] * 4, rows, low, high)
    assert row_of(value, rows, low, high) in [row for row, text in enumerate(lines) if text.strip(" \u2800")]


@given(st.floats(1e9, 2e9), st.sampled_from([300, 3600, 86_400, 4 * 86_400, 60 * 86_400]), st.integers(40, 190))
def test_the_time_labels_of_a_chart_do_not_touch_whatever_its_range(at: float, span: float, columns: int) -> None:
    line = time_axis_line(Axis.ending_at(at, span, columns))
    labels = re.split(" {2,}", plain(line).strip().removeprefix("UTC").strip())
    assert all(LABEL.fullmatch(label) for label in labels)
