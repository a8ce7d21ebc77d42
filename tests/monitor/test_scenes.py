"""Scenes through the fold, as tables: the faults of a changing picture or sound, their severity and their times."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import pytest

from livedeck.monitor import Reading, Readings, Severity, Thresholds, with_overrides
from livedeck.monitor.detection.detect import StreamRules, detect, episodes
from livedeck.monitor.evidence.coverage import EVERYTHING, Coverage
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, samples
from monitor.test_detect import CALM, EVERY, USUAL, stretch, swinging

FULL, FLOOR, START = 4.5e6, 1.5e6, NOW.timestamp()
MINUTE = 30
"""Samples in a minute."""

INFO, WARNING, CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL

Row = dict[str, Any]


def judged(
    rows: Iterable[Row], *, every: float = EVERY, coverage: Coverage = EVERYTHING, **rules: Any
) -> SignalAnalysis:
    """Return the analysis of rows, one each `every` seconds, by the limits of a show or of a `content`."""
    limits = with_overrides(Thresholds(), rules.pop("limits", {}))
    readings = [Reading(START + every * index, **row) for index, row in enumerate(rows)]
    known = merge(Readings(), samples(readings))
    return detect(SignalAnalysis(), known, StreamRules(limits, **rules), coverage=coverage)


def loud(analysis: SignalAnalysis) -> dict[str, Severity]:
    """Return kind and severity of every present fault that raises an alarm."""
    return {kind: found.severity for kind, found in analysis.intervals.items() if found.severity is not INFO}


def scene(count: int, **row: Any) -> list[Row]:
    """Return `count` samples, whose rates may swing by 2 %, like those of any encoder."""
    return [
        {
            name: value * (1.01 if index % 2 else 0.99) if name == "video" else value
            for name, value in (USUAL | row).items()
        }
        for index in range(count)
    ]


VARIABLE, CONSTANT = swinging(CALM), scene(CALM)

# Still pictures

STILL = 0.05 * FULL


@pytest.mark.parametrize(
    ("before", "scene", "found"),
    [
        (VARIABLE, scene(7, video=STILL), {}),
        (VARIABLE, scene(8, video=STILL), {"PICTURE_STILL": WARNING}),
        (VARIABLE, scene(31, video=STILL), {"PICTURE_STILL": CRITICAL}),
        (VARIABLE, scene(31, video=0.12 * FULL), {}),
        (CONSTANT, scene(8, video=STILL), {"PICTURE_STILL": WARNING}),
        (CONSTANT, scene(4 * MINUTE, video=STILL), {"PICTURE_STILL": WARNING}),
        (CONSTANT, scene(6 * MINUTE, video=STILL), {}),
        (VARIABLE, [*scene(4, video=55e3), *scene(1, video=48e3), *scene(3, video=55e3)], {"PICTURE_STILL": WARNING}),
        (VARIABLE, scene(MINUTE, video=30e3), {"BLACKOUT": CRITICAL}),
        (
            VARIABLE,
            scene(MINUTE, video=STILL, status=5),
            {"VIDEO_STARVED": CRITICAL, "VIDEO_LOW": WARNING, "PACKET_LOSS": CRITICAL},
        ),
        (
            VARIABLE,
            scene(10, video=STILL, fps=22.0),
            {"VIDEO_STARVED": CRITICAL, "FPS_LOW": WARNING, "FPS_COLLAPSE": CRITICAL},
        ),
    ],
    ids=[
        "for-14-s",
        "for-16-s",
        "for-a-minute",
        "a-quiet-scene",
        "slate",
        "slate-for-4-min",
        "slate-for-6-min",
        "nearly-black-with-a-dark-sample",
        "no-picture",
        "lossy",
        "frames-missing",
    ],
)
def test_a_picture_that_stands_still_is_told_by_its_name(
    before: list[Row], scene: list[Row], found: dict[str, Severity]
) -> None:
    assert loud(judged([*before, *scene])) == found


def test_a_picture_that_moves_again_clears_the_alarm_and_never_becomes_usual_at_a_variable_rate() -> None:
    still = [*VARIABLE, *scene(20 * MINUTE, video=STILL)]
    analysis = judged(still)
    assert loud(analysis) == {"PICTURE_STILL": CRITICAL}
    assert analysis.usual.video == pytest.approx(FULL, rel=0.2)
    back = judged([*still, *swinging(MINUTE)])
    assert loud(back) == {}
    assert [episode.kind for episode in episodes(back)] == ["PICTURE_STILL"]


def test_a_person_may_say_that_a_still_picture_is_usual() -> None:
    rows = [*VARIABLE, *scene(2 * MINUTE, video=STILL)]
    assert loud(judged(rows)) == {"PICTURE_STILL": CRITICAL}
    mark = START + EVERY * (len(rows) - 2)
    assert loud(judged(rows, marks=(mark,))) == {}


@pytest.mark.parametrize("content", ["slides", "share", "camera"])
def test_a_picture_that_may_stand_still_raises_nothing(content: str) -> None:
    rows = [*VARIABLE, *scene(2 * MINUTE, video=STILL)]
    assert loud(judged(rows, limits={"content": content})) == {}
    assert loud(judged(rows, limits={"content": "silent"})) == {"PICTURE_STILL": CRITICAL}


@pytest.mark.parametrize("every", [5.0, 10.0])
def test_a_slow_cadence_needs_no_longer_than_three_samples_and_their_time(every: float) -> None:
    calm = swinging(120)
    first = next(count for count in range(1, 10) if loud(judged([*calm, *scene(count, video=STILL)], every=every)))
    assert (first - 1) * every < 14.0 + every


# Starved pictures

THIN = 0.7 * 128e3


@pytest.mark.parametrize(
    ("row", "severity"),
    [
        ({"audio": THIN}, WARNING),
        ({"audio": THIN, "fps": 28.0}, CRITICAL),
        ({"fps": 27.0}, CRITICAL),
        ({"status": 5}, CRITICAL),
    ],
    ids=["a-slate-with-less-sound", "sound-and-frames", "frames", "loss"],
)
@pytest.mark.parametrize("before", [VARIABLE, CONSTANT], ids=["variable", "constant"])
def test_a_starved_picture_is_critical_only_if_more_than_the_sound_testifies(
    before: list[Row], row: Row, severity: Severity
) -> None:
    assert loud(judged([*before, *scene(12, video=0.3 * FULL, **row)]))["VIDEO_STARVED"] is severity


# Sinking rates


def sinking(minutes: float, to: float, wait: float = 0.0) -> list[Row]:
    """Return a variable rate that sinks to `to` within some minutes, and stays there for `wait` minutes."""
    count = round(minutes * MINUTE)
    rates = [FULL - (FULL - to) * index / count for index in range(count)] + [to] * round(wait * MINUTE)
    return [USUAL | {"video": rate * (0.85 if index % 2 else 1.15)} for index, rate in enumerate(rates)]


@pytest.mark.parametrize(
    ("before", "then", "floor", "severity"),
    [
        (VARIABLE, sinking(10, 540e3)[: round(8.5 * MINUTE)], FLOOR, None),
        (VARIABLE, sinking(10, 540e3)[: 9 * MINUTE + 6], FLOOR, WARNING),
        (VARIABLE, sinking(10, 540e3, wait=1), FLOOR, CRITICAL),
        (VARIABLE, sinking(10, 540e3, wait=1), 0.0, None),
        (VARIABLE, sinking(10, 2e6, wait=3), FLOOR, None),
        (VARIABLE, swinging(3 * MINUTE, video=0.2 * FULL), FLOOR, None),
    ],
    ids=["too-early", "minute-9", "nearly-gone", "no-floor-known", "still-enough", "a-scene-at-once"],
)
def test_a_rate_that_sinks_for_minutes_decays(
    before: list[Row], then: list[Row], floor: float, severity: Severity | None
) -> None:
    assert loud(judged([*before, *then], floor=floor)).get("VIDEO_DECAY") is severity


def at_levels(shares: Iterable[float], samples: int = MINUTE) -> list[Row]:
    """Return `samples` samples at each of these shares of the usual rate."""
    return [row for share in shares for row in scene(samples, video=share * FULL)]


NOISY = [row | {"video": row["video"] * (1.1, 0.8)[index // MINUTE % 2]} for index, row in enumerate(sinking(12, 0.0))]
"""A decay in which every other minute is above the one before."""


@pytest.mark.parametrize("every", [2.0, 5.0])
def test_a_decay_with_noisy_minutes_is_told_before_the_rate_is_gone(every: float) -> None:
    count = round(2.0 / every * 10.5 * MINUTE)
    rows = [NOISY[round(index * every / 2.0)] for index in range(count)]
    assert loud(judged([*VARIABLE, *rows], floor=FLOOR, every=every))["VIDEO_DECAY"] is CRITICAL


@pytest.mark.parametrize(
    "then",
    [
        at_levels((1.0, 0.25, 0.9, 0.2) * 3),
        at_levels((1.0, 0.6, 0.35, 0.2) * 3),
        at_levels((1.0, 0.55, 0.25), 5 * MINUTE),
        at_levels([0.28 * 0.99**index for index in range(15)]),
        at_levels([*(0.95**index for index in range(12)), 0.2, 0.19], 20),
    ],
    ids=["dips", "slow-dips", "two-quieter-scenes", "a-scene-that-fades", "a-scene-at-once-while-it-sinks"],
)
def test_a_scene_is_no_decay_however_often_it_dips(then: list[Row]) -> None:
    analysis = judged([*VARIABLE, *then], floor=FLOOR)
    assert "VIDEO_DECAY" not in {*analysis.intervals, *(episode.kind for episode in episodes(analysis))}


def test_a_sunk_rate_that_rises_over_its_floor_is_none() -> None:
    rows = [*VARIABLE, *sinking(10, 540e3, wait=1)]
    assert "VIDEO_DECAY" in loud(judged(rows, floor=FLOOR))
    assert "VIDEO_DECAY" not in loud(judged([*rows, *swinging(2 * MINUTE)], floor=FLOOR))
    assert "VIDEO_DECAY" not in loud(judged(rows, floor=FLOOR, limits={"content": "camera"}))


# Sound


def speech(count: int, share: float = 1.0) -> list[Row]:
    """Return sound of variable rate."""
    return [USUAL | {"audio": 96e3 * share * (0.8, 1.0, 1.2)[index % 3]} for index in range(count)]


@pytest.mark.parametrize(
    ("then", "found"),
    [
        (speech(20, 0.03), {}),
        (speech(21, 0.03), {"AUDIO_LOW": WARNING}),
        (speech(MINUTE, 0.1), {}),
        ([*speech(15, 0.03), *speech(2), *speech(15, 0.03)], {}),
    ],
    ids=["for-38-s", "for-40-s", "quiet", "pauses"],
)
def test_near_silence_of_a_variable_sound_is_low(then: list[Row], found: dict[str, Severity]) -> None:
    assert loud(judged([*speech(CALM), *then])) == found


def test_near_silence_says_so_and_ends_when_sound_is_back() -> None:
    rows = [*speech(CALM), *speech(MINUTE, 0.03)]
    evidence = judged(rows).intervals["AUDIO_LOW"].evidence
    assert evidence.actual.startswith("near silence, audio ")
    assert evidence.expected.endswith("within 40 s, usual 96k")
    (episode,) = episodes(judged([*rows, *speech(20)]))
    assert (episode.kind, episode.since.timestamp()) == ("AUDIO_LOW", START + EVERY * CALM)


def test_a_radio_is_near_silence_by_its_codec_alone() -> None:
    radio = [{"video": 0.0, "audio": 96e3, "fps": 0.0, "status": 0}] * CALM
    quiet = [row | {"audio": 3e3} for row in radio[:MINUTE]]
    assert loud(judged([*radio, *quiet], limits={"content": "radio"})) == {"AUDIO_LOW": WARNING}


def watched(started_at: float | None) -> Coverage:
    """Return the coverage of a stream after a reply with a minute's samples. `started_at`: start of the stream."""
    times = [START + EVERY * index for index in range(MINUTE)]
    return Coverage().after_answer(times, times[-1] + 3.0, newest=-inf, lag=2.5, started_at=started_at)


