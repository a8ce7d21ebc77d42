"""Every number that the monitor judges by, with its unit and its reason. Who builds a monitor may pass others."""

from __future__ import annotations

from dataclasses import dataclass

Curve = tuple[tuple[float, float], ...]
"""Points (ratio of actual to expected, score), ascending; straight lines between them, flat outside."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How long a fault must last before it counts: so many samples in a row and so many seconds, the longer."""

    samples: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Share:
    """How often a status must occur: `hits` among the newest `window` samples."""

    hits: int
    window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits of monitoring.md, "Freshness first" and "Alarms". Seconds, bit/s and frames/s throughout."""

    late_after: float = 15.0  # s; samples this old are late, and the encoder is missed
    late_intervals: float = 3.0  # ... or this many of its own intervals, for a slow cadence
    stale_after: float = 30.0  # s; samples this old say nothing about now
    stale_intervals: float = 6.0
    answer_intervals: float = 2.0  # an answer older than two polls: one of them was lost
    blind_after: float = 30.0  # s without any good answer: nobody may trust the screen
    recovery: float = 10.0  # s after the link came back until every event was asked again: till then it is to blame
    ahead: float = 30.0  # s; no measured skew errs so far: a sample dated later is a wrong clock's, and no news
    skew_least: float = 2.0  # s; Date resolves one second and the way back is a guess: less is not worth correcting
    skew_swing: float = 1.0  # s under that until it counts as gone, or the guess would come and go
    skew_critical: float = 10.0  # s; countdowns are corrected, but whoever goes by this machine's clock is late

    reconnect_window: float = 600.0  # s; where the event names none (platform-api.md, 8)
    warm_up: float = 30.0  # s; an encoder's first samples swing, and a new stream has none yet

    window: float = 10.0  # s; the score is the mean of these: one odd frame count is not a fault
    baseline: float = 600.0  # s; long enough for a quiet scene, short enough to follow a new profile
    baseline_least: float = 60.0  # s of normal samples before anything is called usual
    fps_percentile: float = 0.9  # the encoder's own rate is what it reaches when nothing hinders it
    usual_fps: tuple[float, ...] = (24.0, 25.0, 30.0, 50.0, 60.0)

    good: int = 90
    fair: int = 70
    late_score: int = 80  # late samples may hide anything: never GOOD
    unknown_score: int = 80  # nor is a stream of which the frame rate or the status was not measured

    video_curve: Curve = ((0.0, 0.0), (0.5, 40.0), (0.7, 70.0), (0.8, 90.0), (0.85, 100.0))
    fps_curve: Curve = ((0.0, 0.0), (0.5, 30.0), (0.8, 70.0), (0.95, 90.0), (0.98, 100.0))
    low_audio: float = 32_000.0  # bit/s; less than this is not music, and may be mere silence
    low_audio_score: int = 75  # ... so it is never POOR while it is not zero
    memory: float = 60.0  # s; key-frame faults and loss come in bursts: a minute without one is over
    drift_scores: tuple[int, ...] = (100, 85, 75, 45)  # by count of status 3 in its window: the third is a pattern
    severe_scores: tuple[int, ...] = (100, 70, 40)  # status 4: two in six and players stall as they switch
    loss_scores: tuple[int, ...] = (100, 80, 65, 20)  # status 5: one is an episode, three are what viewers complain of

    dark_video: float = 50_000.0  # bit/s; below this no picture moves
    dark_fps: float = 1.0
    low_video: float = 0.7  # of the baseline
    low_fps: float = 0.95  # of nominal: viewers notice the judder
    collapsed_fps: float = 0.8

    dark_hold: Hold = Hold(2, 5.0)
    low_hold: Hold = Hold(3, 15.0)
    collapsed_hold: Hold = Hold(2, 10.0)
    mute_hold: Hold = Hold(2, 5.0)
    drift_share: Share = Share(3, 10)
    severe_share: Share = Share(2, 6)
    loss_share: Share = Share(3, 6)  # one is an episode; three of six is a broken path

    start_notice: float = 300.0  # s before the start: time enough to telephone the encoder's operator
    start_forgotten: float = 21_600.0  # s after it: nobody is waiting any more; the tally still says LATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """How often the platform is asked (monitoring.md, "Cadence"). Seconds."""

    events: float = 15.0  # a start or an end is known within this
    events_near: float = 5.0  # ... and this close to a scheduled start
    near_before: float = 600.0  # from T-10 min
    near_after: float = 300.0  # to T+5 min
    qos: float = 5.0  # three asks within the 15 s in which a lost encoder must be seen
    qos_focus: float = 2.0  # somebody is looking at it
    late_watch: float = 3600.0  # an hour past its start an event is asked as seldom as the list
    jitter: float = 0.1  # share of the interval: decks started together must not ask together
    backoff: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 30.0)  # after the first, second, ... failure in a row
    tick: float = 5.0  # ages and start times move though no answer came
    together: float = 0.5  # s; calls due this soon go with the round, or forty events make forty rounds
    patience: float = 2.0  # s; one slow call may hold up the others' news this long
    at_once: int = 8  # calls in flight: a deck is a guest on the platform
    give_up: int = 2  # failed rounds in a row after which a one-off report is made without the platform
