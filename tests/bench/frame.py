"""Measure the deck's budgets 1, 2, 7, 8 and 9 at a terminal (performance.md, "Budgets"), each beside its baseline.

    PYTHONPATH=src:tests python tests/bench/frame.py [--rounds 9] [--seconds 20]

The deck is a process behind a pseudo terminal of 120x40, against a `livedeck serve` of its own. The kernel's count of
processor time is compared, because neighbours on a shared machine lengthen any other time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from click import echo

if TYPE_CHECKING:
    from textual.pilot import Pilot

LINES, CELLS = 40, 120

COMPILED = TemporaryDirectory(prefix="frame-bench-")
"""Folder for bytecode during the run, because an installed package has bytecode too."""

BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Bare(App):
    def compose(self) -> ComposeResult:
        yield Static("painted")

Bare().run()
"""
"""Program of the baseline of a start."""

ROWS = (100, 1_000, 10_000)
QUIET = 0.06
"""Seconds without a byte after which a picture counts as whole."""


class Child(NamedTuple):
    """A process behind a pseudo terminal."""

    process: subprocess.Popen[bytes]
    master: int

    def processor(self) -> float:
        """Return the processor seconds of the process so far, of all its threads."""
        return time.clock_gettime((~self.process.pid << 3) | 2)  # clock_getcpuclockid(3), which Python lacks

    def read(self) -> bytes:
        """Return the next bytes. Raises RuntimeError with the exit code if the process has ended."""
        try:
            return os.read(self.master, 1 << 16)
        except OSError as error:  # Linux reports the end of a pseudo terminal as EIO
            raise RuntimeError(f"{self.process.args!r} ended with {self.process.wait(5.0)}") from error

    def until(self, text: bytes, most: float = 30.0) -> None:
        """Wait for `text`. Raises TimeoutError with the last bytes after `most` seconds."""
        seen, end = b"", time.monotonic() + most
        while text not in seen:
            if not select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no {text!r} within {most:g} s after {seen[-200:]!r}")
            seen += self.read()

    def drained(self, seconds: float, quiet: float | None = None) -> tuple[int, float]:
        """Count bytes for `seconds`, or until `quiet` seconds without one. Return count and last byte's time."""
        end, count, last = time.monotonic() + seconds, 0, time.monotonic()
        while (left := min(end - time.monotonic(), quiet or seconds)) > 0:
            if select.select([self.master], [], [], left)[0]:
                count, last = count + len(self.read()), time.monotonic()
            elif quiet:
                break
        return count, last


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPYCACHEPREFIX": COMPILED.name}


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[Child]:
    """Start Python with these arguments behind a terminal of true colour. Yield the process."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (LINES, CELLS))
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=_environment() | environment,
    )
    os.close(slave)
    try:
        yield Child(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@contextmanager
def platform() -> Iterator[dict[str, str]]:
    """Start a simulated platform. Yield the environment of a deck that finds it, without this person's settings."""
    with TemporaryDirectory() as home, started("-m", "livedeck", "serve", "--port", "0", "--json") as served:
        said = b""
        while b"}" not in said:
            said += served.read()
        address, token = (said.split(b'"%s": "' % name)[1].split(b'"')[0].decode() for name in (b"base_url", b"token"))
        yield {"LIVEDECK_BASE_URL": address, "LIVEDECK_TOKEN": token, "HOME": home, "XDG_STATE_HOME": home}


def paint(deck: dict[str, str], rounds: int) -> tuple[float, float, float]:
    """Return the median seconds to a bare app's picture, to the deck's frame (it takes keys), and to its first event.

    The first round only fills the caches.
    """
    taken: list[tuple[float, ...]] = []
    for _ in range(1 + rounds):
        with started("-c", BARE) as bare:
            bare.until(b"painted")
            bare_app = bare.processor()
        with started("-m", "livedeck", **deck) as child:
            child.until(b"2 Streams")
            frame = child.processor()
            child.until(b"Harbour webcam")
            taken.append((bare_app, frame, child.processor()))
    bare_s, frame_s, full_s = (median(column) for column in zip(*taken[1:], strict=True))
    return bare_s, frame_s, full_s


