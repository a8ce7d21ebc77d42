"""Earlier streams on screen 3: any moment in a few keys, streams of deleted events, and one laid under another
(interface.md, "Earlier streams")."""

from __future__ import annotations

import re
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from textual.pilot import Pilot

from livedeck.cli.screenshots import EVENING
from livedeck.client import Stream
from livedeck.monitor import Episode, EventState, History, Readings, Severity
from livedeck.text.times import TimeReference
from livedeck.ui.app import Deck
from livedeck.ui.qos.screen import QosScreen
from livedeck.ui.shell.moments import moment_words
from ui.stage import act, known, running, text_of

DAY = timedelta(days=1)
SHOW_STARTS = EVENING.replace(hour=20, minute=30, second=0)
HOURS_2 = 7200


def past_state(state: EventState, start: datetime, video: float, stream_id: str, **event: object) -> EventState:
    """Return the event as it was two hours after that start, with a fault at 21:10."""
    times = [start.timestamp() + second for second in range(0, HOURS_2, 2)]
    rate, sound, frames = (array("d", [value] * len(times)) for value in (video, 128e3, 30.0))
    readings = Readings(array("d", times), rate, sound, frames, array("q", [0] * len(times)))
    since = start + timedelta(minutes=40)
    until = since + timedelta(minutes=2)
    fault = Episode("PACKET_LOSS", Severity.CRITICAL, "", since, until, "loss in 5 of 6", "no loss")
    stream = Stream(id=stream_id, status="finished", started_at=start, finished_at=start + timedelta(hours=2))
    return replace(
        state,
        event=state.event.model_copy(update={"stream": stream, **event}),
        qos=replace(state.qos, readings=readings),
        episodes=(fault,),
    )


async def keep(history: History, deck: Deck, *states: EventState) -> None:
    """Store these states in the history, as the only events of a snapshot after the last of them."""
    at = max((datetime.fromtimestamp(state.qos.readings.time[-1], EVENING.tzinfo) for state in states), default=EVENING)
    await history.append(replace(known(deck), at=at, events=states, alarms=(), quiet=()))
    await history.flush()


@asynccontextmanager
async def evening(size: tuple[int, int] = (120, 40), *keys: str) -> AsyncIterator[tuple[Deck, Pilot[int], EventState]]:
    """Yield a deck whose second event had three earlier streams; another event, of two days ago, is gone."""
    history = await History.open(None, EVENING)
    try:
        async with running(size, "down", history=history) as (deck, pilot):
            shown = deck.selected_event()
            assert shown is not None
            gala = past_state(shown, SHOW_STARTS - 2 * DAY, 3e6, "stream-gala", id="gala", name="Winter gala")
            await keep(history, deck, past_state(shown, SHOW_STARTS - 7 * DAY, 2e6, "stream-week"))
            await keep(history, deck, past_state(shown, SHOW_STARTS - 2 * DAY, 3e6, "stream-two"), gala)
            await keep(history, deck, past_state(shown, SHOW_STARTS - DAY, 1e6, "stream-yesterday"))
            await pilot.press(*keys)
            await settled(deck, pilot)
            yield deck, pilot, shown
    finally:
        await history.close()


async def settled(deck: Deck, pilot: Pilot[int]) -> None:
    """Wait until nothing is loading any more."""
    for _ in range(2):
        await pilot.pause()
        groups = {"actions", "past", "past of another", "past of the whole", "last stream"}
        for worker in [worker for worker in deck.workers if worker.group in groups and not deck.screen.is_modal]:
            await worker.wait()
        await pilot.pause()


async def test_a_moment_of_yesterdays_stream_is_six_keys_away_from_the_list_of_events() -> None:
    """At 21:14 today's stream had not begun at 20:40: that is yesterday's, and 21:04 of today is today's."""
    keys = ("J", "2", "0", "4", "0", "enter")
    assert len(keys) <= 6
    async with evening((120, 40), *keys) as (deck, pilot, _):
        assert not_live(deck) == "NOT LIVE 20:31-20:48, yesterday's stream"
        assert readout(deck) == "20:39:54", "the column that has it"
        assert "1.00 Mbit/s" in text_of(deck)
        await act(pilot, "qos.back")
        await jump(deck, pilot, "2104")
        assert readout(deck).startswith(("21:03:5", "21:04:0"))
        assert "stream" not in not_live(deck)
        await jump(deck, pilot, "yesterday 21:04")
        assert re.fullmatch(r"NOT LIVE 20:5\d-21:1\d, yesterday's stream", not_live(deck))
        assert "PACKET_LOSS" in text_of(deck), "the fault of that stream"


async def jump(deck: Deck, pilot: Pilot[int], text: str) -> None:
    deck.dispatch("qos.jump", text)
    await settled(deck, pilot)


def not_live(deck: Deck) -> str:
    match = re.search(r"NOT LIVE [^<]*?(?=\s{2}|\s*<)", text_of(deck))
    return match[0].strip() if match else ""


@pytest.mark.slow
async def test_a_time_of_day_is_that_of_the_latest_day_on_which_a_stream_ran_then() -> None:
    """Today's began at 20:59, so that 20:40 is yesterday's."""
    async with evening((120, 40), "J", *"2040", "enter") as (deck, pilot, _):
        assert not_live(deck).endswith("yesterday's stream")
        await jump(deck, pilot, "03:00")
        assert "the nearest is" in text_of(deck)


@pytest.mark.parametrize("text", ["soon", "2460", "+5m", "in 5 min"])
def test_what_is_no_moment_of_the_past_is_not_taken(text: str) -> None:
    words, is_good = moment_words(text, TimeReference(EVENING, UTC, past=True))
    assert words
    assert not is_good


