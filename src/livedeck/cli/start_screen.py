"""What the terminal shows while the deck is imported: the frame of its first screen, and nothing that tells a state.

It comes before everything that takes time to import, and imports none of it (performance.md, 1). The terminal is left
as it was found, whatever happens before Textual takes it over (interface.md, Leaving).
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from livedeck.environment import why_no_screen

_LINES = (" livedeck  starting", " [1 Events]")

"""The head of the deck, where the deck will draw it."""


_OPEN, _CLOSE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?1049l\x1b[?25h"

"""The alternate screen, empty, without a cursor; and back."""


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

_USUAL = (signal.SIG_DFL, signal.default_int_handler)


class _Skeleton:
    """The one of this process. Up from `draw` until `lower`, or until `hand_over`."""

    def __init__(self) -> None:
        self._found: list[Any] | None = None

    def draw(self) -> None:
        """Draw it on the alternate screen. Keys that are pressed meanwhile are kept, and not echoed."""
        self._found = termios.tcgetattr(_in())
        silent = [*self._found]
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(_in(), termios.TCSANOW, silent)
        width = os.get_terminal_size(_out()).columns
        _write(_OPEN + "".join(f"\x1b[{row};1H{line[:width]}" for row, line in enumerate(_LINES, 1)))

    def lower(self) -> bool:
        """Leave the terminal as it was found. Returns whether the skeleton was up."""
        if not self.hand_over():
            return False
        _write(_CLOSE)
        return True

    def hand_over(self) -> bool:
        """Leave its modes as they were found, and the screen to Textual. Returns whether the skeleton was up."""
        found, self._found = self._found, None
        if found is None:
            return False
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(_in(), termios.TCSANOW, found)
        return True


_skeleton = _Skeleton()

lower, hand_over = _skeleton.lower, _skeleton.hand_over


@contextmanager
def drawn() -> Iterator[None]:
    """Keep it up while the block runs, or until Textual takes over; nothing where no screen can be shown."""
    if why_no_screen() or not _in_front():
        yield
        return
    for number, do in (*((each, _end) for each in _ENDS), (signal.SIGTSTP, _pause)):
        if signal.getsignal(number) in _USUAL:  # nohup stays nohup
            signal.signal(number, do)
    try:
        _skeleton.draw()
        yield
    finally:
        _skeleton.lower()


def _end(number: int, _: FrameType | None) -> None:
    """End as the signal would have ended us. Textual and asyncio put their own in its place."""
    _skeleton.lower()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _pause(_: int, __: FrameType | None) -> None:
    """Stand still on the terminal as it was found, and come back."""
    was_up = _skeleton.lower()
    signal.raise_signal(signal.SIGSTOP)
    if was_up:
        _skeleton.draw()


def _in_front() -> bool:
    """Whether the terminal is ours; a job in the background would be stopped by the first change of its modes."""
    try:
        return os.tcgetpgrp(_in()) == os.getpgrp()
    except OSError:  # nobody's: there is no control of jobs
        return True


def _in() -> int:
    return sys.stdin.fileno()


def _out() -> int:
    return sys.stderr.fileno()  # where Textual draws


def _write(text: str) -> None:
    """Unbuffered: a signal may come in the middle of anything."""
    with suppress(OSError):  # the terminal is gone
        os.write(_out(), text.encode())


class _Driver(LinuxDriver):
    """Takes the terminal from the skeleton, at the last moment: an app that ends before leaves it to be lowered."""

    def start_application_mode(self) -> None:
        """The screen, from here to `stop_application_mode`."""
        hand_over()
        super().start_application_mode()  # type: ignore[no-untyped-call]


def taking_over(app: App[Any]) -> None:
    """Have that app take the terminal over when it runs."""
    if app.driver_class is LinuxDriver:
        app.driver_class = _Driver


_SWITCH = 0.0005

"""Seconds after which a thread that waits gets its turn. The one that writes to the terminal needs several a picture:
at Python's own 5 ms each an alarm came 40 ms late while the answers of a round were read.
"""


_COLLECT = 700, 10, 100

"""As Python has it, but for the last: looking through all that two hundred events hold takes 25 ms, and by Python's own
10 it did so every ten seconds. What is garbage in circles is a few hundred objects by then.
"""


@contextmanager
def importing() -> Iterator[None]:
    """What is imported in the block stays: to look through it for garbage as it grows takes a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def responsive() -> None:
    """Call it when all is imported: what is loaded by then stays, and is not looked through again and again."""
    gc.freeze()
    gc.set_threshold(*_COLLECT)
    sys.setswitchinterval(_SWITCH)
