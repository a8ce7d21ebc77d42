"""Endpoints, admitted requests, the envelopes of responses, and signed addresses."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from livedeck.simulator.engine.store import Document, Query, Where
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import forbidden, invalid, malformed_id
from livedeck.simulator.models import ListQuery, Schema, check, is_uuid
from livedeck.simulator.profiles import Profile, check_leniently

T = TypeVar("T")
L = TypeVar("L", bound=ListQuery)


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[T]):
    """Method on a path, its input, handler and output: one object for the route and for its OpenAPI description.

    `takes` is the model of the query (GET), of the JSON or form body, or of the headers that come with a file. `answer`
    is the model of a success, or the schema of a body in another `media` type than JSON. `errors`: the codes that do
    not follow from the other fields. `conflicts`: the codes with status 409, and their reasons.
    """

    method: str
    path: str
    handler: Callable[[ApiRequest[T]], Awaitable[Response]]
    takes: type[T] | None = None
    answer: type[BaseModel] | Schema | None = None
    errors: Sequence[int] = ()
    body: Literal["json", "form", "file"] = "json"
    media: str = "application/json"
    conflicts: Mapping[int, str] = field(default_factory=dict)

    @property
    def operation(self) -> str:
        """Name of the operation: a verb and its object."""
        return self.handler.__name__

    @property
    def parameters(self) -> type[Any] | None:
        """Model of the query (GET), or of the headers that come with a file; None if the input is a body."""
        return None if self.takes_body and self.body != "file" else self.takes

    def names(self, place: Literal["query", "header"]) -> set[str]:
        """Return the names of the parameters in the query or in the headers."""
        model = self.parameters if place == ("header" if self.takes_body else "query") else None
        return {*model.sent_names()} if model else set()

    @property
    def is_control(self) -> bool:
        """True if the endpoint is part of the control API."""
        return self.path.startswith("/_control")

    @property
    def takes_body(self) -> bool:
        """True if the endpoint reads a request body."""
        return self.method != "GET" and self.takes is not None


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[T]):
    """Admitted request whose input is a `T`. `workspace_id`: caller's workspace; empty outside the documented API."""

    world: World
    http: Request
    endpoint: Endpoint[T]
    workspace_id: str = ""
    profile: Profile = "documented"

    @property
    def origin(self) -> str:
        """Scheme and host that the caller used, so that addresses in responses work for that caller."""
        return origin_of(self.http)

    def path_id(self, name: str) -> str:
        """Return the id from the path in lower case. Raises the documented error if it is not a UUID."""
        value = str(self.http.path_params[name])
        if not is_uuid(value):
            raise malformed_id()
        return value.lower()

    def query(self) -> T:
        """Return the query; unknown names are ignored, and `name[]` is the list of all its values."""
        query = self.http.query_params
        return self.check({name: query.getlist(name) if name.endswith("[]") else query[name] for name in query})

    def headers(self) -> T:
        return self.check(self.http.headers)

    async def body(self) -> T:
        """Return the JSON body; an empty body counts as an empty object."""
        return self.check(await self._json())

    async def json_object(self) -> dict[str, Any]:
        """Return the JSON body of an endpoint without a model. Raises the documented error if it is no object."""
        content = await self._json()
        if not isinstance(content, dict):
            raise invalid(("body", "must be an object"))
        return content

    async def _json(self) -> object:
        return _parse(await self.http.body() or b"{}")

    def check(self, values: object) -> T:
        """Return the sent values as the model of the endpoint. Raises the documented error."""
        model: Any = self.endpoint.takes
        checked: T = (check_leniently if self.profile == "lenient" else check)(model, values)
        return checked


def origin_of(request: Request) -> str:
    """Return the scheme and host that the caller used."""
    server, port = request.scope.get("server") or ("localhost", 80)
    return f"{request.scope['scheme']}://{request.headers.get('host') or f'{server}:{port}'}"


def select(request: ApiRequest[L], kind: str, where: Where = ()) -> Query:
    """Return the query for one page of `kind`, restricted to `where`."""
    query = request.query()
    return Query(kind, request.workspace_id, where, order=query.order, page=query.page, per_page=query.per_page)


def data(content: Mapping[str, object] | Sequence[Document]) -> Response:
    """Return the envelope of an object, or of a list without pages."""
    return _json({"data": content})


def success() -> Response:
    """Return the response of operations without an object to show (platform-api.md, "Error body")."""
    return data({"success": True})


def page(query: Query, total: int, rows: Sequence[Document]) -> Response:
    """Return the envelope of a list."""
    pagination = {"page": query.page, "per_page": query.per_page, "total": total}
    return _json({"meta": {"pagination": pagination, "order": dict(query.order)}, "data": rows})


def json_response(content: bytes) -> Response:
    """Return a response of encoded JSON."""
    return Response(content, media_type="application/json")


def _json(content: Mapping[str, object]) -> Response:
    return json_response(json.dumps(content, separators=(",", ":")).encode())


def _parse(body: bytes) -> object:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise invalid(("body", "must be JSON")) from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)  # NaN and the infinities are not JSON


SIGNATURE_SECONDS = 600
"""Seconds that a signed address works, by the simulator's clock."""


def sign(request: ApiRequest[Any], path: str) -> str:
    """Return the address of a path of this simulator, valid for `SIGNATURE_SECONDS`."""
    expires = int(request.world.now()) + SIGNATURE_SECONDS
    return f"{request.origin}{path}?expires={expires}&sign={_signature(request.world, path, str(expires))}"


def check_signature(request: ApiRequest[Any]) -> None:
    """Raise the documented error if the address was tampered with or has expired."""
    query = request.http.query_params
    expires, signature = query.get("expires", ""), query.get("sign", "")
    expected = _signature(request.world, request.http.url.path, expires)
    if not hmac.compare_digest(signature.encode(), expected.encode()) or int(expires) < request.world.now():
        raise forbidden()


def _signature(world: World, path: str, expires: str) -> str:
    return hmac.digest(world.secret(), f"{path}\n{expires}".encode(), "sha256").hex()
