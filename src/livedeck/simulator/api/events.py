"""Live events (platform-api.md, "Live event" and "Conventions" for filters, order and the fields of a GET)."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response
from typing_extensions import TypeAliasType

from livedeck.simulator.api.images import DEFAULT_POSTER, Poster, show_poster
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.encoder import encoder_states, first_sent_at
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import conflict, event_not_found
from livedeck.simulator.http import ApiRequest, Endpoint, data, page, select
from livedeck.simulator.models import (
    UNSET,
    ApiObject,
    Boolean,
    Data,
    Flag,
    ListQuery,
    OptionalTimestamp,
    OptionalUuid,
    Order,
    Page,
    RequestBody,
    Timestamp,
    Uuid,
    integer,
    one_of,
    ordering,
)

PRESETS = ("360p", "480p", "720p", "1080p", "1440p", "2160p")
"""Sizes of the picture (platform-api.md, "Limits")."""

EventType = TypeAliasType("EventType", Annotated[str, one_of("one-time", "recurring")])
LatencyMode = TypeAliasType("LatencyMode", Annotated[str, one_of("standard", "reduced")])
Preset = TypeAliasType("Preset", Annotated[str, one_of(*PRESETS)])


class EventSettings(RequestBody):
    """Settings of an event that requests, tables and recordings share."""

    auto_start: Boolean = UNSET
    protected: Boolean = UNSET
    time_shift: Boolean = UNSET
    reconnect_window: Annotated[int, integer(0, 86_400)] = UNSET
    latency_mode: LatencyMode = UNSET
    show_members: Boolean = UNSET
    chat_active: Boolean = UNSET
    chat_after_stream: Boolean = UNSET
    chat_preview: Boolean = UNSET


class EventRestream(ApiObject):
    """Event restream, in the order of the document."""

    id: Uuid
    event_id: Uuid
    name: str
    url: str
    key: str
    status: Annotated[str, one_of("connected", "disconnected")]
    enabled: bool
    description: str
    created_at: Timestamp
    updated_at: OptionalTimestamp


class Stream(ApiObject):
    """Stream of an event."""

    id: Uuid
    event_id: Uuid
    status: Annotated[str, one_of("pending", "live", "finished")]
    started_at: Timestamp
    finished_at: OptionalTimestamp


class Record(ApiObject):
    """Project or folder for an event's recordings."""

    parent_id: OptionalUuid


class Video(ApiObject):
    """Picture sizes to which the platform transcodes an event."""

    presets: list[Preset] | None


class Audio(ApiObject):
    """Mapping of an event's sound channels."""

    channel_mapping: Any


class Schedule(ApiObject):
    """Planned start of an event."""

    time: OptionalTimestamp


class Event(ApiObject):
    """Event in the API's form, in the order of the document; a stored event has more fields."""

    id: Uuid
    workspace_id: Uuid
    parent_id: OptionalUuid
    name: str
    subtitle: str
    type: EventType
    streamkey: str
    auto_start: bool
    protected: bool
    time_shift: bool
    reconnect_window: int
    record: Record
    video: Video
    audio: Audio
    restreams: list[EventRestream]
    play_link: str
    rtmp_link: str
    scheduled: Schedule
    stream: Stream | None
    latency_mode: LatencyMode
    show_members: bool
    chat_active: bool
    chat_after_stream: bool
    chat_preview: bool
    allow_chat_links: bool
    moderators: list[Any] | None
    poster: Poster
    created_at: Timestamp
    updated_at: OptionalTimestamp


class EventList(ListQuery):
    """Query of the list of events."""

    order: Annotated[Order, ordering("created_at", "updated_at", "name")] = (("created_at", "desc"), ("name", "asc"))
    project_id: Uuid = UNSET
    folder_id: Uuid = UNSET
    without_folder: Flag = False


