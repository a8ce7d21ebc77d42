"""GO or NO-GO in the deck and on the wall, on the platform that the scenario `preflight` plays (interface.md)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from textual.pilot import Pilot

from livedeck.cli.demo import demo_settings
from livedeck.cli.screenshots import EVENING, LOOKS_APART, FixedClock, watch_until_evening
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.client import Api
from livedeck.monitor import Monitor, Snapshot, event_key
from livedeck.presentation.preflight import Mark, due_preflights, gather_facts, is_due, missing_keys
from livedeck.presentation.render_time import RenderTime
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.text.segments import plain
from livedeck.ui.app import Deck
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import Wall, WallLayout
from livedeck.ui.wallboard.model import WallModel, wall_model
from livedeck.ui.wallboard.seats import Seats
from ui.deck_stage import UNHURRIED
from ui.stage import act, known

AGAINST = {
    "Town council": "conflicts",
    "Book fair talk": "restreams",
    "Night lecture": "schedule",
    "School theatre": "restreams",
    "Choir, hall A": "",
}
"""Event of the scenario that starts soon -> the item that keeps it from starting."""


MAX_PAUSES = 500
"""Maximum turns of the deck until its requests are answered: in process a few are enough."""

TERSE = ("poster", "chat_active", "video", "restreams")
"""Fields that a terse list of the events omits."""


@asynccontextmanager
async def curtain(*without: str) -> AsyncIterator[tuple[Monitor, Api, list[str]]]:
    """Yield a monitor of the scenario, its client, and the requested paths.

    `without`: fields that the list of events omits.
    """
    simulator = Simulator(seed=1, clock=SimulatorClock(start=EVENING, paused=True), scenario="preflight")
    paths: list[str] = []

    async def terse(scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        parts: list[Any] = []

        async def sending(part: Any) -> None:
            parts.append(part)
            if part["type"] == "http.response.body" and not part.get("more_body"):
                await _send_without(without if scope["path"].endswith("/live/events") else (), parts, send)

        await simulator.app(scope, receive, sending)

    clock = FixedClock(LOOKS_APART)
    async with make_api(demo_settings(simulator), clock=clock, mount=terse) as api:
        monitor = make_monitor(api, clock, settings=UNHURRIED)
        await watch_until_evening(monitor, clock, simulator)
        yield monitor, api, paths


@asynccontextmanager
async def before_the_curtain(
    *without: str, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Deck, Pilot[int], list[str]]]:
    """Yield a deck on that monitor, its pilot, and the requested paths."""
    async with curtain(*without) as (monitor, api, paths):
        deck = Deck(monitor, FixedClock(), profile="DEMO", host=api.host, read_only=False, api=api)
        async with deck.run_test(size=size) as pilot:
            await pilot.pause()
            yield deck, pilot, paths


async def _send_without(fields: tuple[str, ...], parts: list[Any], send: Any) -> None:
    head, body = parts[0], b"".join(part.get("body", b"") for part in parts[1:])
    if fields:
        answer = json.loads(body)
        answer["data"] = [{name: row[name] for name in row if name not in fields} for row in answer["data"]]
        body = json.dumps(answer).encode()
        head["headers"] = [(name, value) for name, value in head["headers"] if name.lower() != b"content-length"]
    await send(head)
    await send({"type": "http.response.body", "body": body})


def words(deck: Deck) -> str:
    """Return the screen, line by line."""
    strips = deck.screen._compositor.render_strips(deck.size)
    return "\n".join(strip.text for strip in strips)


def choose(deck: Deck, name: str) -> str:
    """Select the event of that name. Returns its id."""
    event_id = next(state.id for state in known(deck).events if state.event.name == name)
    deck.select_event(event_id)
    return event_id


def seen(deck: Deck) -> tuple[Snapshot, RenderTime]:
    """Return the snapshot that the deck shows, and its render time."""
    displayed = deck.displayed()
    assert displayed is not None
    return displayed.snapshot, displayed.render_time


async def test_an_event_that_is_about_to_start_says_whether_it_is_ready() -> None:
    async with before_the_curtain() as (deck, pilot, paths):
        snapshot, render_time = seen(deck)
        names = {state.id: state.event.name for state in snapshot.events}
        assert {names[key]: found.against for key, found in render_time.preflights.items()} == AGAINST
        for name, against in AGAINST.items():
            choose(deck, name)
            await pilot.pause()
            row = next(line for line in words(deck).splitlines() if name in line and " none " in line)
            late = against == "schedule"
            assert ("✖ NO-GO" in row, "▲ LATE" in row) == (bool(against) and not late, late)
            assert late or against in row
            pane = words(deck).partition("PREFLIGHT")[2]
            first = [word for word in ("GO", "NO-GO", "passed", "unknown") if word in pane.splitlines()[0]]
            assert first == (["GO", "NO-GO", "unknown"] if against else ["GO", "unknown"])
            assert pane.index("? token") < pane.index(" passed")
        assert not [path for path in paths if "/live/events/" in path and not path.endswith("/qos")]


async def test_the_whole_list_is_a_key_away_and_says_how_old_each_fact_is() -> None:
    async with before_the_curtain() as (deck, pilot, _):
        choose(deck, "Book fair talk")
        await act(pilot, "event.preflight")
        shown = words(deck)
        for name in ("schedule", "conflicts", "reconnect window", "restreams", "poster", "qualities", "chat", "clock"):
            assert f" {name} " in shown
        assert "no address or key: Social network" in shown
        assert next(line for line in shown.splitlines() if " poster " in line).rstrip(" │").endswith("0 s")
        await pilot.press("escape")
        await pilot.pause()
        assert "esc closes" not in words(deck)


async def test_three_lines_are_enough_where_there_are_no_panes() -> None:
    async with before_the_curtain(size=(80, 24)) as (deck, pilot, _):
        choose(deck, "Town council")
        await pilot.pause()
        shown = words(deck).splitlines()
        first = next(index for index, line in enumerate(shown) if "Town council" in line and " failed" in line)
        lines = shown[first : first + 3]
        assert "NO-GO" in lines[0]
        assert "sends to the same destination" in lines[1]
        assert "e edit" in lines[2]


async def test_what_the_list_leaves_out_is_asked_of_the_event_itself_once() -> None:
    async with before_the_curtain(*TERSE) as (deck, pilot, paths):
        due = seen(deck)[1].preflights
        for _ in range(MAX_PAUSES):
            if {*map(event_key, due)} <= {*seen(deck)[0].lists}:
                break
            await pilot.pause()
        asked = [path for path in paths if "/live/events/" in path and not path.endswith("/qos")]
        assert sorted(path.rpartition("/")[2] for path in asked) == sorted(due)
        snapshot, render_time = seen(deck)
        for key in map(event_key, due):
            state = snapshot.find(key.id)
            assert state is not None
            facts = gather_facts(snapshot, state.event, render_time.server, is_read_only=False)
            for field in TERSE:
                assert (facts.knows(field), field in state.event.model_fields_set) == (True, False)
                assert facts.as_of[field] == snapshot.cached(key).as_of
        council = render_time.preflights[choose(deck, "Town council")]
        assert 'the restreams of "City news"' in " ".join(item.finding for item in council.marked(Mark.UNKNOWN))


async def test_a_report_asks_for_it_before_it_judges() -> None:
    """As `livedeck event preflight` does: once for all events, then for the one that is meant."""
    async with curtain(*TERSE) as (monitor, _, _):
        key = event_key((await monitor.wait_ready()).events[0].id)
        monitor.watch("preflight", key)
        assert (await monitor.wait_ready()).cached(key).items


async def test_due_is_from_ten_minutes_before_the_start_until_it_is_on_air() -> None:
    async with curtain() as (monitor, _, _):
        snapshot = await monitor.wait_ready()
        render_time = RenderTime.from_snapshot(snapshot, EVENING)
        state = next(state for state in snapshot.events if state.event.name == "Choir, hall A")
        spans = {
            seconds: is_due(state, render_time.server + timedelta(seconds=seconds))
            for seconds in (-61, -60, -59, 0, 7200)
        }
        assert spans == {-61: False, -60: False, -59: True, 0: True, 7200: True}
        on_air = next(state for state in snapshot.events if state.event.name == "City news")
        assert not is_due(on_air, render_time.server)
        due = due_preflights(snapshot, render_time.server, is_read_only=True)
        assert missing_keys(snapshot, due) == ()
        _check_wall(wall_model(snapshot, replace(render_time, preflights=due)))


def _check_wall(model: WallModel) -> None:
    """Check that a tile says it in its line, and a cell beside its start; nothing of it dims the wall."""
    tiles, cells = ("\n".join(map(plain, _wall(model, tiles).draw(0))) for tiles in (9, 3))
    assert tiles.count("NO-GO: ") == cells.count("✖ NO-GO") == 3
    assert "NO-GO: restreams" in tiles
    assert "switched off: Video share" in tiles


def _wall(model: WallModel, tiles: int) -> WallLayout:
    return WallLayout(Wall(tiles=tiles), model, (160, 45), DrawCache(), Seats())


async def test_nothing_is_said_of_what_cannot_be_believed() -> None:
    async with before_the_curtain() as (deck, pilot, _):
        choose(deck, "Choir, hall A")
        await pilot.pause()
        assert "✓ GO" in words(deck)
        deck.fault = "the test ended it"
        deck.snapshot_signal.publish(None)
        await pilot.pause()
        assert "✓ GO" not in words(deck)
        assert "▒ GO" in words(deck)
