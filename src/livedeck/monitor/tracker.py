"""What is known of every event and of the platform: answers are taken in, and states evaluated from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import structlog

from livedeck.client import Api, ApiError, Event, QosSamples, RateLimited
from livedeck.monitor.detection import patterns
from livedeck.monitor.detection.detect import detect, episodes
from livedeck.monitor.detection.health import assess, find, is_worse
from livedeck.monitor.detection.phase import IngestEvidence, derive
from livedeck.monitor.detection.restreams import restream_episodes, update
from livedeck.monitor.history import History
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.snapshot import RoomList, RoomsState
from livedeck.monitor.model.snapshot import ingest_rooms as listed
from livedeck.monitor.model.state import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    IngestState,
    Pattern,
    QosState,
)
from livedeck.monitor.model.thresholds import Cadence, Thresholds
from livedeck.monitor.polling import connection
from livedeck.monitor.polling.connection import server_time
from livedeck.monitor.polling.poller import PollResult
from livedeck.monitor.polling.schedule import LIST, ROOMS, fit_rate_limit, qos_interval
from livedeck.monitor.signal import series
from livedeck.monitor.signal.analysis import MAX_EPISODES, DataQuality, RestreamHistory, SignalAnalysis
from livedeck.monitor.signal.series import MAX_SAMPLES

_BATCH = 32

"""Samples that are analysed at once: 1 ms where each of them is bad. An hour of them takes a tenth of a second."""


_NEVER_JUDGED = frozenset({BroadcastState.DRAFT, BroadcastState.COMPLETED})


class ClockReading(NamedTuple):
    """One instant on both clocks of this machine: the wall's, and the one that never runs backwards (s)."""

    wall: datetime
    tick: float


@dataclass(frozen=True, slots=True)
class EventTracker:
    """One event: the platform's object and when it came, its samples and when they came, and why not the last time.

    `failed`: the first failure since the last good answer. `ahead`: samples of that answer dated in the future, which
    were left out. `empty`: the last good answer without samples; `frozen`: samples come, their time stands still.
    `cadence` (s), `run` (epoch s, server clock: first sample of the present run) and `detection` are made once for
    each answer. `past`: what was recorded of the stream before the deck started, until the first answer.
    """

    event: Event
    listed: ClockReading
    readings: Readings = field(default_factory=Readings)
    answered: ClockReading | None = None
    cadence: float | None = None
    run: float | None = None
    error: str = ""
    failed: ClockReading | None = None
    ahead: int = 0
    empty: ClockReading | None = None
    frozen: bool = False
    detection: SignalAnalysis = field(default_factory=SignalAnalysis)
    restreams: RestreamHistory = field(default_factory=RestreamHistory)
    past: Readings = field(default_factory=Readings)


def update_events(
    known: Mapping[str, EventTracker],
    events: Iterable[Event],
    link: ConnectionStatus,
    moment: ClockReading,
    thresholds: Callable[[str], Thresholds],
) -> dict[str, EventTracker]:
    """The watches after an event list: what left it is forgotten, and a new stream begins with no samples.

    `thresholds`: by event id.
    """
    watches = (_renew(known.get(event.id), event, moment) for event in events)
    return {watch.event.id: _relayed(watch, link, thresholds(watch.event.id)) for watch in watches}


def _renew(watch: EventTracker | None, event: Event, moment: ClockReading) -> EventTracker:
    if watch is None or _stream(watch.event) != _stream(event):
        return EventTracker(event, moment)
    return replace(watch, event=event, listed=moment)


def _stream(event: Event) -> str | None:
    return event.stream.id if event.stream else None


def ingest(
    watch: EventTracker,
    brought: QosSamples | ApiError,
    link: ConnectionStatus,
    moment: ClockReading,
    thresholds: Thresholds,
) -> EventTracker:
    """The watch after a QoS answer, its new samples not analysed yet; after a failure all stays but `error` and since
    when it fails."""
    if isinstance(brought, ApiError):
        return replace(watch, error=str(brought), failed=watch.failed or moment)
    until = server_time(link, moment.wall).timestamp() + thresholds.ahead
    watch = replace(watch, answered=moment, error="", failed=None, ahead=series.count_future(brought, until))
    readings = series.merge(watch.readings, brought, until=until)
    if not len(readings):
        return replace(watch, empty=moment)
    if len(watch.past):
        gap = series.late_limit(series.cadence(readings), thresholds)
        readings, watch = series.prepend(watch.past, readings, gap), replace(watch, past=Readings())
    if readings is not watch.readings:
        cadence = series.cadence(readings)
        run = series.run_start(readings, series.late_limit(cadence, thresholds))
        frozen = series.is_frozen(brought, watch.readings)
        watch = replace(watch, readings=readings, cadence=cadence, run=run, frozen=frozen)
    return _relayed(watch, link, thresholds)


