"""Commands that follow a rehearsal do so only on request, and leave no trace in the history of shows."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from pydantic import SecretStr

from cli.commands import called
from client.raw_platform import raw_platform
from livedeck.cli import followed_clock
from livedeck.cli.collect.command import _for_rehearsal
from livedeck.cli.followed_clock import check_address
from livedeck.cli.followed_clock import following as clock_of
from livedeck.cli.rehearsal import NoClockError, WentBackError, repeat_after_jump_back
from livedeck.cli.wiring import SystemClock, open_watch
from livedeck.client import Api, Unreachable
from livedeck.collector.attached.clock import RemoteClock
from livedeck.collector.attached.follower import Follower
from livedeck.collector.serving.hub import Hub
from livedeck.monitor import ConnectionState, ConnectionStatus, Snapshot
from livedeck.presentation.render_time import RenderTime
from livedeck.settings import Settings, load
from livedeck.simulator import Simulator, SimulatorClock, serve
from livedeck.text.segments import plain
from livedeck.ui.shell.context import Identity
from livedeck.ui.shell.frame import header_line
from virtual_clock import VirtualClock

if TYPE_CHECKING:
    from livedeck.collector.attached.link import Link

PUBLIC = (
    "https://platform.example",
    "https://127.0.0.1.platform.example",
    "https://localhost.example:8787",
    "https://203.0.113.7",
    "https://[2001:db8::1]:8787",
    "https://10.0.0.7",
)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_platform_elsewhere_is_not_followed(address: str) -> None:
    settings = Settings(base_url=address, follow_clock=True)
    with pytest.raises(NoClockError, match="a platform must never move a clock"):
        check_address(settings, is_sure=False)
    check_address(settings, is_sure=True)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8787", "http://[::1]:8787", "http://localhost:1"])
def test_a_rehearsal_on_this_machine_is_followed(address: str) -> None:
    check_address(Settings(base_url=address, follow_clock=True), is_sure=False)


def platform_with_a_clock(asked: list[str]) -> Any:
    """Return a platform whose `/_clock` shows another time, twenty times as fast as ours."""
    clock = b'{"data": {"now": "2020-01-01T00:00:00.000Z", "speed": 20, "paused": false, "epoch": 1}}'

    def reply(_: str, path: str) -> bytes:
        asked.append(path)
        body = clock if path == "/_clock" else b'{"data": [], "total": 0}'
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Rehearsal: 20\r\nContent-Length: %d\r\n\r\n"
        return head % len(body) + body

    return reply


def test_without_the_flag_a_platform_with_a_clock_moves_nothing(tmp_path: Path) -> None:
    asked: list[str] = []
    with raw_platform(platform_with_a_clock(asked)) as address:
        shown = json.loads(
            called(tmp_path, "status", "--json", env={"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "t"}).stdout
        )
    assert shown["as_of"] > "2026"
    assert "/_clock" not in asked
    assert asked


def test_with_the_flag_a_public_platform_gets_no_request(tmp_path: Path) -> None:
    environment = {"LIVEDECK_BASE_URL": "https://platform.example", "LIVEDECK_TOKEN": "t", "LIVEDECK_FOLLOW_CLOCK": "1"}
    ended = called(tmp_path, "status", env=environment)
    assert ended.returncode == 2
    assert "platform.example is another machine" in ended.stderr


def test_an_address_without_a_clock_is_no_rehearsal(tmp_path: Path) -> None:
    with raw_platform(lambda *_: b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as address:
        ended = called(tmp_path, "status", "--follow-clock", env={"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": "t"})
    assert ended.returncode == 2
    assert "status 404 and no clock to follow" in ended.stderr


def clock_answer(body: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def clock_body(**values: object) -> str:
    usual = {"now": "2026-03-01T12:00:00.000Z", "speed": 20, "paused": False, "epoch": 1}
    return json.dumps({"data": usual | values})


@pytest.mark.parametrize(
    "answer",
    [
        clock_answer("<html>welcome</html>"),
        clock_answer("[" * 4000),
        clock_answer("[]"),
        clock_answer(clock_body() + " " * 5000 + "x"),
        clock_answer(clock_body(), "503 Service Unavailable"),
        clock_answer(clock_body(speed=0)),
        clock_answer(clock_body(speed=-1)),
        clock_answer(clock_body(speed=float("nan"))),
        clock_answer(clock_body(speed="20")),
        clock_answer(clock_body(paused="false")),
        clock_answer(clock_body(epoch=None)),
        clock_answer(clock_body(now="9999-12-31T23:59:59Z")),
        clock_answer(clock_body(now="2026-03-01T12:00:00")),
    ],
)
async def test_an_answer_that_is_no_clock_says_so_and_no_more(answer: bytes) -> None:
    with (
        raw_platform(lambda *_: answer) as address,
        pytest.raises(NoClockError, match="and no clock to follow; only a simulator has one"),
    ):
        async with clock_of(Settings(base_url=address), SystemClock()):
            raise AssertionError


async def test_an_answer_that_never_ends_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_clock, "_PATIENCE", 0.0)
    unfinished = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    with raw_platform(lambda *_: unfinished) as address, pytest.raises(NoClockError, match=r"no reply from .* in 0 s"):
        async with clock_of(Settings(base_url=address), SystemClock()):
            raise AssertionError


class Stage:
    """Simulator with a clock that commands can follow."""

    def __init__(self, simulator: Simulator, url: str) -> None:
        self.clock, self.url, self.token = simulator.clock, url, simulator.token


@asynccontextmanager
async def stage(speed: float = 20) -> AsyncIterator[Stage]:
    with closing(Simulator(clock=SimulatorClock(speed=speed))) as simulator:
        async with serve(simulator) as addresses:
            yield Stage(simulator, addresses.base_url)


def following(stage: Stage, **more: Any) -> Settings:
    return Settings(base_url=stage.url, token=SecretStr(stage.token), follow_clock=True, **more)


async def test_a_deck_has_the_time_of_the_rehearsal() -> None:
    async with stage() as made, open_watch(following(made), keeps_history=True) as watch:
        assert watch.clock is not None
        assert watch.history is not None
        assert watch.history.path is None
        made.clock.change(step=3600)
        await watch.clock.changed()
        assert abs((watch.feed.clock.now() - made.clock.now()).total_seconds()) < 60
        assert watch.clock.pace() == "x20"


async def test_a_jump_back_begins_the_work_anew() -> None:
    begun = list[float]()

    async def work() -> int:
        async with open_watch(following(made)) as watch:
            begun.append(watch.feed.clock.now().timestamp())
            return 0 if len(begun) == 2 else await watch.run(go_back())

    async def go_back() -> int:
        made.clock.change(step=-3600)
        await asyncio.Event().wait()
        return 1

    async with stage() as made:
        assert await repeat_after_jump_back(work) == 0
    assert begun[1] < begun[0] - 1800


async def test_the_monitor_of_a_followed_clock_polls() -> None:
    async with stage() as made, open_watch(following(made)) as watch, aclosing(watch.feed.snapshots()) as snapshots:
        async for snapshot in snapshots:
            if snapshot.events:
                assert abs((snapshot.at - made.clock.now()).total_seconds()) < 120
                break


async def test_the_file_of_a_rehearsal_goes_with_a_jump_back(tmp_path: Path) -> None:
    file = tmp_path / "rehearsal.livedeck"
    file.write_text("what has not happened yet")
    tries = iter((WentBackError("back"), None))

    async def work() -> int:
        if error := next(tries):
            raise error
        return 0

    assert await repeat_after_jump_back(work, file) == 0
    assert not file.exists()


def test_the_history_of_shows_is_never_used(tmp_path: Path) -> None:
    usual = Settings(base_url="http://127.0.0.1:1", follow_clock=True, history=str(tmp_path / "shows.sqlite"))
    own = Settings(base_url="http://127.0.0.1:1", follow_clock=True, history=str(tmp_path / "rehearsal.livedeck"))
    assert usual.history_file() is None
    assert own.history_file() == tmp_path / "rehearsal.livedeck"


def test_a_collector_keeps_a_rehearsal_beside_the_history_and_notifies_nobody(tmp_path: Path) -> None:
    target = {"webhook_command": ["echo", "https://receiver.example"]}
    notify = {"targets": {"desk": target}, "routes": [{"to": "desk"}]}
    values = {"base_url": "http://127.0.0.1:1", "follow_clock": True, "history": str(tmp_path / "shows.sqlite")}
    made = _for_rehearsal(load(**values, notify=notify))
    assert made.history_file() == tmp_path / "rehearsal.livedeck"
    assert not made.notify.targets
    assert not made.notify.routes


def test_no_start_loads_the_followed_clock() -> None:
    names = ("deck", "status_report", "alarm", "collect.command", "demo")
    modules = ", ".join(f"livedeck.cli.{name}" for name in names)
    text = f"import sys, {modules}; print('livedeck.cli.followed_clock' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


@pytest.mark.parametrize("width", [80, 132, 200])
def test_the_header_shows_the_speed_of_the_rehearsal_at_any_width(width: int) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    shown = Snapshot(1, now, ConnectionStatus(ConnectionState.OK, now))
    identity: Identity = {
        "profile": "a profile with a long name",
        "host": "a-platform-with-a-long-name.example",
        "read_only": False,
        "is_past": False,
        "recording": "",
        "pace": lambda: "x20",
        "zone": UTC,
    }
    render_time = RenderTime.from_snapshot(shown, now)
    assert "REHEARSAL x20" in plain(header_line(shown, render_time, width, identity))
    assert "REHEARSAL" not in plain(header_line(shown, render_time, width, {**identity, "pace": str}))


async def test_readers_of_a_collector_learn_the_speed_and_each_change() -> None:
    machine = VirtualClock()
    speed: float | None = 20.0
    hub = Hub(machine, "b00t", lambda: speed)
    await hub.publish(Snapshot(1, machine.now(), ConnectionStatus(ConnectionState.OK, machine.now())))
    listed = await hub.listing()
    assert listed is not None
    assert json.loads(listed.body)["speed"] == 20
    async with aclosing(hub.changes("b00t-1")) as changes:
        first = await anext(changes)
        speed = 0.0
        hub.beat()
        second = await anext(changes)
        speed = None
        hub.beat()
        third = await anext(changes)
    assert first.endswith(b" 20\n")
    assert second.endswith(b" 0\n")
    assert third.count(b" ") == 2  # the id and the time: the speed is unknown
    listed = await hub.listing()
    assert listed is not None
    assert json.loads(listed.body)["speed"] is None


async def test_an_attached_deck_takes_the_speed_of_the_collector() -> None:
    machine = VirtualClock()
    clock = RemoteClock(machine, is_rehearsal=True)

    async def work() -> list[float]:
        clock.take(1_000_000, 20)
        await machine.sleep(3)
        running = clock.now().timestamp(), clock.ago(machine.monotonic() - 1).timestamp()
        clock.take(1_060_000, 0)
        await machine.sleep(3)
        return [*running, clock.now().timestamp()]

    assert await machine.run(work()) == pytest.approx([1060, 1040, 1060])
    assert (clock.pace(), clock.skew) == ("paused", 0)


async def test_an_attached_deck_says_that_the_clock_is_unknown() -> None:
    machine = VirtualClock()
    clock = RemoteClock(machine, is_rehearsal=True)

    async def work() -> list[str]:
        shown = [clock.pace()]  # before the first message
        clock.take(1_000_000, 20)
        shown.append(clock.pace())
        await machine.sleep(12)
        shown.append(clock.pace())  # a silent collector
        clock.take(1_240_000, None)  # the collector does not know
        shown.append(clock.pace())
        await machine.sleep(1)
        assert clock.now().timestamp() == pytest.approx(1260)
        return shown

    assert await machine.run(work()) == ["clock unknown", "x20", "clock unknown", "clock unknown"]


@pytest.mark.parametrize("is_rehearsal", [True, False])
async def test_a_deck_and_a_collector_with_different_clocks_do_not_meet(is_rehearsal: bool) -> None:
    machine = VirtualClock()
    hub = Hub(machine, "b00t", None if is_rehearsal else lambda: 20.0)
    await hub.publish(Snapshot(1, machine.now(), ConnectionStatus(ConnectionState.OK, machine.now())))

    listed = await hub.listing()
    assert listed is not None
    listing = json.loads(listed.body)

    class Way:
        host = "collector"

        async def get(self, *_: object) -> Any:
            return listing

    clock = RemoteClock(machine, is_rehearsal=is_rehearsal)
    follower = Follower(cast("Link", Way()), clock, lambda *_: None)
    await machine.run(follower.list_once())
    assert follower.is_refused
    assert "--follow-clock" in follower.reason
    assert follower.held is None


async def test_the_time_limits_of_a_client_run_on_the_followed_clock() -> None:
    asked, is_over = list[float](), threading.Event()

    def machine_seconds(seconds: float) -> float:
        asked.append(seconds)
        return seconds / 1000

    with raw_platform(lambda *_: b"" * is_over.wait(60)) as address:
        async with Api(base_url=address, token="t", timeout=40, retry=0, machine_seconds=machine_seconds) as api:
            with pytest.raises(Unreachable, match="time"):
                await api.events.list()
        is_over.set()
    assert {*asked} == {40, 80}
