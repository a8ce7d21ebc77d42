"""Which of the known faults the samples look like (monitoring.md, "Causes by pattern"). Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import HealthAssessment, IngestState, Pattern, Phase
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS
from livedeck.monitor.signal.series import known_mean

_DEFAULTS = Thresholds()

_KEYS = frozenset({KEY_DRIFT, KEY_SEVERE})

_ROWS = 5  # samples that tell what the signal is like now: one odd one must not

_LATELY = 300.0  # s; in which bursts are counted

_BURSTS = 3  # so many, with calm between them, are a saw-tooth

_LOW = 0.85  # of the usual, above any level of alarm: beyond what a scene does to a steady encoder

_SPARSE = 10  # every tenth sample of an hour tells the usual sound


class SignalSignature(NamedTuple):
    """How the signal looks now: each rate's share of what it should be (1 where nobody can say), and the complaints."""

    video: float = 1.0
    audio: float = 1.0
    fps: float = 1.0
    dark: bool = False
    mute: bool = False
    lossy: bool = False
    bursts: int = 0
    keys: bool = False


def pattern_of(phase: Phase, rows: Readings, verdict: HealthAssessment, thresholds: Thresholds = _DEFAULTS) -> Pattern:
    """The pattern that an event's signal shows now, `verdict` being what is found of it."""
    if phase.ingest.state in {IngestState.NONE, IngestState.INTERRUPTED, IngestState.UNKNOWN}:
        return Pattern.GONE
    return classify(_signs(rows, verdict, thresholds), thresholds) if len(rows) else Pattern.GONE


def classify(signs: SignalSignature, thresholds: Thresholds = _DEFAULTS) -> Pattern:
    """The first row that fits, the most telling first."""
    video, audio, fps = signs.video < _LOW, signs.audio < _LOW, signs.fps < thresholds.low_fps
    rows = (
        (signs.dark and signs.mute, Pattern.GONE),
        (signs.dark, Pattern.CAMERA),
        (fps and not (video or audio), Pattern.OVERLOAD),
        (signs.lossy and signs.bursts >= _BURSTS, Pattern.BURSTS),
        (signs.lossy or (video and audio and fps), Pattern.NETWORK),
        (signs.mute and not (video or fps), Pattern.AUDIO),
        (signs.keys and not (video or audio or fps), Pattern.KEYS),
        (video and not (audio or fps), Pattern.STEP),
    )
    return next((pattern for fits, pattern in rows if fits), Pattern.NONE)


def _signs(rows: Readings, verdict: HealthAssessment, thresholds: Thresholds) -> SignalSignature:
    newest = rows[-1]
    recent = range(bisect_left(rows.time, newest.time - thresholds.memory), len(rows))
    calm = [index for index in recent if rows.status[index] != LOSS]
    now = (calm or recent)[-_ROWS:]
    return SignalSignature(
        video=_share(rows.video, now, verdict.baseline_video),
        audio=_share(rows.audio, now, _usual(rows.audio)),
        fps=_share(rows.fps, now, verdict.nominal_fps),
        dark=newest.video is not None and newest.video < thresholds.dark_video,
        mute=newest.audio == 0,
        lossy=len(calm) < len(recent),
        bursts=_bursts(rows),
        keys=any(rows.status[index] in _KEYS for index in recent),
    )


def _share(column: array[float], indexes: Iterable[int], whole: float | None) -> float:
    """Of what it should be; 1 where nobody can say."""
    known = known_mean(array("d", [column[index] for index in indexes]))
    return 1.0 if known is None or not whole else known / whole


def _usual(column: array[float]) -> float | None:
    heard = [value for value in column[::_SPARSE] if value > 0]  # NaN is not
    return median(heard) if heard else None


def _bursts(rows: Readings) -> int:
    """How often loss began lately."""
    lossy = [status == LOSS for status in rows.status[bisect_left(rows.time, rows.time[-1] - _LATELY) :]]
    return bytes([False, *lossy]).count(b"\0\1")
