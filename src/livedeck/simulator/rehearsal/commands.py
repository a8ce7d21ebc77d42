"""Commands of a rehearsal beyond the documented API. The control API offers them, and scenarios play them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import ConfigDict

from livedeck.simulator.api.event_changes import complete
from livedeck.simulator.api.events import current_stream
from livedeck.simulator.api.rooms import run_relay
from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.engine.content import ChatRate, change_rate
from livedeck.simulator.engine.encoder import (
    MEASURED,
    RECORDED,
    EncoderState,
    change_state,
    current_state,
    encoder_states,
)
from livedeck.simulator.engine.identity import uuid_of
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid
from livedeck.simulator.models import UNSET, Boolean, RequestBody, Uuid, number, text
from livedeck.simulator.rehearsal.event_fields import EventFields, NewEventFields, create_event, set_fields
from livedeck.simulator.rehearsal.fault_arguments import FaultArguments, show_fault
from livedeck.simulator.rehearsal.naming import find_part, there_are

A = TypeVar("A", bound=RequestBody)


@dataclass(frozen=True, slots=True)
class Command(Generic[A]):
    """Named command for the control API and for scenarios.

    `target`: kind of document that it changes (event, room), or empty. `run`: carries it out; takes the world, the time
    (epoch seconds), that document and the arguments, and returns the response of the control API.
    """

    name: str
    target: str
    arguments: type[A]
    run: Callable[[World, float, Document, A], Document]


class NoArguments(RequestBody):
    """No arguments."""


class EncoderArguments(RequestBody):
    """State and shape of the encoder; an absent field stays as it is."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["sending"]}, {"required": ["shape"]}]})
    sending: Boolean = UNSET
    shape: Annotated[str, text(1, 64)] = UNSET


class SetArguments(RequestBody):
    """Fields that the event has from now on."""

    fields: EventFields


class CreateArguments(RequestBody):
    """Fields of a new event, and its id, which by default is derived from seed and name."""

    fields: NewEventFields
    event_id: Uuid = UNSET


class RestreamArguments(RequestBody):
    """Restream by its name or id, or * for all."""

    restream: Annotated[str, text(1, 255)]
    connected: Boolean


class ChatArguments(RequestBody):
    """Messages a second."""

    rate: Annotated[float, number(0, 10_000)]


class RelayArguments(RequestBody):
    """Relay profile by its name or id."""

    restream: Annotated[str, text(1, 128)]
    running: Boolean


def _set_encoder(world: World, at: float, event: Document, arguments: EncoderArguments) -> Document:
    changes = arguments.given()
    if not changes:
        raise invalid(("body", "needs sending, shape or both"))
    if changes.get("shape", "clean") not in world.encoders.shapes:
        raise invalid(
            ("shape", f'no shape is called "{arguments.shape}"; {there_are(world.encoders.shapes, arguments.shape)}')
        )
    return change_encoder(world, at, event, changes)


def change_encoder(world: World, at: float, event: Document, changes: Mapping[str, Any]) -> Document:
    """Change the encoder of an event. The shape of a real or recorded one becomes `clean` if `changes` has no shape.

    Raises the documented error if the event takes no encoder.
    """
    if not event["enabled"]:
        raise conflict(f'"{event["name"]}" is not enabled')
    if event["stream"] is None:
        raise conflict(f'"{event["name"]}" has no stream: schedule one, or give the event a `stream` in its workspace')
    if event["stream"]["status"] == "finished":
        raise conflict(f'the stream of "{event["name"]}" has ended')
    states = encoder_states(event["encoder"])
    before = current_state(states, at) or EncoderState(at, "clean", sending=False)
    shape = "clean" if before.shape in {MEASURED, RECORDED} else before.shape
    after = before._replace(**{"at": at, "shape": shape, **changes})
    world.store.update("event", event | {"encoder": change_state(states, after)})
    return {"event_id": event["id"], "sending": after.sending, "shape": after.shape, "since": format_epoch(at)}


def end_open_turns(world: World) -> None:
    """Stop each measured encoder without a publisher, at the time of its last sample.

    A killed process or a restored snapshot leaves encoders without a publisher.
    """
    for workspace in world.workspaces():
        for event in world.store.find_all("event", workspace.workspace_id):
            states = encoder_states(event["encoder"])
            if states and states[-1].shape == MEASURED and states[-1].sending and event["stream"]:
                last = world.encoders.measured.last_tick(event["stream"]["id"]) * world.encoders.cadence
                end = EncoderState(max(last, states[-1].at + 0.001), "clean", sending=False)
                world.store.update("event", event | {"encoder": change_state(states, end)})


