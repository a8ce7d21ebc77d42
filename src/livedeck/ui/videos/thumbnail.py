"""A poster as a picture of half blocks, where the terminal has colours and the picture is a plain PNG."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from livedeck.client import Api, ApiError, Poster
from livedeck.ui.kit import themes

PIXELS = 24

"""Its width in cells; its height is that of 16:9, two pixels a cell."""


ROWS = 7

MOST = 4_000_000

"""Bytes of pixels: a picture that says it is larger is not unpacked."""


_SIGNATURE = b"\x89PNG\r\n\x1a\n"


Pixel = tuple[int, int, int]


class Picture(NamedTuple):
    """Rows of pixels, from the top."""

    rows: tuple[tuple[Pixel, ...], ...]


def decoded(content: bytes) -> Picture | None:
    """The picture; None where it is of another kind, or broken."""
    try:
        width, height, depth, kind, packing, filtering, interlace = struct.unpack(">IIBBBBB", content[16:29])
        size = {2: 3, 6: 4}[kind]
        if content[:8] != _SIGNATURE or not width * height or (depth, packing, filtering, interlace) != (8, 0, 0, 0):
            return None
        whole = height * (width * size + 1)
        packed = b"".join(_data(content))
        raw = zlib.decompressobj().decompress(packed, whole) if whole <= MOST else b""
        return Picture(tuple(_rows(raw, width, height, size))) if len(raw) == whole else None
    except (KeyError, struct.error, zlib.error):
        return None


def _data(content: bytes) -> Iterator[bytes]:
    at = 8
    while at + 8 <= len(content):
        length, name = struct.unpack(">I4s", content[at : at + 8])
        if name == b"IDAT":
            yield content[at + 8 : at + 8 + length]
        at += length + 12


def _rows(raw: bytes, width: int, height: int, size: int) -> Iterator[tuple[Pixel, ...]]:
    stride = width * size
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        line = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, size)
        yield tuple((line[at], line[at + 1], line[at + 2]) for at in range(0, stride, size))
        above = line


def _unfiltered(method: int, line: bytearray, above: bytearray, size: int) -> bytearray:
    """A line as it was before it was filtered (PNG, 9.2)."""
    for at in range(len(line)):
        left = line[at - size] if at >= size else 0
        corner = above[at - size] if at >= size else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[min(method, 4)]
        line[at] = (line[at] + guess) % 256
    return line


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def strips(picture: Picture) -> list[Strip]:
    """The picture in `PIXELS` by `ROWS` cells, the nearest pixel for each half of a cell."""
    high, wide = len(picture.rows), len(picture.rows[0])

    def pixel(x: int, y: int) -> Color:
        return Color.from_rgb(*picture.rows[y * high // (ROWS * 2)][x * wide // PIXELS])

    return [
        Strip([Segment("▀", Style(color=pixel(x, 2 * y), bgcolor=pixel(x, 2 * y + 1))) for x in range(PIXELS)], PIXELS)
        for y in range(ROWS)
    ]


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
