"""The kinds of alarm that the video rate and the frame rate raise."""

from __future__ import annotations

from math import isnan

from livedeck.monitor.kinds.kind import AlarmKind, SampleDetector
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.state import Component, Pattern, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, Level, classify_low
from livedeck.text.values import bits, frames


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether no kind of this file can be BAD. A setting may turn the graver of two limits into the higher one."""
    video, _, fps, _ = features.baseline
    low_video = max(thresholds.low_video, thresholds.starved_video)
    low_fps = max(thresholds.low_fps, thresholds.collapsed_fps)
    return features.video >= max(thresholds.dark_video, low_video * (video or 0.0)) and features.fps >= max(
        thresholds.dark_fps, low_fps * (fps or 0.0)
    )


def _classify_blackout(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """One of the two rates is enough to tell; both missing tell nothing."""
    if features.is_dark:
        return Level.BAD
    margin = 1 + thresholds.deadband
    rates = (features.video, thresholds.dark_video), (features.fps, thresholds.dark_fps)
    levels = [classify_low(rate, limit, limit * margin) for rate, limit in rates if not isnan(rate)]
    return Level.GOOD if levels and all(level is Level.GOOD for level in levels) else Level.DEADBAND


def _classify_video_starved(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_video(features, thresholds.starved_video, thresholds.deadband)


def _classify_video_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_video(features, thresholds.low_video, thresholds.deadband)


def _classify_video(features: SampleFeatures, share: float, deadband: float) -> Level:
    """Few bits are a fault only where they are a shortage: a still picture of a variable rate needs no more."""
    usual = features.baseline.video
    if usual is None or features.is_dark or isnan(features.video):
        return Level.DEADBAND
    if not features.is_shortage:
        return Level.GOOD
    return classify_low(features.video, share * usual, (share + deadband) * usual)


def _classify_fps_collapse(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_fps(features, thresholds.collapsed_fps, thresholds.deadband)


def _classify_fps_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_fps(features, thresholds.low_fps, thresholds.low_fps_deadband)


def _classify_fps(features: SampleFeatures, share: float, deadband: float) -> Level:
    nominal = features.baseline.fps
    if nominal is None or features.is_dark:
        return Level.DEADBAND
    return classify_low(features.fps, share * nominal, (share + deadband) * nominal)


def _describe_blackout(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    actual = f"video {bits(features.video)}, fps {frames(features.fps)}"
    return Evidence(actual, f"video over {bits(thresholds.dark_video)}")


def _describe_video_starved(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    actual = f"video {bits(features.video)}, fps {frames(features.fps)}, audio {bits(features.audio)}"
    return Evidence(actual, _expected_video(features, thresholds.starved_video))


def _describe_video_low(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return Evidence(f"video {bits(features.video)}", _expected_video(features, thresholds.low_video))


def _expected_video(features: SampleFeatures, share: float) -> str:
    usual = features.baseline.video or 0.0
    return f"over {bits(share * usual)}, usual {bits(usual)}"


def _describe_fps(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"fps {frames(features.fps)}", f"fps {features.baseline.fps or 0.0:.0f}")


VIDEO_KINDS = (
    AlarmKind(
        name="BLACKOUT",
        severity=Severity.CRITICAL,
        component=Component.VIDEO,
        detector=SampleDetector(
            hold="dark_hold", classify=_classify_blackout, describe=_describe_blackout, excluded_from_baseline="video"
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.CAMERA, Pattern.GONE),
        diagnosis=Diagnosis(
            cause="The encoder is connected and sends no picture.",
            viewers="A black or frozen picture.",
            advice="Check the camera, its cable and the encoder's input.",
        ),
    ),
    AlarmKind(
        name="VIDEO_STARVED",
        severity=Severity.CRITICAL,
        component=Component.VIDEO,
        detector=SampleDetector(
            hold="starved_hold",
            classify=_classify_video_starved,
            describe=_describe_video_starved,
            excluded_from_baseline="video",
        ),
        hidden_by=("BLACKOUT",),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="The encoder gets too little through: the way out is too thin, or it cannot keep up.",
            viewers="Blocks, stutter, and stops to buffer.",
            advice="Test the upload speed; halve the encoder's bit rate or take the spare line.",
        ),
    ),
    AlarmKind(
        name="VIDEO_LOW",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        detector=SampleDetector(
            hold="low_hold", classify=_classify_video_low, describe=_describe_video_low, excluded_from_baseline="video"
        ),
        hidden_by=("BLACKOUT", "VIDEO_STARVED"),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="The video rate has fallen, and nothing else tells why.",
            viewers="A softer picture with blocks in motion.",
            advice="Look at the picture; compare the encoder's bit rate with what was agreed.",
        ),
    ),
    AlarmKind(
        name="FPS_COLLAPSE",
        severity=Severity.CRITICAL,
        component=Component.FPS,
        detector=SampleDetector(
            hold="collapsed_hold", classify=_classify_fps_collapse, describe=_describe_fps, excluded_from_baseline="fps"
        ),
        hidden_by=("BLACKOUT",),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA),
        diagnosis=Diagnosis(
            cause="Many frames are missing: the encoder or its source fails.",
            viewers="A stuttering picture, sound perhaps out of step.",
            advice="Close what else runs on the encoder, lower its preset or resolution, or change to the spare.",
        ),
    ),
    AlarmKind(
        name="FPS_LOW",
        severity=Severity.WARNING,
        component=Component.FPS,
        detector=SampleDetector(
            hold="low_fps_hold", classify=_classify_fps_low, describe=_describe_fps, excluded_from_baseline="fps"
        ),
        hidden_by=("BLACKOUT", "VIDEO_STARVED", "FPS_COLLAPSE"),
        shared=False,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA),
        diagnosis=Diagnosis(
            cause="Frames are missing: the encoder or its source drops them.",
            viewers="Motion judders.",
            advice="Check the encoder's CPU and dropped frames, and the camera's frame rate.",
        ),
    ),
)
