"""Local files: streams them into uploads, and writes downloads so that no partial file gets the final name."""

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
from livedeck.client.http.content import ContentHead
from livedeck.client.http.errors import FileFault, Misconfigured, Unproved
from livedeck.client.http.request import StreamBody, UploadProgress
from livedeck.text import values

T = TypeVar("T")
UPLOAD_CHUNK = 256 * 2**10
"""Bytes of a file read and sent at a time."""

_WRITE_SIZE = 2**20
_NOT_IN_A_NAME = re.compile(r"[^\w.]+|_+")


FileSource = str | os.PathLike[str] | bytes | IO[bytes]
"""Source of an upload: a path, bytes, or a file open for reading bytes, which is read from its current position."""

FileTarget = str | os.PathLike[str] | IO[bytes]
"""Target of a download: a path, or a file or pipe open for writing bytes."""


async def read_file(source: FileSource, max_bytes: int, summary: str) -> bytes:
    """Return the content of a file.

    Raises FileFault if the file cannot be read or is larger than `max_bytes`, Misconfigured if `source` is not a file.
    """
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
    """Return the file's name without folders, as valid Unicode; empty if it has no name."""
    name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", "")
    is_path = isinstance(name, str | os.PathLike)
    return Path(name).name.encode(errors="replace").decode() if is_path else ""


def file_target(target: FileTarget, summary: str) -> Path | IO[bytes]:
    """Return the target as a path or an open file. Raises Misconfigured for anything else."""
    if isinstance(target, bytes):
        raise Misconfigured(f"{summary}: bytes cannot be a target; give a path or an open file")
    _label(target, summary)
    return Path(target) if isinstance(target, str | os.PathLike) else target


def _label(file: object, summary: str) -> Path:
    """Return the file's name for an error message. Raises Misconfigured if it is no file or opened in text mode."""
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
    """Open the source if it is not open yet, and close it again in that case."""
    if isinstance(source, bytes):
        yield BytesIO(source)
    elif isinstance(source, str | os.PathLike):
        with _open(Path(source)) as file:
            yield file
    else:
        yield source


@asynccontextmanager
async def file_body(
    source: FileSource, summary: str, progress: UploadProgress | None = None
) -> AsyncIterator[StreamBody]:
    """Open a file as a request body, which is read while it is sent.

    Raises FileFault if the file cannot be read, Misconfigured if `source` is not a file with a size.
    """
    path = _label(source, summary)
    if not isinstance(source, bytes | str | os.PathLike) and not source.seekable():
        raise Misconfigured(f"{summary}: {_safe_path(path)} has no size, like a pipe; save it to a file first")
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
    """Call `open_file` in a thread and return its result. Closes the result if the caller is cancelled meanwhile."""
    opening = asyncio.ensure_future(asyncio.to_thread(open_file))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:  # the thread cannot be cancelled and still opens the file
        with suppress(OSError):
            close(await opening)
        raise


def _open(path: Path) -> IO[bytes]:
    if path.exists() and not path.is_file():  # opening a pipe would wait, and a device has no size
        raise OSError(EINVAL, "not a regular file")
    return path.open("rb")


async def _read_chunks(
    file: IO[bytes], start: int, size: int, summary: str, path: Path, *, progress: UploadProgress | None
) -> AsyncGenerator[bytes, None]:
    sent = 0
    file.seek(start)
    while sent < size:
        with mapped_file_errors(summary, path):
            chunk = await asyncio.to_thread(file.read, min(UPLOAD_CHUNK, size - sent))
        if not chunk:
            raise FileFault(f"{summary}: {_safe_path(path)} shrank while it was sent")
        yield chunk
        sent += len(chunk)
        if progress:
            progress(sent, size)


