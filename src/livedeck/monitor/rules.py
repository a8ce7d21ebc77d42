"""The rows of the alarm table that samples decide (monitoring.md, "Alarms"): when each trips, and its words. Pure."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from operator import attrgetter
from typing import NamedTuple

from livedeck.monitor.baseline import NORMAL
from livedeck.monitor.facts import Severity
from livedeck.monitor.rates import Seen
from livedeck.monitor.readings import NO_STATUS
from livedeck.monitor.spell import BAD, BETWEEN, CLEAR, Sign, Spell, Words
from livedeck.monitor.thresholds import Hold, Thresholds
from livedeck.wording import bits, frames

KEY_DRIFT, KEY_SEVERE, LOSS = 3, 4, 5
"""The documented complaints of a QoS sample (platform-api.md, 2)."""

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
    sign: Callable[[Seen, Thresholds], Sign]
    words: Callable[[Seen, Thresholds], Words]
    status: int | None = None
    spoils: str = ""
    louder: Callable[[Spell, Seen, Thresholds], bool] | None = None
    loud: Severity = Severity.CRITICAL


def _under(value: float, limit: float, clear: float) -> Sign:
    """Missing is neither bad nor good."""
    if value < limit:
        return BAD
    return CLEAR if value >= clear else BETWEEN


def _dark(seen: Seen, thresholds: Thresholds) -> Sign:
    """One of the two rates is enough to tell; both missing tell nothing."""
    if seen.dark:
        return BAD
    margin = 1 + thresholds.deadband
    video = _under(seen.video, thresholds.dark_video, thresholds.dark_video * margin)
    fps = _under(seen.fps, thresholds.dark_fps, thresholds.dark_fps * margin)
    known = [sign for sign, value in ((video, seen.video), (fps, seen.fps)) if not isnan(value)]
    return CLEAR if known and all(sign == CLEAR for sign in known) else BETWEEN


def _low(seen: Seen, thresholds: Thresholds) -> Sign:
    return _sagging(seen, thresholds.low_video, thresholds.deadband)


def _starved(seen: Seen, thresholds: Thresholds) -> Sign:
    return _sagging(seen, thresholds.starved_video, thresholds.deadband)


def _sagging(seen: Seen, limit: float, deadband: float) -> Sign:
    """Few bits are a fault only where they are a shortage: a still picture of a variable rate needs no more."""
    normal = seen.usual.video
    if normal is None or seen.dark or isnan(seen.video):
        return BETWEEN
    if not seen.short:
        return CLEAR
    return _under(seen.video, limit * normal, (limit + deadband) * normal)


def _judder(seen: Seen, thresholds: Thresholds) -> Sign:
    return _slow(seen, thresholds.low_fps, thresholds.low_fps_deadband)


def _collapse(seen: Seen, thresholds: Thresholds) -> Sign:
    return _slow(seen, thresholds.collapsed_fps, thresholds.deadband)


def _slow(seen: Seen, limit: float, deadband: float) -> Sign:
    nominal = seen.usual.fps
    if nominal is None or seen.dark:
        return BETWEEN
    return _under(seen.fps, limit * nominal, (limit + deadband) * nominal)


def _mute(seen: Seen, thresholds: Thresholds) -> Sign:
    if seen.audio > 0:
        return CLEAR
    return BAD if seen.audio == 0 and seen.video >= thresholds.dark_video else BETWEEN


def _faint(seen: Seen, thresholds: Thresholds) -> Sign:
    """Silence is AUDIO_LOST's."""
    if seen.audio == 0:
        return BETWEEN
    return _under(seen.audio, thresholds.low_audio, thresholds.low_audio * (1 + thresholds.deadband))


def _loud(seen: Seen, thresholds: Thresholds) -> Sign:
    return _under(-seen.audio, -thresholds.high_audio, -thresholds.high_audio * (1 - thresholds.deadband))


def _drift(seen: Seen, thresholds: Thresholds) -> Sign:
    return _hit(seen, KEY_DRIFT, seen.drift >= thresholds.drift_share.hits)


def _severe(seen: Seen, thresholds: Thresholds) -> Sign:
    return _hit(seen, KEY_SEVERE, seen.severe >= thresholds.severe_share.hits)


def _loss(seen: Seen, _thresholds: Thresholds) -> Sign:
    return _hit(seen, LOSS, seen.status == LOSS)


