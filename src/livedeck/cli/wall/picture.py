"""Wall as a picture file, rewritten at each change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile

from livedeck.atomic_file import replace_file
from livedeck.log import Log
from livedeck.ui.wallboard.app import Picture

_log = Log("livedeck.wallboard")


class SvgPublisher:
    """Takes the pictures of the wall, and draws the newest in a thread."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._changed, self._is_ending = asyncio.Event(), False

    def publish(self, picture: Picture) -> None:
        """Take the picture that the wall shows now."""
        self._picture = picture
        self._changed.set()

    @asynccontextmanager
    async def write_to(self, target: Path) -> AsyncIterator[None]:
        """Write the newest picture to the file, atomically, at each change while the block runs, and at its end."""
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
        """Write the newest picture. Returns the error as text, empty if it succeeded.

        `last_error`: result of the previous call; the same error is not logged twice.
        """
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
    """Raise OSError with the file's name if its folder cannot be written."""
    try:
        with TemporaryFile(dir=target.resolve().parent):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
