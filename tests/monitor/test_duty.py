"""Intermittent faults are raised by their bad time: share, length and number of spells."""

from __future__ import annotations

from typing import Any

import pytest

from livedeck.monitor import Reading, Severity
from livedeck.monitor.signal.analysis import SignalAnalysis
from monitor.test_detect import CALM, EVERY, analyze, analyze_readings, past_episodes, rows, stretch

MINUTE = 30
"""Samples in a minute."""


def each(on: int, off: int, times: int, **fault: Any) -> list[dict[str, Any]]:
    """Return some bad samples and then some good ones, again and again."""
    return [*stretch(on, **fault), *stretch(off)] * times


def with_holes(length: int, period: int, times: int) -> SignalAnalysis:
    """Return the analysis of ten minutes and then of periods that each lack `length` samples."""
    every = rows(stretch(CALM + period * times + 5))
    kept = [row for index, row in enumerate(every) if index < CALM or (index - CALM) % period >= length]
    return analyze_readings(kept)


@pytest.mark.parametrize(
    ("kind", "fault", "spells"),
    [("AUDIO_LOST", {"audio": 0.0}, 5), ("BLACKOUT", {"video": 0.0, "fps": 0.0}, 5), ("PACKET_LOSS", {"status": 5}, 5)],
)
def test_what_is_gone_for_four_seconds_each_half_minute_is_told(kind: str, fault: dict[str, Any], spells: int) -> None:
    def loudness(times: int) -> Severity | None:
        interval = analyze(each(2, 13, times, **fault)).intervals.get(kind)
        return interval.severity if interval and interval.severity is not Severity.INFO else None

    assert loudness(spells - 1) is None
    assert loudness(spells) is Severity.WARNING


def test_it_says_how_much_of_the_time_how_long_and_how_often() -> None:
    interval = analyze(each(2, 13, 20, audio=0.0)).intervals["AUDIO_LOST"]
    assert interval.evidence.actual == "no audio in 13 % of the last 10 min (4 s in every 30 s)"
    assert interval.severity is Severity.CRITICAL, "a minute of ten"


def test_it_is_one_fault_that_stands_between_its_spells_and_is_over_after_three_of_its_periods() -> None:
    habit = each(2, 13, 12, audio=0.0)
    assert past_episodes(analyze(habit)) == []
    assert "AUDIO_LOST" in analyze(habit, stretch(2 * MINUTE)).intervals
    analysis = analyze(habit, stretch(3 * MINUTE))
    assert "AUDIO_LOST" not in analysis.intervals
    assert len(past_episodes(analysis)) == 1


@pytest.mark.parametrize(
    ("length", "period", "times", "is_told"), [(5, 20, 1, False), (5, 20, 3, True), (4, 30, 4, True)]
)
def test_an_encoder_that_comes_and_goes_drops_out(length: int, period: int, times: int, is_told: bool) -> None:
    analysis = with_holes(length, period, times)
    assert ("DROPOUTS" in analysis.intervals) is is_told


def test_one_lost_sample_is_no_hole() -> None:
    assert with_holes(1, 10, 30).intervals == {}


def test_at_a_slow_cadence_one_bad_sample_is_no_habit() -> None:
    """Half a minute each, but in too few spells."""
    every = rows([*stretch(CALM), *stretch(1, audio=0.0), *stretch(20)])
    slow = [Reading(row.time + (30.0 - EVERY) * index, *row[1:]) for index, row in enumerate(every)]
    assert analyze_readings(slow).intervals == {}


def test_a_constant_rate_that_dips_again_and_again_is_unstable() -> None:
    dips = each(6, 12, 5, video=0.5 * 4.5e6)
    assert "BITRATE_UNSTABLE" in analyze(dips).intervals
    assert "BITRATE_UNSTABLE" not in analyze(dips[:18]).intervals
    assert "BITRATE_UNSTABLE" not in analyze(dips, stretch(6 * MINUTE)).intervals
