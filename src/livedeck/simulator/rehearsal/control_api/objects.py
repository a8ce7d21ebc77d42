"""Routes that act on an event or a room like somebody at the encoder, the chat or the relay.

A path takes the name or the id of an event, room or relay profile.
"""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator.engine.store import Document
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import Boolean, RequestBody
from livedeck.simulator.rehearsal import commands
from livedeck.simulator.rehearsal.commands import run_command
from livedeck.simulator.rehearsal.naming import find_document, find_part


class RelayChange(RequestBody):
    """Body of a request that starts or stops a relay."""

    running: Boolean


async def set_encoder(request: ApiRequest[commands.EncoderArguments]) -> Response:
    """Start or stop the encoder of an event, or change its shape, from now on; the past stays."""
    event, world = _find(request, "event"), request.world
    return data(run_command(world, commands.ENCODER, world.now(), event, await request.body()))


async def set_restream(request: ApiRequest[commands.RestreamArguments]) -> Response:
    """Connect or disconnect a restream of an event, by its name or id; * for all."""
    event, world = _find(request, "event"), request.world
    return data(run_command(world, commands.RESTREAM, world.now(), event, await request.body()))


async def set_chat(request: ApiRequest[commands.ChatArguments]) -> Response:
    """Set the chat messages a second, from now on."""
    event, world = _find(request, "event"), request.world
    return data(run_command(world, commands.CHAT, world.now(), event, await request.body()))


async def set_relay(request: ApiRequest[RelayChange]) -> Response:
    """Start or stop a relay of a room, like a participant inside it; at most 5 run at once."""
    room, change, world = _find(request, "room"), await request.body(), request.world
    profile = find_part(room["restreams"], "relay profile", request.http.path_params["restream"], room["name"])
    arguments = commands.RelayArguments(restream=profile["id"], running=change.running)
    return data(run_command(world, commands.RELAY, world.now(), room, arguments))


def _find(request: ApiRequest[Any], kind: str) -> Document:
    """Return the event or room whose name or id is in the request path."""
    return find_document(request.world, kind, str(request.http.path_params[kind]))


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("POST", "/_control/encoders/{event}", set_encoder, commands.EncoderArguments),
    Endpoint("POST", "/_control/restreams/{event}", set_restream, commands.RestreamArguments),
    Endpoint("POST", "/_control/chats/{event}", set_chat, commands.ChatArguments),
    Endpoint("POST", "/_control/relays/{room}/{restream}", set_relay, RelayChange),
)
