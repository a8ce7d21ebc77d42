"""Clock of a rehearsal: a deck, a status or a collector follows the simulator's clock (simulator.md, "Followed clock").

This module is imported only if the settings ask for a followed clock. So no platform can move a clock by itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from livedeck.cli.rehearsal import NoClockError, WentBackError
from livedeck.client import ApiError, Misconfigured, Outgoing, check_outgoing
from livedeck.collector.attached.clock import pace_text
from livedeck.monitor import Clock
from livedeck.monitor.polling.poller import wait_first
from livedeck.settings import Settings

MAX_SPEED = 30.0
"""Maximum speed of a followed clock. At a higher speed, a reply takes several seconds of the followed clock."""

WAIT = 5
"""Seconds for which the simulator may hold a request until its clock is changed."""

_PATIENCE = 2.0
"""Time limit of a request in seconds, added to the wait that the request asks for."""

_RETRY = 1.0
"""Seconds between two tries while the simulator does not respond. The followed clock runs on meanwhile."""

_REST = 0.02
"""Seconds between two rounds of requests, in case the server replies at once instead of holding a request."""

_TRIES = 3
"""Maximum number of readings until one is exact. Without an exact one, the best counts."""

_EXACT, _DOUBT = 1.0, 10.0
"""Maximum round trip of an exact reading and of a usable one, in seconds of the followed clock.

The clock may be wrong by half of the round trip. An error of 2 s is a CLOCK_SKEW.
"""

_ROUNDING = 0.001
"""Seconds by which the time in a reply is rounded."""

_LATENESS = 0.5
"""Maximum seconds until this clock learns of a change. An error that grew in this time is no jump back."""

_BACK = 2.0
"""Seconds that the simulator's clock may be behind this clock. A greater distance counts as a jump back."""

_MAX_BODY = 4096

_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Range of the simulator's time."""

T = TypeVar("T")


class ClockReading(NamedTuple):
    """Simulator's clock at one instant. `now`: its time (epoch s). `epoch`: differs after each change of the clock."""

    now: float
    speed: float
    paused: bool
    epoch: int


ReadClock = Callable[[int | None], Awaitable[ClockReading]]
"""Function that reads the simulator's clock. Given an epoch, it first waits until the epoch differs, up to `WAIT` s."""


