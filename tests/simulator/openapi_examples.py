"""Examples of the OpenAPI document: each operation once, on the demo workspace made from the seed 1.

`python tests/simulator/openapi_examples.py` rewrites them after a change of the API.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx

import livedeck.simulator
from livedeck.simulator import Simulator, SimulatorClock
from livedeck.simulator.api import ENDPOINTS

FILE = Path(livedeck.simulator.__file__).with_name("data") / "examples.json"
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORIGIN = "http://127.0.0.1:8787"
ROWS = 2
"""Maximum number of list elements in an example, and of lines of a text."""

Values = Mapping[str, Any]
NONE: Values = MappingProxyType({})
BODIES = {endpoint.operation: endpoint.body for endpoint in ENDPOINTS}


class Call(NamedTuple):
    """Request: its parameters by the place that takes them, and its body."""

    path: Values = NONE
    query: Values = NONE
    headers: Values = NONE
    body: Any = None


def calls(simulator: Simulator) -> dict[str, Call]:
    """Return a call for each operation. Each succeeds on the fresh workspace, and after all calls before it."""
    store, workspace = simulator._world.store, simulator.workspace_id
    event = {row["name"]: {"event_id": row["id"]} for row in store.find_all("event", workspace)}
    videos = {row["title"]: {"video_id": row["id"]} for row in store.find_all("video", workspace)}
    rooms = {row["name"]: row for row in store.find_all("room", workspace)}
    folder = store.find_all("folder", workspace)[0]["id"]
    video, spare = videos["Rehearsal Tuesday"], videos["Abendmusik 東京"]

    def ids(kind: str, of: Values = video) -> list[str]:
        order = [("id", "asc")]
        return [row["id"] for row in store.find_all(kind, workspace, [("of_video", of["video_id"])], order)]

    def one(kind: str, of: Values = video) -> Values:
        return {**of, f"{kind}_id": ids(kind, of)[-1]}

    live = store.get("event", event["Choir, hall B"]["event_id"])
    assert live is not None
    chat = {**event["Choir, hall B"], "stream_id": live["stream"]["id"]}
    council, page = rooms["Council, hybrid session"], {"page": 1, "per_page": ROWS}
    room, spare_room = {"room_id": council["id"]}, {"room_id": rooms["Sound check"]["id"]}
    target = {"name": "City", "url": "rtmp://live.example.org/app", "stream_key": "abcd-1234"}
    restream = {"name": "City", "url": "rtmp://live.example.org/app", "key": "abcd-1234", "enabled": True}
    note = {"title": "Second movement", "start_time": 600, "end_time": 640}
    material = {"material_id": ids("material")[0]}
    named = {"X-Video-ID": video["video_id"], "X-File-Name": "programme.txt", "X-Title": "Programme"}
    return {
        "list_posters": Call(video, page),
        "create_poster": Call(video, body={"from_time": 12.5}),
        "read_poster": Call(one("poster")),
        "activate_poster": Call(one("poster")),
        "delete_poster": Call(one("poster", spare)),
        "upload_poster": Call(
            headers={"X-Video-ID": video["video_id"], "X-Poster-URL": "https://example.org/poster.png"}
        ),
        "list_subtitles": Call(video, page),
        "upload_subtitle": Call(
            video, body={"language": "en", "file": "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nGood evening.\n"}
        ),
        "recognise_subtitles": Call(spare, body={"languages": ["en"]}),
        "read_subtitle": Call(one("subtitle")),
        "update_subtitle": Call(one("subtitle"), body={"description": "for the hall"}),
        "copy_subtitle": Call(one("subtitle", spare)),
        "delete_subtitle": Call(one("subtitle", spare)),
        "list_annotations": Call(video, page),
        "create_annotation": Call(video, body={"type": "text", **note}),
        "read_annotation": Call(one("annotation")),
        "update_annotation": Call(one("annotation"), body=note),
        "delete_annotation": Call(one("annotation", spare)),
        "upload_material": Call(headers=named, body="1. Allegro\n2. Adagio\n"),
        "link_material": Call(material),
        "update_material": Call(material, body={"title": "Notes, second edition"}),
        "reorder_materials": Call(body=ids("material")),
        "delete_material": Call(one("material", spare)),
        "list_events": Call(query={**page, "order": "created_at.desc,name.asc"}),
        "create_event": Call(body={"name": "Gala", "type": "one-time", "restreams": [restream]}),
        "read_event": Call(event["Choir, hall B"]),
        "update_event": Call(event["Choir, hall B"], body={"name": "Choir, hall B", "reconnect_window": 300}),
        "enable_event": Call(event["Untitled event"]),
        "schedule_stream": Call(event["Untitled event"], body={"started_at": "2026-03-02T18:00:00.000Z"}),
        "reschedule_stream": Call(event["Lecture 7"], body={"started_at": "2026-03-02T09:00:00.000Z"}),
        "move_event": Call(event["Untitled event"], body={"parent_id": folder}),
        "complete_event": Call(event["Harbour webcam"]),
        "delete_event": Call(event["Concert, open air"]),
        "list_recordings": Call(event["Rehearsal Tuesday"], page),
        "read_qos": Call(event["Choir, hall B"]),
        "read_chat_json": Call(chat),
        "read_chat_csv": Call(chat),
        "read_chat_text": Call(chat),
        "list_rooms": Call(query={**page, "q": "council"}),
        "create_room": Call(body={"owner_id": simulator.user_id, "name": "Control room", "restreams": [target]}),
        "read_room": Call(room),
        "update_profile": Call({**room, "restream_id": council["restreams"][0]["id"]}, body={"name": "City archive"}),
        "delete_room": Call(spare_room),
        "reorder_subtitles": Call(video, body=ids("subtitle")[::-1]),
    }


async def make_examples() -> dict[str, Any]:
    """Return parameters, body and reply of each operation, by its name; each on a workspace of its own."""
    examples = {}
    for endpoint in ENDPOINTS:
        simulator = Simulator(seed=1, clock=SimulatorClock(START, paused=True))
        call = calls(simulator)[endpoint.operation]
        path = endpoint.path.format_map(call.path)
        answer = await send(simulator, endpoint.method, path, call, BODIES[endpoint.operation])
        parameters = {**call.path, **call.query, **call.headers}
        examples[endpoint.operation] = {
            **({"parameters": parameters} if parameters else {}),
            **({"body": call.body} if call.body is not None else {}),
            "answer": _shorten(answer),
        }
        simulator.close()
    return examples


async def send(simulator: Simulator, method: str, path: str, call: Call, body: str) -> httpx.Response:
    """Send the call in process and return its success."""
    transport = httpx.ASGITransport(app=simulator.app)
    bearer = {"Authorization": f"Bearer {simulator.token}"}
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=bearer) as api:
        sent: dict[str, Any] = {}
        if body == "form":
            fields = dict(call.body)
            sent = {"files": {"file": ("track.vtt", fields.pop("file"))}, "data": fields}
        elif call.body is not None:
            sent = {"content": call.body} if body == "file" else {"json": call.body}
        answer = await api.request(method, path, params=call.query, headers=call.headers, **sent)
    assert answer.status_code == 200, (method, path, answer.text)
    return answer


def _shorten(answer: httpx.Response) -> Any:
    """Return the body with few rows, and without the signature of an address."""
    text = re.sub(r"sign=[0-9a-f]+", "sign=SIGNATURE", answer.text)
    if not answer.headers["content-type"].startswith("application/json"):
        return "".join(text.splitlines(keepends=True)[: ROWS + 1])
    body = json.loads(text)
    return body | {"data": body["data"][:ROWS]} if isinstance(body["data"], list) else body


if __name__ == "__main__":
    FILE.write_text(json.dumps(asyncio.run(make_examples()), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
