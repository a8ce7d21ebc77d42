"""A whole session shows and keeps no secret: screens, forms, refusals, copies, the log, the history and `/proc`.

With any one of the masks taken out the same session is caught. `pytest -m slow tests/cli/test_canaries.py` opens every
screen, reveals a key, runs the commands, lets the deck fail with every secret in the error, and takes out each mask in
turn; the small form is one screen with its form, refusal and copies.
"""

from __future__ import annotations

import base64
import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cli.altered import altered
from cli.secretive import CANARY, spellings
from cli.starts import TRUE_START
from cli.terminals import Terminal, terminal

HERE = Path(__file__).parent
LOOK = 0.7
"""Seconds before the next key: a dialog takes no answer in its first 0.3 s."""

REVEALED = 10.0

CONTROL = re.compile(rb"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-9;?<=>]*[ -/]*[@-~]|[()][0-9A-Za-z]|[=>78])")
COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)")


@contextmanager
def secretive(home: Path) -> Iterator[str]:
    """Yield the address of the platform. The token is in a file, so no process has it in its variables."""
    with altered(home, "secretive.py") as found:
        (home / "token").write_text(found["token"])
        (home / "token").chmod(0o600)
        yield found["base_url"]


@contextmanager
def settled(home: Path) -> Iterator[None]:
    """Run the platform, with settings that name it."""
    with secretive(home) as address:
        config = home / ".config" / "livedeck" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'base_url = "{address}"\ntoken_file = "{home / "token"}"\nprofile = "default"\n')
        yield


@contextmanager
def session(home: Path, program: Sequence[str] = TRUE_START) -> Iterator[Terminal]:
    """Yield a deck of the platform that shows its first events."""
    with settled(home), terminal(home, size=(120, 40), program=program) as deck:
        deck.until("Morning service")
        deck.pause(LOOK)
        yield deck


def press(deck: Terminal, *keys: str) -> None:
    for key in keys:
        deck.press(key)
        deck.pause(LOOK)


def refuse_form(deck: Terminal) -> None:
    """Open the form of an event, change it, and get a refusal, which stays on the screen."""
    press(deck, "\x1b[B")  # an event that somebody chose
    for keys, answer in (("e", r"\^S"), ("\x05x\t\t\t\t\x13", "Only this will"), ("\t\r", "refused")):
        deck.press(keys)
        deck.until(answer)
        deck.pause(LOOK)


def show_profiles(deck: Terminal) -> None:
    """Show the relay profiles of a room, with the masks of their keys."""
    deck.press("5")
    deck.until("Council, hybrid")
    deck.pause(LOOK)
    deck.press("\x1b[B")
    deck.pause(LOOK)
    deck.press("\x1b[B")
    deck.until("Council channel")
    deck.pause(LOOK)


def copy_all(deck: Terminal) -> None:
    """Copy an event as JSON, as its id and as a request."""
    for key in "jic":
        deck.press("y")
        deck.until("Copy of")
        deck.pause(LOOK)
        deck.press(key)
        deck.until("copied")
        deck.pause(LOOK)


def histories(found: Mapping[str, bytes]) -> list[tuple[Path, bytes]]:
    """Return the files that are SQLite databases."""
    return [(Path(name), content) for name, content in found.items() if content.startswith(b"SQLite format 3\0")]


def unpacked(path: Path) -> bytes:
    """Return the published snapshots of a history, decompressed.

    Each part was compressed after the end of the whole part before it.
    """
    texts, whole = [], b""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        for part, body in db.execute("SELECT part, body FROM published ORDER BY segment, part"):
            texts.append(zlib.decompressobj(-15, whole).decompress(body) if part else zlib.decompress(body))
            whole = whole if part else texts[-1][-32_768:]
    return b"\n".join(texts)


def leaks(home: Path, deck: Terminal) -> list[str]:
    """Return the places with a canary: screen, clipboard, files, and what the system shows of the process."""
    found = {"screen": CONTROL.sub(b"", deck.written)}
    found |= {f"copy {number}": base64.b64decode(text) for number, text in enumerate(COPIED.findall(deck.written))}
    found |= {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != "token"}
    found |= {f"shown in {path}": unpacked(path) for path, _ in histories(found)}
    for name in ("cmdline", "environ"):
        path = Path(f"/proc/{deck.process.pid}/{name}")
        found |= {str(path): path.read_bytes()} if path.exists() else {}
    return [place for place, content in found.items() if any(spelling in content for spelling in spellings())]


def walk(deck: Terminal) -> None:
    """Open every screen, and its first row."""
    for screen in "12345678":
        press(deck, screen, "\r", "\x1b")
    press(deck, "1")


def test_a_session_shows_and_keeps_no_secret(tmp_path: Path) -> None:
    with session(tmp_path) as deck:
        copy_all(deck)
        assert len(COPIED.findall(deck.written)) == 3
        refuse_form(deck)
        assert leaks(tmp_path, deck) == []
        assert {".log", ".sqlite"} <= {path.suffix for path in tmp_path.rglob("*")}  # they were looked through


