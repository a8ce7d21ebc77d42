"""Clock that follows a rehearsal, on a machine whose time the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from livedeck.cli.followed_clock import WAIT, ClockReading, FollowedClock
from livedeck.cli.rehearsal import NoClockError, WentBackError
from livedeck.monitor.polling.poller import wait_first
from virtual_clock import VirtualClock

T = TypeVar("T")

START = 1_772_366_400.0
"""Simulator's time when it is created (epoch s)."""


class Stage:
    """Simulator's clock on the test's machine. `latency`: seconds of a request and its reply together.

    `way`: share of the latency on the way to the simulator.
    """

    def __init__(self, machine: VirtualClock, speed: float, latency: float = 0.0) -> None:
        self.machine, self.latency = machine, latency
        self.base, self.at, self.speed, self.paused, self.epoch = START, machine.monotonic(), speed, False, 1
        self.is_gone, self.way = False, 0.5
        self.changed = asyncio.Event()

    def time(self) -> float:
        ran = 0.0 if self.paused else (self.machine.monotonic() - self.at) * self.speed
        return self.base + ran

    def change(self, *, step: float = 0.0, speed: float | None = None, paused: bool | None = None) -> None:
        self.base, self.at = self.time() + step, self.machine.monotonic()
        self.speed = self.speed if speed is None else speed
        self.paused = self.paused if paused is None else paused
        self.epoch += 1
        self.changed.set()
        self.changed = asyncio.Event()

    async def read(self, after: int | None) -> ClockReading:
        if self.is_gone:
            raise NoClockError("no reply")
        await self.machine.sleep(self.latency * self.way)
        if after == self.epoch:
            await wait_first(self.changed.wait(), self.machine.sleep(WAIT))
        reading = ClockReading(self.time(), self.speed, self.paused, self.epoch)
        await self.machine.sleep(self.latency * (1 - self.way))
        return reading


def play(
    work: Callable[[Stage, FollowedClock, VirtualClock], Awaitable[T]], speed: float = 20, latency: float = 0.0
) -> T:
    """Return the result of `work` with a clock that follows a stage."""

    async def follow(machine: VirtualClock) -> T:
        stage = Stage(machine, speed, latency)
        clock = FollowedClock(stage.read, machine)
        await clock.start()
        task = asyncio.create_task(clock.follow())
        try:
            return await work(stage, clock, machine)
        finally:
            task.cancel()

    async def run() -> T:
        machine = VirtualClock()
        return await machine.run(follow(machine))

    return asyncio.run(run())


def ahead(clock: FollowedClock, stage: Stage) -> float:
    return clock.now().timestamp() - stage.time()


def test_it_runs_at_the_simulators_speed() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> list[float]:
        began = clock.monotonic()
        await machine.sleep(3)
        return [clock.monotonic() - began, ahead(clock, stage)]

    assert play(work) == pytest.approx([60, 0], abs=1e-3)


def test_the_way_of_an_answer_is_taken_into_account() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> float:
        await machine.sleep(1)
        return ahead(clock, stage)

    assert play(work, latency=0.2) == pytest.approx(0, abs=1e-3)


def test_a_slow_answer_at_the_start_does_not_set_the_clock_if_a_later_one_is_exact() -> None:
    """A deck that starts is busy with its imports, so it reads the first answers late; CLOCK_SKEW needs 2 s."""

    async def work() -> float:
        machine = VirtualClock()
        stage = Stage(machine, 4, latency=2.4)
        stage.way = 0.0  # the answer waits until this process reads it

        async def read(after: int | None) -> ClockReading:
            try:
                return await stage.read(after)
            finally:
                stage.latency = 0.01 if len(read_at) else 2.4
                read_at.append(machine.monotonic())

        read_at: list[float] = []
        clock = FollowedClock(read, machine)

        async def begin() -> float:
            await clock.start()
            return ahead(clock, stage)

        return await machine.run(begin())

    assert asyncio.run(work()) == pytest.approx(0, abs=0.1)


def test_a_sleep_lasts_its_seconds_of_the_followed_clock_through_every_change() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> list[float]:
        began, sleeping = machine.monotonic(), asyncio.ensure_future(clock.sleep(100))
        await machine.sleep(2)  # 40 s of the followed clock
        stage.change(speed=1)
        await machine.sleep(10)  # 10 s
        stage.change(paused=True)
        await machine.sleep(60)  # none
        stage.change(paused=False, speed=5)
        await machine.sleep(2)  # 10 s
        stage.change(step=20)
        await sleeping  # and 20 s at 5x
        return [machine.monotonic() - began, ahead(clock, stage)]

    assert play(work, speed=20) == pytest.approx([2 + 10 + 60 + 2 + 4, 0], abs=1e-3)


def test_it_never_runs_back_when_news_of_a_slower_clock_is_late() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> tuple[list[float], float]:
        stage.change(speed=1)
        shown = []
        for _ in range(60):
            await machine.sleep(0.1)
            shown.append(clock.monotonic())
        return shown, ahead(clock, stage)

    shown, left = play(work, latency=0.2)
    assert shown == sorted(shown)
    assert left == pytest.approx(0, abs=1e-3)


