"""The rows of the alarm table that samples decide (monitoring.md, "Alarms"): when each trips, and its words. Pure."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from operator import attrgetter
from typing import NamedTuple

from livedeck.monitor.model.readings import NO_STATUS
from livedeck.monitor.model.state import Severity
from livedeck.monitor.model.thresholds import Hold, Thresholds
from livedeck.monitor.signal.features import KEY_DRIFT, KEY_SEVERE, LOSS, NORMAL, SampleFeatures
from livedeck.monitor.signal.hysteresis import BAD, DEADBAND, GOOD, Evidence, FaultInterval, Level
from livedeck.text.values import bits, frames

RECONNECTING = "RECONNECTING"


_DOCUMENTED = frozenset({NORMAL, KEY_DRIFT, KEY_SEVERE, LOSS})


class Rule(NamedTuple):
    """One kind. `louder`: what makes its severity rise to `loud`, for as long as the fault lasts.

    `status`: the QoS status that it counts, so that it ends by the time since that was last seen. `spoils`: the rate
    that is not learnt as usual while the fault lasts.
    """

    kind: str
    severity: Severity
    hold: Callable[[Thresholds], Hold]
    sign: Callable[[SampleFeatures, Thresholds], Level]
    words: Callable[[SampleFeatures, Thresholds], Evidence]
    status: int | None = None
    spoils: str = ""
    louder: Callable[[FaultInterval, SampleFeatures, Thresholds], bool] | None = None
    loud: Severity = Severity.CRITICAL


def _under(value: float, limit: float, clear: float) -> Level:
    """Missing is neither bad nor good."""
    if value < limit:
        return BAD
    return GOOD if value >= clear else DEADBAND


def _dark(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    """One of the two rates is enough to tell; both missing tell nothing."""
    if seen.dark:
        return BAD
    margin = 1 + thresholds.deadband
    video = _under(seen.video, thresholds.dark_video, thresholds.dark_video * margin)
    fps = _under(seen.fps, thresholds.dark_fps, thresholds.dark_fps * margin)
    known = [sign for sign, value in ((video, seen.video), (fps, seen.fps)) if not isnan(value)]
    return GOOD if known and all(sign == GOOD for sign in known) else DEADBAND


def _low(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _sagging(seen, thresholds.low_video, thresholds.deadband)


def _starved(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _sagging(seen, thresholds.starved_video, thresholds.deadband)


def _sagging(seen: SampleFeatures, limit: float, deadband: float) -> Level:
    """Few bits are a fault only where they are a shortage: a still picture of a variable rate needs no more."""
    normal = seen.usual.video
    if normal is None or seen.dark or isnan(seen.video):
        return DEADBAND
    if not seen.short:
        return GOOD
    return _under(seen.video, limit * normal, (limit + deadband) * normal)


def _judder(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _slow(seen, thresholds.low_fps, thresholds.low_fps_deadband)


def _collapse(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _slow(seen, thresholds.collapsed_fps, thresholds.deadband)


def _slow(seen: SampleFeatures, limit: float, deadband: float) -> Level:
    nominal = seen.usual.fps
    if nominal is None or seen.dark:
        return DEADBAND
    return _under(seen.fps, limit * nominal, (limit + deadband) * nominal)


def _mute(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    if seen.audio > 0:
        return GOOD
    return BAD if seen.audio == 0 and seen.video >= thresholds.dark_video else DEADBAND


def _faint(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    """Silence is AUDIO_LOST's."""
    if seen.audio == 0:
        return DEADBAND
    return _under(seen.audio, thresholds.low_audio, thresholds.low_audio * (1 + thresholds.deadband))


