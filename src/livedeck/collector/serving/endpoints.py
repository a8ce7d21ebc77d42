"""Endpoints of the collector: right, parameters, body and reply of each, and refusals (collector.md, "Requests")."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from uuid import uuid4

from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from livedeck.collector.protocol import wire
from livedeck.collector.protocol.commands import Body
from livedeck.monitor import Snapshot
from livedeck.text.secrets import masked_line

MAX_BODY = 16 * 1024
"""Maximum number of bytes of a request body."""

AUTHORIZATION_NEEDED = "a token is needed: Authorization: Bearer TOKEN"
"""Text of the refusal if a request has no token."""

_ENOUGH = {
    "metrics": {"metrics", "read", "act"},
    "read": {"read", "act"},
    "respond": {"respond", "act"},
    "act": {"act"},
}
"""Right that a request needs -> rights that include it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Owner of a request's token.

    `name`: name of the token, which is the actor of changes. `may`: right of the token. `sha256`: digest of the token.
    `peer`: address of the client.
    """

    name: str
    may: str
    sha256: str = ""
    peer: str = ""


class Refusal(Exception):  # noqa: N818  a response, no error
    """A request is refused. `code`, `say`: reason for programs and for people. `more`: other members of the reply."""

    def __init__(self, status: int, code: str, say: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(say)
        self.status, self.body = status, {"error": code, "say": say, **(more or {})}


def not_on_board(snapshot: Snapshot) -> Refusal:
    """Return the refusal of an event that the collector does not show: 404, or 503 before the first event list."""
    if snapshot.link.as_of is None:
        return Refusal(503, wire.STARTING, "the collector has not read the event list yet; retry in a few seconds")
    return Refusal(404, "gone", "the collector shows no such event")


B = TypeVar("B", bound=Body)

T = TypeVar("T")

Right: TypeAlias = Literal["", "metrics", "read", "respond", "act"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a request.

    `words`: its meaning. `schema`: its JSON Schema, from which `number` takes its limits. `is_json`: its text is JSON.
    """

    name: str
    words: str
    schema: Mapping[str, Any]
    place: Literal["query", "header"] = "query"
    is_required: bool = False
    is_json: bool = False

    def number(self, request: Request) -> int:
        """Return the value in the query as a whole number, or the default. Raises Refusal."""
        text, least, most = request.query_params.get(self.name, ""), self.schema["minimum"], self.schema["maximum"]
        if not text:
            return int(self.schema["default"])
        if not (text.isascii() and text.isdecimal() and len(text) < 17 and least <= int(text) <= most):
            raise Refusal(422, "not understood", f"{self.name}: a whole number from {least} to {most}")
        return int(text)


_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")

ONCE = Parameter(
    "Idempotency-Key",
    "Id of the command. A repeated command with the same id is not carried out again.",
    {"type": "string", "pattern": f"^{_IDEMPOTENCY_KEY.pattern}$"},
    "header",
)


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[T]):
    """Request that the collector responds to: one entry for its route and for its OpenAPI description.

    `needs`: right of the token; empty for none. `handler`: method of T. It gets the request and, with a right, the
    caller and the body. It returns the value of the reply, or a Response. Its docstring describes the request. `takes`:
    type of the body. `reply`: type of the value if the handler returns a Response. `media`: media type of the reply.
    `refuses`: statuses of refusals that do not follow from the other fields, as 404 follows from an id in the path.
    """

    method: str
    path: str
    needs: Right
    handler: Callable[..., Awaitable[Any]]
    takes: type[Body] | None = None
    parameters: tuple[Parameter, ...] = ()
    reply: Any = None
    media: str = "application/json"
    refuses: tuple[int, ...] = ()

    def route(self, owner: T) -> Route:
        """Return the route to the handler of `owner`."""

        async def respond(request: Request) -> Response:
            try:
                caller = permitted(request, self.needs)
                body = [await read_body(request, self.takes)] if self.takes else []
                value = await self.handler(owner, request, caller, *body)
            except Refusal as refusal:
                return refused(refusal)
            if isinstance(value, Response):
                return value
            return JSONResponse(to_jsonable_python(value), headers=_HEADERS)

        async def respond_to_all(request: Request) -> Response:
            response: Response = await self.handler(owner, request)
            return response

        return Route(self.path, respond if self.needs else respond_to_all, methods=[self.method])


