"""Large letters of half blocks: five pixels high, legible from across a room (interface.md, "Wallboard behaviour").
Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len

from livedeck.text.segments import Line, StyleRole, clip

PLAIN, MAX_SCALE = 1, 4
"""Scales: 1 is the terminal's own letters; 2, 3 and 4 draw each pixel one, two and three cells wide."""

HEIGHTS = {1: 1, 2: 3, 3: 5, 4: 8}
"""Lines that a text of each scale takes."""

BLOCK_HEIGHTS = {1: 1, 2: 3, 3: 6, 4: 8}
"""The same with at least half a free line above, so that it does not touch what is there."""

_ROWS = """
A .#. #.# ### #.# #.#
B ##. #.# ##. #.# ##.
C .## #.. #.. #.. .##
D ##. #.# #.# #.# ##.
E ### #.. ##. #.. ###
F ### #.. ##. #.. #..
G .## #.. #.# #.# .##
H #.# #.# ### #.# #.#
I ### .#. .#. .#. ###
J ..# ..# ..# #.# .#.
K #.# #.# ##. #.# #.#
L #.. #.. #.. #.. ###
M #...# ##.## #.#.# #...# #...#
N #..# ##.# #.## #..# #..#
O ### #.# #.# #.# ###
P ##. #.# ##. #.. #..
Q .##. #..# #..# #.#. .#.#
R ##. #.# ##. #.# #.#
S .## #.. .#. ..# ##.
T ### .#. .#. .#. .#.
U #.# #.# #.# #.# ###
V #.# #.# #.# #.# .#.
W #...# #...# #.#.# ##.## #...#
X #.# #.# .#. #.# #.#
Y #.# #.# .#. .#. .#.
Z ##### ...#. ..#.. .#... #####
0 ### #.# #.# #.# ###
1 .#. ##. .#. .#. ###
2 ### ..# ### #.. ###
3 ### ..# .## ..# ###
4 #.# #.# ### ..# ..#
5 ### #.. ### ..# ###
6 ### #.. ### #.# ###
7 ### ..# ..# .#. .#.
8 ### #.# ### #.# ###
9 ### #.# ### ..# ###
: . # . # .
. . . . . #
, .. .. .. .# #.
- ... ... ### ... ...
+ ... .#. ### .#. ...
/ ..# ..# .#. #.. #..
! # # # . #
? ### ..# .## ... .#.
' # # . . .
( .# #. #. #. .#
) #. .# .# .# #.
% #.# ..# .#. #.. #.#
& .##. #... .##. #..# .###
_ ... ... ... ... ###
# .#.#. ##### .#.#. ##### .#.#.
✖ #...# .#.#. ..#.. .#.#. #...#
▲ ..#.. ..#.. .###. .###. #####
◆ ..#.. .###. ##### .###. ..#..
● .###. ##### ##### ##### .###.
○ .###. #...# #...# #...# .###.
◌ .#.#. #...# ..... #...# .#.#.
■ ##### ##### ##### ##### #####
▒ #.#.# .#.#. #.#.# .#.#. #.#.#
✓ ....# ...#. #.#.. .#... .....
· . . # . .
… ..... ..... ..... ..... #.#.#
"""

_SPACE = ("..",) * 5
_FONT = {row[0]: tuple(row[2:].split()) for row in _ROWS.strip().splitlines()}

_SIMILAR = str.maketrans(
    dict.fromkeys("\u2010\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys('"\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\xab\xbb\u2039\u203a', "'")
    | {"|": "/", "Ø": "O", "Æ": "AE", "Œ": "OE", "Ł": "L", "Đ": "D"}
)
"""Letters that the font lacks, and those that are drawn instead."""

_HALVES = {("#", "#"): "█", ("#", "."): "▀", (".", "#"): "▄", (".", "."): " "}


def text_cells(text: str, scale: int) -> int | None:
    """Cells that the text takes at that scale; None where the font lacks one of its letters."""
    if scale == PLAIN:
        return cell_len(text)
    pixels = _pixel_rows(text)
    return None if pixels is None else max(0, len(pixels[0]) - 1) * (scale - 1)


def max_scale(text: str, cells: int, limit: int) -> int:
    """The greatest scale up to `limit` at which the text takes no more than those cells."""
    return next((scale for scale in range(limit, PLAIN, -1) if (text_cells(text, scale) or cells + 1) <= cells), PLAIN)


def text_lines(text: str, role: StyleRole, scale: int, cells: int) -> list[Line]:
    """The text in `HEIGHTS[scale]` lines, cut with an ellipsis where it is longer than `cells`; in one plain line where
    the font lacks one of its letters.
    """
    rows = None if scale == PLAIN else _half_blocks(_cut(text, scale, cells), scale - 1)
    if rows is None:
        return [clip([(text, role)], cells)]
    return [[(row, role)] for row in rows]


@lru_cache(1024)
def wrap_text(text: str, scale: int, cells: int, max_rows: int) -> tuple[str, ...]:
    """The text broken between words into rows; () where `max_rows` do not hold it or the font lacks a letter."""
    rows: list[str] = []
    for word in text.split():
        longer = f"{rows[-1]} {word}" if rows else word
        length = text_cells(longer, scale)
        if length is None:
            return ()
        if rows and length <= cells:
            rows[-1] = longer
        else:
            rows.append(word)
    fits = len(rows) <= max_rows and all((text_cells(row, scale) or 0) <= cells for row in rows)
    return tuple(rows) if fits else ()


def block_lines(text: str, role: StyleRole, scale: int, cells: int) -> list[Line]:
    """As `text_lines`, in `BLOCK_HEIGHTS[scale]` lines."""
    return [*([[]] * (BLOCK_HEIGHTS[scale] - HEIGHTS[scale])), *text_lines(text, role, scale, cells)]


def _cut(text: str, scale: int, cells: int) -> str:
    """As many whole letters as fit."""
    kept = text
    while kept and (text_cells(text if kept is text else f"{kept}…", scale) or 0) > cells:
        kept = kept[:-1].rstrip()
    return text if kept is text else f"{kept}…"


@lru_cache(256)
def _half_blocks(text: str, pixel_cells: int) -> tuple[str, ...] | None:
    """The text with so many cells a pixel, two pixels above each other a cell; None where the font lacks a letter."""
    pixels = _pixel_rows(text)
    if pixels is None:
        return None
    wide = ["".join(pixel * pixel_cells for pixel in row[:-1]) for row in pixels]
    tall = [row for row in wide for _ in range(pixel_cells)]
    tall = ["." * len(tall[0])] * (len(tall) % 2) + tall
    pairs = zip(tall[::2], tall[1::2], strict=True)
    return tuple("".join(_HALVES[pair] for pair in zip(*rows, strict=True)) for rows in pairs)


@lru_cache(1024)
def _pixel_rows(text: str) -> tuple[str, ...] | None:
    """Five rows of pixels, a free column behind each letter; None where the font lacks a letter."""
    letters = [_SPACE if char == " " else _FONT.get(char) for char in _capitals(text)]
    if not letters or None in letters:
        return None
    return tuple("".join(f"{letter[row]}." for letter in letters if letter) for row in range(5))


def _capitals(text: str) -> str:
    """Capitals without accents, one dash and one quote: what the font has."""
    letters = unicodedata.normalize("NFKD", text.upper()).translate(_SIMILAR)
    return "".join(char for char in letters if not unicodedata.combining(char))
