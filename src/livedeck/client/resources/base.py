"""Common parts of all resources: models, drafts, pages, and requests that return them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self, TypeVar
from urllib.parse import quote
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
)

from livedeck.client.http.encoding import header_text
from livedeck.client.http.errors import Invalid, Unreadable
from livedeck.client.http.request import Identifier, Request, describe_call, id_text
from livedeck.client.http.response import data, rows
from livedeck.client.http.success import affirms
from livedeck.client.http.transport import Transport
from livedeck.client.resources.pages import Page
from livedeck.client.resources.validation import FieldFault, draft_error, read_model
from livedeck.text.values import MASK, safe


def _id_text(value: object) -> object:
    return str(value) if isinstance(value, UUID) or type(value) is int else value


IdText = Annotated[str, BeforeValidator(_id_text)]
"""Id in a draft: text, a number or a UUID."""

Id = Annotated[str, Field(min_length=1)]
"""Id of an object: any non-empty text (platform-api.md, "Identifiers")."""

_FAULTS = "faults"

OF_ANOTHER = "the response is about another object"
"""Reason why a response says nothing about the requested object, or leaves the outcome of a change open."""

UNSET: Any = None
"""Default of a draft's field. Only whether the field was set counts, not its value."""


class Model(BaseModel):
    """Object of the platform: frozen, with undocumented fields kept.

    A missing field and a null field both read as None; `model_fields_set` has only the null field. The validator is
    built at first use, because a process uses few models and should start fast.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="allow", allow_inf_nan=False, hide_input_in_errors=True, defer_build=True
    )

    @property
    def faults(self) -> tuple[FieldFault, ...]:
        """Unreadable fields, which read as missing, including those of nested objects."""
        faults: tuple[FieldFault, ...] = (self.__pydantic_private__ or {}).get(_FAULTS, ())
        return faults

    def with_faults(self, faults: tuple[FieldFault, ...]) -> Self:
        """Return a copy with these faults, for an object restored from storage or just read.

        Sets the private attribute directly, because few objects have faults. If the model declared the attribute,
        pydantic would set it for every object, which costs a third of the time to read a chat message.
        """
        copy = self.model_copy()
        object.__setattr__(copy, "__pydantic_private__", {_FAULTS: faults} if faults else None)
        return copy

    @model_serializer(mode="wrap", when_used="json")
    def _hide_unknown(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Mask undocumented fields in JSON output, which people see, because such a field may hold a secret."""
        fields: dict[str, Any] = serialize(self)
        return {name: MASK if name in (self.model_extra or {}) else value for name, value in fields.items()}

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Return only the id: tracebacks and logs print reprs, and an undocumented field may contain a key."""
        return [("id", self.id)] if hasattr(self, "id") else []


M = TypeVar("M", bound=Model)


def _or_none(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:
        return None


_Tolerant = WrapValidator(_or_none)
"""Validator that reads an unreadable value as missing, so that a list with bad metadata is still readable."""

_Count = Annotated[int | None, Field(ge=0), _Tolerant]


class Pagination(Model):
    """Position of a page in its list (platform-api.md, "Response envelope")."""

    page: _Count = None
    per_page: _Count = None
    total: _Count = None


class Meta(Model):
    """Metadata of a list. `order`: field -> `asc` or `desc`."""

    pagination: Annotated[Pagination | None, _Tolerant] = None
    order: Annotated[dict[str, str] | None, _Tolerant] = None


class Draft(BaseModel):
    """Body of a change: only the fields that were set; a field set to None is sent as null.

    The constructor raises Invalid, naming the field and its limit, for a value that the document does not allow.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:  # raised below, outside this block, so that no traceback quotes the value
            location, demand = draft_error(error)
        else:
            return
        raise Invalid(_draft_name(type(self)), location, demand)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Return the names of the set fields only, because the values may be keys."""
        return [(None, name) for name in sorted(self.model_fields_set)]

    def body(self) -> dict[str, Any]:
        """Return the set fields; secrets and datetimes are not converted yet."""
        return self.model_dump(exclude_unset=True)

    def require(self, *names: str, prefix: str = "") -> None:
        """Raise Invalid if one of these fields was not set. `prefix`: the path of this draft in an outer one."""
        for name in names:
            if name not in self.model_fields_set:
                raise Invalid(_draft_name(type(self)), prefix + name, "is required")

    def forbid(self, name: str, reason: str) -> None:
        """Raise Invalid if this field was set."""
        if name in self.model_fields_set:
            raise Invalid(_draft_name(type(self)), name, reason)


D = TypeVar("D", bound=Draft)


def draft_of(kind: type[D], draft: D | None, fields: Mapping[str, Any]) -> D:
    """Return the given draft, or one made of `fields`. Raises Invalid if both were given."""
    if draft is None:
        return kind(**fields)
    if fields:
        raise Invalid(_draft_name(kind), ", ".join(fields), "should be set in the draft, or given without a draft")
    return draft


def _draft_name(draft: type[Draft]) -> str:
    """Return the class name in words: `RelayDraft` becomes `relay draft`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in draft.__name__).strip()


def length_between(low: int, high: int) -> AfterValidator:
    """Return a check that a text has `low` to `high` characters."""

    def check(text: str) -> str:
        if not low <= len(text) <= high:
            raise ValueError(f"should have {low} to {high} characters, not {len(text)}")
        return text

    return AfterValidator(check)


def id_header(identifier: Identifier, summary: str) -> str:
    """Return an id as the value of a header. Raises Misconfigured if it is not an id."""
    return header_text(id_text(identifier, summary), summary)


def query_params(**params: Any) -> dict[str, Any]:
    """Return the query parameters that are neither None nor an empty tuple."""
    return {name: value for name, value in params.items() if value is not None and value != ()}


