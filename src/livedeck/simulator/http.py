"""One request and its answer: what a handler gets, the envelopes it answers with, and signed addresses."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from livedeck.simulator import rules
from livedeck.simulator.engine.store import Document, Order, Query, Where
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import forbidden, invalid, malformed_id
from livedeck.simulator.rules import Rule, Rules, gather, is_uuid, whole
from livedeck.simulator.schema import Schema

PAGING = {"page": whole(1), "per_page": whole(1, 100)}

"""Parameters of every list (decisions.md, "Requests")."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method on a path, what it takes, who answers, and what: one object for the route and for its description.

    `parameters` are in the query of a GET, else in the body: the rules of a JSON object or of a form, or one rule for a
    JSON array. `headers` are beyond the token. `body` "file": the bytes themselves. `answer` is the schema of a
    success, in `media`. `refuses`: the codes that do not follow from the rest.
    """

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Response]]
    parameters: Rules | Rule = field(default_factory=dict)
    answer: Schema = field(default_factory=dict)
    refuses: Sequence[int] = ()
    headers: Rules = field(default_factory=dict)
    body: Literal["json", "form", "file"] = "json"
    media: str = "application/json"

    @property
    def named(self) -> Rules:
        """The rules of its named parameters; none where the body is an array."""
        return {} if isinstance(self.parameters, Rule) else self.parameters

    @property
    def takes_body(self) -> bool:
        """Whether a request has a body that means something."""
        return self.method != "GET" and (bool(self.parameters) or self.body == "file")


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
        """The parameters of the query by their rules; others are ignored. `name[]` is the list of all its values."""
        given = self.request.query_params
        return gather(
            self.endpoint.named,
            {
                name: given.getlist(name) if name.endswith("[]") else given[name]
                for name in self.endpoint.named
                if name in given
            },
        )

    def headers(self) -> dict[str, Any]:
        """The headers of the endpoint by their rules."""
        taken = self.request.headers
        return gather(self.endpoint.headers, {name: taken[name] for name in self.endpoint.headers if name in taken})

    async def body(self) -> dict[str, Any]:
        """The parameters of the JSON body by their rules; an empty body is an empty object."""
        content = _parsed(await self.request.body() or b"{}")
        if not isinstance(content, dict):
            raise invalid(("body", "must be a JSON object"))
        return gather(self.endpoint.named, content)

    async def array(self) -> list[Any]:
        """The JSON array that is the body, by the rule of the endpoint."""
        assert isinstance(self.endpoint.parameters, Rule)
        taken: list[Any] = rules.take(self.endpoint.parameters, _parsed(await self.request.body()))
        return taken

    def search(self, kind: str, order: Order, where: Where = ()) -> Query:
        """The page that the query asks for, of what fits `where`; in that order unless it asks for another."""
        asked = self.query()
        return Query(
            kind,
            self.workspace,
            where,
            order=asked.get("order", order),
            page=asked.get("page", 1),
            per_page=asked.get("per_page", 20),
        )


def one(data: Mapping[str, object]) -> Response:
    """The envelope of a single object."""
    return _answer({"data": data})


def several(data: Sequence[Document]) -> Response:
    """The same around a list that has no pages."""
    return _answer({"data": data})


def done() -> Response:
    """What answers where there is no object to show (decisions.md, "Responses not shown")."""
    return one({"success": True})


def page(query: Query, total: int, data: Sequence[Document]) -> Response:
    """The envelope of a list."""
    pagination = {"page": query.page, "per_page": query.per_page, "total": total}
    return _answer({"meta": {"pagination": pagination, "order": dict(query.order)}, "data": data})


def encoded(content: bytes) -> Response:
    """JSON that is ready."""
    return Response(content, media_type="application/json")


def _answer(content: Mapping[str, object]) -> Response:
    return encoded(json.dumps(content, separators=(",", ":")).encode())


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise invalid(("body", "must be JSON")) from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and the infinities are not JSON


GOOD_FOR = 600

"""Seconds that a signed address works, by the service's clock."""


def signed(call: Call, path: str) -> str:
    """That path of ours as an address that works for a while."""
    expires = int(call.world.now()) + GOOD_FOR
    return f"{call.origin}{path}?expires={expires}&sign={_sign(call.world, path, str(expires))}"


def check(call: Call) -> None:
    """Raises the documented refusal where the address was tampered with, or its time is over."""
    given: Mapping[str, str] = call.request.query_params
    expires, sign = given.get("expires", ""), given.get("sign", "")
    right = _sign(call.world, call.request.url.path, expires)
    if not hmac.compare_digest(sign.encode(), right.encode()) or int(expires) < call.world.now():
        raise forbidden()


def _sign(world: World, path: str, expires: str) -> str:
    return hmac.digest(world.secret(), f"{path}\n{expires}".encode(), "sha256").hex()
