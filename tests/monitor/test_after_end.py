"""Samples of a completed stream are requested after its end until they are whole, and kept.

See monitoring.md, "Samples after the end".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from breadth import slow_rows
from livedeck.monitor import Cadence, CollectedStream, History, Snapshot
from livedeck.monitor.history.reads import Recorded
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, Stage, at, event
from virtual_clock import VirtualClock

END = 60.0

SELDOM = Cadence(events=200.0, events_near=200.0, tick=200.0)
"""Cadence without polls for hours, so that only the tries count."""


def completed(end: float = END, event_id: str = "one") -> dict[str, Any]:
    """Return an event whose stream ended `end` seconds from NOW."""
    stream = {"id": f"stream-{event_id}", "status": "finished", "started_at": at(-600), "finished_at": at(end)}
    return {**event(event_id), "stream": stream}


class Memory:
    """History that survives restarts: the newest snapshot, and the collected streams."""

    fault = lasting_fault = ""
    failures = 0

    def __init__(self) -> None:
        self.collected: list[CollectedStream] = []
        self.last: Snapshot | None = None

    async def restored(self) -> tuple[()]:
        """None."""
        return ()

    async def recorded(self, *_: object, **__: object) -> Mapping[str, Recorded]:
        """Nothing."""
        return {}

    async def new_silences(self) -> tuple[()]:
        """None."""
        return ()

    async def new_alarm_actions(self) -> tuple[()]:
        """None."""
        return ()

    async def on_air_since(self, since: datetime) -> tuple[str, ...]:
        """None."""
        del since
        return ()

    async def new_rulings(self) -> tuple[()]:
        """None either."""
        return ()

    async def intents(self, _: datetime) -> tuple[()]:
        """None."""
        return ()

    async def append(self, snapshot: Snapshot) -> None:
        """Store the snapshot."""
        self.last = snapshot

    def record_learnt(self, *_: object) -> None:
        """Ignore it."""

    def record_collected(self, record: CollectedStream) -> None:
        """Store the record."""
        self.collected.append(record)

    async def collected_streams(self, since: datetime) -> tuple[CollectedStream, ...]:
        """Return the streams collected since a time."""
        return tuple(record for record in self.collected if record.at >= since)

    def newest(self) -> float:
        """Return the time of the newest stored sample of the first event, in seconds from NOW."""
        assert self.last
        return self.last.events[0].qos.readings.time[-1] - NOW.timestamp()


async def watch_to_the_end(deck: Deck, end: float = END) -> None:
    """Watch until the event is listed as completed; its samples come 40 s late."""
    deck.stage.silent_from = end
    deck.stage.events = [event()]
    await deck.until(end)
    deck.stage.events = [completed(end)]


def asks_after(deck: Deck, seconds: float) -> list[float]:
    """Return the times of requests for samples after a moment."""
    return [when for when in deck.stage.times("one") if when >= seconds]


class Behind(Stage):
    """Platform whose samples come 40 s late."""

    def _sent(self) -> list[dict[str, Any]]:
        newest = (self.clock.now() - timedelta(seconds=40)).isoformat()
        return [row for row in super()._sent() if row["time"] <= newest]


async def test_the_last_minute_is_asked_for_once_after_the_end() -> None:
    memory = Memory()
    deck = Deck(Behind(VirtualClock()), history=memory)
    await watch_to_the_end(deck)
    await deck.until(END + 30)
    assert memory.newest() < END - 15  # what is measured late is not there yet
    await deck.until(END + 900)
    assert len(asks_after(deck, END + 30)) == 1
    assert END + 90 <= asks_after(deck, END + 30)[0] < END + 100
    assert memory.newest() == END
    assert [record.key for record in memory.collected] == [("one", "stream-one")]
    await deck.close()


async def test_a_deck_that_starts_asks_for_what_nobody_has_asked_for(deck: Raise) -> None:
    """And the next one does not, nor one that keeps no history."""
    memory = Memory()
    for history, asks in ((None, 0), (memory, 1), (memory, 0)):
        one = deck(completed(-300), history=history, cadence=SELDOM)
        one.stage.silent_from = -300.0
        await one.until(2400)
        assert len(one.stage.times("one")) == asks
        assert not asks or memory.newest() == -300


@pytest.mark.parametrize(("age", "asks"), [(86_000.0, 1), (87_000.0, 0)])
async def test_a_stream_that_ended_long_ago_is_left_alone(age: float, asks: int, deck: Raise) -> None:
    one = deck(completed(-age), history=Memory(), cadence=SELDOM)
    one.stage.silent_from = -age
    await one.until(300)
    assert len(one.stage.times("one")) == asks


@pytest.mark.parametrize(("status", "asks"), [(404, 1), (500, 8), (429, 4), *slow_rows((400, 1), (403, 4))])
async def test_a_refusal_is_heeded_and_a_failure_is_tried_again_within_bounds(
    status: int, asks: int, deck: Raise
) -> None:
    """Four times, of which a 5xx each time has its quick retry."""
    memory = Memory()
    one = deck(completed(-100), history=memory, cadence=SELDOM)
    one.stage.fails_qos = status, {}
    await one.until(6000)
    times = one.stage.times("one")
    assert len(times) == asks
    assert len(memory.collected) == 1
    if asks > 1:
        tries = times[:: asks // 4]
        waits = [later - before for before, later in pairwise(tries)]
        assert all(wait >= least for wait, least in zip(waits, (300, 900, 3600), strict=True))


async def test_samples_that_are_not_there_yet_are_asked_for_again(deck: Raise) -> None:
    """An empty answer, then a whole one."""
    memory = Memory()
    one = deck(completed(-100), history=memory, cadence=SELDOM)
    one.stage.silent_from = -100.0
    one.stage.unsent = {"one"}
    await one.until(200)
    assert len(one.stage.times("one")) == 1
    one.stage.unsent = set()
    await one.until(2400)
    assert len(one.stage.times("one")) == 2
    assert memory.newest() == -100


async def test_an_encoder_that_left_before_the_end_is_asked_for_once(deck: Raise) -> None:
    """Its samples do not reach the end, and none came since the last look."""
    memory = Memory()
    one = deck(event(), history=memory)
    one.stage.silent_from = 20.0
    await one.until(END)
    one.stage.events = [completed()]
    await one.until(END + 900)
    assert len(asks_after(one, END + 30)) == 1


async def test_a_connection_that_is_down_costs_no_try(deck: Raise) -> None:
    memory = Memory()
    one = deck(event(), history=memory)
    one.stage.silent_from = END
    await one.until(END)
    one.stage.events = [completed()]
    await one.until(END + 30)
    one.stage.fails = 503, {}
    await one.until(END + 200)
    one.stage.fails = None
    await one.until(END + 900)
    assert memory.newest() == END
    assert len(memory.collected) == 1


async def test_what_was_collected_is_known_to_the_decks_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    history = await History.open(path, NOW)
    record = CollectedStream(NOW, "one", "stream-one", 301)
    history.record_collected(record)
    await history.flush()
    other = await History.open(path, NOW)
    assert await other.collected_streams(NOW) == (record,)
    assert await other.collected_streams(NOW + timedelta(seconds=1)) == ()
    await history.close()
    await other.close()
