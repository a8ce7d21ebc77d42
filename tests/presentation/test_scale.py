"""The laws of a scale: it holds its values, and its ticks are round and have equal distances."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.presentation.scale import STEPS, round_scale

VALUES = st.one_of(st.just(0.0), st.floats(0, 1e9), st.floats(0, 1e300))
ROWS = st.integers(1, 21)


@given(st.lists(VALUES, max_size=8), ROWS, st.booleans())
def test_a_scale_holds_its_values_and_its_ticks_have_equal_distances(
    values: list[float], rows: int, is_fitted: bool
) -> None:
    """interface.md, "Charts"."""
    scale = round_scale(values, rows, is_fitted=is_fitted)
    assert scale.rows == rows
    assert scale.low < scale.high
    assert scale.low <= min((value for value in values if is_fitted), default=0.0) * (1 + 1e-9)
    assert scale.high > min(max(values, default=0.0), 1e300) * (1 - 1e-9)
    assert len({below - above for below, above in pairwise([scale.row(tick) for tick in scale.ticks])}) <= 1
    if scale.ticks:
        assert (scale.row(scale.ticks[0]), scale.row(scale.ticks[-1])) == (rows - 1, 0)
        assert all(below - above >= 2 for below, above in pairwise([scale.row(tick) for tick in scale.ticks]))
        assert all(len(scale.label(tick, 1.0)) <= 6 for tick in scale.ticks)


@pytest.mark.parametrize(
    ("greatest", "rows", "unit", "labels"),
    [
        (4.46e6, 7, 1e6, "0 2 4 6"),
        (4.46e6, 11, 1e6, "0 1 2 3 4 5"),
        (4.46e6, 21, 1e6, "0 1 2 3 4 5"),
        (128e3, 5, 1e3, "0 80 160"),
        (128e3, 13, 1e3, "0 40 80 120 160"),
        (30.0, 5, 1, "0 20 40"),
        (30.0, 13, 1, "0 10 20 30 40"),
        (4.6e6, 5, 1e6, "0.0 2.5 5.0"),
    ],
)
def test_the_ticks_of_usual_rates(greatest: float, rows: int, unit: float, labels: str) -> None:
    scale = round_scale([greatest], rows)
    assert " ".join(scale.label(tick, unit) for tick in scale.ticks) == labels


@given(st.floats(1, 1e9), ROWS)
def test_a_scale_grows_with_its_greatest_value_and_never_shrinks_before_it(greatest: float, rows: int) -> None:
    low, high = round_scale([greatest], rows), round_scale([greatest * 1.3, greatest], rows)
    assert high.high >= greatest * 1.3 * (1 - 1e-9)
    assert round_scale([greatest, greatest / 3], rows) == low


def test_the_steps_of_a_scale_are_those_of_the_page() -> None:
    """interface.md, "Charts"."""
    assert set(STEPS) == {1, 2, 2.5, 4, 5}
