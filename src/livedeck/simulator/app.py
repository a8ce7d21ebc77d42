"""The ASGI app: routes, who is admitted, the limit on bodies, the Date header, and every error as documented."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from email.utils import formatdate
from hmac import compare_digest
from itertools import groupby

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.simulator import api, openapi
from livedeck.simulator.api import cdn
from livedeck.simulator.engine.faults import SKEW, LostError, apply_fault
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import Refusal, forbidden, plain, too_large, unauthorised, unforeseen
from livedeck.simulator.http import Call, Endpoint
from livedeck.simulator.rehearsal import control_api

BODY_LIMIT = 8 * 1024 * 1024

"""Bytes in a request (service.md, "Limits")."""


UPLOAD_LIMIT = 512 * 1024 * 1024

"""Bytes in a request to the upload address, which go to the disk as they come."""


VERSION = "1"

"""Of the service's description; the API's own versions are in its paths (platform-api.md, 9)."""


Admission = Callable[[Request], str]

"""Who may pass: answers the id of the caller's workspace, empty where there is none, or raises a Refusal."""


_log = logging.getLogger("livedeck.simulator")


def build(world: World, control_token: str) -> Starlette:
    """The whole service as one app."""
    routes = [
        *_routes(world, api.ENDPOINTS, _api(world)),
        *_routes(world, control_api.ENDPOINTS, _admin(world, control_token)),
        Route("/openapi.json", _described),
        *_routes(world, cdn.ENDPOINTS, lambda request: ""),  # noqa: ARG005  pictures are for everyone
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(EdgeMiddleware, world=world)],
        exception_handlers={Refusal: _refused, HTTPException: _unrouted},
    )
    app.router.redirect_slashes = False
    return app


def _routes(world: World, endpoints: Sequence[Endpoint], admit: Admission) -> list[Route]:
    """One route a path, so that a wrong method is told every right one."""
    by_path = groupby(sorted(endpoints, key=lambda one: one.path), key=lambda one: one.path)
    return [_route(world, path, {one.method: one for one in group}, admit) for path, group in by_path]


def _route(world: World, path: str, methods: dict[str, Endpoint], admit: Admission) -> Route:
    async def serve(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        call = Call(world, request, endpoint, admit(request))
        if endpoint.takes_body and endpoint.body == "json":
            await request.body()  # first: nobody else may write between what a handler reads and what it writes
        return await endpoint.handler(call)

    return Route(path, serve, methods=[*methods])


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise unauthorised()
    return token.strip()


def _api(world: World) -> Admission:
    def admit(request: Request) -> str:
        owner = world.owner(_bearer(request))
        if owner is None:
            raise unauthorised()
        return owner.workspace_id

    return admit


def _admin(world: World, control_token: str) -> Admission:
    def admit(request: Request) -> str:
        token = _bearer(request)
        if not compare_digest(token.encode(), control_token.encode()):
            raise forbidden() if world.owner(token) else unauthorised()
        return ""

    return admit


async def _described(_: Request) -> Response:
    return JSONResponse(openapi.document(api.ENDPOINTS, VERSION))


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return refusal.response(headers)


async def _unrouted(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return plain(error.status_code, error.detail).response(error.headers)


class EdgeMiddleware:
    """The outermost layer: dates answers by the service's clock, bounds bodies, catches what nobody foresaw."""

    def __init__(self, app: ASGIApp, world: World) -> None:
        self._app = app
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._dated(scope, send)
        try:
            await self._faulty(scope)(scope, _bounded(scope, receive), answer)
        except Refusal as refusal:
            await refusal.response()(scope, receive, answer)
        except ClientDisconnect:
            return
        except LostError:
            raise
        except Exception:  # noqa: BLE001  the top of every request: it logs, and the caller learns no details
            _log.exception("a request failed: %s %s", scope["method"], scope["path"])
            await unforeseen().response()(scope, receive, answer)

    def _faulty(self, scope: Scope) -> ASGIApp:
        """The app as this request meets it: with the scenario up to date, and the faults that strike."""
        world, now = self._world, self._world.now()
        world.agenda.catch_up(now)
        if scope["path"].startswith("/_control") or not world.faults.all:
            return self._app
        return apply_fault(self._app, world.faults.striking(world.seed(), scope["method"], scope["path"], now), now)

    def _dated(self, scope: Scope, send: Send) -> Send:
        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = formatdate(self._world.now() + scope.get("extensions", {}).get(SKEW, 0), usegmt=True).encode()
                message["headers"] = [*message["headers"], (b"date", date)]
            elif scope["method"] == "HEAD":
                message["body"] = b""
            await send(message)

        return dated


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """The same body, refused once it is over the limit: by what it declares, or by what has come."""
    declared = Headers(scope=scope).get("content-length", "")
    limit = UPLOAD_LIMIT if scope["path"].startswith("/upload/") else BODY_LIMIT
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise too_large()
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise too_large()
        return message

    return bounded
