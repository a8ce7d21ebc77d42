"""Completion as click's scripts ask for it. `test_completion_canaries.py` tries it in the shells themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from cli.commands import environment, livedeck
from cli.groups_stage import ON_AIR, stage
from livedeck.cli import main

EVENTS = [["id-1", ON_AIR], ["id-2", "Twins"], ["id-3", "Twins"], ["id-4", "Abendmusik 東京"]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home whose commands have listed events once."""
    home = tmp_path_factory.mktemp("completion")
    (state_of(home) / "completion-events.json").write_text(json.dumps(EVENTS))
    config = home / ".config" / "livedeck"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[profiles.house]\nbase_url = "https://a.example"\n')
    return home


def answers(home: Path, shell: str, line: str) -> list[str]:
    """Return the candidates that click's script for that shell reads for a line."""
    words = line.split(" ")
    asked = {"_LIVEDECK_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    done = livedeck(home, env=asked)
    assert done.returncode == 0, done.stderr
    return [answer for answer in done.stdout.splitlines() if answer]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("livedeck ev", {"event"}),
        ("livedeck event comp", {"complete"}),
        ("livedeck event complete --conf", {"--confirm"}),
        ("livedeck event get ab", {"id-4"}),
        ("livedeck --read-only event qos cho", {"id-1"}),
        ("livedeck event wait tw", set()),
        ("livedeck event check id-", {"id-1", "id-2", "id-3", "id-4"}),
        ("livedeck event wait Twins --until on", {"on-air"}),
        ("livedeck event list --columns id,strea", {"id,stream", "id,streamkey"}),
        ("livedeck demo --scenario bad", {"bad-night"}),
        ("livedeck demo --faults fl", {"flaky"}),
        ("livedeck --profile ho", {"house"}),
        ("livedeck --theme con", {"contrast"}),
        ("livedeck docs script", {"scripting"}),
        ("livedeck event content Twins ra", {"radio"}),
    ],
)
def test_commands_options_and_values_are_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch, line: str, found: set[str]
) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_LIVEDECK_COMPLETE": "bash_complete"}
    for name, value in environment(home, **words).items():
        monkeypatch.setenv(name, value)
    said = BashComplete(main, {}, "livedeck", "_LIVEDECK_COMPLETE").complete()
    assert {answer.partition(",")[2] for answer in said.splitlines()} == found


def test_completion_asks_nobody_and_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import sys\nfrom livedeck.cli import main\n"
        "try:\n    main(prog_name='livedeck')\nexcept SystemExit:\n    pass\n"
        "heavy = {'textual', 'httpx', 'pydantic', 'starlette', 'asyncio'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    asked = {"_LIVEDECK_COMPLETE": "bash_complete", "COMP_WORDS": "livedeck event get cho", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(home, **asked), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "plain,id-1\n"), done.stderr


def state_of(home: Path) -> Path:
    """Return the state folder in a home, which it creates."""
    state = home / ".local" / "state" / "livedeck"
    state.mkdir(parents=True)
    return state


def test_a_file_that_cannot_be_read_completes_no_event_and_fails_nobody(tmp_path: Path) -> None:
    (state_of(tmp_path) / "completion-events.json").write_text("{")
    assert answers(tmp_path, "bash", "livedeck event get cho") == []


def test_what_a_command_listed_is_completed(tmp_path: Path) -> None:
    with stage(tmp_path) as made:
        ids = made.ids("event", "list")
    (answer,) = answers(tmp_path, "bash", "livedeck event get cup")
    assert answer.removeprefix("plain,") in ids


def test_a_word_that_a_shell_would_evaluate_or_take_for_an_option_is_never_offered(tmp_path: Path) -> None:
    odd = [
        "--yes",
        "-f",
        "a b",
        "a;b",
        "a$b",
        "a`b",
        "~a",
        "=a",
        "a*",
        "a{b,c}",
        "a:b",
        "",
        "a\nb",
        "\u0430b",
        "a" * 201,
    ]
    kept = state_of(tmp_path) / "completion-events.json"
    kept.write_text(json.dumps([[identity, f"name {identity}"] for identity in [*odd, "fine-1"]]))
    config = tmp_path / ".config" / "livedeck"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[profiles."a b; date"]\n[profiles.fine]\n')
    for shell in ("bash", "zsh", "fish"):
        offered = "\n".join(answers(tmp_path, shell, "livedeck event get "))
        assert "fine-1" in offered
        assert not [identity for identity in odd if identity in offered.split("\n")]
    assert answers(tmp_path, "bash", "livedeck --profile ") == ["plain,fine"]


INSTALLED = {
    "bash": ".local/share/bash-completion/completions/livedeck",
    "zsh": ".local/share/zsh/site-functions/_livedeck",
    "fish": ".config/fish/completions/livedeck.fish",
}


@pytest.mark.parametrize("shell", INSTALLED)
def test_an_installed_script_is_the_printed_one_where_the_shell_looks_for_it(tmp_path: Path, shell: str) -> None:
    printed = livedeck(tmp_path, "completion", shell).stdout
    assert not (tmp_path / INSTALLED[shell]).exists()
    for _ in range(2):  # the second one replaces the first
        done = livedeck(tmp_path, "completion", shell, "--install")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{tmp_path / INSTALLED[shell]}\n")
    assert (tmp_path / INSTALLED[shell]).read_text(encoding="utf-8") == printed.removesuffix("\n")


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("")
    done = livedeck(tmp_path, "completion", "fish", "--install")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"livedeck completion: {tmp_path / INSTALLED['fish']}: ")
