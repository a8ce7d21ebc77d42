"""Routes of the scenarios: the shipped and posted ones, and the one in play."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.store import Document
from livedeck.simulator.errors import conflict, invalid
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, Must, RequestBody
from livedeck.simulator.rehearsal import scenario_file, scenarios
from livedeck.simulator.rehearsal.checking import Source, read_scenario
from livedeck.simulator.rehearsal.control_api import tables
from livedeck.simulator.rehearsal.control_api.reset import require_force
from livedeck.simulator.rehearsal.control_api.tables import Tables
from livedeck.simulator.rehearsal.scenario import Scenario
from livedeck.simulator.rehearsal.truth import truth_of
from livedeck.simulator.rehearsal.workspaces import posted_tables

_TABLES = Tables("scenario", "scenarios")


class ScenarioChoice(RequestBody):
    """Scenario to play, by its name or as a table, the seed of its workspace, and `force` to replace a kept one."""

    name: scenario_file.Name = UNSET
    table: Annotated[dict[str, Any], Must("a scenario as a table")] = UNSET
    seed: scenario_file.Seed = UNSET
    force: Boolean = False


class Replay(RequestBody):
    """`force` to replace a kept workspace."""

    force: Boolean = False


async def list_scenarios(request: ApiRequest[None]) -> Response:
    """List the shipped and posted scenarios."""
    shipped = [scenarios.load(name) for name in scenarios.names()]
    posted = request.world.store.find_all(_TABLES.kind, "", order=[("id", "asc")])
    return data(
        [
            *({"name": row.name, "title": row.title, "workspace": row.workspace, "posted": False} for row in shipped),
            *({"name": row["id"], "title": row["table"]["title"], "posted": True} | _workspace(row) for row in posted),
        ]
    )


def _workspace(row: Document) -> Document:
    workspace = row["table"].get("workspace", "stage")
    return {"workspace": workspace if isinstance(workspace, str) else row["id"]}


async def put_scenario(request: ApiRequest[None]) -> Response:
    """Check a scenario (TOML or JSON) and keep it; 400 names every problem with its line."""
    source = await tables.read_source(request, str(request.http.path_params["name"]))
    await _check(request, source)
    return _TABLES.post(request, source)


async def get_scenario_text(request: ApiRequest[None]) -> Response:
    """Return a scenario as TOML."""
    return _TABLES.read(request)


async def delete_posted_scenario(request: ApiRequest[None]) -> Response:
    """Delete a posted scenario; one in play goes on."""
    return _TABLES.delete(request)


async def check_scenario(request: ApiRequest[None]) -> Response:
    """Check a scenario (TOML or JSON) without keeping it; 400 names every problem with its line."""
    await _check(request, await tables.read_source(request, "checked"))
    return data({"problems": []})


async def read_progress(request: ApiRequest[None]) -> Response:
    """Return the position of the scenario and the state of each step; ok is false once a step was refused."""
    return _progress(request)


async def read_truth(request: ApiRequest[None]) -> Response:
    """Return the scenario as it ran: faults, answers, refused steps and changes, for `livedeck past report --truth`."""
    found = truth_of(request.world)
    if found is None:
        raise conflict("no scenario was played")
    return data(found)


async def play_scenario(request: ApiRequest[ScenarioChoice]) -> Response:
    """Create the workspace of a scenario and play it from now on. With a data file it needs "force": true.

    TOML is the scenario itself.
    """
    if tables.is_toml(request):
        source, choice = await tables.read_source(request, "table"), ScenarioChoice()
    else:
        choice = await request.body()
        source = _chosen(request, choice)
    scenario = await _check(request, source)
    require_force(request.world, choice.force or request.http.query_params.get("force") == "true")
    seed = choice.given().get("seed", scenario.seed)
    return _play(request, scenario, request.world.seed() if seed is None else seed)


async def replay(request: ApiRequest[Replay]) -> Response:
    """Play the same scenario from its beginning, from the same seed, in a workspace made anew."""
    world, force = request.world, (await request.body()).force
    scenario = scenarios.playing(world)
    if scenario is None:
        raise conflict("no scenario was played")
    require_force(world, force)
    return _play(request, scenario, world.seed())


async def stop_scenario(request: ApiRequest[None]) -> Response:
    """Run no further step of the scenario; the world stays as it is."""
    request.world.timeline.stop()
    return _progress(request)


def _chosen(request: ApiRequest[Any], choice: ScenarioChoice) -> Source:
    given = choice.given()
    if ("name" in given) == ("table" in given):
        raise invalid(("body", "needs either name or table"))
    if "table" in given:
        return tables.source_of(choice.table, "table")
    if choice.name in scenarios.names():
        return Source(choice.name, scenarios.read_source(_TABLES.folder, choice.name))
    posted = _TABLES.posted(request, choice.name)
    return Source(choice.name, posted["table"], posted["text"])


async def _check(request: ApiRequest[Any], source: Source) -> Scenario:
    """Return the scenario, played to its end on a copy in another thread. Raises TableError."""
    return await asyncio.to_thread(read_scenario, source, posted_tables(request.world.store))


def _play(request: ApiRequest[Any], scenario: Scenario, seed: int) -> Response:
    world = request.world
    if scenario.start is not None:
        world.clock.change(jump=scenario.start)
    scenarios.start(world, scenario, seed, world.workspaces())
    world.timeline.catch_up(world.now())
    return _progress(request)


def _progress(request: ApiRequest[Any]) -> Response:
    return data(request.world.timeline.progress(request.world.now()))


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/scenarios", list_scenarios),
    Endpoint("POST", "/_control/scenarios/check", check_scenario),
    Endpoint("PUT", "/_control/scenarios/{name}", put_scenario),
    Endpoint("GET", "/_control/scenarios/{name}", get_scenario_text),
    Endpoint("DELETE", "/_control/scenarios/{name}", delete_posted_scenario),
    Endpoint("GET", "/_control/scenario", read_progress),
    Endpoint("GET", "/_control/scenario/truth", read_truth),
    Endpoint("POST", "/_control/scenario", play_scenario, ScenarioChoice),
    Endpoint("DELETE", "/_control/scenario", stop_scenario),
    Endpoint("POST", "/_control/scenario/replay", replay, Replay),
)
