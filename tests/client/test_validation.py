"""An odd value hides only itself: not its row, not its list, and no alarm of another event."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import Platform, api_of, saying
from client.documented import TABLES
from client.test_events import DOCUMENTED, read
from livedeck.client import Event, Material, Model, Poster, Recording, Room, Subtitle, Unreadable
from livedeck.client.resources.validation import read_model
from trials import trials


@pytest.mark.parametrize(
    ("field", "value", "meaning"),
    [
        ("reconnect_window", 600.0, 600),
        ("reconnect_window", "600", 600),
        ("reconnect_window", "600.0", 600),
        ("auto_start", "true", True),
        ("auto_start", "False", False),
        ("auto_start", 1, True),
        ("auto_start", 0, False),
        ("name", 7, "7"),
        ("parent_id", 12, "12"),
        ("updated_at", "", None),
        ("created_at", 1795000000, DOCUMENTED_TIME := "2026-11-18T11:06:40+00:00"),
        ("created_at", 1795000000000, DOCUMENTED_TIME),
        ("scheduled", [], {"time": None}),
        ("scheduled", "", None),
        ("restreams", {}, ()),
        ("restreams", "", None),
        ("video", {"presets": {"0": "720p", "2": "1080p"}}, {"presets": ("720p", "1080p")}),
    ],
)
async def test_what_can_mean_one_thing_only_is_read_as_that(field: str, value: object, meaning: object) -> None:
    event = await read({"id": "x", "name": "Show", field: value})
    found = getattr(event, field)
    found = (
        found.model_dump() if isinstance(found, Model) else found.isoformat() if hasattr(found, "isoformat") else found
    )
    assert found == meaning
    assert type(found) is type(meaning)
    assert not event.faults


async def test_numbers_are_ids_and_strings_are_numbers_in_every_model() -> None:
    assert (await read({"id": 42})).id == "42"
    poster, _ = read_model(TABLES_BY_NAME["Poster"], {"id": 1, "from_time": "0", "to_time": "1.5"})
    assert isinstance(poster, Poster)
    assert (poster.id, poster.from_time, poster.to_time) == ("1", 0.0, 1.5)
    material, faults = read_model(Material, {"id": "m", "size": "1024", "position": 2.0})
    assert material is not None
    assert (material.size, material.position, faults) == (1024, 2, ())


TABLES_BY_NAME = {model.__name__: model for model in TABLES}


@pytest.mark.parametrize(
    ("odd", "fault"),
    [
        ({"name": {}}, "name should be a valid string, not an object"),
        ({"name": True}, "name should be a valid string, not a boolean"),
        ({"auto_start": "perhaps"}, "auto_start should be a valid boolean, not a string of 7 characters"),
        ({"reconnect_window": 1.5}, "reconnect_window should be a valid integer, not a number"),
        ({"reconnect_window": "soon"}, "reconnect_window should be a valid integer, not a string of 4 characters"),
        ({"created_at": "tomorrow"}, "created_at should be a timestamp, not a string of 8 characters"),
        ({"created_at": 7}, "created_at should be a timestamp, not a number"),
        (
            {"created_at": "0001-01-01T00:00:00+23:00"},
            "created_at should be a timestamp, not a string of 25 characters",
        ),
        ({"stream": ["live"]}, "stream should be an object, not a list of 1"),
        ({"streamkey": ["a-key"]}, "streamkey should be a string, not a list of 1"),
        ({"restreams": [{}, {"key": []}]}, "restreams[1].key should be a string, not a list of 0"),
        ({"restreams": [{}, 7]}, "restreams[1] should be an object, not a number"),
        ({"poster": {"active": []}}, "poster.active should be a valid boolean, not a list of 0"),
    ],
)
async def test_what_cannot_be_read_is_missing_and_named_without_its_value(odd: dict[str, object], fault: str) -> None:
    event = await read({"id": "x", "subtitle": "is there"} | odd)
    assert [str(each) for each in event.faults] == [fault]
    assert event.subtitle == "is there"


async def test_an_odd_thing_in_a_list_costs_itself_alone() -> None:
    restreams = [{"id": "a", "name": "A"}, 7, {"id": "b", "name": []}, None, {"id": "c", "name": "C"}]
    event = await read({"id": "x", "restreams": restreams})
    assert [(restream.id, restream.name) for restream in event.restreams or ()] == [("a", "A"), ("b", None), ("c", "C")]
    assert [fault.field for fault in event.faults] == ["restreams[1]", "restreams[2].name", "restreams[3]"]


async def test_a_relay_profile_without_an_id_costs_itself_alone() -> None:
    room, faults = read_model(Room, {"id": "r", "restreams": [{"id": "a"}, {"name": "B"}, {"id": []}, {"id": "d"}]})
    assert room is not None
    assert [profile.id for profile in room.restreams or ()] == ["a", "d"]
    assert [fault.field for fault in faults] == ["restreams[1]", "restreams[2].id", "restreams[2]"]


async def test_thousands_of_odd_fields_are_twenty_faults() -> None:
    event = await read({"id": "x", "restreams": [{"enabled": "so"}] * 5000})
    assert len(event.faults) == 20
    assert len(event.restreams or ()) == 5000


async def test_a_list_of_fifty_with_one_odd_event_gives_fifty() -> None:
    rows = [DOCUMENTED | {"id": f"e{number}"} for number in range(50)]
    rows[17] |= {"created_at": "soon", "reconnect_window": {}}
    async with api_of(saying({"data": rows})) as api:
        page = await api.events.list(per_page=100)
    assert [event.id for event in page.items] == [row["id"] for row in rows]
    assert [len(event.faults) for event in page.items] == [2 if number == 17 else 0 for number in range(50)]
    assert not page.unreadable


async def test_rows_without_an_id_are_left_out_and_counted() -> None:
    async with api_of(saying({"data": [{"id": "a"}, 7, {"name": "B"}, {"id": ""}, {"id": "c"}]})) as api:
        page = await api.events.list()
    assert [event.id for event in page.items] == ["a", "c"]
    assert [fault.field for fault in page.unreadable] == ["data[1]", "data[2]", "data[3]"]


async def test_a_list_in_which_no_row_has_an_id_is_unreadable() -> None:
    """An empty list would be taken for a workspace whose events were deleted."""
    async with api_of(saying({"data": [{"name": "A"}, 7]})) as api:
        with pytest.raises(Unreadable, match=r"list events: .*: no row of 2 can be read: data\[0\] should have an id"):
            await api.events.list()


async def test_the_log_names_event_and_field_once(caplog: pytest.LogCaptureFixture) -> None:
    """A poller reads the same odd event every few seconds."""
    odd = {"data": [{"id": "e1", "created_at": "soon", "name": "Choir\n\x1b[31m" + "x" * 100}, 7]}
    with caplog.at_level(logging.WARNING, "livedeck.client"):
        async with api_of(saying(odd)) as api:
            for _ in range(3):
                await api.events.list()
    assert [record.getMessage() for record in caplog.records] == [
        f"event e1 (Choir [31m{'x' * 29}…): created_at should be a timestamp, not a string of 4 characters",
        "list events: data[1] should be an object, not a number",
    ]


@pytest.mark.parametrize("body", [{}, [], {"data": {}}, {"data": "none"}, {"data": 7}])
async def test_only_a_wrong_envelope_costs_the_list(body: object) -> None:
    async with api_of(saying(body)) as api:
        with pytest.raises(Unreadable, match="the response is not as documented"):
            await api.events.list()


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every path in a JSON value at which another value can stand."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*before, key)
        yield from paths(value[key], (*before, key))


def replaced(rows: list[Any], path: tuple[Any, ...], other: object) -> bool:
    """Put the other value at a path. Returns whether the path was still there."""
    node: Any = rows
    for step in path[:-1]:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return False
    keys: Any = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    is_place = path[-1] in keys
    if is_place:
        node[path[-1]] = other
    return is_place


ROWS = [json.loads(json.dumps(DOCUMENTED | {"id": f"e{number}"})) for number in range(6)]
PLACES = sorted(paths(ROWS), key=repr)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)


@trials(300)
@given(st.lists(st.tuples(st.sampled_from(PLACES), anything), min_size=1, max_size=20))
async def test_whatever_stands_in_a_list_every_row_with_an_id_is_shown_and_the_others_are_as_they_were(
    changes: list[tuple[tuple[Any, ...], object]],
) -> None:
    rows: list[Any] = copy.deepcopy(ROWS)
    touched = {path[0] for path, other in changes if replaced(rows, path, other)}
    async with api_of(saying(json.dumps({"data": rows}).encode())) as api:
        page = await api.events.list(per_page=100)
    shown = {event.id: event for event in page.items}
    for number, row in enumerate(rows):
        if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"]:
            assert row["id"] in shown
        if number not in touched:
            assert shown[f"e{number}"] == Event.model_validate(ROWS[number])
            assert not shown[f"e{number}"].faults
    assert len(page.items) + len(page.unreadable) == len(rows)


@trials(200)
@given(st.sampled_from([Event, Recording, Subtitle, *TABLES]), anything)
def test_whatever_comes_is_a_model_or_a_fault(model: type[Model], value: object) -> None:
    item, faults = read_model(model, value)
    assert item is not None or faults
    assert all(len(str(fault)) < 300 for fault in faults)


async def test_the_log_names_event_and_field_once_though_another_shape_comes(caplog: pytest.LogCaptureFixture) -> None:
    answers = iter([["a"], ["a", "b"], "soon"])

    def reply(_method: str, _path: str) -> tuple[int, bytes, dict[str, str]]:
        return 200, json.dumps({"data": {"id": "e", "reconnect_window": next(answers)}}).encode(), {}

    async with api_of(Platform(reply)) as api:
        for _ in range(3):
            await api.events.get("e")
    (record,) = caplog.records
    assert record.getMessage() == "event e: reconnect_window should be a valid integer, not a list of 1"
