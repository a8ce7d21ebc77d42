"""No control sequence from outside reaches a terminal: every screen and form on a hostile platform.

Each of the two protections holds without the other. `pytest -m slow tests/cli/test_escapes.py` opens everything that
has a key, at two sizes; the small form opens one screen and its form.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.altered import altered
from cli.commands import called, environment
from cli.sequences import foreign
from cli.starts import LIVEDECK, Start
from cli.terminals import Terminal, terminal
from cli.test_collector_canaries import port_of
from livedeck.ui.features import FEATURES
from livedeck.ui.shell.context import ActionRegistry
from livedeck.ui.shell.keymap import key_text
from payloads import LEGIT, SEQUENCES

HERE = Path(__file__).parent
UNPROTECTED = [sys.executable, str(HERE / "unprotected.py")]
PROGRAMS = {"the last filter alone": [*UNPROTECTED, "text"], "without the last filter": [*UNPROTECTED, "terminal"]}
KEYS = {"enter": "\r", "space": " ", "escape": "\x1b"}
"""Bytes that a terminal sends for named keys."""

REGISTRY = ActionRegistry(FEATURES)
DOWN = "\x1b[B"
PART = ("1", "6", "\x1b", "\x1b", DOWN, "\r")
"""Keys from anywhere to the first part of a video."""

OPEN = rb"\x1b\[1;[0-9;]*m "
"""Pattern before the name of the open tab, the only bold one."""

WAYS: dict[str, tuple[Sequence[str], bytes]] = {
    "events": (["1"], rb"1 Events"),
    "streams": (["2"], OPEN + rb"2 Streams"),
    "qos": (["1", DOWN, "3"], OPEN + rb"3 QoS"),
    "chat": (["1", DOWN, "4"], OPEN + rb"4 Chat"),
    "rooms": (["5"], OPEN + rb"5 Rooms"),
    "videos": (["6", "\x1b", "\x1b"], OPEN + rb"6 Videos"),
    "alarms": (["7"], OPEN + rb"7 Alarms"),
    "viewers": (["8"], rb"\[probe\]"),
    "posters": (PART, rb"\[posters"),
    "subtitles": ([*PART, "]"], rb"\[subtitles"),
    "cues": ([*PART, "]", DOWN, "\r"], rb"BEGINS"),
    "annotations": ([*PART, "]", "]"], rb"\[annotations"),
    "materials": ([*PART, "]", "]", "]"], rb"\[materials"),
}
"""Screen -> keys to it from anywhere, and the text that it then shows."""

LEAVING = {"app.quit", "app.leave", "app.suspend", "app.interrupt"}


@contextmanager
def hostile(home: Path) -> Iterator[dict[str, Any]]:
    """Yield the variables of a command for the hostile platform."""
    with altered(home, "hostile.py") as found:
        yield {"LIVEDECK_BASE_URL": found["base_url"], "LIVEDECK_TOKEN": found["token"]}


LOOK = 0.7
"""Seconds before the next key: a dialog takes no answer in its first 0.3 s."""


def open_form(deck: Terminal) -> None:
    """Open the form of an event, change it, and get a refusal."""
    deck.press("\x1b[B")  # nothing is done to an event that nobody chose
    deck.pause(LOOK)
    deck.press("e")
    deck.until(r"\^S")
    deck.pause(LOOK)
    deck.press("\x05x\t\t\t\t\x13")
    deck.until("Only this will")
    deck.pause(LOOK)
    deck.press("\t\r")
    deck.until("refused")
    deck.press_until("\x1b", "Your input will be lost")  # the form is drawn after the refusal beside it
    deck.pause(LOOK)
    deck.press("\t\r")
    deck.pause(LOOK)  # a key that comes while a dialog closes is meant for nothing behind it


def open_all(deck: Terminal, mode: str) -> None:
    """Open whatever a key opens on a screen; actions of every screen are opened on the first only."""
    way, sign = WAYS[mode]
    follow(deck, way)
    deck.until_raw(sign)
    everywhere = set.intersection(*({action.name for action in REGISTRY.on_screen(screen)} for screen in WAYS))
    for action in REGISTRY.on_screen(mode):
        keys = [KEYS.get(key, key_text(key)) for key in REGISTRY.keys_of(action)]
        is_elsewhere = action.name in everywhere and mode != "events"
        if action.name in LEAVING or is_elsewhere or not keys or len(keys[0]) > 1:
            continue
        follow(deck, way)
        for pressed in (keys[0], "\x1b", "\t\r"):  # the last where it asks whether it is left
            deck.press(pressed)
            deck.pause(LOOK)


def follow(deck: Terminal, way: Sequence[str]) -> None:
    """Press the keys to a screen."""
    for key in way:
        deck.press(key)
        deck.pause(0.3)


def leave(deck: Terminal) -> None:
    deck.press("\x03")
    assert deck.ended() == 130


def assert_own(deck: Terminal, size: tuple[int, int]) -> None:
    """Check that no foreign sequence passed, and that the platform sent some."""
    assert not foreign(deck.written, size)
    assert deck.written.count(b"stolen") + deck.written.count(b"c3RvbGVu") > 20
    assert deck.written.count(b"\x1b[?1049l") == 1


@pytest.mark.parametrize("payload", SEQUENCES.values(), ids=SEQUENCES)
def test_a_payload_that_passes_is_found(payload: str) -> None:
    assert foreign(f"\x1b[1;1H{payload}\x1b[0m".encode(), (120, 40))
    assert not foreign(b"\x1b[?2026h\x1b[40;120H\x1b[1;38;2;9;9;9mname\x1b[0m\x1b]22;text\x07", (120, 40))
    assert not foreign("".join(LEGIT).encode(), (120, 40))


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_no_payload_passes_a_screen_and_its_form(tmp_path: Path, program: list[str]) -> None:
    size = (120, 40)
    with hostile(tmp_path) as platform, terminal(tmp_path, size=size, program=program, **platform) as deck:
        deck.until("Morning service")
        open_form(deck)
        leave(deck)
        assert_own(deck, size)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("mode", WAYS)
def test_no_payload_passes_anything_that_a_key_opens(
    tmp_path: Path, program: list[str], size: tuple[int, int], mode: str
) -> None:
    with hostile(tmp_path) as platform, terminal(tmp_path, size=size, program=program, **platform) as deck:
        deck.until("Morning service")
        open_form(deck)
        open_all(deck, mode)
        leave(deck)
        assert_own(deck, size)


@contextmanager
def collected(home: Path, platform: dict[str, Any]) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """Yield a collector of the platform, and the variables of a deck that attaches."""
    config, errors = home / "collector.toml", home / "errors"
    config.write_text('[collector]\nlisten = "127.0.0.1:0"\n')
    env = {"LIVEDECK_CONFIG": str(config), "LIVEDECK_HISTORY": str(home / "collector.sqlite"), **platform}
    token = home / "collector-token"
    token.write_text(called(home, "collector", "token", "create", "anna", "--may", "act", env=env).stdout.strip())
    token.chmod(0o600)
    with errors.open("w") as said:
        collector = Start[bytes](
            [*LIVEDECK, "collector", "run"], env=environment(home, **env), stdout=subprocess.DEVNULL, stderr=said
        )
    try:
        address = f"http://127.0.0.1:{port_of(errors, collector)}"
        yield collector, {"LIVEDECK_COLLECTOR_URL": address, "LIVEDECK_COLLECTOR_TOKEN_FILE": str(token)}
    finally:
        collector.kill()
        collector.wait()


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_no_payload_passes_a_collector_nor_what_is_said_of_it(tmp_path: Path, program: list[str]) -> None:
    """Attached, while the collector is silent, and polling alone; each with its words, and with what its keys say."""
    size = (120, 40)
    with (
        hostile(tmp_path) as platform,
        collected(tmp_path, platform) as (collector, env),
        terminal(tmp_path, size=size, program=program, **platform, **env) as deck,
    ):
        deck.until("Morning service")
        deck.press_until("7", " NEW ")
        follow(deck, [DOWN, "a"])
        deck.press("[")
        deck.until("collector ← deck")
        deck.press("@")
        deck.until("the collector is heard")
        collector.kill()
        deck.until("COLLECTOR SILENT")
        follow(deck, ["]", DOWN])
        deck.press("w")
        deck.until("needs the collector")
        deck.press("@")
        deck.until("POLLING ALONE")
        follow(deck, ["1", DOWN, "3", "\x1b"])
        leave(deck)
        assert_own(deck, size)


def test_no_payload_passes_the_wall(tmp_path: Path) -> None:
    size, program = (120, 40), PROGRAMS["the last filter alone"]
    with hostile(tmp_path) as platform, terminal(tmp_path, "wall", size=size, program=program, **platform) as wall:
        wall.until("Morning service")
        wall.press("q")
        assert wall.ended() == 0
        assert not foreign(wall.written, size)
        assert b"stolen" in wall.written


def test_no_payload_passes_what_is_printed(tmp_path: Path) -> None:
    commands = [("status",), ("status", "--json"), ("doctor",), ("api", "GET", "/v2/live/events")]
    with hostile(tmp_path) as platform:
        for arguments in commands:
            with terminal(tmp_path, *arguments, **platform) as command:
                command.ended()
                assert not foreign(command.written, (120, 40)), arguments
                assert command.written


def test_every_screen_is_on_the_way() -> None:
    assert set(WAYS) == set(REGISTRY.screens)


def test_every_command_prints_by_one_function() -> None:
    files = {path.name for path in Path("src/livedeck/cli").rglob("*.py") if "click.echo(" in path.read_text("utf-8")}
    assert files <= {"output.py", "docs.py", "process.py", "__init__.py", "completion_script.py", "probe.py"}, (
        "these print nothing from outside"
    )
