"""A recording gives the same alarms when it is judged again; with other limits it says that it differs.

Every file of `recordings` is an incident whose alarms must stay the same (recipes.md, "A recording as a test").
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.commands import called, livedeck
from cli.terminals import terminal
from golden.player import START, record
from livedeck.cli.wiring import SystemClock
from livedeck.monitor import Limits, Playback, Thresholds, with_overrides
from livedeck.monitor.history.maintenance import known_events
from livedeck.monitor.history.recording import export
from livedeck.monitor.judging import Judgement, judge
from livedeck.monitor.published.codec import encode
from livedeck.monitor.published.difference import Values
from livedeck.simulator import scenario_names

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.livedeck"))
UNDATED = {"frozen-qos", "platform-outage", "future-samples", "late-metrics", "missing-values", "big-workspace"}
"""Scenarios about the replies of the platform, which no recording holds, and one that takes minutes."""


def judged(path: Path, limits: Limits | None = None) -> Judgement:
    found = asyncio.run(judge(path, limits))
    assert found
    return found


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_what_was_told_then_is_told_today(path: Path, tmp_path: Path) -> None:
    """Of a copy: reading must not change the file."""
    found = judged(Path(shutil.copy(path, tmp_path)))
    assert found.alarms
    assert [comparison for comparison in found.alarms if comparison.differences] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*scenario_names()} - UNDATED))
def test_the_recording_of_a_scenario_tells_its_alarms_again(name: str, tmp_path: Path) -> None:
    record(name, 1, tmp_path / "deck.sqlite")
    export(tmp_path / "deck.sqlite", tmp_path / "show.livedeck")
    assert [comparison for comparison in judged(tmp_path / "show.livedeck").alarms if comparison.differences] == []


@pytest.mark.slow
def test_a_rate_below_the_preset_is_compared_where_the_recording_holds_the_presets(tmp_path: Path) -> None:
    path, kind = tmp_path / "show.livedeck", "VIDEO_BELOW_PRESET"
    record("frozen-picture", 1, tmp_path / "deck.sqlite")
    export(tmp_path / "deck.sqlite", path)
    found = judged(path)
    (comparison,) = (pair for pair in found.alarms if (pair.then or pair.today).key.kind == kind)  # type: ignore[union-attr]
    assert comparison.differences == ()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE journal SET body = json_remove(body, '$.presets') WHERE kind = 'event'")
    older = judged(path)
    assert older.unjudged == found.unjudged + 1, "an older version recorded no presets"
    assert [pair for pair in older.alarms if pair.differences] == []


def test_what_is_told_otherwise_today_is_said(tmp_path: Path) -> None:
    path = RECORDINGS[0]
    silent = with_overrides(Thresholds(), {"content": "silent"})
    (comparison,) = judged(path, Limits(silent)).alarms
    assert comparison.differences == ("would not be raised now",)
    other = Path(shutil.copy(path, tmp_path / "other.livedeck"))
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("""UPDATE journal SET body = replace(body, '"critical"', '"warning"') WHERE kind = 'alarm'""")
    (comparison,) = judged(other).alarms
    assert comparison.differences == ("would now be critical",)
    done = called(tmp_path, "past", "replay", str(other), "--judge")
    assert (done.returncode, "would now be critical" in done.stdout) == (6, True)


def test_alarms_that_cannot_be_compared_are_counted_and_alone_they_are_no_agreement(tmp_path: Path) -> None:
    other = Path(shutil.copy(RECORDINGS[0], tmp_path / "other.livedeck"))
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("UPDATE journal SET body = replace(body, 'AUDIO_LOST', 'API_BLIND') WHERE kind = 'alarm'")
    done = called(
        tmp_path, "past", "replay", str(other), "--judge", env={"LIVEDECK_THRESHOLDS": '{"content": "silent"}'}
    )
    words = "0 same, 0 different; not compared: 1 of kinds that a recording cannot show"
    assert (done.returncode, done.stdout.strip().endswith(words)) == (6, True)


def test_what_was_published_is_in_a_recording_of_all_events_and_of_one_without_the_others(tmp_path: Path) -> None:
    """Two moments of it: before the fault, and within."""
    history, whole, part = (tmp_path / name for name in ("deck.sqlite", "whole.livedeck", "part.livedeck"))
    record("audio-lost", 1, history)
    (event,) = (event for event in known_events(history) if event.name == "Main stage")
    export(history, whole)
    export(history, part, event_ids=[event.id])
    for at in (START + timedelta(seconds=20), START + timedelta(seconds=70)):
        then, kept = (asyncio.run(shown(path, at)) for path in (history, part))
        assert asyncio.run(shown(whole, at)) == then
        assert kept["alarms"] == then["alarms"]
        assert kept["events"] == {event.id: then["events"][event.id]}
        assert len(then["events"]) > 1
    assert then["alarms"]


class NextDay(SystemClock):
    """Clock of a machine on the day after the scenario."""

    def now(self) -> datetime:
        return START + timedelta(days=1)


async def shown(path: Path, at: datetime) -> Values:
    """Return the published snapshot of a moment from the file, as values."""
    playback = await Playback.open(path, NextDay(), at)
    try:
        return encode(playback.snapshot).values
    finally:
        await playback.close()


def test_on_an_empty_machine_it_tells_the_same_and_nothing_is_written(tmp_path: Path) -> None:
    """Without settings, account or token, by a process of its own; the file is read-only, and so is its folder."""
    shown = tmp_path / "shown"
    shown.mkdir()
    path = Path(shutil.copy(RECORDINGS[0], shown))
    before = path.read_bytes()
    home = tmp_path / "home"
    home.mkdir()
    done = livedeck(home, "past", "replay", str(path), "--judge")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith("1 same, 0 different")
    assert (path.read_bytes(), [file.name for file in shown.iterdir()]) == (before, [path.name])


def test_in_the_deck_of_an_empty_machine_it_shows_the_alarm_and_writes_nothing(tmp_path: Path) -> None:
    """On a real terminal; no account, no token, no address."""
    if datetime.now(UTC) < START + timedelta(minutes=5):
        pytest.skip("by the clock of this machine the scenario is yet to come")
    shown, home = tmp_path / "shown", tmp_path / "home"
    shown.mkdir()
    home.mkdir()
    path = Path(shutil.copy(RECORDINGS[0], shown))
    before = path.read_bytes()
    with terminal(home, "past", "replay", str(path), "--at", "2026-11-21T09:01:10Z", size=(120, 40)) as deck:
        deck.until("PAST")
        deck.until("AUDIO_LOST  audio 0")
        deck.press("q")
        assert deck.ended() == 0
    assert (path.read_bytes(), [file.name for file in shown.iterdir()]) == (before, [path.name])
    assert [*home.rglob("*.sqlite*")] == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no recording\n" * 40, "not a history or recording"),
        (Path.mkdir, "it is a folder"),
        (os.mkfifo, "not a regular file"),
        (None, "no such file"),
        (b"", "it is empty"),
        (60, "a newer version of livedeck made it"),
        (4096, "it is damaged: run `livedeck past salvage`"),
    ],
)
def test_a_file_that_cannot_be_replayed_is_told_why(
    content: bytes | int | Callable[[Path], None] | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "show.livedeck"
    if callable(content):
        content(path)
    elif isinstance(content, int):
        whole = bytearray(RECORDINGS[0].read_bytes())
        end = len(whole) if content > 100 else content + 4
        whole[content:end] = (99).to_bytes(4) if content == 60 else b"\xff" * (end - content)
        path.write_bytes(whole)
    elif content is not None:
        path.write_bytes(content)
    done = called(tmp_path, "past", "replay", str(path), "--judge")
    assert (done.returncode, words in done.stderr) == (1, True)
