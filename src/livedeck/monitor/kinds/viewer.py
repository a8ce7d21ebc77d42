"""Alarm kinds for faults at the viewers, as a probe of the playlist sees them (monitoring.md, "Viewers").

Each kind has a rule that judges one round after another. `detection/viewers.py` counts the bad and good rounds and
keeps the faults; the detectors here only report them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from livedeck.monitor.kinds.kind import (
    CDN,
    NO_INGEST,
    PROBE_BLIND,
    RECONNECTING,
    AlarmKind,
    EventCase,
    EventDetector,
    Observation,
)
from livedeck.monitor.model.alarm import Diagnosis, Severity
from livedeck.monitor.model.state import Component
from livedeck.monitor.model.thresholds import Expectation, Thresholds
from livedeck.monitor.model.viewer import Delivery, Picture, Sound, ViewerState
from livedeck.monitor.model.viewing import VIEWER_GONE, VIEWER_STALLED
from livedeck.monitor.signal.hysteresis import Level
from livedeck.text.values import age, safe

VIEWER_SLOW, VIEWER_SEGMENTS = "VIEWER_SLOW", "VIEWER_SEGMENTS"

_NEAR_HEIGHT = 0.1
"""Share by which the height of a rendition may differ from its preset: players show 1072 lines for 1080p."""

_FALLING = 1.0
"""Seconds by which the latency must fall from one round to the next to count as falling."""


class Look(NamedTuple):
    """Input of a judge: the newest round, the one before it, and facts about the event.

    `missing`, `asked`: number of missing segments in the last minute, and of all segments asked for. `presets`: heights
    of the renditions that the platform makes. `is_reduced`: the event has reduced latency. `has_skew`: the clocks of
    this machine and of the platform differ, so no latency is known.
    """

    state: ViewerState
    before: ViewerState | None = None
    missing: int = 0
    asked: int = 0
    presets: tuple[int, ...] = ()
    is_reduced: bool = False
    has_skew: bool = False


class Mark(NamedTuple):
    """Verdict of a kind on a round. DEADBAND: the round proves nothing. `since`: start of the fault; None for now."""

    level: Level
    actual: str = ""
    expected: str = ""
    since: datetime | None = None
    is_grave: bool = False
    is_slight: bool = False


_GOOD, _NOTHING = Mark(Level.GOOD), Mark(Level.DEADBAND)


class ViewerRule(NamedTuple):
    """Rule of a kind. `judge`: judges a round.

    `rounds`: name of the limit for bad rounds in a row; empty for one round. `seconds`: name of the limit for the
    length of the fault; empty for no minimum. A fault is raised when it reaches both limits.
    """

    judge: Callable[[Look, Thresholds], Mark]
    rounds: str = ""
    seconds: str = ""

    def least(self, thresholds: Thresholds) -> tuple[int, timedelta]:
        """Return the number of bad rounds and the length that raise the fault."""
        rounds = getattr(thresholds, self.rounds) if self.rounds else 1
        return rounds, timedelta(seconds=getattr(thresholds, self.seconds) if self.seconds else 0.0)


def _judge_gone(look: Look, _thresholds: Thresholds) -> Mark:
    state = look.state
    if state.delivery is Delivery.GONE:
        return Mark(Level.BAD, _here(state, state.error or "no playlist"), "a playlist", state.since)
    return _NOTHING if state.delivery is Delivery.UNKNOWN else _GOOD


def _judge_stalled(look: Look, _thresholds: Thresholds) -> Mark:
    state = look.state
    if state.delivery is Delivery.STALLED:
        return Mark(Level.BAD, _here(state, "no new segment"), "a new segment every few seconds", state.since)
    if state.delivery is Delivery.ENDED:
        actual = _here(state, "the playlist has ended, although the event is on air")
        return Mark(Level.BAD, actual, "a new segment every few seconds", state.since)
    return _GOOD if state.delivery.is_playing else _NOTHING


def _judge_segments(look: Look, thresholds: Thresholds) -> Mark:
    state, before = look.state, look.before
    was_missed, was_asked = (before.missed, before.listed) if before and before.listed <= state.listed else (0, 0)
    if state.missed > was_missed:
        actual = _here(state, f"{look.missing} of {look.asked} segments missing in 60 s")
        is_grave = look.missing >= thresholds.viewer_missing and (
            look.missing >= thresholds.viewer_missing_critical * look.asked
        )
        is_slight = look.missing < thresholds.viewer_missing
        return Mark(Level.BAD, actual, "every segment of the playlist", None, is_grave, is_slight)
    return _GOOD if state.listed > was_asked else _NOTHING


def _judge_slow(look: Look, thresholds: Thresholds) -> Mark:
    state = look.state
    if state.ratio is None or not state.delivery.is_playing:
        return _NOTHING
    if state.ratio <= thresholds.viewer_slow:
        return _GOOD
    since = state.since if state.delivery is Delivery.SLOW else None
    actual = _here(state, f"a second of media takes {state.ratio:.1f} s to fetch")
    return Mark(Level.BAD, actual, f"{thresholds.viewer_slow:g} s at most", since)


def _judge_rungs(look: Look, _thresholds: Thresholds) -> Mark:
    state = look.state
    if not state.rungs or not state.delivery.is_playing:
        return _NOTHING
    lacking = [preset for preset in look.presets if not any(_is_near(rung, preset) for rung in state.rungs)]
    if lacking and len(lacking) < len(look.presets):  # if none fits, the heights are not those of the presets
        names = ", ".join(f"{preset}p" for preset in sorted(lacking))
        return Mark(Level.BAD, _here(state, f"{names} missing"), "a rendition for each preset")
    if state.apart:
        return Mark(Level.BAD, _here(state, "; ".join(state.apart)), "renditions close to each other")
    return _GOOD


def _is_near(height: int, preset: int) -> bool:
    return abs(height - preset) <= _NEAR_HEIGHT * preset


def _judge_late(look: Look, thresholds: Thresholds) -> Mark:
    state, before = look.state, look.before
    if state.latency is None or look.has_skew or not state.delivery.is_playing:
        return _NOTHING
    limit = thresholds.viewer_late_reduced if look.is_reduced else thresholds.viewer_late
    if state.latency <= limit:
        return _GOOD
    if before and before.latency is not None and state.latency < before.latency - _FALLING:
        return _NOTHING
    return Mark(Level.BAD, _here(state, f"about {age(round(state.latency))} late"), f"{limit:.0f} s at most")


def _judge_black(look: Look, thresholds: Thresholds) -> Mark:
    return _judge_picture(look, thresholds, Picture.BLACK, "black picture", "a picture")


def _judge_frozen(look: Look, thresholds: Thresholds) -> Mark:
    if Expectation.MOTION not in thresholds.content.expectations:
        return _GOOD
    mark = _judge_picture(look, thresholds, Picture.STILL, "the picture does not move", "a picture that moves")
    return mark._replace(is_grave=False)


def _judge_picture(look: Look, thresholds: Thresholds, bad: Picture, actual: str, expected: str) -> Mark:
    state = look.state
    if Expectation.PICTURE not in thresholds.content.expectations:
        return _GOOD
    if state.picture is Picture.UNKNOWN:
        return _NOTHING
    if state.picture is not bad:
        return _GOOD
    return _lasting(look, thresholds, state.picture_since, actual, expected)


def _judge_silent(look: Look, thresholds: Thresholds) -> Mark:
    state = look.state
    if Expectation.SOUND not in thresholds.content.expectations:
        return _GOOD
    if state.sound in {Sound.UNKNOWN, Sound.HEARD}:
        return _GOOD if state.sound is Sound.HEARD else _NOTHING
    actual = "no sound track" if state.sound is Sound.NONE else "silence"
    actual = f"{actual} in {state.track}" if state.track else actual
    return _lasting(look, thresholds, state.sound_since, actual, "sound")


def _lasting(look: Look, thresholds: Thresholds, since: datetime | None, actual: str, expected: str) -> Mark:
    """Return the mark of a picture or sound that has been bad since `since`."""
    at = look.state.as_of
    seconds = (at - since).total_seconds() if at and since else 0.0
    is_grave = seconds >= thresholds.viewer_blank_critical
    return Mark(Level.BAD, _here(look.state, actual), expected, since, is_grave)


def _here(state: ViewerState, words: str) -> str:
    """Return the words with "from here" and the host added, because a probe's facts hold for this machine only."""
    return safe(f"{words}, from here" + (f" ({state.host})" if state.host else ""), 200)


