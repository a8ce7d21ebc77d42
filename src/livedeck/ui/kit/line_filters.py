"""Lines for terminals that lack colours, or all characters but ASCII."""

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
        "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-",
    }
)  # fmt: skip
"""Each sign of the deck as one ASCII character; those of one kind (lamps, severities, statuses) stay distinct."""

_BRAILLE = range(0x2800, 0x2900)

_DOT_ROWS = (0x09, 0x12, 0x24, 0xC0)
"""The dots of the four rows of a braille cell, from the top."""


class Plain(LineFilter):
    """No colour codes at all: bold, underline and reverse stay (interface.md, "Colours": NO_COLOR)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the face of filters
        return [Segment(text, style.without_color if style else None, control) for text, style, control in segments]


class Ascii(LineFilter):
    """Only ASCII, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the face of filters
        return [Segment(ascii_only(text), style, control) for text, style, control in segments]


@lru_cache(4096)
def ascii_only(text: str) -> str:
    """The text in ASCII, in as many cells: signs by their table, accents dropped, the rest question marks."""
    if text.isascii():
        return text
    signs = text.translate(SIGNS)
    return "".join(_plain(signs[start:end], cells) for start, end, cells in split_graphemes(signs)[0])


def _plain(letter: str, cells: int) -> str:
    """A letter with all that is joined to it, in as many cells."""
    if letter.isascii():
        return letter
    if ord(letter[0]) in _BRAILLE:
        return _stroke(ord(letter[0]) - _BRAILLE.start)
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isprintable() and cells == 1 else "?" * cells


def _stroke(dots: int) -> str:
    """The stroke of a curve within one cell, by the rows that it touches."""
    rows = [row for row, mask in enumerate(_DOT_ROWS) if dots & mask]
    if not rows:
        return " "
    if rows[-1] - rows[0] >= 2:
        return ":"
    return "'" if rows[-1] <= 1 else "." if rows[0] >= 2 else "-"