@pytest.mark.parametrize(
    ("rules", "severity"),
    [
        ({"coverage": watched(None)}, CRITICAL),
        ({"coverage": watched(START - 30.0)}, WARNING),
        ({"coverage": watched(START - 31.0)}, CRITICAL),
        ({"coverage": watched(START), "had_sound": True}, CRITICAL),
    ],
    ids=["start-not-known", "whole", "past-not-known", "earlier-stream-had-sound"],
)
def test_missing_sound_is_a_warning_only_if_there_is_known_never_to_have_been_any(
    rules: dict[str, Any], severity: Severity
) -> None:
    assert loud(judged(stretch(MINUTE, audio=0.0), **rules)) == {"AUDIO_LOST": severity}


# Frames


@pytest.mark.parametrize(
    ("row", "severity"),
    [({}, WARNING), ({"video": 0.6 * FULL}, CRITICAL), ({"audio": THIN}, CRITICAL), ({"status": 5}, CRITICAL)],
    ids=["alone", "video", "sound", "loss"],
)
def test_missing_frames_are_critical_only_with_a_second_witness(row: Row, severity: Severity) -> None:
    frames = [part | {"fps": 19.0 + 4 * (index % 2)} for index, part in enumerate(stretch(12, **row))]
    assert loud(judged([*stretch(CALM), *frames]))["FPS_COLLAPSE"] is severity


