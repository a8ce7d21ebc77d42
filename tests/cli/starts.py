"""Cheap starts of `livedeck`: a real process with its own streams, session, variables and end, without the imports.

A start of the interpreter takes 0.15 to 0.9 s of a processor, nearly all of it imports; a fork of `start_server.py`
takes 0.02 s.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any, AnyStr

SERVER = Path(__file__).with_name("start_server.py")
SOURCE = str(Path(__file__).parents[2] / "src")

LIVEDECK = [sys.executable, "-m", "livedeck"]
"""The command, which `Start` forks and `subprocess` starts."""

TRUE_START = ["env", *LIVEDECK]
"""Command that always starts a new interpreter."""

_PR_SET_CHILD_SUBREAPER = 36

_OF_THE_INTERPRETER = ("PYTHON", "LANG", "LC_", "LD_", "TEXTUAL")
"""Beginnings of variables that are read once, before or while modules are imported."""


class Start(subprocess.Popen[AnyStr]):
    """Process of `LIVEDECK`. It is forked, unless its options need a new interpreter."""

    # Popen makes the pipes, waits, and reads: only how the process comes to be is another.
    def _execute_child(self, *values: Any) -> None:
        execute = subprocess.Popen._execute_child  # type: ignore[attr-defined]
        asked = signature(execute).bind(self, *values).arguments
        if not _is_plain(asked):
            execute(self, *values)
            return
        streams = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        message = {
            "arguments": [os.fsdecode(word) for word in asked["args"][len(LIVEDECK) :]],
            "environment": asked["env"],
            "folder": os.fspath(asked["cwd"] or os.getcwd()),  # noqa: PTH109
            "mask": _mask(),
            "session": bool(asked["start_new_session"]),
        }
        self.pid = _server().start(message, [number if got == -1 else got for number, got in enumerate(streams)])
        self._child_created = True
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[name] for name in names))  # type: ignore[attr-defined]


def run(command: Sequence[str], *, timeout: float, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Start `command` and wait for its end, as `subprocess.run` does without `check`."""
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Start[Any](command, **options) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _is_plain(asked: Mapping[str, Any]) -> bool:
    """Return whether a fork can have these options."""
    environment = asked["env"]
    return (
        sys.platform == "linux"
        and [*asked["args"]][: len(LIVEDECK)] == LIVEDECK
        and asked["preexec_fn"] is None
        and not asked["pass_fds"]
        and environment is not None
        and environment.get("PYTHONPATH") == SOURCE
        and not any(name.startswith(_OF_THE_INTERPRETER) for name in {*environment} - {"PYTHONPATH"})
    )


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


class _Server:
    """Running `start_server.py` of this process."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = Lock()
        self._reaper = ctypes.CDLL(None)
        variables = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "HOME": "/nonexistent", "TERM": "xterm-256color"}
        with other:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(other.fileno())],
                env=variables,
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()

    def start(self, message: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Return the id of a new child of this process."""
        with self._lock:
            self._reaper.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._control, [json.dumps(message).encode()], streams)
                return int(self._control.recv(64))
            finally:
                self._reaper.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def _server() -> _Server:
    return _Server()
