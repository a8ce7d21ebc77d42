"""Usual rates, their change to another level, and rates that are too low whatever is usual."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from livedeck.monitor import Reading, Readings, Severity, Thresholds, with_overrides
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, samples
from monitor.test_detect import CALM, USUAL, after, analyze, analyze_readings, past_episodes, rows, stretch, swinging

MINUTE = 30
"""Samples in a minute."""

FULL = 4.5e6


def judged(*parts: list[dict[str, Any]], floor: float = 0.0, marks: tuple[float, ...] = (), **limits: object) -> Any:
    """Return the analysis of these parts; the first one is the beginning of the stream."""
    readings = merge(Readings(), samples(rows([row for part in parts for row in part])))
    return detect(SignalAnalysis(), readings, StreamRules(with_overrides(Thresholds(), limits), floor, marks))


def ragged(count: int, share: float, seed: int = 1) -> list[dict[str, Any]]:
    random = Random(seed)
    return [USUAL | {"video": FULL * share * random.uniform(0.7, 1.3)} for _ in range(count)]


@pytest.mark.parametrize(
    ("change", "rate", "before", "now"),
    [
        ({"video": 2.5e6}, "video", "4.50M", "2.50M"),
        ({"fps": 60.0}, "fps", "30.0", "60.0"),
        ({"fps": 25.0}, "fps", "30.0", "25.0"),
    ],
)
def test_a_step_to_a_steady_level_is_a_decision(change: dict[str, Any], rate: str, before: str, now: str) -> None:
    assert set(analyze(stretch(24, **change)).intervals) <= {"PROFILE_CHANGE"}
    interval = analyze(stretch(26, **change)).intervals["PROFILE_CHANGE"]
    assert (interval.severity, interval.since) == (Severity.INFO, after(0).timestamp())
    assert interval.evidence.actual.startswith(f"{rate} now {now}, was {before}, steady for")
    assert getattr(analyze(stretch(26, **change)).usual, rate) == change[rate]


def test_what_is_usual_again_is_told_no_second_time() -> None:
    there_and_back = [*stretch(3 * MINUTE, video=2.5e6), *stretch(3 * MINUTE)]
    analysis = analyze(there_and_back)
    assert [episode.kind for episode in past_episodes(analysis)] == ["PROFILE_CHANGE"]
    assert analysis.usual.video == FULL


def test_no_encoder_is_set_to_a_rate_that_is_none() -> None:
    assert {"FPS_LOW", "FPS_COLLAPSE"} & set(analyze(stretch(MINUTE, fps=27.0)).intervals)


@pytest.mark.parametrize(("fps", "kind"), [(15.0, "FPS_COLLAPSE"), (20.0, "FPS_COLLAPSE"), (27.0, "FPS_LOW")])
def test_frames_that_are_missing_for_long_do_not_become_usual_by_themselves(fps: float, kind: str) -> None:
    analysis = analyze(stretch(20 * MINUTE, fps=fps))
    assert kind in analysis.intervals
    assert past_episodes(analysis) == []
    assert analysis.usual.fps == 30.0


def test_frames_that_are_missing_again_alarm_again() -> None:
    twice = [*stretch(3 * MINUTE, fps=15.0), *stretch(5 * MINUTE), *stretch(MINUTE, fps=15.0)]
    analysis = analyze(twice)
    assert {episode.kind for episode in past_episodes(analysis)} == {"FPS_COLLAPSE", "FPS_LOW"}
    assert "FPS_COLLAPSE" in analysis.intervals


@pytest.mark.parametrize("cadence", [2.0, 10.0, 30.0])
def test_fewer_frames_with_fewer_bits_at_a_steady_level_are_a_new_profile(cadence: float) -> None:
    calm = [USUAL for _ in range(int(1500 / cadence))]
    parts = [*calm, *stretch(int(600 / cadence), fps=15.0, video=2.5e6)]
    readings = [Reading(NOW.timestamp() + cadence * index, **part) for index, part in enumerate(parts)]
    analysis = analyze_readings(readings)
    assert "PROFILE_CHANGE" in {episode.kind for episode in past_episodes(analysis)}
    assert analysis.intervals == {}
    assert (analysis.usual.fps, analysis.usual.video) == (15.0, 2.5e6)


def test_bits_that_fall_later_do_not_explain_missing_frames() -> None:
    analysis = analyze(stretch(3 * MINUTE, fps=15.0), stretch(5 * MINUTE, fps=15.0, video=2.5e6))
    assert "FPS_COLLAPSE" in analysis.intervals
    assert (analysis.usual.fps, analysis.usual.video) == (30.0, 2.5e6)


def test_a_steady_low_frame_rate_does_not_prove_that_bits_are_missing() -> None:
    swings = [*swinging(CALM), *swinging(2 * MINUTE, fps=15.0), *stretch(2 * MINUTE, fps=15.0, video=0.4 * FULL)]
    assert set(judged(swings).intervals) == {"FPS_COLLAPSE", "FPS_LOW"}
    assert judged(swings).intervals["FPS_COLLAPSE"].severity is Severity.WARNING
    thinner = judged(swings, stretch(MINUTE, fps=8.0, video=0.4 * FULL))
    assert "VIDEO_STARVED" in thinner.intervals, "even fewer frames prove it"


def test_a_picture_that_freezes_at_a_low_frame_rate_is_told() -> None:
    swings = [*swinging(CALM), *swinging(2 * MINUTE, fps=15.0), *stretch(MINUTE, fps=15.0, video=0.05 * FULL)]
    assert {"FPS_COLLAPSE", "PICTURE_STILL"} <= set(judged(swings).intervals)


def test_a_camera_may_send_half_of_its_frames_at_night() -> None:
    analysis = judged(stretch(CALM), stretch(45, fps=15.0), content="camera")
    assert (analysis.intervals.keys(), analysis.usual.fps) == ({"PROFILE_CHANGE"}, 15.0)


def test_a_person_s_word_makes_a_low_frame_rate_usual_now_and_later() -> None:
    low = [*stretch(CALM), *stretch(3 * MINUTE, fps=15.0)]
    mark = judged(low).readings.time[-1] + 0.001
    later = [*low, *stretch(3 * MINUTE, fps=15.0), *stretch(5 * MINUTE), *stretch(MINUTE // 2, fps=15.0)]
    analysis = judged(later, marks=(mark,))
    assert {"FPS_LOW", "FPS_COLLAPSE"}.isdisjoint(analysis.intervals)
    assert [episode.kind for episode in past_episodes(analysis)].count("FPS_COLLAPSE") == 1


def test_a_frame_rate_that_ordinarily_dips_must_fall_further() -> None:
    phone = [USUAL | {"fps": 22.0 if index % 5 == 3 else 25.0} for index in range(10 * MINUTE)]
    assert judged(phone).past == ()
    assert judged(phone).intervals == {}
    assert judged(phone).usual.fps_dip == 3.0
    assert {"FPS_LOW", "FPS_COLLAPSE"} & set(judged(phone, stretch(15, fps=17.0)).intervals)


def test_dips_that_come_later_are_no_ordinary_dips() -> None:
    steady = [USUAL | {"fps": 25.0} for _ in range(10 * MINUTE)]
    dips = [USUAL | {"fps": 22.0 if index % 5 in {3, 4} else 25.0} for index in range(5 * MINUTE)]
    assert "FPS_LOW" in judged(steady, dips).intervals


def test_a_frame_rate_that_looks_like_a_decision_and_comes_back_was_none() -> None:
    swing = [*stretch(8, fps=24.0), *stretch(8)]
    assert "FPS_LOW" not in analyze(swing).intervals
    assert "FPS_LOW" in analyze(swing * 3).intervals


def test_a_ragged_fall_of_a_constant_rate_is_a_fault_without_a_witness_and_of_a_variable_one_is_none() -> None:
    assert "VIDEO_LOW" in analyze(ragged(MINUTE, 0.4)).intervals
    assert analyze(ragged(10, 0.4)).intervals == {}
    variable = [USUAL | {"video": FULL * (0.6 + 0.4 * (index // 20 % 2))} for index in range(CALM)]
    assert judged(variable, ragged(MINUTE, 0.2)).intervals == {}


def test_a_person_s_word_makes_what_is_so_the_usual() -> None:
    low = stretch(MINUTE, fps=27.0, video=0.6 * FULL, audio=0.75 * 128e3)
    alarmed = analyze(low)
    assert {"FPS_LOW", "VIDEO_LOW"} <= set(alarmed.intervals)
    mark = alarmed.readings.time[-1] + 0.001
    every = [*stretch(CALM), *low, *stretch(MINUTE, fps=27.0, video=0.6 * FULL, audio=0.75 * 128e3)]
    settled = judged(every, marks=(mark,))
    assert settled.intervals == {}
    assert (settled.usual.fps, settled.usual.video) == (27.0, 0.6 * FULL)


@pytest.mark.parametrize(
    ("rate", "minutes", "is_told"), [(6e5, 7, True), (1.6e6, 12, False), (3e5, 4, True), (6e5, 3, False)]
)
def test_too_few_bits_for_the_preset_need_no_usual_to_be_held_against(rate: float, minutes: int, is_told: bool) -> None:
    analysis = judged(stretch(minutes * MINUTE, video=rate), floor=1.5e6)
    assert ("VIDEO_BELOW_PRESET" in analysis.intervals) is is_told
    assert "VIDEO_BELOW_PRESET" not in judged(stretch(minutes * MINUTE, video=rate)).intervals, "none is known"


def test_a_slide_deck_is_spiky_and_no_stuck_encoder() -> None:
    slides = [USUAL | {"video": 1.4e6 if index % 20 == 0 else 3e5} for index in range(20 * MINUTE)]
    assert judged(slides, floor=1.5e6).intervals == {}


def test_a_rate_that_sinks_slowly_is_told() -> None:
    sinking = [USUAL | {"video": FULL * (1 - 0.4 * index / (60 * MINUTE))} for index in range(60 * MINUTE)]
    analysis = analyze(sinking)
    assert "VIDEO_DECAY" in analysis.intervals
    assert "VIDEO_DECAY" not in analyze(sinking[: 20 * MINUTE]).intervals


@pytest.mark.parametrize(
    ("content", "minutes", "signal"),
    [
        ("radio", 12, {"video": 0.0, "fps": 0.0}),
        ("silent", 12, {"audio": 0.0}),
        ("slides", 20, {"video": 6e5}),
        ("share", 4, {"video": 6e5, "fps": 3.0}),
    ],
)
def test_of_what_an_event_does_not_consist_nothing_is_expected(
    content: str, minutes: int, signal: dict[str, Any]
) -> None:
    show = [*stretch(4 * MINUTE), *stretch(minutes * MINUTE, **signal)]
    assert judged(show, floor=1.5e6, content=content).intervals == {}
    assert judged(show, floor=1.5e6).intervals


def test_radio_that_falls_silent_is_told() -> None:
    show = [*stretch(5 * MINUTE, video=0.0, fps=0.0), *stretch(8, video=0.0, fps=0.0, audio=0.0)]
    assert set(judged(show, content="radio").intervals) == {"AUDIO_LOST"}
