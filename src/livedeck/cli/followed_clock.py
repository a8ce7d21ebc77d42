"""Clock of a rehearsal: a deck, a status or a collector follows the simulator's clock (simulator.md, "Followed clock").

Nothing imports this module unless the settings ask for it, so a platform alone can never move a clock.
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
from livedeck.monitor import Clock
from livedeck.monitor.polling.poller import wait_first
from livedeck.settings import Settings

MAX_SPEED = 30.0
"""Fastest clock that is followed: above it a reply takes seconds of the followed clock."""

WAIT = 25
"""Seconds for which the simulator may hold a request until its clock is changed."""

_SILENCE = 10.0
"""Seconds without a byte, beyond `WAIT`, after which a request failed."""

_RETRY = 1.0
"""Seconds between two tries while the simulator does not respond. The clock runs on meanwhile."""

_LATENESS = 0.5
"""Maximum seconds by which the news of a change is late. What this clock ran too far meanwhile is no jump back."""

_BACK = 2.0
"""Seconds that the simulator's clock may always be behind this clock before that counts as a jump back."""

_MAX_BODY = 4096

T = TypeVar("T")


class ClockReading(NamedTuple):
    """Simulator's clock at one instant. `now`: its time (epoch s). `epoch`: grows with each change of the clock."""

    now: float
    speed: float
    paused: bool
    epoch: int


ReadClock = Callable[[int | None], Awaitable[ClockReading]]
"""Function that reads the simulator's clock. After an epoch it waits for the next one, for at most `WAIT` seconds."""


