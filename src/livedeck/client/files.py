"""Files of this machine, read to be sent (those that are written: sink.py).

Disks are slow and may hang: every touch of one is made in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from errno import EINVAL
from pathlib import Path
from typing import IO

from livedeck import wording
from livedeck.client.call import Flow, Progress
from livedeck.client.errors import FileFault

_STEP = 256 * 2**10


async def content(path: Path, most: int, what: str) -> bytes:
    """What is in the file. Raises FileFault where it cannot be read or has over `most` bytes."""

    def read() -> bytes:
        with _opened(path) as file:
            return file.read(most + 1)

    with faults(what, path):
        found = await asyncio.to_thread(read)
    if len(found) > most:
        raise FileFault(f"{what}: {_shown(path)} is larger than {most >> 20} MiB")
    return found


@asynccontextmanager
async def flow(path: Path, what: str, progress: Progress | None = None) -> AsyncIterator[Flow]:
    """The file as a body that is read while it is sent. Raises FileFault where it cannot be read."""
    with faults(what, path):
        file = await made(path, _opened)
    size = os.fstat(file.fileno()).st_size
    chunks = _chunks(file, size, what, path, progress)
    try:
        yield Flow(size, chunks)
    finally:
        await chunks.aclose()
        file.close()


async def made(
    path: Path, make: Callable[[Path], IO[bytes]], unmake: Callable[[IO[bytes]], None] | None = None
) -> IO[bytes]:
    """The file that `make` opens in a thread; closed again, and unmade, where the caller has gone meanwhile."""
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
        with faults(what, path):
            chunk = await asyncio.to_thread(file.read, min(_STEP, size - sent))
        if not chunk:
            raise FileFault(f"{what}: {_shown(path)} became shorter while it was sent")
        yield chunk
        sent += len(chunk)
        if progress:
            progress(sent, size)


@contextmanager
def faults(what: str, path: Path) -> Iterator[None]:
    """Let nothing of a file's faults out but FileFault, and a pipe that nobody reads any more."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FileExistsError as error:
        raise FileFault(f"{what}: {_shown(path)} is there already") from error
    except OSError as error:
        raise FileFault(f"{what}: {_shown(path)}: {error.strerror or 'cannot be used'}") from error


def _shown(path: Path) -> str:
    return wording.safe(str(path), 200)
