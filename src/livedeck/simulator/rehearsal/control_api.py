"""Control API: rehearsal functions that participants do not have. Never part of the documented API."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.api.rooms import find_profile, find_room
from livedeck.simulator.engine.clock import MAX_SPEED, SimulatorClock, format_timestamp
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict, invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, RequestBody, Time, integer, number, one_of
from livedeck.simulator.rehearsal import commands, scenario, workspaces
from livedeck.simulator.rehearsal.commands import run_command, show_fault

Seed = Annotated[int, integer(0, 2**53)]


class ClockChange(RequestBody):
    """Changes of the clock."""

    jump: Time = UNSET
    step: Annotated[float, number(-1e9, 1e9)] = UNSET
    speed: Annotated[float, number(0.001, MAX_SPEED)] = UNSET
    paused: Boolean = UNSET


class RelayChange(RequestBody):
    """State of the relay."""

    running: Boolean


class ScenarioChoice(RequestBody):
    """Scenario to play, the seed of its workspace, and `force` to replace a kept workspace."""

    name: Annotated[str, one_of(*scenario.names())]
    seed: Seed = UNSET
    force: Boolean = False


class ResetRequest(RequestBody):
    """Seed of the new workspaces, and `force` to replace kept ones."""

    seed: Seed = UNSET
    force: Boolean = False


async def describe(_: ApiRequest[None]) -> Response:
    """List the routes of the control API."""
    return data({"routes": [_describe(endpoint) for endpoint in ENDPOINTS]})


def _describe(endpoint: Endpoint[Any]) -> dict[str, object]:
    fields = endpoint.takes.model_json_schema()["properties"] if endpoint.takes else {}
    return {
        "method": endpoint.method,
        "path": endpoint.path,
        "does": (endpoint.handler.__doc__ or "").strip(),
        "parameters": {name: schema["description"] for name, schema in fields.items()},
    }


async def read_clock(request: ApiRequest[None]) -> Response:
    """Return the simulator's time, its speed, and whether it is paused."""
    return data(_show_clock(request.world.clock))


async def set_clock(request: ApiRequest[ClockChange]) -> Response:
    """Change the clock: jump to a time, step by seconds, change the speed, pause or resume; in this order."""
    change, clock = (await request.body()).given(), request.world.clock
    if "jump" in change:
        clock.jump(change["jump"])
    if "step" in change:
        _step(clock, change["step"])
    if "speed" in change:
        clock.run(change["speed"])
    if "paused" in change:
        (clock.pause if change["paused"] else clock.resume)()
    return data(_show_clock(clock))


def _step(clock: SimulatorClock, seconds: float) -> None:
    try:
        clock.step(seconds)
    except ValueError as error:
        raise invalid(("step", f"must lead to {error}")) from None


def _show_clock(clock: SimulatorClock) -> dict[str, object]:
    return {"now": format_timestamp(clock.now()), "speed": clock.speed, "paused": clock.paused}


async def set_encoder(request: ApiRequest[commands.EncoderArguments]) -> Response:
    """Start or stop the encoder of an event, or change its shape, from now on; the past stays."""
    event, world = find_event(request), request.world
    return data(run_command(world, commands.ENCODER, world.now(), event, await request.body()))


async def set_restream(request: ApiRequest[commands.RestreamArguments]) -> Response:
    """Connect or disconnect a restream of an event, by its name or id; * for all."""
    event, world = find_event(request), request.world
    return data(run_command(world, commands.RESTREAM, world.now(), event, await request.body()))


async def set_chat(request: ApiRequest[commands.ChatArguments]) -> Response:
    """Set the chat messages a second, from now on."""
    event, world = find_event(request), request.world
    return data(run_command(world, commands.CHAT, world.now(), event, await request.body()))


async def set_relay(request: ApiRequest[RelayChange]) -> Response:
    """Start or stop a relay of a room, like a participant inside it; at most 5 run at once."""
    room, world = find_room(request), request.world
    profile_id, change = find_profile(request, room)["id"], await request.body()
    arguments = commands.RelayArguments(restream=profile_id, running=change.running)
    return data(run_command(world, commands.RELAY, world.now(), room, arguments))


async def list_faults(request: ApiRequest[None]) -> Response:
    """List the faults in force."""
    now = request.world.now()
    return data([show_fault(fault) for fault in request.world.faults.active if now < fault.until])


async def add_fault(request: ApiRequest[commands.FaultArguments]) -> Response:
    """Add a fault that hits requests: by method, path (with *), chance, and for how many seconds."""
    world = request.world
    return data(run_command(world, commands.FAULT, world.now(), {}, await request.body()))


async def clear_faults(request: ApiRequest[None]) -> Response:
    """End every fault."""
    world = request.world
    return data(run_command(world, commands.CALM, world.now(), {}, commands.NoArguments()))


async def read_scenario(request: ApiRequest[None]) -> Response:
    """Return the position of the scenario, and the names of all scenarios."""
    return data(request.world.timeline.progress(request.world.now()) | {"names": scenario.names()})


async def load_scenario(request: ApiRequest[ScenarioChoice]) -> Response:
    """Create the workspace of a scenario and play it from now on. With a data file it needs "force": true."""
    choice, world = await request.body(), request.world
    _require_force(world, choice.force)
    seed = choice.given().get("seed", world.seed())
    scenario.start(world, scenario.load(choice.name), seed, world.workspaces(), world.origin())
    return data(world.timeline.progress(world.now()))


async def reset(request: ApiRequest[ResetRequest]) -> Response:
    """Restore the first workspaces, as of now, from the given seed or the first one.

    Ids and tokens stay; faults and scenario end. With a data file it needs "force": true.
    """
    order, world = await request.body(), request.world
    _require_force(world, order.force)
    workspaces.restore(world, order.given().get("seed"))
    return data({"seed": world.seed(), "start": world.timestamp()})


def _require_force(world: World, force: bool) -> None:
    """Raise the documented error if the request would destroy a kept workspace without `force`."""
    if world.store.is_kept and not force:
        raise conflict('this would destroy the workspace in the data file: send "force": true to confirm')


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control", describe),
    Endpoint("GET", "/_control/", describe),
    Endpoint("GET", "/_control/clock", read_clock),
    Endpoint("POST", "/_control/clock", set_clock, ClockChange),
    Endpoint("POST", "/_control/encoders/{event_id}", set_encoder, commands.EncoderArguments),
    Endpoint("POST", "/_control/restreams/{event_id}", set_restream, commands.RestreamArguments),
    Endpoint("POST", "/_control/chats/{event_id}", set_chat, commands.ChatArguments),
    Endpoint("POST", "/_control/relays/{room_id}/{restream_id}", set_relay, RelayChange),
    Endpoint("GET", "/_control/faults", list_faults),
    Endpoint("POST", "/_control/faults", add_fault, commands.FaultArguments),
    Endpoint("DELETE", "/_control/faults", clear_faults),
    Endpoint("GET", "/_control/scenario", read_scenario),
    Endpoint("POST", "/_control/scenario", load_scenario, ScenarioChoice),
    Endpoint("POST", "/_control/reset", reset, ResetRequest),
)
