"""What is drawn while the deck is imported, in a real terminal: it is there at once, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.commands import LIVEDECK
from cli.starting import FAULT
from cli.terminals import RESTORED, Terminal, terminal

STARTING = [sys.executable, str(Path(__file__).with_name("starting.py"))]
SOMEWHERE: dict[str, Any] = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9", "LIVEDECK_TOKEN": "none"}
ALTERNATE, NORMAL = b"\x1b[?1049h", b"\x1b[?1049l"
DRAWN = b"\x1b[?1049h\x1b[?25l\x1b[2J\x1b[1;1H livedeck  starting\x1b[2;1H [1 Events]"
"""All of it: it has no colour, and nothing that could be taken for a state."""


class Starting(NamedTuple):
    """A deck that stands still in the middle of its imports, its skeleton drawn; and the terminal's modes before."""

    deck: Terminal
    modes: list[Any]
    gate: Path

    def go_on(self) -> None:
        self.gate.write_bytes(b"")

    def left_as_found(self) -> None:
        assert self.deck.written.count(NORMAL) == 1
        _restored(self.deck, self.modes)


def _restored(deck: Terminal, modes: list[Any]) -> None:
    for on, off in RESTORED:
        assert deck.written.rfind(on) <= deck.written.rfind(off)
    assert deck.modes() == modes


@contextmanager
def starting(
    home: Path, *arguments: str, program: Sequence[str] = STARTING, drawn: bytes = DRAWN, **given: Any
) -> Iterator[Starting]:
    gate = home / "gate"
    os.mkfifo(gate)
    with terminal(home, str(gate), *arguments, program=program, **{**SOMEWHERE, **given}) as deck:
        modes = deck.modes()
        deck.until_raw(re.escape(drawn) + b"$")
        yield Starting(deck, modes, gate)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_while_it_starts_leaves_the_terminal_as_it_was_found(tmp_path: Path, number: signal.Signals) -> None:
    with starting(tmp_path) as at_start:
        deck = at_start.deck
        deck.process.send_signal(number)
        assert deck.ended() == -number
        at_start.left_as_found()
        assert b"Traceback" not in deck.written


def test_a_hang_up_that_is_not_to_be_heeded_is_not(tmp_path: Path) -> None:
    """`nohup livedeck`."""
    program = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *STARTING]
    with starting(tmp_path, program=program) as at_start:
        at_start.deck.process.send_signal(signal.SIGHUP)
        at_start.deck.process.send_signal(signal.SIGTERM)
        assert at_start.deck.ended() == -signal.SIGTERM


def test_a_suspension_while_it_starts_gives_the_terminal_back_and_takes_it_again(tmp_path: Path) -> None:
    with starting(tmp_path) as at_start:
        deck = at_start.deck
        deck.process.send_signal(signal.SIGTSTP)
        deck.until_raw(re.escape(NORMAL))
        os.waitid(os.P_PID, deck.process.pid, os.WSTOPPED)  # a SIGCONT before it stands still would be lost
        at_start.left_as_found()
        deck.process.send_signal(signal.SIGCONT)
        deck.until_raw(re.escape(DRAWN) + b".+" + re.escape(DRAWN))
        at_start.go_on()
        deck.until("2 Streams")
        deck.press("q")
        assert deck.ended() == 0
        _restored(deck, at_start.modes)


def test_a_fault_while_it_starts_is_read_where_it_stays(tmp_path: Path) -> None:
    with terminal(tmp_path, FAULT, program=STARTING, **SOMEWHERE) as deck:
        modes = deck.modes()
        assert deck.ended() == 1
        _restored(deck, modes)
    drawn, _, after = deck.written.partition(NORMAL)
    assert drawn == DRAWN
    assert b"a library is broken" in after


def test_a_setting_that_cannot_be_used_is_named_where_it_stays(tmp_path: Path) -> None:
    with terminal(tmp_path, LIVEDECK_RETENTION_DAYS="never", **SOMEWHERE) as deck:
        modes = deck.modes()
        assert deck.ended() == 2
        _restored(deck, modes)
    drawn, _, after = deck.written.partition(NORMAL)
    assert drawn == DRAWN
    assert b"retention_days (LIVEDECK_RETENTION_DAYS)" in after


def test_a_token_command_finds_the_terminal_as_it_was(tmp_path: Path) -> None:
    """It may ask the person: for a passphrase, or for a finger on a key."""
    said = tmp_path / "modes"
    settings = tmp_path / "settings.toml"
    settings.write_text(
        f'base_url = "http://127.0.0.1:9"\ntoken_command = ["sh", "-c", "stty -a </proc/$PPID/fd/0 >{said}; echo t"]\n'
    )
    with terminal(tmp_path, LIVEDECK_CONFIG=str(settings)) as deck:
        deck.until("2 Streams")
        deck.press("q")
        assert deck.ended() == 0
    assert " echo " in said.read_text()
    assert re.findall(re.escape(ALTERNATE) + b"|" + re.escape(NORMAL), deck.written) == [ALTERNATE, NORMAL] * 2


def test_the_deck_goes_on_upon_the_screen_of_its_skeleton_and_hears_the_keys_of_meanwhile(tmp_path: Path) -> None:
    with starting(tmp_path) as at_start:
        deck = at_start.deck
        assert not deck.modes()[3] & termios.ECHO
        deck.press("q")
        at_start.go_on()
        assert deck.ended() == 0
        at_start.left_as_found()


@pytest.mark.parametrize(
    ("arguments", "env"),
    [((), {"NO_COLOR": "1"}), (("--theme", "mono"), {}), (("--theme", "light", "--ascii"), {})],
    ids=["NO_COLOR", "mono", "light"],
)
def test_the_skeleton_is_the_same_in_every_theme(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, Any]
) -> None:
    with starting(tmp_path, *arguments, **env) as at_start:
        assert at_start.deck.written == DRAWN


def test_a_narrow_terminal_breaks_no_line_of_it(tmp_path: Path) -> None:
    with starting(tmp_path, size=(5, 2), drawn=b"\x1b[1;1H live\x1b[2;1H [1 E"):
        pass


@pytest.mark.parametrize("stream", ["0</dev/null", "1>/dev/null", "2>/dev/null"])
def test_nothing_is_drawn_where_no_screen_can_be_shown(tmp_path: Path, stream: str) -> None:
    program = ["sh", "-c", f'exec "$@" {stream}', "sh", *LIVEDECK]
    with terminal(tmp_path, program=program, LIVEDECK_BASE_URL="http://127.0.0.1:9") as deck:
        assert deck.ended() == 2
        assert ALTERNATE not in deck.written


def test_a_first_start_shows_its_question_and_no_deck_before(tmp_path: Path) -> None:
    with terminal(tmp_path) as deck:
        deck.until("knows no platform yet")
        assert b"starting" not in deck.written
        deck.press("q")
        assert deck.ended() == 0


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help"), ("demo", "--nonsense")])
def test_a_question_about_a_command_draws_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with terminal(tmp_path, *arguments) as asked:
        asked.ended()
        assert ALTERNATE not in asked.written


def test_the_demo_has_it_too(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo") as deck:
        deck.until_raw(re.escape(DRAWN))
        deck.until("Morning service")
        deck.press("q")
        assert deck.ended() == 0
        assert deck.written.count(NORMAL) == 1
