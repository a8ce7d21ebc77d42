"""One row for each occurrence of an alarm: decks side by side neither repeat nor undo each other's rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

from breadth import slow
from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmChange,
    AlarmCommand,
    AlarmKey,
    AlarmRecord,
    AlarmRefused,
    AlarmState,
    AlarmTransition,
    ConnectionState,
    ConnectionStatus,
    EventState,
    Finding,
    History,
    Severity,
)
from monitor.alarm_stage import Watcher, state
from monitor.recordings import locked, snapshot
from monitor.stage import NOW

EVENTS, KINDS = ("one", "two", "three", "four"), ("BLACKOUT", "AUDIO_LOST", "FPS_LOW", "RECONNECTING")
SECONDS = 600


class Deck(Watcher):
    """Watcher whose alarms are stored in a history, and that starts with the stored ones."""

    def __init__(self, history: History, restored: Sequence[Alarm], now: datetime, behind: int = 0) -> None:
        super().__init__(restored, now)
        self.history, self.behind = history, behind

    @classmethod
    async def start(cls, path: Path, now: datetime = NOW, behind: int = 0) -> Deck:
        """Start a process on the file. `behind`: seconds by which it learns everything later."""
        history = await History.open(path, now)
        return cls(history, await history.restored() or (), now, behind)

    async def turn(self, *states: EventState, after: float = 1.0) -> None:
        """Read the actions of others, look, and store the result."""
        self.engine.take(await self.history.new_alarm_actions())
        self.changes = []
        self.look(*states, after=after)
        at = (self.now - NOW).total_seconds()
        said = replace(snapshot({}, at, tuple(self.changes)), at=self.now, alarms=self.shown, quiet=self.inactive)
        await self.history.append(said)
        await self.history.flush()

    async def acknowledge(self, key: AlarmKey) -> None:
        """Acknowledge an alarm at this deck."""
        with suppress(AlarmRefused):
            command = AlarmCommand(key, ActionKind.ACKNOWLEDGE, actor="anna")
            answer = self.engine.act(command, self.now, on_air=True)
            if answer:
                self.history.record_alarm_action(answer)
                await self.history.flush()


def faults(random: Random) -> list[tuple[str, Finding, int]]:
    """Return event, finding and end (s) of random faults: each kind now and then, for a while."""
    found = []
    for name in EVENTS:
        for kind in KINDS:
            begin = random.randrange(5, 300)
            while begin < SECONDS:
                end = begin + random.randrange(20, 200)
                severity = random.choice((Severity.CRITICAL, Severity.WARNING))
                fault = Finding(kind, severity, "bad", "good", since=NOW + timedelta(seconds=begin))
                found.append((name, fault, end))
                begin = end + random.randrange(30, 300)
    return found


def world(found: list[tuple[str, Finding, int]], second: int) -> Iterator[EventState]:
    """Yield every event at a second."""
    now = NOW + timedelta(seconds=second)
    for name in EVENTS:
        standing = [fault for of, fault, end in found if of == name and (fault.since or now) <= now and second < end]
        yield state(*standing, name=name)


Told: TypeAlias = Counter[tuple[object, ...]]


def tally(log: Sequence[AlarmRecord]) -> Told:
    """Count the transitions of each alarm."""
    return Counter((record.event_id, record.kind, record.since, record.turn, record.state) for record in log)


def facts(alarms: Sequence[Alarm]) -> list[tuple[object, ...]]:
    """Return the states of alarms, without the moment at which a deck noticed."""
    return sorted((alarm.key, alarm.since, alarm.state, alarm.needs_ack, alarm.answered_by) for alarm in alarms)


async def play(path: Path, seed: int, behind: Sequence[int]) -> tuple[Told, list[Deck]]:
    """Play ten minutes of one world to decks with these delays. Returns the log and the decks."""
    random, found = Random(seed), faults(Random(seed))
    decks = [await Deck.start(path, behind=seconds) for seconds in behind]
    for second in range(0, SECONDS, 5):
        for deck in decks:
            if second >= deck.behind:
                await deck.turn(*world(found, second - deck.behind), after=5)
        if random.random() < 0.1:
            await decks[0].acknowledge(AlarmKey(random.choice(EVENTS), random.choice(KINDS)))
            for deck in decks[1:]:
                await deck.turn(*deck.states, after=0)  # within a second, and not with the next poll
    log = await decks[0].history.alarm_log(NOW)
    for deck in decks:
        await deck.history.close()
    return tally(log), decks


SEEDS = pytest.mark.parametrize("seed", [1, *slow(*range(2, 21))])


@SEEDS
@pytest.mark.parametrize("behind", [0, 5])
async def test_the_log_of_two_decks_is_the_log_of_one(tmp_path: Path, seed: int, behind: int) -> None:
    """Though the other hears of everything a poll later; and who starts later goes on from what they left."""
    alone, _ = await play(tmp_path / "alone.sqlite", seed, [0])
    log, decks = await play(tmp_path / "both.sqlite", seed, [0, behind])
    assert log == alone
    later = await Deck.start(tmp_path / "both.sqlite", decks[0].now)
    listed = [alarm for alarm in later.engine.alarms.values() if alarm.key in decks[0].engine.alarms]
    assert facts(listed) == facts(list(decks[0].engine.alarms.values()))
    await later.history.close()


def kept(began: float = 0.0, changed: float = 0.0, **fields: Any) -> Alarm:
    """Return an alarm that began and changed at these seconds after NOW."""
    since, moment = NOW + timedelta(seconds=began), NOW + timedelta(seconds=changed)
    return replace(
        Alarm("one", "BLACKOUT", Severity.CRITICAL, since, "Town hall", "dark", "a picture", changed=moment), **fields
    )


async def rows(path: Path, *alarms: Alarm) -> tuple[Alarm, ...]:
    """Return the alarms that a starting deck reads after a deck each has written one of them."""
    for alarm in alarms:
        history = await History.open(path, NOW)
        await history.append(replace(snapshot({}), alarms=(alarm,)))
        await history.close()
    history = await History.open(path, NOW)
    restored = await history.restored()
    await history.close()
    assert restored is not None
    return restored


OVER = {"present": False, "state": AlarmState.RETURNED}


async def test_an_occurrence_that_is_over_does_not_stand_again_for_a_deck_that_is_behind(tmp_path: Path) -> None:
    over = kept(0.5, 20, **OVER)
    assert await rows(tmp_path / "a.sqlite", kept(), over, kept(0, 25)) == (over,)


async def test_a_fault_that_came_again_is_another_row_and_the_newest_counts(tmp_path: Path) -> None:
    again = kept(25, 25)
    assert await rows(tmp_path / "a.sqlite", kept(), kept(0, 20, **OVER), again) == (again,)
    noticed: dict[str, Any] = {"event_id": "", "kind": "API_BLIND"}  # dated within a minute by every deck that notices
    again = kept(25, 25, **noticed)
    assert await rows(tmp_path / "b.sqlite", kept(**noticed), kept(0, 20, **OVER, **noticed), again) == (again,)
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as db:
        assert db.execute("SELECT state FROM alarm ORDER BY since").fetchall() == [("returned",), ("unacknowledged",)]


async def test_a_note_is_told_once_though_one_deck_has_not_yet_seen_the_fault_end(tmp_path: Path) -> None:
    decks = [await History.open(tmp_path / "a.sqlite", NOW) for _ in range(2)]
    for deck, alarm in zip(decks, (kept(0, 20, note="seen", **OVER), kept(note="seen")), strict=True):
        noted = AlarmChange(NOW, AlarmTransition.NOTED, alarm)
        await deck.append(replace(snapshot({}, changes=(noted,)), alarms=(alarm,)))
        await deck.flush()
    assert len(await decks[0].alarm_log(NOW)) == 1
    for deck in decks:
        await deck.close()


async def test_a_row_is_by_the_clock_that_the_machine_shows(tmp_path: Path) -> None:
    """A deck goes on without the steps of the clock; who starts after one knows nothing of it."""
    history = await History.open(tmp_path / "a.sqlite", NOW)
    link = ConnectionStatus(ConnectionState.OK, NOW, clock_offset=3600.0)
    raised = AlarmChange(NOW, AlarmTransition.RAISED, kept())
    await history.append(replace(snapshot({}, changes=(raised,), link=link), alarms=(kept(),)))
    await history.flush()
    assert await history.restored() == (kept(3600, 3600),)
    (record,) = await history.alarm_log(NOW)
    assert (record.at, record.since) == (NOW + timedelta(hours=1), NOW + timedelta(hours=1))
    await history.close()


async def test_what_a_locked_file_did_not_take_is_written_once_it_does(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    await (await History.open(path, NOW)).close()
    with locked(path):
        history = await History.open(path, NOW)
        for alarm in (kept(), kept(0, 20, **OVER), kept(25, 25), kept(25, 40, **OVER)):
            await history.append(replace(snapshot({}), alarms=(alarm,)))
            await history.flush()
        assert history.fault
    await history.flush()
    await history.close()
    assert await rows(path) == (kept(25, 40, **OVER),)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT state FROM alarm").fetchall() == [("returned",), ("returned",)]
