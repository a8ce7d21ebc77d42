"""An invalid value hides only itself, not the list around it (commands.md, "Unreadable data")."""

from __future__ import annotations

import json
import re
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.answers import api_of, saying
from client.broken import BROKEN, CUT, MEANT, list_with
from client.raw_lists import raw_platform
from client.test_transport import api_at
from livedeck.client import Event, PagedItems, Unknown, Unreadable
from livedeck.client.http.lenient import MAX_SIZE, Broken, read_lenient
from trials import trials

EACH = [*BROKEN, *MEANT]


async def events_of(body: bytes) -> tuple[list[Event], PagedItems[Event]]:
    """Return the events of a platform that replies with these bytes."""
    with raw_platform(lambda _page, _count: body) as platform:
        async with api_at(platform.address) as api:
            listed = api.events.iterate()
            return [event async for event in listed], listed


@pytest.mark.parametrize("name", BROKEN)
async def test_a_value_that_cannot_be_read_is_unknown_and_named_and_every_row_stays(name: str) -> None:
    text, shape = BROKEN[name]
    events, listed = await events_of(list_with(text))
    assert [(event.id, event.name) for event in events] == [("e1", "Hall 1"), ("e2", None), ("e3", "Hall 3")]
    (fault,) = {fault.field: fault for fault in events[1].faults if fault.field == "name"}.values()
    assert fault.actual == shape
    assert (listed.unreadable, listed.is_complete) == ((), True)
    assert not events[0].faults
    assert not events[2].faults


@pytest.mark.parametrize("name", MEANT)
async def test_a_value_with_one_meaning_is_read_as_that(name: str) -> None:
    text, meaning = MEANT[name]
    events, _ = await events_of(list_with(text))
    assert [event.name for event in events] == ["Hall 1", meaning, "Hall 3"]
    assert not events[1].faults


@pytest.mark.parametrize("name", BROKEN)
async def test_in_a_field_that_the_document_does_not_know_it_hides_no_more(name: str) -> None:
    events, _ = await events_of(list_with(BROKEN[name][0], "weather"))
    assert [event.id for event in events] == ["e1", "e2", "e3"]
    assert {fault.field[:7] for fault in events[1].faults} == {"weather"}
    json.dumps([event.model_dump(mode="json") for event in events])


@pytest.mark.parametrize("name", BROKEN)
async def test_a_row_without_a_readable_id_is_left_out_and_named(name: str) -> None:
    body = list_with("1").replace(b'"id":"e2"', b'"id":' + BROKEN[name][0].encode())
    events, listed = await events_of(body)
    assert [event.id for event in events] == ["e1", "e3"]
    assert [fault.field for fault in listed.unreadable] == ["data[1]"]
    assert "id" in listed.unreadable[0].expected
    assert listed.is_complete, "it was received"


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        ('{"id":"e2" "name":"Hall 2"}', "an object that is not JSON"),
        ("NaN", "NaN"),
        ("{id:'e2'}", "an object that is not JSON"),
        ('{"id":"e2","name":[1,,2}', None),
    ],
)
async def test_a_row_that_is_no_json_is_left_out_and_named(row: str, shape: str | None) -> None:
    body = list_with("1").replace(b'{"id":"e2","name":1}', row.encode())
    if shape is None:
        with pytest.raises(Unreadable, match="is not JSON"):
            await events_of(body)
        return
    events, listed = await events_of(body)
    assert [event.id for event in events] == ["e1", "e3"]
    assert [str(fault) for fault in listed.unreadable] == [f"data[1] should be an object, not {shape}"]


async def test_a_comma_after_the_last_row_is_no_row() -> None:
    events, listed = await events_of(list_with('"Hall 2"').replace(b"}]}", b"},\n]\n,}"))
    assert [event.id for event in events] == ["e1", "e2", "e3"]
    assert (listed.unreadable, listed.is_complete) == ((), True)


@pytest.mark.parametrize("name", CUT)
async def test_the_end_of_a_document_is_never_guessed(name: str) -> None:
    with pytest.raises(Unreadable, match="is not JSON"):
        await events_of(CUT[name].encode())


