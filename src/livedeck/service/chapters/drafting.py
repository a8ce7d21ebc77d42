"""Live events made and changed (platform-api.md, 4, "Create event request fields"; decisions.md, "Update event")."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.service.chapters.chat import switched
from livedeck.service.chapters.events import EVENT, PRESETS, find_event, new_event, present, reopened
from livedeck.service.errors import invalid
from livedeck.service.exchange import Call, Endpoint, one
from livedeck.service.identity import key_of
from livedeck.service.platforms import ADDRESS
from livedeck.service.rules import BOOLEAN, STAMP, UUID, Rules, choice, each, integer, maybe, needed, nested, text
from livedeck.service.store import Document
from livedeck.service.world import World

Fields = dict[str, Any]


async def create_event(call: Call) -> Response:
    """Make an event: a draft, without a stream."""
    asked, world = await call.body(), call.world
    with world.store.transaction():
        identity = world.new_id()
        key = key_of(world.seed(), "streamkey", identity)
        event = new_event(identity, call.workspace, asked["name"], world.stamp(), key) | {"signal": world.draw()}
        event = _changed(call, event, asked)
        world.store.create("event", call.workspace, event)
    return one(present(event, call))


async def update_event(call: Call) -> Response:
    """Change an event; an absent field stays."""
    event, asked = find_event(call), _renamed(await call.body())
    with call.world.store.transaction():
        event = _changed(call, _timed(event, asked), asked) | {"updated_at": call.world.stamp()}
        call.world.store.change("event", event)
    return one(present(event, call))


def _renamed(asked: Fields) -> Fields:
    """The document speaks of `title` and `description` where an event has `name` and `subtitle`: the same by either."""
    for word, name in _WORDS.items():
        if word in asked and name in asked:
            raise invalid((word, f"must be left out where {name} is given"))
    return {_WORDS.get(name, name): value for name, value in asked.items()}


def _timed(event: Document, asked: Fields) -> Document:
    """The event, open for a new time. Raises the refusal for a completed one; the time that it has is no news."""
    time = asked.get("scheduled", {}).get("time")
    return event if time in {None, event["scheduled"]["time"]} else reopened(event)


def _changed(call: Call, event: Document, asked: Fields) -> Document:
    """The event with those fields. Raises the refusal for a parent that is not of this workspace."""
    changed = event | {name: value for name, value in asked.items() if name not in {"record", "restreams", "parent_id"}}
    if "parent_id" in asked:
        changed |= stand(call, "parent_id", asked["parent_id"])
    if "record" in asked:
        stand(call, "record.parent_id", asked["record"].get("parent_id"))
        changed["record"] = event["record"] | asked["record"]
    for name in {"scheduled", "video"} & asked.keys():
        changed[name] = event[name] | asked[name]
    if "restreams" in asked:
        changed["restreams"] = _restreams(call.world, event, asked["restreams"])
    if asked.get("chat_active", event["chat_active"]) != event["chat_active"]:
        changed["chat"] = switched(event["chat"], call.world.now(), on=asked["chat_active"])
    return changed


def stand(call: Call, name: str, parent: str | None) -> Document:
    """Where an event of that parent stands. Raises the refusal for one that is not of the workspace."""
    if parent is None:
        return {"parent_id": None, "project_id": None, "folder_id": None}
    if call.world.store.get("project", parent, call.workspace):
        return {"parent_id": parent, "project_id": parent, "folder_id": None}
    folder = call.world.store.get("folder", parent, call.workspace)
    if folder is None:
        raise invalid((name, "must be a project or a folder of the workspace"))
    return {"parent_id": parent, "project_id": folder["project_id"], "folder_id": parent}


def _restreams(world: World, event: Document, asked: list[Fields]) -> list[Document]:
    """The restreams from now on; one with the address and key of an earlier one stays that one."""
    known = {(row["url"], row["key"]): row for row in event["restreams"]}
    return [_restream(world, event, row, known.pop((row["url"], row["key"]), None)) for row in asked]


def _restream(world: World, event: Document, asked: Fields, known: Document | None) -> Document:
    now, enabled = world.stamp(), asked.get("enabled", True)
    if known is not None:
        status = known["status"] if enabled == known["enabled"] else _status(enabled=enabled)
        return known | {"description": ""} | asked | {"status": status, "updated_at": now}
    made = {"id": world.new_id(), "event_id": event["id"], "description": "", "enabled": True}
    return made | asked | {"status": _status(enabled=enabled), "created_at": now, "updated_at": None}


def _status(*, enabled: bool) -> str:
    return "connected" if enabled else "disconnected"


_RESTREAM: Rules = {
    "name": needed(text(1, 255)),
    "url": needed(ADDRESS),
    "key": needed(text(1, 512)),
    "description": text(0, 2000),
    "enabled": BOOLEAN,
}

_CHANGES: Rules = {
    "name": text(1, 255),
    "parent_id": maybe(UUID),
    "auto_start": BOOLEAN,
    "protected": BOOLEAN,
    "time_shift": BOOLEAN,
    "reconnect_window": integer(0, 86_400),
    "scheduled": nested({"time": maybe(STAMP)}),
    "record": nested({"parent_id": maybe(UUID)}),
    "video": nested({"presets": maybe(each(choice(*PRESETS), len(PRESETS)))}),
    "restreams": each(nested(_RESTREAM), 50),
    "latency_mode": choice("standard", "reduced"),
    "show_members": BOOLEAN,
    "chat_active": BOOLEAN,
    "chat_after_stream": BOOLEAN,
    "chat_preview": BOOLEAN,
}

_WORDS = {"title": "name", "description": "subtitle"}
_UPDATE: Rules = _CHANGES | {"subtitle": text(0, 255), "title": _CHANGES["name"], "description": text(0, 255)}
_CREATE: Rules = _CHANGES | {"name": needed(_CHANGES["name"]), "type": needed(choice("one-time", "recurring"))}

ENDPOINTS = (
    Endpoint("POST", "/v2/live/events", create_event, _CREATE, EVENT),
    Endpoint("PUT", "/v2/live/events/{event_id}", update_event, _UPDATE, EVENT, [400404, 409409]),
)
