"""ASGI app: routes, tokens, body limits, Date header, and documented errors."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from hmac import compare_digest
from itertools import groupby
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.http_server import head_fault
from livedeck.simulator.api import cdn
from livedeck.simulator.cross_origin import CrossOrigin, check_origins
from livedeck.simulator.engine.disk import is_disk_full
from livedeck.simulator.engine.faults import SKEW, ConnectionCut, apply_faults
from livedeck.simulator.engine.pattern import BODY_MATCHED, SeenRequest
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError, disk_full, forbidden, internal, of_status, too_large, unauthorized
from livedeck.simulator.http import ApiRequest, Endpoint, origin_of
from livedeck.simulator.openapi import openapi_document
from livedeck.simulator.profiles import Profile, check_profile, refuse_undocumented
from livedeck.simulator.recorder import HITS, REFUSED, SEEN, Recorder, recogniser
from livedeck.simulator.rehearsal import control_api

BODY_LIMIT = 8 * 1024 * 1024
"""Maximum number of bytes of a request (simulator.md, "Simulator limits")."""

UPLOAD_LIMIT = 512 * 1024 * 1024
"""Maximum number of bytes of a request to the upload address. Uploads go to the disk as they arrive."""

Authorize = Callable[[Request], str]
"""Function that returns the caller's workspace id, empty outside the documented API. Raises the documented error."""

_HEAD_FAULTS = {400: "the length of the body is ambiguous", 431: "request header fields too large"}

_log = logging.getLogger("livedeck.simulator")


@dataclass(frozen=True, slots=True)
class Wire:
    """Form of requests and responses: the profile, the origins of web pages that may call, and compression."""

    profile: Profile = "documented"
    cors: Sequence[str] = ()
    gzip: bool = False

    def check(self) -> None:
        """Raise SimulatorError for an unknown profile, or for a value that is no origin."""
        check_profile(self.profile)
        check_origins(self.cors)


def build(
    world: World,
    control_token: str,
    endpoints: Sequence[Endpoint[Any]],
    wire: Wire,
    playback: Sequence[Endpoint[Any]] = (),
) -> Starlette:
    """Return the whole simulator as one app.

    `endpoints`: endpoints of the documented API. `playback`: endpoints of HLS.
    """
    public = [*cdn.ENDPOINTS, *playback]

    async def describe(request: Request) -> Response:
        return JSONResponse(openapi_document(endpoints, server=origin_of(request)))

    routes = [
        *_routes(world, endpoints, _authorize_api(world), wire.profile),
        *_routes(world, control_api.ENDPOINTS, _authorize_control(world, control_token)),
        _FirstRoute("/openapi.json", describe),
        *_routes(world, [*public, *control_api.OPEN_ENDPOINTS], lambda _: ""),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Recorder, world=world, recognise=recogniser(world, [*endpoints, *public])),
            Middleware(SimulatorMiddleware, world=world, wire=wire),
        ],
        exception_handlers={ApiError: _answer_api_error, HTTPException: _answer_http_exception},
    )
    app.router.redirect_slashes = False
    return app


def _routes(
    world: World, endpoints: Sequence[Endpoint[Any]], authorize: Authorize, profile: Profile = "documented"
) -> list[Route]:
    """Return one route for each path, so that the error for a wrong method lists every allowed one."""
    by_path = groupby(sorted(endpoints, key=lambda endpoint: endpoint.path), key=lambda endpoint: endpoint.path)
    return [
        _route(world, path, {endpoint.method: endpoint for endpoint in group}, authorize, profile)
        for path, group in by_path
    ]


