"""A process that slept, was stopped or is too slow says so, and blames no event (monitoring.md, "Own watch")."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest

from breadth import slow_rows
from livedeck.cli.alarm import follow_alarms
from livedeck.client import Unreachable
from livedeck.monitor import (
    Alarm,
    AlarmKey,
    AlarmState,
    BroadcastState,
    ConnectionState,
    History,
    Severity,
    Snapshot,
    Thresholds,
)
from livedeck.monitor.evidence.own import BEAT, OwnWatch, Pulse
from livedeck.monitor.kinds.deck import not_watched_text
from livedeck.monitor.model.blame import Culprit
from livedeck.monitor.model.own import NotWatched, OwnState, Why, watched_seconds, whole_since
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.machine import Load
from livedeck.monitor.polling.poller import ItemList, Poller, PollPayload, PollResult, wait_first
from livedeck.monitor.polling.schedule import LIST, PollKey, PollSchedule, PollSpec
from livedeck.presentation.connection import banner_line, behind_text, way_lines
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import plain
from monitor.alarm_stage import WELL, Watcher, critical, kinds, state
from monitor.stage import NOW, Deck, Stage, at, event
from monitor.wire import Platform, WallClock, run, watch
from virtual_clock import VirtualClock

LIMITS = Thresholds()


def moment(seconds: float) -> Any:
    return NOW + timedelta(seconds=seconds)


def stop(since: float, until: float, why: Why = Why.SLEPT) -> NotWatched:
    return NotWatched(moment(since), moment(until), why)


# Stops


@pytest.mark.parametrize(
    ("gap", "used", "awaited", "suspended", "why"),
    [
        (4.9, 0.0, 0.0, 0.0, None),
        (5.0, 0.0, 0.0, 0.0, Why.STOPPED),
        (5.0, 0.24, 0.24, 2.5, Why.STOPPED),
        (5.0, 0.0, 0.0, 2.7, Why.SLEPT),
        (600.0, 40.0, 40.0, 301.0, Why.SLEPT),  # what it did after waking is no evidence against the sleep
        (600.0, 0.1, 0.1, 299.0, Why.STOPPED),
        (6.0, 0.32, 0.0, 0.0, Why.SLOW),
        (6.0, 0.0, 0.32, 0.0, Why.SLOW),
        (6.0, 6.0, 0.0, 0.0, Why.SLOW),
        (60.0, 2.9, None, None, Why.STOPPED),  # no schedstat, and no second clock
        (60.0, 3.1, None, None, Why.SLOW),
        (60.0, None, None, None, Why.OUTRUN),  # a rehearsal: nothing of this process is measured
    ],
)
def test_a_late_pulse_ends_a_stop_and_its_measurements_tell_the_cause(
    gap: float, used: float | None, awaited: float | None, suspended: float | None, why: Why | None
) -> None:
    watch, due = OwnWatch(), 10.0 + BEAT
    begun = Pulse(moment(10), 10.0, *(None if total is None else 7.0 for total in (used, awaited, suspended)))
    assert watch.beat(begun, 10.0, LIMITS) is None
    totals = (None if total is None else 7.0 + total for total in (used, awaited, suspended))
    found = watch.beat(Pulse(moment(due + gap), due + gap, *totals), due, LIMITS)
    assert found == (stop(due, due + gap, why) if why else None)
    assert watch.stops == ((found,) if found else ())


def test_a_stop_is_told_once_whoever_sees_it_first() -> None:
    watch = OwnWatch()
    watch.beat(Pulse(moment(0), 0.0, 0.0), 0.0, LIMITS)
    assert watch.pulse(Pulse(moment(20), 20.0, 0.0), 2.0, LIMITS) == stop(2, 20, Why.STOPPED)
    assert watch.beat(Pulse(moment(20.1), 20.1), BEAT, LIMITS) is None
    assert watch.pulse(Pulse(moment(20.2), 20.2), 4.0, LIMITS) is None


def test_watched_seconds_leave_out_each_stop_as_far_as_it_lies_inside() -> None:
    stops = [stop(-5, 5), stop(20, 30, Why.SLOW), stop(90, 200)]
    assert watched_seconds(moment(0), moment(100), stops) == 100 - 5 - 10 - 10
    assert watched_seconds(moment(5), moment(20), stops) == 15
    assert watched_seconds(moment(21), moment(29), stops) == 0
    assert watched_seconds(moment(100), moment(0), stops) == -100
    assert whole_since(moment(0), stops[:2]) == moment(5)  # slowness breaks no watch
    assert whole_since(moment(0), stops) == moment(200)


# Slowness


class Loop:
    """Loop whose pulses are `late` seconds late, with `asks` polls a second, each delayed by `delayed` seconds."""

    def __init__(self) -> None:
        self.watch, self.now, self.busy = OwnWatch(), 0.0, 0.0

    def run(self, seconds: float, late: float = 0.0, asks: float = 4.0, delayed: float = 0.0) -> OwnState:
        until, state = self.now + seconds, OwnState()
        while self.now < until:
            due = self.now + BEAT
            self.now = due + late
            self.watch.beat(Pulse(moment(self.now), self.now, self.busy, 0.0, 0.0), due, LIMITS)
            for _ in range(round((BEAT + late) * asks)):
                self.watch.ask(self.now - delayed, self.now, self.now, 5.0)
            state = self.watch.judge(moment(self.now), self.now, LIMITS, 162)
        return state


def test_a_loop_late_in_one_of_twenty_moments_is_slow_within_half_a_minute() -> None:
    loop = Loop()
    assert loop.run(60, late=0.9).slowness is None
    begun = loop.now
    while (state := loop.run(1, late=1.4)).slowness is None:
        assert loop.now - begun <= LIMITS.own_window
    assert state.slowness.events == 162
    assert not state.slowness.is_grave
    assert state.behind == 1


def test_a_hiccup_and_the_first_half_minute_are_no_slowness() -> None:
    loop = Loop()
    assert loop.run(25, late=4.0).slowness is None
    loop = Loop()
    loop.run(60)
    assert loop.run(4, late=4.0).slowness is None


@pytest.mark.parametrize(("delayed", "is_slow"), [(2.4, False), (2.6, True)])
def test_polls_that_are_begun_after_one_and_a_half_intervals_are_late(delayed: float, is_slow: bool) -> None:
    state = Loop().run(40, delayed=delayed)
    assert bool(state.slowness) is is_slow
    assert state.slowness is None or state.slowness.behind == 3


def test_polls_that_wait_for_the_platform_are_no_slowness_unless_the_processor_is_short() -> None:
    for busy, is_slow in ((0.1, False), (0.9, True)):
        loop = Loop()
        for _ in range(40):
            loop.busy += busy
            loop.run(1, asks=0.0)
            loop.watch.ask(loop.now - 9, loop.now - 9, loop.now, 5.0)  # begun in time, made 9 s later
            state = loop.watch.judge(moment(loop.now), loop.now, LIMITS, 1)
        assert bool(state.slowness) is is_slow


def test_a_process_that_lacks_the_processor_is_slow_as_soon_as_a_fifth_of_its_polls_are_late() -> None:
    """It waits for replies that it does not come to read; before that it has all the processor time that it wants."""
    loop = Loop()
    loop.run(60, asks=4.0)
    begun = loop.now
    while (state := starved(loop, 0.25)).slowness is None:
        assert loop.now - begun <= 13.0
    assert state.behind == 5


def test_polls_that_waited_for_the_platform_do_not_count_once_the_processor_is_short() -> None:
    loop = Loop()
    for _ in range(20):
        loop.run(1, asks=0.0)
        loop.watch.ask(loop.now - 9, loop.now - 9, loop.now, 5.0)
    for _ in range(25):
        loop.busy += 1.0
        assert loop.run(1, asks=0.0).slowness is None


def starved(loop: Loop, seconds: float) -> OwnState:
    """Return the state after some seconds of waiting for the processor, and then two polls, each 5 s late."""
    loop.busy += seconds
    loop.run(seconds, asks=0.0)
    for _ in range(2):
        loop.watch.ask(loop.now - 5.0, loop.now - 5.0, loop.now, 5.0)
    return loop.watch.judge(moment(loop.now), loop.now, LIMITS, 162)


def test_most_polls_late_for_a_minute_are_grave_and_it_ends_a_minute_below_half_of_the_limits() -> None:
    loop = Loop()
    loop.run(30)
    state = loop.run(50, delayed=9.0)
    assert state.slowness
    assert not state.slowness.is_grave
    state = loop.run(40, delayed=9.0)
    assert state.slowness
    assert state.slowness.is_grave
    assert loop.run(85).slowness  # 30 s until the window is clean, and 55 s
    assert loop.run(10).slowness is None
    loop.run(60, late=1.4)
    assert loop.run(300, late=0.6).slowness  # no more over the limit, but over half of it


def test_the_capacity_is_measured_cut_while_it_is_too_much_and_given_back_later() -> None:
    loop, found = Loop(), list[float | None]()
    for seconds, late in ((60, 0.0), (32, 1.4), (62, 1.4), (35, 0.0), (40, 0.0), (120, 0.0), (1200, 0.0)):
        loop.run(seconds, late=late, asks=2.0 if found else 4.0)
        found.append(loop.watch.capacity)
    unlimited, first, second, low, held, grown, free = found
    assert unlimited is free is None
    assert first
    assert second
    assert low
    assert grown
    assert 1 <= first <= 0.8 * 4
    assert low <= second < first
    assert held == low < grown  # it grows after the slowness


def test_what_was_measured_before_a_stop_does_not_count() -> None:
    loop = Loop()
    loop.run(60)
    loop.run(8, late=4.0, delayed=9.0)
    loop.run(0.1, late=600.0, asks=0.0)
    assert loop.watch.stops[-1].why is Why.STOPPED
    assert loop.run(29).slowness is None
    assert loop.run(5).behind == 0


# The monitor


class Starved(VirtualClock):
    """Clock on which this process gets the processor `lag` seconds late."""

    lag = 0.0

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds + self.lag)


class Unread(Stage):
    """Platform that replies at once. Its replies are read `unread` seconds later."""

    unread = 0.0

    async def _counted(self, what: str) -> tuple[int, dict[str, str], Any]:
        answer = await super()._counted(what)
        if self.unread:
            await VirtualClock.sleep(self.clock, self.unread)  # type: ignore[arg-type]  # a Starved
        return answer


class Measured:
    """Measurements of a process that is never stopped, and always waits for the processor."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def load(self) -> Load:
        return Load(0.0, self._clock.monotonic(), 0.0)


