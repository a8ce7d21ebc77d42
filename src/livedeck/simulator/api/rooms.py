"""Meeting rooms and their relay profiles (platform-api.md, 4, "Meeting rooms and relay profiles").

A room and its profiles are one document, so that they are made together or not at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.engine.identity import number_of
from livedeck.simulator.engine.reference import ADDRESS, NAMES, platform
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import Refusal, conflict, invalid, unknown
from livedeck.simulator.http import PAGING, Call, Endpoint, done, one, page
from livedeck.simulator.rules import UUID, Rule, Rules, choice, each, needed, nested, ordering, text

MOST_PROFILES = 15

"""Relay profiles of a room (platform-api.md, 8)."""


MOST_RUNNING = 5

"""Relays that run at once in a call (platform-api.md, 8)."""


TYPES = ("permanent_meeting", "instant_meeting")

STATUSES = ("pending", "scheduled", "active", "cancelled", "finished")


PROFILE = {
    "id": schema.UUID,
    "room_id": schema.UUID,
    "name": schema.TEXT,
    "url": schema.TEXT,
    "stream_key": schema.TEXT,
    "service": schema.words(*NAMES),
    "created_at": schema.MOMENT,
    "updated_at": schema.maybe(schema.MOMENT),
}

"""What the API shows of a relay profile, with its types; whether it broadcasts is known to the room alone."""


FIELDS = {
    "id": schema.UUID,
    "name": schema.TEXT,
    "type": schema.words(*TYPES),
    "code": schema.TEXT,
    "link": schema.TEXT,
    "status": schema.words(*STATUSES),
    "restreams": schema.many(schema.record(PROFILE)),
    "created_at": schema.MOMENT,
}

"""What the API shows of a room, with its types."""


def new_room(identity: str, name: str, kind: str, created_at: str) -> Document:
    """A room as it is stored, without profiles yet."""
    drawn = str(number_of("code", identity)).zfill(9)[-9:]
    code = f"{drawn[:3]}-{drawn[3:6]}-{drawn[6:]}"
    named = {"id": identity, "name": name, "type": kind, "code": code}
    state: Document = {"status": "pending", "restreams": [], "updated_at": None, "deleted_at": None}
    return named | state | {"link": f"https://meet.livedeck.example/{code}", "created_at": created_at}


def new_profile(identity: str, room: str, asked: Document, created_at: str) -> Document:
    """A relay profile as it is stored: `service` follows from the address."""
    named = {"id": identity, "room_id": room, "created_at": created_at, "updated_at": None}
    return named | asked | {"service": platform(asked["url"]), "broadcasting": False}


async def create_room(call: Call) -> Response:
    """Make a room with all its profiles, or nothing."""
    asked, world = await call.body(), call.world
    if not any((one.workspace_id, one.user_id) == (call.workspace, asked["owner_id"]) for one in world.workspaces()):
        raise invalid(("owner_id", "must be a user of the workspace"))
    with world.store.transaction():
        room = new_room(world.new_id(), asked["name"], asked.get("type", TYPES[0]), world.stamp())
        profiles = [new_profile(world.new_id(), room["id"], row, world.stamp()) for row in asked.get("restreams", ())]
        world.store.create("room", call.workspace, room | {"restreams": profiles})
    return one(_shown(room | {"restreams": profiles}))


async def list_rooms(call: Call) -> Response:
    """The rooms of the workspace, a page of them."""
    asked = call.query()
    where: list[tuple[str, str | tuple[str, ...] | None]] = [("deleted_at", None)]
    where += [(name, tuple(asked[f"{name}[]"])) for name in ("status", "type", "code") if f"{name}[]" in asked]
    query = call.search("room", [("created_at", "desc"), ("name", "asc")], where)
    query = replace(query, holds=[("name", asked["q"])] if "q" in asked else ())
    rooms, total = call.world.store.find(query)
    return page(query, total, [_shown(room) for room in rooms])


async def read_room(call: Call) -> Response:
    """One room with its profiles, in the order of their creation."""
    return one(_shown(find_room(call)))


async def delete_room(call: Call) -> Response:
    """End the room: everybody leaves, relays stop, the profiles are gone. A second time succeeds too."""
    room = _stored(call)
    if not room["deleted_at"]:
        ended = {"status": "finished", "restreams": [], "deleted_at": call.world.stamp()}
        call.world.store.change("room", room | ended)
    return done()


async def change_profile(call: Call) -> Response:
    """Change a relay profile; an absent field stays. Refused while it broadcasts, whatever the body says."""
    room = find_room(call)
    profile = find_profile(call, room)
    if profile["broadcasting"]:
        raise Refusal(409, 409298, "the relay is broadcasting and cannot be changed")
    asked = await call.body()
    changed = profile | asked | {"updated_at": call.world.stamp()}
    changed["service"] = platform(changed["url"])
    call.world.store.change("room", _with(room, changed))
    return one({name: changed[name] for name in PROFILE})


def relay(world: World, room: Document, profile: Document, *, running: bool) -> Document:
    """A participant starts or stops a relay; the profile after that. Raises the refusal for a sixth one."""
    others = sum(row["broadcasting"] for row in room["restreams"] if row["id"] != profile["id"])
    if running and others >= MOST_RUNNING:
        raise conflict(f"{MOST_RUNNING} relays run already")
    changed = profile | {"broadcasting": running}
    status = {"status": "active" if running or others else "pending"}
    world.store.change("room", _with(room, changed) | status)
    return changed


def find_room(call: Call) -> Document:
    """The room named in the path, of the caller's workspace. Raises the refusal where there is none any more."""
    room = _stored(call)
    if room["deleted_at"]:
        raise unknown()
    return room


