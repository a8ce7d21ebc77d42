"""Videos: what every extra hangs on. Those of an event are its recordings (decisions.md, "Responses not shown")."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from starlette.responses import Response

from livedeck.service import schema
from livedeck.service.chapters.events import find_event
from livedeck.service.clock import stamp_epoch
from livedeck.service.errors import unknown
from livedeck.service.exchange import PAGING, Call, Endpoint, page
from livedeck.service.rules import ordering
from livedeck.service.store import Document
from livedeck.service.world import World

RECORDED_AFTER = 12.0
"""Seconds from the end of a stream to its recording (decisions.md: within 20)."""

FIELDS = {
    "id": schema.UUID,
    "title": schema.TEXT,
    "status": schema.words("done"),
    "duration": schema.NUMBER,
    "created_at": schema.MOMENT,
}
"""What the API shows of a recording."""


def new_video(identity: str, title: str, duration: float, created_at: str, event: str | None = None) -> Document:
    """A video as it is stored; nobody sees it before `created_at`. `duration` in seconds."""
    fixed = {"id": identity, "title": title, "status": "done", "duration": duration}
    return fixed | {"created_at": created_at, "event_id": event}


def recording(world: World, event: Document, stream: Document, ended: float) -> Document:
    """The recording of a live stream that ended at that moment (epoch seconds)."""
    duration = round(ended - datetime.fromisoformat(stream["started_at"]).timestamp(), 3)
    return new_video(world.new_id(), event["name"], duration, stamp_epoch(ended + RECORDED_AFTER), event["id"])


def find_video(call: Call, identity: str | None = None) -> Document:
    """The video named in the path, or of that id, of the caller's workspace. Raises the refusal where there is none."""
    video = call.world.store.get("video", identity or call.identity("video_id"), call.workspace)
    if video is None or video["created_at"] > call.world.stamp():
        raise unknown()
    return video


def find_extra(call: Call, kind: str) -> Document | None:
    """The document of that kind named in the path, where it belongs to the video named there; else None."""
    video = find_video(call)
    extra = call.world.store.get(kind, call.identity(f"{kind}_id"), call.workspace)
    return extra if extra is not None and extra["of_video"] == video["id"] else None


async def list_recordings(call: Call) -> Response:
    """The recordings of the event, a page of them."""
    query = call.search("video", [("created_at", "asc")], [("event_id", find_event(call)["id"])])
    query = replace(query, until=[("created_at", call.world.stamp())])
    videos, total = call.world.store.find(query)
    return page(query, total, [{name: video[name] for name in FIELDS} for video in videos])


_LIST = PAGING | {"order": ordering("created_at", "title", "duration")}

ENDPOINTS = (
    Endpoint(
        *("GET", "/v2/live/events/{event_id}/videos", list_recordings, _LIST),
        answer=schema.paged(schema.record(FIELDS)),
        refuses=[400404],
    ),
)
