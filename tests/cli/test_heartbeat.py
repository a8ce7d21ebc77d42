"""Messages of a collector's dead man's switch while the machine's clock is set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from livedeck.cli.collect.command import Collector
from livedeck.client import Api, RequestCounts
from livedeck.monitor import Cadence, Monitor
from livedeck.notify import Notifier, Plan, Route, Spool
from livedeck.text.secrets import register_secret
from monitor.stage import event
from monitor.wire import Platform, WallClock, run
from notify.test_notifier import NO, YES, Receiver

HOUR = 3600.0
Step = Callable[[WallClock, Platform], None]


@dataclass
class Reply:
    """Reply of the outside service."""

    status: int = 200
    text: str = ""
    retry_after: float | None = None
    body: bytes = b""


def said(
    folder: Path,
    minutes: int,
    *steps: tuple[float, Step],
    is_told: bool = True,
    answers: Iterable[Reply] = (),
    expected_beat: datetime | None = None,
    cadence: Cadence | None = None,
    events: tuple[dict[str, Any], ...] = (event(),),
) -> list[str]:
    """Return the result of each beat: `well`, or the reason.

    `steps`: changes and their seconds from the start. The machine's clock is a minute ahead from the start; `is_told`:
    this was reported to a person. `answers`: replies of the outside service, which then takes everything;
    `expected_beat`: time at which it took the last beat.
    """
    came, replies = list[str](), iter(answers)

    async def post(_method: str, address: str, _headers: Mapping[str, str], body: bytes) -> Reply:
        came.append(body.decode().partition(" since ")[0] if address.endswith("/fail") else "well")
        return next(replies, Reply())

    async def watch() -> None:
        clock, platform = WallClock(), Platform(*events)
        clock.ahead = 60.0
        for when, step in steps:
            asyncio.get_running_loop().call_later(when, step, clock, platform)
        async with (
            platform.serve() as address,
            Api(base_url=address, token="token-of-tests", timeout=4.0, now=clock.now, timer=clock.monotonic) as api,
        ):
            monitor = Monitor(api, clock, cadence=cadence, random=Random(1))
            targets = {"ops": Receiver([YES if is_told else NO])}
            plan = Plan((Route("ops", "ops"),))
            notifier = Notifier(plan, targets, Spool(folder / "spool"), monitor.clock, Random(1))
            await notifier.open()
            collector = Collector(monitor, None, notifier, RequestCounts())
            collector.beat(post, "https://beats.example/ping")
            assert collector.heartbeat
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(work) for work in (collector.heartbeat.run(), notifier.run(), collector.watch())
                ]
                await asyncio.sleep(60 * minutes + 30)
                for task in tasks:
                    task.cancel()
            beat_at = collector.counted().beat_at
            assert beat_at is not None
            assert beat_at <= clock.now()
            assert expected_beat in {None, beat_at}
            await notifier.close()

    run(watch())
    return came


def set_by(seconds: float) -> Step:
    """Return a step that sets the wall clock ahead from then on."""

    def step(clock: WallClock, _platform: Platform) -> None:
        clock.ahead += seconds

    return step


def die(_clock: WallClock, platform: Platform) -> None:
    """Let the platform reply to nothing any more."""
    platform.lost = 1.0


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_clock_that_is_set_stops_no_beat(tmp_path: Path, seconds: float) -> None:
    assert said(tmp_path, 6, (90, set_by(seconds))) == ["well"] * 6


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_platform_that_dies_stops_the_beats_whatever_the_clock_says(tmp_path: Path, seconds: float) -> None:
    beats = said(tmp_path, 6, (90, set_by(seconds)), (150, die))
    assert beats == [*["well"] * 3, *["no usable reply from the platform"] * 3]


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
def test_a_message_waits_as_long_as_it_waits_whatever_the_clock_says(tmp_path: Path, seconds: float) -> None:
    beats = said(tmp_path, 8, (90, set_by(seconds)), is_told=False)
    assert beats == [*["well"] * 5, *["a message has been waiting"] * 3]


def test_a_list_that_is_polled_each_five_minutes_stops_no_beat_and_a_dead_platform_does(tmp_path: Path) -> None:
    """Without an event nothing else is polled; the default cadence of the list is 15 s."""
    slow = Cadence(events=300.0)
    assert said(tmp_path, 8, cadence=slow, events=()) == ["well"] * 8
    beats = said(tmp_path, 14, (30, die), cadence=slow, events=())
    assert beats == [*["well"] * 10, *["no usable reply from the platform"] * 4]


def test_an_address_that_takes_no_beat_is_said_once_and_that_it_does_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "of-the-beat-0815-4711"
    register_secret(secret)
    answers = [Reply(404, f"no such check {secret}"), Reply(0, "no answer"), Reply(302), Reply(), Reply()]
    assert said(tmp_path, 6, (210, die), answers=answers) == [*["well"] * 4, *["no usable reply from the platform"] * 2]
    words = [line for line in capsys.readouterr().err.splitlines() if "heartbeat" in line]
    assert words[0].startswith("livedeck collector run: heartbeat failed: 404 no such check ")
    assert words[1:] == ["livedeck collector run: heartbeat works again"]
    assert secret not in words[0]


def test_where_no_beat_was_ever_taken_its_time_is_the_beginning_of_all(tmp_path: Path) -> None:
    """The rule LivedeckHeartless goes by that (tests/presentation/test_alert_rules.py)."""
    assert said(tmp_path, 2, answers=[Reply(404)] * 2, expected_beat=datetime.fromtimestamp(0, UTC)) == ["well"] * 2
