"""Changes of live events and their streams: create, update, enable, complete, move, delete, schedule."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field
from starlette.responses import Response

from livedeck.simulator.api.chat import switch_chat
from livedeck.simulator.api.events import (
    PRESETS,
    Event,
    EventRestream,
    EventSettings,
    EventType,
    Preset,
    Record,
    Schedule,
    Stream,
    Video,
    current_stream,
    find_event,
    new_event,
    reopen,
    show_event,
)
from livedeck.simulator.api.videos import new_recording
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.encoder import EncoderState, change_state, encoder_states
from livedeck.simulator.engine.identity import key_of
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid, not_found
from livedeck.simulator.http import ApiRequest, Endpoint, data, success
from livedeck.simulator.models import (
    UNSET,
    Boolean,
    Data,
    OptionalTimestamp,
    OptionalUuid,
    RequestBody,
    RtmpAddress,
    Schema,
    Success,
    Timestamp,
    Uuid,
    text,
)

Name = Annotated[str, text(1, 255)]
Subtitle = Annotated[str, text(0, 255)]


class ScheduleDraft(RequestBody):
    """Planned start of an event."""

    of = Schedule
    time: OptionalTimestamp = UNSET


class RecordDraft(RequestBody):
    """Project or folder for an event's recordings."""

    of = Record
    parent_id: OptionalUuid = UNSET


class VideoDraft(RequestBody):
    """Picture sizes to which the platform transcodes an event."""

    of = Video
    presets: Annotated[list[Preset], Field(max_length=len(PRESETS))] | None = UNSET


class RestreamDraft(RequestBody):
    """Restream of an event, identified by its address and key."""

    of = EventRestream
    name: Name
    url: RtmpAddress
    key: Annotated[str, text(1, 512)]
    description: Annotated[str, text(0, 2000)] = ""
    enabled: Boolean = True


class _EventDraft(EventSettings):
    """Fields common to creating and updating an event."""

    parent_id: OptionalUuid = UNSET
    scheduled: ScheduleDraft = UNSET
    record: RecordDraft = UNSET
    video: VideoDraft = UNSET
    restreams: Annotated[list[RestreamDraft], Field(max_length=50)] = UNSET


class EventCreate(_EventDraft):
    """New event."""

    of = Event
    name: Name
    type: EventType


def _not_both(*names: str) -> Schema:
    return {"not": {"required": [*names]}}


class EventUpdate(_EventDraft):
    """Changes of an event; an absent field stays as it is.

    For this request, the document calls the name `title` and the subtitle `description`. Each field is accepted under
    either of its names, but not under both.
    """

    of = Event
    model_config = ConfigDict(
        json_schema_extra={"allOf": [_not_both("name", "title"), _not_both("subtitle", "description")]}
    )
    name: Name = UNSET
    subtitle: Subtitle = UNSET
    title: Name = UNSET
    description: Subtitle = UNSET


class EventMove(RequestBody):
    """Project or folder to move an event to."""

    of = Event
    parent_id: Uuid


class StreamDraft(RequestBody):
    """Start of a stream."""

    of = Stream
    started_at: Timestamp


async def create_event(request: ApiRequest[EventCreate]) -> Response:
    """Create an event: a draft, without a stream."""
    draft, world = (await request.body()).given(), request.world
    with world.store.transaction():
        event_id = world.new_id()
        key = key_of(world.seed(), "streamkey", event_id)
        event = new_event(event_id, request.workspace_id, draft["name"], world.timestamp(), key)
        event = apply_draft(request, event | {"signal": world.draw()}, draft)
        world.store.insert("event", request.workspace_id, event)
    return data(show_event(event, request))


async def update_event(request: ApiRequest[EventUpdate]) -> Response:
    """Change an event; an absent field stays as it is."""
    event, draft = find_event(request), _rename_fields((await request.body()).given())
    if draft.get("scheduled", {}).get("time") not in {None, event["scheduled"]["time"]}:
        event = reopen(event)
    with request.world.store.transaction():
        event = apply_draft(request, event, draft) | {"updated_at": request.world.timestamp()}
        request.world.store.update("event", event)
    return data(show_event(event, request))