def preload(watch: EventTracker, past: Readings) -> EventTracker:
    """The watch of a deck that starts again, with what it recorded before. It counts from the first answer on, and
    where that goes on from it: what happened unseen is not known."""
    return replace(watch, past=past) if watch.answered is None else watch


async def analyze(watch: EventTracker, thresholds: Thresholds) -> EventTracker:
    """The watch with all its samples analysed: some of them, then others have their turn on the event loop."""
    analysis = watch.detection
    while analysis.readings is not watch.readings:
        await asyncio.sleep(0)
        analysis = detect(analysis, watch.readings, thresholds, limit=_BATCH)
    return replace(watch, detection=analysis)


def _relayed(watch: EventTracker, link: ConnectionStatus, thresholds: Thresholds) -> EventTracker:
    """Its restreams, as they were last listed."""
    if not watch.event.restreams and not watch.restreams.intervals:
        return watch
    listed = server_time(link, watch.listed.wall)
    phase = derive(watch.event, _evidence(watch, link), listed, thresholds)
    well = phase.tally is BroadcastState.ON_AIR and phase.ingest.state is IngestState.RECEIVING
    on_air = (watch.run or watch.readings.time[0]) if well else None
    return replace(watch, restreams=update(watch.restreams, watch.event, listed.timestamp(), on_air, thresholds))


def evaluate(
    watch: EventTracker,
    link: ConnectionStatus,
    moment: ClockReading,
    last: EventState | None,
    *,
    thresholds: Thresholds,
    cadence: Cadence,
) -> EventState:
    """The event at that moment. `last`: how it looked before; its verdict is kept where nothing it rests on changed."""
    now = server_time(link, moment.wall)
    phase = derive(watch.event, _evidence(watch, link), now, thresholds)
    interval = qos_interval(watch.event, phase, now, cadence)
    answer = series.answer_freshness(_age(watch.answered, moment), interval or cadence.qos, thresholds)
    samples = _of_samples(watch, now, thresholds)
    qos = _qos(watch, series.least_fresh(answer, samples), asked=interval is not None)
    trust = _trust(watch, answer, samples, link, qos)
    case = EventCase(watch.detection, phase, trust, now, watch.restreams)
    dark = _in_the_dark(watch, link, moment, thresholds)
    if dark:
        verdict = HealthAssessment(Health(grade=Grade.NONE if phase.tally in _NEVER_JUDGED else Grade.STALE))
    elif last and _same_case(last, qos, case, thresholds):
        verdict = last.assessment
    else:
        verdict = assess(case, thresholds)
    doubtful = dark or (interval is not None and trust.freshness is Freshness.STALE)
    if last and last.assessment is verdict:
        faults, shown = last.episodes, last.pattern
    else:
        faults = _episodes(watch)
        shown = (
            patterns.pattern_of(phase, qos.readings, verdict, thresholds)
            if faults or verdict.findings
            else Pattern.NONE
        )
    return EventState(watch.event, watch.listed.wall, phase, qos, verdict, doubtful, faults, shown)


def _episodes(watch: EventTracker) -> tuple[Episode, ...]:
    faults = (*episodes(watch.detection), *restream_episodes(watch.restreams))
    return tuple(sorted(faults, key=lambda one: (one.since, one.kind, one.target))[-MAX_EPISODES:])


def _trust(
    watch: EventTracker, answer: Freshness, samples: Freshness, link: ConnectionStatus, qos: QosState
) -> DataQuality:
    empty = server_time(link, watch.empty.wall) if watch.empty else None
    error = watch.error or ("new samples come, their time stands still" if watch.frozen else "")
    return DataQuality(_believed(answer, samples, watch), _told(watch, link), error, qos.future_samples, empty)


