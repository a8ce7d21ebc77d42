"""Completion, as shells ask for it, and in the shells themselves behind a pseudo terminal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from cli.commands import environment, livedeck
from cli.groups_stage import ON_AIR, stage
from cli.terminals import terminal
from livedeck import __version__
from livedeck.cli import main

EVENTS = [["id-1", ON_AIR], ["id-2", "Twins"], ["id-3", "Twins"], ["id-4", "Abendmusik 東京"]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose commands have listed events once, and have been completed once."""
    home = tmp_path_factory.mktemp("completion")
    state = home / ".local" / "state" / "livedeck"
    state.mkdir(parents=True)
    (state / "completion-events.json").write_text(json.dumps(EVENTS))
    config = home / ".config" / "livedeck"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[profiles.house]\nbase_url = "https://a.example"\n')
    answers(home, "bash", "livedeck ")
    return home


def answers(home: Path, shell: str, line: str) -> list[str]:
    """What a shell is told of a line, as it has it once click's script has read it."""
    words = line.split(" ")
    asked = {"_LIVEDECK_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    done = livedeck(home, env=asked)
    assert done.returncode == 0, done.stderr
    return [answer.replace("\\\\", "\\") for answer in done.stdout.splitlines() if answer]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("livedeck ev", {"events"}),
        ("livedeck events comp", {"complete"}),
        ("livedeck events complete --conf", {"--confirm"}),
        ("livedeck events get ab", {"Abendmusik\\ 東京"}),
        ("livedeck --read-only qos cho", {"Choir,\\ hall\\ B"}),
        ("livedeck wait tw", set()),
        ("livedeck check id-", {"id-1", "id-2", "id-3", "id-4"}),
        ("livedeck wait Twins --until on", {"on-air"}),
        ("livedeck events list --columns id,strea", {"id,stream", "id,streamkey"}),
        ("livedeck demo --scenario bad", {"bad-night"}),
        ("livedeck demo --faults fl", {"flaky"}),
        ("livedeck --profile ho", {"house"}),
        ("livedeck --theme con", {"contrast"}),
        ("livedeck docs script", {"scripting"}),
        ("livedeck profile Twins ra", {"radio"}),
    ],
)
def test_commands_options_and_values_are_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch, line: str, found: set[str]
) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_LIVEDECK_COMPLETE": "bash_complete"}
    for name, value in environment(home, **words).items():
        monkeypatch.setenv(name, value)
    said = BashComplete(main, {}, "livedeck", "_LIVEDECK_COMPLETE").complete()
    assert {answer.replace("\\\\", "\\").partition(",")[2] for answer in said.splitlines()} == found


def test_completion_asks_nobody_and_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import sys\nfrom livedeck.cli import main\n"
        "try:\n    main(prog_name='livedeck')\nexcept SystemExit:\n    pass\n"
        "heavy = {'textual', 'httpx', 'pydantic', 'starlette', 'asyncio'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    asked = {"_LIVEDECK_COMPLETE": "bash_complete", "COMP_WORDS": "livedeck events get cho", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(home, **asked), capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Choir" in done.stdout) == (0, True), done.stderr


def keep_tree(home: Path, tmp_path: Path) -> Path:
    """A folder of the state with the tree of commands in it, which takes long to make."""
    kept, state = (folder / ".local" / "state" / "livedeck" for folder in (home, tmp_path))
    state.mkdir(parents=True)
    shutil.copy(kept / f"completion-{__version__}.json", state)
    return state


def test_a_file_that_cannot_be_read_completes_no_event_and_fails_nobody(home: Path, tmp_path: Path) -> None:
    (keep_tree(home, tmp_path) / "completion-events.json").write_text("{")
    assert answers(tmp_path, "bash", "livedeck events get cho") == []


def test_what_a_command_listed_is_completed(home: Path, tmp_path: Path) -> None:
    keep_tree(home, tmp_path)
    with stage(tmp_path) as made:
        made.ids("events", "list")
    assert answers(tmp_path, "bash", "livedeck events get cup") == ["plain,Cup\\ final,\\ pitch\\ 2"]


SHELLS = {
    "bash": (["bash", "--norc", "-i"], 'eval "$(_LIVEDECK_COMPLETE=bash_source livedeck)"\n'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -Uz compinit; compinit -u -D; eval "$(_LIVEDECK_COMPLETE=zsh_source livedeck)"\n',
    ),
    "fish": (["fish", "--private", "--no-config", "-i"], "_LIVEDECK_COMPLETE=fish_source livedeck | source\n"),
}


OWNER = (
    "import fcntl, os, sys, termios\n"
    "os.getpid() == os.getsid(0) or os.setsid()\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\nos.execvp(sys.argv[1], sys.argv[1:])\n"
)
"""A shell wants a terminal of its own."""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_a_name_and_the_command_gets_it_whole(home: Path, tmp_path: Path, shell: str) -> None:
    """A person presses tab: the line that is run names the event as it is called, blanks and all."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    program, setup = SHELLS[shell]
    typed, name = (
        ("aben", "Abendmusik 東京") if shell == "fish" else ("cho", ON_AIR)
    )  # click's script ends at a comma there
    folder = tmp_path / "bin"
    folder.mkdir()
    got = tmp_path / "got"
    wrapper = folder / "livedeck"
    wrapper.write_text(
        f'#!/bin/sh\nif [ "$1" = docs ]; then printf "%s|" "$@" >"{got}"; echo ARRIVED; exit; fi\n'
        f'exec "{sys.executable}" -m livedeck "$@"\n'
    )
    wrapper.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    owner = [sys.executable, "-c", OWNER, *program]
    with terminal(home, program=owner, PATH=path, PS1="$ ", TERM="xterm") as shown:
        shown.press("echo rea''dy\n")
        shown.until("ready")
        shown.press(setup)
        shown.press("echo s''et\n")
        shown.until(r"(?m)set\s*$")
        shown.press("livedeck events enab\t")
        shown.until("enable")
        shown.press(f"{typed}\t")
        shown.until("hall" if typed == "cho" else "東京")
        shown.press("\x01")  # to the beginning of the line: the wrapper only notes what it was given
        shown.press("livedeck docs \x1b[F\n")
        shown.until("ARRIVED")
    assert f"|enable|{name}|" in got.read_text()
