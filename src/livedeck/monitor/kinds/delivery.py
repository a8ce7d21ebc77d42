"""The kinds of alarm about how the signal is delivered: key frames, loss, an unsteady rate, odd or missing data."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from livedeck.monitor.kinds.kind import AlarmKind, EventCase, EventDetector, Observation, SampleDetector
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.readings import NO_STATUS
from livedeck.monitor.model.state import Component, Pattern, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS, NORMAL, SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level, classify_high

_DOCUMENTED = frozenset({NORMAL, KEY_DRIFT, KEY_SEVERE, LOSS})


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether no kind of this file can be BAD."""
    return (
        features.status == NORMAL
        and not (features.drift_hits or features.severe_hits)
        and not features.variation > thresholds.unstable_cv
        and not isnan(features.video)
        and not isnan(features.fps)
    )


def _classify_severe(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_count(features, KEY_SEVERE, features.severe_hits >= thresholds.severe_share.hits)


def _classify_drift(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_count(features, KEY_DRIFT, features.drift_hits >= thresholds.drift_share.hits)


def _classify_loss(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return _classify_count(features, LOSS, features.status == LOSS)


def _classify_count(features: SampleFeatures, status: int, is_often: bool) -> Level:
    if is_often:
        return Level.BAD
    return Level.DEADBAND if features.status in {status, NO_STATUS} else Level.GOOD


def _classify_unstable(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """A variable rate varies by design, as long as nothing suffers."""
    if features.is_dark or isnan(features.video):
        return Level.DEADBAND
    if not features.is_shortage:
        return Level.GOOD
    limit = thresholds.unstable_cv
    return classify_high(features.variation, limit, limit - thresholds.deadband)


def _classify_unknown_status(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    if features.status == NO_STATUS:
        return Level.DEADBAND
    return Level.GOOD if features.status in _DOCUMENTED else Level.BAD


def _classify_missing(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return Level.BAD if _missing_fields(features) else Level.GOOD


def _missing_fields(features: SampleFeatures) -> list[str]:
    """The document's names of the fields that the sample lacks, of those that make a picture good."""
    video = ["bitrate_video"] if isnan(features.video) else []
    fps = ["frame_rate"] if isnan(features.fps) else []
    return video + fps + (["status"] if features.status == NO_STATUS else [])


def _escalates_severe(interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> bool:
    return features.status == KEY_SEVERE and features.time - interval.since >= thresholds.severe_critical


def _escalates_loss(_interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> bool:
    return features.is_heavy_loss or features.loss_bursts >= thresholds.loss_bursts


def _escalates_missing(_interval: FaultInterval, features: SampleFeatures, _thresholds: Thresholds) -> bool:
    return isnan(features.video)


def _describe_severe(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _describe_keys("50 %", features.severe_hits, thresholds.severe_share.window)


def _describe_drift(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _describe_keys("20 %", features.drift_hits, thresholds.drift_share.window)


def _describe_keys(limit: str, hits: int, window: int) -> Evidence:
    return Evidence(
        f"key-frame times differ over {limit} in {hits} of {window} samples", "a constant key-frame interval"
    )


def _describe_loss(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    bursts = f", {features.loss_bursts} bursts in 10 min" if features.loss_bursts > 1 else ""
    return Evidence(f"loss in {features.loss_hits} of {thresholds.loss_share.window} samples{bursts}", "no loss")


def _describe_unstable(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return Evidence(f"video varies by {features.variation:.0%}", f"under {thresholds.unstable_cv:.0%} in a minute")


def _describe_unknown_status(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"QoS status {features.status}", "0, 3, 4 or 5")


def _describe_missing(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"{', '.join(_missing_fields(features))} missing", "every field in the samples")


def _observe_future(case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """So many samples of the last answer are dated where no sample can be yet."""
    if case.quality.future_samples and not case.is_stale:
        actual = f"samples dated in the future ignored: {case.quality.future_samples}"
        yield Observation(actual, "samples dated until now")


DELIVERY_KINDS = (
    AlarmKind(
        name="KEYFRAME_SEVERE",
        severity=Severity.WARNING,
        component=Component.KEY,
        detector=SampleDetector(
            hold="severe_hold",
            classify=_classify_severe,
            describe=_describe_severe,
            counted_status=KEY_SEVERE,
            escalates=_escalates_severe,
        ),
        hidden_by=("BLACKOUT",),
        shared=False,
        explained_by=(Pattern.KEYS,),
        diagnosis=Diagnosis(
            cause="The key-frame interval is far from constant.",
            viewers="Players stall when they change quality.",
            advice="Set the key-frame interval to 2 s, scene-cut off; restart the encoder at a pause.",
        ),
    ),
    AlarmKind(
        name="KEYFRAME_DRIFT",
        severity=Severity.WARNING,
        component=Component.KEY,
        detector=SampleDetector(
            hold="drift_hold", classify=_classify_drift, describe=_describe_drift, counted_status=KEY_DRIFT
        ),
        hidden_by=("BLACKOUT", "KEYFRAME_SEVERE"),
        shared=False,
        explained_by=(Pattern.KEYS,),
        diagnosis=Diagnosis(
            cause="The key-frame interval is not constant.",
            viewers="Slow starts and jumps when the quality changes.",
            advice="Set the key-frame interval to 2 s, scene-cut off.",
        ),
    ),
    AlarmKind(
        name="PACKET_LOSS",
        severity=Severity.WARNING,
        component=Component.LOSS,
        detector=SampleDetector(
            hold="loss_hold",
            is_immediate=True,
            classify=_classify_loss,
            describe=_describe_loss,
            counted_status=LOSS,
            escalates=_escalates_loss,
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD),
        diagnosis=Diagnosis(
            cause="Packets are lost between encoder and platform.",
            viewers="Short freezes and broken blocks.",
            advice="Check the line; use a cable; lower the bit rate if it goes on.",
        ),
    ),
    AlarmKind(
        name="BITRATE_UNSTABLE",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        detector=SampleDetector(
            hold="unstable_hold",
            classify=_classify_unstable,
            describe=_describe_unstable,
            excluded_from_baseline="video",
        ),
        hidden_by=("BLACKOUT", "VIDEO_STARVED", "VIDEO_LOW", "PACKET_LOSS"),
        shared=False,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="The video rate swings: variable-rate encoding, or a line that comes and goes.",
            viewers="A picture that is now sharp, now soft.",
            advice="Set the encoder to constant bit rate; test the line if it is so already.",
        ),
    ),
    AlarmKind(
        name="UNKNOWN_STATUS",
        severity=Severity.INFO,
        component=Component.UNKNOWN,
        detector=SampleDetector(classify=_classify_unknown_status, describe=_describe_unknown_status),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform reports a quality status that its document does not name.",
            viewers="Perhaps nothing.",
            advice="Look at the picture; ask the platform what the number means.",
        ),
    ),
    AlarmKind(
        name="UNKNOWN_DATA",
        severity=Severity.INFO,
        escalated_severity=Severity.WARNING,
        component=Component.NONE,  # the score knows by itself what was not measured
        detector=SampleDetector(
            hold="missing_hold", classify=_classify_missing, describe=_describe_missing, escalates=_escalates_missing
        ),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform's samples lack fields.",
            viewers="Perhaps nothing: it is not measured.",
            advice="Watch the picture itself; ask the platform why.",
        ),
    ),
    AlarmKind(
        name="FUTURE_SAMPLES",
        severity=Severity.INFO,
        component=Component.NONE,
        detector=EventDetector(observe=_observe_future),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform dates samples in the future: a clock of its is wrong.",
            viewers="Nothing.",
            advice="Tell the platform; trust the other samples.",
        ),
    ),
)
