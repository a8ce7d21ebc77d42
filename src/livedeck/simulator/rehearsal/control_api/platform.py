"""Routes that show the platform to whoever rehearses: its addresses and tokens, an event, a room."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from livedeck.simulator.api.events import show_event
from livedeck.simulator.api.rooms import show_room
from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import ApiError, conflict
from livedeck.simulator.http import ApiRequest, Endpoint, data

MAX_NAMES = 20
"""Names in an error."""


async def read_platform(request: ApiRequest[None]) -> Response:
    """Return the addresses of the API, its token, its workspace, and the second workspace with its token."""
    served, other, *_ = request.world.workspaces()
    addresses = {"base_url": request.origin, "upload_url": f"{request.origin}/upload"}
    return data(addresses | asdict(served) | {"other_workspace": asdict(other)})


async def read_event(request: ApiRequest[None]) -> Response:
    """Return an event, by its name or id."""
    return data(show_event(_find(request, "event"), request))


async def read_room(request: ApiRequest[None]) -> Response:
    """Return a room, by its name or id."""
    return data(show_room(_find(request, "room")))


def _find(request: ApiRequest[None], kind: str) -> Document:
    """Return the event or room. Raises the documented error: 404 with the names there are, 409 with every id."""
    wanted, world = request.http.path_params[f"{kind}_id"], request.world
    rows = world.store.find_all(kind, world.workspaces()[0].workspace_id, order=[("name", "asc")])
    there = [row for row in rows if not row.get("deleted_at")]
    found = [row for row in there if wanted in {row["id"], row["name"]}]
    if not found:
        names = ", ".join(row["name"] for row in there[:MAX_NAMES]) or "none"
        raise ApiError(404, 404404, f'no {kind} is called "{wanted}": there are {names}')
    if len(found) > 1:
        raise conflict(f'several have the name "{wanted}", give an id: {", ".join(row["id"] for row in found)}')
    return found[0]


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/platform", read_platform),
    Endpoint("GET", "/_control/events/{event_id}", read_event),
    Endpoint("GET", "/_control/rooms/{room_id}", read_room),
)
