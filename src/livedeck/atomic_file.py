"""The one writer of files: a temporary file beside the target, fsync, rename; readable by its owner alone.

Everything here waits for the disk: an event loop calls it in a thread, or uses a `BackgroundWriter`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from errno import EINVAL, EISDIR, EPERM
from pathlib import Path
from tempfile import mkstemp
from threading import Lock
from types import TracebackType
from typing import IO, Self


class AtomicFile:
    """A file that takes the place of `target` when it is committed, and is gone when it is discarded.

    Until then it is called as the target with `.part` at its end: what a killed process leaves is known for what it is.
    As a context manager it commits, or discards where an exception leaves the block. Raises OSError: FileExistsError
    where the target is there and was not to be replaced.
    """

    def __init__(self, target: Path, *, replace: bool) -> None:
        self._target, self._replace = target, replace
        self._check_target()
        # Mode 0600 and a name that nobody can guess, for which 40 characters of any script leave room.
        descriptor, name = mkstemp(dir=target.parent, prefix=f"{target.name[:40]}.", suffix=".part")
        self.path = Path(name)
        self.file: IO[bytes] = os.fdopen(descriptor, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.discard()

    def commit(self) -> None:
        """Put what was written in the place of the target, so that it survives a loss of power. Raises OSError."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self._check_target()
        self.path.replace(self._target)
        folder = os.open(self._target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Close the file and remove it; after `commit` there is nothing to remove."""
        self.file.close()
        self.path.unlink(missing_ok=True)

    def _check_target(self) -> None:
        check_target(self._target)
        if not self._replace and (self._target.exists() or self._target.is_symlink()):
            raise FileExistsError(f"{self._target.name} is there already")


def check_target(target: Path) -> None:
    """Raises OSError where something is there that no file may replace: a folder, a device, a pipe, a socket.

    Nor is a link followed that somebody else has laid there.
    """
    try:
        status = target.lstat()
        if stat.S_ISLNK(status.st_mode):
            if status.st_uid not in {os.geteuid(), 0}:
                raise PermissionError(EPERM, "a link that belongs to somebody else")
            status = target.stat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(EINVAL, "not a regular file")  # it would be replaced by one


def write_private(target: Path, text: str, *, replace: bool) -> None:
    """Write a small file of the user's own, its folders too. Raises OSError, FileExistsError among them."""
    target = target.resolve()  # a link stays a link
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with AtomicFile(target, replace=replace) as atomic:
        atomic.file.write(text.encode())


class BackgroundWriter:
    """Writes one file over and over in a thread of its own, in order: the last text wins, and none is written late.

    A text that is superseded before its turn is skipped. `on_error` is called in that thread.
    """

    def __init__(self, target: Path, on_error: Callable[[OSError], None]) -> None:
        self._target, self._on_error = target, on_error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=target.name)
        self._lock = Lock()
        self._pending: str | None = None

    def write(self, text: str) -> None:
        """Have this text written; returns at once."""
        with self._lock:
            is_scheduled, self._pending = self._pending is not None, text
        if not is_scheduled:
            self._thread.submit(self._write_pending)

    def close(self) -> None:
        """Return once the last text is written. Nothing may be written afterwards."""
        self._thread.shutdown()

    def _write_pending(self) -> None:
        with self._lock:
            text, self._pending = self._pending, None
        if text is None:
            return
        try:
            write_private(self._target, text, replace=True)
        except OSError as error:
            self._on_error(error)
