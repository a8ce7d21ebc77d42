"""The wall's newest picture, for a file and for browsers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import structlog

from livedeck.ui.wallboard.app import Picture

_log: Any = structlog.get_logger("livedeck.wallboard")


class Gallery:
    """Takes each picture as it is made; draws it when somebody wants it, once, and off the loop."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._drawn: tuple[Picture, bytes] | None = None
        self._drawing = asyncio.Lock()
        self._news = asyncio.Event()
        self._failing = ""

    def publish(self, picture: Picture) -> None:
        """This is on the wall now."""
        self._picture = picture
        self._news.set()

    async def svg(self) -> bytes | None:
        """The newest picture; None before the first."""
        async with self._drawing:
            picture = self._picture
            if picture and (self._drawn is None or self._drawn[0] is not picture):
                self._drawn = picture, await asyncio.to_thread(_drawn, picture)
        return self._drawn[1] if self._drawn else None

    async def keep(self, target: Path) -> None:
        """Write each picture to that file, whole or not at all; never ends. A disk that fails is tried again."""
        while True:
            await self._news.wait()
            self._news.clear()
            svg = await self.svg()
            if svg:
                await asyncio.to_thread(self._write, target, svg)

    def _write(self, target: Path, svg: bytes) -> None:
        try:
            replaced(target, svg)
        except OSError as error:
            if self._failing != str(error):
                _log.warning("the picture cannot be written", path=str(target), why=error.strerror)
            self._failing = str(error)
            return
        if self._failing:
            _log.info("the picture can be written again", path=str(target))
        self._failing = ""


def replaced(target: Path, content: bytes) -> None:
    """Put that in place of the file at once. Not synced: a second later there is another one. Raises OSError."""
    half = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        half.write_bytes(content)
        half.replace(target)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def _drawn(picture: Picture) -> bytes:
    return picture.svg().encode()
