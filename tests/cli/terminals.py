"""Process behind a pseudo terminal: reads its output and presses keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from cli.commands import TIMEOUT, environment
from cli.starts import LIVEDECK, Start

RESTORED = ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?1000h", b"\x1b[?1000l"))
"""Sequences that switch alternate screen, hidden cursor and mouse on and off."""


class Terminal:
    """Process behind a pseudo terminal, and its whole output."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, modes_found: list[Any], path: str) -> None:
        self.process, self.written, self._master = process, b"", master
        self.modes_found, self._path = modes_found, path

    def until(self, pattern: str) -> str:
        """Read until the output since the call matches `pattern`, apart from colours.

        Returns the last group of the match.
        """
        start, end = len(self.written), monotonic() + TIMEOUT
        while not (found := re.search(pattern, _words(self.written[start:]))):
            assert monotonic() < end, f"{pattern!r} never came: {_words(self.written[start:])[-2000:]}"
            if not self._read():
                raise AssertionError(f"it ended before {pattern!r}: {_words(self.written)[-2000:]}")
        return found[found.lastindex or 0]

    def until_raw(self, pattern: bytes) -> None:
        """Read until the whole output matches `pattern`."""
        end = monotonic() + TIMEOUT
        while not re.search(pattern, self.written):
            assert monotonic() < end, f"{pattern!r} never came"
            assert self._read(), f"it ended before {pattern!r}"

    def pause(self, seconds: float) -> None:
        """Read for `seconds`, like a person who looks before the next key, and then until the process is at rest.

        On a busy machine, the process may still handle the last key after that time.
        """
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0 and select.select([self._master], [], [], left)[0]:
            self._read()
        while not self._is_at_rest():
            assert monotonic() < end + TIMEOUT, "it never rests"
            if select.select([self._master], [], [], 0.03)[0] and not self._read():
                return

    def _is_at_rest(self) -> bool:
        """Return whether all threads of the process sleep, and none ran while they were looked at."""
        before, after = (_threads(self.process.pid) for _ in range(2))
        return before == after and all(state in "SZXT" for state, _ in after)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def press_slowly(self, data: bytes) -> None:
        """Write data in portions that the terminal takes, and read the output meanwhile."""
        while data:
            ready, room, _ = select.select([self._master], [self._master], [], TIMEOUT)
            assert ready or room, "it neither reads nor writes"
            if ready:
                self._read()
            if room:
                data = data[os.write(self._master, data[:1024]) :]

    def press_until(self, keys: str, pattern: str) -> None:
        """Press keys again and again until the output matches: a dialog ignores keys in its first moments."""
        start, end = len(self.written), monotonic() + TIMEOUT
        while not re.search(pattern, _words(self.written[start:])):
            assert monotonic() < end, f"{pattern!r} never came: {_words(self.written[start:])[-2000:]}"
            self.press(keys)
            self.pause(2.0)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def modes(self) -> list[Any]:
        """Return the modes of the terminal as `tcgetattr` does."""
        return termios.tcgetattr(self._master)

    def set_modes(self, modes: list[Any]) -> None:
        """Set the modes of the terminal, as a shell does when it has the terminal back."""
        termios.tcsetattr(self._master, termios.TCSANOW, modes)

    def fill(self, columns: int, rows: int) -> None:
        """Redraw the screen, without reading, until the terminal takes no more output."""
        end = monotonic() + TIMEOUT
        side = os.open(self._path, os.O_WRONLY | os.O_NOCTTY)
        while select.select([], [side], [], 0)[1]:
            assert monotonic() < end, "it takes ever more"
            columns ^= 1
            self.resize(columns, rows)
            select.select([], [], [], 0.05)
        os.close(side)

    def close(self) -> None:
        """Close the terminal as a window does: the session gets a hangup, and nobody reads any more."""
        os.close(self._master)
        self._master = -1

    def closed(self) -> bool:
        return self._master < 0

    def ended(self, within_seconds: float = TIMEOUT) -> int:
        """Read to the end of the process. Returns its exit code."""
        end = monotonic() + within_seconds
        while self._read(within_seconds):
            assert monotonic() < end, f"it goes on: {_words(self.written)[-2000:]}"
        return self.process.wait(within_seconds)

    def _read(self, within_seconds: float = TIMEOUT) -> bool:
        ready, _, _ = select.select([self._master], [], [], within_seconds)
        assert ready, "nothing was written for too long"
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.written += data
        return bool(data)


def _threads(pid: int) -> list[tuple[str, str]]:
    """Return the state of each thread, and its switches to and from a processor; empty where nothing tells of them."""
    found = list[tuple[str, str]]()
    for path in Path(f"/proc/{pid}/task").glob("*/status"):
        with suppress(OSError):  # it has ended
            text = path.read_text()
            found.append((re.findall(r"(?m)^State:\t(.)", text)[0], "".join(re.findall(r"(?m)^\w*ctxt.*$", text))))
    return found


def _words(data: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode("utf-8", "replace"))


@contextmanager
def terminal(
    home: Path, *arguments: str, size: tuple[int, int] = (120, 40), program: Sequence[str] = LIVEDECK, **env: str
) -> Iterator[Terminal]:
    """Yield `livedeck`, or another program, in a terminal of that size in columns and rows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    modes_found, path = termios.tcgetattr(slave), os.ttyname(slave)
    process: subprocess.Popen[bytes] = Start(
        [*program, *arguments],
        env=environment(home, **{"COLORTERM": "truecolor", **env}),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    shown = Terminal(process, master, modes_found, path)
    try:
        yield shown
    finally:
        process.kill()
        process.wait(TIMEOUT)
        if not shown.closed():
            os.close(master)
