"""Fields of an event as a platform reports them, which scenarios set and recordings contain."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from livedeck.simulator.api.events import (
    DEFAULTS,
    Event,
    EventRestream,
    EventSettings,
    EventType,
    Preset,
    Record,
    Schedule,
    Stream,
    Video,
    new_event,
)
from livedeck.simulator.engine.content import MESSAGES_PER_SECOND, ChatRate
from livedeck.simulator.engine.encoder import RECORDED, EncoderState, change_state, encoder_states
from livedeck.simulator.engine.identity import key_of
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.models import (
    UNSET,
    Boolean,
    OptionalTimestamp,
    OptionalUuid,
    RequestBody,
    Timestamp,
    Uuid,
    one_of,
    text,
)


class StreamFields(RequestBody):
    """Stream of an event."""

    of = Stream
    id: Uuid
    status: Annotated[str, one_of("pending", "live", "finished")]
    started_at: Timestamp
    finished_at: OptionalTimestamp = None


class RestreamFields(RequestBody):
    """Restream of an event. Without an address or key, it keeps its earlier ones, or gets new ones from the seed."""

    of = EventRestream
    id: Uuid
    name: Annotated[str, text(0, 255)]
    status: Annotated[str, one_of("connected", "disconnected")]
    enabled: Boolean = True
    description: Annotated[str, text(0, 2000)] = ""
    created_at: OptionalTimestamp = None
    updated_at: OptionalTimestamp = None


class RecordFields(RequestBody):
    """Project or folder for an event's recordings."""

    of = Record
    parent_id: OptionalUuid = None


class VideoFields(RequestBody):
    """Picture sizes of an event."""

    of = Video
    presets: Annotated[list[Preset], Field(max_length=100)] | None = None


class ScheduleFields(RequestBody):
    """Planned start of an event."""

    of = Schedule
    time: OptionalTimestamp = None


Name = Annotated[str, text(1, 255)]


class EventFields(EventSettings):
    """Fields of an event; an absent field stays as it is. `restreams` replaces all of them."""

    of = Event
    name: Name = UNSET
    parent_id: OptionalUuid = UNSET
    subtitle: Annotated[str, text(0, 255)] = UNSET
    type: EventType = UNSET
    record: RecordFields = UNSET
    video: VideoFields = UNSET
    restreams: Annotated[list[RestreamFields], Field(max_length=100)] = UNSET
    scheduled: ScheduleFields = UNSET
    stream: StreamFields | None = UNSET
    allow_chat_links: Boolean = UNSET
    created_at: Timestamp = UNSET
    updated_at: OptionalTimestamp = UNSET

    def changes(self) -> Document:
        """Return the given fields."""
        return {name: value for name, value in self.model_dump().items() if name in self.model_fields_set}


class NewEventFields(EventFields):
    """Fields of a new event."""

    name: Name

    def whole(self) -> Document:
        """Return every field, with the documented default where it was not given."""
        return {name: DEFAULTS[name] for name in type(self).model_fields if name in DEFAULTS} | self.changes()


def create_event(world: World, at: float, event_id: str, fields: Document) -> Document:
    """Add an event with these fields to the served workspace and return it."""
    workspace, seed = world.workspaces()[0].workspace_id, world.seed()
    key = key_of(seed, "streamkey", event_id)
    event = new_event(event_id, workspace, fields["name"], fields.get("created_at", world.timestamp()), key)
    event = _changed(world, at, event, fields)
    world.store.insert("event", workspace, event)
    return event


def set_fields(world: World, at: float, event: Document, fields: Document) -> None:
    """Replace fields of an event. If samples of its stream are recorded, its encoder sends them."""
    world.store.update("event", _changed(world, at, event, fields))


def _changed(world: World, at: float, event: Document, fields: Document) -> Document:
    changed: dict[str, Any] = event | fields
    if "restreams" in fields:
        restreams = {row["id"]: row for row in event["restreams"]}
        changed["restreams"] = [
            {**_restream(world, event, row["id"]), **restreams.get(row["id"], {}), **row} for row in fields["restreams"]
        ]
    stream, before = fields.get("stream"), event["stream"]
    if "stream" in fields and before and (stream is None or stream["id"] != before["id"]):
        changed["earlier"] = [*event["earlier"], before]
    if stream:
        states, is_over = encoder_states(event["encoder"]), stream["status"] == "finished"
        changed |= {
            "stream": {"event_id": event["id"]} | stream,
            "enabled": not is_over,
            "completed_at": stream["finished_at"] if is_over else None,
        }
        if world.store.has_recorded(stream["id"]) and (not states or states[-1].shape != RECORDED):
            changed["encoder"] = change_state(states, EncoderState(at if states else 0.0, RECORDED))
        if changed["chat_active"] and not event["chat"]:
            began = datetime.fromisoformat(stream["started_at"]).timestamp()
            changed["chat"] = [ChatRate(began, MESSAGES_PER_SECOND)]
    return changed


def _restream(world: World, event: Document, restream_id: str) -> Document:
    key = key_of(world.seed(), "restream", restream_id)
    return {"event_id": event["id"], "url": "rtmp://relay.livedeck.example/live", "key": key}
