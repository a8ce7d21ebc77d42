"""Live events: documented fields are read, and undocumented fields are kept."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import pytest

from client.answers import Platform, api_of, saying
from livedeck.client import Event, Page, Unreadable

DOCUMENTED: dict[str, Any] = {
    "id": "4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10",
    "workspace_id": "0a6f4b1c-58c1-4a53-9c55-1d3a5d9b5e01",
    "parent_id": "5b7e8f90-1234-4c56-8d9e-abcdefabcdef",
    "name": "Evening show",
    "subtitle": "",
    "type": "one-time",
    "streamkey": "live-key-of-the-event-9c1d",
    "auto_start": False,
    "protected": False,
    "time_shift": True,
    "reconnect_window": 600,
    "record": {"parent_id": None},
    "video": {"presets": ["360p", "1080p"]},
    "audio": {"channel_mapping": None},
    "restreams": [
        {
            "id": "b1",
            "event_id": "4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10",
            "name": "Elsewhere",
            "url": "rtmp://live.example.com/app",
            "key": "key-of-the-restream-77aa",
            "status": "disconnected",
            "enabled": True,
            "description": "",
            "created_at": "2026-11-01T10:00:00.000000Z",
            "updated_at": "2026-11-01T10:00:00.000000Z",
        }
    ],
    "play_link": "https://play.example.com/4d2c",
    "rtmp_link": "rtmp://in.example.com/live/9c1d-link",
    "scheduled": {"time": "2026-11-21T18:00:00.000000Z"},
    "stream": {
        "id": "c1",
        "event_id": "4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10",
        "status": "pending",
        "started_at": "2026-11-21T18:00:00.5Z",
        "finished_at": None,
    },
    "latency_mode": "standard",
    "show_members": True,
    "chat_active": False,
    "chat_after_stream": True,
    "chat_preview": True,
    "allow_chat_links": False,
    "moderators": None,
    "poster": {
        "id": "d1",
        "media_id": "4d2c2f2e-6f53-4a3e-9b7d-0d8d1c1c7a10",
        "type": "image",
        "from_time": 0,
        "to_time": 1.5,
        "status": "done",
        "active": True,
        "original": "https://cdn.example.com/o.png",
        "md": "https://cdn.example.com/m.png",
        "sm": "https://cdn.example.com/s.png",
        "xs": "https://cdn.example.com/x.png",
    },
    "created_at": "2026-11-01T10:00:00.123456Z",
    "updated_at": None,
}


async def read(event: object) -> Event:
    """Return the event of a reply, requested by the id in it."""
    event_id = str((event.get("id") if isinstance(event, dict) else None) or "x")
    async with api_of(saying({"data": event})) as api:
        return await api.events.get(event_id)


def keys(value: object) -> object:
    """Return all names in a JSON value, at every depth, without their values."""
    if isinstance(value, dict):
        return {name: keys(inner) for name, inner in value.items()}
    return [keys(inner) for inner in value] if isinstance(value, list) else None


async def test_every_field_of_the_document_is_read_and_none_is_lost() -> None:
    """platform-api.md, "Live events": the table of the live event, with all that is nested in it."""
    event = await read(DOCUMENTED)
    assert not event.model_extra
    assert event.model_fields_set == set(Event.model_fields)
    assert keys(json.loads(event.model_dump_json(exclude_unset=True))) == keys(DOCUMENTED)


async def test_values_come_with_their_types() -> None:
    event = await read(DOCUMENTED)
    assert event.restreams
    assert event.restreams[0].enabled is True
    assert event.stream
    assert event.stream.started_at == datetime(2026, 11, 21, 18, 0, 0, 500_000, UTC)
    assert event.stream.finished_at is None
    assert event.video
    assert event.video.presets == ("360p", "1080p")


async def test_unknown_fields_and_unknown_words_are_kept_as_they_came() -> None:
    sent = {"id": "x", "latency_mode": "warp", "mood": {"blue": [1]}, "stream": {"status": "resting", "lane": 3}}
    event = await read(sent)
    assert event.model_dump(exclude_unset=True) == sent
    hidden = {"mood": "••••", "stream": {"status": "resting", "lane": "••••"}}  # nobody knows whether it is a key
    assert json.loads(event.model_dump_json(exclude_unset=True)) == sent | hidden


@pytest.mark.parametrize("name", sorted(Event.model_fields.keys() - {"id"}))
async def test_missing_and_null_both_read_as_none(name: str) -> None:
    assert getattr(await read({"id": "x"}), name) is None
    assert getattr(await read({"id": "x", name: None}), name) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T18:00:00Z", datetime(2026, 11, 21, 18, tzinfo=UTC)),
        ("2026-11-21T18:00:00.1Z", datetime(2026, 11, 21, 18, 0, 0, 100_000, UTC)),
        ("2026-11-21T18:00:00.123456789Z", datetime(2026, 11, 21, 18, 0, 0, 123_456, UTC)),
        ("2026-11-21T18:00:00.9999999Z", datetime(2026, 11, 21, 18, 0, 0, 999_999, UTC)),
        ("2026-11-21T21:00:00.5+03:00", datetime(2026, 11, 21, 18, 0, 0, 500_000, UTC)),
        ("2026-11-21T18:00:00", datetime(2026, 11, 21, 18, tzinfo=UTC)),
    ],
)
async def test_a_timestamp_is_aware_and_in_utc_whatever_its_digits(text: str, moment: datetime) -> None:
    event = await read({"id": "x", "created_at": text})
    assert event.created_at == moment
    assert event.created_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": "nobody"}, "data should have an id, not an object"),
        ({"id": ""}, "data should have an id, not an object"),
        ({"id": {}}, "data should have an id, not an object"),
        ([], "data should have an id, not an object"),
        ([{"id": "x"}], "data should be an object, not a list of 1"),
        ("soon", "data should be an object, not a string of 4 characters"),
        (None, "data should be an object, not null"),
    ],
)
async def test_what_is_no_event_is_unreadable(wrong: object, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        await read(wrong)
    assert str(caught.value) == f"get event x: the response is not as documented: {reason}"


async def test_a_reply_without_its_field_names_that_field() -> None:
    async with api_of(saying(b'{"data": {}}')) as api:
        with pytest.raises(Unreadable, match="data should have a link, not an object"):
            await api.materials.link("m1")


async def test_a_name_cut_inside_a_character_does_not_cost_the_event() -> None:
    async with api_of(saying(rb'{"data": {"id": "x", "name": "Party \ud83c\udf89 \ud83c"}}')) as api:
        assert (await api.events.get("x")).name == "Party \N{PARTY POPPER} \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(("event_id", "path"), [("a/../b", b"a%2F..%2Fb"), ("a b?c", b"a%20b%3Fc"), ("ж", b"%D0%B6")])
async def test_an_id_stays_one_segment_of_the_path(event_id: str, path: bytes) -> None:
    platform = saying({"data": {"id": event_id}})
    async with api_of(platform) as api:
        await api.events.get(event_id)
    assert platform.requests[0]["raw_path"] == b"/v2/live/events/" + path


def listed(ids: list[str], **pagination: int) -> bytes:
    meta = {"pagination": pagination, "order": {"created_at": "desc", "name": "asc"}}
    return json.dumps({"meta": meta, "data": [{"id": each} for each in ids]}).encode()


def ids(page: Page[Event]) -> list[str]:
    return [event.id for event in page.items]


async def test_a_page_says_where_it_lies_in_its_list() -> None:
    platform = saying(listed(["a", "b"], page=2, per_page=2, total=5))
    async with api_of(platform) as api:
        page = await api.events.list(page=2, per_page=2, order="name.asc", folder_id="f", without_folder=True)
    assert (ids(page), page.page, page.per_page, page.total) == (["a", "b"], 2, 2, 5)
    assert page.order == {"created_at": "desc", "name": "asc"}
    assert parse_qs(platform.requests[0]["query_string"].decode()) == {
        "page": ["2"],
        "per_page": ["2"],
        "order": ["name.asc"],
        "folder_id": ["f"],
        "without_folder": ["true"],
    }


@pytest.mark.parametrize("body", [{"data": []}, {"data": None}, {"data": [], "meta": None}, {"data": [], "meta": {}}])
async def test_a_list_without_meta_is_read_as_it_was_asked(body: dict[str, object]) -> None:
    async with api_of(saying(body)) as api:
        page = await api.events.list(page=3, per_page=7)
    assert page == Page(
        items=(), page=3, per_page=7, total=None, order={}, is_paged=False, is_null=body["data"] is None
    )


def paged(pages: list[list[str]], total: int | None = None) -> Platform:
    """Return a platform with three rows on a page. `total` None: no pagination. Pages after the last are empty."""

    def reply(_path: str, query: str) -> tuple[int, bytes, dict[str, str]]:
        number = int(parse_qs(query)["page"][0])
        here = pages[number - 1] if number <= len(pages) else []
        where = {} if total is None else {"page": number, "per_page": 3, "total": total}
        return 200, listed(here, **where), {}

    return Platform(reply)


@pytest.mark.parametrize("total", [None, 6])
async def test_an_event_that_moves_to_the_next_page_meanwhile_comes_once(total: int | None) -> None:
    async with api_of(paged([["a", "b", "c"], ["c", "d", "e"]], total)) as api:
        assert [event.id async for event in api.events.iterate()] == ["a", "b", "c", "d", "e"]


async def test_the_walk_ends_with_the_last_page_that_the_total_promises() -> None:
    platform = paged([["a", "b", "c"], ["d"]], total=4)
    async with api_of(platform) as api:
        assert [event.id async for event in api.events.iterate()] == ["a", "b", "c", "d"]
    assert len(platform.requests) == 2


async def test_a_platform_that_ignores_the_page_number_is_not_walked_for_ever() -> None:
    platform = saying(listed(["a", "b"], page=1, per_page=2, total=1000))
    async with api_of(platform) as api:
        assert [event.id async for event in api.events.iterate()] == ["a", "b"]
    assert len(platform.requests) == 4


async def test_a_platform_that_gives_less_to_a_page_than_asked_for_is_walked_to_its_end() -> None:
    """The answer states the total, but not the size of a page."""
    every = [str(number) for number in range(60)]

    def reply(_path: str, query: str) -> tuple[int, bytes, dict[str, str]]:
        start = (int(parse_qs(query)["page"][0]) - 1) * 20
        rows = [{"id": each} for each in every[start : start + 20]]
        return 200, json.dumps({"meta": {"pagination": {"total": 60}}, "data": rows}).encode(), {}

    async with api_of(Platform(reply)) as api:
        assert [event.id async for event in api.events.iterate()] == every


@pytest.mark.parametrize(
    ("meta", "total"),
    [
        ({"pagination": {"total": "57"}, "order": []}, 57),
        ({"pagination": {"total": -1, "page": "first"}}, None),
        ({"pagination": []}, None),
        ({"order": {"created_at": None}}, None),
        ([], None),
        ("of 57", None),
    ],
)
async def test_a_list_is_worth_more_than_what_is_said_about_it(meta: object, total: int | None) -> None:
    async with api_of(saying({"meta": meta, "data": [{"id": "x"}]})) as api:
        page = await api.events.list()
    assert [event.id for event in page.items] == ["x"]
    assert (page.page, page.per_page, page.total, page.order) == (1, 20, total, {})


async def test_a_number_past_all_floats_is_no_number() -> None:
    """`1e999` is JSON, and Python reads it as infinity, of which no length can be shown."""
    async with api_of(saying(b'{"data": [{"id": "v", "duration": 1e999}]}')) as api:
        (recording,) = (await api.events.videos("e")).items
    assert recording.duration is None
    assert [str(fault) for fault in recording.faults] == ["duration should be a finite number, not a number"]