def starving(events: int, **options: Any) -> tuple[Starved, Unread, Deck]:
    clock = Starved()
    stage = Unread(clock, *(event(f"event-{number}") for number in range(events)))
    return clock, stage, Deck(stage, machine=Measured(clock), **options)


def alarms_of(snapshots: list[Snapshot]) -> Iterator[Alarm]:
    for snapshot in snapshots:
        yield from (*snapshot.alarms, *snapshot.quiet)


@pytest.mark.parametrize("events", [12, *slow_rows((162,))])
async def test_a_starved_monitor_raises_one_alarm_of_its_own_and_none_of_an_event(events: int) -> None:
    clock, stage, deck = starving(events)
    snapshots = [await deck.until(60)]
    assert not list(alarms_of(snapshots))
    clock.lag, stage.unread = 3.0, 14.0
    while clock.monotonic() < 150:
        snapshots.append(await deck.next())
    await deck.close()
    told = {(alarm.event_id, alarm.kind) for alarm in alarms_of(snapshots)}
    assert told == {("", "OWN_SLOW")}
    first = next(snapshot for snapshot in snapshots if snapshot.alarms)
    assert first.at - moment(60) < timedelta(seconds=30 + 17)
    (alarm,) = snapshots[-1].alarms
    assert alarm.actual.startswith("this machine is ")
    assert alarm.actual.endswith(f" s behind: {events} events are judged late")
    assert alarm.diagnosis.advice == "Watch fewer events, use a larger machine, or add a collector."
    assert snapshots[-1].link.own.behind >= 3


