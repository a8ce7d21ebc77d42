"""One request and its answer: what a chapter's handler gets, and the envelopes it answers with (platform-api.md, 1)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from livedeck.service.errors import invalid, malformed_id
from livedeck.service.rules import Rules, gather, is_uuid, whole
from livedeck.service.store import Document, Query
from livedeck.service.world import World

PAGING = {"page": whole(1), "per_page": whole(1, 100)}
"""Parameters of every list (decisions.md, "Requests")."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method on a path, the parameters it takes (in the query of a GET, else in the JSON body), and who answers."""

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Response]]
    parameters: Rules = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request. `workspace` is the id of the caller's, or empty behind a door that has none."""

    world: World
    request: Request
    endpoint: Endpoint
    workspace: str = ""

    @property
    def origin(self) -> str:
        """The scheme and host that the caller reached us at, so that addresses in answers work for it."""
        server, port = self.request.scope.get("server") or ("localhost", 80)
        return f"{self.request.scope['scheme']}://{self.request.headers.get('host') or f'{server}:{port}'}"

    def identity(self, name: str) -> str:
        """The id in the path, lower case. Raises the refusal for one that is no UUID."""
        text = str(self.request.path_params[name])
        if not is_uuid(text):
            raise malformed_id()
        return text.lower()

    def query(self) -> dict[str, Any]:
        """The parameters of the query by their rules; others are ignored."""
        rules = self.endpoint.parameters
        return gather(rules, {name: value for name, value in self.request.query_params.items() if name in rules})

    async def body(self) -> dict[str, Any]:
        """The parameters of the JSON body by their rules; an empty body is an empty object."""
        return gather(self.endpoint.parameters, _object(await self.request.body() or b"{}"))


def one(data: Mapping[str, object]) -> Response:
    """The envelope of a single object."""
    return _answer({"data": data})


def page(query: Query, total: int, data: Sequence[Document]) -> Response:
    """The envelope of a list."""
    pagination = {"page": query.page, "per_page": query.per_page, "total": total}
    return _answer({"meta": {"pagination": pagination, "order": dict(query.order)}, "data": data})


def encoded(content: bytes) -> Response:
    """JSON that is ready."""
    return Response(content, media_type="application/json")


def _answer(content: Mapping[str, object]) -> Response:
    return encoded(json.dumps(content, separators=(",", ":")).encode())


def _object(text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise invalid(("body", "must be JSON")) from None
    if not isinstance(content, dict):
        raise invalid(("body", "must be a JSON object"))
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and the infinities are not JSON
