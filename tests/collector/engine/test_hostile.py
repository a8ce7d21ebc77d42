"""Hostile data in Redis, and a Redis that refuses: every collector goes on polling and says why."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from redis import Redis
from structlog.testing import capture_logs

from collector.engine.servers import RedisServer
from collector.engine.test_engine import CLOCK, EVENTS, Fleet, at_work, fleet_of, until
from collector.engine.test_spool import room_of
from livedeck.client import QosSamples
from livedeck.collector.engine.engine import DESK
from livedeck.collector.engine.rows import SharedRows
from livedeck.collector.engine.shared import SharedKeys
from livedeck.monitor import ActionKind, AlarmAction, AlarmKey, History, HistoryReader, Severity, SharedAnswer
from livedeck.notify import SENT

Change: TypeAlias = Callable[[Redis], object]

BYTES = b'\xff\xfe\x00"{'
DEEP = b"[" * 100_000
HUGE = b"9" * 30
LATER = 4_000_000_000_000
"""Time (epoch ms) of a Redis whose clock was ahead."""

KEYS = ("workers", "leases", "lost", "generation", "retry", "answers", "said", "said:ids", "told", "messages")


def key(name: str) -> str:
    """Return the key's name in Redis."""
    return SharedKeys("workspace")(name)[0]


def write_all(client: Redis) -> None:
    """Write values that no collector writes, into every part of every key."""
    client.zadd(key("workers"), {BYTES: "inf", b"ghost/1": LATER, b"": 1})
    leases = [BYTES, DEEP, b"ghost/1 9 9", b"ghost/1 %d %d" % (LATER, LATER), b"ghost/1 %s %s" % (HUGE, HUGE)]
    client.hset(key("leases"), mapping=dict(zip(["@desk", BYTES, *EVENTS], [BYTES, BYTES, *leases], strict=False)))
    client.hset(key("lost"), mapping={BYTES: BYTES, b"ghost": HUGE})
    client.set(key("generation"), BYTES)
    client.set(key("retry"), BYTES)
    client.zadd(key("said:ids"), {BYTES: "inf"})
    client.hset(key("told"), mapping={"state": BYTES, "revision": BYTES, "epoch": HUGE, BYTES: BYTES})
    client.hset(key("messages"), mapping={BYTES: BYTES, b"deep": DEEP, b"other": b'{"message": {}}'})
    answer: dict[Any, Any] = {b"event": b"event-1", b"by": b"ghost/1", b"epoch": b"1", b"body": b"{}"}
    for body in (BYTES, DEEP, b"null", b'{"t": ["\\ud800"]}'):
        client.xadd(key("said"), {b"row": body})
        client.xadd(key("said"), {body[:99]: body})
        for name in answer:
            client.xadd(key("answers"), answer | {name: body})
        client.xadd(key("answers"), {b"retry": body})
    client.xadd(key("answers"), {b"retry": HUGE})


async def test_what_strangers_wrote_in_every_key_is_passed_over(redis_server: RedisServer, tmp_path: Path) -> None:
    with Redis.from_url(redis_server.address) as client:
        write_all(client)
        assert sorted(client.keys()) == sorted(key(name).encode() for name in KEYS)
        with capture_logs() as logs:
            async with room_of(redis_server, "a", "b", ttl=1.0) as room, at_full_work(room.fleet, tmp_path):
                a, b = room.fleet.engines.values()
                while not all(a.holds(event) or b.holds(event) for event in EVENTS):
                    await room.fleet.beat()
                write_all(client)
                await until(lambda: len(room.fleet.tellers()) == 1)
                room.raise_alarm("one")
                while not room.told():
                    await room.look()
                    await asyncio.sleep(0.05)
                assert room.told() == [("one",)]
                await until(lambda: any(spool.messages(SENT) for spool in room.spools.values()))
                assert not any(engine.fault.apart_since for engine in (a, b))
                assert max(a.retry_seconds, b.retry_seconds) == 0.0
    named = [(log["event"], log.get("by")) for log in logs if "skipped unreadable" in log["event"]]
    assert named
    assert len(named) < 20  # of each kind one at each collector, though there are dozens


