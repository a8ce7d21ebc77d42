"""Routes of the workspaces: the shipped and posted ones, the one that is served, and its table."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.responses import Response

from livedeck.simulator.engine.reference import table_names
from livedeck.simulator.http import ApiRequest, Endpoint, data
from livedeck.simulator.models import UNSET, Boolean, RequestBody, text
from livedeck.simulator.rehearsal.checking import check_workspace
from livedeck.simulator.rehearsal.control_api import tables
from livedeck.simulator.rehearsal.control_api.reset import require_force
from livedeck.simulator.rehearsal.control_api.tables import Tables
from livedeck.simulator.rehearsal.scenario_file import Seed
from livedeck.simulator.rehearsal.template_text import template_of
from livedeck.simulator.rehearsal.workspaces import event_names, find_table, posted_tables, serve

_TABLES = Tables("workspace_table", "workspaces")


class WorkspaceChoice(RequestBody):
    """Workspace to serve, its seed, and `force` to replace a kept one."""

    name: Annotated[str, text(1, 255)]
    seed: Seed = UNSET
    force: Boolean = False


async def list_workspaces(request: ApiRequest[None]) -> Response:
    """List the shipped and posted workspaces with their events."""
    posted = posted_tables(request.world.store)
    names = [(name, False) for name in table_names(_TABLES.folder)] + [(name, True) for name in posted]
    return data(
        [
            {"name": name, "events": event_names(find_table(name, posted)), "posted": is_posted}
            for name, is_posted in names
        ]
    )


async def put_workspace(request: ApiRequest[None]) -> Response:
    """Check the table of a workspace (TOML or JSON) and keep it; 400 names every problem with its line."""
    source = await tables.read_source(request, str(request.http.path_params["name"]))
    check_workspace(source)
    return _TABLES.post(request, source)


async def get_workspace_text(request: ApiRequest[None]) -> Response:
    """Return the table of a workspace as TOML."""
    return _TABLES.read(request)


async def delete_posted_workspace(request: ApiRequest[None]) -> Response:
    """Delete a posted workspace; a served one stays."""
    return _TABLES.delete(request)


async def serve_workspace(request: ApiRequest[WorkspaceChoice]) -> Response:
    """Create a workspace in place of the served one, as of now. With a data file it needs "force": true."""
    choice, world = await request.body(), request.world
    posted = posted_tables(world.store)
    if choice.name not in {*table_names(_TABLES.folder), *posted}:
        raise _TABLES.unknown(request, choice.name)
    require_force(world, choice.force)
    seed = choice.given().get("seed", world.seed())
    serve(world, choice.name, seed, posted.get(choice.name))
    return data({"name": choice.name, "seed": seed, "start": world.timestamp()})


async def read_template(request: ApiRequest[None]) -> Response:
    """Return the served workspace as the TOML of a workspace, with times relative to now."""
    return Response(template_of(request.world), media_type=tables.TOML)


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/workspaces", list_workspaces),
    Endpoint("PUT", "/_control/workspaces/{name}", put_workspace),
    Endpoint("GET", "/_control/workspaces/{name}", get_workspace_text),
    Endpoint("DELETE", "/_control/workspaces/{name}", delete_posted_workspace),
    Endpoint("POST", "/_control/workspace", serve_workspace, WorkspaceChoice),
    Endpoint("GET", "/_control/template", read_template),
)
