"""Meeting rooms and relay profiles (platform-api.md, "Meeting rooms and relay profiles"), and their limits."""

from __future__ import annotations

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, Row, data, error_of, in_halves, invalid_names

ROOMS = "/v1/meet/rooms"


def profile(**changes: object) -> Row:
    return {"name": "Main", "url": "rtmp://live.videoshare.example/app", "stream_key": "k-1"} | changes


@pytest.fixture
def draft(simulator: Simulator) -> Row:
    return {"owner_id": simulator.user_id, "name": "Briefing", "type": "permanent_meeting", "restreams": [profile()]}


@pytest.fixture
async def room(api: httpx.AsyncClient, draft: Row) -> Row:
    created: Row = data(await api.post(ROOMS, json=draft | {"restreams": [profile(name=name) for name in "abc"]}))
    return created


@pytest.fixture
async def started(admin: httpx.AsyncClient, room: Row) -> str:
    """Return the path of a profile that broadcasts."""
    profile_id = room["restreams"][0]["id"]
    data(await admin.post(f"/_control/relays/{room['id']}/{profile_id}", json={"running": True}))
    return f"{ROOMS}/{room['id']}/restreams/{profile_id}"


async def total(api: httpx.AsyncClient) -> int:
    count: int = (await api.get(ROOMS)).json()["meta"]["pagination"]["total"]
    return count


async def test_a_room_is_made_with_its_profiles_and_read_back(api: httpx.AsyncClient, draft: Row) -> None:
    room = data(await api.post(ROOMS, json=draft))
    assert list(room) == ["id", "name", "type", "code", "link", "status", "restreams", "created_at"]
    assert (room["name"], room["type"], room["status"]) == ("Briefing", "permanent_meeting", "pending")
    (created,) = room["restreams"]
    assert list(created) == ["id", "room_id", "name", "url", "stream_key", "service", "created_at", "updated_at"]
    assert (created["room_id"], created["stream_key"], created["updated_at"]) == (room["id"], "k-1", None)
    assert data(await api.get(f"{ROOMS}/{room['id']}")) == room
    assert room in data(await api.get(ROOMS))


async def test_a_room_needs_no_profile_and_no_type(api: httpx.AsyncClient, draft: Row) -> None:
    room = data(await api.post(ROOMS, json={"owner_id": draft["owner_id"], "name": "Quiet"}))
    assert (room["restreams"], room["type"]) == ([], "permanent_meeting")


@pytest.mark.parametrize("count", [0, 1, 15])
async def test_up_to_15_profiles_are_taken_in_their_order(api: httpx.AsyncClient, draft: Row, count: int) -> None:
    draft["restreams"] = [profile(name=f"p{index}") for index in range(count)]
    created = data(await api.post(ROOMS, json=draft))
    assert [row["name"] for row in data(await api.get(f"{ROOMS}/{created['id']}"))["restreams"]] == [
        f"p{index}" for index in range(count)
    ]


