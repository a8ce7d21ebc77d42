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

CELLS = 24
"""The width of the picture."""

ROWS = 7
"""The height of a 16:9 picture: two pixels a cell."""

MAX_PIXEL_BYTES = 4_000_000
"""A picture that claims to be larger is not unpacked."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"

Pixel = tuple[int, int, int]


class Picture(NamedTuple):
    """Rows of pixels, from the top."""

    rows: tuple[tuple[Pixel, ...], ...]


def decode_png(content: bytes) -> Picture | None:
    """The picture; None where it is of another kind, or broken."""
    try:
        header = struct.unpack(">IIBBBBB", content[16:29])
        width, height, depth, colour_type, compression, filter_method, interlace = header
        channels = {2: 3, 6: 4}[colour_type]
        is_plain = (depth, compression, filter_method, interlace) == (8, 0, 0, 0)
        if content[:8] != _SIGNATURE or not width * height or not is_plain:
            return None
        size = height * (width * channels + 1)
        packed = b"".join(_data_chunks(content))
        raw = zlib.decompressobj().decompress(packed, size) if size <= MAX_PIXEL_BYTES else b""
        return Picture(tuple(_rows(raw, width, height, channels))) if len(raw) == size else None
    except (KeyError, struct.error, zlib.error):
        return None


def _data_chunks(content: bytes) -> Iterator[bytes]:
    offset = 8
    while offset + 8 <= len(content):
        length, name = struct.unpack(">I4s", content[offset : offset + 8])
        if name == b"IDAT":
            yield content[offset + 8 : offset + 8 + length]
        offset += length + 12


def _rows(raw: bytes, width: int, height: int, channels: int) -> Iterator[tuple[Pixel, ...]]:
    stride = width * channels
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        line = _unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, channels)
        yield tuple((line[index], line[index + 1], line[index + 2]) for index in range(0, stride, channels))
        above = line


def _unfilter(method: int, line: bytearray, above: bytearray, channels: int) -> bytearray:
    """A line before it was filtered (PNG, 9.2)."""
    for index in range(len(line)):
        left = line[index - channels] if index >= channels else 0
        corner = above[index - channels] if index >= channels else 0
        up = above[index]
        predicted = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[min(method, 4)]
        line[index] = (line[index] + predicted) % 256
    return line


def _paeth(left: int, up: int, corner: int) -> int:
    estimate = left + up - corner
    return min((left, up, corner), key=lambda value: abs(estimate - value))


def to_strips(picture: Picture) -> list[Strip]:
    """The picture in `CELLS` by `ROWS` cells, the nearest pixel for each half of a cell."""
    height, width = len(picture.rows), len(picture.rows[0])

    def pixel(x: int, y: int) -> Color:
        return Color.from_rgb(*picture.rows[y * height // (ROWS * 2)][x * width // CELLS])

    return [
        Strip([Segment("▀", Style(color=pixel(x, 2 * y), bgcolor=pixel(x, 2 * y + 1))) for x in range(CELLS)], CELLS)
        for y in range(ROWS)
    ]


MAX_FILE_BYTES = 2**20
MAX_CACHED = 32


class Thumbnail(Widget):
    """Fetches the smallest size of a poster once; hidden where it cannot be shown: the panel beside it says enough."""

    def __init__(self) -> None:
        super().__init__()
        self._pictures: dict[str, Picture | None] = {}
        self._address = ""
        self._strips: list[Strip] = []

    def show(self, api: Api | None, poster: Poster | None) -> None:
        """Show this poster; None for none."""
        address = (poster.xs or poster.sm or "") if poster else ""
        plain = themes.PALETTES[self.app.theme].plain
        if api is not None and address and not plain and address not in self._pictures:
            self._pictures[address] = None
            self.run_worker(self._fetch(api, address), group="picture", exclusive=False)
        self._address = "" if plain else address
        self._update()

    async def _fetch(self, api: Api, address: str) -> None:
        try:
            content = await api.cdn.content(address, MAX_FILE_BYTES, "read poster")
            self._pictures[address] = await asyncio.to_thread(decode_png, content)  # a large one takes seconds
        except ApiError:  # the list itself says when the platform is away
            self._pictures[address] = None
        while len(self._pictures) > MAX_CACHED:
            self._pictures.pop(next(iter(self._pictures)))
        self._update()

    def _update(self) -> None:
        picture = self._pictures.get(self._address)
        self.display = picture is not None and self.app.size.width >= CELLS * 3
        strips = to_strips(picture) if picture and self.display else []
        if strips != self._strips:
            self._strips = strips
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of half blocks."""
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)