def answered(rounds: int) -> dict[str, float]:
    """Return the median seconds of `python -c pass`, of `import click`, and of a question about the command."""
    asked: dict[str, tuple[str, ...]] = {"pass": ("-c", "pass"), "click alone": ("-c", "import click")}
    asked |= {name: ("-m", "livedeck", name) for name in ("--help", "--version")}
    taken: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(1 + rounds):
        for name, arguments in asked.items():
            taken[name].append(_spent(arguments))
    return {name: median(each[1:]) for name, each in taken.items()}


def _spent(arguments: Sequence[str]) -> float:
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=_environment()) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime


def pressed(rows: int, presses: int = 60) -> tuple[float, float]:
    """Return the median ms from a key to its last byte, and of processor time. Half the keys turn a page."""
    with started(__file__, "--rows", str(rows)) as child:
        child.until(b"Harbour webcam 2", 60.0)  # only the crowd has this event
        child.drained(8.0, 1.0)
        late, spent = [], []
        for press in range(presses):
            before, at = child.processor(), time.monotonic()
            os.write(child.master, (b"j", b"\x1b[6~", b"k", b"\x1b[5~")[press % 4])
            select.select([child.master], [], [], 2.0)  # on a busy machine the first byte may take longer than QUIET
            count, last = child.drained(2.0, QUIET)
            if count:
                late.append((last - at) * 1000)
                spent.append((child.processor() - before) * 1000)
        return median(late), median(spent)


async def _crowded(rows: int) -> None:
    """Run a deck that stands still, with `rows` events."""
    from livedeck.cli.screenshots import still_deck
    from ui.wall_stage import many

    async with still_deck() as deck:

        async def crowd(pilot: Pilot[object]) -> None:
            while deck.snapshot is None:  # an earlier crowd would be replaced by the monitor's first snapshot
                await pilot.pause()
            deck.workers.cancel_all()
            deck.snapshot = many(deck.snapshot, rows) if rows else deck.snapshot
            deck.snapshot_signal.publish(None)

        await deck.run_async(mouse=False, auto_pilot=crowd)


def sent(seconds: float, *arguments: str, **environment: str) -> tuple[float, float]:
    """Return the bytes a second, and the share of a processor, of a deck that nobody touches."""
    with started(*arguments, **environment) as child:
        child.until(b"Harbour webcam", 60.0)
        child.drained(8.0)
        before = child.processor()
        count, _ = child.drained(seconds)
        return count / seconds, (child.processor() - before) / seconds


def main() -> None:
    """Print the figures and whether the budgets are kept."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--seconds", type=float, default=20.0)
    arguments.add_argument("--rows", type=int, help="be the deck that is measured")
    chosen = arguments.parse_args()
    if chosen.rows is not None:
        asyncio.run(_crowded(chosen.rows))
        return
    budgets: dict[str, bool] = {}
    spent = answered(chosen.rounds)
    for name in ("click alone", "--help", "--version"):
        echo(f"  {name:<11} {spent[name] * 1000:6.0f} ms   {spent[name] / spent['pass']:.2f} x python -c pass")
        if name != "click alone":
            budgets[f"2: {name} at most 4 x"] = spent[name] <= 4 * spent["pass"]
    with platform() as deck:
        bare, frame, full = paint(deck, chosen.rounds)
        echo(f"  first frame {frame * 1000:5.0f} ms   {frame / bare:.2f} x a bare app ({bare * 1000:.0f} ms)")
        echo(f"  whole deck  {full * 1000:5.0f} ms   {full / bare:.2f} x")
        budgets["1: first frame that answers keys at most 2.0 x"] = frame <= 2.0 * bare
        budgets["1: whole deck at most 2.4 x"] = full <= 2.4 * bare
        count, load = sent(chosen.seconds, "-m", "livedeck", **deck)
        echo(f"  on air      {count:5.0f} B/s  {load:.2%} of a processor, polling included")
        budgets["9: at most 3 kB a tick"] = count <= 3000
    count, load = sent(chosen.seconds, __file__, "--rows", "0")
    echo(f"  still       {count:5.0f} B/s  {load:.2%}")
    budgets["8: nothing is sent when nothing changes"] = count == 0
    for rows in ROWS:
        late, used = pressed(rows)
        echo(f"  key to last byte, {rows:6,} rows: {late:5.1f} ms, of processor time {used:5.1f} ms")
        budgets[f"7: at most 8 ms at {rows:,} rows"] = late <= 8
    for name, kept in budgets.items():
        echo(f"  {'kept  ' if kept else 'BROKEN'} {name}")


if __name__ == "__main__":
    main()
