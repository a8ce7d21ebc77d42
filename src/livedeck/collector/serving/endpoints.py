"""Common parts of all routes: rights, request bodies and refusals (collector.md, "Requests")."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livedeck.collector.protocol.commands import Body
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


B = TypeVar("B", bound=Body)

Handler: TypeAlias = Callable[[Request, Caller], Awaitable[Any]]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def endpoint(needs: str, handler: Handler) -> Endpoint:
    """Return an endpoint that requires the right `needs` and replies with the handler's value or Refusal as JSON."""

    async def respond(request: Request) -> Response:
        try:
            value = await handler(request, permitted(request, needs))
        except Refusal as refusal:
            return refused(refusal)
        return value if isinstance(value, Response) else JSONResponse(value, headers=_HEADERS)

    return respond


def refused(refusal: Refusal) -> Response:
    """Return the response for a refusal."""
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    headers |= {"Retry-After": _RETRY_SECONDS} if refusal.status in {429, 503} else {}
    return JSONResponse(refusal.body, refusal.status, {**_HEADERS, **headers})


_HEADERS = {"Cache-Control": "no-store"}
_RETRY_SECONDS = "10"


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


_IDEMPOTENCY_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")


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
