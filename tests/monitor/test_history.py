"""Measurements and actions are stored once and come back; faults of the file are reported and stop nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from math import ceil, isnan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
from pydantic import TypeAdapter
from structlog.testing import capture_logs

from livedeck.client import Secret, SecretLink, SignedLink
from livedeck.monitor import (
    ActionRecord,
    Alarm,
    AlarmChange,
    AlarmState,
    AlarmTransition,
    AuditOutcome,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Diagnosis,
    FieldChange,
    History,
    MaterialRecord,
    NotificationRecord,
    Reading,
    Severity,
)
from livedeck.monitor.history.database import Database, set_aside
from monitor.recordings import NOW, ROUND, everything, locked, newest, readings, snapshot, ticking
from monitor.stage import signal

HOUR = 3600.0
DAY = timedelta(days=1)
Open: TypeAlias = Callable[..., Awaitable[History]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of the history."""
    return tmp_path / "history" / "deck.sqlite"


@pytest.fixture
def spoilt(path: Path) -> Callable[[bytes], None]:
    """Function that writes bytes to the path, readable for everybody."""

    def write(content: bytes) -> None:
        path.parent.mkdir()
        path.write_bytes(content)
        path.chmod(0o644)

    return write


def modes(folder: Path) -> dict[str, int]:
    """Return file name -> permissions."""
    return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    """Return file name -> bytes."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def overwrite(path: Path, start: int) -> None:
    """Overwrite the file with rubbish from a place on."""
    whole = path.read_bytes()
    path.write_bytes(whole[:start] + b"\xff" * (len(whole) - start))


def spoil(path: Path, table: str) -> None:
    """Overwrite the first page of a table with rubbish."""
    with changing(path) as db:
        ((size,),) = db.execute("PRAGMA page_size")
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table])
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield the file, for changes by another program."""
    with closing(sqlite3.connect(path)) as db, db:
        yield db


