"""A screen that was painted change by change equals one that is painted anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from breadth import slow_rows
from livedeck.cli.screenshots import still_deck
from livedeck.monitor import AlarmState, Snapshot
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.table import RowCells, row_line
from livedeck.ui.app import Deck
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.table import Table
from livedeck.ui.kit.themes import PALETTES
from livedeck.ui.shell.screen import BaseScreen
from ui.stage import REGISTRY, known
from ui.test_idle import Hand, Wire
from ui.wall_stage import many

KEYS = ("down", "down", "down", "up", "pagedown", "pageup", "home", "end", REGISTRY.by_name["screen.streams"].keys[0])
SIZES = ((120, 40), (100, 30), (170, 45), (210, 50), (80, 24))


def reordered(snapshot: Snapshot, random: Random) -> Snapshot:
    """Return the snapshot without some events, the others in another order."""
    states = random.sample(snapshot.events, random.randrange(1, len(snapshot.events) + 1))
    return replace(snapshot, events=tuple(states))


def judged(snapshot: Snapshot, random: Random) -> Snapshot:
    """Return the snapshot with an event that has no findings, or those of another event."""
    states = [*snapshot.events]
    place, other = random.randrange(len(states)), random.choice(states)
    states[place] = replace(states[place], assessment=other.assessment, qos=other.qos, phase=other.phase)
    return replace(snapshot, events=tuple(states))


def acknowledged(snapshot: Snapshot, random: Random) -> Snapshot:
    """Return the snapshot with an alarm in another state, or shelved."""
    if not snapshot.alarms:
        return snapshot
    alarm, *others = random.sample(snapshot.alarms, len(snapshot.alarms))
    if random.random() < 0.5:
        quiet = replace(alarm, state=AlarmState.SHELVED)
        return replace(snapshot, alarms=tuple(others), quiet=(*snapshot.quiet, quiet))
    return replace(snapshot, alarms=(replace(alarm, state=AlarmState.ACKNOWLEDGED), *others))


CHANGES: tuple[Callable[[Snapshot, Random], Snapshot], ...] = (reordered, judged, acknowledged)


def shown(deck: Deck) -> list[Strip]:
    """Return the screen, line by line, with its styles."""
    return [strip.simplify() for strip in deck.screen._compositor.render_strips(deck.size)]


async def settle(pilot: Pilot[int]) -> None:
    for _ in range(3):
        await pilot.pause()


async def act(deck: Deck, pilot: Pilot[int], clock: Hand, first: Snapshot, random: Random) -> None:
    """Do one thing that a person, the platform or time may do."""
    kind = random.random()
    if kind < 0.35:
        deck.go_to("events")
        await pilot.press(*(random.choice(KEYS) for _ in range(random.randrange(1, 4))))
    elif kind < 0.65:
        clock.at += timedelta(seconds=random.choice((1, 1, 1, 2, 60, 3600)))
        link = replace(known(deck).link, as_of=clock.at)
        deck.snapshot = known(deck) if random.random() < 0.1 else replace(known(deck), link=link)
        deck.snapshot_signal.publish(None)
    elif kind < 0.85:
        snapshot = random.choice(CHANGES)(known(deck), random) if random.random() < 0.8 else first
        deck.snapshot = snapshot
        deck.snapshot_signal.publish(None)
    elif kind < 0.9:
        deck.fault = "" if deck.fault else "the monitor has ended"
        deck.snapshot_signal.publish(None)
    elif kind < 0.95:
        await pilot.resize_terminal(*random.choice(SIZES))
    else:
        deck.set_theme(random.choice([*PALETTES]))


@pytest.mark.parametrize(("seed", "steps"), [(1, 25), (2, 25), *slow_rows((3, 600), (4, 600))])
async def test_a_screen_painted_change_by_change_is_one_painted_afresh(
    monkeypatch: pytest.MonkeyPatch, seed: int, steps: int
) -> None:
    """Nothing that is remembered outlives what it depends on, and the terminal was sent all that differs."""
    random, clock = Random(seed), Hand()
    Wire.came = asyncio.Event()
    async with still_deck() as deck:
        deck.driver_class, deck.clock = Wire, clock
        async with deck.run_test(headless=False, size=SIZES[0]) as pilot:
            await settle(pilot)
            deck.workers.cancel_all()
            first = deck.snapshot = many(known(deck), 40)
            deck.snapshot_signal.publish(None)
            await settle(pilot)
            for step in range(steps):
                await act(deck, pilot, clock, first, random)
                await settle(pilot)
                if not isinstance(deck.screen, BaseScreen):
                    await pilot.press("escape")
                    await settle(pilot)
                    continue
                before = shown(deck)
                with monkeypatch.context() as forgetful:
                    forgetful.setattr(Remembered, "get", lambda _, _subjects, _values, make: make())
                    forgetful.setattr(RowCells, "line", lambda cells, at, columns: row_line(cells.row, at, columns))
                    deck.screen.refresh_all()
                    for widget in (*deck.screen.query(Canvas), *deck.screen.query(Table)):
                        widget.refresh()
                        widget.on_resize()
                    after = shown(deck)
                assert [strip.text for strip in before] == [strip.text for strip in after], step
                assert before == after, step
                await settle(pilot)
