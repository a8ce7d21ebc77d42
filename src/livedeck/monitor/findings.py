"""What is wrong with an event now: the kinds of monitoring.md, "Alarms". Pure.

A finding is a function of the samples, never of how often we asked: a fault must hold over a run of samples. How long
an alarm outlives its finding is the business of `alarms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from math import isnan

from livedeck.monitor.baseline import NORMAL, Usual
from livedeck.monitor.facts import Finding, IngestState, Phase, Severity, Tally
from livedeck.monitor.readings import NO_STATUS, Readings
from livedeck.monitor.series import episode_start, occurrences
from livedeck.monitor.thresholds import Hold, Thresholds
from livedeck.wording import bits, frames, safe

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""The documented complaints of a QoS sample (platform-api.md, 2)."""

_ERROR_SHOWN = 200
"""Characters of an error that stand in a finding: what was tried and what happened, not a whole page."""

_DOCUMENTED = frozenset({NORMAL, KEY_DRIFT, KEY_SEVERE, LOSS, NO_STATUS})

QOS_STALE = "QOS_STALE"

_FIELDS = {"video": "bitrate_video", "fps": "frame_rate", "status": "status"}


def of_asking(error: str, since: datetime | None) -> Finding:
    """QOS_STALE: the platform has not told of this event `since` then (server clock), and why not the last time."""
    actual = safe(error, _ERROR_SHOWN) or "no new sample"
    return Finding(QOS_STALE, Severity.CRITICAL, actual, "an answer every few seconds", since)


def of_future(ahead: int) -> tuple[Finding, ...]:
    """FUTURE_SAMPLES: so many samples of the last answer are dated where no sample can be yet."""
    if not ahead:
        return ()
    actual = f"samples dated in the future ignored: {ahead}"
    return (Finding("FUTURE_SAMPLES", Severity.INFO, actual, "samples dated until now"),)


def of_missing(readings: Readings, missing: tuple[str, ...]) -> tuple[Finding, ...]:
    """UNKNOWN_DATA: fields that no recent sample carried, by the document's names; a warning without the video rate."""
    if not missing or not len(readings):
        return ()
    video, fps, status = readings.video, readings.fps, readings.status
    absent: dict[str, Callable[[int], bool]] = {
        "video": lambda i: isnan(video[i]),
        "fps": lambda i: isnan(fps[i]),
        "status": lambda i: status[i] == NO_STATUS,
    }
    since = _moment(min(readings.time[_run(readings, absent[name])] for name in missing))
    actual = f"{', '.join(_FIELDS[name] for name in missing)} missing"
    severity = Severity.WARNING if "video" in missing else Severity.INFO
    return (Finding("UNKNOWN_DATA", severity, actual, "every field in the samples", since),)


def of_start(phase: Phase, now: datetime, thresholds: Thresholds) -> tuple[Finding, ...]:
    """LATE_START: a warning from T-5 min, critical from T+0, until nobody can be waiting any more."""
    if phase.mark is None or phase.tally not in {Tally.SCHEDULED, Tally.LATE}:
        return ()
    left = (phase.mark - now).total_seconds()
    if not -thresholds.start_forgotten <= left <= thresholds.start_notice:
        return ()
    severity = Severity.WARNING if left > 0 else Severity.CRITICAL
    since = phase.mark - timedelta(seconds=thresholds.start_notice) if left > 0 else phase.mark
    return (Finding("LATE_START", severity, "no ingest", "a stream at the start time", since),)


def of_silence(phase: Phase, now: datetime, thresholds: Thresholds) -> tuple[Finding, ...]:
    """RECONNECTING for an encoder that left, NO_INGEST for one that never sent since the stream went live."""
    if phase.ingest.state is IngestState.INTERRUPTED:
        actual = "no samples, the window is over" if phase.tally is Tally.LOST else "no samples"
        return (Finding("RECONNECTING", Severity.CRITICAL, actual, "the encoder's stream", phase.ingest.since),)
    if phase.tally is not Tally.ON_AIR or phase.ingest.state is not IngestState.NONE:
        return ()
    lasted = (now - phase.mark).total_seconds() if phase.mark else thresholds.warm_up
    if lasted < thresholds.warm_up:
        return ()
    return (Finding("NO_INGEST", Severity.CRITICAL, "live without a sample", "samples", phase.mark),)


