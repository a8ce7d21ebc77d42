"""Samples in any order, and repeated ones, become one ascending series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import Reading, Readings
from livedeck.monitor.signal.series import cadence, mean_measured, merge, newest_run, peak_count
from monitor.stage import NOW, after, samples, signal

number = st.none() | st.floats(0, 1e7)
rows = st.lists(
    st.builds(Reading, st.integers(0, 60).map(float), number, number, number, st.none() | st.integers(0, 9)),
    max_size=40,
)


def started_at(readings: Readings, gap: float) -> float | None:
    run = newest_run(readings, gap)
    return run and run.started_at


def listed(readings: Readings) -> list[Reading]:
    return [readings[index] for index in range(len(readings))]


def merged(*answers: list[Reading]) -> Readings:
    readings = Readings()
    for answer in answers:
        readings = merge(readings, samples(answer))
    return readings


@given(rows, rows)
def test_the_series_is_the_union_ascending_and_the_newer_answer_wins(
    first: list[Reading], second: list[Reading]
) -> None:
    expected = {row[0]: row for row in [*first, *second]}
    assert listed(merged(first, second)) == [expected[time] for time in sorted(expected)]


@given(rows)
def test_the_same_answer_again_changes_nothing_not_even_the_object(answer: list[Reading]) -> None:
    readings = merged(answer)
    assert merge(readings, samples(answer)) is readings


@given(rows, rows, st.integers(1, 20))
def test_only_the_newest_are_kept(first: list[Reading], second: list[Reading], limit: int) -> None:
    readings = merge(merge(Readings(), samples(first), limit), samples(second), limit)
    assert len(readings) <= limit
    assert list(readings.time) == sorted({row[0] for row in [*first, *second]})[-len(readings) :]


@given(rows, rows, st.integers(-1, 61).map(float))
def test_nothing_later_than_allowed_is_kept_not_even_what_was_known(
    first: list[Reading], second: list[Reading], until: float
) -> None:
    readings = merge(merged(first), samples(second), until=until)
    assert listed(readings) == [row for row in listed(merged(first, second)) if row.time <= until]
    assert merge(readings, samples(second), until=until) is readings


def test_an_answer_that_goes_on_where_the_last_ended_is_appended() -> None:
    stream = signal(100)
    assert listed(merged(stream[:60], stream[40:])) == stream


def test_zero_is_not_missing() -> None:
    readings = merged([Reading(0.0, 0.0, None, 0.0, 0), Reading(2.0, None, 0.0, None, None)])
    assert readings[0] == (0.0, 0.0, None, 0.0, 0)
    assert readings.last == (2.0, None, 0.0, None, None)
    assert mean_measured(readings.video) == 0.0
    assert mean_measured(readings.fps[1:]) is None


def test_the_cadence_is_learnt_from_the_last_samples_and_not_upset_by_a_gap() -> None:
    assert cadence(merged(signal(1))) is None
    assert cadence(merged([*signal(30, end=-300, every=1.0), *signal(30, every=5.0)])) == 5.0
    assert cadence(merged([*signal(30, end=-100), *signal(9)])) == 2.0


def test_a_run_begins_after_the_last_silence() -> None:
    readings = merged([*signal(30, end=-100), *signal(9)])
    assert started_at(readings, 15.0) == NOW.timestamp() - 16.0
    assert started_at(readings, 900.0) == readings.time[0]
    assert started_at(Readings(), 15.0) is None


def test_a_run_older_than_what_is_kept_has_no_known_beginning() -> None:
    assert started_at(merged(signal(4000)), 15.0) is None


@given(st.lists(st.tuples(st.sets(st.integers(0, 300), min_size=1), st.sampled_from([3.0, 9.0, 20.0]))))
def test_a_run_that_goes_on_is_the_run_that_all_samples_show(answers: list[tuple[set[int], float]]) -> None:
    """Samples come late, too, and the gap changes with the cadence."""
    readings, run = Readings(), None
    for times, gap in answers:
        readings = merge(readings, samples([Reading(float(time), 1.0, 1.0, 1.0, 0) for time in times]))
        run = newest_run(readings, gap, run)
        assert run == newest_run(readings, gap)


def test_a_status_is_counted_where_it_was_worst_in_the_last_minute() -> None:
    readings = after(60, count=20, status=5)
    assert peak_count(readings, 5, window=6, seconds=60.0) == 6
    calm_again = merge(readings, samples(signal(15, end=30.0)))
    assert peak_count(calm_again, 5, window=6, seconds=60.0) == 6
    assert peak_count(calm_again, 5, window=6, seconds=10.0) == 0


def test_a_status_from_before_a_gap_is_not_of_the_last_minute() -> None:
    returned = merge(after(60, count=20, status=5), samples(signal(10, end=200.0)))
    assert peak_count(returned, 5, window=6, seconds=60.0) == 0
