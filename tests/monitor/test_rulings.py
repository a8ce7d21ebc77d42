"""Rulings of a person or of the settings count at once, in every process, and after restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.client import Api
from livedeck.monitor import (
    AlarmState,
    BitrateUnit,
    Content,
    EventState,
    History,
    HistoryReader,
    Limits,
    LimitsError,
    LimitTemplate,
    Monitor,
    ProfileChoice,
    Ruling,
    Rulings,
    Snapshot,
    Thresholds,
    UnitChoice,
    UsualMark,
)
from monitor.stage import NOW, Deck, Stage, event
from monitor.test_restart import MovedClock
from virtual_clock import VirtualClock

ACTORS = st.sampled_from(("anna@regie:1", "bert@hall:2"))
MOMENTS = st.integers(0, 3).map(lambda seconds: NOW + timedelta(seconds=seconds))
EVENTS = st.sampled_from(("one", "two"))
MARKS = st.builds(UsualMark, MOMENTS, EVENTS, st.sampled_from(("a", "b")), st.integers(0, 5).map(float), ACTORS)
CHOICES = st.builds(ProfileChoice, MOMENTS, EVENTS, st.sampled_from((None, *Content)), ACTORS)
UNITS = st.builds(
    UnitChoice, MOMENTS, st.sampled_from(BitrateUnit), ACTORS, st.sampled_from(("a.example", "b.example"))
)


class Fading(Stage):
    """Platform whose encoders send 15 of 30 frames, and no sound, from a time on (s from NOW)."""

    slow_from = mute_from = inf

    def _sent(self) -> list[dict[str, Any]]:
        rows = super()._sent()
        for row in rows:
            if row["time"] > _text(self.slow_from):
                row["frame_rate"] = 15
            if row["time"] > _text(self.mute_from):
                row["bitrate_audio"] = 0
        return rows


def _text(seconds: float) -> str:
    return "9" if seconds == inf else (NOW + timedelta(seconds=seconds)).isoformat()


@pytest.fixture
async def fading() -> Fading:
    return Fading(VirtualClock(), event())


def standing(snapshot: Snapshot) -> set[str]:
    """Return the kinds of the present faults."""
    return {alarm.kind for alarm in snapshot.alarms if alarm.present}


@given(st.lists(st.one_of(MARKS, CHOICES, UNITS), max_size=8), st.randoms(use_true_random=False))
def test_in_whatever_order_and_however_often_rulings_are_heard_of_they_say_the_same(
    rulings: list[Ruling], random: Random
) -> None:
    at_once, one_by_one = Rulings().including(rulings), Rulings()
    again = [*rulings, *random.sample(rulings, len(rulings) // 2)]
    random.shuffle(again)
    for ruling in again:
        one_by_one = one_by_one.including([ruling])
    for event_id in ("one", "two"):
        for stream_id in ("a", "b"):
            assert at_once.on(event_id, stream_id) == one_by_one.on(event_id, stream_id)
    assert not any(one_by_one.lacks(ruling) for ruling in rulings if isinstance(ruling, UsualMark))


def test_content_that_is_chosen_later_counts_though_the_clock_was_set_back() -> None:
    first = ProfileChoice(NOW, "one", Content.RADIO, "anna@regie:1")
    known = Rulings().including([first])
    at = known.next_moment("one", NOW - timedelta(hours=1))
    later = known.including([ProfileChoice(at, "one", Content.SLIDES, "bert@hall:2")])
    assert later.content_of("one") is Content.SLIDES


async def test_what_is_taken_as_usual_is_no_fault_from_the_next_sample_on(fading: Fading) -> None:
    deck = Deck(fading, actor="anna@regie:1")
    fading.slow_from = 20.0
    assert "FPS_COLLAPSE" in standing(await deck.until(60))
    assert await deck.monitor.take_as_usual("one")
    snapshot = await deck.next()
    assert [(change.event_id, change.text) for change in snapshot.rule_changes] == [
        ("one", "baseline set by anna@regie")
    ]
    (ruling,) = snapshot.events[0].rulings
    assert ruling.moment.timestamp() == pytest.approx(snapshot.events[0].qos.readings.time[-1], abs=0.01)
    after = await deck.until(75)
    assert not standing(after)
    assert after.events[0].assessment.nominal_fps == 15
    assert not await deck.monitor.take_as_usual("nobody's")
    await deck.close()


async def test_content_changes_the_judgement_of_what_is_known_at_once(fading: Fading) -> None:
    """And back: the choice goes before the settings, whose content holds again without it."""
    deck = Deck(fading, limits=Limits(events={"one": {"content": "slides"}}))
    fading.mute_from = 20.0
    assert "AUDIO_LOST" in standing(await deck.until(60))
    newest = (await deck.next()).events[0].qos.readings
    assert await deck.monitor.choose_content("one", Content.SILENT)
    snapshot = await deck.next()
    assert snapshot.events[0].qos.readings is newest, "no answer was waited for"
    assert (snapshot.events[0].content, standing(snapshot)) == (Content.SILENT, set())
    assert not await deck.monitor.choose_content("one", Content.SILENT), "it is that already"
    assert await deck.monitor.choose_content("one", None)
    snapshot = await deck.next()
    assert (snapshot.events[0].content, standing(snapshot)) == (Content.SLIDES, {"AUDIO_LOST"})
    await deck.close()


async def test_an_event_that_is_renamed_or_moved_has_the_limits_of_its_new_name_or_project(fading: Fading) -> None:
    templates = (
        LimitTemplate({"content": "silent"}, events=("Slides *",)),
        LimitTemplate({"content": "radio"}, projects=("p-radio",)),
    )
    deck = Deck(fading, limits=Limits(templates=templates))
    fading.mute_from = 20.0
    assert "AUDIO_LOST" in standing(await deck.until(60))
    fading.events = [event(name="Slides 3")]
    snapshot = await deck.until(90)
    assert (snapshot.events[0].content, standing(snapshot)) == (Content.SILENT, set())
    fading.events = [event(name="Slides 3", parent_id="p-radio")]
    snapshot = await deck.until(120)
    assert (snapshot.events[0].content, standing(snapshot)) == (Content.RADIO, {"AUDIO_LOST"})
    await deck.close()


class Written:
    """Source of limits that a test writes; it raises an error if they cannot be read."""

    def __init__(self) -> None:
        self.news: list[Limits | LimitsError] = []

    def changed(self) -> Limits | None:
        """Return the limits if they were written since the last call."""
        if not self.news:
            return None
        news = self.news.pop()
        if isinstance(news, LimitsError):
            raise news
        return news


def told(snapshot: Snapshot) -> list[tuple[str, str, bool]]:
    """Return the notices about changed rules."""
    return [(change.event_id, change.text, change.is_fault) for change in snapshot.rule_changes]


async def until_told(deck: Deck) -> Snapshot:
    """Return the next snapshot with a notice about changed rules."""
    while True:
        snapshot = await deck.next()
        if snapshot.rule_changes:
            return snapshot


async def test_limits_that_are_written_hold_without_a_restart_and_are_told(fading: Fading) -> None:
    written, base = Written(), Thresholds()
    deck = Deck(fading, limits_source=written)
    fading.mute_from = 20.0
    assert "AUDIO_LOST" in standing(await deck.until(60))
    lenient = replace(base, low_video=0.6, low_hold=replace(base.low_hold, seconds=30.0))
    written.news.append(Limits(lenient, events={"one": {"content": "silent"}}))
    snapshot = await until_told(deck)
    assert told(snapshot) == [
        ("", "low_video 0.7 -> 0.6, low_hold.seconds 15 -> 30", False),
        ("one", "content show -> silent", False),
    ]
    assert not standing(snapshot)
    written.news.append(LimitsError("config.toml:3: low_video: a number is allowed here"))
    snapshot = await until_told(deck)
    assert told(snapshot) == [("", "Limits unchanged: config.toml:3: low_video: a number is allowed here", True)]
    assert snapshot.events[0].content is Content.SILENT
    written.news.append(Limits(lenient))
    assert "AUDIO_LOST" in standing(await until_told(deck))
    await deck.close()


@asynccontextmanager
async def decks(path: Path, stage: Stage, at: float) -> AsyncIterator[tuple[Monitor, Monitor, Monitor]]:
    """Yield two decks and a wall of one history, from `at` seconds after NOW on."""
    clock = MovedClock(at)
    stage.clock = VirtualClock(clock.now())
    api = Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=stage)
    histories = [await History.open(path, clock.now()) for _ in range(2)]
    async with api:
        anna, bert = (
            Monitor(api, clock, random=Random(1), history=history, actor=actor)
            for history, actor in zip(histories, ("anna@regie:1", "bert@hall:2"), strict=True)
        )
        yield anna, bert, Monitor(api, clock, random=Random(1), reader=HistoryReader(path))
    for history in histories:
        await history.close()


async def judged(monitor: Monitor, text: str) -> EventState:
    """Return the event once the monitor has a notice with that text."""
    async with asyncio.timeout(60), aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            if any(change.text == text for change in snapshot.rule_changes):
                return snapshot.events[0]
    raise AssertionError("a monitor never ends by itself")


async def test_what_is_ruled_at_one_deck_holds_at_another_at_a_wall_and_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    stage = Fading(VirtualClock(), event())
    stage.mute_from = stage.slow_from = 20.0
    async with decks(path, stage, 60) as (anna, bert, wall):
        for monitor in (anna, bert, wall):
            assert {"AUDIO_LOST", "FPS_COLLAPSE"} <= standing(await monitor.wait_ready())
        assert await anna.choose_content("one", Content.SILENT)
        for monitor in (bert, wall):
            state = await judged(monitor, "content silent, chosen by anna@regie")
            assert state.content is Content.SILENT
        assert await bert.take_as_usual("one")
        for monitor in (anna, wall):
            state = await judged(monitor, "baseline set by bert@hall")
            assert {type(ruling) for ruling in state.rulings} == {UsualMark, ProfileChoice}
    async with decks(path, stage, 90) as (anna, _, wall):
        for monitor in (anna, wall):
            snapshot = await monitor.wait_ready()
            assert standing(snapshot) == set()
            assert snapshot.rule_changes == (), "what was said before is no news"
            assert snapshot.events[0].assessment.nominal_fps == 15
            assert all(alarm.state is not AlarmState.UNACKNOWLEDGED for alarm in snapshot.alarms)


async def test_a_mark_from_before_the_samples_that_are_known_makes_nothing_usual(tmp_path: Path) -> None:
    """After a restart an hour later the samples before the mark are gone; those that are there teach by themselves."""
    path, stage = tmp_path / "deck.sqlite", Fading(VirtualClock(), event())
    async with decks(path, stage, 60) as (anna, _, _):
        await anna.wait_ready()
        history = await History.open(path, NOW)
        await history.record_ruling(UsualMark(NOW, "one", "stream-one", NOW.timestamp() - 3600, "anna@regie:1"))
        await history.close()
        state = await judged(anna, "baseline set by anna@regie")
        assert (state.assessment.nominal_fps, len(state.rulings)) == (30, 1)
