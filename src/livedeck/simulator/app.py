"""ASGI app: routes, tokens, body limits, Date header, documented errors, and OpenAPI."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import formatdate
from hmac import compare_digest
from itertools import groupby
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from livedeck.http_server import head_fault
from livedeck.simulator.api import cdn
from livedeck.simulator.engine.disk import is_disk_full
from livedeck.simulator.engine.faults import SKEW, ConnectionCut, apply_faults
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError, disk_full, forbidden, internal, of_status, too_large, unauthorized
from livedeck.simulator.http import ApiRequest, Endpoint
from livedeck.simulator.models import BYTES, Error, Schema
from livedeck.simulator.rehearsal import control_api

BODY_LIMIT = 8 * 1024 * 1024
"""Bytes in a request (simulator.md, "Simulator limits")."""

UPLOAD_LIMIT = 512 * 1024 * 1024
"""Bytes in a request to the upload address, which go to the disk as they arrive."""

Authorize = Callable[[Request], str]
"""Returns the caller's workspace id, empty if the address has none; raises the documented error."""

_HEAD_FAULTS = {400: "the length of the body is ambiguous", 431: "request header fields too large"}

_log = logging.getLogger("livedeck.simulator")


def build(world: World, control_token: str, endpoints: Sequence[Endpoint[Any]]) -> Starlette:
    """Return the whole simulator as one app; `endpoints` are those of the documented API."""

    async def describe(_: Request) -> Response:
        return JSONResponse(openapi_document(endpoints))

    routes = [
        *_routes(world, endpoints, _authorize_api(world)),
        *_routes(world, control_api.ENDPOINTS, _authorize_control(world, control_token)),
        Route("/openapi.json", describe),
        *_routes(world, [*cdn.ENDPOINTS, *control_api.OPEN_ENDPOINTS], lambda _: ""),  # pictures are public
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(SimulatorMiddleware, world=world)],
        exception_handlers={ApiError: _answer_api_error, HTTPException: _answer_http_exception},
    )
    app.router.redirect_slashes = False
    return app


def _routes(world: World, endpoints: Sequence[Endpoint[Any]], authorize: Authorize) -> list[Route]:
    """Return one route for each path, so that the error for a wrong method lists every allowed one."""
    by_path = groupby(sorted(endpoints, key=lambda endpoint: endpoint.path), key=lambda endpoint: endpoint.path)
    return [
        _route(world, path, {endpoint.method: endpoint for endpoint in group}, authorize) for path, group in by_path
    ]


def _route(world: World, path: str, methods: dict[str, Endpoint[Any]], authorize: Authorize) -> Route:
    async def answer(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        api_request = ApiRequest(world, request, endpoint, authorize(request))
        if endpoint.takes_body and endpoint.body == "json":
            await request.body()  # first: no other request may write between the reads and the writes of a handler
        return await endpoint.handler(api_request)

    return Route(path, answer, methods=[*methods])


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

    def __init__(self, app: ASGIApp, world: World) -> None:
        self._app = app
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send_dated = self._dated(scope, send)
        refusal = _refuse_framing(scope)
        if refusal is not None:
            await refusal(scope, receive, send_dated)
            return
        scope = _in_origin_form(scope)
        try:
            await self._world.faults.late.land_due(self._world.now())
            await self._with_faults(scope)(scope, _bounded(scope, receive), send_dated)
        except ApiError as error:
            await error.response()(scope, receive, send_dated)
        except ClientDisconnect:
            return
        except ConnectionCut:
            raise
        except Exception as error:  # noqa: BLE001  outermost handler: the details go to the log, not to the caller
            await self._fault_of(error, scope).response()(scope, receive, send_dated)

    def _fault_of(self, error: Exception, scope: Scope) -> ApiError:
        """Return the response to a failure of the simulator itself."""
        if is_disk_full(error):
            self._world.disk.refuse(error)
            return disk_full()
        _log.error("a request failed: %s %s", scope["method"], scope["path"], exc_info=error)
        return internal()

    def _with_faults(self, scope: Scope) -> ASGIApp:
        """Return the app for this request: with the scenario up to date and wrapped in the faults that hit it."""
        world, now = self._world, self._world.now()
        world.timeline.catch_up(now)
        if scope["path"].startswith(("/_control", "/_clock")) or not world.faults.active:
            return self._app
        faults = world.faults.matching(world.seed(), scope["method"], scope["path"], now)
        return apply_faults(self._app, faults, now, world.faults.late)

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


def _refuse_framing(scope: Scope) -> Response | None:
    """Return the refusal of a request that cannot be served; it ends the connection.

    Reasons: two servers may read its framing differently, its head is too large, or it uses another protocol.
    """
    status = head_fault(scope)
    if status is not None:
        return of_status(status, _HEAD_FAULTS[status]).response({"Connection": "close"})
    if not scope["http_version"].startswith("1."):
        return of_status(505, "http version not supported").response({"Connection": "close"})
    return None


def _in_origin_form(scope: Scope) -> Scope:
    """Return the request with its path only; a client that expects a proxy sends scheme and host too."""
    match = re.match(rb"https?://[^/]*", scope["raw_path"], re.IGNORECASE)
    if match is None:
        return scope
    path = scope["raw_path"][match.end() :] or b"/"
    return {**scope, "raw_path": path, "path": unquote(path.decode("ascii"))}


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """Return a `receive` that refuses the body once its declared or received length exceeds the limit."""
    declared = Headers(scope=scope).get("content-length", "")
    limit = UPLOAD_LIMIT if scope["path"].startswith(("/upload/", "/_control/snapshots/")) else BODY_LIMIT
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise too_large()
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise too_large()
        return message

    return receive_bounded


def openapi_document(endpoints: Sequence[Endpoint[Any]]) -> Schema:
    """Return the endpoints as an OpenAPI 3.1 document, derived from the models in use."""
    models: list[type[BaseModel]] = [Error]
    for endpoint in endpoints:
        models += [endpoint.answer] if isinstance(endpoint.answer, type) else []
        models += [endpoint.takes] if endpoint.takes_body and endpoint.takes and endpoint.body != "file" else []
    references, definitions = models_json_schema(
        [(model, "validation") for model in models],
        ref_template="#/components/schemas/{model}",
        schema_generator=_SchemaGenerator,
    )
    schemas = {model: schema for (model, _), schema in references.items()}
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "livedeck simulator", "version": "1"},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": definitions["$defs"],
        },
    }


