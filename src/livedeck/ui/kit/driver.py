"""Driver of a terminal in full screen. It takes and returns the terminal once, whatever signals arrive.

See interface.md, "Leaving". The module uses a private name of Textual, `XTermParser` (decisions.md, "Private Textual
names").
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from codecs import getincrementaldecoder
from contextlib import suppress
from select import select
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from livedeck.ui.kit.control_strings import TITLE
from livedeck.ui.kit.input_filter import PasteFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.message import Message

try:
    from textual._xterm_parser import XTermParser
except ImportError:  # another version of Textual: it reads the terminal itself
    XTermParser = None  # type: ignore[assignment,misc]

R = TypeVar("R")

MAX_READ_BYTES = 4096

READ_SECONDS = 0.1
"""Maximum wait for input, in seconds. Then Textual checks whether an escape was a key and whether the app ends."""

INTERRUPTED = 128 + signal.SIGINT
"""Exit code after ctrl-c, as in shells."""

KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b]2;\x07\x1b[23;2t"
"""Control strings that make the terminal save and restore its window title.

A terminal without support for them has no title afterwards, until the shell sets one at the next prompt.
"""


class TerminalDriver(LinuxDriver):
    """Textual's driver with guards against repeated starts and stops.

    Textual's driver starts again at each SIGCONT, and `systemctl stop` sends a SIGCONT after SIGTERM. Textual's driver
    would then save the modes of the screen as modes of the shell, and leave the shell with them. This driver handles
    both signals between two steps of the event loop, so never during a write.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_over = self._has_titled = False
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._stand_still)
        loop.add_signal_handler(signal.SIGCONT, self._go_on)

    def write(self, data: str) -> None:
        """Write to the terminal. Before the deck's first window title, make the terminal save the current title."""
        if data.startswith(TITLE) and not self._has_titled:
            self._has_titled = True
            super().write(KEEP_TITLE)
        super().write(data)

    def run_input_thread(self) -> None:
        """Read keys as Textual does, until the terminal is given back.

        Unlike in Textual, a paste is read as text, and invalid UTF-8 does not end the app.
        """
        if XTermParser is None:
            super().run_input_thread()
            return
        parser, pastes, decode = XTermParser(), PasteFilter(), getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            if select([self.fileno], [], [], READ_SECONDS)[0]:
                typed = pastes.apply(decode(os.read(self.fileno, MAX_READ_BYTES)))
                self._hand_on(parser.feed(typed) if typed else ())  # an empty text would end the parser
            self._hand_on(parser.tick())

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def start_application_mode(self) -> None:
        """Take the terminal. Does nothing if this process has the terminal or has given it back for good."""
        if not self._is_over and not self._holds_terminal:
            super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Give the terminal back for good."""
        self._is_over = True
        if self._holds_terminal and self._has_titled:
            self._has_titled = False
            super().write(GIVE_TITLE_BACK)
        if self._holds_terminal:
            super().stop_application_mode()
            self.attrs_before = None

    def suspend_application_mode(self) -> None:
        """Give the terminal back for a while."""
        was_over = self._is_over
        super().suspend_application_mode()
        self._is_over = was_over

    @property
    def _holds_terminal(self) -> bool:
        """True if this process has the terminal. False for a process in the background of a shell.

        Textual saves the terminal's modes only when it takes the terminal.
        """
        return self.attrs_before is not None

    def _stand_still(self) -> None:
        if self._holds_terminal:
            self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGSTOP)

    def _go_on(self) -> None:
        """Take the terminal again at SIGCONT.

        A process gets no notice of a SIGSTOP, and the shell has used the terminal meanwhile.
        """
        if self._is_over:
            return
        if self._holds_terminal:
            self.suspend_application_mode()
        self.start_application_mode()
        self.send_message(self.SignalResume())


class TerminalApp(App[R]):
    """App that leaves the terminal in its previous state."""

    def __init__(self) -> None:
        super().__init__()
        self._is_ready, self._end_code = False, 0

    def on_ready(self) -> None:
        self._is_ready = True
        if self._end_code:
            self.end(self._end_code)

    def end(self, code: int) -> None:
        """Leave with the exit code `code`.

        During the start, waits until the app is ready, because Textual cannot mount an app that is leaving.
        """
        self._end_code = code
        if self._is_ready:
            self.exit(return_code=code)

    def get_driver_class(self) -> type[Driver]:
        """Return the driver with guards against repeated starts and stops."""
        return TerminalDriver

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._repaint_all)

    def _repaint_all(self, _: App[R]) -> None:
        """Repaint the whole screen after a suspension, because the terminal shows nothing of it any more."""
        for widget in self.screen.walk_children():
            widget.refresh()
        self.screen.refresh(layout=True)


GIVE_BACK = (
    "\x18"  # ends an incomplete control sequence
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l\x1b[?2026l"  # pastes, resizes, focus, an open update
    "\x1b[<u\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"  # keyboard, wrapping, colours, screen, cursor
)
"""Control strings that undo every mode that Textual sets."""

GIVE_BACK_TRIES = 100


def terminal_guard(*, has_title: bool = False) -> Callable[[], None]:
    """Return a function that gives the terminal back if the screen cannot do so any more.

    Call `terminal_guard` before a screen is drawn. The returned function never waits, and drops output that the
    terminal has not read. `has_title`: True if the screen sets the window title.
    """
    try:
        number = sys.__stdin__.fileno() if sys.__stdin__ else -1
        modes, path = termios.tcgetattr(number), os.ttyname(number)
    except (OSError, ValueError, termios.error):  # no terminal
        return lambda: None

    last = GIVE_BACK + (GIVE_TITLE_BACK if has_title else "")

    def give_back() -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nothing, stream)  # drops all later drawing
        with suppress(OSError, termios.error):  # the terminal is gone
            terminal = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)  # not the shell's own open file
            termios.tcsetattr(terminal, termios.TCSANOW, modes)
            for _ in range(GIVE_BACK_TRIES):
                termios.tcflush(terminal, termios.TCOFLUSH)
                with suppress(BlockingIOError):  # another write waits for room
                    if os.write(terminal, last.encode()) == len(last):
                        return
                for flow in (termios.TCOOFF, termios.TCOON):  # wakes the terminal
                    termios.tcflow(terminal, flow)
                sleep(0.01)

    return give_back
