"""Measure budget 10: the whole way of an alarm, in one process, from a reply of the platform to the wall.

Two hundred events are polled. Every second or so, one reply brings an undocumented QoS status, with another number each
time, and the next reply of that event takes it back.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC
from math import inf
from random import Random
from typing import Any

from bench.loop_held import World
from livedeck.cli.wiring import SystemClock
from livedeck.client import Api
from livedeck.monitor import AlarmState, Monitor, Snapshot
from livedeck.ui.wallboard.app import Wallboard
from livedeck.ui.wallboard.layout import Wall

EVENTS, SAMPLES = 200, 300
CALM = 3.0
"""Seconds of quiet before the first fault, in which the wall is painted."""


def number(place: int) -> str:
    """Return the status of fault number `place`: eight digits, all unlike the last fault's, so that all are sent."""
    return f"{1 + place % 9}{1 + (place // 9 + place) % 9}" * 4


class FaultyWorld(World):
    """World that writes a line for each fault to descriptor `told`: number, monotonic time and processor time (s)."""

    def __init__(self, told: int) -> None:
        super().__init__(EVENTS, SAMPLES, ("clean",))
        self._told, self._pause = told, Random(2)
        self._faults, self._due = 0, inf
        self._faulty = set[str]()

    def begin(self) -> None:
        """Let faults come from now on."""
        self._due = time.monotonic() + CALM

    def _qos(self, name: str) -> bytes:
        content = super()._qos(name)
        if name in self._faulty or time.monotonic() < self._due:  # another number of the same fault raises no new alarm
            self._faulty.discard(name)
            return content
        fault = number(self._faults)
        self._faults, self._due = self._faults + 1, time.monotonic() + self._pause.uniform(0.7, 1.1)
        self._faulty.add(name)
        whole = content[: content.rindex(b'"status": ')] + b'"status": %s}]}' % fault.encode()
        tell(self._told, "served", fault)
        return whole


def tell(told: int, what: str, fault: str) -> None:
    """Write a line for the measuring process to the descriptor `told`: `what` happened to which `fault`, and when."""
    os.write(told, f"{what} {fault} {time.monotonic()} {time.process_time()}\n".encode())


class Telling(Wallboard):
    """Wall that writes a line to the descriptor `told` when it has sent a fault on its way to the terminal."""

    def __init__(self, told: int, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._told, self._sent = told, set[str]()

    def _display(self, *args: Any) -> None:
        super()._display(*args)
        faults = {one.actual.split()[-1] for one in self._snapshot.alarms} if self._snapshot else set[str]()
        for fault in faults - self._sent:
            tell(self._told, "sent", fault)
        self._sent |= faults


async def _answered(monitor: Monitor) -> AsyncGenerator[Snapshot, None]:
    """Yield the monitor's snapshots. Acknowledge each alarm after it was shown, so that the next one is above it."""
    async with aclosing(monitor.snapshots()) as snapshots:
        async for snapshot in snapshots:
            yield snapshot
            for alarm in snapshot.alarms:
                if alarm.state is AlarmState.UNACKNOWLEDGED:
                    await monitor.acknowledge(alarm.key)


async def show(told: int) -> None:
    """Show the wall until the process ends. `told`: descriptor for the lines about faults."""
    world = FaultyWorld(told)
    gc.freeze()  # as `lasting_imports` does
    async with Api(base_url="http://127.0.0.1", token="token-of-bench", retry=0.0, mount=world) as api:
        monitor = Monitor(api, SystemClock(), random=Random(1))
        await monitor.wait_ready(60.0)
        world.begin()
        wall = Wall(tiles=9, scale=1, zone=UTC)
        await Telling(told, _answered(monitor), SystemClock(), wall, theme="dark").run_async(mouse=False)
