"""Subtitle tracks, uploaded, recognised or copied (platform-api.md, 2, 3 and 4, "Subtitles")."""

from __future__ import annotations

import re
from typing import Any

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.videos import find_extra, find_video, last, order_of, put_in_order
from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.content import TAKES, transcribe, webvtt
from livedeck.simulator.engine.reference import CODES
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import invalid, unknown
from livedeck.simulator.http import PAGING, Call, Endpoint, done, one, page, several, signed
from livedeck.simulator.rules import UUID, Rule, choice, each, gather, needed, ordering, text

MEDIA = {"vtt": "text/vtt", "srt": "application/x-subrip"}

"""The formats that are taken and their media types (platform-api.md, 8)."""


FIELDS = {
    "id": schema.UUID,
    "video_id": schema.UUID,
    "language": schema.TEXT,
    "description": schema.TEXT,
    "file": schema.TEXT,
    "file_name": schema.maybe(schema.TEXT),
    "hls_file": schema.TEXT,
    "url": schema.TEXT,
    "status": schema.words("pending", "done"),
    "position": schema.INTEGER,
    "data": schema.OBJECT,
    "active": schema.BOOLEAN,
    "updated_at": schema.MOMENT,
}

"""What the API shows of a track, with its types."""


BRIEF = tuple(FIELDS)[:8]

"""What it shows of one that was just uploaded or copied (platform-api.md, "Subtitle track")."""


def new_track(identity: str, video: str, made_at: str, position: int, asked: Document) -> Document:
    """A track as it is stored, without a file and without cues yet; `asked`: its language and description."""
    named = {"id": identity, "video_id": video, "of_video": video, "description": ""} | asked
    empty: Document = {
        "file_name": None,
        "storage": None,
        "kind": "vtt",
        "done_at": made_at,
        "cues": [],
        "active": True,
    }
    return named | empty | {"position": position, "updated_at": made_at}


def shown(call: Call, track: Document) -> Document:
    """The track as the API shows it now."""
    pending = track["done_at"] > call.world.stamp()
    path = f"/cdn/subtitles/{track['id']}.{track['kind']}"
    shown = track | {
        "file": "" if pending else f"subtitles/{track['id']}.{track['kind']}",
        "hls_file": "",
        "url": "" if pending else signed(call, path),
        "status": "pending" if pending else "done",
        "data": {} if pending or not track["cues"] else {"cues": track["cues"]},
    }
    return {name: shown[name] for name in FIELDS}


def vtt(track: Document) -> str:
    """The file of a recognised track."""
    return webvtt(track["cues"])


async def list_tracks(call: Call) -> Response:
    """The tracks of a video, a page of them."""
    query = call.search("subtitle", [("position", "asc")], [("of_video", find_video(call)["id"])])
    tracks, total = call.world.store.find(query)
    return page(query, total, [shown(call, track) for track in tracks])


async def read_track(call: Call) -> Response:
    """One track."""
    return one(shown(call, _find(call)))


async def upload_track(call: Call) -> Response:
    """Add a track from a VTT or SRT file."""
    video, (asked, content) = find_video(call), await _form(call)
    kind = _kind(content)
    with call.world.store.transaction():
        file = asked.pop("file")
        track = _made(call, video["id"], asked)
        track |= {"file_name": file.filename, "kind": kind, "storage": track["id"]}
        call.world.files.write(track["storage"], content)
        call.world.store.create("subtitle", call.workspace, track)
    return one(_brief(call, track))


async def _form(call: Call) -> tuple[dict[str, Any], bytes]:
    """The fields of the form, and the bytes of its file."""
    try:
        async with call.request.form(max_files=1, max_fields=10) as form:
            asked = gather(call.endpoint.named, dict(form))
            return asked, await asked["file"].read()
    except (HTTPException, ValueError):
        raise invalid(("body", "must be a multipart form")) from None


_TIMING = re.compile(r"\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}")


def _kind(content: bytes) -> str:
    """Which format the bytes of a file are in. Raises the refusal for any but VTT and SRT."""
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid(("file", "must be UTF-8")) from None
    if written.startswith("WEBVTT"):
        return "vtt"
    if _TIMING.search(written) is None:
        raise invalid(("file", "must be VTT or SRT"))
    return "srt"


async def recognise(call: Call) -> Response:
    """Order recognised tracks: all of them or none, and at least one. They are pending until they are recognised."""
    video, asked, world = find_video(call), await call.body(), call.world
    with world.store.transaction():
        tracks = [_recognised(call, video, language) for language in asked["languages"]]
    return several([shown(call, track) for track in tracks])


