"""Files: atomic writes (temporary file, fsync, rename), and reads and locks of private files.

Owner and mode are read from the opened file, never from its path, because the path may meanwhile lead to another file.
Every function waits for the disk: in an event loop, call it in a thread or use a `BackgroundWriter`.
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
    """Put the name of the target into every OSError of the block. The caller does not know the temporary file."""
    try:
        yield
    except OSError as error:
        error.filename = str(target)
        raise


class AtomicFile:
    """File that replaces `target` on `commit` and vanishes on `discard`.

    Until then its name is the target's name, a random part and `.part`, so that a file left by a killed process can be
    recognized. As a context manager, it commits at the end of the block, or discards if the block raises.

    Args:
        target: Path of the finished file.
        replace: Replace an existing target.
        mode: Mode of the finished file.
        is_synced: Sync the file to disk, so that it survives a power loss. Not needed for files rewritten each second.

    Raises:
        FileExistsError: `replace` is false and the target exists, even if it was created after this file was begun.
        OSError: The file cannot be written.
    """

    def __init__(self, target: Path, *, replace: bool, mode: int = 0o600, is_synced: bool = True) -> None:
        self._target, self._replace, self._mode, self._is_synced = target, replace, mode, is_synced
        with _naming(target):
            self._check_target()
            # mkstemp follows no link and adds a part that nobody can guess; 40 characters of any script leave room for
            # that part
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
            elif isinstance(error, OSError) and error.filename is None:  # the write failed, such as on a full disk
                error.filename = str(self._target)
        finally:
            self.discard()

    def commit(self) -> None:
        """Replace the target with the written file. Raises OSError."""
        with _naming(self._target):
            self._commit()

    def _commit(self) -> None:
        self.file.flush()
        os.fchmod(self.file.fileno(), self._mode)  # regardless of the umask
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
        """Close the file and remove it, unless it was committed."""
        with suppress(OSError):  # the flush may fail on a full disk, which was reported already
            self.file.close()
        self.path.unlink(missing_ok=True)

    def _check_target(self) -> None:
        resolve_target(self._target)
        if not self._replace and (self._target.exists() or self._target.is_symlink()):
            raise FileExistsError(f"{self._target.name} already exists")

    def _claim_target(self) -> None:
        """Give the file the target's name in one step.

        Raises FileExistsError if the name is taken. A rename would replace the other file.
        """
        try:
            os.link(self.path, self._target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: claim the name with an empty file first
            os.close(os.open(self._target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            self.path.replace(self._target)


def resolve_target(target: Path) -> Path:
    """Follow links that belong to the user, and return the path to write to. The links stay.

    Raises OSError for a folder, device, pipe or socket, and for a link that belongs to another user.
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
            raise PermissionError(EPERM, "a link that belongs to another user")
        target = target.parent / target.readlink()
    raise OSError(ELOOP, os.strerror(ELOOP))


_MAX_LINKS = 40
"""Maximum number of links to follow; the kernel has the same limit."""


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(EINVAL, "not a regular file")  # a rename would replace it


def _check_owner(status: os.stat_result) -> None:
    if status.st_uid not in _trusted_users():
        raise PermissionError(EPERM, "it belongs to another user")


def _trusted_users() -> set[int]:
    """Return the users whose files are trusted: this user and root, who can do anything anyway."""
    return {os.geteuid(), 0}


class FileStatus(NamedTuple):
    """Owner, mode and size (bytes) of an opened file.

    `mode`: permission bits. If the file has an access control list, the group's bits are the rights that the list gives
    to anybody except the owner, root and this user.
    """

    owner: int
    mode: int
    size: int