def _observe(name: str, case: EventCase, _thresholds: Thresholds) -> Iterable[Observation]:
    """Report the fault of a kind while its event is on air."""
    viewing = case.viewer
    if viewing is None or not case.phase.tally.expects_signal:
        return
    fault = viewing.faults.get(name)
    if fault and fault.is_raised:
        since = fault.since + timedelta(seconds=viewing.skew)
        slight, grave = fault.is_slight, fault.is_grave
        yield Observation(fault.actual, fault.expected, since, is_escalated=grave, is_withdrawn=slight)


_WIDER = (PROBE_BLIND, CDN, NO_INGEST, RECONNECTING)
_UNSEEN = (*_WIDER, VIEWER_GONE, VIEWER_STALLED)

_DOWNSTREAM = "If the ingest is well, look at the platform's packager or CDN, not at the encoder."


def _kind(
    name: str,
    severity: Severity,
    hidden_by: tuple[str, ...],
    diagnosis: Diagnosis,
    *,
    shared: bool = False,
    is_of_picture: bool = False,
    is_of_sound: bool = False,
) -> AlarmKind:
    return AlarmKind(
        name=name,
        severity=severity,
        component=Component.NONE,
        detector=EventDetector(observe=partial(_observe, name)),
        hidden_by=hidden_by,
        shared=shared,
        incident=CDN,
        explained_by=(),
        diagnosis=diagnosis,
        is_of_picture=is_of_picture,
        is_of_sound=is_of_sound,
    )


