"""Several persons act on the same alarms at once, over real HTTP, while the alarms change.

Each is told the result, and no unseen alarm is silenced.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from breadth import slow_rows
from collector.attached import app
from collector.hasty import Hasty
from livedeck.client import Api
from livedeck.collector.serving.acts import routes
from livedeck.http_server import serve_app
from livedeck.monitor import Alarm, AlarmAction, AlarmState, Monitor, Severity
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.published.codec import encode_record
from livedeck.text.times import parse_timestamp
from monitor.alarm_stage import WELL, finding, state
from monitor.stage import NOW

ROOT = Path(__file__).parents[2]
ALARMS, KIND, DECKS = 20, "FPS_LOW", 8
"""Number of alarms, their kind and number of decks.

No incident consists of this kind, so each alarm is handled by itself.
"""


@dataclass
class Dial:
    """Clock that the test sets."""

    seconds: float = 0.0

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return NOW + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """Return the monotonic seconds."""
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run."""
        self.seconds += seconds
        await asyncio.sleep(0)


@dataclass
class Desk:
    """Alarms of a collector, which change as long as `judge` runs."""

    clock: Dial = field(default_factory=Dial)
    random: Random = field(default_factory=lambda: Random(7))
    onsets: dict[str, datetime] = field(default_factory=dict)
    severities: dict[str, Severity] = field(default_factory=dict)
    steps: int = 0
    silenced: list[Alarm] = field(default_factory=list)

    def __post_init__(self) -> None:
        api = Api(base_url="http://127.0.0.1", token="token-of-tests")
        self.monitor = Monitor(api, self.clock)
        self.events = [f"event-{number}" for number in range(ALARMS)]
        for _ in range(2):
            self.step()

    def step(self) -> None:
        """End some faults, begin others and make some worse. Each lasts until the next look."""
        self.clock.seconds += 30
        for event_id in self.events:
            chance = self.random.random()
            if event_id not in self.onsets or chance < 0.05:
                self.onsets[event_id] = self.clock.now()
            if event_id not in self.severities or chance < 0.4:
                self.severities[event_id] = self.random.choice([Severity.WARNING, Severity.CRITICAL])
        gone = {event_id for event_id, since in self.onsets.items() if since == self.clock.now()}
        for standing in (self.onsets.keys() - gone, self.onsets.keys()):  # what begins anew was over for a look
            self.clock.seconds += 1
            states = tuple(
                state(finding(KIND, self.severities[name], since=self.onsets[name]), name=name)
                if name in standing
                else state(name=name)
                for name in self.events
            )
            self.monitor._alarms.step(MonitorState(states, WELL, self.clock.now(), ""))
        self.steps += 1
        self.silenced += [alarm for alarm in self.alarms if alarm.state is AlarmState.ACKNOWLEDGED]

    @property
    def alarms(self) -> list[Alarm]:
        """Return the alarms in their present state."""
        return [*self.monitor._alarms.alarms.values()]

    async def judge(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(0.01)

    async def shown(self, _: Request) -> JSONResponse:
        """Return the alarms as a screen would show them."""
        return JSONResponse([encode_record(alarm) for alarm in self.alarms])


@asynccontextmanager
async def served(desk: Desk) -> AsyncIterator[int]:
    """Yield the port of loopback that serves the alarms."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        served_app = app(Route("/shown", desk.shown), *routes(desk.monitor, None))
        async with serve_app(listener, served_app, max_connections=4 * DECKS):
            yield listener.getsockname()[1]


def answer_here(port: int, name: str, count: int) -> list[dict[str, Any]]:
    """Run the operator in this thread."""
    deck = Hasty(port, name)
    done = list(deck.commands(count))
    deck.close()
    return done


async def answer_in_thread(port: int, name: str, count: int) -> list[dict[str, Any]]:
    """Run the operator in a thread of this process."""
    return await asyncio.to_thread(answer_here, port, name, count)


async def answer_in_process(port: int, name: str, count: int) -> list[dict[str, Any]]:
    """Run the operator in a process of its own."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "collector.hasty", str(port), name, str(count), stdout=asyncio.subprocess.PIPE, env=env
    )
    output, _ = await process.communicate()
    return [json.loads(line) for line in output.splitlines()]


Answering = Callable[[int, str, int], Any]


@pytest.mark.parametrize(("answering", "count"), [(answer_in_thread, 25), *slow_rows((answer_in_process, 200))])
async def test_no_alarm_is_silenced_by_a_command_for_another_occurrence(answering: Answering, count: int) -> None:
    desk = Desk()
    async with served(desk) as port:
        judging = asyncio.create_task(desk.judge())
        decks = [answering(port, f"deck-{number}", count) for number in range(DECKS)]
        commands = [command for done in await asyncio.gather(*decks) for command in done]
        judging.cancel()
    answers = {answer.uid: answer for answer in desk.monitor._actions}
    for command in commands:
        assert command["status"] in {200, 409}, command
        if command["status"] == 200:
            assert (command["uid"] in answers) == command["changed"], "what was done is kept, and nothing else"
    assert len(commands) == DECKS * count
    assert answers.keys() <= {command["uid"] for command in commands}
    silencing = {command["uid"]: command for command in commands if command["verb"] == "acknowledge"}
    by_answer = {(answer.key, answer.at): answer for answer in answers.values()}
    for alarm in desk.silenced:
        assert alarm.acknowledged_at
        answer = by_answer[alarm.key, alarm.acknowledged_at]
        assert was_seen(silencing[answer.uid]["shown"], alarm), (alarm, answer)
    errors = Counter(command["error"] for command in commands)
    assert desk.silenced
    assert errors["over"] > 0, "no look was out of date, so nothing was tried"
    sys.stdout.write(f"{len(commands)} commands, {desk.steps} looks of the judge: {dict(errors)}\n")


def was_seen(shown: dict[str, Any], alarm: Alarm) -> bool:
    """Return whether this occurrence was shown, at a severity no lower than its present one."""
    is_same = abs(parse_timestamp(shown["since"]) - alarm.since) <= onset_tolerance(alarm.kind)
    return is_same and Severity(shown["severity"]).rank <= alarm.severity.rank


async def test_of_all_who_acknowledge_at_once_one_was_first_and_the_others_are_told_who() -> None:
    desk = Desk()
    alarm = next(encode_record(alarm) for alarm in desk.alarms if alarm.needs_ack)

    def acknowledge(port: int, name: str) -> dict[str, Any]:
        deck = Hasty(port, name)
        try:
            return deck.acknowledge(alarm)
        finally:
            deck.close()

    async with served(desk) as port:
        names = [f"deck-{number}" for number in range(DECKS)]
        done = await asyncio.gather(*(asyncio.to_thread(acknowledge, port, name) for name in names))
    assert Counter((command["status"], command["changed"]) for command in done) == {(200, True): 1, (200, False): 7}
    assert len({command["say"] for command in done}) == 1
    (answer,) = desk.monitor._actions
    assert isinstance(answer, AlarmAction)
    assert f"{KIND}: acknowledged by anna, " in done[0]["say"]