@pytest.mark.parametrize("bad", [{}, {"name": ""}, {"url": "http://x.example"}])
async def test_16_profiles_are_400289_before_anything_is_wrong_with_them(
    api: httpx.AsyncClient, draft: Row, bad: Row
) -> None:
    before = await total(api)
    draft["restreams"] = [profile(**bad)] * 16
    assert error_of(await api.post(ROOMS, json=draft)) == (400, 400289)
    assert error_of(await api.post(ROOMS, json={"restreams": [None] * 16})) == (400, 400289)
    assert await total(api) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x"),
        ("name", "x" * 128),
        ("name", "東" * 128),
        ("name", " "),
        ("name", "\0"),
        ("stream_key", "k"),
        ("stream_key", "k" * 512),
        ("url", "rtmps://live.videoshare.example:443/app/x"),
        ("url", "rtmp://[::1]:1935/app"),
    ],
)
async def test_a_profile_at_the_edge_is_taken_both_ways(
    api: httpx.AsyncClient, draft: Row, room: Row, field: str, value: str
) -> None:
    created = data(await api.post(ROOMS, json=draft | {"restreams": [profile(**{field: value})]}))
    assert created["restreams"][0][field] == value
    path = f"{ROOMS}/{room['id']}/restreams/{room['restreams'][1]['id']}"
    assert data(await api.patch(path, json={field: value}))[field] == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 129),
        ("name", 7),
        ("name", None),
        ("stream_key", ""),
        ("stream_key", "k" * 513),
        ("stream_key", ["k"]),
        ("url", ""),
        ("url", "/"),
        ("url", "rtmp://"),
        ("url", "rtmp:///app"),
        ("url", "http://live.videoshare.example/app"),
        ("url", "live.videoshare.example/app"),
        ("url", "rtmp://host:99999/app"),
        ("url", "rtmp://[::1/app"),
        ("url", "rtmp://ho\x1bst/app"),
        ("url", None),
    ],
)
async def test_a_profile_over_the_edge_makes_no_room_and_changes_nothing(
    api: httpx.AsyncClient, draft: Row, room: Row, field: str, value: object
) -> None:
    before = await total(api)
    draft["restreams"] = [profile(), profile(**{field: value}), profile()]
    assert invalid_names(await api.post(ROOMS, json=draft)) == [f"restreams[1].{field}"]
    path = f"{ROOMS}/{room['id']}/restreams/{room['restreams'][1]['id']}"
    assert invalid_names(await api.patch(path, json={field: value})) == [field]
    assert await total(api) == before
    assert data(await api.get(f"{ROOMS}/{room['id']}")) == room


@pytest.mark.parametrize("missing", ["name", "url", "stream_key"])
async def test_a_profile_lacks_nothing(api: httpx.AsyncClient, draft: Row, missing: str) -> None:
    draft["restreams"] = [{name: value for name, value in profile().items() if name != missing}]
    assert invalid_names(await api.post(ROOMS, json=draft)) == [f"restreams[0].{missing}"]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"owner_id": UNKNOWN_ID}, ["owner_id"]),
        ({"owner_id": "me"}, ["owner_id"]),
        ({"name": ""}, ["name"]),
        ({"name": "x" * 256}, ["name"]),
        ({"type": "party"}, ["type"]),
        ({"restreams": {}}, ["restreams"]),
        ({"restreams": ["x"]}, ["restreams[0]"]),
        ({"restreams": [profile(color=1)]}, ["restreams[0].color"]),
        ({"color": 1}, ["color"]),
    ],
)
async def test_a_bad_room_is_named(api: httpx.AsyncClient, draft: Row, changes: Row, names: list[str]) -> None:
    before = await total(api)
    assert invalid_names(await api.post(ROOMS, json=draft | changes)) == names
    assert await total(api) == before


async def test_an_owner_is_a_user_of_the_same_workspace(
    api: httpx.AsyncClient, simulator: Simulator, draft: Row
) -> None:
    assert invalid_names(await api.post(ROOMS, json=draft | {"owner_id": simulator.other_workspace.user_id})) == [
        "owner_id"
    ]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (" rtmp://h.example/app ", "rtmp://h.example/app"),
        ("rtmp://h.example/app///", "rtmp://h.example/app"),
        ("rtmp://h.example/ a p p /", "rtmp://h.example/app"),
        ("rtmp://h.example/app / ", "rtmp://h.example/app"),
    ],
)
async def test_an_address_is_kept_without_spaces_and_trailing_slashes(
    api: httpx.AsyncClient, draft: Row, sent: str, stored: str
) -> None:
    created = data(await api.post(ROOMS, json=draft | {"restreams": [profile(url=sent)]}))
    assert created["restreams"][0]["url"] == stored


