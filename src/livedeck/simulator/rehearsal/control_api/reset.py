"""Route that restores the start."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, Must, RequestBody, one_of
from livedeck.simulator.rehearsal import snapshots
from livedeck.simulator.rehearsal.scenario_file import Seed


class ResetRequest(RequestBody):
    """Parts that stay, seed of the new workspaces, and `force` to replace kept ones."""

    keep: Annotated[list[Annotated[str, one_of("clock", "journal", "faults")]], Must("a list of names")] = UNSET
    seed: Seed = UNSET
    force: Boolean = False


async def reset(request: ApiRequest[ResetRequest]) -> Response:
    """Restore the state of the start. A `seed` makes the workspaces anew. A data file requires "force": true.

    The tokens and the parts in `keep` stay. Changes that a fault still delays are dropped.
    """
    order, world = await request.body(), request.world
    require_force(world, order.force)
    snapshots.reset(world, frozenset(order.keep or ()), order.seed)
    return data({"seed": world.seed(), "start": world.timestamp()})


def require_force(world: World, force: bool) -> None:
    """Raise the documented error if the request would destroy a kept workspace without `force`."""
    if world.store.is_kept and not force:
        raise conflict('this would destroy the workspace in the data file: send "force": true to confirm')


ENDPOINTS: tuple[Endpoint[Any], ...] = (Endpoint("POST", "/_control/reset", reset, ResetRequest),)
