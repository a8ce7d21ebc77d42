"""All 43 operations of platform-api.md as bytes on the wire, written by hand from that page.

The recorder is a small socket, without the simulator or a library of the client.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email import message_from_bytes
from pathlib import Path
from typing import NamedTuple

import pytest

from livedeck.client import (
    AnnotationDraft,
    Api,
    ChatExport,
    ChatFormat,
    EventDraft,
    EventRestreamDraft,
    Invalid,
    MessageFilter,
    RecordDraft,
    RelayDraft,
    RoomDraft,
    ScheduleDraft,
    Secret,
    Subtitle,
    SubtitleDraft,
    VideoDraft,
)

PAGE = (Path(__file__).parents[2] / "src/livedeck/docs/platform-api.md").read_text(encoding="utf-8")
TOKEN = "token-of-the-workspace-5a1e"
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.500\nHello\n"
PICTURE = "https://cdn.example.com/a%20b.png?sign=a%2Bb"
START = datetime(2026, 11, 21, 21, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=3)))

OBJECT = b'{"data":{"id":"x"}}'
LIST = b'{"data":[]}'
TRACK_IN_EACH = b'{"data":[{"id":"t-1","language":"en"},{"id":"t-2","language":"de"}]}'
SUCCESS = b'{"data":{"success":true}}'
NOTHING = b""
JSON = {"content-type": "application/json"}
EMPTY = {"content-length": "0"}

Call = Callable[[Api, Path], Awaitable[object]]


def object_with(identity: str) -> bytes:
    """Return a reply about the object with this id."""
    return b'{"data":{"id":"%s"}}' % identity.encode()


class Case(NamedTuple):
    """Call: number of its operation, its request line, its headers besides the common ones, its body.

    `body`: None if the test compares the bytes elsewhere.
    """

    number: int
    options: str
    call: Call
    answer: bytes
    line: bytes
    headers: Mapping[str, str] = {}
    body: bytes | None = b""


@dataclass(frozen=True, slots=True)
class Request:
    """Received request. `headers`: lower-case name -> values in their order."""

    line: bytes
    headers: Mapping[str, list[str]]
    body: bytes


@dataclass(slots=True)
class Recorder:
    """Requests that came to a loopback socket."""

    address: str = ""
    requests: list[Request] = field(default_factory=list)


@asynccontextmanager
async def recording(*answers: bytes) -> AsyncIterator[Recorder]:
    """Yield a platform that sends 200 with each body in turn, the last one again and again, and hangs up after each."""
    recorder, left = Recorder(), list(answers)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, *fields = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        headers: dict[str, list[str]] = {}
        for name, _, value in (each.partition(b":") for each in fields):
            headers.setdefault(name.decode("ascii").lower(), []).append(value.strip(b" ").decode("ascii"))
        body = await reader.readexactly(int(headers.get("content-length", ["0"])[0]))
        recorder.requests.append(Request(line, headers, body))
        answer = left.pop(0) if len(left) > 1 else left[0]
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        recorder.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield recorder


def api_at(recorder: Recorder) -> Api:
    """Return a client whose two addresses have different paths: `/api` and `/up`."""
    return Api(base_url=f"{recorder.address}/api", upload_url=f"{recorder.address}/up", token=TOKEN, retry=0.0)


def export(form: ChatFormat, **options: object) -> Call:
    """Return a call that exports to a file."""
    chat = ChatExport("e-1", "s-1", form, **options)  # type: ignore[arg-type]
    return lambda api, folder: api.chat.export(chat, folder / "chat", replace=True, progress=lambda _: None)


ANNOTATION = AnnotationDraft(
    video_id="v-2",
    annotation_poster_id="p-1",
    title='Look "\u0416"',
    link="https://example.com/?a=1&b=2",
    start_time=0,
    end_time=30,
)
ANNOTATION_FIELDS = (
    b'"video_id":"v-2","annotation_poster_id":"p-1","title":"Look \\"\\u0416\\"",'
    b'"link":"https://example.com/?a=1&b=2","start_time":0,"end_time":30'
)
EVENT = EventDraft(
    name="Evening \u0416",
    parent_id="f-1",
    auto_start=True,
    protected=False,
    time_shift=True,
    reconnect_window=0,
    scheduled=ScheduleDraft(time=START),
    record=RecordDraft(parent_id="f-2"),
    video=VideoDraft(presets=("360p", "2160p")),
    restreams=(
        EventRestreamDraft(
            name="Elsewhere", url="rtmp://a.example/x", key=Secret("key-1"), description="", enabled=False
        ),
        EventRestreamDraft(name="There", url="rtmps://b.example:443/y", key=Secret("key-2")),
    ),
    latency_mode="reduced",
    show_members=False,
    chat_active=True,
    chat_after_stream=False,
    chat_preview=False,
)
EVENT_FIELDS = (
    b'"name":"Evening \\u0416","parent_id":"f-1","auto_start":true,"protected":false,"time_shift":true,'
    b'"reconnect_window":0,"scheduled":{"time":"2026-11-21T18:00:00.250000Z"},"record":{"parent_id":"f-2"},'
    b'"video":{"presets":["360p","2160p"]},"restreams":['
    b'{"name":"Elsewhere","url":"rtmp://a.example/x","key":"key-1","description":"","enabled":false},'
    b'{"name":"There","url":"rtmps://b.example:443/y","key":"key-2"}],'
    b'"latency_mode":"reduced","show_members":false,"chat_active":true,"chat_after_stream":false,"chat_preview":false'
)
POSTER_HEADERS = {"x-poster-url": PICTURE} | EMPTY
FILE_HEADERS = {"content-type": "application/octet-stream", "content-length": "39"}

POSTERS = b"/api/v1/videos/v-1/posters"
TRACKS = b"/api/v1/videos/v-1/subtitles"
ANNOTATIONS = b"/api/v1/videos/v-1/annotations"
MATERIALS = b"/api/v1/additional-materials"
EVENTS = b"/api/v2/live/events"
ROOMS = b"/api/v1/meet/rooms"
FIRST = b"?page=1&per_page=20 HTTP/1.1"


def upload_track(description: str) -> Call:
    """Return a call that uploads a track file called `track.vtt`."""

    async def upload(api: Api, folder: Path) -> object:
        (folder / "track.vtt").write_bytes(VTT)
        return await api.subtitles.upload("v-1", "en", description, folder / "track.vtt")

    return upload


def upload_material(file_name: str, title: str) -> Call:
    """Return a call that uploads a material with these names."""

    async def upload(api: Api, folder: Path) -> object:
        (folder / "slides").write_bytes(VTT)
        return await api.materials.upload("v-1", folder / "slides", file_name, title, progress=lambda *_: None)

    return upload


CASES = (
    Case(1, "none", lambda api, _: api.posters.list("v-1"), LIST, b"GET " + POSTERS + FIRST),
    Case(
        1,
        "all",
        lambda api, _: api.posters.list("v-1", page=2, per_page=100, order="created_at.desc,from_time.asc"),
        LIST,
        b"GET " + POSTERS + b"?page=2&per_page=100&order=created_at.desc%2Cfrom_time.asc HTTP/1.1",
    ),
    Case(
        2,
        "none",
        lambda api, _: api.posters.create("v-1", 1.5),
        NOTHING,
        b"POST " + POSTERS + b" HTTP/1.1",
        JSON,
        b'{"from_time":1.5}',
    ),
    Case(
        3,
        "none",
        lambda api, _: api.posters.get("v-1", "p-1"),
        object_with("p-1"),
        b"GET " + POSTERS + b"/p-1 HTTP/1.1",
    ),
    Case(
        4,
        "none",
        lambda api, _: api.posters.set_active("v-1", "p-1"),
        NOTHING,
        b"POST " + POSTERS + b"/p-1/active HTTP/1.1",
        EMPTY,
    ),
    Case(5, "none", lambda api, _: api.posters.delete("v-1", "p-1"), NOTHING, b"DELETE " + POSTERS + b"/p-1 HTTP/1.1"),
    Case(
        6,
        "none",
        lambda api, _: api.posters.upload_for_video("v-1", PICTURE),
        NOTHING,
        b"POST /up/v2/poster HTTP/1.1",
        {"x-video-id": "v-1"} | POSTER_HEADERS,
    ),
    Case(
        7,
        "none",
        lambda api, _: api.posters.upload_for_event("e-1", PICTURE),
        NOTHING,
        b"POST /up/v2/poster HTTP/1.1",
        {"x-event-id": "e-1"} | POSTER_HEADERS,
    ),
    Case(8, "none", lambda api, _: api.subtitles.list("v-1"), LIST, b"GET " + TRACKS + FIRST),
    Case(
        8,
        "all",
        lambda api, _: api.subtitles.list("v-1", page=3, per_page=1, order="position.asc"),
        LIST,
        b"GET " + TRACKS + b"?page=3&per_page=1&order=position.asc HTTP/1.1",
    ),
    Case(9, "none", upload_track(""), OBJECT, b"POST " + TRACKS + b" HTTP/1.1", body=None),
    Case(9, "all", upload_track("Spoken \u0416\r\n100%"), OBJECT, b"POST " + TRACKS + b" HTTP/1.1", body=None),
    Case(
        10,
        "none",
        lambda api, _: api.subtitles.generate("v-1", ["en", "de"]),
        TRACK_IN_EACH,
        b"POST " + TRACKS + b"/auto HTTP/1.1",
        JSON,
        b'{"languages":["en","de"]}',
    ),
    Case(
        11,
        "none",
        lambda api, _: api.subtitles.reorder("v-1", ["t-2", "t-1"]),
        OBJECT,
        b"PATCH " + TRACKS + b"/reorder HTTP/1.1",
        JSON,
        b'["t-2","t-1"]',
    ),
    Case(
        12,
        "none",
        lambda api, _: api.subtitles.get("v-1", "t-1"),
        object_with("t-1"),
        b"GET " + TRACKS + b"/t-1 HTTP/1.1",
    ),
    Case(
        13,
        "before",
        lambda api, _: api.subtitles.update(
            "v-1",
            "t-1",
            SubtitleDraft(language="de"),
            before=Subtitle(id="t-1", language="en", description="As \u0416 read"),
        ),
        OBJECT,
        b"PATCH " + TRACKS + b"/t-1 HTTP/1.1",
        JSON,
        b'{"language":"de","description":"As \\u0416 read"}',
    ),
    Case(
        13,
        "all",
        lambda api, _: api.subtitles.update("v-1", "t-1", SubtitleDraft(language="de", description="")),
        OBJECT,
        b"PATCH " + TRACKS + b"/t-1 HTTP/1.1",
        JSON,
        b'{"language":"de","description":""}',
    ),
    Case(
        14,
        "none",
        lambda api, _: api.subtitles.copy("v-1", "t-1"),
        OBJECT,
        b"POST " + TRACKS + b"/t-1/copy HTTP/1.1",
        EMPTY,
    ),
    Case(
        15, "none", lambda api, _: api.subtitles.delete("v-1", "t-1"), SUCCESS, b"DELETE " + TRACKS + b"/t-1 HTTP/1.1"
    ),
    Case(16, "none", lambda api, _: api.annotations.list("v-1"), LIST, b"GET " + ANNOTATIONS + FIRST),
    Case(
        16,
        "all",
        lambda api, _: api.annotations.list("v-1", page=1000, per_page=50, order="start_time.asc"),
        LIST,
        b"GET " + ANNOTATIONS + b"?page=1000&per_page=50&order=start_time.asc HTTP/1.1",
    ),
    Case(
        17,
        "none",
        lambda api, _: api.annotations.get("v-1", "a-1"),
        object_with("a-1"),
        b"GET " + ANNOTATIONS + b"/a-1 HTTP/1.1",
    ),
    Case(
        18,
        "none",
        lambda api, _: api.annotations.create("v-1", AnnotationDraft(type="text")),
        OBJECT,
        b"POST " + ANNOTATIONS + b" HTTP/1.1",
        JSON,
        b'{"video_id":"v-1","type":"text"}',
    ),
    Case(
        18,
        "all",
        lambda api, _: api.annotations.create("v-1", ANNOTATION.model_copy(update={"type": "video"})),
        OBJECT,
        b"POST " + ANNOTATIONS + b" HTTP/1.1",
        JSON,
        b'{"type":"video",' + ANNOTATION_FIELDS + b"}",
    ),
    Case(
        19,
        "none",
        lambda api, _: api.annotations.update("v-1", "a-1", AnnotationDraft(video_id=None, link="")),
        OBJECT,
        b"PUT " + ANNOTATIONS + b"/a-1 HTTP/1.1",
        JSON,
        b'{"video_id":null,"link":""}',
    ),
    Case(
        19,
        "all",
        lambda api, _: api.annotations.update("v-1", "a-1", ANNOTATION),
        OBJECT,
        b"PUT " + ANNOTATIONS + b"/a-1 HTTP/1.1",
        JSON,
        b"{" + ANNOTATION_FIELDS + b"}",
    ),
    Case(
        20,
        "none",
        lambda api, _: api.annotations.delete("v-1", "a-1"),
        SUCCESS,
        b"DELETE " + ANNOTATIONS + b"/a-1 HTTP/1.1",
    ),
    Case(
        21,
        "ascii",
        upload_material("100% a%20b.pdf", "The slides"),
        NOTHING,
        b"POST /up/additional-material HTTP/1.1",
        {"x-video-id": "v-1", "x-file-name": "100% a%20b.pdf", "x-title": "The slides"} | FILE_HEADERS,
        VTT,
    ),
    Case(
        21,
        "other characters",
        upload_material("\u0416 1.pdf", "100% \u00e9"),
        NOTHING,
        b"POST /up/additional-material HTTP/1.1",
        {"x-video-id": "v-1", "x-file-name": "%D0%96%201.pdf", "x-title": "100%25%20%C3%A9"} | FILE_HEADERS,
        VTT,
    ),
    Case(
        22,
        "none",
        lambda api, _: api.materials.link("m1"),
        b'{"data":{"link":"https://cdn.example.com/m1"}}',
        b"GET " + MATERIALS + b"/m1/link HTTP/1.1",
    ),
    Case(
        23,
        "none",
        lambda api, _: api.materials.rename("m1", "100% \u0416"),
        OBJECT,
        b"PUT " + MATERIALS + b"/m1 HTTP/1.1",
        JSON,
        b'{"title":"100% \\u0416"}',
    ),
    Case(
        24,
        "none",
        lambda api, _: api.materials.reorder(["m2", "m1"]),
        SUCCESS,
        b"PATCH " + MATERIALS + b"/reorder HTTP/1.1",
        JSON,
        b'["m2","m1"]',
    ),
    Case(25, "none", lambda api, _: api.materials.delete("m1"), SUCCESS, b"DELETE " + MATERIALS + b"/m1 HTTP/1.1"),
    Case(
        26,
        "none",
        lambda api, _: api.events.create(EventDraft(name="Show", type="one-time")),
        OBJECT,
        b"POST " + EVENTS + b" HTTP/1.1",
        JSON,
        b'{"name":"Show","type":"one-time"}',
    ),
    Case(
        26,
        "all",
        lambda api, _: api.events.create(EVENT.model_copy(update={"type": "recurring"})),
        OBJECT,
        b"POST " + EVENTS + b" HTTP/1.1",
        JSON,
        b'{"type":"recurring",' + EVENT_FIELDS + b"}",
    ),
    Case(
        27,
        "none",
        lambda api, _: api.events.update("e-1", EventDraft(scheduled=ScheduleDraft(time=None), restreams=())),
        OBJECT,
        b"PUT " + EVENTS + b"/e-1 HTTP/1.1",
        JSON,
        b'{"scheduled":{"time":null},"restreams":[]}',
    ),
    Case(
        27,
        "all",
        lambda api, _: api.events.update("e-1", EVENT),
        OBJECT,
        b"PUT " + EVENTS + b"/e-1 HTTP/1.1",
        JSON,
        b"{" + EVENT_FIELDS + b"}",
    ),
    Case(28, "none", lambda api, _: api.events.get("e-1"), object_with("e-1"), b"GET " + EVENTS + b"/e-1 HTTP/1.1"),
    Case(
        28,
        "any id",
        lambda api, _: api.events.get("a/b \u0416?"),
        object_with("a/b \u0416?"),
        b"GET " + EVENTS + b"/a%2Fb%20%D0%96%3F HTTP/1.1",
    ),
    Case(29, "none", lambda api, _: api.events.list(), LIST, b"GET " + EVENTS + FIRST),
    Case(
        29,
        "all",
        lambda api, _: api.events.list(
            page=2,
            per_page=50,
            order="created_at.desc,name.asc",
            project_id="p-1",
            folder_id="f-1",
            without_folder=True,
        ),
        LIST,
        b"GET " + EVENTS + b"?page=2&per_page=50&order=created_at.desc%2Cname.asc"
        b"&project_id=p-1&folder_id=f-1&without_folder=true HTTP/1.1",
    ),
    Case(30, "none", lambda api, _: api.events.videos("e-1"), LIST, b"GET " + EVENTS + b"/e-1/videos" + FIRST),
    Case(
        30,
        "all",
        lambda api, _: api.events.videos("e-1", page=2, per_page=5, order="created_at.desc"),
        LIST,
        b"GET " + EVENTS + b"/e-1/videos?page=2&per_page=5&order=created_at.desc HTTP/1.1",
    ),
    Case(
        31, "none", lambda api, _: api.events.enable("e-1"), NOTHING, b"PUT " + EVENTS + b"/e-1/enable HTTP/1.1", EMPTY
    ),
    Case(
        32,
        "none",
        lambda api, _: api.events.complete("e-1"),
        NOTHING,
        b"PUT " + EVENTS + b"/e-1/complete HTTP/1.1",
        EMPTY,
    ),
    Case(
        33,
        "none",
        lambda api, _: api.streams.schedule("e-1", START),
        OBJECT,
        b"POST " + EVENTS + b"/e-1/stream HTTP/1.1",
        JSON,
        b'{"started_at":"2026-11-21T18:00:00.250000Z"}',
    ),
    Case(
        34,
        "none",
        lambda api, _: api.streams.reschedule("e-1", START),
        OBJECT,
        b"PUT " + EVENTS + b"/e-1/stream HTTP/1.1",
        JSON,
        b'{"started_at":"2026-11-21T18:00:00.250000Z"}',
    ),
    Case(35, "none", lambda api, _: api.events.delete("e-1"), NOTHING, b"DELETE " + EVENTS + b"/e-1 HTTP/1.1"),
    Case(
        36,
        "none",
        lambda api, _: api.events.move("e-1", "f-1"),
        OBJECT,
        b"PUT " + EVENTS + b"/e-1/move HTTP/1.1",
        JSON,
        b'{"parent_id":"f-1"}',
    ),
    Case(37, "none", lambda api, _: api.qos.get("e-1"), LIST, b"GET " + EVENTS + b"/e-1/qos HTTP/1.1"),
    Case(38, "json", export("json"), LIST, b"GET " + EVENTS + b"/e-1/stream/s-1/chat.json HTTP/1.1", {"accept": "*/*"}),
    Case(38, "csv", export("csv"), b"id\n", b"GET " + EVENTS + b"/e-1/stream/s-1/chat.csv HTTP/1.1", {"accept": "*/*"}),
    Case(38, "txt", export("txt"), NOTHING, b"GET " + EVENTS + b"/e-1/stream/s-1/chat.txt HTTP/1.1", {"accept": "*/*"}),
    Case(
        38,
        "all",
        export("csv", filter=MessageFilter(since=START, users=("a",), admins=True), zone=START.tzinfo, safe_csv=True),
        LIST,
        b"GET " + EVENTS + b"/e-1/stream/s-1/chat.json HTTP/1.1",
        {"accept": "*/*"},
    ),
    Case(
        39,
        "none",
        lambda api, _: api.rooms.create(RoomDraft(owner_id="u-1", name="Studio")),
        OBJECT,
        b"POST " + ROOMS + b" HTTP/1.1",
        JSON,
        b'{"owner_id":"u-1","name":"Studio","type":"permanent_meeting","restreams":[]}',
    ),
    Case(
        39,
        "all",
        lambda api, _: api.rooms.create(
            RoomDraft(
                owner_id="u-1",
                name="Studio \u0416",
                type="instant_meeting",
                restreams=(RelayDraft(name="A", url=" rtmp://a.example/x/ ", stream_key=Secret("key-1")),),
            )
        ),
        OBJECT,
        b"POST " + ROOMS + b" HTTP/1.1",
        JSON,
        b'{"owner_id":"u-1","name":"Studio \\u0416","type":"instant_meeting",'
        b'"restreams":[{"name":"A","url":"rtmp://a.example/x","stream_key":"key-1"}]}',
    ),
    Case(40, "none", lambda api, _: api.rooms.get("r-1"), object_with("r-1"), b"GET " + ROOMS + b"/r-1 HTTP/1.1"),
    Case(41, "none", lambda api, _: api.rooms.list(), LIST, b"GET " + ROOMS + FIRST),
    Case(
        41,
        "all",
        lambda api, _: api.rooms.list(
            page=2,
            per_page=10,
            order="name.asc",
            status=("pending", "active"),
            type=("permanent_meeting",),
            code=("abc-def",),
            q="a&b=\u0416",
        ),
        LIST,
        b"GET "
        + ROOMS
        + b"?page=2&per_page=10&order=name.asc&q=a%26b%3D%D0%96&status%5B%5D=pending&status%5B%5D=active"
        b"&type%5B%5D=permanent_meeting&code%5B%5D=abc-def HTTP/1.1",
    ),
    Case(
        42,
        "none",
        lambda api, _: api.relays.update("r-1", "p-1", RelayDraft(name="B")),
        OBJECT,
        b"PATCH " + ROOMS + b"/r-1/restreams/p-1 HTTP/1.1",
        JSON,
        b'{"name":"B"}',
    ),
    Case(
        42,
        "all",
        lambda api, _: api.relays.update(
            "r-1", "p-1", RelayDraft(name="B", url="rtmps://b.example/y", stream_key=Secret("a+b/c?d=e&f"))
        ),
        OBJECT,
        b"PATCH " + ROOMS + b"/r-1/restreams/p-1 HTTP/1.1",
        JSON,
        b'{"name":"B","url":"rtmps://b.example/y","stream_key":"a+b/c?d=e&f"}',
    ),
    Case(43, "none", lambda api, _: api.rooms.delete("r-1"), SUCCESS, b"DELETE " + ROOMS + b"/r-1 HTTP/1.1"),
)
"""`options`: which of the optional arguments of the call are given."""

cases = pytest.mark.parametrize("case", CASES, ids=[f"{case.number}-{case.options}" for case in CASES])

DESCRIBING = re.compile(r"authorization|accept|content-(?!length)\w+|x-.*|expect|transfer-encoding|cookie")


@cases
async def test_a_call_sends_these_bytes(case: Case, tmp_path: Path) -> None:
    async with recording(case.answer) as recorder, api_at(recorder) as api:
        await case.call(api, tmp_path)
    (request,) = recorder.requests
    assert request.line == case.line
    assert [*api.request_counts.results.values()] == [1]
    ((operation, result),) = api.request_counts.results
    assert result == "ok"
    assert re.fullmatch("[A-Za-z ]+", operation)  # the words of the table, and no id
    assert not [name for name, values in request.headers.items() if len(values) > 1]
    headers = {name: value for name, (value,) in request.headers.items()}
    assert headers["host"] == recorder.address.removeprefix("http://")
    if case.body is None:
        _check_track_form(request, "" if case.options == "none" else "Spoken \u0416\r\n100%")
        del headers["content-type"]
    elif case.headers == JSON:
        _check_json(request.body, case.body)
    else:
        assert request.body == case.body
    assert headers.get("content-length") == (
        str(len(request.body)) if request.body else case.headers.get("content-length")
    )
    common = {"authorization": f"Bearer {TOKEN}", "accept": "application/json"}
    expected = {name: value for name, value in {**common, **case.headers}.items() if name != "content-length"}
    assert {name: value for name, value in headers.items() if DESCRIBING.fullmatch(name)} == expected


def _check_json(sent: bytes, expected: bytes) -> None:
    """Check that both have the same values of the same types, in compact UTF-8 without a repeated key.

    The order of the keys is free.
    """
    value = json.loads(sent.decode("utf-8"))
    assert json.dumps(value, sort_keys=True) == json.dumps(json.loads(expected), sort_keys=True)
    assert json.dumps(value, separators=(",", ":")).encode() == sent


def _check_track_form(request: Request, description: str) -> None:
    """Check the form of operation 9, read by the standard library's mail parser; the boundary is free."""
    (content_type,) = request.headers["content-type"]
    form = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + request.body)
    assert form.get_content_type() == "multipart/form-data"
    parts = [
        (part.get_param("name", header="content-disposition"), part.get_filename(), part.get_payload(decode=True))
        for part in form.walk()
        if not part.is_multipart()
    ]
    assert parts == [("language", None, b"en"), ("description", None, description.encode()), ("file", "track.vtt", VTT)]
    assert {part.get_content_disposition() for part in form.walk() if not part.is_multipart()} == {"form-data"}


