"""Files of this machine: read while they are uploaded, downloads written so that no half file has the real name."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from errno import ECANCELED, EINVAL
from functools import partial
from io import BytesIO, RawIOBase, TextIOBase
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from livedeck.atomic_file import AtomicFile
from livedeck.client.http.errors import FileFault, Misconfigured
from livedeck.client.http.request import Progress, StreamBody
from livedeck.text import values

T = TypeVar("T")
UPLOAD_CHUNK = 256 * 2**10
"""Bytes of a file that are read and sent at a time."""

_WRITE_SIZE = 2**20
_NOT_IN_A_NAME = re.compile(r"[^\w.]+|_+")


FileSource = str | os.PathLike[str] | bytes | IO[bytes]
"""What can be sent: a path, the bytes themselves, or a file that is open for reading bytes, from where it stands."""

FileTarget = str | os.PathLike[str] | IO[bytes]
"""What can be written: a path, or a file or pipe that is open for writing bytes."""


async def read_file(source: FileSource, max_bytes: int, summary: str) -> bytes:
    """What is in it. Raises FileFault where it cannot be read or has over `max_bytes`, Misconfigured for no file."""
    path = _label(source, summary)

    def read() -> bytes:
        with _opened(source) as file:
            return file.read(max_bytes + 1)

    with mapped_file_errors(summary, path):
        content = await asyncio.to_thread(read)
    if len(content) > max_bytes:
        raise FileFault(f"{summary}: {_safe_path(path)} is larger than {max_bytes >> 20} MiB")
    return content


def file_name(source: FileSource) -> str:
    """Its name without folders, which a disk may hold in any encoding; empty where it has none."""
    name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", "")
    is_path = isinstance(name, str | os.PathLike)
    return Path(name).name.encode(errors="replace").decode() if is_path else ""


def file_target(target: FileTarget, summary: str) -> Path | IO[bytes]:
    """Where to write. Raises Misconfigured for what is no file."""
    if isinstance(target, bytes):
        raise Misconfigured(f"{summary}: bytes cannot be written to; name a path, or an open file")
    _label(target, summary)
    return Path(target) if isinstance(target, str | os.PathLike) else target


def _label(file: object, summary: str) -> Path:
    """What to call it in an error. Raises Misconfigured for what is no file, and for one that is open for text."""
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        if isinstance(path, str) and path:
            return Path(path)
    elif isinstance(file, TextIOBase):
        raise Misconfigured(f'{summary}: the file is open for text; open it in binary mode, as "rb" or "wb"')
    elif isinstance(file, bytes):
        return Path("the data")
    elif hasattr(file, "read") or hasattr(file, "write"):
        return Path(file_name(cast("IO[bytes]", file)) or "the open file")
    raise Misconfigured(f"{summary}: a file should be a path, bytes or an open file, not {type(file).__name__}")


@contextmanager
def _opened(source: FileSource) -> Iterator[IO[bytes]]:
    """The file, closed again where it was opened here."""
    if isinstance(source, bytes):
        yield BytesIO(source)
    elif isinstance(source, str | os.PathLike):
        with _open(Path(source)) as file:
            yield file
    else:
        yield source


@asynccontextmanager
async def file_body(source: FileSource, summary: str, progress: Progress | None = None) -> AsyncIterator[StreamBody]:
    """It as a body that is read while it is sent. Raises FileFault, and Misconfigured for what is no file."""
    path = _label(source, summary)
    if not isinstance(source, bytes | str | os.PathLike) and not source.seekable():
        raise Misconfigured(f"{summary}: {_safe_path(path)} has no size, as a pipe; save it to a file first")
    async with AsyncExitStack() as opened:
        with mapped_file_errors(summary, path):
            context = _opened(source)
            file = await open_in_thread(context.__enter__, lambda file: file.close())
        opened.callback(context.__exit__, None, None, None)
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start

        def chunks() -> AsyncIterator[bytes]:
            reading = _read_chunks(file, start, size, summary, path, progress=progress)
            opened.push_async_callback(reading.aclose)
            return reading

        yield StreamBody(size, chunks)


async def open_in_thread(open_file: Callable[[], T], close: Callable[[T], None]) -> T:
    """What `open_file` opens in a thread; closed again where the caller is cancelled meanwhile."""
    opening = asyncio.ensure_future(asyncio.to_thread(open_file))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:  # a thread does not hear of it, and opens the file all the same
        with suppress(OSError):
            close(await opening)
        raise


def _open(path: Path) -> IO[bytes]:
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device has no size
        raise OSError(EINVAL, "not a regular file")
    return path.open("rb")


async def _read_chunks(
    file: IO[bytes], start: int, size: int, summary: str, path: Path, *, progress: Progress | None
) -> AsyncGenerator[bytes, None]:
    sent = 0
    file.seek(start)
    while sent < size:
        with mapped_file_errors(summary, path):
            chunk = await asyncio.to_thread(file.read, min(UPLOAD_CHUNK, size - sent))
        if not chunk:
            raise FileFault(f"{summary}: {_safe_path(path)} became shorter while it was sent")
        yield chunk
        sent += len(chunk)
        if progress:
            progress(sent, size)


@contextmanager
def mapped_file_errors(summary: str, path: Path) -> Iterator[None]:
    """Let nothing of a file's errors out but FileFault, and a pipe that nobody reads any more."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FileExistsError as error:
        raise FileFault(f"{summary}: {_safe_path(path)} is there already") from error
    except OSError as error:
        raise FileFault(f"{summary}: {_safe_path(path)}: {error.strerror or 'cannot be used'}") from error