@pytest.mark.parametrize(
    ("url", "platform"),
    [
        ("rtmp://videoshare.example/x", "video_share"),
        ("rtmp://a.rtmp.VideoShare.Example:1935/x", "video_share"),
        ("rtmp://videoshare.example./x", "video_share"),
        ("rtmp://notvideoshare.example/x", "custom"),
        ("rtmp://videoshare.example.org/x", "custom"),
        ("rtmp://ingest.gamestream.example/x", "game_stream"),
        ("rtmps://dc4.messenger.example/x", "messenger"),
        ("rtmp://rtmp.videohost.example/x", "video_host_ru"),
        ("rtmps://live.social.example/x", "social_video"),
        ("rtmp://ingest.livedeck.example/x", "own"),
        ("rtmp://127.0.0.1/videoshare.example", "custom"),
    ],
)
async def test_the_platform_follows_from_the_address_whenever_that_changes(
    api: httpx.AsyncClient, draft: Row, url: str, platform: str
) -> None:
    created = data(
        await api.post(ROOMS, json=draft | {"restreams": [profile(url=url), profile(url="rtmp://x.example")]})
    )
    assert [row["service"] for row in created["restreams"]] == [platform, "custom"]
    path = f"{ROOMS}/{created['id']}/restreams/{created['restreams'][1]['id']}"
    assert data(await api.patch(path, json={"url": url}))["service"] == platform


async def test_a_changed_profile_answers_itself_alone_and_keeps_the_rest(
    api: httpx.AsyncClient, simulator: Simulator, room: Row
) -> None:
    first, second, third = room["restreams"]
    simulator.clock.step(5)
    changed = data(await api.patch(f"{ROOMS}/{room['id']}/restreams/{second['id']}", json={"stream_key": "new"}))
    assert changed == second | {"stream_key": "new", "updated_at": "2026-11-21T09:00:05.500Z"}
    assert data(await api.get(f"{ROOMS}/{room['id']}"))["restreams"] == [first, changed, third]


async def test_a_profile_of_another_room_is_404404(api: httpx.AsyncClient, draft: Row, room: Row) -> None:
    elsewhere = data(await api.post(ROOMS, json=draft))
    profile_id = elsewhere["restreams"][0]["id"]
    assert error_of(await api.patch(f"{ROOMS}/{room['id']}/restreams/{profile_id}", json={})) == (404, 404404)


async def test_a_room_of_another_workspace_is_404404(
    api: httpx.AsyncClient, other: httpx.AsyncClient, room: Row
) -> None:
    path = f"{ROOMS}/{room['id']}"
    assert error_of(await other.get(path)) == error_of(await other.delete(path)) == (404, 404404)
    patched = await other.patch(f"{path}/restreams/{room['restreams'][0]['id']}", json={"name": "theirs"})
    assert error_of(patched) == (404, 404404)
    assert (await other.get(ROOMS)).json()["meta"]["pagination"]["total"] == 0
    assert data(await api.get(path)) == room


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
@pytest.mark.parametrize(("identity", "code"), [(UNKNOWN_ID, (404, 404404)), ("7", (400, 400301))])
async def test_a_room_that_never_was(api: httpx.AsyncClient, verb: str, identity: str, code: tuple[int, int]) -> None:
    assert error_of(await api.request(verb, f"{ROOMS}/{identity}")) == code


async def test_a_deleted_room_is_gone_and_may_be_deleted_again(api: httpx.AsyncClient, room: Row) -> None:
    path = f"{ROOMS}/{room['id']}"
    before = await total(api)
    assert data(await api.delete(path)) == data(await api.delete(path)) == {"success": True}
    assert error_of(await api.get(path)) == (404, 404404)
    assert error_of(await api.patch(f"{path}/restreams/{room['restreams'][0]['id']}", json={})) == (404, 404404)
    assert await total(api) == before - 1


async def test_a_broadcasting_profile_is_409298_until_it_stops(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, room: Row, started: str
) -> None:
    for body in (b'{"name":"x"}', b'{"name":""}', b"{}", b"not json"):
        assert error_of(await api.patch(started, content=body)) == (409, 409298)
    assert data(await api.get(f"{ROOMS}/{room['id']}"))["status"] == "active"
    assert data(await api.get(f"{ROOMS}/{room['id']}"))["restreams"] == room["restreams"]
    neighbour = f"{ROOMS}/{room['id']}/restreams/{room['restreams'][1]['id']}"
    assert data(await api.patch(neighbour, json={"name": "x"}))["name"] == "x"
    data(
        await admin.post(started.replace(ROOMS, "/_control/relays").replace("/restreams", ""), json={"running": False})
    )
    assert data(await api.patch(started, json={"name": "x"}))["name"] == "x"
    assert data(await api.get(f"{ROOMS}/{room['id']}"))["status"] == "pending"


