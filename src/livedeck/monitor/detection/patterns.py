"""Match samples to known fault patterns (monitoring.md, "Fault patterns"). Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.state import EventState, HealthAssessment, IngestState, Pattern, Phase
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS
from livedeck.monitor.signal.series import mean_measured

_DEFAULTS = Thresholds()
_KEY_STATUSES = frozenset({KEY_DRIFT, KEY_SEVERE})
_NEWEST_SAMPLES = 5  # samples whose mean is the present signal, so that a single odd sample does not decide
_BURST_SECONDS = 300.0  # period in which bursts are counted
_MIN_BURSTS = 3  # minimum number of separate bursts for the pattern BURSTS
_LOW_SHARE = 0.85  # share of the usual rate below which it is low; above every alarm limit
_LOW_FPS_SHARE = 0.95
_AUDIO_STEP = 10  # the usual sound is the median of every tenth sample


class SignalSignature(NamedTuple):
    """Present signal: each rate as a share of its usual value (1 if unknown), and the signs of faults.

    `is_dark`: no picture. `is_mute`: no sound. `is_lossy`: packet loss in the last minute. `bursts`: bursts of loss in
    the last 5 min. `has_key_complaints`: a status of uneven key frames in the last minute.
    """

    video: float = 1.0
    audio: float = 1.0
    fps: float = 1.0
    is_dark: bool = False
    is_mute: bool = False
    is_lossy: bool = False
    bursts: int = 0
    has_key_complaints: bool = False


def pattern_of(
    phase: Phase, readings: Readings, assessment: HealthAssessment, thresholds: Thresholds = _DEFAULTS
) -> Pattern:
    """Return the pattern that an event's signal shows now. Late samples show none."""
    if phase.ingest.state is IngestState.UNKNOWN:
        return Pattern.NONE
    if phase.ingest.state in {IngestState.NONE, IngestState.INTERRUPTED} or not len(readings):
        return Pattern.GONE
    return classify(_signature(readings, assessment, thresholds))


def classify(signature: SignalSignature) -> Pattern:
    """Return the first matching pattern, most specific first."""
    video, audio = signature.video < _LOW_SHARE, signature.audio < _LOW_SHARE
    fps = signature.fps < _LOW_FPS_SHARE
    rows = (
        (signature.is_dark and signature.is_mute, Pattern.GONE),
        (signature.is_dark, Pattern.CAMERA),
        (fps and not (video or audio), Pattern.OVERLOAD),
        (signature.is_lossy and signature.bursts >= _MIN_BURSTS, Pattern.BURSTS),
        (signature.is_lossy or (video and audio and fps), Pattern.NETWORK),
        (signature.is_mute and not (video or fps), Pattern.AUDIO),
        (signature.has_key_complaints and not (video or audio or fps), Pattern.KEYS),
        (video and not (audio or fps), Pattern.STEP),
    )
    return next((pattern for fits, pattern in rows if fits), Pattern.NONE)


def diagnose(kind: str, state: EventState | None = None) -> Diagnosis:
    """Return the diagnosis of an alarm kind. `state`: present state of the event; None for an alarm of the deck."""
    alarm_kind = ALARM_KINDS.get(kind)
    if alarm_kind is None:
        return _UNKNOWN
    if state is not None and state.pattern in alarm_kind.explained_by:
        return PATTERN_DIAGNOSES[state.pattern]
    return alarm_kind.diagnosis


def keep_diagnosis(before: Diagnosis, after: Diagnosis) -> Diagnosis:
    """Return the diagnosis of an ongoing fault: a specific earlier one is better than a general later one.

    A fault that fades shows fewer signs.
    """
    is_weaker = after in _GENERAL or (
        after == PATTERN_DIAGNOSES[Pattern.BURSTS] and before != PATTERN_DIAGNOSES[Pattern.NETWORK]
    )
    return before if is_weaker and before in _OF_PATTERNS else after


