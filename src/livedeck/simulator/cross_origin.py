"""CORS: web pages of the given origins may call the API, and never the control API."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from livedeck.simulator.errors import SimulatorError

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
EXPOSED = ("Content-Disposition", "Date", "ETag", "Retry-After")
"""Header fields that a page may read, besides those that every browser allows."""

_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_PRIVATE = "/_control", "/_clock"


class CrossOrigin:
    """Middleware that adds CORS headers, and responds to preflight requests, for everything but the control API."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._cors = CORSMiddleware(
            app, allow_origins=origins, allow_methods=METHODS, allow_headers=["*"], expose_headers=EXPOSED
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app if scope["path"].startswith(_PRIVATE) else self._cors
        await app(scope, receive, send)


def check_origins(origins: Sequence[str]) -> None:
    """Raise SimulatorError for `*` or `null`, or a value that no browser sends as `Origin`."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise SimulatorError(
                f"an origin is a scheme, a host and perhaps a port, such as http://localhost:5173, not {origin!r}"
            )
