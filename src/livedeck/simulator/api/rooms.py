"""Meeting rooms and their relay profiles (platform-api.md, "Meeting rooms and relay profiles").

A room and its profiles are one document, so that they are created together or not at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from starlette.responses import Response
from typing_extensions import TypeAliasType

from livedeck.simulator.engine.identity import number_of
from livedeck.simulator.engine.reference import PLATFORMS, platform_of
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError, conflict, invalid, not_found
from livedeck.simulator.http import ApiRequest, Endpoint, data, page, select, success
from livedeck.simulator.models import (
    UNSET,
    ApiObject,
    Data,
    ListQuery,
    Must,
    OptionalTimestamp,
    Order,
    Page,
    RequestBody,
    RtmpAddress,
    Success,
    Timestamp,
    Uuid,
    one_of,
    ordering,
    text,
)

MAX_PROFILES = 15
"""Maximum number of relay profiles of a room (platform-api.md, "Limits")."""

MAX_RUNNING = 5
"""Maximum number of relays of a room that run at once (platform-api.md, "Limits")."""

TYPES = ("permanent_meeting", "instant_meeting")
STATUSES = ("pending", "scheduled", "active", "cancelled", "finished")
RoomType = TypeAliasType("RoomType", Annotated[str, one_of(*TYPES)])
RoomStatus = TypeAliasType("RoomStatus", Annotated[str, one_of(*STATUSES)])


class RelayProfile(ApiObject):
    """Relay profile in the API's form; only the room shows whether it broadcasts."""

    id: Uuid
    room_id: Uuid
    name: str
    url: str
    stream_key: str
    service: Annotated[str, one_of(*PLATFORMS)]
    created_at: Timestamp
    updated_at: OptionalTimestamp


class Room(ApiObject):
    """Room in the API's form."""

    id: Uuid
    name: str
    type: RoomType
    code: str
    link: str
    status: RoomStatus
    restreams: list[RelayProfile]
    created_at: Timestamp


# The document limits the length only: a name may be blank or contain control characters (platform-api.md, "Limits").
ProfileName = Annotated[str, text(1, 128)]
StreamKey = Annotated[str, text(1, 512)]


class ProfileUpdate(RequestBody):
    """Changes of a relay profile; an absent field stays as it is."""

    of = RelayProfile
    name: ProfileName = UNSET
    url: RtmpAddress = UNSET
    stream_key: StreamKey = UNSET


class ProfileCreate(RequestBody):
    """Relay profile of a new room."""

    of = RelayProfile
    name: ProfileName
    url: RtmpAddress
    stream_key: StreamKey


def _limit_profiles(profiles: Any) -> Any:
    """Raise the documented error for too many profiles, before any profile is validated."""
    if isinstance(profiles, list) and len(profiles) > MAX_PROFILES:
        raise ApiError(400, 400289, f"a room has at most {MAX_PROFILES} relay profiles")
    return profiles


class RoomCreate(RequestBody):
    """New room with its profiles."""

    of = Room
    owner_id: Uuid
    name: Annotated[str, text(1, 255)]
    type: RoomType = TYPES[0]
    restreams: Annotated[list[ProfileCreate], Field(max_length=MAX_PROFILES), BeforeValidator(_limit_profiles)] = UNSET


class RoomList(ListQuery):
    """Query of the list of rooms. A field may have several allowed values; `q` is a part of the name."""

    order: Annotated[Order, ordering("name", "code", "type", "status", "created_at", "updated_at")] = (
        ("created_at", "desc"),
        ("name", "asc"),
    )
    status: Annotated[list[RoomStatus], Must(f"among {', '.join(STATUSES)}")] = Field(alias="status[]", default=UNSET)
    type: Annotated[list[RoomType], Must(f"among {', '.join(TYPES)}")] = Field(alias="type[]", default=UNSET)
    code: Annotated[list[Annotated[str, text(1, 64)]], Must("text")] = Field(alias="code[]", default=UNSET)
    q: Annotated[str, text(0, 255)] = ""


def new_room(room_id: str, name: str, room_type: str, created_at: str) -> Document:
    """Return the stored form of a room without profiles."""
    digits = str(number_of("code", room_id)).zfill(9)[-9:]
    code = f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"
    fields = {"id": room_id, "name": name, "type": room_type, "code": code}
    state: Document = {"status": "pending", "restreams": [], "updated_at": None, "deleted_at": None}
    return fields | state | {"link": f"https://meet.livedeck.example/{code}", "created_at": created_at}


def new_profile(profile_id: str, room_id: str, draft: Document, created_at: str) -> Document:
    """Return the stored form of a relay profile; `service` follows from the address."""
    fixed = {"id": profile_id, "room_id": room_id, "created_at": created_at, "updated_at": None}
    return draft | fixed | {"service": platform_of(draft["url"]), "broadcasting": False}


