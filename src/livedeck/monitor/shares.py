"""Asking together: what several processes that watch one workspace share of their polls (engine.md, "Leases").

Each lists the events itself and judges all of them; the samples of an event are asked for by who holds it, and handed
out to the others, who take them as if they had asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple, Protocol

from livedeck.client import QosSamples
from livedeck.monitor.model.state import NO_SHARING_FAULT, Clock, SharingFault
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import Poller, PollResult
from livedeck.monitor.polling.schedule import LIST, PollKey, PollSpec
from livedeck.monitor.tracker import WorldTracker

_OVERDUE = 1.5
"""Intervals without an answer after which who does not hold an event asks for it himself: before it looks stale."""

_OVERLAP = 30.0
"""Seconds of samples that are handed out again: what the platform corrects, and what a reader may have missed."""


_SAME_RETRY = 1.0
"""Seconds: two clocks do not tell a time to the millisecond."""


class SharedAnswer(NamedTuple):
    """The samples of an event's stream as somebody was answered `age` seconds ago."""

    event_id: str
    stream_id: str
    samples: QosSamples
    age: float = 0.0


class Shares(Protocol):
    """The others, as the monitor sees them. Nothing of it waits for a network."""

    @property
    def part(self) -> float:
        """Of the request budget that is this process's, above 0."""

    @property
    def fault(self) -> SharingFault:
        """What is wrong."""

    @property
    def retry_seconds(self) -> float:
        """For how long nobody may ask the platform; 0 where everybody may."""

    def holds(self, event_id: str) -> bool:
        """Whether this process asks for that event's samples, for all."""

    def want(self, event_ids: Collection[str], *, is_answering: bool) -> None:
        """These are to be shared out. `is_answering`: whether the platform answers this process at all."""

    def publish(self, answer: SharedAnswer) -> None:
        """Hand out what was answered of an event that is held."""

    def hold_back(self, seconds: float) -> None:
        """The platform wants nobody to ask for so long."""

    def received(self) -> tuple[SharedAnswer, ...]:
        """What others were answered since the last call, the newest of each event."""

    async def wait(self) -> None:
        """Return when something was received, or it changed what is held."""


class SharedPolls:
    """The monitor's side of it. `shares` None: this process is alone, and asks for everything."""

    def __init__(
        self, shares: Shares | None, poller: Poller, world: WorldTracker, clock: Clock, cadence: Cadence
    ) -> None:
        self._shares, self._poller, self._world = shares, poller, world
        self._clock, self._cadence = clock, cadence

    @property
    def fault(self) -> SharingFault:
        """What is wrong with the sharing."""
        return self._shares.fault if self._shares else NO_SHARING_FAULT

    def share_out(
        self, schedule: dict[PollKey, PollSpec], focus: Collection[str], *, is_answering: bool
    ) -> dict[PollKey, PollSpec]:
        """The schedule of this process: what others hold is asked for here only when their answer is overdue, but for
        what somebody looks at here."""
        if self._shares is None:
            return schedule
        self._shares.want([str(key) for key in schedule if key != LIST], is_answering=is_answering)
        return {
            key: spec if key in {LIST, *focus} or self._shares.holds(str(key)) else self._overdue(spec)
            for key, spec in schedule.items()
        }

    def _overdue(self, spec: PollSpec) -> PollSpec:
        slack = 2 * self._cadence.together  # answers, and calls that are due soon, wait for a round
        return spec._replace(interval=spec.interval * _OVERDUE + slack)

    async def take_in(self) -> bool:
        """Take what others were answered; whether that shows a new fault, or a worse one.

        An event of which nothing was answered here is asked for first: what is handed out is only the newest of it.
        """
        if self._shares is None:
            return False
        self._poller.part = self._shares.part
        self._world.part = self._shares.part if self._shares.fault.apart_since else 1.0
        self._share_retry(self._shares)
        is_news = False
        for answer in self._shares.received():
            tracker = self._world.find(answer.event_id)
            if tracker is None or tracker.stream_id != answer.stream_id or not tracker.has_response:
                continue
            monotonic = self._clock.monotonic() - answer.age
            if self._poller.note_answer(answer.event_id, monotonic):
                at = self._clock.now() - timedelta(seconds=answer.age)
                result = PollResult(answer.event_id, at, monotonic, answer.samples)
                is_news |= await self._world.ingest(result)
                await asyncio.sleep(0)
        return is_news

    def hand_out(self, key: PollKey, result: PollResult) -> None:
        """Give the others what was answered, before it is merged here."""
        if self._shares is None:
            return
        tracker = self._world.find(str(key))
        if tracker is None or not tracker.stream_id or not isinstance(result.payload, QosSamples):
            return
        newest = tracker.newest.time if tracker.newest else max(result.payload.time, default=0.0)
        samples = result.payload.since(newest - _OVERLAP)
        self._shares.publish(SharedAnswer(str(key), tracker.stream_id, samples))

    def _share_retry(self, shares: Shares) -> None:
        """What the platform told one of them holds for all."""
        here, there = self._poller.retry_seconds, shares.retry_seconds
        if here > there + _SAME_RETRY:
            shares.hold_back(here)
        elif there > here:
            self._poller.hold_back(there)

    async def wait(self) -> None:
        """Return soon after others were answered; alone, wait to be cancelled."""
        if self._shares is None:
            await asyncio.get_running_loop().create_future()
            return
        await self._shares.wait()
        await self._clock.sleep(self._cadence.together)
