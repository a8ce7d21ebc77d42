"""Trackers of events and of the connection, which take results of polls and evaluate states."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from math import inf
from operator import is_
from typing import NamedTuple

from livedeck.client import ApiError, Event, NotFound, QosSamples, ResponseTiming, Shortfall, Stream
from livedeck.log import Log
from livedeck.monitor.detection import patterns, restreams
from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules, detect, episodes, still_valid
from livedeck.monitor.detection.health import assess, find, is_worse, unknown
from livedeck.monitor.detection.judged import DeliveryJudge, Judged
from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.detection.phase import IngestEvidence, derive
from livedeck.monitor.detection.units import UnitEvidence, UnitVerdict, in_bits, judge_unit
from livedeck.monitor.detection.viewers import update as update_viewing
from livedeck.monitor.evidence.blame import Facts, blame, is_common, seen
from livedeck.monitor.evidence.coverage import Coverage
from livedeck.monitor.evidence.dating import Dated
from livedeck.monitor.evidence.ends import SECOND_LOOK, Answer, Doubts, EventStanding, Standing
from livedeck.monitor.evidence.presence import ANSWERS_APART, Asks, EncoderStanding, Presence, usual_of_platform
from livedeck.monitor.evidence.witness import Witness, witness
from livedeck.monitor.evidence.workspace import OtherWorkspace
from livedeck.monitor.history import History, HistoryReader, StreamKey
from livedeck.monitor.kinds.kind import RECONNECTING, EventCase
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.blame import NO_BLAME, NO_FAILURE, Blame, Failure, Sight
from livedeck.monitor.model.limits import Limits
from livedeck.monitor.model.own import WATCHING, NotWatched, OwnState, Why, watched_seconds, whole_since
from livedeck.monitor.model.readings import Reading, Readings
from livedeck.monitor.model.resources import ResourceKey, event_key
from livedeck.monitor.model.ruling import Ruling, Rulings, UsualMark
from livedeck.monitor.model.span import Span
from livedeck.monitor.model.state import (
    ENCODER_LOST,
    NO_SAMPLE,
    BroadcastState,
    ClaimEvidence,
    ClockChange,
    ConnectionState,
    ConnectionStatus,
    EndedEvent,
    EndWay,
    Episode,
    EventState,
    Freshness,
    Grade,
    IngestState,
    ListDoubt,
    Pattern,
    Phase,
    Proof,
    QosState,
)
from livedeck.monitor.model.thresholds import Cadence, Thresholds
from livedeck.monitor.model.unit import BitrateUnit
from livedeck.monitor.model.viewer import ViewerState
from livedeck.monitor.model.viewing import Viewing
from livedeck.monitor.polling import connection
from livedeck.monitor.polling.connection import server_time
from livedeck.monitor.polling.poller import EventList, ItemList, PollResult
from livedeck.monitor.polling.schedule import LIST, PROBE, PollKey, PollSpec, fit_rate_limit, qos_interval
from livedeck.monitor.signal import order, series
from livedeck.monitor.signal.analysis import MAX_EPISODES, DataQuality, RestreamHistory, SignalAnalysis
from livedeck.text.secrets import masked_line
from livedeck.text.values import age

_ANALYSIS_BATCH = 10
"""Samples analysed in one pass of the event loop, whatever the number of events."""

_EVALUATION_BATCH = 16
"""Maximum number of events evaluated in one pass of the event loop."""

_BITS = UnitVerdict(BitrateUnit.BIT)
_ASK_RANK = 1
"""Rank of requests by id in the schedule: the same as for samples of events on air."""

_MISSED_POLLS = 1.5
"""Poll intervals without a new sample after which the next sample is overdue."""

_MISSED_SAMPLES = 2.5
"""Cadences without a new sample after which the next sample is overdue, if longer than `_MISSED_POLLS` intervals."""

_ENDS = {
    EndWay.GONE: "was on air, not listed since",
    EndWay.STREAM_REMOVED: "lost its stream while on air, seen at",
    EndWay.COMPLETED: "was completed while on air, seen at",
    EndWay.REPLACED: "got another stream while on air, seen at",
}

_log = Log("livedeck.monitor")


class ClockReading(NamedTuple):
    """Instant on both clocks of this machine: wall clock, and monotonic seconds."""

    wall: datetime
    monotonic: float


class LinkMeasure(NamedTuple):
    """Measured values of the connection.

    `lost_share`: share of lost replies; 0 while the link is not poor. `pace`: share of the usual pace that the platform
    accepts. `is_tried`: enough calls were made to blame the platform for a silence. `clock_offset`: seconds by which
    this machine's clock was set forward since the start. `is_clock_doubtful`: the clock made a step, and no reply has
    shown yet whether it was set or the machine slept. `own`: stops and slowness of this process. `capacity`: polls per
    second that all processes together make in time; None without a limit.
    """

    lost_share: float = 0.0
    pace: float = 1.0
    is_tried: bool = True
    clock_offset: float = 0.0
    is_clock_doubtful: bool = False
    own: OwnState = WATCHING
    capacity: float | None = None


class _FalseSilence(NamedTuple):
    """Silence that was only a late delivery: start, end (epoch s, server clock) and delay of the samples (s)."""

    since: float
    until: float
    seconds: float


class _Proof(Enum):
    """Good reply that is needed as proof that the platform is back."""

    LIST = auto()
    SAMPLES = auto()


class EventTracker:
    """Tracker of an event and its current stream. Another stream of the event needs another tracker.

    `event`: the event as last read. `state`: the state as last evaluated, or None. `is_listed`: the last list held the
    event. `had_sound`: an earlier stream of the event had sound.
    """

    def __init__(
        self,
        event: Event,
        listed_at: ClockReading,
        thresholds: Thresholds,
        state: EventState | None = None,
        *,
        turn: asyncio.Semaphore,
        event_lag: float | None = None,
        had_sound: bool = False,
    ) -> None:
        self._turn, self._had_sound = turn, had_sound
        self._event_lag = event_lag  # delivery delay of the event's previous stream (s)
        self.event, self.state, self.is_listed = event, state, True
        self._listed_at, self._thresholds = listed_at, thresholds  # time at which `event` was read
        self._seen_at = listed_at  # last proof that the event is as last read
        self._readings, self._recorded = Readings(), Readings()
        self._answer = QosSamples()  # last good reply, as the platform sent it
        self._unit = self._read_by = _BITS  # present unit of rates, and unit by which the samples were read
        self._learnt: Learnt | None = None  # of an earlier process, until the first reply
        self._last_learnt: tuple[object, ...] | None = None
        self._learnt_from: tuple[object, ...] = (None, None, None)
        self._answered_at: ClockReading | None = None
        self._empty_at: ClockReading | None = None  # last good response that proves that no sample ever came
        self._error = ""
        self._failing_since: ClockReading | None = None  # first failure since the last good reply
        self._is_polled = False  # the last evaluation demands polls of samples
        self._failure = NO_FAILURE  # last failure since the last good reply
        self._future_samples = 0  # number of samples of the last reply dropped for a date in the future
        self._unreadable: Mapping[str, int] = {}  # field -> number of samples of the last reply without it
        self._run: series.Run | None = None  # the present run
        self._is_frozen = False  # samples arrive, but their time stands still
        self._analysis = SignalAnalysis()
        self._delivery = Delivery()
        self._coverage = Coverage()
        self._not_watched: tuple[Span, ...] = ()  # times between samples that no reply covers
        self._asks = Asks()
        self._presence: Presence | None = None  # at the last good reply
        self._dated_at = 0.0  # date of the last good reply (epoch s, server clock)
        self._interval = Cadence().qos  # seconds between two polls
        self._others_lag: float | None = None  # delivery delay of the platform's other streams (s)
        self._false_silence: _FalseSilence | None = None
        self._rulings: tuple[Ruling, ...] = ()
        self._folded_by: StreamRules | None = None  # rules of the analysis
        self._assessed: tuple[SignalAnalysis, Thresholds, Viewing | None] | None = None  # inputs of the assessment
        self._restreams = RestreamHistory()
        self._case: EventCase | None = None  # input of the last assessment
        self._viewer: ViewerState | None = None  # newest state of the event's probe
        self._viewing: Viewing | None = None  # rounds of the event's probe

    @property
    def stream_id(self) -> str | None:
        return self.event.stream.id if self.event.stream else None

    @property
    def _run_started_at(self) -> float | None:
        """First sample of the present run (epoch s, server clock); None if unknown."""
        return self._run and self._run.started_at

    @property
    def lag(self) -> float | None:
        """Delivery delay of the event's samples (s); None until it is learnt."""
        return self._delivery.lag(self._thresholds)

    @property
    def event_lag(self) -> float | None:
        """Delivery delay that the event's next stream starts with (s); None if unknown."""
        return self.lag if self.lag is not None else self._event_lag

    @property
    def newest(self) -> Reading | None:
        return self._readings.last

    @property
    def newest_time(self) -> float | None:
        """Time of the newest sample (epoch s, server clock); None without samples."""
        return self._readings.newest_time

    @property
    def is_failing(self) -> bool:
        """True if the last call for samples failed."""
        return self._failing_since is not None

    @property
    def failure(self) -> Failure:
        """Last failure of the event's calls since the last good reply."""
        return self._failure

    @property
    def is_polled(self) -> bool:
        """True if the event needs polls of its samples."""
        return self._is_polled if self.state else self.event.stream is not None

    def was_sending_until(self, at: float) -> bool:
        """Return whether the event was on air with samples until just before `at` (epoch s, server clock)."""
        tally = self.state.phase.tally if self.state else BroadcastState.UNKNOWN
        newest = self.newest_time
        is_on_air = tally in {BroadcastState.ON_AIR, BroadcastState.RECONNECTING}
        return is_on_air and newest is not None and at - newest <= self._thresholds.ended_samples + (self.lag or 0)

    def take_viewer(self, state: ViewerState | None, status: ConnectionStatus) -> None:
        """Take the newest state of the event's probe; None without a probe."""
        self._viewer = state
        self._viewing = update_viewing(self._viewing, state, self.event, status.skew, self._thresholds)

    def witness(self, now: datetime) -> Witness:
        """Return the probe's proof about missing samples at `now` (server time)."""
        return witness(self._viewing, self.newest_time, now, self._thresholds)

    def judge_by(self, thresholds: Thresholds, rulings: tuple[Ruling, ...]) -> None:
        """Use these thresholds and rulings from now on. `thresholds`: with the content that a person chose."""
        self._thresholds, self._rulings = thresholds, rulings

    def read_by(self, unit: UnitVerdict) -> None:
        """Read samples by this unit from now on; `analyse_again` applies it to earlier samples."""
        self._unit = unit

    @property
    def is_outdated(self) -> bool:
        """True if the rules or the unit have changed since the samples were analysed."""
        return bool(len(self._readings)) and (self._is_read_otherwise or self._folded_by != self._rules())

    @property
    def _is_read_otherwise(self) -> bool:
        before, after = self._read_by, self._unit
        return (before.unit, before.is_doubtful) != (after.unit, after.is_doubtful)

    async def analyse_again(self) -> None:
        """Analyse the samples again by the present rules and the present unit."""
        unit = self._unit
        readings = self._read_again(unit) if self._is_read_otherwise else self._readings
        await self._analyse(readings, self._coverage, is_frozen=self._is_frozen)
        self._read_by = unit

    def _read_again(self, after: UnitVerdict) -> Readings:
        """Return the samples in memory, read by another unit.

        Rates from a time of doubt are filled in if the last reply repeats them; others stay missing.
        """
        before, readings = self._read_by, self._readings
        if before.is_doubtful and not after.is_doubtful:
            return series.merge(readings, in_bits(self._answer, after), until=readings.time[-1])
        if before.unit is not after.unit:
            self._analysis, self._folded_by = SignalAnalysis(), None  # the usual rates are in the other unit
            return series.with_rates_times(readings, after.unit.bits / before.unit.bits)
        return readings

    @property
    def has_response(self) -> bool:
        """True if the event's samples were polled, with any result."""
        return bool(self._answered_at or self._error)

    def update_event(self, event: Event, status: ConnectionStatus, at: ClockReading, *, is_listed: bool = True) -> None:
        """Set the event as read at `at`, from a list or by id. Its stream must be the same as before."""
        if _is_live(event) and not _is_live(self.event) and not len(self._readings):
            self._asks, self._empty_at = Asks(), None  # before the stream was live, no sample was due
        self.event, self._listed_at, self._seen_at, self.is_listed = event, at, at, is_listed
        self._update_restreams(status)

    def confirm(self, at: ClockReading) -> None:
        """Note a new sample of an event that the lists lack, as proof that the event still exists."""
        self._seen_at = at

    def standing(self, cadence: Cadence) -> EventStanding:
        """Return the standing of the event, to compare it with a list."""
        tally = self.state.phase.tally if self.state else BroadcastState.UNKNOWN
        if not (tally.expects_signal or tally is BroadcastState.UNKNOWN):
            return EventStanding(Standing.OFF_AIR)
        quiet = max(_MISSED_POLLS * cadence.qos, _MISSED_SAMPLES * (self._analysis.cadence or 0.0))
        return EventStanding(Standing.SENDING if _is_sending(self.state) else Standing.ON_AIR, quiet)

    @property
    def has_sound(self) -> bool:
        """True if this or an earlier stream of the event has had sound."""
        features = self._analysis.features
        return self._had_sound or (features is not None and features.has_sound)

    def preload(self, recorded: Readings, learnt: Learnt | None, before: Learnt | None, had_sound: bool) -> None:
        """Add samples and learnt values that were recorded before this process started.

        Recorded samples count only if the first reply continues them without a gap.

        Args:
            recorded: Recorded samples of the stream.
            learnt: Learnt state of the stream; None without one.
            before: Learnt state of the event's previous stream, for its delivery delay; None without one.
            had_sound: An earlier stream of the event had sound.
        """
        self._had_sound = self._had_sound or had_sound
        if self._answered_at is None:
            self._recorded, self._learnt = recorded, learnt
            if learnt:
                self._delivery = learnt.delivery.resumed()
                self._coverage = learnt.coverage.reaching(recorded.time[-1]) if len(recorded) else learnt.coverage
        if self._event_lag is None and before is not None:
            self._event_lag = before.delivery.lag(self._thresholds)

    def news_learnt(self) -> Learnt | None:
        """Return the learnt state if it has changed since the previous call, else None."""
        learnt_from = self._analysis, self._delivery, self._coverage
        if all(map(is_, learnt_from, self._learnt_from)):
            return None
        self._learnt_from = learnt_from
        point = self._analysis.oldest_checkpoint
        spans = self._coverage.spans
        state = point and point.memory.last_time, self.lag, self._delivery.surprises, [span.since for span in spans]
        if state == self._last_learnt or self._folded_by is None:
            return None
        self._last_learnt = state
        return Learnt.of(self._analysis, self._folded_by, self._delivery, self._coverage)

    async def ingest(
        self,
        payload: QosSamples | ApiError,
        status: ConnectionStatus,
        at: ClockReading,
        dated: Dated,
        *,
        is_part: bool = False,
    ) -> None:
        """Take the result of a call for samples.

        `dated`: times of the request and its reply. `is_part`: the samples are only the newest of the reply.

        A cached reply without a new sample counts as a failure, because it proves nothing about now. Lets other tasks
        run now and then, because an hour of samples takes 0.1 s to analyse.
        """
        sent, until = dated.sent + status.skew, dated.upper(status.skew) + self._thresholds.ahead
        is_cached = dated.is_cached(status.skew)
        if isinstance(payload, ApiError) or (is_cached and not self._has_news(payload, until)):
            self._error = str(payload) if isinstance(payload, ApiError) else _CACHED
            self._failure = seen(payload) if isinstance(payload, ApiError) else Failure(Sight.CACHED)
            self._failing_since = self._failing_since or at
            self._asks = self._asks.after_failure(sent, self._interval)
            return
        if self._is_read_otherwise and len(self._readings):
            await self.analyse_again()
        self._answer, self._read_by = payload, self._unit
        times = series.times_until(payload, until)
        payload = in_bits(payload, self._unit)
        readings = series.merge(self._readings, payload, until=until)
        if not len(readings):
            readings = self._recorded  # the history has samples of this stream, which the platform no longer serves
        self._dated_at = dated.lower(status.skew)
        if len(readings):
            was_frozen, newest_before = self._is_frozen, self.newest_time
            is_frozen = series.is_frozen(payload, self._readings)
            is_proof = not (is_frozen or is_cached)
            coverage = self._covered(sorted(times), self._dated_at, is_proof=is_proof, is_part=is_part)
            await self._analyse(readings, coverage, is_frozen=is_frozen)
            has_news = newest_before is None or readings.time[-1] > newest_before
            self._asks = self._asks.after_answer(sent, self._dated_at, self._interval, has_news=has_news)
            if not is_cached:
                self._learn_delivery(self._dated_at, is_proof=not (was_frozen or self._is_frozen))
            self._presence = self._judge_presence()
        else:
            self._asks = self._asks.after_answer(sent, self._dated_at, self._interval, has_news=False)
            self._empty_at = at if self._asks.are_apart else self._empty_at
        self._answered_at, self._error, self._failing_since, self._failure = at, "", None, NO_FAILURE
        self._future_samples, self._unreadable = len(payload) - len(times), _count_unreadable(payload)
        if len(readings):
            self._update_restreams(status)

    def _covered(self, times: Sequence[float], at: float, *, is_proof: bool, is_part: bool) -> Coverage:
        """Return the coverage after a reply at `at` (epoch s, server time). `times`: of its samples, ascending."""
        readings = self._readings if len(self._readings) else self._recorded
        cadence, lag, started_at = self._analysis.cadence, self.lag, self.event.stream and self.event.stream.started_at
        return self._coverage.after_answer(
            times,
            at,
            newest=readings.time[-1] if len(readings) else -inf,
            lag=max(self._thresholds.delivery_patience, self._others_lag or 0.0) if lag is None else lag,
            started_at=started_at.timestamp() if started_at else None,
            joins=order.hole_limit(cadence, self._thresholds) if cadence else 0.0,
            is_proof=is_proof,
            is_part=is_part,
        )

    async def _analyse(self, readings: Readings, coverage: Coverage, *, is_frozen: bool) -> None:
        """Analyse all samples and store the results. If cancelled, change nothing."""
        if len(self._recorded) and readings is not self._recorded:
            limit = order.silence_limit(series.cadence(readings), self._thresholds)
            readings = series.prepend(self._recorded, readings, limit)
        rules = self._rules()
        if readings is self._readings and rules == self._folded_by:
            self._coverage = coverage
            return
        gap = order.silence_limit(series.cadence(readings), self._thresholds)
        run = series.newest_run(readings, gap, self._run)
        if self._learnt:
            start = self._learnt.analysis(readings, rules)
        else:
            start = still_valid(self._analysis, self._folded_by or rules, rules)
        analysis = start
        while True:
            async with self._turn:
                analysis = detect(analysis, readings, rules, limit=_ANALYSIS_BATCH, coverage=coverage)
                await asyncio.sleep(0)  # under the semaphore, so that no other event is analysed in this pass
            if analysis.readings is readings:
                break
        self._analysis, self._folded_by = analysis, rules
        self._readings, self._learnt = readings, None
        if len(self._recorded):
            self._recorded = Readings()
        self._run, self._is_frozen = run, is_frozen
        self._coverage = coverage
        self._note_not_watched(coverage.gaps(readings.time[0], readings.time[-1]))

    def _note_not_watched(self, gaps: tuple[Span, ...]) -> None:
        if gaps != self._not_watched:
            for gap in gaps:
                if gap not in self._not_watched:
                    _log.warning("not watched", event_id=self.event.id, until=gap.until, seconds=gap.seconds)
            self._not_watched = gaps

    def _rules(self) -> StreamRules:
        """Return the present rules, as the same object while they are unchanged, because that caches derived values."""
        video = self.event.video
        presets = (video.presets if video else None) or ()
        marks = tuple(ruling.time for ruling in self._rulings if isinstance(ruling, UsualMark))
        rules = StreamRules(
            self._thresholds, self._thresholds.floor(presets), marks, not self._unit.is_doubtful, self._had_sound
        )
        return self._folded_by if self._folded_by == rules else rules

    def _has_news(self, payload: QosSamples, until: float) -> bool:
        """Return whether a reply has a new sample that is not later than `until` (epoch s, server time)."""
        newest = -inf if self.newest_time is None else self.newest_time
        return any(newest < time <= until for time in payload.time)

    def _learn_delivery(self, at: float, *, is_proof: bool) -> None:
        """Learn the delivery delay from a reply at `at` (epoch s, server time), and note a false silence.

        A silence was false if late samples fill it without a gap. `is_proof`: False if the samples' time stands still.
        """
        before, newest = self._delivery, self._readings.time[-1]
        is_proof = is_proof and self._analysis.last_hole <= before.newest
        self._delivery = before.after_answer(at, newest, self._thresholds, is_proof=is_proof)
        if newest > before.newest and is_proof and self._is_gone:
            self._false_silence = _FalseSilence(before.newest, at, at - before.newest)

    @property
    def _is_gone(self) -> bool:
        """True if the encoder was proven gone at the last good reply."""
        return self._presence is not None and self._presence.standing is EncoderStanding.GONE

    def _judge_presence(self) -> Presence | None:
        """Return the standing of the encoder at the last good reply; None without such a reply."""
        return self._delivery_judge().judge()

    def _delivery_judge(self) -> DeliveryJudge:
        """Return the input for judging the presence of the encoder. There must be a sample."""
        newest = self._readings.time[-1]
        return DeliveryJudge(
            self._asks,
            self._delivery,
            self._thresholds,
            newest,
            self._coverage.known_since(newest),
            self._interval,
            self._analysis.cadence,
            self._event_lag,
            self._others_lag,
            self._presence,
        )

    def judged(self) -> Judged:
        """Return the input for judging the event now."""
        delivery = self._delivery_judge() if len(self._readings) else None
        return Judged(self._analysis, self._folded_by, self._coverage, self._case, self._thresholds, delivery)

    def _claim_evidence(self, phase: Phase) -> ClaimEvidence | None:
        """Return the evidence that the encoder is lost.

        Returns None while the encoder sends, after the stream has ended, or if the samples' time stands still.
        """
        if phase.ingest.state is IngestState.ENDED:
            return None
        found = self._presence
        if found is None and phase.tally is BroadcastState.ON_AIR and phase.ingest.state is IngestState.NONE:
            return self._no_ingest_evidence(phase.reference_time)
        if found is None or self._is_frozen or found.standing is EncoderStanding.PRESENT:
            return None
        is_gone = found.standing is EncoderStanding.GONE
        decided = None if found.decided_at is None else datetime.fromtimestamp(found.decided_at, UTC)
        count = f"{found.answers} {'reply' if found.answers == 1 else 'replies'}"
        need = "no new sample" if decided is None else f"no new sample until {decided:%H:%M:%S}Z, in 2 replies or more"
        return ClaimEvidence(
            ENCODER_LOST,
            Proof.PROVEN if is_gone else Proof.NOT_YET,
            f"no new sample in {count}, the newest {age(found.age)} old",
            need,
            datetime.fromtimestamp(found.newest, UTC),
            decided,
        )

    def _no_ingest_evidence(self, live_since: datetime | None) -> ClaimEvidence | None:
        """Return the evidence that no encoder has ever sent anything; None before the first good response."""
        asks = self._asks
        if asks.answered is None:
            return None
        first = asks.answered if asks.first is None else asks.first
        due = first + ANSWERS_APART
        if live_since is not None:
            due = max(due, live_since.timestamp() + self._thresholds.warm_up)
        is_proven = asks.are_apart and asks.answered >= due
        count = f"{asks.answers} {'reply' if asks.answers == 1 else 'replies'}"
        at = datetime.fromtimestamp(due, UTC)
        return ClaimEvidence(
            NO_SAMPLE,
            Proof.PROVEN if is_proven else Proof.NOT_YET,
            f"no sample in {count}",
            "no sample" if is_proven else f"no sample in 2 replies or more, the last at {at:%H:%M:%S}Z or later",
            datetime.fromtimestamp(first, UTC),
            None if is_proven else at,
        )

    def _update_restreams(self, status: ConnectionStatus) -> None:
        """Update the faults of restreams from the event as last read."""
        if not self.event.restreams and not self._restreams.intervals:
            return
        listed_at = server_time(status, self._listed_at.wall)
        phase = derive(self.event, self._evidence(), listed_at, self._thresholds)
        is_fresh = self._sample_freshness(listed_at) is Freshness.FRESH
        is_well = is_fresh and phase.tally is BroadcastState.ON_AIR and phase.ingest.state is IngestState.RECEIVING
        on_air_since = (self._run_started_at or self._readings.time[0]) if is_well else None
        self._restreams = restreams.update(
            self._restreams, self.event, listed_at.timestamp(), on_air_since, self._thresholds
        )

    def evaluate(
        self, status: ConnectionStatus, cadence: Cadence, at: ClockReading, others_lag: float | None = None
    ) -> EventState:
        """Return the state of the event at this moment. The assessment is reused if its inputs are unchanged.

        `others_lag`: delivery delay of the platform's other streams (s). It may lengthen the wait for samples until
        this stream's own delay is learnt.
        """
        self._others_lag = others_lag
        before, now = self.state, server_time(status, at.wall)
        phase = derive(self.event, self._evidence(), now, self._thresholds)
        interval = qos_interval(self.event, phase, now, cadence)
        self._is_polled = interval is not None
        self._interval = interval or cadence.qos
        of_answer = series.answer_freshness(_age(self._answered_at, at), interval or cadence.qos, self._thresholds)
        of_samples = self._sample_freshness(now)
        qos = self._qos(series.least_fresh(of_answer, of_samples), is_polled=interval is not None)
        quality = self._quality(of_answer, of_samples, status, qos, now)
        stops = tuple(stop.moved(status.skew) for stop in status.own.stops)
        self._case = case = EventCase(self._analysis, phase, quality, now, self._restreams, stops, self._viewing)
        is_blind = self._is_blind(status, at)
        if is_blind:
            assessment = unknown(phase.tally)
        elif before and self._is_assessed and _is_same_case(before, qos, case, self._thresholds):
            assessment = before.assessment
        else:
            assessment = assess(case, self._thresholds)
            self._assessed = self._analysis, self._thresholds, self._viewing
        is_stale = is_blind or (interval is not None and quality.freshness is Freshness.STALE)
        is_of_link = is_blind or not status.state.is_answering
        cause = (status.blame if is_of_link and status.blame.text else quality.blame) if is_stale else NO_BLAME
        if before and before.assessment is assessment:
            found, pattern = before.episodes, before.pattern
        else:
            found = self._episodes()
            has_fault = bool(found or assessment.findings)
            pattern = (
                patterns.pattern_of(phase, qos.readings, assessment, self._thresholds) if has_fault else Pattern.NONE
            )
        listed_at = self._listed_at.wall
        state = EventState(
            self.event,
            listed_at,
            phase,
            qos,
            assessment,
            is_stale,
            found,
            pattern,
            self.is_listed,
            self._thresholds.content,
            self._rulings,
            self._claim_evidence(phase),
            cause,
            self._viewer,
        )
        self.state = before if before == state else state  # the same object saves readers a comparison
        return self.state

    @property
    def _is_assessed(self) -> bool:
        """True if the last assessment was made from the present analysis, limits and rounds of the probe."""
        if self._assessed is None:
            return False
        analysis, thresholds, viewing = self._assessed
        return analysis is self._analysis and thresholds is self._thresholds and viewing is self._viewing

    def _episodes(self) -> tuple[Episode, ...]:
        found = (*episodes(self._analysis), *restreams.restream_episodes(self._restreams))
        return tuple(sorted(found, key=lambda episode: (episode.since, episode.kind, episode.target))[-MAX_EPISODES:])

    def _quality(
        self, of_answer: Freshness, of_samples: Freshness, status: ConnectionStatus, qos: QosState, now: datetime
    ) -> DataQuality:
        empty = server_time(status, self._empty_at.wall) if self._empty_at else None
        freshness = self._trusted_freshness(of_answer, of_samples)
        quality = DataQuality(
            freshness,
            self._last_news(status),
            self._blame(status) if freshness is Freshness.STALE else NO_BLAME,
            qos.future_samples,
            empty,
            self._delivery.steady_lag(self._thresholds),
            has_unit=not self._read_by.is_doubtful,
        )
        silence = self._false_silence
        if silence is None or now.timestamp() - silence.until > self._thresholds.silence_off:
            return quality
        since = datetime.fromtimestamp(silence.since, UTC)
        return replace(quality, false_silence=since, late_by=silence.seconds)

    def _blame(self, status: ConnectionStatus) -> Blame:
        """Return the nearest cause that explains the missing samples of the event."""
        asked = None if self._asks.asked is None else datetime.fromtimestamp(self._asks.asked - status.skew, UTC)
        facts = Facts(
            own=status.own,
            answered=self._answered_at.wall if self._answered_at else None,
            is_asked_since=asked is not None and whole_since(asked, status.own.stops) == asked,
            failure=self._failure,
            is_of_event=True,
            is_frozen=self._is_frozen,
        )
        return blame(facts)

    def _qos(self, freshness: Freshness, *, is_polled: bool) -> QosState:
        return QosState(
            readings=self._readings,
            as_of=self._answered_at.wall if self._answered_at else None,
            freshness=freshness,
            cadence=self._analysis.cadence,
            lag=self.lag,
            is_overdue=self.lag is not None and (self._delivery.age or 0.0) > self.lag,
            error=self._error,
            future_samples=self._future_samples if is_polled else 0,
            failing_since=self._failing_since.wall if self._failing_since else None,
            unreadable=self._unreadable,
            is_frozen=self._is_frozen,
            failure=self._failure,
            not_watched=self._not_watched,
        )

    def _last_news(self, status: ConnectionStatus) -> datetime | None:
        """Return the time of the last good reply (server time), or of the first failure if no reply was good.

        If the samples' time stands still, this is the time of the newest sample.
        """
        if self._is_frozen and self.newest_time is not None:
            return datetime.fromtimestamp(self.newest_time, UTC)
        at = self._answered_at or self._failing_since
        return server_time(status, at.wall) if at else None

    def _evidence(self) -> IngestEvidence | None:
        if self._answered_at is None:
            return None
        newest, run_started_at = self.newest_time, self._run_started_at
        return IngestEvidence(
            as_of=datetime.fromtimestamp(self._dated_at, UTC),
            newest=None if newest is None else datetime.fromtimestamp(newest, UTC),
            run_started_at=None if run_started_at is None else datetime.fromtimestamp(run_started_at, UTC),
            is_silent=self._is_gone,
            is_undecided=self._is_undecided,
            is_frozen=self._is_frozen,
            silent_since=(None if newest is None else datetime.fromtimestamp(self._coverage.known_since(newest), UTC)),
        )

    @property
    def _is_undecided(self) -> bool:
        """True if the encoder is late or gone, and this process has never seen a sample of the stream arrive."""
        found = self._presence
        return found is not None and found.standing is EncoderStanding.LATE_OR_GONE and not found.has_moved

    def _sample_freshness(self, now: datetime) -> Freshness:
        """Return the freshness of the samples; FRESH without samples, so that only the age of the reply counts."""
        newest = self.newest_time
        if newest is None:
            return Freshness.FRESH
        lag = 0.0 if self._is_frozen else self._delivery.seen_lag or 0.0  # frozen time is no delivery delay
        return series.sample_freshness(now.timestamp() - newest, self._analysis.cadence, self._thresholds, lag)

    def _is_blind(self, status: ConnectionStatus, at: ClockReading) -> bool:
        """Return whether the event was not read for so long that it may have changed."""
        listing = series.answer_freshness(_age(self._seen_at, at), status.interval, self._thresholds)
        return status.state is ConnectionState.BLIND or listing is Freshness.STALE

    def _trusted_freshness(self, of_answer: Freshness, of_samples: Freshness) -> Freshness:
        """Return the freshness for assessing the event.

        It is STALE after failing polls, or if the samples' time stands still, because such samples prove nothing about
        now. If samples have stopped, it is LATE, because the phase reports a stop.
        """
        if self._is_frozen and of_samples is not Freshness.FRESH:
            return Freshness.STALE
        if of_answer is Freshness.STALE or (of_answer is Freshness.NEVER and self._error):
            return Freshness.STALE
        return Freshness.FRESH if of_samples is Freshness.FRESH else Freshness.LATE