VIEWER_KINDS = (
    _kind(
        VIEWER_GONE,
        Severity.CRITICAL,
        _WIDER,
        Diagnosis(
            cause="The host of the playlist does not serve it: packager, CDN or address.",
            viewers="No picture; players report an error.",
            advice=_DOWNSTREAM,
        ),
        shared=True,
    ),
    _kind(
        VIEWER_STALLED,
        Severity.CRITICAL,
        (*_WIDER, VIEWER_GONE),
        Diagnosis(
            cause="The playlist gets no new segments: packager, CDN, or an old copy in a cache.",
            viewers="The picture stops and players buffer.",
            advice=_DOWNSTREAM,
        ),
        shared=True,
    ),
    _kind(
        VIEWER_SEGMENTS,
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The playlist lists segments that the host does not serve, or serves damaged.",
            viewers="Short jumps; players stop if many segments are missing.",
            advice=_DOWNSTREAM,
        ),
        shared=True,
    ),
    _kind(
        VIEWER_SLOW,
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The host of the playlist, or the way to it from here, is too slow.",
            viewers="Players buffer, if the host is slow for them too.",
            advice="Play the event from another network; if it buffers there too, call the CDN.",
        ),
        shared=True,
    ),
    _kind(
        "VIEWER_RUNGS",
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The platform's transcoder makes a rendition late or not at all.",
            viewers="A quality is missing; players stall when they switch.",
            advice="Compare the presets of the event with the source; then call the platform's support.",
        ),
    ),
    _kind(
        "VIEWER_LATE",
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The packager or the CDN is far behind the encoder, or a clock is wrong.",
            viewers="The programme plays late; chat and picture do not match.",
            advice="Check the latency setting of the event; then call the platform's support.",
        ),
    ),
    _kind(
        "VIEWER_BLACK",
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The programme is black: the camera, the mixer or the transcoder.",
            viewers="A black picture.",
            advice="Look at the encoder's preview: if it has a picture, call the platform's support.",
        ),
        is_of_picture=True,
    ),
    _kind(
        "VIEWER_FROZEN",
        Severity.WARNING,
        (*_UNSEEN, "VIEWER_BLACK"),
        Diagnosis(
            cause="The picture stands still: a pause card, the camera, the mixer or the transcoder.",
            viewers="A picture that does not move.",
            advice="Look at the encoder's preview; for slides, set the content of the event.",
        ),
        is_of_picture=True,
    ),
    _kind(
        "VIEWER_SILENT",
        Severity.WARNING,
        _UNSEEN,
        Diagnosis(
            cause="The programme is silent: mute, the mixer, the encoder's input or the transcoder.",
            viewers="A picture without sound.",
            advice="Look at the encoder's meter: if it moves, call the platform's support.",
        ),
        is_of_sound=True,
    ),
)

VIEWER_RULES: Mapping[str, ViewerRule] = MappingProxyType(
    {
        VIEWER_GONE: ViewerRule(_judge_gone, "viewer_rounds"),
        VIEWER_STALLED: ViewerRule(_judge_stalled, "viewer_rounds"),
        VIEWER_SEGMENTS: ViewerRule(_judge_segments),
        VIEWER_SLOW: ViewerRule(_judge_slow, "viewer_rounds"),
        "VIEWER_RUNGS": ViewerRule(_judge_rungs, "viewer_rounds_long"),
        "VIEWER_LATE": ViewerRule(_judge_late, "viewer_rounds_long"),
        "VIEWER_BLACK": ViewerRule(_judge_black, "viewer_rounds", "viewer_blank"),
        "VIEWER_FROZEN": ViewerRule(_judge_frozen, "viewer_rounds", "viewer_frozen"),
        "VIEWER_SILENT": ViewerRule(_judge_silent, "viewer_rounds", "viewer_blank"),
    }
)
"""Alarm kind -> rule that judges the rounds of the probe."""

VIEWER_ALARMS = frozenset(VIEWER_RULES)
"""Names of the kinds of this file."""