async def test_the_field_of_a_track_that_did_not_change_goes_out_as_it_was_read() -> None:
    """Operation 13 without `before`: the track is read first."""
    track = b'{"data":{"id":"t-1","language":"en","description":"Spoken"}}'
    async with recording(track) as recorder, api_at(recorder) as api:
        await api.subtitles.update("v-1", "t-1", SubtitleDraft(description="New"))
    assert [request.line for request in recorder.requests] == [
        b"GET " + TRACKS + b"/t-1 HTTP/1.1",
        b"PATCH " + TRACKS + b"/t-1 HTTP/1.1",
    ]
    _check_json(recorder.requests[1].body, b'{"language":"en","description":"New"}')


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("https://cdn.example.com/a%20b.png?sign=a%2Bb", "https://cdn.example.com/a%20b.png?sign=a%2Bb"),
        ("https://cdn.example.com/100%/\u0416.png", "https://cdn.example.com/100%/%D0%96.png"),
    ],
)
@pytest.mark.parametrize("upload", ["upload_for_video", "upload_for_event"])
async def test_of_an_address_only_what_is_not_ascii_is_encoded(upload: str, address: str, sent: str) -> None:
    """platform-api.md, "Upload headers"."""
    async with recording(NOTHING) as recorder, api_at(recorder) as api:
        await getattr(api.posters, upload)("x-1", address)
    assert recorder.requests[0].headers["x-poster-url"] == [sent]


