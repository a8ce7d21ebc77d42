"""Health score: a table of signals, and cases that must never look healthy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from livedeck.monitor import (
    BroadcastState,
    Freshness,
    Grade,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    Readings,
    Severity,
    Thresholds,
)
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.detection.health import assess
from livedeck.monitor.evidence.blame import Facts, blame
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.model.blame import Failure, Sight
from livedeck.monitor.signal.analysis import DataQuality, SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, after, samples, signal

ON_AIR = Phase(BroadcastState.ON_AIR, NOW - timedelta(seconds=900), Ingest(IngestState.RECEIVING))


def assess_readings(
    readings: Readings, phase: Phase = ON_AIR, freshness: Freshness = Freshness.FRESH
) -> HealthAssessment:
    quality = DataQuality(freshness, blame=blame(Facts(is_of_event=True)), empty_at=NOW)
    return assess_signal(readings, phase, quality)


def assess_signal(readings: Readings, phase: Phase, quality: DataQuality) -> HealthAssessment:
    analysis = detect(SignalAnalysis(), readings, StreamRules(Thresholds()))
    return assess(EventCase(analysis, phase, quality, NOW), Thresholds())


def kinds(assessment: HealthAssessment) -> list[str]:
    return [finding.kind for finding in assessment.findings]


@pytest.mark.parametrize(
    ("fault", "grade", "component", "expected"),
    [
        ({}, Grade.GOOD, "", []),
        ({"video": 3.4e6}, Grade.FAIR, "video", []),
        ({"video": 2.7e6}, Grade.POOR, "video", []),
        ({"video": 2.7e6, "audio": 90e3}, Grade.POOR, "video", ["VIDEO_LOW"]),
        ({"video": 0.0}, Grade.POOR, "video", ["BLACKOUT"]),
        ({"video": 0.0, "audio": 0.0, "fps": 0.0}, Grade.POOR, "video", ["BLACKOUT"]),
        ({"fps": 0.0}, Grade.POOR, "fps", ["BLACKOUT"]),
        ({"fps": 28.0}, Grade.FAIR, "fps", ["FPS_LOW"]),
        ({"fps": 22.0}, Grade.POOR, "fps", ["FPS_COLLAPSE", "FPS_LOW"]),
        ({"audio": 0.0}, Grade.POOR, "audio", ["AUDIO_LOST"]),
        ({"audio": 16e3}, Grade.FAIR, "audio", ["AUDIO_LOW"]),
        ({"status": 3}, Grade.POOR, "key", []),
        ({"status": 4}, Grade.POOR, "key", ["KEYFRAME_SEVERE"]),
        ({"status": 5}, Grade.POOR, "loss", ["PACKET_LOSS"]),
        ({"status": 1}, Grade.FAIR, "unknown", ["UNKNOWN_STATUS"]),
        ({"status": None}, Grade.FAIR, "unknown", ["UNKNOWN_DATA"]),
        ({"fps": None}, Grade.FAIR, "unknown", ["UNKNOWN_DATA"]),
        ({"video": None}, Grade.NO_DATA, "unknown", ["UNKNOWN_DATA"]),
        ({"video": None, "fps": None}, Grade.NO_DATA, "unknown", ["UNKNOWN_DATA"]),
        ({"video": None, "audio": 0.0}, Grade.POOR, "audio", ["UNKNOWN_DATA"]),
        ({"video": None, "status": 5}, Grade.POOR, "loss", ["PACKET_LOSS", "UNKNOWN_DATA"]),
        ({"audio": None}, Grade.GOOD, "", []),
        ({"video": None, "audio": None, "fps": None}, Grade.NO_DATA, "unknown", ["UNKNOWN_DATA"]),
    ],
)
def test_a_fault_that_lasts_is_graded_named_and_found(
    fault: dict[str, Any], grade: Grade, component: str, expected: list[str]
) -> None:
    assessment = assess_readings(after(count=12, **fault))
    assert (assessment.health.grade, assessment.health.component) == (grade, component)
    assert kinds(assessment) == expected


def test_the_component_that_lost_says_what_it_measured_and_against_what() -> None:
    """Until there is an alarm, whose value it then shows."""
    assert assess_readings(after(count=3, fps=22.0)).health.detail == "fps 26.0/30"
    assert assess_readings(after(count=12, fps=22.0)).health.detail == "fps 22.0"
    assert assess_readings(after(count=12, video=2.7e6)).health.detail == "video 2.70M/4.50M"
    assert assess_readings(after(count=12, status=3)).health.detail == "key>20% in 10 of 10 samples"
    assert assess_readings(after(count=12)).health.score == 100


def test_zero_bits_are_never_green_from_the_first_sample_on() -> None:
    for gone in ("video", "audio", "fps"):
        assessment = assess_readings(after(count=1, **{gone: 0.0}))
        assert (assessment.health.score, assessment.health.grade) == (0, Grade.POOR)
        assert assessment.health.detail.split("/")[0].endswith((" 0", " 0.0"))


def test_zero_is_not_missing() -> None:
    assert assess_readings(after(count=12, audio=0.0)).health.component == "audio"
    assert assess_readings(after(count=12, audio=None)).health.score == 100


def test_what_is_missing_is_named_and_since_when_it_is() -> None:
    assessment = assess_readings(after(count=12, fps=None, status=None))
    (finding,) = assessment.findings
    assert assessment.health.detail == "fps, status missing"
    assert (finding.actual, finding.severity) == ("frame_rate, status missing", Severity.INFO)
    assert finding.since == NOW - timedelta(seconds=22)
    assert assess_readings(after(count=12, video=None)).findings[0].severity is Severity.WARNING


def test_a_field_that_is_missing_for_less_than_the_window_of_the_score_makes_nothing_unknown() -> None:
    assert assess_readings(after(count=5, video=None, fps=None, status=None)).health.score == 100


def test_a_fault_must_hold_for_its_samples_and_its_seconds() -> None:
    assert kinds(assess_readings(after(count=10, video=2.7e6, audio=90e3))) == []
    assert kinds(assess_readings(after(count=11, video=2.7e6, audio=90e3))) == ["VIDEO_LOW"]


def test_one_loss_is_an_episode_at_once() -> None:
    once = assess_readings(after(count=1, status=5))
    assert [(finding.kind, finding.severity) for finding in once.findings] == [("PACKET_LOSS", Severity.INFO)]
    assert once.health.grade is Grade.FAIR


def test_health_does_not_contradict_what_is_not_over() -> None:
    """A fault that may come back any moment is not GOOD, though the newest samples are."""
    readings = merge(after(count=30, audio=0.0), samples(signal(3, end=6.0)))
    assessment = assess_readings(readings)
    assert kinds(assessment) == ["AUDIO_LOST"]
    assert (assessment.health.grade, assessment.health.component) == (Grade.FAIR, "audio")


def test_a_dark_minute_does_not_become_the_usual() -> None:
    assessment = assess_readings(after(count=200, video=0.0))
    assert assessment.baseline_video == 4.5e6
    assert assessment.health.grade is Grade.POOR


def test_a_baseline_needs_a_minute_of_normal_samples_after_the_warm_up() -> None:
    assert assess_readings(after(28, count=12)).baseline_video is None
    assert assess_readings(after(40, count=12)).baseline_video == 4.5e6


@pytest.mark.parametrize("nominal", [12.0, 15.0, 23.976, 25.0, 29.97, 60.0])
def test_the_nominal_rate_is_what_the_encoder_sends(nominal: float) -> None:
    assert assess_readings(after(1, count=200, fps=nominal)).nominal_fps == nominal


def test_an_encoder_that_is_overloaded_does_not_become_its_own_measure_within_ten_minutes() -> None:
    assert assess_readings(after(300, count=290, fps=22.0)).nominal_fps == 30.0


def test_half_of_the_frames_are_not_good_however_long_they_last() -> None:
    health = assess_readings(after(300, count=300, fps=15.0)).health
    assert (health.score, health.grade, health.detail) == (30, Grade.POOR, "fps 15.0")


def test_late_samples_are_never_good() -> None:
    health = assess_readings(after(count=12), freshness=Freshness.LATE).health
    assert (health.grade, health.component) == (Grade.FAIR, "late")


def test_what_we_cannot_ask_is_stale_and_has_no_score() -> None:
    assessment = assess_readings(after(count=12), freshness=Freshness.STALE)
    assert (assessment.health.score, assessment.health.grade) == (None, Grade.STALE)
    assert [(finding.kind, finding.actual) for finding in assessment.findings] == [("QOS_STALE", "no new sample")]


def test_of_an_event_that_has_not_begun_no_answer_is_missed() -> None:
    waiting = Phase(BroadcastState.SCHEDULED, NOW + timedelta(seconds=60), Ingest(IngestState.NONE))
    assessment = assess_readings(Readings(), waiting, Freshness.STALE)
    assert (assessment.health.grade, kinds(assessment)) == (Grade.NONE, ["LATE_START"])


def test_a_stale_event_says_why_and_since_when() -> None:
    found = blame(Facts(failure=Failure(Sight.FAULT, 500), is_of_event=True))
    quality = DataQuality(Freshness.STALE, NOW - timedelta(seconds=40), found)
    (finding,) = assess_signal(after(count=12), ON_AIR, quality).findings
    assert finding.actual == "not answered, while other calls are: the platform answers 500"
    assert finding.since == quality.since


@pytest.mark.parametrize(
    ("tally", "ingest", "age", "grade", "expected"),
    [
        (BroadcastState.RECONNECTING, IngestState.INTERRUPTED, 900, Grade.NO_DATA, ["RECONNECTING"]),
        (BroadcastState.LOST, IngestState.INTERRUPTED, 900, Grade.NO_DATA, ["RECONNECTING"]),
        (BroadcastState.ON_AIR, IngestState.NONE, 900, Grade.NO_DATA, ["NO_INGEST"]),
        (BroadcastState.ON_AIR, IngestState.NONE, 29, Grade.NO_DATA, []),
        (BroadcastState.ON_AIR, IngestState.UNKNOWN, 900, Grade.NO_DATA, []),
        (BroadcastState.ON_AIR, IngestState.WARMING_UP, 900, Grade.WARM_UP, []),
        (BroadcastState.UNKNOWN, IngestState.UNKNOWN, 900, Grade.NO_DATA, []),
        (BroadcastState.SCHEDULED, IngestState.NONE, -301, Grade.NONE, []),
        (BroadcastState.SCHEDULED, IngestState.NONE, -299, Grade.NONE, ["LATE_START"]),
        (BroadcastState.LATE, IngestState.NONE, 1, Grade.NONE, ["LATE_START"]),
        (BroadcastState.LATE, IngestState.NONE, 86_400, Grade.NONE, []),
        (BroadcastState.DRAFT, IngestState.NONE, 0, Grade.NONE, []),
        (BroadcastState.COMPLETED, IngestState.ENDED, 10, Grade.NONE, []),
    ],
)
def test_where_nothing_is_measured_there_is_no_score(
    tally: BroadcastState, ingest: IngestState, age: float, grade: Grade, expected: list[str]
) -> None:
    """`age`: seconds since the mark of the phase."""
    phase = Phase(tally, NOW - timedelta(seconds=age), Ingest(ingest))
    assessment = assess_readings(after(count=12), phase)
    assert (assessment.health.score, assessment.health.grade) == (None, grade)
    assert kinds(assessment) == expected


def test_no_samples_at_all_are_no_data() -> None:
    assert assess_readings(Readings()).health.grade is Grade.NO_DATA
