"""Words for unknown values name the reason, the same one everywhere (monitoring.md, "Who is to blame")."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest

from livedeck.cli.status_report import status_table
from livedeck.monitor import Snapshot
from livedeck.monitor.evidence.blame import Facts, blame
from livedeck.monitor.model.attachment import Silence
from livedeck.presentation.alarms import pane_lines
from livedeck.presentation.check import check_event
from livedeck.presentation.connection import banner_line
from livedeck.presentation.event_detail import short_lines, title
from livedeck.presentation.events import ingest
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import event_object, snapshot_object
from livedeck.text.segments import plain
from livedeck.text.times import isoformat_utc
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.model import wall_model
from livedeck.ui.wallboard.page import page
from monitor.stage import NOW, Deck, Stage, event
from monitor.test_own import starving, stoppable
from ui.wall_stage import STILL, lines
from virtual_clock import VirtualClock


async def _failing(status: int) -> Snapshot:
    deck = Deck(Stage(VirtualClock(), event("Hall"), event("Yard")))
    await deck.until(60)
    deck.stage.fails = status, {}
    return await _last(deck, 110)


async def _one_failing() -> Snapshot:
    deck = Deck(Stage(VirtualClock(), event("Hall"), event("Yard")))
    await deck.until(60)
    deck.stage.broken = {"Hall"}
    return await _last(deck, 72)


async def _slept() -> Snapshot:
    clock, stage, deck = stoppable(event("Hall"), event("Yard"))
    await deck.until(60)
    stage.hang()
    clock.stop(600)
    return await _last(deck, 665)


async def _slow() -> Snapshot:
    clock, stage, deck = starving(1)
    await deck.until(60)
    clock.lag = 3.0
    await deck.until(150)
    stage.hang()
    return await _last(deck, 200)


async def _last(deck: Deck, seconds: float) -> Snapshot:
    snapshot = await deck.until(seconds)
    await deck.close()
    return snapshot


class Case(NamedTuple):
    """Trouble, the cause in JSON, and the reason in words."""

    watch: Callable[[], Awaitable[Snapshot]]
    cause: str
    reason: str


CASES = {
    "503": Case(lambda: _failing(503), "platform", "the platform answers 503"),
    "pace": Case(lambda: _failing(429), "refusal", "our pace is refused (429)"),
    "token": Case(lambda: _failing(401), "refusal", "the platform refuses the token"),
    "one event": Case(_one_failing, "stream", "the platform answers 500"),
    "stopped": Case(_slept, "own stop", "livedeck was stopped"),
    "slow": Case(_slow, "own slowness", "this machine is slow"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_each_surface_says_why_an_event_is_not_known(case: Case) -> None:
    snapshot = await case.watch()
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    state = next(state for state in snapshot.events if state.is_stale or render_time.stale)
    assert not state.assessment.findings
    known = state.qos.as_of
    assert known
    words = f"not known since {known:%H:%M:%S}Z: {case.reason}"
    assert words in plain(short_lines(state, render_time, 120)[0])
    assert words in check_event(state, snapshot.alarms, render_time).text
    assert words in status_table(snapshot, render_time)
    assert any(words in plain(line) for line in lines(snapshot, (160, 45), now=snapshot.at))
    assert words in json.dumps(page(wall_model(snapshot, render_time), STILL, DrawCache()), default=str)
    told = next(each for each in snapshot_object(snapshot, render_time)["events"] if each["id"] == state.id)
    assert told["not_known"] == {"since": isoformat_utc(known), "cause": case.cause, "text": case.reason}
    assert plain(ingest(state, render_time)) == "?"
    assert told["ingest"] == {"state": "unknown", "since": None, "window_ends": None}


async def test_a_reconnect_window_counts_down_only_while_the_encoder_is_known_to_be_away() -> None:
    deck = Deck(Stage(VirtualClock(), event("Hall")))
    deck.stage.silent_from = 20.0
    snapshot = await _last(deck, 60)
    (state,) = snapshot.events
    for later, is_known in (0, True), (60, False):
        render_time = RenderTime.from_snapshot(snapshot, snapshot.at + timedelta(seconds=later))
        assert (not render_time.stale) == is_known
        assert (" left" in plain(title(state, render_time, 120))) == is_known
        times = event_object(state, render_time)["ingest"]
        assert (times["since"] is not None, times["window_ends"] is not None) == (is_known, is_known)


async def test_the_alarm_pane_and_the_banner_of_a_stale_screen_say_why() -> None:
    snapshot = replace(await _slept(), alarms=(), quiet=())
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    assert render_time.stale
    words = f"not known since {snapshot.link.as_of:%H:%M:%S}Z: livedeck was stopped"
    assert plain(pane_lines(snapshot, render_time, 80, 5)[0]) == words
    assert plain(banner_line(snapshot, render_time)).strip().endswith("old: livedeck was stopped")


async def test_an_event_that_is_known_has_no_reason() -> None:
    deck = Deck(Stage(VirtualClock(), event("Hall")))
    snapshot = await _last(deck, 60)
    (told,) = snapshot_object(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at))["events"]
    assert told["not_known"] is None


async def test_a_screen_whose_monitor_brings_nothing_new_does_not_blame_the_platform() -> None:
    deck = Deck(Stage(VirtualClock(), event("Hall")))
    snapshot = await _last(deck, 60)
    later = RenderTime.from_snapshot(snapshot, snapshot.at + timedelta(minutes=10))
    assert (later.stale, later.blame.short) == (True, "livedeck did not watch")


def test_a_silent_collector_is_nearer_than_the_platform() -> None:
    found = blame(Facts(silence=Silence(NOW, "the collector has been silent since 12:00:00Z"), is_frozen=True))
    assert (found.cause.value, found.short) == ("collector", "no data from the collector")
