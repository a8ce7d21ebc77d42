"""Subtitle tracks, uploaded, recognised or copied (platform-api.md, "Subtitles")."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import core_schema
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response
from typing_extensions import TypeAliasType

from livedeck.simulator.api.videos import find_extra, find_video, next_position, reorder_all
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.content import RECOGNITION_SECONDS, transcribe
from livedeck.simulator.engine.reference import LANGUAGES
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data, page, select, sign, success
from livedeck.simulator.models import (
    BYTES,
    UNSET,
    ApiObject,
    Data,
    IdOrder,
    ListQuery,
    Must,
    Order,
    Page,
    RequestBody,
    Success,
    Timestamp,
    Uuid,
    one_of,
    ordering,
    text,
)

MEDIA_TYPES = {"vtt": "text/vtt", "srt": "application/x-subrip"}
"""Accepted formats and their media types (platform-api.md, "Limits")."""


class UploadedSubtitle(ApiObject):
    """Track just uploaded or copied, in the API's form (platform-api.md, "Subtitle track")."""

    id: Uuid
    video_id: Uuid
    language: str
    description: str
    file: str
    file_name: str | None
    hls_file: str
    url: str


class Subtitle(UploadedSubtitle):
    """Track in the API's form."""

    status: Annotated[str, one_of("pending", "done")]
    position: int
    data: dict[str, Any]
    active: bool
    updated_at: Timestamp


def _subtitle_file(value: object) -> UploadFile:
    if not isinstance(value, UploadFile) or not (value.filename or "").lower().endswith((".vtt", ".srt")):
        raise ValueError
    return value


Language = TypeAliasType("Language", Annotated[str, Must("a language code of ISO 639-1", one_of(*LANGUAGES).core)])
Description = Annotated[str, text(0, 1000)]
SubtitleFile = Annotated[
    UploadFile, Must("a .vtt or .srt file", core_schema.no_info_plain_validator_function(_subtitle_file), BYTES)
]


class SubtitleUpload(RequestBody):
    """Form of an upload."""

    language: Language
    description: Description = UNSET
    file: SubtitleFile


class SubtitleRecognition(RequestBody):
    """Languages to recognise, one track for each."""

    languages: Annotated[list[Language], Field(min_length=1, max_length=len(LANGUAGES))]


class SubtitleUpdate(RequestBody):
    """Changes of a track; an absent field stays as it is."""

    of = Subtitle
    language: Language = UNSET
    description: Description = UNSET


class SubtitleList(ListQuery):
    """Query of the list of subtitles."""

    order: Annotated[Order, ordering("position", "language", "updated_at")] = (("position", "asc"),)


class SubtitleOrder(IdOrder[Uuid]):
    """Ids of all tracks of a video in the requested order."""


def new_track(track_id: str, video_id: str, created_at: str, position: int, draft: Document) -> Document:
    """Return the stored form of a track without file and cues. `draft`: its language and description."""
    fields = {"id": track_id, "video_id": video_id, "of_video": video_id, "description": ""} | draft
    empty: Document = {"file_name": None, "storage": None, "kind": "vtt", "cues": [], "active": True}
    return fields | empty | {"done_at": created_at, "position": position, "updated_at": created_at}


async def list_subtitles(request: ApiRequest[SubtitleList]) -> Response:
    """List the tracks of a video, one page at a time."""
    query = select(request, "subtitle", [("of_video", find_video(request)["id"])])
    tracks, total = request.world.store.find(query)
    return page(query, total, [_show(request, track) for track in tracks])


async def read_subtitle(request: ApiRequest[None]) -> Response:
    """Return one track."""
    return data(_show(request, find_extra(request, "subtitle")))


async def upload_subtitle(request: ApiRequest[SubtitleUpload]) -> Response:
    """Add a track from a VTT or SRT file."""
    video, (form, content) = find_video(request), await _read_form(request)
    kind = _kind_of(content)
    with request.world.store.transaction():
        draft = form.given()
        file = draft.pop("file")
        track = _new_track(request, video["id"], draft)
        track |= {"file_name": file.filename, "kind": kind, "storage": track["id"]}
        request.world.files.save(track["storage"], content)
        request.world.store.insert("subtitle", request.workspace_id, track)
    return data(_show_uploaded(request, track))


async def _read_form(request: ApiRequest[SubtitleUpload]) -> tuple[SubtitleUpload, bytes]:
    """Return the form, and the bytes of its file."""
    try:
        async with request.http.form(max_files=1, max_fields=10) as values:
            form = request.check(dict(values))
            return form, await form.file.read()
    except (HTTPException, ValueError):
        raise invalid(("body", "must be a multipart form")) from None


_WEBVTT = re.compile(r"WEBVTT(?:[ \t\r\n]|\Z)")  # the format requires the separator: WEBVTTfoo is not WebVTT
_TIMING = re.compile(r"\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}")