class FollowedClock:
    """Clock that follows the simulator's clock: its speed, pauses, steps and jumps.

    `now` and `monotonic` give the same time, which never runs back. If this clock has run too far, because it learnt
    late of a slower speed, it stops until the simulator has caught up. `machine`: clock of this machine.

    Attributes:
        fault: Why this clock can be followed no longer; None while it can.
    """

    def __init__(self, read: ReadClock, machine: Clock) -> None:
        self._read, self._machine = read, machine
        self._reading, self._at = ClockReading(0.0, 1.0, paused=True, epoch=-1), machine.monotonic()
        self._shown = 0.0
        self._is_confirmed = False  # the simulator answered the last request
        self._change = asyncio.Event()
        self.fault: NoClockError | None = None

    async def start(self) -> None:
        """Read the simulator's clock for the first time. Raises NoClockError."""
        await self._measure()
        if self.fault is not None:
            raise self.fault

    async def follow(self) -> None:
        """Follow the simulator's clock until cancelled, or until there is a `fault`."""
        while self.fault is None:
            try:
                await self._measure()
                await self._machine.sleep(_REST)
                await self._read(self._reading.epoch)
            except NoClockError:
                self._is_confirmed = False
                await self._machine.sleep(_RETRY)

    async def changed(self) -> None:
        """Wait until a reading sets this clock, for example because the simulator's speed has changed."""
        await self._change.wait()

    async def until_fault(self) -> None:
        """Wait until this clock can be followed no longer."""
        while self.fault is None:
            await self._change.wait()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`. Cancels it and raises NoClockError if the clock can be followed no longer."""
        task = asyncio.ensure_future(work)
        try:
            await wait_first(asyncio.wait([task]), self.until_fault())
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        if self.fault is not None:
            raise self.fault
        return task.result()

    def now(self) -> datetime:
        """Return the simulator's time (aware, UTC)."""
        return datetime.fromtimestamp(self.monotonic(), UTC)

    def monotonic(self) -> float:
        """Return the seconds of this clock, which never run back."""
        self._shown = max(self._shown, self._line(self._machine.monotonic()))
        return self._shown

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock, even if its speed changes meanwhile. While paused, this never ends."""
        until = self.monotonic() + seconds
        await asyncio.sleep(0)
        while self.monotonic() < until:
            waits: list[Coroutine[Any, Any, object]] = [self._change.wait()]
            if not self._reading.paused:
                left = until - self._line(self._machine.monotonic())
                waits.append(self._machine.sleep(left / self._reading.speed))
            await wait_first(*waits)

    def machine_seconds(self, seconds: float) -> float:
        """Convert seconds of this clock to seconds of this machine. They are equal while the clock is paused."""
        return seconds if self._reading.paused else seconds / self._reading.speed

    def speed(self) -> float | None:
        """Return the seconds of this clock in each second of the machine: 0 while paused, None while unknown."""
        if not self._is_confirmed:
            return None
        return 0.0 if self._reading.paused else self._reading.speed

    def pace(self) -> str:
        """Return the speed for people, as in `pace_text`."""
        return pace_text(self.speed())

    def _line(self, at: float) -> float:
        """Return the simulator's time (epoch s) at the time `at` of this machine (monotonic s), by the last reading."""
        reading = self._reading
        return reading.now + (0.0 if reading.paused else (at - self._at) * reading.speed)

    async def _measure(self) -> None:
        """Read the simulator's clock now, and set this clock if it differs. Raises NoClockError."""
        tried: list[tuple[float, float, ClockReading]] = []
        for _ in range(_TRIES):
            sent = self._machine.monotonic()
            reading = await self._read(None)
            received = self._machine.monotonic()
            tried.append((0.0 if reading.paused else (received - sent) * reading.speed, received, reading))
            if tried[-1][0] <= _EXACT or reading.speed > MAX_SPEED:
                break
        doubt, at, best = min(found for found in tried if found[2].epoch == reading.epoch)
        if doubt > _DOUBT and best.speed <= MAX_SPEED:
            raise NoClockError(
                f"--follow-clock: the simulator takes {doubt / best.speed:.1f} s to respond, too long at "
                f"{best.speed:g} times real time; try a lower speed"
            )
        self._is_confirmed = True
        self._take(best, at, doubt)

    def _take(self, reading: ClockReading, received: float, doubt: float) -> None:
        """Set this clock by a reading that arrived at `received` (monotonic s), or set `fault` if that is impossible.

        The reading is 0 to `doubt` seconds old, by the simulator's clock. A clock that agrees with it stays unchanged.
        """
        line, before = self._line(received), self._reading
        if reading.speed > MAX_SPEED:
            speed = f"the rehearsal runs {reading.speed:g} times as fast as real time"
            self.fault = NoClockError(f"--follow-clock: {speed}, too fast to follow; set at most {MAX_SPEED:g}")
        elif line - reading.now - doubt > _BACK + (0.0 if before.paused else _LATENESS * before.speed):
            shows = f"{datetime.fromtimestamp(reading.now, UTC):%H:%M:%S}Z"
            self.fault = WentBackError(f"--follow-clock: the rehearsal is at {shows}, before the time shown here")
        elif reading[1:] != before[1:] or not -_ROUNDING <= line - reading.now <= doubt + _ROUNDING:
            self._shown = self.monotonic()
            self._reading, self._at = reading._replace(now=reading.now + doubt / 2), received
        else:
            return
        change, self._change = self._change, asyncio.Event()
        change.set()


class ScreenClock:
    """Clock of a screen: shows the time of `clock`, but measures keys and clicks by the clock of this machine."""

    def __init__(self, clock: Clock, machine: Clock) -> None:
        self.now, self.monotonic, self.sleep = clock.now, machine.monotonic, machine.sleep


def check_address(settings: Settings, *, is_sure: bool) -> None:
    """Raise NoClockError unless the platform is on this machine, or the user `is_sure` that it is a rehearsal."""
    host = urlsplit(settings.base_url).netloc
    try:
        check_outgoing(f"http://{host}")  # plain http goes to loopback only
    except Misconfigured:
        if not is_sure:
            raise NoClockError(
                f"--follow-clock: {host} is another machine, and a platform must never move a clock; "
                f"leave --follow-clock out, or add --yes if {host} serves a rehearsal"
            ) from None


@asynccontextmanager
async def following(settings: Settings, machine: Clock) -> AsyncIterator[FollowedClock]:
    """Follow the clock of the rehearsal in the settings while the block runs. Raises NoClockError."""
    parts = urlsplit(settings.base_url)
    address = f"{parts.scheme}://{parts.netloc}/_clock"
    async with Outgoing() as outgoing:
        clock = FollowedClock(lambda after: _read(outgoing, address, after), machine)
        await clock.start()
        task = asyncio.create_task(clock.follow())
        try:
            yield clock
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _read(outgoing: Outgoing, address: str, after: int | None) -> ClockReading:
    query, wait = ("", 0) if after is None else (f"?after={after}&wait={WAIT}", WAIT)
    body = b""
    try:
        async with asyncio.timeout(wait + _PATIENCE), outgoing.open("GET", f"{address}{query}", {}) as incoming:
            async for chunk in incoming.chunks():
                body += chunk
                if len(body) > _MAX_BODY:
                    break
    except TimeoutError:
        raise NoClockError(f"--follow-clock: no reply from {address} in {wait + _PATIENCE:g} s") from None
    except ApiError as error:
        raise NoClockError(f"--follow-clock: {address}: {error}") from None
    try:
        return _parse(body if incoming.status == 200 else b"")
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise NoClockError(
            f"--follow-clock: {address} responds with status {incoming.status} and no clock to follow; only a "
            "simulator has one (livedeck serve)"
        ) from None


def _parse(body: bytes) -> ClockReading:
    """Return the reading in a response. Raises KeyError, TypeError, ValueError, OverflowError or RecursionError."""
    shown = json.loads(body)["data"]
    now, speed, paused, epoch = datetime.fromisoformat(shown["now"]), shown["speed"], shown["paused"], shown["epoch"]
    is_typed = isinstance(speed, int | float) and isinstance(paused, bool) and isinstance(epoch, int)
    if not is_typed or not _FIRST <= now <= _LAST or not 0 < speed <= 1e6:
        raise ValueError(shown)
    return ClockReading(now.timestamp(), float(speed), paused, epoch)