class FollowedClock:
    """Clock that follows the simulator's clock: its speed, pauses, steps and jumps.

    `now` and `monotonic` are one time that never runs back. If this clock has run too far, because the news of a slower
    clock came late, it stands until the simulator has caught up. `machine`: clock of this machine.

    Attributes:
        fault: Why this clock can be followed no longer; None while it can.
    """

    def __init__(self, read: ReadClock, machine: Clock) -> None:
        self._read, self._machine = read, machine
        self._reading, self._at = ClockReading(0.0, 1.0, paused=True, epoch=-1), machine.monotonic()
        self._shown = 0.0
        self._round_trip = 0.0  # of the measurement in force
        self._change = asyncio.Event()
        self.fault: NoClockError | None = None

    async def start(self) -> None:
        """Read the clock for the first time. Raises NoClockError."""
        reading, received, round_trip = await self._measure(None)
        if reading.speed > MAX_SPEED:
            raise NoClockError(_too_fast(reading))
        self._set(reading, received - round_trip / 2, round_trip)

    async def follow(self) -> None:
        """Follow the simulator's clock until cancelled, or until there is a `fault`."""
        while self.fault is None:
            try:
                await self._follow_once()
            except NoClockError:
                await self._machine.sleep(_RETRY)

    async def changed(self) -> None:
        """Wait until the clock is read again, such as after a change of its speed."""
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
        self._shown = max(self._shown, self._line())
        return self._shown

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock, also if its speed changes meanwhile; never while it is paused."""
        until = self.monotonic() + seconds
        await asyncio.sleep(0)
        while self.monotonic() < until:
            waits: list[Coroutine[Any, Any, object]] = [self._change.wait()]
            if not self._reading.paused:
                waits.append(self._machine.sleep((until - self._line()) / self._reading.speed))
            await wait_first(*waits)

    def machine_seconds(self, seconds: float) -> float:
        """Convert seconds of this clock to seconds of this machine. They are equal while the clock is paused."""
        return seconds if self._reading.paused else seconds / self._reading.speed

    def speed(self) -> float:
        """Return the seconds of this clock in each second of the machine; 0 while it is paused."""
        return 0.0 if self._reading.paused else self._reading.speed

    def pace(self) -> str:
        """Speed for people: `x20`, or `paused`."""
        return "paused" if self._reading.paused else f"x{self._reading.speed:g}"

    def _line(self) -> float:
        reading = self._reading
        return reading.now + (0.0 if reading.paused else (self._machine.monotonic() - self._at) * reading.speed)

    async def _follow_once(self) -> None:
        """Wait for the next change, and then measure the clock without a wait, which is more exact."""
        reading, received, _ = await self._measure(self._reading.epoch)
        if reading.epoch != self._reading.epoch:
            self._take(reading, received)
        if self.fault is None:
            reading, received, round_trip = await self._measure(None)
            if reading.epoch != self._reading.epoch or round_trip <= 2 * self._round_trip:
                self._take(reading, received - round_trip / 2, round_trip)

    async def _measure(self, after: int | None) -> tuple[ClockReading, float, float]:
        """Return a reading, the time of its arrival and the round trip (monotonic s of this machine)."""
        sent = self._machine.monotonic()
        reading = await self._read(after)
        received = self._machine.monotonic()
        return reading, received, received - sent

    def _take(self, reading: ClockReading, at: float, round_trip: float = float("inf")) -> None:
        """Take a reading of the time `at`, unless it cannot be followed."""
        self._shown = self.monotonic()
        if reading.speed > MAX_SPEED:
            self.fault = NoClockError(_too_fast(reading))
        elif self._line() - reading.now > _BACK + _LATENESS * self._reading.speed:
            back_to = datetime.fromtimestamp(reading.now, UTC)
            self.fault = WentBackError(f"--follow-clock: the rehearsal went back to {back_to:%H:%M:%S}Z")
        else:
            self._set(reading, at, round_trip)
        change, self._change = self._change, asyncio.Event()
        change.set()

    def _set(self, reading: ClockReading, at: float, round_trip: float) -> None:
        self._reading, self._at, self._round_trip = reading, at, round_trip


class ScreenClock:
    """Clock of a screen: `clock` for the times that it shows, and this machine's for the pace of a person's hands."""

    def __init__(self, clock: Clock, machine: Clock) -> None:
        self.now, self.monotonic, self.sleep = clock.now, machine.monotonic, machine.sleep


def _too_fast(reading: ClockReading) -> str:
    speed = f"the rehearsal runs {reading.speed:g} times as fast as real time"
    return f"--follow-clock: {speed}: too fast to follow; at most {MAX_SPEED:g}"


def check_address(settings: Settings, *, is_sure: bool) -> None:
    """Raise NoClockError unless the platform is on this machine, or the user `is_sure` that it is a rehearsal."""
    host = urlsplit(settings.base_url).netloc
    try:
        check_outgoing(f"http://{host}")  # plain http goes to loopback only
    except Misconfigured:
        if not is_sure:
            raise NoClockError(
                f"--follow-clock: {host} is another machine, and a platform must never move a clock; "
                "leave --follow-clock out, or add --yes if that is a rehearsal"
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
    query = "" if after is None else f"?after={after}&wait={WAIT}"
    try:
        async with outgoing.open("GET", f"{address}{query}", {}, silence=WAIT + _SILENCE) as incoming:
            body = b""
            async for chunk in incoming.chunks():
                body += chunk
                if len(body) > _MAX_BODY:
                    break
        if incoming.status != 200:
            raise NoClockError(f"--follow-clock: {address} responds with {incoming.status}: there is no rehearsal")
        return _parse(body)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise NoClockError(
            f"--follow-clock: {address} responds with something else than a clock: there is no rehearsal"
        ) from None
    except ApiError as error:
        raise NoClockError(f"--follow-clock: {address}: {error}") from None


def _parse(body: bytes) -> ClockReading:
    """Return the reading in a response. Raises KeyError, TypeError, ValueError or OverflowError."""
    shown = json.loads(body)["data"]
    now, speed = datetime.fromisoformat(shown["now"]), float(shown["speed"])
    if now.tzinfo is None or not 0 < speed <= 1e6:
        raise ValueError(now, speed)
    return ClockReading(now.timestamp(), speed, bool(shown["paused"]), int(shown["epoch"]))
