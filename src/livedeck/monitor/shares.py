"""Shared polls of several processes that watch the same workspace (engine.md, "Leases").

Each process polls the event list itself and judges all events. Only the process with the lease of an event polls the
event's samples, and publishes them to the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from livedeck.client import QosSamples
from livedeck.monitor.evidence.dating import Dated
from livedeck.monitor.model.state import NO_SHARING_FAULT, Clock, SharingFault
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.model.viewer import STALE_INTERVALS, ViewerState
from livedeck.monitor.polling.poller import Poller, PollResult
from livedeck.monitor.polling.schedule import LIST, PollKey, PollSpec
from livedeck.monitor.tracker import WorldTracker

_OVERDUE = 1.5
"""Number of poll intervals without a reply after which a process polls an event whose lease it does not hold."""

_OVERLAP = 30.0
"""Seconds of samples that are published again, because the platform may correct them and readers may have missed them.
"""


_ON_THE_WAY = 10.0
"""Seconds by which another process's round may arrive late, because it is published with the event's next samples."""

_FORGOTTEN = 60.0
"""Seconds after which a stale state of another process is dropped."""

_SAME_RETRY = 1.0
"""Two retry times that differ by at most this many seconds count as equal."""


class SharedAnswer(NamedTuple):
    """Newest samples of an event's stream, from a reply that a process received `age` seconds ago.

    `dated`: times of the request and the reply, by the platform's clock, which all processes share; None from a process
    of an older version. `viewer`: newest state of the event's probe, by the same clock; None without one.
    """

    event_id: str
    stream_id: str
    samples: QosSamples
    age: float = 0.0
    dated: Dated | None = None
    viewer: ViewerState | None = None


class Shares(Protocol):
    """Interface to the other processes that poll the same workspace. Only `wait` waits for the network."""

    @property
    def part(self) -> float:
        """Share of the request budget for this process, above 0."""

    @property
    def fault(self) -> SharingFault:
        """Current fault among the collectors that share the polls."""

    @property
    def retry_seconds(self) -> float:
        """Seconds until any process may poll the platform again; 0 if polling is allowed."""

    def holds(self, event_id: str) -> bool:
        """Return whether this process has the lease of an event."""

    def want(self, event_ids: Collection[str], *, is_answering: bool, capacity: float | None) -> None:
        """Set the events whose leases are distributed.

        `is_answering`: this process has good replies from the platform. `capacity`: number of events that this process
        polls in time; None without a limit.
        """

    def publish(self, answer: SharedAnswer) -> None:
        """Publish samples of an event; this process has its lease."""

    def hold_back(self, seconds: float) -> None:
        """Stop the polls of every process for some seconds, because the platform demands it."""

    def received(self) -> tuple[SharedAnswer, ...]:
        """Return the newest samples of each event that others have published since the previous call."""

    async def wait(self) -> None:
        """Wait until samples arrive or the leases of this process change."""


class SharedPolls:
    """Exchange of polls between this monitor and other processes. `shares`: None if this process polls alone."""

    def __init__(
        self, shares: Shares | None, poller: Poller, world: WorldTracker, clock: Clock, cadence: Cadence
    ) -> None:
        self._shares, self._poller, self._world = shares, poller, world
        self._clock, self._cadence = clock, cadence
        self._viewers: Mapping[str, ViewerState] = {}  # states of this process's probe
        self._others_viewers: dict[str, ViewerState] = {}  # newest states of the others' probes

    def with_viewers(self, viewers: Mapping[str, ViewerState]) -> Mapping[str, ViewerState]:
        """Return event id -> state of its probe. Events with another process's lease have that process's state.

        `viewers`: event id -> newest state of this process's probe, by the monitor's clock.
        """
        self._viewers = viewers
        if not self._others_viewers:
            return viewers
        now = self._clock.now()
        others = {key: state for key, state in self._others_viewers.items() if not self.holds(key)}
        self._others_viewers = {key: state for key, state in others.items() if not _is_older(state, now, _FORGOTTEN)}
        aged = {key: replace(state, is_stale=_is_older(state, now, 0.0)) for key, state in self._others_viewers.items()}
        return {**aged, **viewers}

    @property
    def fault(self) -> SharingFault:
        """Current fault among the collectors that share the polls; NO_SHARING_FAULT while this process polls alone."""
        return self._shares.fault if self._shares else NO_SHARING_FAULT

    def holds(self, event_id: str) -> bool:
        """Return whether this process polls an event: it has the lease, or polls alone."""
        return self._shares is None or self._shares.holds(event_id)

    def share_out(
        self,
        schedule: dict[PollKey, PollSpec],
        focus: Collection[str],
        *,
        is_answering: bool,
        capacity: float | None = None,
    ) -> dict[PollKey, PollSpec]:
        """Return the part of the schedule that this process polls.

        Of the events with another process's lease, this process polls only those whose samples are overdue and those on
        a screen here. `focus`: ids of the events on a screen. `is_answering`: as in `Shares.want`.
        `capacity`: polls per second that this process makes in time; None without a limit.
        """
        if self._shares is None:
            return schedule
        events = None if capacity is None else capacity * self._cadence.qos
        keys = [str(key) for key in schedule if key != LIST]
        self._shares.want(keys, is_answering=is_answering, capacity=events)
        return {
            key: spec if key in {LIST, *focus} or self._shares.holds(str(key)) else self._overdue(spec)
            for key, spec in schedule.items()
        }

    def _overdue(self, spec: PollSpec) -> PollSpec:
        slack = 2 * self._cadence.together  # replies and calls that are due soon wait for a round
        return spec._replace(interval=spec.interval * _OVERDUE + slack)

    def of_all(self, capacity: float | None) -> float | None:
        """Return the polls per second of all processes together. `capacity`: polls per second of this process."""
        return capacity if capacity is None or self._shares is None else capacity / self._shares.part

    async def take_in(self) -> bool:
        """Take the samples that others published. Returns whether they show a new or worse fault.

        An event is skipped until this process has polled it once, because only the newest samples are published.
        """
        if self._shares is None:
            return False
        self._poller.part = self._shares.part
        self._world.part = self._shares.part if self._shares.fault.apart_since else 1.0
        self._share_retry(self._shares)
        is_news = False
        for shared in self._shares.received():
            tracker = self._world.find(shared.event_id)
            if tracker is None or tracker.stream_id != shared.stream_id or not tracker.has_response:
                continue
            monotonic = self._clock.monotonic() - shared.age
            if self._poller.note_answer(shared.event_id, monotonic):
                at = self._clock.now() - timedelta(seconds=shared.age)
                dated = shared.dated.moved(-self._world.status.skew) if shared.dated else None
                if shared.viewer:
                    self._others_viewers[shared.event_id] = shared.viewer.moved(-self._world.status.skew)
                result = PollResult(shared.event_id, at, monotonic, shared.samples, dated=dated, is_part=True)
                is_news |= await self._world.ingest(result)
                await asyncio.sleep(0)
        return is_news

    def hand_out(self, key: PollKey, result: PollResult) -> None:
        """Publish the result of a poll. Call this before the result is merged."""
        if self._shares is None:
            return
        tracker = self._world.find(str(key))
        if tracker is None or not tracker.stream_id or not isinstance(result.payload, QosSamples):
            return
        newest = tracker.newest_time or max(result.payload.time, default=0.0)
        samples = result.payload.since(newest - _OVERLAP)
        dated = result.moments.moved(self._world.status.skew)
        viewer = self._viewers.get(str(key))
        viewer = viewer.moved(self._world.status.skew) if viewer and viewer.as_of else None
        self._shares.publish(SharedAnswer(str(key), tracker.stream_id, samples, dated=dated, viewer=viewer))

    def _share_retry(self, shares: Shares) -> None:
        """Pause all processes until the latest retry time that the platform demanded from one of them."""
        here, there = self._poller.retry_seconds, shares.retry_seconds
        if here > there + _SAME_RETRY:
            shares.hold_back(here)
        elif there > here:
            self._poller.hold_back(there)

    async def wait(self) -> None:
        """Wait until shortly after others have published samples; forever if this process polls alone."""
        if self._shares is None:
            await asyncio.get_running_loop().create_future()
            return
        await self._shares.wait()
        await self._clock.sleep(self._cadence.together)


def _is_older(state: ViewerState, now: datetime, seconds: float) -> bool:
    """Return whether the last round of another process's probe has been stale for `seconds`."""
    limit = timedelta(seconds=STALE_INTERVALS * state.interval + _ON_THE_WAY + seconds)
    return state.as_of is None or now - state.as_of > limit
