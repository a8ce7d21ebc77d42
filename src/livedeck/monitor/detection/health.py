"""Health of one event: score from 0 to 100, lowest component and findings (monitoring.md, "Health"). Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from livedeck.monitor.detection.detect import SAMPLE_KINDS
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.audio import low_audio_limit
from livedeck.monitor.kinds.kind import AlarmKind, EventCase, EventDetector
from livedeck.monitor.kinds.video import low_video_limit
from livedeck.monitor.kinds.viewer import VIEWER_KINDS, VIEWER_RULES
from livedeck.monitor.model.alarm import Severity
from livedeck.monitor.model.blame import Blame
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import (
    BroadcastState,
    Component,
    EventState,
    Finding,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    IngestState,
)
from livedeck.monitor.model.thresholds import Curve, Expectation, Thresholds
from livedeck.monitor.signal.analysis import DataQuality, SignalAnalysis
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS
from livedeck.monitor.signal.series import mean_measured, missing_fields, peak_count
from livedeck.monitor.signal.usual import Usual
from livedeck.text.values import bits, frames

_EVENT_KINDS = tuple(kind for kind in ALARM_KINDS.values() if not kind.is_of_deck and kind.name not in VIEWER_RULES)

_NEVER_ASSESSED = frozenset({BroadcastState.DRAFT, BroadcastState.COMPLETED})

_SCORED_KINDS = sorted(
    (kind for kind, _ in SAMPLE_KINDS if kind.component is not Component.NONE),
    key=lambda kind: list(Component).index(kind.component),
)


def assess(case: EventCase, thresholds: Thresholds) -> HealthAssessment:
    """Return the health and the findings of an event.

    An event has a score only on air, with trusted samples and a measured video rate. The grade is STALE while polling
    fails, and NO DATA while the encoder sends nothing.
    """
    findings = _find_all(case, thresholds)
    if case.is_off_air:
        return HealthAssessment(findings=findings)
    if case.is_stale:
        return HealthAssessment(Health(grade=Grade.STALE), findings)
    if case.phase.ingest.state is not IngestState.RECEIVING:
        is_warming_up = case.phase.ingest.state is IngestState.WARMING_UP
        return HealthAssessment(Health(grade=Grade.WARM_UP if is_warming_up else Grade.NO_DATA), findings)
    usual = case.analysis.usual
    features = case.analysis.features
    limit = None if usual.video is None or features is None else low_video_limit(features, thresholds)
    health = _measure_health(case.analysis, case.quality, thresholds)
    return HealthAssessment(health, findings, usual.fps, usual.video, limit)


def is_worse(before: HealthAssessment, after: HealthAssessment) -> bool:
    """Return whether a finding in `after` is new or worse than in `before`."""
    severities = {(finding.kind, finding.target): finding.severity for finding in before.findings}
    for finding in after.findings:
        severity = severities.get((finding.kind, finding.target))
        if severity is None or finding.severity.rank < severity.rank:
            return True
    return False


def find(kind: AlarmKind, case: EventCase, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield the findings of a kind on an event. Kinds that judge samples give none unless `case.is_judged`."""
    if isinstance(kind.detector, EventDetector):
        yield from map(kind.finding, kind.detector.observe(case, thresholds))
    elif case.is_judged and (interval := case.analysis.intervals.get(kind.name)):
        since = datetime.fromtimestamp(interval.since, UTC)
        yield Finding(kind.name, interval.severity, *interval.evidence, since)


def unknown(tally: BroadcastState) -> HealthAssessment:
    """Return the assessment of an event that was not polled lately: no score and no findings."""
    return HealthAssessment(Health(grade=Grade.NONE if tally in _NEVER_ASSESSED else Grade.STALE))


def unseen(state: EventState, cause: Blame) -> EventState:
    """Return the last state of an event, marked as stale for that cause."""
    freshness = Freshness.NEVER if state.qos.freshness is Freshness.NEVER else Freshness.STALE
    qos = replace(state.qos, freshness=freshness)
    return replace(state, qos=qos, assessment=unknown(state.phase.tally), is_stale=True, blame=cause)


def _find_all(case: EventCase, thresholds: Thresholds) -> tuple[Finding, ...]:
    """Return all findings, most severe first. A fault that was present when samples stopped stays a finding."""
    kinds = (*_EVENT_KINDS, *VIEWER_KINDS) if case.viewer else _EVENT_KINDS
    findings = (finding for kind in kinds for finding in find(kind, case, thresholds))
    return tuple(sorted(findings, key=lambda finding: finding.severity.rank))


class _Score(NamedTuple):
    score: int
    component: Component
    detail: str


def _measure_health(analysis: SignalAnalysis, quality: DataQuality, thresholds: Thresholds) -> Health:
    readings = analysis.readings
    missing = missing_fields(readings, thresholds.window)
    is_late = quality.freshness is Freshness.LATE
    late = [_Score(thresholds.late_score, Component.LATE, "samples late")] if is_late else []
    detail = f"{', '.join(missing)} missing" if quality.has_unit else "unit of the bit rates not known"
    unknown = [_Score(thresholds.unknown_score, Component.UNKNOWN, detail)] if missing else []
    measured = [*_score_rates(analysis, thresholds), *_score_delivery(readings, thresholds)]
    lowest = min([*measured, *late, *unknown, *_score_faults(analysis, thresholds)], key=lambda score: score.score)
    if "video" in missing and lowest.score >= thresholds.fair:  # without a video rate only a poor score is certain
        return Health(None, Grade.NO_DATA, Component.UNKNOWN, detail)
    if lowest.score == 100:
        return Health(100, Grade.GOOD)
    evidence = _worst_evidence(analysis, lowest.component) or lowest.detail
    return Health(lowest.score, _grade(lowest.score, thresholds), lowest.component, evidence)


