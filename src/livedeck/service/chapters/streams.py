"""Streams of an event: scheduled, and put to another time (platform-api.md, 4; decisions.md, "Codes not shown")."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.service import schema
from livedeck.service.chapters.chat import switched
from livedeck.service.chapters.events import STREAM, find_event, reopened, stream_now
from livedeck.service.errors import conflict, unknown
from livedeck.service.exchange import Call, Endpoint, one
from livedeck.service.rules import STAMP, needed
from livedeck.service.store import Document


async def schedule(call: Call) -> Response:
    """Schedule a stream. A one-time event has one; a recurring event gets its next one once the current has ended."""
    event, asked = find_event(call), await call.body()
    event = reopened(event)
    before = stream_now(event, call.world.now())
    _demand_ended(before)
    earlier = [*event.get("earlier", ()), *([before] if before else [])]
    with call.world.store.transaction():
        made = {"id": call.world.new_id(), "event_id": event["id"], "status": "pending", "finished_at": None}
        stream = {name: (made | asked)[name] for name in STREAM}
        chat = event["chat"]
        if before:  # the end of the last stream ended it
            chat = switched(chat, call.world.now(), on=event["chat_active"])
        begun = {"stream": stream, "earlier": earlier, "encoder": [], "chat": chat}
        call.world.store.change("event", event | begun)
    return one(stream)


def _demand_ended(stream: Document | None) -> None:
    if stream is not None and stream["status"] != "finished":
        raise conflict(f"the event has a stream that is {stream['status']}")


async def reschedule(call: Call) -> Response:
    """Put the current stream to another time, as long as it has not begun."""
    event, asked = find_event(call), await call.body()
    stream = stream_now(reopened(event), call.world.now())
    if stream is None:
        raise unknown()
    if stream["status"] != "pending":
        raise conflict(f"the stream is {stream['status']}")
    call.world.store.change("event", event | {"stream": stream | asked})
    return one(stream | asked)


_PATH = "/v2/live/events/{event_id}/stream"
_ANSWER = schema.data(schema.record(STREAM))

ENDPOINTS = (
    Endpoint("POST", _PATH, schedule, {"started_at": needed(STAMP)}, _ANSWER, [400404, 409409]),
    Endpoint("PUT", _PATH, reschedule, {"started_at": needed(STAMP)}, _ANSWER, [400404, 404404, 409409]),
)
