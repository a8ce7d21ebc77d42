"""Text from outside is shown without control and hidden characters, in its own cells. A field shows it unchanged."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes

from livedeck.text.outside import BLANK_LETTER, MAX_MARKS, escaped, shown, shown_after, unescaped
from livedeck.text.segments import StyleRole, plain, render, width
from payloads import HIDDEN, LEGIT, SEQUENCES

ODD = "".join([*SEQUENCES.values(), *HIDDEN.values(), *LEGIT, "\\nxu0"])
TEXTS = st.text() | st.text(st.sampled_from(sorted(set(ODD))), max_size=40)
FORMATS = {"\u200c", "\u200d"}
"""Joiners: the only invisible characters that stay, between letters."""


def is_tag(char: str) -> bool:
    return "\U000e0020" <= char <= "\U000e007f"


@given(TEXTS)
@example("".join(SEQUENCES.values()))
@example("".join(HIDDEN.values()))
def test_no_control_and_no_override_is_shown(text: str) -> None:
    kept = {char for char in shown(text) if not is_tag(char)} - FORMATS
    assert not {char for char in kept if unicodedata.category(char) in {"Cc", "Cs", "Co", "Zl", "Zp"}}
    assert not {char for char in kept if unicodedata.bidirectional(char) in {"RLO", "LRO", "RLE", "LRE", "RLI", "PDF"}}


@given(TEXTS)
def test_what_is_shown_is_shown_as_it_is(text: str) -> None:
    assert shown(shown(text)) == shown(text)


@given(TEXTS)
def test_a_cell_holds_a_bounded_number_of_characters(text: str) -> None:
    letters = [shown(text)[start:end] for start, end, _ in split_graphemes(shown(text))[0]]
    assert max(map(len, letters), default=0) <= 4 * (1 + MAX_MARKS) + 4


@pytest.mark.parametrize("text", LEGIT)
def test_names_as_people_write_them_stay_whole(text: str) -> None:
    assert shown(text) == escaped(text) == text


def test_a_letter_carries_few_marks_of_whatever_block() -> None:
    for mark in "\u0301\u0489\u1ab0\u1dc4\u20d0\u20dd\ufe20\u0e48\u0300":
        assert shown("e" + mark * 50) == "e" + mark * MAX_MARKS
    assert shown("\u0301name") == "name", "it would stand on what is before the name"


@pytest.mark.parametrize("filler", ["\u115f", "\u1160", "\u3164", "\uffa0"])
def test_a_letter_without_a_picture_is_seen(filler: str) -> None:
    assert shown(f"Choir{filler}") == f"Choir{BLANK_LETTER}"


def test_a_flag_is_no_way_in_for_tags() -> None:
    assert shown("\U0001f3f4\U000e0067\U000e0062") == "\U0001f3f4"
    assert shown("x\U000e0067\U000e0062\U000e007f") == "x"


def test_what_is_joined_takes_a_bounded_number_of_cells() -> None:
    """A terminal that joins nothing draws all of it: two cells each."""
    text = shown(HIDDEN["joined without an end"])
    assert 2 * len(text.replace("\u200d", "")) <= 4 * cell_len(text)


@given(TEXTS)
@example("\\x1b\x1b")
@example("C:\\temp\x07")
def test_a_field_gives_back_every_text(text: str) -> None:
    field = escaped(text)
    assert shown(field) == field
    assert (unescaped(field) if field != text else field) == text


def test_a_field_shows_what_is_hidden() -> None:
    assert escaped("\x1b]0;a\x07 \u202eb\\ \u3164\n") == "\\x1b]0;a\\x07 \\u202eb\\\\ \\u3164\\n"
    assert escaped("C:\\temp") == "C:\\temp", "nothing is hidden: it stands as it is"


def test_an_accent_is_typed_behind_its_letter() -> None:
    assert shown_after("e", "\u0301\x1b") == "\u0301"
    assert shown_after("", "\u0301") == ""


@given(TEXTS, st.integers(0, 30))
def test_a_line_that_is_drawn_holds_what_is_shown_in_its_cells(text: str, cells: int) -> None:
    line = render([(text, StyleRole.TEXT), ("|", StyleRole.DIM)], cells)
    assert width(line) == cells
    assert all(shown(part) == part for part, _ in line)
    assert plain([(text, StyleRole.TEXT)]) == shown(text)
