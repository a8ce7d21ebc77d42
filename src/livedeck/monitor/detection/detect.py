"""Detect the faults of a stream by folding over its samples in order (monitoring.md, "Detection").

The same samples give the same faults, whether they arrive singly or a hundred at once. A late sample is judged at its
own time: the fold restarts at the last checkpoint before the sample.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import cached_property
from math import isnan
from typing import NamedTuple

from livedeck.monitor.evidence.coverage import EVERYTHING, Coverage
from livedeck.monitor.kinds import ALARM_KINDS, is_normal
from livedeck.monitor.kinds.delivery import UNKNOWN_DATA
from livedeck.monitor.kinds.kind import RECONNECTING, AlarmKind, DutyRule, SampleDetector
from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode
from livedeck.monitor.model.thresholds import Hold, Thresholds
from livedeck.monitor.signal import series
from livedeck.monitor.signal.analysis import CHECKPOINT_SAMPLES, MAX_EPISODES, Checkpoint, SignalAnalysis, make_episode
from livedeck.monitor.signal.duty import LONG, DutyCycle, Excess
from livedeck.monitor.signal.features import AUDIO, FPS, VIDEO, SampleFeatures
from livedeck.monitor.signal.hysteresis import (
    Evidence,
    FaultInterval,
    Level,
    has_cleared,
    on_bad_sample,
    on_other_sample,
)
from livedeck.monitor.signal.memory import Burst
from livedeck.record import Record
from livedeck.text.values import age, short_duration

_THEN_UNWATCHED = " (then not watched for "
"""Start of the words about unwatched time, added to the evidence of a fault that was raised before that time."""

_AS_WHOLE = 10.0
"""Unwatched seconds of a period above which the evidence of an intermittent fault mentions them."""

_MAX_CHECKPOINTS = 4
"""Maximum number of checkpoints. With several of them, a sample that is minutes late costs little."""

SAMPLE_KINDS: tuple[tuple[AlarmKind, SampleDetector], ...] = tuple(
    (kind, kind.detector) for kind in ALARM_KINDS.values() if isinstance(kind.detector, SampleDetector)
)

_SPOILS = {kind.name: detector.spoils for kind, detector in SAMPLE_KINDS if detector.spoils}
_SPOILT_BY = {VIDEO: frozenset({VIDEO, AUDIO}), AUDIO: frozenset({AUDIO}), FPS: frozenset({FPS})}
"""Rate with a fault -> rates from which nothing is learnt during the fault."""


class _Rule(NamedTuple):
    kind: AlarmKind
    detector: SampleDetector
    hold: Hold


class StreamRules(Record, dict=True):
    """Rules for judging a stream.

    `floor`: lowest video rate (bit/s) that fits the stream's preset; 0 for no floor. `marks`: times (epoch s) when a
    person made the signal the baseline, ascending. `has_unit`: the unit of the bit rates is known, so a missing rate is
    a fault of the platform. `had_sound`: an earlier stream of the event had sound.
    """

    thresholds: Thresholds
    floor: float = 0.0
    marks: tuple[float, ...] = ()
    has_unit: bool = True
    had_sound: bool = False

    @cached_property
    def kinds(self) -> tuple[_Rule, ...]:
        """Alarm kinds that apply to this content, each with its detector and hold."""
        expected = self.thresholds.content.expectations
        return tuple(
            _Rule(kind, detector, detector.hold_time(self.thresholds))
            for kind, detector in SAMPLE_KINDS
            if (detector.expects is None or detector.expects in expected)
            and (self.has_unit or kind.name != UNKNOWN_DATA)
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of `kinds`, and RECONNECTING."""
        return frozenset({RECONNECTING, *(rule.kind.name for rule in self.kinds)})


