"""Routes of the faults."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.rehearsal import commands
from livedeck.simulator.rehearsal.commands import run_command, show_fault


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


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/faults", list_faults),
    Endpoint("POST", "/_control/faults", add_fault, commands.FaultArguments),
    Endpoint("DELETE", "/_control/faults", clear_faults),
)