def _hit(seen: Seen, status: int, often: bool) -> Sign:
    if often:
        return BAD
    return BETWEEN if seen.status in {status, NO_STATUS} else CLEAR


def _unstable(seen: Seen, thresholds: Thresholds) -> Sign:
    """A variable rate swings by design, as long as nothing suffers."""
    if seen.dark or isnan(seen.video):
        return BETWEEN
    if not seen.short:
        return CLEAR
    return _under(-seen.cv, -thresholds.unstable_cv, thresholds.deadband - thresholds.unstable_cv)


def _foreign(seen: Seen, _thresholds: Thresholds) -> Sign:
    if seen.status == NO_STATUS:
        return BETWEEN
    return CLEAR if seen.status in _DOCUMENTED else BAD


def _missing(seen: Seen, _thresholds: Thresholds) -> Sign:
    return BAD if _absent(seen) else CLEAR


def _absent(seen: Seen) -> list[str]:
    """The document's names of the fields that the sample lacks, of those that make a picture good."""
    video = ["bitrate_video"] if isnan(seen.video) else []
    fps = ["frame_rate"] if isnan(seen.fps) else []
    return video + fps + (["status"] if seen.status == NO_STATUS else [])


def _persists(spell: Spell, seen: Seen, thresholds: Thresholds) -> bool:
    return seen.status == KEY_SEVERE and seen.time - spell.since >= thresholds.severe_critical


def _broken(_spell: Spell, seen: Seen, thresholds: Thresholds) -> bool:
    return seen.heavy or seen.bursts >= thresholds.loss_bursts


def _blind(_spell: Spell, seen: Seen, _thresholds: Thresholds) -> bool:
    return isnan(seen.video)


def _words_dark(seen: Seen, thresholds: Thresholds) -> Words:
    return f"video {bits(seen.video)}, fps {frames(seen.fps)}", f"video over {bits(thresholds.dark_video)}"


def _words_low(seen: Seen, thresholds: Thresholds) -> Words:
    return f"video {bits(seen.video)}", _over(seen, thresholds.low_video)


def _words_starved(seen: Seen, thresholds: Thresholds) -> Words:
    beside = f", fps {frames(seen.fps)}, audio {bits(seen.audio)}"
    return f"video {bits(seen.video)}{beside}", _over(seen, thresholds.starved_video)


def _over(seen: Seen, share: float) -> str:
    normal = seen.usual.video or 0.0
    return f"over {bits(share * normal)}, usual {bits(normal)}"


def _words_fps(seen: Seen, _thresholds: Thresholds) -> Words:
    return f"fps {frames(seen.fps)}", f"fps {seen.usual.fps or 0.0:.0f}"


def _words_mute(_seen: Seen, _thresholds: Thresholds) -> Words:
    return "audio 0 while video flows", "audio"


def _words_faint(seen: Seen, thresholds: Thresholds) -> Words:
    return f"audio {bits(seen.audio)}", f"audio over {bits(thresholds.low_audio)}"


def _words_loud(seen: Seen, thresholds: Thresholds) -> Words:
    return f"audio {bits(seen.audio)}", f"audio under {bits(thresholds.high_audio)}"


def _words_drift(seen: Seen, thresholds: Thresholds) -> Words:
    return _uneven("20 %", seen.drift, thresholds.drift_share.window)


def _words_severe(seen: Seen, thresholds: Thresholds) -> Words:
    return _uneven("50 %", seen.severe, thresholds.severe_share.window)


def _uneven(limit: str, hits: int, window: int) -> Words:
    return f"key-frame times differ over {limit} in {hits} of {window} samples", "a constant key-frame interval"


def _words_loss(seen: Seen, thresholds: Thresholds) -> Words:
    bursts = f", {seen.bursts} bursts in 10 min" if seen.bursts > 1 else ""
    return f"loss in {seen.loss} of {thresholds.loss_share.window} samples{bursts}", "no loss"


def _words_unstable(seen: Seen, thresholds: Thresholds) -> Words:
    return f"video varies by {seen.cv:.0%}", f"under {thresholds.unstable_cv:.0%} in a minute"


def _words_foreign(seen: Seen, _thresholds: Thresholds) -> Words:
    return f"QoS status {seen.status}", "0, 3, 4 or 5"


def _words_missing(seen: Seen, _thresholds: Thresholds) -> Words:
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


def calm(seen: Seen, thresholds: Thresholds) -> bool:
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
