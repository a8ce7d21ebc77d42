"""The kinds of alarm that the audio rate raises."""

from __future__ import annotations

from livedeck.monitor.kinds.kind import AlarmKind, SampleDetector
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.state import Component, Pattern, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, Level, classify_high, classify_low
from livedeck.text.values import bits


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether no kind of this file can be BAD."""
    return features.audio > 0 and thresholds.low_audio <= features.audio <= thresholds.high_audio


def _classify_lost(features: SampleFeatures, thresholds: Thresholds) -> Level:
    if features.audio > 0:
        return Level.GOOD
    return Level.BAD if features.audio == 0 and features.video >= thresholds.dark_video else Level.DEADBAND


def _classify_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Silence is AUDIO_LOST."""
    if features.audio == 0:
        return Level.DEADBAND
    return classify_low(features.audio, thresholds.low_audio, thresholds.low_audio * (1 + thresholds.deadband))


def _classify_high(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return classify_high(features.audio, thresholds.high_audio, thresholds.high_audio * (1 - thresholds.deadband))


def _describe_lost(_features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence("audio 0 while video flows", "audio")


def _describe_low(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return Evidence(f"audio {bits(features.audio)}", f"audio over {bits(thresholds.low_audio)}")


def _describe_high(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return Evidence(f"audio {bits(features.audio)}", f"audio under {bits(thresholds.high_audio)}")


AUDIO_KINDS = (
    AlarmKind(
        name="AUDIO_LOST",
        severity=Severity.CRITICAL,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="mute_hold", classify=_classify_lost, describe=_describe_lost, excluded_from_baseline="audio"
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.AUDIO,),
        diagnosis=Diagnosis(
            cause="The sound does not reach the encoder.",
            viewers="A picture without sound.",
            advice="Check mute, the mixer's output and the encoder's audio input.",
        ),
    ),
    AlarmKind(
        name="AUDIO_LOW",
        severity=Severity.WARNING,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="audio_hold", classify=_classify_low, describe=_describe_low, excluded_from_baseline="audio"
        ),
        hidden_by=("AUDIO_LOST",),
        shared=False,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.AUDIO),
        diagnosis=Diagnosis(
            cause="The audio rate is too low for music or speech: a wrong setting, or near silence.",
            viewers="Dull or broken sound.",
            advice="Set the encoder's audio to 128 kbit/s, and listen.",
        ),
    ),
    AlarmKind(
        name="AUDIO_HIGH",
        severity=Severity.WARNING,
        component=Component.AUDIO,
        detector=SampleDetector(
            hold="audio_hold", classify=_classify_high, describe=_describe_high, excluded_from_baseline="audio"
        ),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The audio rate is above what streaming uses: a wrong setting.",
            viewers="Nothing, until the line gets thin.",
            advice="Set the encoder's audio to 128 to 192 kbit/s at a pause.",
        ),
    ),
)
