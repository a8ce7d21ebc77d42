"""The one writer of files: a temporary file beside the target, fsync, rename; readable by its owner alone.

Who owns a file and who else may read it is asked of what was opened, never of a path: that may lead elsewhere by then.
Everything here waits for the disk: an event loop calls it in a thread, or uses a `BackgroundWriter`.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from errno import EINVAL, EISDIR, ELOOP, ENOTDIR, EPERM
from pathlib import Path
from tempfile import mkstemp
from threading import Lock
from types import TracebackType
from typing import IO, NamedTuple, Self


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Name the target in every OSError: whoever gave it knows nothing of a temporary file beside it."""
    try:
        yield
    except OSError as error:
        error.filename = str(target)
        raise


class AtomicFile:
    """A file that takes the place of `target` when it is committed, and is gone when it is discarded.

    Until then it is called as the target with `.part` at its end: what a killed process leaves is known for what it is.
    As a context manager it commits, or discards where an exception leaves the block. Raises OSError: FileExistsError
    where the target is there and was not to be replaced, though it came while this one was written.

    `mode`: of the finished file. `is_synced`: it survives a loss of power; for what is written anew each second it need
    not.
    """

    def __init__(self, target: Path, *, replace: bool, mode: int = 0o600, is_synced: bool = True) -> None:
        self._target, self._replace, self._mode, self._is_synced = target, replace, mode, is_synced
        with _naming(target):
            self._check_target()
            # Made anew, following no link, with a name that nobody can guess, for which 40 characters of any script
            # leave room.
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
            elif isinstance(error, OSError) and error.filename is None:  # the file itself would take no more
                error.filename = str(self._target)
        finally:
            self.discard()

    def commit(self) -> None:
        """Put what was written in the place of the target. Raises OSError."""
        with _naming(self._target):
            self._commit()

    def _commit(self) -> None:
        self.file.flush()
        os.fchmod(self.file.fileno(), self._mode)  # whatever the umask
        if self._is_synced:
            os.fsync(self.file.fileno())
        self._check_target()
        if self._replace:
            self.path.replace(self._target)
        else:
            self._claim_target()
        if self._is_synced:
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def discard(self) -> None:
        """Close the file and remove it; after `commit` there is nothing to remove."""
        with suppress(OSError):  # of what is buffered and finds no room: it was told by then
            self.file.close()
        self.path.unlink(missing_ok=True)

    def _check_target(self) -> None:
        resolve_target(self._target)
        if not self._replace and (self._target.exists() or self._target.is_symlink()):
            raise FileExistsError(f"{self._target.name} is there already")

    def _claim_target(self) -> None:
        """Give it its name in one step that fails where something has that name by now, as a rename would not."""
        try:
            os.link(self.path, self._target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: the name is taken first, empty
            os.close(os.open(self._target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            self.path.replace(self._target)


def resolve_target(target: Path) -> Path:
    """Where that path leads by links of one's own, which stay links. Raises OSError where no file may be written.

    That is where a folder, a device, a pipe or a socket is, and behind a link that somebody else has laid.
    """
    with _naming(target):
        return _resolve(target)


def _resolve(target: Path) -> Path:
    for _ in range(_MAX_LINKS):
        try:
            status = target.lstat()
        except FileNotFoundError:
            return target
        if not stat.S_ISLNK(status.st_mode):
            _check_regular(status)
            return target
        if status.st_uid not in _trusted_users():
            raise PermissionError(EPERM, "a link that belongs to somebody else")
        target = target.parent / target.readlink()
    raise OSError(ELOOP, os.strerror(ELOOP))


_MAX_LINKS = 40
"""Links in a row, as the kernel counts them."""


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(EINVAL, "not a regular file")  # it would be replaced by one


def _check_owner(status: os.stat_result) -> None:
    if status.st_uid not in _trusted_users():
        raise PermissionError(EPERM, "it belongs to another user")


def _trusted_users() -> set[int]:
    """Whose files may be used: one's own, and those of the administrator, who may do anything anyway."""
    return {os.geteuid(), 0}


class FileStatus(NamedTuple):
    """Owner, rights and size (bytes) of a file that was opened.

    `mode`: as `stat` has it. If the file has an access control list, the group's bits are what the list grants to
    anybody but the owner, root and us.
    """

    owner: int
    mode: int
    size: int


def read_regular(path: Path, max_bytes: int) -> tuple[bytes, FileStatus]:
    """Return at most `max_bytes` of a file and one more, and its status. Raises OSError for anything but a file.

    A pipe is not waited for, and a device not read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _check_regular(status)
        mode = _granted_mode(descriptor, status.st_mode)
        return file.read(max_bytes + 1), FileStatus(status.st_uid, mode, status.st_size)


def _granted_mode(descriptor: int, mode: int) -> int:
    """Return the mode, with the group's bits as an access control list grants them.

    Beside such a list `stat` shows its mask in their place. systemd hands a credential to a service that way: mode
    0440, though root and the service's user alone may read it.
    """
    if sys.platform != "linux" or not mode & stat.S_IRWXG:
        return mode
    try:
        acl = os.getxattr(descriptor, "system.posix_acl_access")
        entries = list(struct.iter_unpack("<HHI", acl.removeprefix(_ACL_VERSION)))
    except (OSError, struct.error):  # no list, or a version that is not known
        return mode
    ours = {(_ACL_USER, user) for user in _trusted_users()}
    granted = 0
    for tag, rights, identity in entries:
        if tag in _ACL_OTHERS and (tag, identity) not in ours:
            granted |= rights
    return (mode & ~stat.S_IRWXG) | ((granted << 3) & mode & stat.S_IRWXG)


_ACL_VERSION = b"\x02\0\0\0"
"""Begins an access control list (linux/posix_acl_xattr.h); entries of 8 bytes follow."""

_ACL_USER, _ACL_GROUP_OWNER, _ACL_GROUP = 0x02, 0x04, 0x08
_ACL_OTHERS = {_ACL_USER, _ACL_GROUP_OWNER, _ACL_GROUP}
"""Entries that the mask limits: named users, the file's group, named groups."""


def owner_fault(path: Path, status: FileStatus, *, others: int) -> str:
    """Return why a file cannot be trusted, and what to do; empty if it is one's own and nobody else's.

    `others`: the rights, as bits of a mode, that nobody else may have: 0o077 of a secret, 0o022 of settings.
    """
    if status.owner not in _trusted_users():
        return "it belongs to another user; make one of your own"
    if status.mode & others & 0o044:
        return f"others can read it; run chmod 600 {path}"
    return f"others can change it; run chmod go-w {path}" if status.mode & others else ""


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file of the user's own, made with its folders where it is not there, for its owner alone.

    Its mode is mended where others could read it. Raises OSError for a device, a pipe, another's link or file.
    """
    path = resolve_target(path)
    make_private_folder(path.parent)
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        with _naming(path):
            status = os.fstat(descriptor)
            _check_regular(status)
            _check_owner(status)
            if stat.S_IMODE(status.st_mode) != 0o600:
                os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_private_folder(folder: Path) -> None:
    """Make that folder and those above it that are not there, each for its owner alone, whatever the umask."""
    missing = [folder, *folder.parents]
    while missing and missing[-1].exists():
        missing.pop()
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            path.chmod(0o700)
    if not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, f"{folder} is no folder")


def write_private(target: Path, text: str, *, replace: bool) -> None:
    """Write a small file of the user's own, its folders too. Raises OSError, FileExistsError among them."""
    target = resolve_target(target)
    make_private_folder(target.parent)
    with AtomicFile(target, replace=replace) as atomic:
        atomic.file.write(text.encode())


def replace_file(target: Path, content: bytes) -> None:
    """Put that in place of a file that others may read, as a web server does. Raises OSError.

    Not synced: a picture or a page of the documentation is made again.
    """
    with AtomicFile(resolve_target(target), replace=True, mode=0o644, is_synced=False) as atomic:
        atomic.file.write(content)


class FileLock:
    """An exclusive lock that a file stands for while a process holds it; made by `acquire`.

    The kernel frees it when the process ends, however that ends, so no lock outlives its holder.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    @classmethod
    def acquire(cls, path: Path) -> Self | None:
        """Return the lock of that file, made with its folders; None at once while another holds it. Raises OSError."""
        descriptor = open_private(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), path.stat())  # its last holder may have removed it
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        except BaseException:
            os.close(descriptor)
            raise
        if is_ours:
            return cls(path, descriptor)
        os.close(descriptor)
        return None

    def release(self) -> None:
        """Remove the file and let the next one have the lock."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


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