def _loud(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _under(-seen.audio, -thresholds.high_audio, -thresholds.high_audio * (1 - thresholds.deadband))


def _drift(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _hit(seen, KEY_DRIFT, seen.drift >= thresholds.drift_share.hits)


def _severe(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    return _hit(seen, KEY_SEVERE, seen.severe >= thresholds.severe_share.hits)


def _loss(seen: SampleFeatures, _thresholds: Thresholds) -> Level:
    return _hit(seen, LOSS, seen.status == LOSS)


def _hit(seen: SampleFeatures, status: int, often: bool) -> Level:
    if often:
        return BAD
    return DEADBAND if seen.status in {status, NO_STATUS} else GOOD


def _unstable(seen: SampleFeatures, thresholds: Thresholds) -> Level:
    """A variable rate swings by design, as long as nothing suffers."""
    if seen.dark or isnan(seen.video):
        return DEADBAND
    if not seen.short:
        return GOOD
    return _under(-seen.cv, -thresholds.unstable_cv, thresholds.deadband - thresholds.unstable_cv)


def _foreign(seen: SampleFeatures, _thresholds: Thresholds) -> Level:
    if seen.status == NO_STATUS:
        return DEADBAND
    return GOOD if seen.status in _DOCUMENTED else BAD


def _missing(seen: SampleFeatures, _thresholds: Thresholds) -> Level:
    return BAD if _absent(seen) else GOOD


def _absent(seen: SampleFeatures) -> list[str]:
    """The document's names of the fields that the sample lacks, of those that make a picture good."""
    video = ["bitrate_video"] if isnan(seen.video) else []
    fps = ["frame_rate"] if isnan(seen.fps) else []
    return video + fps + (["status"] if seen.status == NO_STATUS else [])


def _persists(spell: FaultInterval, seen: SampleFeatures, thresholds: Thresholds) -> bool:
    return seen.status == KEY_SEVERE and seen.time - spell.since >= thresholds.severe_critical


def _broken(_spell: FaultInterval, seen: SampleFeatures, thresholds: Thresholds) -> bool:
    return seen.heavy or seen.bursts >= thresholds.loss_bursts


def _blind(_spell: FaultInterval, seen: SampleFeatures, _thresholds: Thresholds) -> bool:
    return isnan(seen.video)


def _words_dark(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return f"video {bits(seen.video)}, fps {frames(seen.fps)}", f"video over {bits(thresholds.dark_video)}"


def _words_low(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return f"video {bits(seen.video)}", _over(seen, thresholds.low_video)


def _words_starved(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    beside = f", fps {frames(seen.fps)}, audio {bits(seen.audio)}"
    return f"video {bits(seen.video)}{beside}", _over(seen, thresholds.starved_video)


def _over(seen: SampleFeatures, share: float) -> str:
    normal = seen.usual.video or 0.0
    return f"over {bits(share * normal)}, usual {bits(normal)}"


def _words_fps(seen: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return f"fps {frames(seen.fps)}", f"fps {seen.usual.fps or 0.0:.0f}"


def _words_mute(_seen: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return "audio 0 while video flows", "audio"


def _words_faint(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return f"audio {bits(seen.audio)}", f"audio over {bits(thresholds.low_audio)}"


def _words_loud(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return f"audio {bits(seen.audio)}", f"audio under {bits(thresholds.high_audio)}"


def _words_drift(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _uneven("20 %", seen.drift, thresholds.drift_share.window)


def _words_severe(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return _uneven("50 %", seen.severe, thresholds.severe_share.window)


def _uneven(limit: str, hits: int, window: int) -> Evidence:
    return f"key-frame times differ over {limit} in {hits} of {window} samples", "a constant key-frame interval"


def _words_loss(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    bursts = f", {seen.bursts} bursts in 10 min" if seen.bursts > 1 else ""
    return f"loss in {seen.loss} of {thresholds.loss_share.window} samples{bursts}", "no loss"


def _words_unstable(seen: SampleFeatures, thresholds: Thresholds) -> Evidence:
    return f"video varies by {seen.cv:.0%}", f"under {thresholds.unstable_cv:.0%} in a minute"


def _words_foreign(seen: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return f"QoS status {seen.status}", "0, 3, 4 or 5"


def _words_missing(seen: SampleFeatures, _thresholds: Thresholds) -> Evidence:
    return f"{', '.join(_absent(seen))} missing", "every field in the samples"


def _at_once(thresholds: Thresholds) -> Hold:
    return Hold(1, 0.0, thresholds.loss_hold.off)


def _present(_thresholds: Thresholds) -> Hold:
    return Hold(1, 0.0, 0.0)


_C, _W, _I = Severity.CRITICAL, Severity.WARNING, Severity.INFO


RULES = (
    Rule("BLACKOUT", _C, attrgetter("dark_hold"), _dark, _words_dark, spoils="video"),
    Rule("VIDEO_STARVED", _C, attrgetter("starved_hold"), _starved, _words_starved, spoils="video"),
    Rule("VIDEO_LOW", _W, attrgetter("low_hold"), _low, _words_low, spoils="video"),
    Rule("FPS_COLLAPSE", _C, attrgetter("collapsed_hold"), _collapse, _words_fps, spoils="fps"),
    Rule("FPS_LOW", _W, attrgetter("low_fps_hold"), _judder, _words_fps, spoils="fps"),
    Rule("AUDIO_LOST", _C, attrgetter("mute_hold"), _mute, _words_mute, spoils="audio"),
    Rule("AUDIO_LOW", _W, attrgetter("audio_hold"), _faint, _words_faint, spoils="audio"),
    Rule("AUDIO_HIGH", _W, attrgetter("audio_hold"), _loud, _words_loud, spoils="audio"),
    Rule("KEYFRAME_SEVERE", _W, attrgetter("severe_hold"), _severe, _words_severe, KEY_SEVERE, louder=_persists),
    Rule("KEYFRAME_DRIFT", _W, attrgetter("drift_hold"), _drift, _words_drift, KEY_DRIFT),
    Rule("PACKET_LOSS", _W, _at_once, _loss, _words_loss, LOSS, louder=_broken),
    Rule("BITRATE_UNSTABLE", _W, attrgetter("unstable_hold"), _unstable, _words_unstable, spoils="video"),
    Rule("UNKNOWN_STATUS", _I, _present, _foreign, _words_foreign),
    Rule("UNKNOWN_DATA", _I, attrgetter("missing_hold"), _missing, _words_missing, louder=_blind, loud=_W),
)

"""One row a kind, the graver of one axis first."""


def is_normal(seen: SampleFeatures, thresholds: Thresholds) -> bool:
    """Whether the sample is bad by no rule: nearly all are, and most of the cost of a judgement is to find that out.

    A setting may turn the graver of two limits into the higher one.
    """
    video, _, fps, _ = seen.usual
    least_video = max(thresholds.low_video, thresholds.starved_video)
    least_fps = max(thresholds.low_fps, thresholds.collapsed_fps)
    return (
        seen.status == NORMAL
        and seen.video >= max(thresholds.dark_video, least_video * (video or 0.0))
        and seen.fps >= max(thresholds.dark_fps, least_fps * (fps or 0.0))
        and seen.audio > 0
        and thresholds.low_audio <= seen.audio <= thresholds.high_audio
        and not seen.cv > thresholds.unstable_cv
        and not (seen.drift or seen.severe)
    )
