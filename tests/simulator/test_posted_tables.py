"""Custom scenarios and workspaces: posted, played, stopped and played again; names in place of ids."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from livedeck.simulator import Simulator, listings
from livedeck.simulator.api.events import DEFAULTS
from livedeck.simulator.engine.encoder import MEASURED
from livedeck.simulator.rehearsal.commands import change_encoder
from livedeck.simulator.rehearsal.template import EventRow
from simulator.http_client import Row, data
from simulator.test_checking import GALA

TOML = {"Content-Type": "application/toml"}
HOUSE = """\
[targets.share]
name = "Video share"
url = "rtmp://live.videoshare.example/live2"

[[events]]
name = "Gala"
created = "-1d"
stream = "-00:05:00"
encoder = [["-00:05:00", "clean"], ["-00:01:00", "silent"]]
relays = [{ to = "share" }, { to = "share", enabled = false }]

[[events]]
name = "Encore"
created = "-1d 01:00:00"
stream = "-00:50:00"
finished = "-00:10:00"
encoder = [["-00:50:00", "variable"]]
chat_preview = false

[[videos]]
title = "Encore"
event = "Encore"
created = "-00:09:00"
duration = 2400
posters = [3]
materials = [{ title = "Notes", file = "notes.txt", text = "Bar 64" }]

