"""Alarm kinds for the delivery of the signal: key frames, packet loss, gaps, unknown or missing data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import isnan, nan

from livedeck.monitor.kinds.kind import (
    DROPOUTS,
    AlarmKind,
    DutyRule,
    EventCase,
    EventDetector,
    Observation,
    SampleDetector,
)
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.readings import NO_STATUS
from livedeck.monitor.model.state import Component, Pattern
from livedeck.monitor.model.thresholds import Share, Thresholds
from livedeck.monitor.signal.duty import SHORT
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS, NORMAL, SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level
from livedeck.text.values import age

UNKNOWN_DATA = "UNKNOWN_DATA"

_KEYS = frozenset({KEY_DRIFT, KEY_SEVERE})
_DOCUMENTED = frozenset({NORMAL, KEY_DRIFT, KEY_SEVERE, LOSS})


def is_normal(features: SampleFeatures) -> bool:
    """Return whether no alarm kind of this file judges the sample BAD."""
    return (
        features.status == NORMAL
        and not (features.drift_hits or features.severe_hits or features.loss_hits_long)
        and not (features.loss_hits or features.step.missing)
        and not isnan(features.video)
        and not isnan(features.fps)
    )


def _classify_severe(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_count(features, {KEY_SEVERE}, features.severe_hits >= thresholds.severe_share.hits)


def _classify_drift(features: SampleFeatures, thresholds: Thresholds) -> Level:
    return _classify_count(features, _KEYS, features.drift_hits >= thresholds.drift_share.hits)


def _classify_loss(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return _classify_count(features, {LOSS}, features.status == LOSS)


def _classify_count(features: SampleFeatures, statuses: Collection[int], is_often: bool) -> Level:
    if is_often:
        return Level.BAD
    return Level.DEADBAND if features.status in statuses or features.status == NO_STATUS else Level.GOOD


def _severe_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return _status_seconds(features, {KEY_SEVERE})


def _drift_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return _status_seconds(features, _KEYS)


def _loss_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return _status_seconds(features, {LOSS})


def _status_seconds(features: SampleFeatures, statuses: Collection[int]) -> float:
    if features.status in statuses:
        return min(features.cadence, SHORT)
    return nan if features.status == NO_STATUS else 0.0


def _classify_dropouts(_features: SampleFeatures, _thresholds: Thresholds) -> Level:
    """Return GOOD, because only the DutyRule raises the fault: a single gap is no dropout."""
    return Level.GOOD


def _missing_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.step.missing


def _classify_unknown_status(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    if features.status == NO_STATUS:
        return Level.DEADBAND
    return Level.GOOD if features.status in _DOCUMENTED else Level.BAD


def _classify_missing(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return Level.BAD if _missing_fields(features) else Level.GOOD


def _missing_fields(features: SampleFeatures) -> list[str]:
    """Return the API names of the missing fields that every sample with a picture must have."""
    video = ["bitrate_video"] if isnan(features.video) else []
    fps = ["frame_rate"] if isnan(features.fps) else []
    return video + fps + (["status"] if features.status == NO_STATUS else [])


def _severity_severe(interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> Severity:
    """Return CRITICAL if severe samples have lasted without a pause for `severe_critical` seconds, else WARNING."""
    is_long = features.time - interval.pending_since >= thresholds.severe_critical
    return Severity.CRITICAL if features.status == KEY_SEVERE and is_long else Severity.WARNING


def _severity_loss(_interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> Severity:
    """Return INFO for single samples with packet loss, WARNING for a large share, CRITICAL if it stays large."""
    if features.is_heavy_loss:
        return Severity.CRITICAL
    is_often = features.loss_hits >= _loss_limit(features, thresholds)
    return Severity.WARNING if is_often or features.loss_hits_long >= thresholds.loss_share_long.hits else Severity.INFO


def _loss_limit(features: SampleFeatures, thresholds: Thresholds) -> int:
    """Return how many of the newest samples must have packet loss to raise a warning."""
    is_slow = features.cadence >= thresholds.slow_cadence
    return thresholds.loss_hits_slow if is_slow else thresholds.loss_share.hits


def _severity_missing(_interval: FaultInterval, features: SampleFeatures, _thresholds: Thresholds) -> Severity:
    return Severity.WARNING if isnan(features.video) else Severity.INFO


def _describe_severe(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _describe_keys("50 %", features.severe_hits, thresholds.severe_share)


def _describe_drift(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _describe_keys("20 %", features.drift_hits, thresholds.drift_share)


def _describe_keys(limit: str, hits: int, share: Share) -> Evidence:
    return _describe_hits(f"key-frame times differ over {limit}", hits, share, share.hits)


def _describe_hits(words: str, hits: int, share: Share, limit: int) -> Evidence:
    """Return the evidence: `hits` of the newest samples have a status, and `limit` of them raise the fault."""
    return Evidence(f"{words} in {hits} of {share.window} samples", f"under {limit} of {share.window}")


def _describe_loss(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    """Return the evidence of packet loss: in the longer window if only that raises a warning, else in the shorter."""
    hits, limit = features.loss_hits, _loss_limit(features, thresholds)
    short, long = thresholds.loss_share, thresholds.loss_share_long
    if hits < limit and features.loss_hits_long >= long.hits:
        return _describe_hits("loss", features.loss_hits_long, long, long.hits)
    if hits >= limit:
        return _describe_hits("loss", hits, short, limit)
    return Evidence(f"loss in {hits} of {short.window} samples", "no loss")


def _describe_dropouts(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"{age(features.step.missing)} of samples missing", "samples without a gap")


def _describe_unknown_status(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"QoS status {features.status}", "0, 3, 4 or 5")


def _describe_missing(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return Evidence(f"{', '.join(_missing_fields(features))} missing", "every field in the samples")


def _observe_future(case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """Report samples of the last reply that are dated in the future."""
    if case.quality.future_samples and not case.is_stale:
        actual = f"ignored samples dated in the future: {case.quality.future_samples}"
        yield Observation(actual, "no samples dated in the future")


DELIVERY_KINDS = (
    AlarmKind(
        name="KEYFRAME_SEVERE",
        severity=Severity.WARNING,
        component=Component.KEY,
        detector=SampleDetector(
            hold="severe_hold",
            classify=_classify_severe,
            describe=_describe_severe,
            duty=DutyRule(limits="severe_duty", bad_seconds=_severe_seconds, words="very uneven key frames"),
            counted_status=KEY_SEVERE,
            severity=_severity_severe,
        ),
        hidden_by=("BLACKOUT",),
        shared=False,
        explained_by=(Pattern.KEYS,),
        diagnosis=Diagnosis(
            cause="The key-frame interval is far from constant.",
            viewers="Players stall when the quality changes.",
            advice="Set the key-frame interval to 2 s and turn scene-cut off; restart the encoder in a break.",
        ),
    ),
    AlarmKind(
        name="KEYFRAME_DRIFT",
        severity=Severity.WARNING,
        component=Component.KEY,
        detector=SampleDetector(
            hold="drift_hold",
            classify=_classify_drift,
            describe=_describe_drift,
            duty=DutyRule(limits="drift_duty", bad_seconds=_drift_seconds, words="uneven key frames"),
            counted_status=KEY_DRIFT,
        ),
        hidden_by=("BLACKOUT", "KEYFRAME_SEVERE"),
        shared=False,
        explained_by=(Pattern.KEYS,),
        diagnosis=Diagnosis(
            cause="The key-frame interval is not constant.",
            viewers="Slow starts and jumps when the quality changes.",
            advice="Set the key-frame interval to 2 s and turn scene-cut off.",
        ),
    ),
    AlarmKind(
        name="PACKET_LOSS",
        severity=Severity.INFO,
        component=Component.LOSS,
        is_of_picture=True,
        detector=SampleDetector(
            hold="loss_hold",
            is_immediate=True,
            classify=_classify_loss,
            describe=_describe_loss,
            duty=DutyRule(limits="loss_duty", bad_seconds=_loss_seconds, words="packet loss"),
            counted_status=LOSS,
            severity=_severity_loss,
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD),
        diagnosis=Diagnosis(
            cause="Packets get lost between encoder and platform.",
            viewers="Short freezes and broken blocks.",
            advice="Check the connection and use a cable; lower the bit rate if loss continues.",
        ),
    ),
    AlarmKind(
        name=DROPOUTS,
        severity=Severity.WARNING,
        component=Component.LOSS,
        detector=SampleDetector(
            classify=_classify_dropouts,
            describe=_describe_dropouts,
            duty=DutyRule(
                limits="gap_duty", bad_seconds=_missing_seconds, words="no samples", is_spell=True, counts_warm_up=True
            ),
        ),
        hidden_by=(),
        shared=True,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The encoder keeps dropping out: connection, power, or repeated restarts.",
            viewers="The picture freezes, stops and starts again.",
            advice="Check the encoder's connection; switch to the backup line or encoder.",
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
            cause="The platform reports a quality status that its documentation does not list.",
            viewers="Unknown; perhaps none.",
            advice="Check the picture; ask the platform for the meaning of the number.",
        ),
    ),
    AlarmKind(
        name=UNKNOWN_DATA,
        severity=Severity.INFO,
        escalated_severity=Severity.WARNING,
        component=Component.NONE,  # the score already accounts for missing values
        detector=SampleDetector(
            hold="missing_hold", classify=_classify_missing, describe=_describe_missing, severity=_severity_missing
        ),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="Fields are missing from the platform's samples.",
            viewers="Unknown: the values are not measured.",
            advice="Watch the picture itself; report the missing fields to the platform.",
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
            cause="The platform dates samples in the future: one of its clocks is wrong.",
            viewers="No effect.",
            advice="Report the wrong dates to the platform; the other samples are valid.",
        ),
    ),
)
