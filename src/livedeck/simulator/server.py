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

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from livedeck.simulator.engine.faults import ABORT
from livedeck.simulator.errors import of_status
from livedeck.simulator.simulator import Simulator

SHUTDOWN_SECONDS = 0.4
"""How long requests in flight have to end when the simulator stops: it has 2 s for all of it (simulator.md,
"Start")."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the simulator is reached: API, uploads, pictures and control API; none ends in a slash."""

    base_url: str
    upload_url: str
    cdn_url: str
    control_url: str


@asynccontextmanager
async def serve(simulator: Simulator, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Addresses]:
    """Serve while the block runs; port 0 takes any free one. Raises OSError at once for an address that is taken."""
    with _listen(host, port) as listener:
        server = _Server(simulator)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.ready.wait()
            yield _addresses(listener)
        finally:
            server.stop.set()
            await task
            await server.abort()


class _Protocol(H11Protocol):
    """HTTP by h11. What is no HTTP, and so never becomes a request, gets the documented error object too."""

    def send_400_response(self, msg: str) -> None:
        cycle: RequestResponseCycle | None = getattr(
            self, "cycle", None
        )  # None before the first, whatever its type says
        if cycle is not None and not cycle.response_complete:  # its body broke off: the app's own answer goes nowhere
            cycle.disconnected = True
            cycle.message_event.set()
        body = bytes(of_status(400, msg.rstrip(".")).response().body)
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        answer = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun already, or may have no body
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn without signals, logs and headers of its own; `ready` is set once it listens, and `stop` ends it."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(
            uvicorn.Config(
                self._with_abort(simulator.app),
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,  # type: ignore[arg-type]  # a fraction does too
            )
        )
        self.ready = asyncio.Event()
        self.stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Serve until `stop` is set; uvicorn's own polls ten times a second."""
        await self.stop.wait()

    def _with_abort(self, app: ASGIApp) -> ASGIApp:
        """The app; each scope holds a function that cuts its connection."""

        async def app_with_abort(scope: Scope, receive: Receive, send: Send) -> None:
            abort = partial(self._abort_connection, scope.get("client"))
            await app({**scope, "extensions": {**scope.get("extensions", {}), ABORT: abort}}, receive, send)

        return app_with_abort

    def _abort_connection(self, client: tuple[str, int] | None) -> None:
        for connection in [*self.server_state.connections]:
            if client and connection.transport.get_extra_info("peername")[:2] == tuple(client):
                connection.transport.abort()

    async def abort(self) -> None:
        """End what is still open: connections first, since a cancelled handler still waits for a peer to read."""
        for connection in [*self.server_state.connections]:
            connection.transport.abort()
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the aborted sockets in its next pass


# Without a handler of its own a library's warnings go to stderr, into the middle of a full-screen terminal.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Connections inherit it. asyncio sets it for sockets of its own making alone; without it every answer on a kept
    # connection waits 40 ms for the peer's delayed acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _addresses(listener: socket.socket) -> Addresses:
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  the wildcard is no address to call
    base = f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
    return Addresses(base, f"{base}/upload", f"{base}/cdn", f"{base}/_control")
