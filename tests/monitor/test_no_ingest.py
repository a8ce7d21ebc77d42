"""NO_INGEST is a claim of absence: it needs two replies, all polls between them, and no sample in the history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from livedeck.client import Api
from livedeck.monitor import BroadcastState, History, HistoryReader, IngestState, Monitor, Snapshot
from livedeck.monitor.evidence.presence import Asks
from livedeck.monitor.history.database import Database
from livedeck.presentation.check import ServiceState, check_event
from livedeck.presentation.events import doubt_of_encoder
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.serialization import event_object
from monitor.stage import NOW, Deck, Stage, at, event
from virtual_clock import VirtualClock

T = TypeVar("T")


def silent_stage(*events: dict[str, Any]) -> Stage:
    stage = Stage(VirtualClock(), *events)
    stage.unsent = {"one"}
    return stage


def seconds_of(snapshot: Snapshot) -> float:
    return (snapshot.at - NOW).total_seconds()


def is_raised(snapshot: Snapshot, kind: str = "NO_INGEST") -> bool:
    return any(alarm.kind == kind for alarm in snapshot.alarms)


def words(snapshot: Snapshot, later: float = 0.0) -> str:
    at = snapshot.at + timedelta(seconds=later)
    return doubt_of_encoder(snapshot.events[0], RenderTime.from_snapshot(snapshot, at))


async def test_the_first_empty_reply_proves_nothing_and_says_since_when_it_is_asked_for() -> None:
    deck = Deck(silent_stage(event()))
    before = list[Snapshot]()
    while not is_raised(snapshot := await deck.next()) and seconds_of(snapshot) < 60:
        before += [snapshot] if snapshot.events and snapshot.events[0].qos.as_of else []
    await deck.close()
    assert 4 <= seconds_of(snapshot) <= 12
    assert words(snapshot) == ""
    for each in before:
        assert each.events[0].phase.ingest.state is IngestState.NONE
        assert words(each, later=6) == "no sample yet, polled for 6 s"
        told = event_object(each.events[0], RenderTime.from_snapshot(each, each.at))
        assert told["ingest"]["state"] == "unknown"
        assert told["evidence"]
        assert told["evidence"]["state"] == "not yet"


def test_a_poll_that_was_not_made_restarts_the_count() -> None:
    asks = Asks().after_answer(0.0, 0.0, 5.0, has_news=False)
    assert not asks.are_apart
    assert asks.after_answer(5.0, 5.0, 5.0, has_news=False).are_apart
    assert not asks.after_failure(5.0, 5.0).are_apart
    assert asks.after_failure(5.0, 5.0).after_answer(10.0, 10.0, 5.0, has_news=False).are_apart
    assert not asks.after_answer(16.0, 16.0, 5.0, has_news=False).are_apart
    assert not asks.after_answer(3.9, 3.9, 5.0, has_news=False).are_apart


async def test_replies_from_before_the_stream_was_live_do_not_count() -> None:
    waiting = event(scheduled={"time": at(30)})
    waiting["stream"].update(status="pending", started_at=None)
    stage = silent_stage(waiting)
    deck = Deck(stage)
    await deck.until(60)
    live = event()
    live["stream"]["started_at"] = at(20)
    stage.events[:] = [live]
    seen = list[Snapshot]()
    while not (seen and is_raised(seen[-1])) and deck.clock.monotonic() < 120:
        seen.append(await deck.next())
    await deck.close()
    begun = next(each for each in seen if each.events[0].phase.tally is BroadcastState.ON_AIR)
    assert not is_raised(begun)
    assert is_raised(seen[-1])
    assert 4 <= seconds_of(seen[-1]) - seconds_of(begun) <= 12


async def test_a_report_asks_again_before_it_says_that_nothing_was_ever_sent() -> None:
    async def checked(patience: float) -> tuple[ServiceState, str]:
        clock = VirtualClock()
        stage = Stage(clock, event())
        stage.unsent = {"one"}
        async with Api(base_url="http://127.0.0.1", token="token-of-tests", now=clock.now, mount=stage) as api:
            monitor = Monitor(api, clock, random=Random(1))
            snapshot = await clock.run(monitor.wait_ready(patience=patience))
        check = check_event(snapshot.events[0], snapshot.alarms, RenderTime.from_snapshot(snapshot, snapshot.at))
        return check.state, check.text

    state, text = await checked(10)
    assert (state, "NO_INGEST live without a sample" in text) == (ServiceState.CRITICAL, True)
    state, text = await checked(2)
    assert (state, "no sample yet, polled for" in text) == (ServiceState.UNKNOWN, True)


class Emptied(Stage):
    """Platform that may stop serving samples although the stream is live."""

    is_empty = False

    def _sent(self) -> list[dict[str, Any]]:
        return [] if self.is_empty else super()._sent()


class AtOnce(HistoryReader):
    """A reader without a thread, so that no virtual time passes while it reads."""

    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        return self._query(query, otherwise)


@pytest.mark.parametrize(("file", "kind"), [("deck.sqlite", "RECONNECTING"), ("none.sqlite", "NO_INGEST")])
async def test_an_encoder_whose_samples_the_history_knows_did_send(tmp_path: Path, file: str, kind: str) -> None:
    stage = Emptied(VirtualClock(), event())
    before = Deck(stage)
    seen = [await before.next() for _ in range(12)]
    await before.close()
    stage.is_empty = True
    history = await History.open(tmp_path / "deck.sqlite", NOW)
    for snapshot in seen:
        await history.append(snapshot)
    await history.close()
    after = Deck(stage, reader=AtOnce(tmp_path / file))
    snapshot = await after.until(150)
    await after.close()
    assert [alarm.kind for alarm in snapshot.alarms] == [kind]
