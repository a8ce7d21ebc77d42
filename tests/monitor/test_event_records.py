"""Names and folders of an event over time: one record for each change, which outlives the other data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from livedeck.monitor import (
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventRecord,
    EventState,
    HealthAssessment,
    History,
    HistoryReader,
    Phase,
    QosState,
    RestreamRecord,
    Severity,
    Snapshot,
)
from monitor.recordings import NOW
from monitor.stage import at, model

Open = Callable[[], Awaitable[History]]
DAY = 86_400.0
KEY = "live_9f8e7d6c5b4a"


def standing(*states: EventState, seconds: float = 0.0, ahead: float = 0.0) -> Snapshot:
    """Return a snapshot `seconds` after NOW, by a clock that is `ahead` seconds ahead."""
    link = ConnectionStatus(ConnectionState.OK, NOW, as_of=NOW, clock_offset=ahead)
    return Snapshot(1, NOW + timedelta(seconds=seconds), link, states)


def state(event_id: str = "one", tally: BroadcastState = BroadcastState.ON_AIR, **fields: Any) -> EventState:
    """Return an event as the platform listed it."""
    return EventState(model(event_id=event_id, **fields), NOW, Phase(tally), QosState(), HealthAssessment())


def seconds_of(records: tuple[EventRecord, ...]) -> list[float]:
    """Return the times of the records, in seconds from NOW."""
    return [(record.at - NOW).total_seconds() for record in records]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Function that opens histories of one file."""
    histories: list[History] = []

    async def make() -> History:
        histories.append(await History.open(tmp_path / "deck.sqlite", NOW))
        return histories[-1]

    yield make
    for history in histories:
        await history.close()


async def test_a_record_says_all_of_it_and_no_secret(opened: Open) -> None:
    """Restreams are there by name and status alone."""
    restream = {
        "id": "r1", "name": "Video share", "url": "rtmp://ingest.example/app", "key": KEY, "status": "connected",
        "enabled": True,
    }  # fmt: skip
    history = await opened()
    event = state(
        name="Choir",
        parent_id="folder",
        record={"parent_id": "shelf"},
        scheduled={"time": at(60)},
        restreams=[restream],
    )
    await history.append(standing(event, seconds=5, ahead=100))
    await history.flush()
    (record,) = await history.events()
    assert record == EventRecord(
        at=NOW + timedelta(seconds=105),
        event_id="one",
        name="Choir",
        tally=BroadcastState.ON_AIR,
        scheduled=NOW + timedelta(seconds=60),
        stream_id="stream-one",
        started_at=NOW - timedelta(seconds=600),
        restreams=(RestreamRecord("r1", "Video share", "connected", is_enabled=True),),
        parent_id="folder",
        recording_parent_id="shelf",
    )
    assert not record.is_completed


async def test_only_what_changes_makes_a_record(opened: Open) -> None:
    """Its name, its tally, its start, a restream: one each; the same once more, or other samples: none."""
    history = await opened()
    steps = [
        state(),
        state(),
        state(name="Choir"),
        state(name="Choir", tally=BroadcastState.RECONNECTING),
        replace(state(name="Choir", tally=BroadcastState.RECONNECTING), is_stale=True),
        state(name="Choir", tally=BroadcastState.COMPLETED, scheduled={"time": at(9)}),
    ]
    for second, step in enumerate(steps):
        await history.append(standing(step, seconds=second))
    await history.flush()
    records = await history.events()
    assert seconds_of(records) == [0, 2, 3, 5]
    assert [record.name for record in records] == ["one", "Choir", "Choir", "Choir"]
    assert records[-1].is_completed


async def test_what_no_list_has_is_gone_and_may_come_back(opened: Open) -> None:
    """It keeps its name meanwhile."""
    history = await opened()
    for second, events in enumerate([[state(name="Choir"), state("two")], [state("two")], [state(name="Choir")]]):
        await history.append(standing(*events, seconds=second))
    await history.flush()
    records = await history.events(event_id="one")
    assert [(record.name, record.is_gone) for record in records] == [
        ("Choir", False),
        ("Choir", True),
        ("Choir", False),
    ]
    assert [record.is_gone for record in await history.events(event_id="two")] == [False, True]


