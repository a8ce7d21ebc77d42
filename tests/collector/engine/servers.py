"""Redis for one test: a socket in a short folder, ended by its own pid; and a connection to it that can go dead."""

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
    """Return the installed server, or None."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


def skip_without_redis() -> None:
    """Skip without a server, or fail if the environment requires one."""
    if redis_program():
        return
    sentence = "redis-server is not installed (apt install redis-server): the tests of the engine are not run"
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(sentence)
    pytest.skip(sentence)


class RedisServer:
    """Redis at a socket. `options`: of its command line. Its data outlives a kill, unless `kill` says otherwise."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._folder = Path(mkdtemp(prefix="ld-"))  # the path of a socket has at most 107 bytes
        self.socket = self._folder / "r.sock"
        self.address = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the server, and return once it replies."""
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
        """Continue, and process what was sent meanwhile."""
        self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process of this server."""
        if self._process:
            self._process.send_signal(number)

    def close(self) -> None:
        """End the server and remove its files."""
        self.wake()
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class DeadEnds:
    """Proxy to Redis whose connections can be left half open without either end noticing. `address`: its near end."""

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
        """Let new connections pass. The old ones stay dead, as after a restart of a router."""
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