async def test_a_lost_encoder_is_told_by_a_slow_monitor_too_once_that_is_proven() -> None:
    clock, stage, deck = starving(2)
    await deck.until(60)
    clock.lag, stage.unread = 1.5, 14.0
    await deck.until(120)
    stage.silent_from = 120.0
    snapshot = await deck.until(240)
    await deck.close()
    kinds = {alarm.kind: alarm.severity for alarm in (*snapshot.alarms, *snapshot.quiet)}
    assert kinds["OWN_SLOW"] is Severity.WARNING
    assert kinds["RECONNECTING"] is Severity.CRITICAL


class Stoppable(VirtualClock):
    """Clock on which this process may be stopped: the time goes on, and no sleep ends."""

    def stop(self, seconds: float) -> None:
        """Continue `seconds` later."""
        self._tick += seconds


class Idle:
    """Measurements of a process that has all the processor time it needs."""

    def load(self) -> Load:
        return Load(0.0, 0.0, 0.0)


def stoppable(*events: dict[str, Any], **options: Any) -> tuple[Stoppable, Unread, Deck]:
    clock = Stoppable()
    stage = Unread(clock, *events)
    return clock, stage, Deck(stage, machine=Idle(), **options)


def kinds_of(snapshot: Snapshot) -> dict[str, bool]:
    """Return kind of each alarm of an event, hidden or not -> whether its fault is present."""
    return {alarm.kind: alarm.present for alarm in (*snapshot.alarms, *snapshot.quiet) if alarm.event_id}


