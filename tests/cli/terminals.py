"""A process behind a pseudo terminal: what it writes, and what is pressed there."""

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
"""Alternate screen, hidden cursor, mouse: how each goes on and off."""


class Terminal:
    """A process behind a pseudo terminal, and all that it ever wrote."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, modes_found: list[Any], path: str) -> None:
        self.process, self.written, self._master = process, b"", master
        self.modes_found, self._path = modes_found, path

    def until(self, pattern: str) -> str:
        """Read until that text was written since the last call; what colours it is skipped. Returns its last group."""
        start, end = len(self.written), monotonic() + TIMEOUT
        while not (found := re.search(pattern, _words(self.written[start:]))):
            assert monotonic() < end, f"{pattern!r} never came: {_words(self.written[start:])[-2000:]}"
            if not self._read():
                raise AssertionError(f"it ended before {pattern!r}: {_words(self.written)[-2000:]}")
        return found[found.lastindex or 0]

    def until_raw(self, pattern: bytes) -> None:
        """Read until those bytes were written at all."""
        end = monotonic() + TIMEOUT
        while not re.search(pattern, self.written):
            assert monotonic() < end, f"{pattern!r} never came"
            assert self._read(), f"it ended before {pattern!r}"

    def pause(self, seconds: float) -> None:
        """Read for so long, as a person who looks at it before the next key, and until the process is at rest.

        On a busy machine it is still at work on the last key when those seconds are over.
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
        """As much as a terminal takes at a time, while what is drawn is read."""
        while data:
            ready, room, _ = select.select([self._master], [self._master], [], TIMEOUT)
            assert ready or room, "it neither reads nor writes"
            if ready:
                self._read()
            if room:
                data = data[os.write(self._master, data[:1024]) :]

    def press_until(self, keys: str, pattern: str) -> None:
        """Press that until it is taken: a dialog takes no answer in its first moments, however slow the machine is."""
        start, end = len(self.written), monotonic() + TIMEOUT
        while not re.search(pattern, _words(self.written[start:])):
            assert monotonic() < end, f"{pattern!r} never came: {_words(self.written[start:])[-2000:]}"
            self.press(keys)
            self.pause(2.0)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def modes(self) -> list[Any]:
        """As `tcgetattr` has them."""
        return termios.tcgetattr(self._master)

    def set_modes(self, modes: list[Any]) -> None:
        """As a shell does when it has the terminal back."""
        termios.tcsetattr(self._master, termios.TCSANOW, modes)

    def fill(self, columns: int, rows: int) -> None:
        """Have the screen drawn until the terminal, which nobody reads meanwhile, takes no more."""
        end = monotonic() + TIMEOUT
        side = os.open(self._path, os.O_WRONLY | os.O_NOCTTY)
        while select.select([], [side], [], 0)[1]:
            assert monotonic() < end, "it takes ever more"
            columns ^= 1
            self.resize(columns, rows)
            select.select([], [], [], 0.05)
        os.close(side)

    def close(self) -> None:
        """As a window is closed: nobody reads any more, and the session is told."""
        os.close(self._master)
        self._master = -1

    def closed(self) -> bool:
        return self._master < 0

    def ended(self, within_seconds: float = TIMEOUT) -> int:
        """Read to the end; the exit code."""
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
    """`livedeck`, or another program, in a terminal of that many columns and rows."""
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
