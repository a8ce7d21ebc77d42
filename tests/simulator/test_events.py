"""Live events: envelope, paging, order, filters and the fields of an event."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import FindEvent

EVENTS = "/v2/live/events"

FIELDS = {
    *(
        "id",
        "workspace_id",
        "parent_id",
        "name",
        "subtitle",
        "type",
        "streamkey",
        "auto_start",
        "protected",
        "time_shift",
    ),
    *("reconnect_window", "record", "video", "audio", "restreams", "play_link", "rtmp_link", "scheduled", "stream"),
    *("latency_mode", "show_members", "chat_active", "chat_after_stream", "chat_preview", "allow_chat_links"),
    *("moderators", "poster", "created_at", "updated_at"),
}


async def listed(api: httpx.AsyncClient, **query: str | int) -> dict[str, Any]:
    answer = await api.get(EVENTS, params=query)
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


async def test_a_list_carries_the_documented_envelope(api: httpx.AsyncClient) -> None:
    body = await listed(api)
    assert list(body) == ["meta", "data"]
    assert body["meta"] == {
        "pagination": {"page": 1, "per_page": 20, "total": 12},
        "order": {"created_at": "desc", "name": "asc"},
    }
    assert len(body["data"]) == 12


async def test_an_object_is_the_same_alone_and_in_a_list(api: httpx.AsyncClient) -> None:
    for event in (await listed(api))["data"]:
        assert (await api.get(f"{EVENTS}/{event['id']}")).json() == {"data": event}


async def test_an_id_is_found_in_either_case(api: httpx.AsyncClient, find_event: FindEvent) -> None:
    event = await find_event("Lecture 7")
    assert (await api.get(f"{EVENTS}/{event['id'].upper()}")).json() == {"data": event}


async def test_an_event_has_every_documented_field_and_no_other(api: httpx.AsyncClient) -> None:
    for event in (await listed(api))["data"]:
        assert set(event) == FIELDS


async def test_timestamps_are_utc_with_fractional_seconds(api: httpx.AsyncClient) -> None:
    for event in (await listed(api))["data"]:
        assert event["created_at"].endswith(".500Z")


async def test_the_newest_event_comes_first_unless_asked_otherwise(api: httpx.AsyncClient) -> None:
    created = [event["created_at"] for event in (await listed(api))["data"]]
    assert created == sorted(created, reverse=True)


@pytest.mark.parametrize("direction", ["asc", "desc"])
async def test_order_by_name_is_kept_and_told(api: httpx.AsyncClient, direction: str) -> None:
    body = await listed(api, order=f"name.{direction}")
    names = [event["name"] for event in body["data"]]
    assert names == sorted(names, reverse=direction == "desc")
    assert body["meta"]["order"] == {"name": direction}


async def test_ties_of_the_first_field_fall_to_the_second(api: httpx.AsyncClient) -> None:
    data = (await listed(api, order="updated_at.asc,name.desc"))["data"]
    untouched = [event["name"] for event in data if event["updated_at"] is None]
    assert untouched == sorted(untouched, reverse=True)
    assert len(untouched) > 1


@pytest.mark.parametrize("per_page", [1, 5, 12, 100])
async def test_pages_hold_every_event_once(api: httpx.AsyncClient, per_page: int) -> None:
    seen = []
    for page in range(1, 14):
        body = await listed(api, page=page, per_page=per_page)
        assert body["meta"]["pagination"] == {"page": page, "per_page": per_page, "total": 12}
        seen += [event["id"] for event in body["data"]]
    assert len(seen) == len(set(seen)) == 12


async def test_a_page_beyond_the_last_is_empty(api: httpx.AsyncClient) -> None:
    assert (await listed(api, page=999_999_999_999_999))["data"] == []


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("page=0", {"page"}),
        ("page=-1", {"page"}),
        ("page=", {"page"}),
        ("page=1.0", {"page"}),
        ("page=%EF%BC%91", {"page"}),
        (f"page={'9' * 40}", {"page"}),
        ("per_page=0", {"per_page"}),
        ("per_page=101", {"per_page"}),
        ("order=streamkey.asc", {"order"}),
        ("order=name", {"order"}),
        ("order=name.up", {"order"}),
        ("order=name.asc,", {"order"}),
        ("order=name.asc,name.desc", {"order"}),
        ("order=name.asc;drop", {"order"}),
        ("project_id=7", {"project_id"}),
        ("without_folder=yes", {"without_folder"}),
        ("page=x&per_page=x&order=x", {"page", "per_page", "order"}),
    ],
)
async def test_a_bad_parameter_is_named_with_the_reason(api: httpx.AsyncClient, query: str, names: set[str]) -> None:
    answer = await api.get(f"{EVENTS}?{query}")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, 400400)
    assert {fault["name"] for fault in error["invalid_params"]} == names
    assert all(fault["reason"].startswith("must be ") for fault in error["invalid_params"])


async def test_filters_narrow_and_add_up(api: httpx.AsyncClient, find_event: FindEvent) -> None:
    everything = (await listed(api))["data"]
    choir, rehearsal, concert = [
        await find_event(name) for name in ("Choir, hall B", "Rehearsal Tuesday", "Concert, open air")
    ]
    project, folder = choir["parent_id"], rehearsal["parent_id"]
    in_project = {event["name"] for event in (await listed(api, project_id=project))["data"]}
    assert in_project >= {choir["name"], rehearsal["name"], concert["name"]}
    assert len(in_project) < len(everything)
    assert [event["name"] for event in (await listed(api, folder_id=folder))["data"]] == [rehearsal["name"]]
    direct = (await listed(api, project_id=project, without_folder="true"))["data"]
    assert {event["parent_id"] for event in direct} == {project}
    assert (await listed(api, folder_id=folder, without_folder="true"))["data"] == []
    assert len((await listed(api, without_folder="false"))["data"]) == len(everything)


async def test_the_total_counts_what_the_filter_lets_through(api: httpx.AsyncClient, find_event: FindEvent) -> None:
    folder = (await find_event("Rehearsal Tuesday"))["parent_id"]
    assert (await listed(api, folder_id=folder))["meta"]["pagination"]["total"] == 1


@pytest.mark.parametrize(
    ("name", "status", "started"),
    [
        ("Choir, hall B", "live", "2026-11-21T07:57:12.500Z"),
        ("Morning service", "live", "2026-11-21T06:49:27.500Z"),
        ("Town hall, main", "live", "2026-11-21T08:37:55.500Z"),
        ("Lecture 7", "pending", "2026-11-21T08:57:50.500Z"),
        ("Evening news", "pending", "2026-11-21T09:14:20.500Z"),
        ("Rehearsal Tuesday", "finished", "2026-11-17T07:01:39.500Z"),
    ],
)
async def test_a_stream_tells_where_it_stands(find_event: FindEvent, name: str, status: str, started: str) -> None:
    event = await find_event(name)
    assert (event["stream"]["status"], event["stream"]["started_at"]) == (status, started)
    assert event["stream"]["event_id"] == event["id"]
    assert (event["stream"]["finished_at"] is None) == (status != "finished")


@pytest.mark.parametrize(
    ("name", "time"), [("Concert, open air", "2026-11-22T10:30:00.500Z"), ("Untitled event", None)]
)
async def test_an_event_without_a_stream_says_null(find_event: FindEvent, name: str, time: str | None) -> None:
    event = await find_event(name)
    assert event["stream"] is None
    assert event["scheduled"] == {"time": time}


@pytest.mark.parametrize(
    ("name", "connected", "total"),
    [("Choir, hall B", 4, 4), ("Morning service", 1, 1), ("Cup final, pitch 2", 2, 3), ("Lecture 7", 0, 2)],
)
async def test_restreams_are_connected_only_while_the_stream_is_live(
    find_event: FindEvent, name: str, connected: int, total: int
) -> None:
    restreams = (await find_event(name))["restreams"]
    assert len(restreams) == total
    assert sum(row["status"] == "connected" for row in restreams) == connected


async def test_a_pending_stream_is_live_once_its_encoder_sends(simulator: Simulator, find_event: FindEvent) -> None:
    simulator.clock.step(14 * 60 + 30)
    event = await find_event("Evening news")
    assert event["stream"]["status"] == "live"
    assert event["stream"]["started_at"] == "2026-11-21T09:14:00.500Z"
    assert {row["status"] for row in event["restreams"]} == {"connected"}


async def test_the_ingest_address_ends_in_the_stream_key(find_event: FindEvent) -> None:
    event = await find_event("City council")
    assert event["rtmp_link"].endswith(f"/{event['streamkey']}")


async def test_pictures_are_png_at_the_address_that_the_caller_used(
    api: httpx.AsyncClient, find_event: FindEvent
) -> None:
    poster = (await find_event("Choir, hall B"))["poster"]
    for size in ("original", "md", "sm", "xs"):
        assert poster[size].startswith("http://platform.test/cdn/")
        picture = await api.get(poster[size], headers={"Authorization": ""})
        assert picture.headers["content-type"] == "image/png"
        assert picture.content.startswith(b"\x89PNG\r\n\x1a\n")


async def test_the_same_seed_and_time_give_the_same_bytes(api: httpx.AsyncClient, simulator: Simulator) -> None:
    twin = Simulator(seed=simulator.seed, clock=simulator.clock)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=twin.app), base_url="http://platform.test", headers=api.headers
    ) as second:
        assert (await second.get(EVENTS)).content == (await api.get(EVENTS)).content