def test_a_paused_clock_stands_and_its_timeouts_run_on_the_machine() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> tuple[float, ...]:
        before = clock.machine_seconds(4)
        stage.change(paused=True)
        await machine.sleep(0.1)
        at, pace = clock.monotonic(), clock.pace()
        await machine.sleep(100)
        assert pace == "paused"
        return before, clock.machine_seconds(4), clock.monotonic() - at

    assert play(work) == (0.2, 4, 0)


def test_a_jump_back_ends_the_work() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> None:
        running = asyncio.ensure_future(clock.run(clock.sleep(1e6)))
        await machine.sleep(1)
        stage.change(step=-600)
        with pytest.raises(WentBackError, match="before the time shown here"):
            await running

    play(work)


def test_a_clock_that_becomes_too_fast_ends_the_work() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> None:
        running = asyncio.ensure_future(clock.run(clock.sleep(1e6)))
        await machine.sleep(1)
        stage.change(speed=31)
        with pytest.raises(NoClockError, match="too fast to follow"):
            await running

    play(work)


def test_a_clock_that_is_too_fast_is_refused() -> None:
    async def work(*_: object) -> None:
        raise AssertionError

    with pytest.raises(NoClockError, match="too fast to follow"):
        play(work, speed=31)


def test_work_ends_with_its_own_result() -> None:
    async def work(_: Stage, clock: FollowedClock, __: VirtualClock) -> str:
        async def rest() -> str:
            await clock.sleep(10)
            return "done"

        return await clock.run(rest())

    assert play(work) == "done"


def test_without_the_simulator_it_runs_on() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> float:
        stage.is_gone = True
        stage.change()  # ends the open request
        began = clock.monotonic()
        await machine.sleep(30)
        return clock.monotonic() - began

    assert play(work) == pytest.approx(600)


def test_a_clock_that_gives_no_answer_is_unknown_until_it_does() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> list[tuple[str, float | None]]:
        shown = [(clock.pace(), clock.speed())]
        stage.is_gone = True
        stage.change()
        for is_gone in (True, False):
            stage.is_gone = is_gone
            await machine.sleep(3)
            shown.append((clock.pace(), clock.speed()))
        return shown

    assert play(work) == [("x20", 20), ("clock unknown", None), ("x20", 20)]


def test_a_simulator_that_began_anew_is_followed_at_once_with_any_epoch() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> tuple[str, float]:
        stage.is_gone = True
        stage.change(step=100, speed=5)
        await machine.sleep(0.5)
        stage.is_gone, stage.epoch = False, 1  # the epoch that this clock knows
        await machine.sleep(2)
        return clock.pace(), ahead(clock, stage)

    pace, off = play(work)
    assert pace == "x5"
    assert off == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("way", [0.0, 1.0])
@pytest.mark.parametrize("latency", [0.4, 3.0])
def test_a_late_answer_is_no_jump_back(latency: float, way: float) -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> tuple[bool, float]:
        stage.latency, stage.way = latency, way
        stage.change(step=1)
        await machine.sleep(20)
        is_late = clock.pace() == "clock unknown"
        stage.latency = 0.0
        await machine.sleep(20)
        assert clock.fault is None
        return is_late, ahead(clock, stage)

    is_late, off = play(work)
    assert is_late is (latency > 0.5)  # 10 s of the followed clock
    assert off == pytest.approx(0, abs=1e-3)


def test_a_clock_that_always_answers_late_is_not_followed() -> None:
    async def work(*_: object) -> None:
        raise AssertionError

    with pytest.raises(NoClockError, match=r"takes 0\.6 s to respond, too long at 20 times real time"):
        play(work, latency=0.6)


def test_an_exact_reading_is_kept_while_later_ones_confirm_it() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> tuple[float, float]:
        stage.latency, stage.way = 0.4, 0.0
        stage.change(step=0)  # read again, with up to 8 s of doubt
        await machine.sleep(5)
        known = ahead(clock, stage)
        stage.base += 20  # the machine's clock, from which the simulator's time is made, was set
        stage.latency = 0.0
        stage.changed.set()
        await machine.sleep(5)
        return known, ahead(clock, stage)

    assert play(work) == pytest.approx([-4, 0], abs=1e-3)


def test_a_process_that_was_stopped_while_the_rehearsal_was_paused_begins_anew() -> None:
    async def work(stage: Stage, clock: FollowedClock, machine: VirtualClock) -> None:
        running = asyncio.ensure_future(clock.run(clock.sleep(1e6)))
        await machine.sleep(1)
        stage.change(paused=True)
        machine._tick += 30  # 600 s of the followed clock, before the news is read
        with pytest.raises(WentBackError, match=r"the rehearsal is at 12:00:20Z, before the time shown here"):
            await running

    play(work)
