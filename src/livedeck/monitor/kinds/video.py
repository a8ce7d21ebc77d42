"""Alarm kinds of the video rate and the frame rate."""

from __future__ import annotations

from math import isnan, nan

from livedeck.monitor.kinds.kind import AlarmKind, DutyRule, SampleDetector
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import Component, Pattern
from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.signal.duty import SHORT
from livedeck.monitor.signal.excursions import fps_tolerance
from livedeck.monitor.signal.features import FPS, VIDEO, SampleFeatures
from livedeck.monitor.signal.hysteresis import Evidence, FaultInterval, Level
from livedeck.monitor.signal.levels import fps_slack, low_fps_slack
from livedeck.monitor.signal.memory import window_seconds
from livedeck.monitor.signal.usual import decay_limit
from livedeck.text.values import age, bits, frames

_DECAY_SECONDS = 600.0
"""Seconds from the assumed start of a slow decline to the newest sample."""

_CLEAR_SLACK = 0.8
"""Share of `fps_slack`. A low frame rate is good again if it is less than this below the usual rate."""

_SURE = 2
"""Number of witnesses that raise the limit of a low video rate."""

MAY_BE_RADIO = ", or content radio"
"""End of the expected value in an alarm of an event that never had a picture, because that may be intended."""

_DIPS = 2.0
"""The frame rate of a single sample may lie below the usual rate by this multiple of an ordinary dip."""


def is_normal(features: SampleFeatures, thresholds: Thresholds) -> bool:
    """Return whether no alarm kind of this file judges the sample BAD."""
    usual = features.usual
    is_calm = not (features.is_fps_low or features.is_dark or features.witnesses or features.is_ragged)
    is_settled = features.change is None and not (usual.is_below_floor or usual.is_decaying)
    if not (is_calm and is_settled and features.video >= thresholds.dark_video):
        return False
    if features.dip or features.fps_charge or features.fps < thresholds.dark_fps:
        return False
    still = thresholds.still_video * (usual.video or 0.0)
    if usual.sunk_from or features.video < still or features.window.video < still:
        return False
    if usual.fps is None or usual.is_variable_fps or Expectation.FRAMES not in thresholds.content.expectations:
        return not isnan(features.fps)
    collapsed = (thresholds.collapsed_fps + thresholds.deadband / 2) * usual.fps
    return features.fps >= max(collapsed, usual.fps - fps_tolerance(usual.fps, thresholds))


