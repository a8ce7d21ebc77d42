"""Simulator's own time: it can pause, run fast and jump, so that a rehearsal need not wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(2200, 1, 1, tzinfo=UTC)
MAX_SPEED = 1000.0


@dataclass(frozen=True, slots=True)
class ClockState:
    """Time of a clock as a function of this machine's time.

    The clock showed `base` at `set_at` (epoch seconds of this machine). Unless paused, it advances by `speed` simulated
    seconds in each second. `epoch` counts the changes.
    """

    base: datetime
    set_at: float
    speed: float
    paused: bool
    epoch: int = 0

    def document(self) -> dict[str, object]:
        """Return the clock's state as a document for the store."""
        return asdict(self) | {"base": self.base.isoformat()}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ClockState:
        """Return the state from its stored form."""
        return cls(**{**document, "base": datetime.fromisoformat(document["base"])})


class SimulatorClock:
    """Clock that starts at `start` (None: this machine's time) and runs `speed` simulated seconds per real second.

    Raises ValueError for a time that is naive or outside 1970 to 2200, and for a speed of 0 or less, or over 1000.
    """

    def __init__(self, start: datetime | None = None, speed: float = 1.0, paused: bool = False) -> None:
        base = _checked_time(start or datetime.now(UTC))
        self._state = ClockState(base, time.time(), _checked_speed(speed), paused)
        self._keep: Callable[[ClockState], object] = lambda _: None
        self._changed = asyncio.Event()

    @classmethod
    def going_on(cls, state: ClockState) -> SimulatorClock:
        """Return a clock that continues from `state`."""
        clock = cls()
        clock._state = state
        return clock

    def kept_by(self, keep: Callable[[ClockState], object]) -> None:
        """Pass the current state and every later one to `keep`. If `keep` raises, the clock does not change."""
        keep(self._state)
        self._keep = keep

    @property
    def state(self) -> ClockState:
        """State that gives the clock's time as a function of this machine's time."""
        return self._state

    def state_now(self) -> ClockState:
        """Return the state, counted from the current time."""
        return replace(self._state, base=self.now(), set_at=time.time())

    @property
    def speed(self) -> float:
        """Simulated seconds per real second while the clock runs."""
        return self._state.speed

    @property
    def paused(self) -> bool:
        return self._state.paused

    def now(self) -> datetime:
        """Return the simulator's time: aware, UTC, never after `LAST`."""
        state = self._state
        if state.paused:
            return state.base
        return min(LAST, state.base + timedelta(seconds=(time.time() - state.set_at) * state.speed))

    def change(
        self, *, jump: datetime | None = None, step: float = 0.0, speed: float | None = None, paused: bool | None = None
    ) -> None:
        """Jump to a time, step by seconds, change the speed, and pause or resume, as one change of the state.

        Omitted values stay. Raises ValueError, without a change.
        """
        state = self._state
        try:
            base = _checked_time((jump or self.now()) + timedelta(seconds=step))
        except OverflowError as error:
            raise ValueError(_RANGE) from error
        self.set(
            replace(
                state,
                base=base,
                set_at=time.time(),
                speed=state.speed if speed is None else _checked_speed(speed),
                paused=state.paused if paused is None else paused,
            )
        )

    def step(self, seconds: float) -> None:
        """Move the clock by `seconds`, running or paused; a negative number moves it back."""
        self.change(step=seconds)

    def set(self, state: ClockState) -> None:
        """Go on from `state`, with the next epoch."""
        state = replace(state, epoch=self._state.epoch + 1)
        self._keep(state)
        self._state = state
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, epoch: int, seconds: float) -> None:
        """Wait until the clock's epoch differs from `epoch`, at most for `seconds`. Call it in one loop only.

        A lower epoch counts, too, because a restarted simulator counts from 0.
        """
        if self._state.epoch == epoch:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)


_RANGE = "a time from 1970 to 2200"


def _checked_time(value: datetime) -> datetime:
    if value.tzinfo is None or not FIRST <= value <= LAST:
        raise ValueError(_RANGE)
    return value.astimezone(UTC)


def _checked_speed(speed: float) -> float:
    if not 0 < speed <= MAX_SPEED:
        raise ValueError(f"a speed above 0, at most {MAX_SPEED:.0f}")
    return speed


def format_timestamp(value: datetime) -> str:
    """Return a timestamp in the form that the API writes.

    ISO 8601, UTC, fractional seconds (platform-api.md, "Timestamps").
    """
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def format_epoch(seconds: float) -> str:
    """Return epoch seconds in the form that the API writes."""
    return format_timestamp(datetime.fromtimestamp(seconds, UTC))