async def test_what_another_deck_recorded_is_not_recorded_again(opened: Open) -> None:
    """Nor what this one recorded before it was started again."""
    first, second = await opened(), await opened()
    for history, at_second in ((first, 0), (second, 1), (first, 2)):
        await history.append(standing(state(tally=BroadcastState.LOST), seconds=at_second))
        await history.flush()
    assert seconds_of(await second.events()) == [0]
    await second.append(standing(state(), seconds=3))
    await second.flush()
    assert seconds_of(await first.events()) == [0, 3]


async def test_a_stretch_begins_with_how_it_stood_then(opened: Open, tmp_path: Path) -> None:
    """Its end is not part of it; a command reads the same."""
    history = await opened()
    tallies = [BroadcastState.SCHEDULED, BroadcastState.LATE, BroadcastState.ON_AIR, BroadcastState.COMPLETED]
    for index, tally in enumerate(tallies):
        await history.append(standing(state(tally=tally), state("two"), seconds=10 * index))
    await history.flush()
    reader = HistoryReader(tmp_path / "deck.sqlite")
    for since, until, expected in ((15, 30, [10, 20]), (10, 20, [10]), (99, 120, [30]), (-50, 0, [])):
        bounds = NOW + timedelta(seconds=since), NOW + timedelta(seconds=until)
        for source in (history, reader):
            assert seconds_of(await source.events(*bounds, event_id="one")) == expected
    assert {record.event_id for record in await reader.events(NOW + timedelta(days=1))} == {"one", "two"}


async def test_names_outlive_the_retention(opened: Open) -> None:
    """Of what is older than that, how each event stood then is kept, and nothing else."""
    history = await opened()
    for seconds, name in ((0, "first"), (10, "second"), (40 * DAY, "third")):
        await history.append(standing(state(name=name), seconds=seconds))
        await history.flush()
    for second in range(4):  # pruning goes on with each write
        await history.mark("one", NOW + timedelta(days=40, seconds=second))
    assert [record.name for record in await history.events()] == ["second", "third"]


async def test_a_fault_that_is_over_is_kept_once(opened: Open) -> None:
    """However many processes find it in the samples; one that still stands is not over."""
    begun = Episode("AUDIO_LOST", Severity.CRITICAL, "", NOW, None, "audio 0", "128k")
    over = replace(begun, until=NOW + timedelta(seconds=30))
    for _ in range(2):
        history = await opened()
        for second, episodes in enumerate([(begun,), (over,), (over,)]):
            await history.append(standing(replace(state(), episodes=episodes), seconds=second))
        await history.flush()
    bounds = NOW + timedelta(seconds=29), NOW + timedelta(seconds=60)
    (record,) = await history.episodes(*bounds)
    assert (record.event_id, record.kind, record.since, record.until) == ("one", "AUDIO_LOST", NOW, over.until)
    assert not await history.episodes(NOW + timedelta(seconds=31), bounds[1])


async def test_the_time_without_answers_is_not_watched(opened: Open, tmp_path: Path) -> None:
    """Nor that between two processes; the last answer of one that leaves counts."""
    history = await opened()
    for second in (*range(0, 50, 5), 60, 90, 7290):
        is_blind = second == 60
        link = ConnectionStatus(
            ConnectionState.BLIND if is_blind else ConnectionState.OK,
            NOW,
            as_of=NOW + timedelta(seconds=45 if is_blind else second),
        )
        await history.append(Snapshot(1, NOW + timedelta(seconds=second), link))
        if is_blind:
            await history.flush()
            (stretch,) = await history.watched(NOW, NOW + timedelta(days=1))
            assert stretch.until == link.as_of, "at once, and not when the platform answers again"
    await history.close()
    stretches = await HistoryReader(tmp_path / "deck.sqlite").watched(NOW, NOW + timedelta(days=1))
    seconds = [((stretch.at - NOW).total_seconds(), (stretch.until - NOW).total_seconds()) for stretch in stretches]
    assert seconds == [(0, 45), (90, 90), (7290, 7290)]