def _qos(watch: EventTracker, fresh: Freshness, *, asked: bool) -> QosState:
    return QosState(
        readings=watch.readings,
        as_of=watch.answered.wall if watch.answered else None,
        freshness=fresh,
        cadence=watch.cadence,
        error=watch.error,
        future_samples=watch.ahead if asked else 0,
        failing_since=watch.failed.wall if watch.failed else None,
    )


def _told(watch: EventTracker, link: ConnectionStatus) -> datetime | None:
    """The last good answer with news, or the first failure where there was none (server time)."""
    if watch.frozen and watch.readings.last:
        return datetime.fromtimestamp(watch.readings.last.time, UTC)
    then = watch.answered or watch.failed
    return server_time(link, then.wall) if then else None


def _age(then: ClockReading | None, moment: ClockReading) -> float | None:
    return moment.tick - then.tick if then else None


def _evidence(watch: EventTracker, link: ConnectionStatus) -> IngestEvidence | None:
    if watch.answered is None:
        return None
    newest = watch.readings.last
    return IngestEvidence(
        as_of=server_time(link, watch.answered.wall),
        newest=datetime.fromtimestamp(newest.time, UTC) if newest else None,
        run_started_at=None if watch.run is None else datetime.fromtimestamp(watch.run, UTC),
        cadence=watch.cadence,
        is_frozen=watch.frozen,
    )


def _of_samples(watch: EventTracker, now: datetime, thresholds: Thresholds) -> Freshness:
    """An answer that held no samples has none that could be old."""
    newest = watch.readings.last
    if newest is None:
        return Freshness.FRESH
    return series.sample_freshness(now.timestamp() - newest.time, watch.cadence, thresholds)


def _in_the_dark(watch: EventTracker, link: ConnectionStatus, moment: ClockReading, thresholds: Thresholds) -> bool:
    """Whether the event itself may have changed unseen."""
    unlisted = series.answer_freshness(_age(watch.listed, moment), link.interval, thresholds)
    return link.state is ConnectionState.BLIND or unlisted is Freshness.STALE


def _believed(answer: Freshness, samples: Freshness, watch: EventTracker) -> Freshness:
    """For a verdict, samples that stopped are the phase's business; only our own failing to ask withholds it.

    A time that stands still says nothing of now, though the encoder may send.
    """
    if watch.frozen and samples is not Freshness.FRESH:
        return Freshness.STALE
    if answer is Freshness.STALE or (answer is Freshness.NEVER and watch.error):
        return Freshness.STALE
    return Freshness.FRESH if samples is Freshness.FRESH else Freshness.LATE


def _same_case(last: EventState, qos: QosState, case: EventCase, thresholds: Thresholds) -> bool:
    """Whether the verdict rests on the same samples; of a receiving stream it rests on nothing else."""
    before, phase, receiving = last.phase, case.phase, IngestState.RECEIVING
    restreams = tuple(finding for finding in last.assessment.findings if finding.kind == RESTREAM_KIND.name)
    return (
        before.ingest.state is receiving is phase.ingest.state
        and before.tally is phase.tally
        and last.qos.readings is qos.readings
        and last.qos.freshness is qos.freshness
        and last.qos.future_samples == qos.future_samples
        and last.assessment.health.grade is not Grade.STALE
        and restreams == tuple(find(RESTREAM_KIND, case, thresholds))
    )


_LOOKS = 16

"""Events that are looked at in one slice."""


_log: Any = structlog.get_logger("livedeck.monitor")


