"""An acknowledgement at one deck, told by another that nobody touches."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from livedeck.monitor import (
    Alarm,
    AlarmChange,
    AlarmLimits,
    AlarmState,
    AlarmTransition,
    ConnectionState,
    ConnectionStatus,
    History,
    HistoryReader,
    Severity,
    Snapshot,
    sync_acknowledgements,
)
from livedeck.monitor.alarms.operator import acknowledge, shelve, take_out_of_service
from livedeck.monitor.history.history import MAX_CLEARED
from ui.wall_stage import evening

NOW = datetime(2026, 11, 21, 21, 14, 7, tzinfo=UTC)
ONE = Alarm("one", "BLACKOUT", Severity.CRITICAL, NOW - timedelta(minutes=2), "Cup final", "0", "4.5M", changed=NOW)
TWO = replace(ONE, event_id="two", severity=Severity.WARNING)
RULES = AlarmLimits()
OURS = Snapshot(1, NOW, ConnectionStatus(ConnectionState.OK, NOW), alarms=(ONE, TWO))


def _acknowledged(alarm: Alarm = ONE, at: datetime = NOW) -> Alarm:
    done = acknowledge(alarm, at, RULES)
    assert done is not None
    return done


def test_an_alarm_that_was_acknowledged_elsewhere_is_so_here_and_the_others_are_not() -> None:
    synced = sync_acknowledgements(OURS, [_acknowledged()], RULES)
    assert [alarm.state for alarm in synced.alarms] == [AlarmState.ACKNOWLEDGED, AlarmState.UNACKNOWLEDGED]
    assert [alarm.needs_ack for alarm in synced.alarms] == [False, True]


@pytest.mark.parametrize(
    "away", [shelve(ONE, 10, "known", NOW, on_air=True, limits=RULES), take_out_of_service(ONE, "x", NOW)]
)
def test_what_was_put_away_elsewhere_is_put_away_here(away: Alarm) -> None:
    synced = sync_acknowledgements(OURS, [away], RULES)
    assert synced.alarms == (TWO,)
    assert [(alarm.key, alarm.state, alarm.reason) for alarm in synced.quiet] == [(ONE.key, away.state, away.reason)]


def test_what_is_over_and_was_acknowledged_elsewhere_is_done() -> None:
    over = replace(ONE, state=AlarmState.RETURNED, present=False)
    synced = sync_acknowledgements(replace(OURS, alarms=(over,)), [_acknowledged(over)], RULES)
    assert not synced.alarms


def test_what_was_acknowledged_elsewhere_and_is_over_is_done_though_that_deck_was_closed() -> None:
    """As at the deck itself: an acknowledgement that held when the fault ended need not hold any longer."""
    over = replace(ONE, state=AlarmState.RETURNED, present=False, changed=NOW + timedelta(minutes=4))
    ours = replace(OURS, at=NOW + timedelta(minutes=9), alarms=(over,))
    synced = sync_acknowledgements(ours, [_acknowledged()], RULES)
    assert not synced.alarms
    assert [(alarm.state, alarm.acknowledged_until) for alarm in synced.quiet] == [(AlarmState.CLEARED, None)]
    ran_out = replace(over, changed=NOW + timedelta(minutes=6))
    assert sync_acknowledgements(replace(ours, alarms=(ran_out,)), [_acknowledged()], RULES).alarms == (ran_out,)


@pytest.mark.parametrize(
    "other",
    [
        ONE,
        replace(_acknowledged(), target="another"),
        _acknowledged(at=NOW - timedelta(seconds=RULES.acknowledged_critical)),
        replace(_acknowledged(), changed=ONE.since - timedelta(seconds=1), acknowledged_until=None),
        replace(shelve(ONE, 10, "known", NOW, on_air=True, limits=RULES), shelved_until=NOW),
        replace(_acknowledged(), state=AlarmState.CLEARED),
    ],
    ids=["not attended", "another target", "ran out", "an episode before", "unshelved", "over there alone"],
)
def test_what_does_not_hold_changes_nothing(other: Alarm) -> None:
    assert sync_acknowledgements(OURS, [other], RULES) is OURS


def test_what_a_parent_hides_here_stays_hidden() -> None:
    hidden = replace(ONE, state=AlarmState.SUPPRESSED, parent="RECONNECTING")
    ours = replace(OURS, alarms=(TWO,), quiet=(hidden,))
    assert sync_acknowledgements(ours, [_acknowledged()], RULES) is ours


@pytest.mark.parametrize(
    "graver",
    [replace(ONE, stage=1), replace(TWO, severity=Severity.CRITICAL)],
    ids=["a later stage", "critical by now"],
)
def test_an_acknowledgement_does_not_hold_for_what_has_got_worse(graver: Alarm) -> None:
    """The deck asks again when that happens; one that was closed in the meantime cannot."""
    before = ONE if graver.event_id == "one" else TWO
    ours = replace(OURS, alarms=(graver,))
    assert sync_acknowledgements(ours, [_acknowledged(before)], RULES) is ours
    assert sync_acknowledgements(ours, [_acknowledged(replace(graver, stage=2))], RULES) is not ours


async def test_no_shelf_is_older_than_an_hour_on_air() -> None:
    """monitoring.md, "Operator"; whether the deck that filled it still runs or not."""
    snapshot = await evening()
    for event in snapshot.events:
        alarm = replace(ONE, event_id=event.id)
        shelf = shelve(alarm, None, "until it is over", NOW, on_air=True, limits=RULES)
        for hours in (0.9, 1, 72):
            ours = replace(snapshot, at=NOW + timedelta(hours=hours), alarms=(alarm,), quiet=())
            shown = sync_acknowledgements(ours, [shelf], RULES).alarms == (alarm,)
            assert shown is (hours >= 1 and event.phase.tally.expects_signal)


async def test_a_glance_leaves_the_history_of_a_deck_that_crashed_as_it_lies(tmp_path: Path) -> None:
    deck, crashed = tmp_path / "deck.sqlite", tmp_path / "crashed.sqlite"
    history, done = await History.open(deck, NOW), _acknowledged()
    await history.append(replace(OURS, alarms=(done,), changes=(AlarmChange(NOW, AlarmTransition.ACKNOWLEDGED, done),)))
    await history.flush()
    lying = _file_and_log(deck)
    await history.close()
    _file_and_log(crashed, lying)
    assert await HistoryReader(crashed).alarms() == (done,)
    assert _file_and_log(crashed) == lying


async def test_what_was_done_is_not_asked_again_when_the_deck_has_forgotten_it(tmp_path: Path) -> None:
    """The deck lists it five minutes; the wall has it, unacknowledged and over, until somebody sees to it."""
    over = replace(ONE, state=AlarmState.RETURNED, present=False)
    history, glance = await History.open(tmp_path / "history.sqlite", NOW), HistoryReader(tmp_path / "history.sqlite")
    states = []
    for listed in ((_acknowledged(over),), (), (replace(ONE, since=NOW),), ()):
        changes = (AlarmChange(NOW, AlarmTransition.RAISED, TWO),)
        await history.append(replace(OURS, alarms=listed, changes=changes))
        await history.flush()
        states.append([alarm.state for alarm in await glance.alarms()])
    await history.close()
    assert states == [[AlarmState.CLEARED], [AlarmState.CLEARED], [AlarmState.UNACKNOWLEDGED], []]


async def test_what_a_glance_remembers_is_bounded_and_the_newest_stays(tmp_path: Path) -> None:
    file, over = tmp_path / "history.sqlite", replace(ONE, state=AlarmState.CLEARED, present=False, needs_ack=False)
    moments = [NOW + timedelta(seconds=number) for number in range(MAX_CLEARED + 10)]
    done = [replace(over, event_id=str(number), changed=at) for number, at in enumerate(moments)]
    history, glance = await History.open(file, NOW), HistoryReader(file)
    for listed in (tuple(done), ()):
        await history.append(replace(OURS, alarms=listed, changes=(AlarmChange(NOW, AlarmTransition.RAISED, TWO),)))
        await history.flush()
        await glance.alarms()
    await history.close()
    assert {alarm.key for alarm in await glance.alarms()} == {alarm.key for alarm in done[10:]}


async def test_a_glance_sees_what_a_deck_recorded_and_makes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    glance = HistoryReader(file)
    assert await glance.alarms() == ()
    assert not _exists(file)
    history = await History.open(file, NOW)
    done = _acknowledged()
    await history.append(replace(OURS, alarms=(done,), changes=(AlarmChange(NOW, AlarmTransition.ACKNOWLEDGED, done),)))
    await history.flush()
    assert await glance.alarms() == (done,)
    await history.close()
    assert await glance.alarms() == (done,)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE kept SET alarms = substr(alarms, 3)")
    assert await glance.alarms() == ()
    file.write_bytes(b"no database")
    assert await glance.alarms() == ()


def _exists(path: Path) -> bool:
    return path.exists()


def _file_and_log(path: Path, laid: tuple[bytes, ...] = ()) -> tuple[bytes, ...]:
    """The file of a history and its write-ahead log; `laid`: written there first."""
    files = (path, Path(f"{path}-wal"))
    for file, data in zip(files, laid, strict=False):
        file.write_bytes(data)
    return tuple(file.read_bytes() for file in files)
