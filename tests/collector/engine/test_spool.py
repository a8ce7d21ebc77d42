"""Notifiers of several collectors before a real Redis: one notifies, and the next one continues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from json import loads
from random import Random

import pytest

from collector.engine.servers import RedisServer
from collector.engine.test_engine import CLOCK, Fleet, fleet_of, until
from livedeck.collector.engine.engine import Engine
from livedeck.collector.engine.shared import SharedDesk
from livedeck.collector.engine.spool import SharedSpool
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Severity, Snapshot
from livedeck.notify import DEAD, SENT, WAITING, Delivery, Message, Notifier, Plan, Route, SpoolError, Status
from notify.stage import alarm, over

PLAN = Plan((Route("ops", "ops"),))


@dataclass
class Sink:
    """Receiver of all collectors, with the messages that arrived.

    `is_away`: it takes nothing; `refuses`: it refuses for good.
    """

    taken: list[Message] = field(default_factory=list)
    is_away: bool = False
    refuses: bool = False

    async def send(self, message: Message) -> Delivery:
        """Take a message."""
        if self.refuses:
            return Delivery(is_taken=False, answer="404", is_refused=True)
        if self.is_away:
            return Delivery(is_taken=False, answer="503")
        self.taken.append(message)
        return Delivery(is_taken=True, answer="200", receipt="C1 17")


class Hands:
    """Clock that the test moves. Its waits last a moment."""

    def __init__(self) -> None:
        self.at = CLOCK.now()

    def now(self) -> datetime:
        """Return the time of the test."""
        return self.at

    def monotonic(self) -> float:
        """Return the monotonic time in seconds."""
        return self.at.timestamp()

    async def sleep(self, seconds: float) -> None:
        """Return after a moment."""
        await asyncio.sleep(min(seconds, 0.02))


class Room:
    """Notifiers, one of each collector, and one receiver."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.sink, self.clock = fleet, Sink(), Hands()
        self.spools = {
            name: SharedSpool(SharedDesk(fleet.server.address, "workspace", f"{name}/1"), partial(_epoch, engine))
            for name, engine in fleet.engines.items()
        }
        self.notifiers = {
            name: Notifier(PLAN, {"ops": self.sink}, spool, self.clock, Random(1))
            for name, spool in self.spools.items()
        }
        self.standing: tuple[Alarm, ...] = ()

    @property
    def teller(self) -> str:
        """The holder of the notifier lease."""
        (name,) = self.fleet.tellers()
        return name

    def raise_alarm(self, event_id: str, severity: Severity = Severity.CRITICAL) -> None:
        """Raise an alarm that stays."""
        self.standing += (alarm(event_id, severity=severity, since=self.clock.at, changed=self.clock.at),)

    async def look(self, *names: str) -> None:
        """Let these notifiers, or all, check the alarms: now, and when a group is complete."""
        for _ in range(2):
            link = ConnectionStatus(ConnectionState.OK, self.clock.at, as_of=self.clock.at)
            for name in names or self.fleet.engines:
                await self.notifiers[name].take(Snapshot(1, self.clock.at, link, alarms=self.standing))
            self.clock.at += timedelta(seconds=6)

    async def leave(self, name: str) -> None:
        """Stop that collector and wait for another notifier; soon after Redis was away that takes two seconds."""
        await self.marked()
        await self.fleet.engines.pop(name).leave()
        while not self.fleet.tellers():
            await self.fleet.beat()

    async def marked(self) -> None:
        """Wait until every delivered message is marked as sent; the next notifier would send an unmarked one again."""
        spool = next(iter(self.spools.values()))
        taken = {message.key for message in self.sink.taken}
        await until(lambda: taken.isdisjoint(spooled.message.key for spooled in spool.messages(WAITING)))

    def told(self) -> list[tuple[str, ...]]:
        """Return the events of each message that arrived."""
        return [tuple(row["event_id"] for row in loads(message.payload)["alarms"]) for message in self.sink.taken]


def _epoch(engine: Engine) -> int | None:
    return engine.desk_epoch


