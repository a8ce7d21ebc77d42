"""Typeface of the wall's large letters, in mixed case. Pure.

A letter is a list of rows of dots. A cell holds two by two dots, so a stem two dots wide looks as thick as a bar one
dot high. A letter of four rows stands on the baseline (`a`); a letter of five has one row below it (`g`). Capitals have
six rows; a letter of seven has one of them below the baseline. Accented letters are composed of letter and marks.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest

HEIGHT_DOTS = 8
"""Height of the face in rows of dots: one for accents over capitals, six for letters, one below the baseline."""

_LINE = 7
"""Row below the baseline."""

_LOW_ROWS = 5
"""Maximum number of rows of a low letter, which leaves three free rows above it."""

_DRAWN = r"""
A ..##.. .####. ##..## ###### ##..## ##..##
B #####. ##..## #####. ##..## ##..## #####.
C .##### ##.... ##.... ##.... ##.... .#####
D #####. ##..## ##..## ##..## ##..## #####.
E ##### ##... ####. ##... ##... #####
F ##### ##... ####. ##... ##... ##...
G .##### ##.... ##.... ##.### ##..## .#####
H ##..## ##..## ###### ##..## ##..## ##..##
I #### .##. .##. .##. .##. ####
J ...## ...## ...## ...## ##.## .###.
K ##..## ##.##. ####.. ####.. ##.##. ##..##
L ##... ##... ##... ##... ##... #####
M ##...## ###.### ####### ##.#.## ##...## ##...##
N ##..## ###.## ###### ##.### ##..## ##..##
O .####. ##..## ##..## ##..## ##..## .####.
P #####. ##..## ##..## #####. ##.... ##....
Q .####. ##..## ##..## ##..## ##.##. .##.##
R #####. ##..## ##..## #####. ##.##. ##..##
S .##### ##.... .####. ....## ....## #####.
T ###### ..##.. ..##.. ..##.. ..##.. ..##..
U ##..## ##..## ##..## ##..## ##..## .####.
V ##..## ##..## ##..## ##..## .####. ..##..
W ##...## ##...## ##.#.## ####### ###.### ##...##
X ##..## .####. ..##.. ..##.. .####. ##..##
Y ##..## ##..## .####. ..##.. ..##.. ..##..
Z ###### ....## ...##. ..##.. .##... ######
a .#### ##.## ##.## .####
b ##... ##... ####. ##.## ##.## ####.
c .#### ##... ##... .####
d ...## ...## .#### ##.## ##.## .####
e .###. ##### ##... .####
f ..## .##. #### .##. .##. .##.
g .#### ##.## .#### ...## ####.
h ##... ##... ####. ##.## ##.## ##.##
i ## .. ## ## ## ##
j .## ... .## .## .## .## ##.
k ##... ##... ##.## ####. ##.## ##.##
l ## ## ## ## ## ##
m #######. ##.##.## ##.##.## ##.##.##
n ####. ##.## ##.## ##.##
o .###. ##.## ##.## .###.
p ####. ##.## ##.## ####. ##...
q .#### ##.## ##.## .#### ...##
r ##.## ###.. ##... ##...
s .#### ###.. ..### ####.
t .... .##. #### .##. .##. ..##
u ##.## ##.## ##.## .####
v ##.## ##.## .###. ..#..
w ##.##.## ##.##.## ##.##.## .######.
x ##.## .###. .###. ##.##
y ##.## ##.## .#### ...## ####.
z ##### ..##. .##.. #####
0 .###. ##.## ##.## ##.## ##.## .###.
1 ..##. .###. ..##. ..##. ..##. .####
2 .###. ##.## ...## .###. ##... #####
3 ####. ...## .###. ...## ...## ####.
4 ##.## ##.## ##### ...## ...## ...##
5 ##### ##... ####. ...## ...## ####.
6 .###. ##... ####. ##.## ##.## .###.
7 ##### ...## ..##. ..##. .##.. .##..
8 .###. ##.## .###. ##.## ##.## .###.
9 .###. ##.## ##.## .#### ...## .###.
ß .###. ##.## ##.#. ##.## ##.## ##.#.
ẞ .####. ##..## ##.##. ##..## ##..## ##.##.
Æ .####### ##.##... ##.####. #####... ##.##... ##.#####
æ ######. ..##### ##.##.. #######
Œ .####### ##.##... ##.####. ##.##... ##.##... .#######
œ .######. ##.##### ##.##... .#######
Ø .####.# ##..##. ##.#### ####.## .##..## #.####.
ø .###.# ##.##. ####.. #.###.
Ð .#####. .##..## ####.## .##..## .##..## .#####.
Đ .#####. .##..## ####.## .##..## .##..## .#####.
đ ..##. .#### .#### ##.## ##.## .####
ð .#.#. ..##. .#.## .#### ##.## .###.
Þ ##.... #####. ##..## ##..## #####. ##....
þ ##... ##... ####. ##.## ##.## ####. ##...
Ħ .##..## ####### .##..## .###### .##..## .##..##
ħ .##... ####.. .####. .##.## .##.## .##.##
ı ## ## ## ##
ȷ .## .## .## .## ##.
ĸ ##.## ####. ##.## ##.##
Ł .##... .##... .##.#. .###.. ###... .#####
ł .##. .##. .### ###. .##. .##.
Ŋ ##..## ###.## ###### ##.### ##..## ##..## ...##.
ŋ ####. ##.## ##.## ##.## ..##.
Ŧ ###### ..##.. .####. ..##.. ..##.. ..##..
ŧ .... .##. #### .##. #### ..##
ſ ..## .##. .##. .##. .##. .##.
Ə ####.. ....## ...### ###### ##..## .####.
ə ####. ...## ##### .###.
. .. .. .. ##
, .. .. .. ## .#
: .. ## .. .. ## ..
; .. ## .. .. .. ## .#
! ## ## ## ## .. ##
? ####. ...## ..##. ..##. ..... ..##.
¡ ## .. ## ## ## ##
¿ ..##. ..... ..##. .##.. ##... .####
' ## ## .. .. .. ..
" ##.## ##.## ..... ..... ..... .....
` ##. .## ... ... ... ...
( .## ##. ##. ##. ##. .##
) ##. .## .## .## .## ##.
[ ### ##. ##. ##. ##. ###
] ### .## .## .## .## ###
{ ..## .##. ##.. .##. .##. ..##
} ##.. .##. ..## .##. .##. ##..
/ ....## ...##. ...##. ..##.. .##... ##....
\ ##.... .##... ..##.. ...##. ...##. ....##
| ## ## ## ## ## ## ##
¦ ## ## ## .. ## ## ##
- .... #### .... ....
– ...... ###### ...... ......
— ........ ######## ........ ........
_ ..... ..... ..... ..... #####
+ ..##.. ###### ..##.. ......
± ..##.. ###### ..##.. ######
− ...... ###### ...... ......
= ##### ..... ##### .....
≠ ..##. ##### .##.. ##### ##... .....
× ##.## .###. ##.## .....
÷ ..##.. ...... ###### ...... ..##.. ......
< ...## .##.. ##... .##.. ...## .....
> ##... ..##. ...## ..##. ##... .....
~ .##..# #.##.# #..##. ......
^ ..##.. .#..#. ...... ...... ...... ......
* ##.## .###. ##.## ..... ..... .....
% ##..## ##.##. ..##.. .##... ##.##. #..###
& .###... ##.##.. .###.## ##.###. ##.##.. .###.##
@ .#####. ##...## ##.#### ##.#.## ##.#### .##....
# .##.##. ####### .##.##. .##.##. ####### .##.##.
$ ..##.. .##### ##.#.. .####. ..#.## #####. ..##..
€ ..#### .##... #####. .##... #####. ..####
£ ..###. .##..# .##... ####.. .##... ######
¥ ##..## .####. ###### ..##.. ###### ..##..
¢ ..##. .#### ##### ##... .#### ..##.
§ .#### ##... .###. ##.## .###. ...## ####.
© .######. ##....## #..###.# #..#...# ##..##.# .######.
® .######. ##....## #.###..# #.###..# ##.#.#.# .######.
° .##. #..# .##. .... .... ....
• .... #### #### ....
· .. ## .. ..
… ........ ........ ........ ##.##.##
« .##.## ##.##. ##.##. .##.##
» ##.##. .##.## .##.## ##.##.
‹ .## ##. ##. .##
› ##. .## .## ##.
“ #.#.. ##.## ..... ..... ..... .....
” ##.## .#..# ..... ..... ..... .....
„ ..... ..... ..... ##.## .#..#
‘ #. ## .. .. .. ..
’ ## .# .. .. .. ..
‚ .. .. .. ## .#
¶ .##### ###.## .##.## ..#.## ..#.## ..#.##
µ ##.## ##.## ##.## ####. ##...
¤ ##..## .####. .#..#. .####. ##..## ......
¬ ...... ###### ....## ......
¹ .#. ##. .#. .#. ... ...
² ##. ..# .#. ### ... ...
³ ##. .#. ..# ##. ... ...
✖ ##....## .##..##. ..####.. ..####.. .##..##. ##....##
▲ ...##... ...##... ..####.. ..####.. .######. ########
◆ ...##... ..####.. .######. .######. ..####.. ...##...
● .####. ###### ###### ###### ###### .####.
○ .######. ##....## ##....## ##....## ##....## .######.
◌ .##..##. #......# #......# #......# #......# .##..##.
■ ######## ######## ######## ######## ######## ########
▒ #.#.#.#. .#.#.#.# #.#.#.#. .#.#.#.# #.#.#.#. .#.#.#.#
✓ .......# ......## #....##. ##..##.. .####... ..##....
"""
"""Drawings of the letters: in each line a letter, then its rows from the top."""

_ABOVE = {
    "\u0300": ("##..", ".##."),
    "\u0301": ("..##", ".##."),
    "\u0302": ("..#..", "##.##"),
    "\u0303": (".##.#", "#.##."),
    "\u0304": ("#####", "....."),
    "\u0306": ("#...#", ".###."),
    "\u0307": ("##", ".."),
    "\u0308": ("##.##", "....."),
    "\u0309": ("###.", ".##."),
    "\u030a": (".##.", "#..#", ".##."),
    "\u030b": (".##.##", "##.##."),
    "\u030c": ("##.##", "..#.."),
    "\u0312": (".##", "##."),
}
"""Accents over a letter: grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, hook, ring, double acute,
caron, and the comma over a `g`. If the second row of an accent is empty, the row above the letter stays free.
"""

_BELOW = {"\u0323": "##", "\u0326": ".##", "\u0327": "##.", "\u0328": "..##", "\u0331": "#####"}
"""Marks below a letter: dot, comma, cedilla, ogonek and line."""

_BESIDE = {"\u030c": "dtlL", "\u031b": "ouOU"}
"""Mark (caron, horn) -> letters beside which the mark is drawn as an apostrophe."""

_UNDOTTED = {"i": "ı", "j": "ȷ"}

_SIMILAR = {
    "\u2010": "-", "\u2011": "-", "\u2012": "–", "\u2015": "—", "\u201b": "‘", "\u201f": "“", "\u02bc": "’",
    "\u00b4": "’", "\u2032": "'", "\u2033": '"', "\u2044": "/", "\u2215": "/", "\u00b8": ",", "\u2212": "−",
    "\u2122": "TM", "\u00af": "-", "\u00a8": '"', "\u03bc": "µ", "\u2713": "✓", "\u2714": "✓",
}  # fmt: skip
"""Character without a drawing -> similar characters that are drawn instead."""

_LETTERS = {row[0]: tuple(row[2:].split()) for row in _DRAWN.strip().splitlines()}

Dots = tuple[str, ...]
"""`HEIGHT_DOTS` rows of `#` and `.`, all equally long."""

