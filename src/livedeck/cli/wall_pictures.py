"""The wall's newest picture, for a file and for browsers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
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
        self._news, self._over = asyncio.Event(), False

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

    @asynccontextmanager
    async def kept(self, target: Path) -> AsyncIterator[None]:
        """Write each picture to that file while the block runs, and the last one at its end; whole or not at all."""
        writing = asyncio.create_task(self._keep(target))
        try:
            yield
        finally:
            self._over = True
            self._news.set()
            await writing

    async def _keep(self, target: Path) -> None:
        failing = ""
        while self._news.is_set() or not self._over:
            await self._news.wait()
            self._news.clear()
            failing = await self._write(target, failing)

    async def _write(self, target: Path, failing: str) -> str:
        """Write the newest picture. Returns why it could not be, or nothing; `failing`: the same of the last time."""
        try:
            svg = await self.svg()
            if svg:
                await asyncio.to_thread(replaced, target, svg)
            why = ""
        except Exception as error:  # noqa: BLE001  the top of a task; logged once, not at every picture
            why = getattr(error, "strerror", None) or repr(error)
            if why != failing:
                _log.warning("the picture cannot be written", path=str(target), why=why, exc_info=True)
        if failing and not why:
            _log.info("the picture is written again", path=str(target))
        return why


def replaced(target: Path, content: bytes) -> None:
    """Put that in place of the file at once. Not synced: a second later there is another one. Raises OSError."""
    target = target.resolve()  # a link stays a link
    half = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        half.write_bytes(content)
        half.replace(target)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def check(target: Path) -> None:
    """Raises OSError where no file can be made beside that one."""
    with TemporaryFile(dir=target.resolve().parent):
        pass


def _drawn(picture: Picture) -> bytes:
    return picture.svg().encode()
