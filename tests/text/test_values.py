"""Values are worded so that zero, missing and unknown never look alike, and text from outside stays harmless."""

import unicodedata
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.text import values


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00:00"),
        (59.9, "00:00:59"),
        (3768, "01:02:48"),
        (86_399, "23:59:59"),
        (277_445, "3d 05:04"),
        (-1, "00:00:00"),
    ],
)
def test_a_duration_reads_as_a_clock_does(seconds: float, text: str) -> None:
    assert values.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(79, "01:19"), (3_900, "1h05m"), (86_399, "23h59m"), (273_600, "3d 04h")]
)
def test_a_brief_length_fits_a_narrow_column(seconds: float, text: str) -> None:
    assert values.compact_duration(seconds) == text
    assert len(text) <= 6


@pytest.mark.parametrize(("seconds", "text"), [(3.7, "3 s"), (59, "59 s"), (79, "01:19"), (3600, "01:00:00")])
def test_an_age_is_short_while_it_is_small(seconds: float, text: str) -> None:
    assert values.age(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0"), (950, "950"), (128_000, "128k"), (999_499, "999k"), (999_500, "1.00M"), (4_480_000, "4.48M")],
)
def test_a_bit_rate_keeps_three_digits(rate: float, text: str) -> None:
    assert values.bits(rate) == text


@pytest.mark.parametrize("missing", [None, nan, inf])
def test_what_is_missing_is_not_zero(missing: float | None) -> None:
    assert values.bits(missing) == values.UNKNOWN != values.bits(0)
    assert values.frames(missing) == values.UNKNOWN != values.frames(0)


@pytest.mark.parametrize(("secret", "text"), [("rtmp-key-93f9a", "••••3f9a"), ("short", "••••"), ("", "••••")])
def test_a_mask_shows_four_characters_of_a_long_secret_and_none_of_a_short_one(secret: str, text: str) -> None:
    assert values.mask(secret) == text


@given(st.text(), st.integers(1, 80))
def test_safe_text_is_one_bounded_line_without_controls(text: str, limit: int) -> None:
    shown = values.safe(text, limit)
    assert len(shown) <= limit
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_safe_text_keeps_what_people_write() -> None:
    assert values.safe("Abendmusik 東京 é\tzwei\nDrei") == "Abendmusik 東京 é zwei Drei"
    assert values.safe("\x1b[31mred\x1b[0m\x9b2J") == "[31mred[0m2J"


def test_a_name_of_blank_braille_patterns_is_seen() -> None:
    assert values.safe("\u2800") == "␣"


def test_names_that_look_the_same_are_the_same() -> None:
    for invisible in ("\u200b", "\u00ad", "\u2060", "\ufeff", "\ufe0f", "\u202e", "\U000e0041"):
        assert values.safe(f"Choir{invisible}, hall B") == "Choir, hall B"