@asynccontextmanager
async def room_of(server: RedisServer, *names: str, ttl: float = 15.0) -> AsyncIterator[Room]:
    """Yield these collectors with their notifiers sending."""
    async with fleet_of(server, *names, ttl=ttl) as fleet:
        room = Room(fleet)
        sending = [asyncio.create_task(notifier.run()) for notifier in room.notifiers.values()]
        try:
            async with asyncio.timeout(60):
                yield room
        finally:
            for task in sending:
                task.cancel()
            await asyncio.gather(*sending, return_exceptions=True)
            for notifier in room.notifiers.values():
                await notifier.close()


@pytest.mark.parametrize("is_teller", [True, False])
async def test_what_was_given_up_is_seen_by_all_and_tried_again_at_the_word_of_each(
    redis_server: RedisServer, is_teller: bool
) -> None:
    async with room_of(redis_server, "a", "b") as room:
        room.sink.refuses = True
        room.raise_alarm("one")
        await room.look()
        (other,) = {"a", "b"} - {room.teller}
        await until(lambda: bool(room.spools[other].messages(DEAD)))
        await until(lambda: all("1 dead letter" in notifier.failure.reason for notifier in room.notifiers.values()))
        room.sink.refuses = False
        assert [spooled.state for spooled in await room.notifiers[other].unsent()] == [DEAD]
        reviving = room.notifiers[room.teller if is_teller else other]
        assert await reviving.revive() == 1
        await until(lambda: room.told() == [("one",)])
        assert await reviving.revive() == 0
        await until(lambda: not any(notifier.failure.reason for notifier in room.notifiers.values()))


