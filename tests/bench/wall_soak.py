"""Run a wall for days: memory that grows, a clock that drifts, or an exception fails.

    PYTHONPATH=src:tests python tests/bench/wall_soak.py [--hours 72] [--minutes 30] [--keys 10000]

`--hours`: the bad night played again and again on a virtual clock, at a round a minute, one picture a round.
`--minutes`: the real command at a pseudo terminal beside a real `livedeck serve`, its window resized 200 times.
`--keys`: keys and clicks at random at a running wall. Any of them may be 0. Fails if memory grows by 5 % or more, a
line of the log has an exception, the clock is off, or a request is no GET.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import pty
import random
import re
import select
import subprocess
import sys
import tempfile
import termios
from collections.abc import MutableMapping
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from click import echo
from pydantic import SecretStr

from livedeck.cli.screenshots import EVENING, FixedClock
from livedeck.cli.wiring import make_api, make_monitor
from livedeck.settings import Settings
from livedeck.settings.model import CadenceSettings
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.ui.wallboard.app import Wallboard
from livedeck.ui.wallboard.cache import DrawCache
from ui.mistreating import mistreat
from ui.wall_stage import STILL, lines, says
from virtual_clock import VirtualClock

Message = MutableMapping[str, Any]
NIGHT = timedelta(minutes=25)
GROWTH = 1.05


def _resident(pid: str = "self") -> int:
    """Return the resident memory of a process in KiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) if found else 0


