"""The health of one event: 0 to 100, and the component that lost (monitoring.md, "Three axes per event"). Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from livedeck.monitor.detection.detect import SignalAnalysis
from livedeck.monitor.kinds import ingest
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import (
    BroadcastState,
    Finding,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    IngestState,
    Phase,
    Severity,
)
from livedeck.monitor.model.thresholds import Curve, Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS
from livedeck.monitor.signal.series import known_mean, missing, occurrences
from livedeck.text.values import bits, frames

_DEFAULTS = Thresholds()

_OFF_AIR = frozenset({BroadcastState.DRAFT, BroadcastState.SCHEDULED, BroadcastState.LATE, BroadcastState.COMPLETED})


_AXES = {
    "BLACKOUT": "video",
    "VIDEO_STARVED": "video",
    "VIDEO_LOW": "video",
    "BITRATE_UNSTABLE": "video",
    "FPS_COLLAPSE": "fps",
    "FPS_LOW": "fps",
    "AUDIO_LOST": "audio",
    "AUDIO_LOW": "audio",
    "AUDIO_HIGH": "audio",
    "KEYFRAME_SEVERE": "key",
    "KEYFRAME_DRIFT": "key",
    "PACKET_LOSS": "loss",
}

"""The component that each kind belongs to."""


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How far the last answer may be believed: STALE where we cannot ask or its time stands still, LATE where its
    samples are.

    `since`: the last good answer, or the first failure where there was none (server time). `error`: why the last try
    failed, or empty. `ahead`: how many of its samples were left out, being dated in the future. `empty`: the last
    good answer without any sample (server time).
    """

    freshness: Freshness = Freshness.FRESH
    since: datetime | None = None
    error: str = ""
    ahead: int = 0
    empty: datetime | None = None


def assess(
    known: SignalAnalysis,
    phase: Phase,
    trust: DataQuality,
    now: datetime,
    *,
    thresholds: Thresholds = _DEFAULTS,
    besides: tuple[Finding, ...] = (),
) -> HealthAssessment:
    """The verdict on an event at `now` (server time). `besides`: what is wrong that no sample tells.

    Only believed samples of an event on air get a score, and only where they tell of a picture; while we cannot ask it
    is STALE, and where the encoder sends nothing NO DATA.
    """
    future = ingest.of_future(trust.ahead)
    if phase.tally in _OFF_AIR:
        return HealthAssessment(findings=(*ingest.late_start_finding(phase, now, thresholds), *future))
    if trust.freshness is Freshness.STALE:
        return HealthAssessment(Health(grade=Grade.STALE), (ingest.stale_finding(trust.error, trust.since),))
    silence = ingest.silence_finding(known, phase, trust.since or now, trust.empty, thresholds)
    found = (*silence, *ingest.of_samples(known), *besides, *future)
    if phase.ingest.state is not IngestState.RECEIVING:
        warming = phase.ingest.state is IngestState.WARMING_UP
        return HealthAssessment(Health(grade=Grade.WARM_UP if warming else Grade.NO_DATA), found)
    normal = known.usual
    limit = None if normal.video is None else normal.video * thresholds.low_video
    return HealthAssessment(_health(known, trust.freshness, thresholds), found, normal.fps, normal.video, limit)


class _Component(NamedTuple):
    score: int
    name: str
    detail: str


def _health(known: SignalAnalysis, freshness: Freshness, thresholds: Thresholds) -> Health:
    readings = known.readings
    absent = missing(readings, thresholds.window)
    late = [_Component(thresholds.late_score, "late", "samples late")] if freshness is Freshness.LATE else []
    unknown = [_Component(thresholds.unknown_score, "unknown", f"{', '.join(absent)} missing")] if absent else []
    measured = [*_measured(known, thresholds), *_delivery(readings, thresholds)]
    components = [*measured, *late, *unknown, *_standing(known, thresholds)]
    lost = min(components, key=lambda component: component.score)
    if "video" in absent and lost.score >= thresholds.fair:  # what is known to be bad is said, but nothing better
        return Health(None, Grade.NO_DATA, unknown[0].name, unknown[0].detail)
    if lost.score == 100:
        return Health(100, Grade.GOOD)
    return Health(lost.score, _grade(lost.score, thresholds), lost.name, lost.detail)