class WorldTracker:
    """Takes answers and says how everything looks. `overrides`: thresholds of single events, by id.

    `link`: the connection as it is. `cadence`: how often the platform is asked, as the budget allows.
    `rooms`: as they were last listed.
    """

    def __init__(
        self,
        api: Api,
        begun: ClockReading,
        thresholds: Thresholds,
        cadence: Cadence,
        overrides: Mapping[str, Thresholds],
    ) -> None:
        self._api, self._thresholds, self._cadence, self._overrides = api, thresholds, cadence, overrides
        self._watches: dict[str, EventTracker] = {}
        self._states: dict[str, EventState] = {}
        self._recalled: dict[str, str] = {}  # event id -> the stream of which older samples were asked for
        self._heard = begun.tick  # the last good answer of all
        self.cadence = cadence
        self.rooms = RoomsState(interval=cadence.rooms)
        self.link = ConnectionStatus(ConnectionState.CONNECTING, begun.wall, interval=cadence.events)

    @property
    def states(self) -> tuple[EventState, ...]:
        """Every event as it looked last."""
        return tuple(self._states.values())

    @property
    def blind_at(self) -> float:
        """When the deck is blind if nothing answers (monotonic s)."""
        return self._heard + connection.blind_after(self.link, self._thresholds)

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
            past = await history.samples(begun, until, newest=MAX_SAMPLES)
            self._watches |= {key: preload(self._watches[key], readings) for key, readings in past.items()}

    async def hear(self, answer: PollResult) -> bool:
        """Learn what one call brought; whether it brought a fault that nobody may wait for, new or graver than it was.

        In slices: the loop goes on between two of them.
        """
        await self._learn(answer)
        watch, before = self._watches.get(answer.key), self._states.get(answer.key)
        if watch is None or before is None:
            return False
        now = self._look(watch, ClockReading(answer.at, answer.tick))
        self._states[answer.key] = now
        return is_worse(before.assessment, now.assessment)

    async def take(self, answers: tuple[PollResult, ...], moment: ClockReading, *, urgent: bool = False) -> None:
        """Look at everything after the answers of a round, which were heard; none means that only time passed.

        `urgent`: what was heard is all that is looked at, unless the link changed or the list came. In slices; how
        events look changes for all of them at once.
        """
        self._heard = max([self._heard, *(answer.tick for answer in answers if answer.good)])
        before, self.link = self.link, self._linked(_outcome(answers), moment)
        if urgent and self.link.state is before.state and all(answer.key != LIST for answer in answers):
            return
        self._states = await self._looks(moment)
        self.cadence = fit_rate_limit(self._cadence, self.states)

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

    async def _learn(self, answer: PollResult) -> None:
        moment = ClockReading(answer.at, answer.tick)
        if isinstance(answer.brought, tuple):
            self._watches = update_events(self._watches, answer.brought, self.link, moment, self._judged_by)
        elif isinstance(answer.brought, RoomList) or (answer.key == ROOMS and isinstance(answer.brought, ApiError)):
            self.rooms = listed(self.rooms, answer.brought, answer.at)
        elif answer.key in self._watches:
            watch, thresholds = self._watches[answer.key], self._judged_by(answer.key)
            watch = ingest(watch, answer.brought, self.link, moment, thresholds)
            self._watches[answer.key] = await analyze(watch, thresholds)
        await asyncio.sleep(0)

    async def _looks(self, moment: ClockReading) -> dict[str, EventState]:
        states = {}
        for place, (key, watch) in enumerate(self._watches.items(), 1):
            states[key] = self._look(watch, moment)
            if place % _LOOKS == 0:
                await asyncio.sleep(0)
        return states

    def _look(self, watch: EventTracker, moment: ClockReading) -> EventState:
        last, thresholds = self._states.get(watch.event.id), self._judged_by(watch.event.id)
        return evaluate(watch, self.link, moment, last, thresholds=thresholds, cadence=self.cadence)

    def _judged_by(self, event_id: str) -> Thresholds:
        return self._overrides.get(event_id, self._thresholds)

    def _linked(self, outcome: connection.RoundResult, moment: ClockReading) -> ConnectionStatus:
        before, exchanges = self.link, self._api.timings
        after = connection.step(before, outcome, moment.wall, moment.tick - self._heard, self._thresholds)
        if before.failures == 0 < after.failures:
            _log.warning("platform lost", why=after.reason)
        if after.failures == 0 < before.failures:
            _log.warning("platform back", failed_rounds=before.failures)
        if not exchanges:
            return after
        skew = connection.skew(exchanges, before.skew, self._thresholds)
        return replace(after, round_trip=exchanges[-1].round_trip, skew=skew)


def _outcome(answers: Iterable[PollResult]) -> connection.RoundResult:
    """What a round tells of the link. A rate is limited for all calls, whichever was told so: then no more are made."""
    answers = tuple(answers)
    pulse = next((answer.brought for answer in answers if answer.key == LIST), None)
    good = max((answer.at for answer in answers if answer.good), default=None)
    told = (answer.brought for answer in answers if isinstance(answer.brought, RateLimited))
    limited = next((error for error in told if error.retry_after is not None), None)
    failure = pulse if isinstance(pulse, ApiError) else None
    return connection.RoundResult(good, isinstance(pulse, tuple), failure or limited)
