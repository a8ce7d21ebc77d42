"""Samples in columns and in charts: a gap is a gap, a dip is visible, and every curve has exactly its size."""

from array import array
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Readings
from livedeck.presentation import qos
from livedeck.presentation.qos import NORMAL, Axis, Bucket, bucket_columns, bucket_statuses, signal_bars
from livedeck.text.segments import StyleRole, plain


def readings(times: list[float], values: list[float], statuses: list[int] | None = None) -> Readings:
    empty = array("d", [nan] * len(times))
    marks = array("q", statuses or [0] * len(times))
    return Readings(array("d", times), array("d", values), empty, empty, marks)


def level(value: float) -> Bucket:
    return Bucket(value, value, value)


def test_a_column_keeps_the_least_the_middle_and_the_greatest_of_its_samples() -> None:
    samples = readings([0, 2, 4, 6, 8], [5, 1, 9, nan, 3])
    assert bucket_columns(Axis(0, 10, 2), samples, samples.video) == [Bucket(1, 5, 9), Bucket(3, 3, 3)]


def test_a_step_without_a_sample_is_a_gap_and_zero_is_not() -> None:
    samples = readings([0, 9], [0, 7])
    assert bucket_columns(Axis(0, 10, 5), samples, samples.video) == [
        Bucket(0, 0, 0),
        None,
        None,
        None,
        Bucket(7, 7, 7),
    ]


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


@given(st.floats(1e9, 2e9), st.floats(0, 3e4), st.floats(1, 1e6), st.integers(1, 400))
def test_a_column_of_a_chart_is_a_whole_number_of_seconds_at_a_multiple_of_it(
    at: float, later: float, span: float, columns: int
) -> None:
    """interface.md, "Charts": so what lies in an old column never changes."""
    first, second = Axis.on_clock(at, span, columns), Axis.on_clock(at + later, span, columns)
    assert first.step == second.step == round(first.step)
    assert first.start % first.step == second.start % second.step == 0
    assert first.start <= at < first.end
    assert at - first.start >= min(span, first.step * (columns - qos.MOVE_COLUMNS)) - first.step
    assert (second.end - first.end) % (first.step * min(columns, qos.MOVE_COLUMNS)) == 0


def test_bars_show_the_dip_of_a_column_and_a_dash_for_a_gap() -> None:
    assert plain(signal_bars([Bucket(0, 0, 8), Bucket(8, 8, 8), None], [NORMAL, NORMAL, None])) == "▁▆╌"


def test_bars_join_equal_neighbours_and_show_the_glyph_of_a_status_that_is_not_normal() -> None:
    styles = [NORMAL, NORMAL, qos.status_style(4), None, qos.status_style(5)]
    flat = Bucket(8, 8, 8)
    assert signal_bars([flat, flat, flat, None, flat], styles) == [
        ("▆▆", StyleRole.VIDEO_QUIET),
        ("◆", StyleRole.KEY_50),
        ("╌", StyleRole.DIM),
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
