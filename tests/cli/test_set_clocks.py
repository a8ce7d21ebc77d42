"""Real programs on a machine whose clock is set, or that sleeps (monitoring.md, "Clock steps")."""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.foreign import ForeignPlatform, foreign_platform
from cli.programs import Programs, programs, settings, words
from cli.starts import LIVEDECK
from cli.terminals import terminal

HOUR, SLEEP = 3600.0, 600.0
SOURCE = Path(__file__).with_name("set_clock.c")
EXPECTED = {"MACHINE_CLOCK", "CLOCK_SKEW"}
"""Kinds that may be raised on such a machine: none is an event's."""


class Machine:
    """Clocks of the programs that are started with `env`."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None or os.uname().sysname != "Linux":
            pytest.skip("a clock of their own for real programs needs a C compiler, and the loader of Linux")
        self._file, library = folder / "clocks", folder / "set_clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        self.set(0.0, 0.0)
        self.env = {"LD_PRELOAD": str(library), "CLOCKS_FILE": str(self._file)}

    def set(self, wall: float, boot: float = 0.0) -> None:
        """Set the clocks ahead of the true ones by these seconds, from now on."""
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("qq", round(wall * 1e9), round(boot * 1e9)))


def set_by(seconds: float) -> Callable[[Machine, ForeignPlatform, Programs], None]:
    return lambda machine, _platform, _running: machine.set(seconds)


def sleep(machine: Machine, platform: ForeignPlatform, _running: Programs) -> None:
    """Let the machine sleep while the platform goes on."""
    platform.ahead = SLEEP
    machine.set(SLEEP, SLEEP)


def stop(_machine: Machine, _platform: ForeignPlatform, running: Programs) -> None:
    """Stop deck and wall, as ctrl-z does."""
    for stopped in (running.deck, running.wall):
        stopped.process.send_signal(signal.SIGSTOP)
    running.live(40)
    for stopped in (running.deck, running.wall):
        stopped.process.send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("happen", "is_told_as"),
    [
        (set_by(HOUR), "this machine's clock was set 01:00:00 forward at"),
        (set_by(-HOUR), "this machine's clock was set 01:00:00 back at"),
        (set_by(2.0), "this machine's clock was set 2 s forward at"),
        (set_by(-2.0), "this machine's clock was set 2 s back at"),
        (sleep, r"this machine slept 1\d:\d\d, until"),
        (stop, r"this machine slept \d\d s, until"),
    ],
    ids=["hour-forward", "hour-back", "2s-forward", "2s-back", "sleep", "stopped"],
)
def test_no_event_is_blamed_for_the_machines_clock(
    tmp_path: Path, happen: Callable[[Machine, ForeignPlatform, Programs], None], is_told_as: str
) -> None:
    machine = Machine(tmp_path)
    with foreign_platform() as platform, programs(tmp_path, platform, (120, 40), **machine.env) as running:
        running.live(20)
        happen(machine, platform, running)
        running.live(30)
        running.deck.press("p")  # FROZEN: what is shown, whole, for a look at the ages
        assert running.event_criticals() == []
        assert running.kinds_shown() <= EXPECTED
        assert re.search(is_told_as, words(running.deck.written))


def test_a_clock_that_is_set_an_hour_forward_is_told_as_that_by_a_running_deck(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with ExitStack() as stack:
        platform = stack.enter_context(foreign_platform())
        env = settings(platform) | machine.env
        deck = stack.enter_context(terminal(tmp_path, size=(120, 40), program=LIVEDECK, **env))
        deck.until("100 GOOD")
        machine.set(HOUR)
        deck.until("this machine's clock was set 01:00:00 forward at [0-9:]+Z: ages stay right")
        assert not re.search("LOST|RECONNECTING|PLATFORM|STALE", words(deck.written))
        deck.press("q")
        assert deck.ended() == 0
