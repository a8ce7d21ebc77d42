"""The picture of a poster: pixels where the terminal can, half blocks where it has colours, else nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from livedeck.client import Api, ApiError, Poster
from livedeck.ui.kit import themes
from livedeck.ui.kit.decoding import MAX_BYTES, decode
from livedeck.ui.kit.graphics import ERASE_KITTY, Frame, Graphics, Picture, draw, pixel_size
from livedeck.ui.kit.terminal import ExactApp, Spans

SMALL, LARGE = (24, 7), (50, 14)
"""Columns and rows of the picture, which is 16:9."""

LARGE_FROM = (110, 36)
"""Columns and rows of the terminal from which the picture is large."""

MIN_WIDTH = 72
"""Columns of a terminal under which the words beside the picture need all of them."""

MAX_CACHED = 32


log = structlog.get_logger()


class Thumbnail(Widget):
    """Fetches a small size of a poster once; hidden where it cannot be shown: the panel beside it says enough.

    Whatever writes its cells wipes pixels out, so that they are drawn anew behind that, and at no other time. While
    another screen is in front nothing is drawn.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pictures: dict[tuple[str, Frame], Picture | None] = {}
        self._loading: tuple[str, Frame] | None = None
        self._graphics, self._cell = Graphics.BLOCKS, (10, 20)
        self._variables: Mapping[str, str] = {}
        self._frame = Frame(*SMALL)
        self._api: Api | None = None
        self._address = ""
        self._picture: Picture | None = None
        self._is_drawn = False

    def draw_by(self, graphics: Graphics, cell: tuple[int, int], variables: Mapping[str, str]) -> None:
        """Draw in that way from now on. `cell`: pixels of one cell, its width and height. `variables`: the environment
        of the processes that decode."""
        self._graphics, self._cell, self._variables = graphics, cell, variables

    def show(self, api: Api | None, poster: Poster | None) -> None:
        """Show this poster; None for none."""
        self._api = api
        address = (poster.sm or poster.xs or "") if poster else ""
        self._address = "" if themes.PALETTES[self.app.theme].plain else address
        size = self.app.size
        is_large = size.width >= LARGE_FROM[0] and size.height >= LARGE_FROM[1]
        self._frame = Frame(*(LARGE if is_large else SMALL), *self._cell)
        self.styles.width, self.styles.height = self._frame.columns, self._frame.rows
        key = self._address, self._frame
        if api is not None and self._address and key not in self._pictures and key != self._loading:
            self._loading = key
            self.run_worker(self._load(api, *key), group="picture", exclusive=True)
        self._update()

    async def _load(self, api: Api, address: str, frame: Frame) -> None:
        self._pictures[address, frame] = await self._picture_at(api, address, frame)
        self._loading = None
        while len(self._pictures) > MAX_CACHED:
            self._pictures.pop(next(iter(self._pictures)))
        self._update()

    async def _picture_at(self, api: Api, address: str, frame: Frame) -> Picture | None:
        try:
            content = await api.cdn.content(address, MAX_BYTES, "read poster")
        except ApiError as error:  # the list itself says when the platform is away
            log.info("a picture is not shown", reason=str(error))
            return None
        pixels = await decode(content, *pixel_size(self._graphics, frame), self._variables)
        return await asyncio.to_thread(draw, pixels, self._graphics, frame) if pixels else None

    def _update(self) -> None:
        picture = self._pictures.get((self._address, self._frame))
        self.display = picture is not None and self.app.size.width >= MIN_WIDTH
        picture = picture if self.display else None
        if picture != self._picture:
            self._picture = picture
            self._erase()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of cells."""
        strips = self._picture.strips if self._picture else ()
        return strips[y] if y < len(strips) else Strip.blank(self.size.width)

    def on_mount(self) -> None:
        if isinstance(self.app, ExactApp):
            self.app.overlay = self.painted

    def on_unmount(self) -> None:
        if isinstance(self.app, ExactApp):
            self.app.overlay = None

    def painted(self, screen: Screen[Any], spans: Spans | None) -> None:
        """Cells were written: ours lose their pixels with that, and under another screen there are none."""
        region = self.region
        if screen is not self.screen:
            self._erase()
        elif spans is None or any(
            region.y <= y < region.bottom and start < region.right and end > region.x for y, start, end in spans
        ):
            self._draw()

    def _draw(self) -> None:
        """Draw the pixels, where all of their cells are on the screen and nothing lies over them."""
        app, picture = self.app, self._picture
        is_whole = self.size == (self._frame.columns, self._frame.rows) and self.screen.region.contains_region(
            self.region
        )
        if not picture or not picture.sequence or not is_whole or not isinstance(app, ExactApp):
            return
        app.draw_over(self.region.x, self.region.y, picture.sequence)
        self._is_drawn = True

    def _erase(self) -> None:
        """Take the pixels away: kitty's lie over the cells whatever these are; others go when the cells are painted."""
        if self._is_drawn and self._graphics is Graphics.KITTY and isinstance(self.app, ExactApp):
            self.app.draw_over(0, 0, ERASE_KITTY)
        self._is_drawn = False
