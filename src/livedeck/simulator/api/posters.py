"""Posters of a video, and the upload of a custom one (platform-api.md, "Posters of a video").

Exactly one poster of a video is active, as long as the video has any.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.api.images import Poster, show_poster
from livedeck.simulator.api.videos import find_extra, find_video
from livedeck.simulator.engine.store import Document, Store
from livedeck.simulator.errors import event_not_found, invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data, page, select, success
from livedeck.simulator.models import (
    UNSET,
    Data,
    ListQuery,
    Order,
    Page,
    Parameters,
    RequestBody,
    Success,
    Uuid,
    WebAddress,
    number,
    ordering,
)


class PosterCreate(RequestBody):
    """Time of the frame for the poster, in seconds."""

    of = Poster
    from_time: Annotated[float, number(0, 1e6)]


class PosterUpload(Parameters):
    """Headers of the upload."""

    url: WebAddress = Field(alias="X-Poster-URL")
    video_id: Uuid = Field(alias="X-Video-ID", default=UNSET, description="a UUID; required unless X-Event-ID is given")
    event_id: Uuid = Field(alias="X-Event-ID", default=UNSET, description="a UUID; left out if X-Video-ID is given")


class PosterList(ListQuery):
    """Query of the list of posters."""

    order: Annotated[Order, ordering("created_at", "from_time")] = (("created_at", "asc"),)


def new_poster(poster_id: str, media_id: str, from_time: float, created_at: str, *, active: bool) -> Document:
    """Return the stored form of a poster of a video or event. `from_time`: seconds into the video."""
    times = {"from_time": from_time, "to_time": from_time, "created_at": created_at}
    return {"id": poster_id, "media_id": media_id, "of_video": media_id, "active": active} | times


async def list_posters(request: ApiRequest[PosterList]) -> Response:
    """List the posters of a video, one page at a time."""
    query = select(request, "poster", [("of_video", find_video(request)["id"])])
    posters, total = request.world.store.find(query)
    return page(query, total, [show_poster(poster, request.origin) for poster in posters])


async def create_poster(request: ApiRequest[PosterCreate]) -> Response:
    """Create a poster from the frame at the given time."""
    video, draft, world = find_video(request), await request.body(), request.world
    if draft.from_time > video["duration"]:
        raise invalid(("from_time", f"must be within the video, which lasts {video['duration']:g} s"))
    with world.store.transaction():
        is_first = not _posters(world.store, request.workspace_id, video["id"])
        poster = new_poster(world.new_id(), video["id"], draft.from_time, world.timestamp(), active=is_first)
        world.store.insert("poster", request.workspace_id, poster)
    return data(show_poster(poster, request.origin))


async def read_poster(request: ApiRequest[None]) -> Response:
    """Return one poster."""
    return data(show_poster(find_extra(request, "poster", event_not_found), request.origin))


async def activate_poster(request: ApiRequest[None]) -> Response:
    """Show this poster, and no other, in the player and in lists."""
    poster = find_extra(request, "poster", event_not_found)
    with request.world.store.transaction():
        _activate(request.world.store, request.workspace_id, poster)
    return success()


def _activate(store: Store, workspace_id: str, poster: Document) -> None:
    """Make the poster the active one of its video."""
    for other in _posters(store, workspace_id, poster["of_video"]):
        if other["active"] != (other["id"] == poster["id"]):
            store.update("poster", other | {"active": not other["active"]})


async def delete_poster(request: ApiRequest[None]) -> Response:
    """Delete the poster for good. If it was active, the oldest remaining poster becomes active."""
    poster, store = find_extra(request, "poster", event_not_found), request.world.store
    with store.transaction():
        store.delete("poster", poster["id"])
        others = _posters(store, request.workspace_id, poster["of_video"])
        if poster["active"] and others:
            _activate(store, request.workspace_id, others[0])
    return success()


async def upload_poster(request: ApiRequest[PosterUpload]) -> Response:
    """Set a custom poster of a video or an event; its address is recorded and never fetched.

    Use of the headers: platform-api.md, "Upload headers".
    """
    headers, world = request.headers(), request.world
    if len(headers.model_fields_set & {"video_id", "event_id"}) != 1:
        raise invalid(("X-Video-ID", "must be given unless X-Event-ID is given"))
    event = find_event(request, headers.event_id) if "event_id" in headers.model_fields_set else None
    media = event or find_video(request, headers.video_id)
    with world.store.transaction():
        poster = new_poster(world.new_id(), media["id"], 0, world.timestamp(), active=True) | {"source": headers.url}
        if event and event["poster"]:
            world.store.delete("poster", event["poster"]["id"])
        world.store.insert("poster", request.workspace_id, poster)
        if event:
            world.store.update("event", event | {"poster": poster, "updated_at": world.timestamp()})
        else:
            _activate(world.store, request.workspace_id, poster)
    return data(show_poster(poster, request.origin))


def _posters(store: Store, workspace_id: str, video_id: str) -> list[Document]:
    return store.find_all("poster", workspace_id, [("of_video", video_id)], [("created_at", "asc")])


_LIST = "/v1/videos/{video_id}/posters"
_ITEM = f"{_LIST}/{{poster_id}}"
_ERRORS = [400404, 404404]

ENDPOINTS = (
    Endpoint("GET", _LIST, list_posters, PosterList, Page[Poster], [404404]),
    Endpoint("POST", _LIST, create_poster, PosterCreate, Data[Poster], [404404]),
    Endpoint("GET", _ITEM, read_poster, None, Data[Poster], _ERRORS),
    Endpoint("POST", f"{_ITEM}/active", activate_poster, None, Data[Success], _ERRORS),
    Endpoint("DELETE", _ITEM, delete_poster, None, Data[Success], _ERRORS),
    Endpoint("POST", "/upload/v2/poster", upload_poster, PosterUpload, Data[Poster], _ERRORS, body="file"),
)