async def test_a_room_is_deleted_with_its_relays_running(api: httpx.AsyncClient, room: Row, started: str) -> None:
    data(await api.delete(f"{ROOMS}/{room['id']}"))
    assert error_of(await api.patch(started, json={"name": "x"})) == (404, 404404)


async def test_at_most_5_relays_run_in_a_call(api: httpx.AsyncClient, admin: httpx.AsyncClient, draft: Row) -> None:
    room = data(await api.post(ROOMS, json=draft | {"restreams": [profile()] * 6}))
    paths = [f"/_control/relays/{room['id']}/{row['id']}" for row in room["restreams"]]
    for path in [*paths[:5], paths[0]]:
        data(await admin.post(path, json={"running": True}))
    assert error_of(await admin.post(paths[5], json={"running": True})) == (409, 409409)
    data(await admin.post(paths[0], json={"running": False}))
    data(await admin.post(paths[5], json={"running": True}))


async def test_a_relay_that_starts_while_its_change_comes_in_is_not_changed(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, room: Row
) -> None:
    profile_id = room["restreams"][0]["id"]
    start = admin.post(f"/_control/relays/{room['id']}/{profile_id}", json={"running": True})
    path = f"{ROOMS}/{room['id']}/restreams/{profile_id}"
    assert error_of(await api.patch(path, content=in_halves(b'{"name": "x"}', start))) == (409, 409298)
    assert error_of(await api.patch(path, json={"name": "x"})) == (409, 409298)


@pytest.mark.parametrize("verb", ["POST", "DELETE"])
async def test_no_endpoint_adds_or_removes_one_profile(api: httpx.AsyncClient, room: Row, verb: str) -> None:
    for path in ("restreams", f"restreams/{room['restreams'][0]['id']}"):
        answer = await api.request(verb, f"{ROOMS}/{room['id']}/{path}")
        assert answer.status_code in {404, 405}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"q": "council"}, ["Council, hybrid session"]),
        ({"q": "OFFICE"}, ["Open office hour"]),
        ({"q": "%"}, []),
        ({"type[]": "instant_meeting"}, ["Sound check"]),
        ({"status[]": ["active", "finished"]}, []),
        ({"status[]": ["active", "pending"], "q": "sound"}, ["Sound check"]),
        ({"code[]": "000-000-00x"}, []),
        ({"order": "name.asc"}, ["Council, hybrid session", "Editorial meeting", "Open office hour", "Sound check"]),
        ({"order": "type.asc,name.desc", "per_page": 2}, ["Sound check", "Open office hour"]),
    ],
)
async def test_rooms_are_filtered_and_ordered(api: httpx.AsyncClient, query: Row, names: list[str]) -> None:
    assert [room["name"] for room in data(await api.get(ROOMS, params=query))] == names


@pytest.mark.parametrize("q", ["совет", "СОВЕТ", "straße", "STRASSE"])
async def test_a_room_is_found_by_its_name_in_either_case_of_any_script(
    api: httpx.AsyncClient, draft: Row, q: str
) -> None:
    room = data(await api.post(ROOMS, json=draft | {"name": "Городской Совет, Straße 5"}))
    assert data(await api.get(ROOMS, params={"q": q})) == [room]


async def test_a_room_is_found_by_its_code(api: httpx.AsyncClient, room: Row) -> None:
    assert data(await api.get(ROOMS, params={"code[]": ["x", room["code"]]})) == [room]


@pytest.mark.parametrize("query", [{"status[]": "odd"}, {"type[]": ""}, {"order": "link.asc"}, {"page": 0}])
async def test_a_bad_filter_is_named(api: httpx.AsyncClient, query: Row) -> None:
    assert invalid_names(await api.get(ROOMS, params=query)) == [*query]