def complete_order(ids: Collection[Identifier], summary: str) -> list[str]:
    """Return the ids of a new order as sent. Raises Invalid if there is none, or if one comes twice."""
    order = [] if isinstance(ids, str | bytes) or "" in ids else [id_text(identifier, summary) for identifier in ids]
    if not order or len(set(order)) < len(order):
        raise Invalid(summary, "ids", "should name every object once")
    return order


def _segment(identifier: object) -> str:
    """Return an id in the form for a request path, in lower case."""
    return quote(str(identifier), safe="", errors="replace").casefold()


def _described(answer: object) -> tuple[Pagination, Mapping[str, str]]:
    """Return page position and order from the reply to a list, each from the first usual place that has a value."""
    document = answer if isinstance(answer, dict) else {}
    meta = document.get("meta")
    described = Meta.model_validate(meta if isinstance(meta, dict) else {})
    places = described.pagination, meta, document.get("pagination"), document
    stated = [Pagination.model_validate(place) for place in places if isinstance(place, dict | Pagination)]
    values = {
        name: next((value for place in stated if (value := getattr(place, name)) is not None), None)
        for name in ("page", "per_page", "total")
    }
    return Pagination(**values), described.order or {}


class Resource:
    """Noun of the document with its operations, over the shared transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _named(self, model: type[M], request: Request) -> M:
        """Return the object whose id ends the path of the request. Raises Unreadable for another object."""
        found = await self._object(model, request)
        if _segment(getattr(found, "id", "")) != request.path.casefold().rpartition("/")[2]:
            raise Unreadable(f"{request.summary}: {OF_ANOTHER}")
        return found

    async def _object(self, model: type[M], request: Request) -> M:
        return await self._transport.send(
            request, lambda answer: self._read(model, data(answer, request.summary), request)
        )

    async def _objects(self, model: type[M], request: Request) -> tuple[M, ...]:
        return await self._transport.send(request, lambda answer: self._read_rows(model, answer, request)[0])

    async def _optional(self, model: type[M], request: Request) -> M | None:
        """Return the object in the response; None if the response has none.

        For a request whose response the document does not describe.
        """

        def parse(answer: object) -> M | None:
            value = answer.get("data") if isinstance(answer, dict) else None
            return read_model(model, value)[0]

        return await self._transport.send(request, parse)

    async def _success(self, request: Request) -> None:
        """Send a change whose response has no documented content.

        Raises Unreadable if the response has an object whose id is not in the request.
        """
        ids = {*request.path.casefold().split("/")}

        def parse(answer: object) -> None:
            value = answer.get("data") if isinstance(answer, dict) else None
            answered = value.get("id") if isinstance(value, dict) and "success" not in value else None
            if answered and _segment(answered) not in ids:
                raise Unreadable(f"{request.summary}: {OF_ANOTHER}")

        await self._transport.send(request, parse)

    async def _confirmed(self, request: Request) -> None:
        """Send a change whose documented response is `{"data": {"success": true}}`. Raises Unreadable for another."""

        def parse(answer: object) -> None:
            if not affirms(answer):
                raise Unreadable(f"{request.summary}: the response is not as documented: it should say success: true")

        await self._transport.send(request, parse)

    async def _page(self, model: type[M], request: Request) -> Page[M]:
        def parse(answer: object) -> Page[M]:
            is_null = data(answer, request.summary) is None
            items, unreadable = ((), ()) if is_null else self._read_rows(model, answer, request)
            stated, order = _described(answer)
            page = stated.page or int(str(request.params["page"]))
            per_page = stated.per_page or int(str(request.params["per_page"]))
            row_count = len(items) + len(unreadable)
            is_last = row_count < (stated.per_page or 0) and (page - 1) * per_page + row_count == stated.total
            return Page(
                items,
                page,
                per_page,
                stated.total,
                order,
                unreadable,
                is_last=is_last,
                is_paged=(stated.page, stated.per_page, stated.total) != (None, None, None),
                is_null=is_null,
                fetch_next=partial(self._page, model, following),
            )

        following = replace(request, params={**request.params, "page": int(str(request.params["page"])) + 1})
        return await self._transport.send(request, parse)

    def _read_rows(
        self, model: type[M], answer: object, request: Request
    ) -> tuple[tuple[M, ...], tuple[FieldFault, ...]]:
        """Return the readable rows of a list as objects, and the faults of the unreadable rows.

        Raises Unreadable if the list has rows, but none is readable.
        """
        items, unreadable = list[M](), list[FieldFault]()
        for index, row in enumerate(rows(answer, request.summary)):
            item, faults = read_model(model, row)
            if item is None:
                unreadable.append(replace(faults[-1], field=f"data[{index}]"))
            else:
                items.append(self._note(item, faults))
        if unreadable and not items:  # an empty list would look as if all items were deleted
            reason = f"no row of {len(unreadable)} can be read: {unreadable[0]}"
            raise Unreadable(f"{request.summary}: the response is not as documented: {reason}")
        if unreadable:
            self._transport.log_faults(request.summary, unreadable)
        return tuple(items), tuple(unreadable)

    def _read(self, model: type[M], value: object, request: Request) -> M:
        item, faults = read_model(model, value)
        if item is None:
            raise Unreadable(f"{request.summary}: the response is not as documented: {faults[-1]}")
        return self._note(item, faults)

    def _note(self, item: M, faults: tuple[FieldFault, ...]) -> M:
        if not faults:
            return item
        item = item.with_faults(faults)
        subject = describe_call(type(item).__name__.lower(), str(getattr(item, "id", "")))
        name = safe(str(getattr(item, "name", None) or getattr(item, "title", None) or ""), 40)
        self._transport.log_faults(f"{subject} ({name})" if name else subject, faults)
        return item
