"""Bash, zsh and fish behind a pseudo terminal, with the real completion script and a canary for every other program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.commands import environment
from cli.terminals import Terminal, terminal

REQUIRED = "LIVEDECK_TEST_SHELLS"

BAIT = (
    "cat", "curl", "date", "dash", "echo", "grep", "id", "kill", "less", "ls", "mail", "nc", "printf", "python3", "rm",
    "sh", "sleep", "tee", "touch", "true", "uname", "whoami", "xargs", "yes",
)  # fmt: skip
"""Names of programs that are canaries on the path of a shell."""

_PROMPT = {
    "bash": "PS1='@''@> ' PS2='@''@more> '; PROMPT_COMMAND='builtin printf \"\\n[[%d]]\\n\" $((++turn))'\n",
    "zsh": (
        "unsetopt prompt_cr prompt_sp; PS1='@''@> ' PS2='@''@more> '; "
        'precmd() { builtin print "\\n[[$((++turn))]]" }' + "\n"
    ),
    "fish": (
        "function fish_prompt; builtin echo -n '@''@> '; end; function fish_right_prompt; end; "
        "function fish_greeting; end; set -g turn 0; "
        "function turned --on-event fish_prompt; set turn (math $turn + 1); builtin echo; builtin echo [[$turn]]; end\n"
    ),
}

_NOT_FOUND = {
    "bash": 'command_not_found_handle() { builtin printf "not found: %%s\\n" "$*" >>"%s"; }\n',
    "zsh": 'command_not_found_handler() { builtin print -r -- "not found: $*" >>"%s" }\n',
    "fish": 'function fish_command_not_found; builtin echo "not found: $argv" >>"%s"; end\n',
}

_SETUP = {
    "bash": 'eval "$(_LIVEDECK_COMPLETE=bash_source livedeck)"\n',
    "zsh": 'autoload -Uz compinit; compinit -u -D; eval "$(_LIVEDECK_COMPLETE=zsh_source livedeck)"\n',
    "fish": "_LIVEDECK_COMPLETE=fish_source livedeck | source\n",
}

_PROGRAM = {
    "bash": ("--noprofile", "--rcfile", "{rc}", "-i"),
    "zsh": ("-d", "-i"),
    "fish": ("--private", "--no-config", "-i", "-C", "source {rc}"),
}

_OWNER = (
    "import fcntl, os, sys, termios\n"
    "os.getpid() == os.getsid(0) or os.setsid()\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\nos.chdir(sys.argv[1])\nos.execv(sys.argv[2], sys.argv[2:])\n"
)
"""Program that takes the terminal as its controlling terminal, as a shell needs it, and then becomes the shell."""

_STAND_IN = """#!{python} -IS
import _socket, marshal, posix, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({socket!r})
server.sendall(marshal.dumps((posix.environ, sys.argv[1:])))
server.shutdown(_socket.SHUT_WR)
while answer := server.recv(65536):
    posix.write(1, answer)
"""


def skip_without(shell: str) -> str:
    """Return the path of that shell. Skip if it is not installed, or fail where it must be."""
    path = shutil.which(shell)
    if path is None:
        sentence = f"{shell} is not installed (apt install {shell}): its completion is not tried"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return path


class Shell:
    """An interactive shell that completes `livedeck`, in an empty folder, with canaries on its path.

    `name`: `bash`, `zsh` or `fish`. A call of `livedeck` is recorded and not run; a completion is the program's own.
    """

    def __init__(self, name: str, home: Path, shown: Terminal, turn: int = 1) -> None:
        self.name, self.shown, self._home, self._turn = name, shown, home, turn
        self._records_read = 0

    def offer(self, events: Sequence[Sequence[object]]) -> None:
        """Make completion know these pairs of id and name, as if a command had listed them."""
        path = self._home / ".local" / "state" / "livedeck" / "completion-events.json"
        path.write_text(json.dumps(events))

    def enter(self, keys: str) -> list[list[str]]:
        """Type these keys and Enter. Returns the arguments of each call of `livedeck`, once the shell has prompted."""
        self._turn += 1
        self.shown.press(f"{keys}\r")
        found = self.shown.until(rf"(?s)(\[\[{self._turn}\]\]\s.*@@> |@@more> )")
        if found == "@@more> ":
            self.shown.press("\x03\x15")  # bash may need another key to see the first
            self.shown.until(rf"(?s)\[\[{self._turn}\]\]\s.*@@> ")
        lines = (self._home / "records").read_text(encoding="utf-8").splitlines()
        new, self._records_read = lines[self._records_read :], len(lines)
        return [json.loads(line) for line in new]

    def errors(self) -> str:
        """Return the text that completion wrote to its standard error."""
        return (self._home / "errors").read_text(encoding="utf-8")

    def fired(self) -> list[str]:
        """Return the canaries that fired since the last call: started programs and created files."""
        log = self._home / "fired"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        folder = self._home / "work"
        files = sorted(entry.name for entry in folder.iterdir())
        for name in files:
            (folder / name).unlink()
        return [*lines, *(f"new file: {name}" for name in files)]


@contextmanager
def shell(name: str, home: Path) -> Iterator[Shell]:
    """Start that shell with the completion script that `livedeck` writes for it. Skips if it is not installed."""
    path = skip_without(name)
    state, work, folder = home / ".local" / "state" / "livedeck", home / "work", home / "bin"
    for made in (state, work, folder):
        made.mkdir(parents=True, exist_ok=True)
    fired, socket, records, errors = (home / name for name in ("fired", "s", "records", "errors"))
    records.write_text("")
    _write_programs(folder, fired, socket)
    rc = home / ".zshrc"
    rc.write_text(_PROMPT[name] + _NOT_FOUND[name] % fired + _SETUP[name])
    options = [option.format(rc=rc) for option in _PROGRAM[name]]
    server = [
        sys.executable,
        str(Path(__file__).with_name("completing_server.py")),
        str(socket),
        str(records),
        str(errors),
    ]
    with subprocess.Popen(server, env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "listening\n"
            owner = [sys.executable, "-c", _OWNER, str(work), path, *options]
            search = str(folder)
            with terminal(home, program=owner, PATH=search, ZDOTDIR=str(home), LC_ALL="C.UTF-8", TERM="xterm") as shown:
                shown.until(r"(?s)\[\[1\]\]\s.*@@> ")
                errors.write_text("")  # click misses bash on this path
                yield Shell(name, home, shown)
        finally:
            process.kill()


def _write_programs(folder: Path, fired: Path, socket: Path) -> None:
    """Write the stand-in for `livedeck`, `env` for the scripts of click, and a canary under every other name."""
    for name in BAIT:
        _write_program(folder / name, f'#!/bin/sh\necho "started: {name} $*" >>"{fired}"\n')
    (folder / "env").unlink(missing_ok=True)
    (folder / "env").symlink_to(str(shutil.which("env")))
    _write_program(folder / "livedeck", _STAND_IN.format(python=sys.executable, socket=str(socket)))


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
