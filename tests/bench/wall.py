"""Measure the wall's budgets (performance.md, "Budgets"), beside 24 Static widgets and a Textual app with only a clock.

    PYTHONPATH=src:tests python tests/bench/wall.py [--seconds 20]

All run at the same time. Bytes are counted at a pseudo terminal of 240x67; processor time is that of the child as the
kernel counts it.
"""

from __future__ import annotations

import argparse
import asyncio
import codecs
import os
import pty
import re
import select
import sys
import termios
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from time import monotonic
from typing import NamedTuple

from click import echo
from textual.app import App, ComposeResult
from textual.widgets import Static

from bench.alarming import show
from livedeck.cli.screenshots import EVENING
from livedeck.cli.wiring import SystemClock
from livedeck.monitor import Clock, Snapshot
from livedeck.ui.wallboard.app import Wallboard
from livedeck.ui.wallboard.layout import Wall
from ui.wall_stage import evening, many

TILES, CELLS, LINES = 24, 240, 67
ALARMS = 80
SHARE = 0.5 / 1.7
"""Share of the load of 24 Static widgets in the same run (performance.md, "Budgets": 1.7 %), because a load alone
measures the machine."""
START = 15.0
"""Seconds until all have started and painted."""


class Still(SystemClock):
    """Clock of a wall that stands still: every byte that is sent now is wasted."""

    def __init__(self) -> None:
        self._at = EVENING

    def now(self) -> datetime:
        """Return the same second each time."""
        return self._at

    async def sleep(self, seconds: float) -> None:
        """Sleep for that many real seconds."""
        await asyncio.sleep(seconds)


class Shifted(SystemClock):
    """Clock with this machine's seconds, counted from the evening on."""

    def __init__(self) -> None:
        self._ahead = EVENING - datetime.now(UTC).replace(microsecond=0)

    def now(self) -> datetime:
        """Return the aware time, in UTC."""
        return super().now() + self._ahead


class Statics(App[None]):
    """The baseline: a widget for each tile, updated once a second. `ticking`: with another text each time."""

    CSS = "Screen { layout: grid; grid-size: 6 4; } Static { border: solid grey; }"

    def __init__(self, *, ticking: bool) -> None:
        super().__init__()
        self._ticking, self._count = ticking, 0

    def compose(self) -> ComposeResult:
        for _ in range(TILES):
            yield Static()

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        self._count += self._ticking
        for widget in self.query(Static):
            widget.update(f"ON AIR\nMorning service\n00:{self._count // 60:02}:{self._count % 60:02}\n" + "x" * 30)


class OnlyClock(App[None]):
    """The least that Textual can do each second: eight letters."""

    def compose(self) -> ComposeResult:
        yield Static("00:00:00")

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        self.query_one(Static).update(f"{datetime.now(UTC):%H:%M:%S}")


async def _wall(clock: Clock, *, tiles: int, snapshots: AsyncGenerator[Snapshot, None]) -> None:
    wall = Wall(tiles=tiles, scale=1 if tiles else 0, zone=UTC)
    await Wallboard(snapshots, clock, wall, theme="dark").run_async(mouse=False)


async def _held(snapshot: Snapshot) -> AsyncGenerator[Snapshot, None]:
    """Yield one snapshot, which stays fresh for an hour."""
    yield replace(snapshot, link=replace(snapshot.link, interval=3600.0))
    await asyncio.Event().wait()


def _child(what: str, told: int) -> None:
    """Run the measured process `what` until it is ended."""
    snapshot = asyncio.run(evening())
    crowd = replace(many(snapshot, TILES), alarms=())
    if what == "alarm":
        asyncio.run(show(told))
    elif what.startswith("static"):
        Statics(ticking=what == "static").run(mouse=False)
    elif what == "clock":
        OnlyClock().run(mouse=False)
    else:
        clock = Still() if what == "still" else Shifted()
        asyncio.run(_wall(clock, tiles=0 if what == "grid" else TILES, snapshots=_held(crowd)))


class Child(NamedTuple):
    """A process behind a pseudo terminal, and the descriptor of its lines."""

    pid: int
    master: int
    told: int


@contextmanager
def _started(what: str) -> Iterator[Child]:
    hears, tells = os.pipe()
    pid, master = pty.fork()
    if not pid:
        os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        termios.tcsetwinsize(0, (LINES, CELLS))
        _child(what, tells)
        os._exit(0)
    os.close(tells)
    try:
        yield Child(pid, master, hears)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(master)
        os.close(hears)


