"""A process that continues from the learnt state of another finds the same faults as one that never stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livedeck.monitor import Content, Reading, Readings, Thresholds
from livedeck.monitor.detection.delivery import Delivery, Surprise
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, after, samples, signal
from monitor.test_detect_laws import RULES, Part, facts, faults, quick, rows_of, whole

KEPT = 400
"""Samples that the history gives back here: fewer than the stream has, and enough to reach the oldest checkpoint."""

long_streams = st.lists(faults, min_size=1, max_size=8).map(
    lambda parts: list(rows_of([Part(450, 0.0, 4.5e6, 128e3, 30.0, 0), *parts]))
)


def restarted(analysis: SignalAnalysis, rows: list[Reading], rules: StreamRules = RULES) -> SignalAnalysis:
    """Return the analysis with which the next process begins: the stored state, and the newest samples before it."""
    learnt = parse_learnt(Learnt.of(analysis, RULES, Delivery()).to_json())
    assert learnt is not None
    readings = merge(Readings(), samples(rows))
    return detect(learnt.analysis(readings, rules), readings, rules)


stops_of_decks = st.lists(st.integers(1, 600), min_size=1, max_size=3)


@settings(quick, max_examples=12)
@given(long_streams, stops_of_decks)
def test_a_restart_at_any_moment_makes_no_difference(rows: list[Reading], stops: list[int]) -> None:
    _check_restarts(rows, stops)


@pytest.mark.slow
@settings(quick, max_examples=200)
@given(long_streams, stops_of_decks)
def test_a_restart_at_any_moment_makes_no_difference_tried_often(rows: list[Reading], stops: list[int]) -> None:
    _check_restarts(rows, stops)


def _check_restarts(rows: list[Reading], stops: list[int]) -> None:
    analysis, readings, begun = SignalAnalysis(), Readings(), 0
    for stop in [*sorted({min(stop, len(rows)) for stop in stops}), len(rows)]:
        readings = merge(readings, samples(rows[begun:stop]))
        analysis, begun = detect(analysis, readings, RULES), stop
        analysis = restarted(analysis, rows[max(0, stop - KEPT) : stop])
        readings = analysis.readings
    assert facts(analysis) == facts(whole(rows))


@settings(quick, max_examples=8)
@given(long_streams, st.integers(400, 480), st.randoms(use_true_random=False))
def test_samples_that_come_late_after_a_restart_count_where_they_belong(
    rows: list[Reading], stop: int, random: Random
) -> None:
    missing = set(random.sample(range(stop - 150, stop), 20))
    known = [row for index, row in enumerate(rows[:stop]) if index not in missing]
    analysis = restarted(detect(SignalAnalysis(), merge(Readings(), samples(known)), RULES), known[-KEPT:])
    readings = merge(analysis.readings, samples(rows[stop - 200 :]))
    assert facts(detect(analysis, readings, RULES)) == facts(whole(rows))


def test_another_content_drops_what_it_does_not_expect_though_its_beginning_is_forgotten() -> None:
    rows = list(rows_of([Part(600, 0.0, 4.5e6, 128e3, 30.0, 0), Part(500, 0.0, 4.5e6, 0.0, 30.0, 0)]))
    analysis = whole(rows)
    assert "AUDIO_LOST" in analysis.intervals
    silent = replace(RULES, thresholds=Thresholds(content=Content.SILENT))
    assert "AUDIO_LOST" in restarted(analysis, rows[-KEPT:]).intervals
    assert not restarted(analysis, rows[-KEPT:], silent).intervals


def test_after_an_unknown_hour_what_was_usual_still_is_and_no_fault_is() -> None:
    """monitoring.md, "Restart": nothing is said of the time between, but the same encoder is judged by the same."""
    before = whole([*rows_of([Part(600, 0.0, 4.5e6, 128e3, 30.0, 0), Part(20, 0.0, 4.5e6, 128e3, 17.0, 0)])])
    assert "FPS_COLLAPSE" in before.intervals
    calm = restarted(before, signal(20, end=7200))
    assert (calm.intervals, calm.usual.fps, calm.usual.video) == ({}, 30.0, 4.5e6)
    slow = restarted(before, signal(40, end=7200, fps=17.0))
    assert "FPS_COLLAPSE" in slow.intervals


def test_a_rate_that_sank_is_low_after_a_restart_too_and_the_version_before_reads_the_row() -> None:
    rows, rules = swinging_and_sinking(), replace(RULES, floor=1.5e6)
    before = detect(SignalAnalysis(), merge(Readings(), samples(rows[:-100])), rules)
    text = Learnt.of(before, rules, Delivery()).to_json()
    learnt, readings = parse_learnt(text), merge(Readings(), samples(rows[-KEPT:]))
    assert learnt is not None
    resumed = detect(learnt.analysis(readings, rules), readings, rules)
    unbroken = detect(before, merge(before.readings, samples(rows[-100:])), rules)
    assert resumed.intervals["VIDEO_DECAY"] == unbroken.intervals["VIDEO_DECAY"]
    memory, *_, features, _samples = json.loads(text)[1]["checkpoint"]
    assert [len(memory["levels"]["usual"]["usual"]), len(features[5]), len(features)] == [12, 12, 26]


def swinging_and_sinking() -> list[Reading]:
    """Return a variable rate: usual for ten minutes, sinking to an eighth for ten, and an eighth for thirty."""
    shares = [1.0] * 300 + [1.0 - 0.88 * index / 300 for index in range(300)] + [0.12] * 900
    rates = [4.5e6 * share * (0.85 if index % 2 else 1.15) for index, share in enumerate(shares)]
    return [Reading(NOW.timestamp() + 2.0 * index, rate, 128e3, 30.0, 0) for index, rate in enumerate(rates)]


def test_what_was_learnt_is_read_as_it_was_written() -> None:
    delivery = Delivery(peaks=(12.25, 40.1), surprises=(Surprise(NOW.timestamp(), 55.5),))
    analysis = detect(SignalAnalysis(), after(300, count=30, fps=15.0, status=5, audio=None), RULES)
    learnt = Learnt.of(analysis, RULES, delivery)
    again = parse_learnt(learnt.to_json())
    assert again is not None
    assert (again.delivery, again.rules, again.checkpoint) == (delivery, learnt.rules, learnt.checkpoint)


def test_what_another_version_has_written_or_what_has_rotted_is_nothing() -> None:
    text = Learnt().to_json()
    assert parse_learnt(text) == Learnt()
    for rotten in ("", "null", "[2, {}]", "[1, {}, 3]", text[:-3], '[1, {"checkpoint": 7}]'):
        assert parse_learnt(rotten) is None