def read_regular(path: Path, max_bytes: int) -> tuple[bytes, FileStatus]:
    """Return up to `max_bytes + 1` bytes of a file, and its status. The extra byte shows that the file is too long.

    Raises OSError, also for a pipe or device, which is not read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _check_regular(status)
        mode = _granted_mode(descriptor, status.st_mode)
        return file.read(max_bytes + 1), FileStatus(status.st_uid, mode, status.st_size)


def _granted_mode(descriptor: int, mode: int) -> int:
    """Return the mode of a file, whose group bits show what an access control list grants to anyone but trusted users.

    With such a list, `stat` shows the mask of the list as the group bits. systemd uses a list for the credentials of a
    service: `stat` says 0440, but only root and the user of the service may read the file.
    """
    if sys.platform != "linux" or not mode & stat.S_IRWXG:
        return mode
    try:
        acl = os.getxattr(descriptor, "system.posix_acl_access")
        entries = list(struct.iter_unpack("<HHI", acl.removeprefix(_ACL_VERSION)))
    except (OSError, struct.error):  # no list, or a list of an unknown version
        return mode
    ours = {(_ACL_USER, user) for user in _trusted_users()}
    granted = 0
    for tag, rights, identity in entries:
        if tag in _ACL_OTHERS and (tag, identity) not in ours:
            granted |= rights
    return (mode & ~stat.S_IRWXG) | ((granted << 3) & mode & stat.S_IRWXG)


_ACL_VERSION = b"\x02\0\0\0"
"""Header of an access control list (linux/posix_acl_xattr.h), before its entries of 8 bytes."""

_ACL_USER, _ACL_GROUP_OWNER, _ACL_GROUP = 0x02, 0x04, 0x08
_ACL_OTHERS = {_ACL_USER, _ACL_GROUP_OWNER, _ACL_GROUP}
"""Kinds of entries that the mask limits: named users, the file's group, named groups."""


def owner_fault(path: Path, status: FileStatus, *, forbidden: int) -> str:
    """Return why a file cannot be trusted and what to do; empty if it can be trusted.

    `forbidden`: mode bits that group and others must not have: 0o077 for a secret, 0o022 for settings.
    """
    if status.owner not in _trusted_users():
        return "it belongs to another user; create a file of your own"
    if status.mode & forbidden & 0o044:
        return f"others can read it; run chmod 600 {path}"
    return f"others can change it; run chmod go-w {path}" if status.mode & forbidden else ""


def open_private(path: Path, flags: int) -> int:
    """Open a private file and return its descriptor. Creates the file and its folders if they are missing.

    Sets the mode to 0600. Raises OSError, also for a device, a pipe, and a link or file that belongs to another user.
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
    """Create a folder and its missing parents, each with mode 0700. Raises OSError."""
    missing = [folder, *folder.parents]
    while missing and missing[-1].exists():
        missing.pop()
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            path.chmod(0o700)
    if not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, f"{folder} is not a folder")


def write_private(target: Path, text: str, *, replace: bool) -> None:
    """Write a small file with mode 0600, and create its folders.

    Raises OSError, such as FileExistsError without `replace`.
    """
    target = resolve_target(target)
    make_private_folder(target.parent)
    with AtomicFile(target, replace=replace) as atomic:
        atomic.file.write(text.encode())


def replace_file(target: Path, content: bytes) -> None:
    """Write a file that others, such as a web server, may read. Replaces an existing file. Raises OSError.

    The file is not synced to disk, because a picture or a page of documentation can be made again.
    """
    with AtomicFile(resolve_target(target), replace=True, mode=0o644, is_synced=False) as atomic:
        atomic.file.write(content)


class FileLock:
    """Exclusive lock on a file. Create it with `acquire`.

    The kernel frees the lock when the process ends for any reason, so no lock outlives its holder.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    @classmethod
    def acquire(cls, path: Path) -> Self | None:
        """Create the file with its folders and lock it. Returns None at once if another process holds the lock.

        Raises OSError.
        """
        descriptor = open_private(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), path.stat())  # the last holder may have removed it
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
        """Remove the file and free the lock."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


class BackgroundWriter:
    """Rewrites a file in a thread of its own. Skips a text if a newer text waits already.

    `on_error`: called in the thread if a write fails.
    """

    def __init__(self, target: Path, on_error: Callable[[OSError], None]) -> None:
        self._target, self._on_error = target, on_error
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=target.name)
        self._lock = Lock()
        self._pending: str | None = None

    def write(self, text: str) -> None:
        """Queue the text, in place of a text that is not written yet. Returns at once."""
        with self._lock:
            is_scheduled, self._pending = self._pending is not None, text
        if not is_scheduled:
            self._thread.submit(self._write_pending)

    def close(self) -> None:
        """Wait until the last text is written. Do not call `write` afterwards."""
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
