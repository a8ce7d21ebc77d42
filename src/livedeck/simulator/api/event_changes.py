"""Live events and their streams made, changed, enabled, completed, moved, deleted, scheduled."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator import schema
from livedeck.simulator.api.chat import switched
from livedeck.simulator.api.events import EVENT, PRESETS, STREAM, find_event, new_event, present, reopened, stream_now
from livedeck.simulator.api.videos import recording
from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.encoder import EncoderState, timeline, turned
from livedeck.simulator.engine.identity import key_of
from livedeck.simulator.engine.reference import ADDRESS
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid, unknown
from livedeck.simulator.http import Call, Endpoint, done, one
from livedeck.simulator.rules import BOOLEAN, STAMP, UUID, Rules, choice, each, integer, maybe, needed, nested, text

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
        changed |= apply_draft(call, "parent_id", asked["parent_id"])
    if "record" in asked:
        apply_draft(call, "record.parent_id", asked["record"].get("parent_id"))
        changed["record"] = event["record"] | asked["record"]
    for name in {"scheduled", "video"} & asked.keys():
        changed[name] = event[name] | asked[name]
    if "restreams" in asked:
        changed["restreams"] = _restreams(call.world, event, asked["restreams"])
    if asked.get("chat_active", event["chat_active"]) != event["chat_active"]:
        changed["chat"] = switched(event["chat"], call.world.now(), on=asked["chat_active"])
    return changed


def apply_draft(call: Call, name: str, parent: str | None) -> Document:
    """Where an event of that parent stands. Raises the refusal for one that is not of the workspace."""
    if parent is None:
        return {"parent_id": None, "project_id": None, "folder_id": None}
    if call.world.store.get("project", parent, call.workspace):
        return {"parent_id": parent, "project_id": parent, "folder_id": None}
    folder = call.world.store.get("folder", parent, call.workspace)
    if folder is None:
        raise invalid((name, "must be a project or a folder of the workspace"))
    return {"parent_id": parent, "project_id": folder["project_id"], "folder_id": parent}


def _restreams(world: World, event: Document, drafts: list[Fields]) -> list[Document]:
    """The restreams from now on; one with the address and key of an earlier one stays that one."""
    before = [*event["restreams"]]
    return [_restream(world, event, {"description": "", "enabled": True} | draft, before) for draft in drafts]


def _restream(world: World, event: Document, draft: Fields, before: list[Document]) -> Document:
    """The restream of that draft: one of `before`, which is taken out of it, or a new one."""
    status = {"status": "connected" if draft["enabled"] else "disconnected"}
    same = next((row for row in before if (row["url"], row["key"]) == (draft["url"], draft["key"])), None)
    if same is None:
        made = {"id": world.new_id(), "event_id": event["id"]}
        return made | draft | status | {"created_at": world.stamp(), "updated_at": None}
    before.remove(same)
    if draft.items() <= same.items():
        return same
    changed = same | draft | {"updated_at": world.stamp()}
    return changed if draft["enabled"] == same["enabled"] else changed | status


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


DRAFTING = (
    Endpoint("POST", "/v2/live/events", create_event, _CREATE, EVENT),
    Endpoint("PUT", "/v2/live/events/{event_id}", update_event, _UPDATE, EVENT, [400404, 409409]),
)


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
        "encoder": turned(timeline(event["encoder"]), EncoderState(at, "clean", sending=False))
        if event["encoder"]
        else [],
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
    moved = event | apply_draft(call, "parent_id", asked["parent_id"]) | {"updated_at": call.world.stamp()}
    call.world.store.change("event", moved)
    return one(present(moved, call))


async def delete_event(call: Call) -> Response:
    """Delete the event for good; its recordings stay."""
    call.world.store.delete("event", find_event(call)["id"])
    return done()


_EVENT = "/v2/live/events/{event_id}"


LIFECYCLE = (
    Endpoint("PUT", f"{_EVENT}/enable", enable, answer=schema.DONE, refuses=[400404, 409409]),
    Endpoint("PUT", f"{_EVENT}/complete", finish, answer=schema.DONE, refuses=[400404]),
    Endpoint("PUT", f"{_EVENT}/move", move, {"parent_id": needed(UUID)}, EVENT, [400404]),
    Endpoint("DELETE", _EVENT, delete_event, answer=schema.DONE, refuses=[400404]),
)


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


STREAMS = (
    Endpoint("POST", _PATH, schedule, {"started_at": needed(STAMP)}, _ANSWER, [400404, 409409]),
    Endpoint("PUT", _PATH, reschedule, {"started_at": needed(STAMP)}, _ANSWER, [400404, 404404, 409409]),
)
