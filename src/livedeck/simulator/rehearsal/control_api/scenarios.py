"""Routes of the scenario."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, RequestBody, one_of
from livedeck.simulator.rehearsal import scenario
from livedeck.simulator.rehearsal.control_api.workspace import Seed, require_force


class ScenarioChoice(RequestBody):
    """Scenario to play, the seed of its workspace, and `force` to replace a kept workspace."""

    name: Annotated[str, one_of(*scenario.names())]
    seed: Seed = UNSET
    force: Boolean = False


async def read_scenario(request: ApiRequest[None]) -> Response:
    """Return the position of the scenario, and the names of all scenarios."""
    return data(request.world.timeline.progress(request.world.now()) | {"names": scenario.names()})


async def load_scenario(request: ApiRequest[ScenarioChoice]) -> Response:
    """Create the workspace of a scenario and play it from now on. With a data file it needs "force": true."""
    choice, world = await request.body(), request.world
    require_force(world, choice.force)
    seed = choice.given().get("seed", world.seed())
    scenario.start(world, scenario.load(choice.name), seed, world.workspaces())
    return data(world.timeline.progress(world.now()))


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/scenario", read_scenario),
    Endpoint("POST", "/_control/scenario", load_scenario, ScenarioChoice),
)
