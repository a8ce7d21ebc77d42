"""Routes that act on an event or a room like somebody at the encoder, the chat or the relay."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator.api.events import find_event
from livedeck.simulator.api.rooms import find_profile, find_room
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import Boolean, RequestBody
from livedeck.simulator.rehearsal import commands
from livedeck.simulator.rehearsal.commands import run_command


class RelayChange(RequestBody):
    """State of the relay."""

    running: Boolean


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


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("POST", "/_control/encoders/{event_id}", set_encoder, commands.EncoderArguments),
    Endpoint("POST", "/_control/restreams/{event_id}", set_restream, commands.RestreamArguments),
    Endpoint("POST", "/_control/chats/{event_id}", set_chat, commands.ChatArguments),
    Endpoint("POST", "/_control/relays/{room_id}/{restream_id}", set_relay, RelayChange),
)
