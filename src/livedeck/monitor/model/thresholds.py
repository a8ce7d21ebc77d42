"""The limits that the monitor judges by, each with its unit and its reason. A monitor can be given other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import Enum, StrEnum
from typing import Any, TypeVar

_Value = TypeVar("_Value")


def _limit(default: _Value, unit: str, reason: str) -> _Value:
    """Return a field with a default. The settings file and its template show unit and reason beside the value."""
    return field(default=default, metadata={"unit": unit, "reason": reason})


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmLimits:
    """The limits of alarms and of alarm actions (monitoring.md, "Alarm lifecycle")."""

    acknowledged_critical: float = _limit(300.0, "s", "an acknowledged alarm may be forgotten, so it expires")
    acknowledged_warning: float = _limit(1800.0, "s", "a warning may wait for a pause in the programme")
    shelved_most: float = _limit(3600.0, "s on air", "a shelf for one show must not silence the next show")
    cleared_listed: float = _limit(300.0, "s", "long enough to read a cleared alarm")
    listed_most: int = _limit(500, "alarms", "a deck that runs unattended for weeks must not grow")

    flap_window: float = _limit(120.0, "s", "a fault that returns within this time is one fault")
    flap_count: int = _limit(3, "onsets", "the third onset in two minutes says nothing new")
    habit_window: float = _limit(600.0, "s", "episodes of a warning are counted in this time")
    habit_count: int = _limit(4, "episodes", "viewers complain of a fault that comes four times in ten minutes")
    flood_window: float = _limit(600.0, "s", "alarms that rang are counted in this time")
    flood_count: int = _limit(10, "alarms", "a person follows one alarm a minute, not more (ISA-18.2)")

    shared_window: float = _limit(30.0, "s", "faults that begin this close together have one cause")
    shared_recent: float = _limit(300.0, "s", "older faults cannot coincide with a new one")
    shared_events: int = _limit(3, "events", "two faults at once may be chance")
    shared_part: float = _limit(0.5, "share of the events on air", "fewer have causes of their own")
    shared_hold: float = _limit(5.0, "s", "a bell waits this long: every event is polled within it")
    picture_window: float = _limit(60.0, "s", "picture faults that begin this close together ring once")
    hidden_after: float = _limit(20.0, "s", "signs of one fault clear in turn, so hidden ones stay hidden this long")


Curve = tuple[tuple[float, float], ...]
"""Points (ratio of actual to expected, score), ascending; straight lines between them, flat outside."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The time that a fault must last before it is raised, and must be gone before it clears.

    The fault is raised after `samples` bad samples in a row and after `seconds`, whichever is later. It clears after
    `off` seconds without the fault.
    """

    samples: int
    seconds: float
    off: float


@dataclass(frozen=True, slots=True)
class Duty:
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


@dataclass(frozen=True, slots=True)
class Share:
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

    @property
    def expectations(self) -> frozenset[Expectation]:
        """The expectations for this content."""
        return _EXPECTATIONS[self]


class Expectation(Enum):
    """An expectation for a stream. FLOOR: a video rate that fits the preset."""

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

    late_after: float = _limit(15.0, "s", "samples that much older than usual are late")
    late_intervals: float = _limit(3.0, "cadences", "the same for a slow cadence; the longer time counts")
    missed_after: float = _limit(11.0, "s", "an encoder whose samples are this late is missed")
    missed_intervals: float = _limit(2.0, "cadences", "the same for a slow cadence; the longer time counts")
    missed_margin: float = _limit(2.0, "s", "added to the worst delay of a delivery that left no hole")
    missed_margin_intervals: float = _limit(1.5, "cadences", "added as well: the next sample is due only then")
    missed_most: float = _limit(180.0, "s", "an encoder is missed after three minutes, however slow the delivery is")
    delivery_least: int = _limit(3, "deliveries", "fewer deliveries do not show the usual delay")
    delivery_patience: float = _limit(75.0, "s", "after the first poll only movement is evidence, not age")
    delivery_fooled: float = _limit(1800.0, "s", "two false alarms for late metrics in this time raise the limit")
    metrics_late: float = _limit(30.0, "s", "metrics this far behind are worth a word")
    stale_after: float = _limit(30.0, "s", "samples this old say nothing about now")
    stale_intervals: float = _limit(6.0, "cadences", "the same for a slow cadence; the longer time counts")
    answer_intervals: float = _limit(2.0, "polls", "a response older than two polls: one of them was lost")
    blind_after: float = _limit(30.0, "s", "without any good response the screen cannot be trusted")
    recovery: float = _limit(10.0, "s", "after an outage every event is polled again within this time")
    unanswered: float = _limit(20.0, "s", "three polls of an event fail in this time; fewer may be chance")
    unanswered_poor: float = _limit(60.0, "s", "the same on a poor link")
    clock_told: float = _limit(60.0, "s", "a clock step or a sleep of this machine is shown this long")
    unwatched: float = _limit(30.0, "s", "a monitor that runs this late was asleep, with or without its machine")
    empty_list: float = _limit(30.0, "s", "an event list that lacks every event is doubted this long")
    ended_told: float = _limit(60.0, "s", "the end of an event on air is shown this long")
    link_window: float = _limit(60.0, "s", "lost responses are counted in this time")
    link_outage: float = _limit(3.0, "s", "without any good response this long, the link is out")
    link_passing: float = _limit(15.0, "s", "a call that succeeds within three polls was lost in passing")
    poor_link: float = _limit(0.05, "share of lost responses", "a good link loses less than one in a hundred")
    poor_link_least: int = _limit(3, "lost responses", "fewer are chance")
    ahead: float = _limit(30.0, "s", "no measured skew errs this far: a sample dated later has a wrong clock")
    skew_least: float = _limit(2.0, "s", "the Date header resolves one second: less skew is not worth correcting")
    skew_swing: float = _limit(1.0, "s", "the skew must fall this far below that, or the correction would flicker")
    skew_critical: float = _limit(10.0, "s", "countdowns are corrected, but people read this machine's clock")

    reconnect_window: float = _limit(600.0, "s", 'if the event sets none (platform-api.md, "Live event")')
    warm_up: float = _limit(30.0, "s", "the first samples of an encoder swing, and a new stream has none yet")

    content: Content = _limit(Content.SHOW, "word", "what the event carries; the rest is not expected")
    hole_intervals: float = _limit(2.5, "cadences", "a wider gap between two samples is a hole: one lost sample is not")
    hole_least: float = _limit(2.0, "s", "the same beyond one cadence, for a fast cadence")
    silence_after: float = _limit(15.0, "s", "without samples the encoder was away, and its state begins again")
    silence_intervals: float = _limit(3.0, "cadences", "the same for a slow cadence; the longer time counts")
    window: float = _limit(10.0, "s", "rates are judged by the mean or median of this time: one odd sample is no fault")

    usual_slot: float = _limit(10.0, "s", "samples that teach one value of the baseline")
    usual_slots: int = _limit(60, "slots", "ten minutes: longer than a scene, short enough to follow a show")
    usual_least: int = _limit(6, "slots", "one minute before anything counts as usual")
    usual_sure: int = _limit(30, "slots", "five minutes before a rate counts as constant: a scene is shorter")
    usual_anew: int = _limit(12, "slots", "the same after a clean new level")
    constant_spread: float = _limit(0.2, "P90 - P10 over median", "a constant rate stays below it for ten minutes")
    constant_noise: float = _limit(0.1, "deviation over the usual rate", "a constant rate stays below it in a slot")
    witness_spread: float = _limit(
        0.045, "spread of the sound", "constant AAC shows 1 to 3 %, variable AAC 6 % and more"
    )
    witness_share: float = _limit(0.88, "share of the usual sound", "less of a constant sound is evidence of a fault")
    witness_low: float = _limit(0.93, "share of the sound's ordinary pauses", "less is evidence of a fault")
    class_memory: float = _limit(3600.0, "s", "a rate that proved variable counts as variable this long")
    variable_fps: float = _limit(0.25, "spread over median", "a screen share spreads its frame rate within a slot")
    variable_fps_frames: float = _limit(4.0, "frames/s", "the spread must also be this wide")
    variable_fps_slots: float = _limit(0.3, "share of the slots", "this many slots must spread")
    above_duty: Duty = _limit(Duty(1e9, 9, 90.0, 4), "s, spells", "time above the usual: a fault takes bits, adds none")

    out_video: float = _limit(0.15, "share of the usual", "beyond it a constant rate has left its level")
    out_fps: float = _limit(0.05, "share of the usual", "beyond it a frame rate has left its level")
    out_frames: float = _limit(1.5, "frames/s", "the same for a slow frame rate")
    steady_samples: int = _limit(6, "samples", "fewer do not show a steady level")
    steady: float = _limit(45.0, "s", "a new level this steady, all else well, was a person's decision")
    steady_spread: float = _limit(0.12, "P90 - P10 over median", "a steady level stays below it")
    ragged_samples: int = _limit(12, "samples", "the newest ones of an excursion show if it is steady")
    dirty: float = _limit(600.0, "s", "a level that began as a fault becomes usual only after this time")
    set_fps: tuple[float, ...] = _limit((24.0, 25.0, 30.0, 48.0, 50.0, 60.0), "frames/s", "rates that a person sets")
    set_fps_slack: float = _limit(0.6, "frames/s", "23.976 and 29.97 count as set rates, too")
    steps_variable: int = _limit(2, "steps", "a rate that steps alone this often in `class_memory` is variable")

    good: int = _limit(90, "points", "a health from here on is GOOD")
    fair: int = _limit(70, "points", "a health from here on is FAIR")
    late_score: int = _limit(80, "points", "late samples may hide anything: never GOOD")
    unknown_score: int = _limit(80, "points", "a stream without a known frame rate or status is never GOOD")

    video_curve: Curve = _limit(
        ((0.0, 0.0), (0.5, 40.0), (0.7, 70.0), (0.8, 90.0), (0.85, 100.0)),
        "share of the usual, points",
        "a loss up to 15 % is not visible; below half a picture falls apart",
    )
    fps_curve: Curve = _limit(
        ((0.0, 0.0), (0.5, 30.0), (0.8, 70.0), (0.95, 90.0), (0.98, 100.0)),
        "share of the usual, points",
        "viewers notice judder sooner than a softer picture",
    )
    low_audio_score: int = _limit(75, "points", "low sound is never POOR while it is not zero")
    memory: float = _limit(60.0, "s", "key-frame faults and loss come in bursts: a minute without one ends them")
    drift_scores: tuple[int, ...] = _limit((100, 85, 75, 45), "points", "by count of status 3: the third is a pattern")
    severe_scores: tuple[int, ...] = _limit((100, 70, 40), "points", "by count of status 4: two in six stall players")
    loss_scores: tuple[int, ...] = _limit(
        (100, 80, 65, 20), "points", "by count of status 5: one is an episode, viewers complain of three"
    )
    fault_score: int = _limit(80, "points", "a stream with a warning or worse is never GOOD")

    deadband: float = _limit(0.1, "points", "between raising and clearing, or noise would ring twice")
    dark_video: float = _limit(50_000.0, "bit/s", "below this no picture moves")
    dark_fps: float = _limit(1.0, "frames/s", "below this no picture moves")
    dark_hold: Hold = _limit(Hold(2, 5.0, 10.0), "samples, s", "viewers leave a black picture within seconds")
    dark_duty: Duty = _limit(Duty(8.0, 3, 20.0, 4, 60.0), "s, spells", "no viewer stays for 4 s of black in every 20 s")
    low_video: float = _limit(0.7, "share of the usual", "low with one witness")
    low_video_sure: float = _limit(0.85, "share of the usual", "low with two witnesses")
    low_hold: Hold = _limit(Hold(3, 15.0, 20.0), "samples, s", "a quiet scene is shorter")
    ragged_hold: Hold = _limit(
        Hold(6, 28.0, 20.0), "samples, s", "without a witness: twelve samples no longer remember the fall"
    )
    starved_video: float = _limit(0.5, "share of the usual", "more than an encoder saves on a quiet scene")
    starved_hold: Hold = _limit(Hold(2, 10.0, 20.0), "samples, s", "half the bits show at once")
    dip_video: float = _limit(0.75, "share of the usual", "a dip of a constant rate has three samples below it")
    dip_duty: Duty = _limit(Duty(18.0, 3, 60.0, 4), "s, spells", "viewers forgive two dips, not one every few minutes")
    decay_video: float = _limit(0.77, "share of the best two minutes", "a single step of a rate takes less")
    decay_video_noisy: float = _limit(0.8, "share of the best two minutes", "less three times the share of noise")
    decay_clear: float = _limit(0.05, "points", "this much higher the decay clears")
    floor_2160p: float = _limit(4e6, "bit/s", "half of the least that platforms publish for H.264: HEVC passes")
    floor_1440p: float = _limit(2.5e6, "bit/s", "half of the least that platforms publish")
    floor_1080p: float = _limit(1.5e6, "bit/s", "half of the least that platforms publish")
    floor_720p: float = _limit(750e3, "bit/s", "half of the least that platforms publish")
    floor_480p: float = _limit(300e3, "bit/s", "half of the least that platforms publish")
    floor_360p: float = _limit(200e3, "bit/s", "half of the least that platforms publish")
    floor_clear: float = _limit(1.15, "times the floor", "a rate this high clears the alarm")
    floor_flat: float = _limit(1.5, "highest over median", "slides are spiky, a starved or stuck encoder is flat")
    frozen_floor: float = _limit(0.3, "share of the floor", "no moving picture of that size needs less")
    frozen: float = _limit(180.0, "s", "a picture may stand still that long on purpose")
    low_fps: float = _limit(0.045, "share below the usual", "viewers notice the judder")
    low_fps_frames: float = _limit(1.2, "frames/s", "the loss must also be this large")
    slow_fps: float = _limit(28.0, "frames/s", "below this frames are counted coarsely")
    slow_fps_frames: float = _limit(1.5, "frames/s", "the loss that counts at such a rate")
    low_fps_hold: Hold = _limit(Hold(3, 15.0, 20.0), "samples, s", "a short judder passes unnoticed")
    collapsed_fps: float = _limit(0.8, "share of the usual", "below it motion breaks into single pictures")
    collapsed_hold: Hold = _limit(Hold(2, 10.0, 20.0), "samples, s", "viewers see it at once")
    fps_duty: Duty = _limit(
        Duty(20.0, 2, 45.0, 3, 240.0), "s, spells", "judder that returns disturbs like judder that lasts"
    )
    mute_hold: Hold = _limit(Hold(2, 5.0, 10.0), "samples, s", "viewers miss the sound within seconds")
    mute_duty: Duty = _limit(Duty(8.0, 3, 20.0, 4, 60.0), "s, spells", "no viewer stays for a sound with 4 s gaps")
    low_audio: float = _limit(0.4, "share of the usual sound", "for a sound of constant rate")
    low_audio_rate: float = _limit(32_000.0, "bit/s", "above this it still is sound")
    high_audio: float = _limit(320_000.0, "bit/s", "more than any common profile: the encoder is set wrongly")
    audio_hold: Hold = _limit(Hold(3, 15.0, 30.0), "samples, s", "a pause in the programme is shorter")
    gap_duty: Duty = _limit(
        Duty(16.0, 2, 30.0, 3, 45.0), "s, spells", "time without samples; two reconnects are critical"
    )
    drift_share: Share = _limit(Share(3, 10), "samples", "three of ten are a pattern")
    drift_hold: Hold = _limit(
        Hold(1, 30.0, 60.0), "samples, s", "a scene cut shifts a key frame; 30 s of it is a setting"
    )
    drift_duty: Duty = _limit(Duty(20.0, 3, 36.0, 5), "s, spells", "status 3 and 4 together")
    severe_share: Share = _limit(Share(2, 6), "samples", "two of six stall players as they switch quality")
    severe_hold: Hold = _limit(Hold(1, 10.0, 60.0), "samples, s", "the next switch of quality comes within seconds")
    severe_duty: Duty = _limit(Duty(12.0, 3, 24.0, 4), "s, spells", "bursts of it stall players, too")
    severe_critical: float = _limit(60.0, "s", "by then every viewer has switched quality once")
    loss_share: Share = _limit(Share(3, 6), "samples", "one blip says nothing; three of six is a broken path")
    loss_share_long: Share = _limit(Share(4, 15), "samples", "the same for a path that loses less often")
    slow_cadence: float = _limit(10.0, "s", "from here on each sample stands for many seconds of loss")
    loss_hits_slow: int = _limit(2, "samples", "so at a slow cadence two of six are too many")
    loss_hold: Hold = _limit(
        Hold(1, 15.0, 60.0), "samples, s", "then three of six are critical; the first only informs"
    )
    loss_duty: Duty = _limit(Duty(10.0, 3, 12.0, 5, 120.0), "s, spells", "loss in short bursts is loss")
    loss_witness: Share = _limit(Share(2, 6), "samples", "this much loss is evidence that a low rate is too low")
    loss_witness_long: Share = _limit(Share(3, 15), "samples", "the same for a path that loses less often")
    change_hold: Hold = _limit(Hold(1, 0.0, 60.0), "samples, s", "a new level is shown for a minute")
    missing_hold: Hold = _limit(Hold(1, 10.0, 10.0), "samples, s", "one incomplete sample is chance")

    silence_off: float = _limit(10.0, "s", "samples must last this long before a silence clears")
    window_stages: tuple[float, ...] = _limit(
        (0.5, 0.8, 1.0), "share of the reconnect window", "each deserves attention again"
    )
    restream_hold: Hold = _limit(Hold(1, 15.0, 30.0), "samples, s", "a restream that reconnects needs some seconds")
    start_notice: float = _limit(300.0, "s", "before the start there is time to telephone the encoder's operator")
    start_stages: tuple[float, ...] = _limit((0.0, 60.0), "s", "after the start; each deserves attention again")
    start_forgotten: float = _limit(
        21_600.0, "s", "after the start no viewer waits any more; the tally still says LATE"
    )

    attention: AlarmLimits = field(
        default_factory=AlarmLimits, metadata={"unit": "table", "reason": "limits of the alarms themselves"}
    )

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
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
    tick: float = 5.0  # ages and start times change without a response
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
