"""Where a live event goes: enabled, completed, moved, deleted (platform-api.md, 3; decisions.md, "Codes not shown")."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.service import schema
from livedeck.service.chapters.chat import switched
from livedeck.service.chapters.drafting import stand
from livedeck.service.chapters.events import EVENT, find_event, present, stream_now
from livedeck.service.chapters.videos import recording
from livedeck.service.clock import stamp_epoch
from livedeck.service.encoder import Turn, timeline, turned
from livedeck.service.errors import conflict
from livedeck.service.exchange import Call, Endpoint, done, one
from livedeck.service.rules import UUID, needed
from livedeck.service.store import Document
from livedeck.service.world import World


async def enable(call: Call) -> Response:
    """Let streams in and viewers watch."""
    event = find_event(call)
    if event["completed_at"]:
        raise conflict("the event is completed")
    call.world.store.change("event", event | {"enabled": True, "updated_at": call.world.stamp()})
    return done()


async def finish(call: Call) -> Response:
    """Complete the event: its stream ends, ingest is refused, and a recording follows; twice is allowed."""
    event = find_event(call)
    if not event["completed_at"]:
        complete(call.world, event, call.world.now())
    return done()


def complete(world: World, event: Document, at: float) -> None:
    """The event as completed at that moment (epoch seconds): nothing more comes in."""
    stream, when = stream_now(event, at), stamp_epoch(at)
    ended = stream and (stream if stream["status"] == "finished" else stream | _finished(stream, when))
    changed = event | {
        "stream": ended,
        "completed_at": when,
        "updated_at": when,
        "encoder": turned(timeline(event["encoder"]), Turn(at, "clean", sending=False)) if event["encoder"] else [],
        "chat": switched(event["chat"], at, on=False),
    }
    with world.store.transaction():
        world.store.change("event", changed)
        if stream is not None and stream["status"] == "live":
            world.store.create("video", event["workspace_id"], recording(world, event, stream, at))


def _finished(stream: Document, when: str) -> Document:
    return {"status": "finished", "started_at": min(stream["started_at"], when), "finished_at": when}


async def move(call: Call) -> Response:
    """Put the event into another project or folder."""
    event, asked = find_event(call), await call.body()
    moved = event | stand(call, "parent_id", asked["parent_id"]) | {"updated_at": call.world.stamp()}
    call.world.store.change("event", moved)
    return one(present(moved, call))


async def delete_event(call: Call) -> Response:
    """Delete the event for good; its recordings stay."""
    call.world.store.delete("event", find_event(call)["id"])
    return done()


_EVENT = "/v2/live/events/{event_id}"

ENDPOINTS = (
    Endpoint("PUT", f"{_EVENT}/enable", enable, answer=schema.DONE, refuses=[400404, 409409]),
    Endpoint("PUT", f"{_EVENT}/complete", finish, answer=schema.DONE, refuses=[400404]),
    Endpoint("PUT", f"{_EVENT}/move", move, {"parent_id": needed(UUID)}, EVENT, [400404]),
    Endpoint("DELETE", _EVENT, delete_event, answer=schema.DONE, refuses=[400404]),
)