_FIELD_NAMES = {"title": "name", "description": "subtitle"}


def _rename_fields(draft: Document) -> Document:
    """Return the draft with the event's own field names."""
    for alias, name in _FIELD_NAMES.items():
        if alias in draft and name in draft:
            raise invalid((alias, f"must be left out if {name} is given"))
    return {_FIELD_NAMES.get(name, name): value for name, value in draft.items()}


def apply_draft(request: ApiRequest[Any], event: Document, draft: Document) -> Document:
    """Return the event with the fields of the draft. Raises the documented error for a parent of another workspace."""
    changed = event | draft
    for name in {"record", "scheduled", "video"} & draft.keys():
        changed[name] = event[name] | draft[name]
    if "parent_id" in draft:
        changed |= _place(request, "parent_id", draft["parent_id"])
    if "record" in draft:
        _place(request, "record.parent_id", changed["record"]["parent_id"])
    if "restreams" in draft:
        changed["restreams"] = _replace_restreams(request.world, event, draft["restreams"])
    if changed["chat_active"] != event["chat_active"]:
        changed["chat"] = switch_chat(event["chat"], request.world.now(), on=changed["chat_active"])
    return changed


def _place(request: ApiRequest[Any], name: str, parent_id: str | None) -> Document:
    """Return the ids of parent, project and folder for an event whose parent is `parent_id`.

    Raises the documented error if the workspace has no such project or folder.
    """
    if parent_id is None:
        return {"parent_id": None, "project_id": None, "folder_id": None}
    store = request.world.store
    if store.get("project", parent_id, request.workspace_id):
        return {"parent_id": parent_id, "project_id": parent_id, "folder_id": None}
    folder = store.get("folder", parent_id, request.workspace_id)
    if folder is None:
        raise invalid((name, "must be a project or a folder of the workspace"))
    return {"parent_id": parent_id, "project_id": folder["project_id"], "folder_id": parent_id}


def _replace_restreams(world: World, event: Document, drafts: list[Document]) -> list[Document]:
    """Return the restreams of `drafts`. A draft with the address and key of an earlier restream keeps its id."""
    before = [*event["restreams"]]
    return [_restream(world, event, {"description": "", "enabled": True} | draft, before) for draft in drafts]


def _restream(world: World, event: Document, draft: Document, before: list[Document]) -> Document:
    """Return the restream of `draft`: the one in `before` with its address and key, or a new one.

    Removes the one in `before`, so that no other draft matches it.
    """
    status = {"status": "connected" if draft["enabled"] else "disconnected"}
    same = next((row for row in before if (row["url"], row["key"]) == (draft["url"], draft["key"])), None)
    if same is None:
        fixed = {"id": world.new_id(), "event_id": event["id"], "created_at": world.timestamp(), "updated_at": None}
        return draft | status | fixed
    before.remove(same)
    if draft.items() <= same.items():
        return same
    changed = same | draft | {"updated_at": world.timestamp()}
    return changed if draft["enabled"] == same["enabled"] else changed | status


async def enable_event(request: ApiRequest[None]) -> Response:
    """Enable the event: it accepts streams, and viewers can watch it."""
    event = find_event(request)
    if event["completed_at"]:
        raise conflict("the event is completed")
    request.world.store.update("event", event | {"enabled": True, "updated_at": request.world.timestamp()})
    return success()


async def complete_event(request: ApiRequest[None]) -> Response:
    """Complete the event: its stream ends, ingest is refused, and a recording follows. The call may be repeated."""
    complete(request.world, find_event(request), request.world.now())
    return success()


