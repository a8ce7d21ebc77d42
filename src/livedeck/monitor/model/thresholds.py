"""Every number that the monitor judges by, with its unit and its reason. A monitor may be given others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import Enum, StrEnum
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmLimits:
    """The limits of alarms and of what is done to them (monitoring.md, "Alarm lifecycle"): seconds, counts, shares."""

    acknowledged_critical: float = 300.0  # s; an acknowledgement is a promise to act, and promises are forgotten
    acknowledged_warning: float = 1800.0  # s; a warning may wait for a pause in the programme
    shelved_most: float = 3600.0  # s on air: who shelves one show's alarm must not deafen the next
    cleared_listed: float = 300.0  # s; long enough to read what that was
    listed_most: int = 500  # alarms; a deck that nobody answers for weeks must not grow

    flap_window: float = 120.0  # s; in which a fault that keeps coming back is one fault
    flap_count: int = 3  # the third time in two minutes tells nothing that the second did not
    habit_window: float = 600.0  # s; in which episodes are counted
    habit_count: int = 4  # a warning that comes back four times in ten minutes is what viewers complain of
    flood_window: float = 600.0  # s; in which the alarms that rang are counted
    flood_count: int = 10  # a person follows one alarm a minute, not more (ISA-18.2)

    shared_window: float = 30.0  # s; faults that begin this close together have one cause
    shared_recent: float = 300.0  # s; older faults are no news that could coincide
    shared_events: int = 3  # inputs; two may be chance
    shared_part: float = 0.5  # of the inputs on air
    shared_hold: float = 5.0  # s that a bell waits for what may fail with it: each event is asked within that
    picture_window: float = 60.0  # s; kinds of one picture fault that begin this close together ring once
    hidden_after: float = 20.0  # s that an alarm stays hidden when its parent is over: signs of one fault end in turn


Curve = tuple[tuple[float, float], ...]
"""Points (ratio of actual to expected, score), ascending; straight lines between them, flat outside."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How long a fault must last before it counts, and its end before it is over.

    It begins after so many `samples` in a row and so many `seconds`, the longer; it ends after `off` s without it.
    """

    samples: int
    seconds: float
    off: float


@dataclass(frozen=True, slots=True)
class Duty:
    """How much of the time a fault that comes and goes must be there before it counts.

    Either so many bad seconds in so many spells within 60 s, or within 600 s. Spells guard slow cadences, where one
    sample is half a minute. From `critical` bad seconds in 600 s on it is critical.
    """

    short_seconds: float
    short_spells: int
    long_seconds: float
    long_spells: int
    critical: float = 1e9


@dataclass(frozen=True, slots=True)
class Share:
    """How often a status must occur: `hits` among the newest `window` samples."""

    hits: int
    window: int


class Content(StrEnum):
    """Content of an event, as its owner declares it (monitoring.md, "Content")."""

    SHOW = "show"
    RADIO = "radio"
    SILENT = "silent"
    SLIDES = "slides"
    SHARE = "share"

    @property
    def expectations(self) -> frozenset[Expectation]:
        """Expectations that hold for this content."""
        return _EXPECTATIONS[self]


class Expectation(Enum):
    """Something that can be expected of a stream. FLOOR: a video rate that fits the preset."""

    PICTURE = "picture"
    SOUND = "sound"
    FRAMES = "frames"
    FLOOR = "floor"


_EXPECTATIONS = {
    Content.SHOW: frozenset(Expectation),
    Content.RADIO: frozenset({Expectation.SOUND}),
    Content.SILENT: frozenset(Expectation) - {Expectation.SOUND},
    Content.SLIDES: frozenset(Expectation) - {Expectation.FLOOR},
    Content.SHARE: frozenset({Expectation.PICTURE, Expectation.SOUND}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits of freshness, health and alarms (monitoring.md). Seconds, bit/s and frames/s throughout."""

    late_after: float = 15.0  # s older than they are as a rule: such samples are late
    late_intervals: float = 3.0  # ... or this many of its own intervals, for a slow cadence
    missed_after: float = 11.0  # s; where samples are never older, an encoder whose samples are is missed
    missed_intervals: float = 2.0  # ... or this many of its own intervals, for a slow cadence
    missed_margin: float = 2.0  # s over the worst delay that a delivery without a hole has proven
    missed_margin_intervals: float = 1.5  # ... and this many intervals: a sample is due only then
    missed_most: float = 180.0  # s; however slow the delivery is, an encoder is missed after three minutes
    delivery_least: int = 3  # deliveries with news before their delay is called usual
    delivery_patience: float = 75.0  # s from the first look until then: movement is the evidence, not age
    delivery_fooled: float = 1800.0  # s; two silences in this time that were late metrics raise the limit
    metrics_late: float = 30.0  # s; metrics this far behind are worth a word
    stale_after: float = 30.0  # s; samples this old say nothing about now
    stale_intervals: float = 6.0
    answer_intervals: float = 2.0  # an answer older than two polls: one of them was lost
    blind_after: float = 30.0  # s without any good answer: nobody may trust the screen
    recovery: float = 10.0  # s after the link came back until every event was asked again: till then it is to blame
    unanswered: float = 20.0  # s without an answer of one event: three asks, each tried twice; fewer may be chance
    unanswered_poor: float = 60.0  # s; the same on a poor link
    clock_told: float = 60.0  # s for which a step of this machine's clock, or its sleep, is told
    unwatched: float = 30.0  # s; a monitor that is late by so much slept, with its machine or by itself
    empty_list: float = 30.0  # s; a list that lacks every event is doubted for so long
    ended_told: float = 60.0  # s for which it is told that an event ended while it was on air
    link_window: float = 60.0  # s; in which lost answers are counted
    link_outage: float = 3.0  # s without any good answer: an outage, and no loss in passing
    link_passing: float = 15.0  # s; what is answered within three asks was lost in passing
    poor_link: float = 0.05  # share of lost answers: good links lose less than one in a hundred
    poor_link_least: int = 3  # lost answers; fewer are chance
    ahead: float = 30.0  # s; no measured skew errs so far: a sample dated later is a wrong clock's, and no news
    skew_least: float = 2.0  # s; Date resolves one second and the way back is a guess: less is not worth correcting
    skew_swing: float = 1.0  # s under that until it counts as gone, or the guess would come and go
    skew_critical: float = 10.0  # s; countdowns are corrected, but whoever goes by this machine's clock is late

    reconnect_window: float = 600.0  # s; where the event names none (platform-api.md, "Live event")
    warm_up: float = 30.0  # s; an encoder's first samples swing, and a new stream has none yet

    content: Content = Content.SHOW  # what the event carries: radio has no picture, slides need few bits
    hole_intervals: float = 2.5  # cadences between two samples from which on some are missing: one lost is no hole
    hole_least: float = 2.0  # s beyond one cadence, for a fast one
    silence_after: float = 15.0  # s without a sample: the encoder was away, and what it was doing begins anew
    silence_intervals: float = 3.0  # ... or this many of its own intervals
    window: float = 10.0  # s; rates are judged by the mean or median of these: one odd sample is not a fault

    usual_slot: float = 10.0  # s of samples that teach one value
    usual_slots: int = 60  # slots remembered, 10 min: longer than a scene, short enough to follow a show
    usual_least: int = 6  # slots before anything is called usual: one minute
    usual_sure: int = 30  # slots before a rate is called constant: one scene of a variable rate is shorter than 5 min
    usual_anew: int = 12  # slots after a clean new level until it is called constant again
    constant_spread: float = 0.2  # P90 - P10 over median of the slots: a constant rate stays under it for 10 min
    constant_noise: float = 0.1  # deviation within a slot over the usual rate, likewise
    witness_spread: float = 0.045  # of the sound's slots: AAC of constant rate shows 1 to 3 %, of variable 6 % and more
    witness_share: float = 0.88  # of the usual sound: less of what is constant by habit is evidence
    witness_low: float = 0.93  # of the sound's ordinary pauses, likewise
    class_memory: float = 3600.0  # s that a rate shown to be variable counts as that
    variable_fps: float = 0.25  # spread over median of the frame rate within a slot: a screen share
    variable_fps_frames: float = 4.0  # ... and so many frames/s
    variable_fps_slots: float = 0.3  # of the slots that spread so
    above_duty: Duty = Duty(1e9, 9, 90.0, 4)  # s above the usual: a fault takes bits and never adds any

    out_video: float = 0.15  # of the usual: beyond this a constant rate has left its level
    out_fps: float = 0.05  # of the usual frame rate
    out_frames: float = 1.5  # frames/s, for a slow frame rate
    steady_samples: int = 6
    steady: float = 45.0  # s; a new level this steady, all else well, is a decision of somebody's
    steady_spread: float = 0.12  # P90 - P10 over median of a steady level
    ragged_samples: int = 12  # the newest of an excursion, that tell whether it is steady
    dirty: float = 600.0  # s; what began as a fault is accepted as usual only after so long
    set_fps: tuple[float, ...] = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0)  # rates that a person sets
    set_fps_slack: float = 0.6  # frames/s beside them: 23.976, 29.97
    steps_variable: int = 2  # accepted steps of the video rate alone within class_memory: scenes, no constant rate

    good: int = 90
    fair: int = 70
    late_score: int = 80  # late samples may hide anything: never GOOD
    unknown_score: int = 80  # nor is a stream of which the frame rate or the status was not measured

    video_curve: Curve = ((0.0, 0.0), (0.5, 40.0), (0.7, 70.0), (0.8, 90.0), (0.85, 100.0))
    fps_curve: Curve = ((0.0, 0.0), (0.5, 30.0), (0.8, 70.0), (0.95, 90.0), (0.98, 100.0))
    low_audio_score: int = 75  # ... so it is never POOR while it is not zero
    memory: float = 60.0  # s; key-frame faults and loss come in bursts: a minute without one is over
    drift_scores: tuple[int, ...] = (100, 85, 75, 45)  # by count of status 3 in its window: the third is a pattern
    severe_scores: tuple[int, ...] = (100, 70, 40)  # status 4: two in six and players stall as they switch
    loss_scores: tuple[int, ...] = (100, 80, 65, 20)  # status 5: one is an episode, three are what viewers complain of
    fault_score: int = 80  # nor is a stream GOOD while a warning or worse stands, whatever its newest samples say

    deadband: float = 0.1  # points between the level that raises and the one that clears, or noise would ring twice
    dark_video: float = 50_000.0  # bit/s; below this no picture moves
    dark_fps: float = 1.0
    dark_hold: Hold = Hold(2, 5.0, 10.0)
    dark_duty: Duty = Duty(8.0, 3, 20.0, 4, 60.0)  # 4 s of each 20: nobody goes on watching that
    low_video: float = 0.7  # of the usual, with one witness
    low_video_sure: float = 0.85  # ... and with two
    low_hold: Hold = Hold(3, 15.0, 20.0)
    ragged_hold: Hold = Hold(6, 28.0, 20.0)  # without a witness: longer than twelve samples remember the fall itself
    starved_video: float = 0.5  # of the usual: past what an encoder saves on a quiet scene
    starved_hold: Hold = Hold(2, 10.0, 20.0)
    dip_video: float = 0.75  # of the usual of a constant rate; a dip has three samples under it
    dip_duty: Duty = Duty(18.0, 3, 60.0, 4)
    decay_video: float = 0.77  # of the best two minutes: more than a step takes
    decay_video_noisy: float = 0.8  # ... less three times the share of noise
    decay_clear: float = 0.05  # points higher it is over
    floor_2160p: float = 4e6  # bit/s; half of the least that platforms publish for H.264: HEVC and a talking head pass
    floor_1440p: float = 2.5e6
    floor_1080p: float = 1.5e6
    floor_720p: float = 750e3
    floor_480p: float = 300e3
    floor_360p: float = 200e3
    floor_clear: float = 1.15  # of the floor
    floor_flat: float = 1.5  # highest over median: a slide deck is spiky, a starved or stuck encoder flat
    frozen_floor: float = 0.3  # of the floor: no moving picture of that size
    frozen: float = 180.0  # s of that
    low_fps: float = 0.045  # under the usual: viewers notice the judder
    low_fps_frames: float = 1.2  # ... and by so many frames/s
    slow_fps: float = 28.0  # frames/s; below this frames are counted coarsely
    slow_fps_frames: float = 1.5  # ... and so many count
    low_fps_hold: Hold = Hold(3, 15.0, 20.0)
    collapsed_fps: float = 0.8
    collapsed_hold: Hold = Hold(2, 10.0, 20.0)
    fps_duty: Duty = Duty(20.0, 2, 45.0, 3, 240.0)
    mute_hold: Hold = Hold(2, 5.0, 10.0)
    mute_duty: Duty = Duty(8.0, 3, 20.0, 4, 60.0)
    low_audio: float = 0.4  # of the usual sound, where that is constant
    low_audio_rate: float = 32_000.0  # bit/s; above this it is sound yet
    high_audio: float = 320_000.0  # bit/s; more than any common profile: the encoder is set wrongly
    audio_hold: Hold = Hold(3, 15.0, 30.0)
    gap_duty: Duty = Duty(16.0, 2, 30.0, 3, 45.0)  # s without samples; two reconnects are critical, as each was
    drift_share: Share = Share(3, 10)
    drift_hold: Hold = Hold(1, 30.0, 60.0)  # a scene cut shifts a key frame or two; half a minute of it is a setting
    drift_duty: Duty = Duty(20.0, 3, 36.0, 5)  # status 3 and 4 together
    severe_share: Share = Share(2, 6)
    severe_hold: Hold = Hold(1, 10.0, 60.0)
    severe_duty: Duty = Duty(12.0, 3, 24.0, 4)
    severe_critical: float = 60.0  # s; by now every viewer has met it at a change of quality
    loss_share: Share = Share(3, 6)  # one blip says nothing; three of six is a broken path
    loss_share_long: Share = Share(4, 15)
    slow_cadence: float = 10.0  # s between samples, from which on each of them is many seconds of loss ...
    loss_hits_slow: int = 2  # ... so that two of six are too many
    loss_hold: Hold = Hold(1, 15.0, 60.0)  # until three of six are critical; the first alone is information, at once
    loss_duty: Duty = Duty(10.0, 3, 12.0, 5, 120.0)
    loss_witness: Share = Share(2, 6)  # so much loss testifies that few bits are too few
    loss_witness_long: Share = Share(3, 15)
    change_hold: Hold = Hold(1, 0.0, 60.0)  # a new profile is told for a minute
    missing_hold: Hold = Hold(1, 10.0, 10.0)

    silence_off: float = 10.0  # s of samples after a silence until it counts as over
    window_stages: tuple[float, ...] = (0.5, 0.8, 1.0)  # shares of the reconnect window that deserve attention anew
    restream_hold: Hold = Hold(1, 15.0, 30.0)
    start_notice: float = 300.0  # s before the start: time enough to telephone the encoder's operator
    start_stages: tuple[float, ...] = (0.0, 60.0)  # s after it that deserve attention anew
    start_forgotten: float = 21_600.0  # s after it: nobody is waiting any more; the tally still says LATE

    attention: AlarmLimits = field(default_factory=AlarmLimits)

    def floor(self, presets: Iterable[str]) -> float:
        """The least video rate (bit/s) that the highest of these presets can be; 0 where none is known."""
        floors = {
            "2160p": self.floor_2160p,
            "1440p": self.floor_1440p,
            "1080p": self.floor_1080p,
            "720p": self.floor_720p,
            "480p": self.floor_480p,
            "360p": self.floor_360p,
        }
        return max((floors.get(preset, 0.0) for preset in presets), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """How often the platform is asked (monitoring.md, "Cadence"). Seconds."""

    events: float = 15.0  # a start or an end is known within this
    events_near: float = 5.0  # ... and this close to a scheduled start
    near_before: float = 600.0  # from T-10 min
    near_after: float = 300.0  # to T+5 min
    qos: float = 5.0  # three asks within the 15 s in which a lost encoder must be seen
    qos_focus: float = 2.0  # somebody is looking at it
    qos_early: float = 60.0  # of an event whose start is far: a test signal is seen within a minute
    rooms: float = 30.0  # only while somebody looks: a room changes by a person's hand
    late_watch: float = 3600.0  # an hour past its start an event is asked as seldom as the list
    jitter: float = 0.1  # share of the interval: decks started together must not ask together
    backoff: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 30.0)  # after the first, second, ... failure in a row
    tick: float = 5.0  # ages and start times move though no answer came
    together: float = 0.5  # s; calls due this soon go with the round, or forty events make forty rounds
    patience: float = 2.0  # s; one slow call may hold up the others' news this long
    at_once: int = 8  # calls in flight: a deck is a guest on the platform
    budget: float = 50.0  # requests/s of all polling together: 200 events on air need 40
    quick_retry: float = 0.5  # s until a read that failed in passing is tried once more, before its event is doubted
    report_retries: int = (
        4  # quick retries for a report: of thirty lost answers in a hundred that leaves 1 event in 400
    )
    probe: float = 4.5  # s between two looks, in a back-off, whether the platform is back: known within 5 s
    after_end: tuple[float, ...] = (90.0, 300.0, 900.0, 3600.0)  # from the end of a stream to the look at its last
    # minute, which is measured late; then between two tries that had no use, after which it is given up
    after_end_gap: float = 15.0  # s; samples that reach so near to the end are whole
    after_end_watch: float = 86_400.0  # s; a stream that ended before is not asked for any more
    give_up: int = 2  # failed rounds in a row after which a one-off report is made without the platform


