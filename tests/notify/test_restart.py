"""After a restart, held messages are sent by the present alarms; the first step waits until these are known."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from golden.player import START, Clock
from golden.warp import Warp
from livedeck.client import Event
from livedeck.monitor import (
    Alarm,
    AlarmState,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    EventState,
    HealthAssessment,
    Phase,
    QosState,
    Severity,
    Snapshot,
)
from livedeck.notify import SENT, WAITING, Message, Notifier, Outcome, Spool, State, Status
from livedeck.notify.groups import SETTLED
from notify.restarting import span
from notify.sinks import http_sink
from notify.stage import Desk, alarm, over
from notify.test_notifier import PLAN, YES, Receiver

ROOT = Path(__file__).parents[2]


def test_after_ten_restarts_nothing_that_is_over_is_told_as_firing(tmp_path: Path) -> None:
    rounds = 10
    with http_sink() as sink:
        done = subprocess.run(
            [sys.executable, "-m", "notify.restarting", str(tmp_path), sink.address, str(rounds)],
            env={**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{ROOT / 'src'}:{ROOT / 'tests'}"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    *held, left = map(int, done.stdout.split())
    assert (len(held), left) == (rounds, 0)
    assert min(held) > 0
    spool = Spool(tmp_path / "spool", reads=True)
    messages, waiting = spool.messages(SENT), spool.messages(WAITING)
    spool.close()
    assert waiting == ()
    begun, ended = list[str](), list[str]()
    for message in (spooled.message for spooled in messages):
        lives = [beginning.life for beginning in message.beginnings]
        begun += lives
        ended += message.ends
        for life in lives:
            _, number, turn, each = life.partition("/")[0].split("-")
            _, begin, end = span(int(number), int(turn), int(each))
            assert begin <= message.at < end, message.title
    assert len(begun) == len({*begun}) > 0
    assert len(ended) == len({*ended})
    assert {*begun} <= {*ended}
    print(f"{rounds} restarts, held at each: {held}; told to begin: {len(begun)}, to be over: {len(ended)}")  # noqa: T201


@pytest.mark.parametrize(("answered_after", "first_step"), [(0, 0), (10, 10), (100, 30)])
def test_the_first_step_waits_for_a_response_of_each_event_on_air(
    tmp_path: Path, answered_after: int, first_step: int
) -> None:
    path = tmp_path / "spool"

    async def watch(seconds: int, *alarms: Alarm, answered_after: int = 0) -> list[tuple[Status, float]]:
        notifier = Notifier(PLAN, {"ops": Receiver([YES])}, Spool(path), Clock(), Random(1))
        await notifier.open()
        told = list[tuple[Status, float]]()
        for second in range(seconds):
            now = Clock().now()
            qos = QosState(as_of=now if second >= answered_after else None)
            event = EventState(Event(id="other"), now, Phase(BroadcastState.ON_AIR), qos, HealthAssessment())
            link = ConnectionStatus(ConnectionState.OK, START, as_of=now)
            messages = await notifier.take(Snapshot(1, now, link, events=(event,), alarms=alarms))
            told += [(message.status, second) for message in messages]
            await asyncio.sleep(1)
        await notifier.close()
        return told

    async def run() -> None:
        await watch(10, alarm("one", since=START, changed=START))
        cleared = await watch(200, answered_after=answered_after)  # the first step finds that the alarm has cleared
        assert cleared == [(Status.RESOLVED, first_step + SETTLED.total_seconds())]

    with asyncio.Runner(loop_factory=Warp) as runner:
        runner.run(run())


def test_what_was_over_before_a_restart_is_over_after_it(tmp_path: Path) -> None:
    desk = Desk()
    standing = alarm("one", "FPS_LOW", Severity.WARNING)
    for number in range(6):
        desk.put(alarm(f"event-{number}", "FPS_LOW", Severity.WARNING, since=desk.now, changed=desk.now))
        desk.watch(10)
    desk.put(replace(standing, since=desk.now, changed=desk.now))
    desk.watch(20)
    desk.put(over(desk.alarms[standing.key], desk.now))
    desk.watch(20)
    (cleared_since,) = (life.cleared_since for life in desk.state.lives.values() if life.cleared_since)
    state = kept(tmp_path, desk.state, desk.now, tuple(desk.told))
    assert [life.cleared_since for life in state.lives.values() if life.cleared_since] == [cleared_since]
    desk.state = state
    desk.alarms.clear()
    told = [message for _ in range(150) for message in desk.look(5, is_known=False)]
    assert [message.status for message in told] == [Status.RESOLVED]
    assert told[0].title.startswith("CLEARED WARN FPS_LOW ONE after 21 s")


def test_what_another_alarm_hid_before_a_restart_was_handled_by_nobody(tmp_path: Path) -> None:
    desk = Desk()
    desk.put(alarm())
    desk.watch(10)
    desk.put(replace(alarm(), state=AlarmState.SUPPRESSED, parent="PLATFORM", changed=desk.now))
    desk.watch(10)
    (life,) = kept(tmp_path, desk.state, desk.now, tuple(desk.told)).lives.values()
    assert (life.is_handled, life.is_hidden) == (True, True)


def kept(folder: Path, state: State, now: datetime, told: tuple[Message, ...]) -> State:
    """Return the state as the next process reads it."""
    spool = Spool(folder / "spool")
    spool.keep(Outcome(state, told), now)
    read = spool.state(now)
    spool.close()
    return read
