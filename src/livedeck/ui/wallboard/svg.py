"""Lines as an SVG, cell for cell: sharp at any size, and without scripts, fonts or other external parts.

Bars, pixels and borders are shapes instead of letters, so that they join up with any font. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rich.cells import cell_len

from livedeck.presentation.qos import BARS
from livedeck.text.outside import Shown, shown
from livedeck.text.segments import Role, ShadedLine
from livedeck.ui.kit.themes import Palette, StyleSpec
from livedeck.ui.wallboard.styles import wall_background, wall_style

CELL_WIDTH, CELL_HEIGHT = 10, 20
"""Width and height of a cell, in units of the picture."""

FONT = 'font-family="DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace" font-size="16.6"'

_TERMINAL = {
    "ansi_default": "#d5dce2", "ansi_black": "#0e1216", "ansi_red": "#c00000", "ansi_green": "#009e73",
    "ansi_yellow": "#e69f00", "ansi_cyan": "#2e8a98", "ansi_magenta": "#74629f", "ansi_white": "#b4bec6",
    "ansi_bright_red": "#ff6558",
    "ansi_bright_green": "#66dcc0", "ansi_bright_yellow": "#ffdd55", "ansi_bright_magenta": "#e0a0ff",
    "ansi_bright_cyan": "#4fd1e0", "ansi_bright_white": "#e6e6e6",
}  # fmt: skip
"""Name of a terminal's own colour -> colour in its place."""

_Box = tuple[float, float, float, float]
"""Box within a cell: left, top, width and height, in units."""

_Paths = dict[tuple[int, str], list[str]]
"""Layer and colour -> path commands. The layers are backgrounds, then shapes."""

_BACKGROUND, _FOREGROUND = 0, 1

_BLOCKS: dict[str, _Box] = {
    **{
        bar: (0, CELL_HEIGHT - CELL_HEIGHT * (step + 1) / 8, CELL_WIDTH, CELL_HEIGHT * (step + 1) / 8)
        for step, bar in enumerate(BARS)
    },
    "▀": (0, 0, CELL_WIDTH, CELL_HEIGHT / 2),
}
"""Boxes as wide as a cell."""

_HALF_BOXES: dict[str, _Box] = {
    "q": (0, 0, CELL_WIDTH / 2, CELL_HEIGHT / 2),
    "w": (CELL_WIDTH / 2, 0, CELL_WIDTH / 2, CELL_HEIGHT / 2),
    "a": (0, CELL_HEIGHT / 2, CELL_WIDTH / 2, CELL_HEIGHT / 2),
    "s": (CELL_WIDTH / 2, CELL_HEIGHT / 2, CELL_WIDTH / 2, CELL_HEIGHT / 2),
    "l": (0, 0, CELL_WIDTH / 2, CELL_HEIGHT),
    "r": (CELL_WIDTH / 2, 0, CELL_WIDTH / 2, CELL_HEIGHT),
}
"""Boxes of the quarters of a cell (`q w` above `a s`, as on a keyboard), and of its left and right half."""

_QUADRANTS = {
    "▘": "q", "▝": "w", "▖": "a", "▗": "s", "▌": "l", "▐": "r",
    "▚": "qs", "▞": "wa", "▛": "lw", "▜": "rq", "▙": "ls", "▟": "ra",
}  # fmt: skip

_ARMS = {
    "─": "h", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
    "═": "H", "║": "UD", "╔": "RD", "╗": "LD", "╚": "RU", "╝": "LU",
}  # fmt: skip
"""Border -> sides of the cell that it reaches from the middle. `h`: from left to right. Capitals: heavy lines."""

_SHAPES = frozenset({*_BLOCKS, *_QUADRANTS, *_ARMS})
_STRETCHED = "".join((*_BLOCKS, "─═"))

_PIECES = re.compile(rf" +|([{_STRETCHED}])\1*|[│┌┐└┘║╔╗╚╝{''.join(_QUADRANTS)}]|[^ {''.join(_SHAPES)}]+")
"""Pattern of the parts of a text: runs of blanks, runs of a stretchable shape, single corners or walls, letters."""


