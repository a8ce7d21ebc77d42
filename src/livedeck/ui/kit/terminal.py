"""Output to the terminal: changed cells and the deck's control strings.

The module uses private names of Textual (decisions.md, "Private Textual names"): `ChopsUpdate`, `CompositorUpdate`,
`LayoutUpdate`, `App._display` and `App._fatal_error`. `tests/ui/test_private_names.py` shows which assumption another
version of Textual breaks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from inspect import signature
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from textual.app import App
from textual.driver import Driver
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from livedeck.log import Log
from livedeck.text.outside import has_agreed_width
from livedeck.ui.kit import themes
from livedeck.ui.kit.control_strings import clipboard_string, osc52
from livedeck.ui.kit.dialogs.modal import ModalApp
from livedeck.ui.kit.output_filter import ControlFilter, OutputFilter, filtered

if TYPE_CHECKING:
    from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
else:
    try:
        from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
    except ImportError:  # another Textual: no object is an instance of these, so its own updates are sent
        ChopsUpdate = CompositorUpdate = LayoutUpdate = type("Absent", (), {})

log = Log(__name__)

R = TypeVar("R")


def has_exact_updates() -> bool:
    """Return whether this version of Textual allows exact updates. If False, Textual's own updates are sent.

    To change one cell of a widget, Textual sends all cells from the widget's left edge on. For 24 changed values it
    sends 32 kB, exact updates 1.5 kB.
    """
    return (
        hasattr(App, "_display")
        and [*signature(ChopsUpdate).parameters] == ["chops", "spans", "chop_ends"]
        and hasattr(CompositorUpdate, "render_segments")
        and [*signature(LayoutUpdate).parameters] == ["strips", "region"]
    )


EXACT_UPDATES = has_exact_updates()


def positioned(strip: Strip, x: int, y: int, console: Console) -> str:
    """Return the output that draws a strip from the cell (`x`, `y`) on.

    Terminals give marks, joined letters and emoji different widths. So a text with such characters is drawn over blanks
    of its width, and the cursor is set again for the following text.
    """
    move = Control.move_to(x, y).segment.text
    if has_agreed_width(strip.text):
        return move + rendered(strip.simplify(), console)
    parts: list[str] = []
    for segment in strip.simplify():
        move, cells = Control.move_to(x, y).segment.text, segment.cell_length
        if not has_agreed_width(segment.text):
            parts.append(move + Strip([Segment(" " * cells, segment.style)]).render(console))
        parts.append(move + Strip([segment]).render(console))
        x += cells
    return "".join(parts)


def rendered(strip: Strip, console: Console) -> str:
    """Return the output of a strip.

    Pixels of a picture have two colours a cell. Only changed colours are sent, which saves a third of the bytes.
    """
    if PIXEL not in strip.text or console.color_system != "truecolor":
        return strip.render(console)
    parts: list[str] = []
    before = "", ""
    for segment in strip:
        codes = None if segment.text.strip(PIXEL) else _pixel_codes(segment.style or Style.null())
        if codes is None:
            parts.append((_RESET if before[0] else "") + Strip([segment]).render(console))
            before = "", ""
            continue
        changed = ";".join([code for code, old in zip(codes, before, strict=True) if code != old])
        parts.append(f"\x1b[{changed}m{segment.text}" if changed else segment.text)
        before = codes
    return "".join(parts) + (_RESET if before[0] else "")


@lru_cache(themes.PIXEL_STYLES)
def _pixel_codes(style: Style) -> tuple[str, str] | None:
    """Return the codes of a pixel's two colours; None for a style that is not just two colours."""
    upper, lower = style.color, style.bgcolor
    if upper is None or lower is None or style != Style.from_color(upper, lower):
        return None
    return ";".join(upper.get_ansi_codes(foreground=True)), ";".join(lower.get_ansi_codes(foreground=False))


PIXEL = "▀"
"""Sign of two pixels of a picture."""

_RESET = "\x1b[0m"


