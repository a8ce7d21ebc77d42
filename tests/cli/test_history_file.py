"""`livedeck past check|vacuum|prune|export|salvage`: true output, also beside running decks, and no lost rows."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from cli.commands import called, livedeck
from livedeck.monitor import ActionKind, Alarm, AlarmAction, History, HistoryReader, Severity
from livedeck.presentation.documents import DOCUMENTS
from monitor.recordings import NOW, everything, readings, snapshot, ticking

HOURS = 2
SAMPLES = HOURS * 1800


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """History of two hours of two events, with an alarm, its action and a marker each."""
    path = tmp_path_factory.mktemp("whole") / "deck.sqlite"
    asyncio.run(_write(path))
    return path


async def _write(path: Path) -> None:
    history = await History.open(path, NOW)
    given = snapshot({name: readings(ticking(SAMPLES, start=10 * index)) for index, name in enumerate(("one", "two"))})
    alarms = tuple(
        Alarm(name, "BLACKOUT", Severity.CRITICAL, NOW, name, "0", "1", changed=NOW) for name in ("one", "two")
    )
    await history.append(type(given)(0, NOW, given.link, given.events, alarms=alarms))
    for alarm in alarms:
        uid = alarm.event_id * 8
        history.record_alarm_action(
            AlarmAction(uid, alarm.key, NOW, ActionKind.ACKNOWLEDGE, NOW, "anna@desk:1", Severity.CRITICAL)
        )
        await history.mark(alarm.event_id, NOW + timedelta(hours=1), "goal")
    await history.close()


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """Copy that a test may change."""
    return Path(shutil.copy(whole, tmp_path / "deck.sqlite"))


def history(home: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the whole output."""
    done = called(home, "past", *arguments)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments", [("check",), ("prune", "--before", "-1d", "--yes"), ("prune", "--event", "one", "--yes")], ids=" ".join
)
def test_an_empty_file_is_named_as_empty_with_what_to_do(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "empty.sqlite"
    path.touch()
    code, text = history(tmp_path, *arguments, "--history", str(path))
    assert (code, f"{path}: it is empty: name another file, or start a deck" in text) == (1, True), text
    assert path.stat().st_size == 0


def count(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_sound_file_is_said_to_be_with_what_is_kept_of_whom(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    code, text = history(tmp_path, "check", "--history", str(path))
    assert (code, text.splitlines()[-1]) == (0, "the file is sound")
    assert f"2026-03-01 12:00:00Z to 2026-03-01 13:59:58Z  {SAMPLES:,} samples" in text
    code, text = history(tmp_path, "check", "--json", "--history", str(path))
    found: Any = TypeAdapter(DOCUMENTS["past check"]).validate_python(json.loads(text), strict=True)
    assert (code, found["sound"], found["faults"], found["unreadable_rows"]) == (0, True, [], {})
    assert sum(stream["samples"] for event in found["events"] for stream in event["streams"]) >= SAMPLES
    assert found["size"] >= found["free"] >= 0
    assert path.read_bytes() == before


def test_what_is_wrong_with_a_file_is_said(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE journal SET body = 'rotten' WHERE kind = 'marker'")
    code, text = history(tmp_path, "check", "--history", str(path))
    assert (code, "cannot be read: 2 log entries" in text) == (6, True)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    code, text = history(tmp_path, "check", "--history", str(path))
    assert (code, "damaged: " in text) == (6, True)
    path.write_bytes(b"no database\n" * 400)
    assert history(tmp_path, "check", "--history", str(path))[0] == 1


def test_pruning_says_what_goes_and_deletes_that_and_no_more(path: Path, tmp_path: Path) -> None:
    asked = history(tmp_path, "prune", "--before", "2026-03-01T13:00Z", "--history", str(path))
    assert (asked[0], "Add --yes" in asked[1]) == (2, True)
    assert count(path, "sample") == 2 * SAMPLES
    assert history(tmp_path, "prune", "--event", "one", "-y", "--history", str(path))[0] == 0
    assert {count(path, f"{table} WHERE event = 'one'") for table in ("alarm", "answer")} == {0}
    assert count(path, "journal WHERE topic = 'one'") == 0
    assert count(path, "journal WHERE topic = 'two' AND kind = 'marker'") == count(path, "alarm") == 1
    assert count(path, "sample") == SAMPLES
    code, text = history(tmp_path, "prune", "--before", "2026-03-01T13:00Z", "-y", "--history", str(path))
    assert (code, count(path, "sample")) == (0, 1805)  # the second began ten seconds late
    assert f"deleted: {SAMPLES - 1805:,} samples" in text
    assert f"to be deleted: all data before 2026-03-01 13:00Z: {SAMPLES - 1805:,} samples" in text
    assert count(path, "journal WHERE kind = 'marker'") == 1
    assert "no event" in history(tmp_path, "prune", "--event", "three", "-y", "--history", str(path))[1]


def test_the_room_of_what_was_pruned_is_given_back_while_a_deck_goes_on(path: Path, tmp_path: Path) -> None:
    async def write() -> None:
        await deck.append(snapshot({"one": readings(ticking(SAMPLES + 5))}))
        await deck.flush()
        assert (deck.fault, len(await everything(deck))) == ("", SAMPLES + 5)
        await deck.close()

    with asyncio.Runner() as runner:
        deck = runner.run(History.open(path, NOW))
        history(tmp_path, "prune", "--event", "two", "-y", "--history", str(path))
        before = path.stat().st_size
        code, text = history(tmp_path, "vacuum", "--history", str(path))
        assert (code, " before, " in text) == (0, True)
        assert path.stat().st_size < 0.7 * before
        runner.run(write())
    assert history(tmp_path, "check", "--history", str(path))[0] == 0


def test_a_recording_holds_what_was_asked_for_in_one_file_that_no_deck_writes_to(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "show.livedeck"
    arguments = ("export", "one", "--from", "2026-03-01T12:30Z", "--to", "2026-03-01T13:30Z", "-o", str(target))
    code, text = history(tmp_path, *arguments, "--history", str(path))
    assert (code, "1,800 samples" in text) == (0, True)
    assert [file.name for file in tmp_path.glob("show*")] == ["show.livedeck"]
    assert b'"two"' not in target.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o600
    assert (history(tmp_path, *arguments, "--history", str(path))[0], target.exists()) == (
        2,
        True,
    )  # --force replaces it
    before = target.read_bytes()

    async def session() -> None:
        deck = await History.open(target, NOW)
        await deck.append(snapshot({"one": readings(ticking(10))}))
        await deck.flush()
        assert "a recording cannot be changed" in deck.fault
        await deck.close()
        rows = (await HistoryReader(target).recorded({"one": "stream-one"}, 4e9))["one"].readings
        assert (rows.time[0], rows.time[-1]) == (NOW.timestamp() + 1800, NOW.timestamp() + 5398)
        assert [marker.text for marker in await HistoryReader(target).markers("one")] == ["goal"]

    asyncio.run(session())
    assert target.read_bytes() == before


def test_a_damaged_file_is_salvaged_by_hand_into_the_history(path: Path, tmp_path: Path) -> None:
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    code, text = history(tmp_path, "salvage", str(path), "--history", str(tmp_path / "new.sqlite"))
    assert (code, f"saved: {2 * SAMPLES:,} samples" in text) == (0, True)
    assert count(tmp_path / "new.sqlite", "alarm") == 2


@pytest.mark.parametrize("line", [("past", "export", "--force"), ("past", "record", "--duration", "1s", "--force")])
def test_a_target_that_is_no_file_is_named_and_not_standard_output(
    path: Path, tmp_path: Path, line: tuple[str, ...]
) -> None:
    env = {
        "LIVEDECK_HISTORY": str(path),
        "LIVEDECK_BASE_URL": "http://127.0.0.1:9",
        "LIVEDECK_TOKEN": "none-that-counts",
    }
    for target in ("/dev/full", str(tmp_path)):
        done = livedeck(tmp_path, *line, "-o", target, env=env)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"livedeck: {target}: ")
    report = livedeck(tmp_path, "past", "report", "--day", "today", "-o", "/dev/full", env=env)
    assert (report.returncode, "/dev/full is not a folder" in report.stderr) == (2, True)
    page = tmp_path / "report.html"
    report = livedeck(tmp_path, "past", "report", "--day", "today", "--format", "html", "-o", str(page), env=env)
    assert (report.returncode, f"{page} is not a folder" in report.stderr, page.exists()) == (2, True, False)
