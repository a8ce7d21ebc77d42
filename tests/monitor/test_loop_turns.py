"""Analysing samples leaves the event loop to others: one event a pass, and a bounded number of samples."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from costs import check
from livedeck.monitor import tracker
from livedeck.monitor.detection.detect import detect
from livedeck.monitor.model.limits import Limits
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.tracker import ClockReading, WorldTracker
from monitor.recordings import NOW, ticking
from monitor.stage import model, samples


@pytest.mark.parametrize("count", [1, 29, 30, 31, 900])
async def test_a_pass_of_the_loop_analyses_few_samples(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """However many events have an answer at the same moment."""
    passes, analysed = 0, dict[int, int]()

    def counted(start: Any, readings: Any, rules: Any, *, limit: int, **facts: Any) -> Any:
        found = detect(start, readings, rules, limit=limit, **facts)
        analysed[passes] = analysed.get(passes, 0) + len(found.readings) - len(start.readings)
        return found

    async def count_passes() -> None:
        nonlocal passes
        while True:
            await asyncio.sleep(0)
            passes += 1

    monkeypatch.setattr(tracker, "detect", counted)
    now = NOW + timedelta(seconds=2.0 * count)
    names = [f"e{number}" for number in range(8)]
    world = WorldTracker((), ClockReading(now, 0.0), Limits(), Cadence())
    await world.ingest(PollResult(LIST, now, 0.0, EventList(tuple(model(event_id=name) for name in names))))
    counter = asyncio.create_task(count_passes())
    answer = samples(ticking(count))
    await asyncio.gather(*(world.ingest(PollResult(name, now, 0.0, answer)) for name in names))
    counter.cancel()
    assert sum(analysed.values()) == len(names) * count
    check("samples a pass of the loop", max(analysed.values()))
