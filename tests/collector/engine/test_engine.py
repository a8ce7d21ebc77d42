"""Collectors before a real Redis that dies, hangs and forgets. `join` is a beat of each, so that the test says when."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis

from collector.engine.servers import DeadEnds, RedisServer
from livedeck.cli.wiring import SystemClock
from livedeck.client import QosSamples
from livedeck.collector.engine.engine import DESK, Engine
from livedeck.collector.engine.packets import Row, encode_row
from livedeck.collector.engine.rows import SharedRows
from livedeck.collector.engine.shared import Claim, SharedStore
from livedeck.monitor import (
    ActionKind,
    AlarmAction,
    AlarmKey,
    Content,
    History,
    HistoryReader,
    IntentRecord,
    Matcher,
    OpenChange,
    ProfileChoice,
    Severity,
    SharedAnswer,
    SilenceDraft,
    silence_of_draft,
)

EVENTS = [f"event-{number}" for number in range(30)]
CLOCK = SystemClock()
WAIT = 20.0


class Fleet:
    """Collectors by name that share one Redis."""

    def __init__(self, server: RedisServer, *names: str, ttl: float, patience: float) -> None:
        self.server = server
        self.stores = {name: SharedStore(server.address, "workspace", f"{name}/1", patience=patience) for name in names}
        self.engines = {name: Engine(store, CLOCK, ttl) for name, store in self.stores.items()}
        self.capacity: dict[str, float] = {}  # of the slow ones, in events

    async def beat(self, *names: str) -> None:
        """Let these collectors, or all, claim in turn until all know each other."""
        for _ in range(3):
            for name in names or self.engines:
                self.engines[name].want(EVENTS, is_answering=True, capacity=self.capacity.get(name))
                await self.engines[name].join()

    def held(self) -> dict[str, set[str]]:
        """Return the events that each collector holds."""
        return {name: {event for event in EVENTS if engine.holds(event)} for name, engine in self.engines.items()}

    def tellers(self) -> list[str]:
        """The holders of the notifier lease."""
        return [name for name, engine in self.engines.items() if engine.desk_epoch is not None]

    def assert_shared_out(self) -> None:
        """Check that each event, and the notifier lease, has one holder."""
        held = list(self.held().values())
        assert sum(map(len, held)) == len(EVENTS) == len(set().union(*held))
        assert len(self.tellers()) == 1


@asynccontextmanager
async def fleet_of(server: RedisServer, *names: str, ttl: float = 15.0, patience: float = 10.0) -> AsyncIterator[Fleet]:
    """Yield these collectors, joined; a long `patience` keeps a busy test machine from counting as a hung Redis."""
    fleet = Fleet(server, *names, ttl=ttl, patience=patience)
    try:
        await fleet.beat()
        yield fleet
    finally:
        for store in fleet.stores.values():
            await store.close()


@asynccontextmanager
async def at_work(*engines: Engine) -> AsyncIterator[None]:
    """Run the loops of these engines during the block."""
    tasks = [asyncio.create_task(engine.run()) for engine in engines]
    try:
        async with asyncio.timeout(WAIT):
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    """Return as soon as a condition holds, which other tasks bring about."""
    while not condition():  # noqa: ASYNC110  what it waits for is another process's doing
        await asyncio.sleep(0.01)


async def test_each_event_is_held_by_one_and_the_budget_is_divided(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b", "c") as fleet:
        fleet.assert_shared_out()
        assert all(fleet.held().values())
        assert [len(engine.held_events) for engine in fleet.engines.values()] == [*map(len, fleet.held().values())]
        assert {engine.part for engine in fleet.engines.values()} == {1 / 3}
        assert not any(engine.fault.apart_since or engine.fault.lost for engine in fleet.engines.values())


async def test_a_slow_collector_gives_up_what_it_cannot_poll_and_takes_it_back_once_it_is_well(
    redis_server: RedisServer,
) -> None:
    async with fleet_of(redis_server, "a", "b", "c") as fleet:
        before = fleet.held()
        fleet.capacity["a"] = 4.0  # events, of the ten that would be its part
        await fleet.beat()
        fleet.assert_shared_out()
        after = fleet.held()
        assert after["a"] < before["a"]
        assert 1 <= len(after["a"]) <= len(before["a"]) - 3
        assert all(before[name] <= after[name] for name in "bc")  # only its own events moved
        parts = {name: engine.part for name, engine in fleet.engines.items()}
        assert parts == pytest.approx({"a": 40 / 240, "b": 100 / 240, "c": 100 / 240})
        del fleet.capacity["a"]
        await fleet.beat()
        assert fleet.held() == before
        assert {engine.part for engine in fleet.engines.values()} == {1 / 3}


async def test_if_all_are_slow_each_keeps_its_events(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet:
        before = fleet.held()
        fleet.capacity |= {"a": 5.0, "b": 5.0}
        await fleet.beat()
        fleet.assert_shared_out()
        assert fleet.held() == before
        assert {engine.part for engine in fleet.engines.values()} == {1 / 2}


async def test_the_share_of_a_slow_collector_goes_with_it(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet:
        fleet.capacity["b"] = 1.0
        await fleet.beat()
        with Redis(unix_socket_path=str(redis_server.socket)) as client:
            assert len(client.keys("*:shares")) == 1
            await fleet.engines.pop("b").leave()
            assert not client.keys("*:shares")


async def test_a_join_takes_its_share_and_a_leave_gives_it_back(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet, fleet_of(redis_server, "c") as late:
        fleet.engines |= late.engines
        await fleet.beat()
        fleet.assert_shared_out()
        assert fleet.held()["c"]
        leaving = fleet.engines.pop("b")
        await leaving.leave()
        await fleet.beat()
        fleet.assert_shared_out()
        assert not any(engine.fault.lost for engine in fleet.engines.values())


async def test_who_leaves_is_heard_at_once_and_not_at_the_next_beat(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b", ttl=600.0) as fleet, at_work(fleet.engines["a"]):
        await fleet.engines["b"].leave()
        await until(lambda: len(fleet.held()["a"]) == len(EVENTS))


async def test_what_a_dead_one_held_is_taken_when_its_leases_run_out(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b", ttl=1.0) as fleet, at_work(fleet.engines["a"]):
        await until(lambda: len(fleet.held()["a"]) == len(EVENTS))
        await until(lambda: fleet.engines["a"].fault.lost == ("b",))
        assert fleet.tellers()[:1] == ["a"]


async def test_who_cannot_ask_the_platform_gives_its_share_to_the_others(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet:
        fleet.engines["a"].want(EVENTS, is_answering=False)
        await fleet.engines["a"].join()
        await fleet.beat("b")
        assert {name: len(held) for name, held in fleet.held().items()} == {"a": 0, "b": len(EVENTS)}
        assert fleet.tellers() == ["b"]
        assert fleet.engines["b"].fault.lost == ()


async def test_an_answer_of_one_is_heard_by_the_others(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet:
        one, other = fleet.engines["a"], fleet.engines["b"]
        event = min(fleet.held()["a"])
        samples = QosSamples(
            array("d", [1.0]), array("d", [2.0]), array("d", [3.0]), array("d", [4.0]), array("q", [0])
        )
        async with at_work(one, other):
            one.publish(SharedAnswer(event, "stream", samples))
            answers: list[SharedAnswer] = []
            while not answers:
                await other.wait()
                answers += other.received()
            (heard,) = answers
            assert (heard.event_id, heard.stream_id, [*heard.samples.time]) == (event, "stream", [1.0])
            assert 0.0 <= heard.age < WAIT


async def test_without_redis_all_is_asked_for_and_with_it_again_nobody_has_two(mortal_server: RedisServer) -> None:
    async with fleet_of(mortal_server, "a", "b", "c") as fleet:
        before, teller = fleet.held(), fleet.tellers()
        mortal_server.kill()
        await fleet.beat()
        assert all(engine.fault.apart_since for engine in fleet.engines.values())
        assert fleet.held() == before
        assert {engine.part for engine in fleet.engines.values()} == {1 / 3}
        mortal_server.start()
        await fleet.beat()
        assert not any(engine.fault.apart_since for engine in fleet.engines.values())
        fleet.assert_shared_out()
        assert fleet.tellers() == teller


async def test_a_redis_that_forgot_leaves_the_desk_with_who_told(mortal_server: RedisServer) -> None:
    async with fleet_of(mortal_server, "a", "b", "c") as fleet:
        (teller,) = fleet.tellers()
        epoch = fleet.engines[teller].desk_epoch
        mortal_server.kill(forgets=True)
        mortal_server.start()
        others = [name for name in fleet.engines if name != teller]
        await fleet.beat(*others)
        assert fleet.tellers() == [teller]  # it does not know yet, and nobody took the desk from it
        await fleet.beat()
        fleet.assert_shared_out()
        assert fleet.tellers() == [teller]
        assert (fleet.engines[teller].desk_epoch or 0) > (epoch or 0)
        assert {engine.forgotten for engine in fleet.engines.values()} == {1}


@pytest.mark.parametrize("is_killed", [True, False])
async def test_a_redis_that_forgot_leaves_each_event_with_who_asks_for_it(
    mortal_server: RedisServer, is_killed: bool
) -> None:
    """However they come back one after the other, nobody is without what it asked for, not for one beat."""
    async with fleet_of(mortal_server, "a", "b", "c") as fleet:
        before, tellers = fleet.held(), fleet.tellers()
        if is_killed:
            mortal_server.kill(forgets=True)
            await fleet.beat()
            mortal_server.start()
        else:
            with Redis.from_url(mortal_server.address) as client:
                client.flushall()
        for name in (*fleet.engines, *fleet.engines):
            await fleet.engines[name].join()
            assert (fleet.held(), fleet.tellers()) == (before, tellers)
            assert {engine.part for engine in fleet.engines.values()} == {1 / 3}
            assert await leased(fleet.stores[name], before[name]) == before[name]
        assert not any(engine.fault.apart_since or engine.fault.lost for engine in fleet.engines.values())


async def test_who_is_refused_as_redis_forgot_goes_on_asking(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet:
        one, before = fleet.engines["a"], fleet.held()["a"]
        async with at_work(one):
            with Redis.from_url(redis_server.address) as client:
                client.flushall()
            for event in before:
                one.publish(SharedAnswer(event, "stream", QosSamples()))
            await until(lambda: one.refused > 0)
            assert fleet.held()["a"] == before


async def leased(store: SharedStore, events: set[str]) -> set[str]:
    """Return the events whose lease belongs to that worker: Redis refuses answers of any other."""
    held = await store.claim(
        dict.fromkeys(events, Claim.RENEW),
        span_ms=15_000,
        expected_ms=await store.time_ms(),
        workers=(),
        generation="other",
    )
    return {*held.epochs}


async def test_a_redis_that_hangs_is_away_and_what_was_sent_meanwhile_does_no_harm(mortal_server: RedisServer) -> None:
    async with fleet_of(mortal_server, "a", "b", patience=0.5) as fleet:
        mortal_server.hang()
        await asyncio.gather(*(engine.join() for engine in fleet.engines.values()))
        assert all(engine.fault.reason == "Redis does not reply in time" for engine in fleet.engines.values())
        mortal_server.wake()
        await fleet.beat()
        fleet.assert_shared_out()
        assert not any(engine.fault.apart_since for engine in fleet.engines.values())


async def test_connections_that_died_without_a_word_are_made_anew(redis_server: RedisServer) -> None:
    way = DeadEnds(redis_server, redis_server.socket.with_name("way.sock"))
    async with way.open():
        store = SharedStore(way.address, "workspace", "a/1", patience=0.5)
        engine = Engine(store, CLOCK, 15.0)
        async with at_work(engine):
            await until(lambda: engine.desk_epoch is not None)
            way.swallow()
            await until(lambda: engine.fault.apart_since is not None)
            await engine.join()  # once more in vain, by a connection that was dead from the first
            assert engine.fault.apart_since is not None
            way.heal()
            await until(lambda: engine.fault.apart_since is None)
        await store.close()


async def test_the_wish_of_the_platform_reaches_all(redis_server: RedisServer) -> None:
    async with fleet_of(redis_server, "a", "b") as fleet, at_work(*fleet.engines.values()):
        fleet.engines["a"].hold_back(30.0)
        await until(lambda: 25.0 < fleet.engines["b"].retry_seconds <= 30.0)


@pytest.fixture
async def histories(tmp_path: Path) -> AsyncIterator[dict[str, History]]:
    """Yield the histories of two collectors, each in its own file."""
    async with AsyncExitStack() as stack:
        opened = {}
        for name in "ab":
            opened[name] = await History.open(tmp_path / f"{name}.sqlite", CLOCK.now())
            stack.push_async_callback(opened[name].close)
        yield opened


def sharing(
    group: asyncio.TaskGroup, fleet: Fleet, histories: dict[str, History], folder: Path
) -> list[asyncio.Task[None]]:
    """Start to share the rows of each history."""
    return [
        group.create_task(
            SharedRows(
                fleet.engines[name], fleet.stores[name], history, HistoryReader(folder / f"{name}.sqlite"), CLOCK
            ).run()
        )
        for name, history in histories.items()
    ]


async def test_what_persons_say_is_in_every_history_though_redis_forgot(
    mortal_server: RedisServer, histories: dict[str, History], tmp_path: Path
) -> None:
    now = CLOCK.now()
    answer = AlarmAction(
        "u", AlarmKey("e", "NO_INGEST"), now, ActionKind.NOTE, now, "anna@a:1", Severity.INFO, reason="x"
    )
    late = AlarmAction("v", AlarmKey("e", "NO_INGEST"), now, ActionKind.NOTE, now, "ben@b:1", Severity.INFO, reason="y")
    old = AlarmAction("w", answer.key, now, ActionKind.NOTE, now - timedelta(days=2), "anna@a:1", Severity.INFO)
    choice = ProfileChoice(now, "e", Content.RADIO, "anna@a:1")
    intent = IntentRecord("i", now, "event.complete", "complete", "event", "e", "Show", "anna", "a", 1)
    async with (
        fleet_of(mortal_server, "a", "b") as fleet,
        at_work(*fleet.engines.values()),
        asyncio.TaskGroup() as group,
    ):
        tasks = sharing(group, fleet, histories, tmp_path)
        histories["a"].record_alarm_action(old)
        histories["a"].record_alarm_action(answer)
        await histories["a"].record_ruling(choice)
        await histories["a"].record_intent(intent)
        await until_read(HistoryReader(tmp_path / "b.sqlite"), {"u"}, choice)
        assert await histories["b"].intents(now - timedelta(minutes=1)) == (replace(intent, pid=0),)
        opened = [await histories[name].open_changes() for name in "ab"]
        assert opened == [(OpenChange(intent),), ()]  # what becomes of it is kept where it began
        mortal_server.kill(forgets=True)
        histories["b"].record_alarm_action(late)
        mortal_server.start()
        await until_read(HistoryReader(tmp_path / "a.sqlite"), {"u", "v", "w"}, choice)
        store = SharedStore(mortal_server.address, "workspace", "c/1")
        said: list[str] = []
        while len(said) < 4:
            said += (await store.read(0.1)).rows
        assert len(said) == 4  # those of before are there again, each once
        await store.close()
        for task in tasks:
            task.cancel()


async def test_a_silence_and_its_end_are_in_every_history(
    redis_server: RedisServer, histories: dict[str, History], tmp_path: Path
) -> None:
    now = CLOCK.now()
    draft = SilenceDraft((Matcher.parse("event = e"),), 3600.0, "encoder swap", actor="anna@a:1")
    running, older = silence_of_draft(draft, (), now), silence_of_draft(replace(draft, uid="o"), (), now)
    older = replace(older, id="s-older")
    histories["b"].record_silence(replace(older, at=now - timedelta(days=9)))
    histories["a"].record_silence(ended := replace(older, uid="p", at=(at := now - timedelta(days=8)), ends_at=at))
    await histories["a"].flush()
    async with (
        fleet_of(redis_server, "a", "b") as fleet,
        at_work(*fleet.engines.values()),
        asyncio.TaskGroup() as group,
    ):
        tasks = sharing(group, fleet, histories, tmp_path)
        histories["a"].record_silence(running)
        await until_silenced(histories["b"], {running.id: running.ends_at, ended.id: at})
        histories["b"].record_silence(replace(running, uid="e", at=(end := CLOCK.now()), ends_at=end))
        for history in histories.values():
            await until_silenced(history, {running.id: end, ended.id: at})
        for task in tasks:
            task.cancel()


async def until_silenced(history: History, ends: dict[str, datetime]) -> None:
    """Wait until the history has exactly these silences, by their ends."""
    found: dict[str, datetime] = {}
    while found != ends:
        await asyncio.sleep(0.02)
        found = {row.id: row.ends_at for row in await history.silence_log(CLOCK.now() - timedelta(days=30))}


async def test_who_starts_again_keeps_nothing_twice(
    redis_server: RedisServer, histories: dict[str, History], tmp_path: Path
) -> None:
    now, path = CLOCK.now(), tmp_path / "a.sqlite"
    choice = ProfileChoice(now, "e", Content.RADIO, "anna@a:1")
    intents = [
        IntentRecord(name, at, "event.complete", "complete", "event", "e", "Show", "anna", "a", 1)
        for name, at in (("i", now - timedelta(hours=1)), ("j", now))
    ]
    await histories["a"].record_ruling(choice)
    for intent in intents:
        await histories["a"].record_intent(intent)
    last = AlarmAction("z", AlarmKey("e", "NO_INGEST"), now, ActionKind.NOTE, now, "b@b:1", Severity.INFO, reason="z")
    async with fleet_of(redis_server, "a") as fleet, at_work(*fleet.engines.values()):
        rows_said: tuple[Row, ...] = (choice, *intents, last)
        for row in rows_said:
            await fleet.stores["a"].say(dict([encode_row(row)]))
        rows = SharedRows(fleet.engines["a"], fleet.stores["a"], histories["a"], HistoryReader(path), CLOCK)
        task = asyncio.create_task(rows.run())
        async with asyncio.timeout(60):
            await until_read(HistoryReader(path), {"z"}, choice)
        task.cancel()
    await histories["a"].record_ruling(replace(choice, profile=None))
    rulings = await HistoryReader(path).new_rulings()
    assert [choice.profile for choice in rulings if isinstance(choice, ProfileChoice)] == [Content.RADIO, None]
    assert await histories["a"].intents(now - timedelta(days=1)) == tuple(intents)


async def until_read(reader: HistoryReader, uids: set[str], ruling: ProfileChoice) -> None:
    """Wait until the file has these answers and this ruling, and no others."""
    found: set[str] = set()
    rulings: list[object] = []
    while found != uids or rulings != [ruling]:
        found |= {answer.uid for answer in await reader.new_alarm_actions()}
        rulings += await reader.new_rulings()
        assert found <= uids
        await asyncio.sleep(0.02)


def test_no_event_has_the_id_of_the_desk() -> None:
    assert DESK.startswith("@")