_CACHED = "the reply is from a cache: it was made before the request"


def _is_sending(state: EventState | None) -> bool:
    """Return whether the event is on air with a sending encoder, by its last state."""
    return state is not None and state.phase.tally is BroadcastState.ON_AIR and not state.phase.is_silent


def _is_live(event: Event) -> bool:
    return event.stream is not None and event.stream.status == "live"


def _is_finished(stream: Stream) -> bool:
    return stream.status == "finished" or stream.finished_at is not None


def _count_unreadable(samples: QosSamples) -> Mapping[str, int]:
    return {**samples.unreadable, "time": samples.dropped} if samples.dropped else samples.unreadable


def _age(then: ClockReading | None, now: ClockReading) -> float | None:
    return now.monotonic - then.monotonic if then else None


def _is_same_case(before: EventState, qos: QosState, case: EventCase, thresholds: Thresholds) -> bool:
    """Return whether a new assessment of a receiving stream would have the same inputs as the last one."""
    findings = tuple(finding for finding in before.assessment.findings if finding.kind == RESTREAM_KIND.name)
    return (
        before.phase.ingest.state is IngestState.RECEIVING is case.phase.ingest.state
        and before.phase.tally is case.phase.tally
        and before.qos.readings is qos.readings
        and before.qos.freshness is qos.freshness
        and before.qos.future_samples == qos.future_samples
        and before.qos.lag == qos.lag
        and case.quality.false_silence is None
        and not any(finding.kind == RECONNECTING for finding in before.assessment.findings)
        and before.assessment.health.grade is not Grade.STALE
        and findings == tuple(find(RESTREAM_KIND, case, thresholds))
    )