def _kind_of(content: bytes) -> str:
    """Return the format of a file's bytes. Raises the documented error for any but VTT and SRT."""
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid(("file", "must be UTF-8")) from None
    if _WEBVTT.match(written):
        return "vtt"
    if written.startswith("WEBVTT") or _TIMING.search(written) is None:
        raise invalid(("file", "must be VTT or SRT"))
    return "srt"


async def recognise_subtitles(request: ApiRequest[SubtitleRecognition]) -> Response:
    """Create a track for each language by speech recognition: all or none. Tracks are pending until it ends."""
    video, order = find_video(request), await request.body()
    with request.world.store.transaction():
        first = next_position(request, "subtitle", video["id"])
        tracks = [
            _new_recognised(request, video, language, first + index) for index, language in enumerate(order.languages)
        ]
    return data([_show(request, track) for track in tracks])


def _new_recognised(request: ApiRequest[Any], video: Document, language: str, position: int) -> Document:
    world, draft = request.world, {"language": language, "description": "auto-generated"}
    track = new_track(world.new_id(), video["id"], world.timestamp(), position, draft)
    cues, done_at = transcribe(world.draw(), video["duration"]), format_epoch(world.now() + RECOGNITION_SECONDS)
    track |= {"done_at": done_at, "cues": cues, "file_name": f"auto-{language}.vtt"}
    world.store.insert("subtitle", request.workspace_id, track)
    return track


async def update_subtitle(request: ApiRequest[SubtitleUpdate]) -> Response:
    """Change the language or the description; an absent field stays as it is."""
    track, draft = find_extra(request, "subtitle"), await request.body()
    track |= draft.given() | {"updated_at": request.world.timestamp()}
    request.world.store.update("subtitle", track)
    return data(_show(request, track))


async def copy_subtitle(request: ApiRequest[None]) -> Response:
    """Duplicate a track; the copy comes last."""
    track, world = find_extra(request, "subtitle"), request.world
    with world.store.transaction():
        new = _new_track(request, track["of_video"], {})
        copy = track | {name: new[name] for name in ("id", "position", "updated_at")}
        if track["storage"]:
            copy["storage"] = copy["id"]
            world.files.save(copy["storage"], world.files.path(track["storage"]).read_bytes())
        world.store.insert("subtitle", request.workspace_id, copy)
    return data(_show_uploaded(request, copy))


async def delete_subtitle(request: ApiRequest[None]) -> Response:
    """Delete the track for good."""
    track = find_extra(request, "subtitle")
    request.world.store.delete("subtitle", track["id"])
    if track["storage"]:
        request.world.files.delete(track["storage"])
    return success()


async def reorder_subtitles(request: ApiRequest[SubtitleOrder]) -> Response:
    """Put the tracks of a video in the given order, which must name every track. Returns the first track."""
    video, order = find_video(request), await request.body()
    tracks = reorder_all(request, "subtitle", video["id"], order.root)
    return data(_show(request, tracks[0]))


def _new_track(request: ApiRequest[Any], video_id: str, draft: Document) -> Document:
    position, world = next_position(request, "subtitle", video_id), request.world
    return new_track(world.new_id(), video_id, world.timestamp(), position, draft)


def _show(request: ApiRequest[Any], track: Document) -> Document:
    """Return the fields of a stored track that the API shows now. A track has no file while it is pending."""
    is_pending, path = track["done_at"] > request.world.timestamp(), f"subtitles/{track['id']}.{track['kind']}"
    return Subtitle.show(
        track
        | {
            "file": "" if is_pending else path,
            "hls_file": "",
            "url": "" if is_pending else sign(request, f"/cdn/{path}"),
            "status": "pending" if is_pending else "done",
            "data": {} if is_pending or not track["cues"] else {"cues": track["cues"]},
        }
    )


def _show_uploaded(request: ApiRequest[Any], track: Document) -> Document:
    return UploadedSubtitle.show(_show(request, track))


_LIST = "/v1/videos/{video_id}/subtitles"
_ITEM = f"{_LIST}/{{subtitle_id}}"
_ERRORS = [404404]

ENDPOINTS = (
    Endpoint("GET", _LIST, list_subtitles, SubtitleList, Page[Subtitle], _ERRORS),
    Endpoint("POST", _LIST, upload_subtitle, SubtitleUpload, Data[UploadedSubtitle], _ERRORS, body="form"),
    Endpoint("POST", f"{_LIST}/auto", recognise_subtitles, SubtitleRecognition, Data[list[Subtitle]], _ERRORS),
    Endpoint("PATCH", f"{_LIST}/reorder", reorder_subtitles, SubtitleOrder, Data[Subtitle], _ERRORS),
    Endpoint("GET", _ITEM, read_subtitle, None, Data[Subtitle], _ERRORS),
    Endpoint("PATCH", _ITEM, update_subtitle, SubtitleUpdate, Data[Subtitle], _ERRORS),
    Endpoint("POST", f"{_ITEM}/copy", copy_subtitle, None, Data[UploadedSubtitle], _ERRORS),
    Endpoint("DELETE", _ITEM, delete_subtitle, None, Data[Success], _ERRORS),
)