def _complete(world: World, at: float, event: Document, _: NoArguments) -> Document:
    if event["completed_at"]:
        raise conflict(f'"{event["name"]}" is completed already')
    complete(world, event, at)
    return {"event_id": event["id"], "completed": True}


def _delete(world: World, _at: float, event: Document, _arguments: NoArguments) -> Document:
    world.store.delete("event", event["id"])
    return {"event_id": event["id"], "deleted": True}


def _set_fields(world: World, at: float, event: Document, arguments: SetArguments) -> Document:
    changes = arguments.fields.changes()
    set_fields(world, at, event, changes)
    return {"event_id": event["id"], "fields": [*changes]}


def _create(world: World, at: float, _: Document, arguments: CreateArguments) -> Document:
    fields = arguments.fields.changes()
    event_id = arguments.event_id or uuid_of(world.seed(), "created", fields["name"])
    if world.store.get("event", event_id):
        raise conflict(f"there is an event with the id {event_id} already")
    create_event(world, at, event_id, fields)
    return {"event_id": event_id}


def _set_restream(world: World, at: float, event: Document, arguments: RestreamArguments) -> Document:
    status = "connected" if arguments.connected else "disconnected"
    restreams, wanted = event["restreams"], arguments.restream
    named = restreams if wanted == "*" else [find_part(restreams, "restream", wanted, event["name"])]
    if not named:
        raise conflict(f'"{event["name"]}" has no restream')
    changes = {"status": status, "updated_at": format_epoch(at)}
    restreams = [row | changes if row in named else row for row in restreams]
    world.store.update("event", event | {"restreams": restreams})
    return {"event_id": event["id"], "restreams": [row["id"] for row in named], "status": status}


def _set_chat(world: World, at: float, event: Document, arguments: ChatArguments) -> Document:
    world.store.update("event", event | {"chat": change_rate(event["chat"], ChatRate(at, arguments.rate))})
    stream = current_stream(event, at)
    return {"event_id": event["id"], "rate": arguments.rate, "stream_id": stream and stream["id"]}


def _set_relay(world: World, _: float, room: Document, arguments: RelayArguments) -> Document:
    profile = find_part(room["restreams"], "relay profile", arguments.restream, room["name"])
    run_relay(world, room, profile, running=arguments.running)
    return {"room_id": room["id"], "restream_id": profile["id"], "running": arguments.running}


def _add_fault(world: World, at: float, _: Document, arguments: FaultArguments) -> Document:
    fault = arguments.fault(at)
    if any(fault.id == other.id and at < other.until for other in world.faults.active):
        raise conflict(f"the fault {fault.id} is in force: change it, or end it first")
    fault = world.faults.add(fault)
    return show_fault(fault, world.faults.counts(fault.id))


def _clear_faults(world: World, _at: float, _: Document, _arguments: NoArguments) -> Document:
    world.faults.clear()
    return {"faults": 0}


ENCODER = Command("encoder", "event", EncoderArguments, _set_encoder)
COMPLETE = Command("complete", "event", NoArguments, _complete)
DELETE = Command("delete", "event", NoArguments, _delete)
SET = Command("set", "event", SetArguments, _set_fields)
CREATE = Command("create", "", CreateArguments, _create)
RESTREAM = Command("restream", "event", RestreamArguments, _set_restream)
CHAT = Command("chat", "event", ChatArguments, _set_chat)
RELAY = Command("relay", "room", RelayArguments, _set_relay)
FAULT = Command("fault", "", FaultArguments, _add_fault)
CALM = Command("calm", "", NoArguments, _clear_faults)

COMMANDS: Mapping[str, Command[Any]] = {
    command.name: command for command in (ENCODER, COMPLETE, DELETE, SET, CREATE, RESTREAM, CHAT, RELAY, FAULT, CALM)
}
"""Every command by its name in scenarios."""


def run_command(world: World, command: Command[A], at: float, target: Document, arguments: A) -> Document:
    """Run the command completely or not at all. Raises the documented error if the state does not allow it."""
    with world.store.transaction():
        return command.run(world, at, target, arguments)