@pytest.mark.slow
async def test_live_is_one_key_away_and_alarms_of_now_come_through() -> None:
    async with evening((120, 40), "J", *"2040", "enter") as (deck, pilot, shown):
        snapshot = known(deck)
        alarm = next(alarm for alarm in snapshot.alarms if alarm.event_id == shown.id)
        assert alarm.kind in alarm_strip(deck)
        await act(pilot, "qos.now")
        assert not_live(deck) == ""
        assert deck.screen_of(QosScreen).is_live


def alarm_strip(deck: Deck) -> str:
    return str(deck.screen.query_one("#alarms").render_lines(deck.screen.query_one("#alarms").region.reset_offset))


@pytest.mark.slow
async def test_streams_are_stepped_through_and_have_two_ends() -> None:
    async with evening((120, 40), "3") as (deck, pilot, _):
        await press(deck, pilot, "qos.previous_stream")
        assert not_live(deck).endswith("yesterday's stream")
        assert "-22:3" in not_live(deck)
        await press(deck, pilot, "qos.start")
        assert not_live(deck).startswith("NOT LIVE 20:")
        await press(deck, pilot, "qos.end")
        assert "-22:3" in not_live(deck)
        await press(deck, pilot, "qos.previous_stream", "qos.previous_stream")
        assert not_live(deck).endswith("the stream of 13 Nov")
        await press(deck, pilot, "qos.previous_stream")
        assert "no earlier stream" in text_of(deck)
        await press(deck, pilot, *["qos.next_stream"] * 3)
        assert not_live(deck) == ""


async def press(deck: Deck, pilot: Pilot[int], *actions: str) -> None:
    for action in actions:
        await act(pilot, action)
        await settled(deck, pilot)


@pytest.mark.slow
async def test_faults_and_marks_out_of_sight_move_the_window() -> None:
    async with evening((120, 40), "3") as (deck, pilot, shown):
        await jump(deck, pilot, "yesterday 22:20")
        history = deck.history
        assert history is not None
        assert readout(deck).startswith("22:1")
        await press(deck, pilot, "qos.next_fault")
        assert readout(deck).startswith(("21:09:5", "21:10:0")), "the column in which it began"
        assert "NOT LIVE 21:0" in not_live(deck)
        await history.mark(shown.id, SHOW_STARTS - DAY + timedelta(minutes=5), "doors")
        deck.screen_of(QosScreen).show_new_marker()
        await settled(deck, pilot)
        await press(deck, pilot, "qos.previous_marker")
        assert readout(deck).startswith(("20:34:5", "20:35:0"))
        await press(deck, pilot, "qos.previous_marker")
        assert "no marker in this stream before" in text_of(deck)
        await press(deck, pilot, "qos.start", "qos.next_marker")
        assert readout(deck).startswith(("20:34:5", "20:35:0"))


def readout(deck: Deck) -> str:
    match = re.search(r"│ (\d\d:\d\d:\d\d)", text_of(deck))
    return match[1] if match else ""


async def test_a_deleted_event_is_found_by_name_and_nothing_is_done_to_another() -> None:
    async with evening((120, 40), "3") as (deck, pilot, shown):
        await act(pilot, "qos.open")
        await pilot.pause()
        await pilot.press(*"gala")
        await pilot.pause()
        assert "Winter gala" in text_of(deck)
        assert "no longer listed" in text_of(deck)
        await pilot.press("enter")
        await settled(deck, pilot)
        assert "Winter gala" in text_of(deck)
        assert not_live(deck) == "NOT LIVE 22:13-22:30, Wednesday's stream"
        assert deck.selected_event() is None
        await act(pilot, "event.complete")
        assert "nothing is selected" in text_of(deck)
        await press(deck, pilot, "qos.now")
        selected = deck.selected_event()
        assert selected is not None
        assert selected.id == shown.id


async def test_the_same_show_of_last_week_is_suggested_and_laid_under() -> None:
    async with evening((120, 40), "3") as (deck, pilot, shown):
        deck.screen_of(QosScreen)
        await act(pilot, "qos.under")
        await pilot.pause()
        assert re.search(r">\s*Fri 13 Nov 20:30Z", text_of(deck)), "today is a Friday"
        await pilot.press("enter")
        await settled(deck, pilot)
        assert "13 Nov" in text_of(deck)
        assert re.search(r"·· .*13 Nov", text_of(deck))
        assert deck.screen_of(QosScreen).second_id == shown.id
        assert not_live(deck) == ""


@pytest.mark.slow
async def test_a_completed_event_shows_its_last_stream_by_itself() -> None:
    """A deck that starts after its end was never answered for it."""
    async with evening((120, 40)) as (deck, pilot, shown):
        old = past_state(shown, SHOW_STARTS - DAY, 1e6, "stream-yesterday")
        phase = replace(shown.phase, tally=type(shown.phase.tally).COMPLETED)
        over = replace(old, phase=phase, qos=replace(old.qos, readings=Readings(), as_of=None))
        deck.workers.cancel_all()
        deck.snapshot = replace(known(deck), events=(over, *known(deck).events[2:]))
        deck.select_event(over.id)
        await pilot.press("3")
        await settled(deck, pilot)
        assert not_live(deck).endswith("yesterday's stream")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_that_it_is_not_live_is_said_at_every_size(size: tuple[int, int]) -> None:
    async with evening(size, "3") as (deck, pilot, _):
        await jump(deck, pilot, "yesterday 21:04")
        assert not_live(deck).endswith("yesterday's stream")
        assert "whole" in text_of(deck)
