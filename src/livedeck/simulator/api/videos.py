"""The order of what a video carries: `position` counts from 1."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import datetime

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.events import find_event
from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.store import Document, Store
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import invalid, unknown
from livedeck.simulator.http import PAGING, Call, Endpoint, page
from livedeck.simulator.rules import Rule, demand, each, ordering


def order_of(rule: Rule) -> Rule:
    """Ids in the order that is wanted, each once."""
    ids = each(rule, 10_000, least=1)
    return Rule(f"{ids.says}, each once", lambda given: _once(ids.take(given)), ids.schema | {"uniqueItems": True})


def _once(ids: list[str]) -> list[str]:
    return demand(len({*ids}) == len(ids), ids)


def last(store: Store, kind: str, workspace: str, video: str) -> int:
    """The highest position so far; 0 where there is none."""
    placed = store.every(kind, workspace, [("of_video", video)], [("position", "desc")])
    return int(placed[0]["position"]) if placed else 0


def put_in_order(call: Call, kind: str, video: str, order: list[str]) -> list[Document]:
    """All of that kind of a video, put in the order of those ids. Raises the refusal for a list that is not full."""
    store = call.world.store
    placed = {document["id"]: document for document in store.every(kind, call.workspace, [("of_video", video)])}
    if sorted(placed) != sorted(order):
        raise invalid(("body", "must be the full list of ids"))
    moved = [placed[identity] | {"position": place} for place, identity in enumerate(order, 1)]
    with store.transaction():
        for document in moved:
            store.change(kind, document)
    return moved


def put_among(call: Call, kind: str, order: list[Document]) -> None:
    """These in that order, in the places that they hold already: what is not named stays. Each video by itself."""
    held: dict[str, list[int]] = defaultdict(list)
    for document in order:
        held[document["of_video"]].append(document["position"])
    places = {video: iter(sorted(some)) for video, some in held.items()}
    with call.world.store.transaction():
        for document in order:
            call.world.store.change(kind, document | {"position": next(places[document["of_video"]])})


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
