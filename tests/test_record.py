"""A record behaves like a frozen dataclass of the same fields."""

from __future__ import annotations

import json
import pickle
from copy import copy, deepcopy
from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from math import nan
from typing import Any

import msgspec
import pytest
from pydantic import TypeAdapter, ValidationError

from livedeck.record import Record


class Point(Record):
    """A record."""

    x: float
    names: tuple[str, ...] = ()
    notes: dict[str, str] = msgspec.field(default_factory=dict)


class Flag(Record, kw_only=True):
    """A record with a required field after one with a default, and a record in it."""

    at: Point = Point(0.0)
    is_up: bool


class Named(Point):
    """A record on top of another."""

    title: str = "?"


@dataclass(frozen=True, slots=True)
class DataPoint:
    """The same fields in a dataclass."""

    x: float
    names: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlag:
    """The same fields in a dataclass."""

    at: DataPoint = DataPoint(0.0)
    is_up: bool


@dataclass(frozen=True, slots=True)
class DataNamed(DataPoint):
    """The same fields in a dataclass."""

    title: str = "?"


PAIRS: list[tuple[Any, Any]] = [
    (Point(1.5, ("a",)), DataPoint(1.5, ("a",))),
    (Flag(is_up=True), DataFlag(is_up=True)),
    (Named(2.0, title="t"), DataNamed(2.0, title="t")),
]


@pytest.mark.parametrize(("record", "like"), PAIRS)
def test_dataclasses_see_the_same_fields(record: Any, like: Any) -> None:
    for owner, other in ((record, like), (type(record), type(like))):
        assert is_dataclass(owner)
        found, expected = fields(owner), fields(other)
        assert [(item.name, item.type) for item in found] == [
            (item.name, item.type.replace("Data", "")) for item in expected if isinstance(item.type, str)
        ]
        assert [item.default_factory for item in found] == [item.default_factory for item in expected]
        plain = [item for item in expected if not is_dataclass(item.default)]
        assert [item.default for item in found if item.name != "at"] == [item.default for item in plain]
    assert asdict(record) == asdict(like)
    assert astuple(record) == astuple(like)
    assert repr(like) == repr(record).replace("Point", "DataPoint").replace("Flag", "DataFlag").replace("Na", "DataNa")


@pytest.mark.parametrize("record", [record for record, _ in PAIRS])
def test_a_copy_is_equal_and_a_replaced_one_is_not(record: Any) -> None:
    for twin in (replace(record), copy(record), deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert twin == record
        assert type(twin) is type(record)
    name = fields(record)[0].name
    other = replace(record, **{name: Point(9.0)})
    assert other != record
    assert getattr(other, name) == Point(9.0)
    with pytest.raises(TypeError):
        replace(record, unknown=1)


def test_a_record_is_frozen_and_hashed_by_its_fields() -> None:
    first, again = Point(1.0, ("a",)), Point(1.0, ("a",))
    with pytest.raises(AttributeError):
        first.x = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(first)  # one of its fields is a dictionary
    assert first == again
    assert first != Named(1.0, ("a",))
    assert Point(nan) != Point(1.0)
    assert Point(nan).notes is not Point(nan).notes


def test_the_fields_of_a_record_do_not_hide_those_of_its_heir() -> None:
    assert [item.name for item in fields(Point)] == ["x", "names", "notes"]
    assert [item.name for item in fields(Named)] == ["x", "names", "notes", "title"]


class Checked(Record):
    """A record that checks itself."""

    point: Point
    marks: tuple[Flag, ...] = ()
    at: datetime | None = None

    def __post_init__(self) -> None:
        if self.point.x < 0:
            raise ValueError("left of the origin")


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def test_pydantic_reads_and_writes_a_record_as_an_object_of_its_fields() -> None:
    adapter = TypeAdapter(Checked)
    value = Checked(Point(1.5, ("a",), {"b": "c"}), (Flag(is_up=True),), datetime(2026, 11, 24, tzinfo=UTC))
    text = adapter.dump_json(value)
    assert json.loads(text) == json.loads(json.dumps(asdict(value), default=_iso))
    assert adapter.validate_json(text) == adapter.validate_json(text, strict=True) == value
    assert adapter.validate_python(value) is value
    assert adapter.validate_python(adapter.dump_python(value)) == value
    broken: Any
    for broken in ({}, {"point": {"x": "?"}}, {"point": {"x": -1.0}}, [], {"point": {"x": 1.0}, "marks": [{}]}):
        with pytest.raises(ValidationError):
            adapter.validate_python(broken)
