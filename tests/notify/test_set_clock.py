"""A notifier continues from the state of one whose clock differed, because one of the clocks was set meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from golden.player import START, Clock
from golden.warp import Warp
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Snapshot
from livedeck.notify import SENT, WAITING, Delivery, Message, Notifier, Outcome, Plan, Route, Spool, Spooled
from notify.stage import NOW, Desk, alarm

PLAN = Plan((Route("ops", "ops", escalate=30, escalate_to="ops"),))
OFFSETS = [0.0, -300.0, 3600.0, -2 * 86_400.0]


@pytest.mark.parametrize("offset", OFFSETS)
def test_what_is_kept_is_read_in_the_times_of_who_reads_it(tmp_path: Path, offset: float) -> None:
    desk = Desk(*PLAN.routes)
    ran_out = NOW - timedelta(hours=2)
    desk.put(alarm(acknowledged_at=ran_out, answered_by="anna@x:1"))
    desk.watch(40 * 60, each=60.0)
    ahead, spool = timedelta(seconds=offset), Spool(tmp_path / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now, 60.0)
    state = spool.state(desk.now - ahead, offset + 60.0)
    spool.close()
    (before,), (life,) = desk.state.lives.values(), state.lives.values()
    assert (life.id, life.since, life.seen_at) == (before.id, before.since - ahead, before.seen_at - ahead)
    assert life.notified["ops"] == before.notified["ops"]._replace(at=before.notified["ops"].at - ahead)
    (escalated,) = life.escalated.values()
    assert datetime.fromisoformat(escalated) == ran_out - ahead
    assert [*life.repeated.values()] == [at - ahead for at in before.repeated.values()]
    assert state.sent == {box: tuple(at - ahead for at in moments) for box, moments in desk.state.sent.items()}


class Sink:
    """Target that records what it takes. `refusals`: number of tries that it refuses first."""

    def __init__(self, refusals: int) -> None:
        self.tried, self.taken, self.refusals = list[str](), list[str](), refusals

    async def send(self, message: Message) -> Delivery:
        """Take a message, or refuse it."""
        self.tried.append(message.key)
        if self.refusals:
            self.refusals -= 1
            return Delivery(is_taken=False, answer="503")
        self.taken.append(message.key)
        return Delivery(is_taken=True, answer="200")


class Moved(Clock):
    """Time of the loop, started at that moment."""

    def __init__(self, at: datetime) -> None:
        self._ahead = at - START

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return super().now() + self._ahead


def told(path: Path, sink: Sink, offset: float, standing: Alarm, minutes: range) -> list[Spooled]:
    """Return the messages in the file after a notifier has looked at an alarm in these minutes after its onset.

    The machine's clock is `offset` seconds ahead of the notifier's.
    """
    with asyncio.Runner(loop_factory=Warp) as runner:
        return runner.run(tell(path, sink, offset, standing, minutes))


async def tell(path: Path, sink: Sink, offset: float, standing: Alarm, minutes: range) -> list[Spooled]:
    """Return the same messages as `told`, on the running loop."""
    machine = NOW + timedelta(minutes=minutes.start)
    clock = Moved(machine - timedelta(seconds=offset))
    spool = Spool(path)
    notifier = Notifier(PLAN, {"ops": sink}, spool, clock, Random(1))
    sending = asyncio.create_task(notifier.run())

    for _ in range(len(minutes) * 6):
        link = ConnectionStatus(ConnectionState.OK, NOW, as_of=clock.now(), clock_offset=offset)
        await notifier.take(Snapshot(1, clock.now(), link, alarms=(standing,)))
        await clock.sleep(10)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    messages = [*spool.messages(WAITING), *spool.messages(SENT)]
    await notifier.close()
    return messages


@pytest.mark.parametrize("refusals", [0, 8])
@pytest.mark.parametrize("offset", OFFSETS)
def test_what_stands_is_told_under_one_key_though_the_clock_was_set(
    tmp_path: Path, offset: float, refusals: int
) -> None:
    sink, standing = Sink(refusals), alarm(since=NOW, changed=NOW)
    (first,) = told(tmp_path / "spool", sink, 0.0, standing, range(1))
    ahead = timedelta(seconds=offset)
    later = replace(standing, since=standing.since - ahead, changed=standing.changed - ahead)
    (second,) = told(tmp_path / "spool", sink, offset, later, range(1, 9))
    assert (second.message, second.state) == (first.message, SENT)
    assert {*sink.tried} == {*sink.taken} == {first.message.key}
