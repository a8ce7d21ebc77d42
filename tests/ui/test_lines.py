"""Lines always take exactly the cells they are given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between, fit, flow, plain, spread, width

TEXTS = st.text(alphabet="ab é東●", max_size=12)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from([Ink.TEXT, Ink.DIM])), max_size=4)


@given(LINES, st.integers(0, 40), st.booleans(), st.booleans())
def test_a_fitted_line_is_exactly_as_wide_as_asked(line: Line, cells: int, right: bool, ellipsis: bool) -> None:
    assert width(fit(line, cells, right=right, ellipsis=ellipsis)) == cells


@given(LINES, LINES, st.integers(0, 60))
def test_two_ends_fill_the_line(left: Line, right: Line, cells: int) -> None:
    assert width(between(left, right, cells)) == cells


def test_a_cut_is_marked() -> None:
    assert plain(fit([("Morning service", Ink.TEXT)], 8, ellipsis=True)) == "Morning…"


def test_a_wide_character_is_not_halved() -> None:
    assert plain(fit([("東京", Ink.TEXT)], 3)) == "東 "


@pytest.mark.parametrize(("cells", "text"), [(20, "link  host  rtt"), (12, "link  host"), (6, "link"), (2, "link")])
def test_where_room_is_short_the_highest_rank_goes_first_and_zero_never(cells: int, text: str) -> None:
    parts = [(0, [("link", Ink.TEXT)]), (1, [("host", Ink.TEXT)]), (2, [("rtt", Ink.TEXT)])]
    assert plain(flow(parts, cells)) == text


def test_both_ends_give_way_by_one_order() -> None:
    left = [(0, [("link", Ink.TEXT)]), (3, [("host", Ink.TEXT)])]
    right = [(2, [("local", Ink.TEXT)]), (0, [("utc", Ink.TEXT)])]
    assert plain(spread(left, right, 24)) == "link  host    local  utc"
    assert plain(spread(left, right, 18)) == "link    local  utc"
    assert plain(spread(left, right, 10)) == "link   utc"