[[rooms]]
name = "Green room"
created = "-1d"
relays = [{ to = "share" }]
"""


async def call(admin: httpx.AsyncClient, method: str, path: str, **content: object) -> Row:
    answer = await admin.request(method, f"/_control/{path}", **content)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    row: Row = answer.json()["data"]
    return row


async def refused(admin: httpx.AsyncClient, method: str, path: str, **content: object) -> tuple[int, list[Row]]:
    answer = await admin.request(method, f"/_control/{path}", **content)  # type: ignore[arg-type]
    return answer.status_code, answer.json()["error"].get("invalid_params", [])


async def test_a_scenario_is_posted_played_stopped_and_played_again(
    admin: httpx.AsyncClient, simulator: Simulator
) -> None:
    await call(admin, "PUT", "scenarios/gala", content=GALA, headers=TOML)
    assert (await admin.get("/_control/scenarios/gala")).text == GALA
    listed = data(await admin.get("/_control/scenarios"))
    assert {"name": "gala", "title": "Gala", "workspace": "gala", "posted": True} in listed
    first = await call(admin, "POST", "scenario", json={"name": "gala"})
    assert (first["began"], first["all"], first["ok"]) == ("2026-03-01T18:55:00.000Z", 2, True)
    simulator.clock.step(30)
    assert [step["state"] for step in (await call(admin, "GET", "scenario"))["steps"]] == ["done", "waiting"]
    simulator.clock.step(30)
    assert (await call(admin, "DELETE", "scenario"))["stopped"] is True
    simulator.clock.step(600)
    stopped = await call(admin, "GET", "scenario")
    assert [step["state"] for step in stopped["steps"]] == ["done", "waiting"]
    await call(admin, "DELETE", "scenarios/gala")
    again = await call(admin, "POST", "scenario/replay", json={})
    assert {name: again[name] for name in ("began", "done", "stopped")} == {
        "began": "2026-03-01T18:55:00.000Z",
        "done": 0,
        "stopped": False,
    }
    assert simulator.seed == 4
    simulator.clock.step(71)
    assert (await call(admin, "GET", "scenario"))["done"] == 2


async def test_a_wrong_scenario_is_refused_with_every_line_and_changes_nothing(admin: httpx.AsyncClient) -> None:
    wrong = GALA.replace('restream = "Video share"', 'restream = "Vimeo"').replace("KEYFRAME_SEVERE", "KEYFRAMES")
    for method, path in (("PUT", "scenarios/gala"), ("POST", "scenarios/check"), ("POST", "scenario")):
        status, problems = await refused(admin, method, path, content=wrong, headers=TOML)
        assert status == 400
        assert [problem["name"] for problem in problems] == ["steps[1].restream", "alarms[0].kind"]
        lines = [wrong.splitlines()[problem["line"] - 1] for problem in problems]
        assert lines == ['restream = "Vimeo"', 'kind = "KEYFRAMES"']
    status, problems = await refused(admin, "POST", "scenario", json={"table": {"title": "x", "lasts": "1"}})
    assert (status, problems) == (400, [{"name": "lasts", "reason": problems[0]["reason"]}])
    assert (await call(admin, "GET", "scenario"))["scenario"] is None
    assert (await admin.get("/_control/scenarios/gala")).status_code == 404


async def test_a_refused_step_is_told_and_never_counted_as_done(admin: httpx.AsyncClient, simulator: Simulator) -> None:
    await call(admin, "POST", "scenario", content=GALA, headers=TOML)
    gala = next(iter(data(await admin.get("/_control/workspaces"))))
    assert gala["name"] == "big"
    listed = await call(admin, "GET", "scenario")
    assert listed["steps"][0] | {"at": ""} == {"step": 0, "does": "encoder Gala, hall 1", "at": "", "state": "waiting"}
    headers = {"Authorization": f"Bearer {simulator.token}"}
    events = data(await admin.get("/v2/live/events", headers=headers))
    for event in events:
        assert (await admin.delete(f"/v2/live/events/{event['id']}", headers=headers)).status_code == 200
    simulator.clock.step(600)
    progress = await call(admin, "GET", "scenario")
    assert (progress["ok"], progress["done"], progress["refused"], progress["all"]) == (False, 0, 2, 2)
    assert progress["steps"][0]["reason"] == 'no event is called "Gala, hall 1"; there are none'


async def test_a_workspace_is_posted_served_and_read_back_as_a_template(
    admin: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await call(admin, "PUT", "workspaces/house", content=HOUSE, headers=TOML)
    assert (await admin.get("/_control/workspaces/house")).text == HOUSE
    await call(admin, "POST", "workspace", json={"name": "house", "seed": 3})
    before = data(await api.get("/v2/live/events"))
    assert {event["name"] for event in before} == {"Gala", "Encore"}
    template = (await admin.get("/_control/template")).text
    await call(admin, "PUT", "workspaces/copy", content=template, headers=TOML)
    await call(admin, "POST", "workspace", json={"name": "copy", "seed": 3})
    assert (await admin.get("/_control/template")).text == template
    after = data(await api.get("/v2/live/events"))
    hidden = {"restreams": 0, "updated_at": 0}
    assert [event | hidden for event in after] == [event | hidden for event in before]
    status, problems = await refused(admin, "PUT", "workspaces/house", content="[[events]]\nnme = 'x'", headers=TOML)
    assert status == 400
    assert {problem["name"]: problem["line"] for problem in problems} == {
        "events[0].name": 1, "events[0].created": 1, "events[0].nme": 2,
    }  # fmt: skip


async def test_the_template_of_every_shipped_workspace_serves_the_same_names(
    admin: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    for name in ("demo", "stage", "curtain"):
        await call(admin, "POST", "workspace", json={"name": name})
        before = {event["name"]: event["stream"] for event in data(await api.get("/v2/live/events?per_page=100"))}
        template = (await admin.get("/_control/template")).text
        await call(admin, "PUT", "workspaces/copy", content=template, headers=TOML)
        await call(admin, "POST", "workspace", json={"name": "copy"})
        after = {event["name"]: event["stream"] for event in data(await api.get("/v2/live/events?per_page=100"))}
        assert after.keys() == before.keys()
        assert {name for name, stream in after.items() if stream} == {name for name, stream in before.items() if stream}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("encoders/{event}", {"sending": False}),
        ("restreams/{event}", {"restream": "Video share", "connected": False}),
        ("chats/{event}", {"rate": 3}),
    ],
)
async def test_a_control_route_takes_a_name_or_an_id(admin: httpx.AsyncClient, path: str, body: Row) -> None:
    await call(admin, "POST", "workspace", json={"name": "stage"})
    named = await call(admin, "POST", path.format(event="Main%20stage"), json=body)
    again = await call(admin, "POST", path.format(event=named["event_id"]), json=body)
    assert named["event_id"] == again["event_id"]
    status, problems = await refused(admin, "POST", path.format(event="Main"), json=body)
    assert status == 404
    assert problems == [
        {
            "name": "event",
            "reason": 'no event is called "Main"; there are Main stage, Second stage, Small hall and Tomorrow',
        }
    ]


async def test_a_relay_is_found_by_the_names_of_room_and_profile(admin: httpx.AsyncClient) -> None:
    await call(admin, "POST", "workspace", json={"name": "stage"})
    path = f"relays/{quote('Green room')}"
    assert (await call(admin, "POST", f"{path}/{quote('Video share')}", json={"running": True}))["running"] is True
    status, problems = await refused(admin, "POST", f"{path}/Vimeo", json={"running": True})
    assert status == 404
    assert problems[0]["reason"] == (
        'no relay profile of "Green room" is called "Vimeo"; there are Video share and Social network'
    )


async def test_a_name_that_two_have_is_refused_with_both_ids(admin: httpx.AsyncClient, simulator: Simulator) -> None:
    headers = {"Authorization": f"Bearer {simulator.token}"}
    body = {"name": "Lecture 7", "type": "one-time"}
    twin = data(await admin.post("/v2/live/events", json=body, headers=headers))
    status, problems = await refused(admin, "POST", "chats/Lecture%207", json={"rate": 1})
    assert status == 409
    assert twin["id"] in problems[0]["reason"]


async def test_shipped_tables_stay_and_a_kept_workspace_needs_force(admin: httpx.AsyncClient) -> None:
    for path in ("scenarios/clean-show", "workspaces/stage"):
        assert (await admin.get(f"/_control/{path}")).headers["content-type"].startswith("application/toml")
        assert (await refused(admin, "DELETE", path))[0] == 409
    assert (await refused(admin, "PUT", "workspaces/stage", content=HOUSE, headers=TOML))[0] == 409
    assert (await refused(admin, "POST", "workspace", json={"name": "stag"}))[0] == 404
    assert (await refused(admin, "POST", "scenario", json={"name": "clean"}))[0] == 404
    assert (await refused(admin, "POST", "scenario", json={}))[0] == 400
    assert (await refused(admin, "POST", "scenario/replay", json={}))[0] == 409


FLAGS = {name: not DEFAULTS[name] for name in EventRow.model_fields if isinstance(DEFAULTS.get(name), bool)}
FULL: Row = {
    "projects": [{"name": "House", "folders": ["Hall"]}],
    "targets": {"share": {"name": "Share", "url": "rtmp://share.example/live", "key": "k", "description": "Copies"}},
    "events": [
        {
            **FLAGS,
            "name": "Gala",
            "subtitle": "Live",
            "type": "recurring",
            "parent": "Hall",
            "created": "-2d 00:00:00",
            "updated": "-1d 00:00:00",
            "scheduled": "-01:00:00",
            "stream": "-00:50:00",
            "finished": "-00:10:00",
            "encoder": [["-00:50:00", "variable"]],
            "relays": [{"to": "share", "name": "Copy", "status": "disconnected", "enabled": False}],
            "reconnect_window": 5,
            "latency_mode": "reduced",
            "video": {"presets": ["720p"]},
            "picture": "pitch",
            "sound": "left",
        }
    ],
    "videos": [
        {
            "title": "Gala",
            "event": "Gala",
            "created": "-00:09:00",
            "duration": 60.0,
            "posters": [3.0],
            "subtitles": [{"language": "en", "description": "English", "file": "a.vtt"}],
            "annotations": [
                {"type": "text", "title": "Hi", "link": "https://a.example", "start_time": 1, "end_time": 2}
            ],
            "materials": [{"title": "Notes", "file": "notes.txt", "text": "Bar 64"}],
        }
    ],
    "rooms": [
        {
            "name": "Green room",
            "type": "instant_meeting",
            "created": "-1d 00:00:00",
            "relays": [{"to": "share", "name": "Copy", "status": "disconnected", "enabled": False}],
        }
    ],
}


def documented(value: object, path: str = "") -> Iterator[str]:
    """Yield the paths in a table, as `serve --list` writes them."""
    yield path
    if isinstance(value, dict):
        for name, child in value.items():
            yield from documented(child, f"{path}.{'NAME' if path == 'targets' else name}".removeprefix("."))
    for child in value if isinstance(value, list) else ():
        yield from documented(child, f"{path}[]")


async def test_a_template_keeps_every_field_of_a_table_but_keys(admin: httpx.AsyncClient) -> None:
    """A field that the tables get must be built and written, too."""
    fields = {row[0] for table in listings() if table.name == "workspace-fields" for row in table.rows}
    assert fields - {*documented(FULL)} == {"events[].count"}
    await call(admin, "PUT", "workspaces/full", json=FULL)
    await call(admin, "POST", "workspace", json={"name": "full"})
    template = tomllib.loads((await admin.get("/_control/template")).text)
    # The name of a relay becomes that of its target. A relay of a room runs or does not, whatever its target says.
    lost = {"targets.NAME.key", "events[].relays[].name"}
    assert fields & ({*documented(FULL)} - {*documented(template)}) == lost
    event, full = template["events"][0], FULL["events"][0]
    assert {name: event[name] for name in full if name != "relays"} == {
        name: full[name] for name in full if name != "relays"
    }
    assert template["projects"] == FULL["projects"]
    assert template["videos"] == FULL["videos"]


async def test_a_template_is_sound_after_a_deleted_event_and_a_real_encoder(
    admin: httpx.AsyncClient, api: httpx.AsyncClient, simulator: Simulator
) -> None:
    world = simulator._world
    for event in data(await api.get("/v2/live/events?per_page=100")):
        if event["name"] == "Rehearsal Tuesday":
            data(await api.delete(f"/v2/live/events/{event['id']}"))
        if event["name"] == simulator.on_air()[0]:
            document = world.store.get("event", event["id"])
            assert document is not None
            change_encoder(world, world.now(), document, {"sending": True, "shape": MEASURED})
    template = (await admin.get("/_control/template")).text
    await call(admin, "PUT", "workspaces/copy", content=template, headers=TOML)