DEFAULTS: Document = {
    "parent_id": None,
    "subtitle": "",
    "type": "one-time",
    "auto_start": False,
    "protected": False,
    "time_shift": False,
    "reconnect_window": 600,
    "record": {"parent_id": None},
    "video": {"presets": None},
    "audio": {"channel_mapping": None},
    "restreams": [],
    "scheduled": {"time": None},
    "stream": None,
    "latency_mode": "standard",
    "show_members": True,
    "chat_active": False,
    "chat_after_stream": True,
    "chat_preview": True,
    "allow_chat_links": False,
    "moderators": None,
    "updated_at": None,
    "picture": None,
    "sound": None,
}
"""Default values of an event's fields (platform-api.md, "Event draft")."""


def new_event(event_id: str, workspace_id: str, name: str, created_at: str, streamkey: str) -> Document:
    """Return the stored form of a new draft event with the documented defaults.

    Fields that the API does not show: the project and folder of the parent, whether it is enabled, the time of its
    completion, its earlier streams, the states of its encoder, the seed of its signal, the rates of its chat, its own
    poster, and its picture and sound in HLS.
    """
    return DEFAULTS | {
        "id": event_id,
        "workspace_id": workspace_id,
        "name": name,
        "streamkey": streamkey,
        "play_link": f"https://play.livedeck.example/{event_id}",
        "rtmp_link": f"rtmp://ingest.livedeck.example/live/{streamkey}",
        "created_at": created_at,
        "project_id": None,
        "folder_id": None,
        "enabled": False,
        "completed_at": None,
        "earlier": [],
        "encoder": [],
        "signal": 0,
        "chat": [],
        "poster": None,
    }


async def list_events(request: ApiRequest[EventList]) -> Response:
    """List the events of the workspace, one page at a time."""
    listing = request.query()
    where = [(name, listing.given()[name]) for name in ("project_id", "folder_id") if name in listing.model_fields_set]
    query = select(request, "event", [*where, *([("folder_id", None)] if listing.without_folder else [])])
    events, total = request.world.store.find(query)
    return page(query, total, [show_event(event, request) for event in events])


async def read_event(request: ApiRequest[None]) -> Response:
    """Return one event."""
    return data(show_event(find_event(request), request))


def find_event(request: ApiRequest[Any], event_id: str | None = None) -> Document:
    """Return the caller's event `event_id`, or else the one whose id is in the request path.

    Raises the documented error if there is no such event.
    """
    event = request.world.store.get("event", event_id or request.path_id("event_id"), request.workspace_id or None)
    if event is None:
        raise event_not_found()
    return event


def show_event(event: Document, request: ApiRequest[Any]) -> Document:
    """Return the API's current form of the event."""
    stream = current_stream(event, request.world.now())
    is_live = stream is not None and stream["status"] == "live"
    restreams, ingest, hls = event["restreams"], request.world.ingest.address, request.world.hls
    return Event.show(
        event
        | {
            "stream": stream,
            "restreams": restreams if is_live else [row | {"status": "disconnected"} for row in restreams],
            "play_link": hls.address(event["id"], request.origin) if hls.is_on and is_live else event["play_link"],
            "rtmp_link": f"{ingest}/{event['streamkey']}" if ingest else event["rtmp_link"],
            "poster": show_poster(event["poster"] or DEFAULT_POSTER, request.origin),
        }
    )


def current_stream(event: Document, now: float) -> Document | None:
    """Return the event's stream at `now` (epoch seconds); None if it has none.

    A pending stream becomes live when its encoder first sends.
    """
    stream: Document | None = event["stream"]
    if stream is None or stream["status"] != "pending":
        return stream
    sent_at = first_sent_at(encoder_states(event["encoder"]), now)
    return stream if sent_at is None else stream | {"status": "live", "started_at": format_epoch(sent_at)}


def reopen(event: Document) -> Document:
    """Return the event without its completion. Raises the documented error for a completed one-time event.

    A recurring event is completed after each of its shows. Until a stream or `scheduled.time` is set for the next show,
    it refuses to be enabled and refuses ingest, like any completed event (platform-api.md, "Error codes").
    """
    if event["completed_at"] and event["type"] == "one-time":
        raise conflict("the event is completed")
    return event | {"completed_at": None}


ENDPOINTS = (
    Endpoint("GET", "/v2/live/events", list_events, EventList, Page[Event]),
    Endpoint("GET", "/v2/live/events/{event_id}", read_event, None, Data[Event], [400404]),
)
