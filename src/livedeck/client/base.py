"""What every chapter of the document shares: models, lists, envelopes, and a place to ask from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictInt, ValidationError
from pydantic_core import ErrorDetails

from livedeck import wording
from livedeck.client.errors import Misconfigured, Unreadable
from livedeck.client.transport import Call, Transport

_KINDS: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def parse_time(text: str) -> datetime:
    """An ISO 8601 timestamp, aware and in UTC; without an offset it is UTC (platform-api.md, conventions).

    Digits past the microsecond are cut off. Raises ValueError for anything else.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error


def _timestamp(value: object) -> object:
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, datetime):
        return value
    raise ValueError("should be a timestamp")


Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
"""A field of a model that reads as `parse_time` does."""


class Model(BaseModel):
    """An object of the platform: frozen, and keeping what the document does not name.

    A field that is missing and one that is null both read as None (`model_fields_set` tells them apart).
    """

    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """The id and no more: tracebacks and logs print reprs, and an unknown field may hold a key."""
        return [("id", self.id)] if hasattr(self, "id") else []


M = TypeVar("M", bound=Model)
T = TypeVar("T")


class Pagination(Model):
    """Where a page lies in its list (platform-api.md, 1)."""

    page: StrictInt | None = None
    per_page: StrictInt | None = None
    total: StrictInt | None = None


class Meta(Model):
    """What a list says of itself. `order`: field -> `asc` or `desc`."""

    pagination: Pagination | None = None
    order: dict[str, str] | None = None


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


def read(model: type[M], value: object, what: str) -> M:
    """`value` as that model. Raises Unreadable naming the fields that are wrong, never what was in them."""
    try:
        return model.model_validate(value)
    except ValidationError as error:  # raised below, outside, so that no traceback quotes the value
        fault = _faults(error)
    raise Unreadable(f"{what}: the answer is not as documented: {fault}")


def data(answer: object, what: str) -> object:
    """What is inside the envelope `{data: ...}`. Raises Unreadable where there is none."""
    if isinstance(answer, dict) and "data" in answer:
        return answer["data"]
    raise Unreadable(f"{what}: the answer is not as documented: {kind(answer)} without data")


def rows(answer: object, what: str) -> list[object]:
    """The list inside the envelope; null is an empty one (decisions.md)."""
    value = data(answer, what)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise Unreadable(f"{what}: the answer is not as documented: data should be a list, not {kind(value)}")


def kind(value: object) -> str:
    """What JSON calls it: `a number`, `null`."""
    return _KINDS.get(type(value), "something else")


def segment(identifier: str, what: str) -> str:
    """An id as one segment of a path. Raises Misconfigured for one that would make it another path."""
    if identifier in {"", ".", ".."}:
        raise Misconfigured(f"{what}: {identifier!r} is no id")
    return quote(identifier, safe="", errors="replace")


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False)
    named = [f"{_place(fault['loc'])} {_demand(fault)}, not {kind(fault['input'])}" for fault in faults[:3]]
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return wording.safe("; ".join(named), 300) + more


def _place(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".") or "data"


def _demand(fault: ErrorDetails) -> str:
    if fault["type"] == "model_type":
        return "should be an object"
    return fault["msg"].removeprefix("Value error, ").removeprefix("Input ")


class Resource:
    """One chapter of the document: its calls, over the one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _one(self, model: type[M], call: Call) -> M:
        answer = await self._transport.send(call)
        return read(model, data(answer, call.what), call.what)

    async def _page(self, model: type[M], call: Call, *, page: int, per_page: int) -> Page[M]:
        answer = await self._transport.send(call)
        items = tuple(read(model, row, call.what) for row in rows(answer, call.what))
        meta = read(Meta, answer.get("meta") or {}, call.what) if isinstance(answer, dict) else Meta()
        where = meta.pagination or Pagination()
        return Page(items, where.page or page, where.per_page or per_page, where.total, meta.order or {})
