"""The admin door: what no participant may do and every rehearsal needs. Never part of the documented API."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.service import demo
from livedeck.service.chapters.events import find_event
from livedeck.service.chapters.rooms import find_profile, find_room, relay
from livedeck.service.clock import FASTEST, ServiceClock, stamp, stamp_epoch
from livedeck.service.encoder import Turn, current, timeline, turned
from livedeck.service.errors import conflict, invalid
from livedeck.service.exchange import Call, Endpoint, one
from livedeck.service.rules import BOOLEAN, MOMENT, choice, integer, needed, number
from livedeck.service.signal import SHAPES


async def describe(call: Call) -> Response:  # noqa: ARG001  every handler has this shape
    """What this door can do."""
    return one({"routes": [_described(endpoint) for endpoint in ENDPOINTS]})


def _described(endpoint: Endpoint) -> dict[str, object]:
    return {
        "method": endpoint.method,
        "path": endpoint.path,
        "does": (endpoint.handler.__doc__ or "").strip(),
        "parameters": {name: rule.says for name, rule in endpoint.named.items()},
    }


async def read_clock(call: Call) -> Response:
    """The service's time, how fast it runs, and whether it stands still."""
    return one(_clock(call.world.clock))


async def set_clock(call: Call) -> Response:
    """Move the clock: jump to a moment, step by seconds, change the speed, pause or go on; in that order."""
    asked, clock = await call.body(), call.world.clock
    if "jump" in asked:
        clock.jump(asked["jump"])
    if "step" in asked:
        _step(clock, asked["step"])
    if "speed" in asked:
        clock.run(asked["speed"])
    if "paused" in asked:
        (clock.pause if asked["paused"] else clock.resume)()
    return one(_clock(clock))


def _step(clock: ServiceClock, seconds: float) -> None:
    try:
        clock.step(seconds)
    except ValueError as error:
        raise invalid(("step", f"must lead to {error}")) from None


def _clock(clock: ServiceClock) -> dict[str, object]:
    return {"now": stamp(clock.now()), "speed": clock.speed, "paused": clock.paused}


async def set_encoder(call: Call) -> Response:
    """Start or stop the encoder of an event, or give it another shape, from now on; the past stays as it was."""
    event, asked = find_event(call), await call.body()
    if not asked:
        raise invalid(("body", "needs sending, shape or both"))
    if not event["enabled"]:
        raise conflict("the event is not enabled")
    if event["stream"] is None or event["stream"]["status"] == "finished":
        raise conflict("the event has no stream that takes an encoder")
    now, turns = call.world.now(), timeline(event["encoder"])
    before = current(turns, now) or Turn(now, "clean", sending=False)
    turn = Turn(now, asked.get("shape", before.shape), asked.get("sending", before.sending))
    with call.world.store.transaction():
        call.world.store.change("event", event | {"encoder": turned(turns, turn)})
    return one({"event_id": event["id"], "sending": turn.sending, "shape": turn.shape, "since": stamp_epoch(now)})


async def set_relay(call: Call) -> Response:
    """Start or stop a relay of a room, as a participant does inside it; at most 5 run at once."""
    room = find_room(call)
    profile, asked = find_profile(call, room), await call.body()
    profile = relay(call.world, room, profile, running=asked["running"])
    return one({"room_id": room["id"], "restream_id": profile["id"], "running": profile["broadcasting"]})


async def reset(call: Call) -> Response:
    """Make the workspaces anew, as of now, from that seed or the one in use; their ids and tokens stay."""
    world = call.world
    seed = (await call.body()).get("seed", world.seed())
    demo.found(world, seed, world.workspaces())
    return one({"seed": seed, "start": stamp(world.clock.now())})


_CLOCK = {
    "jump": MOMENT,
    "step": number(-1e9, 1e9),
    "speed": number(0.001, FASTEST),
    "paused": BOOLEAN,
}

ENDPOINTS = (
    Endpoint("GET", "/_control", describe),
    Endpoint("GET", "/_control/", describe),
    Endpoint("GET", "/_control/clock", read_clock),
    Endpoint("POST", "/_control/clock", set_clock, _CLOCK),
    Endpoint("POST", "/_control/encoders/{event_id}", set_encoder, {"sending": BOOLEAN, "shape": choice(*SHAPES)}),
    Endpoint("POST", "/_control/relays/{room_id}/{restream_id}", set_relay, {"running": needed(BOOLEAN)}),
    Endpoint("POST", "/_control/reset", reset, {"seed": integer(0, 2**53)}),
)