def _safe_path(path: Path) -> str:
    return values.safe(str(path), 200)


class ChunkWriter:
    """A file or a pipe that is written in a thread, a mebibyte while the next one comes. `written`: bytes taken so far.

    `write`, `fill` and `finish` raise OSError.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.written = 0
        self._file = file
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._writing: asyncio.Future[None] | None = None

    async def write(self, chunk: bytes) -> None:
        """Take these bytes."""
        self._chunks.append(chunk)
        self._buffered += len(chunk)
        self.written += len(chunk)
        if self._buffered >= _WRITE_SIZE:
            await self._start_writing()

    async def fill(self, store: Callable[[IO[bytes]], None]) -> None:
        """Have `store` write to the file, in a thread that is stopped when the caller is cancelled."""
        await self.finish()
        stoppable = _StoppableFile(self._file)
        await wait_uncancelled(partial(store, cast("IO[bytes]", stoppable)), stoppable.stop)
        self.written += stoppable.written

    async def finish(self) -> None:
        """Wait until all of it is written."""
        await self._start_writing()
        await self._wait_written()

    async def abandon(self) -> None:
        """Wait until nothing is being written any more, whatever becomes of it."""
        with suppress(OSError):
            await self._wait_written()

    async def _start_writing(self) -> None:
        await self._wait_written()
        chunks, self._chunks, self._buffered = self._chunks, [], 0
        self._writing = asyncio.ensure_future(asyncio.to_thread(_write_all, self._file, chunks))

    async def _wait_written(self) -> None:
        if self._writing:
            await asyncio.shield(self._writing)  # the thread goes on though its caller may not: abandon() waits for it
            self._writing = None


class _StoppableFile(RawIOBase):
    """The file, for a library that writes to it in a thread: once stopped, a write fails.

    After a write that failed the library tidies up, and what it writes then is dropped.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.written = 0
        self._file = file
        self._is_stopped = False
        self._has_failed = False

    def stop(self) -> None:
        """Let no more through."""
        self._is_stopped = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._has_failed:
            return len(data)
        self._has_failed = True
        if self._is_stopped:
            raise OSError(ECANCELED, os.strerror(ECANCELED))
        _write_all(self._file, [bytes(data)])
        self._has_failed = False
        self.written += len(data)
        return len(data)


async def wait_uncancelled(work: Callable[[], None], stop: Callable[[], None] = lambda: None) -> None:
    """Do it in a thread. A caller that is cancelled stops it and waits: nothing goes on behind its back."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stop()
        with suppress(OSError):
            await working
        raise


def _write_all(file: IO[bytes], chunks: list[bytes]) -> None:
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            rest = rest[file.write(rest) :]  # a pipe may take less than it is given


@asynccontextmanager
async def download_to_file(target: Path, summary: str, *, replace: bool) -> AsyncIterator[ChunkWriter]:
    """A writer of a file that becomes `target` when all went well, and is gone when not (`atomic_file.AtomicFile`).

    Raises FileFault where it cannot be written, and where the target is there and was not to be replaced.
    """
    with mapped_file_errors(summary, target):
        atomic = await open_in_thread(partial(AtomicFile, target, replace=replace), AtomicFile.discard)
    try:
        with mapped_file_errors(summary, target):
            async with _chunk_writer(atomic.file) as writer:
                yield writer
            await asyncio.to_thread(atomic.commit)
    finally:
        await wait_uncancelled(atomic.discard)


@asynccontextmanager
async def download_to_pipe(pipe: IO[bytes], summary: str) -> AsyncIterator[ChunkWriter]:
    """A pipe that belongs to someone else and stays open. Raises FileFault, and BrokenPipeError where nobody reads."""
    with mapped_file_errors(summary, Path("standard output")):
        async with _chunk_writer(pipe) as writer:
            yield writer
        await asyncio.to_thread(pipe.flush)


@asynccontextmanager
async def _chunk_writer(file: IO[bytes]) -> AsyncIterator[ChunkWriter]:
    writer = ChunkWriter(file)
    try:
        yield writer
        await writer.finish()
    finally:
        await writer.abandon()


def plain_name(text: str, default: str = "chat") -> str:
    """A text from outside as part of a file name: letters, digits, dots and dashes, that lead to no other folder.

    Of any script, at most 100 bytes, never empty (`default`), and never hidden: it does not begin with a dot.
    """
    short = _NOT_IN_A_NAME.sub("-", text).strip("-.").encode()[:100].decode(errors="ignore")
    return short.rstrip("-.") or default
