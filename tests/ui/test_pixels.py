"""Pixels of a picture as output: few bytes, and the same cells for a terminal that was not written by us."""

from __future__ import annotations

import re
from random import Random

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from livedeck.text.segments import Pixels
from livedeck.ui.kit import themes
from livedeck.ui.kit.graphics import pixel_rows
from livedeck.ui.kit.terminal import rendered

TRUE = Console(color_system="truecolor", force_terminal=True)
CODES = re.compile(r"\x1b\[([\d;]*)m|(.)", re.DOTALL)


def cells(output: str) -> list[tuple[str, str, str]]:
    """Return letter and both colours of each cell, by ECMA-48 and ISO 8613-6 alone."""
    ink = ground = ""
    found = []
    for code, letter in CODES.findall(output):
        if letter:
            found.append((letter, ink, ground))
            continue
        parts = code.split(";")
        while parts:
            part = parts.pop(0)
            if part in {"0", ""}:
                ink = ground = ""
            elif part in {"38", "48"}:
                assert parts.pop(0) == "2"
                colour = ";".join(parts.pop(0) for _ in range(3))
                ink, ground = (colour, ground) if part == "38" else (ink, colour)
    return found


def strip_of(seed: int) -> Strip:
    random = Random(seed)
    data = bytes(random.choice((0, 8, 120, 250)) for _ in range(32 * 2 * 3))
    (row,) = pixel_rows(data, 32, 1)
    words = Segment(" 22 s old ", Style(color="red", bold=True))
    return Strip([Segment(text, themes.style("dark", role)) for text, role in row] + [words])


@pytest.mark.parametrize("seed", range(20))
def test_a_row_of_pixels_is_the_same_cells_in_fewer_bytes(seed: int) -> None:
    strip = strip_of(seed)
    assert cells(rendered(strip, TRUE)) == cells(strip.render(TRUE))
    assert len(rendered(strip, TRUE)) < 0.9 * len(strip.render(TRUE))
    assert rendered(strip, TRUE).endswith("\x1b[0m")


def test_other_colours_and_attributes_are_left_to_the_library() -> None:
    few = Console(color_system="256", force_terminal=True)
    assert rendered(strip_of(1), few) == strip_of(1).render(few)
    bold = Strip([Segment("▀▀", Style(color="#102030", bgcolor="#405060", bold=True))])
    assert rendered(bold, TRUE) == bold.render(TRUE)


def test_pixels_are_cut_to_their_levels() -> None:
    data = bytes(range(0, 252, 21))
    (row,) = pixel_rows(data, 2, 1, 4)
    colours = [colour for _, role in row if isinstance(role, Pixels) for colour in role]
    assert {colour >> shift & 255 for colour in colours for shift in (0, 8, 16)} <= {32, 96, 160, 224}