def _standing(known: SignalAnalysis, thresholds: Thresholds) -> Iterator[_Component]:
    """A fault that is not over yet, whatever the newest samples say. A status that nobody knows is not green either."""
    strange = known.spells.get("UNKNOWN_STATUS")
    if strange:
        yield _Component(thresholds.unknown_score, "unknown", strange.words[0])
    for kind, axis in _AXES.items():
        spell = known.spells.get(kind)
        if spell and spell.severity is not Severity.INFO:
            yield _Component(thresholds.fault_score, axis, spell.words[0])


def _grade(score: int, thresholds: Thresholds) -> Grade:
    if score >= thresholds.good:
        return Grade.GOOD
    return Grade.FAIR if score >= thresholds.fair else Grade.POOR


def _measured(known: SignalAnalysis, thresholds: Thresholds) -> Iterator[_Component]:
    """Video, audio and frame rate, each where it was measured at all. A still picture needs few bits."""
    readings, normal = known.readings, known.usual
    start = bisect_left(readings.time, readings.time[-1] - thresholds.window) if readings.time else 0
    video, audio, fps = _now(readings.video, start), _now(readings.audio, start), _now(readings.fps, start)
    if video:
        needed = normal.video if known.seen and known.seen.short else None
        score = _rated(video, needed, thresholds.dark_video, thresholds.video_curve)
        yield _Component(
            score, "video", f"video {bits(video.shown)}" + (f"/{bits(normal.video)}" if normal.video else "")
        )
    if audio:
        yield _Component(_audible(audio, thresholds), "audio", f"audio {bits(audio.shown)}")
    if fps:
        score = _rated(fps, normal.fps, thresholds.dark_fps, thresholds.fps_curve)
        yield _Component(score, "fps", f"fps {frames(fps.shown)}" + (f"/{normal.fps:.0f}" if normal.fps else ""))


class _Now(NamedTuple):
    """A measured value of this moment: the mean of the newest seconds, and the very newest."""

    mean: float
    newest: float

    @property
    def shown(self) -> float:
        """What stands beside the score: the mean would hide a zero."""
        return self.mean if self.newest else 0.0


def _now(column: array[float], start: int) -> _Now | None:
    mean = known_mean(column[start:])
    if mean is None:
        return None
    newest = known_mean(column[-1:])
    return _Now(mean, mean if newest is None else newest)


def _rated(value: _Now, normal: float | None, dark: float, curve: Curve) -> int:
    if value.newest < dark:
        return 0
    return round(_on(curve, value.mean / normal)) if normal else 100


def _audible(audio: _Now, thresholds: Thresholds) -> int:
    if audio.newest == 0:
        return 0
    return 100 if audio.mean >= thresholds.low_audio else thresholds.low_audio_score


def _on(curve: Curve, ratio: float) -> float:
    for (low, under), (high, over) in pairwise(curve):
        if ratio < high:
            return under + (over - under) * (ratio - low) / (high - low)
    return curve[-1][1]


def _delivery(readings: Readings, thresholds: Thresholds) -> Iterator[_Component]:
    """Key frames and loss, by how often the platform complained lately."""
    rows = (
        (KEY_DRIFT, thresholds.drift_share.window, thresholds.drift_scores, "key", "key>20%"),
        (KEY_SEVERE, thresholds.severe_share.window, thresholds.severe_scores, "key", "key>50%"),
        (LOSS, thresholds.loss_share.window, thresholds.loss_scores, "loss", "loss"),
    )
    for status, window, scores, name, word in rows:
        hits = occurrences(readings, status, window, thresholds.memory)
        yield _Component(scores[min(hits, len(scores) - 1)], name, f"{word} {hits}/{window}")
