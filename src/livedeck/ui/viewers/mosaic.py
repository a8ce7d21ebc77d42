"""Widget of the tiles, drawn with cells and, in some terminals, with pictures in pixels over them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip

from livedeck.text.segments import Link, ShadedLine, StyleRole
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.graphics import Graphics, erase_kitty
from livedeck.ui.kit.terminal import ExactApp, Spans

FRAME_SEGMENTS = 450
"""Number of changed segments that end a frame: about four rows of three pictures. Other lines wait for the next one."""


class Placed(NamedTuple):
    """Picture in pixels: its cells in the widget, its id in kitty, and the control string that draws it."""

    region: Region
    number: int
    sequence: str


class Mosaic(Canvas, can_focus=True):
    """Tiles of the events, side by side. A click selects an event, a double click opens it.

    The pixels of a picture are sent after a change of the picture and after a write to its cells. Once another screen
    is in front, the pixels are erased.
    """

    class Opened(Message):
        """Request to open the event of a tile."""

    def __init__(self, graphics: Graphics) -> None:
        super().__init__()
        self._graphics = graphics
        self._wanted: Sequence[ShadedLine] = []
        self._content: Sequence[ShadedLine] = []
        self._tiles: Sequence[tuple[Region, str]] = ()
        self._placed: Sequence[Placed] = ()
        self._drawn: dict[int, Placed] = {}
        self._strips_by_row: dict[int, tuple[ShadedLine, object, Strip]] = {}

    def show(self, lines: Sequence[ShadedLine], tiles: Sequence[tuple[Region, str]], placed: Sequence[Placed]) -> None:
        """Show these lines, with the event of each tile, and these pictures over them."""
        self._wanted, self._tiles, self._placed = lines, tiles, placed
        app = self.app
        if isinstance(app, ExactApp) and (placed or self._drawn):
            app.take_overlay(self.painted)
        self._show_next()

    def _show_next(self) -> None:
        """Show the next changed lines: at most `FRAME_SEGMENTS` a frame, because a frame blocks the event loop."""
        content, changed, is_behind = list[ShadedLine](), 0, False
        for old, new in zip_longest(self._content[: len(self._wanted)], self._wanted):
            if old is None or old == new:
                content.append(new if old is None else old)
            elif changed < FRAME_SEGMENTS:
                changed += len(new)
                content.append(new)
            else:
                is_behind = True
                content.append(old)
        self._content = content
        if not self.repaint():
            self._draw_changed()
        if is_behind:
            self.call_after_refresh(self._show_next)

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return self._content

    def render_line(self, y: int) -> Strip:
        """Return the cells of row `y`. Keeps the strip, because a row with pictures has hundreds of styles."""
        line = self.line_at(y)
        looks = self.app.theme, self.size.width, self.base
        kept = self._strips_by_row.get(y)
        if kept is None or kept[0] is not line or kept[1] != looks or self._drawing is None:
            kept = self._strips_by_row[y] = line, looks, super().render_line(y)
        return kept[2]

    def link_at(self, x: int, y: int) -> Link | None:
        found = next((event_id for region, event_id in self._tiles if region.contains(x, y)), None)
        return Link(StyleRole.TEXT, "viewers.select", found) if found else None

    def on_click(self, event: events.Click) -> None:
        """Open the event of a double click."""
        if event.chain == 2 and self.link_at(int(event.x), int(event.y)):
            self.post_message(self.Opened())

    def painted(self, screen: Screen[Any], spans: Spans | None) -> None:
        """Draw pictures again if their cells were written. Behind another screen, erase all pictures.

        `spans`: written cells; None for all cells.
        """
        if screen is not self.screen:
            self._erase(list(self._drawn))
            return
        for number, placed in [*self._drawn.items()]:
            region = placed.region.translate(self.region.offset)
            if spans is None or any(
                region.y <= y < region.bottom and start < region.right and end > region.x for y, start, end in spans
            ):
                del self._drawn[number]
        self._draw_changed()

    def _draw_changed(self) -> None:
        """Draw changed pictures, and erase those that are no longer shown."""
        app = self.app
        if not isinstance(app, ExactApp) or app.screen is not self.screen:
            return
        wanted = {placed.number: placed for placed in self._placed}
        self._erase([number for number in self._drawn if number not in wanted])
        for number, placed in wanted.items():
            region = placed.region.translate(self.region.offset)
            if self._drawn.get(number) != placed and self.region.contains_region(region):
                app.draw_over(region.x, region.y, placed.sequence)
                self._drawn[number] = placed

    def _erase(self, numbers: Sequence[int]) -> None:
        """Erase pictures in kitty, where written cells do not cover them as in other terminals."""
        app = self.app
        for number in numbers:
            del self._drawn[number]
            if isinstance(app, ExactApp) and self._graphics is Graphics.KITTY:
                app.draw_over(0, 0, erase_kitty(number))

    def on_unmount(self) -> None:
        if isinstance(self.app, ExactApp) and self.app.overlay == self.painted:
            self.app.overlay = None
