"""A list that lacks events is doubted before it is believed (monitoring.md, "Missing events")."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from livedeck.monitor import (
    AlarmAction,
    AlarmChange,
    AlarmKey,
    AlarmState,
    BroadcastState,
    History,
    HistoryReader,
    IngestState,
    IntentRecord,
    Limits,
    Severity,
    Snapshot,
    Thresholds,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.history.reads import Recorded
from livedeck.monitor.model.records import ENDING_ACTIONS
from livedeck.monitor.model.ruling import Ruling
from livedeck.operations.events import CompleteEvent, DeleteEvent
from livedeck.presentation.connection import banner_line, is_seen, missing_line
from livedeck.presentation.event_detail import advice_line
from livedeck.presentation.events import known_ingest
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, Stage, at, event
from virtual_clock import VirtualClock


def banner(snapshot: Snapshot) -> str:
    return plain(banner_line(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at))).strip()


async def test_one_list_without_an_event_removes_nothing_and_a_second_one_does(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    listed, one.stage.events = one.stage.events, one.stage.events[:1]
    one.stage.hidden = listed[1:]
    snapshot = await one.next()
    while all(state.is_listed for state in snapshot.events) and one.clock.monotonic() < 40:
        snapshot = await one.next()
    one.stage.events = listed
    assert [(state.id, state.is_listed) for state in snapshot.events if not state.is_listed] == [("two", False)]
    snapshot = await one.until(one.clock.monotonic() + 2)
    assert all(state.is_listed for state in snapshot.events)
    assert len(snapshot.events) == 2
    one.stage.events, one.stage.hidden = one.stage.events[:1], []
    snapshot = await one.until(one.clock.monotonic() + 30)
    assert [state.id for state in snapshot.events] == ["one"]
    assert banner(snapshot).startswith("● two was on air, not listed since 12:00:")
    (alarm,) = snapshot.alarms
    assert (alarm.kind, alarm.event_id, alarm.subject, alarm.severity) == (
        "ENDED_ON_AIR",
        "two",
        "two",
        Severity.CRITICAL,
    )
    assert alarm.actual == "deleted, by whom is unknown without a history"
    later = await one.until(one.clock.monotonic() + 90)
    assert [alarm.state for alarm in later.alarms] == [AlarmState.UNACKNOWLEDGED], "it is not back"


@pytest.mark.parametrize(
    ("is_null", "announced", "words"),
    [
        (False, 2, "≠ 1 of 2 events not received"),
        (False, 300, "≠ 299 of 300 events not received"),
        (True, None, "≠ an unknown number of events not received"),
    ],
)
async def test_an_incomplete_list_removes_no_event_however_long_and_says_so(
    deck: Raise, announced: int | None, words: str, *, is_null: bool
) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    one.stage.events, one.stage.hidden = one.stage.events[:1], one.stage.events[1:]
    one.stage.announced, one.stage.is_null = announced, is_null
    snapshot = await one.until(150)
    assert {state.id for state in snapshot.events} == {"one", "two"}
    assert snapshot.alarms == (), "nobody knows that it has ended"
    assert plain(missing_line(snapshot)).strip() == words
    assert not is_seen(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at)), "all clear would be a guess"
    one.stage.announced, one.stage.is_null, one.stage.hidden = None, False, []
    snapshot = await one.until(200)
    assert [state.id for state in snapshot.events] == ["one"]
    assert missing_line(snapshot) == []
    assert [alarm.kind for alarm in snapshot.alarms] == ["ENDED_ON_AIR"]


async def test_an_event_that_is_completed_while_on_air_is_told_as_that(deck: Raise) -> None:
    one = deck(event(name="Morning show"))
    await one.until(10)
    stream = {"id": "stream-one", "status": "finished", "started_at": at(-600), "finished_at": at(10)}
    one.stage.events = [event(name="Morning show", stream=stream)]
    snapshot = await one.until(20)
    assert [state.phase.tally for state in snapshot.events] == [BroadcastState.COMPLETED]
    assert banner(snapshot).startswith("● Morning show was completed while on air, seen at 12:00:1")
    (alarm,) = snapshot.alarms
    assert (alarm.kind, alarm.severity) == ("ENDED_ON_AIR", Severity.WARNING)
    assert alarm.actual == "completed while its encoder was sending, by whom is unknown without a history"
    assert banner(await one.until(90)) == ""


async def test_an_event_that_ended_while_its_samples_were_late_is_not_late_or_gone(deck: Raise) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.unsent = {"one"}
    snapshot = await one.next()
    while not (snapshot.events and snapshot.events[0].is_undecided):
        snapshot = await one.next()
    stream = {"id": "stream-one", "status": "finished", "started_at": at(-600), "finished_at": at(30)}
    one.stage.events = [event(stream=stream)]
    (state,) = (await one.until(one.clock.monotonic() + 20)).events
    assert state.phase.tally is BroadcastState.COMPLETED
    assert state.evidence is None, "whether its encoder sends decides nothing any more"
    assert known_ingest(state, RenderTime.from_snapshot(snapshot, snapshot.at)).state is IngestState.ENDED


async def test_the_pane_of_an_event_that_ended_on_air_advises_as_its_alarm_does(deck: Raise) -> None:
    one = deck(event())
    await one.until(10)
    one.stage.events = [event(stream=FINISHED)]

    async def advice() -> str:
        snapshot = await one.until(one.clock.monotonic() + 20)
        return plain(advice_line(snapshot.events[0], RenderTime.from_snapshot(snapshot, snapshot.at), 120))

    assert "If it was a mistake, create a new event for the encoder." in await advice()
    assert await one.monitor.acknowledge(AlarmKey("one", "ENDED_ON_AIR"))
    assert "Nothing to do" in await advice()


async def test_an_event_whose_stream_was_removed_on_air_is_late_once_its_end_has_cleared(deck: Raise) -> None:
    """monitoring.md, "Suppression": one cause is one alarm, and the cause that is left is told."""
    one = deck(event(scheduled={"time": at(-300)}))
    await one.until(30)
    one.stage.events = [event(scheduled={"time": at(-300)}, stream=None)]
    assert [alarm.kind for alarm in (await one.until(90)).alarms] == ["ENDED_ON_AIR"]
    assert [alarm.kind for alarm in (await one.until(720)).alarms if alarm.is_ongoing] == ["LATE_START"]


async def test_events_that_end_on_air_together_are_counted_and_named(deck: Raise) -> None:
    one = deck(event(name="Hall 1"), event("two", name="Hall 2"), event("three", name="Hall 3"))
    await one.until(10)
    stream = {"id": "stream-one", "status": "finished", "started_at": at(-600), "finished_at": at(10)}
    one.stage.events = [event(name="Hall 1", stream=stream), event("three", name="Hall 3")]
    words = banner(await one.until(40))
    assert words.startswith("● 2 events ended on air: ")
    assert "Hall 1 was completed while on air, seen at 12:00:" in words
    assert "Hall 2 was on air, not listed since 12:00:" in words


class OtherDeck(HistoryReader):
    """Second deck, at which anna has just requested a change."""

    def __init__(self, action: str) -> None:
        super().__init__(Path("nowhere"))
        self._action = action

    async def new_silences(self) -> tuple[()]:
        """None."""
        return ()

    async def new_alarm_actions(self) -> tuple[AlarmAction, ...]:
        """None."""
        return ()

    async def on_air_since(self, since: datetime) -> tuple[str, ...]:
        """None."""
        del since
        return ()

    async def new_rulings(self) -> tuple[Ruling, ...]:
        """None."""
        return ()

    async def recorded(self, streams: Mapping[str, str], *_: object, **__: object) -> Mapping[str, Recorded]:
        """Nothing; a thread that looks for it would take its time from the clock."""
        del streams
        return {}

    async def intents(self, since: datetime) -> tuple[IntentRecord, ...]:
        """Return nothing at once: a thread that looks for rows would take its time from the clock."""
        assert since < NOW
        return (IntentRecord("1", NOW, self._action, "", "event", "one", "Morning show", "anna", "regie", 7),)


async def test_who_completed_an_event_on_air_is_named_where_a_deck_did(deck: Raise) -> None:
    one = deck(event(name="Morning show"), reader=OtherDeck("event.complete"))
    await one.until(10)
    stream = {"id": "stream-one", "status": "finished", "started_at": at(-600), "finished_at": at(10)}
    one.stage.events = [event(name="Morning show", stream=stream)]
    assert banner(await one.until(20)).endswith("Z, by anna@regie")


@pytest.mark.parametrize(("action", "is_meant"), [("event.delete", True), ("event.edit", False)])
async def test_an_event_that_a_person_here_has_deleted_is_information(
    deck: Raise, action: str, *, is_meant: bool
) -> None:
    one = deck(event(name="Morning show"), event("two"), reader=OtherDeck(action))
    await one.until(10)
    one.stage.events = one.stage.events[1:]
    (alarm,) = (await one.until(40)).alarms
    assert alarm.severity is (Severity.INFO if is_meant else Severity.CRITICAL)
    assert ("by anna@regie" in alarm.actual) is is_meant


_LIVE = {"id": "stream-one", "status": "live", "started_at": at(-600), "finished_at": None}


@pytest.mark.parametrize(
    ("stream", "severity", "words"),
    [
        ({**_LIVE, "status": "finished", "finished_at": at(10)}, Severity.WARNING, "completed while its encoder"),
        (None, Severity.CRITICAL, "its stream was removed"),
        ({**_LIVE, "id": "other", "status": "pending", "started_at": None}, Severity.WARNING, "replaced by another"),
        ({**_LIVE, "id": "other"}, None, ""),
    ],
)
@pytest.mark.parametrize("is_listed", [True, False])
async def test_an_end_by_somebody_else_is_told_once_within_20_s(
    deck: Raise, stream: dict[str, object] | None, severity: Severity | None, words: str, *, is_listed: bool
) -> None:
    one = deck(event(), reader=OtherDeck("event.edit"))
    await one.until(10)
    if not is_listed:
        one.stage.events, one.stage.hidden = [], one.stage.events
        await one.until(40)
    changed = [event(stream=stream)]
    one.stage.events, one.stage.hidden = (changed, []) if is_listed else ([], changed)
    alarms = []
    end = one.clock.monotonic() + 20
    while one.clock.monotonic() < end:
        alarms += [change.alarm for change in (await one.next()).changes if change.transition == "raised"]
    ends = [alarm for alarm in alarms if alarm.kind == "ENDED_ON_AIR"]
    assert [alarm.severity for alarm in ends] == ([severity] if severity else [])
    assert all(words in alarm.actual and "not by a deck or command of this history" in alarm.actual for alarm in ends)
    one.stage.events, one.stage.hidden = [event(stream=_LIVE)], []
    await one.until(one.clock.monotonic() + 20)
    one.stage.events = changed
    again = await one.until(one.clock.monotonic() + 20)
    assert sum(alarm.kind == "ENDED_ON_AIR" for alarm in again.alarms) == len(ends)


@pytest.mark.parametrize("word", [Severity.INFO, Severity.CRITICAL])
async def test_the_severity_of_an_event_that_somebody_else_completes_is_a_setting(deck: Raise, word: Severity) -> None:
    one = deck(event(), limits=Limits(Thresholds(ended_by_another=word)))
    await one.until(10)
    one.stage.events = [event(stream={**_LIVE, "status": "finished", "finished_at": at(10)})]
    assert [alarm.severity for alarm in (await one.until(30)).alarms] == [word]


async def test_an_end_that_this_process_asked_for_is_information_though_no_history_is_kept(deck: Raise) -> None:
    one = deck(event())
    await one.until(10)
    one.monitor.note_intent(
        IntentRecord("1", one.clock.now(), "event.complete", "", "event", "one", "", "anna", "d", 7)
    )
    one.stage.events = [event(stream={**_LIVE, "status": "finished", "finished_at": at(10)})]
    (alarm,) = (await one.until(30)).alarms
    assert (alarm.severity, alarm.actual) == (Severity.INFO, "completed while its encoder was sending, by anna@d")


def present(snapshot: Snapshot) -> list[bool]:
    """Return for each alarm whether the end of an event is present."""
    return [alarm.present for alarm in (*snapshot.alarms, *snapshot.quiet) if alarm.kind == "ENDED_ON_AIR"]


FINISHED = {**_LIVE, "status": "finished", "finished_at": at(10)}
BY_ANOTHER = [FINISHED, None, {**_LIVE, "id": "other", "status": "pending", "started_at": None}]


@pytest.mark.parametrize("stream", BY_ANOTHER)
async def test_an_end_by_another_lasts_ten_minutes_at_most(deck: Raise, stream: dict[str, object] | None) -> None:
    one = deck(event())
    await one.until(10)
    one.stage.events, one.stage.unsent = [event(stream=stream)], {"one"}
    assert present(await one.until(600)) == [True]
    assert present(await one.until(630)) == [False]


@pytest.mark.parametrize("stream", BY_ANOTHER)
async def test_an_end_by_another_is_over_once_a_stream_of_the_event_is_on_air(
    deck: Raise, stream: dict[str, object] | None
) -> None:
    one = deck(event())
    await one.until(10)
    one.stage.events, one.stage.unsent = [event(stream=stream)], {"one"}
    assert present(await one.until(120)) == [True]
    one.stage.events, one.stage.unsent = [event(stream={**_LIVE, "id": "new"})], set()
    assert present(await one.until(150)) == [False]


@pytest.mark.parametrize("is_gone", [True, False])
async def test_an_acknowledgement_ends_it_and_nobody_is_reminded(deck: Raise, *, is_gone: bool) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    one.stage.events = [*([] if is_gone else [event(stream=FINISHED)]), event("two")]
    assert present(await one.until(40)) == [True]
    assert await one.monitor.acknowledge(AlarmKey("one", "ENDED_ON_AIR"))
    assert present(await one.until(50)) == [False]
    changes = list[AlarmChange]()
    while one.clock.monotonic() < 1000:
        changes += (await one.next()).changes
    assert [change for change in changes if change.alarm.kind == "ENDED_ON_AIR"] == []


async def test_an_event_that_is_gone_is_over_only_when_it_is_served_again_and_may_go_once_more(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    one.stage.events = [event("two")]
    assert present(await one.until(3000)) == [True]
    one.stage.events = [event(), event("two")]
    back = await one.until(3030)
    assert (present(back), banner(back)) == ([False], "")
    one.stage.events = [event("two")]
    assert present(await one.until(3060)) == [True]


@pytest.mark.parametrize("is_gone", [True, False])
async def test_a_deck_that_starts_again_keeps_the_end_of_an_event(tmp_path: Path, *, is_gone: bool) -> None:
    ended = [*([] if is_gone else [event(stream=FINISHED)]), event("two")]
    stage = Stage(VirtualClock(), event(), event("two"))
    before = Deck(stage)
    snapshots = [await before.until(10)]
    stage.events = ended
    while before.clock.monotonic() < 40:
        snapshots.append(await before.next())
    await before.close()
    history = await History.open(tmp_path / "deck.sqlite", NOW)
    for snapshot in snapshots:
        await history.append(snapshot)
    await history.close()
    history = await History.open(tmp_path / "deck.sqlite", NOW + timedelta(seconds=60))
    kept = await history.restored()
    await history.close()
    engine = AlarmEngine(Thresholds())
    engine.restore(kept or (), stage.clock.now())
    after = snapshots[-1]
    for seconds in (100, 500):
        engine.step(MonitorState(after.events, after.link, NOW + timedelta(seconds=seconds)))
        assert engine.alarms[AlarmKey("one", "ENDED_ON_AIR")].present
    engine.step(MonitorState(after.events, after.link, NOW + timedelta(seconds=700)))
    assert engine.alarms[AlarmKey("one", "ENDED_ON_AIR")].present is is_gone


def test_the_actions_that_end_an_event_are_those_of_the_deck() -> None:
    assert {CompleteEvent.name, DeleteEvent.name} == ENDING_ACTIONS
