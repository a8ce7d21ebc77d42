"""Start in a real terminal: nothing is drawn before the deck exists, and any end of the start leaves no trace."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.starting import STANDING
from cli.starts import LIVEDECK
from cli.terminals import RESTORED, Terminal, terminal

STARTING = [sys.executable, str(Path(__file__).with_name("starting.py"))]
SOMEWHERE: dict[str, Any] = {"LIVEDECK_BASE_URL": "http://127.0.0.1:9", "LIVEDECK_TOKEN": "none"}
ALTERNATE = b"\x1b[?1049h"


@contextmanager
def starting(home: Path) -> Iterator[tuple[Terminal, Path]]:
    """Yield a deck in the middle of its imports, and the FIFO that lets it continue."""
    gate = home / "gate"
    os.mkfifo(gate)
    with terminal(home, str(gate), program=STARTING, **SOMEWHERE) as deck:
        deck.until(STANDING)
        yield deck, gate


def assert_untouched(deck: Terminal, modes: list[Any]) -> None:
    assert ALTERNATE not in deck.written
    assert deck.modes() == modes


def test_keys_pressed_while_it_starts_are_for_the_deck(tmp_path: Path) -> None:
    with starting(tmp_path) as (deck, gate):
        deck.press("q")
        gate.write_bytes(b"")
        assert deck.ended() == 0
        for on, off in RESTORED:
            assert deck.written.rfind(on) < deck.written.rfind(off)


def test_ctrl_c_while_it_starts_is_quiet_and_has_its_exit_code(tmp_path: Path) -> None:
    with starting(tmp_path) as (deck, gate):
        modes = deck.modes()
        deck.process.send_signal(signal.SIGINT)
        gate.write_bytes(b"")
        assert deck.ended() == 130
        assert_untouched(deck, modes)
        assert b"Traceback" not in deck.written


def test_a_setting_that_cannot_be_used_is_named_and_the_terminal_is_not_touched(tmp_path: Path) -> None:
    with terminal(tmp_path, LIVEDECK_RETENTION_DAYS="never", **SOMEWHERE) as deck:
        modes = deck.modes()
        assert deck.ended() == 2
        assert_untouched(deck, modes)
    assert b"retention_days (LIVEDECK_RETENTION_DAYS)" in deck.written


def test_a_token_command_finds_the_terminal_as_it_was(tmp_path: Path) -> None:
    """It may ask the person: for a passphrase, or for a finger on a key."""
    seen = tmp_path / "modes"
    settings = tmp_path / "settings.toml"
    settings.write_text(
        f'base_url = "http://127.0.0.1:9"\ntoken_command = ["sh", "-c", "stty -g </proc/$PPID/fd/0 >{seen}; echo t"]\n'
    )
    with terminal(tmp_path, LIVEDECK_CONFIG=str(settings)) as deck:
        lflag = deck.modes()[3]
        deck.until("2 Streams")
        deck.press("q")
        assert deck.ended() == 0
    assert lflag & termios.ECHO
    assert int(seen.read_text().split(":")[3], 16) == lflag


@pytest.mark.parametrize("stream", ["0</dev/null", "1>/dev/null", "2>/dev/null"])
def test_nothing_is_drawn_where_no_screen_can_be_shown(tmp_path: Path, stream: str) -> None:
    program = ["sh", "-c", f'exec "$@" {stream}', "sh", *LIVEDECK]
    with terminal(tmp_path, program=program, LIVEDECK_BASE_URL="http://127.0.0.1:9") as deck:
        assert deck.ended() == 2
        assert ALTERNATE not in deck.written


def test_a_first_start_that_is_left_ends_well(tmp_path: Path) -> None:
    with terminal(tmp_path) as deck:
        deck.until("No platform is set up yet")
        deck.press("q")
        assert deck.ended() == 0
