"""The faults of a stream, found by folding over its samples in their order (monitoring.md, "Detection").

The same samples give the same faults, whether they came one by one or a hundred at once. Samples that came late are
folded in where they belong: from the last checkpoint before them on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from livedeck.monitor.kinds import ALARM_KINDS, is_normal
from livedeck.monitor.kinds.kind import RECONNECTING, AlarmKind, SampleDetector
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import Episode
from livedeck.monitor.model.thresholds import Hold, Thresholds
from livedeck.monitor.signal import series
from livedeck.monitor.signal.analysis import MAX_EPISODES, Checkpoint, SignalAnalysis, make_episode
from livedeck.monitor.signal.features import Burst, SampleFeatures
from livedeck.monitor.signal.hysteresis import (
    Evidence,
    FaultInterval,
    Level,
    has_cleared,
    on_bad_sample,
    on_other_sample,
)
from livedeck.text.values import age

_CHECKPOINT_SAMPLES, _MAX_CHECKPOINTS = 64, 4
"""Samples between checkpoints, and how many of them are kept: some minutes of lateness are folded in at little cost."""

SAMPLE_KINDS: tuple[tuple[AlarmKind, SampleDetector], ...] = tuple(
    (kind, kind.detector) for kind in ALARM_KINDS.values() if isinstance(kind.detector, SampleDetector)
)


def detect(
    analysis: SignalAnalysis, readings: Readings, thresholds: Thresholds, limit: int | None = None
) -> SignalAnalysis:
    """The analysis of `readings`, of which `analysis` covers a part; where they are the same, `analysis` itself.

    Costs some 30 us a new sample; where some came late, also those since the checkpoint before them. After `limit`
    samples it stops: the result then covers the first of the readings only, and another call goes on from there.
    """
    if readings is analysis.readings:
        return analysis
    changed = series.first_change(analysis.readings, readings)
    checkpoints = [point for point in analysis.checkpoints if point.memory.last_time < changed]
    checkpoints = checkpoints or [analysis.checkpoints[0]]
    fold = _Fold(checkpoints[-1], thresholds)
    start = bisect_right(readings.time, checkpoints[-1].memory.last_time)
    if limit is not None:
        readings = series.head(readings, start + limit)
    for index in range(start, len(readings)):
        fold.add_sample(readings, index)
        if fold.samples % _CHECKPOINT_SAMPLES == 0:
            checkpoints.append(fold.checkpoint())
    end = fold.checkpoint()
    raised = {kind: interval for kind, interval in end.intervals.items() if interval.is_raised}
    kept = _keep(checkpoints, reach_back=len(readings) < series.MAX_SAMPLES)
    if kept[-1].samples != end.samples:
        kept = (*kept, end)
    return SignalAnalysis(readings, raised, end.past, end.features, end.memory.first_time, kept)


def _keep(checkpoints: list[Checkpoint], *, reach_back: bool) -> tuple[Checkpoint, ...]:
    """The newest checkpoints, and the very beginning while the samples still reach back to it."""
    whole = [point for point in checkpoints if point.samples % _CHECKPOINT_SAMPLES == 0]
    start = [point for point in whole if point.samples == 0 and reach_back]
    return (*start, *[point for point in whole if point.samples][-_MAX_CHECKPOINTS:]) or (checkpoints[-1],)


def episodes(analysis: SignalAnalysis) -> tuple[Episode, ...]:
    """Present and past faults, the oldest first."""
    present = [make_episode(kind, interval, None) for kind, interval in analysis.intervals.items()]
    every = sorted((*analysis.past, *present), key=lambda episode: (episode.since, episode.kind))
    return tuple(every[-MAX_EPISODES:])


class _Rule(NamedTuple):
    kind: AlarmKind
    detector: SampleDetector
    hold: Hold


class _Fold:
    """The fold: it starts as a copy of a checkpoint, and takes sample after sample."""

    def __init__(self, start: Checkpoint, thresholds: Thresholds) -> None:
        self.samples = start.samples
        self._thresholds = thresholds
        self._memory, self._intervals = start.memory.copy(), dict(start.intervals)
        self._past, self._features = start.past, start.features
        self._rules = [_Rule(kind, detector, detector.hold_time(thresholds)) for kind, detector in SAMPLE_KINDS]

    def checkpoint(self) -> Checkpoint:
        """The state after the samples so far."""
        return Checkpoint(self._memory.copy(), self._intervals.copy(), self._past, self._features, self.samples)

    def add_sample(self, readings: Readings, index: int) -> None:
        """Judge one sample, which is later than all before it."""
        memory, thresholds = self._memory, self._thresholds
        time, last_time = readings.time[index], memory.last_time
        is_new_run = memory.first_time is None or _was_silent(readings, index, last_time, thresholds)
        if is_new_run:
            self._intervals = {kind: interval for kind, interval in self._intervals.items() if interval.is_raised}
            memory.start_run(time)
        features = memory.add_sample(readings, index, thresholds)
        if is_new_run and last_time > -inf:
            self._on_return(last_time, features)
        self._end_silence(time)
        is_calm = not self._intervals and is_normal(features, thresholds)
        memory.learn(features, set() if is_calm else set(self._step_kinds(features)), thresholds)
        self._features, self.samples = features, self.samples + 1

    def _on_return(self, last_time: float, features: SampleFeatures) -> None:
        """The encoder was away, and is back with this sample."""
        evidence = Evidence(f"no samples for {age(features.time - last_time)}", "the encoder's stream")
        interval = self._intervals.get(RECONNECTING) or FaultInterval(
            last_time, last_time, ALARM_KINDS[RECONNECTING].severity, evidence, is_raised=True
        )
        self._intervals[RECONNECTING] = interval._replace(good_since=features.time, evidence=evidence)

    def _end_silence(self, time: float) -> None:
        interval = self._intervals.get(RECONNECTING)
        if interval and has_cleared(interval, time, self._thresholds.silence_off):
            self._end(RECONNECTING, interval)

    def _step_kinds(self, features: SampleFeatures) -> Iterator[str]:
        """Step every kind; gives the rates that are excluded from the baseline."""
        is_warm = features.time - self._memory.run_start >= self._thresholds.warm_up
        for rule in self._rules:
            level = rule.detector.classify(features, self._thresholds)
            interval = self._intervals.get(rule.kind.name)
            if interval is None and level is not Level.BAD:
                continue
            if level is Level.BAD:
                if interval is not None or is_warm:
                    self._intervals[rule.kind.name] = self._after_bad_sample(rule, interval, features)
            elif interval is not None:
                self._step_other_sample(rule, interval, level, features.time)
            if rule.detector.excluded_from_baseline:
                yield rule.detector.excluded_from_baseline

    def _after_bad_sample(self, rule: _Rule, interval: FaultInterval | None, features: SampleFeatures) -> FaultInterval:
        kind, detector, hold = rule
        evidence = detector.describe(features, self._thresholds)
        if interval is None:
            burst = self._burst(detector)
            since = burst.first if burst else features.time
            interval = FaultInterval(since, features.time, kind.severity, evidence)
        interval = on_bad_sample(interval, features.time, evidence, hold)
        if detector.escalates and detector.escalates(interval, features, self._thresholds):
            interval = interval._replace(severity=kind.escalated_severity)
        return interval

    def _step_other_sample(self, rule: _Rule, interval: FaultInterval, level: Level, time: float) -> None:
        kind, detector, hold = rule
        burst = self._burst(detector)
        after = on_other_sample(interval, level, time, burst.last if burst else time)
        if after is None:
            del self._intervals[kind.name]
        elif level is Level.GOOD and has_cleared(after, time, hold.off):
            self._end(kind.name, after)
            if detector.counted_status is not None:
                self._memory.bursts.pop(detector.counted_status, None)
        else:
            self._intervals[kind.name] = after

    def _burst(self, detector: SampleDetector) -> Burst | None:
        return None if detector.counted_status is None else self._memory.bursts.get(detector.counted_status)

    def _end(self, kind: str, interval: FaultInterval) -> None:
        del self._intervals[kind]
        self._past = (*self._past, make_episode(kind, interval, interval.good_since))[-MAX_EPISODES:]


def _was_silent(readings: Readings, index: int, last_time: float, thresholds: Thresholds) -> bool:
    """Whether the encoder was away before this sample; of the second sample nobody can say."""
    gap = readings.time[index] - last_time
    if gap <= thresholds.late_after:
        return False
    cadence = series.cadence_before(readings, index)
    return cadence is not None and gap > series.late_limit(cadence, thresholds)
