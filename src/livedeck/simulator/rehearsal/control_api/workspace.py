"""Routes that make the workspace anew."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import conflict
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, RequestBody, integer
from livedeck.simulator.rehearsal import workspaces

Seed = Annotated[int, integer(0, 2**53)]


class ResetRequest(RequestBody):
    """Seed of the new workspaces, and `force` to replace kept ones."""

    seed: Seed = UNSET
    force: Boolean = False


async def reset(request: ApiRequest[ResetRequest]) -> Response:
    """Restore the first workspaces, as of now, from the given seed or the first one.

    Ids and tokens stay; faults and scenario end. With a data file it needs "force": true.
    """
    order, world = await request.body(), request.world
    require_force(world, order.force)
    workspaces.restore(world, order.given().get("seed"))
    return data({"seed": world.seed(), "start": world.timestamp()})


def require_force(world: World, force: bool) -> None:
    """Raise the documented error if the request would destroy a kept workspace without `force`."""
    if world.store.is_kept and not force:
        raise conflict('this would destroy the workspace in the data file: send "force": true to confirm')


ENDPOINTS: tuple[Endpoint[Any], ...] = (Endpoint("POST", "/_control/reset", reset, ResetRequest),)
