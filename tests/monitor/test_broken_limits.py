"""The evidence of a fault violates the limit beside it, and covers the same period as the limit."""

from __future__ import annotations

import re
from typing import Any

import pytest

from livedeck.monitor import Severity
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.hysteresis import Evidence
from monitor.stage import after
from monitor.test_detect import THIN, analyze, stretch
from monitor.test_duty import each
from monitor.test_health import assess_readings

_UNITS = {"M": 1e6, "k": 1e3, "": 1.0}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([Mk]?)\b")


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, multiplied by their units."""
    return [float(number) * _UNITS[unit] for number, unit in _NUMBER.findall(text)]


def evidence(analysis: SignalAnalysis, kind: str) -> Evidence:
    return analysis.intervals[kind].evidence


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("VIDEO_LOW", {"video": 0.69 * 4.5e6, **THIN}),
    ("VIDEO_LOW", {"video": 0.84 * 4.5e6, "fps": 28.0, **THIN}),  # two witnesses raise the limit
    ("VIDEO_STARVED", {"video": 0.49 * 4.5e6, **THIN}),
    ("FPS_LOW", {"fps": 28.0}),
    ("FPS_COLLAPSE", {"fps": 23.0}),
    ("AUDIO_LOW", {"audio": 30e3}),
    ("PACKET_LOSS", {"status": 5}),
    ("KEYFRAME_SEVERE", {"status": 4}),
    ("KEYFRAME_DRIFT", {"status": 3}),
]


@pytest.mark.parametrize(("kind", "fault"), FAULTS)
def test_a_value_breaks_the_limit_beside_it(kind: str, fault: dict[str, Any]) -> None:
    actual, expected = evidence(analyze(stretch(30, **fault)), kind)
    value, limit = numbers(actual.partition(" in ")[2] or actual)[0], numbers(expected)[0]
    assert expected.startswith(("over ", "under ")), expected
    assert value < limit if expected.startswith("over ") else value >= limit, (actual, expected)


def test_the_chart_has_the_limit_that_the_alarm_names() -> None:
    assessment = assess_readings(after(count=30, video=0.84 * 4.5e6, fps=28.0, **THIN))
    (low,) = (finding for finding in assessment.findings if finding.kind == "VIDEO_LOW")
    assert assessment.limit_video is not None
    assert abs(numbers(low.expected)[0] - assessment.limit_video) < 0.01e6


def test_a_share_is_of_the_period_whose_limit_it_broke() -> None:
    """Ten seconds of a minute raise the alarm long before they are much of ten minutes."""
    short = evidence(analyze(each(2, 6, 3, status=5)), "PACKET_LOSS")
    assert re.fullmatch(r"packet loss in \d+ % of the last 60 s \(4 s in every 1\d s\)", short.actual)
    assert short.expected == "under 17 %"
    long = evidence(analyze(each(2, 13, 12, audio=0.0)), "AUDIO_LOST")
    assert "of the last 10 min" in long.actual
    for actual, expected in (short, long):
        assert numbers(actual)[0] >= numbers(expected)[0]


def test_a_share_that_falls_while_the_alarm_lasts_is_not_shown_under_its_limit() -> None:
    habit = each(2, 6, 3, status=5)
    raised, later = (evidence(analyze(habit, stretch(count)), "PACKET_LOSS") for count in (0, 20))
    assert later == raised


@pytest.mark.parametrize(("kind", "fault"), FAULTS)
def test_the_health_names_the_value_of_the_alarm(kind: str, fault: dict[str, Any]) -> None:
    assessment = assess_readings(after(count=30, **fault))
    loud = [finding for finding in assessment.findings if finding.severity is not Severity.INFO]
    assert kind in {finding.kind for finding in assessment.findings}
    assert assessment.health.detail in {finding.actual for finding in loud}
