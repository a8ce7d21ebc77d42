"""The CDN address: pictures, without a token (decisions.md, "Responses not shown")."""

from __future__ import annotations

import struct
import zlib
from functools import cache

from starlette.responses import Response

from livedeck.service.errors import unknown
from livedeck.service.exchange import Call, Endpoint

SIZES = {"original": (640, 360), "md": (320, 180), "sm": (160, 90), "xs": (80, 45)}
"""Width and height of a poster, in pixels."""


async def read_default_poster(call: Call) -> Response:
    """The poster of an event that has none of its own."""
    size = SIZES.get(call.request.path_params["size"])
    if size is None:
        raise unknown()
    return Response(png(*size), media_type="image/png")


@cache
def png(width: int, height: int) -> bytes:
    """A dusk: a real greyscale PNG that darkens from the top down."""
    rows = b"".join(b"\0" + bytes([150 - 110 * y // height]) * width for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


ENDPOINTS = (Endpoint("GET", "/cdn/posters/default/{size}.png", read_default_poster),)
