"""What every route of the collector has in common: who may, what a body may be, and how a refusal reads (collector.md,
"Requests")."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from livedeck.collector.protocol.commands import Body
from livedeck.text.secrets import masked_line

MAX_BODY = 16 * 1024
"""Bytes."""

_MAY = ("metrics", "read", "act")
"""What a token may; each includes those before it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The token that came with a request: its name is the actor of what is done with it.

    `may`: `metrics`, `read` or `act`. `sha256`: the token's digest. `peer`: the address that it came from.
    """

    name: str
    may: str
    sha256: str = ""
    peer: str = ""


class Refusal(Exception):  # noqa: N818  an answer, no error
    """Why it is not done: `code` for a program, `say` for a person; `more`: what stands beside them."""

    def __init__(self, status: int, code: str, say: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(say)
        self.status, self.body = status, {"error": code, "say": say, **(more or {})}


B = TypeVar("B", bound=Body)

Handler: TypeAlias = Callable[[Request, Caller], Awaitable[Any]]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def endpoint(needs: str, handler: Handler) -> Endpoint:
    """What answers a route: JSON of what the handler returns, or of its Refusal, to whoever `needs` allows."""

    async def answer(request: Request) -> Response:
        try:
            value = await handler(request, permitted(request, needs))
        except Refusal as refusal:
            return refused(refusal)
        return value if isinstance(value, Response) else JSONResponse(value, headers=_HEADERS)

    return answer


def refused(refusal: Refusal) -> Response:
    """What is answered then."""
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    headers |= {"Retry-After": _RETRY_SECONDS} if refusal.status in {429, 503} else {}
    return JSONResponse(refusal.body, refusal.status, {**_HEADERS, **headers})


_HEADERS = {"Cache-Control": "no-store"}
_RETRY_SECONDS = "10"


def permitted(request: Request, needs: str) -> Caller:
    """Who asks. Raises Refusal where they may not."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise Refusal(401, "no token", "a token is needed: Authorization: Bearer ...")
    if caller.may not in _MAY[_MAY.index(needs) :]:
        raise Refusal(403, "not allowed", f"the token of {caller.name} may {caller.may}; this needs {needs}")
    return caller


async def read_body(request: Request, kind: type[B]) -> B:
    """The body, which holds what is asked for and nothing else. Raises Refusal."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY:
            raise Refusal(413, "too long", f"a body may have {MAX_BODY // 1024} kB")
    try:
        body = kind.model_validate_json(content or b"{}")
    except ValidationError as error:
        raise Refusal(422, "not understood", masked_line(_fault(error), 300)) from None
    if unknown := next(_faults(json.loads(content or b"{}"), body.model_dump()), ""):
        raise Refusal(422, "not understood", masked_line(unknown, 300))
    return body


def _fault(error: ValidationError) -> str:
    """The first thing that is wrong, without what was sent."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the body'}: {first['msg']}"


def _faults(given: Any, kept: Any, place: str = "") -> Iterator[str]:
    """What was given and is not kept, and times that name no zone."""
    if isinstance(given, dict) and isinstance(kept, dict):
        yield from (f"{place}{name}: unknown" for name in given if name not in kept)
        for name, value in kept.items():
            yield from _faults(given.get(name), value, f"{place}{name}.")
    elif isinstance(given, list) and isinstance(kept, (list, tuple)):
        for index, (item, value) in enumerate(zip(given, kept, strict=False)):
            yield from _faults(item, value, f"{place}{index}.")
    elif isinstance(kept, datetime) and kept.tzinfo is None:
        yield f"{place.removesuffix('.')}: a time needs its zone"
