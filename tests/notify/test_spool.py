"""Contents of the spool's file, their lifetime, and the clock that decides it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from livedeck.monitor import Severity
from livedeck.notify import DEAD, SENT, WAITING, Beginning, Box, Outcome, Route, Spool, SpoolError
from livedeck.notify.spool import OldSpoolError
from notify.stage import NOW, Desk, acknowledged, alarm

OPS = Box("ops", "ops")


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    """New spool."""
    made = Spool(tmp_path / "spool")
    yield made
    made.close()


def test_an_empty_file_is_named_as_empty_by_a_reader_and_filled_by_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    path.touch()
    with pytest.raises(SpoolError, match="it is empty; the collector fills it"):
        Spool(path, reads=True)
    Spool(path).close()
    with closing(Spool(path, reads=True)) as spool:
        assert spool.messages(WAITING) == ()


def told() -> Desk:
    """Return a notifier that has notified one alarm."""
    desk = Desk()
    desk.put(alarm(severity=Severity.WARNING))
    desk.watch(6)
    return desk


def outcome(desk: Desk) -> Outcome:
    """Return its outcome since then."""
    return Outcome(desk.state, tuple(desk.told))


def test_a_message_that_was_sent_is_not_to_be_sent_because_it_is_kept_once_more(spool: Spool) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    (message,) = desk.told
    spool.mark(message.key, SENT, 1, "200")
    spool.keep(outcome(desk), desk.now)
    assert [spooled.message for spooled in spool.messages(SENT)] == [message]
    assert spool.messages(WAITING) == ()


def test_an_alarm_was_seen_standing_ten_seconds_before_a_death_at_the_latest(spool: Spool) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    for _ in range(60):
        desk.look(1)
        spool.keep(Outcome(desk.state), desk.now)
    (life,) = spool.state(desk.now).notified_lives
    assert desk.now - life.seen_at <= timedelta(seconds=10)


def test_while_nothing_is_new_the_disk_is_left_alone(spool: Spool, tmp_path: Path) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    with closing(sqlite3.connect(tmp_path / "spool")) as other:
        before = other.execute("PRAGMA data_version").fetchone()
        for _ in range(9):
            desk.look(1)
            spool.keep(Outcome(desk.state), desk.now)
        assert other.execute("PRAGMA data_version").fetchone() == before


def test_times_are_kept_by_the_clock_of_the_machine_though_those_of_the_alarms_differ(spool: Spool) -> None:
    desk = told()
    hour = timedelta(hours=1)
    spool.keep(outcome(desk), desk.now, hour.total_seconds())
    state = spool.state(desk.now + hour)
    (life,), (before,) = state.notified_lives, desk.state.notified_lives
    assert (life.since, life.seen_at) == (before.since + hour, before.seen_at + hour)
    assert life.notified["ops"] == before.notified["ops"]._replace(at=before.notified["ops"].at + hour)
    assert state.sent == {OPS: (desk.told[0].at + hour,)}
    assert state.counted == {OPS: (desk.told[0].at + hour,)}


@pytest.mark.parametrize(("after", "is_counted"), [(0, True), (9, True), (11, False), (-60, False)])
def test_the_rate_counts_the_last_ten_minutes_and_nothing_of_a_clock_that_was_set_back(
    spool: Spool, after: float, is_counted: bool
) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    state = spool.state(desk.now + timedelta(minutes=after))
    assert ({*state.sent}, {*state.counted}) == (({OPS}, {OPS}) if is_counted else (set(), set()))


def test_the_allowance_counts_no_message_with_criticals(spool: Spool) -> None:
    desk = Desk()
    desk.put(alarm())
    desk.watch(6)
    spool.keep(outcome(desk), desk.now)
    assert spool.state(desk.now).sent == {}
    assert spool.messages(WAITING)[0].message == desk.told[0]


OLD = """
CREATE TABLE life (
    id TEXT PRIMARY KEY, event TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, since TEXT NOT NULL,
    seen_at TEXT NOT NULL, is_handled INTEGER NOT NULL
);
CREATE TABLE notified (life TEXT, route TEXT, stage INTEGER, at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE escalated (life TEXT, route TEXT, acknowledged_at TEXT NOT NULL, PRIMARY KEY (life, route));
CREATE TABLE held (route TEXT, target TEXT, body TEXT NOT NULL);
CREATE TABLE counted (route TEXT, target TEXT, at TEXT NOT NULL);
CREATE TABLE spool (
    key TEXT PRIMARY KEY, route TEXT NOT NULL, target TEXT NOT NULL, at TEXT NOT NULL, status TEXT NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, payload TEXT NOT NULL, beginnings TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, answer TEXT NOT NULL
);
CREATE INDEX spool_by_state ON spool (state, at);
INSERT INTO life VALUES (
    'one/NO_INGEST//1', 'one', 'NO_INGEST', '', '2026-11-21T20:14:05+00:00', '2026-11-21T20:14:11+00:00', 0
);
INSERT INTO notified VALUES ('one/NO_INGEST//1', 'ops', 200, '2026-11-21T20:14:10+00:00');
INSERT INTO spool VALUES (
    'key', 'ops', 'ops', '2026-11-21T20:14:10+00:00', 'firing', 'title', 'text', '{}', '[["one/NO_INGEST//1", -1]]',
    'waiting', 2, '503'
);
PRAGMA application_id = 1818521203;
PRAGMA user_version = 3;
"""
"""Spool of the version before."""


def test_a_file_of_the_version_before_is_continued_in_place(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "spool")) as old:
        old.executescript(OLD)
    for _ in range(2):
        spool = Spool(tmp_path / "spool")
        (waiting,) = spool.messages(WAITING)
        (life,) = spool.state(NOW).lives.values()
        assert (waiting.message.beginnings, waiting.tries, waiting.answer) == (
            (Beginning("one/NO_INGEST//1", -1),),
            2,
            "503",
        )
        assert (life.id, life.notified["ops"].stage) == ("one/NO_INGEST//1", 200)
        desk = told()
        spool.keep(outcome(desk), desk.now)
        spool.mark(desk.told[0].key, SENT, 1, "200")
        spool.keep(Outcome(replace(desk.state, lives={life.key: life})), desk.now)
        assert len(spool.messages(SENT)) == 1
        spool.close()


def test_a_reader_leaves_a_file_of_the_version_before_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "spool")) as old:
        old.executescript(OLD)
    with pytest.raises(OldSpoolError, match="the collector upgrades it"):
        Spool(tmp_path / "spool", reads=True)
    with closing(sqlite3.connect(tmp_path / "spool")) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_file_of_a_newer_version_or_another_program_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    Spool(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SpoolError, match="spool: another program has locked it: close that program"):
            Spool(path, reads=True)
        other.execute("ROLLBACK")
        other.execute("PRAGMA user_version = 99")
    for reads in (True, False):
        with pytest.raises(SpoolError, match="a newer version of livedeck made it; use that version here"):
            Spool(path, reads=reads)


def test_what_is_tried_again_by_a_person_begins_anew(spool: Spool) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    spool.mark(desk.told[0].key, DEAD, 90, "503")
    assert spool.revive() == 1
    (spooled,) = spool.messages(WAITING)
    assert (spooled.message, spooled.tries, spool.messages(DEAD)) == (desk.told[0], 0, ())


@pytest.mark.parametrize(("state", "days"), [(SENT, 1), (DEAD, 7)])
def test_what_is_done_is_kept_for_so_many_days_and_what_waits_for_ever(spool: Spool, state: str, days: int) -> None:
    desk = told()
    spool.keep(outcome(desk), desk.now)
    spool.forget_old(desk.now + timedelta(days=30))
    assert len(spool.messages(WAITING)) == 1
    spool.mark(desk.told[0].key, state, 1, "")
    spool.forget_old(desk.now + timedelta(days=days - 0.1))
    assert len(spool.messages(state)) == 1
    spool.forget_old(desk.now + timedelta(days=days + 0.1))
    assert spool.messages(state) == ()


def test_a_restart_knows_who_was_told_what_escalated_what_is_held_and_who_had_answered(tmp_path: Path) -> None:
    desk = Desk(Route("ops", "ops", escalate=1, escalate_to="boss"))
    desk.put(*(alarm(f"event-{number}", severity=Severity.WARNING) for number in range(9)))
    desk.watch(90)
    desk.put(acknowledged(alarm("event-0"), desk.now))
    for name in ("late", "later"):  # the first is told, and then there is a flood
        desk.put(*(alarm(f"{name}-{number}", "FPS_LOW", Severity.WARNING, since=desk.now) for number in range(9)))
        desk.watch(10)
    spool = Spool(tmp_path / "spool")
    spool.keep(outcome(desk), desk.now)
    spool.close()
    spool = Spool(tmp_path / "spool")
    state = spool.state(desk.now)
    spool.close()
    assert state.is_kept_as(desk.state)
    assert {life.id: life for life in state.notified_lives} == {life.id: life for life in desk.state.notified_lives}
    assert (state.held, state.counted) == (desk.state.held, desk.state.counted)
    assert any(life.escalated for life in state.notified_lives)
    assert any(life.is_handled for life in state.notified_lives)
    assert any(state.held.values())


def test_a_reader_writes_nothing(tmp_path: Path) -> None:
    desk = told()
    Spool(tmp_path / "spool").close()
    reader = Spool(tmp_path / "spool", reads=True)
    with pytest.raises(SpoolError, match="readonly"):
        reader.keep(outcome(desk), NOW)
    reader.close()
