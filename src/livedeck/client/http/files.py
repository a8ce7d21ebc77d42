"""Files of this machine: read to be uploaded, written from downloads so that no half file has the real name."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from errno import ECANCELED, EINVAL
from functools import partial
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from livedeck.atomic_file import AtomicFile
from livedeck.client.http.errors import FileFault
from livedeck.client.http.request import Chunk, Progress, StreamBody
from livedeck.text import values

T = TypeVar("T")

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
async def flow(path: Path, what: str, progress: Progress | None = None) -> AsyncIterator[StreamBody]:
    """The file as a body that is read while it is sent. Raises FileFault where it cannot be read."""
    with faults(what, path):
        file = await open_in_thread(partial(_opened, path), lambda file: file.close())
    size = os.fstat(file.fileno()).st_size
    chunks = _chunks(file, size, what, path, progress)
    try:
        yield StreamBody(size, chunks)
    finally:
        await chunks.aclose()
        file.close()


async def open_in_thread(open_file: Callable[[], T], close: Callable[[T], None]) -> T:
    """What `open_file` opens in a thread; closed again where the caller is cancelled meanwhile."""
    opening = asyncio.ensure_future(asyncio.to_thread(open_file))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:  # a thread does not hear of it, and opens the file all the same
        with suppress(OSError):
            close(await opening)
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
    return values.safe(str(path), 200)


_BATCH = 2**20

_ODD = re.compile(r"[^\w.]+|_+")


class ChunkWriter:
    """A file or a pipe that is written in a thread. `written`: bytes taken so far.

    One buffer is written while the next one fills. Both are reused: fresh memory is slow.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.written = 0
        self._file = file
        self._filling = self._other = memoryview(b"")
        self._size = 0
        self._writing: asyncio.Future[None] | None = None

    async def write(self, chunk: Chunk) -> None:
        """Take these bytes. Raises OSError."""
        left = memoryview(chunk)
        while left:
            self._filling = self._filling or memoryview(bytearray(_BATCH))
            fits = min(len(left), _BATCH - self._size)
            self._filling[self._size : self._size + fits] = left[:fits]
            self._size += fits
            self.written += fits
            left = left[fits:]
            if self._size == _BATCH:
                await self._turn()

    async def fill(self, store: Callable[[IO[bytes]], None]) -> None:
        """Have `store` write to the file, in a thread that is stopped when the caller goes. Raises OSError."""
        await self._turn()
        await self._settled()
        tap = _Tap(self._file)
        await wait_uncancelled(partial(store, cast("IO[bytes]", tap)), tap.close_up)
        self.written += tap.written

    async def finish(self) -> None:
        """Have all of it written. Raises OSError."""
        await self._turn()
        await self._settled()

    async def abandon(self) -> None:
        """Wait until nothing is written any more, whatever becomes of it."""
        with suppress(OSError):
            await self._settled()

    async def _turn(self) -> None:
        await self._settled()
        full, begun = self._filling[: self._size], self.written - self._size
        self._writing = asyncio.ensure_future(asyncio.to_thread(_started, self._file, full, begun))
        self._filling, self._other, self._size = self._other, self._filling, 0

    async def _settled(self) -> None:
        if self._writing:
            await asyncio.shield(self._writing)  # the thread goes on though its caller may not: abandon() waits for it
            self._writing = None


class _Tap(RawIOBase):
    """The file, as a library writes to it that cannot be stopped otherwise: once shut, a write fails.

    After one that failed the library tidies up, and what it writes then is dropped.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._shut = False
        self.written = 0
        self._file = file
        self._failed = False

    def close_up(self) -> None:
        """Let no more through."""
        self._shut = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._failed:
            return len(data)
        self._failed = True
        if self._shut:
            raise OSError(ECANCELED, os.strerror(ECANCELED))
        _write(self._file, memoryview(data))
        self._failed = False
        self.written += len(data)
        return len(data)


async def wait_uncancelled(work: Callable[[], None], stop: Callable[[], None] = lambda: None) -> None:
    """Do it in a thread. A caller that is cancelled stops it and waits: nothing goes on behind its back."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        stop()
        with suppress(OSError):
            await doing
        raise


def _started(file: IO[bytes], data: memoryview, at: int) -> None:
    _write(file, data)
    if hasattr(os, "posix_fadvise"):  # the disk begins now, so that the last fsync has little left to wait for
        with suppress(OSError):  # a pipe has no disk
            os.posix_fadvise(file.fileno(), at, len(data), os.POSIX_FADV_DONTNEED)


def _write(file: IO[bytes], data: memoryview) -> None:
    while data:
        data = data[file.write(data) :]  # a pipe may take less than it is given


@asynccontextmanager
async def download(target: Path, what: str, *, replace: bool) -> AsyncIterator[ChunkWriter]:
    """A writer of a file that becomes `target` when all went well, and is gone when not (`atomic_file.AtomicFile`).

    Raises FileFault where it cannot be written, and where the target is there and was not to be replaced.
    """
    with faults(what, target):
        atomic = await open_in_thread(partial(AtomicFile, target, replace=replace), AtomicFile.discard)
    try:
        with faults(what, target):
            async with _running(atomic.file) as writer:
                yield writer
            await asyncio.to_thread(atomic.commit)
    finally:
        await wait_uncancelled(atomic.discard)


@asynccontextmanager
async def with_progress(pipe: IO[bytes], what: str) -> AsyncIterator[ChunkWriter]:
    """A pipe that belongs to someone else and stays open. Raises FileFault, and BrokenPipeError where nobody reads."""
    with faults(what, Path("standard output")):
        async with _running(pipe) as sink:
            yield sink
        await asyncio.to_thread(pipe.flush)


@asynccontextmanager
async def _running(file: IO[bytes]) -> AsyncIterator[ChunkWriter]:
    sink = ChunkWriter(file)
    try:
        yield sink
        await sink.finish()
    finally:
        await sink.abandon()


def plain_name(text: str, otherwise: str = "chat") -> str:
    """A text from outside as part of a file name: letters, digits, dots and dashes, that lead to no other folder.

    Of any script, at most 100 bytes, never empty (`otherwise`), and hidden from nobody: it never begins with a dot.
    """
    short = _ODD.sub("-", text).strip("-.").encode()[:100].decode(errors="ignore")
    return short.rstrip("-.") or otherwise
