"""Bytes that came in or go out as files: a folder beside the data file, or one that ends with the service."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO


class Files:
    """Files by a storage id, which we make ourselves: no name from outside is ever a path.

    `folder`: where (None: a temporary one, made when first used and removed with the service). A file stands under its
    id only when it is whole and on the disk.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = folder
        self._made: Path | None = None

    def path(self, storage: str) -> Path:
        """Where the file of that id stands."""
        return self._folder() / storage

    async def keep(self, storage: str, chunks: AsyncIterator[bytes]) -> int:
        """Write it as it comes and answer its size in bytes. Where the stream breaks off, nothing stays."""
        half = self.path(f"{storage}.part")
        try:
            with half.open("wb") as file:
                async for chunk in chunks:
                    file.write(chunk)
                await asyncio.to_thread(_settle, file)  # hundreds of megabytes take the disk seconds
                size = file.tell()
            half.replace(self.path(storage))
        except BaseException:
            half.unlink(missing_ok=True)
            raise
        return size

    def write(self, storage: str, content: bytes) -> None:
        """Write a small one at once."""
        half = self.path(f"{storage}.part")
        with half.open("wb") as file:
            file.write(content)
            _settle(file)
        half.replace(self.path(storage))

    def delete(self, storage: str) -> None:
        """Forget it."""
        self.path(storage).unlink(missing_ok=True)

    def clear(self) -> None:
        """Forget everything."""
        folder = self._kept if self._kept and self._kept.is_dir() else self._made
        for file in folder.iterdir() if folder else ():
            file.unlink()

    def _folder(self) -> Path:
        if self._kept is not None:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            return self._kept
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="livedeck-"))
            weakref.finalize(self, shutil.rmtree, self._made, ignore_errors=True)
        return self._made


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
