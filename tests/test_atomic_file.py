"""Files are written whole or not at all, for their owner alone, and never on the thread that asks for it."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from livedeck.atomic_file import AtomicFile, BackgroundWriter, write_private


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
    assert [type(error) for error in errors] == [FileExistsError]
