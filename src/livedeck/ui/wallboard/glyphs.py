"""Letters made of half blocks: five pixels high, legible from across a room (interface.md, "Wallboard"). Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len

from livedeck.text.segments import Line, StyleRole, clip

PLAIN, LARGEST = 1, 4

"""Scales: 1 is the terminal's own letters; 2, 3 and 4 draw each pixel one, two and three cells wide."""


HEIGHTS = {1: 1, 2: 3, 3: 5, 4: 8}

"""Lines that a word of each scale takes."""


BLOCKS = {1: 1, 2: 3, 3: 6, 4: 8}

"""The same with half a line free above at least, so that what stands there does not touch it."""


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

_ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys('"\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\xab\xbb\u2039\u203a', "'")
    | {"|": "/", "Ø": "O", "Æ": "AE", "Œ": "OE", "Ł": "L", "Đ": "D"}
)

"""Letters that the font has not, by those that are read for them."""


_HALVES = {("#", "#"): "█", ("#", "."): "▀", (".", "#"): "▄", (".", "."): " "}


def size(text: str, scale: int) -> int | None:
    """Cells that the text takes at that scale; None where it holds a letter that is not drawn."""
    drawn = _drawn(text)
    if scale == PLAIN:
        return cell_len(text)
    return None if drawn is None else max(0, len(drawn[0]) - 1) * (scale - 1)


def fitting(text: str, cells: int, most: int) -> int:
    """The greatest scale, `most` at most, at which the text takes no more than those cells."""
    return next((one for one in range(most, PLAIN, -1) if (size(text, one) or cells + 1) <= cells), PLAIN)


def word(text: str, ink: StyleRole, scale: int, cells: int) -> list[Line]:
    """The text in `HEIGHTS[scale]` lines, its end cut off and marked where it is longer than `cells`."""
    rows = None if scale == PLAIN else _pixels(_cut(text, scale, cells), scale - 1)
    if rows is None:
        return [clip([(text, ink)], cells)]
    return [[(row, ink)] for row in rows]


@lru_cache(1024)
def wrapped(text: str, scale: int, cells: int, most: int) -> tuple[str, ...]:
    """The text broken between words into `most` rows at most; none where they do not hold it or a letter is missing."""
    rows: list[str] = []
    for part in text.split():
        longer = f"{rows[-1]} {part}" if rows else part
        length = size(longer, scale)
        if length is None:
            return ()
        if rows and length <= cells:
            rows[-1] = longer
        else:
            rows.append(part)
    fits = len(rows) <= most and all((size(row, scale) or 0) <= cells for row in rows)
    return tuple(rows) if fits else ()


def block(text: str, ink: StyleRole, scale: int, cells: int) -> list[Line]:
    """The word in `BLOCKS[scale]` lines."""
    return [*([[]] * (BLOCKS[scale] - HEIGHTS[scale])), *word(text, ink, scale, cells)]


def _cut(text: str, scale: int, cells: int) -> str:
    """As many whole letters as fit."""
    kept = text
    while kept and (size(text if kept is text else f"{kept}…", scale) or 0) > cells:
        kept = kept[:-1].rstrip()
    return text if kept is text else f"{kept}…"


@lru_cache(256)
def _pixels(text: str, pixel: int) -> tuple[str, ...] | None:
    drawn = _drawn(text)
    if drawn is None:
        return None
    wide = ["".join(dot * pixel for dot in row[:-1]) for row in drawn]
    tall = [row for row in wide for _ in range(pixel)]
    tall = ["." * len(tall[0])] * (len(tall) % 2) + tall
    pairs = zip(tall[::2], tall[1::2], strict=True)
    return tuple("".join(_HALVES[pair] for pair in zip(*rows, strict=True)) for rows in pairs)


@lru_cache(1024)
def _drawn(text: str) -> tuple[str, ...] | None:
    """Five rows of pixels, a free column behind each letter; None where a letter is missing from the font."""
    known = [_SPACE if char == " " else _FONT.get(char) for char in _upper(text)]
    if not known or None in known:
        return None
    return tuple("".join(f"{glyph[row]}." for glyph in known if glyph) for row in range(5))


def _upper(text: str) -> str:
    """Capitals without accents, one dash and one quote: what the font has."""
    split = unicodedata.normalize("NFKD", text.upper()).translate(_ALIKE)
    return "".join(char for char in split if not unicodedata.combining(char))