def _signature(readings: Readings, assessment: HealthAssessment, thresholds: Thresholds) -> SignalSignature:
    newest = readings[-1]
    recent = range(bisect_left(readings.time, newest.time - thresholds.memory), len(readings))
    lossless = [index for index in recent if readings.status[index] != LOSS]
    indexes = (lossless or recent)[-_NEWEST_SAMPLES:]
    return SignalSignature(
        video=_share(readings.video, indexes, assessment.baseline_video),
        audio=_share(readings.audio, indexes, _usual_audio(readings.audio)),
        fps=_share(readings.fps, indexes, assessment.nominal_fps),
        is_dark=newest.video is not None and newest.video < thresholds.dark_video,
        is_mute=newest.audio == 0,
        is_lossy=len(lossless) < len(recent),
        bursts=_count_bursts(readings),
        has_key_complaints=any(readings.status[index] in _KEY_STATUSES for index in recent),
    )


def _share(column: array[float], indexes: Iterable[int], expected: float | None) -> float:
    """Return the mean of these samples as a share of the expected value; 1 if unknown."""
    mean = mean_measured(array("d", [column[index] for index in indexes]))
    return 1.0 if mean is None or not expected else mean / expected


def _usual_audio(column: array[float]) -> float | None:
    audible = [value for value in column[::_AUDIO_STEP] if value > 0]  # leaves out NaN
    return median(audible) if audible else None


def _count_bursts(readings: Readings) -> int:
    """Return the number of times that loss began in the last 5 min."""
    start = bisect_left(readings.time, readings.time[-1] - _BURST_SECONDS)
    lossy = [status == LOSS for status in readings.status[start:]]
    return bytes([False, *lossy]).count(b"\0\1")


PATTERN_DIAGNOSES: Mapping[Pattern, Diagnosis] = MappingProxyType(
    {
        Pattern.NETWORK: Diagnosis(
            cause="Network: the encoder's line has too little bandwidth or loses packets.",
            viewers="Freezes, blocks and buffering.",
            advice="Test the upload speed; lower the bit rate or switch to the backup line.",
        ),
        Pattern.BURSTS: Diagnosis(
            cause="Wireless burst loss: the line keeps dropping packets and recovering.",
            viewers="A short freeze or broken blocks each time.",
            advice="Switch from Wi-Fi or mobile to a cable, or move closer; until then, lower the bit rate.",
        ),
        Pattern.OVERLOAD: Diagnosis(
            cause="Encoder overload: frames are missing, but the bit rate is normal.",
            viewers="Motion judders.",
            advice="Close other programs on the encoder; choose a faster preset or 720p.",
        ),
        Pattern.AUDIO: Diagnosis(
            cause="Audio path: the sound is lost in or before the encoder; the picture arrives.",
            viewers="A picture without sound.",
            advice="Check mute buttons, the mixer's output and the encoder's audio input.",
        ),
        Pattern.CAMERA: Diagnosis(
            cause="Camera lost: there is still sound, but no picture.",
            viewers="A black or frozen picture with sound.",
            advice="Check the camera's power, cable and the encoder's video input; show a slate meanwhile.",
        ),
        Pattern.STEP: Diagnosis(
            cause="The encoder settings changed, or the picture is still.",
            viewers="A softer picture; no effect if the picture is still.",
            advice="Check the picture; if it moves, restore the encoder's bit rate.",
        ),
        Pattern.KEYS: ALARM_KINDS["KEYFRAME_DRIFT"].diagnosis,
        Pattern.GONE: Diagnosis(
            cause="The encoder is disconnected, or connected without sending anything.",
            viewers="A frozen or empty player.",
            advice="Call the encoder's operator: restart the encoder, check its connection and power.",
        ),
    }
)

_UNKNOWN = Diagnosis("Unknown.", "Unknown.", "Check the picture.")
_GENERAL = frozenset(kind.diagnosis for kind in ALARM_KINDS.values())
_OF_PATTERNS = frozenset(PATTERN_DIAGNOSES.values())