@contextmanager
def mapped_file_errors(summary: str, path: Path) -> Iterator[None]:
    """Turn every OSError of a file into FileFault, except BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FileExistsError as error:
        raise FileFault(f"{summary}: {_safe_path(path)} already exists") from error
    except OSError as error:
        raise FileFault(f"{summary}: {_safe_path(path)}: {error.strerror or 'cannot be used'}") from error


def _safe_path(path: Path) -> str:
    return values.safe(str(path), 200)


class ChunkWriter:
    """Writer of a file or pipe in a thread: it writes one mebibyte while the next one arrives.

    `written`: number of bytes so far. `write`, `fill` and `finish` raise OSError.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.written = 0
        self._file = file
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._writing: asyncio.Future[None] | None = None

    async def write(self, chunk: bytes) -> None:
        """Buffer a chunk, and start writing once a mebibyte is buffered."""
        self._chunks.append(chunk)
        self._buffered += len(chunk)
        self.written += len(chunk)
        if self._buffered >= _WRITE_SIZE:
            await self._start_writing()

    async def fill(self, store: Callable[[IO[bytes]], None]) -> None:
        """Call `store` with the file in a thread. Cancelling the caller stops the writes of `store`."""
        await self.finish()
        stoppable = _StoppableFile(self._file)
        await wait_uncancelled(partial(store, cast("IO[bytes]", stoppable)), stoppable.stop)
        self.written += stoppable.written

    async def finish(self) -> None:
        """Write the buffered bytes and wait until everything is written."""
        await self._start_writing()
        await self._wait_written()

    async def abandon(self) -> None:
        """Wait for pending writes and ignore their result."""
        with suppress(OSError):
            await self._wait_written()

    async def _start_writing(self) -> None:
        await self._wait_written()
        chunks, self._chunks, self._buffered = self._chunks, [], 0
        self._writing = asyncio.ensure_future(asyncio.to_thread(_write_all, self._file, chunks))

    async def _wait_written(self) -> None:
        if self._writing:
            await asyncio.shield(self._writing)  # a cancelled caller cannot stop the thread: `abandon` waits for it
            self._writing = None


class _StoppableFile(RawIOBase):
    """File for a library that writes in a thread. After `stop` the next write fails, and later writes are dropped."""

    def __init__(self, file: IO[bytes]) -> None:
        self.written = 0
        self._file = file
        self._is_stopped = False
        self._has_failed = False

    def stop(self) -> None:
        """Make the next write fail."""
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
    """Run `work` in a thread. If cancelled, call `stop` and wait for the end of the work."""
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
            rest = rest[file.write(rest) :]  # a pipe may accept only a part


@asynccontextmanager
async def download_to_file(target: Path, summary: str, *, replace: bool) -> AsyncIterator[ChunkWriter]:
    """Open a writer for a new file. It becomes `target` if the block succeeds, and is removed otherwise (`AtomicFile`).

    Raises FileFault if the file cannot be written, or if the target exists and `replace` is false.
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
    """Open a writer for the caller's pipe, which stays open.

    Raises FileFault, or BrokenPipeError if nobody reads the pipe.
    """
    with mapped_file_errors(summary, Path("standard output")):
        async with _chunk_writer(pipe) as writer:
            yield writer
        await asyncio.to_thread(pipe.flush)


async def unproved(summary: str, target: Path | None, fault: str, head: ContentHead, media_type: str) -> Unproved:
    """Return the error for a download that is dropped.

    `target`: path of the file; None for a pipe. `fault`: expected kind and the reason, such as `a complete log: ...`.
    `head`: first bytes of the download.
    """
    stays = target is not None and await asyncio.to_thread(os.path.lexists, target)
    dropped = "they were dropped" if target else "they were already written to the pipe"
    kept = f", and {_safe_path(target)} stays as it was" if target and stays else ""
    return Unproved(f"{summary}: the reply is not {fault}; received {head.describe(media_type)}; {dropped}{kept}")


@asynccontextmanager
async def _chunk_writer(file: IO[bytes]) -> AsyncIterator[ChunkWriter]:
    writer = ChunkWriter(file)
    try:
        yield writer
        await writer.finish()
    finally:
        await writer.abandon()


def plain_name(text: str, default: str = "chat") -> str:
    """Return a text from outside as part of a file name: letters and digits of any script, dots and dashes.

    The result has at most 100 bytes and does not begin with a dot, so that it cannot leave the folder or be hidden.
    Returns `default` if no character is left.
    """
    short = _NOT_IN_A_NAME.sub("-", text).strip("-.").encode()[:100].decode(errors="ignore")
    return short.rstrip("-.") or default
