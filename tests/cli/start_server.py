"""Fork command lines off an interpreter that has imported livedeck already: the program behind `starts.py`.

Each message is a JSON object (`arguments`, `environment`, `folder`, `mask`, `session`) with three descriptors. The
answer is the id of the process. A child has the streams, the variables and the end of a new interpreter.
"""

from __future__ import annotations

import gc
import io
import json
import os
import socket
import sys
import time
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import livedeck

LONGEST = 1 << 20
"""Bytes of the longest message."""


def import_everything() -> None:
    """Import all modules of livedeck."""
    for module in walk_packages(livedeck.__path__, "livedeck."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def serve(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Answer until the other end closes. Returns in each child, with its message and its streams."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST, 3)
        if not message:
            sys.exit()
        reader, writer = os.pipe()
        between = os.fork()
        if not between:
            # The child outlives this process, so that the kernel gives it to the next reaper above: the test.
            child = os.fork()
            if not child:
                return json.loads(message), descriptors
            os.write(writer, str(child).encode())
            os._exit(0)
        os.waitpid(between, 0)
        control.send(os.read(reader, 64))
        for descriptor in (reader, writer, *descriptors):
            os.close(descriptor)


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Give this process the streams, variables and folder of the requested process."""
    if request["session"]:
        os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, 1 << 16)
    os.umask(request["mask"])
    os.chdir(request["folder"])
    locale = {"LC_CTYPE": os.environ["LC_CTYPE"]} if "LC_CTYPE" in os.environ else {}  # Python has set it for itself
    os.environ.clear()
    os.environ.update({**request["environment"], **locale})
    time.tzset()
    kept = [(stream.encoding, stream.errors) for stream in (sys.stdin, sys.stdout, sys.stderr)]
    sys.stdin, sys.stdout, sys.stderr = (_stream(number, *words) for number, words in enumerate(kept))
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))
    sys.argv = ["livedeck", *request["arguments"]]
    sys.path[0] = request["folder"]


def _stream(number: int, encoding: str, errors: str | None) -> io.TextIOWrapper:
    """Return a standard stream as an interpreter makes it at its start."""
    raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2 or (number == 1 and raw.isatty()))


if __name__ == "__main__":
    import_everything()
    gc.collect()
    gc.freeze()
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
    from runpy import run_module

    run_module("livedeck", run_name="__main__", alter_sys=True)
