"""Routes of the faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from livedeck.simulator.engine.faults import Fault
from livedeck.simulator.errors import ApiError
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.rehearsal import commands
from livedeck.simulator.rehearsal.commands import run_command
from livedeck.simulator.rehearsal.fault_arguments import FaultArguments, show_fault


async def list_faults(request: ApiRequest[None]) -> Response:
    """List the faults in force, how often each hit, and how often it still can."""
    now, faults = request.world.now(), request.world.faults
    return data([show_fault(fault, faults.counts(fault.id)) for fault in faults.active if now < fault.until])


async def add_fault(request: ApiRequest[FaultArguments]) -> Response:
    """Add a fault that hits requests which match a pattern."""
    world = request.world
    return data(run_command(world, commands.FAULT, world.now(), {}, await request.body()))


async def change_fault(request: ApiRequest[FaultArguments]) -> Response:
    """Replace a fault by another one with the same id, which counts from 0."""
    world, arguments = request.world, await request.body()
    with world.store.transaction():
        fault = replace(arguments.fault(world.now()), id=_named(request).id)
        world.faults.replace(fault)
    return data(show_fault(fault, world.faults.counts(fault.id)))


async def end_fault(request: ApiRequest[None]) -> Response:
    """End a fault, and return it as it was."""
    world, fault = request.world, _named(request)
    shown = show_fault(fault, world.faults.counts(fault.id))
    with world.store.transaction():
        world.faults.remove(fault.id)
    return data(shown)


async def clear_faults(request: ApiRequest[None]) -> Response:
    """End every fault."""
    world = request.world
    return data(run_command(world, commands.CALM, world.now(), {}, commands.NoArguments()))


def _named(request: ApiRequest[Any]) -> Fault:
    """Return the fault with the id in the path. Raises an error that lists the ids of the active faults."""
    wanted, now = request.http.path_params["fault_id"], request.world.now()
    there = [fault for fault in request.world.faults.active if now < fault.until]
    found = next((fault for fault in there if fault.id == wanted), None)
    if found is None:
        names = ", ".join(fault.id for fault in there[:20]) or "none"
        raise ApiError(404, 404404, f"no such fault: there are {names}")
    return found


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/faults", list_faults),
    Endpoint("POST", "/_control/faults", add_fault, FaultArguments),
    Endpoint("DELETE", "/_control/faults", clear_faults),
    Endpoint("PUT", "/_control/faults/{fault_id}", change_fault, FaultArguments),
    Endpoint("DELETE", "/_control/faults/{fault_id}", end_fault),
)