def _route(world: World, path: str, methods: dict[str, Endpoint[Any]], authorize: Authorize, profile: Profile) -> Route:
    async def answer(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        api_request = ApiRequest(world, request, endpoint, authorize(request), profile)
        if profile == "strict":
            refuse_undocumented(request, endpoint.names("query"), endpoint.names("header"))
        if endpoint.takes_body and endpoint.body == "json":
            await request.body()  # first: while the handler waited for it, another request could write
        return await endpoint.handler(api_request)

    return _FirstRoute(path, answer, methods=[*methods])


class _FirstRoute(Route):
    """Route that takes every method on its path, so that `subtitles/reorder` is never read as the id of a track."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return a full match for a wrong method too: `handle` refuses it with 405."""
        match, child_scope = super().matches(scope)
        return (Match.FULL if match is Match.PARTIAL else match), child_scope

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a wrong method with 405, and list the right ones in the same order in each process."""
        if scope["method"] not in (methods := self.methods or ()):
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})
        await self.app(scope, receive, send)


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise unauthorized()
    return token.strip()


def _authorize_api(world: World) -> Authorize:
    def authorize(request: Request) -> str:
        workspace = world.workspace_of(_bearer(request))
        if workspace is None:
            raise unauthorized()
        return workspace.workspace_id

    return authorize


def _authorize_control(world: World, control_token: str) -> Authorize:
    def authorize(request: Request) -> str:
        token = _bearer(request)
        if not compare_digest(token.encode(), control_token.encode()):
            raise forbidden() if world.workspace_of(token) else unauthorized()
        return ""

    return authorize


async def _answer_api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error.response({"WWW-Authenticate": "Bearer"} if error.status == 401 else None)


async def _answer_http_exception(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return of_status(error.status_code, error.detail).response(error.headers)


class SimulatorMiddleware:
    """Outermost layer: dates responses by the simulator's clock, limits bodies, applies faults, catches errors."""

    def __init__(self, app: ASGIApp, world: World, wire: Wire) -> None:
        self._app = app
        self._world = world
        self._encode: Callable[[ASGIApp], ASGIApp] = GZipMiddleware if wire.gzip else lambda app: app
        self._answer: ASGIApp = CrossOrigin(self._serve, wire.cors) if wire.cors else self._serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send_dated = self._dated(scope, send)
        refusal = _refuse_framing(scope)
        if refusal is not None:
            scope[REFUSED] = True
            await refusal(scope, receive, send_dated)
            return
        await self._answer(scope, receive, send_dated)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to the request, with the documented error if it fails."""
        try:
            await self._world.faults.late.land_due(self._world.now())
            await self._through_faults(scope, _bounded(scope, receive), send)
        except ApiError as error:
            await error.response()(scope, receive, send)
        except ClientDisconnect:
            return
        except ConnectionCut:
            raise
        except Exception as error:  # noqa: BLE001  outermost handler: the details go to the log, not to the caller
            await self._fault_of(error, scope).response()(scope, receive, send)

    def _fault_of(self, error: Exception, scope: Scope) -> ApiError:
        """Return the response to a failure of the simulator itself."""
        if is_disk_full(error):
            self._world.disk.refuse(error)
            return disk_full()
        _log.error("a request failed: %s %r", scope["method"], scope["path"], exc_info=error)
        return internal()

    async def _through_faults(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Bring the scenario up to date, and respond to the request through the faults that hit it."""
        world, request = self._world, scope.get(SEEN)
        world.timeline.catch_up(world.now())
        if request is None:
            await self._app(scope, receive, send)
            return
        if (world.faults.active and world.faults.reads_body(world.now())) or world.timeline.reads_body():
            receive = await _read_ahead(receive)
        now = world.now()
        world.timeline.notice(request, now)
        hits = world.faults.hitting(world.seed(), request, now) if world.faults.active else []
        scope[HITS] = [hit.fault.id for hit in hits]
        # Files have ranges and tags, which compression would change.
        encode = (lambda app: app) if scope["path"].startswith("/cdn/") else self._encode
        app = apply_faults(_noting(self._app, request), hits, now, world.clock, world.faults.late, encode=encode)
        await app(scope, receive, send)

    def _dated(self, scope: Scope, send: Send) -> Send:
        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = formatdate(self._world.now() + scope.get("extensions", {}).get(SKEW, 0), usegmt=True).encode()
                message["headers"] = [*message["headers"], (b"date", date)]
                if scope["method"] not in {"GET", "HEAD"} and message["status"] < 300:
                    self._world.disk.take()
            elif scope["method"] == "HEAD":
                message["body"] = b""
            await send(message)

        return send_dated


def _noting(app: ASGIApp, request: SeenRequest) -> ASGIApp:
    """Wrap the app: after a successful change, it sets `request.is_carried_out`, even if the reply is lost."""
    if request.method in {"GET", "HEAD"}:
        return app

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                request.is_carried_out = True
            await send(message)

        await app(scope, receive, send_noted)

    return noting


def _refuse_framing(scope: Scope) -> Response | None:
    """Return the refusal of a request that cannot be served; None for any other. A refusal ends the connection.

    Reasons: two servers may read its framing differently, its head is too large, or it uses another protocol.
    """
    status = head_fault(scope)
    if status is not None:
        return of_status(status, _HEAD_FAULTS[status]).response({"Connection": "close"})
    if not scope["http_version"].startswith("1."):
        return of_status(505, "http version not supported").response({"Connection": "close"})
    return None


async def _read_ahead(receive: Receive) -> Receive:
    """Receive the part of the body that patterns match, and return a `receive` that delivers it again."""
    messages = deque([await receive()])
    while messages[-1].get("more_body", False) and sum(len(part["body"]) for part in messages) < BODY_MATCHED:
        messages.append(await receive())

    async def receive_again() -> Message:
        return messages.popleft() if messages else await receive()

    return receive_again


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """Return a `receive` that refuses the body once its declared or received length exceeds the limit."""
    declared = Headers(scope=scope).get("content-length", "")
    limit = UPLOAD_LIMIT if scope["path"].startswith(("/upload/", "/_control/snapshots/")) else BODY_LIMIT
    if declared.isdecimal() and int(declared[:20]) > limit:
        scope[REFUSED] = True
        raise too_large()
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            scope[REFUSED] = True
            raise too_large()
        return message

    return receive_bounded
