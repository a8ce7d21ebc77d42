"""Lines take exactly the given number of cells; the changed ranges of two lines are all their differences."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len as measured_cells

from livedeck.text.segments import (
    Line,
    Shade,
    StyleRole,
    abridge,
    cell_len,
    changed_ranges,
    clip,
    fit,
    join,
    justify,
    on_ground,
    plain,
    shorten,
    width,
    wrap_groups,
)

TEXTS = st.text(alphabet="ab é東●", max_size=12)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from([StyleRole.TEXT, StyleRole.DIM])), max_size=4)


@given(LINES, st.integers(0, 40), st.booleans(), st.booleans())
def test_a_fitted_line_is_exactly_as_wide_as_asked(line: Line, cells: int, right: bool, ellipsis: bool) -> None:
    assert width(fit(line, cells, right=right, ellipsis=ellipsis)) == cells


def test_each_character_takes_the_cells_that_a_terminal_gives_it() -> None:
    characters = [chr(code) for code in range(0x20, 0x3100)]
    assert [char for char in characters if cell_len(char) != measured_cells(char)] == []


@given(LINES, LINES, st.integers(0, 60))
def test_two_ends_fill_the_line(left: Line, right: Line, cells: int) -> None:
    assert width(join(left, right, cells)) == cells


@pytest.mark.parametrize(
    ("name", "cells", "shown"),
    [
        ("Annual general meeting Südwind", 17, "Annual ge…Südwind"),
        ("Esports semi-final 12", 17, "Esports semi-f…12"),
        ("Morning service", 14, "Mornin…service"),
        ("Supercalifragilistic", 9, "Supe…stic"),
        ("日本語の講義 東京", 13, "日本語の…東京"),
        ("Lecture 7   ", 9, "Lecture…7"),
        ("Choir", 1, "…"),
    ],
)
def test_a_cut_is_marked_and_leaves_the_last_word(name: str, cells: int, shown: str) -> None:
    assert plain(clip([(name, StyleRole.TEXT)], cells)) == shown


@given(st.lists(st.sampled_from(["semi-final", "Schüler", "東京", "pitch"]), min_size=1, max_size=4))
def test_names_that_differ_in_a_short_last_word_differ_when_they_are_cut(words: list[str]) -> None:
    names = [" ".join([*words, str(number)]) for number in range(20)]
    assert len({plain(clip([(name, StyleRole.TEXT)], 8)) for name in names}) == 20


def test_a_wide_character_is_not_halved() -> None:
    assert plain(fit([("東京", StyleRole.TEXT)], 3)) == "東 "


@pytest.mark.parametrize(("cells", "text"), [(20, "link  host  rtt"), (12, "link  host"), (6, "link"), (2, "link")])
def test_where_room_is_short_the_highest_rank_goes_first_and_zero_never(cells: int, text: str) -> None:
    parts = [(0, [("link", StyleRole.TEXT)]), (1, [("host", StyleRole.TEXT)]), (2, [("rtt", StyleRole.TEXT)])]
    assert plain(wrap_groups(parts, cells)) == text


def test_both_ends_give_way_by_one_order() -> None:
    left = [(0, [("link", StyleRole.TEXT)]), (3, [("host", StyleRole.TEXT)])]
    right = [(2, [("local", StyleRole.TEXT)]), (0, [("utc", StyleRole.TEXT)])]
    assert plain(justify(left, right, 24)) == "link  host    local  utc"
    assert plain(justify(left, right, 18)) == "link    local  utc"
    assert plain(justify(left, right, 10)) == "link   utc"


@given(LINES, LINES, st.integers(1, 6))
def test_outside_the_changed_ranges_two_lines_show_the_same(before: Line, after: Line, min_gap: int) -> None:
    before, after = fit(before, 40), fit(after, 40)
    ranges = changed_ranges(before, after, min_gap)
    cells = [
        [(char, role) for text, role in line for char in text for _ in range(width([(char, role)]))]
        for line in (before, after)
    ]
    unchanged = set(range(40)) - {cell for start, end in ranges for cell in range(start, end)}
    assert all(cells[0][cell] == cells[1][cell] for cell in unchanged)
    assert all(second[0] - first[1] >= min_gap for first, second in pairwise(ranges))
    assert all(start < end <= 40 for start, end in ranges)


LOSS = "packet loss in 33 % of the last 10 min (9 s in every 30 s)"


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (60, LOSS),
        (40, "packet loss in 33 % of the last 10 min"),
        (34, "packet loss in 33 %…"),
        (16, "packet loss…"),
        (8, "packet…"),
    ],
)
def test_what_says_what_is_wrong_loses_its_last_parts_then_its_last_words(cells: int, shown: str) -> None:
    assert shorten(LOSS, cells) == shown


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (80, "Check key and stream, then restart the restream."),
        (40, "Check key and stream…"),
        (21, "Check key and stream…"),
        (20, "Check key…"),
    ],
)
def test_an_advice_without_room_says_that_it_goes_on(cells: int, shown: str) -> None:
    assert abridge("Check key and stream, then restart the restream.", cells) == shown


WORDS = st.from_regex(r"[a-z]{1,9}|[0-9]{1,9}(%| s| min),?", fullmatch=True)


@given(st.lists(WORDS, max_size=12), st.integers(16, 60))
def test_no_number_is_cut_in_its_middle_nor_from_its_unit(words: list[str], cells: int) -> None:
    shown = shorten(" ".join(words), cells)
    assert width([(shown, StyleRole.TEXT)]) <= cells
    numbers = {word.rstrip(",") for word in words if word[0].isdigit()}
    assert set(re.findall(r"[0-9]+(?:%| s| min)?", shown)) <= numbers


def test_a_line_on_a_ground_keeps_what_is_filled() -> None:
    line: Line = [(" ✖ CRIT ", StyleRole.CRITICAL), (" 01:21", StyleRole.TEXT)]
    assert on_ground(line, StyleRole.CRITICAL, 16) == [
        (" ✖ CRIT ", StyleRole.CRITICAL),
        (" 01:21", Shade(StyleRole.TEXT, area=StyleRole.CRITICAL)),
        ("  ", Shade(StyleRole.TEXT, area=StyleRole.CRITICAL)),
    ]


def test_a_banner_loses_its_end() -> None:
    text = "retry in 2 s  nothing listens there"
    assert plain(clip([(text, StyleRole.BANNER)], 30)) == "retry in 2 s  nothing listens…"
    assert plain(clip([(text, StyleRole.TEXT)], 30)) == "retry in 2 s  nothing li…there"