def of_samples(readings: Readings, normal: Usual, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the samples of a receiving stream show. A dark picture hides what else would be said of the picture."""
    dark = list(_dark(readings, thresholds))
    picture = dark or [*_video(readings, normal, thresholds), *_fps(readings, normal, thresholds)]
    sound = _audio(readings, thresholds)
    return (*picture, *sound, *_keys(readings, thresholds), *_loss(readings, thresholds), *_unknown(readings))


def _held(readings: Readings, bad: Callable[[int], bool], hold: Hold) -> datetime | None:
    """Since when the samples are bad without a break; None unless so many are, for so long. Missing is not bad."""
    times, first = readings.time, _run(readings, bad)
    if len(times) - first < hold.samples or times[-1] - times[first] < hold.seconds:
        return None
    return _moment(times[first])


def _run(readings: Readings, bad: Callable[[int], bool]) -> int:
    """Index of the first of the bad samples that the series ends with; its length where it ends well."""
    first = len(readings)
    while first and bad(first - 1):
        first -= 1
    return first


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _dark(readings: Readings, thresholds: Thresholds) -> Iterator[Finding]:
    video, fps = readings.video, readings.fps
    since = _held(
        readings, lambda i: video[i] < thresholds.dark_video or fps[i] < thresholds.dark_fps, thresholds.dark_hold
    )
    if since:
        last = readings[-1]
        actual = f"video {bits(last.video)}, fps {frames(last.fps)}"
        yield Finding("BLACKOUT", Severity.CRITICAL, actual, f"video over {bits(thresholds.dark_video)}", since)


def _video(readings: Readings, normal: Usual, thresholds: Thresholds) -> Iterator[Finding]:
    if normal.video is None:
        return
    rates, limit = readings.video, thresholds.low_video * normal.video
    since = _held(readings, lambda i: rates[i] < limit, thresholds.low_hold)
    if since:
        expected = f"over {bits(limit)}, usual {bits(normal.video)}"
        yield Finding("VIDEO_LOW", Severity.WARNING, f"video {bits(rates[-1])}", expected, since)


def _fps(readings: Readings, normal: Usual, thresholds: Thresholds) -> Iterator[Finding]:
    if normal.fps is None:
        return
    rates, nominal = readings.fps, normal.fps
    actual, expected = f"fps {frames(rates[-1])}", f"fps {nominal:.0f}"
    if since := _held(readings, lambda i: rates[i] < thresholds.collapsed_fps * nominal, thresholds.collapsed_hold):
        yield Finding("FPS_COLLAPSE", Severity.CRITICAL, actual, expected, since)
    elif since := _held(readings, lambda i: rates[i] < thresholds.low_fps * nominal, thresholds.low_hold):
        yield Finding("FPS_LOW", Severity.WARNING, actual, expected, since)


def _audio(readings: Readings, thresholds: Thresholds) -> Iterator[Finding]:
    audio, video = readings.audio, readings.video
    since = _held(readings, lambda i: audio[i] == 0 and video[i] >= thresholds.dark_video, thresholds.mute_hold)
    if since:
        yield Finding("AUDIO_LOST", Severity.CRITICAL, "audio 0 while video flows", "audio", since)


def _keys(readings: Readings, thresholds: Thresholds) -> Iterator[Finding]:
    for kind, status, share, limit in (
        ("KEYFRAME_SEVERE", KEY_SEVERE, thresholds.severe_share, "50 %"),
        ("KEYFRAME_DRIFT", KEY_DRIFT, thresholds.drift_share, "20 %"),
    ):
        hits = occurrences(readings, status, share.window, thresholds.memory)
        if hits >= share.hits:
            actual = f"key-frame times differ over {limit} in {hits} of {share.window} samples"
            since = _moment(episode_start(readings, status, thresholds.memory))
            yield Finding(kind, Severity.WARNING, actual, "a constant key-frame interval", since)


def _loss(readings: Readings, thresholds: Thresholds) -> Iterator[Finding]:
    share = thresholds.loss_share
    hits = occurrences(readings, LOSS, share.window, thresholds.memory)
    if hits:
        severity = Severity.CRITICAL if hits >= share.hits else Severity.WARNING
        since = _moment(episode_start(readings, LOSS, thresholds.memory))
        yield Finding("PACKET_LOSS", severity, f"loss in {hits} of {share.window} samples", "no loss", since)


def _unknown(readings: Readings) -> Iterator[Finding]:
    status = readings.status[-1] if len(readings) else NORMAL
    if status not in _DOCUMENTED:
        yield Finding("UNKNOWN_STATUS", Severity.INFO, f"QoS status {status}", "0, 3, 4 or 5")
