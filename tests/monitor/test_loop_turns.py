"""Analysing samples leaves the event loop to others: one event a pass, few samples, and few calls for a reply."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from costs import check
from counting import counted
from livedeck.monitor import tracker
from livedeck.monitor.detection.detect import detect
from livedeck.monitor.model.limits import Limits
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker
from monitor.recordings import NOW, ticking
from monitor.stage import model, samples


@pytest.mark.parametrize("count", [1, 29, 30, 31, 900])
async def test_a_pass_of_the_loop_analyses_few_samples(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """However many events have an answer at the same moment."""
    passes, analysed = 0, dict[int, int]()

    def counting(start: Any, readings: Any, rules: Any, *, limit: int, **facts: Any) -> Any:
        found = detect(start, readings, rules, limit=limit, **facts)
        analysed[passes] = analysed.get(passes, 0) + len(found.readings) - len(start.readings)
        return found

    async def count_passes() -> None:
        nonlocal passes
        while True:
            await asyncio.sleep(0)
            passes += 1

    monkeypatch.setattr(tracker, "detect", counting)
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


async def test_a_reply_with_one_new_sample_costs_few_calls() -> None:
    """From the reply to the event's state."""
    rows, known = ticking(330), 300
    moments = [NOW + timedelta(seconds=2.0 * count) for count in range(known, 331)]
    replies = [PollResult("e", at, 0.0, samples(rows[:count][-150:])) for count, at in enumerate(moments, known)]
    listed = PollResult(LIST, moments[0], 0.0, EventList((model(event_id="e"),)))
    world = WorldTracker((), ClockReading(moments[0], 0.0), Limits(), Cadence())
    await world.ingest(listed)
    for reply in replies[:11]:
        await world.ingest(reply)
        await world.evaluate_all((listed, reply), ClockReading(reply.at, 0.0), LinkMeasure())
    with counted() as calls:
        for reply in replies[11:]:
            await world.ingest(reply)
    assert len(world.states[0].qos.readings) == 180
    check("tracker: calls a reply with one new sample", calls.total() / 20)
