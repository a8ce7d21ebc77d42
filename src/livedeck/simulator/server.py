"""The simulator on a socket, in the caller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck.simulator.app import HEAD_LIMIT
from livedeck.simulator.connections import Connection, Listener, Timeouts
from livedeck.simulator.engine.faults import ABORT
from livedeck.simulator.simulator import Simulator

SHUTDOWN_SECONDS = 0.4
"""Seconds for open requests to end at a stop; the whole stop may take 2 s (simulator.md, "Start")."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of the API, uploads, pictures and control API, without a trailing slash."""

    base_url: str
    upload_url: str
    cdn_url: str
    control_url: str


@asynccontextmanager
async def serve(
    simulator: Simulator, host: str = "127.0.0.1", port: int = 0, timeouts: Timeouts | None = None
) -> AsyncIterator[Addresses]:
    """Serve while the block runs; port 0 takes any free one. Raises OSError at once for an address in use."""
    with Listener.open(host, port) as listener:
        server = _Server(simulator, timeouts or Timeouts())
        listener.make_room = server.close_unused
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.ready.wait()
            yield _addresses(listener)
        finally:
            server.stop.set()
            await task
            await server.abort()


class _Server(uvicorn.Server):
    """uvicorn without signals, logs and headers of its own; `ready` is set once it listens, and `stop` ends it."""

    def __init__(self, simulator: Simulator, timeouts: Timeouts) -> None:
        super().__init__(
            uvicorn.Config(
                self._with_abort(simulator.app),
                http=Connection,
                h11_max_incomplete_event_size=HEAD_LIMIT,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=timeouts.idle,  # type: ignore[arg-type]  # a fraction works too
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,  # type: ignore[arg-type]  # a fraction works too
            )
        )
        self.ready = asyncio.Event()
        self.stop = asyncio.Event()
        self._timeouts = timeouts

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Serve until `stop` is set, and end overdue connections; uvicorn's own loop polls ten times a second."""
        seconds = min(1.0, self._timeouts.head / 4, self._timeouts.body / 4)
        while not self.stop.is_set():
            for connection in self._connections():
                connection.end_overdue(self._timeouts, asyncio.get_running_loop().time())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)

    def close_unused(self) -> bool:
        """Close the oldest connection without a request. Returns False if there is none."""
        unused = [found for found in self._connections() if found.is_unused and not found.transport.is_closing()]
        if unused:
            min(unused, key=lambda connection: connection.opened_at).transport.abort()
        return bool(unused)

    def _connections(self) -> list[Connection]:
        return [connection for connection in self.server_state.connections if isinstance(connection, Connection)]

    def _with_abort(self, app: ASGIApp) -> ASGIApp:
        """Return the app; each scope contains a function that cuts its connection."""

        async def app_with_abort(scope: Scope, receive: Receive, send: Send) -> None:
            abort = partial(self._abort_connection, scope.get("client"))
            await app({**scope, "extensions": {**scope.get("extensions", {}), ABORT: abort}}, receive, send)

        return app_with_abort

    def _abort_connection(self, client: tuple[str, int] | None) -> None:
        for connection in [*self.server_state.connections]:
            if client and connection.transport.get_extra_info("peername")[:2] == tuple(client):
                connection.transport.abort()

    async def abort(self) -> None:
        """End open connections and tasks: connections first, because a cancelled handler still waits for its peer to
        read.
        """
        for connection in [*self.server_state.connections]:
            connection.transport.abort()
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the aborted sockets in its next pass


# Without a handler of its own, uvicorn's warnings go to stderr, into the middle of a full-screen terminal.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())


def _addresses(listener: socket.socket) -> Addresses:
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  clients cannot connect to the wildcard
    base = f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
    return Addresses(base, f"{base}/upload", f"{base}/cdn", f"{base}/_control")