def routes_of(endpoints: Iterable[Endpoint[T]], owner: T) -> list[Route]:
    """Return the routes to the handlers of `owner`."""
    return [endpoint.route(owner) for endpoint in endpoints]


def refused(refusal: Refusal) -> Response:
    """Return the response for a refusal."""
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    headers |= {"Retry-After": _RETRY_SECONDS} if refusal.status in {429, 503} else {}
    return JSONResponse(refusal.body, refusal.status, {**_HEADERS, **headers})


_HEADERS = {"Cache-Control": "no-store"}
_RETRY_SECONDS = "10"


def private(request: Request, content: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """Respond with content for this reader alone and its ETag, or with 304 if the reader has it."""
    tag = f'"{sha256(content).hexdigest()}"'
    headers = {
        **(headers or {}),
        "Cache-Control": "private, no-cache",
        "ETag": tag,
        "X-Content-Type-Options": "nosniff",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def permitted(request: Request, needs: str) -> Caller:
    """Return the caller of a request. Raises Refusal if the token lacks the right `needs`."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise Refusal(401, "no token", AUTHORIZATION_NEEDED)
    check_right(caller, needs)
    return caller


def check_right(caller: Caller, needs: str) -> None:
    """Raise Refusal if the caller's token lacks the right `needs`."""
    if caller.may not in _ENOUGH[needs]:
        say = f"the token of {caller.name} has the right {caller.may}; this request needs {needs}"
        raise Refusal(403, "not allowed", say)


async def read_content(request: Request, limit: int = MAX_BODY) -> bytes:
    """Return the body. Raises Refusal if it is longer than `limit` bytes."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > limit:
            raise Refusal(413, "too long", f"the body is longer than {limit // 1024} kB")
    return content


async def read_body(request: Request, kind: type[B]) -> B:
    """Return the body as `kind`. Raises Refusal if it is too long, invalid, or has unknown fields."""
    content = await read_content(request)
    try:
        body = kind.model_validate_json(content or b"{}")
    except ValidationError as error:
        raise Refusal(422, "not understood", masked_line(_fault(error), 300)) from None
    if unknown := next(_faults(json.loads(content or b"{}"), body.model_dump()), ""):
        raise Refusal(422, "not understood", masked_line(unknown, 300))
    return body


def uid_of(request: Request) -> str:
    """Return the idempotency key of a command, or a new one. Raises Refusal."""
    text = request.headers.get("idempotency-key")
    if text is None:
        return uuid4().hex
    if not _IDEMPOTENCY_KEY.fullmatch(text):
        raise Refusal(422, "not understood", "Idempotency-Key: 8 to 64 letters, digits, - and _")
    return text


def _fault(error: ValidationError) -> str:
    """Return the first fault as text, without the sent value, which may be a secret."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the body'}: {first['msg']}"


def _faults(given: Any, kept: Any, place: str = "") -> Iterator[str]:
    """Yield a text for each unknown field and each time without a zone. `given`, `kept`: body as sent, as parsed."""
    if isinstance(given, dict) and isinstance(kept, dict):
        yield from (f"{place}{name}: unknown" for name in given if name not in kept)
        for name, value in kept.items():
            yield from _faults(given.get(name), value, f"{place}{name}.")
    elif isinstance(given, list) and isinstance(kept, (list, tuple)):
        for index, (item, value) in enumerate(zip(given, kept, strict=False)):
            yield from _faults(item, value, f"{place}{index}.")
    elif isinstance(kept, datetime) and kept.tzinfo is None:
        yield f"{place.removesuffix('.')}: a time needs its zone"


async def _unknown(request: Request, error: Exception) -> Response:
    """Return a refusal of the router, such as 404, in the form of all refusals."""
    assert isinstance(error, HTTPException)
    is_path = error.status_code == 404
    say = "no such path; `livedeck docs openapi` lists all" if is_path else f"wrong request: {error.detail}"
    response = refused(Refusal(error.status_code, "unknown", say))
    if error.status_code == 405:  # the error names the methods of one route, but a path may have several routes
        routes = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
        response.headers["Allow"] = ", ".join(sorted({method for route in routes for method in route.methods}))
    return response


ROUTER_REFUSALS = {HTTPException: _unknown}
"""Exception handlers of Starlette, so that the refusal of an unknown path has the form of all refusals."""
