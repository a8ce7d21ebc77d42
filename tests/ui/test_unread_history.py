"""A history that cannot be read is never shown as one without entries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from livedeck.collector.attached.link import CollectorError
from livedeck.collector.attached.reads import RemoteHistory
from livedeck.monitor import BroadcastState, Readings
from livedeck.ui.app import Deck
from ui.stage import act, running, text_of

REASON = "the collector does not respond"


class Silent:
    """A collector that never answers. `asked`: names of the questions so far."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get(self, path: str, query: str = "") -> dict[str, Any]:  # noqa: ARG002
        self.asked.append(path.rpartition("/")[2])
        raise CollectorError(REASON)


async def settled(deck: Deck, pilot: Pilot[int]) -> str:
    """Return the text of the screen once nothing is being read any more."""
    await pilot.pause()
    for worker in [
        worker for worker in deck.workers if worker.group in {"log", "streams", "past", "actions", "last stream"}
    ]:
        await worker.wait()
    await pilot.pause()
    return " ".join(text_of(deck).split())


@pytest.mark.parametrize("tab", ["incidents", "actions", "notices", "connection", "kpi"])
async def test_a_log_that_cannot_be_read_is_not_empty(tab: str) -> None:
    async with running((120, 40), "7") as (deck, pilot):
        deck.records = RemoteHistory(Silent())
        deck.dispatch("log.next", tab)
        text = await settled(deck, pilot)
        assert "No entries" not in text
        assert "One moment" not in text
        assert f"The history could not be read: {REASON}" in text


async def test_past_streams_that_cannot_be_read_are_not_missing() -> None:
    async with running((120, 40)) as (deck, pilot):
        deck.records = RemoteHistory(Silent())
        await act(pilot, "screen.chat")
        text = await settled(deck, pilot)
        assert "no past streams known" not in text
        assert f"The history could not be read: {REASON}" in text


@pytest.mark.parametrize("name", ["qos.open", "qos.under", "qos.previous_stream", "qos.next_stream", "qos.jump 21:00"])
async def test_a_choice_of_streams_says_that_they_cannot_be_read(name: str) -> None:
    async with running((120, 40)) as (deck, pilot):
        await act(pilot, "screen.qos")
        deck.records = RemoteHistory(Silent())
        deck.dispatch(*name.split())
        text = await settled(deck, pilot)
        assert "the history has no" not in text
        assert f"The history could not be read: {REASON}" in text


@pytest.mark.parametrize("name", ["qos.next_marker", "qos.previous_marker"])
async def test_markers_that_cannot_be_read_are_unknown(name: str) -> None:
    async with running((120, 40)) as (deck, pilot):
        deck.records = RemoteHistory(Silent())
        await act(pilot, "screen.qos")
        await settled(deck, pilot)
        deck.dispatch(name)
        text = await settled(deck, pilot)
        assert "no marker" not in text
        assert "The history could not be read" in text


async def test_the_last_stream_of_a_completed_event_is_looked_for_once() -> None:
    async with running((120, 40)) as (deck, pilot):
        collector = Silent()
        deck.records = RemoteHistory(collector)
        snapshot = deck.snapshot
        assert snapshot is not None
        state = snapshot.events[0]
        phase = replace(state.phase, tally=BroadcastState.COMPLETED)
        over = replace(state, phase=phase, qos=replace(state.qos, readings=Readings(), as_of=None))
        deck.workers.cancel_all()
        deck.snapshot = replace(snapshot, events=(over, *snapshot.events[1:]))
        deck.select_event(over.id)
        await act(pilot, "screen.qos")
        for _ in range(3):
            await settled(deck, pilot)
        assert collector.asked == ["spans"]