_APOSTROPHE: Dots = (".", "#", "#", *".....")

_SPACE: Dots = ("...",) * HEIGHT_DOTS


@lru_cache(256)
def text_dots(text: str) -> Dots | None:
    """Return the text as dots, with a free column between letters; None if the face lacks a letter."""
    drawn = [_letter_dots(letter) for letter in _split_letters(text)]
    letters = [dots for dots in drawn if dots]
    return tuple(map(".".join, zip(*letters, strict=True))) if letters and len(letters) == len(drawn) else None


def text_width(text: str) -> int | None:
    """Return the width of the text in columns of dots; None if the face lacks a letter."""
    widths = [len(dots[0]) + 1 if (dots := _letter_dots(letter)) else 0 for letter in _split_letters(text)]
    return sum(widths) - 1 if widths and all(widths) else None


def _split_letters(text: str) -> list[str]:
    """Split a text into letters, each with its marks."""
    letters: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if letters and unicodedata.combining(char):
            letters[-1] += char
        else:
            letters.append(char)
    return letters


@lru_cache(1024)
def _letter_dots(letter: str) -> Dots | None:
    if letter.isspace():
        return _SPACE
    whole = unicodedata.normalize("NFC", letter)
    if whole in _LETTERS:
        return _merge([_placed(_LETTERS[whole])])
    similar = _SIMILAR.get(whole) or unicodedata.normalize("NFKD", whole)
    if similar != letter:
        return text_dots(similar)
    return _marked_dots(letter[0], letter[1:]) if len(letter) > 1 else None


