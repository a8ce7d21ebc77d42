"""Points that the platform's document leaves open, as literal bytes on a socket without a client.

See platform-api.md, "Upload headers".
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from livedeck.simulator import Simulator, SimulatorClock, serve
from simulator.conftest import START
from simulator.http_client import UNKNOWN_ID


class Wire:
    """Requests to a simulator as literal bytes, each on a connection of its own."""

    def __init__(self, simulator: Simulator, port: int) -> None:
        self._simulator = simulator
        self._port = port

    async def send(self, line: str, *headers: bytes, body: bytes = b"", length: int | None = None) -> tuple[int, bytes]:
        """Return the status and the body of the reply.

        `length`: declared length in place of the body's own; these bytes are never sent.
        """
        return await asyncio.to_thread(self._send, line, headers, body, len(body) if length is None else length)

    def _send(self, line: str, headers: tuple[bytes, ...], body: bytes, length: int) -> tuple[int, bytes]:
        with closing(HTTPConnection("127.0.0.1", self._port)) as connection:
            method, path = line.split(" ")
            connection.putrequest(method, path)
            for header in headers or [f"Authorization: Bearer {self._simulator.token}".encode()]:
                connection.putheader(*header.split(b": ", 1))
            connection.putheader("Content-Length", length)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()

    async def upload(self, path: str, *headers: bytes) -> tuple[int, Any]:
        """Upload five bytes with these headers."""
        token = f"Authorization: Bearer {self._simulator.token}".encode()
        status, body = await self.send(f"POST /upload/{path}", token, *headers, body=b"bytes")
        return status, json.loads(body)

    async def data(self, line: str, body: bytes = b"") -> Any:
        """Return the data of a success."""
        status, content = await self.send(line, body=body)
        assert status == 200, content
        return json.loads(content)["data"]

    async def error(self, line: str, body: bytes = b"") -> tuple[int, int]:
        """Return the status and the code of a refusal."""
        status, content = await self.send(line, body=body)
        return status, json.loads(content)["error"]["code"]

    async def event(self, name: str) -> dict[str, Any]:
        """Return the event of a name, from the list."""
        events = await self.data("GET /v2/live/events?per_page=100")
        return next(event for event in events if event["name"] == name)

    async def video(self) -> str:
        """Return the id of a recording."""
        event = await self.event("Rehearsal Tuesday")
        videos = await self.data(f"GET /v2/live/events/{event['id']}/videos")
        return str(videos[0]["id"])


@pytest.fixture
async def wire(simulator: Simulator) -> AsyncIterator[Wire]:
    async with serve(simulator) as addresses:
        yield Wire(simulator, int(addresses.base_url.rpartition(":")[2]))


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        (b"plain.txt", "plain.txt"),
        (b"a%20b.txt", "a%20b.txt"),
        (b"100%.txt", "100%.txt"),
        (b"%7F%7f%zz%8", "%7F%7f%zz%8"),
        (b"..%2F..%2Fetc%2Fpasswd", "..%2F..%2Fetc%2Fpasswd"),
        (b"%E6%9D%B1%20100%25.txt", "東 100%.txt"),
        (b"%c3%a4", "ä"),
    ],
)
async def test_a_name_and_a_title_are_decoded_only_where_they_hold_a_byte_of_0x80_or_more(
    wire: Wire, name: bytes, recorded: str
) -> None:
    video = b"X-Video-ID: " + (await wire.video()).encode()
    status, answer = await wire.upload("additional-material", video, b"X-File-Name: " + name, b"X-Title: " + name)
    assert (status, answer["data"]["filename"], answer["data"]["title"]) == (200, recorded, recorded)


@pytest.mark.parametrize("name", [b"%C3", b"%80", b"a%ffb"])
async def test_a_name_or_title_that_is_no_utf_8_is_refused(wire: Wire, name: bytes) -> None:
    video = b"X-Video-ID: " + (await wire.video()).encode()
    for headers in ([b"X-File-Name: " + name], [b"X-File-Name: a", b"X-Title: " + name]):
        status, answer = await wire.upload("additional-material", video, *headers)
        assert (status, answer["error"]["code"]) == (400, 400400)


@pytest.mark.parametrize(
    "address",
    ["https://cdn.example/a%20b.png?sign=a%2Bb", "http://x.example/%E6%9D%B1?a=%25#%2F", "https://x.example/%"],
)
async def test_the_address_of_a_poster_is_recorded_as_it_came(tmp_path: Path, address: str) -> None:
    simulator = Simulator(data=tmp_path / "deck.db", clock=SimulatorClock(START, paused=True))
    async with serve(simulator) as addresses:
        wire = Wire(simulator, int(addresses.base_url.rpartition(":")[2]))
        owner = f"X-Video-ID: {await wire.video()}".encode()
        status, answer = await wire.upload("v2/poster", owner, f"X-Poster-URL: {address}".encode())
    simulator.close()
    with closing(sqlite3.connect(tmp_path / "deck.db")) as db:
        row = db.execute(
            "SELECT json FROM document WHERE kind = 'poster' AND id = ?", [answer["data"]["id"]]
        ).fetchone()
    assert (status, json.loads(row[0])["source"]) == (200, address)


async def test_the_text_of_a_chat_is_one_line_a_message(wire: Wire) -> None:
    event = await wire.event("Choir, hall B")
    log = f"GET /v2/live/events/{event['id']}/stream/{event['stream']['id']}/chat"
    messages = await wire.data(f"{log}.json")
    assert any("two\nlines\r\nthree" in message["message"] for message in messages)
    _, text = await wire.send(f"{log}.txt")
    lines = text.decode().splitlines()
    assert len(lines) == len(messages)
    for line, message in zip(lines, messages, strict=True):
        assert line.startswith(f"[{message['created_at']}] {message['username']}: ")
    assert any(line.endswith(": two lines three\ttabs") for line in lines)


@pytest.mark.parametrize(
    ("line", "headers", "answer"),
    [
        ("POST /v2/live/events", [b"Authorization: Bearer wrong"], (401, 401401)),
        ("POST /upload/additional-material", [b"X-File-Name: a"], (401, 401401)),
        ("POST /upload/additional-material", [], (400, 400400)),
        ("POST /upload/additional-material", [b"X-Video-ID: " + UNKNOWN_ID.encode(), b"X-File-Name: a"], (404, 404404)),
        ("POST /upload/v2/poster", [b"X-Video-ID: 7", b"X-Poster-URL: http://x.example"], (400, 400400)),
        ("POST /nowhere", [], (404, 404404)),
    ],
)
async def test_a_request_that_is_refused_before_its_body_is_answered_at_once(
    simulator: Simulator, wire: Wire, line: str, headers: list[bytes], answer: tuple[int, int]
) -> None:
    """The client never sends a byte of the body."""
    token = [] if answer[0] == 401 else [f"Authorization: Bearer {simulator.token}".encode()]
    status, body = await wire.send(line, *token, *headers, b"Content-Type: application/json", length=1024 * 1024)
    assert (status, json.loads(body)["error"]["code"]) == answer


@pytest.mark.parametrize(
    "line",
    [
        "GET /v2/live/events/7",
        f"PUT /v2/live/events/{UNKNOWN_ID.upper()}0/enable",
        "GET /v1/meet/rooms/not-a-uuid",
        "DELETE /v1/videos/%00/posters/x",
        f"GET /v1/videos/{UNKNOWN_ID}%0A/subtitles",
        "GET /v2/live/events/%2e%2e/qos",
    ],
)
async def test_a_malformed_id_is_400301(wire: Wire, line: str) -> None:
    assert await wire.error(line) == (400, 400301)


async def test_a_page_beyond_the_last_is_an_empty_list(wire: Wire) -> None:
    event, video = (await wire.event("Rehearsal Tuesday"))["id"], await wire.video()
    extras = [f"/v1/videos/{video}/{kind}" for kind in ("posters", "subtitles", "annotations")]
    for path in ("/v2/live/events", f"/v2/live/events/{event}/videos", "/v1/meet/rooms", *extras):
        status, body = await wire.send(f"GET {path}?page=999&per_page=100")
        answer = json.loads(body)
        assert (status, answer["data"]) == (200, [])
        assert answer["meta"]["pagination"]["page"] == 999
        assert answer["meta"]["pagination"]["total"] > 0


async def test_lists_have_their_default_orders(wire: Wire) -> None:
    event = (await wire.event("Rehearsal Tuesday"))["id"]
    for path, order in (
        ("/v2/live/events", {"created_at": "desc", "name": "asc"}),
        (f"/v2/live/events/{event}/videos", {"created_at": "asc"}),
    ):
        _, body = await wire.send(f"GET {path}")
        assert json.loads(body)["meta"]["order"] == order
        rows = json.loads(body)["data"]
        by_name = sorted(rows, key=lambda row: str(row.get("name")))
        assert rows == sorted(by_name, key=lambda row: str(row["created_at"]), reverse=order["created_at"] == "desc")


async def test_what_was_read_can_be_sent_back_and_changes_nothing_but_the_date(wire: Wire) -> None:
    event = (await wire.event("Choir, hall B"))["id"]
    video = f"/v1/videos/{await wire.video()}"
    room = (await wire.data("GET /v1/meet/rooms?order=name.asc"))[0]
    profile = f"/v1/meet/rooms/{room['id']}/restreams/{room['restreams'][0]['id']}"
    read = await wire.data(f"GET /v2/live/events/{event}")
    objects = {f"PUT /v2/live/events/{event}": read, f"PUT /v2/live/events/{event}/move": read}
    objects[f"PATCH {profile}"] = room["restreams"][0]
    for kind, method in (("annotations", "PUT"), ("subtitles", "PATCH")):
        read = (await wire.data(f"GET {video}/{kind}"))[0]
        objects[f"{method} {video}/{kind}/{read['id']}"] = read
    headers = [f"X-Video-ID: {await wire.video()}".encode(), b"X-File-Name: a.txt"]
    material = (await wire.upload("additional-material", *headers))[1]["data"]
    objects[f"PUT /v1/additional-materials/{material['id']}"] = material
    for line, read in objects.items():
        answer = await wire.data(line, body=json.dumps(read).encode())
        assert answer == read | {"updated_at": answer["updated_at"]}


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":"7"}',
        b'{"created_at":"2020-01-01T00:00:00.000Z","updated_at":7}',
        b'{"play_link":null,"rtmp_link":"rtmp://x.example","poster":{"colour":1}}',
        b'{"streamkey":"mine","workspace_id":false,"type":"recurring","moderators":{}}',
        b'{"stream":{"status":"live"}}',
    ],
)
async def test_a_field_that_cannot_be_changed_is_ignored(wire: Wire, body: bytes) -> None:
    event = await wire.event("Lecture 7")
    changed = await wire.data(f"PUT /v2/live/events/{event['id']}", body=body)
    assert changed == event | {"updated_at": changed["updated_at"]}


async def test_a_new_object_takes_nothing_from_fields_that_cannot_be_set(simulator: Simulator, wire: Wire) -> None:
    relay = b'{"name":"A","url":"rtmp://x.example/a","stream_key":"k","id":"7","service":"own","updated_at":"now"}'
    owner = simulator.user_id.encode()
    body = b'{"owner_id":"%s","name":"Copy","restreams":[%s],"id":"7","link":"x","status":"active"}' % (owner, relay)
    room = await wire.data("POST /v1/meet/rooms", body=body)
    assert room["id"] != "7"
    assert (room["status"], room["link"][:8]) == ("pending", "https://")
    assert (room["restreams"][0]["service"], room["restreams"][0]["updated_at"]) == ("custom", None)


async def test_a_field_that_no_object_has_is_refused(wire: Wire) -> None:
    event, video = (await wire.event("Lecture 7"))["id"], await wire.video()
    annotation = (await wire.data(f"GET /v1/videos/{video}/annotations"))[0]["id"]
    for line, body, name in (
        (f"PUT /v2/live/events/{event}", b'{"colour":1}', "colour"),
        (f"PUT /v2/live/events/{event}", b'{"scheduled":{"at":null}}', "scheduled.at"),
        (f"PUT /v2/live/events/{event}/move", b'{"parent_id":"%s","colour":1}' % UNKNOWN_ID.encode(), "colour"),
        (f"PUT /v1/videos/{video}/annotations/{annotation}", b'{"type":"video"}', "type"),
        ("POST /v2/live/events", b'{"name":"x","type":"one-time","restreams":[{"colour":1}]}', "restreams[0].colour"),
    ):
        status, content = await wire.send(line, body=body)
        error = json.loads(content)["error"]
        assert (status, error["code"]) == (400, 400400)
        assert {"name": name, "reason": "unknown parameter"} in error["invalid_params"]
