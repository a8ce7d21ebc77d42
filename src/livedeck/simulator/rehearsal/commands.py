"""What no participant may do and every rehearsal needs, as acts of one name: the admin door offers them, scenarios play
them. An act takes the world, the moment (epoch seconds), what it is done to, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from livedeck.simulator.api.event_changes import complete
from livedeck.simulator.api.events import stream_now
from livedeck.simulator.api.rooms import relay
from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.engine.content import Pace, paced
from livedeck.simulator.engine.encoder import SHAPES, EncoderState, current, timeline, turned
from livedeck.simulator.engine.faults import FAULT_EFFECTS, Fault, begun
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid, unknown
from livedeck.simulator.rules import BOOLEAN, Rules, choice, integer, needed, number, text

CommandArgs = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """`on` is the kind of document that it is done to (event, room), or empty; `run` answers what the door shows."""

    on: str
    parameters: Rules
    run: Callable[[World, float, Document, CommandArgs], Document]


def _encode(world: World, at: float, event: Document, asked: CommandArgs) -> Document:
    if not asked:
        raise invalid(("body", "needs sending, shape or both"))
    if not event["enabled"]:
        raise conflict("the event is not enabled")
    if event["stream"] is None or event["stream"]["status"] == "finished":
        raise conflict("the event has no stream that takes an encoder")
    turns = timeline(event["encoder"])
    before = current(turns, at) or EncoderState(at, "clean", sending=False)
    turn = EncoderState(at, asked.get("shape", before.shape), asked.get("sending", before.sending))
    world.store.change("event", event | {"encoder": turned(turns, turn)})
    return {"event_id": event["id"], "sending": turn.sending, "shape": turn.shape, "since": stamp_epoch(at)}


def _complete(world: World, at: float, event: Document, _asked: CommandArgs) -> Document:
    if not event["completed_at"]:
        complete(world, event, at)
    return {"event_id": event["id"], "completed": True}


def _restream(world: World, at: float, event: Document, asked: CommandArgs) -> Document:
    status = "connected" if asked["connected"] else "disconnected"
    moved = {"status": status, "updated_at": stamp_epoch(at)}
    fits = [row for row in event["restreams"] if asked["restream"] in {row["id"], row["name"], "*"}]
    if not fits:
        raise unknown()
    rows = [row | moved if row in fits else row for row in event["restreams"]]
    world.store.change("event", event | {"restreams": rows})
    return {"event_id": event["id"], "restreams": [row["id"] for row in fits], "status": status}


def _chat(world: World, at: float, event: Document, asked: CommandArgs) -> Document:
    world.store.change("event", event | {"chat": paced(event["chat"], Pace(at, asked["rate"]))})
    live = stream_now(event, at)
    return {"event_id": event["id"], "rate": asked["rate"], "stream_id": live and live["id"]}


def _relay(world: World, _at: float, room: Document, asked: CommandArgs) -> Document:
    profile = next((row for row in room["restreams"] if asked["restream"] in {row["id"], row["name"]}), None)
    if profile is None:
        raise unknown()
    relay(world, room, profile, running=asked["running"])
    return {"room_id": room["id"], "restream_id": profile["id"], "running": asked["running"]}


def _fault(world: World, at: float, _on: Document, asked: CommandArgs) -> Document:
    lasts = asked.pop("lasts", None)
    fault = begun(Fault(id=f"fault-{len(world.faults.all) + 1}-{int(at * 1000)}", **asked), at, lasts)
    world.faults.add(fault)
    return told(fault)


def _calm(world: World, _at: float, _on: Document, _asked: CommandArgs) -> Document:
    world.faults.remove()
    return {"faults": 0}


def told(fault: Fault) -> Document:
    """A fault as the door shows it."""
    shown = {name: getattr(fault, name) for name in ("id", "kind", "method", "path", "chance")}
    ends = None if fault.until > 1e12 else stamp_epoch(fault.until)
    return shown | {"since": stamp_epoch(fault.since), "until": ends}


_FAULT: Rules = {
    "kind": needed(choice(*FAULT_EFFECTS)),
    "method": choice("", "GET", "POST", "PUT", "PATCH", "DELETE"),
    "path": text(0, 255),
    "chance": number(0, 1),
    "lasts": number(0, 1e9),
    "status": integer(300, 599),
    "seconds": number(-1e6, 1e6),
    "retry_after": choice("none", "seconds", "date"),
}


COMMANDS: Mapping[str, Command] = {
    "encoder": Command("event", {"sending": BOOLEAN, "shape": choice(*SHAPES)}, _encode),
    "complete": Command("event", {}, _complete),
    "restream": Command("event", {"restream": needed(text(1, 255)), "connected": needed(BOOLEAN)}, _restream),
    "chat": Command("event", {"rate": needed(number(0, 10_000))}, _chat),
    "relay": Command("room", {"restream": needed(text(1, 128)), "running": needed(BOOLEAN)}, _relay),
    "fault": Command("", _FAULT, _fault),
    "calm": Command("", {}, _calm),
}

"""Every act by its name."""


def perform(world: World, name: str, at: float, on: Document, asked: CommandArgs) -> Document:
    """Do it, all of it or nothing. Raises the refusal that the state demands."""
    with world.store.transaction():
        return COMMANDS[name].run(world, at, on, asked)