def _recognised(call: Call, video: Document, language: str) -> Document:
    world = call.world
    track = _made(call, video["id"], {"language": language, "description": "auto-generated"})
    cues = transcribe(world.draw(), video["duration"])
    name = f"auto-{language}.vtt"
    track |= {"done_at": stamp_epoch(world.now() + TAKES), "cues": cues, "file_name": name}
    world.store.create("subtitle", call.workspace, track)
    return track


async def change_track(call: Call) -> Response:
    """Change the language or the description; an absent field stays."""
    track, asked = _find(call), await call.body()
    track |= asked | {"updated_at": call.world.stamp()}
    call.world.store.change("subtitle", track)
    return one(shown(call, track))


async def copy_track(call: Call) -> Response:
    """Duplicate a track; the copy comes last."""
    track, world = _find(call), call.world
    with world.store.transaction():
        made = _made(call, track["of_video"], {})
        copy = track | {name: made[name] for name in ("id", "position", "updated_at")}
        if track["storage"]:
            copy["storage"] = copy["id"]
            world.files.write(copy["storage"], world.files.path(track["storage"]).read_bytes())
        world.store.create("subtitle", call.workspace, copy)
    return one(_brief(call, copy))


async def delete_track(call: Call) -> Response:
    """Delete the track for good."""
    track = _find(call)
    call.world.store.delete("subtitle", track["id"])
    if track["storage"]:
        call.world.files.delete(track["storage"])
    return done()


async def reorder_tracks(call: Call) -> Response:
    """Put the tracks of a video in that order; the list must be full. Answers the first one."""
    video, order = find_video(call), await call.array()
    tracks = put_in_order(call, "subtitle", video["id"], order)
    return one(shown(call, tracks[0]))


def _made(call: Call, video: str, asked: Document) -> Document:
    world = call.world
    position = last(world.store, "subtitle", call.workspace, video) + 1
    return new_track(world.new_id(), video, world.stamp(), position, asked)


def _brief(call: Call, track: Document) -> Document:
    whole = shown(call, track)
    return {name: whole[name] for name in BRIEF}


def _find(call: Call) -> Document:
    track = find_extra(call, "subtitle")
    if track is None:
        raise unknown()
    return track


def _file(value: object) -> UploadFile:
    if not isinstance(value, UploadFile) or not (value.filename or "").lower().endswith((".vtt", ".srt")):
        raise ValueError
    return value


_PATH = "/v1/videos/{video_id}/subtitles"

_ONE = f"{_PATH}/{{subtitle_id}}"

_TRACK = schema.record(FIELDS)

_MADE = schema.data(schema.record({name: FIELDS[name] for name in BRIEF}))

_LIST = PAGING | {"order": ordering("position", "language", "updated_at")}

_LANGUAGE = choice(*sorted(CODES))

_LANGUAGE_RULE = Rule("a language code of ISO 639-1", _LANGUAGE.take, _LANGUAGE.schema)

_NAMED = {"language": _LANGUAGE_RULE, "description": text(0, 1000)}

_FORM = {
    "language": needed(_LANGUAGE_RULE),
    "description": text(0, 1000),
    "file": needed(Rule("a .vtt or .srt file", _file, schema.BYTES)),
}

_AUTO = {"languages": needed(each(_LANGUAGE_RULE, len(CODES), least=1))}


ENDPOINTS = (
    Endpoint("GET", _PATH, list_tracks, _LIST, schema.paged(_TRACK), [404404]),
    Endpoint("POST", _PATH, upload_track, _FORM, _MADE, [404404], body="form"),
    Endpoint("POST", f"{_PATH}/auto", recognise, _AUTO, schema.data(schema.many(_TRACK)), [404404]),
    Endpoint("PATCH", f"{_PATH}/reorder", reorder_tracks, order_of(UUID), schema.data(_TRACK), [404404]),
    Endpoint("GET", _ONE, read_track, answer=schema.data(_TRACK), refuses=[404404]),
    Endpoint("PATCH", _ONE, change_track, _NAMED, schema.data(_TRACK), [404404]),
    Endpoint("POST", f"{_ONE}/copy", copy_track, answer=_MADE, refuses=[404404]),
    Endpoint("DELETE", _ONE, delete_track, answer=schema.DONE, refuses=[404404]),
)
