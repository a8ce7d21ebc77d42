"""Requests whose reply is sent before they are carried out."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Scope

_log = logging.getLogger("livedeck.simulator")


@dataclass(frozen=True, slots=True)
class LateRequest:
    """Request whose response was sent before the app carries it out. `due`: time to carry it out (epoch seconds)."""

    due: float
    app: ASGIApp
    scope: Scope
    body: bytes

    async def land(self) -> None:
        """Carry out the request and discard its response."""
        message = {"type": "http.request", "body": self.body, "more_body": False}

        async def receive() -> Message:
            return message

        await self.app(self.scope, receive, discard)


class LateRequests:
    """Queue of requests to carry out later. The next request to the simulator after their time carries them out.

    `clears`: number of times that the queue was cleared.
    """

    def __init__(self) -> None:
        self.clears = 0
        self._waiting: list[LateRequest] = []

    def add(self, request: LateRequest) -> None:
        """Add a request, to be carried out at its time."""
        self._waiting.append(request)

    async def land_due(self, now: float) -> None:
        """Carry out the requests whose time has come, the earliest first."""
        due = sorted((request for request in self._waiting if request.due <= now), key=lambda request: request.due)
        self._waiting = [request for request in self._waiting if request.due > now]
        for request in due:
            try:
                await request.land()
            except Exception:  # noqa: BLE001  its sender is gone, and the current request must not fail for it
                _log.exception("a late change failed: %s %r", request.scope["method"], request.scope["path"])

    def clear(self) -> None:
        """Drop all requests, because their workspace is created anew."""
        self._waiting.clear()
        self.clears += 1


async def discard(_message: Message) -> None:
    """Discard a response."""
