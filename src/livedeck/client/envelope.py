"""What an answer wraps its objects in (platform-api.md, 1), taken off; and what is wrong with it, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from livedeck import wording
from livedeck.client.errors import Unreadable

_KINDS: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}
_DEMANDS: Mapping[str, str] = {
    "model_type": "should be an object",
    "missing": "is required",
    "extra_forbidden": "is not to be sent",
}

_PLAIN = frozenset(
    {"value_error", "literal_error", "missing", "extra_forbidden", "string_too_short", "greater_than_equal"}
)
"""Faults of which the kind of the value says nothing."""

B = TypeVar("B", bound=BaseModel)


def read(model: type[B], value: object, what: str) -> B:
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


def fault_of(details: ErrorDetails) -> tuple[str, str]:
    """Where a value is wrong and what it should be: `restreams[1].key`, `should be a string, not a number`."""
    demand = _demand(details)
    found = "" if details["type"] in _PLAIN else f", not {kind(details['input'])}"
    return wording.safe(_place(details["loc"]), 80), demand + found


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False)
    named = [f"{_place(fault['loc'])} {_demand(fault)}, not {kind(fault['input'])}" for fault in faults[:3]]
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return wording.safe("; ".join(named), 300) + more


def _place(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".") or "data"


def _demand(fault: ErrorDetails) -> str:
    if fault["type"] in _DEMANDS:
        return _DEMANDS[fault["type"]]
    return fault["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")