def still_valid(analysis: SignalAnalysis, before: StreamRules, after: StreamRules) -> SignalAnalysis:
    """Return the part of an analysis that is still valid after a change of the rules.

    If both rules judge its samples alike, the whole analysis is valid. If not, only the oldest checkpoint is, from
    which the samples are judged again.
    """
    if before is after:
        return analysis
    newest = analysis.checkpoints[-1].memory.last_time
    changed = {*before.marks} ^ {*after.marks}
    is_same = replace(before, marks=()) == replace(after, marks=())
    if is_same and all(mark > newest for mark in changed):
        return analysis
    oldest = analysis.checkpoints[0]
    judged = series.head(analysis.readings, bisect_right(analysis.readings.time, oldest.memory.last_time))
    return SignalAnalysis(judged, checkpoints=(oldest,), coverage=analysis.coverage)


def start_of(readings: Readings, first_time: float | None) -> tuple[Checkpoint, ...]:
    """Return a checkpoint before all samples if the samples reach back to the stream's start; empty if they do not.

    `first_time`: time of the stream's first sample (epoch s).
    """
    is_whole = first_time is not None and len(readings) < series.MAX_SAMPLES and readings.time[0] <= first_time
    return SignalAnalysis().checkpoints if is_whole else ()


def detect(
    analysis: SignalAnalysis,
    readings: Readings,
    rules: StreamRules,
    limit: int | None = None,
    coverage: Coverage = EVERYTHING,
) -> SignalAnalysis:
    """Return the analysis of `readings`, continued from `analysis`, which covers a part of them.

    Returns `analysis` itself if the readings are the same. After a late sample, all samples since the checkpoint before
    it are judged again.

    Args:
        analysis: Result of an earlier call, or an empty analysis.
        readings: All samples of the stream in memory.
        rules: Rules for judging the stream.
        limit: Maximum number of samples to judge; the result then covers only the first readings, and another call
            continues. None for all.
        coverage: Coverage of the stream; a gap between samples counts as silence only in covered time.
    """
    if readings is analysis.readings:
        return analysis
    newest = analysis.checkpoints[-1].memory.last_time
    changed = min(
        series.first_change(analysis.readings, readings), coverage.first_change(analysis.coverage, until=newest)
    )
    checkpoints = [point for point in analysis.checkpoints if point.memory.last_time < changed]
    checkpoints = checkpoints or [analysis.checkpoints[0]]
    fold = _Fold(checkpoints[-1], rules, coverage)
    start = bisect_right(readings.time, checkpoints[-1].memory.last_time)
    if limit is not None:
        readings = series.head(readings, start + limit)
    count = len(readings)
    for index in range(start, count):
        fold.add_sample(readings, index)
        if fold.samples % CHECKPOINT_SAMPLES == 0:
            checkpoints.append(fold.checkpoint())
    end = fold.end()
    raised = {kind: interval for kind, interval in end.intervals.items() if interval.is_raised}
    kept = _keep(checkpoints, reach_back=count < series.MAX_SAMPLES)
    if kept[-1].samples != end.samples:
        kept = (*kept, end)
    return SignalAnalysis(readings, raised, end.past, end.features, end.memory.first_time, kept, coverage)


def _keep(checkpoints: list[Checkpoint], *, reach_back: bool) -> tuple[Checkpoint, ...]:
    """Return the newest checkpoints.

    `reach_back`: the samples reach back to the stream's start, so keep the checkpoint before all samples too.
    """
    whole = [point for point in checkpoints if point.is_kept]
    start, later = ([], whole) if not whole or whole[0].samples else (whole[:1], whole[1:])
    return (*(start if reach_back else []), *later[-_MAX_CHECKPOINTS:]) or (checkpoints[-1],)


def raised_by(
    analysis: SignalAnalysis, coming: Readings, rules: StreamRules, coverage: Coverage, wanted: str = ""
) -> dict[str, int]:
    """Return kind -> number of the `coming` samples after which the fold raises a fault that is not present now.

    `coming`: samples that follow those of `analysis`. `coverage`: coverage of the stream up to the last of these
    samples. `wanted`: the only kind to return; empty for all kinds.
    """
    fold = _Fold(analysis.checkpoints[-1], rules, coverage)
    found: dict[str, int] = dict.fromkeys(fold.raised, 0)
    for index in range(len(coming)):
        if wanted in found:
            break
        fold.add_sample(coming, index)
        for kind in fold.raised:
            found.setdefault(kind, index + 1)
    return {kind: count for kind, count in found.items() if count and wanted in {"", kind}}


