"""Decoding of pictures from outside, each in a separate process that can be killed.

A picture of a few bytes can cost much memory and time, and decoders have faults. So the process has limits of memory
and time, and is killed once its result is not needed any more. The deck reads only the expected number of bytes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL

from livedeck.log import Log

MAX_BYTES = 4 * 2**20
"""Maximum size of a picture file in bytes. Larger files are not fetched."""

_DEADLINE = 20.0
"""Seconds after which the process is killed. `decoding_child.MAX_SECONDS` ends a busy process earlier."""

_CHILD = Path(__file__).with_name("decoding_child.py")

log = Log(__name__)


MAX_PICTURES = 500
"""Maximum number of pictures that one process decodes. The processor time of a process is limited in total."""


class Decoder:
    """Decoder of many small pictures in one process. A process takes longer to start than to decode a picture.

    `variables`: environment of the process.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._process: asyncio.SubprocessTransport | None = None
        self._output = _Output(0)
        self._left = 0

    async def decode(self, content: bytes, width: int, height: int) -> bytes | None:
        """Return the picture as `decode` does. After a fault, the next picture gets a new process."""
        if self._process is None or self._output.ended.done() or not self._left:
            await self.close()
            self._output, self._left = _Output(0), MAX_PICTURES
            self._process = await _start(self._output, self._variables)
        stdin = self._process.get_pipe_transport(0) if self._process else None
        if not isinstance(stdin, asyncio.WriteTransport):
            return None
        self._left -= 1
        filled = self._output.expect(width * height * 3)
        try:
            stdin.write(b"".join(number.to_bytes(4) for number in (len(content), width, height)) + content)
            with suppress(TimeoutError):
                async with asyncio.timeout(_DEADLINE):
                    await filled
        finally:
            if not self._output.is_exact:
                await self.close()
        if self._output.is_exact:
            return bytes(self._output.pixels)
        log.info("a picture is not shown", reason="it is too large, broken, or no PNG, JPEG or WebP")
        return None

    async def close(self) -> None:
        """Kill the process and wait for its end. The next picture starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        self._output.kill()
        try:
            await _finish(self._output.ended)
        finally:
            process.close()


async def _start(output: _Output, variables: Mapping[str, str], *size: int) -> asyncio.SubprocessTransport | None:
    """Start a decoding process; None, with the reason in the log, if it cannot be started."""
    pillow = find_spec("PIL")
    folder = Path(pillow.origin).parents[1] if pillow and pillow.origin else Path()
    try:
        process, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: output,
            *(sys.executable, "-I", "-S", str(_CHILD), str(folder), *map(str, size)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=variables,
            start_new_session=True,
        )
    except OSError as error:
        log.info("a picture is not shown", reason=f"no process could be started to decode it: {error.strerror}")
        return None
    return process


async def decode(content: bytes, width: int, height: int, variables: Mapping[str, str]) -> bytes | None:
    """Return the picture scaled to `width` x `height` pixels of three bytes (RGB).

    Returns None, with the reason in the log, for a picture that is broken, larger than `decoding_child` allows, or no
    PNG, JPEG or WebP. `variables`: environment of the decoding process.
    """
    output = _Output(width * height * 3)
    process = await _start(output, variables, width, height)
    if process is None:
        return None
    try:
        stdin = process.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport):
            stdin.write(content)
            stdin.write_eof()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DEADLINE):
                await asyncio.shield(output.ended)
    finally:
        output.kill()
        try:
            await _finish(output.ended)
        finally:
            process.close()
    if process.get_returncode() == 0 and output.is_exact:
        return bytes(output.pixels)
    log.info("a picture is not shown", reason="it is too large, broken, or no PNG, JPEG or WebP")
    return None


async def _finish(future: asyncio.Future[None]) -> None:
    """Wait until a future is done, even if this task is cancelled. Without the wait, the loop may leak the process."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled


class _Output(asyncio.SubprocessProtocol):
    """Standard output of a process. A process that writes more than `size` bytes is killed.

    `ended`: done once the process has ended and its pipes are closed.
    """

    def __init__(self, size: int) -> None:
        self.pixels, self._size = bytearray(), size
        self._filled: asyncio.Future[None] | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._process: asyncio.SubprocessTransport | None = None

    def expect(self, size: int) -> asyncio.Future[None]:
        """Expect the next picture of `size` bytes. The future is done once it is there, or the process has ended."""
        self.pixels, self._size = bytearray(), size
        self._filled = asyncio.get_running_loop().create_future()
        return self._filled

    def _note(self) -> None:
        if self._filled and not self._filled.done():
            self._filled.set_result(None)

    @property
    def is_exact(self) -> bool:
        """True if the process wrote exactly `size` bytes."""
        return len(self.pixels) == self._size

    def kill(self) -> None:
        """Kill the process and its children, unless the process has ended."""
        if self._process and self._process.get_returncode() is None:
            with suppress(ProcessLookupError):
                # `SubprocessTransport.kill` may reap the process, which asyncio's watcher must do
                os.killpg(self._process.get_pid(), SIGKILL)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the process."""
        if isinstance(transport, asyncio.SubprocessTransport):
            self._process = transport

    def pipe_data_received(self, _: int, data: bytes) -> None:
        """Append bytes to the picture. Kills the process after too many."""
        self.pixels += data
        if len(self.pixels) > self._size:
            self.kill()
        if len(self.pixels) >= self._size:
            self._note()

    def connection_lost(self, _: Exception | None) -> None:
        self._note()
        if not self.ended.done():
            self.ended.set_result(None)
