"""No screen says that all is well while nobody can know that."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import ConnectionState, EventState, Grade, Health, HealthAssessment, Ingest, IngestState, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.ui.app import Deck
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.model import wall_model
from livedeck.ui.wallboard.page import page
from ui.stage import act, known, running, show
from ui.wall_stage import SIZES as WALL_SIZES
from ui.wall_stage import STILL, evening, lines, many, says, text

CALM = re.compile(
    r"nothing is wrong|no faults|no open alarms|no fault is known|\ball well|\bclear\b|\bgood\b", re.IGNORECASE
)
SIZES = ((40, 10), (80, 24), (160, 50))
SCREENS = ("screen.events", "screen.streams", "screen.qos", "screen.alarms")


def _unseen(state: EventState) -> EventState:
    """Return the event as a blind monitor judges it: with a stale health, and without findings."""
    return replace(state, is_stale=True, assessment=HealthAssessment(Health(grade=Grade.STALE)))


def _blind(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot forty seconds after the last reply."""
    since, as_of = EVENING - timedelta(seconds=10), EVENING - timedelta(seconds=40)
    link = replace(snapshot.link, state=ConnectionState.BLIND, since=since, as_of=as_of)
    return replace(snapshot, link=link, events=tuple(map(_unseen, snapshot.events)), alarms=(), quiet=())


def _words(deck: Deck) -> str:
    """Return the lines on the screen."""
    strips = deck.screen._compositor.render_strips(deck.size)
    return "\n".join(strip.text.rstrip() for strip in strips)


async def test_no_screen_has_calm_words_while_monitoring_is_blind() -> None:
    """monitoring.md, "Freshness": what nobody can see is not well, in every size, for an event ill or well before."""
    async with running(SIZES[-1]) as (deck, pilot):
        blind = _blind(known(deck))
        await show(deck, pilot, link=blind.link, events=blind.events, alarms=(), quiet=())
        on_air = [state for state in blind.events if state.phase.tally.expects_signal]
        well = next(state for state in on_air if not state.episodes)
        for state, screens in ((on_air[0], SCREENS[:1]), (well, SCREENS)):
            deck.select_event(state.id)
            for screen in screens:
                await act(pilot, screen)
                for size in SIZES:
                    await pilot.resize_terminal(*size)
                    await pilot.pause()
                    assert not CALM.search(_words(deck)), (screen, size)


def _unmeasured(state: EventState, ingest: IngestState) -> EventState:
    """Return the event before its samples are judged: it was just found, or its encoder has just begun."""
    phase = replace(state.phase, ingest=Ingest(ingest)) if state.phase.tally.expects_signal else state.phase
    return replace(state, phase=phase, episodes=(), assessment=HealthAssessment(Health(grade=Grade.WARM_UP)))


@pytest.mark.parametrize("ingest", [IngestState.UNKNOWN, IngestState.WARMING_UP])
async def test_no_face_has_calm_words_before_anything_was_measured(ingest: IngestState) -> None:
    async with running(SIZES[-1]) as (deck, pilot):
        events = tuple(_unmeasured(state, ingest) for state in known(deck).events)
        await show(deck, pilot, events=events, alarms=(), quiet=())
        deck.select_event(next(state.id for state in events if state.phase.tally.expects_signal))
        for screen in SCREENS:
            await act(pilot, screen)
            for size in SIZES:
                await pilot.resize_terminal(*size)
                await pilot.pause()
                assert not CALM.search(_words(deck)), (screen, size)
                assert "measuring" in _words(deck), (screen, size)
        snapshot = replace(known(deck), events=events, alarms=(), quiet=())
    for size in WALL_SIZES:
        drawn = lines(snapshot, size)
        assert not CALM.search(text(drawn)), size
        assert not says(drawn, "nothing is wrong"), size


async def test_nothing_is_clear_while_a_fault_waits_for_its_announcement() -> None:
    """monitoring.md, "Announcements": the row shows the fault, and its alarm comes some seconds later."""
    async with running(SIZES[1]) as (deck, pilot):
        hidden = (*known(deck).alarms, *known(deck).quiet)
        await show(deck, pilot, alarms=(), quiet=())
        for screen in ("screen.events", "screen.alarms"):
            await act(pilot, screen)
            assert not re.search(r"\bclear\b|no open alarms", _words(deck), re.IGNORECASE), screen
            assert "measuring" in _words(deck), screen
        await show(deck, pilot, quiet=hidden)
        assert "clear" in _words(deck)


async def test_the_short_pane_says_since_when_an_event_is_not_known_and_what_was_wrong() -> None:
    async with running((80, 24)) as (deck, pilot):
        blind = _blind(known(deck))
        await show(deck, pilot, link=blind.link, events=blind.events, alarms=(), quiet=())
        ill = next(state for state in blind.events if any(episode.until is None for episode in state.episodes))
        deck.select_event(ill.id)
        await pilot.pause()
        kinds = {episode.kind for episode in ill.episodes if episode.until is None}
        said = re.search(r"not known since \d\d:\d\d:\d\dZ, (\w+) before", _words(deck))
        assert said
        assert said[1] in kinds


@pytest.mark.parametrize("count", [0, 1, 4, 25])
async def test_no_wall_has_calm_words_while_monitoring_is_blind(count: int) -> None:
    blind = _blind(many(await evening(), count))
    for size in WALL_SIZES:
        drawn = lines(blind, size)
        assert not CALM.search(text(drawn)), size
        assert not says(drawn, "nothing is wrong"), size
    model = wall_model(blind, RenderTime.from_snapshot(blind, EVENING))
    assert not CALM.search(repr(page(model, STILL, DrawCache())))