def complete(world: World, event: Document, at: float) -> None:
    """Complete the event at `at` (epoch seconds): ingest ends. A completed event stays unchanged."""
    if event["completed_at"]:
        return
    stream, completed_at = current_stream(event, at), format_epoch(at)
    states = encoder_states(event["encoder"])
    changed = event | {
        "stream": stream and _finish(stream, completed_at),
        "completed_at": completed_at,
        "updated_at": completed_at,
        "encoder": change_state(states, EncoderState(at, "clean", sending=False)) if states else (),
    }
    with world.store.transaction():
        world.store.update("event", changed)
        if stream is not None and stream["status"] == "live":
            world.store.insert("video", event["workspace_id"], new_recording(world, event, stream, at))


def _finish(stream: Document, at: str) -> Document:
    if stream["status"] == "finished":
        return stream
    return stream | {"status": "finished", "started_at": min(stream["started_at"], at), "finished_at": at}


async def move_event(request: ApiRequest[EventMove]) -> Response:
    """Move the event to another project or folder."""
    event, draft = find_event(request), await request.body()
    event |= _place(request, "parent_id", draft.parent_id) | {"updated_at": request.world.timestamp()}
    request.world.store.update("event", event)
    return data(show_event(event, request))


async def delete_event(request: ApiRequest[None]) -> Response:
    """Delete the event for good; its recordings stay."""
    request.world.store.delete("event", find_event(request)["id"])
    return success()


async def schedule_stream(request: ApiRequest[StreamDraft]) -> Response:
    """Schedule a stream: once for a one-time event, again after each stream's end for a recurring event."""
    event, draft, world = find_event(request), await request.body(), request.world
    event = reopen(event)
    before = current_stream(event, world.now())
    if before is not None and before["status"] != "finished":
        raise conflict(f"the event has a stream that is {before['status']}")
    with world.store.transaction():
        fixed = {"id": world.new_id(), "event_id": event["id"], "status": "pending", "finished_at": None}
        stream = Stream.show(draft.given() | fixed)
        event |= {"stream": stream, "encoder": []}
        if before is not None:
            event["earlier"] = [*event.get("earlier", ()), before]
        world.store.update("event", event)
    return data(stream)


async def reschedule_stream(request: ApiRequest[StreamDraft]) -> Response:
    """Move the current stream to another time, as long as it has not begun."""
    event, draft = find_event(request), await request.body()
    stream = current_stream(reopen(event), request.world.now())
    if stream is None:
        raise not_found()
    if stream["status"] != "pending":
        raise conflict(f"the stream is {stream['status']}")
    stream |= draft.given()
    request.world.store.update("event", event | {"stream": stream})
    return data(stream)


_LIST = "/v2/live/events"
_ITEM = f"{_LIST}/{{event_id}}"
_STREAM = f"{_ITEM}/stream"
_COMPLETED = {409409: "the event is completed"}
_UNFINISHED = {409409: "the event is completed, or it has a stream that is pending or live"}
_BEGUN = {409409: "the event is completed, or its stream is live or finished"}

ENDPOINTS = (
    Endpoint("POST", _LIST, create_event, EventCreate, Data[Event]),
    Endpoint("PUT", _ITEM, update_event, EventUpdate, Data[Event], [400404], conflicts=_COMPLETED),
    Endpoint("PUT", f"{_ITEM}/enable", enable_event, None, Data[Success], [400404], conflicts=_COMPLETED),
    Endpoint("PUT", f"{_ITEM}/complete", complete_event, None, Data[Success], [400404]),
    Endpoint("PUT", f"{_ITEM}/move", move_event, EventMove, Data[Event], [400404]),
    Endpoint("DELETE", _ITEM, delete_event, None, Data[Success], [400404]),
    Endpoint("POST", _STREAM, schedule_stream, StreamDraft, Data[Stream], [400404], conflicts=_UNFINISHED),
    Endpoint("PUT", _STREAM, reschedule_stream, StreamDraft, Data[Stream], [400404, 404404], conflicts=_BEGUN),
)