def find_profile(call: Call, room: Document) -> Document:
    """The relay profile named in the path, of that room. Raises the refusal where the room has none such."""
    identity = call.identity("restream_id")
    for profile in room["restreams"]:
        if profile["id"] == identity:
            return dict(profile)
    raise unknown()


def _stored(call: Call) -> Document:
    room = call.world.store.get("room", call.identity("room_id"), call.workspace or None)
    if room is None:
        raise unknown()
    return room


def _with(room: Document, changed: Document) -> Document:
    return room | {"restreams": [changed if row["id"] == changed["id"] else row for row in room["restreams"]]}


def _shown(room: Document) -> Document:
    profiles = [{name: row[name] for name in PROFILE} for row in room["restreams"]]
    return {name: room[name] for name in FIELDS} | {"restreams": profiles}


def _few(value: Any) -> list[Document]:
    if isinstance(value, list) and len(value) > MOST_PROFILES:
        raise Refusal(400, 400289, f"a room has at most {MOST_PROFILES} relay profiles")
    return _PROFILES.take(value)  # type: ignore[no-any-return]


def _listed(*names: str) -> Rule:
    """Several values of a query, each one of those words; any where there are none."""
    says = f"among {', '.join(names)}" if names else "text"
    fine = text(1, 64) if not names else choice(*names)
    return Rule(says, lambda values: [fine.take(value) for value in values], schema.many(fine.schema))


# The length is all that the document limits: a name may be blank or hold control characters (platform-api.md, 8).
_PROFILE: Rules = {"name": text(1, 128), "url": ADDRESS, "stream_key": text(1, 512)}

_PROFILES = each(nested({name: needed(rule) for name, rule in _PROFILE.items()}), MOST_PROFILES)

_CREATE: Rules = {
    "owner_id": needed(UUID),
    "name": needed(text(1, 255)),
    "type": choice(*TYPES),
    "restreams": Rule(_PROFILES.says, _few, _PROFILES.schema),
}

_LIST: Rules = PAGING | {
    "order": ordering("name", "code", "type", "status", "created_at", "updated_at"),
    "status[]": _listed(*STATUSES),
    "type[]": _listed(*TYPES),
    "code[]": _listed(),
    "q": text(0, 255),
}


_PATH = "/v1/meet/rooms"

_ONE = f"{_PATH}/{{room_id}}"

_ROOM = schema.record(FIELDS)


ENDPOINTS = (
    Endpoint("POST", _PATH, create_room, _CREATE, schema.data(_ROOM), [400289]),
    Endpoint("GET", _PATH, list_rooms, _LIST, schema.paged(_ROOM)),
    Endpoint("GET", _ONE, read_room, answer=schema.data(_ROOM), refuses=[404404]),
    Endpoint("DELETE", _ONE, delete_room, answer=schema.DONE, refuses=[404404]),
    Endpoint(
        *("PATCH", f"{_ONE}/restreams/{{restream_id}}", change_profile, _PROFILE),
        answer=schema.data(schema.record(PROFILE)),
        refuses=[404404, 409298],
    ),
)
