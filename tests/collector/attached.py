"""Decks as a collector sees them: a token tells who calls, and requests come by HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.described import check_described
from livedeck.collector.protocol.commands import request_of
from livedeck.collector.serving.endpoints import ROUTER_REFUSALS
from livedeck.monitor import AlarmCommand


class Caller(NamedTuple):
    """Owner and right of a token."""

    name: str
    may: str


CALLERS = {"anna": "act", "bert": "act", "wall": "read", "prometheus": "metrics"}


class Doorkeeper:
    """Stand-in for the tokens: the name of the owner is the token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        caller = Caller(token, CALLERS[token]) if token in CALLERS else None
        await self._app({**scope, "state": {"caller": caller}}, receive, send)


def app(*routes: Route) -> ASGIApp:
    """Return an app of these routes behind the doorkeeper."""
    return Doorkeeper(Starlette(routes=list(routes), exception_handlers=ROUTER_REFUSALS))


class Answered(NamedTuple):
    """Status and object of a reply."""

    status: int
    body: dict[str, Any]


class Attached:
    """Deck with a token, in the process of the collector. It has `get` and `post` of a link."""

    def __init__(self, routes: list[Route], token: str = "anna") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app(*routes)), base_url="http://collector", headers=headers
        )

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answered:
        """Send a request. A body of bytes is sent unchanged, anything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self._http.request(method, path, content=content, headers=names)
        check_described(response)
        return Answered(response.status_code, response.json())

    async def post(self, path: str, body: Any = None, **headers: str) -> Answered:
        """Send a command and return the reply."""
        return await self.ask("POST", path, body, **headers)

    async def command(self, command: AlarmCommand) -> Answered:
        """Send an alarm command as a deck does."""
        path, body = request_of(command)
        return await self.post(path, body, idempotency_key=command.uid)

    async def get(self, path: str, query: str = "") -> dict[str, Any]:
        """Return the object that a link returns."""
        response = await self._http.get(f"{path}?{query}" if query else path)
        assert response.status_code == 200, response.text
        values: dict[str, Any] = response.json()
        return values

    async def close(self) -> None:
        """Disconnect the deck."""
        await self._http.aclose()


def fields(answered: Answered, *names: str) -> Mapping[str, Any]:
    """Return these fields of the alarm in a reply."""
    return {name: answered.body["alarm"].get(name) for name in names}