@pytest.mark.parametrize("char", ["\r", "\n", "\0"])
@pytest.mark.parametrize(
    "call",
    [
        lambda char: upload_material(f"a{char}b", "t"),
        lambda char: upload_material("n", f"a{char}\u0416"),
        lambda char: lambda api, _: api.posters.upload_for_video("v-1", f"https://cdn.example.com/{char}"),
        lambda char: lambda api, _: api.posters.upload_for_event(f"e{char}1", PICTURE),
    ],
    ids=["file name", "title", "address", "id"],
)
async def test_a_line_break_in_a_header_is_refused_before_sending(
    call: Callable[[str], Call], char: str, tmp_path: Path
) -> None:
    """platform-api.md, "Upload headers"."""
    async with recording(NOTHING) as recorder, api_at(recorder) as api:
        with pytest.raises(Invalid):
            await call(char)(api, tmp_path)
    assert not recorder.requests


OPERATIONS = {
    int(number): (method, path, request)
    for number, method, path, request in re.findall(
        r"^\| (\d+) \| ([A-Z]+) \| `([^`]+)`[^|]* \| ([^|]*) \|", PAGE, re.MULTILINE
    )
}


def test_every_operation_of_the_document_is_in_the_table() -> None:
    assert list(OPERATIONS) == [*range(1, 44)]
    assert sorted({case.number for case in CASES}) == [*range(1, 44)]


