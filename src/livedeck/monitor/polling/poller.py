"""Poll rounds of limited length, which make the due calls; back-off, jitter and request budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from math import floor, inf
from random import Random
from typing import Any, NamedTuple, TypeAlias

from livedeck.client import (
    ApiError,
    Event,
    QosSamples,
    RateLimited,
    Rejected,
    ResponseTiming,
    Shortfall,
    Unauthorized,
    Unreachable,
    recording_timings,
)
from livedeck.monitor.evidence.dating import Dated
from livedeck.monitor.evidence.own import OwnWatch
from livedeck.monitor.model.resources import ResourceKey
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.schedule import LIST, PROBE, PollKey, PollSchedule, PollSpec, is_on_platform
from livedeck.record import Record


async def wait_first(*runners: Coroutine[Any, Any, object]) -> None:
    """Run all runners until one is done, then cancel the others. Raises the error of the first runner."""
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
"""Minimum seconds between two rounds that end early, so that two hundred faults do not make two hundred snapshots."""


class RoundDebounce:
    """Switch that ends a poll round early for urgent news, at most every 0.25 s.

    `is_urgent`: urgent news has ended this round.
    """

    def __init__(self, clock: Clock) -> None:
        self.is_urgent = False
        self._clock, self._has_news = clock, asyncio.Event()
        self._next_from = -inf  # earliest next early end (monotonic s)

    def begin(self) -> None:
        """Begin a round, and forget the news of the last round."""
        self.is_urgent = False
        self._has_news.clear()

    def end_early(self) -> None:
        """End the round because of a new or worse fault, or a list that a screen waits for."""
        self._has_news.set()

    async def wait(self) -> None:
        """Wait until the round must end early."""
        await self._has_news.wait()
        await self._clock.sleep(max(0.0, self._next_from - self._clock.monotonic()))
        self.is_urgent, self._next_from = True, self._clock.monotonic() + _MIN_GAP


class EventList(Record):
    """Event list of the workspace.

    `unreadable`: number of rows left out because their id could not be read. `shortfall`: rows that the platform
    announced but that were not received; None if the list is complete. `is_counted`: the list states its number of
    rows, as the document promises.
    """

    events: tuple[Event, ...]
    unreadable: int = 0
    shortfall: Shortfall | None = None
    is_counted: bool = True

    @property
    def is_bare(self) -> bool:
        """True if the list has no rows and states no number of rows, so it proves nothing about the events."""
        return not (self.events or self.unreadable or self.is_counted)

    @property
    def is_whole(self) -> bool:
        """True if the list has every event of the workspace."""
        return not self.unreadable and self.shortfall is None


class ItemList(Record):
    """List that was polled on demand. `unreadable`, `shortfall`: as in EventList."""

    items: tuple[Any, ...]
    unreadable: int = 0
    shortfall: Shortfall | None = None


PollPayload: TypeAlias = EventList | QosSamples | ItemList | ApiError
"""Result of a call: event list, samples, a list polled on demand, or the error."""

_REMEMBERED = 60.0
"""Seconds after which the last request for an on-demand list is forgotten; longer than any interval."""

_LONG_ROUND = 4.0
"""Maximum seconds since the last round for which unused budget adds up."""

_PULSE_GAP = 2.0
"""Maximum seconds between two polls of the event list while calls begin to fail."""

_LEAST_TRIES, _SAME_TRY, _LONG_TRY = 3, 1.0, 10.0
"""Minimum number of tries that prove a silence of the platform.

