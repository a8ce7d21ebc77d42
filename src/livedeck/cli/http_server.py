"""Serving HTTP from a socket of ours: under our own names, and waiting for no peer without an end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import inf

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS, CROWDED_HEAD_SECONDS, SENDING_SECONDS = 10, 1, 30
"""How long a peer may take for the head of a request, and for its body, also where half of all connections are in use,
and to take any of what it is sent."""

MAX_HEAD, MAX_FIELDS = 32 * 1024, 100
"""Bytes of the head of a request, as reverse proxies allow by default, and its header fields."""

SEND_BUFFER = 256 * 1024
"""Bytes that the system keeps for a peer that takes nothing; by itself it keeps up to 4 MB of each."""


@asynccontextmanager
async def serve_app(listener: socket.socket, app: ASGIApp, *, max_connections: int) -> AsyncIterator[str]:
    """Serve it there while the block runs; its address. Streams that never end must be ended by then."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    server = _Server(
        uvicorn.Config(
            _StrictHead(app),
            http=_Connection,
            h11_max_incomplete_event_size=MAX_HEAD,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=max_connections,
            timeout_graceful_shutdown=1,
        )
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    host, port, *_ = listener.getsockname()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    finally:
        server.should_exit = True
        await task


class _StrictHead:
    """Refuses a head that is too long, or that two servers in a row may read differently, and ends the connection.

    h11 refuses the rest that is ambiguous, but takes a length beside chunks, and a long head that came all at once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = _head_fault(scope)
        answer = PlainTextResponse(f"{fault[1]}\n", fault[0], {"Connection": "close"}) if fault else self._app
        await answer(scope, receive, send)


def _head_fault(scope: Scope) -> tuple[int, str] | None:
    """Return the status and words of what is wrong with the head; None if nothing is."""
    fields = scope["headers"]
    size = (
        len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(name) + len(value) + 4 for name, value in fields)
    )
    if size > MAX_HEAD or len(fields) > MAX_FIELDS:
        return 431, f"The head of a request may have {MAX_FIELDS} fields and {MAX_HEAD} bytes."
    names = {name for name, _ in fields}
    if b"transfer-encoding" in names and (b"content-length" in names or scope["http_version"] == "1.0"):
        return 400, "The length of this request is ambiguous."
    return None


class _Server(uvicorn.Server):
    """uvicorn that takes no signals, for whoever serves ends it, and waits for no peer without an end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        connections, now = [*self.server_state.connections], asyncio.get_running_loop().time()
        is_crowded = len(connections) >= (self.config.limit_concurrency or inf) / 2
        for connection in connections:
            if isinstance(connection, _Connection):
                connection.end_overdue(now, CROWDED_HEAD_SECONDS if is_crowded else HEAD_SECONDS)
        return await super().on_tick(counter)


_ASKING = (h11.IDLE, h11.SEND_BODY)
"""States of a peer that has not ended its request; answered or not."""


class _Connection(H11Protocol):
    """HTTP by h11, cut where the peer neither asks nor takes what it asked for."""

    _owed: tuple[object, ...] = ()
    _owed_since = 0.0

    def end_overdue(self, now: float, head_seconds: float) -> None:
        """Cut it where the peer has owed us the same for too long; uvicorn sees to what is idle between requests."""
        unsent = self.transport.get_write_buffer_size()
        is_asking = self.conn.their_state in _ASKING and self.timeout_keep_alive_task is None
        owed = (self.cycle, unsent) if unsent or is_asking else ()
        if owed != self._owed:
            self._owed, self._owed_since = owed, now
        elif owed and now - self._owed_since >= (SENDING_SECONDS if unsent else head_seconds):
            self.transport.abort()  # a close would wait for the peer to take what is left
