"""Posters for the wall in a browser: fetched from the platform one after the other, seen to be pictures, and kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import structlog

from livedeck.cli.picture_size import picture_size
from livedeck.client import ApiError, Secret

MAX_BYTES = 2 * 2**20
"""Of one picture; the platform makes one of the size that a tile needs."""

MAX_SIDE = 4096
"""Pixels of a side: a browser takes four bytes for each pixel, however few bytes they were sent in."""

MAX_KEPT = 256

RETRY_SECONDS = 60.0
"""How long a picture that could not be had is not asked for again."""

Fetch = Callable[[Secret, int, str], Awaitable[bytes]]
"""The content behind a link, of so many bytes at most; raises ApiError. `client.resources.cdn.Cdn.content` is one."""

log = structlog.get_logger("livedeck.wallboard")


class PosterPicture(NamedTuple):
    """The bytes of a picture, and of which type they are by their own first ones."""

    content: bytes
    media_type: str


class Posters:
    """Pictures by a key of their own. `fetch`: None where there is no way to the platform. `monotonic`: seconds, for
    those that could not be had."""

    def __init__(self, fetch: Fetch | None, monotonic: Callable[[], float]) -> None:
        self._fetch, self._monotonic = fetch, monotonic
        self._kept: OrderedDict[str, PosterPicture] = OrderedDict()
        self._failed: dict[str, float] = {}
        self._fetching = asyncio.Lock()

    async def get(self, key: str, link: Secret) -> PosterPicture | None:
        """That picture; None where it cannot be had, or is none that a browser is given."""
        async with self._fetching:  # a wall asks for all at once, and the monitor's own calls come first
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
            what = f"of {size.width}x{size.height} pixels" if size else "no PNG, JPEG, GIF or WebP"
            log.info("a poster is not shown", reason=f"{link} is {what}")
            return None
        return PosterPicture(content, size.media_type)