Meanwhile: TypeAlias = Callable[[str, Callable[[], None]], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Function that runs some code once, right before the first statement with a given beginning."""

    def prepare(before: str, work: Callable[[], None]) -> None:
        waiting = [work]

        class Watched(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                if waiting and sql.strip().startswith(before):
                    waiting.pop()()
                return super().execute(sql, *values)

        monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))

    return prepare


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[Open]:
    """Function that opens histories.

    At the end of the test, closes them and waits for their salvages, which log at their end.
    """
    histories: list[History] = []

    async def make(at: Path | None = path, now: datetime = NOW, **options: Any) -> History:
        histories.append(await History.open(at, now, **options))
        return histories[-1]

    yield make
    for history in histories:
        await history.close()
        await history.salvaged()


async def kept(history: History, *rows: Reading, at: float = 0.0) -> None:
    """Append samples of event `one`, and wait until the history has tried to store them."""
    await history.append(snapshot({"one": readings(rows)}, at))
    await history.flush()


def alarm(kind: str = "BLACKOUT", event_id: str = "one", **fields: Any) -> Alarm:
    texts = {"subject": "Evening", "actual": "0", "expected": "4.5M"}
    return Alarm(event_id, kind, Severity.CRITICAL, NOW, changed=NOW, **{**texts, **fields})


@pytest.mark.parametrize("in_memory", [True, False])
async def test_samples_come_back_as_they_were_measured(opened: Open, path: Path, in_memory: bool) -> None:
    """Missing stays missing, zero stays zero."""
    history = await opened(None if in_memory else path)
    start = NOW.timestamp()
    rows = [
        Reading(start, 4_500_000, 128_000, 29.97, 0),
        Reading(start + 2, 0, 0, 0, 5),
        Reading(start + 4.5, None, None, None, None),
        Reading(start + 6.001, 60_000_000, 320_000, 60, 7),
    ]
    await kept(history, *rows)
    assert await everything(history) == rows
    assert history.fault == ""
    assert await everything(history, "nobody") == []


async def test_what_was_kept_is_there_after_a_restart(opened: Open) -> None:
    before = await opened()
    await kept(before, *ticking(300))
    await before.close()
    assert await everything(await opened()) == ticking(300)


async def test_a_sample_is_stored_once_however_often_it_is_answered(opened: Open) -> None:
    history = await opened()
    for end in (50, 51, 51, 80):
        await kept(history, *ticking(80)[end - 50 : end])
    again = await opened()
    await kept(again, *ticking(80)[20:])
    assert await everything(again) == ticking(80)
    (stream,) = await again.streams("one")
    assert (stream.stream_id, stream.samples) == ("stream-one", 80)
    assert (stream.first, stream.last) == (NOW, NOW + timedelta(seconds=158))


async def test_a_late_sample_finds_its_place_and_a_corrected_one_replaces_the_first(opened: Open) -> None:
    history = await opened()
    rows = ticking(200)
    late, wrong = rows[20], rows[150]._replace(video=1.0)
    given = [row for row in rows if row is not late]
    await kept(history, *given[:149], wrong, *given[150:])
    assert len(await everything(history)) == 199
    await kept(history, *rows)
    assert await everything(history) == rows
    buckets = await history.series("one", "stream-one", NOW.timestamp(), NOW.timestamp() + 360, 2)
    assert list(buckets.count) == [90] * 2, "what was rolled up before knows of it"
    assert list(buckets.video.low)[1] == rows[90].video


async def test_late_samples_corrections_and_pauses_are_told_as_a_table_in_memory_tells_them(opened: Open) -> None:
    """Tick by tick, with late and corrected samples and pauses; what it tells is what a table in memory tells."""
    history = await opened()
    random = Random(5)
    told: dict[float, Reading] = {}
    rows = [row for row in ticking(700) if random.random() < 0.95]
    for end in range(1, len(rows), 7):
        late = random.choice(rows[max(0, end - 40) : end])
        told[late.time] = late._replace(video=float(random.randint(0, 9)), status=5)
        told |= {row.time: row for row in rows[max(0, end - 7) : end] if random.random() < 0.95}
        await kept(history, *(told[time] for time in sorted(told)))
    expected = [told[time] for time in sorted(told)]
    assert await everything(history) == expected
    assert await newest(history, 200, expected[-4].time) == expected[-203:-3]
    (stream,) = await history.streams("one")
    assert stream.samples == len(expected)
    assert (stream.first.timestamp(), stream.last.timestamp()) == (expected[0].time, expected[-1].time)
    start = NOW.timestamp()
    for columns in (3, 70):
        buckets = await history.series("one", "stream-one", start, start + 1260, columns)
        within = [row for row in expected if row.time < start + 1260]
        assert sum(buckets.count) == len(within)
        assert sum(buckets.statuses[5]) == sum(row.status == 5 for row in within)
        assert min(buckets.video.low) == min(row.video or 0.0 for row in within)


async def test_two_decks_share_a_file_and_store_each_sample_once(opened: Open) -> None:
    first, second = await opened(), await opened()
    rows = ticking(120)
    for end in range(20, 120, 10):
        for deck in (first, second):
            await deck.append(snapshot({"one": readings(rows[:end])}))
        await first.mark("one", NOW, f"{end}")
        await second.mark("one", NOW, f"{end}")
    for deck in (first, second):
        await deck.flush()
        assert deck.fault == ""
        assert await everything(deck) == rows[:110]
        assert len(await deck.markers("one")) == 20


async def test_a_gap_is_a_gap(opened: Open) -> None:
    history = await opened()
    await kept(history, *ticking(30), *ticking(30, start=120))
    buckets = await history.series("one", "stream-one", NOW.timestamp(), NOW.timestamp() + 180, 9)
    assert list(buckets.count) == [10, 10, 10, 0, 0, 0, 10, 10, 10]
    for band in (buckets.video, buckets.audio, buckets.fps):
        for column in (band.low, band.high):
            assert [isnan(value) for value in column] == [count == 0 for count in buckets.count]
    assert list(buckets.status) == [0, 0, 0, -1, -1, -1, 0, 0, 0]
    nothing = await history.series("one", "another", 0, 100, 5)
    assert list(nothing.count) == [0] * 5


@pytest.mark.parametrize(("columns", "span"), [(40, HOUR), (7, HOUR), (30, HOUR), (12, 2 * HOUR)])
async def test_every_column_tells_what_its_samples_tell(opened: Open, columns: int, span: float) -> None:
    """From slots of a minute where a column is one or more, from samples where it is less."""
    history = await opened()
    random = Random(columns)
    rows = [
        row._replace(
            video=random.choice([None, 0, random.randint(0, 9_000_000)]),
            status=random.choice([0, 0, 0, 3, 4, 5, 8, None]),
        )
        for row in ticking(int(span / 2))
        if random.random() < 0.9
    ]
    for end in range(300, len(rows) + 300, 300):
        await kept(history, *rows[max(0, end - 900) : end])
    start = NOW.timestamp()
    buckets = await history.series("one", "stream-one", start, start + span, columns)
    edges = [start + span / columns * index for index in range(columns + 1)]
    if span / columns >= 60:
        edges = [start + 60.0 * ceil((edge - start) / 60) for edge in edges]
    for index, (first, after) in enumerate(pairwise(edges)):
        within = [row for row in rows if first <= row.time < after]
        assert buckets.count[index] == len(within)
        video = [row.video for row in within if row.video is not None]
        assert (buckets.video.low[index], buckets.video.high[index]) == (min(video), max(video))
        statuses = [row.status for row in within if row.status is not None]
        assert buckets.status[index] == max(statuses, key=[0, 8, 3, 4, 5].index)
        for status, counts in buckets.statuses.items():
            assert counts[index] == statuses.count(status)


async def test_a_restart_knows_the_newest_samples(opened: Open) -> None:
    history = await opened()
    await kept(history, *ticking(100))
    assert await newest(history, 3, 4e9) == ticking(100)[-3:]


@pytest.mark.parametrize("count", [1, 91])
async def test_the_newest_samples_until_a_moment_are_those_before_it(opened: Open, count: int) -> None:
    """Though the slot in which it ends has later ones alone."""
    history = await opened()
    rows = [*ticking(180), *ticking(180, start=370)]
    await kept(history, *rows)
    assert await newest(history, count, NOW.timestamp() + 365) == rows[180 - count : 180]


async def test_the_logs_tell_what_became_of_alarms_and_of_the_link(opened: Open) -> None:
    history = await opened()
    raised = AlarmChange(NOW, AlarmTransition.RAISED, alarm(diagnosis=Diagnosis("camera lost")))
    of_other = AlarmChange(
        NOW + timedelta(seconds=9), AlarmTransition.CLEARED, alarm("FPS_LOW", "two", state=AlarmState.CLEARED)
    )
    blind = ConnectionStatus(ConnectionState.BLIND, NOW, "no answer", problem=ConnectionProblem.NO_ANSWER)
    for changes, link in (((raised,), None), ((), None), ((of_other,), blind)):
        await history.append(snapshot({}, changes=changes, link=link))
    await history.flush()
    log = await history.alarm_log(NOW)
    assert [(one.event_id, one.kind, one.turn) for one in log] == [
        ("one", "BLACKOUT", AlarmTransition.RAISED),
        ("two", "FPS_LOW", AlarmTransition.CLEARED),
    ]
    assert log[0].cause == "camera lost"
    assert await history.alarm_log(NOW, "one") == log[:1]
    assert await history.alarm_log(NOW + timedelta(seconds=1)) == log[1:]
    assert [(one.state, one.why) for one in await history.connection_log(NOW)] == [
        (ConnectionState.OK, ""),
        (ConnectionState.BLIND, "no answer"),
    ]


async def test_an_outage_that_two_decks_see_is_told_once_and_two_outages_of_one_are_two(opened: Open) -> None:
    """Each asks the platform in its own time, and has its own words for what it met."""
    first, second = await opened(), await opened()

    async def tell(history: History, seconds: float, state: ConnectionState, why: str = "") -> None:
        link = ConnectionStatus(state, NOW + timedelta(seconds=seconds), why)
        await history.append(snapshot({}, seconds, link=link))
        await history.flush()

    for history, later, why in ((first, 0, "no answer"), (second, 4, "refused")):
        await tell(history, later, ConnectionState.OK)
        await tell(history, later + 100, ConnectionState.BLIND, why)
    await tell(first, 400, ConnectionState.OK)
    await tell(second, 401, ConnectionState.OK)
    for seconds, state in ((410, ConnectionState.BLIND), (412, ConnectionState.OK)):
        await tell(first, seconds, state)
    turns = [(record.at, record.state, record.why) for record in await second.connection_log(NOW)]
    assert turns == [
        (NOW + timedelta(seconds=seconds), state, why)
        for seconds, state, why in (
            (0, ConnectionState.OK, ""),
            (100, ConnectionState.BLIND, "no answer"),
            (400, ConnectionState.OK, ""),
            (410, ConnectionState.BLIND, ""),
            (412, ConnectionState.OK, ""),
        )
    ]


async def test_what_people_did_and_were_told_comes_back(opened: Open) -> None:
    history = await opened()
    edits = (FieldChange("title", "Evening", "Morning"),)
    action = ActionRecord(NOW, "event.edit", "event", "one", "Evening", AuditOutcome.APPLIED, "200", edits)
    told = NotificationRecord(NOW, Severity.INFO, "Saved", "the title", "one")
    await history.record_action(action)
    await history.notified(told)
    await history.mark("one", NOW, "goal")
    await history.mark("two", NOW, "another")
    assert await history.audit(NOW - DAY) == (action,)
    assert await history.audit(NOW + DAY) == ()
    assert await history.notifications(NOW) == (told,)
    assert [(one.at, one.text) for one in await history.markers("one")] == [(NOW, "goal")]


async def test_materials_are_remembered_until_they_are_deleted_and_by_no_retention_forgotten(opened: Open) -> None:
    """platform-api.md, "Missing operations"."""
    history = await opened(retention_days=1)
    slides, poster = (MaterialRecord(name, "video", name, f"{name}.pdf", NOW) for name in ("slides", "poster"))
    for material in (slides, poster, replace(poster, id="x", video_id="other")):
        await history.remember_material(material)
    await history.forget_material("poster")
    later = await opened(now=NOW + 90 * DAY, retention_days=1)
    await kept(later, at=90 * DAY.total_seconds())
    assert await later.materials("video") == (slides,)


async def test_alarms_come_back_as_they_stood(opened: Open) -> None:
    history = await opened()
    shelved = alarm(
        state=AlarmState.SHELVED, reason="test picture", shelved_until=NOW + DAY, activations=(NOW, NOW), target="r1"
    )
    raised = snapshot({}, changes=(AlarmChange(NOW, AlarmTransition.SHELVED, shelved),))
    await history.append(replace(raised, alarms=(alarm("FPS_LOW"),), quiet=(shelved,)))
    await history.append(replace(snapshot({}, 1.0), alarms=()))
    await history.close()
    assert await (await opened()).restored() == (alarm("FPS_LOW"), shelved)


async def test_what_is_older_than_the_retention_leaves_step_by_step(opened: Open) -> None:
    history = await opened(retention_days=1)
    await kept(history, *ticking(3000))
    await history.mark("one", NOW, "goal")
    later = DAY.total_seconds() + HOUR
    for step in range(20):
        await kept(history, *ticking(1, start=later + step), at=later + step)
    left = await everything(history)
    assert left[:1200] == ticking(3000)[1800:]
    buckets = await history.series("one", "stream-one", NOW.timestamp(), NOW.timestamp() + 2 * HOUR, 2)
    assert list(buckets.count) == [0, 1200]
    assert await history.markers("one") == ()


async def test_nothing_that_opens_a_door_is_in_the_file(opened: Open, path: Path) -> None:
    """trust.md, "Secrets": the canary, through every text that is kept."""
    canary = "canary-3f9a77c1d2"
    history = await opened()
    texts = (
        str(Secret(canary)),
        f"see rtmp://ingest.example/live/{canary} now",
        f"https://cdn.example/a.png?expires=1&sign={canary}",
        f"Authorization: Bearer {canary}",
        f"stream_key={canary} is too short; access_token={canary}",
        str(SignedLink(f"https://cdn.example/a?sign={canary}")),
        str(SecretLink(f"rtmps://ingest.example/x/{canary}?a=b")),
    )
    for text in texts:
        edits = (FieldChange("stream_key", text, text),)
        await history.record_action(ActionRecord(NOW, "a", "room", "r", text, AuditOutcome.REFUSED, text, edits))
        await history.notified(NotificationRecord(NOW, Severity.INFO, text, text))
        await history.mark("one", NOW, text)
        told = alarm(actual=text, expected=text, reason=text, note=text)
        link = ConnectionStatus(ConnectionState.FAILING, NOW, text, problem=ConnectionProblem.UNREADABLE)
        raised = snapshot(
            {"one": readings(signal(3))}, changes=(AlarmChange(NOW, AlarmTransition.NOTED, told),), link=link
        )
        await history.append(replace(raised, alarms=(told,)))
        await history.flush()
    assert len(await history.audit(NOW)) == len(texts)
    files = contents(path.parent)
    assert len(files) == 3
    assert not [name for name, content in files.items() if canary.encode() in content]


async def test_the_files_are_for_their_owner_alone(opened: Open, path: Path, spoilt: Callable[[bytes], None]) -> None:
    spoilt(b"")
    history = await opened()
    await kept(history, *ticking(5))
    assert modes(path.parent) == dict.fromkeys(["deck.sqlite", "deck.sqlite-wal", "deck.sqlite-shm"], 0o600)
    await history.close()
    assert modes(path.parent) == {"deck.sqlite": 0o600}, "closing leaves one tidy file"


async def test_a_full_disk_is_said_and_what_waited_is_written_once_there_is_room(opened: Open, path: Path) -> None:
    """`max_page_count` fails as a full disk does. Pruning goes on, and makes the room."""
    history = await opened(retention_days=1, limit=2**17)
    rows = ticking(20_000)
    end = 0
    while not history.fault:
        end += 500
        await kept(history, *rows[end - 500 : end])
    assert "the disk is full" in history.fault
    assert str(path) in history.fault
    assert "retention_days" in history.fault
    await history.mark("one", NOW + 3 * DAY, "said while it was full")
    assert await everything(history) == rows[: end - 500]
    later = 3 * DAY.total_seconds()
    for step in range(20):
        await kept(history, *rows[end - 500 : end], *ticking(1, start=later + step), at=later + step)
    assert history.fault == ""
    assert (await everything(history))[-1] == ticking(1, start=later + 19)[0]
    assert [one.text for one in await history.markers("one")] == ["said while it was full"]


async def test_a_locked_file_is_said_and_what_waited_is_written_once_it_is_free(opened: Open, path: Path) -> None:
    first = await opened()
    await kept(first, *ticking(50))
    await first.close()
    with locked(path):
        history = await opened()
        assert "locked" in history.fault
        assert str(path) in history.fault
        await history.append(snapshot({"one": readings(ticking(80))}))
        await history.mark("one", NOW, "said meanwhile")
        assert await everything(history) == []
    await kept(history, *ticking(90))
    assert await everything(history) == ticking(90)
    assert [one.text for one in await history.markers("one")] == ["said meanwhile"]
    assert history.fault == ""


async def test_a_file_that_is_locked_for_a_moment_calls_for_nobody(opened: Open, path: Path) -> None:
    """Other decks write to it too."""
    await (await opened()).close()
    with locked(path):
        history = await opened()
        for at, is_lasting in ((0.0, False), (9.0, False), (10.0, True)):
            await history.append(snapshot({}, at))
            assert ("locked" in history.lasting_fault) is is_lasting, at
        assert "locked" in history.fault
    await history.append(snapshot({}, 11.0))
    await history.flush()
    assert history.lasting_fault == ""


async def test_alarms_that_could_not_be_read_are_not_overwritten_before_they_are(opened: Open, path: Path) -> None:
    first = await opened()
    await first.append(
        replace(snapshot({}, changes=(AlarmChange(NOW, AlarmTransition.RAISED, alarm("OLD")),)), alarms=(alarm("OLD"),))
    )
    await first.close()
    with locked(path):
        history = await opened()
        assert await history.restored() is None
    newer = replace(
        snapshot({}, 1.0, changes=(AlarmChange(NOW, AlarmTransition.RAISED, alarm("NEW")),)), alarms=(alarm("NEW"),)
    )
    await history.append(newer)
    await history.flush()
    assert await history.restored() == (alarm("OLD"),)
    await history.append(replace(newer, alarms=(alarm("OLD"), alarm("NEW"))))
    await history.flush()
    assert await history.restored() == (alarm("OLD"), alarm("NEW"))


async def test_what_waits_is_bounded_and_the_newest_stays(opened: Open, path: Path) -> None:
    await (await opened()).close()
    with locked(path):
        history = await opened()
        for turn in range(3):
            changes = tuple(
                AlarmChange(NOW + timedelta(seconds=turn), AlarmTransition.RAISED, alarm(str(number)))
                for number in range(4000)
            )
            await history.append(snapshot({}, changes=changes))
        await history.flush()
    await history.flush()
    log = await history.alarm_log(NOW)
    assert len(log) + len(await history.connection_log(NOW)) == 10_000
    assert log[-1].kind == "3999"


@pytest.mark.parametrize(
    "damage", [b"this is no database, it never was one\n" * 500, b"SQLite format 3\0" + b"\7" * 9000]
)
async def test_a_corrupt_file_is_set_aside_and_said_and_a_new_one_begun(
    opened: Open, path: Path, spoilt: Callable[[bytes], None], damage: bytes
) -> None:
    spoilt(damage)
    history = await opened()
    aside = "deck.sqlite.corrupt-20260301T120000Z"
    assert contents(path.parent)[aside] == damage
    assert "corrupt" in history.fault
    assert aside in history.fault
    await kept(history, *ticking(10))
    assert await everything(history) == ticking(10)


async def test_a_file_that_breaks_while_it_is_used_is_set_aside_and_its_newest_samples_are_not_lost(
    opened: Open, path: Path
) -> None:
    before = await opened()
    await kept(before, *ticking(3000))
    await before.close()
    overwrite(path, 8192)
    history = await opened()
    await kept(history, *ticking(3000)[2000:])
    assert "corrupt" in history.fault
    assert len(list(path.parent.glob("*.corrupt-*"))) == 1
    assert await everything(history) == ticking(3000)[2000:]


async def test_a_file_whose_newest_samples_cannot_be_counted_is_set_aside(opened: Open, path: Path) -> None:
    """The file opens, and the first question to it fails."""
    before = await opened()
    await kept(before, *ticking(50))
    await before.close()
    spoil(path, "sample")
    history = await opened()
    await kept(history, *ticking(60))
    assert "it was corrupt" in history.fault
    assert await everything(history) == ticking(60)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("CREATE TABLE theirs (a)", "another program"),
        (
            "CREATE TABLE ours (a); PRAGMA application_id = 0x6C646869; PRAGMA user_version = 99",
            "newer version of livedeck",
        ),
    ],
)
async def test_a_database_that_is_not_ours_is_left_alone(
    opened: Open, path: Path, spoilt: Callable[[bytes], None], script: str, words: str
) -> None:
    spoilt(b"")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    before = contents(path.parent)
    history = await opened()
    await kept(history, *ticking(10))
    assert words in history.fault
    assert "set `history`" in history.fault
    assert contents(path.parent) == before


async def test_a_file_of_an_older_livedeck_is_set_aside_and_said_and_a_new_one_begun(
    opened: Open, path: Path, spoilt: Callable[[bytes], None]
) -> None:
    spoilt(b"")
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE ours (a); PRAGMA application_id = 0x6C646869; PRAGMA user_version = 2")
    history = await opened()
    assert "an older version of livedeck made it" in history.fault
    assert "deck.sqlite.older-20260301T120000Z" in history.fault
    assert "deck.sqlite.older-20260301T120000Z" in contents(path.parent)
    await kept(history, *ticking(10))
    assert await everything(history) == ticking(10)


@pytest.mark.parametrize("is_rotten", [False, True])
async def test_a_file_of_the_schema_before_is_gone_on_with(opened: Open, path: Path, is_rotten: bool) -> None:
    """Where all alarms were one text: a person who put one out of service must not hear it again."""
    before = (alarm(state=AlarmState.OUT_OF_SERVICE, reason="no camera"), alarm("FPS_LOW", needs_ack=False))
    history = await opened()
    await kept(history, *ticking(10))
    await history.close()
    text = TypeAdapter(tuple[Alarm, ...]).dump_json(before, by_alias=True).decode()
    with changing(path) as db:
        db.executescript(
            "DROP TABLE alarm; DROP TABLE answer; DROP TABLE learnt; DROP TABLE published; DROP TABLE late; "
            "DROP TABLE recent"
        )
        db.execute("PRAGMA user_version = 3")
        db.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY CHECK (id = 1), alarms TEXT NOT NULL)")
        db.execute("INSERT INTO kept VALUES (1, ?)", [text[is_rotten:]])
    again = await opened()
    assert again.fault == ""
    assert await again.restored() == (() if is_rotten else before)
    assert await everything(again) == ticking(10)


@pytest.mark.parametrize("before", ["SELECT count", "PRAGMA application_id", "PRAGMA user_version"])
async def test_two_decks_make_a_file_at_once(opened: Open, path: Path, meanwhile: Meanwhile, before: str) -> None:
    meanwhile(before, lambda: Database(path).close())
    history = await opened()
    assert history.fault == ""
    await kept(history, *ticking(10))
    assert history.fault == ""
    assert await everything(history) == ticking(10)


@pytest.mark.parametrize("again", [False, True])
async def test_a_file_that_is_set_aside_while_it_is_opened_is_left(
    opened: Open, path: Path, meanwhile: Meanwhile, again: bool
) -> None:
    """By another deck, which may have begun a new one already: what comes is for that, or for one of ours."""

    def leave() -> None:
        set_aside(path, NOW)
        if again:
            Database(path).close()

    meanwhile("PRAGMA synchronous", leave)
    history = await opened()
    await kept(history, *ticking(10))
    assert history.fault == ""
    assert await everything(history) == ticking(10)
    with changing(path) as db:
        assert db.execute("SELECT count(*) FROM recent").fetchall() == [(10,)]


async def test_pruning_that_fails_is_logged(opened: Open, path: Path) -> None:
    history = await opened(retention_days=1)
    await kept(history, *ticking(500))
    with changing(path) as db:
        db.execute("CREATE TRIGGER no BEFORE DELETE ON sample BEGIN SELECT raise(ABORT, 'no way'); END")
    with capture_logs() as logs:
        await kept(history, *ticking(1, start=2 * DAY.total_seconds()), at=2 * DAY.total_seconds())
    assert ["no way" in line["why"] for line in logs] == [True]
    assert len(await everything(history)) == 501


async def test_a_record_that_has_rotted_is_left_out(opened: Open, path: Path) -> None:
    """A deck that begins with it must begin."""
    history = await opened()
    for text in ("goal", "throw-in"):
        await history.mark("one", NOW, text)
    raised = AlarmChange(NOW, AlarmTransition.RAISED, alarm())
    await history.append(replace(snapshot({}, changes=(raised,)), alarms=(alarm(), alarm("FPS_LOW"))))
    await history.flush()
    with changing(path) as db:
        db.execute("UPDATE alarm SET body = substr(body, 3) WHERE kind = 'BLACKOUT'")
        db.execute("UPDATE journal SET body = substr(body, 3) WHERE body LIKE '%goal%'")
    assert await history.restored() == (alarm("FPS_LOW"),)
    assert history.fault == ""
    assert [one.text for one in await history.markers("one")] == ["throw-in"]


async def test_a_place_where_no_file_can_be_is_said(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "deck.sqlite", tmp_path):
        history = await opened(place)
        await kept(history, *ticking(10))
        assert str(place) in history.fault
        assert "set `history`" in history.fault
        assert await everything(history) == []


async def test_a_file_that_vanished_is_made_anew(opened: Open, path: Path) -> None:
    history = await opened()
    await kept(history, *ticking(10))
    for file in path.parent.iterdir():
        file.unlink()
    await kept(history, *ticking(20))
    assert history.fault == ""
    assert await everything(history) == ticking(20)


async def outcome(path: Path, *arguments: object) -> Any:
    """Return the output of `recordings.py`."""
    command = [sys.executable, str(Path(__file__).parent / "recordings.py"), str(path), *map(str, arguments)]
    places = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")])
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, "PYTHONPATH": places}, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return json.loads(said.splitlines()[-1])  # the log goes before it


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that everybody can reach; the test's own folders are for its user alone."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def belongs_to_nobody(path: Path) -> None:
    """Make the file readable for its owner only, who is nobody."""
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    path.chmod(0o400)


async def test_a_file_that_may_not_be_written_is_said(opened: Open, open_folder: Path) -> None:
    path = open_folder / "deck.sqlite"
    before = await opened(path)
    await kept(before, *ticking(5))
    await before.close()
    belongs_to_nobody(path)
    fault = await outcome(path, "fault")
    assert str(path) in fault
    assert "set `history` to another file" in fault


async def test_no_committed_sample_is_lost_by_a_kill_and_none_is_there_twice(opened: Open, path: Path) -> None:
    """Fifty rounds of kill -9 (acceptance of issue 5): the file opens, and between two rounds is a gap."""
    rounds = 50
    safe = await outcome(path, rounds)
    assert len(safe) == rounds
    assert [file.name for file in path.parent.glob("*corrupt*")] == []
    history = await opened()
    found = await everything(history)
    assert history.fault == ""
    assert len({row.time for row in found}) == len(found)
    for turn, count in enumerate(safe):
        rows = [row for row in found if ROUND * turn <= row.time - NOW.timestamp() < ROUND * (turn + 1)]
        assert rows == ticking(len(rows), start=turn * ROUND, every=0.5)
        assert count <= len(rows) <= count + 1
    (stream,) = await history.streams("one")
    assert stream.samples == len(found)
    assert stream.first == NOW.astimezone(UTC)
