"""The monitor: ask, judge, and say what is so, for as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from math import inf
from random import Random
from types import MappingProxyType
from typing import Any

import structlog

from livedeck.client import Api
from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.engine import AlarmEngine, ids_on_air
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.ranking import worst_first
from livedeck.monitor.history import History
from livedeck.monitor.model.alarm import Alarm, AlarmKey
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock, ConnectionState
from livedeck.monitor.model.thresholds import Cadence, Thresholds
from livedeck.monitor.polling import connection
from livedeck.monitor.polling.poller import Poller, PollResult, RoundDebounce, wait_first
from livedeck.monitor.polling.schedule import LIST, PollSchedule, plan
from livedeck.monitor.tracker import ClockReading, WorldTracker

_BREATH = 0.01

"""Seconds of rest at least: moments are sums of floats, and one just missed must not spin the loop."""


_RESTORE_SECONDS = 10.0

"""Until a history that could not be read is asked again: each time it may be waited for."""


_NO_OVERRIDES: Mapping[str, Thresholds] = MappingProxyType({})


_log: Any = structlog.get_logger("livedeck.monitor")


class Monitor:
    """Watches every event of the workspace. `random` spreads the calls in time; `api` is closed by its owner.

    `overrides`: thresholds of single events, by id. `history` keeps what is seen and gives back, after a restart, what
    was; its owner closes it. One listener at a time: `snapshots()` and `wait_ready()` both ask the
    platform. What a person does to an alarm makes a new snapshot at once, without asking; AlarmRefused says why not.
    """

    def __init__(
        self,
        api: Api,
        clock: Clock,
        *,
        thresholds: Thresholds | None = None,
        cadence: Cadence | None = None,
        random: Random | None = None,
        overrides: Mapping[str, Thresholds] = _NO_OVERRIDES,
        history: History | None = None,
    ) -> None:
        self._clock, self._history = clock, history
        self._thresholds, self._cadence = thresholds or Thresholds(), cadence or Cadence()
        self._rules = self._thresholds.attention
        self._poller = Poller(api, clock, self._cadence, random or Random())  # noqa: S311  jitter is no secret
        self._awake, self._handled = asyncio.Event(), asyncio.Event()
        self._focus: str | None = None
        self._rooms = False
        self._engine = AlarmEngine(self._thresholds)
        self._restore_at = -inf  # when the alarms of the deck before are asked for again (monotonic s)
        self._urgency = RoundDebounce(clock)
        begun = _instant(clock)
        self._lookout = WorldTracker(api, begun, self._thresholds, self._cadence, overrides)
        self._last = Snapshot(0, begun.wall, self._lookout.link)

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """All that is known: at once, after each round of answers, and every few seconds though none came.

        Never ends by itself; cancelling it cancels what it asked. No trouble of the platform's is raised.
        """
        try:
            yield self._last
            while True:
                yield await self._round()
                await self._rest()
        finally:
            await self._poller.close()

    async def wait_ready(self, timeout: float = 15.0) -> Snapshot:  # noqa: ASYNC109  counted on the clock passed in
        """The first snapshot that is worth reporting, after `timeout` seconds at most.

        That is: every event with a stream to judge was asked for its samples, or the platform is known to be away.
        """
        try:
            await wait_first(self._settle(), self._clock.sleep(timeout))
        finally:
            await self._poller.close()
        return self._last

    def refresh(self) -> None:
        """Ask everything now: something was changed. A Retry-After of the platform is still obeyed."""
        self._poller.hurry()
        self._awake.set()

    def set_focus(self, event_id: str | None) -> None:
        """Ask for that event's samples more often: somebody is looking at it. None: at none."""
        self._focus = event_id
        self._awake.set()

    def want_rooms(self, wanted: bool) -> None:
        """Ask for the meeting rooms too, at once and at their cadence: somebody is looking at them; or no more."""
        self._rooms = wanted
        self._awake.set()

    def acknowledge(self, key: AlarmKey) -> bool:
        """Promise to act: silent until it is over or the promise runs out. False where nothing was owed."""
        return self._handle(key, lambda alarm: operator.acknowledge(alarm, self._clock.now(), self._rules))

    def shelve(self, key: AlarmKey, minutes: float | None, reason: str) -> None:
        """Put that alarm out of sight for so many minutes, None: until it is over. Raises AlarmRefused."""
        now, on_air = self._clock.now(), key.event_id in ids_on_air(self._lookout.states)
        self._handle(key, lambda alarm: operator.shelve(alarm, minutes, reason, now, on_air=on_air, limits=self._rules))

    def unshelve(self, key: AlarmKey) -> None:
        """Bring that alarm back in sight. Raises AlarmRefused."""
        self._handle(key, lambda alarm: operator.unshelve(alarm, self._clock.now()))

    def out_of_service(self, key: AlarmKey, reason: str) -> None:
        """Put that alarm out of sight until it is put in service again. Raises AlarmRefused."""
        self._handle(key, lambda alarm: operator.take_out_of_service(alarm, reason, self._clock.now()))

    def in_service(self, key: AlarmKey) -> None:
        """End that. Raises AlarmRefused."""
        self._handle(key, lambda alarm: operator.put_in_service(alarm, self._clock.now()))

    def note(self, key: AlarmKey, text: str) -> None:
        """Keep these words beside that alarm. Raises AlarmRefused."""
        self._handle(key, lambda alarm: operator.add_note(alarm, text))

    def _handle(self, key: AlarmKey, deed: Callable[[Alarm], Alarm | None]) -> bool:
        done = self._engine.handle(key, deed, self._clock.now())
        if done:
            self._handled.set()
        return done

    async def _settle(self) -> None:
        while not self._reportable(await self._round()):
            await self._rest()

    def _reportable(self, snapshot: Snapshot) -> bool:
        if snapshot.link.is_unauthorized or snapshot.link.failures >= self._cadence.give_up:
            return True
        told = all(self._lookout.told(key) for key in self._plan() if key != LIST)
        return snapshot.link.as_of is not None and told

    async def _round(self) -> Snapshot:
        """Ask what is due and look at everything; what a person did is shown without waiting for an answer."""
        if self._history:
            await self._restore_alarms(self._history)
            await self._lookout.recall(self._history, self._clock.now())
        self._urgency.begin()
        answers = await self._poller.round(self._plan(), self._hear, self._handled.wait(), self._urgency.end())
        self._handled.clear()
        self._last = await self._look(answers)
        if self._history:
            await self._history.append(self._last)
        await asyncio.sleep(0)
        for change in self._last.changes:
            _log.info(f"alarm {change.transition}", kind=change.alarm.kind, event_id=change.alarm.event_id)
        return self._last

    async def _restore_alarms(self, history: History) -> None:
        """Go on from the alarms of the deck before; while they cannot be read, ask for them again now and then."""
        if self._clock.monotonic() < self._restore_at:
            return
        self._restore_at = self._clock.monotonic() + _RESTORE_SECONDS
        alarms = await history.restored()
        if alarms is not None:
            self._restore_at = inf
            self._engine.restore(alarms, self._clock.now())

    async def _hear(self, answer: PollResult) -> None:
        if await self._lookout.hear(answer):
            self._urgency.tell()

    async def _rest(self) -> None:
        """Until a call is due, one that was slow is done, somebody asks, or time alone has changed the picture."""
        waits = [self._cadence.tick, self._poller.wait(self._plan())]
        if self._last.link.state is not ConnectionState.BLIND:
            waits.append(self._lookout.blind_at - self._clock.monotonic())
        rest = self._clock.sleep(max(_BREATH, min(waits)))
        await wait_first(rest, self._awake.wait(), self._handled.wait(), self._poller.arrival())
        self._awake.clear()

    def _plan(self) -> PollSchedule:
        now = connection.server_time(self._last.link, self._clock.now())
        return plan(self._last.events, now, self._focus, self._lookout.cadence, rooms=self._rooms)

    async def _look(self, answers: tuple[PollResult, ...]) -> Snapshot:
        """Everything at this moment, from what is known.

        From the step of the alarms until the history has it nothing pauses: a deed between would be shown before its
        change is told, and a listener that is cancelled there would lose the changes.
        """
        moment = _instant(self._clock)
        await self._lookout.take(answers, moment, urgent=self._urgency.urgent)
        await asyncio.sleep(0)  # what is seen, means, and is listed as: a turn of the loop each
        fault = self._history.fault if self._history else ""
        state = MonitorState(self._lookout.states, self._lookout.link, moment.wall, fault)
        changes, alert_count = self._engine.step(state)
        ordered = self._engine.ordered(state.events)
        return Snapshot(
            seq=self._last.seq + 1,
            at=moment.wall,
            link=state.connection,
            events=worst_first(state.events, ordered),
            alarms=tuple(alarm for alarm in ordered if alarm.active),
            quiet=self._engine.inactive(moment.wall),
            changes=changes,
            bells=alert_count,
            flood=self._engine.is_flood(moment.wall),
            rooms=self._lookout.rooms,
        )


def _instant(clock: Clock) -> ClockReading:
    return ClockReading(clock.now(), clock.monotonic())
