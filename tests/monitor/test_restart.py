"""A restarted deck continues from its last state, and one that cannot record says so and continues."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest

from livedeck.client import Api
from livedeck.monitor import AlarmKey, AlarmState, Cadence, History, HistoryReader, Monitor, Severity, Snapshot
from monitor.recordings import everything, locked
from monitor.stage import NOW, Stage, at, event
from virtual_clock import VirtualClock


class MovedClock:
    """Clock of this machine, started at `at` seconds from NOW. Threads reply in their own time."""

    def __init__(self, at: float) -> None:
        self._begun = NOW + timedelta(seconds=at - monotonic())

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return self._begun + timedelta(seconds=monotonic())

    def monotonic(self) -> float:
        """Return the monotonic seconds."""
        return monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        await asyncio.sleep(seconds)


class Newest(Stage):
    """Platform that sends only the newest samples of a stream."""

    def __init__(self, at: float, newest: int, *events: dict[str, Any]) -> None:
        super().__init__(VirtualClock(NOW + timedelta(seconds=at)), *events)
        self._newest = newest

    def _sent(self) -> list[dict[str, Any]]:
        return super()._sent()[-self._newest :]


@asynccontextmanager
async def run(
    path: Path, stage: Stage, at: float, *, opened_ago: float = 0.0, **options: Any
) -> AsyncIterator[tuple[Monitor, History]]:
    """Run a deck from its start, `at` seconds from NOW, to its end. Its history was opened `opened_ago` s before."""
    history = await History.open(path, NOW + timedelta(seconds=at - opened_ago))
    clock = MovedClock(at)
    api = Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=stage)
    async with api:
        yield Monitor(api, clock, random=Random(1), history=history, **options), history
    await history.close()


def late(event_id: str) -> dict[str, Any]:
    """Return an event that should have begun at NOW."""
    return event(event_id, stream=None, scheduled={"time": at(0)})


def kinds(snapshot: Snapshot) -> dict[str, AlarmState]:
    """Return the state of every alarm."""
    return {alarm.kind: alarm.state for alarm in (*snapshot.alarms, *snapshot.quiet)}


async def test_the_chart_is_complete_but_for_the_gap(tmp_path: Path) -> None:
    """And the gap is no silence of the encoder's: nobody knows what happened in it."""
    path = tmp_path / "deck.sqlite"
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        await monitor.wait_ready()
    async with run(path, Newest(1200, 10, event()), 1200) as (monitor, history):
        snapshot = await monitor.wait_ready()
        assert kinds(snapshot) == {}
        assert snapshot.events[0].episodes == ()
        await history.flush()
        start = NOW.timestamp() - 600
        buckets = await history.series("one", "stream-one", start, start + 1802, 1802 // 34)
        assert list(buckets.count) == [17] * 17 + [12] + [0] * 34 + [10]


async def test_a_stream_goes_on_as_if_the_deck_had_never_stopped(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        await monitor.wait_ready()
    async with run(path, Newest(10, 3, event()), 10) as (monitor, _):
        (state,) = (await monitor.wait_ready()).events
        times = [time - NOW.timestamp() for time in state.qos.readings.time]
        assert times == [*range(-600, 1, 2), 6, 8, 10]
        assert state.assessment.baseline_video is not None, "what is usual need not be learnt anew"


async def test_a_wall_judges_by_what_a_deck_of_the_same_history_has_learnt(tmp_path: Path) -> None:
    """It keeps none itself: without that it would take ten minutes to know what is usual."""
    path = tmp_path / "deck.sqlite"
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        (learnt,) = (await monitor.wait_ready()).events
    clock, stage = MovedClock(10), Newest(10, 3, event())
    async with Api(base_url="http://127.0.0.1", token="token-of-tests", now=clock.now, mount=stage) as api:
        walls = [Monitor(api, clock, random=Random(1), reader=answers) for answers in (HistoryReader(path), None)]
        (told,), (alone,) = [(await wall.wait_ready()).events for wall in walls]
    assert learnt.assessment.baseline_video is not None
    assert told.assessment.baseline_video == learnt.assessment.baseline_video
    assert alone.assessment.baseline_video is None
    assert len(told.qos.readings) > len(alone.qos.readings) == 3


async def test_what_the_platform_answers_wins_over_what_was_recorded_of_the_same_stretch(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    for begun, newest in ((0, 3600), (1, 100)):
        async with run(path, Newest(begun, newest, event()), begun) as (monitor, _):
            (state,) = (await monitor.wait_ready()).events
            assert len(state.qos.readings) == 301
            assert len(set(state.qos.readings.time)) == 301


async def test_another_stream_of_the_event_begins_with_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        await monitor.wait_ready()
    other = event()
    other["stream"]["id"] = "another"
    async with run(path, Newest(60, 5, other), 60) as (monitor, history):
        (state,) = (await monitor.wait_ready()).events
        assert len(state.qos.readings) == 5
        await history.flush()
        assert [stream.stream_id for stream in await history.streams("one")] == ["stream-one", "another"]


async def test_alarms_stand_as_a_person_left_them(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    silent = late("one"), late("two")
    shelved, acknowledged = AlarmKey("one", "LATE_START"), AlarmKey("two", "LATE_START")
    stage = Newest(240, 3600, *silent)
    async with run(path, stage, 240) as (monitor, _):
        await monitor.wait_ready()
        await monitor.acknowledge(acknowledged)
        await monitor.shelve(shelved, 30, "the line is being changed")
        await monitor.wait_ready()
    async with run(path, stage, 241) as (monitor, _):
        snapshot = await monitor.wait_ready()
    states = {alarm.key: alarm.state for alarm in (*snapshot.alarms, *snapshot.quiet)}
    assert states[acknowledged] is AlarmState.ACKNOWLEDGED
    assert states[shelved] is AlarmState.SHELVED


async def test_a_history_that_cannot_be_written_is_an_alarm_and_monitoring_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    await (await History.open(path, NOW)).close()
    with locked(path):
        async with run(path, Newest(0, 3600, event()), 0, opened_ago=10) as (monitor, history):
            snapshot = await monitor.wait_ready()
            assert snapshot.events[0].assessment.health.score == 100
            (alarm,) = snapshot.alarms
            assert (alarm.kind, alarm.severity, alarm.state) == (
                "HISTORY_FAILED",
                Severity.WARNING,
                AlarmState.UNACKNOWLEDGED,
            )
            assert str(path) in alarm.actual
            assert "locked" in alarm.actual
            await history.flush()
            assert (await monitor.wait_ready()).seq > snapshot.seq


@pytest.mark.parametrize("count", [1, 5])
async def test_a_locked_file_is_waited_for_once_however_many_events_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Each wait is half a second in which nothing is asked: two hundred of them would be a blind deck."""
    path, connect = tmp_path / "deck.sqlite", sqlite3.connect
    await (await History.open(path, NOW)).close()
    reads: list[str] = []

    def counted(place: str, **options: Any) -> sqlite3.Connection:
        reads.extend([place] if "mode=ro" in place else [])
        opened: sqlite3.Connection = connect(place, **options)
        return opened

    with locked(path):
        monkeypatch.setattr(sqlite3, "connect", counted)
        async with run(path, Newest(0, 3600, *(event(str(place)) for place in range(count))), 0) as (monitor, _):
            assert len((await monitor.wait_ready()).events) == count
    assert len(reads) == 2, "one for the alarms, one for the samples"


async def test_the_alarm_ends_when_all_that_waited_is_written(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    await (await History.open(path, NOW)).close()
    lock = locked(path)
    lock.__enter__()
    async with run(path, Newest(0, 3600, event()), 0, opened_ago=10) as (monitor, history):
        assert "HISTORY_FAILED" in kinds(await monitor.wait_ready())
        lock.__exit__(None, None, None)
        await history.flush()
        assert kinds(await monitor.wait_ready())["HISTORY_FAILED"] is AlarmState.RETURNED
        assert len(await everything(history)) == 301


async def test_what_is_answered_while_another_program_writes_is_kept_once_it_lets_go(tmp_path: Path) -> None:
    """With no poll waited for: nothing is due for an hour."""
    path, key = tmp_path / "deck.sqlite", AlarmKey("one", "LATE_START")
    stage = Newest(240, 3600, late("one"))
    seldom = Cadence(events=3600.0, qos=3600.0, tick=3600.0)
    async with (
        run(path, stage, 240, cadence=seldom) as (anna, history),
        aclosing(anna.snapshots()) as snapshots,
        asyncio.timeout(60),
    ):
        while "LATE_START" not in kinds(await anext(snapshots)):
            pass
        await history.flush()
        listening = asyncio.create_task(anext(snapshots))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert await anna.acknowledge(key)
            await listening
            listening = asyncio.create_task(anext(snapshots))
            await history.flush()
            assert "locked" in history.fault
            assert await HistoryReader(path).new_alarm_actions() == ()
            other.execute("ROLLBACK")
        reader = HistoryReader(path)
        while not (answers := await reader.new_alarm_actions()):
            await anna.clock.sleep(0.05)
        assert [answer.key for answer in answers] == [key]
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def test_what_is_answered_at_one_deck_is_so_at_another_and_at_a_wall(tmp_path: Path) -> None:
    """With nobody's poll waited for: the row is written at once, and the others look for rows twice a second."""
    path, key = tmp_path / "deck.sqlite", AlarmKey("one", "LATE_START")
    stage, clock = Newest(240, 3600, late("one"), late("two")), MovedClock(240)
    api = Api(base_url="http://127.0.0.1", token="token-of-tests", retry=0.0, now=clock.now, mount=stage)
    async with run(path, stage, 240) as (anna, _), run(path, stage, 240) as (bert, _), api:
        wall = Monitor(api, clock, random=Random(1), reader=HistoryReader(path))
        for monitor in (anna, bert, wall):
            assert kinds(await monitor.wait_ready())["LATE_START"] is AlarmState.UNACKNOWLEDGED
        assert await anna.acknowledge(key)
        async with asyncio.timeout(60):
            for other in (bert, wall):
                async with aclosing(other.snapshots()) as snapshots:
                    async for snapshot in snapshots:
                        if [answer.key for answer in snapshot.alarm_actions] == [key]:
                            (alarm,) = (alarm for alarm in snapshot.alarms if alarm.key == key)
                            assert alarm.state is AlarmState.ACKNOWLEDGED
                            break


async def test_an_empty_list_at_the_start_is_compared_with_what_the_history_knows_on_air(tmp_path: Path) -> None:
    path = tmp_path / "deck.sqlite"
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        await monitor.wait_ready()
    hidden = Newest(10, 3600)
    hidden.hidden = [event()]
    async with run(path, hidden, 10) as (monitor, _):
        snapshot = await monitor.wait_ready()
    assert [(state.id, state.is_listed, state.is_stale) for state in snapshot.events] == [("one", False, False)]
    assert kinds(snapshot) == {"LIST_WRONG": AlarmState.UNACKNOWLEDGED}
    broken = Newest(20, 3600)
    broken.broken = {"by id"}
    async with run(path, broken, 20) as (monitor, _):
        snapshot = await monitor.wait_ready()
    doubt = snapshot.list_doubt
    assert doubt
    assert (snapshot.events, doubt.listed, doubt.missing, doubt.expected) == ((), 0, 1, 1)
    async with run(path, Newest(30, 3600), 30) as (monitor, _):
        snapshot = await monitor.wait_ready()
    assert (snapshot.events, snapshot.list_doubt) == ((), None), "it was deleted meanwhile"


async def test_an_event_that_was_on_air_long_ago_is_not_expected(tmp_path: Path) -> None:
    path, later = tmp_path / "deck.sqlite", Newest(700, 3600)
    later.hidden = [event()]
    async with run(path, Newest(0, 3600, event()), 0) as (monitor, _):
        await monitor.wait_ready()
    async with run(path, later, 700) as (monitor, _):
        snapshot = await monitor.wait_ready()
    assert (snapshot.events, snapshot.list_doubt) == ((), None)
    assert not [name for _, name in later.asked if name.startswith("by id")]


class Lapsing(HistoryReader):
    """History without rows whose first query of each look may fail."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__(Path("nowhere"))
        self._fails = fails

    async def _read(self, query: Any, otherwise: Any) -> Any:  # noqa: ARG002  no query is run
        return otherwise

    async def new_rulings(self) -> tuple[()]:
        """Return no rulings, or raise if the query fails."""
        self.failures += self._fails
        return ()


@pytest.mark.parametrize("fails", [False, True])
async def test_acts_are_known_only_if_each_query_of_the_last_look_succeeded(deck: Any, *, fails: bool) -> None:
    """The next good query clears the fault of the reader, but brings nothing of what the failed one lacks."""
    one = deck(event(), reader=Lapsing(fails=fails))
    await one.until(6.0)
    assert bool(one.monitor.unread_acts) is fails
