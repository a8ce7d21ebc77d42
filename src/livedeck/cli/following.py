"""One event's samples, asked for again and again: each sample once, and a word whenever they cannot be believed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from livedeck import wording
from livedeck.cli.samples import since
from livedeck.client import Api, ApiError, Event, NotFound, Rejected
from livedeck.monitor import Clock, Freshness, Reading, Readings
from livedeck.monitor.connection import skew
from livedeck.monitor.freshness import of_samples
from livedeck.monitor.series import cadence, gather, later
from livedeck.settings import Settings


class Follower:
    """What is known of one event's samples. `left_out`: how many of the last answer could not be used."""

    def __init__(self, api: Api, event: Event, clock: Clock, settings: Settings) -> None:
        self.event, self.readings, self.left_out = event, Readings(), 0
        self._api, self._clock, self._pace = api, clock, settings.pace()
        self._thresholds = settings.limits(event.id)
        self._skew, self._failures, self._told = 0.0, 0, Freshness.FRESH

    async def ask(self) -> None:
        """Learn what the platform has now. Raises ApiError."""
        brought = await self._api.qos.get(self.event.id)
        self._skew = skew(self._api.exchanges, self._skew, self._thresholds)
        until = self.now() + self._thresholds.ahead
        self.left_out = brought.dropped + later(brought, until)
        self.readings = gather(self.readings, brought, until=until)

    async def news(self, last: float, say: Callable[[str], None]) -> AsyncIterator[list[Reading]]:
        """The samples of the last so many seconds, and then each new one once. Never ends but by NotFound.

        `say` is told once when the platform fails or the samples grow stale, and once when that is over.
        """
        printed: frozenset[float] | None = None
        while True:
            pause = await self._try(say)
            if not self._failures:
                known = since(self.readings, last if printed is None else None)
                fresh = [one for one in known if printed is None or one.time not in printed]
                printed = frozenset(self.readings.time)
                if fresh:
                    yield fresh
            self._tell(say)
            await self._clock.sleep(pause)

    def now(self) -> float:
        """Epoch seconds by the platform's clock."""
        return self._clock.now().timestamp() + self._skew

    def age(self) -> float | None:
        """Seconds since the newest sample, None where there is none."""
        newest = self.readings.last
        return None if newest is None else max(0.0, self.now() - newest.time)

    def freshness(self) -> Freshness:
        """How far the samples tell of now."""
        age = self.age()
        return Freshness.NEVER if age is None else of_samples(age, cadence(self.readings), self._thresholds)

    async def _try(self, say: Callable[[str], None]) -> float:
        """Ask once. Returns the seconds to wait before the next time."""
        try:
            await self.ask()
        except NotFound:
            raise
        except ApiError as error:
            self._failures += 1
            if self._failures == 1:
                say(f"{error}; trying again")
            steps = self._pace.backoff
            asked = error.retry_after if isinstance(error, Rejected) else None
            return max(asked or 0.0, steps[min(self._failures, len(steps)) - 1])
        if self._failures:
            say("the platform answers again")
        self._failures = 0
        return self._pace.qos_focus

    def _tell(self, say: Callable[[str], None]) -> None:
        """Say it where the samples went stale, came back, or never were there."""
        state = self.freshness()
        if state is Freshness.LATE or state is self._told:
            return
        if state is Freshness.STALE:
            say(f"STALE: no new sample for {wording.age(self.age() or 0.0)}")
        elif state is Freshness.NEVER:
            say("no samples yet")
        else:
            say("samples come again" if self._told is Freshness.STALE else "the first samples")
        self._told = state
