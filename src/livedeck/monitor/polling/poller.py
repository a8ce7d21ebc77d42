"""Polls in bounded rounds: what is due, a few calls at a time, never the same one twice; back-off, jitter, budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime
from math import floor, inf
from random import Random
from typing import Any, TypeAlias

from livedeck.client import ApiError, Event, QosSamples, RateLimited, Rejected, Unauthorized, Unreachable
from livedeck.monitor.model.resources import ResourceKey
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.schedule import LIST, PROBE, PollKey, PollSchedule, PollSpec, is_on_platform


async def wait_first(*runners: Coroutine[Any, Any, object]) -> None:
    """Run all until one is done, then stop the others. What the one raised is raised; what it returned is dropped."""
    tasks = [asyncio.ensure_future(runner) for runner in runners]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_MIN_GAP = 0.25
"""Seconds between two rounds that end early, at least: two hundred faults at once make no two hundred snapshots."""


class RoundDebounce:
    """Debounces: ends a poll round early for news that nobody may wait for, at most every 0.25 s.

    `is_urgent`: whether it ended this one.
    """

    def __init__(self, clock: Clock) -> None:
        self.is_urgent = False
        self._clock, self._has_news = clock, asyncio.Event()
        self._next_from = -inf  # when another round may be ended early (monotonic s)

    def begin(self) -> None:
        """A round begins, and has brought no news yet."""
        self.is_urgent = False
        self._has_news.clear()

    def end_early(self) -> None:
        """The round brought a new fault, or a worse one, or what somebody waits for."""
        self._has_news.set()

    async def wait(self) -> None:
        """Return when the round must end."""
        await self._has_news.wait()
        await self._clock.sleep(max(0.0, self._next_from - self._clock.monotonic()))
        self.is_urgent, self._next_from = True, self._clock.monotonic() + _MIN_GAP


@dataclass(frozen=True, slots=True)
class EventList:
    """Every event of the workspace. `unreadable`: rows that are left out, as not even their id could be read."""

    events: tuple[Event, ...]
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list that is polled on demand. `unreadable`: as of EventList."""

    items: tuple[Any, ...]
    unreadable: int = 0


PollPayload: TypeAlias = EventList | QosSamples | ItemList | ApiError
"""What a call may come back with: the event list, samples, a list that is polled on demand, or why not."""

_REMEMBERED = 60.0
"""Seconds; longer than the interval of any list that is polled on demand."""

_LONG_ROUND = 4.0
"""Seconds: the longest round whose budget is made up for."""

_PULSE_GAP = 2.0
"""Seconds between two lists, where calls that begin to fail are the reason to ask."""

_CONNECTION_ERRORS = (Unreachable, Unauthorized, RateLimited)
"""Errors that every other call would meet, too."""


@dataclass(frozen=True, slots=True)
class PollResult:
    """What one call brought, and when (wall clock; monotonic seconds).

    `is_outdated`: everything was expedited after it was requested.
    """

    key: PollKey
    at: datetime
    monotonic: float
    payload: PollPayload
    is_outdated: bool = False

    @property
    def is_good(self) -> bool:
        """Whether it brought what was asked for."""
        return not isinstance(self.payload, ApiError)


_PROBE_SPEC = PollSpec(0.0, 0)


