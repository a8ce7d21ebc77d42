"""A forked start of the command is the process that a new interpreter would be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, environment
from cli.starts import LIVEDECK, TRUE_START, Start
from cli.terminals import terminal
from cli.test_endings import NOWHERE

ANYWHERE: dict[str, Any] = dict(NOWHERE)

LINES = {"an output": ("config", "path"), "a wrong use": ("event", "list", "--nothing"), "no platform": ("status",)}


def run(home: Path, program: list[str], *words: str) -> tuple[int, bytes, bytes]:
    """Run a command in a folder of its own, with a variable for its place. Return its code, output and errors."""
    env = environment(home, **NOWHERE, XDG_CONFIG_HOME="settings")
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Start[bytes]([*program, *words], env=env, cwd=home, **pipes) as process:
        output, errors = process.communicate(timeout=TIMEOUT)
    return process.returncode, output, errors


@pytest.mark.parametrize("words", LINES.values(), ids=LINES)
def test_code_output_and_errors_are_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    forked, true = (run(tmp_path, program, *words) for program in (LIVEDECK, TRUE_START))
    assert forked == true
    assert any(forked[1:])


@pytest.mark.parametrize("program", [LIVEDECK, TRUE_START], ids=["forked", "true"])
def test_session_descriptors_mask_and_signals_are_those_of_a_new_process(tmp_path: Path, program: list[str]) -> None:
    with terminal(tmp_path, "wall", program=program, **ANYWHERE) as wall:
        wall.until("NO REPLY")
        pid = wall.process.pid
        assert os.getsid(pid) == pid
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        assert int(status["PPid"]) == os.getpid()
        streams = {str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in range(3)}
        assert len(streams) == 1
        assert streams.pop().startswith("/dev/pts/")
        mask = os.umask(0o022)
        os.umask(mask)
        assert int(status["Umask"], 8) == mask
        wall.process.send_signal(signal.SIGKILL)
        assert wall.process.wait(TIMEOUT) == -signal.SIGKILL


def test_no_secret_of_another_start_is_in_the_next(tmp_path: Path) -> None:
    """Each start has the variables that it is given, and no others."""
    run(tmp_path, LIVEDECK, "config", "path")
    (tmp_path / "other").mkdir()
    with Start[bytes](
        [*LIVEDECK, "config", "show", "--json"],
        env=environment(tmp_path / "other", LIVEDECK_READ_ONLY="true"),
        stdout=subprocess.PIPE,
    ) as process:
        shown, _ = process.communicate(timeout=TIMEOUT)
    assert NOWHERE["LIVEDECK_BASE_URL"] not in json.dumps(json.loads(shown))
