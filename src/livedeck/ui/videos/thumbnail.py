"""Picture of a poster: pixels if the terminal can draw them, or else half blocks.

A terminal without colours shows no picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from rich.segment import Segment
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker

from livedeck.client import Api, ApiError, Poster
from livedeck.log import Log
from livedeck.text.segments import StyleRole
from livedeck.ui.kit import themes
from livedeck.ui.kit.decoding import MAX_BYTES, decode
from livedeck.ui.kit.graphics import ERASE_KITTY, Frame, Graphics, Picture, draw, pixel_size
from livedeck.ui.kit.terminal import ExactApp, Spans

PICTURES = (((190, 58), (128, 36)), ((180, 50), (100, 28)), ((110, 36), (50, 14)), ((0, 0), (24, 7)))
"""Minimum columns and rows of the terminal, and columns and rows of a picture, largest first. All are 16:9."""

MIN_WIDTH = 72
"""Minimum columns of a terminal with a picture. A narrower terminal needs the columns for the text."""

MAX_CACHED = 32


def picture_size(terminal: Size) -> tuple[int, int]:
    """Return columns and rows of a picture in a terminal."""
    return next(
        picture for (columns, rows), picture in PICTURES if terminal.width >= columns and terminal.height >= rows
    )


log = Log(__name__)


UNREADABLE = "Picture not readable"
"""Text in the place of a picture that could not be read. The smallest place holds it."""


class Thumbnail(Widget):
    """Small picture of a poster, fetched once. Without a poster the widget is hidden.

    The widget has the size of its picture before the picture is there, because a new size lays the screen out again.

    A write to the widget's cells erases the pixels. They are drawn again only after such a write, and only if no other
    screen is in front.
    """

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._pictures: dict[tuple[str, Frame], Picture | None] = {}
        self._loading: tuple[str, Frame] | None = None
        self._worker: Worker[None] | None = None
        self._graphics, self._cell = Graphics.BLOCKS, (10, 20)
        self._variables: Mapping[str, str] = {}
        self._frame = Frame(*PICTURES[-1][1])
        self._api: Api | None = None
        self._address = ""
        self.picture: Picture | None = None
        self._is_unreadable = False
        self._is_drawn = False

    def draw_by(self, graphics: Graphics, cell: tuple[int, int], variables: Mapping[str, str]) -> None:
        """Set how to draw pictures.

        Args:
            graphics: the terminal's kind of graphics.
            cell: width and height of a cell in pixels.
            variables: environment of the decoder processes.
        """
        self._graphics, self._cell, self._variables = graphics, cell, variables

    def show(self, api: Api | None, poster: Poster | None, *, is_known: bool = True) -> None:
        """Show a poster; None shows no picture.

        `is_known`: False if the poster has not been received yet; then the place of a picture stays as it is.
        """
        if isinstance(self.app, ExactApp):
            self.app.take_overlay(self.painted)
        self._api = api
        self._address = (poster.sm or poster.xs or "") if poster else ""
        self._frame = Frame(*picture_size(self.app.size), *self._cell)
        self.styles.width, self.styles.height = self._frame.columns, self._frame.rows
        is_possible = not themes.PALETTES[self.app.theme].plain and self.app.size.width >= MIN_WIDTH
        is_possible = is_possible and api is not None
        self.display = is_possible and (bool(self._address) if is_known else self.display)
        self._address = self._address if is_possible else ""
        key = self._address, self._frame
        if api is not None and self._address and key not in self._pictures and key != self._loading:
            self._loading = key
            # by the app, so that one picture of all screens is decoded at a time
            self._worker = self.app.run_worker(self._load(api, *key), group="picture", exclusive=True)
        self._update()

    async def _load(self, api: Api, address: str, frame: Frame) -> None:
        try:
            self._pictures[address, frame] = await self._picture_at(api, address, frame)
        finally:
            if self._loading == (address, frame):
                self._loading = None
        while len(self._pictures) > MAX_CACHED:
            self._pictures.pop(next(iter(self._pictures)))
        self._update()

    async def _picture_at(self, api: Api, address: str, frame: Frame) -> Picture | None:
        try:
            content = await api.cdn.content(address, MAX_BYTES, "read poster")
        except ApiError as error:  # the list shows already that the platform is unreachable
            log.info("a picture is not shown", reason=str(error))
            return None
        pixels = await decode(content, *pixel_size(self._graphics, frame), self._variables)
        return await asyncio.to_thread(draw, pixels, self._graphics, frame) if pixels else None

    def _update(self) -> None:
        key = self._address, self._frame
        picture, is_unreadable = self._pictures.get(key), key in self._pictures and self._pictures[key] is None
        if picture != self.picture or is_unreadable != self._is_unreadable:
            self.picture, self._is_unreadable = picture, is_unreadable
            self._erase()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the cells of row `y`."""
        strips = self.picture.strips if self.picture else ()
        if self._is_unreadable and y == self.size.height // 2:
            style = self.rich_style + themes.style(self.app.theme, StyleRole.DIM)
            return Strip([Segment(UNREADABLE.center(self.size.width), style)])
        return strips[y] if y < len(strips) else Strip.blank(self.size.width)

    def on_unmount(self) -> None:
        if self._worker:
            self._worker.cancel()
        if isinstance(self.app, ExactApp) and self.app.overlay == self.painted:
            self.app.overlay = None

    def painted(self, screen: Screen[Any], spans: Spans | None) -> None:
        """Draw the pixels again if cells over them were written. Behind another screen, erase the pixels.

        `spans`: written cells; None for all cells.
        """
        region = self.region
        if screen is not self.screen:
            self._erase()
        elif spans is None or any(
            region.y <= y < region.bottom and start < region.right and end > region.x for y, start, end in spans
        ):
            self._draw()

    def _draw(self) -> None:
        """Draw the pixels if all cells of the picture are visible."""
        app, picture = self.app, self.picture
        is_whole = self.size == (self._frame.columns, self._frame.rows) and self.screen.region.contains_region(
            self.region
        )
        if not picture or not picture.sequence or not is_whole or not isinstance(app, ExactApp):
            return
        app.draw_over(self.region.x, self.region.y, picture.sequence)
        self._is_drawn = True

    def _erase(self) -> None:
        """Erase the pixels in kitty, where they stay over painted cells. In other terminals, painting erases them."""
        if self._is_drawn and self._graphics is Graphics.KITTY and isinstance(self.app, ExactApp):
            self.app.draw_over(0, 0, ERASE_KITTY)
        self._is_drawn = False
