"""HTTP server for an ASGI app on a listening socket. It cuts the connections of slow or silent peers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Literal

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from livedeck import log

MAX_HEAD, MAX_FIELDS = 32 * 1024, 100
"""Maximum size of the head of a request in bytes, as in reverse proxies, and maximum number of its header fields."""

SEND_BUFFER = 256 * 1024
"""Maximum number of bytes that the kernel buffers for a peer that reads nothing; by default up to 4 MB."""

_WORDS = {
    400: "The length of this request is ambiguous.",
    431: f"The head of a request may have at most {MAX_FIELDS} fields and {MAX_HEAD} bytes.",
}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a peer may keep the server waiting.

    `head`: from the connection, or from the first byte of a later request, to the end of the head. `body`: between two
    bytes of a request body (`Connection.is_body_whole`), and between two bytes that the peer reads of a response.
    `idle`: between two requests.
    """

    head: float = 10.0
    body: float = 30.0
    idle: float = 60.0


TIMEOUTS = Timeouts(idle=5.0)
"""Timeouts of `serve_app`."""

CROWDED_SECONDS = 1.0
"""Value of `Timeouts.head` in `serve_app` while at least half of the connections are in use."""


@dataclass(frozen=True, slots=True)
class Owed:
    """Part of a request or response that the server waits for.

    `cycle`: latest request with its response, or None. `progress`: number of bytes; it changes while the peer makes
    progress.
    """

    part: Literal["head", "body", "response"]
    cycle: RequestResponseCycle | None
    progress: int = 0


class Connection(H11Protocol):
    """HTTP connection by h11. The server cuts it if the peer delays a request or a response too long."""

    is_body_whole: ClassVar[bool] = True
    """True if a request body must end within `Timeouts.head`, False if it must progress within `Timeouts.body`."""

    _received = 0
    _owed: Owed | None = None
    _owed_since = 0.0

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    @property
    def last_cycle(self) -> RequestResponseCycle | None:
        """Latest request with its response; None before the first request."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, despite its type
        return cycle

    def end_overdue(self, timeouts: Timeouts, now: float) -> None:
        """End the connection if the peer is silent too long. Call this repeatedly. `now`: seconds of any clock."""
        owed = self._find_owed()
        if owed is None or owed != self._owed:
            self._owed, self._owed_since = owed, now
            return
        is_by_head = owed.part == "head" or (owed.part == "body" and self.is_body_whole)
        if now - self._owed_since >= (timeouts.head if is_by_head else timeouts.body):
            self.end(owed)

    def end(self, owed: Owed) -> None:  # noqa: ARG002  for subclasses that tell the peer
        """Cut the connection because of a delay. An ordinary close would wait until the peer has read the rest."""
        self.transport.abort()

    def _find_owed(self) -> Owed | None:
        """Return the part that the server waits for; None if it waits for none.

        Also None between two requests, because uvicorn itself limits that wait.
        """
        unsent = self.transport.get_write_buffer_size()
        if unsent:
            return Owed("response", self.last_cycle, unsent)
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            return Owed("head", self.last_cycle)
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return Owed("body", self.last_cycle, 0 if self.is_body_whole else self._received)
        return None


class Server(uvicorn.Server):
    """uvicorn without its signal handlers and logs. The server sets `ready` once it listens, and ends at `stop`.

    `options`: further options of `uvicorn.Config`.
    """

    def __init__(
        self,
        app: ASGIApp,
        timeouts: Timeouts,
        *,
        shutdown_seconds: float,
        http: Callable[..., Connection],
        **options: Any,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=http,  # type: ignore[arg-type]  # what makes a connection need not be its class
                h11_max_incomplete_event_size=MAX_HEAD,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=timeouts.idle,  # type: ignore[arg-type]  # a fraction works too
                timeout_graceful_shutdown=shutdown_seconds,  # type: ignore[arg-type]  # a fraction works too
                **options,
            )
        )
        self.ready, self.stop = asyncio.Event(), asyncio.Event()
        self._timeouts = timeouts
        self._crowded = replace(timeouts, head=min(timeouts.head, CROWDED_SECONDS))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Serve until `stop` is set, and end overdue connections."""
        limits = (self._crowded if self.config.limit_concurrency else self._timeouts).head, self._timeouts.body
        seconds = max(0.01, min(1.0, *(limit / 4 for limit in limits)))
        while not self.stop.is_set():
            await self.on_tick(0)  # renews the Date header
            connections, now = self.connections(), asyncio.get_running_loop().time()
            is_crowded = len(connections) >= (self.config.limit_concurrency or inf) / 2
            for connection in connections:
                connection.end_overdue(self._crowded if is_crowded else self._timeouts, now)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)

    def connections(self) -> list[Connection]:
        return [connection for connection in self.server_state.connections if isinstance(connection, Connection)]

    @asynccontextmanager
    async def running(self, *listeners: socket.socket) -> AsyncIterator[None]:
        """Serve on the listening sockets while the block runs."""
        log.prepare()  # a server at the limit of descriptors has to log, but cannot import a module any more
        task = asyncio.create_task(self.serve(sockets=[*listeners]))
        try:
            await self.ready.wait()
            yield
        finally:
            self.stop.set()
            await task


@asynccontextmanager
async def serve_app(listener: socket.socket, app: ASGIApp, *, max_connections: int) -> AsyncIterator[str]:
    """Serve the app while the block runs. Yields its URL. End endless streams before leaving the block."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    server = Server(
        _StrictHead(app), TIMEOUTS, shutdown_seconds=1.0, http=Connection, limit_concurrency=max_connections
    )
    host, port, *_ = listener.getsockname()
    async with server.running(listener):
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class _StrictHead:
    """Middleware that refuses requests with a bad head, and ends their connections."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = head_fault(scope)
        refusal = PlainTextResponse(f"{_WORDS[status]}\n", status, {"Connection": "close"}) if status else None
        await (refusal or self._app)(scope, receive, send)


def head_fault(scope: Scope) -> Literal[400, 431] | None:
    """Return the HTTP status of the refusal of a bad head; None for a good one.

    A head is bad if it is too large or if two servers may find different ends of the body. h11 itself refuses most
    ambiguous bodies, but accepts a length together with chunks, and a long head that arrives at once.
    """
    fields = scope["headers"]
    size = (
        len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(name) + len(value) + 4 for name, value in fields)
    )
    if size > MAX_HEAD or len(fields) > MAX_FIELDS:
        return 431
    names = {name for name, _ in fields}
    if b"transfer-encoding" in names and (b"content-length" in names or scope["http_version"] == "1.0"):
        return 400
    return None