async def test_one_object_is_read_as_a_row_is() -> None:
    with raw_platform(lambda _page, _count: b'{"data":{"id":"e","name":"a\tb","subtitle":"\\x"}}') as platform:
        async with api_at(platform.address) as api:
            event = await api.events.get("e")
    assert (event.name, event.subtitle) == ("a\tb", None)
    assert [str(fault) for fault in event.faults] == ["subtitle should be readable, not a string with a bad escape"]


async def test_a_value_inside_a_row_is_named_by_its_place() -> None:
    events, _ = await events_of(list_with('[{"id":"r1","name":NaN},{"id":"r2","url":"u\\x"},NaN]', "restreams"))
    assert [(restream.id, restream.name, restream.url) for restream in events[1].restreams or ()] == [
        ("r1", None, None),
        ("r2", None, None),
    ]
    assert sorted(map(str, events[1].faults)) == [
        "restreams[0].name should be readable, not NaN",
        "restreams[1].url should be readable, not a string with a bad escape",
        "restreams[2] should be readable, not NaN",
    ]


async def test_the_answer_to_a_change_is_not_repaired() -> None:
    async with api_of(saying(b'{"data":{"id":"e","name":NaN}}')) as api:
        with pytest.raises(Unknown):
            await api.events.move("e", "p")


@pytest.mark.parametrize("name", BROKEN)
async def test_a_sample_with_a_forbidden_rate_stays_and_its_rate_is_unknown(name: str) -> None:
    def sample(second: int, video: str, more: str = "") -> str:
        return f'{{"time":"2026-11-21T12:00:0{second}Z","bitrate_video":{video},"bitrate_audio":1,"status":0{more}}}'

    text = BROKEN[name][0]
    samples_sent = [sample(1, "5"), sample(2, text), sample(3, "7", f',"odd":{text}')]
    body = f'{{"data":[{",".join(samples_sent)}]}}'
    with raw_platform(lambda _page, _count: body.encode()) as platform:
        async with api_at(platform.address) as api:
            samples = await api.qos.get("e")
    assert [sample.time.second for sample in samples] == [1, 2, 3]
    assert isnan(samples.bitrate_video[1])
    assert [*samples.bitrate_audio] == [1, 1, 1]
    assert (samples.bitrate_video[0], samples.bitrate_video[2]) == (5, 7)
    assert dict(samples.unreadable) == {"bitrate_video": 1}
    assert samples.dropped == 0


async def test_a_long_list_is_read_as_a_short_one() -> None:
    rows = ",".join(f'{{"id":"e{number}","name":"{"x" * 900}","n":NaN}}' for number in range(100))
    events, listed = await events_of(f'{{"data":[{rows},{{"id":"last","name":"\\x"}}]}}'.encode())
    assert len(events) == 101
    assert events[-1].faults[0].field == "name"
    assert not listed.unreadable


def test_a_document_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        read_lenient("[NaN" + " " * MAX_SIZE + "]")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@trials(200)
@given(st.lists(values, max_size=6), st.sampled_from([None, 1, "\t"]), st.integers(0, 6), st.sampled_from([*BROKEN]))
def test_whatever_stands_beside_a_broken_value_is_read_as_it_is(
    items: list[object], indent: int | str | None, place: int, name: str
) -> None:
    marker = "MARKER-4711"
    document = [*items[:place], marker, *items[place:]]
    text = json.dumps(document, indent=indent).replace(f'"{marker}"', BROKEN[name][0])
    found = read_lenient(text)
    assert isinstance(found, list)
    at = min(place, len(items))
    assert [*found[:at], *found[at + 1 :]] == items
    assert "Broken" in repr(found[at])


@trials(200)
@given(values.filter(lambda value: isinstance(value, dict | list)), st.data())
def test_no_document_that_is_cut_is_read(document: object, data: st.DataObject) -> None:
    text = json.dumps([document, "MARKER-4711"]).replace('"MARKER-4711"', '"\\x"')
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ValueError, match=r"."):
        read_lenient(text[:end])


def test_what_is_broken_says_its_kind_and_never_its_value() -> None:
    key = "the-key-4711"
    for text in (f'"{key}\\x"', key, f"[{key} {key}]", f'{{"a" "{key}"}}'):
        assert not re.search(key, repr(read_lenient(f"[{text}]")))
    assert Broken("NaN") == Broken("NaN")
