"""Live events (platform-api.md, 2 and 4, "Live event"; decisions.md for filters, order and the fields of a GET)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from livedeck.service.clock import stamp_epoch
from livedeck.service.encoder import first_sent, timeline
from livedeck.service.errors import no_event
from livedeck.service.exchange import PAGING, Call, Endpoint, one, page
from livedeck.service.identity import uuid_of
from livedeck.service.rules import FLAG, UUID, ordering
from livedeck.service.store import Document, Query

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

FIELDS = (
    *(
        "id",
        "workspace_id",
        "parent_id",
        "name",
        "subtitle",
        "type",
        "streamkey",
        "auto_start",
        "protected",
        "time_shift",
    ),
    *("reconnect_window", "record", "video", "audio", "restreams", "play_link", "rtmp_link", "scheduled", "stream"),
    *("latency_mode", "show_members", "chat_active", "chat_after_stream", "chat_preview", "allow_chat_links"),
    *("moderators", "poster", "created_at", "updated_at"),
)
"""What the API shows of an event, in the order of the document; the rest of a stored event is ours alone."""


def new_event(identity: str, workspace: str, name: str, created_at: str, streamkey: str) -> Document:
    """An event as it is stored, a draft with the documented defaults.

    Ours alone are the project and folder that the parent stands in, the encoder's turns, and the seed of its signal.
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
        "encoder": [],
        "signal": 0,
    }


async def list_events(call: Call) -> Response:
    """The events of the workspace, a page of them."""
    asked = call.query()
    query = Query(
        "event",
        call.workspace,
        where=[*_filters(asked)],
        order=asked.get("order", [("created_at", "desc"), ("name", "asc")]),
        page=asked.get("page", 1),
        per_page=asked.get("per_page", 20),
    )
    events, total = call.world.store.find(query)
    return page(query, total, [present(event, call) for event in events])


async def read_event(call: Call) -> Response:
    """One event."""
    return one(present(find_event(call), call))


def find_event(call: Call) -> Document:
    """The event named in the path, of the caller's workspace. Raises the refusal where there is none."""
    event = call.world.store.get("event", call.identity("event_id"), call.workspace or None)
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
        "poster": _default_poster(call.origin),
    }
    return {name: shown[name] for name in FIELDS}


def stream_now(event: Document, now: float) -> Document | None:
    """The current stream. A pending one is live from the moment that its encoder first sent."""
    stream: Document | None = event["stream"]
    if stream is None or stream["status"] != "pending":
        return stream
    began = first_sent(timeline(event["encoder"]), now)
    return stream if began is None else stream | {"status": "live", "started_at": stamp_epoch(began)}


_DISCONNECTED = {"status": "disconnected"}


def _filters(asked: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name in ("project_id", "folder_id"):
        if name in asked:
            yield name, asked[name]
    if asked.get("without_folder"):
        yield "folder_id", None


def _default_poster(origin: str) -> Document:
    sizes = {size: f"{origin}/cdn/posters/default/{size}.png" for size in ("original", "md", "sm", "xs")}
    fixed = {"id": uuid_of("poster", "default"), "type": "image", "from_time": 0, "to_time": 0, "status": "done"}
    return fixed | {"active": True} | sizes


_LIST = PAGING | {
    "order": ordering("created_at", "updated_at", "name"),
    "project_id": UUID,
    "folder_id": UUID,
    "without_folder": FLAG,
}

ENDPOINTS = (
    Endpoint("GET", "/v2/live/events", list_events, _LIST),
    Endpoint("GET", "/v2/live/events/{event_id}", read_event),
)
