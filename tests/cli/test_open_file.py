"""A file is opened by the program of this machine; without such a program the command says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.cli.deck import open_file


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Desktop with a program that opens files."""
    program = tmp_path / "xdg-open"
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    return program


def install(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)


@pytest.mark.parametrize(("code", "said"), [(0, ""), (3, "ended with code 3")])
async def test_the_program_is_given_the_path_and_its_refusal_is_told(
    desktop: Path, tmp_path: Path, code: int, said: str
) -> None:
    install(desktop, f'printf %s "$1" > {tmp_path}/given\nexit {code}\n')
    assert (await open_file(tmp_path / "a chat.csv")).endswith(said)
    assert (tmp_path / "given").read_text() == str(tmp_path / "a chat.csv")


async def test_without_a_desktop_it_says_so(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert "there is no desktop to open the file on" in await open_file(desktop)


async def test_the_program_knows_no_token(desktop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDECK_TOKEN", "a-token-that-nobody-knows")
    monkeypatch.setenv("livedeck_token", "another-token-that-nobody-knows")
    monkeypatch.setenv("LANG", "C.UTF-8")
    install(desktop, f"env > {tmp_path}/variables\n")
    assert not await open_file(tmp_path / "a chat.csv")
    variables = (tmp_path / "variables").read_text()
    assert "LANG=C.UTF-8" in variables
    assert "that-nobody-knows" not in variables