def episodes(analysis: SignalAnalysis) -> tuple[Episode, ...]:
    """Return the present and past faults of an analysis, oldest first."""
    present = [make_episode(kind, interval, None) for kind, interval in analysis.intervals.items()]
    every = sorted((*analysis.past, *present), key=lambda episode: (episode.since, episode.kind))
    return tuple(every[-MAX_EPISODES:])


class _Fold:
    """Fold over samples in order, from a copy of a checkpoint on."""

    def __init__(self, start: Checkpoint, rules: StreamRules, coverage: Coverage) -> None:
        self.samples = start.samples
        self._stream, self._thresholds, self._coverage = rules, rules.thresholds, coverage
        self._rules, kinds = rules.kinds, rules.names
        self._memory = start.memory.copy()
        self._intervals = {kind: interval for kind, interval in start.intervals.items() if kind in kinds}
        self._cycles = {kind: cycle.copy() for kind, cycle in start.cycles.items() if kind in kinds}
        self._past, self._features = start.past, start.features

    def checkpoint(self) -> Checkpoint:
        """Return a copy of the state after the samples so far."""
        cycles = {kind: cycle.copy() for kind, cycle in self._cycles.items()}
        return self.end()._replace(memory=self._memory.copy(), intervals=self._intervals.copy(), cycles=cycles)

    def end(self) -> Checkpoint:
        """Return the state after the last sample, without a copy; add no more samples after this call."""
        return Checkpoint(self._memory, self._intervals, self._cycles, self._past, self._features, self.samples)

    @property
    def raised(self) -> tuple[str, ...]:
        """Kinds with a raised fault."""
        return tuple(kind for kind, interval in self._intervals.items() if interval.is_raised)

    def add_sample(self, readings: Readings, index: int) -> None:
        """Judge the next sample, which must be later than all samples before."""
        memory, thresholds = self._memory, self._thresholds
        time, last_time = readings.time[index], memory.last_time
        is_first = memory.first_time is None
        if self._stream.marks and not is_first and any(last_time < mark <= time for mark in self._stream.marks):
            self._take_as_usual()
        step = memory.step_to(time, thresholds, self._coverage)
        if step.is_silence or step.unwatched:
            self._intervals = {kind: interval for kind, interval in self._intervals.items() if interval.is_raised}
        if memory.levels.usual.is_slot_over(time, memory.order.cadence, thresholds):
            memory.close_slot(time, self._spoilt(), self._stream.floor, thresholds)
        if step.unwatched:
            self._skip(step.unwatched, time)
        features = memory.add_sample(
            readings, index, step, thresholds, self._coverage, had_sound=self._stream.had_sound
        )
        if step.is_silence:
            self._on_return(last_time, features)
        if self._intervals:
            self._end_silence(time)
        if features.change:
            self._end_settled(features.change.rate, time)
        is_calm = not self._intervals and not self._cycles and is_normal(features, thresholds)
        if not is_calm:
            self._step_kinds(features)
        self._features, self.samples = features, self.samples + 1

    def _spoilt(self) -> frozenset[str]:
        """Return the rates from which nothing is learnt now, because a fault affects them."""
        spoilt: frozenset[str] = frozenset()
        for kind, interval in self._intervals.items():
            if interval.is_raised and kind in _SPOILS:
                spoilt |= _SPOILT_BY[_SPOILS[kind]]
        return spoilt

    def _take_as_usual(self) -> None:
        self._memory.take_as_usual(self._thresholds)
        for rate in (VIDEO, FPS):
            self._end_settled(rate, self._memory.last_time)
        for kind in [kind for kind in self._cycles if _SPOILS.get(kind) in {VIDEO, FPS}]:
            del self._cycles[kind]

    def _end_settled(self, rate: str, time: float) -> None:
        """Clear the faults of a rate, because its present level is now the usual level."""
        for kind in [kind for kind in self._intervals if _SPOILS.get(kind) == rate]:
            interval = self._intervals[kind]
            if not interval.is_raised:
                del self._intervals[kind]
            elif not self._is_cycling(kind):
                self._end(kind, interval._replace(good_since=time))

    def _skip(self, seconds: float, time: float) -> None:
        """Skip unwatched seconds: raised faults stay, and only samples from `time` on can clear them."""
        for kind, interval in self._intervals.items():
            actual, expected = interval.evidence
            marked = f"{actual.partition(_THEN_UNWATCHED)[0]}{_THEN_UNWATCHED}{age(seconds)})"
            good_since = time if kind == RECONNECTING else None
            self._intervals[kind] = interval._replace(evidence=Evidence(marked, expected), good_since=good_since)
        for cycle in self._cycles.values():
            cycle.skip(seconds)

    def _on_return(self, last_time: float, features: SampleFeatures) -> None:
        """Record the watched part of the encoder's absence, which ends with this sample, as RECONNECTING."""
        absence = max(self._coverage.pieces(last_time, features.time), key=lambda piece: piece.seconds)
        words, since = f"no samples for {age(features.time - last_time)}", last_time
        if features.step.unwatched:
            is_seen_first = absence.since == last_time
            when, since = ("after", last_time) if is_seen_first else ("before", absence.since)
            words = f"no samples for at least {age(absence.seconds)} (not watched {when})"
        evidence = Evidence(words, "the encoder's stream")
        interval = self._intervals.get(RECONNECTING) or FaultInterval(
            since, since, ALARM_KINDS[RECONNECTING].severity, evidence, is_raised=True
        )
        self._intervals[RECONNECTING] = interval._replace(good_since=features.time, evidence=evidence)

    def _end_silence(self, time: float) -> None:
        interval = self._intervals.get(RECONNECTING)
        if interval and has_cleared(interval, time, self._thresholds.silence_off):
            self._end(RECONNECTING, interval)

    def _step_kinds(self, features: SampleFeatures) -> None:
        for rule in self._rules:
            self._step_duty(rule, features)
            level = rule.detector.classify(features, self._thresholds)
            interval = self._intervals.get(rule.kind.name)
            if level is Level.BAD:
                if interval is not None or features.is_warm:
                    self._step_bad_sample(rule, interval, features)
            elif interval is not None:
                self._step_other_sample(rule, interval, level, features)
            if rule.kind.name in self._cycles:
                self._raise_cycle(rule, features)

    def _step_duty(self, rule: _Rule, features: SampleFeatures) -> None:
        duty, kind = rule.detector.duty, rule.kind.name
        if duty is None or not (features.is_warm or duty.counts_warm_up):
            return
        cycle, seconds = self._cycles.get(kind), duty.bad_seconds(features, self._thresholds)
        if isnan(seconds) or (cycle is None and not seconds):
            return
        if cycle is None:
            cycle = self._cycles[kind] = DutyCycle()
        if not seconds:
            cycle.add_good(features.time)
            if cycle.is_forgotten:
                del self._cycles[kind]
            return
        if duty.is_spell:
            cycle.was_bad = False
        cycle.add_bad(features.time, seconds, duty.limits_of(self._thresholds))

    def _is_cycling(self, kind: str) -> bool:
        return kind in self._cycles and self._cycles[kind].is_raised

    def _raise_cycle(self, rule: _Rule, features: SampleFeatures) -> None:
        """Raise the fault of a duty cycle; it stays raised between its spells."""
        kind, detector = rule.kind.name, rule.detector
        cycle, interval = self._cycles[kind], self._intervals.get(kind)
        if not cycle.is_raised or detector.duty is None:
            return
        is_critical = cycle.seconds >= detector.duty.limits_of(self._thresholds).critical
        severity = Severity.CRITICAL if is_critical else Severity.WARNING
        if excess := cycle.excess(features.time, detector.duty.limits_of(self._thresholds)):
            watched = self._coverage.seconds(features.time - excess.period, features.time)
            cycle.evidence = _duty_evidence(detector.duty, cycle, excess, watched)
        evidence = cycle.evidence or detector.describe(features, self._thresholds)
        interval = interval or FaultInterval(cycle.since, cycle.since, severity, evidence)
        severity = (
            min(interval.severity, severity, key=lambda severity: severity.rank) if interval.is_raised else severity
        )
        since = interval.since if interval.is_raised else cycle.since
        good_since = None if cycle.was_bad else interval.good_since or features.time
        self._intervals[kind] = interval._replace(
            since=since, is_raised=True, severity=severity, evidence=evidence, good_since=good_since
        )

    def _step_bad_sample(self, rule: _Rule, interval: FaultInterval | None, features: SampleFeatures) -> None:
        kind, detector, hold = rule
        evidence = detector.describe(features, self._thresholds)
        if interval is None:
            interval = FaultInterval(self._since(detector, features), features.time, kind.severity, evidence)
        was_raised = interval.is_raised
        if was_raised and not interval.samples:
            interval = interval._replace(pending_since=features.time)
        after = on_bad_sample(interval, features.time, evidence, hold)
        if detector.is_proven and detector.is_proven(features):
            after = after._replace(is_raised=True)
        severity = detector.severity(after, features, self._thresholds) if detector.severity else kind.severity
        is_held = after.samples >= hold.samples and features.time - after.pending_since >= hold.seconds
        if was_raised and (severity.rank > after.severity.rank or not is_held):
            severity = after.severity
        self._intervals[kind.name] = after._replace(severity=severity)

    def _since(self, detector: SampleDetector, features: SampleFeatures) -> float:
        burst = self._burst(detector)
        if burst:
            return burst.first
        return detector.began(features, self._thresholds) if detector.began else features.time

    def _step_other_sample(self, rule: _Rule, interval: FaultInterval, level: Level, features: SampleFeatures) -> None:
        kind, detector, hold = rule
        burst = self._burst(detector)
        time = features.time
        after = on_other_sample(interval, level, time, burst.last if burst else time)
        if after is None:
            del self._intervals[kind.name]
        elif level is Level.GOOD and has_cleared(after, time, hold.off) and not self._is_cycling(kind.name):
            self._end(kind.name, after)
            if detector.counted_status is not None:
                self._memory.end_burst(detector.counted_status)
        else:
            self._intervals[kind.name] = after._replace(samples=0)

    def _burst(self, detector: SampleDetector) -> Burst | None:
        return None if detector.counted_status is None else self._memory.bursts.get(detector.counted_status)

    def _end(self, kind: str, interval: FaultInterval) -> None:
        del self._intervals[kind]
        self._past = (*self._past, make_episode(kind, interval, interval.good_since))[-MAX_EPISODES:]


def _duty_evidence(duty: DutyRule, cycle: DutyCycle, excess: Excess, watched: float) -> Evidence:
    """Return the share of bad time and the limit that it breaks, for the period of `excess`.

    For example: `no audio in 13 % of the last 10 min (4 s in every 30 s)` and `under 3.3 %`. `watched`: watched seconds
    of that period.
    """
    begun = max(cycle.since, cycle.last - excess.period)
    span, spells = max(1.0, cycle.last - begun), max(1, excess.spells)
    often = f" ({age(excess.seconds / spells)} in every {age(span / (spells - 1))})" if spells > 1 else ""
    last = "last 10 min" if excess.period == LONG else "last 60 s"
    base = last if watched > excess.period - _AS_WHOLE else f"{short_duration(watched)} watched"
    share, limit = (min(100.0, 100 * seconds / max(1.0, watched)) for seconds in (excess.seconds, excess.limit))
    return Evidence(f"{duty.words} in {_percent(share)} of the {base}{often}", f"under {_percent(limit)}")


def _percent(share: float) -> str:
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
