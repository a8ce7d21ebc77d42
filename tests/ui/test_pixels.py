"""Pixels of a picture as output: few bytes, and the right cells in a terminal that others wrote."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO
from random import Random

import pytest
from PIL import Image
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from livedeck.text.segments import Pixels
from livedeck.ui.kit import themes
from livedeck.ui.kit.graphics import Frame, erase_kitty, faded, iterm2_small, kitty_small, pixel_rows
from livedeck.ui.kit.terminal import rendered
from ui.viewer_stage import jpeg

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


@pytest.fixture(autouse=True)
def fresh_styles() -> None:
    """Forget the styles of pixels: a style of Rich keeps the codes of the first kind of terminal that drew it."""
    themes.pixel_style.cache_clear()


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
    assert "38;5;" in rendered(strip_of(1), few)
    bold = Strip([Segment("▀▀", Style(color="#102030", bgcolor="#405060", bold=True))])
    assert rendered(bold, TRUE) == bold.render(TRUE)


def test_pixels_are_cut_to_their_levels() -> None:
    data = bytes(range(0, 252, 21))
    (row,) = pixel_rows(data, 2, 1)
    colours = [colour for _, role in row if isinstance(role, Pixels) for colour in role]
    assert {colour >> shift & 255 for colour in colours for shift in (0, 8, 16)} <= {*range(4, 256, 8)}


def test_kitty_gets_a_small_png_under_the_number_of_its_place_and_iterm2_the_jpeg_itself() -> None:
    content = jpeg("orange")
    frame, pixels = Frame(32, 9), Image.open(BytesIO(content)).tobytes()
    parts = re.findall("\x1b_G([^;]*);([^\x1b]*)\x1b\\\\", kitty_small(pixels, (160, 90), frame, 104))
    keys = dict(pair.split("=") for pair in parts[0][0].split(","))
    assert {name: keys[name] for name in "aifpcrCq"} == {
        "a": "T", "i": "104", "f": "100", "p": "1", "c": "32", "r": "9", "C": "1", "q": "2",
    }  # fmt: skip
    png = Image.open(BytesIO(b64decode("".join(data for _, data in parts), validate=True)))
    assert png.size == (160, 90)
    assert len(png.getcolors() or ()) <= 64
    found = re.fullmatch(
        "\x1b]1337;File=inline=1;width=32;height=9;([^:]*):([^\x07]*)\x07", iterm2_small(content, frame)
    )
    assert found
    assert b64decode(found[2], validate=True) == content
    assert erase_kitty(104) == "\x1b_Ga=d,d=I,i=104,q=2\x1b\\"


def test_a_faded_picture_is_half_way_to_the_ground() -> None:
    assert faded(bytes((0, 100, 200, 255, 255, 255)), 0x102030) == bytes((8, 66, 124, 135, 143, 151))
