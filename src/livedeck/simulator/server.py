"""Server of the simulator: it listens on a socket and runs in the caller's event loop."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck.http_server import Server, Timeouts
from livedeck.simulator.connections import Connection, Crowd, Listener
from livedeck.simulator.engine.faults import ABORT
from livedeck.simulator.engine.hls import LOOPBACK
from livedeck.simulator.ingest.listener import listen
from livedeck.simulator.simulator import Simulator

SHUTDOWN_SECONDS = 0.4
"""Seconds for open requests to end at a stop; the whole stop may take 2 s (simulator.md, "Start")."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of the API, uploads, pictures and control API, without a trailing slash.

    `ingest_url`: the RTMP address before the stream key, empty without ingest.
    """

    base_url: str
    upload_url: str
    cdn_url: str
    control_url: str
    ingest_url: str = ""


@asynccontextmanager
async def serve(
    simulator: Simulator,
    host: str = "127.0.0.1",
    port: int = 0,
    timeouts: Timeouts | None = None,
    ingest: tuple[str, int] | None = None,
) -> AsyncIterator[Addresses]:
    """Serve while the block runs; port 0 means any free port. Raises OSError at once for an address in use.

    `ingest`: host and port for RTMP encoders; raises IngestError if they are in use.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(Listener.open(host, port))
        listeners = [listener]
        if simulator.hls.is_on and listener.family is socket.AF_INET:
            listeners = _listeners(listener, stack)
            simulator.hls.hosts = LOOPBACK[: len(listeners) + 1]
        server = _Server(simulator, timeouts or Timeouts(), listener.crowd)
        try:
            async with AsyncExitStack() as running:
                url = await running.enter_async_context(listen(simulator.publishers, *ingest)) if ingest else ""
                await running.enter_async_context(server.running(*listeners))
                yield replace(_addresses(listener), ingest_url=url)
        finally:
            await server.abort()


def _listeners(listener: Listener, stack: ExitStack) -> list[Listener]:
    """Return the listener, and a second one at the same port of [::1] if this port can be opened."""
    with suppress(OSError):
        other = stack.enter_context(Listener.open("::1", listener.getsockname()[1]))
        other.crowd = listener.crowd
        return [listener, other]
    return [listener]


class _Server(Server):
    """Server of a simulator. It adds no Date header, because the simulator dates its responses by its own clock."""

    def __init__(self, simulator: Simulator, timeouts: Timeouts, crowd: Crowd) -> None:
        app, http = self._with_abort(simulator.app), partial(Connection, crowd)
        super().__init__(app, timeouts, shutdown_seconds=SHUTDOWN_SECONDS, http=http, date_header=False)

    def _with_abort(self, app: ASGIApp) -> ASGIApp:
        """Return the app, with a function in each scope that cuts its connection."""

        async def app_with_abort(scope: Scope, receive: Receive, send: Send) -> None:
            abort = partial(self._abort_connection, scope.get("client"))
            try:
                await app({**scope, "extensions": {**scope.get("extensions", {}), ABORT: abort}}, receive, send)
            except asyncio.CancelledError:
                if not self.stop.is_set():
                    raise
                abort()  # the server stops: a request that still hangs ends with its connection
                await asyncio.sleep(0)

        return app_with_abort

    def _abort_connection(self, client: tuple[str, int] | None, *, reset: bool = False) -> None:
        for connection in [*self.server_state.connections]:
            if client and connection.transport.get_extra_info("peername")[:2] == tuple(client):
                if reset:
                    sock = connection.transport.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.transport.abort()

    async def abort(self) -> None:
        """Cut the open connections, then cancel the tasks: a cancelled handler still waits for its peer to read."""
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
