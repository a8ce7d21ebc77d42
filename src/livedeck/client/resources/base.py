"""What all resources share: models, drafts, pages, and the requests that answer with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from livedeck.client.http.encoding import header_value
from livedeck.client.http.errors import Invalid, Misconfigured, Unreadable
from livedeck.client.http.request import Request
from livedeck.client.http.response import data, envelope_error, parse_model, rows
from livedeck.client.http.transport import Transport

MAX_PER_PAGE = 100  # platform-api.md, "Lists"


Id = Annotated[str, Field(min_length=1)]
"""The id of an object that can be asked for: any text but none (platform-api.md, "Identifiers")."""


UNSET: Any = None
"""The default of a draft's field. What counts is whether the field was set, not what it reads as."""


class Model(BaseModel):
    """An object of the platform: frozen, and keeping what the document does not name.

    A field that is missing and one that is null both read as None (`model_fields_set` tells them apart). Its validator
    is built when it is first used: a process uses few of them, and a start need not wait for the others.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", allow_inf_nan=False, hide_input_in_errors=True, defer_build=True
    )

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """The id and no more: tracebacks and logs print reprs, and an unknown field may hold a key."""
        return [("id", self.id)] if hasattr(self, "id") else []


M = TypeVar("M", bound=Model)
T = TypeVar("T")


def _or_none(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:
        return None


_Tolerant = WrapValidator(_or_none)
"""What cannot be read is missing: a list is worth more than what is said about it."""


_Count = Annotated[int | None, Field(ge=0), _Tolerant]


class Pagination(Model):
    """Where a page lies in its list (platform-api.md, "Response envelope")."""

    page: _Count = None
    per_page: _Count = None
    total: _Count = None


class Meta(Model):
    """What a list says of itself. `order`: field -> `asc` or `desc`."""

    pagination: Annotated[Pagination | None, _Tolerant] = None
    order: Annotated[dict[str, str] | None, _Tolerant] = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list. `page` and `per_page` are as answered, or as asked where the answer does not say.

    `total`: items on all pages, None where the answer does not say. `order`: field -> `asc` or `desc`.
    """

    items: tuple[T, ...]
    page: int
    per_page: int
    total: int | None = None
    order: Mapping[str, str] = field(default_factory=dict)


class Draft(BaseModel):
    """What a change sends: the fields that were set and no other; null is sent where None was set.

    Raises Invalid, naming the field and its limit, when it is made with what the document does not allow.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:  # raised below, outside, so that no traceback quotes the value
            location, demand = envelope_error(error.errors(include_url=False, include_context=False)[0])
        else:
            return
        raise Invalid(_draft_name(type(self)), location, demand)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """The names of what was set: the values may be keys."""
        return [(None, name) for name in sorted(self.model_fields_set)]

    def body(self) -> dict[str, Any]:
        """What is sent; secrets and datetimes are still themselves."""
        return self.model_dump(exclude_unset=True)

    def require(self, *names: str, prefix: str = "") -> None:
        """Raise Invalid where one of these fields was not set. `prefix`: the path of this draft in another one."""
        for name in names:
            if name not in self.model_fields_set:
                raise Invalid(_draft_name(type(self)), prefix + name, "is required")

    def forbid(self, name: str, reason: str) -> None:
        """Raise Invalid where this field was set."""
        if name in self.model_fields_set:
            raise Invalid(_draft_name(type(self)), name, reason)


def _draft_name(draft: type[Draft]) -> str:
    """`RelayDraft` in words: `relay draft`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in draft.__name__).strip()


def length_between(low: int, high: int) -> AfterValidator:
    """A check that a text has so many characters."""

    def check(text: str) -> str:
        if not low <= len(text) <= high:
            raise ValueError(f"should have {low} to {high} characters, not {len(text)}")
        return text

    return AfterValidator(check)


def id_header(identifier: str, summary: str) -> str:
    """An id as the value of a header. Raises Misconfigured for an empty one."""
    if not identifier:
        raise Misconfigured(f"{summary}: {identifier!r} is no id")
    return header_value(identifier)


def query_params(**params: Any) -> dict[str, Any]:
    """The parameters of a query that were given: neither None nor empty."""
    return {name: value for name, value in params.items() if value is not None and value != ()}


def complete_order(ids: Collection[str], summary: str) -> list[str]:
    """The ids of a new order as they are sent. Raises Invalid for none, and for one that comes twice."""
    if not ids or len(set(ids)) < len(ids) or "" in ids:
        raise Invalid(summary, "ids", "should name every object once")
    return list(ids)


class Resource:
    """A noun of the document: its operations, over the one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _object(self, model: type[M], request: Request) -> M:
        summary = request.summary
        return await self._transport.send(request, lambda answer: parse_model(model, data(answer, summary), summary))

    async def _objects(self, model: type[M], request: Request) -> tuple[M, ...]:
        return await self._transport.send(request, lambda answer: _parse_rows(model, answer, request))

    async def _optional(self, model: type[M], request: Request) -> M | None:
        """The object answered, or None: where the document does not show an answer, none is demanded."""

        def parse(answer: object) -> M | None:
            value = answer.get("data") if isinstance(answer, dict) else None
            return parse_model(model, value, request.summary) if isinstance(value, dict) else None

        return await self._transport.send(request, parse)

    async def _success(self, request: Request) -> None:
        """Take any answer for a yes, but `success: false`."""

        def parse(answer: object) -> None:
            value = answer.get("data") if isinstance(answer, dict) else None
            if isinstance(value, dict) and value.get("success") is False:
                raise Unreadable(f"{request.summary}: the platform answers neither success nor an error")

        await self._transport.send(request, parse)

    async def _page(self, model: type[M], request: Request) -> Page[M]:
        def parse(answer: object) -> Page[M]:
            items = _parse_rows(model, answer, request)
            meta = answer.get("meta") if isinstance(answer, dict) else None
            described = Meta.model_validate(meta if isinstance(meta, dict) else {})
            pagination = described.pagination or Pagination()
            page = pagination.page or int(str(request.params["page"]))
            per_page = pagination.per_page or int(str(request.params["per_page"]))
            return Page(items, page, per_page, pagination.total, described.order or {})

        return await self._transport.send(request, parse)


def _parse_rows(model: type[M], answer: object, request: Request) -> tuple[M, ...]:
    return tuple(parse_model(model, row, request.summary) for row in rows(answer, request.summary))


async def iterate_pages(fetch: Callable[[int], Awaitable[Page[M]]]) -> AsyncIterator[M]:
    """Every item, page after page, each id once though items move between the pages meanwhile.

    An item that moves to a page already read is missed; the next walk finds it. `fetch`: number -> that page.
    """
    yielded: set[str] = set()
    number, has_more = 1, True
    while has_more:
        page, count = await fetch(number), len(yielded)
        for item in page.items:
            identity = getattr(item, "id", None) or item.model_dump_json()
            if identity not in yielded:
                yielded.add(identity)
                yield item
        # A platform that ignores `page` would be walked for ever: a page without news is the last. What came is
        # counted, not what was asked for: a platform may give less to a page.
        has_more = len(yielded) > count and (page.total is None or len(yielded) < page.total)
        number += 1


async def collect(items: AsyncIterator[M]) -> tuple[M, ...]:
    """All of them. Raises what the iterator raises."""
    return tuple([item async for item in items])
