"""Files are written whole or not at all, for their owner alone, and never in the thread of the caller."""

from __future__ import annotations

import fcntl
import os
import resource
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from livedeck.atomic_file import (
    AtomicFile,
    BackgroundWriter,
    FileLock,
    open_private,
    owner_fault,
    read_regular,
    replace_file,
    write_private,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refuse(error: OSError) -> None:
    raise AssertionError from error


def test_a_private_file_is_for_its_owner_alone_and_so_are_its_folders(tmp_path: Path) -> None:
    write_private(tmp_path / "a" / "b" / "file", "text\n", replace=False)
    assert (tmp_path / "a" / "b" / "file").read_text() == "text\n"
    assert stat.S_IMODE((tmp_path / "a" / "b" / "file").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert names(tmp_path / "a" / "b") == ["file"]


def test_a_file_that_is_there_is_replaced_only_where_it_may_be(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_private(target, "old", replace=False)
    with pytest.raises(FileExistsError):
        write_private(target, "new", replace=False)
    assert target.read_text() == "old"
    write_private(target, "new", replace=True)
    assert target.read_text() == "new"


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    atomic = AtomicFile(tmp_path / "file", replace=False)
    (tmp_path / "file").write_text("of somebody else")
    with pytest.raises(FileExistsError), atomic:
        atomic.file.write(b"ours")
    assert (tmp_path / "file").read_text() == "of somebody else"
    assert names(tmp_path) == ["file"]


def test_a_file_that_appears_at_the_last_moment_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last look at the name and before it is given: the step itself fails, as a rename would not."""
    link = os.link

    def link_late(source: Path, target: Path) -> None:
        target.write_text("of somebody else")
        link(source, target)

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(FileExistsError), AtomicFile(tmp_path / "file", replace=False) as atomic:
        atomic.file.write(b"ours")
    assert (tmp_path / "file").read_text() == "of somebody else"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("has_links", [True, False], ids=["hard links", "none"])
def test_a_new_file_is_written_where_there_are_no_hard_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    with AtomicFile(tmp_path / "file", replace=False) as atomic:
        atomic.file.write(b"ours")
    assert ((tmp_path / "file").read_bytes(), names(tmp_path)) == (b"ours", ["file"])


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777], ids=oct)
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    made = subprocess.run(
        [sys.executable, "-c", MAKE_FILES, str(umask), str(tmp_path / "a" / "b")],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.split() == ["0700", "0700", "0600", "0600", "0600", "0600", "0644"]


MAKE_FILES = """
import os, stat, sys
from pathlib import Path
from livedeck.atomic_file import AtomicFile, open_private, replace_file, write_private
os.umask(int(sys.argv[1]))
folder = Path(sys.argv[2])
write_private(folder / "settings", "text", replace=False)
os.close(open_private(folder / "log", os.O_WRONLY | os.O_APPEND))
(folder / "open").touch(); (folder / "open").chmod(0o666)
os.close(open_private(folder / "open", os.O_RDWR))
with AtomicFile(folder / "export", replace=False) as atomic:
    atomic.file.write(b"rows")
replace_file(folder / "wall.svg", b"picture")
for path in (folder.parent, folder, *(folder / name for name in ("settings", "log", "open", "export", "wall.svg"))):
    print(f"{stat.S_IMODE(path.stat().st_mode):04o}")
"""


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a device", "loop of links", "another's link"])
def test_nothing_but_a_file_is_written_or_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """As root, too, who may do anything: a device would become a file, and its mode another one."""
    target = tmp_path / "file"
    match kind:
        case "folder":
            target.mkdir()
        case "pipe":
            os.mkfifo(target)
        case "device":
            target = Path("/dev/full")
        case "link to a device":
            target.symlink_to("/dev/full")
        case "loop of links":
            target.symlink_to(target)
        case _:
            target.symlink_to(tmp_path / "elsewhere")
            if os.geteuid():
                monkeypatch.setattr(os, "geteuid", lambda: 12_345)
            else:
                os.lchown(target, 12_345, -1)
    before = target.lstat()
    writers: dict[str, Callable[[], object]] = {
        "private": lambda: write_private(target, "text", replace=True),
        "shared": lambda: replace_file(target, b"text"),
        "open": lambda: os.close(open_private(target, os.O_WRONLY)),
        "export": lambda: AtomicFile(target, replace=True).discard(),
    }
    for write in writers.values():
        with pytest.raises(OSError, match=r"not a regular file|another user|Is a directory|symbolic links"):
            write()
    assert (target.lstat().st_mode, target.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_is_read_is_judged_by_what_was_opened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"123456")
    for mode, others, fault in (
        (0o600, 0o077, ""),
        (0o640, 0o077, "others can read it; run chmod 600"),
        (0o602, 0o077, "others can change it; run chmod go-w"),
        (0o644, 0o022, ""),
        (0o664, 0o022, "others can change it; run chmod go-w"),
    ):
        file.chmod(mode)
        content, status = read_regular(file, 4)
        file.chmod(0o777)  # what becomes of the path does not matter
        assert content == b"12345"  # one more than was allowed, which tells that it is too long
        assert owner_fault(file, status, forbidden=others) == (f"{fault} {file}" if fault else "")


USER, FILE_GROUP, GROUP, MASK = 0x02, 0x04, 0x08, 0x10
READ, WRITE = 4, 2
NOBODY, NO_ID = 65_534, 0xFFFFFFFF


def grant(file: Path, *entries: tuple[int, int, int]) -> None:
    """Give the file an access control list with these entries (tag, rights, id) besides those of its owner."""
    rows = sorted([(0x01, READ, NO_ID), (0x20, 0, NO_ID), *entries])
    try:
        os.setxattr(file, "system.posix_acl_access", b"\2\0\0\0" + b"".join(struct.pack("<HHI", *row) for row in rows))
    except OSError as error:
        pytest.skip(f"this file system has no access control lists: {error.strerror}")


@pytest.mark.skipif(sys.platform != "linux", reason="access control lists are read on Linux alone")
@pytest.mark.parametrize(
    ("entries", "is_private"),
    [
        (((USER, READ, os.geteuid()), (FILE_GROUP, 0, NO_ID), (MASK, READ, NO_ID)), True),
        (((USER, READ, 0), (FILE_GROUP, 0, NO_ID), (MASK, READ, NO_ID)), True),
        (((USER, READ, NOBODY), (FILE_GROUP, 0, NO_ID), (MASK, READ, NO_ID)), False),
        (((USER, READ, os.geteuid()), (USER, READ, NOBODY), (FILE_GROUP, 0, NO_ID), (MASK, READ, NO_ID)), False),
        (((USER, READ, os.geteuid()), (FILE_GROUP, READ, NO_ID), (MASK, READ, NO_ID)), False),
        (((GROUP, READ, NOBODY), (FILE_GROUP, 0, NO_ID), (MASK, READ, NO_ID)), False),
        (((USER, READ, NOBODY), (FILE_GROUP, READ, NO_ID), (MASK, 0, NO_ID)), True),
        (((USER, WRITE, NOBODY), (FILE_GROUP, 0, NO_ID), (MASK, READ | WRITE, NO_ID)), False),
    ],
)
def test_with_an_access_control_list_those_count_whom_it_names(
    tmp_path: Path, entries: tuple[tuple[int, int, int], ...], is_private: bool
) -> None:
    """systemd hands a credential to a service with mode 0440 and a list that names the service's user alone."""
    file = tmp_path / "file"
    file.write_bytes(b"123456")
    file.chmod(0o400)
    grant(file, *entries)
    (mask,) = (rights for tag, rights, _ in entries if tag == MASK)
    assert file.stat().st_mode & 0o777 == 0o400 | mask << 3  # as the kernel shows it
    _, status = read_regular(file, 10)
    assert (owner_fault(file, status, forbidden=0o077) == "") is is_private


@pytest.mark.skipif(sys.platform != "linux", reason="access control lists are read on Linux alone")
def test_without_a_list_the_mode_counts_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"123456")
    file.chmod(0o440)
    _, status = read_regular(file, 10)
    assert owner_fault(file, status, forbidden=0o077).startswith("others can read it")


def test_a_link_to_a_private_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_private(tmp_path / "link", "text", replace=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    atomic = AtomicFile(target, replace=True)
    atomic.file.write(b"half")
    assert [name for name in names(tmp_path) if name.endswith(".part")] == [atomic.path.name]
    with pytest.raises(LookupError), atomic:
        raise LookupError
    assert target.read_text() == "old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a device", "below a file", "a full disk"])
@pytest.mark.parametrize("write", [write_private, lambda path, text, replace: _write(path, text, replace=replace)])
def test_every_error_names_the_file_that_was_given(tmp_path: Path, kind: str, write: Callable[..., None]) -> None:
    """Not the temporary one beside it, and not nothing, which the command line takes for standard output."""
    target = {"a device": Path("/dev/full"), "below a file": tmp_path / "file" / "below"}.get(kind, tmp_path / "target")
    (tmp_path / "file").touch()
    if kind == "a folder":
        target.mkdir()
    if kind == "a pipe":
        os.mkfifo(target)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if kind == "a full disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match=str(target.parent)) as caught:
            write(target, "text" * 100_000, replace=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    named = Path(str(caught.value.filename))
    assert named == target or (kind == "below a file" and named == target.parent)
    assert [name for name in names(tmp_path) if name.endswith(".part")] == []


def _write(path: Path, text: str, *, replace: bool) -> None:
    with AtomicFile(path, replace=replace) as atomic:
        atomic.file.write(text.encode())


def test_of_two_locks_of_a_file_one_is_held_and_its_file_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "below" / "lock"
    first = FileLock.acquire(path)
    assert first is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert FileLock.acquire(path) is None
    first.release()
    assert names(path.parent) == []
    second = FileLock.acquire(path)
    assert second is not None
    second.release()


def test_a_lock_of_a_file_that_its_holder_removes_meanwhile_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was opened before, and locked after: whoever comes next would make a new file and lock that."""
    path, holders = tmp_path / "lock", [FileLock.acquire(tmp_path / "lock")]
    flock = fcntl.flock

    def late_flock(descriptor: int, operation: int) -> None:
        for holder in holders:
            assert holder
            holder.release()
        holders.clear()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late_flock)
    assert FileLock.acquire(path) is None
    lock = FileLock.acquire(path)
    assert lock is not None
    lock.release()


def test_a_lock_of_a_process_that_is_killed_is_free(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib\nfrom livedeck.atomic_file import FileLock\n"
        "lock = FileLock.acquire(pathlib.Path(sys.argv[1]))\nprint(bool(lock), flush=True)\ntime.sleep(60)\n"
    )
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "True\n"
        assert FileLock.acquire(path) is None
        process.kill()
        process.wait(60)
    lock = FileLock.acquire(path)
    assert lock is not None
    lock.release()


def test_a_background_writer_writes_in_another_thread_and_the_last_text_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is superseded before its turn is not written: a slow disk sees two writes of a thousand."""
    begun, goes_on, written = threading.Event(), threading.Event(), list[int]()
    fsync = os.fsync

    def slow_fsync(descriptor: int) -> None:
        written.append(threading.get_ident())
        begun.set()
        assert goes_on.wait(10)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow_fsync)
    with closing(BackgroundWriter(tmp_path / "file", refuse)) as writer:
        writer.write("first")
        assert begun.wait(10)
        for number in range(1000):
            writer.write(str(number))
        goes_on.set()
    assert (tmp_path / "file").read_text() == "999"
    assert threading.get_ident() not in written
    assert len(written) == 2 * 2  # each syncs the file and its folder


def test_a_background_writer_tells_what_fails_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "below").touch()
    errors = list[OSError]()
    with closing(BackgroundWriter(tmp_path / "below" / "file", errors.append)) as writer:
        writer.write("text")
    assert [type(error) for error in errors] == [NotADirectoryError]