def _processor(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _drained(children: Sequence[Child], seconds: float) -> list[int]:
    """Return the bytes from each child within `seconds`."""
    end, counts = monotonic() + seconds, dict.fromkeys((child.master for child in children), 0)
    while (left := end - monotonic()) > 0:
        for master in select.select([*counts], [], [], left)[0]:
            counts[master] += len(os.read(master, 1 << 16))
    return list(counts.values())


class Cost(NamedTuple):
    """Cost of a process: bytes a second, and the share of a processor."""

    bytes: float
    load: float


def measured(apps: Sequence[str], seconds: float) -> list[Cost]:
    """Return the cost of those apps at rest, all at the same time, after they have started and painted."""
    with ExitStack() as stack:
        children = [stack.enter_context(_started(what)) for what in apps]
        _drained(children, START)
        before = [_processor(child.pid) for child in children]
        counts = _drained(children, seconds)
        loads = [_processor(child.pid) - spent for child, spent in zip(children, before, strict=True)]
    return [Cost(count / seconds, load / seconds) for count, load in zip(counts, loads, strict=True)]


class Terminal:
    """The text on the terminal of a child, which is sent only the changed cells."""

    _SENT = re.compile(r"\x1b\[(?P<line>\d+);(?P<cell>\d+)H|\x1b(?:[@-Z\\^_]|\[[0-?]*[ -/]*[@-~])|(?P<text>[^\x1b]+)")

    def __init__(self) -> None:
        self._cells = [[" "] * CELLS for _ in range(LINES)]
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._rest, self._line, self._cell = "", 0, 0

    def take(self, sent: bytes) -> None:
        """Take the next bytes."""
        text, end = self._rest + self._decode(sent), 0
        for found in self._SENT.finditer(text):
            end = found.end()
            if found["line"]:
                self._line, self._cell = int(found["line"]) - 1, int(found["cell"]) - 1
            for cell in found["text"] or "":
                self._cells[min(self._line, LINES - 1)][min(self._cell, CELLS - 1)] = cell
                self._cell += 1
        self._rest = text[end:]

    def shows(self, text: str) -> bool:
        """Return whether a line contains `text`."""
        return any(text in "".join(line) for line in self._cells)


class Late(NamedTuple):
    """Milliseconds from an answer with a fault to its words on the wall: at the terminal, and in processor time."""

    wall: float
    processor: float


def latencies() -> list[Late]:
    """Return the delays of many alarms while 200 events are polled."""
    with _started("alarm") as child:
        terminal, told, came = Terminal(), b"", dict[str, float]()
        end = monotonic() + 3 * ALARMS
        while len(came) < ALARMS and monotonic() < end:
            ready, _, _ = select.select([child.told, child.master], [], [], 1.0)
            told += os.read(child.told, 1 << 16) if child.told in ready else b""
            if child.master in ready:
                taken, at = os.read(child.master, 1 << 16), monotonic()
                terminal.take(taken)
                came |= {fault: at for fault in _served(told) - came.keys() if terminal.shows(fault)}
    lines = [line.split() for line in told.decode().splitlines()]
    served = {fault: (float(at), float(spent)) for what, fault, at, spent in lines if what == "served"}
    sent = {fault: float(spent) for what, fault, _, spent in lines if what == "sent"}
    return [
        Late((came[fault] - at) * 1000, (sent[fault] - spent) * 1000)
        for fault, (at, spent) in served.items()
        if fault in came and fault in sent
    ]


def _served(told: bytes) -> set[str]:
    return {line.split()[1] for line in told.decode().splitlines() if line.startswith("served") and line.count(" ") > 2}


def main() -> int:
    """Print the figures and whether the budgets are kept. Return 1 if one is not, else 0."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=20.0)
    seconds = arguments.parse_args().seconds
    apps = ("static", "static-same", "clock", "wall", "grid", "still")
    static, unchanged, clock, wall, grid, still = measured(apps, seconds)
    echo(f"{CELLS}x{LINES}, {TILES} tiles, one tick a second, {seconds:.0f} s")
    echo(f"  24 Static, changing    {static.bytes:8.0f} B/s  {static.load:6.2%} of a processor")
    echo(f"  24 Static, unchanged   {unchanged.bytes:8.0f} B/s  {unchanged.load:6.2%}")
    echo(f"  Textual and a clock    {clock.bytes:8.0f} B/s  {clock.load:6.2%}")
    echo(f"  wall, every clock      {wall.bytes:8.0f} B/s  {wall.load:6.2%}   {wall.load / clock.load:.2f} x the clock")
    echo(f"  the same in a grid     {grid.bytes:8.0f} B/s  {grid.load:6.2%}   {grid.load / clock.load:.2f} x the clock")
    echo(f"  wall, nothing changes  {still.bytes:8.0f} B/s  {still.load:6.2%}")
    late = latencies()
    p99 = Late(*(quantiles(one, n=100, method="inclusive")[98] for one in zip(*late, strict=True)))
    middle = Late(*(median(one) for one in zip(*late, strict=True)))
    echo(f"  answer to terminal, 200 events, {len(late)} alarms: processor time median {middle.processor:.1f} ms,")
    echo(f"    p99 {p99.processor:.1f} ms; on the wall median {middle.wall:.1f} ms, p99 {p99.wall:.1f} ms")
    budgets = {
        "8: nothing is sent when nothing changes": still.bytes == 0,
        f"8: at most {SHARE:.2f} x 24 Static, which is 0.5 % where they take 1.7 %": wall.load <= SHARE * static.load,
        "9: at most 3 kB a tick": max(wall.bytes, grid.bytes) <= 3000,
        "10: at most 50 ms p99, on the wall": p99.wall <= 50 and len(late) == ALARMS,
    }
    for name, kept in budgets.items():
        echo(f"  {'kept  ' if kept else 'BROKEN'} {name}")
    return int(not all(budgets.values()))


if __name__ == "__main__":
    sys.exit(main())
