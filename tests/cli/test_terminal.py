"""The deck in a real terminal: it paints, it moves, it survives its platform, and it leaves the terminal as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from cli.commands import LIVEDECK, PATIENCE, environment, served
from cli.crashing import SECRET

RESTORED = ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?1000h", b"\x1b[?1000l"))
"""Alternate screen, hidden cursor, mouse: how each goes on and off."""


LEAVING = 5
"""Seconds in which the process is gone, whatever ended it."""


class Terminal:
    """A process behind a pseudo terminal, and all that it ever wrote."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process, self.written, self._master = process, b"", master

    def until(self, pattern: str) -> str:
        """Read until that text was written since the last call; what colours it is skipped. Returns its last group."""
        start, end = len(self.written), monotonic() + PATIENCE
        while not (found := re.search(pattern, _words(self.written[start:]))):
            assert monotonic() < end, f"{pattern!r} never came: {_words(self.written[start:])[-2000:]}"
            if not self._read():
                raise AssertionError(f"it ended before {pattern!r}: {_words(self.written)[-2000:]}")
        return found[found.lastindex or 0]

    def until_raw(self, pattern: bytes) -> None:
        """Read until those bytes were written at all."""
        while not re.search(pattern, self.written):
            assert self._read(), f"it ended before {pattern!r}"

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def close(self) -> None:
        """As a window is closed: nobody reads any more, and the session is told."""
        os.close(self._master)
        self._master = -1

    def closed(self) -> bool:
        return self._master < 0

    def ended(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        assert ready, "nothing was written for too long"
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.written += data
        return bool(data)


def _words(data: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode("utf-8", "replace"))


@contextmanager
def terminal(
    home: Path, *arguments: str, size: tuple[int, int] = (120, 40), program: Sequence[str] = LIVEDECK, **env: str
) -> Iterator[Terminal]:
    """`livedeck`, or another program, in a terminal of that many columns and rows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    process = subprocess.Popen(
        [*program, *arguments],
        env=environment(home, **{"COLORTERM": "truecolor", **env}),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    shown = Terminal(process, master)
    try:
        yield shown
    finally:
        process.kill()
        process.wait(PATIENCE)
        if not shown.closed():
            os.close(master)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=["80x24", "120x40", "200x60"])
def test_the_demo_shows_both_screens_and_moves(tmp_path: Path, size: tuple[int, int]) -> None:
    with terminal(tmp_path, "demo", size=size) as deck:
        deck.until("POOR")  # the samples came: the worst event is first, and one with a picture
        deck.press("3")
        deck.until("video Mbit/s")
        first = deck.until(r"as of (\d\d:\d\d:\d\d)Z")
        deck.until(rf"(?!{first})\d\d:\d\d:\d\d")  # new samples, another time
        deck.press("q")
        assert deck.ended() == 0


@pytest.mark.parametrize(
    ("leave", "code"),
    [("q", 0), ("\x03", 0), (signal.SIGTERM, 128 + 15), (signal.SIGHUP, 128 + 1), (signal.SIGINT, 128 + 2)],
    ids=["q", "ctrl-c", "SIGTERM", "SIGHUP", "SIGINT"],
)
def test_the_terminal_is_left_as_it_was_found(tmp_path: Path, leave: str | signal.Signals, code: int) -> None:
    with terminal(tmp_path, "demo", size=(80, 24)) as deck:
        deck.until("Morning service")
        if isinstance(leave, str):
            deck.press(leave)
        else:
            deck.process.send_signal(leave)
        assert deck.ended() == code
        for on, off in RESTORED:
            assert deck.written.rfind(on) < deck.written.rfind(off)
        assert b"Traceback" not in deck.written


@pytest.mark.parametrize(
    ("arguments", "env", "codes"),
    [
        ((), {"NO_COLOR": "1"}, r"(?!)"),
        ((), {"TERM": "xterm-16color", "COLORTERM": ""}, r"(3|4|9|10)[0-7]|39|49"),
        (("--ascii", "--theme", "mono"), {}, r"(?!)"),
    ],
    ids=["NO_COLOR", "16 colours", "ascii"],
)
def test_a_terminal_gets_the_colours_that_it_can_show(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], codes: str
) -> None:
    """interface.md, Never by colour alone: NO_COLOR means no colour codes."""
    with terminal(tmp_path, "demo", *arguments, size=(80, 24), **env) as deck:
        deck.until("Morning service.*POOR")
        deck.press("3")
        deck.until("video Mbit/s")
        deck.press("q")
        assert deck.ended() == 0
    styles = {code for sent in re.findall(rb"\x1b\[([\d;]*)m", deck.written) for code in sent.decode().split(";")}
    colours = {code for code in styles if code and int(code) >= 30}
    assert not [code for code in colours if not re.fullmatch(codes, code)]
    assert deck.written.isascii() == ("--ascii" in arguments)


def test_a_fault_of_its_own_leaves_the_terminal_as_it_was_and_shows_no_variable(tmp_path: Path) -> None:
    """interface.md, Leaving: the crash text has no local variables."""
    with terminal(tmp_path, program=[sys.executable, str(Path(__file__).with_name("crashing.py"))]) as deck:
        deck.until("livedeck ended with RuntimeError")
        deck.ended()
        for on, off in RESTORED:
            assert deck.written.rfind(on) < deck.written.rfind(off)
        assert SECRET.encode() not in deck.written


def test_a_deck_whose_terminal_is_gone_goes_too(tmp_path: Path) -> None:
    """interface.md, Leaving: no process stays behind a closed window."""
    with terminal(tmp_path, "demo", size=(80, 24)) as deck:
        deck.until("Morning service")
        deck.close()
        assert deck.process.wait(LEAVING)  # 129; or Python's 120, for streams that nobody takes


def test_a_deck_whose_errors_go_elsewhere_says_why_it_shows_no_screen(tmp_path: Path) -> None:
    """It would draw there, and the terminal would stay empty."""
    errors = tmp_path / "errors"
    with terminal(tmp_path, "demo", program=["sh", "-c", 'exec "$@" 2>"$0"', str(errors), *LIVEDECK]) as deck:
        deck.until("Morning service")
        assert deck.ended() == 0
    assert "standard error is not a terminal; printing the status" in errors.read_text("utf-8")


def test_a_terminal_of_one_cell_is_survived(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo", size=(1, 1)) as deck:
        deck.until_raw(rb"\x1b\[\?1049h")
        deck.resize(80, 24)
        deck.until("Morning service")
        deck.resize(1, 1)
        deck.press("q")
        assert deck.ended() == 0
        assert b"Traceback" not in deck.written


def test_without_settings_the_first_start_leads_to_the_demo(tmp_path: Path) -> None:
    with terminal(tmp_path, size=(80, 24)) as deck:
        deck.until("knows no platform yet")
        deck.press("\r")
        deck.until("Morning service")
        deck.press("q")
        assert deck.ended() == 0


def test_a_deck_that_was_suspended_comes_back_whole(tmp_path: Path) -> None:
    """The action "app.suspend", and the way back."""
    with terminal(tmp_path, "demo", size=(80, 24)) as deck:
        deck.until("Morning service")
        deck.process.send_signal(signal.SIGTSTP)
        deck.until_raw(rb"\x1b\[\?1049l")
        os.waitid(os.P_PID, deck.process.pid, os.WSTOPPED)  # a SIGCONT before it stands still would be lost
        deck.process.send_signal(signal.SIGCONT)
        deck.until(r"(?s)1 Events.*TALLY.*Morning service.*restreams.*quit")
        deck.press("q")
        assert deck.ended() == 0


def test_a_deck_whose_platform_stops_says_so_answers_keys_and_recovers_by_itself(tmp_path: Path) -> None:
    with served(tmp_path) as (process, service):
        address = service["base_url"]
        port, token = address.rpartition(":")[2], service["token"]
        with terminal(tmp_path, LIVEDECK_BASE_URL=address, LIVEDECK_TOKEN=token) as deck:
            deck.until("Morning service")
            process.kill()
            process.wait(PATIENCE)
            deck.until(r"NO ANSWER since .*data from")
            deck.press("?")
            deck.until("SCREENS")
            deck.press("q")
            with served(tmp_path, "--port", port):
                deck.press("r")
                deck.until("link ok")
                deck.press("q")
                assert deck.ended() == 0