def _worst_evidence(analysis: SignalAnalysis, component: Component) -> str:
    """Return the value in the evidence of a component's worst fault; empty without a fault above INFO.

    The score shows the same value as the alarm.
    """
    kinds = (kind.name for kind in _SCORED_KINDS if kind.component is component)
    faults = [interval for kind in kinds if (interval := analysis.intervals.get(kind))]
    worst = min(faults, key=lambda interval: interval.severity.rank, default=None)
    return worst.evidence.actual if worst and worst.severity is not Severity.INFO else ""


def _score_faults(analysis: SignalAnalysis, thresholds: Thresholds) -> Iterator[_Score]:
    """Yield a low score for each present fault and for an unknown status, even if the newest samples are good."""
    for kind in _SCORED_KINDS:
        interval = analysis.intervals.get(kind.name)
        if interval is None:
            continue
        if kind.component is Component.UNKNOWN:
            yield _Score(thresholds.unknown_score, kind.component, interval.evidence.actual)
        elif interval.severity is not Severity.INFO:
            yield _Score(thresholds.fault_score, kind.component, interval.evidence.actual)


def _grade(score: int, thresholds: Thresholds) -> Grade:
    if score >= thresholds.good:
        return Grade.GOOD
    return Grade.FAIR if score >= thresholds.fair else Grade.POOR


class _Rate(NamedTuple):
    """Measured rate: mean of the newest seconds, and the newest sample."""

    mean: float
    newest: float

    @property
    def shown(self) -> float:
        """Value to show beside the score: 0 if the newest sample is 0, because the mean would hide it."""
        return self.mean if self.newest else 0.0


def _score_rates(analysis: SignalAnalysis, thresholds: Thresholds) -> Iterator[_Score]:
    """Yield the scores of video, audio and frame rate, each if it is measured and the content has it.

    A low video rate costs points only during a shortage, because a still picture needs few bits.
    """
    readings, usual, expected = analysis.readings, analysis.usual, thresholds.content.expectations
    start = bisect_left(readings.time, readings.time[-1] - thresholds.window) if readings.time else 0
    video, audio, fps = (_rate(column, start) for column in (readings.video, readings.audio, readings.fps))
    if video and Expectation.PICTURE in expected:
        needed = usual.video if analysis.features and analysis.features.is_shortage else None
        of_usual = f"/{bits(usual.video)}" if usual.video else ""
        score = _score_rate(video, needed, thresholds.dark_video, thresholds.video_curve)
        yield _Score(score, Component.VIDEO, f"video {bits(video.shown)}{of_usual}")
    if audio and Expectation.SOUND in expected:
        yield _Score(_score_audio(audio, usual, thresholds), Component.AUDIO, f"audio {bits(audio.shown)}")
    if fps and Expectation.FRAMES in expected:
        nominal = (
            None if usual.is_variable_fps or (analysis.features and analysis.features.is_fps_pending) else usual.fps
        )
        of_nominal = f"/{nominal:.0f}" if nominal else ""
        score = _score_rate(fps, nominal, thresholds.dark_fps, thresholds.fps_curve)
        yield _Score(score, Component.FPS, f"fps {frames(fps.shown)}{of_nominal}")


def _rate(column: array[float], start: int) -> _Rate | None:
    mean = mean_measured(column[start:])
    if mean is None:
        return None
    newest = mean_measured(column[-1:])
    return _Rate(mean, mean if newest is None else newest)


def _score_rate(rate: _Rate, usual: float | None, dark: float, curve: Curve) -> int:
    if rate.newest < dark:
        return 0
    return round(_interpolate(curve, rate.mean / usual)) if usual else 100


def _score_audio(audio: _Rate, usual: Usual, thresholds: Thresholds) -> int:
    if audio.newest == 0:
        return 0
    limit = low_audio_limit(usual.audio, thresholds) if usual.audio and usual.is_witness else 0.0
    return 100 if audio.mean >= limit else thresholds.low_audio_score


def _interpolate(curve: Curve, ratio: float) -> float:
    for (low, under), (high, over) in pairwise(curve):
        if ratio < high:
            return under + (over - under) * (ratio - low) / (high - low)
    return curve[-1][1]


def _score_delivery(readings: Readings, thresholds: Thresholds) -> Iterator[_Score]:
    """Yield the scores of key frames and packet loss, by the number of recent samples with such a status."""
    rows = (
        (KEY_DRIFT, thresholds.drift_share.window, thresholds.drift_scores, Component.KEY, "key>20%"),
        (KEY_SEVERE, thresholds.severe_share.window, thresholds.severe_scores, Component.KEY, "key>50%"),
        (LOSS, thresholds.loss_share.window, thresholds.loss_scores, Component.LOSS, "loss"),
    )
    for status, window, scores, component, word in rows:
        hits = peak_count(readings, status, window, thresholds.memory)
        yield _Score(scores[min(hits, len(scores) - 1)], component, f"{word} in {hits} of {window} samples")
