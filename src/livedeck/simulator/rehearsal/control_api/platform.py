"""Routes that show the platform: its addresses and tokens, an event, a room."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from livedeck.simulator.api.events import show_event
from livedeck.simulator.api.rooms import show_room
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.rehearsal.naming import find_document


async def read_platform(request: ApiRequest[None]) -> Response:
    """Return the addresses of the API, its token, its workspace, and the second workspace with its token."""
    served, other, *_ = request.world.workspaces()
    addresses = {"base_url": request.origin, "upload_url": f"{request.origin}/upload"}
    return data(addresses | asdict(served) | {"other_workspace": asdict(other)})


async def read_event(request: ApiRequest[None]) -> Response:
    """Return an event, by its name or id."""
    return data(show_event(find_document(request.world, "event", request.http.path_params["event"]), request))


async def read_room(request: ApiRequest[None]) -> Response:
    """Return a room, by its name or id."""
    return data(show_room(find_document(request.world, "room", request.http.path_params["room"])))


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/platform", read_platform),
    Endpoint("GET", "/_control/events/{event}", read_event),
    Endpoint("GET", "/_control/rooms/{room}", read_room),
)