class Poller:
    """Keeps the time of every call. `fetch`: makes one; an ApiError is returned, not raised.

    The event list is the pulse of the connection. While nothing answers at all, only the list and one event are asked
    for, at the pace of the back-off; where that is slow, a probe tells sooner that the platform is back. One round runs
    at a time; a call that is slower than its round answers in a later one. `part`: of the request budget that this
    process has; the rest is others'.
    """

    def __init__(
        self, fetch: Callable[[PollKey], Awaitable[PollPayload]], clock: Clock, cadence: Cadence, random: Random
    ) -> None:
        self._fetch, self._clock, self._cadence, self._random = fetch, clock, cadence, random
        self.part = 1.0
        self._slots = asyncio.Semaphore(cadence.at_once)
        self._in_flight: dict[PollKey, asyncio.Task[PollResult | None]] = {}
        self._requested: dict[PollKey, tuple[float, float]] = {}  # when, and the jitter of the wait that follows
        self._tokens, self._refilled_at = cadence.budget, clock.monotonic()  # requests that may be made, as of when
        self._list_failures = 0  # in a row
        self._is_pulse_due = False  # calls began to fail: the list tells whether everything does
        self._failing: set[PollKey] = set()  # whose last call failed
        self._uncounted: dict[PollKey, PollResult] = {}  # the last result of each call since a round was whole
        self._is_probing = False
        self._has_probe_answered = False  # the last probe, since the list was well
        self._has_connection_error = False  # a call of this round met one: those in the queue would, too
        self._retry_from = -inf  # Retry-After (monotonic s)

    def expedite(self) -> None:
        """Everything is due now; only a Retry-After is still obeyed."""
        self._requested.clear()

    def look_again(self) -> None:
        """Ask for the list now; only a Retry-After is still obeyed."""
        self._requested.pop(LIST, None)

    def note_answer(self, key: PollKey, monotonic: float) -> bool:
        """Somebody else asked for that then (monotonic s); whether that is newer than what was asked for here. It is
        due an interval after it."""
        requested, _ = self._requested.get(key, (inf, 1.0))
        if key not in self._in_flight and requested < monotonic:
            self._requested[key] = monotonic, self._draw_jitter()
        return requested < monotonic

    def hold_back(self, seconds: float) -> None:
        """Ask for nothing for so long: the platform said so to somebody else."""
        self._retry_from = max(self._retry_from, self._clock.monotonic() + seconds)

    @property
    def retry_seconds(self) -> float:
        """For how long a Retry-After of the platform is obeyed yet."""
        return max(0.0, self._retry_from - self._clock.monotonic())

    @property
    def is_backing_off(self) -> bool:
        """Whether the list failed the last time: the next turn is the retry."""
        return self._list_failures > 0

    def spend(self) -> None:
        """Count one more request than a round planned: a quick retry, or the next page of a list."""
        self._tokens -= 1

    def seconds_to_retry(self, schedule: PollSchedule) -> float | None:
        """Seconds until the platform is asked again after a list that failed; None without one, and while it is."""
        if not self._list_failures or {LIST, PROBE} & self._in_flight.keys():
            return None
        return max(0.0, min(self._due(LIST, schedule), self._due(PROBE, schedule)) - self._clock.monotonic())

    def wait(self, schedule: PollSchedule) -> float:
        """Seconds until a call is due, 0 where one is; infinite while all that is wanted is already in flight."""
        due = min((self._due(key, schedule) for key in self._candidates(schedule)), default=inf)
        return max(0.0, due - self._clock.monotonic(), self._seconds_to_tokens())

    async def round(
        self,
        schedule: PollSchedule,
        on_result: Callable[[PollResult], Awaitable[None]],
        *interrupts: Coroutine[Any, Any, object],
    ) -> tuple[PollResult, ...]:
        """Ask for what is due. Returns the results that came: in the end, or within the cadence's patience.

        `on_result`: called with each as it comes. `interrupts`: the round ends when one of them does.
        """
        self._begin(schedule)
        results: list[PollResult] = []
        ends = [asyncio.ensure_future(end) for end in (self._clock.sleep(self._cadence.patience), *interrupts)]
        try:
            while self._in_flight and not any(end.done() for end in ends):
                await asyncio.wait([*ends, *self._in_flight.values()], return_when=asyncio.FIRST_COMPLETED)
                for result in self._collect():
                    results.append(result)
                    await on_result(result)
                    if any(end.done() for end in ends):
                        break
            is_whole = not self._in_flight or ends[0].done()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        on_platform = [result for result in results if is_on_platform(result.key)]
        self._obey_retry_after(on_platform)
        self._uncounted |= {result.key: result for result in on_platform}
        if is_whole:
            self._update_backoff(schedule)
        return tuple(results)

    async def wait_result(self) -> None:
        """Return when a call that is still in flight is done; without one, wait to be cancelled."""
        never = asyncio.get_running_loop().create_future()
        await asyncio.wait([*self._in_flight.values(), never], return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Give up the calls that are in flight."""
        in_flight, self._in_flight = self._in_flight, {}
        for task in in_flight.values():
            task.cancel()
        await asyncio.gather(*in_flight.values(), return_exceptions=True)

    def _candidates(self, schedule: PollSchedule) -> list[PollKey]:
        probe: list[PollKey] = [PROBE] if self._needs_probe(schedule) else []
        if not self._is_probing:
            return [key for key in (*schedule, *probe) if key not in self._in_flight]
        on_platform = [key for key in schedule if is_on_platform(key)]
        probe += [] if LIST in self._in_flight else on_platform[:2]  # one list and one event, together
        off_platform = (key for key in schedule if not is_on_platform(key))
        return [key for key in (*probe, *off_platform) if key not in self._in_flight]

    def _needs_probe(self, schedule: PollSchedule) -> bool:
        """Whether a probe comes before the list does."""
        if not self._list_failures or LIST in self._in_flight:
            return False
        return self._due(PROBE, schedule) < self._due(LIST, schedule)

    def _due(self, key: PollKey, schedule: PollSchedule) -> float:
        if key == PROBE:
            requested, jitter = max(self._requested.get(pulse, (-inf, 1.0)) for pulse in (LIST, PROBE))
            return max(self._retry_from, requested + self._cadence.probe * jitter)
        pace = LIST if self._is_probing and is_on_platform(key) else key
        if pace not in self._requested:
            return self._retry_from
        requested, jitter = self._requested[pace]
        if key == LIST and self._is_pulse_due:
            return max(self._retry_from, requested + _PULSE_GAP)
        return max(self._retry_from, requested + self._interval(pace, schedule) * jitter)

    def _interval(self, key: PollKey, schedule: PollSchedule) -> float:
        if key == LIST and self._list_failures:
            steps = self._cadence.backoff
            return steps[min(self._list_failures, len(steps)) - 1]
        return schedule[key].interval

    def _begin(self, schedule: PollSchedule) -> None:
        """Start the calls that are due, and those that are due so soon that they may as well go along."""
        self._has_connection_error = False
        now = self._clock.monotonic()
        self._forget(schedule, now)
        if now < self._retry_from:
            return
        soon = now if self._list_failures else now + self._cadence.together
        due = [key for key in self._candidates(schedule) if self._due(key, schedule) <= soon]
        due.sort(key=lambda key: (schedule.get(key, _PROBE_SPEC).rank, self._due(key, schedule)))
        for key in due[: self._affordable_calls(now)]:
            self._tokens -= 1
            self._in_flight[key] = asyncio.create_task(self._call(key))

    def _forget(self, schedule: PollSchedule, now: float) -> None:
        """Of a list that is looked at again soon it is remembered when it was asked for."""

        def counts(key: PollKey, requested: float) -> bool:
            return key in schedule or key == PROBE or (isinstance(key, ResourceKey) and now - requested < _REMEMBERED)

        self._requested = {key: entry for key, entry in self._requested.items() if counts(key, entry[0])}

    @property
    def _budget(self) -> float:
        return self._cadence.budget * self.part

    def _affordable_calls(self, now: float) -> int:
        """How many calls may be made now: a second's worth at most, or that of a last round that took longer, as with
        thousands of events: else the budget would be spent in part."""
        budget, passed = self._budget, now - self._refilled_at
        self._tokens = min(budget * min(max(1.0, passed), _LONG_ROUND), self._tokens + passed * budget)
        self._refilled_at = now
        return max(0, floor(self._tokens))

    def _seconds_to_tokens(self) -> float:
        """Seconds until enough calls for a round may be made: one at a time would make a round of each."""
        budget = self._budget
        lacking = max(1.0, budget * self._cadence.together) - self._tokens
        return lacking / budget - (self._clock.monotonic() - self._refilled_at)

    def _draw_jitter(self) -> float:
        spread = self._cadence.jitter
        return self._random.uniform(1 - spread, 1 + spread)

    async def _call(self, key: PollKey) -> PollResult | None:
        """The result, or None where asking was pointless by the time its turn came."""
        async with self._slots:
            if self._has_connection_error and is_on_platform(key):
                return None
            requested = self._clock.monotonic(), self._draw_jitter()
            self._requested[key] = requested
            payload = await self._fetch(key)
            if is_on_platform(key):
                self._has_connection_error = isinstance(payload, _CONNECTION_ERRORS)
            is_outdated = self._requested.get(key) is not requested
            return PollResult(key, self._clock.now(), self._clock.monotonic(), payload, is_outdated)

    def _collect(self) -> Iterable[PollResult]:
        for key in [key for key, task in self._in_flight.items() if task.done()]:
            result = self._in_flight.pop(key).result()
            if result:
                yield result

    def _update_backoff(self, schedule: PollSchedule) -> None:
        """Count failures, and change between polling everything and probing.

        Only after a whole round: of one that was cut short, the failures alone may have come yet.
        """
        probe, results = self._uncounted.pop(PROBE, None), tuple(self._uncounted.values())
        self._uncounted = {}
        if probe:
            self._note_probe(probe)
        if not results:
            return
        is_new_failure = self._has_new_failure(results)
        if listing := next((result for result in results if result.key == LIST), None):
            self._is_pulse_due = False
            self._list_failures = 0 if listing.is_good else self._list_failures + 1
            self._has_probe_answered &= not listing.is_good
        if any(result.is_good for result in results):
            self._stop_probing()
        elif self._list_failures and (len(schedule) == 1 or any(result.key != LIST for result in results)):
            self._is_probing = True
        elif not self._list_failures and (
            is_new_failure or any(isinstance(result.payload, _CONNECTION_ERRORS) for result in results)
        ):
            self._is_pulse_due = True

    def _note_probe(self, probe: PollResult) -> None:
        """Ask for the list as soon as a probe is answered again; not each time, where the list alone fails."""
        if probe.is_good and not self._has_probe_answered:
            self._requested.pop(LIST, None)
        self._has_probe_answered = probe.is_good

    def _has_new_failure(self, results: Iterable[PollResult]) -> bool:
        """Whether a call failed that was well the last time: the platform may fail as a whole."""
        failed = {result.key for result in results if not result.is_good}
        is_new = bool(failed - self._failing)
        self._failing = self._failing - {result.key for result in results} | failed
        return is_new

    def _stop_probing(self) -> None:
        """All but the list is due now."""
        if self._is_probing:
            self._requested = {key: requested for key, requested in self._requested.items() if key == LIST}
            self._is_probing = False

    def _obey_retry_after(self, results: Iterable[PollResult]) -> None:
        for result in results:
            if isinstance(result.payload, Rejected) and result.payload.retry_after is not None:
                self._retry_from = max(self._retry_from, result.monotonic + result.payload.retry_after)
