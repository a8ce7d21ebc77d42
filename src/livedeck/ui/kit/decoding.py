"""Decoding of pictures from outside, each in its own process that can be killed.

A few bytes can claim much memory and time, and decoders have faults. The process has limits on both and a deadline, and
is killed once its result is no longer wanted. The deck reads only the expected number of bytes from it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL

from livedeck.log import Log

MAX_BYTES = 4 * 2**20
"""Largest size of a picture file in bytes; a larger one is not fetched."""

_DEADLINE = 20.0
"""Seconds; `decoding_child.MAX_SECONDS` ends a busy process sooner."""

_CHILD = Path(__file__).with_name("decoding_child.py")

log = Log(__name__)


async def decode(content: bytes, width: int, height: int, variables: Mapping[str, str]) -> bytes | None:
    """Return the picture scaled to `width` x `height` pixels of three bytes (RGB).

    Returns None, with the reason in the log, if it is not a PNG, JPEG or WebP, is broken, or is larger than
    `decoding_child` allows. `variables`: environment of the decoding process.
    """
    pillow = find_spec("PIL")
    folder = Path(pillow.origin).parents[1] if pillow and pillow.origin else Path()
    try:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_CHILD), str(folder), str(width), str(height)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=variables,
            start_new_session=True,
        )
    except OSError as error:
        log.info("a picture is not shown", reason=f"no process could be started to decode it: {error.strerror}")
        return None
    try:
        async with asyncio.timeout(_DEADLINE):
            return await _exchange(child, content, width * height * 3)
    except (OSError, EOFError):  # TimeoutError is an OSError
        log.info("a picture is not shown", reason="it is too large, broken, or no PNG, JPEG or WebP")
        return None
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, SIGKILL)  # `child.kill` may reap it, which asyncio's watcher must do
        await child.communicate()  # read the rest of its output, a pipe's worth at most


async def _exchange(child: Process, content: bytes, size: int) -> bytes:
    """Return the `size` bytes that the process makes of the picture.

    Raises OSError or EOFError if it fails or sends another number of bytes.
    """
    if child.stdin is None or child.stdout is None:
        raise EOFError
    child.stdin.write(content)
    child.stdin.write_eof()
    pixels = await child.stdout.readexactly(size)
    if await child.stdout.read(1) or await child.wait():
        raise EOFError
    return pixels
