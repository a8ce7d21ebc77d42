"""Recordings of an event, and functions for any video and its extras (posters, subtitles, annotations, materials)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError, invalid, not_found
from livedeck.simulator.http import ApiRequest, Endpoint, page, select
from livedeck.simulator.models import ApiObject, ListQuery, Order, Page, Timestamp, Uuid, ordering

RECORDING_DELAY = 12.0
"""Seconds from the end of a stream to its recording (platform-api.md, "Recording": within 20)."""


class EventVideo(ApiObject):
    """Recording in the API's form."""

    id: Uuid
    title: str
    status: Literal["done"]
    duration: float
    created_at: Timestamp


class EventVideoList(ListQuery):
    """Query of the list of an event's recordings."""

    order: Annotated[Order, ordering("created_at", "title", "duration")] = (("created_at", "asc"),)


def new_video(video_id: str, title: str, duration: float, created_at: str, event_id: str) -> Document:
    """Return the stored form of a video; it is invisible before `created_at`. `duration` in seconds."""
    fixed = {"id": video_id, "title": title, "status": "done", "duration": duration}
    return fixed | {"created_at": created_at, "event_id": event_id}


def new_recording(world: World, event: Document, stream: Document, ended_at: float) -> Document:
    """Return the recording of a live stream that ended at `ended_at` (epoch seconds)."""
    duration = round(ended_at - datetime.fromisoformat(stream["started_at"]).timestamp(), 3)
    return new_video(world.new_id(), event["name"], duration, format_epoch(ended_at + RECORDING_DELAY), event["id"])


def find_video(request: ApiRequest[Any], video_id: str | None = None) -> Document:
    """Return the caller's video `video_id`, or else the one of the request path. Raises the error for an unknown id."""
    world = request.world
    video = world.store.get("video", video_id or request.path_id("video_id"), request.workspace_id)
    if video is None or video["created_at"] > world.timestamp():
        raise not_found()
    return video


def find_extra(request: ApiRequest[Any], kind: str, error: Callable[[], ApiError] = not_found) -> Document:
    """Return the object of `kind` in the request path. Raises `error` if the video in the path has no such object."""
    video = find_video(request)
    extra = request.world.store.get(kind, request.path_id(f"{kind}_id"), request.workspace_id)
    if extra is None or extra["of_video"] != video["id"]:
        raise error()
    return extra


async def list_recordings(request: ApiRequest[EventVideoList]) -> Response:
    """List the recordings of the event, one page at a time."""
    query = select(request, "video", [("event_id", find_event(request)["id"])])
    query = replace(query, not_after=[("created_at", request.world.timestamp())])
    videos, total = request.world.store.find(query)
    return page(query, total, [EventVideo.show(video) for video in videos])


def next_position(request: ApiRequest[Any], kind: str, video_id: str) -> int:
    """Return the position after the last object of `kind` on a video; positions count from 1."""
    store = request.world.store
    extras = store.find_all(kind, request.workspace_id, [("of_video", video_id)], [("position", "desc")])
    return int(extras[0]["position"]) + 1 if extras else 1


def reorder_all(request: ApiRequest[Any], kind: str, video_id: str, order: list[str]) -> list[Document]:
    """Order every object of `kind` on a video by `order`.

    Raises the documented error unless `order` names each exactly once.
    """
    store = request.world.store
    extras = {extra["id"]: extra for extra in store.find_all(kind, request.workspace_id, [("of_video", video_id)])}
    if sorted(extras) != sorted(order):
        raise invalid(("body", "must be the full list of ids"))
    ordered = [extras[extra_id] | {"position": position} for position, extra_id in enumerate(order, 1)]
    with store.transaction():
        for extra in ordered:
            store.update(kind, extra)
    return ordered


def reorder_some(request: ApiRequest[Any], kind: str, extras: list[Document]) -> None:
    """Put the `extras` of each video in the given order. The numbers of their positions stay the same."""
    held: dict[str, list[int]] = defaultdict(list)
    for extra in extras:
        held[extra["of_video"]].append(extra["position"])
    positions = {video_id: iter(sorted(numbers)) for video_id, numbers in held.items()}
    with request.world.store.transaction():
        for extra in extras:
            request.world.store.update(kind, extra | {"position": next(positions[extra["of_video"]])})


ENDPOINTS = (
    Endpoint(
        *("GET", "/v2/live/events/{event_id}/videos", list_recordings), EventVideoList, Page[EventVideo], [400404]
    ),
)
