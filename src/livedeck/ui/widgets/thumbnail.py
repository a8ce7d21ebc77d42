"""A poster as a picture of half blocks, where the terminal has colours and the picture is a plain PNG."""

from __future__ import annotations

import asyncio

from textual.strip import Strip
from textual.widget import Widget

from livedeck.client import Api, ApiError, Poster
from livedeck.ui import themes
from livedeck.ui.renderables.thumbnail import PIXELS, Picture, decoded, strips

LARGEST = 2**20
KEPT = 32


class Thumbnail(Widget):
    """Fetches the smallest size of the poster once; nothing is shown where it cannot be, for the facts say enough."""

    def __init__(self) -> None:
        super().__init__()
        self._pictures: dict[str, Picture | None] = {}
        self._address = ""
        self._strips: list[Strip] = []

    def look(self, api: Api | None, poster: Poster | None) -> None:
        """Show this one."""
        address = (poster.xs or poster.sm or "") if poster else ""
        plain = themes.PALETTES[self.app.theme].plain
        if api is not None and address and not plain and address not in self._pictures:
            self._pictures[address] = None
            self.run_worker(self._fetched(api, address), group="picture", exclusive=False)
        self._address = "" if plain else address
        self._show()

    async def _fetched(self, api: Api, address: str) -> None:
        try:
            content = await api.cdn.content(address, LARGEST, "read poster")
            self._pictures[address] = await asyncio.to_thread(decoded, content)  # a large one takes seconds
        except ApiError:  # its facts are there; the list itself says when the platform is away
            self._pictures[address] = None
        while len(self._pictures) > KEPT:
            self._pictures.pop(next(iter(self._pictures)))
        self._show()

    def _show(self) -> None:
        picture = self._pictures.get(self._address)
        self.display = picture is not None and self.app.size.width >= PIXELS * 3
        drawn = strips(picture) if picture and self.display else []
        if drawn != self._strips:
            self._strips = drawn
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of half blocks."""
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)
