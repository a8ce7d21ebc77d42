"""Connections of the server: the documented errors, and room for new connections at the descriptor limit."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import socket
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, BinaryIO

import h11

from livedeck import http_server
from livedeck.http_server import Owed
from livedeck.simulator.errors import ApiError, of_status

RESERVED_DESCRIPTORS = 32
"""Number of descriptors that connections leave free for uploads, downloads, the log and the data file."""

_log = logging.getLogger("livedeck.simulator")
_quiet_log = _log.getChild("connections")
_quiet_log.setLevel(logging.ERROR)  # a line for each malformed request of a stranger would fill the log


class Connection(http_server.Connection):
    """HTTP connection. Bytes that are not HTTP and unfinished requests get the documented error."""

    is_body_whole = False
    """False, so that the timeout limits the time between two bytes of a body: a whole upload may take long."""

    def __init__(self, crowd: Crowd, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        self.logger = _quiet_log
        self._crowd.unused[self] = None
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.last_cycle is not None:
            self._crowd.unused.pop(self, None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.unused.pop(self, None)
        self._crowd.count -= 1
        super().connection_lost(exc)

    def end(self, owed: Owed) -> None:
        """End the connection, because the peer is too slow. A request that has begun gets the documented error.

        `owed`: the part that did not come in time.
        """
        if owed.part == "response":
            super().end(owed)
        elif owed.part == "head" and not self.conn.trailing_data[0]:
            self.transport.close()
        else:
            self._refuse(of_status(408, "request timeout"))

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP."""
        self._refuse(of_status(400, msg.rstrip(".")))

    def _refuse(self, error: ApiError) -> None:
        """Respond with `error`, if a response can still be sent, and close."""
        cycle = self.last_cycle
        if cycle is not None and not cycle.response_complete:  # its body broke off: drop the app's own response
            cycle.disconnected = True
            cycle.message_event.set()
        answer = error.response()
        headers = [("content-type", "application/json"), ("content-length", str(len(answer.body)))]
        headers.append(("connection", "close"))
        with contextlib.suppress(h11.LocalProtocolError):  # a response has begun, or may have no body
            for event in (
                h11.Response(
                    status_code=error.status, headers=headers, reason=HTTPStatus(error.status).phrase.encode()
                ),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


@dataclass(slots=True)
class Crowd:
    """Open connections of a listener. `unused`: those on which no request has arrived yet, the oldest first."""

    count: int = 0
    unused: dict[Connection, None] = field(default_factory=dict)

    def make_room(self) -> bool:
        """Close the oldest connection that has sent no request. Returns False if there is none."""
        while self.unused:
            oldest = next(iter(self.unused))
            del self.unused[oldest]
            if not oldest.transport.is_closing():
                oldest.transport.abort()
                return True
        return False


class Listener(socket.socket):
    """Listening socket that leaves descriptors for files.

    At the descriptor limit, plain asyncio logs hundreds of lines a second and serves nobody. Here a connection over the
    limit replaces one without a request, or is closed at once. The log says so once.
    """

    @classmethod
    def open(cls, host: str, port: int) -> Listener:
        """Listen at the address; port 0 means any free port. Raises OSError."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family) as bound:
            listener = cls(bound.family, bound.type, bound.proto, fileno=bound.detach())
        # Connections inherit the option; asyncio sets it only for sockets that it creates. Without it every response on
        # a kept connection waits 40 ms for the peer's delayed acknowledgement of the head.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener

    def __init__(self, family: int, kind: int, protocol: int, fileno: int) -> None:
        super().__init__(family, kind, protocol, fileno)
        self._spare = _spare_descriptor()
        self.crowd = Crowd()
        self._is_full_logged = self._made_room = False

    def accept(self) -> tuple[socket.socket, object]:
        """Return the next connection and its address. Raises BlockingIOError if none is waiting or none is admitted."""
        if self._made_room:
            self._made_room = False
            raise BlockingIOError  # the descriptor of the closed connection is free in the next pass of the loop
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        try:
            connection, address = super().accept()
        except OSError as error:
            if error.errno not in {errno.EMFILE, errno.ENFILE}:
                raise
            self._log_full(limit)
            self._refuse_by_spare()
            raise BlockingIOError from error
        most = max(limit - RESERVED_DESCRIPTORS, limit // 2)
        if limit != resource.RLIM_INFINITY and self.crowd.count >= most:
            self._log_full(limit)
            self._made_room = self.crowd.make_room()
            if not self._made_room:
                connection.close()
                raise BlockingIOError
        self.crowd.count += 1
        return connection, address

    def close(self) -> None:
        self._spare.close()
        super().close()

    def _refuse_by_spare(self) -> None:
        """Accept the next connection and close it. If it were left waiting, it would wake the loop again at once."""
        self._spare.close()
        with contextlib.suppress(OSError):
            super().accept()[0].close()
            self._spare = _spare_descriptor()

    def _log_full(self, limit: int) -> None:
        if not self._is_full_logged:
            self._is_full_logged = True
            _log.warning(
                "the limit of %d descriptors is reached: new connections are refused or displace idle ones", limit
            )


def _spare_descriptor() -> BinaryIO:
    return open(os.devnull, "rb", buffering=0)  # noqa: PTH123
