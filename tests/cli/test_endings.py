"""Every end of a full screen restores the terminal, has the documented exit code, and leaves no process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import pytest

from breadth import slow_rows
from cli.commands import TIMEOUT, environment
from cli.starts import LIVEDECK
from cli.terminals import Terminal, terminal

NOWHERE = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9", "LIVEDECK_TOKEN": "t" * 20}
"""Settings of a platform that never replies. A screen is shown all the same."""

SCREENS = {"deck": (), "wall": ("wall",)}

ON_AT_REST = {b"7", b"25"}
"""Private modes of a terminal that nobody uses: wrapping, cursor."""

ENDINGS = {
    "q": 0, "\x03": 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGQUIT: 131,
}  # fmt: skip

RARE = (
    signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU,
    signal.SIGIO, signal.SIGPWR,
)  # fmt: skip


@contextmanager
def screen(home: Path, name: str, size: tuple[int, int] = (80, 24)) -> Iterator[Terminal]:
    """Yield a screen once it is drawn."""
    with terminal(home, *SCREENS[name], size=size, **NOWHERE) as shown:
        shown.until("NO REPLY")
        yield shown


def assert_clean(shown: Terminal) -> None:
    """Check that the line discipline is restored and all modes of the terminal are reset."""
    assert shown.modes() == shown.modes_found
    for mode in set(re.findall(rb"\x1b\[\?(\d+)h", shown.written)):
        last = re.findall(rb"\x1b\[\?" + mode + rb"([hl])", shown.written)[-1]
        assert last == (b"h" if mode in ON_AT_REST else b"l"), f"mode {mode.decode()} is left on"
    assert shown.written.count(b"\x1b[<u") >= len(re.findall(rb"\x1b\[>\d+u", shown.written))  # keyboard protocol
    assert not re.search(rb"(?s)Traceback.*livedeck/cli", shown.written)  # Python's own first steps are not ours


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("ending", ENDINGS, ids=repr)
def test_an_ending_leaves_the_terminal_as_it_was_found(tmp_path: Path, name: str, ending: str | signal.Signals) -> None:
    """interface.md, "Leaving"; commands.md, "Exit codes"."""
    with screen(tmp_path, name) as shown:
        if isinstance(ending, str):
            shown.press(ending)
        else:
            shown.process.send_signal(ending)
        assert shown.ended() == ENDINGS[ending]
        assert_clean(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("number", RARE, ids=repr)
def test_a_signal_that_nobody_sends_leaves_the_terminal_as_it_was_found(
    tmp_path: Path, name: str, number: signal.Signals
) -> None:
    with screen(tmp_path, name) as shown:
        shown.process.send_signal(number)
        assert shown.ended() == 128 + number
        assert_clean(shown)


@pytest.mark.parametrize("name", SCREENS)
def test_a_stop_by_systemd_ends_it(tmp_path: Path, name: str) -> None:
    """`systemctl stop` sends SIGCONT right behind SIGTERM, for a process that stands still would not hear that."""
    with screen(tmp_path, name) as shown:
        shown.process.send_signal(signal.SIGTERM)
        shown.process.send_signal(signal.SIGCONT)
        assert shown.ended() == 143
        assert_clean(shown)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_that_was_stopped_unasked_takes_the_terminal_anew(tmp_path: Path, name: str) -> None:
    """SIGSTOP is not heard: the shell has set its own modes meanwhile, and has written over the screen."""
    with screen(tmp_path, name) as shown:
        shown.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, shown.process.pid, os.WSTOPPED)
        raw = shown.modes()
        shown.set_modes(shown.modes_found)
        shown.process.send_signal(signal.SIGCONT)
        shown.until_raw(rb"(?s)\x1b\[\?1049h.*\x1b\[\?1049h")
        shown.until("NO REPLY")
        assert shown.modes() == raw
        shown.press("q")
        assert shown.ended() == 0
        assert_clean(shown)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_that_is_suspended_and_ended_is_gone_once_it_goes_on(tmp_path: Path, name: str) -> None:
    with screen(tmp_path, name) as shown:
        shown.process.send_signal(signal.SIGTSTP)
        shown.until_raw(rb"\x1b\[\?1049l")
        os.waitid(os.P_PID, shown.process.pid, os.WSTOPPED)
        assert shown.modes() == shown.modes_found
        shown.process.send_signal(signal.SIGTERM)
        shown.process.send_signal(signal.SIGCONT)
        assert shown.ended() == 143
        assert_clean(shown)


@pytest.mark.parametrize("name", SCREENS)
def test_a_terminal_that_nobody_reads_holds_no_ending_up(tmp_path: Path, name: str) -> None:
    """A window whose other side stands still takes a few kilobytes; whoever writes more waits for ever."""
    with screen(tmp_path, name, size=(200, 60)) as shown:
        shown.fill(200, 60)
        shown.process.send_signal(signal.SIGTERM)
        assert shown.process.wait(TIMEOUT) == 143
        assert shown.ended() == 143
        assert_clean(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=repr)
@pytest.mark.parametrize("after", [at / 20 for at in range(1, 28)])
def test_a_start_can_be_ended_at_any_moment(tmp_path: Path, name: str, number: signal.Signals, after: float) -> None:
    """Until a screen is drawn a signal ends it as it ends any program: by the signal itself, without a word."""
    with terminal(tmp_path, *SCREENS[name], size=(80, 24), **NOWHERE) as shown:
        sleep(after)  # the moment is what is tried
        shown.process.send_signal(number)
        assert shown.ended() in {128 + number, -number}
        assert b"Aborted" not in shown.written
        assert_clean(shown)


def test_a_terminal_that_hung_up_before_anybody_listened_ends_the_screen(tmp_path: Path) -> None:
    """Where it is nobody's controlling terminal no SIGHUP comes either."""
    master, slave = os.openpty()
    program = (
        "import asyncio, sys; from livedeck.cli.process import end_on_signals; sys.stdin.readline()\n"
        "async def wait() -> int:\n"
        "    left = asyncio.get_running_loop().create_future()\n"
        "    with end_on_signals(left.set_result, lambda: None):\n"
        "        return await left\n"
        "sys.exit(asyncio.run(wait()))"
    )
    with subprocess.Popen([sys.executable, "-c", program], env=environment(tmp_path), stdin=slave) as process:
        os.close(slave)
        os.close(master)
        try:
            assert process.wait(TIMEOUT) == 128 + signal.SIGHUP
        finally:
            process.kill()


