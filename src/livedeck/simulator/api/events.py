"""Live events (platform-api.md, 2 and 4, "Live event"; decisions.md for filters, order and the fields of a GET)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.images import DEFAULT_POSTER, POSTER, shown_poster
from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.encoder import first_sent, timeline
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import conflict, no_event
from livedeck.simulator.http import PAGING, Call, Endpoint, one, page
from livedeck.simulator.rules import FLAG, UUID, ordering

PRESETS = ("360p", "480p", "720p", "1080p", "1440p", "2160p")

"""Sizes of the picture (platform-api.md, 8)."""


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
}

"""Fields of an event that nobody set (platform-api.md, "Create event request fields")."""


RESTREAM = {
    "id": schema.UUID,
    "event_id": schema.UUID,
    "name": schema.TEXT,
    "url": schema.TEXT,
    "key": schema.TEXT,
    "status": schema.words("connected", "disconnected"),
    "enabled": schema.BOOLEAN,
    "description": schema.TEXT,
    "created_at": schema.MOMENT,
    "updated_at": schema.maybe(schema.MOMENT),
}

"""An event restream and its types, in the order of the document."""


STREAM = {
    "id": schema.UUID,
    "event_id": schema.UUID,
    "status": schema.words("pending", "live", "finished"),
    "started_at": schema.MOMENT,
    "finished_at": schema.maybe(schema.MOMENT),
}

"""A stream and its types."""


FIELDS = {
    "id": schema.UUID,
    "workspace_id": schema.UUID,
    "parent_id": schema.maybe(schema.UUID),
    "name": schema.TEXT,
    "subtitle": schema.TEXT,
    "type": schema.words("one-time", "recurring"),
    "streamkey": schema.TEXT,
    "auto_start": schema.BOOLEAN,
    "protected": schema.BOOLEAN,
    "time_shift": schema.BOOLEAN,
    "reconnect_window": schema.INTEGER,
    "record": schema.record({"parent_id": schema.maybe(schema.UUID)}),
    "video": schema.record({"presets": schema.maybe(schema.many(schema.words(*PRESETS)))}),
    "audio": schema.record({"channel_mapping": schema.ANY}),
    "restreams": schema.many(schema.record(RESTREAM)),
    "play_link": schema.TEXT,
    "rtmp_link": schema.TEXT,
    "scheduled": schema.record({"time": schema.maybe(schema.MOMENT)}),
    "stream": schema.maybe(schema.record(STREAM)),
    "latency_mode": schema.words("standard", "reduced"),
    "show_members": schema.BOOLEAN,
    "chat_active": schema.BOOLEAN,
    "chat_after_stream": schema.BOOLEAN,
    "chat_preview": schema.BOOLEAN,
    "allow_chat_links": schema.BOOLEAN,
    "moderators": schema.maybe(schema.many(schema.ANY)),
    "poster": schema.record(POSTER, needed=tuple(name for name in POSTER if name != "media_id")),
    "created_at": schema.MOMENT,
    "updated_at": schema.maybe(schema.MOMENT),
}

"""What the API shows of an event, with its types, in the order of the document; the rest of a stored event is ours."""


EVENT = schema.data(schema.record(FIELDS))

"""The answer that is an event."""


def new_event(identity: str, workspace: str, name: str, created_at: str, streamkey: str) -> Document:
    """An event as it is stored, a draft with the documented defaults.

    Ours alone are the project and folder that the parent stands in, whether it is enabled, when it was completed, its
    earlier streams, the encoder's turns, the seed of its signal, the turns of its chat, and its own poster.
    """
    return DEFAULTS | {
        "id": identity,
        "workspace_id": workspace,
        "name": name,
        "streamkey": streamkey,
        "play_link": f"https://play.livedeck.example/{identity}",
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


async def list_events(call: Call) -> Response:
    """The events of the workspace, a page of them."""
    order = [("created_at", "desc"), ("name", "asc")]
    query = call.search("event", order, [*_filters(call.query())])
    events, total = call.world.store.find(query)
    return page(query, total, [present(event, call) for event in events])


async def read_event(call: Call) -> Response:
    """One event."""
    return one(present(find_event(call), call))


def find_event(call: Call) -> Document:
    """The event named in the path, of the caller's workspace. Raises the refusal where there is none."""
    return event_of(call, call.identity("event_id"))


def event_of(call: Call, identity: str) -> Document:
    """The event of that id, likewise."""
    event = call.world.store.get("event", identity, call.workspace or None)
    if event is None:
        raise no_event()
    return event


def present(event: Document, call: Call) -> Document:
    """The event as the API shows it now."""
    stream = stream_now(event, call.world.now())
    live = stream is not None and stream["status"] == "live"
    shown = event | {
        "stream": stream,
        "restreams": event["restreams"] if live else [row | _DISCONNECTED for row in event["restreams"]],
        "poster": shown_poster(event["poster"] or DEFAULT_POSTER, call.origin),
    }
    return {name: shown[name] for name in FIELDS}


def stream_now(event: Document, now: float) -> Document | None:
    """The current stream. A pending one is live from the moment that its encoder first sent."""
    stream: Document | None = event["stream"]
    if stream is None or stream["status"] != "pending":
        return stream
    began = first_sent(timeline(event["encoder"]), now)
    return stream if began is None else stream | {"status": "live", "started_at": stamp_epoch(began)}


def reopened(event: Document) -> Document:
    """The event, fit for a new time. Raises the refusal for a completed one, unless it recurs.

    Completing ends one round of a recurring event: what is scheduled next, a stream or `scheduled.time`, opens the next
    one, and until then enabling and ingest are refused as on any completed event (decisions.md, "Codes not shown").
    """
    if event["completed_at"] and event["type"] == "one-time":
        raise conflict("the event is completed")
    return event | {"completed_at": None}


_DISCONNECTED = {"status": "disconnected"}


def _filters(asked: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name in ("project_id", "folder_id"):
        if name in asked:
            yield name, asked[name]
    if asked.get("without_folder"):
        yield "folder_id", None


_LIST = PAGING | {
    "order": ordering("created_at", "updated_at", "name"),
    "project_id": UUID,
    "folder_id": UUID,
    "without_folder": FLAG,
}


ENDPOINTS = (
    Endpoint("GET", "/v2/live/events", list_events, _LIST, schema.paged(schema.record(FIELDS))),
    Endpoint("GET", "/v2/live/events/{event_id}", read_event, answer=EVENT, refuses=[400404]),
)
