"""Polls of the platform: in time, few at once, and never in a storm."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from livedeck.monitor import ROOM_LIST, Cadence, ConnectionProblem
from monitor.conftest import Raise
from monitor.stage import at, event


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


async def test_the_list_and_the_samples_are_asked_at_their_cadence(deck: Raise) -> None:
    """15 s and 5 s, 10 % either way, and up to half a second early to go with a round."""
    one = deck(event())
    await one.until(300)
    assert all(13.0 <= gap <= 16.5 for gap in gaps(one.stage.times("list")))
    assert all(4.0 <= gap <= 5.5 for gap in gaps(one.stage.times("one")))
    assert len(set(gaps(one.stage.times("one")))) > 10


async def test_what_somebody_looks_at_is_asked_more_often(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await one.until(20)
    one.monitor.set_focus("two")
    await one.until(60)
    one.monitor.set_focus(None)
    await one.until(100)
    asked = one.stage.times("two")
    assert len([time for time in asked if 20 < time <= 60]) >= 17
    assert len([time for time in asked if 60 < time <= 100]) <= 10
    assert len([time for time in one.stage.times("one") if 20 < time <= 60]) <= 10


async def test_a_refresh_asks_everything_now(deck: Raise) -> None:
    one = deck(event())
    await one.until(6)
    asked, time = len(one.stage.asked), one.clock.monotonic()
    one.monitor.refresh()
    await one.next()
    await one.next()
    assert [(when, what) for when, what in one.stage.asked[asked:]][:2] == [(time, "list"), (time, "one")]


@pytest.mark.parametrize(("start", "every"), [(599.0, 5.0), (-200.0, 5.0), (7200.0, 15.0), (-1200.0, 15.0)])
async def test_near_a_scheduled_start_the_list_is_asked_more_often(deck: Raise, start: float, every: float) -> None:
    one = deck(event(stream=None, scheduled={"time": at(start)}))
    await one.until(60)
    assert all(every * 0.9 - 0.5 <= gap <= every * 1.1 for gap in gaps(one.stage.times("list"))[1:])


async def test_only_events_that_may_send_are_asked_for_samples(deck: Raise) -> None:
    pending = {"id": "p", "status": "pending", "started_at": None, "finished_at": None}
    ended = {"id": "x", "status": "finished", "started_at": at(-900), "finished_at": at(-800)}
    one = deck(
        event("air"),
        event("draft", stream=None),
        event("done", stream=ended),
        event("tomorrow", stream=pending, scheduled={"time": at(86_400)}),
        event("soon", stream=pending, scheduled={"time": at(500)}),
        event("late", stream=pending, scheduled={"time": at(-500)}),
    )
    one.stage.unsent = {"tomorrow"}
    await one.until(50)
    assert {what for _, what in one.stage.asked} == {"list", "air", "soon", "late", "tomorrow"}
    assert len(one.stage.times("tomorrow")) == 1


async def test_events_whose_start_is_far_share_a_tenth_of_the_budget(deck: Raise) -> None:
    pending = {"id": "p", "status": "pending"}
    events = [event(f"far-{n}", stream=pending, scheduled={"time": at(86_400)}) for n in range(100)]
    one = deck(*events, cadence=Cadence(budget=5.0))
    one.stage.unsent = {f"far-{n}" for n in range(100)}
    await one.until(400)
    asked = [when for when, what in one.stage.asked if what != "list" and when > 100]
    assert len(asked) <= 0.1 * 5.0 * 300 * 1.2


async def test_never_two_in_flight_for_the_same_thing_and_eight_at_most(deck: Raise) -> None:
    one = deck(*[event(f"event-{number}") for number in range(20)])
    await one.until(10)
    one.stage.hang()
    await one.until(30)
    one.monitor.refresh()
    await one.until(60)
    one.stage.release()
    await one.until(90)
    most = dict(one.stage.most_at_once)
    assert most.pop("all") == 8
    assert set(most.values()) == {1}


async def test_a_slow_call_does_not_hold_up_the_news_of_others(deck: Raise) -> None:
    one = deck(event())
    await one.until(10)
    one.stage.hang()
    before = await one.next()
    times = [before.at, *[(await one.next()).at for _ in range(10)]]
    assert all((later - earlier).total_seconds() <= 7.0 for earlier, later in pairwise(times))


async def test_a_dead_platform_is_asked_at_the_pace_of_the_backoff(deck: Raise) -> None:
    one = deck()
    one.stage.fails = 503, {}
    await one.until(150)
    quick_retry, after_it, *later = gaps(one.stage.times("list"))
    assert quick_retry == pytest.approx(0.5)
    waits = [quick_retry + after_it, *later]
    for wait, step in zip(waits, (1, 2, 4, 8, 30, 30, 30), strict=False):
        assert step * 0.9 <= wait <= step * 1.1
    assert len(waits) >= 6


async def test_a_dead_platform_is_probed_and_not_stormed(deck: Raise) -> None:
    one = deck(*[event(f"event-{number}") for number in range(20)])
    await one.until(20)
    one.stage.fails = 503, {}
    await one.until(60)
    asked = len(one.stage.asked)
    await one.until(160)
    probes = [when for when in one.stage.times("probe") if when > 60]
    assert len(one.stage.asked) - asked - len(probes) <= 10
    assert all(gap >= 4.0 for gap in gaps(probes))
    one.stage.fails = None
    back = await one.until(200)
    assert all(state.assessment.health.score == 100 for state in back.events)


async def test_a_list_that_hangs_makes_no_storm_of_probes(deck: Raise) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.fails = 503, {}
    await one.until(60)
    one.stage.fails = None
    one.stage.fails_qos = 500, {}
    one.stage.hang()
    asked = len(one.stage.asked)
    for _ in range(60):
        await one.next()
    assert len(one.stage.asked) - asked <= 3


async def test_a_call_that_begins_to_fail_is_a_reason_to_ask_for_the_list_and_one_that_goes_on_is_none(
    deck: Raise,
) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.fails_qos = 500, {}
    begun = one.clock.monotonic()
    await one.until(begun + 60)
    failed = next(when for when in one.stage.times("one") if when > begun)
    lists = [when - failed for when in one.stage.times("list") if when > begun]
    assert min(lag for lag in lists if lag > 0) < 1.0
    assert len(lists) <= 6


async def test_a_rate_limit_that_one_call_meets_is_told_of_the_link_and_not_of_the_event(deck: Raise) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.fails_qos = 429, {"retry-after": "20"}
    for seconds in range(35, 100, 10):
        snapshot = await one.until(seconds)
        assert snapshot.link.problem is ConnectionProblem.RATE_LIMITED
        assert {alarm.kind for alarm in snapshot.alarms} == {"RATE_LIMITED"}


async def test_a_round_that_is_cut_short_when_only_failures_came_makes_no_storm(deck: Raise) -> None:
    """While the list alone fails, a person acts before the events have answered well."""
    names = [f"event-{number}" for number in range(5)]
    one = deck(event("broken"), *map(event, names))
    one.stage.silent_from = 20.0
    key = (await one.until(60)).alarms[0].key
    one.stage.broken, one.stage.slow = {"list", "broken"}, dict.fromkeys(names, 0.5)
    one.monitor.refresh()
    begun = one.clock.monotonic()

    async def act() -> None:
        await one.clock.sleep(0.2)
        await one.monitor.note(key, "called the venue")

    person = asyncio.create_task(act())
    await one.until(begun + 3)
    await person
    asked = [what for when, what in one.stage.asked if begun < when <= begun + 3]
    assert {*asked} == {"list", "broken"}
    assert asked.count("broken") == 1  # its quick retry


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_obeyed_even_when_somebody_pokes(deck: Raise, status: int) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.fails = status, {"retry-after": "60"}
    asked = len(one.stage.asked)
    while len(one.stage.asked) == asked:
        await one.next()
    asked, since = len(one.stage.asked), one.clock.monotonic()
    one.stage.fails = None
    one.monitor.refresh()
    while len(one.stage.asked) == asked:
        await one.next()
    assert one.stage.asked[asked][0] >= since + 60


async def test_the_cadence_can_be_set(deck: Raise) -> None:
    one = deck(event(), cadence=Cadence(events=60.0, qos=10.0))
    snapshot = await one.until(300)
    assert all(53.5 <= gap <= 66 for gap in gaps(one.stage.times("list")))
    assert snapshot.link.interval == 60.0
    assert snapshot.events[0].assessment.health.score == 100


async def test_all_polling_shares_one_budget_and_what_is_on_air_goes_first(deck: Raise) -> None:
    """Twelve calls are wanted in each five seconds and five are affordable."""
    pending = {"id": "p", "status": "pending"}
    waiting = [event(f"late-{n}", stream=pending, scheduled={"time": at(-60)}) for n in range(3)]
    one = deck(*waiting, *(event(f"air-{n}") for n in range(8)), cadence=Cadence(budget=1.0))
    one.stage.unsent = {"late-0", "late-1", "late-2"}
    last = await one.until(120)
    times = [when for when, _ in one.stage.asked]
    assert all(len([when for when in times if begin <= when < begin + 30]) <= 31 for begin in range(0, 90, 5))
    on_air = [len(one.stage.times(f"air-{n}")) for n in range(8)]
    assert max(on_air) - min(on_air) <= 2
    assert min(on_air) >= 2 * max(len(one.stage.times(f"late-{n}")) for n in range(3))
    assert not any(alarm.kind == "QOS_STALE" for alarm in last.alarms)


async def test_a_budget_that_suffices_changes_nothing(deck: Raise) -> None:
    free, bound = (deck(event(), event("two"), cadence=Cadence(budget=budget)) for budget in (1000.0, 5.0))
    await free.until(60)
    await bound.until(60)
    assert bound.stage.asked == free.stage.asked


async def test_rooms_are_asked_for_every_half_minute_while_they_are_wanted(deck: Raise) -> None:
    one = deck(event())
    assert (await one.until(60)).rooms.as_of is None
    assert not one.stage.times("rooms")
    one.monitor.watch("test", ROOM_LIST)
    seen = await one.until(200)
    asked = one.stage.times("rooms")
    assert asked[0] <= 66
    assert all(26.0 <= gap <= 33.5 for gap in gaps(asked))
    assert [room.name for room in seen.rooms.items] == ["Green room"]
    one.monitor.watch("test")
    await one.until(300)
    assert one.stage.times("rooms") == asked


async def test_rooms_that_are_refused_keep_what_was_known_and_say_why(deck: Raise) -> None:
    one = deck(event())
    one.monitor.watch("test", ROOM_LIST)
    known = (await one.until(20)).rooms
    one.stage.fails_qos = 403, {}
    after = (await one.until(100)).rooms
    assert (after.items, after.as_of) == (known.items, known.as_of)
    assert "the platform does not allow this" in after.error
    assert after.is_stale(one.clock.now())


async def test_a_list_that_somebody_opens_is_shown_at_once_though_an_event_answers_slowly(deck: Raise) -> None:
    one = deck(event())
    await one.until(20)
    one.stage.slow = {"one": 1.5}
    one.monitor.refresh()
    await one.until(21)
    begun = one.clock.monotonic()
    one.monitor.watch("test", ROOM_LIST)
    while (snapshot := await one.next()).rooms.as_of is None:
        pass
    assert one.clock.monotonic() - begun < 0.3
    assert [room.name for room in snapshot.rooms.items] == ["Green room"]


async def test_a_list_that_comes_after_its_viewer_has_left_is_there_for_the_next_one(deck: Raise) -> None:
    """Somebody who moves through rows fast would otherwise wait a whole interval for a row that was passed."""
    one = deck(event())
    await one.until(20)
    one.stage.slow = {"rooms": 1.0}
    one.monitor.watch("test", ROOM_LIST)
    while not one.stage.times("rooms"):
        await one.next()
    one.monitor.watch("test")
    snapshot = await one.until(25)
    assert [room.name for room in snapshot.rooms.items] == ["Green room"]
    assert len(one.stage.times("rooms")) == 1


async def test_a_list_is_answered_anew_after_a_refresh_and_not_before(deck: Raise) -> None:
    """Whoever waits for a list after a change waits for an answer to a request that was made after it."""
    one = deck(event())
    one.monitor.watch("test", ROOM_LIST)
    await one.until(20)
    assert one.monitor.on_demand.is_current([ROOM_LIST])
    one.stage.slow = {"rooms": 1.0}
    one.monitor.refresh()
    assert not one.monitor.on_demand.is_current([ROOM_LIST])
    await one.until(20.5)
    one.monitor.refresh()
    asked = len(one.stage.times("rooms"))
    while not one.monitor.on_demand.is_current([ROOM_LIST]):
        await one.next()
    assert len(one.stage.times("rooms")) == asked + 1