@pytest.mark.parametrize("fps", [5.0, 6.25, 7.5, 10.0, 12.0, 12.5, 15.0, 20.0])
def test_a_clean_slow_frame_rate_alarms_and_is_usual_only_with_fewer_bits(fps: float) -> None:
    alone = judged([*stretch(CALM), *stretch(4 * MINUTE, fps=fps)])
    assert (loud(alone)["FPS_COLLAPSE"], alone.usual.fps) == (WARNING, 30.0)
    early, late = (judged([*stretch(CALM), *stretch(count, fps=fps, video=0.6 * FULL)]) for count in (15, 2 * MINUTE))
    assert "FPS_COLLAPSE" in loud(early)
    assert (loud(late), late.usual.fps) == ({}, fps)


def test_a_slow_frame_rate_that_began_unsteady_stays_a_fault() -> None:
    unsteady = [USUAL | {"fps": 15.0 + 3 * (index % 2)} for index in range(6)]
    assert "FPS_COLLAPSE" in loud(judged([*stretch(CALM), *unsteady, *stretch(2 * MINUTE, fps=15.0)]))


# Cadence


def test_two_equal_gaps_are_a_new_cadence() -> None:
    """An encoder that sends a sign of life each minute is not away for a minute each time."""
    times = [*[EVERY * index for index in range(CALM)], *[EVERY * CALM + gap for gap in (60.0, 125.0)]]
    readings = [Reading(START + time, **USUAL) for time in times]
    analysis = detect(SignalAnalysis(), merge(Readings(), samples(readings)), StreamRules(Thresholds()))
    assert analysis.cadence == pytest.approx(62.0, abs=4.0)
    assert [episode.kind for episode in episodes(analysis)] == ["RECONNECTING"]
    assert loud(analysis) == {}
