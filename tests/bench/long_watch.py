"""Measure three days of watching: 25 events, their faults, outages and an operator, on a clock that jumps.

`PYTHONPATH=src:tests python tests/bench/long_watch.py [HOURS]` prints the figures of every twelve hours, and fails if
memory grew by 5 % or more since the first day. Polls are two minutes apart and samples 30 s, so three days take
minutes. Two figures must stand: the resident size (of /proc: Linux only), and the number of objects that Python holds.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import resource
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import structlog

from livedeck.client import Api
from livedeck.monitor import AlarmState, Cadence, Monitor, Snapshot
from virtual_clock import VirtualClock

EVENTS, EVERY, MARK = 25, 30, 12
HOUR = 3600.0
FAULTS = ("", "", "loss", "dark", "few frames", "key frames", "mute", "gone")
_Message = MutableMapping[str, Any]


class World:
    """Platform with the two calls that a monitor makes.

    Five events keep their stream for ever; others change it every 6 h.

    In each hour each event has a fault of five minutes or none. Every five hours the platform is away for two minutes,
    and every twelve hours one event goes for good and another comes.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock, self._start = clock, clock.now()
        self.calls = 0

    async def __call__(
        self, scope: _Message, receive: Callable[[], Awaitable[_Message]], send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        del receive
        self.calls += 1
        parts, now = scope["path"].strip("/").split("/"), self._clock.monotonic()
        status, body = (503, {"error": {"code": 503503}}) if now % (5 * HOUR) > 5 * HOUR - 120 else (200, None)
        content = json.dumps(body or (self._samples(parts[3], now) if parts[-1] == "qos" else self._events(now)))
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
        )
        await send({"type": "http.response.body", "body": content.encode()})

    def _events(self, now: float) -> dict[str, Any]:
        rows = [self._event(number, now) for number in range(EVENTS)]
        return {"meta": {"pagination": {"page": 1, "per_page": 100, "total": len(rows)}, "order": {}}, "data": rows}

    def _event(self, number: int, now: float) -> dict[str, Any]:
        begun = 0.0 if number < 5 else now - now % (6 * HOUR)
        name = f"event-{number}" if number else f"event-0-{int(now // (12 * HOUR))}"
        stream = {"id": f"{name}-{begun:.0f}", "status": "live", "started_at": self._at(begun), "finished_at": None}
        return {"id": name, "name": name, "type": "one-time", "reconnect_window": 600, "stream": stream}

    def _samples(self, event_id: str, now: float) -> dict[str, Any]:
        newest = now - now % EVERY
        times = [newest - EVERY * back for back in range(5, -1, -1)]
        rows = [self._sample(_fault(event_id, time), time) for time in times if time >= 0]
        return {"data": [row for row in rows if row]}

    def _sample(self, fault: str, time: float) -> dict[str, Any] | None:
        if fault == "gone":
            return None
        sway = 1 + (int(time) * 7919 % 100) / 5000
        return {
            "time": self._at(time),
            "bitrate_video": 20_000 if fault == "dark" else int(4_500_000 * sway * (0.5 if fault == "loss" else 1)),
            "bitrate_audio": 0 if fault == "mute" else 128_000,
            "frame_rate": 20 if fault == "few frames" else 30,
            "status": {"loss": 5, "key frames": 4}.get(fault, 0),
        }

    def _at(self, seconds: float) -> str:
        return (self._start + timedelta(seconds=seconds)).isoformat()


def _fault(event_id: str, time: float) -> str:
    hour, into = divmod(time, HOUR)
    draw = Random(f"{event_id} {hour}")
    begin = draw.uniform(0, HOUR - 300)
    return draw.choice(FAULTS) if begin <= into < begin + 300 else ""


class Operator:
    """Operator who acknowledges the waiting alarms, shelves one in ten, and sometimes leaves a note."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor, self._random, self._next = monitor, Random(1), 0.0

    async def act(self, snapshot: Snapshot, now: float) -> None:
        """Act on all listed alarms, once in ten minutes."""
        if now < self._next:
            return
        self._next = now + 600
        for alarm in snapshot.alarms:
            if alarm.state is AlarmState.UNACKNOWLEDGED and self._random.random() < 0.1:
                await self._monitor.shelve(alarm.key, 30, "known")
            elif alarm.state is not AlarmState.ACKNOWLEDGED:
                await self._monitor.note(alarm.key, f"seen at {now:.0f}")
                await self._monitor.acknowledge(alarm.key)


class Figures(NamedTuple):
    """Resident bytes, and blocks of memory that Python's objects take."""

    resident: int
    blocks: int


def _measured() -> Figures:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return Figures(pages * resource.getpagesize(), sys.getallocatedblocks())


async def watch(clock: VirtualClock, hours: float) -> list[Figures]:
    """Watch for `hours`. Return the figures at each mark."""
    world, figures, raised, begun = World(clock), list[Figures](), 0, time.monotonic()
    cadence = Cadence(events=120, events_near=120, qos=120, tick=120, jitter=0, together=5)
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=world) as api:
        monitor = Monitor(api, clock, cadence=cadence, random=Random(1))
        operator = Operator(monitor)
        async for snapshot in monitor.snapshots():
            now = clock.monotonic()
            raised += sum(change.transition == "raised" for change in snapshot.changes)
            await operator.act(snapshot, now)
            if now >= len(figures) * MARK * HOUR:
                figures.append(_measured())
                listed = len(snapshot.alarms) + len(snapshot.quiet)
                print(  # noqa: T201
                    f"{now / HOUR:5.1f} h  {figures[-1].resident / 1e6:6.1f} MB  {figures[-1].blocks:8} blocks  "
                    f"{listed:3} alarms listed of {raised:5}  {world.calls:6} calls  {time.monotonic() - begun:4.0f} s",
                    flush=True,
                )
            if now >= hours * HOUR:
                return figures
    return figures


async def on(clock: VirtualClock, hours: float) -> list[Figures]:
    """Drive the clock while watching. Return the figures as `watch` does."""
    return await clock.run(watch(clock, hours))


def main() -> int:
    """Watch and print. Return 1 if either figure grew by 5 % since the first day, else 0."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 72.0
    figures = asyncio.run(on(VirtualClock(), hours))
    day = figures[24 // MARK :]
    if len(day) < 2:
        return 0
    growth = [last / first - 1 for first, last in zip(day[0], day[-1], strict=True)]
    print(f"growth since the first day: resident {growth[0]:+.1%}, objects {growth[1]:+.1%}")  # noqa: T201
    return int(max(growth) >= 0.05)


if __name__ == "__main__":
    sys.exit(main())
