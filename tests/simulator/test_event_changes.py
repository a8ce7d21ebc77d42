"""Life of an event: created, changed, enabled, scheduled, completed, moved, deleted (platform-api.md, "States")."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from livedeck.simulator import Simulator
from simulator.http_client import UNKNOWN_ID, FindEvent, Row, data, error_of, in_halves, invalid_names

EVENTS = "/v2/live/events"
DRAFT = {"name": "Matinee", "type": "one-time"}
SOON = "2026-11-21T10:00:00.000Z"
TARGET = {"name": "Share", "url": "rtmp://live.videoshare.example/app", "key": "k"}


@pytest.fixture
async def event(api: httpx.AsyncClient) -> Row:
    made: Row = data(await api.post(EVENTS, json=DRAFT))
    return made


@pytest.fixture
def path(event: Row) -> str:
    return f"{EVENTS}/{event['id']}"


async def on_air(api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str) -> Row:
    """Bring an event on air. Returns its stream."""
    data(await api.put(f"{path}/enable"))
    data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    data(await admin.post(path.replace(EVENTS, "/_control/encoders"), json={"sending": True}))
    stream: Row = data(await api.get(path))["stream"]
    return stream


async def test_a_new_event_is_a_draft_with_the_documented_defaults(api: httpx.AsyncClient, event: Row) -> None:
    shown: Row = {
        "parent_id": None,
        "auto_start": False,
        "protected": False,
        "time_shift": False,
        "reconnect_window": 600,
    }
    shown |= {"latency_mode": "standard", "show_members": True, "chat_active": False, "chat_after_stream": True}
    shown |= {"chat_preview": True, "restreams": [], "scheduled": {"time": None}, "stream": None, "updated_at": None}
    shown |= DRAFT | {"record": {"parent_id": None}, "video": {"presets": None}}
    assert {name: event[name] for name in shown} == shown
    assert data(await api.get(f"{EVENTS}/{event['id']}")) == event
    assert data(await api.get(EVENTS))[0] == event


async def test_no_two_events_share_an_id_or_a_key(api: httpx.AsyncClient) -> None:
    made = [data(await api.post(EVENTS, json=DRAFT)) for _ in range(5)]
    assert len({event["id"] for event in made}) == len({event["streamkey"] for event in made}) == 5


FULL = {
    "auto_start": True,
    "protected": True,
    "time_shift": True,
    "reconnect_window": 0,
    "scheduled": {"time": SOON},
    "video": {"presets": ["360p", "2160p"]},
    "latency_mode": "reduced",
    "show_members": False,
    "chat_active": True,
    "chat_after_stream": False,
    "chat_preview": False,
    "name": "x" * 255,
}


@pytest.mark.parametrize("field", [*FULL])
async def test_a_field_is_taken_at_birth_and_later_and_the_rest_stays(
    api: httpx.AsyncClient, event: Row, path: str, field: str
) -> None:
    assert data(await api.post(EVENTS, json=DRAFT | {field: FULL[field]}))[field] == FULL[field]
    changed = data(await api.put(path, json={field: FULL[field]}))
    assert changed == event | {field: FULL[field], "updated_at": "2026-11-21T09:00:00.500Z"}


async def test_title_and_description_change_what_an_event_calls_name_and_subtitle(
    api: httpx.AsyncClient, path: str
) -> None:
    changed = data(await api.put(path, json={"title": "Soiree", "description": "Second half"}))
    assert (changed["name"], changed["subtitle"]) == ("Soiree", "Second half")
    assert data(await api.put(path, json={"subtitle": ""}))["subtitle"] == ""
    assert invalid_names(await api.put(path, json={"title": "A", "name": "B"})) == ["title"]
    assert invalid_names(await api.put(path, json={"title": "x" * 256})) == ["title"]
    assert data(await api.get(path))["name"] == "Soiree"


async def test_an_empty_change_changes_nothing_but_the_date(api: httpx.AsyncClient, event: Row, path: str) -> None:
    assert data(await api.put(path, json={})) | {"updated_at": None} == event


async def test_a_change_that_comes_in_slowly_takes_no_other_back(api: httpx.AsyncClient, path: str) -> None:
    other = api.put(path, json={"subtitle": "From the other side"})
    data(await api.put(path, content=in_halves(b'{"name": "Soiree"}', other)))
    event = data(await api.get(path))
    assert (event["name"], event["subtitle"]) == ("Soiree", "From the other side")


async def test_a_schedule_is_taken_back_with_null(api: httpx.AsyncClient, path: str) -> None:
    data(await api.put(path, json={"scheduled": {"time": "2026-11-21T11:00:00+01:00"}}))
    assert data(await api.get(path))["scheduled"] == {"time": SOON}
    assert data(await api.put(path, json={"scheduled": {}}))["scheduled"] == {"time": SOON}
    assert data(await api.put(path, json={"scheduled": {"time": None}}))["scheduled"] == {"time": None}


@pytest.mark.parametrize(
    ("field", "value", "invalid"),
    [
        ("name", "", "name"),
        ("name", "x" * 256, "name"),
        ("name", 7, "name"),
        ("auto_start", 1, "auto_start"),
        ("reconnect_window", -1, "reconnect_window"),
        ("reconnect_window", 86_401, "reconnect_window"),
        ("reconnect_window", 1.5, "reconnect_window"),
        ("scheduled", {"time": "noon"}, "scheduled.time"),
        ("scheduled", {"at": SOON}, "scheduled.at"),
        ("scheduled", SOON, "scheduled"),
        ("video", {"presets": ["144p"]}, "video.presets[0]"),
        ("video", {"presets": ["360p"] * 7}, "video.presets"),
        ("latency_mode", "low", "latency_mode"),
        ("parent_id", UNKNOWN_ID, "parent_id"),
        ("record", {"parent_id": UNKNOWN_ID}, "record.parent_id"),
        ("record", {"parent_id": "x"}, "record.parent_id"),
        ("restreams", [TARGET, {"name": "x"}], "restreams[1].url"),
        ("restreams", [TARGET | {"url": "http://x.example"}], "restreams[0].url"),
        ("restreams", [TARGET | {"enabled": "yes"}], "restreams[0].enabled"),
        ("colour", "red", "colour"),
        ("restreams", [TARGET | {"colour": "red"}], "restreams[0].colour"),
    ],
)
async def test_a_bad_field_is_named_and_changes_nothing(
    api: httpx.AsyncClient, event: Row, field: str, *, value: object, invalid: str
) -> None:
    path = f"{EVENTS}/{event['id']}"
    for answer in (await api.post(EVENTS, json=DRAFT | {field: value}), await api.put(path, json={field: value})):
        assert invalid in invalid_names(answer)
    assert data(await api.get(path)) == event


async def test_half_a_character_is_no_text(api: httpx.AsyncClient) -> None:
    assert invalid_names(await api.post(EVENTS, content=b'{"name":"\\ud800","type":"one-time"}')) == ["name"]
    assert invalid_names(await api.post(EVENTS, content=b'{"\\ud800":1,"name":"x","type":"one-time"}')) == ["body"]


@pytest.mark.parametrize("missing", ["name", "type"])
async def test_an_event_needs_a_name_and_a_type(api: httpx.AsyncClient, missing: str) -> None:
    assert invalid_names(await api.post(EVENTS, json={key: DRAFT[key] for key in DRAFT if key != missing})) == [missing]


async def test_the_type_never_changes(api: httpx.AsyncClient, path: str) -> None:
    assert data(await api.put(path, json={"type": "recurring"}))["type"] == "one-time"


async def test_restreams_are_replaced_and_one_that_stays_keeps_its_id(api: httpx.AsyncClient, path: str) -> None:
    other = {"name": "Other", "url": "rtmps://x.example/", "key": "o", "description": "d", "enabled": False}
    first, second = data(await api.put(path, json={"restreams": [TARGET, other]}))["restreams"]
    assert set(first) == {
        *("id", "event_id", "name", "url", "key", "status", "enabled", "description", "created_at", "updated_at")
    }
    assert (first["enabled"], first["description"], first["status"]) == (True, "", "disconnected")
    assert (second["url"], second["enabled"], second["description"]) == ("rtmps://x.example", False, "d")
    (kept,) = data(await api.put(path, json={"restreams": [TARGET | {"name": "New"}]}))["restreams"]
    assert (kept["id"], kept["name"]) == (first["id"], "New")
    assert data(await api.put(path, json={"restreams": []}))["restreams"] == []


async def test_restreams_that_are_sent_back_as_they_are_do_not_change(
    api: httpx.AsyncClient, simulator: Simulator, path: str
) -> None:
    """Two of one address and key too: `updated_at` stays null until the first change."""
    drafts: list[Row] = [TARGET, {**TARGET, "enabled": False}, TARGET | {"key": "other"}]
    before = data(await api.put(path, json={"restreams": drafts}))["restreams"]
    simulator.clock.step(5)
    assert data(await api.put(path, json={"restreams": drafts}))["restreams"] == before
    drafts[2] = drafts[2] | {"name": "New"}
    first, second, third = data(await api.put(path, json={"restreams": drafts}))["restreams"]
    assert [first, second] == before[:2]
    assert third == before[2] | {"name": "New", "updated_at": "2026-11-21T09:00:05.500Z"}


async def test_a_restream_is_connected_while_it_is_enabled_and_the_stream_is_live(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str
) -> None:
    data(await api.put(path, json={"restreams": [TARGET, TARGET | {"key": "2", "enabled": False}]}))
    await on_air(api, admin, path)
    assert [row["status"] for row in data(await api.get(path))["restreams"]] == ["connected", "disconnected"]
    data(await api.put(f"{path}/complete"))
    assert {row["status"] for row in data(await api.get(path))["restreams"]} == {"disconnected"}


async def test_a_restream_changes_its_status_only_with_its_switch(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str
) -> None:
    data(await api.put(path, json={"restreams": [TARGET]}))
    await on_air(api, admin, path)
    control = path.replace(EVENTS, "/_control/restreams")
    data(await admin.post(control, json={"restream": "*", "connected": False}))
    for changes, status in (({"name": "New"}, "disconnected"), ({"enabled": False}, "disconnected"), ({}, "connected")):
        (restream,) = data(await api.put(path, json={"restreams": [{**TARGET, **changes}]}))["restreams"]
        assert restream["status"] == status


async def test_an_empty_part_of_an_event_stays_as_it_is(
    api: httpx.AsyncClient, find_event: FindEvent, path: str
) -> None:
    parent = (await find_event("Choir, hall B"))["parent_id"]
    draft = {"record": {"parent_id": parent}, "video": {"presets": ["720p"]}, "scheduled": {"time": SOON}}
    event = data(await api.put(path, json=draft))
    assert data(await api.put(path, json={name: {} for name in draft})) == event


async def test_an_event_goes_on_air_only_once_it_is_scheduled_and_enabled(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str
) -> None:
    encoder = path.replace(EVENTS, "/_control/encoders")
    data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    assert error_of(await admin.post(encoder, json={"sending": True})) == (409, 409409)
    assert data(await api.put(f"{path}/enable")) == {"success": True}
    data(await admin.post(encoder, json={"sending": True}))
    assert data(await api.get(path))["stream"]["status"] == "live"


async def test_an_enabled_event_without_a_stream_takes_no_encoder(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str
) -> None:
    data(await api.put(f"{path}/enable"))
    encoder = path.replace(EVENTS, "/_control/encoders")
    assert error_of(await admin.post(encoder, json={"sending": True})) == (409, 409409)


async def test_a_stream_is_scheduled_once_and_put_to_another_time(api: httpx.AsyncClient, path: str) -> None:
    assert error_of(await api.put(f"{path}/stream", json={"started_at": SOON})) == (404, 404404)
    made = data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    assert list(made) == ["id", "event_id", "status", "started_at", "finished_at"]
    assert (made["status"], made["started_at"], made["finished_at"]) == ("pending", SOON, None)
    assert error_of(await api.post(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)
    later = {"started_at": "2026-11-21T10:30:00.000Z"}
    assert data(await api.put(f"{path}/stream", json=later)) == made | later
    assert data(await api.get(path))["stream"] == made | later


@pytest.mark.parametrize("body", [{}, {"started_at": None}, {"started_at": "soon"}, {"started_at": "2026-11-21"}])
@pytest.mark.parametrize("verb", ["POST", "PUT"])
async def test_a_stream_starts_at_a_moment(api: httpx.AsyncClient, path: str, verb: str, body: Row) -> None:
    assert invalid_names(await api.request(verb, f"{path}/stream", json=body)) == ["started_at"]


async def test_a_live_stream_is_not_put_to_another_time(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, path: str
) -> None:
    await on_air(api, admin, path)
    assert error_of(await api.put(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)


async def test_completing_ends_the_stream_and_refuses_ingest(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, path: str
) -> None:
    before = await on_air(api, admin, path)
    simulator.clock.step(90)
    assert data(await api.put(f"{path}/complete")) == {"success": True}
    stream = data(await api.get(path))["stream"]
    assert stream == before | {"status": "finished", "finished_at": "2026-11-21T09:01:30.500Z"}
    samples = data(await api.get(f"{path}/qos"))
    simulator.clock.step(60)
    assert data(await api.get(f"{path}/qos")) == samples != []
    encoder = path.replace(EVENTS, "/_control/encoders")
    assert error_of(await admin.post(encoder, json={"sending": True})) == (409, 409409)
    assert data(await api.put(f"{path}/complete")) == {"success": True}
    assert data(await api.get(path))["stream"] == stream


async def test_completing_a_reopened_event_leaves_its_last_stream_and_recording_alone(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    path = f"{EVENTS}/{data(await api.post(EVENTS, json=DRAFT | {'type': 'recurring'}))['id']}"
    await on_air(api, admin, path)
    data(await api.put(f"{path}/complete"))
    stream = data(await api.get(path))["stream"]
    simulator.clock.step(60)
    data(await api.put(path, json={"scheduled": {"time": SOON}}))
    data(await api.put(f"{path}/complete"))
    simulator.clock.step(60)
    assert data(await api.get(path))["stream"] == stream
    assert len(data(await api.get(f"{path}/videos"))) == 1


@pytest.mark.parametrize("live", [True, False])
async def test_completing_twice_is_allowed_and_changes_nothing(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, path: str, *, live: bool
) -> None:
    if live:
        await on_air(api, admin, path)
    assert data(await api.put(f"{path}/complete")) == {"success": True}
    simulator.clock.step(20)
    before = data(await api.get(path)), data(await api.get(f"{path}/videos"))
    assert before[0]["updated_at"] == "2026-11-21T09:00:00.500Z"
    assert len(before[1]) == live
    assert data(await api.put(f"{path}/complete")) == {"success": True}
    simulator.clock.step(20)
    assert (data(await api.get(path)), data(await api.get(f"{path}/videos"))) == before


async def test_a_completed_event_is_not_enabled_nor_scheduled(api: httpx.AsyncClient, path: str) -> None:
    data(await api.put(f"{path}/complete"))
    assert error_of(await api.put(f"{path}/enable")) == (409, 409409)
    assert error_of(await api.post(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)


async def test_a_completed_one_time_event_takes_no_new_time_and_every_other_change(
    api: httpx.AsyncClient, path: str
) -> None:
    later = {"scheduled": {"time": "2026-11-22T10:00:00.000Z"}}
    data(await api.put(path, json={"scheduled": {"time": SOON}}))
    data(await api.put(f"{path}/complete"))
    assert error_of(await api.put(path, json=later)) == (409, 409409)
    assert error_of(await api.put(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)
    changed = data(await api.put(path, json={"name": "Soiree", "scheduled": {"time": SOON}}))
    assert (changed["name"], changed["scheduled"]) == ("Soiree", {"time": SOON})
    assert data(await api.put(path, json={"scheduled": {"time": None}}))["scheduled"] == {"time": None}


@pytest.mark.parametrize("by", ["stream", "time"])
async def test_a_completed_recurring_event_opens_again_by_its_next_schedule_alone(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, by: str
) -> None:
    path = f"{EVENTS}/{data(await api.post(EVENTS, json=DRAFT | {'type': 'recurring'}))['id']}"
    encoder = path.replace(EVENTS, "/_control/encoders")
    await on_air(api, admin, path)
    data(await api.put(f"{path}/complete"))
    assert error_of(await api.put(f"{path}/enable")) == (409, 409409)
    assert error_of(await admin.post(encoder, json={"sending": True})) == (409, 409409)
    if by == "time":
        data(await api.put(path, json={"scheduled": {"time": SOON}}))
        data(await api.put(f"{path}/enable"))
        assert error_of(await admin.post(encoder, json={"sending": True})) == (409, 409409)
    data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    data(await api.put(f"{path}/enable"))
    data(await admin.post(encoder, json={"sending": True}))


async def test_the_finished_stream_of_a_recurring_event_is_not_put_to_another_time(
    api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    path = f"{EVENTS}/{data(await api.post(EVENTS, json=DRAFT | {'type': 'recurring'}))['id']}"
    await on_air(api, admin, path)
    data(await api.put(f"{path}/complete"))
    assert error_of(await api.put(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)


@pytest.mark.parametrize("change", ["enable", "move"])
async def test_enabling_and_moving_an_event_date_the_change(
    api: httpx.AsyncClient, simulator: Simulator, find_event: FindEvent, path: str, change: str
) -> None:
    parent = (await find_event("Choir, hall B"))["parent_id"]
    simulator.clock.step(5)
    data(await api.put(f"{path}/{change}", json={"parent_id": parent} if change == "move" else None))
    assert data(await api.get(path))["updated_at"] == "2026-11-21T09:00:05.500Z"


async def test_a_recurring_event_gets_its_next_stream_once_the_last_has_ended(
    api: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    path = f"{EVENTS}/{data(await api.post(EVENTS, json=DRAFT | {'type': 'recurring'}))['id']}"
    first = await on_air(api, admin, path)
    assert error_of(await api.post(f"{path}/stream", json={"started_at": SOON})) == (409, 409409)
    data(await api.put(f"{path}/complete"))
    second = data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    assert (second["id"] != first["id"], second["status"]) == (True, "pending")
    assert data(await api.get(f"{path}/qos")) == []
    data(await admin.post(path.replace(EVENTS, "/_control/encoders"), json={"sending": True}))
    assert data(await api.get(path))["stream"]["status"] == "live"


async def test_a_recording_shows_within_20_seconds_of_completing(
    api: httpx.AsyncClient, admin: httpx.AsyncClient, simulator: Simulator, path: str
) -> None:
    await on_air(api, admin, path)
    simulator.clock.step(90)
    data(await api.put(f"{path}/complete"))
    assert data(await api.get(f"{path}/videos")) == []
    simulator.clock.step(20)
    body = (await api.get(f"{path}/videos")).json()
    assert body["meta"]["order"] == {"created_at": "asc"}
    (video,) = body["data"]
    assert list(video) == ["id", "title", "status", "duration", "created_at"]
    assert (video["title"], video["duration"]) == ("Matinee", timedelta(seconds=90).total_seconds())
    assert data(await api.get(f"/v1/videos/{video['id']}/posters")) == []


async def test_an_event_that_was_never_on_air_leaves_no_recording(
    api: httpx.AsyncClient, simulator: Simulator, path: str
) -> None:
    data(await api.post(f"{path}/stream", json={"started_at": SOON}))
    data(await api.put(f"{path}/complete"))
    simulator.clock.step(20)
    assert data(await api.get(f"{path}/videos")) == []
    stream = data(await api.get(path))["stream"]
    assert (stream["status"], stream["finished_at"]) == ("finished", "2026-11-21T09:00:00.500Z")
    assert stream["started_at"] == stream["finished_at"], "it ends before its time came"


async def test_an_event_moves_to_a_project_or_a_folder(
    api: httpx.AsyncClient, other: httpx.AsyncClient, find_event: FindEvent, path: str
) -> None:
    project, folder = [(await find_event(name))["parent_id"] for name in ("Choir, hall B", "Rehearsal Tuesday")]
    for parent in (project, folder):
        moved = data(await api.put(f"{path}/move", json={"parent_id": parent}))
        assert moved["parent_id"] == parent
        assert moved in data(await api.get(EVENTS, params={"project_id": project, "per_page": 100}))
    theirs = data(await other.get(EVENTS))[0]["parent_id"]
    for parent in (theirs, UNKNOWN_ID, "x", None):
        assert error_of(await api.put(f"{path}/move", json={"parent_id": parent})) == (400, 400400)
    assert error_of(await api.put(f"{path}/move")) == (400, 400400)
    assert data(await api.get(path))["parent_id"] == folder


async def test_a_deleted_event_is_gone_for_good(api: httpx.AsyncClient, event: Row, path: str) -> None:
    assert data(await api.delete(path)) == {"success": True}
    assert error_of(await api.get(path)) == error_of(await api.delete(path)) == (400, 400404)
    assert event["id"] not in [row["id"] for row in data(await api.get(EVENTS))]


VERBS = [
    *[("PUT", ""), ("DELETE", ""), ("PUT", "/enable"), ("PUT", "/complete"), ("POST", "/stream"), ("PUT", "/stream")],
    *[("PUT", "/move"), ("GET", "/videos"), ("GET", f"/stream/{UNKNOWN_ID}/chat.json")],
]


@pytest.mark.parametrize(("verb", "suffix"), VERBS)
async def test_no_verb_works_on_an_event_that_is_not_ours(
    api: httpx.AsyncClient, other: httpx.AsyncClient, verb: str, suffix: str
) -> None:
    theirs = data(await other.get(EVENTS))[0]
    assert error_of(await api.request(verb, f"{EVENTS}/{theirs['id']}{suffix}")) == (400, 400404)
    assert error_of(await api.request(verb, f"{EVENTS}/{UNKNOWN_ID}{suffix}")) == (400, 400404)
    assert error_of(await api.request(verb, f"{EVENTS}/7{suffix}")) == (400, 400301)
    assert data(await other.get(EVENTS))[0] == theirs