_Table = TypeVar("_Table", bound="Thresholds | Hold | Duty | Share | AlarmLimits")


def with_overrides(base: Thresholds, overrides: Mapping[str, object]) -> Thresholds:
    """`base` with the overrides, by names of Thresholds; a Hold, Duty, Share or AlarmLimits is a table, given in part.

    Raises ValueError that says the path of the key and what is allowed there.
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
    """The value, of the type of the default that it replaces."""
    match default:
        case Hold() | Duty() | Share() | AlarmLimits():
            return _override(default, value, f"{path}.")
        case tuple() if default and isinstance(default[0], tuple):
            return _parse_curve(value, path)
        case tuple():
            items = enumerate(_parse_list(value, path))
            return tuple(_parse(default[0], item, f"{path}[{index}]") for index, item in items)
        case Content():
            return _parse_content(value, path)
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


def _parse_content(value: object, path: str) -> Content:
    content = next((content for content in Content if content == value), None)
    if content is None:
        raise _not_allowed(path, f"one of {', '.join(Content)}", value)
    return content


def _parse_list(value: object, path: str) -> list[object]:
    if not isinstance(value, list | tuple) or not value:
        raise _not_allowed(path, "a list", value)
    return list(value)


def _parse_curve(value: object, path: str) -> Curve:
    """Points, ascending by ratio."""
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