@pytest.mark.slow
def test_a_walk_over_all_screens_shows_none_and_a_key_is_gone_after_ten_seconds(tmp_path: Path) -> None:
    with session(tmp_path) as deck:
        walk(deck)
        assert leaks(tmp_path, deck) == []
        press(deck, "\x1b", "1")
        show_profiles(deck)
        deck.press("v")
        deck.until(CANARY)
        deck.pause(REVEALED + 2)
        before = len(deck.written)
        deck.resize(121, 40)  # everything is drawn anew
        press(deck, "1", "5", "1")
        deck.written = deck.written[before:]
        refuse_form(deck)
        assert leaks(tmp_path, deck) == []


def test_a_request_of_any_kind_prints_no_secret_under_a_name_or_in_an_address(tmp_path: Path) -> None:
    """A field that nobody knows is printed, unlike by `event get`: such fields are what the command is for."""
    with settled(tmp_path), terminal(tmp_path, "api", "GET", "/v2/live/events", size=(4000, 400)) as command:
        assert command.ended() == 0
        lines = command.written.splitlines()
    assert b'"rtmp_link": "rtmp' in command.written
    assert [line for line in lines if b'"surprise": "c4nary-that-nobody-knows-of"' in line]
    assert not [line for line in lines if b'"surprise"' not in line and any(text in line for text in spellings())]


@pytest.mark.slow
def test_what_commands_print_and_write_holds_none(tmp_path: Path) -> None:
    """Every command that asks the platform, an export of a chat and of samples, and the wall with its picture."""
    commands = (
        ("status",),
        ("status", "--json"),
        ("alarm", "list", "--shelved"),
        ("alarm", "list", "--json"),
        ("doctor",),
        ("config", "show"),
        ("event", "qos", "Morning service", "--json"),
        ("event", "qos", "Morning service", "--format", "csv"),
        ("event", "chat", "Morning service", "-o", str(tmp_path / "chat.json")),
        ("event", "chat", "Morning service", "--all-streams", "--format", "xlsx", "-o", str(tmp_path / "chats")),
        ("wall", "--svg", str(tmp_path / "wall.svg")),
        ("past", "record", "-o", str(tmp_path / "show.livedeck"), "--duration", "8s"),
        ("past", "export", "--history", str(tmp_path / "show.livedeck"), "-o", str(tmp_path / "again.livedeck")),
        ("past", "replay", str(tmp_path / "show.livedeck"), "--judge"),
    )
    (tmp_path / "chats").mkdir()
    with settled(tmp_path):
        for arguments in commands:
            with terminal(tmp_path, *arguments) as command:
                if "--svg" in arguments:
                    command.until("✖")
                    command.press("q")
                assert command.ended() == 0, arguments
                assert command.written
                assert leaks(tmp_path, command) == [], arguments
    assert {"chat.json", "wall.svg", "show.livedeck", "again.livedeck"} <= {path.name for path in tmp_path.iterdir()}
    assert b"Morning service" in unpacked(tmp_path / "again.livedeck")


FAULTS = {"crash": "ended with", "action": "ended by a fault", "note": "", "audit": "", "notice": "•|c4nary"}
"""Fault -> text that shows it."""


def fail(deck: Terminal, fault: str) -> None:
    """Copy something, which makes the fault happen."""
    deck.until_raw(b"CRIT")
    press(deck, "\x1b[B")
    deck.press("y")
    deck.until("Copy of")
    deck.pause(LOOK)
    deck.press("j")
    deck.until(FAULTS[fault])
    deck.pause(2 * LOOK)
    if fault != "crash":
        press(deck, "7", "\x1b[B", "\x1b[A", "q")
    deck.ended()


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_quotes_every_secret_shows_and_keeps_none(tmp_path: Path, fault: str) -> None:
    with session(tmp_path, [sys.executable, str(HERE / "unmasked.py"), fault]) as deck:
        fail(deck, fault)
        assert leaks(tmp_path, deck) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mask", "fault"), [("log", "crash"), ("history", "audit"), ("answers", "note"), ("notices", "notice")]
)
def test_without_the_mask_of_a_place_a_fault_that_quotes_them_is_caught(tmp_path: Path, mask: str, fault: str) -> None:
    with session(tmp_path, [sys.executable, str(HERE / "unmasked.py"), f"{mask},{fault}"]) as deck:
        fail(deck, fault)
        assert leaks(tmp_path, deck)


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["addresses", "register,shapes", "type", "json"])
def test_without_any_one_of_its_masks_it_is_caught(tmp_path: Path, mask: str) -> None:
    """A refusal has two masks, the register and the shape of its words, so these are taken out together."""
    with session(tmp_path, [sys.executable, str(HERE / "unmasked.py"), mask]) as deck:
        show_profiles(deck)
        press(deck, "1")
        copy_all(deck)
        refuse_form(deck)
        assert leaks(tmp_path, deck)
