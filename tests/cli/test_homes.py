"""No command takes settings from its working directory, and none ends with a traceback because of it (trust.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.commands import called, command_of, livedeck
from livedeck.cli import main

NEED_NO_HOME = {("docs",), ("help",), ("completion",), ("collector", "dashboard")}
"""Commands that read no file of the user's."""


def lines(command: click.Command = main, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command with a word for each required argument."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found
            yield from lines(found, (*words, name))
        return
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    wanted = [__file__ if isinstance(param.type, click.Path) else "word" for param in arguments if param.required]
    yield (*words, *(["word"] if words in {("past", "report"), ("probe",)} else []), *wanted)


LINES = [(), *(line for line in lines() if command_of(line) not in NEED_NO_HOME)]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_relative_home_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = called(Path("relative"), *line, env={"LIVEDECK_BASE_URL": "http://127.0.0.1:9"})
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stdout + done.stderr
    assert not [*tmp_path.iterdir()]


def test_what_is_wrong_with_a_home_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in (
        ("past", "report", "word"),
        ("past", "search", "word"),
        ("config", "path"),
        ("status",),
        ("past", "check"),
    ):
        for variable in ("HOME", "XDG_CONFIG_HOME"):
            done = called(tmp_path, *line, env={variable: "relative"})
            said = f"livedeck: {variable}: should be an absolute path; set it to one, or unset it\n"
            assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_shell_that_completes_a_line_is_not_told_of_it(tmp_path: Path) -> None:
    words = {"_LIVEDECK_COMPLETE": "bash_complete", "COMP_WORDS": "livedeck event get ", "COMP_CWORD": "3"}
    done = livedeck(tmp_path, env={**words, "HOME": "relative"})
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