@cases
def test_a_case_is_of_the_operation_that_it_names(case: Case) -> None:
    """The method, the path and the documented headers of its row."""
    method, path, request = OPERATIONS[case.number]
    path = path.replace("{base_url}", "/api").replace("{upload_url}", "/up")
    shape = re.sub(r":\w+|\\\{\w+\\\}", "[^/?]+", re.escape(path)).replace(r"chat\.json", r"chat\.(json|csv|txt)")
    assert re.fullmatch(rf"{method} {shape}(\?\S+)? HTTP/1\.1", case.line.decode())
    named = {name.lower() for name in re.findall(r"`(X-[\w-]+)`", request)}
    assert {name for name in case.headers if name.startswith("x-")} == named


@pytest.mark.parametrize("number", sorted(OPERATIONS))
def test_some_case_sends_every_documented_field(number: int) -> None:
    """The names that its row quotes or lists; for an event those of the table "Event draft"."""
    request = OPERATIONS[number][2]
    documented = set(re.findall(r"`(\w+)`" if request.startswith("any of") else r'"(\w+)"', request))
    if number in {26, 27}:
        (table,) = re.findall(r"### Event draft\n(.+?)\n### ", PAGE, re.DOTALL)
        documented = {
            name for cell in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"\w+", cell)
        }
        documented -= {"type"} if number == 27 else set()
    sent = [set(re.findall(r'"(\w+)":', (case.body or b"").decode())) for case in CASES if case.number == number]
    assert any(documented <= names for names in sent)
