"""Posters for the wall in a browser: fetched from the platform one at a time, checked and cached."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import sha256
from struct import error, unpack_from
from typing import NamedTuple

from livedeck.client import ApiError, Secret
from livedeck.log import Log

MAX_BYTES = 2 * 2**20
"""Maximum bytes of a picture; the platform scales pictures to the size of a tile."""

MAX_SIDE = 4096
"""Maximum pixels of a side. A browser takes four bytes for each pixel, however small the file is."""

MAX_KEPT = 256

RETRY_SECONDS = 60.0
"""Seconds until a failed picture is fetched again."""

Fetch = Callable[[Secret, int, str], Awaitable[bytes]]
"""Function that fetches the content of a link, with the arguments of `Cdn.content`. Raises ApiError."""

log = Log("livedeck.wallboard")


class PosterPicture(NamedTuple):
    """Bytes of a picture, and its media type according to its first bytes."""

    content: bytes
    media_type: str


class Posters:
    """Cache of pictures by key.

    `fetch`: None without access to the platform. `monotonic`: clock for retries, in seconds. `viewer_picture`: returns
    the newest picture that viewers of an event get; None to show none.
    """

    def __init__(
        self,
        fetch: Fetch | None,
        monotonic: Callable[[], float],
        viewer_picture: Callable[[str], Awaitable[bytes]] | None = None,
    ) -> None:
        self._fetch, self._monotonic, self._viewer_picture = fetch, monotonic, viewer_picture
        self._seen: dict[str, bytes] = {}
        self._kept: OrderedDict[str, PosterPicture] = OrderedDict()
        self._failed: dict[str, float] = {}
        self._fetching = asyncio.Lock()

    async def get(self, key: str, link: Secret) -> PosterPicture | None:
        """Return the picture of the key, fetched from `link` if it is not cached.

        Returns None if it cannot be fetched or is not safe for a browser.
        """
        async with self._fetching:  # one at a time, so that polls of the monitor go first
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            if self._monotonic() < self._failed.get(key, 0.0):
                return None
            picture = await self._load(link)
            if picture is None:
                now = self._monotonic()
                self._failed = {old: until for old, until in self._failed.items() if until > now}
                self._failed[key] = now + RETRY_SECONDS
                return None
            self._kept[key] = picture
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            return picture

    async def viewer(self, event_id: str, image: str) -> bytes | None:
        """Return the picture that viewers of an event get. Returns None unless it is a JPEG with the hash `image`.

        A picture is fetched once for all browsers.
        """
        content = self._seen.get(event_id, b"")
        if self._viewer_picture and sha256(content).hexdigest() != image:
            try:
                content = await self._viewer_picture(event_id)
            except Exception as failure:  # noqa: BLE001  no picture is no fault of the wall
                log.info("a picture of viewers is not shown", reason=str(failure) or type(failure).__name__)
                return None
            size = picture_size(content)
            if sha256(content).hexdigest() != image or size is None or max(size.width, size.height) > MAX_SIDE:
                return None
            if len(self._seen) >= MAX_KEPT:
                self._seen.clear()
            self._seen[event_id] = content
        return content if self._viewer_picture and content.startswith(_JPEG) else None

    async def _load(self, link: Secret) -> PosterPicture | None:
        if self._fetch is None:
            return None
        try:
            content = await self._fetch(link, MAX_BYTES, "show poster")
        except ApiError as error:
            log.info("a poster is not shown", reason=str(error))
            return None
        size = picture_size(content)
        if size is None or max(size.width, size.height) > MAX_SIDE:
            what = f"of {size.width}x{size.height} pixels" if size else "not a PNG, JPEG, GIF or WebP"
            log.info("a poster is not shown", reason=f"{link} is {what}")
            return None
        return PosterPicture(content, size.media_type)


_JPEG = b"\xff\xd8\xff"


class PictureSize(NamedTuple):
    """Media type of a picture, and its width and height in pixels."""

    media_type: str
    width: int
    height: int


def picture_size(content: bytes) -> PictureSize | None:
    """Return type and size of a picture; None if it is not a PNG, JPEG, GIF or WebP, or does not state its size."""
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
    """Return the size in the first frame header of a JPEG; None if there is none."""
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
    (_JPEG, "image/jpeg", _jpeg_size),
    (b"GIF87a", "image/gif", _gif_size),
    (b"GIF89a", "image/gif", _gif_size),
    (b"RIFF", "image/webp", _webp_size),
)