class ExactUpdate(ChopsUpdate):
    """Update that sends each changed part from its first cell on, not from the left edge of the widget."""

    @classmethod
    def of(cls, update: ChopsUpdate) -> ExactUpdate:
        """Return an exact update with the content of Textual's `update`."""
        return cls(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """Return the bytes for the terminal."""
        parts: list[str] = []
        for y, start, end in self.spans:
            for until, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                first, last = max(x, start), min(until, end)
                if strip is not None and first < last:
                    parts.append(positioned(strip.crop(first - x, last - x), first, y, console))
        return "".join(parts)


class TextUpdate(CompositorUpdate):
    """Update that sends a given text unchanged to the terminal."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:  # noqa: ARG002  signature of updates
        """Return the bytes for the terminal."""
        return self._text

    def __rich__(self) -> str:
        """Return an empty text, because only a terminal can show the update."""
        return ""


class TruecolorFilter(ANSIToTruecolor):
    """Textual's filter of colours with room for pictures.

    Textual's cache has room for 1,024 styles, and a screen of pictures has more.
    """

    truecolor_style = lru_cache(themes.PIXEL_STYLES)(ANSIToTruecolor.truecolor_style.__wrapped__)

    @classmethod
    @cache
    def of(cls, theme: TerminalTheme) -> Self:
        """Return the filter for the system colours of a theme."""
        return cls(theme)


class FilteredApp(ModalApp[R], Generic[R]):
    """App that sends only its own and Textual's control sequences to the terminal."""

    def __init__(self, timer: Callable[[], float] = monotonic) -> None:
        self._output = OutputFilter()
        self._controls = ControlFilter()
        super().__init__(timer)

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver for this platform behind the last filter."""
        return filtered(super().get_driver_class(), self._output)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters, with room for pictures, and the filter that removes controls from texts."""
        filters = super().get_line_filters()
        roomy = [TruecolorFilter.of(self.ansi_theme) if type(each) is ANSIToTruecolor else each for each in filters]
        return [*roomy, self._controls]

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard as Textual does. The control string for it is allowed in the last filter."""
        self._output.allow(clipboard_string(text))
        super().copy_to_clipboard(text)


Spans = Sequence[tuple[int, int, int]]
"""Parts of lines: row, first cell and the cell after the last of each part."""


class ExactApp(FilteredApp[int]):
    """App that sends only changed cells.

    `overlay`: function that draws pixels over the cells. It is called after each paint, with the screen in front and
    the written cells (None: all cells).
    """

    overlay: Callable[[Screen[Any], Spans | None], None] | None = None

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send an update of Textual's to the terminal as an exact update."""
        is_paint = EXACT_UPDATES and isinstance(renderable, (ChopsUpdate, LayoutUpdate))
        spans = renderable.spans if EXACT_UPDATES and isinstance(renderable, ChopsUpdate) else None
        if EXACT_UPDATES and isinstance(renderable, ChopsUpdate):
            renderable = ExactUpdate.of(renderable)
        elif EXACT_UPDATES and isinstance(renderable, LayoutUpdate):
            renderable = TextUpdate(self._whole(renderable))
        super()._display(screen, renderable)
        if is_paint and self.overlay and screen is self.screen:
            self.overlay(screen, spans)

    def _whole(self, update: LayoutUpdate) -> str:
        """Return the output of a full repaint, with each strip positioned at its first cell."""
        parts: list[str] = []
        for y, line in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in line:
                parts.append(positioned(strip, x, y, self.console))
                x += strip.cell_length
        return "".join(parts)

    def send(self, parts: Iterable[tuple[Region, Strip]]) -> bool:
        """Send parts of lines to the terminal at once.

        Returns False if this version of Textual has no exact updates. The caller must then refresh the regions. A
        refresh waits for the next frame (60 a second). On a wall it takes 1.5 times the processor time of this method.
        """
        if not EXACT_UPDATES:
            return False
        text = "".join(positioned(self.filtered(strip), region.x, region.y, self.console) for region, strip in parts)
        if text:
            self._display(self.screen, TextUpdate(text))
        return True

    def take_overlay(self, painter: Callable[[Screen[Any], Spans | None], None]) -> None:
        """Let `painter` draw pixels from now on. The pixels of the previous painter, on another screen, are erased."""
        if self.overlay != painter:
            if self.overlay is not None:
                self.overlay(self.screen, None)
            self.overlay = painter

    def draw_over(self, x: int, y: int, sequence: str) -> None:
        """Send a control string that draws a picture over the cells from (`x`, `y`) on.

        The last filter lets it pass.
        """
        if EXACT_UPDATES and not self.is_headless:
            text = f"{Control.move_to(x, y).segment.text}{sequence}"
            self._output.allow(text)
            self._display(self.screen, TextUpdate(text))

    def filtered(self, strip: Strip) -> Strip:
        """Return a strip in a form that this terminal can show: without colours or in ASCII if necessary."""
        _, background = self.screen.background_colors
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, background)
        return strip

    def copy_text(self, text: str, multiplexer: str) -> bool:
        """Copy a text to the clipboard of the terminal's machine. Returns False if the text is too long.

        `multiplexer`: `tmux` or `screen` if the terminal is one, else empty.
        """
        sequence = osc52(text, multiplexer)
        if sequence is None:
            return False
        if multiplexer and EXACT_UPDATES:
            self.tell_terminal(sequence)
        else:
            self.copy_to_clipboard(text)
        return True

    def tell_terminal(self, sequence: str) -> None:
        """Send a control string, which the output filter lets pass."""
        if sequence and EXACT_UPDATES and self.is_running:
            self._output.allow(sequence)
            self._display(self.screen, TextUpdate(sequence))

    def crash_text(self, error: str) -> str:
        """Return the message that the terminal shows after a crash."""
        return f"{self.title} ended with {error}"

    def _fatal_error(self) -> None:
        """Log the error and print a short message.

        Textual prints a traceback with local variables, which may hold a key or a token.
        """
        error = sys.exc_info()[1]
        log.error("the app ended with an error", app=self.title, exc_info=error)
        self.panic(Text(self.crash_text(type(error).__name__)))
