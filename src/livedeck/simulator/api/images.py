"""Posters in responses, and the pictures behind them: real PNGs, derived from the poster's id, never stored."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import Literal

from livedeck.simulator.engine.identity import number_of, uuid_of
from livedeck.simulator.engine.store import Document
from livedeck.simulator.models import UNSET, ApiObject, Uuid

SIZES = {"original": (640, 360), "md": (320, 180), "sm": (160, 90), "xs": (80, 45)}
"""Width and height of a poster, in pixels."""

DEFAULT_POSTER: Document = {"id": uuid_of("poster", "default"), "from_time": 0, "to_time": 0, "active": True}
"""Poster of an event without one of its own."""


class Poster(ApiObject):
    """Poster in the API's form; a default one has no `media_id` (platform-api.md, "Posters of a video")."""

    id: Uuid
    type: Literal["image"]
    from_time: float
    to_time: float
    status: Literal["done"]
    active: bool
    original: str
    md: str
    sm: str
    xs: str
    media_id: Uuid = UNSET


def show_poster(poster: Document, origin: str) -> Document:
    """Return the API's form of the poster; `origin` is the scheme and host of its pictures."""
    name = "default" if poster["id"] == DEFAULT_POSTER["id"] else poster["id"]
    pictures = {size: f"{origin}/cdn/posters/{name}/{size}.png" for size in SIZES}
    return Poster.show(poster | {"type": "image", "status": "done"} | pictures)


@lru_cache(maxsize=64)
def png(poster_id: str, width: int, height: int) -> bytes:
    """Return a PNG that gets darker from the top down: grey for the default poster, tinted for any other."""
    tint = (1.0, 1.0, 1.0) if poster_id == "default" else _tint(poster_id)
    rows = b"".join(
        b"\0" + bytes(round((150 - 110 * y // height) * part) for part in tint) * width for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _tint(poster_id: str) -> tuple[float, float, float]:
    number = number_of("tint", poster_id)
    return 0.4 + number % 100 / 160, 0.4 + number // 100 % 100 / 160, 0.4 + number // 10_000 % 100 / 160


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
