"""The limits that the monitor judges by, each with its unit and its reason. A monitor can be given other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from livedeck.monitor.model.alarm import Severity
from livedeck.record import Record


class Limit(NamedTuple):
    """Unit and reason of a limit, which the settings file and its template show beside the value."""

    unit: str
    reason: str


def limits_of(table: type) -> dict[str, Limit]:
    """Return unit and reason of each limit of a table by its name."""
    hints = get_type_hints(table, include_extras=True)
    return {name: limit for name, hint in hints.items() for limit in getattr(hint, "__metadata__", ())}


class AlarmLimits(Record, kw_only=True):
    """The limits of alarms and of alarm actions (monitoring.md, "Alarm lifecycle")."""

    acknowledged_critical: Annotated[
        float, Limit("s", "people may forget an acknowledged alarm, so the acknowledgement expires")
    ] = 300.0
    acknowledged_warning: Annotated[float, Limit("s", "a warning can wait longer, for a pause in the programme")] = (
        1800.0
    )
    shelved_most: Annotated[
        float, Limit("s on air", "longest shelf: an alarm that was shelved in one show must be visible in the next")
    ] = 3600.0
    cleared_listed: Annotated[float, Limit("s", "a cleared alarm stays listed long enough to be read")] = 300.0
    listed_most: Annotated[int, Limit("alarms", "a deck that runs for weeks must not fill the memory")] = 500

    flap_window: Annotated[float, Limit("s", "a fault that returns within this time counts as the same fault")] = 120.0
    flap_count: Annotated[
        int, Limit("onsets", "an alarm flaps from the third onset in `flap_window`, which is no news")
    ] = 3
    habit_window: Annotated[float, Limit("s", "episodes of a warning are counted in this time")] = 600.0
    habit_count: Annotated[
        int, Limit("episodes", "viewers complain of a fault that comes four times in ten minutes")
    ] = 4
    flood_window: Annotated[float, Limit("s", "alarms that rang are counted in this time")] = 600.0
    flood_count: Annotated[int, Limit("alarms", "a person follows one alarm a minute, not more (ISA-18.2)")] = 10

    shared_window: Annotated[float, Limit("s", "faults that begin this close together probably have one cause")] = 30.0
    shared_recent: Annotated[float, Limit("s", "a fault that began earlier did not begin together with a new one")] = (
        300.0
    )
    shared_events: Annotated[int, Limit("events", "two faults at once may be chance")] = 3
    shared_part: Annotated[
        float,
        Limit("share of the events on air", "if a smaller share fails, each event probably has a cause of its own"),
    ] = 0.5
    shared_hold: Annotated[
        float, Limit("s", "an onset waits this long for others, because every event is polled within this time")
    ] = 5.0
    shared_hold_most: Annotated[
        float, Limit("s", "an onset waits this long at most while events are late that would make it an incident")
    ] = 15.0
    picture_window: Annotated[float, Limit("s", "picture faults that begin this close together ring once")] = 60.0
    hidden_after: Annotated[
        float,
        Limit(
            "s",
            "symptoms of a fault clear one by one, so suppressed alarms stay suppressed for this long after it clears",
        ),
    ] = 20.0


Curve = tuple[tuple[float, float], ...]
"""Points (ratio of actual to expected, score), ascending; straight lines between them, flat outside."""


class Hold(Record):
    """The time that a fault must last before it is raised, and must be gone before it clears.

    The fault is raised after `samples` bad samples in a row and after `seconds`, whichever is later. It clears after
    `off` seconds without the fault.
    """

    samples: int
    seconds: float
    off: float


class Duty(Record):
    """The share of time that an intermittent fault needs before it is raised.

    The fault needs so many bad seconds, in so many spells, within 60 s (`short_`) or within 600 s (`long_`). The number
    of spells protects slow cadences, where one sample covers half a minute. With `critical` bad seconds in 600 s the
    fault is critical.
    """

    short_seconds: float
    short_spells: int
    long_seconds: float
    long_spells: int
    critical: float = 1e9


class Share(Record):
    """The count of a status that raises a fault: `hits` among the newest `window` samples."""

    hits: int
    window: int


class Content(StrEnum):
    """The content of an event, chosen by its owner (monitoring.md, "Content")."""

    SHOW = "show"
    RADIO = "radio"
    SILENT = "silent"
    SLIDES = "slides"
    SHARE = "share"
    CAMERA = "camera"

    @property
    def expectations(self) -> frozenset[Expectation]:
        """The expectations for this content."""
        return _EXPECTATIONS[self]


class Expectation(StrEnum):
    """An expectation for a stream.

    FLOOR: a video rate that fits the preset. MOTION: a picture that moves. LEVEL: a video rate that does not sink.
    """

    PICTURE = "picture"
    SOUND = "sound"
    FRAMES = "frames"
    FLOOR = "floor"
    MOTION = "motion"
    LEVEL = "level"


_EXPECTATIONS = {
    Content.SHOW: frozenset(Expectation),
    Content.RADIO: frozenset({Expectation.SOUND}),
    Content.SILENT: frozenset(Expectation) - {Expectation.SOUND},
    Content.SLIDES: frozenset(Expectation) - {Expectation.FLOOR, Expectation.MOTION},
    Content.SHARE: frozenset({Expectation.PICTURE, Expectation.SOUND, Expectation.LEVEL}),
    Content.CAMERA: frozenset({Expectation.PICTURE, Expectation.SOUND, Expectation.FRAMES}),
}


class Thresholds(Record, kw_only=True):
    """The limits of freshness, health and alarms (monitoring.md). Seconds, bit/s and frames/s throughout."""

    late_after: Annotated[float, Limit("s", "samples that are this much older than usual are late")] = 15.0
    late_intervals: Annotated[
        float, Limit("cadences", "at a slow cadence, used in place of `late_after` if it is longer")
    ] = 3.0
    missed_after: Annotated[float, Limit("s", "if samples are this late, the encoder counts as missing")] = 11.0
    missed_intervals: Annotated[
        float, Limit("cadences", "at a slow cadence, used in place of `missed_after` if it is longer")
    ] = 2.0
    missed_margin: Annotated[float, Limit("s", "added to the longest delay that left no hole in the samples")] = 2.0
    missed_margin_intervals: Annotated[
        float, Limit("cadences", "also added to the longest delay, because the next sample is due one cadence later")
    ] = 1.5
    missed_most: Annotated[
        float, Limit("s", "an encoder counts as missing after three minutes, however slow the delivery is")
    ] = 180.0
    delivery_least: Annotated[
        int, Limit("deliveries", "with fewer deliveries seen, the usual delay counts as unknown")
    ] = 3
    delivery_patience: Annotated[
        float, Limit("s", "while the usual delay is unknown, a stream may bring nothing new for this long")
    ] = 75.0
    delivery_fooled: Annotated[
        float, Limit("s", "if late metrics cause two false alarms within this time, the limit of lateness rises")
    ] = 1800.0
    metrics_late: Annotated[float, Limit("s", "metrics this far behind are reported")] = 30.0
    stale_after: Annotated[float, Limit("s", "samples this old say nothing about the present")] = 30.0
    stale_intervals: Annotated[
        float, Limit("cadences", "at a slow cadence, used in place of `stale_after` if it is longer")
    ] = 6.0
    answer_intervals: Annotated[
        float, Limit("polls", "if the newest reply is older than two poll intervals, a reply was lost")
    ] = 2.0
    blind_after: Annotated[float, Limit("s", "without a good reply for this long, the screen cannot be trusted")] = 30.0
    recovery: Annotated[float, Limit("s", "after an outage every event is polled again within this time")] = 10.0
    unanswered: Annotated[
        float, Limit("s", "in this time three polls of an event can fail; fewer failures may be chance")
    ] = 20.0
    unanswered_poor: Annotated[float, Limit("s", "on a poor link more polls fail by chance")] = 60.0
    alike_events: Annotated[
        int, Limit("events", "if this many fail alike by 5xx or silence, none of them is the cause")
    ] = 3
    alike_share: Annotated[
        float, Limit("share of other calls", "if this many other calls fail by 5xx or silence, no event is the cause")
    ] = 0.2
    clock_told: Annotated[float, Limit("s", "a clock step or a sleep of this machine is shown for this long")] = 60.0
    unwatched: Annotated[
        float, Limit("s", "a monitor that runs this late watched nothing: stopped, asleep or too slow")
    ] = 5.0
    own_window: Annotated[float, Limit("s", "the lateness of this machine is judged over this time")] = 30.0
    own_late: Annotated[float, Limit("s", "a machine this late in 1 of 20 moments is too slow")] = 1.0
    own_asks: Annotated[
        float,
        Limit(
            "share of the planned polls",
            "a machine is too slow if it makes a smaller share of its polls within 1.5 intervals",
        ),
    ] = 0.8
    own_asks_critical: Annotated[
        float,
        Limit("share of the planned polls", "with a smaller share for `own_hold`, most events are not really watched"),
    ] = 0.5
    own_hold: Annotated[
        float, Limit("s", "a machine stops being too slow after this time below half of the limits")
    ] = 60.0
    ended_by_another: Annotated[
        Severity,
        Limit("word", "severity of the alarm if somebody else completes an event on air: most shows end this way"),
    ] = Severity.WARNING
    ended_samples: Annotated[
        float,
        Limit(
            "s", "an event that ends this soon after its last sample counts as ended on air, because samples come late"
        ),
    ] = 60.0
    ended_told: Annotated[float, Limit("s", "the end of an event on air is shown for this long")] = 60.0
    link_window: Annotated[float, Limit("s", "lost replies are counted over this time")] = 60.0
    link_outage: Annotated[float, Limit("s", "failures for longer than this, without any reply, are an outage")] = 3.0
    link_passing: Annotated[
        float, Limit("s", "a failure counts as a lost reply if the same call succeeds within this time")
    ] = 15.0
    poor_link: Annotated[
        float, Limit("share of all replies that were lost", "a good link loses less than one reply in a hundred")
    ] = 0.05
    poor_link_least: Annotated[int, Limit("lost replies", "fewer losses may be chance")] = 3
    ahead: Annotated[
        float,
        Limit(
            "s", "a sample dated this far in the future comes from a wrong clock: the measured skew is never so wrong"
        ),
    ] = 30.0
    skew_least: Annotated[
        float, Limit("s", "the Date header resolves one second: less skew is not worth correcting")
    ] = 2.0
    skew_swing: Annotated[
        float, Limit("s", "the skew must fall this far below `skew_least`, or the correction would flicker")
    ] = 1.0
    skew_critical: Annotated[float, Limit("s", "countdowns are corrected, but people read this machine's clock")] = 10.0

    reconnect_window: Annotated[
        float, Limit("s", 'used if the event sets no reconnect window (platform-api.md, "Live event")')
    ] = 600.0
    warm_up: Annotated[
        float, Limit("s", "the first samples of an encoder vary widely, and a new stream has none at first")
    ] = 30.0

    content: Annotated[Content, Limit("word", "content of the event, which decides the expected signals")] = (
        Content.SHOW
    )
    hole_intervals: Annotated[
        float, Limit("cadences", "a longer time between two samples is a hole; one lost sample makes none")
    ] = 2.5
    hole_least: Annotated[
        float, Limit("s", "at a fast cadence, a gap is a hole if it is longer than the cadence by this")
    ] = 2.0
    silence_after: Annotated[float, Limit("s", "after this long without samples, the encoder counts as restarted")] = (
        15.0
    )
    silence_intervals: Annotated[
        float, Limit("cadences", "at a slow cadence, used in place of `silence_after` if it is longer")
    ] = 3.0
    window: Annotated[
        float, Limit("s", "rates are judged by their mean or median over this time: one odd sample is no fault")
    ] = 10.0

    usual_slot: Annotated[float, Limit("s", "the samples of this time give one value of the baseline")] = 10.0
    usual_slots: Annotated[int, Limit("slots", "ten minutes: longer than a scene, short enough to follow a show")] = 60
    usual_least: Annotated[int, Limit("slots", "a rate counts as usual after one minute")] = 6
    usual_sure: Annotated[int, Limit("slots", "a rate counts as constant after five minutes: a scene is shorter")] = 30
    usual_anew: Annotated[int, Limit("slots", "a new level that did not begin as a fault needs only two minutes")] = 12
    constant_spread: Annotated[
        float, Limit("P90 - P10 over median", "the spread of a constant rate stays below this for ten minutes")
    ] = 0.2
    constant_noise: Annotated[
        float,
        Limit(
            "share of the usual rate",
            "within a slot, the samples of a constant rate deviate less than this from their median",
        ),
    ] = 0.1
    witness_spread: Annotated[
        float, Limit("spread of the sound", "constant AAC shows 1 to 3 %, variable AAC 6 % and more")
    ] = 0.045
    witness_share: Annotated[
        float,
        Limit(
            "share of the usual sound rate",
            "if a normally constant sound rate falls below this, a low video rate counts as a fault",
        ),
    ] = 0.88
    witness_low: Annotated[
        float,
        Limit(
            "share of the sound's ordinary pauses",
            "the sound rate must also fall below this: an ordinary pause is no fault",
        ),
    ] = 0.93
    class_memory: Annotated[float, Limit("s", "a rate that proved variable counts as variable for this long")] = 3600.0
    variable_fps: Annotated[
        float, Limit("spread over median", "the frame rate of a screen share spreads this much within a slot")
    ] = 0.25
    variable_fps_frames: Annotated[float, Limit("frames/s", "the spread of the frame rate must also be this wide")] = (
        4.0
    )
    variable_fps_slots: Annotated[
        float, Limit("share of the slots", "the frame rate must spread in this many slots")
    ] = 0.3
    above_duty: Annotated[
        Duty,
        Limit(
            "s, spells", "a rate that stays above the usual for this long is variable, because a fault cannot add bits"
        ),
    ] = Duty(1e9, 9, 90.0, 4)

    out_video: Annotated[
        float, Limit("share of the usual rate", "a constant rate that deviates more has left its level")
    ] = 0.15
    out_fps: Annotated[
        float, Limit("share of the usual frame rate", "a frame rate that deviates more has left its level")
    ] = 0.05
    out_frames: Annotated[
        float, Limit("frames/s", "a frame rate must also deviate by more than this to leave its level")
    ] = 1.5
    steady_samples: Annotated[int, Limit("samples", "fewer samples do not show a steady level")] = 6
    steady: Annotated[
        float, Limit("s", "if a new level is steady this long and nothing else is wrong, a person probably chose it")
    ] = 45.0
    steady_spread: Annotated[float, Limit("P90 - P10 over median", "the spread of a steady level stays below this")] = (
        0.12
    )
    ragged_samples: Annotated[int, Limit("samples", "the newest samples of a deviation show whether it is steady")] = 12
    dirty: Annotated[float, Limit("s", "a new level that was unsteady once becomes usual only after this time")] = 600.0
    set_fps: Annotated[tuple[float, ...], Limit("frames/s", "frame rates that people set in encoders")] = (
        24.0,
        25.0,
        30.0,
        48.0,
        50.0,
        60.0,
    )
    set_fps_slack: Annotated[float, Limit("frames/s", "23.976 and 29.97 count as such rates, too")] = 0.6
    steps_variable: Annotated[
        int,
        Limit(
            "steps", "a video rate is variable if it steps this often within `class_memory`, without any other change"
        ),
    ] = 2

    good: Annotated[int, Limit("points", "a health of this or more is GOOD")] = 90
    fair: Annotated[int, Limit("points", "a health of this or more is FAIR")] = 70
    late_score: Annotated[int, Limit("points", "late samples may hide a fault, so the health is never GOOD")] = 80
    unknown_score: Annotated[int, Limit("points", "a stream without a known frame rate or status is never GOOD")] = 80

    video_curve: Annotated[
        Curve,
        Limit(
            "share of the usual, points",
            "a loss of up to 15 % is not visible; below half of the usual rate, the picture falls apart",
        ),
    ] = ((0.0, 0.0), (0.5, 40.0), (0.7, 70.0), (0.8, 90.0), (0.85, 100.0))
    fps_curve: Annotated[
        Curve, Limit("share of the usual, points", "viewers notice judder sooner than a softer picture")
    ] = ((0.0, 0.0), (0.5, 30.0), (0.8, 70.0), (0.95, 90.0), (0.98, 100.0))
    low_audio_score: Annotated[int, Limit("points", "low sound is not POOR as long as there is some")] = 75
    memory: Annotated[float, Limit("s", "key-frame faults and loss come in bursts: a minute without one ends them")] = (
        60.0
    )
    drift_scores: Annotated[
        tuple[int, ...], Limit("points", "score after 0, 1, 2 and 3 samples with status 3; three samples are a pattern")
    ] = (100, 85, 75, 45)
    severe_scores: Annotated[
        tuple[int, ...],
        Limit("points", "score after 0, 1 and 2 samples with status 4; two of six samples stall players"),
    ] = (100, 70, 40)
    loss_scores: Annotated[
        tuple[int, ...],
        Limit("points", "score after 0, 1, 2 and 3 samples with status 5; after three, viewers complain"),
    ] = (100, 80, 65, 20)
    fault_score: Annotated[int, Limit("points", "a stream with a warning or worse is never GOOD")] = 80

    deadband: Annotated[
        float,
        Limit(
            "points", "distance from the limit that raises to the limit that clears; without it, noise would ring twice"
        ),
    ] = 0.1
    dark_video: Annotated[float, Limit("bit/s", "a moving picture needs more bits")] = 50_000.0
    dark_fps: Annotated[float, Limit("frames/s", "a moving picture needs more frames")] = 1.0
    dark_hold: Annotated[Hold, Limit("samples, s", "viewers leave a black picture within seconds")] = Hold(2, 5.0, 10.0)
    dark_duty: Annotated[Duty, Limit("s, spells", "nobody watches 4 s of black in every 20 s")] = Duty(
        8.0, 3, 20.0, 4, 60.0
    )
    still_video: Annotated[
        float,
        Limit("share of the usual rate", "no scene of six real broadcasts needed less, a still or black picture does"),
    ] = 0.1
    still_hold: Annotated[Hold, Limit("samples, s", "with the first sample that is 20 s at a usual cadence")] = Hold(
        3, 14.0, 20.0
    )
    still_critical: Annotated[float, Limit("s", "a variable rate below `still_video` for this long shows a fault")] = (
        60.0
    )
    still_usual: Annotated[
        float,
        Limit("s", "a constant rate that stays that low is the new usual after this time: a slate or a pause card"),
    ] = 300.0
    low_video: Annotated[
        float, Limit("share of the usual rate", "a rate below this is low if one other measure shows a fault, too")
    ] = 0.7
    low_video_sure: Annotated[
        float, Limit("share of the usual rate", "a rate below this is low if two other measures show a fault, too")
    ] = 0.85
    low_hold: Annotated[Hold, Limit("samples, s", "a quiet scene ends sooner")] = Hold(3, 15.0, 20.0)
    ragged_hold: Annotated[
        Hold,
        Limit(
            "samples, s",
            "used if no other measure shows a fault; twelve samples after the fall, the rate no longer looks unsteady",
        ),
    ] = Hold(6, 28.0, 20.0)
    starved_video: Annotated[
        float, Limit("share of the usual rate", "an encoder saves less than this on a quiet scene")
    ] = 0.5
    starved_hold: Annotated[Hold, Limit("samples, s", "viewers see at once that half of the bits are missing")] = Hold(
        2, 10.0, 20.0
    )
    dip_video: Annotated[
        float, Limit("share of the usual rate", "in a dip of a constant rate, three samples are below this")
    ] = 0.75
    dip_duty: Annotated[Duty, Limit("s, spells", "viewers forgive two dips, not one every few minutes")] = Duty(
        18.0, 3, 60.0, 4
    )
    decay_video: Annotated[float, Limit("share of the best two minutes", "a single step lowers a rate by less")] = 0.77
    decay_video_noisy: Annotated[
        float,
        Limit(
            "share of the best two minutes", "limit for a noisy rate, from which three times its noise is subtracted"
        ),
    ] = 0.8
    decay_clear: Annotated[float, Limit("points", "the alarm clears if the share is this much above its limit")] = 0.05
    sunk_video: Annotated[
        float, Limit("share of the best two minutes", "a variable rate that sank below this lacks bits")
    ] = 0.4
    sunk_critical: Annotated[
        float, Limit("share of the best two minutes", "below this the sunk rate shows no detail any more")
    ] = 0.2
    floor_2160p: Annotated[
        float, Limit("bit/s", "half of the lowest H.264 rate that platforms publish, so that HEVC passes")
    ] = 4e6
    floor_1440p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 2.5e6
    floor_1080p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 1.5e6
    floor_720p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 750e3
    floor_480p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 300e3
    floor_360p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 200e3
    floor_clear: Annotated[
        float, Limit("times the floor", "a video rate this far above the floor clears the alarm")
    ] = 1.15
    floor_flat: Annotated[
        float, Limit("highest over median", "the rate of slides has peaks, that of a starved or stuck encoder has none")
    ] = 1.5
    frozen_floor: Annotated[float, Limit("share of the floor", "no moving picture of the preset's size needs less")] = (
        0.3
    )
    frozen: Annotated[float, Limit("s", "a picture may stand still for this long on purpose")] = 180.0
    low_fps: Annotated[float, Limit("share below the usual frame rate", "viewers notice the judder")] = 0.045
    low_fps_frames: Annotated[float, Limit("frames/s", "the frame rate must also be this much lower than usual")] = 1.2
    slow_fps: Annotated[
        float, Limit("frames/s", "below this rate a single frame is a large share, so `slow_fps_frames` applies")
    ] = 28.0
    slow_fps_frames: Annotated[
        float, Limit("frames/s", "at a usual rate below `slow_fps`, the frame rate must be this much lower than usual")
    ] = 1.5
    low_fps_hold: Annotated[Hold, Limit("samples, s", "a short judder passes unnoticed")] = Hold(3, 15.0, 20.0)
    collapsed_fps: Annotated[
        float, Limit("share of the usual frame rate", "below this, motion breaks into single pictures")
    ] = 0.8
    collapsed_hold: Annotated[Hold, Limit("samples, s", "viewers see missing frames at once")] = Hold(2, 10.0, 20.0)
    fps_duty: Annotated[Duty, Limit("s, spells", "judder that returns disturbs like judder that lasts")] = Duty(
        20.0, 2, 45.0, 3, 240.0
    )
    mute_hold: Annotated[Hold, Limit("samples, s", "viewers miss the sound within seconds")] = Hold(2, 5.0, 10.0)
    mute_duty: Annotated[Duty, Limit("s, spells", "nobody listens to a sound with 4 s gaps")] = Duty(
        8.0, 3, 20.0, 4, 60.0
    )
    low_audio: Annotated[
        float, Limit("share of the usual sound rate", "a sound of constant rate is low below this")
    ] = 0.4
    low_audio_rate: Annotated[float, Limit("bit/s", "at a higher rate the sound is still good")] = 32_000.0
    high_audio: Annotated[float, Limit("bit/s", "more than any common profile: the encoder is set wrongly")] = 320_000.0
    audio_hold: Annotated[Hold, Limit("samples, s", "a pause in the programme is shorter")] = Hold(3, 15.0, 30.0)
    quiet_audio: Annotated[
        float, Limit("share of the usual sound rate", "a sound of variable rate is near silence below this")
    ] = 0.06
    quiet_hold: Annotated[float, Limit("s", "encoders that save bits in pauses are near silence for less time")] = 40.0
    gap_duty: Annotated[Duty, Limit("s, spells", "counts the time without samples; two reconnects are critical")] = (
        Duty(16.0, 2, 30.0, 3, 45.0)
    )
    drift_share: Annotated[Share, Limit("samples", "three of ten samples are a pattern")] = Share(3, 10)
    drift_hold: Annotated[
        Hold, Limit("samples, s", "a scene cut shifts one key frame; shifts for 30 s come from a setting")
    ] = Hold(1, 30.0, 60.0)
    drift_duty: Annotated[Duty, Limit("s, spells", "samples with status 3 and 4 count together")] = Duty(
        20.0, 3, 36.0, 5
    )
    severe_share: Annotated[Share, Limit("samples", "two of six samples stall players that switch the quality")] = (
        Share(2, 6)
    )
    severe_hold: Annotated[Hold, Limit("samples, s", "the next switch of quality comes within seconds")] = Hold(
        1, 10.0, 60.0
    )
    severe_duty: Annotated[Duty, Limit("s, spells", "bursts of uneven key frames stall players, too")] = Duty(
        12.0, 3, 24.0, 4
    )
    severe_critical: Annotated[float, Limit("s", "by then every viewer has switched quality once")] = 60.0
    loss_share: Annotated[Share, Limit("samples", "one sample may be chance; three of six mean a broken path")] = Share(
        3, 6
    )
    loss_share_long: Annotated[Share, Limit("samples", "a path that loses packets less often is broken, too")] = Share(
        4, 15
    )
    slow_cadence: Annotated[float, Limit("s", "from this cadence on, a sample stands for many seconds of loss")] = 10.0
    loss_hits_slow: Annotated[int, Limit("samples", "at a slow cadence two of six samples are too many")] = 2
    loss_hold: Annotated[
        Hold, Limit("samples, s", "loss in three of six samples is critical once it lasts this long")
    ] = Hold(1, 15.0, 60.0)
    loss_duty: Annotated[Duty, Limit("s, spells", "loss in short bursts disturbs viewers, too")] = Duty(
        10.0, 3, 12.0, 5, 120.0
    )
    loss_witness: Annotated[Share, Limit("samples", "with this much loss, a low video rate counts as a fault")] = Share(
        2, 6
    )
    loss_witness_long: Annotated[
        Share, Limit("samples", "the same for loss that is less frequent and lasts longer")
    ] = Share(3, 15)
    change_hold: Annotated[Hold, Limit("samples, s", "a new level is shown for a minute")] = Hold(1, 0.0, 60.0)
    missing_hold: Annotated[Hold, Limit("samples, s", "one incomplete sample is chance")] = Hold(1, 10.0, 10.0)

    silence_off: Annotated[float, Limit("s", "samples must arrive for this long before a silence clears")] = 10.0
    window_stages: Annotated[
        tuple[float, ...], Limit("share of the reconnect window", "at each share the alarm asks for attention again")
    ] = (0.5, 0.8, 1.0)
    restream_hold: Annotated[Hold, Limit("samples, s", "a restream that reconnects needs some seconds")] = Hold(
        1, 15.0, 30.0
    )
    start_notice: Annotated[float, Limit("s", "before the start there is time to telephone the encoder's operator")] = (
        300.0
    )
    start_stages: Annotated[
        tuple[float, ...], Limit("s", "after the start; at each time the alarm asks for attention again")
    ] = (0.0, 60.0)
    start_forgotten: Annotated[
        float, Limit("s", "from this long after the start nobody waits any more; the tally still says LATE")
    ] = 21_600.0

    attention: Annotated[AlarmLimits, Limit("table", "limits of the alarms themselves")] = AlarmLimits()

    def floor(self, presets: Iterable[str]) -> float:
        """Return the lowest video rate (bit/s) that fits the highest of the presets; 0 if no preset is known."""
        floors = {
            "2160p": self.floor_2160p,
            "1440p": self.floor_1440p,
            "1080p": self.floor_1080p,
            "720p": self.floor_720p,
            "480p": self.floor_480p,
            "360p": self.floor_360p,
        }
        return max((floors.get(preset, 0.0) for preset in presets), default=0.0)


class Cadence(Record, kw_only=True):
    """The polling of the platform (monitoring.md, "Cadence"), in seconds."""

    events: float = 15.0  # a start or an end is noticed within this time
    events_near: float = 5.0  # the same near a scheduled start
    near_before: float = 600.0  # from T-10 min
    near_after: float = 300.0  # to T+5 min
    qos: float = 5.0  # three polls within the 15 s in which a lost encoder must be noticed
    qos_focus: float = 2.0  # the event on screen
    qos_early: float = 60.0  # an event long before its start: a test signal is noticed within a minute
    rooms: float = 30.0  # only while a screen shows rooms: people change them by hand
    late_watch: float = 3600.0  # an hour after its start an event is polled as rarely as the list
    jitter: float = 0.1  # share of the interval: decks that start together must not poll together
    backoff: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 30.0)  # after the first, second, ... failure in a row
    tick: float = 5.0  # ages and start times change without a reply
    together: float = 0.5  # s; calls due this soon join the round, or forty events would make forty rounds
    patience: float = 2.0  # s; a slow call can delay the other results this long
    at_once: int = 8  # calls in flight: a deck is a guest on the platform
    budget: float = 50.0  # requests/s for all polling: 200 events on air need 40
    quick_retry: float = 0.5  # s until a failed read is retried once, before its event is doubted
    report_retries: int = 4  # quick retries for a report: at 30 % loss 1 event in 400 stays unread
    probe: float = 4.5  # s between two checks during a back-off, so that a recovery is noticed within 5 s
    after_end: tuple[float, ...] = (90.0, 300.0, 900.0, 3600.0)  # s from the end of a stream to the
    # poll of its last minute, which is measured late; then between failed tries, after which it is dropped
    after_end_gap: float = 15.0  # s; samples this close to the end are complete
    after_end_watch: float = 86_400.0  # s; a stream that ended earlier is no longer polled
    refused: float = 0.05  # share of calls; above it the platform refuses our pace, and below chance may refuse one
    refused_window: float = 30.0  # s in which refused calls are counted
    pace_step: float = 10.0  # s between two changes of the pace, so that each shows its effect
    pace_growth: float = 1.1  # factor of a step back to the usual pace
    pace_least: float = 0.25  # share of the usual pace; slower polls would see a lost encoder after a minute
    give_up: int = 2  # failed rounds in a row after which a one-off report omits the platform


_Table = TypeVar("_Table", bound="Thresholds | Hold | Duty | Share | AlarmLimits")


def with_overrides(base: Thresholds, overrides: Mapping[str, object]) -> Thresholds:
    """Return `base` with some limits replaced, by name.

    A Hold, Duty, Share or AlarmLimits is given as a table, which may be partial.

    Raises ValueError with the path of the key and the allowed values.
    """
    return _override(base, overrides, "")


def _override(base: _Table, overrides: object, path: str) -> _Table:
    if not isinstance(overrides, Mapping):
        raise _not_allowed(path.rstrip("."), f"a table of {_names(base)}", overrides)
    values = {field.name: getattr(base, field.name) for field in fields(base)}
    for key in overrides:
        if key not in values:
            close = get_close_matches(str(key), values, n=1)
            hint = f"did you mean {close[0]}?" if close else f"allowed: {_names(base)}"
            raise ValueError(f"{path}{key}: there is no such threshold; {hint}")
    return replace(base, **{key: _parse(values[key], value, f"{path}{key}") for key, value in overrides.items()})


def _names(table: Thresholds | Hold | Duty | Share | AlarmLimits) -> str:
    return ", ".join(field.name for field in fields(table))


def _parse(default: Any, value: object, path: str) -> Any:
    """Return the value with the type of the default that it replaces."""
    match default:
        case Hold() | Duty() | Share() | AlarmLimits():
            return _override(default, value, f"{path}.")
        case tuple() if default and isinstance(default[0], tuple):
            return _parse_curve(value, path)
        case tuple():
            items = enumerate(_parse_list(value, path))
            return tuple(_parse(default[0], item, f"{path}[{index}]") for index, item in items)
        case StrEnum():
            return _parse_word(default, value, path)
        case int():
            if type(value) is not int or value < 1:
                raise _not_allowed(path, "a whole number from 1", value)
            return value
        case _:
            return _parse_number(value, path)


def _parse_number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        raise _not_allowed(path, "a number from 0 to 1e9", value)
    return float(value)


def _parse_word(default: StrEnum, value: object, path: str) -> StrEnum:
    words = type(default)
    word = next((word for word in words if word == value), None)
    if word is None:
        raise _not_allowed(path, f"one of {', '.join(words)}", value)
    return word


def _parse_list(value: object, path: str) -> list[object]:
    if not isinstance(value, list | tuple) or not value:
        raise _not_allowed(path, "a list", value)
    return list(value)


def _parse_curve(value: object, path: str) -> Curve:
    """Return the points of a curve, ascending by ratio."""
    points = [
        tuple(_parse_number(number, f"{path}[{index}]") for number in _parse_list(point, f"{path}[{index}]"))
        for index, point in enumerate(_parse_list(value, path))
    ]
    ratios = [point[0] for point in points]
    if any(len(point) != 2 for point in points) or sorted(set(ratios)) != ratios:
        raise _not_allowed(path, "a list of [ratio, score], the ratios ascending", value)
    return tuple((ratio, score) for ratio, score in points)


def _not_allowed(path: str, allowed: str, value: object) -> ValueError:
    return ValueError(f"{path}: {allowed} is allowed here, not {value!r:.60}")