class WorldTracker:
    """Tracker of all events and of the connection.

    Args:
        timings: Live list with the times of the last calls.
        started_at: Start of the monitor.
        limits: Limits for judging events.
        cadence: Usual poll intervals.
        origin: Host of the platform.
        unit_setting: Unit of its bit rates; None to learn it.

    Attributes:
        unit: Verdict on the unit.
        status: Present state of the connection.
        cadence: Poll intervals that the request budget allows.
        unreadable: Number of rows of the last event list that could not be read.
        shortfall: Rows that the last event list announced but lacks; None if it is complete.
        list_doubt: Events that the list lacks without reason, or None.
        part: This process's share of the request budget.
        ended: Events that ended on air in the last minute.
        seconds_ahead: Seconds by which the platform's clock is ahead of the monitor's; None if unknown.
    """

    def __init__(
        self,
        timings: Sequence[ResponseTiming],
        started_at: ClockReading,
        limits: Limits,
        cadence: Cadence,
        *,
        origin: str = "",
        unit_setting: BitrateUnit | None = BitrateUnit.BIT,
    ) -> None:
        self._timings, self._limits, self._rulings, self._base_cadence = timings, limits, Rulings(), cadence
        self._trackers: dict[str, EventTracker] = {}
        self._origin, self._unit_setting, self._unit_evidence = origin, unit_setting, UnitEvidence()
        self.unit = judge_unit(unit_setting, None, self._unit_evidence)
        self._turn = asyncio.Semaphore(1)  # held while samples are analysed
        self._preloaded: dict[str, str] = {}  # event id -> stream whose recorded samples were read
        self._answered_at = started_at.monotonic  # last good reply to any call (monotonic s)
        self._others_lag: float | None = None  # usual delivery delay of the platform (s)
        self.cadence, self.unreadable, self.part = cadence, 0, 1.0
        self.shortfall: Shortfall | None = None
        self.list_doubt: ListDoubt | None = None
        self._doubts = Doubts()
        self._pace = 1.0  # share of the usual pace, by which `cadence` was computed
        self._last_failure: ApiError | None = None  # last failure of any call since the last good reply
        self._unproven: set[_Proof] = set()  # good replies that are still needed after the connection was blind
        self._is_list_wanted = False  # a list is due soon: samples are "not found", or the last list is incomplete
        self._had_whole_list = False  # the last list was whole
        self._list_size = 0  # number of events in the last list
        self._ended_streams: set[StreamKey] = set()  # streams whose end on air was noted
        self.ended: tuple[EndedEvent, ...] = ()
        self.seconds_ahead: float | None = None
        self.status = ConnectionStatus(ConnectionState.CONNECTING, started_at.wall, interval=cadence.events)

    @property
    def states(self) -> tuple[EventState, ...]:
        """States of all events as last evaluated."""
        return tuple(tracker.state for tracker in self._trackers.values() if tracker.state)

    def seconds_to_blind(self, at: ClockReading) -> float:
        """Return the seconds until the deck is blind if no good reply comes."""
        return connection.blind_after(self.status, self._thresholds) - self._silence(at)

    def _silence(self, at: ClockReading) -> float:
        """Return the watched seconds since the last good reply, or since the last stop of this process."""
        answered, stops = at.wall - timedelta(seconds=at.monotonic - self._answered_at), self.status.own.stops
        return watched_seconds(whole_since(answered, stops), at.wall, stops)

    def note_clock_change(self, change: ClockChange) -> None:
        """Note a step of this machine's clock."""
        self.status = replace(self.status, clock_change=change)

    def note_stops(self, stops: tuple[NotWatched, ...]) -> None:
        """Note the stops of this process. Polls that were missed in the newest stop do not count as failures."""
        newest = stops[-1]
        self.status = replace(self.status, own=replace(self.status.own, stops=stops))
        if newest.why is not Why.SLOW:
            self.status = replace(self.status, recovered_at=newest.until)
            self._last_failure = None
        if newest.why in {Why.SLEPT, Why.STOPPED}:
            self.note_clock_change(ClockChange(newest.until, newest.seconds, is_sleep=True, why=newest.why))

    @property
    def expected(self) -> frozenset[str]:
        """Ids of events that only the history has on air, and that are not proven to be gone."""
        return self._doubts.expected - self._trackers.keys()

    def expect(self, event_ids: Iterable[str]) -> None:
        """Expect these events in the event list, because they were on air by the last records of the history."""
        self._doubts.expect(event_ids)

    def expect_end(self, event_id: str) -> None:
        """Note that this user asked to end an event."""
        self._doubts.expect_end(event_id)

    def asks(self, monotonic: float) -> dict[PollKey, PollSpec]:
        """Return the requests by id for events in doubt."""
        return {event_key(key): PollSpec(each, _ASK_RANK) for key, each in self._doubts.asks(monotonic).items()}

    def seconds_to_list(self, monotonic: float) -> float | None:
        """Return the seconds until the next event list while an event is in doubt; None for the usual interval."""
        return SECOND_LOOK if self._is_list_wanted else self._doubts.seconds_to_list(monotonic)

    @property
    def is_list_settled(self) -> bool:
        """True if a second list also lacks each event in doubt."""
        return self._doubts.are_confirmed

    def is_answered(self, event_id: str) -> bool:
        """Return whether a request by id for this event has had a result; True for an event that is not in doubt."""
        return self._doubts.is_answered(event_id)

    def failing_alike(self, failed_share: Callable[[str], float]) -> frozenset[str]:
        """Return the ids of failing events whose failure has a common cause: several events or many other calls fail.

        Only failures with 5xx or without a reply count. `failed_share`: returns the share of such failures among recent
        calls, without the calls of the event with this id.
        """
        failing = [key for key, tracker in self._trackers.items() if is_common(tracker.failure)]
        if len(failing) >= self._thresholds.alike_events:
            return frozenset(failing)
        return frozenset(key for key in failing if failed_share(key) >= self._thresholds.alike_share)

    def has_response(self, event_id: str) -> bool:
        """Return whether a poll of an event's samples has had a result; True for an event that is not tracked."""
        return event_id not in self._trackers or self._trackers[event_id].has_response

    async def preload(self, history: History | HistoryReader, now: datetime) -> None:
        """Add the recorded samples of each new stream."""
        until = server_time(self.status, now).timestamp() + self._thresholds.ahead
        if streams := self._new_streams():
            for event_id, recorded in (await history.recorded(streams, until, newest=series.MAX_SAMPLES)).items():
                self._trackers[event_id].preload(*recorded)

    def news_learnt(self) -> dict[StreamKey, Learnt]:
        """Return stream -> learnt state, for states that have changed since the previous call."""
        return {
            StreamKey(event_id, tracker.stream_id): learnt
            for event_id, tracker in self._trackers.items()
            if tracker.stream_id and (learnt := tracker.news_learnt())
        }

    async def ingest(self, result: PollResult) -> bool:
        """Take the result of a call and evaluate its event. Returns whether a fault is new or worse."""
        at = ClockReading(result.at, result.monotonic)
        skew, moments = self.status.skew, result.moments
        made = at.monotonic - (moments.read + skew - moments.lower(skew))
        if result.key == LIST:
            if isinstance(result.payload, EventList):
                self._note_proof(result.payload, is_list=True)
                self._update_events(result.payload, at, made)
                self.unreadable, self.shortfall = result.payload.unreadable, result.payload.shortfall
                if result.payload.is_bare and not self._trackers:
                    self.shortfall = Shortfall()
            return False
        if isinstance(result.key, ResourceKey):
            self._take_answer(result.key.id, result.payload, at, made)
            return False
        tracker = self._trackers.get(result.key)
        if tracker is None or isinstance(result.payload, EventList | ItemList):
            return False
        self._note_proof(result.payload, is_list=False)
        if isinstance(result.payload, QosSamples):
            self._learn_unit(tracker, result.payload)
        newest, was_failing = tracker.newest_time, tracker.is_failing
        await tracker.ingest(result.payload, self.status, at, moments, is_part=result.is_part)
        self._is_list_wanted |= newest is not None and not was_failing and isinstance(result.payload, NotFound)
        if newest is not None and (tracker.newest_time or newest) > newest and not tracker.is_listed:
            self._doubts.take_sample(result.key, at.monotonic - (moments.read - moments.sent))
            tracker.confirm(at)
        before = tracker.state
        return before is not None and is_worse(before.assessment, self._evaluate(tracker, at).assessment)

    async def evaluate_all(
        self, results: tuple[PollResult, ...], at: ClockReading, measure: LinkMeasure, *, is_urgent: bool = False
    ) -> None:
        """Evaluate the connection and all events after a round. Lets other tasks run now and then.

        `results`: results of the round, which `ingest` has taken; empty if only time has passed. `is_urgent`: evaluate
        events only if the connection has changed or the list came.
        """
        self._answered_at = max(
            [self._answered_at, *(result.monotonic for result in results if self._is_proof(result))]
        )
        shown_for = self._thresholds.ended_told
        self.ended = tuple(ended for ended in self.ended if (at.wall - ended.at).total_seconds() < shown_for)
        self._drop_gone(at)
        self._describe_doubt(at)
        if measure.pace != self._pace:
            self._fit_cadence(measure)
        before, self.status = self.status, self._connect(self._round_result(results, at, measure), at, measure)
        if self.status.state is ConnectionState.BLIND is not before.state:
            self._unproven = set(_Proof)
        if is_urgent and self.status.state is before.state and all(result.key != LIST for result in results):
            return
        self._others_lag = usual_of_platform(tracker.lag for tracker in self._trackers.values())
        for index, tracker in enumerate(tuple(self._trackers.values()), 1):
            self._evaluate(tracker, at)
            if index % _EVALUATION_BATCH == 0:
                await asyncio.sleep(0)
        self._fit_cadence(measure)

    def _fit_cadence(self, measure: LinkMeasure) -> None:
        """Update the poll intervals to the pace that the platform accepts and this machine can keep."""
        base = replace(self._base_cadence, budget=self._base_cadence.budget * self.part)
        round_trip = self.status.round_trip or 0.0
        self.cadence, self._pace = (
            fit_rate_limit(base, self.states, round_trip, measure.pace, measure.capacity),
            measure.pace,
        )

    def _evaluate(self, tracker: EventTracker, at: ClockReading) -> EventState:
        return tracker.evaluate(self.status, self.cadence, at, self._others_lag)

    @property
    def _thresholds(self) -> Thresholds:
        return self._limits.base

    def take_viewers(self, viewers: Mapping[str, ViewerState], at: ClockReading) -> None:
        """Take the newest states of the probe. `viewers`: event id -> state, by the monitor's clock."""
        for event_id, tracker in self._trackers.items():
            tracker.take_viewer(viewers.get(event_id), self.status)
        now = server_time(self.status, at.wall)
        found = {key: self._trackers[key].witness(now) for key in self._doubts.doubted(self._trackers)}
        self._doubts.take_witnesses(found, self._thresholds.viewer_unlisted)

    def find(self, event_id: str) -> EventTracker | None:
        """Return the event's tracker, or None."""
        return self._trackers.get(event_id)

    def judge_by(self, limits: Limits, rulings: Rulings) -> None:
        """Use these limits and rulings from now on; `analyse_outdated` applies them to earlier samples."""
        self._limits, self._rulings = limits, rulings
        self._judge_unit(self._unit_evidence)
        for tracker in self._trackers.values():
            self._pass_on_rules(tracker)

    def contradiction_of(self, unit: BitrateUnit) -> str:
        """Return the reason why the newest rates are implausible in a unit; empty if they are plausible."""
        verdict = judge_unit(None, unit, self._unit_evidence)
        return verdict.question.partition(":")[0] if verdict.is_doubtful else ""

    def _learn_unit(self, tracker: EventTracker, samples: QosSamples) -> None:
        """Learn the unit from a reply, until it is proven to be bit/s."""
        if self.unit.unit is BitrateUnit.KBIT or not self._unit_evidence.proof:
            self._judge_unit(self._unit_evidence.after(tracker.event.id, tracker.stream_id, samples))

    def _judge_unit(self, evidence: UnitEvidence) -> None:
        before, self._unit_evidence = self.unit, evidence
        self.unit = judge_unit(self._unit_setting, self._rulings.unit_of(self._origin), evidence)
        if self.unit != before:
            for tracker in self._trackers.values():
                tracker.read_by(self.unit)
            if self.unit.question != before.question:
                _log.warning("unit of bit rates", question=self.unit.question or "answered", unit=self.unit.unit)

    def _pass_on_rules(self, tracker: EventTracker) -> None:
        """Pass the present rules on to an event. A content that a person chose overrides the settings."""
        event_id, thresholds = tracker.event.id, self._limits.of(tracker.event)
        content = self._rulings.content_of(event_id)
        if content and content is not thresholds.content:
            thresholds = replace(thresholds, content=content)
        tracker.judge_by(thresholds, self._rulings.on(event_id, tracker.stream_id or ""))
        tracker.read_by(self.unit)

    async def analyse_outdated(self, is_due: Callable[[], bool]) -> bool:
        """Analyse the events with changed rules again, one by one, until `is_due` returns True.

        Returns whether all are done.
        """
        for tracker in tuple(self._trackers.values()):
            if tracker.is_outdated:
                if is_due():
                    return False
                await tracker.analyse_again()
        return True

    def _update_events(self, listed: EventList, at: ClockReading, made: float) -> None:
        """Update the events after a list, which was made at `made` (monotonic s) at the earliest.

        An event that the list lacks stays until it is proven gone (`_drop_gone`).
        """
        before, self._trackers = self._trackers, {}
        for event in listed.events:
            self._take_event(event, before.get(event.id), at)
        for event_id in self._doubts.missing(self._trackers, before):
            before[event_id].is_listed = False
            self._trackers[event_id] = before[event_id]
        self._list_size = len(listed.events)
        self._is_list_wanted, self._had_whole_list = self._had_whole_list and not listed.is_whole, listed.is_whole
        ids = frozenset(event.id for event in listed.events)
        if listed.is_whole:
            standings = {event_id: tracker.standing(self.cadence) for event_id, tracker in before.items()}
            self._doubts.take_list(ids, standings, at.monotonic, made)
        else:
            self._doubts.take_part(ids)
        self._judge_unit(self._unit_evidence.only(self._trackers))

    def _take_event(
        self, event: Event, tracker: EventTracker | None, at: ClockReading, *, is_listed: bool = True
    ) -> None:
        """Take an event as read from a list or by id. `tracker`: tracker of the event so far, or None."""
        stream_id = event.stream.id if event.stream else None
        if tracker and (way := self._way_of_end(tracker, event, at)):
            self._note_end(tracker, way, at)
        if tracker is None:  # an event that was gone is served again
            self.ended = tuple(ended for ended in self.ended if ended.id != event.id)
            self._ended_streams.discard(StreamKey(event.id, stream_id or ""))
        if tracker is None or tracker.stream_id != stream_id:
            state, lag, had_sound = (
                (tracker.state, tracker.event_lag, tracker.has_sound) if tracker else (None, None, False)
            )
            tracker = EventTracker(
                event, at, self._thresholds, state, turn=self._turn, event_lag=lag, had_sound=had_sound
            )
            self._pass_on_rules(tracker)
        before = tracker.event
        tracker.update_event(event, self.status, at, is_listed=is_listed)
        if (before.name, before.parent_id) != (event.name, event.parent_id):
            self._pass_on_rules(tracker)  # limits may be set by name or project
        self._trackers[event.id] = tracker

    def _way_of_end(self, tracker: EventTracker, event: Event, at: ClockReading) -> EndWay | None:
        """Return how an event has ended on air, according to its latest reply; None if it has not ended."""
        if not tracker.was_sending_until(server_time(self.status, at.wall).timestamp()):
            return None
        stream = event.stream
        if stream is None:
            return EndWay.STREAM_REMOVED
        if stream.id == tracker.stream_id:
            return EndWay.COMPLETED if _is_finished(stream) else None
        return EndWay.REPLACED if _is_finished(stream) or stream.status == "pending" else None

    def _take_answer(self, event_id: str, payload: object, at: ClockReading, made: float) -> None:
        """Take the result of a request by id, made at `made` (monotonic s). It counts only for an event in doubt."""
        event = payload.items[0] if isinstance(payload, ItemList) and payload.items else None
        is_served = isinstance(event, Event) and event.id == event_id
        is_denied = isinstance(payload, NotFound) and payload.code is not None  # else a proxy may have replied
        answer = Answer.SERVED if is_served else Answer.NOT_FOUND if is_denied else Answer.UNKNOWN
        if self._doubts.take_answer(event_id, answer, made) and is_served and isinstance(event, Event):
            self._take_event(event, self._trackers.get(event_id), at, is_listed=False)

    def _drop_gone(self, at: ClockReading) -> None:
        """Drop the events that are proven to be gone."""
        for event_id, standing in self._doubts.take_gone(at.monotonic).items():
            self._drop(event_id, at, was_sending=standing is Standing.SENDING)

    def drop(self, event_id: str, at: ClockReading) -> None:
        """Drop an event, because the recording that is judged again says that it ended."""
        self._doubts.take_part({event_id})
        tracker = self._trackers.get(event_id)
        self._drop(event_id, at, was_sending=tracker is not None and _is_sending(tracker.state))

    def _drop(self, event_id: str, at: ClockReading, *, was_sending: bool) -> None:
        tracker = self._trackers.pop(event_id, None)
        if tracker and was_sending and not (tracker.event.stream and _is_finished(tracker.event.stream)):
            self._note_end(tracker, EndWay.GONE, at)

    def _describe_doubt(self, at: ClockReading) -> None:
        """Update `list_doubt`."""
        count, kept = self._doubts.count, len(self._doubts.kept(at.monotonic))
        since = self.list_doubt.since if self.list_doubt else at.wall
        self.list_doubt = ListDoubt(since, self._list_size, count, kept, len(self.expected)) if count else None

    def attribute_ends(self, actors: Mapping[str, str], *, otherwise: str | None = "") -> None:
        """Note who ended the events on air, if that is not known yet. `actors`: event id -> person.

        `otherwise`: value for other events: empty if nobody of this history ended them, None if that is unknown.
        """
        self.ended = tuple(
            replace(ended, by=actors.get(ended.id, otherwise)) if ended.by is None else ended for ended in self.ended
        )

    def _note_end(self, tracker: EventTracker, way: EndWay, at: ClockReading) -> None:
        """Note the end of an event, once for each stream."""
        stream = StreamKey(tracker.event.id, tracker.stream_id or "")
        if stream in self._ended_streams:
            return
        self._ended_streams.add(stream)
        name = masked_line(tracker.event.name or tracker.event.id, 60)
        self.ended = (*self.ended, EndedEvent(tracker.event.id, name, _ENDS[way], at.wall, way is EndWay.GONE, way=way))
        _log.warning("an event ended on air", event_id=tracker.event.id, how=way.value)

    def _new_streams(self) -> dict[str, str]:
        """Return event id -> stream id, for running streams that are new since the last call."""
        streams = {
            event_id: stream.id
            for event_id, tracker in self._trackers.items()
            if (stream := tracker.event.stream) and stream.id and stream.finished_at is None
        }
        new = {key: stream_id for key, stream_id in streams.items() if self._preloaded.get(key) != stream_id}
        self._preloaded = streams
        return new

    def _round_result(
        self, results: tuple[PollResult, ...], at: ClockReading, measure: LinkMeasure
    ) -> connection.RoundResult:
        """Return the result of a round of polls, from which the state of the connection is derived."""
        pulse = next((result.payload for result in results if result.key == LIST), None)
        for result in sorted(results, key=lambda result: result.monotonic):
            # A list of another workspace explains "not found".
            if not (isinstance(result.payload, NotFound) and isinstance(self._last_failure, OtherWorkspace)):
                self._last_failure = result.payload if isinstance(result.payload, ApiError) else None
        return connection.RoundResult(
            good=max((result.at for result in results if self._is_proof(result)), default=None),
            listed=isinstance(pulse, EventList),
            failure=pulse if isinstance(pulse, ApiError) else None,
            last_failure=self._last_failure,
            lost_share=measure.lost_share,
            slowed_to=self.cadence.qos if measure.pace < 1.0 else 0.0,
            is_tried=measure.is_tried,
            is_proven=self._is_proven(at),
        )

    def _is_proof(self, result: PollResult) -> bool:
        """Return whether a reply proves that the watched events can be polled.

        While the token shows another workspace, only a list does: rooms and videos are of that workspace, too.
        """
        is_elsewhere = isinstance(self._last_failure, OtherWorkspace)
        return result.is_good and (not is_elsewhere or result.key in {LIST, PROBE})

    def _note_proof(self, payload: object, *, is_list: bool) -> None:
        """Note a good list, or good samples, as proof that the platform is back."""
        if is_list:
            self._unproven.discard(_Proof.LIST)
        elif isinstance(payload, QosSamples):
            self._unproven.discard(_Proof.SAMPLES)

    def _is_proven(self, at: ClockReading) -> bool:
        """Return whether events can be judged again after the connection was blind.

        This needs a good list and good samples. A list is enough if no event is polled, or after `unanswered` seconds.
        """
        checked = (at.wall - self.status.since).total_seconds() if self.status.is_checking else 0.0
        is_polled = any(tracker.is_polled for tracker in self._trackers.values())
        needed = set(_Proof) if is_polled and checked < self._thresholds.unanswered else {_Proof.LIST}
        return not self._unproven & needed

    def _connect(self, outcome: connection.RoundResult, at: ClockReading, measure: LinkMeasure) -> ConnectionStatus:
        before, exchanges = self.status, self._timings
        after = connection.step(replace(before, own=measure.own), outcome, at.wall, self._silence(at), self._thresholds)
        if before.failures == 0 < after.failures:
            _log.warning("platform lost", why=after.reason)
        if after.failures == 0 < before.failures:
            _log.warning("platform back", failed_rounds=before.failures)
        change = after.clock_change
        if change and (at.wall - change.at).total_seconds() >= self._thresholds.clock_told:
            change = None
        after = replace(
            after, clock_offset=measure.clock_offset, clock_change=change, is_clock_doubtful=measure.is_clock_doubtful
        )
        if not exchanges:
            return after
        self.seconds_ahead = connection.seconds_ahead(exchanges, measure.clock_offset)
        skew = connection.skew(exchanges, before.skew, self._thresholds, measure.clock_offset)
        return replace(after, round_trip=exchanges[-1].round_trip, skew=skew)