def svg(lines: Sequence[ShadedLine], size: tuple[int, int], palette: Palette, *, dim: bool = False) -> str:
    """Draw lines as an SVG. `size`: cells and lines of the picture. `dim`: True to dim the colours."""
    roles = {role for line in lines for _, role in line}
    styles = {role: _without_terminal(wall_style(palette, role, dim=dim)) for role in roles}
    width, height = size[0] * CELL_WIDTH, size[1] * CELL_HEIGHT
    background = _TERMINAL["ansi_black"] if palette.ansi else wall_background(palette)
    paths: _Paths = defaultdict(list)
    texts = [text for row, line in enumerate(lines) for text in _line(line, row, styles, background, paths)]
    shapes = (f'<path fill="{colour}" d="{"".join(parts)}"/>' for (_, colour), parts in sorted(paths.items()))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {FONT}>',
            f'<rect x="{-width}" y="{-height}" width="{3 * width}" height="{3 * height}" fill="{background}"/>',
            *shapes,
            *texts,
            "</svg>\n",
        ]
    )


def _without_terminal(spec: StyleSpec) -> StyleSpec:
    """Return the style with the terminal's colour names replaced and `reverse` applied."""
    colour = _TERMINAL.get(spec.colour, spec.colour)
    background = _TERMINAL.get(spec.background, spec.background)
    if spec.background == "ansi_default":
        background = _TERMINAL["ansi_black"]
    if "reverse" in spec.style:
        colour, background = background, colour
    return StyleSpec(colour, background, spec.style)


def _line(
    line: ShadedLine, row: int, styles: Mapping[Role, StyleSpec], background: str, paths: _Paths
) -> Iterator[str]:
    column = 0
    for outside, role in line:
        text, spec = shown(outside), styles[role]
        length = cell_len(text)
        if spec.background != background and length:
            box = (column * CELL_WIDTH, row * CELL_HEIGHT, length * CELL_WIDTH, CELL_HEIGHT)
            paths[_BACKGROUND, spec.background].append(_path(box))
        yield from _segment(text, column, row, spec, paths)
        column += length


def _segment(text: Shown, column: int, row: int, spec: StyleSpec, paths: _Paths) -> Iterator[str]:
    """Add the shapes of a segment to `paths`, with equal neighbours as one shape. Yield runs of letters as text."""
    for match in _PIECES.finditer(text):
        piece = match[0]
        length = cell_len(piece)
        if piece[0] in _SHAPES:
            paths[_FOREGROUND, spec.colour] += [
                _path((column * CELL_WIDTH + left, row * CELL_HEIGHT + top, width + (length - 1) * CELL_WIDTH, height))
                for left, top, width, height in _boxes(piece[0])
            ]
        elif piece[0] != " ":
            yield _text(piece, length, column, row, spec)
        column += length


def _boxes(shape: str) -> Iterator[_Box]:
    """Yield the boxes of a shape. The caller stretches a cell-wide shape over a run of equal cells."""
    if shape in _BLOCKS:
        yield _BLOCKS[shape]
    for part in _QUADRANTS.get(shape, ""):
        yield _HALF_BOXES[part]
    for arm in _ARMS.get(shape, ""):
        yield _arm(arm.lower(), 2.0 if arm.isupper() else 0.75)


def _arm(side: str, half: float) -> _Box:
    """Return the box from the middle of a cell to a side, `2 * half` units thick; for `h`, from left to right."""
    x, y = CELL_WIDTH / 2, CELL_HEIGHT / 2
    return {
        "h": (0.0, y - half, CELL_WIDTH, 2 * half),
        "l": (0.0, y - half, x + half, 2 * half),
        "r": (x - half, y - half, x + half, 2 * half),
        "u": (x - half, 0.0, 2 * half, y + half),
        "d": (x - half, y - half, 2 * half, y + half),
    }[side]


def _path(box: _Box) -> str:
    left, top, width, height = box
    return f"M{left:g} {top:g}h{width:g}v{height:g}h{-width:g}z"


def _text(text: str, length: int, column: int, row: int, spec: StyleSpec) -> str:
    bold = ' font-weight="bold"' if "bold" in spec.style else ""
    position = f'x="{column * CELL_WIDTH}" y="{row * CELL_HEIGHT + 15}"'
    width = f'textLength="{length * CELL_WIDTH}" lengthAdjust="spacingAndGlyphs"'
    return f'<text {position} {width} fill="{spec.colour}"{bold}>{escape(text, quote=False)}</text>'
