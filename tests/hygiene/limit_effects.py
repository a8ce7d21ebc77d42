"""The verdicts of the monitor under one changed limit: over samples of known shapes, and over whole scenarios."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from random import Random
from typing import Any

from golden.player import Clock, Following, _api
from golden.warp import Warp
from livedeck.monitor import AlarmLimits, Monitor, Reading, Readings, Snapshot, Thresholds
from livedeck.monitor.detection.detect import StreamRules, detect, episodes
from livedeck.monitor.model.thresholds import Profile
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from livedeck.simulator import Simulator, load_scenario, scenario_names
from livedeck.simulator.engine.encoder import SHAPES, Shape, qos
from monitor.stage import NOW, samples

EVERY = 2.0
"""Seconds between two samples of a shape."""

FIRST = ("late-start", "flapping", "platform-outage", "clock-skew", "late-metrics", "frozen-qos", "future-samples")
"""Scenarios that touch many limits; they are played before the others."""


def limit_names() -> Iterator[str]:
    """Yield the path of each limit: `low_video`, `attention.flap_count`."""
    for field in fields(Thresholds):
        if field.type in {"AlarmLimits", AlarmLimits}:
            yield from (f"{field.name}.{inner.name}" for inner in fields(AlarmLimits))
        else:
            yield field.name


def changed(name: str, factor: float) -> Thresholds:
    """Return the default thresholds with one limit multiplied."""
    thresholds = Thresholds()
    table, _, inner = name.rpartition(".")
    if table:
        limits = getattr(thresholds, table)
        return replace(thresholds, **{table: replace(limits, **{inner: _times(getattr(limits, inner), factor)})})
    return replace(thresholds, **{name: _times(getattr(thresholds, name), factor)})


def _times(value: Any, factor: float) -> Any:
    match value:
        case Profile():
            return Profile.RADIO if factor < 1 else Profile.SLIDES
        case int():
            return max(1, round(value * factor))
        case float():
            return value * factor
        case tuple():
            return tuple(_times(item, factor) for item in value)
    assert is_dataclass(value)
    return replace(value, **{field.name: _times(getattr(value, field.name), factor) for field in fields(value)})  # type: ignore[type-var]


def has_effect(name: str) -> bool:
    """Return whether half or twice the limit changes a verdict over the samples or in a scenario."""
    both = [changed(name, 0.5), changed(name, 2.0)]
    if any(_judges_otherwise(number, thresholds) for number in range(len(_signals())) for thresholds in both):
        return True
    return any(_differs(scenario, thresholds) for scenario in _scenarios() for thresholds in both)


def _scenarios() -> list[str]:
    return [*FIRST, *(name for name in scenario_names() if name not in FIRST)]


def _judges_otherwise(number: int, thresholds: Thresholds) -> bool:
    return _analysis(number, thresholds) != _plain_analysis(number)


@cache
def _plain_analysis(number: int) -> str:
    return _analysis(number, Thresholds())


def _analysis(number: int, thresholds: Thresholds) -> str:
    """Return what the detector says of a signal, in words."""
    readings, floor = _signals()[number]
    analysis = detect(SignalAnalysis(), readings, StreamRules(thresholds, floor))
    return f"{episodes(analysis)} {analysis.intervals} {analysis.features}"


@cache
def _signals() -> tuple[tuple[Readings, float], ...]:
    return tuple((merge(Readings(), samples(rows)), floor) for rows, floor in _rows())


def _rows() -> Iterator[tuple[list[Reading], float]]:
    """Yield signals with the least video rate of their preset: each shape after a calm start, then special ones."""
    for name in SHAPES:
        yield _sent(["clean"] * 120 + [name] * 300), 1.5e6
    for rates in _SIGNALS:
        yield [Reading(at, *rates(index)) for index, at in enumerate(_times_of(600))], 0.0
    yield [Reading(at, 3e5, 128e3, 30.0, 0) for at in _times_of(600)], 1.5e6
    slow = enumerate(_times_of(200, 15.0))
    yield [Reading(at, 4.5e6, 128e3, 30.0, 5 if index % 4 == 0 else 0) for index, at in slow], 0.0


_SIGNALS: tuple[Callable[[int], tuple[float, float, float, int]], ...] = (
    lambda index: (4.5e6 * (1 - index / 1000), 128e3, 30.0, 0),
    lambda index: (4.5e6, 128e3, 30.0 if index % 4 else 12.0, 0),
    *(partial(lambda status, index: (4.5e6, 128e3, 30.0, status if index % 50 < 5 else 0), code) for code in (3, 4, 5)),
    *(partial(lambda step, index: (4.5e6 * (step if index > 300 else 1), 128e3, 30.0, 0), part) for part in (0.9, 1.3)),
    lambda index: (4.5e6, 128e3, 25.0 if index > 300 else 30.0, 0),
    *(
        partial(lambda rate, index: (4.5e6, rate if 300 < index < 360 else 128e3, 30.0, 0), sound)
        for sound in (0.0, 30e3, 60e3, 330e3)
    ),
)
"""Video, audio, frame rate and status of a sample by its number: decay, judder, bursts, new levels, sound."""


def _times_of(count: int, every: float = EVERY) -> list[float]:
    return [NOW.timestamp() + every * index for index in range(count)]


def _sent(shapes: list[str]) -> list[Reading]:
    kinds: list[Shape] = [SHAPES[name] for name in shapes]
    sent = [qos(7, EVERY * index, shape) for index, shape in enumerate(kinds)]
    return [Reading(at, *row) for at, row in zip(_times_of(len(sent)), sent, strict=True) if row]


def _differs(scenario: str, thresholds: Thresholds) -> bool:
    return _play(scenario, thresholds) != _plain(scenario)


@cache
def _plain(scenario: str) -> list[str]:
    return _play(scenario, Thresholds())


def _play(scenario: str, thresholds: Thresholds) -> list[str]:
    """Return the verdicts of each moment of a scenario, in words."""
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(_watch(scenario, thresholds))


async def _watch(scenario: str, thresholds: Thresholds) -> list[str]:
    clock, chance, said, lasts = Clock(), Random(1), list[str](), load_scenario(scenario).lasts
    with closing(Simulator(seed=1, clock=Following(clock), scenario=scenario)) as simulator:
        async with _api(simulator, "in process", clock, chance) as api:
            monitor = Monitor(api, clock, random=chance, thresholds=thresholds)
            async with aclosing(monitor.snapshots()) as snapshots:
                async for snapshot in snapshots:
                    said.append(_verdicts(snapshot))
                    if clock.monotonic() >= lasts:
                        return said
    return said


def _verdicts(snapshot: Snapshot) -> str:
    events = [
        (state.id, state.phase.tally, state.phase.ingest.state, state.assessment, state.is_stale, state.pattern)
        for state in snapshot.events
    ]
    deck = (snapshot.link, snapshot.alarms, snapshot.quiet, snapshot.bells, snapshot.flood, snapshot.ended)
    return f"{snapshot.at} {events} {deck}"
