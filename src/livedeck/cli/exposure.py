"""Where something is served to others: at which address, under which names, and in whose frames."""

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
"""What may be named as an ancestor: nothing in it ends a directive of the policy."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """Where it is served, and who may hold a page of it in a frame.

    `host`: an address or a name of this machine; `port` 0 takes any free one. `names`: under which it is asked for,
    too, as a proxy passes them on. `frame_ancestors`: origins.
    """

    port: int
    host: str = LOOPBACK
    frame_ancestors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """`port 8080 of this machine`, or of the address that was named."""
        return f"port {self.port} of {'this machine' if self.host == LOOPBACK else self.host}"

    def listen(self) -> socket.socket:
        """A listening socket there. Raises OSError, with the place, for what is taken or no address of this machine."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            return socket.create_server(address[:2], family=family)
        except OSError as error:
            reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
            raise OSError(error.errno, reason, self.place) from None

    def allows(self, host: str) -> bool:
        """Whether a request under that name is meant for what is served here.

        A page of elsewhere can have its own name lead here, but it cannot make that name ours, or an address.
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
    """Refuses a request under a foreign host name."""

    def __init__(self, app: ASGIApp, exposure: Exposure, refusal: Response) -> None:
        self._app, self._exposure, self._refusal = app, exposure, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"]
        is_own = len(names) == 1 and self._exposure.allows(names[0])
        await (self._app if is_own else self._refusal)(scope, receive, send)