def _classify_blackout(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge a missing picture by the video rate or the frame rate; DEADBAND if neither is measured."""
    if features.is_dark:
        return Level.BAD
    is_measured = not (isnan(features.video) and isnan(features.fps))
    is_bright = not features.video < thresholds.dark_video * (1 + thresholds.deadband)
    return Level.GOOD if is_measured and is_bright else Level.DEADBAND


def _dark_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    if features.is_dark:
        return min(features.cadence, SHORT)
    return nan if isnan(features.video) and isnan(features.fps) else 0.0


def _classify_still(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge a still or black picture: hardly any bits, although all frames arrive and nothing is lost.

    A nearly black picture may scatter about `dark_video`, so a dark sample among brighter ones counts as well.
    """
    usual, lowest = features.usual.video, min(features.video, features.window.video)
    is_whole = _are_frames_whole(features, thresholds)
    is_dark = features.is_dark and not (is_whole and features.window.video >= thresholds.dark_video)
    if usual is None or is_dark or not features.is_warm or isnan(features.video):
        return Level.DEADBAND
    if lowest >= (thresholds.still_video + thresholds.deadband) * usual or not is_whole:
        return Level.GOOD
    return Level.BAD if lowest < thresholds.still_video * usual else Level.DEADBAND


def _are_frames_whole(features: SampleFeatures, thresholds: Thresholds) -> bool:
    usual = features.usual.fps if features.settled_fps is None else features.settled_fps
    if usual is None or features.usual.is_variable_fps or features.is_lossy:
        return False
    return features.window.fps >= usual - fps_tolerance(usual, thresholds)


def _severity_still(interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> Severity:
    """Return CRITICAL for a variable rate that stays low, else WARNING: a constant low rate may be a slate."""
    is_long = features.time - interval.since >= thresholds.still_critical
    return Severity.CRITICAL if is_long and not features.usual.is_constant else Severity.WARNING


def _classify_starved(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge a very low video rate: BAD only with a witness."""
    usual, video = features.usual, features.window.video
    if not _is_video_judged(features) or usual.video is None:
        return Level.DEADBAND
    if video < thresholds.starved_video * usual.video and features.witnesses:
        return Level.BAD
    is_enough = video >= (thresholds.starved_video + thresholds.deadband) * usual.video
    is_explained = not features.witnesses and not usual.is_constant
    return Level.GOOD if is_enough or is_explained else Level.DEADBAND


def _severity_starved(_interval: FaultInterval, features: SampleFeatures, _thresholds: Thresholds) -> Severity:
    """Return WARNING if sound is the only witness and the rate is steady, else CRITICAL.

    The slate of an intermission may have less sound, too.
    """
    is_sure = features.witnesses - features.is_sound_short > 0 or features.is_ragged
    return Severity.CRITICAL if is_sure else Severity.WARNING


def _classify_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    """Judge a low video rate: BAD with a witness (`witnesses`), or if a constant rate has been ragged for its hold."""
    usual, video = features.usual, features.window.video
    if not _is_video_judged(features) or usual.video is None:
        return Level.DEADBAND
    is_short = features.witnesses and video < low_video_limit(features, thresholds)
    if is_short or features.ragged_since is not None:
        return Level.BAD
    is_enough = video >= (thresholds.low_video + thresholds.deadband / 2) * usual.video
    is_explained = not features.witnesses and not features.is_ragged
    return Level.GOOD if is_enough or is_explained else Level.DEADBAND


def low_video_limit(features: SampleFeatures, thresholds: Thresholds) -> float:
    """Return the video rate (bit/s) below which a shortage is VIDEO_LOW. Two witnesses raise this limit."""
    share = (thresholds.low_video, thresholds.low_video_sure)[features.witnesses >= _SURE]  # reads both for `explain`
    return share * (features.usual.video or 0.0)


def _is_video_judged(features: SampleFeatures) -> bool:
    return features.is_warm and not features.is_dark and not isnan(features.video)


def _is_ragged_for_long(features: SampleFeatures) -> bool:
    return features.ragged_since is not None


def _began_low(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.time if features.ragged_since is None else features.ragged_since


def _classify_below_preset(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return Level.BAD if features.usual.is_below_floor else Level.GOOD


def _began_below_preset(features: SampleFeatures, thresholds: Thresholds) -> float:
    return features.time - thresholds.frozen


def _classify_decay(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return Level.BAD if features.usual.is_decaying or features.usual.sunk_from else Level.GOOD


def _severity_decay(_interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> Severity:
    """Return CRITICAL if the rate has sunk to almost nothing, else WARNING."""
    is_nearly_gone = features.usual.sunk_to < thresholds.sunk_critical * features.usual.sunk_from
    return Severity.CRITICAL if is_nearly_gone else Severity.WARNING


def _began_decay(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.time - _DECAY_SECONDS


def _classify_unstable(_features: SampleFeatures, _thresholds: Thresholds) -> Level:
    """Return GOOD, because only the DutyRule raises the fault: a single dip is no fault."""
    return Level.GOOD


def _dip_seconds(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.dip


def _classify_change(features: SampleFeatures, _thresholds: Thresholds) -> Level:
    return Level.BAD if features.change and not features.change.is_known else Level.GOOD


def _began_change(features: SampleFeatures, _thresholds: Thresholds) -> float:
    return features.change.since if features.change else features.time


def _classify_collapse(features: SampleFeatures, thresholds: Thresholds) -> Level:
    usual, limit = features.usual.fps, thresholds.collapsed_fps
    if features.usual.is_variable_fps:
        return Level.GOOD
    if not usual or not _are_frames_judged(features):
        return Level.DEADBAND
    mean, newest = features.window.fps / usual, features.fps / usual
    if mean < limit and newest < limit + thresholds.deadband / 2:
        return Level.BAD
    clear = limit + thresholds.deadband
    return Level.GOOD if mean >= clear and newest >= clear else Level.DEADBAND


def _severity_collapse(_interval: FaultInterval, features: SampleFeatures, thresholds: Thresholds) -> Severity:
    """Return CRITICAL; WARNING if only the frame rate fell, because a person may have set a lower rate.

    At a steady low frame rate, a low video rate alone may be a quiet scene.
    """
    usual = features.usual.video
    is_judged = features.settled_fps is None or features.is_shortage
    is_video_low = is_judged and usual is not None and features.window.video < thresholds.low_video * usual
    is_sure = features.is_lossy or features.is_sound_short or is_video_low
    return Severity.CRITICAL if is_sure else Severity.WARNING


def _classify_fps_low(features: SampleFeatures, thresholds: Thresholds) -> Level:
    usual = features.usual.fps
    if features.usual.is_variable_fps:
        return Level.GOOD
    if usual is None or not _are_frames_judged(features):
        return Level.DEADBAND
    if features.is_fps_low:
        return Level.BAD
    is_clear = features.window.fps >= usual - _CLEAR_SLACK * fps_slack(usual, thresholds)
    return Level.GOOD if is_clear else Level.DEADBAND


def _are_frames_judged(features: SampleFeatures) -> bool:
    return features.is_warm and not (features.is_dark or features.is_fps_pending or isnan(features.fps))


def _low_fps_seconds(features: SampleFeatures, thresholds: Thresholds) -> float:
    usual = features.usual.fps
    if features.fps_charge:
        return features.fps_charge
    if usual is None or features.is_dark or isnan(features.fps):
        return nan
    is_judged = not (features.is_fps_pending or features.usual.is_variable_fps)
    tolerance = max(fps_tolerance(usual, thresholds), _DIPS * features.usual.fps_dip)
    is_low = is_judged and features.fps < usual - tolerance
    return min(features.cadence, SHORT) if is_low else 0.0


def _describe_blackout(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    frames_too = Expectation.FRAMES in thresholds.content.expectations
    moving = f" and fps over {thresholds.dark_fps:g}" if frames_too else ""
    expected = f"video over {bits(thresholds.dark_video)}{moving} within {age(thresholds.dark_hold.seconds)}"
    if features.has_picture:
        return Evidence(f"video {bits(features.video)}, fps {frames(features.fps)}", expected)
    return Evidence(f"no picture {features.covered_words}", f"{expected}{MAY_BE_RADIO}")


def _severity_blackout(_interval: FaultInterval, features: SampleFeatures, _thresholds: Thresholds) -> Severity:
    """Return CRITICAL; WARNING if the stream never had a picture and may have sound, because it may be radio.

    A missing audio rate does not prove silence, because its unit may be in doubt.
    """
    may_be_radio = features.audio != 0 and not features.has_picture
    return Severity.WARNING if may_be_radio else Severity.CRITICAL


def _describe_still(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    actual = f"picture still or black: video {bits(features.video)}, fps {frames(features.fps)} as usual"
    return Evidence(
        actual, _expected_video(features, thresholds.still_video * (features.usual.video or 0.0), thresholds)
    )


def _describe_video_starved(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    actual = f"video {bits(features.window.video)}, fps {frames(features.fps)}, audio {bits(features.audio)}"
    limit = thresholds.starved_video * (features.usual.video or 0.0)
    return Evidence(actual, _expected_video(features, limit, thresholds))


def _describe_video_low(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    """Return the value that was judged, the median of the newest seconds, with the limit that it broke."""
    video = bits(features.window.video)
    if features.ragged_since is None:
        return Evidence(f"video {video}", _expected_video(features, low_video_limit(features, thresholds), thresholds))
    limit = thresholds.low_video * (features.usual.video or 0.0)
    lasted = age(features.time - features.ragged_since)
    return Evidence(f"video {video}, up and down for {lasted}", _expected_video(features, limit, thresholds))


def _expected_video(features: SampleFeatures, limit: float, thresholds: Thresholds) -> str:
    """Return the limit (bit/s) of the median video rate, its window and the usual rate."""
    window = age(window_seconds(features.cadence, thresholds))
    return f"over {bits(limit)} as median of {window}, usual {bits(features.usual.video)}"


def _describe_below_preset(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    floor, video = features.usual.floor, features.window.video
    hardly = ", picture almost still" if video < thresholds.frozen_floor * floor else ""
    return Evidence(f"video {bits(video)} for minutes{hardly}", f"over {bits(floor)} for the highest preset")


def _describe_decay(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    usual = features.usual
    best = usual.sunk_from or usual.anchor
    limit = thresholds.sunk_video * best if usual.sunk_from else decay_limit(usual, thresholds) * best
    expected = f"over {bits(limit)}, best two minutes {bits(best)}"
    return Evidence(f"video fell slowly to {bits(features.window.video)}", expected)


def _describe_unstable(_features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return Evidence("video dips and recovers", f"over {thresholds.dip_video:.0%} of the usual rate, without dips")


def _describe_change(features: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    change = features.change
    if change is None:
        return Evidence("", "")
    shown = frames if change.rate == FPS else bits
    lasted = age(features.time - change.since)
    actual = f"{change.rate} now {shown(change.after)}, was {shown(change.before)}, steady for {lasted}, all else fine"
    return Evidence(actual, "usual from now on")


def _describe_collapse(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _describe_fps(features, thresholds.collapsed_fps * (features.usual.fps or 0.0), thresholds)


def _describe_fps_low(features: SampleFeatures, thresholds: Thresholds) -> Evidence:
    limit = (features.usual.fps or 0.0) - low_fps_slack(features.usual, thresholds)
    return _describe_fps(features, limit, thresholds)


def _describe_fps(features: SampleFeatures, limit: float, thresholds: Thresholds) -> Evidence:
    """Return the mean frame rate of the newest seconds. `limit`: the limit that it broke (frames/s)."""
    window, usual = age(window_seconds(features.cadence, thresholds)), features.usual.fps or 0.0
    expected = f"over {frames(limit)} as mean of {window}, usual {usual:.0f}"
    return Evidence(f"fps {frames(features.window.fps)}", expected)


VIDEO_KINDS = (
    AlarmKind(
        name="BLACKOUT",
        severity=Severity.CRITICAL,
        component=Component.VIDEO,
        detector=SampleDetector(
            hold="dark_hold",
            classify=_classify_blackout,
            describe=_describe_blackout,
            duty=DutyRule(limits="dark_duty", bad_seconds=_dark_seconds, words="no picture"),
            expects=Expectation.PICTURE,
            severity=_severity_blackout,
        ),
        hidden_by=(),
        shared=True,
        explained_by=(Pattern.CAMERA, Pattern.GONE),
        diagnosis=Diagnosis(
            cause="The encoder is connected but sends no picture.",
            viewers="A black or frozen picture.",
            advice="Check camera, cable and the encoder's input.",
        ),
    ),
    AlarmKind(
        name="PICTURE_STILL",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            hold="still_hold",
            classify=_classify_still,
            describe=_describe_still,
            expects=Expectation.MOTION,
            spoils=VIDEO,
            severity=_severity_still,
        ),
        hidden_by=("BLACKOUT",),
        shared=True,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The encoder sends every frame, but nothing moves: a frozen or black source, or a slate.",
            viewers="A picture that stands still or is black.",
            advice="Look at the picture. For a slate, set the baseline; for slides or a still camera, set the content.",
        ),
    ),
    AlarmKind(
        name="VIDEO_STARVED",
        severity=Severity.CRITICAL,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            hold="starved_hold",
            classify=_classify_starved,
            describe=_describe_video_starved,
            expects=Expectation.PICTURE,
            spoils=VIDEO,
            severity=_severity_starved,
        ),
        hidden_by=("BLACKOUT", "PICTURE_STILL"),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="The encoder cannot send enough: too little upload bandwidth, or it cannot keep up.",
            viewers="Blocks, stutter and buffering.",
            advice="Test the upload speed; halve the encoder's bit rate or switch to the backup line.",
        ),
    ),
    AlarmKind(
        name="VIDEO_LOW",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            hold="low_hold",
            is_proven=_is_ragged_for_long,
            classify=_classify_low,
            describe=_describe_video_low,
            expects=Expectation.PICTURE,
            spoils=VIDEO,
            began=_began_low,
        ),
        hidden_by=("BLACKOUT", "PICTURE_STILL", "VIDEO_STARVED"),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="The video bit rate fell for no visible reason.",
            viewers="A softer picture, with blocks in motion.",
            advice="Check the picture; compare the encoder's bit rate with the agreed one.",
        ),
    ),
    AlarmKind(
        name="VIDEO_BELOW_PRESET",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            classify=_classify_below_preset,
            describe=_describe_below_preset,
            expects=Expectation.FLOOR,
            began=_began_below_preset,
        ),
        hidden_by=("BLACKOUT", "PICTURE_STILL", "VIDEO_STARVED", "VIDEO_LOW"),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The bit rate is too low for the preset: wrong settings, low bandwidth, or a still picture.",
            viewers="A soft, blocky or frozen picture.",
            advice="Check the picture; raise the encoder's bit rate, or set the event's content to slides.",
        ),
    ),
    AlarmKind(
        name="VIDEO_DECAY",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            classify=_classify_decay,
            describe=_describe_decay,
            expects=Expectation.LEVEL,
            began=_began_decay,
            severity=_severity_decay,
        ),
        hidden_by=("BLACKOUT", "VIDEO_STARVED", "VIDEO_LOW"),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The video bit rate falls slowly: a degrading line or an overheating encoder.",
            viewers="Picture slowly gets softer.",
            advice="Test the upload speed; compare the encoder's bit rate with the agreed one.",
        ),
    ),
    AlarmKind(
        name="BITRATE_UNSTABLE",
        severity=Severity.WARNING,
        component=Component.VIDEO,
        is_of_picture=True,
        detector=SampleDetector(
            classify=_classify_unstable,
            describe=_describe_unstable,
            duty=DutyRule(limits="dip_duty", bad_seconds=_dip_seconds, words="low video", is_spell=True),
            expects=Expectation.PICTURE,
            spoils=VIDEO,
        ),
        hidden_by=("BLACKOUT", "VIDEO_STARVED", "VIDEO_LOW", "PACKET_LOSS"),
        shared=False,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA, Pattern.STEP),
        diagnosis=Diagnosis(
            cause="A constant video bit rate keeps dipping: an unstable line.",
            viewers="A picture that alternates between sharp and soft.",
            advice="Test the line; lower the encoder's bit rate.",
        ),
    ),
    AlarmKind(
        name="PROFILE_CHANGE",
        severity=Severity.INFO,
        component=Component.NONE,
        detector=SampleDetector(
            hold="change_hold",
            is_immediate=True,
            classify=_classify_change,
            describe=_describe_change,
            expects=Expectation.PICTURE,
            began=_began_change,
        ),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="New encoder settings, a still picture, or an encoder that saves bits.",
            viewers="A softer or sharper picture, or no effect.",
            advice="If nobody intended the change, check the encoder. The new level counts as usual from now on.",
        ),
    ),
    AlarmKind(
        name="FPS_COLLAPSE",
        severity=Severity.WARNING,
        component=Component.FPS,
        is_of_picture=True,
        detector=SampleDetector(
            hold="collapsed_hold",
            classify=_classify_collapse,
            describe=_describe_collapse,
            expects=Expectation.FRAMES,
            spoils=FPS,
            severity=_severity_collapse,
        ),
        hidden_by=("BLACKOUT",),
        shared=True,
        explained_by=(Pattern.NETWORK, Pattern.BURSTS, Pattern.OVERLOAD, Pattern.CAMERA),
        diagnosis=Diagnosis(
            cause="Many frames are missing: the encoder or its source is failing.",
            viewers="A stuttering picture, perhaps out of sync with the sound.",
            advice="Close other programs on the encoder, lower its preset or resolution, or switch to the backup.",
        ),
    ),
    AlarmKind(
        name="FPS_LOW",
        severity=Severity.WARNING,
        component=Component.FPS,
        is_of_picture=True,
        detector=SampleDetector(
            hold="low_fps_hold",
            classify=_classify_fps_low,
            describe=_describe_fps_low,
            duty=DutyRule(limits="fps_duty", bad_seconds=_low_fps_seconds, words="missing frames"),
            expects=Expectation.FRAMES,
            spoils=FPS,
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
