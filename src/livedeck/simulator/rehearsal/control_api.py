"""The admin door: what no participant may do and every rehearsal needs. Never part of the documented API."""

from __future__ import annotations

from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.api.rooms import find_profile, find_room
from livedeck.simulator.engine.clock import FASTEST, SimulatorClock, stamp
from livedeck.simulator.errors import invalid
from livedeck.simulator.http import Call, Endpoint, one, several
from livedeck.simulator.rehearsal import scenario, workspaces
from livedeck.simulator.rehearsal.commands import COMMANDS, perform, told
from livedeck.simulator.rules import BOOLEAN, MOMENT, choice, integer, needed, number


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


def _step(clock: SimulatorClock, seconds: float) -> None:
    try:
        clock.step(seconds)
    except ValueError as error:
        raise invalid(("step", f"must lead to {error}")) from None


def _clock(clock: SimulatorClock) -> dict[str, object]:
    return {"now": stamp(clock.now()), "speed": clock.speed, "paused": clock.paused}


async def set_encoder(call: Call) -> Response:
    """Start or stop the encoder of an event, or give it another shape, from now on; the past stays as it was."""
    return one(perform(call.world, "encoder", call.world.now(), find_event(call), await call.body()))


async def set_restream(call: Call) -> Response:
    """Connect or disconnect a restream of an event, by its name or id; * for all of them."""
    return one(perform(call.world, "restream", call.world.now(), find_event(call), await call.body()))


async def set_chat(call: Call) -> Response:
    """Let that many chat messages come a second, from now on."""
    return one(perform(call.world, "chat", call.world.now(), find_event(call), await call.body()))


async def set_relay(call: Call) -> Response:
    """Start or stop a relay of a room, as a participant does inside it; at most 5 run at once."""
    room = find_room(call)
    asked = {"restream": find_profile(call, room)["id"], "running": (await call.body())["running"]}
    return one(perform(call.world, "relay", call.world.now(), room, asked))


async def list_faults(call: Call) -> Response:
    """The faults in force."""
    now = call.world.now()
    return several([told(fault) for fault in call.world.faults.all if now < fault.until])


async def add_fault(call: Call) -> Response:
    """Let a fault strike requests: by method, path (with *), chance, and for how many seconds."""
    return one(perform(call.world, "fault", call.world.now(), {}, await call.body()))


async def remove_faults(call: Call) -> Response:
    """End every fault."""
    return one(perform(call.world, "calm", call.world.now(), {}, {}))


async def read_scenario(call: Call) -> Response:
    """Where the scenario stands, and the scenarios that there are."""
    return one(call.world.agenda.where(call.world.now()) | {"names": scenario.names()})


async def load_scenario(call: Call) -> Response:
    """Make the workspace of a scenario anew and play it from now on."""
    asked, world = await call.body(), call.world
    scenario.begin(world, scenario.load(asked["name"]), asked.get("seed", world.seed()))
    return one(world.agenda.where(world.now()))


async def reset(call: Call) -> Response:
    """Make the workspaces anew, as of now, from that seed or the one in use; ids and tokens stay, faults end."""
    world = call.world
    seed = (await call.body()).get("seed", world.seed())
    workspaces.found(world, seed, world.workspaces())
    world.faults.remove()
    world.agenda.begin(None)
    return one({"seed": seed, "start": stamp(world.clock.now())})


_CLOCK = {
    "jump": MOMENT,
    "step": number(-1e9, 1e9),
    "speed": number(0.001, FASTEST),
    "paused": BOOLEAN,
}


_SCENARIO = {"name": needed(choice(*scenario.names())), "seed": integer(0, 2**53)}


ENDPOINTS = (
    Endpoint("GET", "/_control", describe),
    Endpoint("GET", "/_control/", describe),
    Endpoint("GET", "/_control/clock", read_clock),
    Endpoint("POST", "/_control/clock", set_clock, _CLOCK),
    Endpoint("POST", "/_control/encoders/{event_id}", set_encoder, COMMANDS["encoder"].parameters),
    Endpoint("POST", "/_control/restreams/{event_id}", set_restream, COMMANDS["restream"].parameters),
    Endpoint("POST", "/_control/chats/{event_id}", set_chat, COMMANDS["chat"].parameters),
    Endpoint("POST", "/_control/relays/{room_id}/{restream_id}", set_relay, {"running": needed(BOOLEAN)}),
    Endpoint("GET", "/_control/faults", list_faults),
    Endpoint("POST", "/_control/faults", add_fault, COMMANDS["fault"].parameters),
    Endpoint("DELETE", "/_control/faults", remove_faults),
    Endpoint("GET", "/_control/scenario", read_scenario),
    Endpoint("POST", "/_control/scenario", load_scenario, _SCENARIO),
    Endpoint("POST", "/_control/reset", reset, {"seed": integer(0, 2**53)}),
)