async def test_a_target_that_takes_nothing_is_seen_by_all(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b") as room:
        room.sink.is_away = True
        room.raise_alarm("one")
        await room.look()
        await until(lambda: any(spooled.tries for spooled in room.spools[room.teller].messages(WAITING)))
        room.clock.at += timedelta(minutes=6)
        await until(lambda: all(notifier.failure.is_down for notifier in room.notifiers.values()))
        room.sink.is_away = False
        await until(lambda: room.told() == [("one",)])
        await until(lambda: not any(notifier.failure.reason for notifier in room.notifiers.values()))


async def test_one_tells_and_the_next_goes_on_from_there(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b", "c") as room:
        room.raise_alarm("one")
        await room.look()
        await until(lambda: room.told() == [("one",)])
        await room.leave(room.teller)
        room.raise_alarm("two")
        await room.look()
        await until(lambda: room.told() == [("one",), ("two",)])
        await room.leave(room.teller)
        room.standing = tuple(over(standing, room.clock.at) for standing in room.standing)
        for _ in range(20):
            await room.look()
        await until(lambda: sorted(event for events in room.told()[2:] for event in events) == ["one", "two"])
        assert {message.status for message in room.sink.taken[2:]} == {Status.RESOLVED}
        assert len({message.key for message in room.sink.taken}) == len(room.sink.taken)


async def test_the_next_one_knows_what_is_open_at_a_target_and_closes_it(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b") as room:
        room.raise_alarm("one")
        await room.look()
        await until(lambda: room.told() == [("one",)])
        await room.leave(room.teller)
        spool = room.spools[room.teller]
        (known,) = spool.opens()
        assert (known.target, known.route, known.life, known.entry.event) == ("ops", "ops", known.entry.life, "ONE")
        assert known.receipt == "C1 17"
        assert known.dedup_key == loads(room.sink.taken[0].payload)["alarms"][0]["dedup_key"]
        assert spool.revive() == spool.drop([f"open/ops/{known.life}"]) == 0
        assert spool.messages(WAITING) == ()
        room.standing = ()
        for _ in range(20):
            await room.look()
        await until(lambda: room.told() == [("one",), ("one",)])
        await until(lambda: spool.opens() == ())


@pytest.mark.parametrize("offset", [0.0, -3600.0, 3600.0])
async def test_each_reads_in_its_own_times_what_was_told(redis_server: RedisServer, offset: float) -> None:
    async with room_of(redis_server, "a", "b") as room:
        room.raise_alarm("one", Severity.WARNING)
        await room.look()
        (other,) = {"a", "b"} - {room.teller}
        ahead, spool, now = timedelta(seconds=offset), room.spools[other], room.clock.at
        state, here = spool.state(now), spool.state(now - ahead, offset)
    (life,), (life_here,) = state.lives.values(), here.lives.values()
    assert (life_here.id, life_here.since, life_here.seen_at) == (life.id, life.since - ahead, life.seen_at - ahead)
    assert life_here.notified["ops"].at == life.notified["ops"].at - ahead
    for moments, moments_here in ((state.sent, here.sent), (state.counted, here.counted)):
        assert moments
        assert moments_here == {box: tuple(at - ahead for at in known) for box, known in moments.items()}


async def test_what_a_dead_one_did_not_send_is_sent_under_its_key(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b") as room:
        room.sink.is_away = True
        room.raise_alarm("one")
        await room.look()
        (waiting,) = room.spools["a"].messages(WAITING)
        await room.leave(room.teller)
        room.sink.is_away = False
        await room.look()
        await until(lambda: bool(room.spools[room.teller].messages(SENT)))
        assert [message.key for message in room.sink.taken] == [waiting.message.key]


async def test_a_woken_one_tells_nothing_that_another_one_tells(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b") as room:
        await room.look()
        stopped = room.teller
        (other,) = {"a", "b"} - {stopped}
        room.raise_alarm("one")
        store = room.fleet.stores[stopped]
        await store.release()  # as if it had been stopped until its leases ran out; it knows nothing of that
        await room.fleet.beat(other)
        await room.look()
        await until(lambda: bool(room.spools[other].messages(SENT)))
        await room.look()
        assert room.told() == [("one",)]
        assert not room.spools[stopped].may_send(room.sink.taken[0].key)
        await room.fleet.engines[stopped].join()
        await room.look()
        assert room.told() == [("one",)]


async def test_a_woken_one_that_tells_again_goes_on_from_what_was_told_meanwhile(redis_server: RedisServer) -> None:
    async with room_of(redis_server, "a", "b") as room:
        await room.look()
        stopped = room.teller
        (other,) = {"a", "b"} - {stopped}
        await room.fleet.stores[stopped].release()  # stopped: its notifier looks at nothing, either
        await room.fleet.beat(other)
        for event_id in ("one", "two"):
            room.raise_alarm(event_id)
            await room.look(other)
        await until(lambda: room.told() == [("one",), ("two",)])
        await room.marked()
        await room.fleet.engines[stopped].join()
        assert room.spools[stopped].is_on_duty
        room.raise_alarm("three")
        for _ in range(2):
            await room.look(stopped)
        await until(lambda: room.told()[2:] == [("three",)])


async def test_without_redis_the_same_one_tells_and_nobody_tells_it_again(mortal_server: RedisServer) -> None:
    async with room_of(mortal_server, "a", "b", "c") as room:
        room.raise_alarm("one")
        await room.look()
        await until(lambda: room.told() == [("one",)])
        mortal_server.kill(forgets=True)
        await room.fleet.beat()
        room.raise_alarm("two")
        await room.look()
        await until(lambda: room.told() == [("one",), ("two",)])
        assert "in memory until" in room.notifiers[room.teller].fault
        mortal_server.start()
        others = [name for name in room.fleet.engines if name != room.teller]
        await room.fleet.beat(*others)
        await room.look()
        await room.fleet.beat()
        await room.look()
        assert not room.notifiers[room.teller].fault
        await room.leave(room.teller)
        await room.look()
        await room.leave(room.teller)
        await room.look()
        assert room.told() == [("one",), ("two",)]
        assert len({message.key for message in room.sink.taken}) == 2


@pytest.mark.parametrize(("epoch", "is_said"), [(1, True), (None, False)])
def test_only_the_notifier_says_where_its_state_is(epoch: int | None, is_said: bool) -> None:
    """Another process, such as `livedeck notify list`, does not know what the notifier holds."""
    spool = SharedSpool(SharedDesk("redis://127.0.0.1:9/0", "workspace", "a/1"), lambda: epoch, lambda: True)
    with pytest.raises(SpoolError) as caught:
        spool.messages(DEAD)
    assert ("kept in memory" in str(caught.value)) is is_said