class _SchemaGenerator(GenerateJsonSchema):
    """Schemas without titles of fields, and with defaults only for numbers in a query."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  pydantic's signature
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        is_number = isinstance(schema.get("default"), int)
        return super().default_schema(schema) if is_number else self.generate_inner(schema["schema"])


def _operation(endpoint: Endpoint[Any], schemas: Mapping[Any, Schema]) -> Schema:
    path_ids = _PATH_ID.findall(endpoint.path)
    codes = {*_ANY_CODES, *endpoint.errors}
    codes |= {400301} if any(name != "material_id" for name in path_ids) else set()
    codes |= {400400} if endpoint.takes else set()
    answer = schemas[endpoint.answer] if isinstance(endpoint.answer, type) else endpoint.answer
    success = {"description": "done", "content": {endpoint.media: {"schema": answer}}}
    operation = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.handler.__name__}",
        "summary": (endpoint.handler.__doc__ or "").strip().partition("\n")[0],
        "parameters": [*map(_path_parameter, path_ids), *_parameters(endpoint)],
        "responses": {"200": success, **dict(_error_responses(sorted(codes), schemas[Error]))},
    }
    return operation | ({"requestBody": _request_body(endpoint, schemas)} if endpoint.takes_body else {})


_PATH_ID = re.compile(r"\{(\w+)\}")
_ANY_CODES = 401401, 413413, 500500, 507507


def _path_parameter(name: str) -> Schema:
    schema = {"type": "string"} if name == "material_id" else {"type": "string", "format": "uuid"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _parameters(endpoint: Endpoint[Any]) -> Iterator[Schema]:
    """Yield the query parameters of a GET, or the headers that come with an uploaded file."""
    if endpoint.takes is None or (endpoint.takes_body and endpoint.body != "file"):
        return
    schema = endpoint.takes.model_json_schema(schema_generator=_SchemaGenerator)
    for name, described in schema["properties"].items():
        required = name in schema.get("required", ())
        yield {"name": name, "in": "header" if endpoint.takes_body else "query", "required": required} | {
            "schema": described,
            "description": described["description"],
        }


def _request_body(endpoint: Endpoint[Any], schemas: Mapping[Any, Schema]) -> Schema:
    if endpoint.body == "file":
        return {"content": {"application/octet-stream": {"schema": BYTES}}}
    media = "multipart/form-data" if endpoint.body == "form" else "application/json"
    model: Any = endpoint.takes
    required = any(field.is_required() for field in model.model_fields.values())
    return {"required": required, "content": {media: {"schema": schemas[model]}}}


def _error_responses(codes: Sequence[int], error: Schema) -> Iterator[tuple[str, Schema]]:
    for status, group in groupby(codes, key=lambda code: str(code)[:3]):
        yield status, {"description": ", ".join(map(str, group)), "content": {"application/json": {"schema": error}}}
