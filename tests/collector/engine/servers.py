"""A Redis of our own for one test: a socket in a short folder, ended by its own pid; and a way to it that can die."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

REQUIRED = "LIVEDECK_TEST_REDIS"
_START_SECONDS = 60.0


def redis_program() -> str | None:
    """The server that is installed here, if one is."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


def skip_without_redis() -> None:
    """Skip where there is no server, or fail where one must be."""
    if redis_program():
        return
    sentence = "redis-server is not installed (apt install redis-server): the tests of the engine are not run"
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(sentence)
    pytest.skip(sentence)


class RedisServer:
    """`address`: of its socket; `options`: of its command line. What it keeps outlives a kill, unless it is told to
    forget."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._folder = Path(mkdtemp(prefix="ld-"))  # the path of a socket has at most 107 bytes
        self.socket = self._folder / "r.sock"
        self.address = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and return once it answers."""
        program = redis_program()
        assert program
        self.socket.unlink(missing_ok=True)
        options = ("--port", "0", "--unixsocket", "r.sock", "--save", "", "--appendonly", "yes", "--daemonize", "no")
        command = [program, *options, *self._options]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        until = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                pytest.fail((self._folder / "log").read_text(encoding="utf-8"))

    def _answers(self) -> bool:
        import socket

        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(0.2)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
            except OSError:
                time.sleep(0.01)
                return False

    def kill(self, *, forgets: bool = False) -> None:
        """Kill it like a power cut. `forgets`: its disk is empty afterwards."""
        self.signal(signal.SIGKILL)
        if self._process:
            self._process.wait()
            self._process = None
        if forgets:
            shutil.rmtree(self._folder / "appendonlydir", ignore_errors=True)

    def hang(self) -> None:
        """Accept connections, but answer nothing."""
        self.signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Continue, with all that was sent meanwhile."""
        self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Send that signal to this very process."""
        if self._process:
            self._process.send_signal(number)

    def close(self) -> None:
        """End it, and leave nothing behind."""
        self.wake()
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class DeadEnds:
    """A way to Redis on which connections can be left half open: no end hears of it. `address`: of its near end."""

    def __init__(self, server: RedisServer, path: Path) -> None:
        self.address, self._server, self._path = f"unix://{path}", server, path
        self._is_dead = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve while the block runs."""
        async with await asyncio.start_unix_server(self._connect, self._path):
            yield

    def swallow(self) -> None:
        """Discard all data, on existing and new connections."""
        self._is_dead.set()

    def heal(self) -> None:
        """New connections pass; those that were there stay dead, as where a router forgot them."""
        self._is_dead = asyncio.Event()

    async def _connect(self, near: asyncio.StreamReader, near_writer: asyncio.StreamWriter) -> None:
        is_dead = self._is_dead
        far, far_writer = await asyncio.open_unix_connection(self._server.socket)
        await asyncio.gather(_pump(near, far_writer, is_dead), _pump(far, near_writer, is_dead))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, is_dead: asyncio.Event) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            if not is_dead.is_set():
                sink.write(data)
    sink.close()
