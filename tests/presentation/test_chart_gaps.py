"""No chart draws a gap that was none, or hides one, for shows of any length and spacing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from livedeck.monitor import (
    BroadcastState,
    EventState,
    Freshness,
    Grade,
    Health,
    HealthAssessment,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Reading,
    Readings,
)
from livedeck.monitor.signal.series import merge
from livedeck.presentation.events import recent_signal
from livedeck.presentation.qos import recent_axis
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.time_series import chart_axis, from_memory, hold_until_answer, recent_series
from livedeck.text.segments import plain
from monitor.stage import model, samples

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def show(random: Random) -> tuple[EventState, RenderTime]:
    """Return an event on air for 30 s to 6 h with a sample each 2 to 30 s, some missing, and the newest in time."""
    length, cadence = 30 * 720 ** random.random(), random.choice([2.0, 5.0, 10.0, 30.0, random.uniform(2, 30)])
    times: list[float] = []
    at = START.timestamp() + random.uniform(0, 10)
    while at < START.timestamp() + length or len(times) < 2:
        times.append(at)
        missing = random.choice([0] * 30 + [1, 1, 2, 4, 40])
        at += cadence * (1 + missing) + random.uniform(-0.1, 0.1) * cadence
    times = times[-3600:]
    readings = merge(Readings(), samples(Reading(time, 4e6, 128e3, 30.0, 0) for time in times))
    lag = random.choice([0.0, 1.0, 8.0])
    now = datetime.fromtimestamp(times[-1] + lag + random.uniform(0, 1) * cadence, UTC)
    stream = {"id": "s", "status": "live", "started_at": START.isoformat(), "finished_at": None}
    qos = QosState(as_of=now, freshness=Freshness.FRESH, cadence=cadence, readings=readings, lag=lag)
    phase = Phase(BroadcastState.ON_AIR, START, Ingest(IngestState.RECEIVING))
    state = EventState(model(stream=stream), now, phase, qos, HealthAssessment(Health(100, Grade.GOOD)))
    return state, RenderTime(now, now, stale=False)


SHOWS = range(60)


@pytest.mark.parametrize("seed", SHOWS)
def test_an_empty_column_is_a_gap_that_was(seed: int) -> None:
    """A column with no sample is a gap only if more than 1.5 spacings are missing, and long ones all show."""
    random = Random(seed)
    state, at = show(random)
    cadence, times = state.qos.cadence or 0.0, list(state.qos.readings.time)
    longest = max(2.5 * cadence, cadence + 2.0)
    span = random.choice([None, 300.0, 900.0, 3600.0])
    series = recent_series(state, at, span, random.randint(40, 160)) if span else None
    axis = chart_axis(state, at, span, random.randint(40, 160))
    assert axis is not None
    if series is None:
        series = hold_until_answer(state, at, from_memory(axis, state.qos.readings))
    axis, holes = series.axis, [(a, b) for a, b in pairwise(times) if b - a > longest]
    for column in series.expected:
        begin, end = axis.start + column * axis.step, axis.start + (column + 1) * axis.step
        if end <= times[0]:
            continue  # older than the samples in memory
        is_empty = series.statuses[column] is None
        assert not is_empty or any(a <= begin and end <= b for a, b in holes), (column, begin - times[0])
    for a, b in holes:
        inner = range(max(0, axis.column_of(a + cadence) + 2), min(axis.columns, axis.column_of(b)))
        if len(inner) * axis.step > longest:
            assert all(series.statuses[column] is None for column in inner)


@pytest.mark.parametrize("seed", SHOWS)
def test_the_bars_of_a_table_have_a_dash_only_where_samples_are_missing(seed: int) -> None:
    state, at = show(Random(seed))
    columns = Random(seed).randint(9, 60)
    axis, times = recent_axis(state, at, 300.0, columns), list(state.qos.readings.time)
    assert axis is not None
    bars = plain(recent_signal(state, at, columns))
    cadence = state.qos.cadence or 0.0
    longest = max(2.5 * cadence, cadence + 2.0)
    holes = [(a, b) for a, b in pairwise(times) if b - a > longest]
    for column, glyph in enumerate(bars):
        begin, end = axis.start + column * axis.step, axis.start + (column + 1) * axis.step
        if end <= times[0]:
            continue
        assert glyph != "╌" or any(a <= begin and end <= b for a, b in holes), column


def test_a_lost_encoder_is_a_gap_from_its_last_sample_on() -> None:
    state, at = show(Random(3))
    later = timedelta(seconds=40 * (state.qos.cadence or 0.0))
    phase = replace(state.phase, ingest=Ingest(IngestState.INTERRUPTED, at.now, at.now + later))
    gone = replace(state, phase=phase, qos=replace(state.qos, as_of=at.now + later))
    series = recent_series(gone, RenderTime(at.now + later, at.now + later, stale=False), 3600.0, 100)
    assert series is not None
    last = series.axis.column_of((at.now + later).timestamp())
    assert series.expected.stop == last
    assert series.statuses[last - 1] is None