async def until(deck: Deck, seconds: float) -> list[Snapshot]:
    """Return every snapshot until `seconds` after NOW."""
    snapshots = [await deck.next()]
    while deck.clock.monotonic() < seconds:
        snapshots.append(await deck.next())
    return snapshots


async def test_a_stop_blames_no_event_and_is_told_once() -> None:
    clock, stage, deck = stoppable(*(event(f"event-{number}") for number in range(4)))
    await until(deck, 60)
    stage.unread = 4.0  # answers are under way when it stops
    await until(deck, 63)
    clock.stop(400)
    stage.unread = 0.0
    snapshots = await until(deck, 520)
    await deck.close()
    assert not [kinds for kinds in map(kinds_of, snapshots) if kinds]
    assert not any(snapshot.link.state is ConnectionState.BLIND for snapshot in snapshots)
    (only,) = snapshots[-1].link.own.stops
    assert only.why is Why.STOPPED
    assert only.seconds == pytest.approx(400, abs=1)
    told = {(alarm.kind, alarm.actual) for snapshot in snapshots for alarm in (*snapshot.alarms, *snapshot.quiet)}
    assert told == {
        ("MACHINE_CLOCK", f"not watched {only.since:%H:%M:%S}Z to {only.until:%H:%M:%S}Z: this process was stopped")
    }


async def test_a_rehearsal_that_runs_ahead_of_the_process_is_no_stop_of_it() -> None:
    clock = Starved()
    deck = Deck(Stage(clock, event()))  # nothing is measured on a followed clock
    await until(deck, 60)
    clock.lag = 6.0  # 0.3 s of the machine at 20x
    await deck.next()
    clock.lag = 0.0
    snapshots = await until(deck, 120)
    await deck.close()
    assert not list(alarms_of(snapshots))
    (only,) = snapshots[-1].link.own.stops
    assert not_watched_text(only).endswith("Z: the rehearsal ran ahead of this process")
    assert not plain(banner_line(snapshots[-1], RenderTime.from_snapshot(snapshots[-1], snapshots[-1].at)))


async def test_the_alarms_of_an_event_stay_until_it_was_asked_again() -> None:
    clock, stage, deck = stoppable(event())
    stage.silent_from = 30.0
    before = (await until(deck, 90))[-1]
    assert kinds_of(before) == {"RECONNECTING": True}
    clock.stop(200)
    stage.hang()
    for snapshot in await until(deck, 300):
        assert kinds_of(snapshot) == {"RECONNECTING": True}
    stage.release()
    stage.silent_from = inf
    assert not [alarm for alarm in (await until(deck, 340))[-1].alarms if alarm.event_id and alarm.present]
    await deck.close()


async def test_an_encoder_that_leaves_during_a_stop_is_told_soon_after_it() -> None:
    clock, stage, deck = stoppable(event())
    await until(deck, 60)
    clock.stop(100)
    stage.silent_from = 120.0
    assert kinds_of((await until(deck, 175))[-1]) == {"RECONNECTING": True}
    await deck.close()


async def test_the_deck_is_blind_half_a_minute_after_a_stop_and_not_at_once() -> None:
    clock, stage, deck = stoppable(event())
    await until(deck, 60)
    stage.fails = 503, {}
    await until(deck, 80)
    clock.stop(600)
    begun = clock.monotonic()
    snapshots = await until(deck, begun + 40)
    await deck.close()
    blind = next(snapshot for snapshot in snapshots if snapshot.link.state is ConnectionState.BLIND)
    assert 29 <= (blind.at - moment(begun)).total_seconds() <= 36
    assert not [kinds for kinds in map(kinds_of, snapshots) if kinds]