Calls sent within `_SAME_TRY` seconds count as one try. A call that waits counts as a try every `_LONG_TRY` seconds.
"""

_LONG_WAIT = 0.1
"""Minimum seconds of a wait for replies that excuses the lateness of the next calls."""

_CONNECTION_ERRORS = (Unreachable, Unauthorized, RateLimited)
"""Errors that every call to the platform would have now."""


class PollResult(Record):
    """Result of one call.

    `at`, `monotonic`: time at which the reply was read, on the wall clock and in monotonic seconds. `is_outdated`: the
    call was made due again after this request was sent. `dated`: times of the request and its reply; None if all are
    equal to `at`, as in a recording. `is_part`: the samples are only the newest of the reply.
    """

    key: PollKey
    at: datetime
    monotonic: float
    payload: PollPayload
    is_outdated: bool = False
    dated: Dated | None = None
    is_part: bool = False

    @property
    def is_good(self) -> bool:
        return not isinstance(self.payload, ApiError)

    @property
    def moments(self) -> Dated:
        """Times of the request and its reply, by the monitor's clock."""
        return self.dated or Dated(self.at.timestamp(), self.at.timestamp())


_PROBE_SPEC = PollSpec(0.0, 0)


class _Plan(NamedTuple):
    """Planned call.

    `due`: time at which the call was due. `begun`: time at which this process would have begun the call without waits
    for earlier calls. `interval`: seconds between two calls. Times are monotonic seconds.
    """

    due: float
    begun: float
    interval: float


