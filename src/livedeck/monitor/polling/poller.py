"""Asks the platform: what is due, a few at a time, never twice at once; a round ends early for a new fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime
from math import floor, inf
from random import Random
from typing import Any

from livedeck.client import Api, ApiError, Event, QosSamples, RateLimited, Rejected, Unauthorized, Unreachable
from livedeck.monitor.model.snapshot import RoomList
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.schedule import LIST, ROOMS, PollSchedule


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


_APART = 0.25

"""Seconds between two rounds at least that are cut short by a fault: two hundred at once make no two hundred looks."""


class RoundDebounce:
    """Cuts rounds short. `urgent`: whether it did so with this one."""

    def __init__(self, clock: Clock) -> None:
        self.urgent = False
        self._clock, self._graver = clock, asyncio.Event()
        self._calm_from = -inf  # when another round may be cut short

    def begin(self) -> None:
        """A round begins, and has brought no fault yet."""
        self.urgent = False
        self._graver.clear()

    def tell(self) -> None:
        """The round brought a new fault, or a graver one."""
        self._graver.set()

    async def end(self) -> None:
        """Return when the round must end for what was told."""
        await self._graver.wait()
        await self._clock.sleep(max(0.0, self._calm_from - self._clock.monotonic()))
        self.urgent, self._calm_from = True, self._clock.monotonic() + _APART


PollPayload = tuple[Event, ...] | RoomList | QosSamples | ApiError

"""What a call may come back with."""


_OF_THE_LINK = (Unreachable, Unauthorized, RateLimited)


@dataclass(frozen=True, slots=True)
class PollResult:
    """What one call brought, and when (wall clock; monotonic seconds). `key`: LIST, ROOMS or an event id."""

    key: str
    at: datetime
    tick: float
    brought: PollPayload

    @property
    def good(self) -> bool:
        """Whether it brought what was asked for."""
        return not isinstance(self.brought, ApiError)


class Poller:
    """Keeps the time of every call.

    The event list is the pulse of the link. While nothing answers at all, only the list and one event are asked, at the
    pace of the back-off. One round runs at a time; a call that is slower than its round answers in a later one.
    """

    def __init__(self, api: Api, clock: Clock, cadence: Cadence, random: Random) -> None:
        self._api = api.without_retry()  # the next round asks again
        self._clock, self._cadence, self._random = clock, cadence, random
        self._seats = asyncio.Semaphore(cadence.at_once)
        self._out: dict[str, asyncio.Task[PollResult | None]] = {}
        self._asked: dict[str, tuple[float, float]] = {}  # when, and the jitter of the wait that follows
        self._budget, self._counted = cadence.budget, clock.monotonic()  # requests that may be made, and as of when
        self._failures = 0  # of the list, in a row
        self._failing: set[str] = set()  # whose last call failed
        self._unlearnt: dict[str, PollResult] = {}  # the last answer of each call since a round was whole
        self._down = False
        self._broken = False  # a call of this round failed for a reason that those in the queue share
        self._quiet_until = -inf  # Retry-After

    def hurry(self) -> None:
        """Everything is due now; only a Retry-After is still obeyed."""
        self._asked.clear()

    def wait(self, plan: PollSchedule) -> float:
        """Seconds until a call is due, 0 where one is; infinite while all that is wanted is already under way."""
        due = min((self._due(key, plan) for key in self._wanted(plan)), default=inf)
        return max(0.0, due - self._clock.monotonic(), self._until_affordable())

    async def round(
        self, plan: PollSchedule, hear: Callable[[PollResult], Awaitable[None]], *cuts: Coroutine[Any, Any, object]
    ) -> tuple[PollResult, ...]:
        """Ask what is due and give the answers that came: in the end, or within the cadence's patience.

        `hear`: told each as it comes. `cuts`: the round ends when one of them does.
        """
        self._begin(plan)
        answers: list[PollResult] = []
        ends = [asyncio.ensure_future(end) for end in (self._clock.sleep(self._cadence.patience), *cuts)]
        try:
            while self._out and not any(end.done() for end in ends):
                await asyncio.wait([*ends, *self._out.values()], return_when=asyncio.FIRST_COMPLETED)
                for answer in self._collect():
                    answers.append(answer)
                    await hear(answer)
                    if any(end.done() for end in ends):
                        break
            whole = not self._out or ends[0].done()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        self._heed(answers)
        self._unlearnt |= {answer.key: answer for answer in answers}
        if whole:
            self._learn(plan)
        return tuple(answers)

    async def arrival(self) -> None:
        """Return when a call that is still out is done; without one, wait to be cancelled."""
        nothing = asyncio.get_running_loop().create_future()
        await asyncio.wait([*self._out.values(), nothing], return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Give up the calls that are out."""
        out, self._out = self._out, {}
        for task in out.values():
            task.cancel()
        await asyncio.gather(*out.values(), return_exceptions=True)

    def _wanted(self, plan: PollSchedule) -> list[str]:
        if self._down:  # a probe is one list and one event, together
            return [] if LIST in self._out else [key for key in list(plan)[:2] if key not in self._out]
        return [key for key in plan if key not in self._out]

    def _due(self, key: str, plan: PollSchedule) -> float:
        pulse = LIST if self._down else key
        if pulse not in self._asked:
            return self._quiet_until
        asked, jitter = self._asked[pulse]
        return max(self._quiet_until, asked + self._interval(pulse, plan) * jitter)

    def _interval(self, key: str, plan: PollSchedule) -> float:
        if key == LIST and self._failures:
            steps = self._cadence.backoff
            return steps[min(self._failures, len(steps)) - 1]
        return plan[key].interval

    def _begin(self, plan: PollSchedule) -> None:
        self._broken = False
        self._asked = {key: asked for key, asked in self._asked.items() if key in plan}
        now = self._clock.monotonic()
        if now < self._quiet_until:
            return
        soon = now if self._failures else now + self._cadence.together
        due = [key for key in self._wanted(plan) if self._due(key, plan) <= soon]
        due.sort(key=lambda key: (plan[key].rank, self._due(key, plan)))
        for key in due[: self._afford(now)]:
            self._budget -= 1
            self._out[key] = asyncio.create_task(self._call(key))

    def _afford(self, now: float) -> int:
        """How many calls may be made now: a second's worth at most."""
        most = self._cadence.budget
        self._budget, self._counted = min(most, self._budget + (now - self._counted) * most), now
        return max(0, floor(self._budget))

    def _until_affordable(self) -> float:
        """Seconds until enough calls for a round may be made: one at a time would make a round of each."""
        most = self._cadence.budget
        lacking = max(1.0, most * self._cadence.together) - self._budget
        return lacking / most - (self._clock.monotonic() - self._counted)

    async def _call(self, key: str) -> PollResult | None:
        """The answer, or None where asking was pointless by the time its turn came."""
        async with self._seats:
            if self._broken:
                return None
            spread = self._cadence.jitter
            self._asked[key] = self._clock.monotonic(), self._random.uniform(1 - spread, 1 + spread)
            brought = await self._fetch(key)
            self._broken = isinstance(brought, _OF_THE_LINK)
            return PollResult(key, self._clock.now(), self._clock.monotonic(), brought)

    async def _fetch(self, key: str) -> PollPayload:
        try:
            if key == LIST:
                return tuple([event async for event in self._api.events.iterate()])
            if key == ROOMS:
                return RoomList(tuple([room async for room in self._api.rooms.iterate()]))
            return await self._api.qos.get(key)
        except ApiError as error:
            return error

    def _collect(self) -> Iterable[PollResult]:
        for key in [key for key, task in self._out.items() if task.done()]:
            answer = self._out.pop(key).result()
            if answer:
                yield answer

    def _learn(self, plan: PollSchedule) -> None:
        """Count failures, and change between asking everything and probing.

        Only after a whole round: of one that was cut short, the failures alone may have come yet.
        """
        answers, self._unlearnt = tuple(self._unlearnt.values()), {}
        if not answers:
            return
        news = self._news(answers)
        if listing := next((answer for answer in answers if answer.key == LIST), None):
            self._failures = 0 if listing.good else self._failures + 1
        if any(answer.good for answer in answers):
            self._recover()
        elif self._failures and (len(plan) == 1 or any(answer.key != LIST for answer in answers)):
            self._down = True
        elif not self._failures and (news or any(isinstance(answer.brought, _OF_THE_LINK) for answer in answers)):
            self._asked.pop(LIST, None)  # feel the pulse now

    def _news(self, answers: Iterable[PollResult]) -> bool:
        """Whether a call failed that was well the last time: the platform may fail as a whole."""
        bad = {answer.key for answer in answers if not answer.good}
        news = bad - self._failing
        self._failing = self._failing - {answer.key for answer in answers} | bad
        return bool(news)

    def _recover(self) -> None:
        """Leave the probing: all but the list is due now."""
        if self._down:
            self._asked = {key: asked for key, asked in self._asked.items() if key == LIST}
            self._down = False

    def _heed(self, answers: Iterable[PollResult]) -> None:
        for answer in answers:
            if isinstance(answer.brought, Rejected) and answer.brought.retry_after is not None:
                self._quiet_until = max(self._quiet_until, answer.tick + answer.brought.retry_after)
