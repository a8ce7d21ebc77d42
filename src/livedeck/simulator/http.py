"""An endpoint, an admitted request, the envelopes of answers, and signed addresses."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from livedeck.simulator.engine.store import Document, Query, Where
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import forbidden, invalid, malformed_id
from livedeck.simulator.models import ListQuery, Schema, check, is_uuid

T = TypeVar("T")
L = TypeVar("L", bound=ListQuery)


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[T]):
    """A method on a path, what it takes, who answers, and what: one object for the route and for its description.

    `takes` is the model of the query of a GET, of the body of JSON or of a form, or of the headers beside a file.
    `answer` is the model of a success, or the schema of what is no JSON, in `media`. `errors`: the codes that do not
    follow from the rest.
    """

    method: str
    path: str
    handler: Callable[[ApiRequest[T]], Awaitable[Response]]
    takes: type[T] | None = None
    answer: type[BaseModel] | Schema | None = None
    errors: Sequence[int] = ()
    body: Literal["json", "form", "file"] = "json"
    media: str = "application/json"

    @property
    def takes_body(self) -> bool:
        """Whether a request has a body that means something."""
        return self.method != "GET" and self.takes is not None


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[T]):
    """An admitted request, which takes a `T`. `workspace_id`: of the caller, or empty where an address has none."""

    world: World
    http: Request
    endpoint: Endpoint[T]
    workspace_id: str = ""

    @property
    def origin(self) -> str:
        """The scheme and host that the caller reached us at, so that addresses in answers work for it."""
        server, port = self.http.scope.get("server") or ("localhost", 80)
        return f"{self.http.scope['scheme']}://{self.http.headers.get('host') or f'{server}:{port}'}"

    def path_id(self, name: str) -> str:
        """The id in the path, lower case. Raises the documented error for one that is no UUID."""
        value = str(self.http.path_params[name])
        if not is_uuid(value):
            raise malformed_id()
        return value.lower()

    def query(self) -> T:
        """The query; names that are not known are ignored. `name[]` is the list of all its values."""
        query = self.http.query_params
        return self.check({name: query.getlist(name) if name.endswith("[]") else query[name] for name in query})

    def headers(self) -> T:
        """The headers."""
        return self.check(self.http.headers)

    async def body(self) -> T:
        """The JSON body; an empty body is an empty object."""
        return self.check(_parse(await self.http.body() or b"{}"))

    def check(self, values: object) -> T:
        """What was sent as the model of the endpoint. Raises the documented error."""
        model: Any = self.endpoint.takes
        checked: T = check(model, values)
        return checked


def select(request: ApiRequest[L], kind: str, where: Where = ()) -> Query:
    """The page of that kind that the query asks for, of what fits `where`."""
    query = request.query()
    return Query(kind, request.workspace_id, where, order=query.order, page=query.page, per_page=query.per_page)


def data(content: Mapping[str, object] | Sequence[Document]) -> Response:
    """The envelope of an object, or of a list that has no pages."""
    return _json({"data": content})


def success() -> Response:
    """What answers where there is no object to show (platform-api.md, "Error body")."""
    return data({"success": True})


def page(query: Query, total: int, rows: Sequence[Document]) -> Response:
    """The envelope of a list."""
    pagination = {"page": query.page, "per_page": query.per_page, "total": total}
    return _json({"meta": {"pagination": pagination, "order": dict(query.order)}, "data": rows})


def json_response(content: bytes) -> Response:
    """JSON that is ready."""
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
"""How long a signed address works, by the simulator's clock."""


def sign(request: ApiRequest[Any], path: str) -> str:
    """That path of ours as an address that works for a while."""
    expires = int(request.world.now()) + SIGNATURE_SECONDS
    return f"{request.origin}{path}?expires={expires}&sign={_signature(request.world, path, str(expires))}"


def check_signature(request: ApiRequest[Any]) -> None:
    """Raises the documented error where the address was tampered with, or its time is over."""
    query = request.http.query_params
    expires, signature = query.get("expires", ""), query.get("sign", "")
    expected = _signature(request.world, request.http.url.path, expires)
    if not hmac.compare_digest(signature.encode(), expected.encode()) or int(expires) < request.world.now():
        raise forbidden()


def _signature(world: World, path: str, expires: str) -> str:
    return hmac.digest(world.secret(), f"{path}\n{expires}".encode(), "sha256").hex()