@asynccontextmanager
async def at_full_work(fleet: Fleet, folder: Path) -> AsyncIterator[None]:
    """Run every kind of work: claims, publishing, reading, and rows of people."""
    tasks = []
    async with at_work(*fleet.engines.values()):
        for name, engine in fleet.engines.items():
            history = await History.open(folder / f"{name}.sqlite", CLOCK.now())
            rows = SharedRows(engine, fleet.stores[name], history, HistoryReader(folder / f"{name}.sqlite"), CLOCK)
            tasks += [asyncio.create_task(rows.run()), asyncio.create_task(_act(fleet, name, history))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _act(fleet: Fleet, name: str, history: History) -> None:
    engine = fleet.engines[name]
    try:
        while True:
            for event in fleet.held()[name]:
                engine.publish(SharedAnswer(event, "stream", QosSamples()))
            engine.received()
            at = CLOCK.now()
            history.record_alarm_action(
                AlarmAction(uuid4().hex, AlarmKey("e", "K"), at, ActionKind.NOTE, at, "a@b:1", Severity.INFO)
            )
            await asyncio.sleep(0.1)
    finally:
        await history.close()


def _put(name: str) -> Change:
    def put(client: Redis) -> None:
        client.delete(key(name))
        client.rpush(key(name), "of another type")

    return put


def _remove(name: str) -> Change:
    return lambda client: client.delete(key(name))


def _password(client: Redis) -> None:
    client.config_set("requirepass", "another")
    client.client_kill_filter(_type="normal", skipme=True)


def _command(*words: str) -> Change:
    return lambda client: client.execute_command(*words)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("refuse", "why", "allow"),
    [
        *[
            pytest.param(_put(name), "WRONGTYPE", _remove(name), id=name)
            for name in KEYS
            if name not in {"retry", "told", "messages"}  # of the first only its end counts; the others are the desk's
        ],
        pytest.param(
            _command("CONFIG", "SET", "maxmemory", "1"), "full", _command("CONFIG", "SET", "maxmemory", "0"), id="full"
        ),
        pytest.param(
            _command("REPLICAOF", "127.0.0.1", "1"), "replica", _command("REPLICAOF", "NO", "ONE"), id="replica"
        ),
        pytest.param(_password, "requires a password", _command("CONFIG", "SET", "requirepass", ""), id="password"),
        *[
            pytest.param(
                _command("ACL", "SETUSER", "default", f"-{command}"),
                "NOPERM|permission|can't run this command",
                _command("ACL", "SETUSER", "default", f"+{command}"),
                id=command,
            )
            for command in ("eval", "xadd", "xread", "hset")
        ],
    ],
)
async def test_who_is_refused_goes_on_asking_says_why_and_is_well_again(
    mortal_server: RedisServer, tmp_path: Path, refuse: Change, why: str, allow: Change
) -> None:
    async with fleet_of(mortal_server, "a", patience=5.0) as fleet, at_full_work(fleet, tmp_path):
        engine = fleet.engines["a"]
        with Redis.from_url(mortal_server.address) as client:
            assert client.ping()
            refuse(client)
            await until(lambda: engine.fault.apart_since is not None)
            assert re.search(why, engine.fault.reason), engine.fault.reason
            assert fleet.held()["a"] == {*EVENTS}
            allow(client)
            await until(lambda: engine.fault.apart_since is None)
            fleet.assert_shared_out()


@pytest.mark.parametrize("name", ["told", "messages"])
async def test_who_finds_no_place_for_what_it_tells_tells_it_all_the_same(
    mortal_server: RedisServer, name: str
) -> None:
    with Redis.from_url(mortal_server.address) as client:
        _put(name)(client)
        async with room_of(mortal_server, "a") as room:
            room.raise_alarm("one")
            await room.look()
            await until(lambda: room.told() == [("one",)])
            assert "WRONGTYPE" in room.notifiers["a"].fault
            client.delete(key(name))
            room.clock.at += timedelta(seconds=60)
            room.raise_alarm("two")
            await room.look()
            await until(lambda: room.told() == [("one",), ("two",)])
            assert not room.notifiers["a"].fault


async def test_what_a_clock_of_redis_that_was_ahead_has_written_runs_out(redis_server: RedisServer) -> None:
    """Set back by an hour: what was written before would hold for an hour yet."""
    with Redis.from_url(redis_server.address) as client:
        client.zadd(key("workers"), {"b/1": LATER, "a/1": LATER})
        client.hset(key("leases"), mapping=dict.fromkeys((*EVENTS, DESK), f"b/1 {LATER} {LATER}"))
        client.psetex(key("retry"), 3_600_000, "1")
    async with fleet_of(redis_server, "a", ttl=1.0) as fleet, at_work(fleet.engines["a"]):
        await until(lambda: len(fleet.held()["a"]) == len(EVENTS) and fleet.tellers() == ["a"])
        assert fleet.engines["a"].retry_seconds == 0.0
        assert (fleet.engines["a"].desk_epoch or 0) > LATER
