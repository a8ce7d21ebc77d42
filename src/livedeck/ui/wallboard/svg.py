"""Lines as an SVG of their own: cell for cell, sharp at any size, no script, no font and nothing else from elsewhere.

Bars, pixels and borders are drawn as shapes, not as letters: they meet, whatever font the reader has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rich.cells import cell_len

from livedeck.presentation.qos import BARS
from livedeck.text.segments import Line, StyleRole
from livedeck.ui.kit.themes import Palette, StyleSpec
from livedeck.ui.wallboard import paint

WIDE, HIGH = 10, 20

"""Units of a cell."""


FONT = 'font-family="DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace" font-size="16.6"'


_TERMINAL = {
    "ansi_default": "#d5dce2", "ansi_black": "#0e1216", "ansi_red": "#c00000", "ansi_green": "#009e73",
    "ansi_yellow": "#e69f00", "ansi_white": "#b4bec6", "ansi_bright_red": "#f0762b", "ansi_bright_green": "#2fbf95",
    "ansi_bright_yellow": "#f0e442", "ansi_bright_magenta": "#d98fb7", "ansi_bright_cyan": "#56b4e9",
    "ansi_bright_white": "#e6e6e6",
}  # fmt: skip

"""A terminal's own colours, for a picture that has no terminal."""


_Box = tuple[float, float, float, float]

"""Left, top, width, height within a cell, in units."""


_Boxes = dict[tuple[int, str], list[str]]

"""Paths by layer and colour: the grounds first, what stands on them above."""


_BEHIND, _BEFORE = 0, 1


_BLOCKS: dict[str, _Box] = {
    **{bar: (0, HIGH - HIGH * (step + 1) / 8, WIDE, HIGH * (step + 1) / 8) for step, bar in enumerate(BARS)},
    "▀": (0, 0, WIDE, HIGH / 2),
}

_ARMS = {
    "─": "h", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
    "═": "H", "║": "UD", "╔": "RD", "╗": "LD", "╚": "RU", "╝": "LU",
}  # fmt: skip

_SHAPES = frozenset({*_BLOCKS, *_ARMS})

_STRETCHED = "".join((*_BLOCKS, "─═"))

_PIECES = re.compile(rf" +|([{_STRETCHED}])\1*|[│┌┐└┘║╔╗╚╝]|[^ {''.join(_SHAPES)}]+")

"""Runs of blanks, runs of one sign that is stretched, single corners and walls, runs of letters."""


def svg(lines: Sequence[Line], size: tuple[int, int], palette: Palette, *, dim: bool = False) -> str:
    """The picture of so many cells and lines in that theme."""
    looks = {ink: _coloured(look) for ink, look in paint.looks(palette, dim=dim).items()}
    wide, high = size[0] * WIDE, size[1] * HIGH
    behind = _TERMINAL["ansi_black"] if palette.ansi else paint.ground(palette)
    boxes: _Boxes = defaultdict(list)
    words = [text for row, line in enumerate(lines) for text in _line(line, row, looks, behind, boxes)]
    shapes = (f'<path fill="{colour}" d="{"".join(paths)}"/>' for (_, colour), paths in sorted(boxes.items()))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {FONT}>',
            f'<rect x="{-wide}" y="{-high}" width="{3 * wide}" height="{3 * high}" fill="{behind}"/>',
            *shapes,
            *words,
            "</svg>\n",
        ]
    )


def _coloured(look: StyleSpec) -> StyleSpec:
    """Without the names that only a terminal knows, and with what is reversed turned round."""
    colour, ground = _TERMINAL.get(look.colour, look.colour), _TERMINAL.get(look.ground, look.ground)
    if look.ground == "ansi_default":
        ground = _TERMINAL["ansi_black"]
    return StyleSpec(ground, colour, look.style) if "reverse" in look.style else StyleSpec(colour, ground, look.style)


def _line(line: Line, row: int, looks: Mapping[StyleRole, StyleSpec], behind: str, boxes: _Boxes) -> Iterator[str]:
    column = 0
    for text, ink in line:
        look = looks[ink]
        length = cell_len(text)
        if look.ground != behind and length:
            boxes[_BEHIND, look.ground].append(_path((column * WIDE, row * HIGH, length * WIDE, HIGH)))
        yield from _span(text, column, row, look, boxes)
        column += length


def _span(text: str, column: int, row: int, look: StyleSpec, boxes: _Boxes) -> Iterator[str]:
    """Shapes go to `boxes`, equal neighbours as one; letters come out as text, a run of them at once."""
    for found in _PIECES.finditer(text):
        piece = found[0]
        length = cell_len(piece)
        if piece[0] in _SHAPES:
            boxes[_BEFORE, look.colour] += [
                _path((column * WIDE + left, row * HIGH + up, wide + (length - 1) * WIDE, high))
                for left, up, wide, high in _shapes(piece)
            ]
        elif piece[0] != " ":
            yield _word(piece, length, column, row, look)
        column += length


def _shapes(run: str) -> Iterator[_Box]:
    """The boxes of the first of so many equal signs; those that reach from side to side are stretched over the run."""
    if run[0] in _BLOCKS:
        yield _BLOCKS[run[0]]
    for arm in _ARMS.get(run[0], ""):
        half = 2.0 if arm.isupper() else 0.75
        yield _arm(arm.lower(), half)


def _arm(side: str, half: float) -> _Box:
    """From the middle of the cell to that side, `half` units to both sides of its line; `h`: all the way across."""
    x, y = WIDE / 2, HIGH / 2
    return {
        "h": (0.0, y - half, WIDE, 2 * half),
        "l": (0.0, y - half, x + half, 2 * half),
        "r": (x - half, y - half, x + half, 2 * half),
        "u": (x - half, 0.0, 2 * half, y + half),
        "d": (x - half, y - half, 2 * half, y + half),
    }[side]


def _path(box: _Box) -> str:
    left, up, wide, high = box
    return f"M{left:g} {up:g}h{wide:g}v{high:g}h{-wide:g}z"


def _word(text: str, length: int, column: int, row: int, look: StyleSpec) -> str:
    bold = ' font-weight="bold"' if "bold" in look.style else ""
    place = f'x="{column * WIDE}" y="{row * HIGH + 15}" textLength="{length * WIDE}" lengthAdjust="spacingAndGlyphs"'
    return f'<text {place} fill="{look.colour}"{bold}>{escape(text, quote=False)}</text>'