async def test_an_acknowledgement_reminds_as_much_later_as_the_stop_lasted() -> None:
    clock, stage, deck = stoppable(event(reconnect_window=6000))  # so that it does not get worse meanwhile
    stage.silent_from = 30.0
    await until(deck, 60)
    key = AlarmKey("one", "RECONNECTING")
    assert await deck.monitor.acknowledge(key)
    await until(deck, 100)
    clock.stop(500)
    states = {alarm.state for snapshot in await until(deck, 850) for alarm in snapshot.alarms if alarm.key == key}
    assert states == {AlarmState.ACKNOWLEDGED}
    (alarm,) = (alarm for alarm in (await until(deck, 870))[-1].alarms if alarm.key == key)
    await deck.close()
    assert alarm.state is AlarmState.UNACKNOWLEDGED


async def test_a_late_start_asks_again_by_the_watched_time() -> None:
    stream = {"id": "s", "status": "pending", "started_at": None, "finished_at": None}
    clock, stage, deck = stoppable(event(scheduled={"time": at(100)}, stream=stream))
    stage.unsent.add("one")
    await until(deck, 110)
    clock.stop(90)
    (before,) = (alarm for alarm in (await until(deck, 240))[-1].alarms if alarm.event_id)
    (after,) = (alarm for alarm in (await until(deck, 262))[-1].alarms if alarm.event_id)
    await deck.close()
    assert (before.kind, before.severity, after.stage - before.stage) == ("LATE_START", Severity.CRITICAL, 1)


async def test_a_start_during_a_stop_is_not_late_before_the_event_was_asked() -> None:
    stream = {"id": "s", "status": "pending", "started_at": None, "finished_at": None}
    clock, stage, deck = stoppable(event(scheduled={"time": at(100)}, stream=stream))
    stage.unsent.add("one")
    await until(deck, 90)
    clock.stop(20)
    stage.hang()
    for snapshot in await until(deck, 114):
        (alarm,) = (alarm for alarm in snapshot.alarms if alarm.event_id)
        assert (alarm.kind, alarm.severity) == ("LATE_START", Severity.WARNING)
    stage.release()
    (alarm,) = (alarm for alarm in (await until(deck, 130))[-1].alarms if alarm.event_id)
    await deck.close()
    assert alarm.severity is Severity.CRITICAL


async def test_the_history_has_each_stop_with_its_cause() -> None:
    history = await History.open(None, NOW)
    clock, _, deck = stoppable(event(), history=history)
    await until(deck, 20)
    clock.stop(30)
    stops = (await until(deck, 90))[-1].link.own.stops
    await history.flush()
    assert await history.stops(NOW, moment(90)) == stops
    (only,) = stops
    assert not await history.stops(only.until + timedelta(seconds=1), moment(200))
    assert not await history.stops(NOW, only.since)
    await deck.close()
    await history.close()


async def test_alarm_list_follow_prints_each_stop_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock, _, deck = stoppable(event())

    async def stop_twice() -> None:
        for _ in range(2):
            await clock.sleep(20)
            clock.stop(30)
        await clock.sleep(20)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await clock.run(wait_first(follow_alarms(deck.monitor, as_json=False, include_quiet=False), stop_twice()))
    await deck.close()
    lines = [line.split("  ")[-1].strip() for line in capsys.readouterr().out.splitlines() if "  not watched " in line]
    assert lines == [
        "not watched 12:00:20Z to 12:00:50Z: this process was stopped",
        "not watched 12:01:10Z to 12:01:40Z: this process was stopped",
    ]


def test_the_header_says_how_late_this_machine_is() -> None:
    for behind, text in ((0.0, ""), (3.0, "this machine is 3 s behind")):
        assert behind_text(replace(WELL, own=OwnState(behind=behind))) == text


# The own cause is told first, and what lies behind it is not known (monitoring.md, "Who is to blame")


def said(snapshot: Snapshot) -> str:
    """Return the text of the banner and of the link."""
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    return plain([*banner_line(snapshot, render_time), *chain(*way_lines(snapshot, render_time))])


def api_blind(snapshot: Snapshot) -> list[tuple[str, str]]:
    return [(alarm.actual, alarm.diagnosis.cause) for alarm in snapshot.alarms if alarm.kind == "API_BLIND"]


