"""Commands never treat an unreadable history as one without entries."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.commands import called
from cli.groups_stage import ON_AIR, Stage
from livedeck.cli.exit_codes import MachineError
from livedeck.cli.wiring import keep_act
from livedeck.monitor import Content, History, HistoryReader, ProfileChoice
from livedeck.notify.spool import spool_path
from livedeck.settings import Settings

UNREAD = "The history could not be read"


def written(path: Path) -> None:
    """Write a history without entries."""

    async def write() -> None:
        history = await History.open(path, datetime.now(UTC))
        await history.flush()
        await history.close()

    asyncio.run(write())


@contextmanager
def busy(path: Path) -> Iterator[None]:
    """Write to the file as another program may, until the end of the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file as another program may, until the end of the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        yield


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        (("silence", "list"), "no silence runs"),
        (("silence", "end", "abc"), "no silence abc"),
        (("change", "list"), "no change with"),
        (("change", "close", "abc"), "no open changes"),
        (("event", "list", "--format", "ics"), "BEGIN:VCALENDAR"),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, tuple) else "",
)
def test_a_command_without_its_history_claims_nothing(
    words: tuple[str, ...], claim: str, on_stage: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    env = {**on_stage.env, "LIVEDECK_HISTORY": str(path)}
    written(path)
    before = called(tmp_path, *words, env=env)
    assert claim in before.stdout + before.stderr
    with locked(path):
        done = called(tmp_path, *words, env=env)
    assert done.returncode == 1
    assert claim not in done.stdout + done.stderr
    assert f"{UNREAD}: history {path}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [("list",), ("dead", "list"), ("dead", "show", "abc"), ("dead", "retry"), ("dead", "drop", "--all")],
    ids=" ".join,
)
def test_a_spool_that_cannot_be_read_is_not_taken_for_an_empty_one(
    words: tuple[str, ...], on_stage: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    corrupt(spool_path(path))
    done = called(tmp_path, "notify", *words, env={**on_stage.env, "LIVEDECK_HISTORY": str(path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert f"The unsent notifications are unknown: {spool_path(path)}: file is not a database" in done.stderr


@pytest.mark.parametrize("words", [("silence", "list"), ("change", "list"), ("change", "close", "abc")], ids=" ".join)
def test_a_history_of_a_newer_version_is_not_taken_for_an_empty_one(
    words: tuple[str, ...], on_stage: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    written(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
    done = called(tmp_path, *words, env={**on_stage.env, "LIVEDECK_HISTORY": str(path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{UNREAD}: history {path}: a newer version of livedeck made it" in done.stderr


@pytest.mark.parametrize("words", [("silence", "list"), ("change", "list")], ids=" ".join)
def test_a_history_without_a_byte_is_not_taken_for_one_without_entries(
    words: tuple[str, ...], on_stage: Stage, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    path.touch(mode=0o600)
    done = called(tmp_path, *words, env={**on_stage.env, "LIVEDECK_HISTORY": str(path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{UNREAD}: history {path}: it is empty" in done.stderr


def test_lists_and_status_say_what_they_lack(on_stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    env = {**on_stage.env, "LIVEDECK_HISTORY": str(path)}
    written(path)
    with locked(path):
        listed = called(tmp_path, "event", "list", "--json", env=env)
        status = called(tmp_path, "status", "--json", env=env)
        alarms = called(tmp_path, "alarm", "list", env={**env, **REFUSED})
    for done in (alarms, status):
        assert f"{UNREAD}: history {path}" in done.stderr
        assert "silences of this machine are not known" in done.stderr
    assert listed.returncode == 0
    assert f"{UNREAD}: history {path}" in listed.stderr
    found, readable = json.loads(status.stdout), json.loads(called(tmp_path, "status", "--json", env=env).stdout)
    assert (found["open_changes"], found["unread"] in status.stderr) == (None, True)
    assert (readable["open_changes"], readable["unread"]) == ([], None)
    unkept = called(tmp_path, "status", "--json", env={**env, "LIVEDECK_HISTORY": "off"})
    assert json.loads(unkept.stdout)["open_changes"] is None


def corrupt(path: Path) -> None:
    """Write a file that SQLite cannot read."""
    path.write_bytes(b"no database" * 500)


def test_show_apply_creates_nothing_without_its_history(on_stage: Stage, tmp_path: Path) -> None:
    """A corrupt file is set aside, so the new one knows none of the events that the platform may not list."""
    show, path = tmp_path / "gala.yaml", tmp_path / "history.sqlite"
    show.write_text("name: gala\nevents:\n  - {name: Late Gala, type: one-time}\n")
    env = {**on_stage.env, "LIVEDECK_HISTORY": str(path)}
    corrupt(path)
    done = called(tmp_path, "show", "apply", str(show), "--yes", "--confirm", "gala", env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{UNREAD}: history {path}: it was corrupt; renamed to " in done.stderr
    assert done.stderr.count("it was corrupt") == 1
    assert "Late Gala" not in called(tmp_path, "event", "list", env=env).stdout
    again = called(tmp_path, "show", "apply", str(show), "--yes", env=env)
    assert again.returncode == 0, again.stderr
    assert "Late Gala" in called(tmp_path, "event", "list", env=env).stdout


def test_close_does_not_deny_a_change_that_a_lost_history_may_know(on_stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    corrupt(path)
    done = called(tmp_path, "change", "close", "abc", env={**on_stage.env, "LIVEDECK_HISTORY": str(path)})
    assert done.returncode == 1
    assert "no open changes" not in done.stderr
    assert f"{UNREAD}: history {path}: it was corrupt" in done.stderr


def test_a_change_names_the_fault_of_its_history(on_stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    corrupt(path)
    words = ("event", "create", "--name", "Without its past", "--yes")
    env = {**on_stage.env, "LIVEDECK_HISTORY": str(path)}
    done = called(tmp_path, *words, env=env)
    assert done.returncode == 0, done.stderr
    assert f"livedeck: history {path}: it was corrupt; renamed to " in done.stderr
    written(path)
    with locked(path):
        done = called(tmp_path, *words, env=env)
    assert f"livedeck: history {path}: " in done.stderr


ACTS = {
    "alarm ack": (("alarm", "ack", "platform", "AUTH_FAILED"), "acknowledged\n"),
    "silence add": (("silence", "add", "--name", "Choir*", "--duration", "1h", "--comment", "swap"), "silence "),
    "event content": (("event", "content", ON_AIR, "radio"), "content radio"),
}
"""Actions of a person that the history of this machine stores -> words that confirm them."""

REFUSED = {"LIVEDECK_TOKEN": "w" * 36}
"""A token that the platform refuses: AUTH_FAILED is raised at once, without a sample."""


@pytest.mark.parametrize(("words", "claim"), ACTS.values(), ids=ACTS)
def test_an_act_is_claimed_if_the_history_has_it_and_only_then(
    words: tuple[str, ...], claim: str, on_stage: Stage, tmp_path: Path
) -> None:
    """After a corrupt file was set aside, the new one has the act. A locked file has nothing."""
    path, other = tmp_path / "history.sqlite", tmp_path / "other.sqlite"
    env = {**on_stage.env, **(REFUSED if "AUTH_FAILED" in words else {})}
    corrupt(path)
    done = called(tmp_path, *words, env={**env, "LIVEDECK_HISTORY": str(path)})
    assert (done.returncode, claim in done.stdout) == (0, True), done.stderr
    assert f"livedeck: history {path}: it was corrupt; renamed to " in done.stderr
    written(other)
    with locked(other):
        done = called(tmp_path, *words, env={**env, "LIVEDECK_HISTORY": str(other)})
    assert (done.returncode, claim in done.stdout) == (1, False)
    assert f"history {other}: " in done.stderr


def test_an_alarm_is_not_called_unacknowledged_by_a_history_that_cannot_be_read(
    on_stage: Stage, tmp_path: Path
) -> None:
    path, words = tmp_path / "history.sqlite", ("alarm", "unack", "platform", "AUTH_FAILED")
    env = {**on_stage.env, **REFUSED, "LIVEDECK_HISTORY": str(path)}
    corrupt(path)
    done = called(tmp_path, *words, env=env)
    assert (done.returncode, "not acknowledged" in done.stderr) == (1, False)
    assert f"AUTH_FAILED: not done. {UNREAD}: history {path}: " in done.stderr
    path.unlink()
    known = called(tmp_path, *words, env=env)
    assert (known.returncode, "not acknowledged" in known.stderr) == (6, True)


def test_a_route_is_not_explained_by_an_event_that_a_history_may_know(on_stage: Stage, tmp_path: Path) -> None:
    path, typed = tmp_path / "history.sqlite", ("notify", "explain", "Main stage", "NO_INGEST")
    env = {**on_stage.env, "LIVEDECK_HISTORY": str(path)}
    assert "this machine has no history; using EVENT as typed" in called(tmp_path, *typed, env=env).stderr
    written(path)
    assert "the history has no event 'Main stage'; using" in called(tmp_path, *typed, env=env).stderr
    corrupt(path)
    done = called(tmp_path, *typed, env=env)
    assert f"{UNREAD}: history {path}: " in done.stderr
    assert "no event" not in done.stderr


async def test_an_act_is_denied_only_if_the_close_did_not_write_it_either(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    await asyncio.to_thread(written, path)
    settings = Settings(history=str(path))
    ruling = ProfileChoice(datetime.now(UTC), "e1", Content.RADIO, "anna")
    async with keep_act(settings) as history:
        with busy(path):
            await history.record_ruling(ruling)
            assert history.fault
        # free again before the close
    assert [found.event_id for found in await HistoryReader(path).new_rulings()] == ["e1"]
    with pytest.raises(MachineError, match=r"not recorded: history .*locked"), busy(path):
        async with keep_act(settings) as history:
            await history.record_ruling(ruling)
