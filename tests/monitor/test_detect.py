"""The rows of the alarm table, one by one: when a fault is raised, what it outlives, and when it is over."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from livedeck.monitor import Episode, Reading, Readings, Severity, Thresholds, with_overrides
from livedeck.monitor.detection.detect import SAMPLE_KINDS, detect, episodes
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.simulator.engine.encoder import SHAPES, qos
from monitor.stage import NOW, samples

EVERY = 2.0
CALM = 300
"""Samples before the fault: ten minutes."""

USUAL: dict[str, Any] = {"video": 4.5e6, "audio": 128e3, "fps": 30.0, "status": 0}


def stretch(count: int, **fault: Any) -> list[dict[str, Any]]:
    return [USUAL | fault] * count


def swinging(count: int, **fault: Any) -> list[dict[str, Any]]:
    """A variable rate: its samples are 15 % off its middle."""
    return [USUAL | {"video": 4.5e6 * (0.85 if index % 2 else 1.15)} | fault for index in range(count)]


def rows(parts: Iterable[dict[str, Any]]) -> list[Reading]:
    return [Reading(NOW.timestamp() + EVERY * index, **part) for index, part in enumerate(parts)]


def analyze(*parts: list[dict[str, Any]]) -> SignalAnalysis:
    """After a calm ten minutes and those parts, one sample each two seconds."""
    return analyze_readings(rows([*stretch(CALM), *(row for part in parts for row in part)]))


def analyze_readings(readings: list[Reading], **limits: object) -> SignalAnalysis:
    return detect(SignalAnalysis(), merge(Readings(), samples(readings)), with_overrides(Thresholds(), limits))


def past_episodes(analysis: SignalAnalysis) -> list[Episode]:
    return [episode for episode in episodes(analysis) if episode.until]


def after(count: int) -> datetime:
    """The time of the sample after so many since the calm."""
    return datetime.fromtimestamp(NOW.timestamp() + EVERY * (CALM + count), UTC)


ROWS = [
    ("BLACKOUT", {"video": 49_999.0}, 6, 10),
    ("BLACKOUT", {"fps": 0.9}, 6, 10),
    ("VIDEO_LOW", {"video": 0.69 * 4.5e6}, 16, 20),
    ("VIDEO_STARVED", {"video": 0.49 * 4.5e6}, 10, 20),
    ("FPS_LOW", {"fps": 28.0}, 16, 20),
    ("FPS_COLLAPSE", {"fps": 23.0}, 10, 20),
    ("AUDIO_LOST", {"audio": 0.0}, 6, 10),
    ("AUDIO_LOW", {"audio": 31_999.0}, 16, 30),
    ("AUDIO_HIGH", {"audio": 320_001.0}, 16, 30),
    ("KEYFRAME_DRIFT", {"status": 3}, 34, 60),  # the third hit is 4 s in
    ("KEYFRAME_SEVERE", {"status": 4}, 12, 60),  # the second is 2 s in
    ("PACKET_LOSS", {"status": 5}, 0, 60),
    ("UNKNOWN_STATUS", {"status": 7}, 0, 0),
    ("UNKNOWN_DATA", {"fps": None}, 10, 10),
    ("UNKNOWN_DATA", {"status": None}, 10, 10),
]
"""Kind, its signal, seconds from the first bad sample to the raising one, seconds of the good until it is over."""

COUNTED = {"KEYFRAME_DRIFT", "KEYFRAME_SEVERE", "PACKET_LOSS"}
"""Those that count a status end so long after its last sample; the others after the first good one."""


def test_every_kind_that_samples_raise_has_a_row() -> None:
    assert {kind for kind, *_ in ROWS} | {"BITRATE_UNSTABLE"} == {kind.name for kind, _ in SAMPLE_KINDS}


@pytest.mark.parametrize(("kind", "fault", "on", "off"), ROWS)
def test_a_fault_is_raised_when_it_has_held_and_not_before(
    kind: str, fault: dict[str, Any], on: float, off: float
) -> None:
    del off
    edge = round(on / EVERY) + 1
    assert kind not in analyze(stretch(edge - 1, **fault)).intervals
    interval = analyze(stretch(edge, **fault)).intervals[kind]
    assert interval.since == after(0).timestamp()


@pytest.mark.parametrize(("kind", "fault", "on", "off"), ROWS)
def test_a_fault_is_over_after_its_delay_and_not_before(
    kind: str, fault: dict[str, Any], on: float, off: float
) -> None:
    length = round(on / EVERY) + 5
    good = round(off / EVERY) + (0 if kind in COUNTED else 1)
    if off:
        assert kind in analyze(stretch(length, **fault), stretch(good - 1)).intervals
    analysis = analyze(stretch(length, **fault), stretch(good))
    assert kind not in analysis.intervals
    (episode,) = [episode for episode in past_episodes(analysis) if episode.kind == kind]
    ended = length - 1 if kind in COUNTED else length
    assert (episode.since, episode.until) == (after(0), after(ended))


@pytest.mark.parametrize(
    ("limits", "fault", "kind"),
    [
        ({"low_audio": 0}, {"audio": 0.0}, "AUDIO_LOST"),
        ({"low_fps": 0.5}, {"fps": 20.0}, "FPS_COLLAPSE"),
        ({"low_video": 0.3, "unstable_cv": 9}, {"video": 0.4 * 4.5e6}, "VIDEO_STARVED"),
    ],
)
def test_a_warning_that_a_setting_silences_takes_no_critical_alarm_with_it(
    limits: dict[str, object], fault: dict[str, Any], kind: str
) -> None:
    assert set(analyze_readings(rows([*stretch(CALM), *stretch(20, **fault)]), **limits).intervals) == {kind}


@pytest.mark.parametrize("seconds", [0, 1])
def test_of_a_minute_without_length_nothing_is_unstable(seconds: int) -> None:
    assert analyze_readings(rows(swinging(CALM)), unstable_window=seconds).intervals == {}


@pytest.mark.parametrize("limits", [{"dark_video": 0}, {"dark_video": 0, "dark_fps": 0}])
@pytest.mark.parametrize("fault", [{"video": 0.0}, {"video": 0.0, "fps": 0.0}])
@pytest.mark.parametrize("calm", [0, CALM])
def test_no_picture_is_judged_where_a_setting_expects_none(
    limits: dict[str, object], fault: dict[str, Any], calm: int
) -> None:
    """Of a stream that is sound alone its BLACKOUT is silenced: a usual rate of 0 is one."""
    analysis = analyze_readings(
        rows([*stretch(calm), *stretch(600, **fault), *stretch(30, **fault, audio=0.0)]), **limits
    )
    assert "AUDIO_LOST" in analysis.intervals


@pytest.mark.parametrize(
    "almost",
    [
        {"video": 0.7 * 4.5e6},
        {"fps": 28.5},
        {"audio": 32_000.0},
        {"audio": 320_000.0},
        {"audio": None},
        {"video": 5.2e6},
    ],
)
def test_what_is_just_within_its_limit_raises_nothing(almost: dict[str, Any]) -> None:
    assert analyze(stretch(90, **almost)).intervals == {}


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ({"video": 50_000.0}, {"VIDEO_STARVED", "VIDEO_LOW"}),
        ({"video": 0.5 * 4.5e6}, {"VIDEO_LOW"}),
        ({"fps": 24.0}, {"FPS_LOW"}),
        ({"audio": 1.0}, {"AUDIO_LOW"}),
        ({"video": 0.0, "fps": 0.0}, {"BLACKOUT"}),
        ({"video": 0.0, "audio": 0.0, "fps": 0.0}, {"BLACKOUT"}),
        ({"video": None, "audio": 0.0}, {"UNKNOWN_DATA"}),
    ],
)
def test_the_level_and_not_its_neighbour_is_raised(fault: dict[str, Any], kinds: set[str]) -> None:
    assert set(analyze(stretch(40, **fault)).intervals) == kinds


def test_a_fault_clears_ten_points_over_the_level_that_raised_it() -> None:
    low = stretch(12, video=0.69 * 4.5e6)
    assert "VIDEO_LOW" in analyze(low, stretch(100, video=0.79 * 4.5e6)).intervals
    assert "VIDEO_LOW" not in analyze(low, stretch(100, video=0.81 * 4.5e6)).intervals
    starved = stretch(12, video=0.49 * 4.5e6)
    assert "VIDEO_STARVED" in analyze(starved, stretch(100, video=0.59 * 4.5e6)).intervals
    assert "VIDEO_STARVED" not in analyze(starved, stretch(100, video=0.61 * 4.5e6)).intervals


def test_a_good_run_that_breaks_begins_anew() -> None:
    mute = stretch(8, audio=0.0)
    analysis = analyze(mute, stretch(4), stretch(1, audio=0.0), stretch(5))
    assert "AUDIO_LOST" in analysis.intervals
    assert past_episodes(analysis) == []


def test_what_is_missing_neither_raises_nor_clears() -> None:
    assert "AUDIO_LOST" not in analyze(stretch(2, audio=0.0), stretch(1, audio=None), stretch(2, audio=0.0)).intervals
    assert "AUDIO_LOST" in analyze(stretch(8, audio=0.0), stretch(60, audio=None)).intervals


@pytest.mark.parametrize("evidence", [{"status": 5}, {"fps": 28.0}, {"audio": 0.79 * 128e3}])
def test_few_bits_of_a_variable_rate_are_a_fault_only_where_something_suffers(evidence: dict[str, Any]) -> None:
    history = rows([*swinging(CALM), *stretch(20, video=0.4 * 4.5e6)])
    assert analyze_readings(history).intervals == {}
    starved = analyze_readings(rows([*swinging(CALM), *stretch(20, video=0.4 * 4.5e6, **evidence)]))
    assert {"VIDEO_STARVED", "VIDEO_LOW"} <= set(starved.intervals)


@pytest.mark.parametrize(("counted", "kind"), [((3, 3), "KEYFRAME_DRIFT"), ((4, 2), "KEYFRAME_SEVERE")])
def test_a_key_frame_now_and_then_is_no_pattern(counted: tuple[int, int], kind: str) -> None:
    """One hit fewer than counts, in every window of its length."""
    status, hits = counted
    window = 10 if status == 3 else 6
    sparse = [*stretch(hits - 1, status=status), *stretch(window - hits + 1)] * 20
    dense = [*stretch(hits, status=status), *stretch(window - hits)] * 20
    assert kind not in analyze(sparse).intervals
    assert kind in analyze(dense).intervals


def test_severe_key_frames_are_critical_after_a_minute() -> None:
    assert analyze(stretch(30, status=4)).intervals["KEYFRAME_SEVERE"].severity is Severity.WARNING
    assert analyze(stretch(31, status=4)).intervals["KEYFRAME_SEVERE"].severity is Severity.CRITICAL


def test_loss_is_critical_when_three_of_six_last_or_at_the_fourth_burst() -> None:
    def severity(*parts: list[dict[str, Any]]) -> Severity:
        return analyze(*parts).intervals["PACKET_LOSS"].severity

    burst = [*stretch(2, status=5), *stretch(20)]
    assert severity(stretch(10, status=5)) is Severity.WARNING
    assert severity(stretch(11, status=5)) is Severity.CRITICAL  # the third, and 16 s
    assert severity(burst * 3) is Severity.WARNING
    assert severity(burst * 3, stretch(1, status=5)) is Severity.CRITICAL


def test_a_fault_stays_as_loud_as_it_was() -> None:
    analysis = analyze(stretch(20, status=5), stretch(15), stretch(1, status=5))
    assert analysis.intervals["PACKET_LOSS"].severity is Severity.CRITICAL


def test_a_constant_rate_that_swings_for_a_minute_is_unstable_and_one_step_is_not() -> None:
    saw = [USUAL | {"video": 4.5e6 * (1.0 if index % 6 < 3 else 0.45)} for index in range(90)]
    assert "BITRATE_UNSTABLE" in analyze(saw).intervals
    assert "BITRATE_UNSTABLE" not in analyze(saw, stretch(90)).intervals
    assert "BITRATE_UNSTABLE" not in analyze(stretch(60, video=0.45 * 4.5e6)).intervals
    assert "BITRATE_UNSTABLE" not in analyze(stretch(15, video=0.0)).intervals


@pytest.mark.parametrize("share", [0.6, 0.3])
def test_a_fault_does_not_become_the_usual(share: float) -> None:
    """Half an hour of it, and it is still held against what was usual before; so is the good that follows."""
    analysis = analyze(stretch(900, video=share * 4.5e6))
    assert analysis.baseline.video == 4.5e6
    assert "VIDEO_LOW" in analysis.intervals
    assert analyze(stretch(900, video=share * 4.5e6), stretch(10)).baseline.video == 4.5e6


def test_a_higher_rate_becomes_the_usual() -> None:
    assert analyze(stretch(300, video=6e6)).baseline.video == 6e6


def test_the_usual_frame_rate_and_sound_are_not_learnt_from_faults() -> None:
    analysis = analyze(stretch(900, fps=15.0, audio=0.0))
    assert (analysis.baseline.fps, analysis.baseline.audio) == (30.0, 128e3)


@pytest.mark.parametrize("fault", [fault for _, fault, _, _ in ROWS])
def test_a_run_that_warms_up_raises_nothing(fault: dict[str, Any]) -> None:
    grace = rows(stretch(15, **fault))
    assert analyze_readings(grace).intervals == {}
    gap = 40.0
    again = [row._replace(time=row.time + EVERY * CALM + gap) for row in grace]
    assert set(analyze_readings([*rows(stretch(CALM)), *again]).intervals) <= {"RECONNECTING"}


def test_a_silence_between_samples_is_told_though_nobody_asked_meanwhile() -> None:
    away = 60.0
    before = rows(stretch(CALM))
    back = [row._replace(time=row.time + EVERY * CALM + away) for row in rows(stretch(6))]
    left, returned = (datetime.fromtimestamp(row.time, UTC) for row in (before[-1], back[0]))
    assert analyze_readings([*before, *back[:5]]).intervals["RECONNECTING"].is_raised
    analysis = analyze_readings([*before, *back])
    assert analysis.intervals == {}
    (episode,) = past_episodes(analysis)
    assert (episode.kind, episode.since, episode.until) == ("RECONNECTING", left, returned)


def test_a_fault_outlasts_a_silence_for_nothing_proves_that_it_is_over() -> None:
    mute = rows([*stretch(CALM), *stretch(10, audio=0.0)])
    back = [row._replace(time=row.time + EVERY * (CALM + 10) + 60.0) for row in rows(stretch(6))]
    assert "AUDIO_LOST" in analyze_readings([*mute, *back[:5]]).intervals
    assert "AUDIO_LOST" not in analyze_readings([*mute, *back]).intervals


def test_a_run_of_bad_samples_does_not_reach_over_a_silence() -> None:
    mute = rows([*stretch(CALM), *stretch(2, audio=0.0)])
    back = [
        row._replace(time=mute[-1].time + 60.0 + EVERY * index) for index, row in enumerate(rows(stretch(3, audio=0.0)))
    ]
    assert "AUDIO_LOST" not in analyze_readings([*mute, *back]).intervals


@pytest.mark.parametrize("fault", [fault for _, fault, _, _ in ROWS])
def test_a_late_sample_is_folded_in_where_it_belongs(fault: dict[str, Any]) -> None:
    """Some minutes late, with a fault that comes and goes around it: the counts before it are those of that time."""
    every = rows([*stretch(CALM), *[*stretch(7, **fault), *stretch(5)] * 15])
    for late in (CALM + 9, CALM + 70, CALM + 133):
        readings = merge(Readings(), samples([*every[:late], *every[late + 1 :]]))
        analysis = detect(
            detect(SignalAnalysis(), readings, Thresholds()), merge(readings, samples([every[late]])), Thresholds()
        )
        whole = analyze_readings(every)
        assert (analysis.intervals, analysis.past, analysis.features) == (whole.intervals, whole.past, whole.features)


def test_a_slow_cadence_is_no_silence() -> None:
    slow = [row._replace(time=NOW.timestamp() + 30.0 * index) for index, row in enumerate(rows(stretch(60)))]
    assert episodes(analyze_readings(slow)) == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("after", [("clean", "clean"), ("variable", "static-picture"), ("static-picture", "variable")])
def test_a_show_in_which_nothing_goes_wrong_raises_nothing(after: tuple[str, str], seed: int) -> None:
    """Clean, and from camera to slides and back at a variable rate: twenty minutes of the service's encoder."""
    first, second = after
    shapes = [*[SHAPES[first]] * 300, *[SHAPES[second]] * 300]
    sent = [qos(seed, EVERY * index, shape) for index, shape in enumerate(shapes)]
    analysis = analyze_readings(
        [Reading(NOW.timestamp() + EVERY * index, *row) for index, row in enumerate(sent) if row]
    )
    assert episodes(analysis) == ()


def test_a_stream_keeps_its_last_two_hundred_episodes() -> None:
    odd = [*stretch(1, status=7), *stretch(1)] * 300
    kept = episodes(analyze(odd))
    assert len(kept) == 200
    assert kept[-1].until is not None
    assert [episode.since for episode in kept] == sorted(episode.since for episode in kept)
