"""Laws of the fold: any order of arrival gives the same faults, and no state is contradictory."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import inf
from random import Random
from types import FrameType
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costs import check
from counting import calls_of
from livedeck.monitor import Episode, Reading, Readings, Thresholds
from livedeck.monitor.detection.detect import SAMPLE_KINDS, StreamRules, detect, episodes
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import first_change, merge
from monitor.stage import NOW, samples

quick = settings(max_examples=40, deadline=None)
"""Settings for streams of minutes: some dozens of examples find the faults."""

T = Thresholds()
RULES = StreamRules(T)
OFF_SECONDS = {kind.name: detector.hold_time(T).off for kind, detector in SAMPLE_KINDS} | {
    "RECONNECTING": T.silence_off
}


class Part(NamedTuple):
    """Some equal samples, after some seconds without any."""

    length: int
    pause: float
    video: float | None
    audio: float | None
    fps: float | None
    status: int | None


faults = st.builds(
    Part,
    st.integers(1, 35),
    st.sampled_from([0.0, 0.0, 0.0, 14.0, 60.0]),
    st.sampled_from([4.5e6, 4.5e6, 4.5e6, 2.9e6, 1.3e6, 0.0, None]),
    st.sampled_from([128e3, 128e3, 128e3, 96e3, 16e3, 0.0, None]),
    st.sampled_from([30.0, 30.0, 30.0, 28.0, 15.0, 0.0, None]),
    st.sampled_from([0, 0, 0, 3, 4, 5, 7, None]),
)
streams = st.lists(faults, min_size=1, max_size=6).map(lambda parts: list(rows_of(parts)))


def rows_of(parts: Iterable[Part]) -> Iterable[Reading]:
    """Yield the samples of a calm start and of these parts."""
    time = NOW.timestamp()
    calm_start = Part(55, 0.0, 4.5e6, 128e3, 30.0, 0)
    for part in (calm_start, *parts):
        time += part.pause
        for _ in range(part.length):
            yield Reading(time, *part[2:])
            time += 2.0


def facts(analysis: SignalAnalysis) -> tuple[object, ...]:
    return analysis.intervals, analysis.past, analysis.usual, analysis.first_time, episodes(analysis)


def whole(rows: list[Reading]) -> SignalAnalysis:
    return detect(SignalAnalysis(), merge(Readings(), samples(rows)), RULES)


def in_chunks(rows: list[Reading], sizes: Iterable[int]) -> Iterable[list[Reading]]:
    start = 0
    for size in sizes:
        yield rows[start : start + size]
        start += size
    yield rows[start:]


@quick
@given(streams, st.lists(st.integers(1, 90), max_size=12))
def test_the_same_samples_are_the_same_faults_one_by_one_or_all_at_once(rows: list[Reading], sizes: list[int]) -> None:
    analysis, readings = SignalAnalysis(), Readings()
    for chunk in in_chunks(rows, sizes):
        readings = merge(readings, samples(chunk))
        analysis = detect(analysis, readings, RULES)
    assert facts(analysis) == facts(whole(rows))


@quick
@given(streams, st.integers(1, 90))
def test_the_same_samples_are_the_same_faults_a_few_in_each_call(rows: list[Reading], limit: int) -> None:
    readings, analysis, calls = merge(Readings(), samples(rows)), SignalAnalysis(), 0
    while analysis.readings is not readings:
        analysis, calls = detect(analysis, readings, RULES, limit=limit), calls + 1
    assert calls == -(-len(rows) // limit)
    assert facts(analysis) == facts(whole(rows))


@quick
@given(streams, st.randoms(use_true_random=False))
def test_late_and_reordered_and_doubled_samples_make_no_difference(rows: list[Reading], random: Random) -> None:
    chunks = [chunk for chunk in in_chunks(rows, [random.randint(1, 60) for _ in range(8)]) if chunk]
    random.shuffle(chunks)
    analysis, readings = SignalAnalysis(), Readings()
    for chunk in [*chunks, random.choice(chunks)]:
        readings = merge(readings, samples(random.sample(chunk * 2, len(chunk) * 2)))
        analysis = detect(analysis, readings, RULES)
    assert facts(analysis) == facts(whole(rows))


@quick
@given(streams)
def test_an_answer_without_news_costs_nothing(rows: list[Reading]) -> None:
    analysis = whole(rows)
    assert detect(analysis, merge(analysis.readings, samples(rows)), RULES) is analysis


@quick
@given(streams, st.integers(1, 90))
def test_what_an_answer_made_known_is_not_changed_by_the_next(rows: list[Reading], size: int) -> None:
    """An analysis is kept, stored and gone back to for late samples."""
    analysis, readings = SignalAnalysis(), Readings()
    for start in range(0, len(rows), size):
        before, kept = analysis, copy.deepcopy((analysis.checkpoints, analysis.intervals))
        readings = merge(readings, samples(rows[start : start + size]))
        analysis = detect(analysis, readings, RULES)
        assert (before.checkpoints, before.intervals) == kept


def test_an_answer_of_two_samples_costs_one_copy_of_the_state() -> None:
    """A poll brings two samples: the state was once copied twice for them, by name of each field."""
    rows = [*rows_of([Part(245, 0.0, 4.5e6, 128e3, 30.0, 0)])]
    answers = [
        *accumulate(
            in_chunks(rows, [100] + [2] * 100), lambda so_far, chunk: merge(so_far, samples(chunk)), initial=Readings()
        )
    ]
    analysis = detect(SignalAnalysis(), answers[1], RULES)
    copies = 0

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal copies
        copies += event == "call" and frame.f_code.co_name in {"copy", "replace"}

    def judge() -> None:
        nonlocal analysis
        for readings in answers[2:102]:
            analysis = detect(analysis, readings, RULES)

    begun = analysis
    sys.setprofile(profile)
    try:
        judge()
    finally:
        sys.setprofile(None)
    check("detector: copies of an answer of two samples", copies / 100)
    analysis = begun
    check("detector: calls a sample, two in an answer", calls_of(judge) / 200)


@pytest.mark.parametrize("new", [1, 3])
def test_a_live_sample_costs_few_calls(new: int) -> None:
    """A reply repeats 150 samples and brings one or three: merged, compared with the known ones, and judged."""
    rows = [*rows_of([Part(245, 0.0, 4.5e6, 128e3, 30.0, 0)])]
    replies = [samples(rows[: 150 + new * count][-150:]) for count in range(31)]
    readings = merge(Readings(), replies[0])
    analysis = detect(SignalAnalysis(), readings, RULES)

    def judge() -> None:
        nonlocal readings, analysis
        for reply in replies[1:]:
            readings = merge(readings, reply)
            analysis = detect(analysis, readings, RULES)

    calls = calls_of(judge)
    assert len(readings) == 150 + 30 * new
    check(f"detector: calls a live sample, {new} in a reply", calls / (30 * new))


@quick
@given(streams)
def test_an_episode_begins_once_never_gets_quieter_and_ends_after_its_delay(rows: list[Reading]) -> None:
    analysis, readings, before = SignalAnalysis(), Readings(), dict[str, Episode]()
    for row in rows:
        readings = merge(readings, samples([row]))
        analysis = detect(analysis, readings, RULES)
        now = {episode.kind: episode for episode in episodes(analysis) if episode.until is None}
        assert set(now) == set(analysis.intervals)
        for kind, episode in before.items():
            if kind in now:
                assert now[kind].since == episode.since
                assert now[kind].severity.rank <= episode.severity.rank
            else:
                ended = next(last for last in reversed(analysis.past) if last.kind == kind)
                assert (ended.since, ended.severity) == (episode.since, episode.severity)
                assert ended.until is not None
                assert row.time - ended.until.timestamp() >= OFF_SECONDS[kind]
        before = now


@quick
@given(streams)
def test_episodes_of_a_kind_do_not_overlap(rows: list[Reading]) -> None:
    every = episodes(whole(rows))
    for kind in OFF_SECONDS:
        of_kind = [episode for episode in every if episode.kind == kind]
        assert all(episode.until is None or episode.since <= episode.until for episode in of_kind)
        for earlier, later in pairwise(of_kind):
            assert earlier.until is not None
            assert earlier.until <= later.since


@quick
@given(streams, st.data())
def test_the_first_change_is_where_two_series_part(rows: list[Reading], data: st.DataObject) -> None:
    readings = merge(Readings(), samples(rows))
    index = data.draw(st.integers(0, len(rows) - 1))
    changed = [*rows[:index], rows[index]._replace(audio=7.0), *rows[index + 1 :]]
    shorter = merge(Readings(), samples([*rows[:index], *rows[index + 1 :]]))
    assert first_change(readings, merge(Readings(), samples(changed))) == rows[index].time
    longer = merge(readings, samples([Reading(rows[-1].time + 1.0, *rows[-1][1:])]))
    assert first_change(readings, longer) == inf
    if index > 0:
        assert first_change(readings, shorter) == rows[index].time
        assert first_change(shorter, readings) == (rows[index].time if index < len(rows) - 1 else inf)
