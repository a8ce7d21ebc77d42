"""What reaches the terminal: only cells that changed, without colours and characters that it lacks."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import Segment
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip


class ExactUpdate(ChopsUpdate):
    """The same update, each part from its own first cell on."""

    @classmethod
    def of(cls, update: ChopsUpdate) -> ExactUpdate:
        """That update, exactly."""
        return cls(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        sent: list[str] = []
        for y, start, end in self.spans:
            for until, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                first, last = max(x, start), min(until, end)
                if strip is not None and first < last:
                    sent.append(Control.move_to(first, y).segment.text)
                    sent.append(strip.crop(first - x, last - x).simplify().render(console))
        return "".join(sent)


class PartsUpdate(CompositorUpdate):
    """Strips, each for a part of one line of the screen."""

    def __init__(self, parts: Sequence[tuple[Region, Strip]]) -> None:
        self._parts = parts

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        moved = ((Control.move_to(region.x, region.y).segment.text, strip) for region, strip in self._parts)
        return "".join(f"{move}{strip.render(console)}" for move, strip in moved)

    def __rich__(self) -> str:
        """Nothing: it is for terminals alone."""
        return ""


class ExactApp(App[int]):
    """An app of which nothing is sent that did not change."""

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Textual's way to the terminal."""
        exact = ExactUpdate.of(renderable) if isinstance(renderable, ChopsUpdate) else renderable
        super()._display(screen, exact)

    def send(self, parts: Sequence[tuple[Region, Strip]]) -> None:
        """Have these parts of lines on the terminal at once: Textual would wait for a sixtieth of a second."""
        _, ground = self.screen.background_colors
        for each in self.get_line_filters():
            parts = [(region, strip.apply_filter(each, ground)) for region, strip in parts]
        if parts:
            self._display(self.screen, PartsUpdate(parts))


SIGNS = str.maketrans(
    {
        "✖": "x", "▲": "^", "◆": "#", "●": "*", "○": "o", "◌": "~", "■": "=", "·": ".", "✓": "+", "▒": "/", "░": " ",
        "▁": "_", "▂": ".", "▃": ",", "▄": "-", "▅": "=", "▆": "+", "▇": "%", "█": "@",
        "│": "|", "┤": "+", "├": "+", "┼": "+", "─": "-", "╌": "-", "╎": ":", "┊": ":", "━": "=",
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "▔": "-", "▎": "|", "▊": "|",
        "‖": "|", "↑": "^", "↓": "v", "←": "<", "→": ">", "…": "~", "•": "*",
        "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-",
    }
)  # fmt: skip

"""Each sign of the deck as one ASCII character; those of one kind (lamps, severities, statuses) stay distinct."""


_BRAILLE = range(0x2800, 0x2900)

_DOT_ROWS = (0x09, 0x12, 0x24, 0xC0)

"""The dots of the four rows of a braille cell, from the top."""


class Plain(LineFilter):
    """No colour codes at all: bold, underline and reverse stay (interface.md: NO_COLOR)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the face of filters
        return [Segment(text, style.without_color if style else None, control) for text, style, control in segments]


class Ascii(LineFilter):
    """Only ASCII, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the face of filters
        return [Segment(ascii_only(text), style, control) for text, style, control in segments]


@lru_cache(4096)
def ascii_only(text: str) -> str:
    """The text in ASCII, in as many cells: signs by their table, accents dropped, the rest question marks."""
    return text if text.isascii() else "".join(_plain(char) for char in text.translate(SIGNS))


def _plain(char: str) -> str:
    if char.isascii():
        return char
    if ord(char) in _BRAILLE:
        return _stroke(ord(char) - _BRAILLE.start)
    width = cell_len(char)
    base = unicodedata.normalize("NFKD", char)[0]
    return base if base.isascii() and base.isprintable() and width == 1 else "?" * width


def _stroke(dots: int) -> str:
    """The stroke of a curve within one cell, by the rows that it touches."""
    rows = [row for row, mask in enumerate(_DOT_ROWS) if dots & mask]
    if not rows:
        return " "
    if rows[-1] - rows[0] >= 2:
        return ":"
    return "'" if rows[-1] <= 1 else "." if rows[0] >= 2 else "-"


LONGEST = 74_994

"""Bytes of text: 100,000 in base64, which is what terminals take at least."""


_SCREEN_CHUNK = 240

"""GNU screen drops a longer control string."""


def osc52(text: str, multiplexer: str = "") -> str | None:
    """The control string that copies over any number of ssh hops; None where the text is too long for it.

    tmux and GNU screen eat control strings: it is wrapped so that they hand it on.
    """
    data = text.encode()
    if len(data) > LONGEST:
        return None
    encoded = b64encode(data).decode()
    if multiplexer == "tmux":
        return f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"
    if multiplexer == "screen":
        whole = f"\x1b]52;c;{encoded}\x07"
        parts = [whole[at : at + _SCREEN_CHUNK] for at in range(0, len(whole), _SCREEN_CHUNK)]
        return "".join(f"\x1bP{part}\x1b\\" for part in parts)
    return f"\x1b]52;c;{encoded}\x07"
