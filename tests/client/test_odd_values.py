"""Any 1 to 20 values of a list are replaced by any JSON. Readable rows are shown, and all others stay unchanged."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client.answers import api_of, saying
from client.documented import TABLES
from client.test_validation import anything, paths, replaced
from livedeck.client import (
    Annotation,
    Api,
    Material,
    Message,
    Model,
    Page,
    Poster,
    QosSamples,
    Recording,
    Room,
    Subtitle,
    Unknown,
    Unreadable,
)

RECORDING = {"id": "r", "title": "Show", "status": "done", "duration": 60.0, "created_at": "2026-11-21T18:00:00Z"}
SAMPLE = {"bitrate_video": 4_500_000, "bitrate_audio": 128_000, "frame_rate": 30, "status": 0}

LISTS: Mapping[type[Model], Callable[[Api], Awaitable[Page[Any]]]] = {
    Room: lambda api: api.rooms.list(),
    Recording: lambda api: api.events.videos("e"),
    Poster: lambda api: api.posters.list("v"),
    Subtitle: lambda api: api.subtitles.list("v"),
    Annotation: lambda api: api.annotations.list("v"),
}
Change = tuple[tuple[Any, ...], object]


def rows_of(model: type[Model]) -> list[Any]:
    """Return five objects with every field of the document."""
    whole = RECORDING if model is Recording else TABLES[model]
    return [json.loads(json.dumps(whole | {"id": f"row{number}"})) for number in range(5)]


def changes_of(rows: list[Any]) -> st.SearchStrategy[list[Change]]:
    """Generate up to twenty replacements of values, anywhere."""
    places = sorted(paths(rows), key=repr)
    return st.lists(st.tuples(st.sampled_from(places), anything), min_size=1, max_size=20)


def change(rows: list[Any], changes: list[Change]) -> tuple[list[Any], set[int]]:
    """Return the rows with those values, and the indices of the changed rows."""
    changed = copy.deepcopy(rows)
    return changed, {path[0] for path, other in changes if replaced(changed, path, other)}


def has_id(row: object) -> bool:
    """Return whether a row can be shown."""
    return isinstance(row, dict) and isinstance(row.get("id"), str) and bool(row["id"])


@pytest.mark.parametrize("model", LISTS)
@settings(max_examples=40, deadline=None)
@given(st.data())
async def test_a_list_shows_every_row_that_can_be_read_and_the_others_as_they_were(
    model: type[Model], data: st.DataObject
) -> None:
    rows = rows_of(model)
    changed, touched = change(rows, data.draw(changes_of(rows)))
    async with api_of(saying(json.dumps({"data": changed}).encode())) as api:
        try:
            page = await LISTS[model](api)
        except Unreadable:
            assert not any(map(has_id, changed))
            return
    shown = {item.id: item for item in page}
    assert {row["id"] for row in changed if has_id(row)} <= shown.keys()
    for number in set(range(len(rows))) - touched:
        assert shown[f"row{number}"] == model.model_validate(rows[number])
        assert not shown[f"row{number}"].faults
    assert len(page) + len(page.unreadable) == len(changed)


@settings(max_examples=40, deadline=None)
@given(st.data())
async def test_a_chat_log_shows_every_message_that_is_an_object(data: st.DataObject) -> None:
    rows = rows_of(Message)
    changed, touched = change(rows, data.draw(changes_of(rows)))
    async with api_of(saying(json.dumps({"data": changed}).encode())) as api:
        shown = [message async for message in api.chat.messages("e", "s")]
    kept = [number for number, row in enumerate(changed) if isinstance(row, dict)]
    assert len(shown) == len(kept)
    for number, message in zip(kept, shown, strict=True):
        if number not in touched:
            assert message == Message.model_validate(rows[number])


@settings(max_examples=40, deadline=None)
@given(st.data())
async def test_samples_keep_every_one_that_has_a_time(data: st.DataObject) -> None:
    rows: list[Any] = [SAMPLE | {"time": f"2026-11-21T12:00:0{number}Z"} for number in range(6)]
    changed, touched = change(rows, data.draw(changes_of(rows)))
    async with api_of(saying(json.dumps({"data": changed}).encode())) as api:
        whole = await _samples(rows)
        try:
            samples = await api.qos.get("e")
        except Unreadable:
            assert touched == set(range(len(rows)))
            return
    assert len(samples) + samples.dropped == len(changed)
    assert {whole[number] for number in set(range(len(rows))) - touched} <= {*samples}


async def _samples(rows: list[Any]) -> QosSamples:
    async with api_of(saying({"data": rows})) as api:
        return await api.qos.get("e")


@settings(max_examples=40, deadline=None)
@given(st.data())
async def test_a_material_is_read_but_for_what_is_odd_in_it(data: st.DataObject) -> None:
    """No endpoint lists materials: one is answered at a time."""
    (row, *_) = rows_of(Material)
    changed, _ = change([row], data.draw(changes_of([row])))
    async with api_of(saying(json.dumps({"data": changed[0]}).encode())) as api:
        try:
            material = await api.materials.rename("m", "Slides")
        except Unknown:  # it was changed, and its answer cannot be read
            assert not has_id(changed[0])
            return
    odd = {fault.field.partition(".")[0].partition("[")[0] for fault in material.faults}
    same = [name for name in row if name in changed[0] and changed[0][name] == row[name] and name not in odd]
    whole = Material.model_validate(row)
    assert [getattr(material, name) for name in same] == [getattr(whole, name) for name in same]
