"""Limits of the monitor, each with its unit and its reason. Settings may replace the values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from livedeck.monitor.model.alarm import Severity
from livedeck.record import Record


class Limit(NamedTuple):
    """Unit and reason of a limit, shown beside its value in the docs and in the template of the settings file."""

    unit: str
    reason: str


def limits_of(table: type) -> dict[str, Limit]:
    """Return field -> unit and reason, for each field of the class that is a limit."""
    hints = get_type_hints(table, include_extras=True)
    return {name: limit for name, hint in hints.items() for limit in getattr(hint, "__metadata__", ())}


class AlarmLimits(Record, kw_only=True):
    """Limits of alarms and of alarm actions (monitoring.md, "Alarm lifecycle")."""

    acknowledged_critical: Annotated[
        float, Limit("s", "an acknowledgement of a critical alarm expires, because people may forget the alarm")
    ] = 300.0
    acknowledged_warning: Annotated[float, Limit("s", "a warning can wait longer, until a pause in the programme")] = (
        1800.0
    )
    shelved_most: Annotated[
        float, Limit("s on air", "an alarm that was shelved in one show must be visible in the next")
    ] = 3600.0
    cleared_listed: Annotated[
        float, Limit("s", "a cleared alarm stays listed for this long, so that people can read it")
    ] = 300.0
    listed_most: Annotated[int, Limit("alarms", "a deck that runs for weeks must not fill the memory")] = 500

    flap_window: Annotated[float, Limit("s", "a fault that often returns within this time is one flapping fault")] = (
        120.0
    )
    flap_count: Annotated[
        int, Limit("onsets", "with this many onsets in `flap_window` an alarm flaps: one more onset is no news")
    ] = 3
    habit_window: Annotated[float, Limit("s", "the onsets of a warning are counted over this time")] = 600.0
    habit_count: Annotated[
        int, Limit("onsets", "a warning with this many onsets in `habit_window` becomes critical: viewers complain")
    ] = 4
    flood_window: Annotated[float, Limit("s", "alarms that rang are counted over this time")] = 600.0
    flood_count: Annotated[int, Limit("alarms", "a person can follow about one alarm a minute (ISA-18.2)")] = 10

    shared_window: Annotated[float, Limit("s", "faults that begin this close together probably have one cause")] = 30.0
    shared_recent: Annotated[float, Limit("s", "an alarm that was raised longer ago counts for no new incident")] = (
        300.0
    )
    shared_events: Annotated[int, Limit("inputs", "two faults at once may be chance")] = 3
    shared_part: Annotated[
        float,
        Limit("share of the inputs on air", "if a smaller share fails, each input probably has a cause of its own"),
    ] = 0.5
    shared_hold: Annotated[
        float, Limit("s", "an onset waits this long for an incident, because every event is polled within this time")
    ] = 5.0
    shared_hold_most: Annotated[
        float, Limit("s", "longest wait of an onset, while events with late samples may still make it an incident")
    ] = 15.0
    picture_window: Annotated[float, Limit("s", "picture faults that begin this close together ring once")] = 60.0
    hidden_after: Annotated[
        float,
        Limit("s", "a suppressed alarm stays hidden for this long after its parent clears: symptoms clear one by one"),
    ] = 20.0


Curve = tuple[tuple[float, float], ...]
"""Points (ratio of actual to expected, score), ascending, with straight lines between them."""


class Hold(Record):
    """Minimum time that a fault is present before it is raised, and absent before it clears.

    The fault is raised after `samples` bad samples in a row and after `seconds`, whichever is later. It clears after
    `off` good seconds.
    """

    samples: int
    seconds: float
    off: float


class Duty(Record):
    """Bad time that raises an intermittent fault.

    `short_seconds`, `short_spells`: bad seconds and spells (uninterrupted bad periods) within 60 s. `long_seconds`,
    `long_spells`: the same within 600 s. Either pair raises the fault. `critical`: bad seconds within 600 s that make
    the fault critical. Spells are counted because one sample of a slow cadence covers half a minute.
    """

    short_seconds: float
    short_spells: int
    long_seconds: float
    long_spells: int
    critical: float = 1e9


class Share(Record):
    """Number of samples with a QoS status that raises a fault: `hits` among the newest `window` samples."""

    hits: int
    window: int


class Content(StrEnum):
    """Kind of programme that a person chose for an event (monitoring.md, "Content")."""

    SHOW = "show"
    RADIO = "radio"
    SILENT = "silent"
    SLIDES = "slides"
    SHARE = "share"
    CAMERA = "camera"

    @property
    def expectations(self) -> frozenset[Expectation]:
        """Properties that a stream with this content should have."""
        return _EXPECTATIONS[self]


class Expectation(StrEnum):
    """Property that a healthy stream should have, if its content calls for it.

    FLOOR: a video rate that fits the preset. MOTION: a picture that moves. LEVEL: rates that stay.
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
    """Limits of freshness, health and alarms (monitoring.md), in seconds, bit/s and frames/s."""

    late_after: Annotated[float, Limit("s", "samples that are this much older than usual are late")] = 15.0
    late_intervals: Annotated[
        float, Limit("cadences", "the same as `late_after`, for slow cadences; the longer of both applies")
    ] = 3.0
    missed_after: Annotated[
        float, Limit("s", "an encoder never counts as lost before its newest sample is this old")
    ] = 11.0
    missed_intervals: Annotated[
        float, Limit("cadences", "the same as `missed_after`, for slow cadences; the longer of both applies")
    ] = 2.0
    missed_margin: Annotated[float, Limit("s", "added to the longest learnt delay before samples count as missing")] = (
        2.0
    )
    missed_margin_intervals: Annotated[
        float, Limit("cadences", "added to the longest learnt delay as well: the next sample is due one cadence later")
    ] = 1.5
    missed_most: Annotated[
        float, Limit("s", "after this long without samples an encoder counts as lost, however slow the delivery is")
    ] = 180.0
    delivery_least: Annotated[int, Limit("deliveries", "with fewer deliveries the usual delay is unknown")] = 3
    delivery_patience: Annotated[
        float, Limit("s", "while the usual delay is unknown, a stream may be without a new sample for this long")
    ] = 75.0
    delivery_fooled: Annotated[
        float, Limit("s", "two late deliveries within this time that looked like silence extend the allowed delay")
    ] = 1800.0
    metrics_late: Annotated[float, Limit("s", "metrics that are later than this are reported (METRICS_LATE)")] = 30.0
    stale_after: Annotated[float, Limit("s", "samples that are this much older than usual prove nothing")] = 30.0
    stale_intervals: Annotated[
        float, Limit("cadences", "the same as `stale_after`, for slow cadences; the longer of both applies")
    ] = 6.0
    answer_intervals: Annotated[
        float, Limit("poll intervals", "a value is stale if its last reply is older than this")
    ] = 2.0
    blind_after: Annotated[float, Limit("s", "without a good reply for this long, the screen cannot be trusted")] = 30.0
    recovery: Annotated[float, Limit("s", "after an outage every event is polled again within this time")] = 10.0
    unanswered: Annotated[
        float, Limit("s", "QOS_STALE needs failed polls for this long, because one or two failures may be chance")
    ] = 20.0
    unanswered_poor: Annotated[
        float, Limit("s", "the same as `unanswered`, for a poor link, where more polls fail by chance")
    ] = 60.0
    alike_events: Annotated[
        int, Limit("events", "if this many events fail with 5xx or get no reply, none of them is the cause")
    ] = 3
    alike_share: Annotated[
        float,
        Limit(
            "share of other calls", "if this share fails with 5xx or gets no reply, a failing event is not the cause"
        ),
    ] = 0.2
    clock_told: Annotated[float, Limit("s", "a clock step or a sleep of this machine is shown for this long")] = 60.0
    unwatched: Annotated[
        float, Limit("s", "a monitor that is this late has not watched: it was stopped, asleep or too slow")
    ] = 5.0
    own_window: Annotated[float, Limit("s", "the lateness of this machine is judged over this time")] = 30.0
    own_late: Annotated[float, Limit("s", "a machine is too slow if 5 % of its wake-ups are later than this")] = 1.0
    own_asks: Annotated[
        float, Limit("share of the planned polls", "a machine that makes fewer of its polls in time is too slow")
    ] = 0.8
    own_asks_critical: Annotated[
        float, Limit("share of the planned polls", "OWN_SLOW is critical if fewer polls are in time for `own_hold`")
    ] = 0.5
    own_hold: Annotated[
        float, Limit("s", "a machine is no longer too slow after this long below half of the limits")
    ] = 60.0
    ended_by_another: Annotated[
        Severity,
        Limit("word", "severity if somebody else completes an event on air, as happens at the end of most shows"),
    ] = Severity.WARNING
    ended_samples: Annotated[
        float, Limit("s", "an event counts as ended on air if its last sample is at most this much older than its end")
    ] = 60.0
    ended_told: Annotated[float, Limit("s", "the end of an event on air is shown for this long")] = 60.0
    link_window: Annotated[float, Limit("s", "lost replies are counted over this time")] = 60.0
    link_outage: Annotated[
        float, Limit("s", "if all calls fail for longer than this, it is an outage and not a poor link")
    ] = 3.0
    link_passing: Annotated[
        float, Limit("s", "a failure counts as a lost reply if the same call succeeds within this time")
    ] = 15.0
    poor_link: Annotated[
        float, Limit("share of lost replies", "a link is poor from this share on; a good link loses less than 1 %")
    ] = 0.05
    poor_link_least: Annotated[
        int, Limit("lost replies", "with fewer losses a link is not called poor: the losses may be chance")
    ] = 3
    ahead: Annotated[
        float, Limit("s", "a sample dated further ahead has a wrong clock: the skew is known more exactly")
    ] = 30.0
    skew_least: Annotated[
        float, Limit("s", "a smaller skew is not corrected, because the Date header has whole seconds")
    ] = 2.0
    skew_swing: Annotated[
        float, Limit("s", "the correction ends only this far below `skew_least`, so that it does not flicker")
    ] = 1.0
    skew_critical: Annotated[
        float, Limit("s", "CLOCK_SKEW is critical: people start shows by this machine's clock")
    ] = 10.0

    reconnect_window: Annotated[
        float, Limit("s", 'used if the event sets no reconnect window (platform-api.md, "Live event")')
    ] = 600.0
    warm_up: Annotated[
        float, Limit("s", "a new run of samples is judged after this time, because its first samples vary widely")
    ] = 30.0

    content: Annotated[Content, Limit("word", "content of the event, which decides the expected signals")] = (
        Content.SHOW
    )
    hole_intervals: Annotated[
        float, Limit("cadences", "a longer gap between two samples is a hole; a single lost sample makes no hole")
    ] = 2.5
    hole_least: Annotated[float, Limit("s", "a hole must also be longer than the cadence by this")] = 2.0
    silence_after: Annotated[float, Limit("s", "an encoder counts as restarted after this long without samples")] = 15.0
    silence_intervals: Annotated[
        float, Limit("cadences", "the same as `silence_after`, for slow cadences; the longer of both applies")
    ] = 3.0
    window: Annotated[float, Limit("s", "rates are judged over this time, because a single odd sample is no fault")] = (
        10.0
    )

    usual_slot: Annotated[float, Limit("s", "length of a slot: its samples give one value for the baseline")] = 10.0
    usual_slots: Annotated[
        int, Limit("slots", "the baseline is learnt over ten minutes: longer than a scene, shorter than a show")
    ] = 60
    usual_least: Annotated[int, Limit("slots", "the usual value of a rate is known after one minute of samples")] = 6
    usual_sure: Annotated[
        int, Limit("slots", "a rate can count as constant after five minutes, because a scene is shorter")
    ] = 30
    usual_anew: Annotated[
        int, Limit("slots", "a new level that a person chose can count as constant after two minutes")
    ] = 12
    constant_spread: Annotated[
        float, Limit("P90 - P10 over median", "the slots of a constant rate spread less than this")
    ] = 0.2
    constant_noise: Annotated[
        float,
        Limit(
            "share of the usual rate", "the samples of a constant rate deviate less than this from their slot's median"
        ),
    ] = 0.1
    witness_spread: Annotated[
        float,
        Limit(
            "P90 - P10 over median",
            "a sound rate is constant if it spreads less than this: AAC 1 to 3 %, variable AAC over 6 %",
        ),
    ] = 0.045
    witness_share: Annotated[
        float,
        Limit(
            "share of the usual sound rate",
            "if a usually constant sound rate falls below this, a low video rate is a fault",
        ),
    ] = 0.88
    witness_low: Annotated[
        float,
        Limit(
            "share of the sound's ordinary pauses",
            "the witness must also be below this, because an ordinary pause of the sound is no fault",
        ),
    ] = 0.93
    class_memory: Annotated[float, Limit("s", "a rate that has proved variable counts as variable for this long")] = (
        3600.0
    )
    variable_fps: Annotated[
        float,
        Limit("spread over median", "a variable frame rate, such as of a screen share, spreads more within a slot"),
    ] = 0.25
    variable_fps_frames: Annotated[
        float, Limit("frames/s", "the spread of a variable frame rate must also be wider than this")
    ] = 4.0
    variable_fps_slots: Annotated[
        float, Limit("share of the slots", "a frame rate is variable if a larger share of its slots spreads that much")
    ] = 0.3
    above_duty: Annotated[
        Duty, Limit("s, spells", "a rate above the usual for this long is variable, because a fault cannot add bits")
    ] = Duty(1e9, 9, 90.0, 4)

    out_video: Annotated[
        float, Limit("share of the usual rate", "a constant video rate that deviates by more has left its level")
    ] = 0.15
    out_fps: Annotated[
        float, Limit("share of the usual frame rate", "a frame rate that deviates by more has left its level")
    ] = 0.05
    out_frames: Annotated[float, Limit("frames/s", "a frame rate must also deviate by more than this")] = 1.5
    steady_samples: Annotated[int, Limit("samples", "fewer samples do not prove a steady level")] = 6
    steady: Annotated[
        float,
        Limit("s", "a new level that is steady this long, without another fault, was probably chosen by a person"),
    ] = 45.0
    steady_spread: Annotated[
        float, Limit("P90 - P10 over median", "a level is steady if its values spread less than this")
    ] = 0.12
    ragged_samples: Annotated[
        int, Limit("samples", "number of newest samples that show whether a deviation is steady")
    ] = 12
    dirty: Annotated[float, Limit("s", "a new level that was unsteady becomes usual only after this time")] = 600.0
    set_fps: Annotated[tuple[float, ...], Limit("frames/s", "frame rates that people set in encoders")] = (
        24.0,
        25.0,
        30.0,
        48.0,
        50.0,
        60.0,
    )
    set_fps_slack: Annotated[
        float, Limit("frames/s", "a rate this close to one of `set_fps` counts as that rate, such as 29.97 as 30")
    ] = 0.6
    steps_variable: Annotated[
        int, Limit("steps", "a video rate that steps this often in `class_memory`, without another fault, is variable")
    ] = 2

    good: Annotated[int, Limit("points", "health from this score on is GOOD")] = 90
    fair: Annotated[int, Limit("points", "health from this score on is FAIR, below it is POOR")] = 70
    late_score: Annotated[
        int, Limit("points", "score of a stream with late samples: never GOOD, because they may hide a fault")
    ] = 80
    unknown_score: Annotated[int, Limit("points", "score of a stream without frame rates or statuses: never GOOD")] = 80

    video_curve: Annotated[
        Curve,
        Limit(
            "share of the usual, points",
            "viewers see no loss of up to 15 %; below half of the usual rate the picture falls apart",
        ),
    ] = ((0.0, 0.0), (0.5, 40.0), (0.7, 70.0), (0.8, 90.0), (0.85, 100.0))
    fps_curve: Annotated[
        Curve, Limit("share of the usual, points", "viewers notice judder sooner than a softer picture")
    ] = ((0.0, 0.0), (0.5, 30.0), (0.8, 70.0), (0.95, 90.0), (0.98, 100.0))
    low_audio_score: Annotated[int, Limit("points", "score of low sound: not POOR, because there is some")] = 75
    memory: Annotated[
        float, Limit("s", "uneven key frames and loss come in bursts; this long without them ends a burst")
    ] = 60.0
    drift_scores: Annotated[
        tuple[int, ...], Limit("points", "score for 0, 1, 2 and 3 samples with status 3; three samples are a pattern")
    ] = (100, 85, 75, 45)
    severe_scores: Annotated[
        tuple[int, ...], Limit("points", "score for 0, 1 and 2 samples with status 4; two of six samples stall players")
    ] = (100, 70, 40)
    loss_scores: Annotated[
        tuple[int, ...], Limit("points", "score for 0, 1, 2 and 3 samples with status 5; at three, viewers complain")
    ] = (100, 80, 65, 20)
    fault_score: Annotated[int, Limit("points", "score of a stream with a warning or worse: never GOOD")] = 80

    deadband: Annotated[
        float,
        Limit("points", "distance between the limits that raise and clear a fault, so that noise does not ring twice"),
    ] = 0.1
    dark_video: Annotated[
        float, Limit("bit/s", "below this there is no picture: every moving picture needs more bits")
    ] = 50_000.0
    dark_fps: Annotated[
        float, Limit("frames/s", "below this there is no picture: every moving picture needs more frames")
    ] = 1.0
    dark_hold: Annotated[Hold, Limit("samples, s", "viewers leave a black picture within seconds")] = Hold(2, 5.0, 10.0)
    dark_duty: Annotated[Duty, Limit("s, spells", "viewers do not put up with 4 s of black in every 20 s")] = Duty(
        8.0, 3, 20.0, 4, 60.0
    )
    still_video: Annotated[
        float,
        Limit("share of the usual rate", "only a still or black picture needs less, as six real broadcasts showed"),
    ] = 0.1
    still_hold: Annotated[
        Hold, Limit("samples, s", "at a usual cadence the alarm is raised 20 s after the picture stops")
    ] = Hold(3, 14.0, 20.0)
    still_critical: Annotated[float, Limit("s", "a variable rate below `still_video` for this long is critical")] = 60.0
    still_usual: Annotated[
        float, Limit("s", "a constant rate below `still_video` is usual after this time: a slate or a pause card")
    ] = 300.0
    low_video: Annotated[
        float, Limit("share of the usual rate", "a rate below this is low if there is one witness")
    ] = 0.7
    low_video_sure: Annotated[
        float, Limit("share of the usual rate", "a rate below this is low if there are two witnesses")
    ] = 0.85
    low_hold: Annotated[Hold, Limit("samples, s", "a quiet scene ends sooner than this")] = Hold(3, 15.0, 20.0)
    ragged_hold: Annotated[
        Hold, Limit("samples, s", "an unsteady low rate without a witness is a fault after this time")
    ] = Hold(6, 28.0, 20.0)
    starved_video: Annotated[float, Limit("share of the usual rate", "even a quiet scene needs more than this")] = 0.5
    starved_hold: Annotated[Hold, Limit("samples, s", "viewers see at once that half of the bits are missing")] = Hold(
        2, 10.0, 20.0
    )
    dip_video: Annotated[
        float, Limit("share of the usual rate", "a constant rate dips if three samples are below this")
    ] = 0.75
    dip_duty: Annotated[Duty, Limit("s, spells", "viewers forgive two dips, but not a dip every few minutes")] = Duty(
        18.0, 3, 60.0, 4
    )
    decay_video: Annotated[
        float, Limit("share of the best two minutes", "VIDEO_DECAY: a constant rate slowly fell below this")
    ] = 0.77
    decay_video_noisy: Annotated[
        float,
        Limit(
            "share of the best two minutes", "limit of VIDEO_DECAY for a noisy rate: this minus three times its noise"
        ),
    ] = 0.8
    decay_clear: Annotated[
        float, Limit("share of the best two minutes", "VIDEO_DECAY clears when the rate is this much above its limit")
    ] = 0.05
    sunk_video: Annotated[
        float, Limit("share of the best two minutes", "a variable rate that sank below this is too low")
    ] = 0.4
    sunk_critical: Annotated[
        float, Limit("share of the best two minutes", "a variable rate that sank below this is critical")
    ] = 0.2
    floor_2160p: Annotated[
        float, Limit("bit/s", "half of the lowest rate that platforms publish for H.264, so that HEVC is enough")
    ] = 4e6
    floor_1440p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 2.5e6
    floor_1080p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 1.5e6
    floor_720p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 750e3
    floor_480p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 300e3
    floor_360p: Annotated[float, Limit("bit/s", "half of the lowest rate that platforms publish")] = 200e3
    floor_clear: Annotated[float, Limit("times the floor", "VIDEO_BELOW_PRESET clears from this rate on")] = 1.15
    floor_flat: Annotated[
        float, Limit("highest over median", "a stuck encoder's rate is flatter than this; the rate of slides has peaks")
    ] = 1.5
    frozen_floor: Annotated[
        float, Limit("share of the floor", "every moving picture of the preset's size needs more")
    ] = 0.3
    frozen: Annotated[float, Limit("s", "a picture may stand still on purpose for less than this")] = 180.0
    low_fps: Annotated[
        float, Limit("share of the usual frame rate", "viewers notice the judder if the rate falls by this")
    ] = 0.045
    low_fps_frames: Annotated[float, Limit("frames/s", "the frame rate must also fall by this much")] = 1.2
    slow_fps: Annotated[float, Limit("frames/s", "for a usual rate below this, `slow_fps_frames` applies instead")] = (
        28.0
    )
    slow_fps_frames: Annotated[
        float, Limit("frames/s", "a frame rate with a usual value below `slow_fps` is low if it falls by this")
    ] = 1.5
    low_fps_hold: Annotated[Hold, Limit("samples, s", "a short judder passes unnoticed")] = Hold(3, 15.0, 20.0)
    collapsed_fps: Annotated[
        float, Limit("share of the usual frame rate", "below this, motion breaks into single pictures")
    ] = 0.8
    collapsed_hold: Annotated[Hold, Limit("samples, s", "viewers see missing frames at once")] = Hold(2, 10.0, 20.0)
    fps_duty: Annotated[
        Duty, Limit("s, spells", "judder that comes and goes disturbs as much as judder that lasts")
    ] = Duty(20.0, 2, 45.0, 3, 240.0)
    mute_hold: Annotated[Hold, Limit("samples, s", "viewers miss the sound within seconds")] = Hold(2, 5.0, 10.0)
    mute_duty: Annotated[Duty, Limit("s, spells", "nobody listens to a sound with 4 s gaps")] = Duty(
        8.0, 3, 20.0, 4, 60.0
    )
    low_audio: Annotated[float, Limit("share of the usual sound rate", "a constant sound rate is low below this")] = 0.4
    low_audio_rate: Annotated[float, Limit("bit/s", "sound is never low from this rate on")] = 32_000.0
    high_audio: Annotated[
        float, Limit("bit/s", "more than any common profile needs, so the encoder is set wrongly")
    ] = 320_000.0
    audio_hold: Annotated[Hold, Limit("samples, s", "a pause in the programme is shorter than this")] = Hold(
        3, 15.0, 30.0
    )
    quiet_audio: Annotated[float, Limit("share of the usual sound rate", "sound is near silence below this")] = 0.06
    quiet_hold: Annotated[
        float, Limit("s", "near silence is a fault after this time, because pauses in the programme are shorter")
    ] = 40.0
    gap_duty: Annotated[
        Duty, Limit("s, spells", "time without samples that raises DROPOUTS; two reconnects are critical")
    ] = Duty(16.0, 2, 30.0, 3, 45.0)
    drift_share: Annotated[Share, Limit("samples", "three of ten samples are a pattern")] = Share(3, 10)
    drift_hold: Annotated[
        Hold, Limit("samples, s", "a scene cut shifts one key frame, but shifts for 30 s come from a setting")
    ] = Hold(1, 30.0, 60.0)
    drift_duty: Annotated[Duty, Limit("s, spells", "samples with status 3 and 4 count together")] = Duty(
        20.0, 3, 36.0, 5
    )
    severe_share: Annotated[Share, Limit("samples", "two of six samples stall players that switch the quality")] = (
        Share(2, 6)
    )
    severe_hold: Annotated[Hold, Limit("samples, s", "players stall at the next switch of quality, within seconds")] = (
        Hold(1, 10.0, 60.0)
    )
    severe_duty: Annotated[Duty, Limit("s, spells", "bursts of uneven key frames stall players, too")] = Duty(
        12.0, 3, 24.0, 4
    )
    severe_critical: Annotated[
        float, Limit("s", "KEYFRAME_SEVERE is critical after this time: by then, every viewer has switched quality")
    ] = 60.0
    loss_share: Annotated[Share, Limit("samples", "one sample may be chance; three of six mean a broken path")] = Share(
        3, 6
    )
    loss_share_long: Annotated[
        Share, Limit("samples", "the same as `loss_share`, for loss that is less frequent but lasts longer")
    ] = Share(4, 15)
    slow_cadence: Annotated[
        float, Limit("s", "from this cadence on one sample covers many seconds, so `loss_hits_slow` applies")
    ] = 10.0
    loss_hits_slow: Annotated[int, Limit("samples", "replaces the hits of `loss_share` at a slow cadence")] = 2
    loss_hold: Annotated[
        Hold, Limit("samples, s", "PACKET_LOSS above `loss_share` is critical after these seconds")
    ] = Hold(1, 15.0, 60.0)
    loss_duty: Annotated[Duty, Limit("s, spells", "loss in short bursts disturbs viewers, too")] = Duty(
        10.0, 3, 12.0, 5, 120.0
    )
    loss_witness: Annotated[Share, Limit("samples", "with this much loss, a low video rate is a fault")] = Share(2, 6)
    loss_witness_long: Annotated[
        Share, Limit("samples", "the same as `loss_witness`, for loss that is less frequent but lasts longer")
    ] = Share(3, 15)
    change_hold: Annotated[Hold, Limit("samples, s", "PROFILE_CHANGE is shown for a minute")] = Hold(1, 0.0, 60.0)
    missing_hold: Annotated[Hold, Limit("samples, s", "a single incomplete sample may be chance")] = Hold(1, 10.0, 10.0)

    silence_off: Annotated[float, Limit("s", "a silence clears after samples have come for this long")] = 10.0
    window_stages: Annotated[
        tuple[float, ...], Limit("share of the reconnect window", "RECONNECTING asks for attention again at each share")
    ] = (0.5, 0.8, 1.0)
    restream_hold: Annotated[Hold, Limit("samples, s", "a restream may need some seconds to reconnect")] = Hold(
        1, 15.0, 30.0
    )
    start_notice: Annotated[
        float, Limit("s", "LATE_START warns this long before the start, so that people can call the encoder's operator")
    ] = 300.0
    start_stages: Annotated[
        tuple[float, ...], Limit("s after the start", "LATE_START asks for attention again at each time")
    ] = (0.0, 60.0)
    start_forgotten: Annotated[
        float,
        Limit(
            "s after the start", "after this time LATE_START ends, because nobody waits any more; the tally stays LATE"
        ),
    ] = 21_600.0

    viewer_rounds: Annotated[
        int, Limit("rounds", "bad rounds in a row that raise VIEWER_GONE, STALLED, SLOW, BLACK, FROZEN or SILENT")
    ] = 2
    viewer_rounds_long: Annotated[
        int, Limit("rounds", "VIEWER_RUNGS and VIEWER_LATE need so many bad rounds, because renditions may start late")
    ] = 3
    viewer_clear: Annotated[int, Limit("rounds", "good rounds in a row that clear an alarm about viewers")] = 2
    viewer_missing: Annotated[
        int, Limit("segments in 60 s", "VIEWER_SEGMENTS is a warning from here on; players skip a single segment")
    ] = 2
    viewer_missing_critical: Annotated[
        float,
        Limit(
            "share of the segments in 60 s", "VIEWER_SEGMENTS is critical from here on; players stop at so many holes"
        ),
    ] = 0.2
    viewer_slow: Annotated[
        float,
        Limit(
            "s for 1 s of media", "a longer fetch is slow: players need the rest of the second to refill their buffer"
        ),
    ] = 0.8
    viewer_late: Annotated[float, Limit("s", "VIEWER_LATE: the playlist is this far behind the encoder")] = 30.0
    viewer_late_reduced: Annotated[
        float, Limit("s", "the same as `viewer_late`, for an event with reduced latency")
    ] = 10.0
    viewer_blank: Annotated[
        float, Limit("s", "a black picture or silence raises an alarm after this time; a fade or a pause is shorter")
    ] = 20.0
    viewer_blank_critical: Annotated[
        float, Limit("s", "a black picture or silence of this length is critical: viewers leave")
    ] = 60.0
    viewer_frozen: Annotated[
        float, Limit("s", "VIEWER_FROZEN: a still picture that lasts less than this is no fault")
    ] = 60.0
    viewer_witness: Annotated[float, Limit("s", "older rounds of the probe are no witness of the present")] = 25.0
    viewer_witness_segments: Annotated[
        float,
        Limit(
            "segments", "a live witness is ahead of the newest sample by this plus the latency, because buffers play on"
        ),
    ] = 2.0
    viewer_witness_rounds: Annotated[
        int, Limit("rounds", "without dates in the playlist, its head must move in this many rounds during the silence")
    ] = 3
    viewer_unlisted: Annotated[
        float, Limit("s", "ENDED_ON_AIR of a missing event waits this much longer while viewers still get it")
    ] = 60.0
    viewer_after: Annotated[
        float, Limit("s", "a playlist that still plays this long after the end of its event is reported")
    ] = 60.0

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
    """Intervals and limits of polling (monitoring.md, "Cadence"), in seconds unless noted."""

    events: float = 15.0  # event list: a start or an end is noticed within this time
    events_near: float = 5.0  # event list near a scheduled start
    near_before: float = 600.0  # "near" begins this long before the start ...
    near_after: float = 300.0  # ... and ends this long after the start
    qos: float = 5.0  # samples of an event: three polls within the 15 s in which a lost encoder must be noticed
    qos_focus: float = 2.0  # samples of the event on the screen
    qos_early: float = 60.0  # samples of an event long before its start, which may have a test signal
    rooms: float = 30.0  # rooms, only while a screen shows them: people change them by hand
    late_watch: float = 3600.0  # this long after its start a late event is polled as rarely as the list
    jitter: float = 0.1  # share of the interval, so that decks that start together do not poll together
    backoff: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 30.0)  # list after the first, second, ... failure in a row
    tick: float = 5.0  # snapshots without a reply, because ages and start times change
    together: float = 0.5  # calls due within this time join the round, or forty events would make forty rounds
    patience: float = 2.0  # maximum length of a round, so that a slow call does not delay other results
    at_once: int = 8  # number of calls in flight: a deck is a guest on the platform
    budget: float = 50.0  # requests/s for all polling: 200 events on air need 40
    quick_retry: float = 0.5  # wait before a failed read is retried once
    report_retries: int = 4  # number of quick retries in a report: at 30 % loss 1 event in 400 stays unread
    probe: float = 4.5  # probe during a back-off, so that a recovery is noticed within 5 s
    after_end: tuple[float, ...] = (90.0, 300.0, 900.0, 3600.0)  # from a stream's end to the poll of its last minute,
    # which the platform measures late; then between failed tries, after which the stream is dropped
    after_end_gap: float = 15.0  # samples that reach this close to the end are complete
    after_end_watch: float = 86_400.0  # a stream that ended earlier is no longer polled
    refused: float = 0.05  # share of refused calls above which the platform refuses our pace
    refused_window: float = 30.0  # time over which refused calls are counted
    pace_step: float = 10.0  # between two changes of the pace, so that each shows its effect
    pace_growth: float = 1.1  # factor of a step back to the usual pace
    pace_least: float = 0.25  # share of the usual pace; at a lower one a lost encoder is noticed after a minute
    give_up: int = 2  # number of failed rounds in a row after which a one-off report omits the platform


_Table = TypeVar("_Table", bound="Thresholds | Hold | Duty | Share | AlarmLimits")


def with_overrides(base: Thresholds, overrides: Mapping[str, object]) -> Thresholds:
    """Return `base` with some limits replaced. `overrides`: name -> value.

    The value of a Hold, Duty, Share or AlarmLimits is a table, which may be partial. Raises ValueError with the path of
    the key and the allowed values.
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
    """Return a value checked and converted to the type of the default that it replaces."""
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