def _marked_dots(base: str, marks: str) -> Dots | None:
    if base == "g":
        marks = marks.replace("\u0327", "\u0312")
    beside = [mark for mark in marks if base in _BESIDE.get(mark, "")]
    above = [_ABOVE[mark] for mark in marks if mark in _ABOVE and mark not in beside]
    below = [mark for mark in marks if mark in _BELOW]
    rows = _LETTERS.get(_UNDOTTED.get(base, base) if above else base)
    if rows is None or len(beside) + len(above) + len(below) < len(marks):
        return None
    layers = [_placed(rows, is_lowered=bool(above))]
    if above:
        is_low = len(rows) <= _LOW_ROWS
        layers.append(_over(_side_by_side(above), is_low=is_low))
    layers += [{_LINE: _BELOW[mark]} for mark in below]
    dots = _merge(layers)
    return tuple(f"{row}.{side}" for row, side in zip(dots, _APOSTROPHE, strict=True)) if beside else dots


_Rows = dict[int, str]
"""Position from the top -> row of dots."""


def _placed(rows: Sequence[str], *, is_lowered: bool = False) -> _Rows:
    """Place a letter on the line. `is_lowered`: a tall letter loses a row, so that two rows are free for an accent."""
    if len(rows) <= _LOW_ROWS:
        return dict(enumerate(rows, _LINE - 4))
    if not is_lowered:
        return dict(enumerate(rows, 1))
    repeated = next((place for place, pair in enumerate(pairwise(rows)) if pair[0] == pair[1]), 3)
    return dict(enumerate((*rows[:repeated], *rows[repeated + 1 :]), 2))


def _over(rows: Sequence[str], *, is_low: bool) -> _Rows:
    """Place accents in the two rows over a letter. Over a low letter, an accent of one row is placed close to it."""
    return dict(enumerate(rows, 1 if is_low and "#" not in rows[1] else 0))


def _side_by_side(marks: Sequence[Sequence[str]]) -> list[str]:
    parts = zip_longest(*marks, fillvalue="")
    widths = [len(mark[0]) for mark in marks]
    return [".".join(part.ljust(cells, ".") for part, cells in zip(row, widths, strict=True)) for row in parts]


def _merge(layers: Sequence[_Rows]) -> Dots:
    """Merge layers of rows into one picture of dots, with each layer centred."""
    dots_wide = max(len(row) for layer in layers for row in layer.values())
    return tuple(_merge_row([layer.get(place, "") for layer in layers], dots_wide) for place in range(HEIGHT_DOTS))


def _merge_row(rows: Sequence[str], dots_wide: int) -> str:
    centred = ["." * ((dots_wide - len(row)) // 2) + row for row in rows]
    return "".join(
        "#" if "#" in dots else "." for dots in zip(*(row.ljust(dots_wide, ".") for row in centred), strict=True)
    )