class Poller:
    """Poller that makes all calls, in rounds.

    The event list shows whether the connection works. While every call fails, the poller polls only the list and one
    event, at the intervals of the back-off. Between these polls it sends a probe, which asks for one row of the list.
    One round runs at a time. The result of a call that is slower than its round arrives in a later round.

    `fetch`: makes a call; it returns an ApiError instead of raising it. `own`: watch of this process; it receives the
    times of planned polls and replies. `part`: this process's share of the request budget. `pace`: share of the usual
    pace that the platform accepts.
    """

    def __init__(
        self,
        fetch: Callable[[PollKey], Awaitable[PollPayload]],
        clock: Clock,
        cadence: Cadence,
        random: Random,
        own: OwnWatch | None = None,
    ) -> None:
        self._fetch, self._clock, self._cadence, self._random = fetch, clock, cadence, random
        self._own = own or OwnWatch()
        self._done: dict[PollKey, float] = {}  # end of each call (monotonic s); the next may begin then
        self._unaffordable: frozenset[PollKey] = frozenset()  # due calls that wait for the budget
        self.part = self.pace = 1.0
        self._slots = asyncio.Semaphore(cadence.at_once)
        self._side_slots = asyncio.Semaphore(max(1, cadence.at_once // 2))  # for calls beside the list and samples
        self._in_flight: dict[PollKey, asyncio.Task[PollResult | None]] = {}
        self._requested: dict[PollKey, tuple[float, float]] = {}  # time, and jitter of the next wait
        self._tokens, self._refilled_at = (
            cadence.budget,
            clock.monotonic(),
        )  # available requests, and time of that count
        self._sent: dict[PollKey, tuple[float, float]] = {}  # calls in flight: their entries of `_requested`
        self._failed_tries, self._last_try = 0, -inf  # failed tries in a row, and the time of the last (monotonic s)
        self._list_failures = 0  # failures of the list in a row
        self._is_pulse_due = False  # calls begin to fail, so a list must show whether every call does
        self._failing: set[PollKey] = set()  # calls whose last result was a failure
        self._uncounted: dict[PollKey, PollResult] = {}  # last result of each call since the last complete round
        self._is_probing = False
        self._has_probe_answered = False  # the last probe since the last good list succeeded
        self._has_connection_error = False  # a call of this round had such an error, so queued calls are dropped
        self._retry_from = -inf  # end of the platform's Retry-After (monotonic s)
        self._waits: list[tuple[float, float]] = []  # begin and end of the last round's long waits for replies

    @property
    def is_silence_tried(self) -> bool:
        """True if enough calls were made since the last good reply to prove a silence of the platform.

        A call that waits counts once for each `_LONG_TRY` seconds. During a Retry-After this is always true, because
        the platform itself demands the silence.
        """
        now = self._clock.monotonic()
        waits = (now - sent for key, (sent, _) in self._sent.items() if is_on_platform(key))
        return self._failed_tries + max(waits, default=0.0) // _LONG_TRY >= _LEAST_TRIES or self.retry_seconds > 0

    def expedite(self) -> None:
        """Make every call due now, or after a Retry-After."""
        self._requested.clear()

    def start_over(self) -> None:
        """Make every call due now, and cancel the calls in flight, which were sent before a stop of this process.

        Their replies prove nothing about the present, and after a sleep their connections are dead.
        """
        for key in [key for key in self._in_flight if not isinstance(key, ResourceKey)]:
            self._in_flight.pop(key).cancel()
        self.expedite()

    def note_answer(self, key: PollKey, monotonic: float) -> bool:
        """Note that another process made this call at `monotonic` (s). The next call is due one interval later.

        Returns whether the other process's call is newer than this process's last call.
        """
        requested, _ = self._requested.get(key, (inf, 1.0))
        if key not in self._in_flight and requested < monotonic:
            self._requested[key] = monotonic, self._draw_jitter()
        return requested < monotonic

    def hold_back(self, seconds: float) -> None:
        """Pause all polls for some seconds, because the platform has made another process wait."""
        self._retry_from = max(self._retry_from, self._clock.monotonic() + seconds)

    @property
    def retry_seconds(self) -> float:
        """Remaining seconds of a Retry-After."""
        return max(0.0, self._retry_from - self._clock.monotonic())

    @property
    def is_backing_off(self) -> bool:
        """True if the last poll of the list failed, so that the next round retries it."""
        return self._list_failures > 0

    def spend(self) -> None:
        """Count an extra request against the budget: a quick retry, or the next page of a list."""
        self._tokens -= 1

    def seconds_to_retry(self, schedule: PollSchedule) -> float | None:
        """Return the seconds until a failed list is retried; None without a failure, and during the retry."""
        if not self._list_failures or {LIST, PROBE} & self._in_flight.keys():
            return None
        return max(0.0, min(self._due(LIST, schedule), self._due(PROBE, schedule)) - self._clock.monotonic())

    def wait(self, schedule: PollSchedule) -> float:
        """Return the seconds until the next call is due; inf while all calls are in flight."""
        due = min((self._due(key, schedule) for key in self._candidates(schedule)), default=inf)
        return max(0.0, due - self._clock.monotonic(), self._seconds_to_tokens())

    async def round(
        self,
        schedule: PollSchedule,
        on_result: Callable[[PollResult], Awaitable[None]],
        *interrupts: Coroutine[Any, Any, object],
    ) -> tuple[PollResult, ...]:
        """Make the due calls and return the results that arrived before the end of the round.

        The round ends with the last result, after the cadence's patience, or when one of `interrupts` returns.
        `on_result`: called with each result.
        """
        self._begin(schedule)
        results: list[PollResult] = []
        ends = [asyncio.ensure_future(end) for end in (self._clock.sleep(self._cadence.patience), *interrupts)]
        try:
            while self._in_flight and not any(end.done() for end in ends):
                since = self._clock.monotonic()
                await asyncio.wait([*ends, *self._in_flight.values()], return_when=asyncio.FIRST_COMPLETED)
                if (until := self._clock.monotonic()) - since >= _LONG_WAIT:
                    self._waits.append((since, until))
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
        """Wait until a call in flight is done; without calls in flight, wait for ever."""
        never = asyncio.get_running_loop().create_future()
        await asyncio.wait([*self._in_flight.values(), never], return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Cancel the calls in flight."""
        in_flight, self._in_flight = self._in_flight, {}
        for task in in_flight.values():
            task.cancel()
        await asyncio.gather(*in_flight.values(), return_exceptions=True)

    def _candidates(self, schedule: PollSchedule) -> list[PollKey]:
        probe: list[PollKey] = [PROBE] if self._needs_probe(schedule) else []
        if not self._is_probing:
            return [key for key in (*schedule, *probe) if key not in self._in_flight]
        on_platform = [key for key in schedule if is_on_platform(key)]
        probe += [] if LIST in self._in_flight else on_platform[:2]  # one list and one event together
        off_platform = (key for key in schedule if not is_on_platform(key))
        return [key for key in (*probe, *off_platform) if key not in self._in_flight]

    def _needs_probe(self, schedule: PollSchedule) -> bool:
        """Return whether a probe is due before the list."""
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
        interval = self._interval(pace, schedule) * jitter
        if key == LIST and self._is_pulse_due:
            interval = min(interval, _PULSE_GAP)
        return max(self._retry_from, requested + interval)

    def _interval(self, key: PollKey, schedule: PollSchedule) -> float:
        if key == LIST and self._list_failures:
            steps = self._cadence.backoff
            return steps[min(self._list_failures, len(steps)) - 1]
        return schedule[key].interval

    def _begin(self, schedule: PollSchedule) -> None:
        """Start the calls that are due now or soon, as far as the budget allows."""
        self._has_connection_error = False
        now = self._clock.monotonic()
        self._forget(schedule, now)
        if now < self._retry_from:
            return
        soon = now if self._list_failures else now + self._cadence.together
        due = [key for key in self._candidates(schedule) if self._due(key, schedule) <= soon]
        due.sort(key=lambda key: (schedule.get(key, _PROBE_SPEC).rank, self._due(key, schedule)))
        count = self._affordable_calls(now)
        for key in due[:count]:
            self._tokens -= 1
            self._in_flight[key] = asyncio.create_task(self._call(key, self._plan(key, schedule, now)))
        self._unaffordable = frozenset(due[count:])
        self._waits = []

    def _plan(self, key: PollKey, schedule: PollSchedule, now: float) -> _Plan | None:
        """Return the plan of a call that begins now; None if this process cannot be the cause of its lateness.

        These calls have no plan: a first call, a list polled on demand, and an extra list because calls begin to fail.
        No call has a plan during a back-off, or after a wait for the budget.
        """
        is_extra = isinstance(key, ResourceKey) or (key == LIST and self._is_pulse_due)
        is_planned = key in self._requested and key in schedule and not is_extra
        if not is_planned or self._list_failures or self._is_probing or key in self._unaffordable:
            return None
        due = max(self._due(key, schedule), self._done.get(key, -inf))
        waited = sum(until - max(since, due) for since, until in self._waits if until > due)
        return _Plan(due, now - waited, schedule[key].interval)

    def _forget(self, schedule: PollSchedule, now: float) -> None:
        """Forget the times of calls that are no longer in the schedule, except of lists that may soon be back."""

        def counts(key: PollKey, requested: float) -> bool:
            return key in schedule or key == PROBE or (isinstance(key, ResourceKey) and now - requested < _REMEMBERED)

        self._requested = {key: entry for key, entry in self._requested.items() if counts(key, entry[0])}
        self._done = {key: at for key, at in self._done.items() if key in self._requested}

    @property
    def _budget(self) -> float:
        return self._cadence.budget * self.part * self.pace

    def _affordable_calls(self, now: float) -> int:
        """Return the number of calls that may start now.

        Unused budget adds up for a second, or for the last round if that took longer, up to `_LONG_ROUND`. With
        thousands of events a round takes longer than a second, and a part of its budget would be lost.
        """
        budget, passed = self._budget, now - self._refilled_at
        self._tokens = min(budget * min(max(1.0, passed), _LONG_ROUND), self._tokens + passed * budget)
        self._refilled_at = now
        return max(0, floor(self._tokens))

    def _seconds_to_tokens(self) -> float:
        """Return the seconds until the budget allows several calls, because one round for each call is slow."""
        budget = self._budget
        lacking = max(1.0, budget * self._cadence.together) - self._tokens
        return lacking / budget - (self._clock.monotonic() - self._refilled_at)

    def _draw_jitter(self) -> float:
        spread = self._cadence.jitter
        return self._random.uniform(1 - spread, 1 + spread)

    async def _call(self, key: PollKey, plan: _Plan | None) -> PollResult | None:
        """Make a call and return its result; None if a connection error of this round made the call pointless.

        Requests for single events and lists on a screen share half of the slots. If they hang, the event list and the
        samples still have the other half.
        """
        async with self._side_slots if isinstance(key, ResourceKey) else nullcontext(), self._slots:
            if self._has_connection_error and is_on_platform(key):
                self._done[key] = self._clock.monotonic()  # its wait for a slot was no lateness of this process
                return None
            requested = self._clock.monotonic(), self._draw_jitter()
            self._requested[key] = requested
            if plan:
                self._own.ask(plan.due, plan.begun, requested[0], plan.interval)
            sent, self._sent[key] = self._clock.now(), requested
            try:
                with recording_timings() as timings:
                    payload = await self._fetch(key)
            finally:
                if self._sent.get(key) is requested:  # after `start_over` a newer call may be in flight
                    del self._sent[key]
            self._done[key] = self._clock.monotonic()
            self._own.answer(requested[0], self._done[key])
            if is_on_platform(key):
                self._has_connection_error = isinstance(payload, _CONNECTION_ERRORS)
                self._note_try(requested[0], is_failed=isinstance(payload, ApiError))
            is_outdated = self._requested.get(key) is not requested
            at = self._clock.now()
            return PollResult(key, at, self._clock.monotonic(), payload, is_outdated, _dated(sent, at, timings))

    def _note_try(self, sent: float, *, is_failed: bool) -> None:
        """Count a call as a try. A good call ends the run of failed tries. Calls sent at about one time count once."""
        if not is_failed:
            self._failed_tries = 0
        elif not self._failed_tries or sent - self._last_try >= _SAME_TRY:
            self._failed_tries += 1
            self._last_try = sent

    def _collect(self) -> Iterable[PollResult]:
        for key in [key for key, task in self._in_flight.items() if task.done()]:
            task = self._in_flight.pop(key, None)  # `start_over` may have dropped the call
            if task and (result := task.result()):
                yield result

    def _update_backoff(self, schedule: PollSchedule) -> None:
        """Count the failures of a complete round, and switch between polling everything and probing.

        A round that ended early does not count, because perhaps only its failures have arrived.
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
        """Make the list due after the first good probe, not after further ones: perhaps only the list fails."""
        if probe.is_good and not self._has_probe_answered:
            self._requested.pop(LIST, None)
        self._has_probe_answered = probe.is_good

    def _has_new_failure(self, results: Iterable[PollResult]) -> bool:
        """Return whether a call has failed that succeeded last time, so that the platform may be failing."""
        failed = {result.key for result in results if not result.is_good}
        is_new = bool(failed - self._failing)
        self._failing = self._failing - {result.key for result in results} | failed
        return is_new

    def _stop_probing(self) -> None:
        """Return to polling everything: all calls but the list are due now."""
        if self._is_probing:
            self._requested = {key: requested for key, requested in self._requested.items() if key == LIST}
            self._is_probing = False

    def _obey_retry_after(self, results: Iterable[PollResult]) -> None:
        for result in results:
            if isinstance(result.payload, Rejected) and result.payload.retry_after is not None:
                self._retry_from = max(self._retry_from, result.monotonic + result.payload.retry_after)


def _dated(sent: datetime, read: datetime, timings: Sequence[ResponseTiming]) -> Dated:
    """Return the times of a call and its reply; of several replies (pages, retries) the last one dates the call."""
    last = timings[-1] if timings else None
    date = last.server_date.timestamp() if last and last.server_date else None
    return Dated(sent.timestamp(), read.timestamp(), date, last.age if last else 0.0)