async def test_a_slow_machine_that_gets_no_answer_does_not_blame_the_platform() -> None:
    clock, stage, deck = starving(2)
    await deck.until(60)
    clock.lag = 3.0
    await deck.until(150)
    stage.hang()
    while (snapshot := await deck.next()).link.state is not ConnectionState.BLIND:
        pass
    own = f"this machine is {snapshot.link.own.behind:.0f} s behind: not known if the platform answers"
    assert snapshot.link.blame.text == own
    assert api_blind(snapshot) == [(own, "This machine is too slow for its work.")]
    assert said(snapshot).count(own) == 2, "once in the banner, once in the line of the link"
    await deck.close()


@pytest.mark.parametrize("slow", [4, 12])
async def test_a_platform_that_replies_late_is_not_mistaken_for_a_slow_machine(slow: int) -> None:
    clock = Starved()
    stage = Stage(clock, *(event(f"event-{number}") for number in range(12)))
    deck = Deck(stage)
    clock.lag = 0.4
    await deck.until(60)
    stage.slow = {f"event-{number}": 9.0 for number in range(slow)}
    snapshots = await until(deck, 160)
    await deck.close()
    assert {(snapshot.link.own.behind, snapshot.link.own.slowness) for snapshot in snapshots} == {(0.0, None)}


@pytest.mark.parametrize("count", [2, 12, 30])
async def test_polls_that_hang_and_those_that_wait_behind_them_are_no_lateness_of_this_machine(count: int) -> None:
    clock, own, seconds = VirtualClock(), OwnWatch(), 0.1

    async def fetch(_: PollKey) -> PollPayload:
        await clock.sleep(seconds)
        return ItemList(()) if seconds < 1 else Unreachable("no reply", "timeout")

    async def take(_: PollResult) -> None:
        behind.append(own.judge(clock.now(), clock.monotonic(), LIMITS, count).behind)

    async def poll(until: float) -> None:
        while clock.monotonic() < until:
            await poller.round(schedule, take)
            await wait_first(clock.sleep(max(0.05, min(2.0, poller.wait(schedule)))), poller.wait_result())

    behind: list[float] = []
    poller = Poller(fetch, clock, Cadence(), Random(1), own)
    schedule: PollSchedule = {LIST: PollSpec(15.0, 0), **{f"event-{n}": PollSpec(5.0, 1) for n in range(count)}}
    await clock.run(poll(30.0))
    seconds = 8.5
    await clock.run(poll(90.0))
    assert set(behind) == {0.0}


async def test_a_slow_machine_names_a_platform_that_answers_503() -> None:
    clock, stage, deck = starving(2)
    await deck.until(60)
    clock.lag = 3.0
    await deck.until(150)
    stage.fails = 503, {}
    while (snapshot := await deck.next()).link.state is not ConnectionState.BLIND:
        pass
    assert api_blind(snapshot)[0][0] == "the network works: the platform answers 503"
    await deck.close()


@pytest.mark.parametrize("was_blind", [False, True])
async def test_after_a_stop_the_stop_is_the_cause_until_the_platform_had_its_time(was_blind: bool) -> None:
    clock, stage, deck = stoppable(event())
    await until(deck, 60)
    stage.hang()
    await until(deck, 120 if was_blind else 63)
    clock.stop(600)
    begun = clock.monotonic()
    snapshots = [each for each in await until(deck, begun + 60) if (each.at - moment(begun)).total_seconds() > 0]
    await deck.close()
    stopped = snapshots[0].link.own.stops[-1]
    own = f"livedeck was stopped until {stopped.until:%H:%M:%S}Z: not known yet if the platform answers"
    waiting = [each for each in snapshots if each.link.state is not ConnectionState.BLIND]
    assert {each.link.blame.text for each in waiting} == {own}
    assert {words for each in waiting for words, _ in api_blind(each)} == ({own} if was_blind else set())
    blind = [each for each in snapshots if each.link.state is ConnectionState.BLIND]
    assert {each.link.blame.cause for each in blind} == {Culprit.UNKNOWN}


async def test_a_platform_that_fails_after_a_stop_is_named_at_once() -> None:
    clock, stage, deck = stoppable(event())
    await until(deck, 60)
    clock.stop(600)
    stage.fails = 503, {}
    begun = clock.monotonic()
    last = (await until(deck, begun + 10))[-1]
    await deck.close()
    assert last.link.blame.text == "the network works: the platform answers 503"


