"""Probe of the playlists of many events. Spreads their rounds over the interval, within the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import inf

from livedeck.log import Log
from livedeck.monitor import STALE_INTERVALS, Clock, Source, Viewed, ViewerState
from livedeck.probe.asking import Looks, ask
from livedeck.probe.fetch import Fetcher, host_of
from livedeck.probe.plan import (
    DOUBT_INTERVAL,
    DOUBT_SECONDS,
    NIGHT,
    Address,
    Origin,
    Plan,
    gigabytes,
    phases,
    stretched,
    traffic_text,
)
from livedeck.probe.playlist import is_installed
from livedeck.probe.rounds import Memory, begin, step
from livedeck.text.secrets import register_address

NOT_INSTALLED = "not probed without the package m3u8: pip install '.[probe]' in the checkout"
"""Reason why no event is probed without the extra."""

PAGE_INTERVAL = 60.0
"""Seconds between two requests of an address that is not a playlist."""

_SHARE_OF_NEWEST = 0.3
"""Weight of the newest round in the mean traffic of an event."""

_log = Log("livedeck.probe")


@dataclass(slots=True)
class _Target:
    """Event to probe.

    `due`, `began_at`: times of the next and the last round, in seconds of the clock. `weight`, `sent`: mean bytes and
    requests of a round.
    """

    event: Viewed
    address: Address
    memory: Memory
    due: float = inf
    began_at: float = inf
    doubted_at: float | None = None
    weight: float = 0.0
    sent: float = 0.0
    round: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Prober:
    """Probe of what viewers get, for a monitor (`monitor.viewer.Viewer`). `run` makes the rounds.

    `looks`: decoder of segments; None if pictures are off or not installed. No request is sent before `run`, and none
    for an event without an address.
    """

    plan: Plan
    fetcher: Fetcher
    clock: Clock
    looks: Looks | None = None
    _targets: dict[str, _Target] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _rate: float = 0.0
    _logged: int = 0

    @property
    def blocked(self) -> str:
        """Reason why no event can be probed; empty if events can be probed."""
        return "" if is_installed() else NOT_INSTALLED

    def want(self, events: Collection[Viewed]) -> None:
        """Set the events to probe from now on."""
        now = self.clock.monotonic()
        wanted = {event.event_id: event for event in events}
        has_changed = wanted.keys() != self._targets.keys()
        for event_id in [*self._targets]:
            if event_id not in wanted:
                self._drop(event_id)
        for event in wanted.values():
            target = self._targets.get(event.event_id)
            if target is None or target.event != event:
                has_changed |= self._take(event, target, now)
        if has_changed:
            self._weigh()
            self._schedule(now)
            self._news.set()

    def replan(self, plan: Plan) -> None:
        """Replace the addresses, for example with newly signed ones."""
        self.plan, now = plan, self.clock.monotonic()
        for target in [*self._targets.values()]:
            self._take(target.event, target, now)
        self._schedule(now)
        self._news.set()

    def _take(self, event: Viewed, target: _Target | None, now: float) -> bool:
        """Add an event, or update its address and doubt. Returns whether its rounds must be scheduled again."""
        address = Address(reason=self.blocked) if self.blocked else self.plan.address(event)
        register_address(address.text)
        if target is not None and _path(target.address) == _path(address):
            if target.address != address:  # signed anew, and so are the addresses in the master playlist
                target.address, target.memory = address, replace(target.memory, master_at=None)
        else:
            if target is not None:
                self._drop(event.event_id)
            target = self._targets[event.event_id] = _Target(event, address, self._begin(address))
        has_doubt_changed = event.is_doubted != (target.doubted_at is not None)
        target.event = event
        if has_doubt_changed:
            target.doubted_at = now if event.is_doubted else None
            if event.is_doubted:
                target.due = min(target.due, now + DOUBT_INTERVAL)
        if event.is_protected and target.memory.image:
            target.memory = replace(
                target.memory, image=b"", viewer=replace(target.memory.viewer, image="", image_at=None)
            )
        return has_doubt_changed

    def _begin(self, address: Address) -> Memory:
        is_sure = address.origin is not Origin.LINK
        return begin(host_of(address.text), interval=self.plan.interval, is_sure=is_sure, reason=address.reason)

    def _drop(self, event_id: str) -> None:
        target = self._targets.pop(event_id)
        if target.round is not None:
            target.round.cancel()

    def states(self) -> Mapping[str, ViewerState]:
        """Return event id -> newest state, for the wanted events."""
        return {event_id: self._state(target) for event_id, target in self._targets.items()}

    def _state(self, target: _Target) -> ViewerState:
        viewer, interval = target.memory.viewer, self._interval(target, self.clock.monotonic())
        limit = timedelta(seconds=STALE_INTERVALS * max(interval, self.plan.interval))
        is_stale = viewer.as_of is not None and self.clock.now() - viewer.as_of > limit
        if (is_stale, round(interval)) == (viewer.is_stale, viewer.interval):
            return viewer
        return replace(viewer, is_stale=is_stale, interval=float(round(interval)))

    def fault(self) -> str:
        """Return the fault of the probe itself, in words; empty without one."""
        return self.blocked or (self.looks.blindness if self.looks is not None else "")

    @property
    def weights(self) -> Mapping[str, int]:
        """Host -> estimated bytes so far."""
        return dict(self.fetcher.weights)

    @property
    def deaths(self) -> int:
        """Number of decoders that died or timed out so far."""
        return self.looks.deaths if self.looks else 0

    def picture(self, event_id: str) -> bytes:
        """Return the newest picture of an event as JPEG, 160 x 90 pixels; empty without one."""
        target = self._targets.get(event_id)
        return target.memory.image if target else b""

    @property
    def traffic(self) -> float:
        """Traffic of all events at the intervals in force, in bit/s."""
        return min(self._rate, self.plan.budget)

    @property
    def _asked(self) -> list[_Target]:
        """Events with an address."""
        return [target for target in self._targets.values() if target.address.text]

    @property
    def _requests(self) -> float:
        """Requests of all events at the intervals in force, per second."""
        interval = stretched(self.plan.interval, self._rate, self.plan.budget)
        return sum(target.sent for target in self._targets.values()) / interval

    @property
    def note(self) -> str:
        """Note for a header: number of probed events, traffic, and a longer interval if the budget needs one."""
        asked, interval = len(self._asked), stretched(self.plan.interval, self._rate, self.plan.budget)
        night = f"{gigabytes(self.traffic, NIGHT):.1f} GB in {NIGHT:.0f} h"
        rate = f": {self._requests:.1f} requests/s, {self.traffic / 1e6:.1f} Mbit/s, {night}" if self.traffic else ""
        rarer = f", every {interval:.0f} s to stay within the budget" if interval > self.plan.interval else ""
        return f"probe {asked} of {len(self._targets)}{rate}{rarer}"

    def _weigh(self) -> None:
        """Update the traffic (bit/s) that all events would have without the limit of the budget."""
        self._rate = sum(8 * target.weight for target in self._targets.values()) / self.plan.interval

    def _log_traffic(self) -> None:
        """Log the traffic when every event has had two rounds, and again when the number of events changes."""
        count = len(self._asked)
        if count != self._logged and all(target.memory.viewer.rounds > 1 for target in self._asked):
            self._logged = count
            _log.info("the probe runs", events=count, traffic=traffic_text(self._requests, self.traffic))

    def _interval(self, target: _Target, now: float) -> float:
        is_doubted = target.doubted_at is not None and now - target.doubted_at < DOUBT_SECONDS
        usual = min(DOUBT_INTERVAL, self.plan.interval) if is_doubted else self.plan.interval
        if target.memory.viewer.source in {Source.PLAYER_PAGE, Source.DASH}:
            usual = max(usual, PAGE_INTERVAL)
        return stretched(usual, self._rate, self.plan.budget)

    def _schedule(self, now: float) -> None:
        """Spread the next rounds of all events over the interval, each within 1.5 intervals of its last one."""
        asked = [event_id for event_id, target in self._targets.items() if target.address.text]
        for event_id, phase in phases(asked).items():
            target = self._targets[event_id]
            if not target.event.is_doubted:
                target.due = min(self._next(now, phase), target.began_at + 1.5 * self._interval(target, now))

    def _next(self, now: float, phase: float) -> float:
        """Return the next time at which an event with this phase is due."""
        interval = stretched(self.plan.interval, self._rate, self.plan.budget)
        return now + (phase * interval - now) % interval

    async def run(self) -> None:
        """Make the rounds of all wanted events until cancelled."""
        async with asyncio.TaskGroup() as group:
            try:
                while True:
                    await self._turn(group)
            finally:
                for target in self._targets.values():
                    if target.round is not None:
                        target.round.cancel()

    async def _turn(self, group: asyncio.TaskGroup) -> None:
        """Start the rounds whose time has come, and wait for the next one."""
        now = self.clock.monotonic()
        asked = [target for target in self._targets.values() if target.address.text and target.round is None]
        for target in asked:
            if target.due <= now:
                interval = self._interval(target, now)
                target.due = target.due + interval if target.due + interval > now else now + interval
                target.began_at = now
                target.round = group.create_task(self._round(target), name="probe")
        waiting = [target.due for target in asked if target.round is None]
        self._news.clear()
        sleep = asyncio.create_task(self.clock.sleep(max(0.0, min(waiting, default=now + 3600.0) - now)))
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({sleep, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            news.cancel()

    async def _round(self, target: _Target) -> None:
        try:
            requests = self.fetcher.round(target.address.home)
            looks = None if target.event.is_protected else self.looks
            found = await ask(target.memory, target.address.text, requests, looks, self.clock.now)
            if target.event.is_protected:  # it may have become protected during the round
                found = replace(found, sight=None, sound_sight=None)
            target.memory = step(target.memory, found)
            # The first round checks no older segments, so it says little about the next ones.
            share = _SHARE_OF_NEWEST if target.memory.viewer.rounds > 2 else 1.0
            target.weight += (requests.weight - target.weight) * share
            target.sent += (requests.sent - target.sent) * share
            self._weigh()
            self._log_traffic()
        except Exception:  # noqa: BLE001  a fault of the probe must not end the deck
            _log.exception("a round of the probe failed", event=target.event.event_id)
        finally:
            target.round = None
            self._news.set()


def _path(address: Address) -> tuple[str, str]:
    """Return the part of an address that a new signature does not change, and the reason if there is no address."""
    return address.text.partition("?")[0], address.reason