def test_ctrl_c_before_anything_is_drawn_says_nothing(tmp_path: Path) -> None:
    """Click would say "Aborted!" and end with 1."""
    program = (
        "import os, signal; from livedeck import cli; from livedeck.__main__ import start; "
        "cli.main = lambda **_: os.kill(os.getpid(), signal.SIGINT); start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), capture_output=True, timeout=TIMEOUT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize(
    ("redirection", "code", "says"),
    [
        ("docs <&-", 0, ""),
        ("docs >/dev/full", 1, "standard output: No space left on device"),
        ("--help >/dev/full", 1, "standard output: No space left on device"),
        ("docs >&-", 1, "standard output is closed"),
        ("docs 2>&-", 0, ""),
        ("docs <&- >/dev/null 2>&-", 0, ""),
        ("status <&-", 4, "127.0.0.1:9"),
        ("<&-", 4, "standard input is closed"),
        ("demo --read-only <&- >/dev/full", 1, "standard output: No space left on device"),
        *slow_rows(
            ("status >/dev/full", 4, "127.0.0.1:9"),
            ("status --json >/dev/full", 1, "standard output: No space left on device"),
            ("wallboard <&-", 4, "standard input is closed"),
        ),
    ],
)
def test_standard_streams_that_are_closed_or_full_are_told_in_a_line(
    tmp_path: Path, redirection: str, code: int, says: str
) -> None:
    """commands.md, "Standard streams"."""
    done = subprocess.run(
        ["sh", "-c", f"{' '.join(LIVEDECK)} {redirection}"],
        env=environment(tmp_path, **NOWHERE),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert says in done.stderr
