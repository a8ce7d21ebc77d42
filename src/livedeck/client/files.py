"""Files of this machine: read to be sent, and written so that no half file ever has the real name (trust.md, "Files").

Disks are slow and may hang: every touch of one is made in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from errno import EINVAL, EISDIR
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from livedeck import wording
from livedeck.client.call import Flow, Progress
from livedeck.client.errors import FileFault

_STEP = 256 * 2**10
_BATCH = 2**20


async def content(path: Path, most: int, what: str) -> bytes:
    """What is in the file. Raises FileFault where it cannot be read or has over `most` bytes."""

    def read() -> bytes:
        with _opened(path) as file:
            return file.read(most + 1)

    with _faults(what, path):
        found = await asyncio.to_thread(read)
    if len(found) > most:
        raise FileFault(f"{what}: {_shown(path)} is larger than {most >> 20} MiB")
    return found


@asynccontextmanager
async def flow(path: Path, what: str, progress: Progress | None = None) -> AsyncIterator[Flow]:
    """The file as a body that is read while it is sent. Raises FileFault where it cannot be read."""
    with _faults(what, path):
        file = await _made(path, _opened)
    size = os.fstat(file.fileno()).st_size
    chunks = _chunks(file, size, what, path, progress)
    try:
        yield Flow(size, chunks)
    finally:
        await chunks.aclose()
        file.close()


async def _made(
    path: Path, make: Callable[[Path], IO[bytes]], unmake: Callable[[IO[bytes]], None] | None = None
) -> IO[bytes]:
    making = asyncio.ensure_future(asyncio.to_thread(make, path))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:  # a thread does not hear of it, and opens the file all the same
        with suppress(OSError), await making as file:
            if unmake:
                unmake(file)
        raise


def _opened(path: Path) -> IO[bytes]:
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device has no size
        raise OSError(EINVAL, "not a regular file")
    return path.open("rb")


async def _chunks(
    file: IO[bytes], size: int, what: str, path: Path, progress: Progress | None
) -> AsyncGenerator[bytes, None]:
    sent = 0
    while sent < size:
        with _faults(what, path):
            chunk = await asyncio.to_thread(file.read, min(_STEP, size - sent))
        if not chunk:
            raise FileFault(f"{what}: {_shown(path)} became shorter while it was sent")
        yield chunk
        sent += len(chunk)
        if progress:
            progress(sent, size)


class Sink:
    """Where a download goes: one buffer is written while the next one fills. Both are reused: fresh memory is slow."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._filling, self._other = memoryview(bytearray(_BATCH)), memoryview(bytearray(_BATCH))
        self._size = 0
        self._writing: asyncio.Future[int] | None = None

    async def write(self, chunk: bytes) -> None:
        """Take these bytes. Raises OSError."""
        left = memoryview(chunk)
        while left:
            fits = min(len(left), _BATCH - self._size)
            self._filling[self._size : self._size + fits] = left[:fits]
            self._size += fits
            left = left[fits:]
            if self._size == _BATCH:
                await self._turn()

    async def finish(self) -> None:
        """Have all of it written. Raises OSError."""
        await self._turn()
        await self._settled()

    async def _turn(self) -> None:
        await self._settled()
        full = self._filling[: self._size]
        self._writing = asyncio.ensure_future(asyncio.to_thread(self._file.write, full))
        self._filling, self._other, self._size = self._other, self._filling, 0

    async def _settled(self) -> None:
        if self._writing:
            writing, self._writing = self._writing, None
            await writing


@asynccontextmanager
async def download(target: Path, what: str, *, replace: bool) -> AsyncIterator[Sink]:
    """A file beside the target that becomes the target when all went well, and is gone when not.

    Raises FileFault where it cannot be written, and where the target is there and was not to be replaced.
    """
    with _faults(what, target):
        _free(target, replace=replace)
        file = await _made(target, _beside, _forget)
    try:
        with file, _faults(what, target):
            sink = Sink(file)
            yield sink
            await sink.finish()
            await asyncio.to_thread(_settle, file, target, replace)
    finally:
        _forget(file)


def _beside(target: Path) -> IO[bytes]:
    # Made 0600, under a name that nobody can guess; 40 characters of any script leave room for it.
    return NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:40]}.", delete=False)


def _settle(file: IO[bytes], target: Path, replace: bool) -> None:
    file.flush()
    os.fsync(file.fileno())
    _free(target, replace=replace)
    Path(file.name).replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _forget(file: IO[bytes]) -> None:
    Path(file.name).unlink(missing_ok=True)  # gone already, where it became the target


def _free(target: Path, *, replace: bool) -> None:
    if target.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not replace and (target.exists() or target.is_symlink()):
        raise FileExistsError(f"{target.name} is there already")


@contextmanager
def _faults(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise FileFault(f"{what}: {_shown(path)} is there already") from error
    except OSError as error:
        raise FileFault(f"{what}: {_shown(path)}: {error.strerror or 'cannot be used'}") from error


def _shown(path: Path) -> str:
    return wording.safe(str(path), 200)