async def create_room(request: ApiRequest[RoomCreate]) -> Response:
    """Create a room with all its profiles, or nothing."""
    draft, world = await request.body(), request.world
    owners = {workspace.user_id for workspace in world.workspaces() if workspace.workspace_id == request.workspace_id}
    if draft.owner_id not in owners:
        raise invalid(("owner_id", "must be a user of the workspace"))
    with world.store.transaction():
        room = new_room(world.new_id(), draft.name, draft.type, world.timestamp())
        for profile in draft.restreams or ():
            room["restreams"].append(new_profile(world.new_id(), room["id"], profile.given(), world.timestamp()))
        world.store.insert("room", request.workspace_id, room)
    return data(show_room(room))


async def list_rooms(request: ApiRequest[RoomList]) -> Response:
    """List the rooms of the workspace, one page at a time."""
    listing = request.query()
    values = {"status": listing.status, "type": listing.type, "code": listing.code}
    where = [(name, tuple(values[name])) for name in values if values[name] is not None]
    query = replace(select(request, "room", [("deleted_at", None), *where]), contains=[("name", listing.q)])
    rooms, total = request.world.store.find(query)
    return page(query, total, [show_room(room) for room in rooms])


async def read_room(request: ApiRequest[None]) -> Response:
    """Return one room with its profiles, in the order of their creation."""
    return data(show_room(find_room(request)))


async def delete_room(request: ApiRequest[None]) -> Response:
    """End the room: everybody leaves, relays stop, profiles are deleted. A second call succeeds too."""
    room = _find_stored(request)
    if not room["deleted_at"]:
        ended = {"status": "finished", "restreams": [], "deleted_at": request.world.timestamp()}
        request.world.store.update("room", room | ended)
    return success()


async def update_profile(request: ApiRequest[ProfileUpdate]) -> Response:
    """Change a relay profile; an absent field stays as it is. Refused while the profile broadcasts."""
    room = find_room(request)
    profile = find_profile(request, room)
    if profile["broadcasting"]:
        raise ApiError(409, 409298, _LOCKED[409298])
    draft = await request.body()
    profile |= draft.given() | {"updated_at": request.world.timestamp()}
    profile["service"] = platform_of(profile["url"])
    request.world.store.update("room", _replace_profile(room, profile))
    return data(RelayProfile.show(profile))


def run_relay(world: World, room: Document, profile: Document, *, running: bool) -> None:
    """Start or stop a relay, as a participant does. Raises the documented error for a sixth running relay."""
    others = sum(other["broadcasting"] for other in room["restreams"] if other["id"] != profile["id"])
    if running and others >= MAX_RUNNING:
        raise conflict(f"{MAX_RUNNING} relays run already")
    status = {"status": "active" if running or others else "pending"}
    world.store.update("room", _replace_profile(room, profile | {"broadcasting": running}) | status)


def find_room(request: ApiRequest[Any]) -> Document:
    """Return the caller's room whose id is in the request path. Raises the documented error if it was deleted."""
    room = _find_stored(request)
    if room["deleted_at"]:
        raise not_found()
    return room


def find_profile(request: ApiRequest[Any], room: Document) -> Document:
    """Return the room's relay profile whose id is in the request path. Raises the documented error if it is missing."""
    profile_id = request.path_id("restream_id")
    for profile in room["restreams"]:
        if profile["id"] == profile_id:
            return dict(profile)
    raise not_found()


def _find_stored(request: ApiRequest[Any]) -> Document:
    room = request.world.store.get("room", request.path_id("room_id"), request.workspace_id or None)
    if room is None:
        raise not_found()
    return room


def _replace_profile(room: Document, profile: Document) -> Document:
    return room | {"restreams": [profile if row["id"] == profile["id"] else row for row in room["restreams"]]}


def show_room(room: Document) -> Document:
    """Return the API's current form of the room."""
    return Room.show(room) | {"restreams": [RelayProfile.show(profile) for profile in room["restreams"]]}


_LIST = "/v1/meet/rooms"
_ITEM = f"{_LIST}/{{room_id}}"
_PROFILE = f"{_ITEM}/restreams/{{restream_id}}"

_LOCKED = {409298: "the relay is broadcasting and cannot be changed"}

ENDPOINTS = (
    Endpoint("POST", _LIST, create_room, RoomCreate, Data[Room], [400289]),
    Endpoint("GET", _LIST, list_rooms, RoomList, Page[Room]),
    Endpoint("GET", _ITEM, read_room, None, Data[Room], [404404]),
    Endpoint("DELETE", _ITEM, delete_room, None, Data[Success], [404404]),
    Endpoint("PATCH", _PROFILE, update_profile, ProfileUpdate, Data[RelayProfile], [404404], conflicts=_LOCKED),
)
