"""Exposure of a served page or API: where it listens, its host names, and the sites that may frame it."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"

ORIGIN = re.compile(r"'self'|https?://(\[[0-9a-f:.]+\]|(\*\.)?[a-z0-9.-]+)(:[0-9]{1,5})?", re.IGNORECASE)
"""Pattern of a frame ancestor. It admits no character that could end a directive of the content security policy."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """Address to listen on, and the sites that may show its pages in a frame.

    `host`: address or name of this machine. `port`: 0 for any free port. `names`: further host names in requests, such
    as those that a proxy passes on. `frame_ancestors`: origins of these sites.
    """

    port: int
    host: str = LOOPBACK
    frame_ancestors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Listening address in words: `port 8080 of this machine` or `port 8080 of HOST`."""
        return f"port {self.port} of {'this machine' if self.host == LOOPBACK else self.host}"

    def listen(self) -> socket.socket:
        """Return a listening socket. Raises OSError if it cannot listen; the file name of the error is `place`."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            return socket.create_server(address[:2], family=family)
        except OSError as error:
            reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
            raise OSError(error.errno, reason, self.place) from None

    def allows(self, host: str) -> bool:
        """Return whether a request with that Host header is meant for this server.

        This defends against DNS rebinding: a foreign page can point its own host name at this server. Its requests then
        carry this name, which is not allowed.
        """
        name = re.sub(r":[0-9]*$", "", host.lower())
        if name in {"localhost", self.host.lower(), *map(str.lower, self.names)}:
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


class OwnName:
    """Middleware that refuses requests whose Host header is a foreign name."""

    def __init__(self, app: ASGIApp, exposure: Exposure, refusal: Response) -> None:
        self._app, self._exposure, self._refusal = app, exposure, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"]
        is_own = len(names) == 1 and self._exposure.allows(names[0])
        await (self._app if is_own else self._refusal)(scope, receive, send)
