"""A file shown by the program that this machine has for it; never by one that would write on our terminal."""

from __future__ import annotations

import asyncio
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired

from livedeck.settings import file_opener

_PATIENCE = 3.0
"""Seconds in which a program says that it cannot; one that runs on is showing the file."""


async def open_file(path: Path) -> str:
    """Have it shown. Returns why it cannot be, or nothing."""
    program = file_opener()
    if not program:
        return "there is no desktop here to open it on; copy where it is instead"
    return await asyncio.to_thread(_opened, program, path)


def _opened(program: str, path: Path) -> str:
    command = [program, str(path)]
    try:
        started = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)  # noqa: S603
        code = started.wait(_PATIENCE)
    except TimeoutExpired:
        return ""
    except OSError as error:
        return f"{program}: {error.strerror}"
    return f"{program} ended with code {code}" if code else ""