class Nights:
    """App that plays the bad night, and starts it anew at each end."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._services = list[Simulator]()
        self._begin()

    def _begin(self) -> None:
        self._begun = self._clock.now()
        self.time = SimulatorClock(start=self._begun, paused=True)
        self._services.append(Simulator(clock=self.time, scenario="bad-night"))
        for over in self._services[:-2]:  # an answer of the last night may still be under way
            over.close()
        del self._services[:-2]

    async def app(self, scope: Message, receive: Any, send: Any) -> None:
        """Serve a request by the app of the present night."""
        if self._clock.now() - self._begun > NIGHT:
            self._begin()
        self.time.change(jump=self._clock.now())
        await self._services[-1].app(scope, receive, send)


class Patient(VirtualClock):
    """Clock that waits for a moment of real time while threads may still have work."""

    def _jump(self) -> None:
        try:
            super()._jump()
        except AssertionError:
            sleep(0.001)


async def _virtual(clock: VirtualClock, hours: float) -> list[tuple[float, int, int]]:
    """Run the wall for `hours`. Return hours, KiB and objects of every six hours."""
    nights, marks, due = Nights(clock), list[tuple[float, int, int]](), 1.0
    slow = CadenceSettings(events=60, events_near=60, qos=60, qos_focus=60)
    token = SecretStr("livedeck-demo")
    settings = Settings(base_url="http://127.0.0.1:8787", token=token, read_only=True, cadence=slow)
    cache, end = DrawCache(), EVENING + timedelta(hours=hours)
    async with make_api(settings, clock=clock, mount=nights.app) as api:
        async for snapshot in make_monitor(api, clock, settings=settings).snapshots():
            now = clock.now()
            drawn = lines(snapshot, (160, 45), now=now, cache=cache)
            assert says(drawn, f"{now:%H:%M:%S}Z"), "the clock on the wall is another one"
            passed = (now - EVENING).total_seconds() / 3600
            if passed >= due:
                gc.collect()
                marks.append((passed, _resident(), len(gc.get_objects())))
                echo(f"  {passed:5.1f} h  {marks[-1][1]:7d} KiB  {marks[-1][2]:7d} objects")
                due += 6.0
            if now >= end:
                return marks
    raise AssertionError


def virtual(hours: float) -> bool:
    """Print how memory grew from the second mark on. Return whether it stays below the limit.

    The first hours fill the bounded stores.
    """
    clock = Patient(EVENING)
    marks = asyncio.run(clock.run(_virtual(clock, hours)))
    base = marks[min(1, len(marks) - 1)]
    echo(
        f"{hours:g} virtual hours: memory {marks[-1][1] / base[1] - 1:+.1%}, objects {marks[-1][2] / base[2] - 1:+.1%}"
    )
    return max(marks[-1][1] / base[1], marks[-1][2] / base[2]) < GROWTH


def real(minutes: float) -> bool:
    """Run the real command while it is resized.

    Return whether its exit code, memory, log and clock are as they should be.
    """
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        serve = [sys.executable, "-m", "livedeck", "serve", "--json", "--port", "0", "--scenario", "bad-night"]
        with subprocess.Popen(serve, env=env, stdout=subprocess.PIPE, text=True) as platform:
            try:
                assert platform.stdout is not None
                known = json.loads(platform.stdout.readline())
                env |= {"LIVEDECK_BASE_URL": known["base_url"], "LIVEDECK_TOKEN": known["token"]}
                well = _watched(env, minutes)
            finally:
                platform.terminate()
        logs = "".join(path.read_text(encoding="utf-8") for path in Path(home).rglob("*.log"))
        echo(f"  exceptions in the log: {logs.count('exception')}")
        return well and "exception" not in logs


def _watched(env: dict[str, str], minutes: float) -> bool:
    pid, master = pty.fork()
    if not pid:
        os.execve(sys.executable, [sys.executable, "-m", "livedeck", "wall", "--theme", "dark"], env)
    base = _resized(pid, master, minutes * 60)
    termios.tcsetwinsize(master, (30, 160))  # in this size the clock is in plain letters
    shown = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", _read(master, 5.0))
    now = _resident(str(pid))
    echo(f"{minutes:g} minutes: memory {base} -> {now} KiB, {now / base - 1:+.1%}")
    clocks = re.findall(rb"(\d\d):(\d\d):(\d\d)Z", shown)
    seconds = [int(hour) * 3600 + int(minute) * 60 + int(second) for hour, minute, second in clocks]
    late = [round(time() % 86400 - one) for one in seconds[-1:]]
    echo(f"  its clock, last sent whole within 5 s: {late} s ago")
    os.write(master, b"q")
    _read(master, 5.0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    echo(f"  exit code {code}")
    return now / base < GROWTH and code == 0 and bool(late) and 0 <= late[0] <= 7


def _read(master: int, seconds: float) -> bytes:
    """Return the bytes that come within `seconds`, or until the terminal is closed."""
    end, read = monotonic() + seconds, b""
    while (left := end - monotonic()) > 0:
        if select.select([master], [], [], left)[0]:
            try:
                read += os.read(master, 1 << 16)
            except OSError:
                break
    return read


def _resized(pid: int, master: int, seconds: float) -> int:
    """Give the window 200 sizes in `seconds`. Return the memory (KiB) after the first part of that time."""
    chance, base = random.Random(1), 0
    _read(master, 15.0)
    for number in range(200):
        termios.tcsetwinsize(master, (chance.randint(10, 100), chance.randint(40, 400)))
        _read(master, seconds / 200)
        if number == 50:
            base = _resident(str(pid))
    return base


async def mistreated(times: int) -> bool:
    """Send `times` keys and clicks. Return whether only GET requests reached the platform."""
    simulator, methods = Simulator(clock=SimulatorClock(start=EVENING, paused=True)), list[str]()

    async def counted(scope: Message, receive: Any, send: Any) -> None:
        methods.append(scope["method"])
        await simulator.app(scope, receive, send)

    settings = Settings(base_url="http://127.0.0.1:8787", token=SecretStr(simulator.token), read_only=True)
    clock = FixedClock()
    async with make_api(settings, clock=clock, mount=counted) as api:
        app = Wallboard(make_monitor(api, clock).snapshots(), clock, STILL, theme="dark")
        async with app.run_test(size=(80, 24)) as pilot:
            await mistreat(app, pilot, random.Random(1), times)
            alive = app.is_running and len(app.screen_stack) == 1
    counts = {method: methods.count(method) for method in sorted(set(methods))}
    echo(f"{times} keys and clicks: the wall is {'as it was' if alive else 'NOT as it was'}, requests {counts}")
    return alive and set(counts) <= {"GET", "HEAD"}


def main() -> int:
    """Run the chosen parts. Return 1 if any of them fails, else 0."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hours", type=float, default=72.0)
    arguments.add_argument("--minutes", type=float, default=30.0)
    arguments.add_argument("--keys", type=int, default=10_000)
    asked = arguments.parse_args()
    well = not asked.keys or asyncio.run(mistreated(asked.keys))
    well &= not asked.hours or virtual(asked.hours)
    return int(not (well and (not asked.minutes or real(asked.minutes))))


if __name__ == "__main__":
    sys.exit(main())
