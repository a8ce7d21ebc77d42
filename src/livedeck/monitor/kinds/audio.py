"""Alarm kinds of the audio rate."""

from __future__ import annotations

from math import isnan, nan

from livedeck.monitor.kinds.kind import AlarmKind, DutyRule, SampleDetector
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import Component, Pattern
from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.signal.duty import SHORT
from livedeck.monitor.signal.features import AUDIO, SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level, classify_high
from livedeck.monitor.signal.memory import quiet_limit
from livedeck.text.values import age, bits

AUDIO_LOST = "AUDIO_LOST"
"""Name of the alarm kind for missing sound."""

NEVER_HEARD = "audio, or content silent"
"""Expected value in an alarm of an event that never had sound. The silence may be intended."""


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Return whether no alarm kind of this file judges the sample BAD."""
    is_usual = not features.usual.is_witness or features.audio >= thresholds.low_audio_rate
    return 0 < features.audio <= thresholds.high_audio and is_usual and features.quiet_since is None


def _classify_lost(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge missing sound: BAD if there is a picture, or if the content needs none, else DEADBAND.

    Without a picture the whole signal may be missing.
    """
    if features.audio > 0:
        return Level.GOOD
    return Level.BAD if _is_mute(features, thresholds) else Level.DEADBAND


def _is_mute(features: SampleFeatures, thresholds: Thresholds) -> bool:
    has_picture = features.video >= thresholds.dark_video
    is_alone = Expectation.PICTURE not in thresholds.content.expectations
    return features.audio == 0 and (has_picture or is_alone)


def _mute_seconds(features: SampleFeatures, thresholds: Thresholds) -> float:
    if _is_mute(features, thresholds):
        return min(features.cadence, SHORT)
    return 0.0 if features.audio >= 0 else nan


def _classify_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge a low audio rate: BAD if the rate is below the limit, or if near silence has lasted for its hold.

    A rate of zero is not judged here, but as AUDIO_LOST.
    """
    if features.audio == 0 or isnan(features.audio):
        return Level.DEADBAND
    usual = features.usual
    if features.quiet_since is not None:
        return Level.BAD
    if usual.audio is None or not usual.is_witness:
        return Level.GOOD
    return Level.BAD if features.audio < low_audio_limit(usual.audio, thresholds) else Level.GOOD


def _is_quiet_for_long(features: SampleFeatures) -> bool:
    return features.quiet_since is not None


def _began_low(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.time if features.quiet_since is None else features.quiet_since


def low_audio_limit(usual: float, thresholds: Thresholds) -> float:
    """Return the audio rate (bit/s) below which sound with this usual rate (bit/s) counts as low."""
    return min(thresholds.low_audio * usual, thresholds.low_audio_rate)


def _classify_high(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return classify_high(features.audio, thresholds.high_audio, thresholds.high_audio * (1 - thresholds.deadband))


def _describe_lost(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    if features.has_sound:
        return Evidence("video without audio", f"audio within {age(thresholds.mute_hold.seconds)}")
    return Evidence(f"no sound {features.covered_words}", NEVER_HEARD)


def _severity_lost(_interval: FaultInterval, features: SampleFeatures, _thresholds: Thresholds) -> Severity:
    """Return CRITICAL; WARNING if the event is known never to have had sound, because that may be intended."""
    return Severity.WARNING if features.may_be_silent else Severity.CRITICAL


def _describe_low(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    usual = features.usual.audio
    words, limit, seconds = "", low_audio_limit(usual or 0.0, thresholds), thresholds.audio_hold.seconds
    if features.quiet_since is not None:
        words, limit, seconds = "near silence, ", quiet_limit(features.usual, thresholds), thresholds.quiet_hold
    expected = f"over {bits(limit)} within {age(seconds)}{f', usual {bits(usual)}' if usual else ''}"
    return Evidence(f"{words}audio {bits(features.audio)}", expected)


def _describe_high(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    expected = f"under {bits(thresholds.high_audio)} within {age(thresholds.audio_hold.seconds)}"
    return Evidence(f"audio {bits(features.audio)}", expected)


AUDIO_KINDS = (
    AlarmKind(
        name=AUDIO_LOST,
        severity=Severity.CRITICAL,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="mute_hold",
            classify=_classify_lost,
            describe=_describe_lost,
            duty=DutyRule(limits="mute_duty", bad_seconds=_mute_seconds, words="no audio"),
            expects=Expectation.SOUND,
            spoils=AUDIO,
            severity=_severity_lost,
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.AUDIO,),
        diagnosis=Diagnosis(
            cause="No sound reaches the encoder.",
            viewers="A picture without sound.",
            advice="Check mute buttons, the mixer's output and the encoder's audio input.",
        ),
        is_of_sound=True,
    ),
    AlarmKind(
        name="AUDIO_LOW",
        severity=Severity.WARNING,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="audio_hold",
            is_proven=_is_quiet_for_long,
            classify=_classify_low,
            describe=_describe_low,
            expects=Expectation.SOUND,
            spoils=AUDIO,
            began=_began_low,
        ),
        hidden_by=(AUDIO_LOST,),
        shared=False,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.AUDIO),
        diagnosis=Diagnosis(
            cause="The audio bit rate is far below usual: changed settings, or near silence.",
            viewers="Dull or broken sound.",
            advice="Set the encoder's audio to 128 kbit/s, then listen.",
        ),
    ),
    AlarmKind(
        name="AUDIO_HIGH",
        severity=Severity.WARNING,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="audio_hold", classify=_classify_high, describe=_describe_high, expects=Expectation.SOUND
        ),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The audio bit rate is higher than any stream needs: a wrong setting.",
            viewers="No effect until bandwidth is short.",
            advice="During a break, set the encoder's audio bit rate to between 128 and 192 kbit/s.",
        ),
    ),
)
