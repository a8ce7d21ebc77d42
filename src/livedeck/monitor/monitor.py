"""The monitor: ask, judge, and say what is so, for as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from random import Random
from typing import Any

import structlog

from livedeck.client import Api, ApiError
from livedeck.monitor import alarms, connection
from livedeck.monitor.facts import Alarm, Clock, Link, LinkState, Snapshot
from livedeck.monitor.plan import LIST, Plan, plan
from livedeck.monitor.poller import Answer, Poller
from livedeck.monitor.race import first
from livedeck.monitor.ranking import worst_first
from livedeck.monitor.thresholds import Cadence, Thresholds
from livedeck.monitor.watch import Instant, Watch, heard, look, renewed

_BREATH = 0.01
"""Seconds of rest at least: moments are sums of floats, and one just missed must not spin the loop."""

_log: Any = structlog.get_logger("livedeck.monitor")


class Monitor:
    """Watches every event of the workspace. `random` spreads the calls in time; `api` is closed by its owner.

    One listener at a time: `snapshots()` and `settled()` both ask the platform.
    """

    def __init__(
        self,
        api: Api,
        clock: Clock,
        *,
        thresholds: Thresholds | None = None,
        cadence: Cadence | None = None,
        random: Random | None = None,
    ) -> None:
        self._api, self._clock = api, clock
        self._thresholds, self._cadence = thresholds or Thresholds(), cadence or Cadence()
        self._poller = Poller(api, clock, self._cadence, random or Random())  # noqa: S311  jitter is no secret
        self._awake = asyncio.Event()
        self._focus: str | None = None
        self._watches: dict[str, Watch] = {}
        self._alarms: tuple[Alarm, ...] = ()
        begun = self._moment()
        self._heard = begun.tick  # the last good answer of all
        start = Link(LinkState.CONNECTING, begun.wall, interval=self._cadence.events)
        self._last = Snapshot(0, begun.wall, start)

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

    async def settled(self, timeout: float = 15.0) -> Snapshot:  # noqa: ASYNC109  counted on the clock passed in
        """The first snapshot that is worth reporting, after `timeout` seconds at most.

        That is: every event with a stream to judge was asked for its samples, or the platform is known to be away.
        """
        try:
            await first(self._settle(), self._clock.sleep(timeout))
        finally:
            await self._poller.close()
        return self._last

    def poke(self) -> None:
        """Ask everything now: something was changed. A Retry-After of the platform is still obeyed."""
        self._poller.hurry()
        self._awake.set()

    def focus(self, event_id: str | None) -> None:
        """Ask for that event's samples more often: somebody is looking at it. None: at none."""
        self._focus = event_id
        self._awake.set()

    async def _settle(self) -> None:
        while not self._reportable(await self._round()):
            await self._rest()

    def _reportable(self, snapshot: Snapshot) -> bool:
        if snapshot.link.refused or snapshot.link.failures >= self._cadence.give_up:
            return True
        asked = (self._watches[key] for key in self._plan() if key != LIST)
        return snapshot.link.as_of is not None and all(watch.answered or watch.error for watch in asked)

    async def _round(self) -> Snapshot:
        answers = await self._poller.round(self._plan())
        self._heard = max([self._heard, *(answer.tick for answer in answers if answer.good)])
        moment = self._moment()
        link = self._link(_outcome(answers), moment)
        for answer in answers:
            self._take(answer, link)
        self._last = self._look(link, moment)
        return self._last

    async def _rest(self) -> None:
        """Until a call is due, one that was slow is done, somebody asks, or time alone has changed the picture."""
        waits = [self._cadence.tick, self._poller.wait(self._plan())]
        if self._last.link.state is not LinkState.BLIND:
            blind = self._heard + connection.blind_limit(self._last.link, self._thresholds)
            waits.append(blind - self._clock.monotonic())
        await first(self._clock.sleep(max(_BREATH, min(waits))), self._awake.wait(), self._poller.arrival())
        self._awake.clear()

    def _plan(self) -> Plan:
        now = connection.server_time(self._last.link, self._clock.now())
        return plan(self._last.events, now, self._focus, self._cadence)

    def _moment(self) -> Instant:
        return Instant(self._clock.now(), self._clock.monotonic())

    def _take(self, answer: Answer, link: Link) -> None:
        moment = Instant(answer.at, answer.tick)
        if isinstance(answer.brought, tuple):
            self._watches = renewed(self._watches, answer.brought, moment)
        elif answer.key in self._watches:
            watch = self._watches[answer.key]
            self._watches[answer.key] = heard(watch, answer.brought, link, moment, self._thresholds)

    def _look(self, link: Link, moment: Instant) -> Snapshot:
        """Everything at this moment, from what is known."""
        before = self._last
        last = {state.id: state for state in before.events}
        states = [
            look(watch, link, moment, last.get(key), thresholds=self._thresholds, cadence=self._cadence)
            for key, watch in self._watches.items()
        ]
        self._alarms, changes = alarms.step(self._alarms, states, link, moment.wall, self._thresholds)
        for change in changes:
            what = "alarm raised" if change.raised else "alarm cleared"
            _log.info(what, kind=change.alarm.kind, event_id=change.alarm.event_id)
        ranked = worst_first(states, self._alarms)
        return Snapshot(before.seq + 1, moment.wall, link, ranked, alarms.shown(self._alarms, link))

    def _link(self, outcome: connection.Outcome, moment: Instant) -> Link:
        before, exchanges = self._last.link, self._api.exchanges
        after = connection.step(before, outcome, moment.wall, moment.tick - self._heard, self._thresholds)
        if before.failures == 0 < after.failures:
            _log.warning("platform lost", why=after.why)
        if after.failures == 0 < before.failures:
            _log.warning("platform back", failed_rounds=before.failures)
        if not exchanges:
            return after
        skew = connection.skew(exchanges, before.skew, self._thresholds)
        return replace(after, round_trip=exchanges[-1].round_trip, skew=skew)


def _outcome(answers: tuple[Answer, ...]) -> connection.Outcome:
    pulse = next((answer.brought for answer in answers if answer.key == LIST), None)
    return connection.Outcome(
        good=max((answer.at for answer in answers if answer.good), default=None),
        listed=isinstance(pulse, tuple),
        failure=pulse if isinstance(pulse, ApiError) else None,
    )
