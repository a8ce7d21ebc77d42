"""A list that lacks events which are still served is reported as wrong, and removes nothing from the board."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from livedeck.client import NotFound
from livedeck.monitor import (
    Alarm,
    BroadcastState,
    Cadence,
    ConnectionProblem,
    Dated,
    IntentRecord,
    Limits,
    Severity,
    Snapshot,
    Thresholds,
)
from livedeck.monitor.model.resources import event_key
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST, PollKey
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from livedeck.presentation.connection import banner_line, is_seen, missing_line
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, at, event, model, samples, signal

_TOLD_WITHIN = 20.0
"""Maximum seconds from the first wrong list to the alarm."""

_DELETED_WITHIN = 30.0
_HALF_AN_HOUR = 1800.0


def banner(snapshot: Snapshot) -> str:
    assert not banner_line(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at)), "nothing else is wrong"
    return plain(missing_line(snapshot)).strip()


def events(count: int) -> list[dict[str, Any]]:
    return [event(f"e{number}") for number in range(count)]


def hide(one: Deck, *ids: str) -> None:
    """Remove these events from the list; they are still served by id, and their encoders continue."""
    everything = [*one.stage.events, *one.stage.hidden]
    one.stage.events = [item for item in everything if item["id"] not in ids]
    one.stage.hidden = [item for item in everything if item["id"] in ids]


async def raised(one: Deck, seconds: float) -> list[Alarm]:
    """Return every alarm that is raised in the next seconds."""
    end, alarms = one.clock.monotonic() + seconds, []
    while one.clock.monotonic() < end:
        snapshot = await one.next()
        alarms += [change.alarm for change in snapshot.changes if change.transition == "raised"]
    return alarms


async def test_an_empty_list_clears_nothing_for_half_an_hour_and_is_called_wrong(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    hide(one, *(f"e{number}" for number in range(2)))
    (alarm,) = await raised(one, _TOLD_WITHIN)
    assert (alarm.kind, alarm.severity) == ("LIST_WRONG", Severity.WARNING)
    assert alarm.actual == "the list lacks 2 of 2 events that are still served"
    snapshot = await one.next()
    assert banner(snapshot) == "≠ The list is empty, but 2 events are still served; each is shown from its own reply"
    assert not is_seen(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at)), "new events cannot be seen"
    assert await raised(one, _HALF_AN_HOUR) == []
    snapshot = await one.next()
    assert [state.phase.tally for state in snapshot.events] == [BroadcastState.ON_AIR] * 2
    assert not any(state.is_stale or state.is_listed for state in snapshot.events)
    hide(one)
    assert await raised(one, 30) == []
    snapshot = await one.next()
    assert banner(snapshot) == ""
    assert [(each.kind, each.present) for each in (*snapshot.alarms, *snapshot.quiet)] == [("LIST_WRONG", False)]


async def test_a_list_that_is_short_by_eleven_events_ends_none_of_them(deck: Raise) -> None:
    one = deck(*events(30))
    await one.until(10)
    hide(one, *(f"e{number}" for number in range(11)))
    (alarm,) = await raised(one, _TOLD_WITHIN)
    assert alarm.actual == "the list lacks 11 of 30 events that are still served"
    assert await raised(one, 45) == []
    snapshot = await one.next()
    assert banner(snapshot).startswith("≠ The list lacks 11 of 30 events")
    assert len(snapshot.events) == 30
    assert not any(state.is_stale for state in snapshot.events)


async def test_a_list_that_lacks_one_more_event_is_wrong_without_a_break(deck: Raise) -> None:
    one = deck(*events(30))
    await one.until(10)
    hide(one, *(f"e{number}" for number in range(11)))
    await raised(one, 60)
    hide(one, *(f"e{number}" for number in range(12)))
    end, changes = one.clock.monotonic() + 60, list[str]()
    while one.clock.monotonic() < end:
        changes += [change.transition for change in (await one.next()).changes]
    assert changes == []
    (alarm,) = (await one.next()).alarms
    assert alarm.actual == "the list lacks 12 of 30 events that are still served"


async def test_an_incomplete_list_after_a_whole_one_is_requested_again_soon_and_then_at_the_usual_interval(
    deck: Raise,
) -> None:
    one = deck(*events(2))
    await one.until(20)
    since, one.stage.announced = one.clock.monotonic(), 9
    await one.until(80)
    first, second, third = sorted({time for time in one.stage.times("list") if time > since})[:3]  # several pages each
    assert second - first < 3
    assert third - second > 10


@pytest.mark.parametrize("announced", [1, 0])
async def test_a_total_that_agrees_with_a_short_list_proves_nothing(deck: Raise, announced: int) -> None:
    one = deck(*events(2))
    await one.until(10)
    hide(one, *(f"e{number}" for number in range(announced, 2)))
    one.stage.announced = announced
    assert [alarm.kind for alarm in await raised(one, 60)] == ["LIST_WRONG"]
    assert len((await one.next()).events) == 2


async def test_an_event_that_fails_by_id_is_neither_gone_nor_stale_while_its_samples_come(deck: Raise) -> None:
    one = deck(*events(6))
    await one.until(10)
    hide(one, *(f"e{number}" for number in range(6)))
    one.stage.broken = {"by id"}
    (alarm,) = await raised(one, _TOLD_WITHIN)
    assert (alarm.kind, alarm.severity) == ("LIST_WRONG", Severity.WARNING)
    assert await raised(one, 120) == []
    (alarm,) = (await one.next()).alarms
    assert alarm.actual == "the list lacks 6 of 6 events that are still served"
    snapshot = await one.next()
    assert [(state.phase.tally, state.is_stale) for state in snapshot.events] == [(BroadcastState.ON_AIR, False)] * 6


async def test_requests_by_id_that_hang_keep_neither_the_list_nor_the_samples_waiting(deck: Raise) -> None:
    one = deck(*events(20))
    await one.until(20)
    hide(one, *(f"e{number}" for number in range(20)))
    one.stage.late = {f"by id e{number}" for number in range(20)}
    (alarm,) = await raised(one, _TOLD_WITHIN)
    assert alarm.kind == "LIST_WRONG"
    assert await raised(one, 60) == []
    assert not any(state.is_stale for state in (await one.next()).events)


async def test_an_event_of_which_nothing_answers_is_doubted_and_stays(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    hide(one, "e0", "e1")
    one.stage.broken = {"by id", "e0", "e1"}
    kinds = {alarm.kind for alarm in await raised(one, 120)}
    assert not kinds & {"ENDED_ON_AIR", "LIST_WRONG"}
    snapshot = await one.next()
    assert len(snapshot.events) == 2
    assert banner(snapshot) == "≠ The list is empty; the 2 known events are polled by id, no reply yet"


async def test_an_event_that_is_denied_by_id_while_its_samples_come_is_a_contradiction_and_stays(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    one.stage.denied = {"e1"}
    hide(one, "e1")
    assert [alarm.kind for alarm in await raised(one, 180)] == ["LIST_WRONG"]
    state = (await one.next()).find("e1")
    assert state
    assert (state.phase.tally, state.is_stale) == (BroadcastState.ON_AIR, False)


async def test_a_list_without_a_deleted_event_is_followed_by_the_next_one_a_second_later(deck: Raise) -> None:
    one = deck(*events(3))
    await one.until(20)
    since, one.stage.events = one.clock.monotonic(), one.stage.events[1:]
    await one.until(60)
    first, second = sorted({time for time in one.stage.times("list") if time > since})[:2]
    assert second - first < 1.5


@pytest.mark.parametrize("others", [1, 0])
async def test_an_event_that_is_deleted_is_told_within_half_a_minute(deck: Raise, others: int) -> None:
    one = deck(*events(1 + others))
    await one.until(10)
    one.stage.events = one.stage.events[1:]
    (alarm,) = await raised(one, _DELETED_WITHIN)
    assert (alarm.kind, alarm.event_id) == ("ENDED_ON_AIR", "e0")
    assert [state.id for state in (await one.next()).events] == [f"e{number + 1}" for number in range(others)]


async def test_a_draft_that_is_deleted_vanishes_with_the_first_answer_by_id(deck: Raise) -> None:
    one = deck(event(), event("draft", stream=None))
    await one.until(10)
    one.stage.events = one.stage.events[:1]
    one.monitor.refresh()
    snapshot = await one.until(one.clock.monotonic() + 3)
    assert [state.id for state in snapshot.events] == ["one"]
    assert snapshot.alarms == ()


async def test_an_event_on_air_that_the_user_here_deletes_vanishes_with_the_first_answer_by_id(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    one.monitor.note_intent(IntentRecord("1", one.clock.now(), "event.delete", "", "event", "e0", "", "anna", "d", 7))
    one.stage.events = one.stage.events[1:]
    one.monitor.refresh()
    (alarm,) = await raised(one, 3)
    assert (alarm.kind, alarm.severity, alarm.actual) == ("ENDED_ON_AIR", Severity.INFO, "deleted, by anna@d")
    assert [state.id for state in (await one.next()).events] == ["e1"]


async def test_many_drafts_are_asked_by_three_of_them(deck: Raise) -> None:
    drafts = [event(f"d{number}", stream=None) for number in range(40)]
    one = deck(event(), *drafts)
    await one.until(10)
    one.stage.events = one.stage.events[:1]
    snapshot = await one.until(one.clock.monotonic() + 40)
    assert [state.id for state in snapshot.events] == ["one"]
    assert len({name for _, name in one.stage.asked if name.startswith("by id")}) == 3


async def test_drafts_stay_while_one_of_them_is_served(deck: Raise) -> None:
    drafts = [event(f"d{number}", stream=None) for number in range(10)]
    one = deck(event(), *drafts)
    await one.until(10)
    hide(one, *(f"d{number}" for number in range(10)))
    snapshot = await one.until(120)
    assert len(snapshot.events) == 11
    assert len({name for _, name in one.stage.asked if name.startswith("by id")}) == 3


async def test_an_unlisted_event_follows_its_own_answer(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    hide(one, "e0", "e1")
    await one.until(60)
    one.stage.hidden = [
        event("e0", name="Renamed"),
        event("e1", stream={**event("e1")["stream"], "finished_at": at(60)}),
    ]
    snapshot = await one.until(90)
    first, second = (snapshot.find(event_id) for event_id in ("e0", "e1"))
    assert first
    assert second
    assert (first.event.name, second.phase.tally) == ("Renamed", BroadcastState.COMPLETED)


async def test_an_answer_by_id_that_nobody_watches_is_no_cached_list(deck: Raise) -> None:
    one = deck(*events(2))
    await one.until(10)
    hide(one, "e0", "e1")
    assert (await one.until(60)).lists == {}


@pytest.mark.parametrize(("made", "is_gone"), [(1.0, False), (6.0, True)])
async def test_two_lists_are_apart_by_their_dates_and_not_by_their_reading(made: float, *, is_gone: bool) -> None:
    """A second list that waits on the line is no later look at the platform."""
    world = WorldTracker((), ClockReading(NOW, 0.0), Limits(Thresholds()), Cadence())

    async def take(key: PollKey, payload: Any, sent: float, read: float | None = None) -> None:
        read = sent if read is None else read
        at = ClockReading(NOW + timedelta(seconds=read), read)
        dated = Dated(NOW.timestamp() + sent, NOW.timestamp() + read)
        result = PollResult(key, at.wall, at.monotonic, payload, dated=dated)
        await world.ingest(result)
        await world.evaluate_all((result,), at, LinkMeasure())

    await take(LIST, EventList((model(),)), -20.0)
    await take("one", samples(signal(60, end=-21.0)), -20.0)
    await take(LIST, EventList(()), 0.0)
    for sent in (0.1, 5.1):
        await take(event_key("one"), NotFound("no such event", status=404, code=404404), sent)
    await take(LIST, EventList(()), made, 9.0)
    assert [ended.id for ended in world.ended] == (["one"] if is_gone else [])
    await take(LIST, EventList(()), 9.5)
    assert [ended.id for ended in world.ended] == ["one"]


async def test_a_list_of_another_workspace_ends_no_event_and_makes_the_deck_blind(deck: Raise) -> None:
    ours, theirs = [event(name, workspace_id="ours") for name in ("a", "b")], [event("c", workspace_id="theirs")]
    one = deck(*ours)
    await one.until(10)
    one.stage.events = theirs
    early = await one.until(25)
    assert early.link.blame.short == "the token shows another workspace", "a 404 of an event is no other cause"
    alarms = await raised(one, 120)
    assert [alarm.kind for alarm in alarms] == ["API_BLIND"]
    assert alarms[0].actual == "the network works: the token shows another workspace"
    snapshot = await one.next()
    assert [state.id for state in snapshot.events] == ["a", "b"], "nothing proves that they ended"
    assert snapshot.link.problem is ConnectionProblem.OTHER_WORKSPACE
    one.stage.events = ours
    snapshot = await one.until(200)
    assert [state.id for state in snapshot.events] == ["a", "b"]
    assert snapshot.link.state.is_answering
    assert {alarm.kind for alarm in snapshot.alarms} == {"API_BLIND"}


@pytest.mark.parametrize("workspace", ["ours", None])
async def test_a_list_that_may_be_of_the_same_workspace_is_believed(deck: Raise, workspace: str | None) -> None:
    one = deck(event("a", workspace_id="ours"))
    await one.until(10)
    one.stage.events = [event("b", workspace_id=workspace)]
    assert {alarm.kind for alarm in await raised(one, _DELETED_WITHIN)} >= {"ENDED_ON_AIR"}
