"""A machine whose clock was set, or that slept, says so; no event is blamed for it (monitoring.md, "Clock steps")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from breadth import slow_rows
from livedeck.monitor import BroadcastState, ConnectionState, Grade, Snapshot, is_stale
from livedeck.monitor.model.own import Why
from livedeck.monitor.polling.machine import Load
from livedeck.monitor.polling.steady_clock import SteadyClock
from monitor.stage import NOW, event
from monitor.wire import Platform, WallClock, run, watch

HOUR = 3600.0


def ten_events() -> Platform:
    return Platform(*(event(f"event-{number}") for number in range(6)))


def told(snapshots: list[Snapshot]) -> list[str]:
    """Return every alarm of the snapshots, hidden or not, in words."""
    alarms = (alarm for snapshot in snapshots for alarm in (*snapshot.alarms, *snapshot.quiet))
    return list(dict.fromkeys(f"{alarm.kind}: {alarm.actual}" for alarm in alarms))


def tallies(snapshots: list[Snapshot]) -> set[BroadcastState]:
    return {state.phase.tally for snapshot in snapshots for state in snapshot.events}


def set_clock(seconds: float) -> Callable[[WallClock], None]:
    def step(clock: WallClock) -> None:
        clock.ahead += seconds

    return step


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (HOUR, "set 01:00:00 forward"),
        (-2.0, "set 2 s back"),
        *slow_rows((-HOUR, "set 01:00:00 back"), (2.0, "set 2 s forward")),
    ],
)
def test_a_clock_that_is_set_is_told_as_that_and_ages_stay_right(seconds: float, words: str) -> None:
    snapshots = run(watch(ten_events(), 150, (40, set_clock(seconds))))
    (clock_alarm,) = (alarm for alarm in told(snapshots) if "MACHINE_CLOCK" in alarm)
    assert clock_alarm.startswith(f"MACHINE_CLOCK: this machine's clock was {words} at 12:00:4")
    assert {alarm.split(":")[0] for alarm in told(snapshots)} <= {"MACHINE_CLOCK", "CLOCK_SKEW"}
    assert tallies(snapshots) == {BroadcastState.ON_AIR}
    for snapshot in snapshots[5:]:
        assert snapshot.link.as_of
        assert timedelta(0) <= snapshot.at - snapshot.link.as_of < timedelta(seconds=10)
        assert all(snapshot.at - state.as_of < timedelta(seconds=35) for state in snapshot.events)
        assert {state.assessment.health.grade for state in snapshot.events} == {Grade.GOOD}


def test_a_clock_that_is_set_right_is_no_skew_any_more() -> None:
    def begin_wrong(clock: WallClock) -> None:
        clock.ahead = -HOUR

    snapshots = run(watch(ten_events(), 150, (0, begin_wrong), (60, set_clock(HOUR))))
    present = {alarm.kind for alarm in snapshots[-1].alarms if alarm.present}
    assert "CLOCK_SKEW" not in present
    assert tallies(snapshots) == {BroadcastState.ON_AIR}


def sleep_all(platform: Platform) -> Callable[[WallClock], None]:
    """Return a sleep of the machine in which both clocks go on, and nothing was polled."""

    def step(clock: WallClock) -> None:
        clock.slept += 600.0
        platform.true_clock.slept += 600.0

    return step


def sleep_wall(platform: Platform) -> Callable[[WallClock], None]:
    """Return a sleep of the machine in which the monotonic clock stands still, as on Linux."""

    def step(clock: WallClock) -> None:
        clock.ahead += 600.0
        platform.true_clock.slept += 600.0

    return step


class Sleeper:
    """Machine that measures its sleep by the platform's clock."""

    def __init__(self, platform: Platform) -> None:
        self._clock = platform.true_clock

    def load(self) -> Load:
        return Load(0.0, 0.0, self._clock.slept)


class Preempted:
    """Clocks with the same time. While `gap` is set, each reading takes that many seconds."""

    def __init__(self) -> None:
        self._time, self.gap = 0.0, 0.0

    def monotonic(self) -> float:
        """Return the seconds since the test began."""
        self._time += self.gap
        return self._time

    def now(self) -> datetime:
        """Return the same time as a datetime."""
        return NOW + timedelta(seconds=self.monotonic())

    async def sleep(self, _seconds: float) -> None:
        """Return at once."""


@pytest.mark.parametrize("gap", [1.0, 60.0])
def test_readings_of_two_instants_prove_no_step(gap: float) -> None:
    machine = Preempted()
    clock = SteadyClock(machine)
    for now in (gap, 0.0, gap):
        machine.gap = now
        clock.now()
    assert (clock.offset, clock.open_step) == (0, 0)


@pytest.mark.parametrize("sleep", [sleep_all, sleep_wall])
def test_a_machine_that_slept_says_so_and_nothing_is_green_until_it_was_asked_anew(
    sleep: Callable[[Platform], Callable[[WallClock], None]],
) -> None:
    platform = ten_events()
    machine = Sleeper(platform) if sleep is sleep_all else None  # otherwise only the platform's time tells it
    snapshots = run(watch(platform, 720, (60, sleep(platform)), machine=machine))
    (clock_alarm,) = told(snapshots)
    assert clock_alarm.startswith("MACHINE_CLOCK: not watched 12:01:0")
    assert clock_alarm.endswith("Z: this machine slept")
    (stop,) = snapshots[-1].link.own.stops
    assert stop.why is Why.SLEPT
    assert stop.seconds == pytest.approx(600, abs=6)
    assert tallies(snapshots) == {BroadcastState.ON_AIR}
    woken = [snapshot for snapshot in snapshots if (snapshot.at - NOW).total_seconds() > 640]
    for snapshot in woken:
        assert snapshot.link.state is not ConnectionState.BLIND
        for state in snapshot.events:
            was_asked = state.qos.as_of is not None and state.qos.as_of - NOW > timedelta(seconds=630)
            if state.assessment.health.grade is Grade.GOOD and not was_asked:
                assert is_stale(snapshot.link, snapshot.at)
    assert {state.assessment.health.grade for state in snapshots[-1].events} == {Grade.GOOD}
