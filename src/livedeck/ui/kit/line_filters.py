"""Line filters for terminals without colours or without characters beyond ASCII."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import split_graphemes
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

SIGNS = str.maketrans(
    {
        "✖": "x", "▲": "^", "◆": "#", "●": "*", "○": "o", "◌": "~", "■": "=", "·": ".", "✓": "+", "▒": "/", "░": " ",
        "▁": "_", "▂": ".", "▃": ",", "▄": "-", "▅": "=", "▆": "+", "▇": "%", "█": "@",
        "│": "|", "┤": "+", "├": "+", "┼": "+", "─": "-", "╌": "-", "╎": ":", "┊": ":", "━": "=", "≠": "!",
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "▔": "-", "▎": "|", "▊": "|",
        "▌": ">", "▐": "<", "▏": "|", "▕": "|", "▸": ">", "★": "*", "▼": "v", "▀": "x", "┃": "|",
        "‖": "|", "↑": "^", "↓": "v", "↕": "|", "←": "<", "→": ">", "…": "~", "•": "*",
        "╱": "/", "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-",
    }
)  # fmt: skip
"""Sign of the deck -> ASCII character. Within lamps, severities and statuses, each sign has its own character."""

_BRAILLE = range(0x2800, 0x2900)

_DOT_ROWS = (0x09, 0x12, 0x24, 0xC0)
"""Bit masks for the four rows of dots in a braille cell, from the top."""


class Plain(LineFilter):
    """Filter that removes colours, but not bold, underline and reverse (interface.md, "Colours": NO_COLOR)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  signature of filters
        return [Segment(text, style.without_color if style else None, control) for text, style, control in segments]


class Ascii(LineFilter):
    """Filter that replaces everything but ASCII, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  signature of filters
        return [Segment(ascii_only(text), style, control) for text, style, control in segments]


@lru_cache(4096)
def ascii_only(text: str) -> str:
    """Return the text in ASCII, in as many cells.

    Signs of the deck become the characters in `SIGNS`. Letters lose their accents. All other characters become question
    marks.
    """
    if text.isascii():
        return text
    signs = text.translate(SIGNS)
    return "".join(_plain(signs[start:end], cells) for start, end, cells in split_graphemes(signs)[0])


def _plain(letter: str, cells: int) -> str:
    """Return a grapheme in ASCII, `cells` cells wide."""
    if letter.isascii():
        return letter
    if ord(letter[0]) in _BRAILLE:
        return _stroke(ord(letter[0]) - _BRAILLE.start)
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isprintable() and cells == 1 else "?" * cells


def _stroke(dots: int) -> str:
    """Return the ASCII sign for a cell of a curve, by the rows of dots that the curve touches."""
    rows = [row for row, mask in enumerate(_DOT_ROWS) if dots & mask]
    if not rows:
        return " "
    if rows[-1] - rows[0] >= 2:
        return ":"
    return "'" if rows[-1] <= 1 else "." if rows[0] >= 2 else "-"
