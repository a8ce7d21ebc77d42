"""What the answers have told so far: the link, and everything known of each event."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from livedeck.client import Api, ApiError, RateLimited
from livedeck.monitor import connection
from livedeck.monitor.facts import EventState, Link, LinkState
from livedeck.monitor.findings import graver
from livedeck.monitor.history import History
from livedeck.monitor.plan import LIST, ROOMS, paced
from livedeck.monitor.poller import Answer
from livedeck.monitor.rooms import Listed, RoomsState
from livedeck.monitor.rooms import heard as listed
from livedeck.monitor.series import KEPT
from livedeck.monitor.thresholds import Cadence, Thresholds
from livedeck.monitor.watch import Instant, Watch, heard, look, recalled, renewed
from livedeck.slices import Slices, in_turns

_LOOKS = 16
"""Events that are looked at in one slice."""

_log: Any = structlog.get_logger("livedeck.monitor")


class Lookout:
    """Takes answers and says how everything looks. `overrides`: thresholds of single events, by id.

    `link`: the connection as it is. `cadence`: how often the platform is asked, as the budget allows.
    `rooms`: as they were last listed.
    """

    def __init__(
        self, api: Api, begun: Instant, thresholds: Thresholds, cadence: Cadence, overrides: Mapping[str, Thresholds]
    ) -> None:
        self._api, self._thresholds, self._cadence, self._overrides = api, thresholds, cadence, overrides
        self._watches: dict[str, Watch] = {}
        self._states: dict[str, EventState] = {}
        self._recalled: dict[str, str] = {}  # event id -> the stream of which older samples were asked for
        self._heard = begun.tick  # the last good answer of all
        self.cadence = cadence
        self.rooms = RoomsState(interval=cadence.rooms)
        self.link = Link(LinkState.CONNECTING, begun.wall, interval=cadence.events)

    @property
    def states(self) -> tuple[EventState, ...]:
        """Every event as it looked last."""
        return tuple(self._states.values())

    @property
    def blind_at(self) -> float:
        """When the deck is blind if nothing answers (monotonic s)."""
        return self._heard + connection.blind_limit(self.link, self._thresholds)

    def told(self, key: str) -> bool:
        """Whether the samples of that event, or the rooms, were asked for, with whatever result. What is gone is."""
        if key == ROOMS:
            return self.rooms.told
        watch = self._watches.get(key)
        return watch is None or bool(watch.answered or watch.error)

    async def recall(self, history: History, now: datetime) -> None:
        """Put what was recorded of a stream before what is heard of it, as soon as the stream is known."""
        until = connection.server_time(self.link, now).timestamp() + self._thresholds.ahead
        if begun := self._begun():
            past = await history.samples(begun, until, newest=KEPT)
            self._watches |= {key: recalled(self._watches[key], readings) for key, readings in past.items()}

    async def hear(self, answer: Answer) -> bool:
        """Learn what one call brought; whether it brought a fault that nobody may wait for, new or graver than it was.

        In slices: the loop goes on between two of them.
        """
        await self._learn(answer)
        watch, before = self._watches.get(answer.key), self._states.get(answer.key)
        if watch is None or before is None:
            return False
        now = self._look(watch, Instant(answer.at, answer.tick))
        self._states[answer.key] = now
        return graver(before.verdict, now.verdict)

    async def take(self, answers: tuple[Answer, ...], moment: Instant, *, urgent: bool = False) -> None:
        """Look at everything after the answers of a round, which were heard; none means that only time passed.

        `urgent`: what was heard is all that is looked at, unless the link changed or the list came. In slices; how
        events look changes for all of them at once.
        """
        self._heard = max([self._heard, *(answer.tick for answer in answers if answer.good)])
        before, self.link = self.link, self._linked(_outcome(answers), moment)
        if urgent and self.link.state is before.state and all(answer.key != LIST for answer in answers):
            return
        self._states = await in_turns(self._looks(moment))
        self.cadence = paced(self._cadence, self.states)

    def _begun(self) -> dict[str, str]:
        """Event id -> the stream that it has since the last look, where that may still bring samples."""
        streams = {
            key: stream.id
            for key, watch in self._watches.items()
            if (stream := watch.event.stream) and stream.id and stream.finished_at is None
        }
        begun = {key: stream for key, stream in streams.items() if self._recalled.get(key) != stream}
        self._recalled = streams
        return begun

    async def _learn(self, answer: Answer) -> None:
        moment = Instant(answer.at, answer.tick)
        if isinstance(answer.brought, tuple):
            self._watches = renewed(self._watches, answer.brought, self.link, moment, self._judged_by)
        elif isinstance(answer.brought, Listed) or (answer.key == ROOMS and isinstance(answer.brought, ApiError)):
            self.rooms = listed(self.rooms, answer.brought, answer.at)
        elif answer.key in self._watches:
            watch, thresholds = self._watches[answer.key], self._judged_by(answer.key)
            self._watches[answer.key] = await in_turns(heard(watch, answer.brought, self.link, moment, thresholds))
        await asyncio.sleep(0)

    def _looks(self, moment: Instant) -> Slices[dict[str, EventState]]:
        states = {}
        for place, (key, watch) in enumerate(self._watches.items(), 1):
            states[key] = self._look(watch, moment)
            if place % _LOOKS == 0:
                yield
        return states

    def _look(self, watch: Watch, moment: Instant) -> EventState:
        last, thresholds = self._states.get(watch.event.id), self._judged_by(watch.event.id)
        return look(watch, self.link, moment, last, thresholds=thresholds, cadence=self.cadence)

    def _judged_by(self, event_id: str) -> Thresholds:
        return self._overrides.get(event_id, self._thresholds)

    def _linked(self, outcome: connection.Outcome, moment: Instant) -> Link:
        before, exchanges = self.link, self._api.exchanges
        after = connection.step(before, outcome, moment.wall, moment.tick - self._heard, self._thresholds)
        if before.failures == 0 < after.failures:
            _log.warning("platform lost", why=after.why)
        if after.failures == 0 < before.failures:
            _log.warning("platform back", failed_rounds=before.failures)
        if not exchanges:
            return after
        skew = connection.skew(exchanges, before.skew, self._thresholds)
        return replace(after, round_trip=exchanges[-1].round_trip, skew=skew)


def _outcome(answers: Iterable[Answer]) -> connection.Outcome:
    """What a round tells of the link. A rate is limited for all calls, whichever was told so: then no more are made."""
    answers = tuple(answers)
    pulse = next((answer.brought for answer in answers if answer.key == LIST), None)
    good = max((answer.at for answer in answers if answer.good), default=None)
    told = (answer.brought for answer in answers if isinstance(answer.brought, RateLimited))
    limited = next((error for error in told if error.retry_after is not None), None)
    failure = pulse if isinstance(pulse, ApiError) else None
    return connection.Outcome(good, isinstance(pulse, tuple), failure or limited)
