"""The wall as a picture file, written anew each time that it changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import structlog

from livedeck.atomic_file import replace_file
from livedeck.ui.wallboard.app import Picture

_log: Any = structlog.get_logger("livedeck.wallboard")


class SvgPublisher:
    """Takes each picture as it is made, and draws the newest one, in a thread."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._changed, self._is_ending = asyncio.Event(), False

    def publish(self, picture: Picture) -> None:
        """This is on the wall now."""
        self._picture = picture
        self._changed.set()

    @asynccontextmanager
    async def write_to(self, target: Path) -> AsyncIterator[None]:
        """Write each picture to that file while the block runs, and the last one at its end; whole or not at all."""
        task = asyncio.create_task(self._write_each(target))
        try:
            yield
        finally:
            self._is_ending = True
            self._changed.set()
            await task

    async def _write_each(self, target: Path) -> None:
        last_error = ""
        while self._changed.is_set() or not self._is_ending:
            await self._changed.wait()
            self._changed.clear()
            last_error = await self._write(target, last_error)

    async def _write(self, target: Path, last_error: str) -> str:
        """Write the newest picture. Returns why it could not be, or nothing; `last_error`: what that was last time."""
        try:
            if self._picture:
                svg = await asyncio.to_thread(self._picture.svg)
                await asyncio.to_thread(replace_file, target, svg.encode())
            reason = ""
        except Exception as error:  # noqa: BLE001  the top of a task; logged once, not at every picture
            reason = getattr(error, "strerror", None) or repr(error)
            if reason != last_error:
                _log.warning("the picture cannot be written", path=str(target), reason=reason, exc_info=True)
        if last_error and not reason:
            _log.info("the picture is written again", path=str(target))
        return reason


def check_folder(target: Path) -> None:
    """Raises OSError, with that file's name, where no file can be made beside it."""
    try:
        with TemporaryFile(dir=target.resolve().parent):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
