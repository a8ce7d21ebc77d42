"""Strict checks of drafts, and tolerant reading of the platform's objects: an unreadable value hides no other. Pure.

A wrong value with only one possible meaning is converted: a number in a string, `600.0` for an integer, `[]` for an
empty object, an empty timestamp for none. Any other unreadable value counts as missing, and a `FieldFault` reports it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from livedeck.client.http.lenient import Broken, LenientObject
from livedeck.client.http.response import type_name
from livedeck.record import Record
from livedeck.text import values
from livedeck.text.times import parse_timestamp

_DEMANDS: Mapping[str, str] = {
    "model_type": "should be an object",
    "missing": "is required",
    "extra_forbidden": "must not be sent",
}

_TYPE_IS_RIGHT = frozenset(
    {
        "value_error",
        "timestamp_type",
        "literal_error",
        "missing",
        "extra_forbidden",
        "string_too_short",
        "greater_than_equal",
    }
)

"""Types of errors for a value that has the right type, but breaks another rule."""


def draft_error(error: ValidationError) -> tuple[str, str]:
    """Return the first faulty place of a draft and its rule: `restreams[1].key`, `should be a string, not a number`."""
    details = error.errors(include_url=False, include_context=False)[0]
    actual = "" if details["type"] in _TYPE_IS_RIGHT else f", not {type_name(details['input'])}"
    return _field_path(details["loc"]), _demand(details) + actual


def _field_path(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return values.safe("".join(steps).removeprefix(".") or "data", 80)


def _demand(details: ErrorDetails) -> str:
    if details["type"] in _DEMANDS:
        return _DEMANDS[details["type"]]
    return details["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")


_MAX_PASSES = 6

_MAX_FAULTS = 20

_UNREADABLE = object()


class FieldFault(Record):
    """Unreadable field, which reads as missing. `actual`: the shape of its value, `a list of 3`; not the value."""

    field: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.field} {self.expected}, not {self.actual}"


ModelT = TypeVar("ModelT", bound=BaseModel)


def read_model(model: type[ModelT], value: object) -> tuple[ModelT | None, tuple[FieldFault, ...]]:
    """Return `value` as that model, and the faults of its unreadable fields (the first 20).

    The model is None if the value is not an object or has no id; the last fault then says so. The broken values of an
    object that was read leniently are replaced by null.
    """
    broken = _take_broken(value) if isinstance(value, LenientObject) else ()
    repair: _Repair | None = None
    for _ in range(_MAX_PASSES):
        try:
            item = model.model_validate(repair.root[0] if repair else value)
            return item, _joined(broken, repair.faults if repair else ()) if repair or broken else ()
        except ValidationError as error:
            repair = repair or _Repair(value)
            repair.apply(error.errors(include_url=False, include_context=False))
            if repair.root[0] is None:
                break
    faults = [FieldFault("data", "should have an id", fault.actual) for fault in broken if fault.field == "id"]
    faults = faults or (repair.faults[-1:] if repair else [])
    return None, tuple(faults) or (FieldFault("data", "should be an object", _shape(value)),)


def _joined(broken: Sequence[FieldFault], repaired: Sequence[FieldFault]) -> tuple[FieldFault, ...]:
    """Return the first faults of an object: `broken`, and those of `repaired` that concern other fields."""
    fields = {fault.field for fault in broken}
    return (*broken, *(fault for fault in repaired if fault.field not in fields))[:_MAX_FAULTS]


def _take_broken(row: LenientObject) -> tuple[FieldFault, ...]:
    """Replace the broken values in an object, at any depth, by null. Return their faults."""
    faults, nodes = list[FieldFault](), list[tuple[_Path, Any]]([((), row)])
    while nodes:
        path, node = nodes.pop()
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, Broken):
                node[key] = None
                faults.append(FieldFault(_field_path((*path, key)), "should be readable", value.shape))
            elif isinstance(value, dict | list):
                nodes.append(((*path, key), value))
    return tuple(faults)


_Path = tuple[int | str, ...]


class _Repair:
    """Value under repair until the model accepts it. `root`: a list whose only item is a copy of the value.

    A wrong value is first replaced by its only possible meaning, then by null; if that fails, its parent becomes null.
    Items of lists are dropped instead.
    """

    def __init__(self, value: object) -> None:
        self.root: list[Any] = [value]
        self.faults: list[FieldFault] = []
        self._copies: dict[int, Any] = {id(self.root): self.root}
        self._tries: dict[_Path, int] = {}
        self._origins: dict[int, list[int]] = {}  # original indices of the items left in a shortened list

    def apply(self, errors: Sequence[ErrorDetails]) -> None:
        """Repair the value at the place of each of these errors."""
        repaired, dropped = set[_Path](), dict[int, set[int]]()
        for details in errors:
            path, places = self._walk(details["loc"])
            if path not in repaired:  # a union reports an error for each of its types
                repaired.add(path)
                self._repair(path, places, details, dropped)
        for identity, indices in dropped.items():
            items = self._copies[identity]
            kept = [index for index in range(len(items)) if index not in indices]
            origins = self._origins.get(identity) or range(len(items))
            self._origins[identity] = [origins[index] for index in kept]
            items[:] = [items[index] for index in kept]

    def _walk(self, location: _Path) -> tuple[_Path, list[tuple[Any, Any]]]:
        """Return the path to the deepest existing value at the location, and (container, key) for each of its steps.

        The location of an error in a union contains extra names, which do not exist in the value.
        """
        path: _Path = ()
        places: list[tuple[Any, Any]] = [(self.root, 0)]
        for step in location:
            parent, key = places[-1]
            node = parent[key]
            is_index = isinstance(node, list) and isinstance(step, int) and step < len(node)
            if not is_index and not (isinstance(node, dict) and step in node):
                break
            if id(node) not in self._copies:
                node = parent[key] = copy.copy(node)
                self._copies[id(node)] = node
            path = (*path, self._origins[id(node)][int(step)] if id(node) in self._origins else step)
            places.append((node, step))
        return path, places

    def _repair(
        self, path: _Path, places: list[tuple[Any, Any]], details: ErrorDetails, dropped: dict[int, set[int]]
    ) -> None:
        lacks = details["loc"][-1] if details["type"] == "missing" else "id"
        missing = "should have an id" if lacks == "id" else f"should have a {lacks}"
        demand = _demand(details) if len(path) == len(details["loc"]) else missing
        while path and self._tries.get(path, 0) >= 2:  # null was not accepted either
            path, places, demand = path[:-1], places[:-1], "should have an id"
        self._tries[path] = self._tries.get(path, 0) + 1
        parent, key = places[-1]
        current = parent[key]
        meaning = _coerce(details["type"], current) if self._tries[path] == 1 else _UNREADABLE
        if meaning is not _UNREADABLE:
            parent[key] = meaning
            return
        self._tries[path] = 2
        self.faults.append(FieldFault(_field_path(path), demand, _shape(current)))
        if isinstance(parent, list) and parent is not self.root:
            dropped.setdefault(id(parent), set()).add(key)
        else:
            parent[key] = None


def _shape(value: object) -> str:
    match value:
        case str():
            return f"a string of {len(value)} characters"
        case list():
            return f"a list of {len(value)}"
    return type_name(value)


def _coerce(error_type: str, value: object) -> object:
    """Return the value converted to the type that the error asks for; `_UNREADABLE` if that is impossible."""
    return _COERCIONS[error_type](value) if error_type in _COERCIONS else _UNREADABLE


def coerce_number(value: object) -> float | None:
    """Return a number, from JSON or in a string; None for anything else."""
    number = _number(value)
    return number if isinstance(number, int | float) else None


def coerce_integer(value: object) -> int | None:
    """Return a whole number, from `3`, `3.0` or `"3"`; None for anything else."""
    number = value if type(value) is int else _integer(value)
    return number if isinstance(number, int) else None


def coerce_timestamp(value: object) -> datetime | None:
    """Return a timestamp, or seconds or milliseconds since 1970; None for anything else."""
    if isinstance(value, str):
        try:
            return parse_timestamp(value)
        except ValueError:
            return None
    time = _timestamp(value)
    return time if isinstance(time, datetime) else None


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _UNREADABLE


def _number(value: object) -> object:
    if isinstance(value, str) and len(value) <= 30:
        try:
            number = float(value)
        except ValueError:
            return _UNREADABLE
        return number if isfinite(number) else _UNREADABLE
    return value if isinstance(value, int | float) and not isinstance(value, bool) else _UNREADABLE


def _integer(value: object) -> object:
    """Return the whole number that the value means; `_UNREADABLE` for anything else."""
    number = _number(value)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and number is not _UNREADABLE:
        return int(value)
    return int(number) if isinstance(number, float) and number.is_integer() else _UNREADABLE


def _boolean(value: object) -> object:
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower(), _UNREADABLE)


def _object(value: object) -> object:
    return {} if value == [] else None if value == "" else _UNREADABLE


def _array(value: object) -> object:
    if isinstance(value, dict) and all(isinstance(name, str) and name.isdecimal() for name in value):
        return list(value.values())  # PHP writes a list with a gap like this
    return None if value == "" else _UNREADABLE


def _timestamp(value: object) -> object:
    if value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        for unit in (1, 1000):  # seconds or milliseconds, from 2001 to 2286: these ranges do not overlap
            if 1e9 <= value / unit < 1e10:
                return datetime.fromtimestamp(value / unit, UTC)
    return _UNREADABLE


_COERCIONS: Mapping[str, Callable[[object], object]] = {
    "string_type": _text,
    "secret_type": _text,
    "int_type": _integer,
    "float_type": _number,
    "bool_type": _boolean,
    "model_type": _object,
    "model_attributes_type": _object,
    "tuple_type": _array,
    "timestamp_type": _timestamp,
}
