"""What a picture is and how large it says that it is, by its first bytes; nothing of it is decoded. Pure.

PNG (W3C, "IHDR"), JPEG (ITU T.81, "Frame header"), GIF89a ("Logical Screen Descriptor"), WebP (RFC 9649).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import error, unpack_from
from typing import NamedTuple


class PictureSize(NamedTuple):
    """The type of a picture, and its pixels beside and above each other."""

    media_type: str
    width: int
    height: int


def picture_size(content: bytes) -> PictureSize | None:
    """None for what is no PNG, JPEG, GIF or WebP, or does not say how large it is."""
    read, media_type = next(
        ((read, name) for signature, name, read in _FORMATS if content.startswith(signature)), (None, "")
    )
    try:
        size = read(content) if read else None
    except (error, IndexError):
        return None
    return PictureSize(media_type, *size) if size and min(size) > 0 else None


_Size = tuple[int, int]


def _png_size(content: bytes) -> _Size | None:
    width, height = unpack_from(">II", content, 16)
    return (width, height) if content[12:16] == b"IHDR" else None


def _gif_size(content: bytes) -> _Size | None:
    width, height = unpack_from("<HH", content, 6)
    return width, height


_START_OF_FRAME = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}


def _jpeg_size(content: bytes) -> _Size | None:
    """That of the first frame header, behind whatever segments stand before it."""
    at = 2
    while content[at] == 0xFF:
        marker = content[at + 1]
        if marker in _START_OF_FRAME:
            height, width = unpack_from(">HH", content, at + 5)
            return width, height
        at += 1 if marker == 0xFF else 2 if marker in _WITHOUT_LENGTH else 2 + unpack_from(">H", content, at + 2)[0]
    return None


def _webp_size(content: bytes) -> _Size | None:
    kind = content[8:16]
    if kind == b"WEBPVP8X" and len(content) >= 30:
        return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
    if kind == b"WEBPVP8L":
        bits = unpack_from("<I", content, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"WEBPVP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


_FORMATS: tuple[tuple[bytes, str, Callable[[bytes], _Size | None]], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _png_size),
    (b"\xff\xd8\xff", "image/jpeg", _jpeg_size),
    (b"GIF87a", "image/gif", _gif_size),
    (b"GIF89a", "image/gif", _gif_size),
    (b"RIFF", "image/webp", _webp_size),
)