def test_an_event_that_was_not_answered_before_this_machine_got_slow_is_not_accused_any_more() -> None:
    platform = Platform(event("one"), event("two"))

    def lose(_: WallClock) -> None:
        platform.late = {"one"}

    def slow_down(clock: WallClock) -> None:
        clock.lag = 3.0

    told = dict[str, None]()

    def see(snapshot: Snapshot) -> None:
        told.update(dict.fromkeys(alarm.actual for alarm in snapshot.alarms if alarm.kind == "QOS_STALE"))

    run(watch(platform, 240, (60, lose), (150, slow_down), see=see, machine=Idle()))
    first, *rest = told
    assert first == "not answered, while other calls are: no reply in time"
    assert rest
    own = r"this machine is \d+ s behind: not known why this event gets no reply"
    assert [words for words in rest if not re.fullmatch(own, words)] == []


@pytest.mark.parametrize(("gone", "is_told"), [(20.0, False), (60.0, True)])
def test_a_reply_that_waited_for_this_machine_proves_no_absence_of_that_time(gone: float, *, is_told: bool) -> None:
    """Its request may have been sent half a minute ago, so only a longer absence is certain."""
    left = NOW - timedelta(seconds=gone)
    lost = state(critical("RECONNECTING", since=left), tally=BroadcastState.RECONNECTING)
    lost = replace(lost, qos=replace(lost.qos, as_of=NOW, cadence=2.0))
    prompt, slow = Watcher(), Watcher()
    prompt.look(lost)
    slow.look(lost, link=replace(WELL, as_of=NOW, own=OwnState(reading_delay=30.0)))
    assert kinds(prompt.shown) == ["RECONNECTING"]
    assert kinds(slow.shown) == (["RECONNECTING"] if is_told else [])


# A real process

_WATCHER = """
import asyncio
from livedeck.cli.alarm import follow_alarms
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api
from livedeck.monitor import Limits, Monitor, SystemMachine, Thresholds
from monitor.stage import Stage, event

class Now(Stage):
    def _sent(self):
        return []

async def main():
    clock = SystemClock()
    stage = Now(clock, event())
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", mount=stage) as api:
        limits = Limits(Thresholds(unwatched=1.0))
        monitor = Monitor(api, clock, limits=limits, machine=SystemMachine())
        print("began", flush=True)
        await follow_alarms(monitor, as_json=True, include_quiet=False)

asyncio.run(main())
"""

_DEADLINE = 60.0


@contextmanager
def watcher() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that watches, and prints its unwatched time. Stops of a second count."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root / 'tests'}"}
    command = [sys.executable, "-c", _WATCHER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, bufsize=0) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def lines_of(process: subprocess.Popen[bytes], seconds: float) -> Iterator[bytes]:
    """Yield the lines that come within that many seconds."""
    assert process.stdout
    until, rest = time.monotonic() + seconds, b""
    while (left := until - time.monotonic()) > 0 and select.select([process.stdout], [], [], left)[0]:
        *lines, rest = (rest + os.read(process.stdout.fileno(), 65536)).split(b"\n")
        yield from lines


@pytest.mark.skipif(sys.platform != "linux", reason="the state of a process is read from /proc")
def test_a_process_that_was_stopped_prints_the_time_that_it_did_not_watch() -> None:
    with watcher() as process:
        assert b"began" in lines_of(process, _DEADLINE)
        assert any(b'"kind"' in line for line in lines_of(process, _DEADLINE))  # it watches: an alarm came
        process.send_signal(signal.SIGSTOP)
        until = time.monotonic() + _DEADLINE
        while b") T " not in Path(f"/proc/{process.pid}/stat").read_bytes():
            assert time.monotonic() < until
        stopped = time.time()
        list(lines_of(process, 2.0))  # the rest of its output, and 2 s in which nothing can come
        resumed = time.time()
        process.send_signal(signal.SIGCONT)
        gaps = (json.loads(line) for line in lines_of(process, _DEADLINE) if b'"not_watched"' in line)
        over_the_stop = (
            gap["not_watched"]
            for gap in gaps
            if datetime.fromisoformat(gap["since"]).timestamp() <= stopped + 0.5
            and datetime.fromisoformat(gap["until"]).timestamp() >= resumed - 0.5
        )
        # a busy machine makes it wait for the processor for a twentieth of the gap, and then it is slow as well
        assert next(over_the_stop) in {"stopped", "slow"}
