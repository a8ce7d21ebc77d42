"""The simulator as an object: what it is made from, its app, and its tokens."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from starlette.applications import Starlette

from livedeck.simulator import api
from livedeck.simulator.app import build
from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.disk import Disk
from livedeck.simulator.engine.encoder import Encoders
from livedeck.simulator.engine.faults import Faults
from livedeck.simulator.engine.identity import uuid_of
from livedeck.simulator.engine.store import Files, Store
from livedeck.simulator.engine.timeline import Timeline
from livedeck.simulator.engine.world import Origin, Workspace, World, kept_clock
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.rehearsal import scenario as scenarios
from livedeck.simulator.rehearsal import workspaces
from livedeck.simulator.rehearsal.scenario import Scenario

DEFAULT_TOKEN = "livedeck-demo"  # noqa: S105  public on purpose: good for loopback only
"""The API token where none was given."""

USER_NAME = "Demo operator"
"""What the user of every workspace is called."""


class Simulator:
    """The documented platform on one machine: `app` serves the API, uploads, the CDN and the control API.

    `seed`: what ids, keys and signals are made from (None: 1). `clock`: the simulator's time (None: this machine's).
    `data`: a file that keeps everything over restarts, and beside it a folder for uploads (None: in memory, uploads in
    a temporary folder). It keeps its seed, its tokens, its clock, its scenario and its faults too: a `token` other than
    the default, a `clock` and `faults` take the place of the kept ones, and a `scenario`, which brings a workspace of
    its own, does so with `force` alone. `workspace`: the table of `data/workspaces/` to serve. `cadence`: seconds
    between QoS samples. `scenario`: a name or a TOML file, played from the start. `faults`: likewise, faults that hit
    from the start. `meet_segment`: the path segment of rooms.

    Raises SimulatorError for a data file that cannot be used or that another process uses, an unknown workspace, a
    scenario or faults that are not sound, a scenario on a kept workspace without `force`, a seed that is not the kept
    one, a `meet_segment` that is no segment, or a cadence that is not positive.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        clock: SimulatorClock | None = None,
        token: str = DEFAULT_TOKEN,
        data: Path | None = None,
        workspace: str = "demo",
        cadence: float = 2.0,
        scenario: str | Path | None = None,
        faults: str | Path | None = None,
        force: bool = False,
        meet_segment: str = "meet",
    ) -> None:
        if cadence <= 0:
            raise SimulatorError(f"the cadence must be above 0 s, not {cadence:g}")
        endpoints = api.endpoints(meet_segment)
        self.control_token = secrets.token_urlsafe(24)
        loaded = None if scenario is None else scenarios.load(scenario)
        data = data and data.resolve()  # a link and its target are one file, with one lock and one folder
        store, disk = Store(data), Disk()
        try:
            self.clock = clock or kept_clock(store) or SimulatorClock()
            files, timeline = Files(data and data.with_name(f"{data.name}.files")), Timeline(store, disk)
            self._world = World(store, self.clock, Encoders(cadence), files, Faults(store), timeline, disk)
            self._begin(seed, token, workspace, loaded, force=force)
            self.clock.kept_by(self._world.keep_clock)
            if faults is not None:
                scenarios.set_faults(self._world, faults)
        except BaseException:
            store.close()
            raise
        self.app: Starlette = build(self._world, self.control_token, endpoints)

    def _begin(self, seed: int | None, token: str, workspace: str, scenario: Scenario | None, *, force: bool) -> None:
        """Make what is not there, or go on with what is."""
        world, kept = self._world, self._world.workspaces()
        if not kept:
            made = [_workspace(workspace, token), _workspace("other", secrets.token_urlsafe(24))]
            self._make(made, 1 if seed is None else seed, workspace, scenario)
            return
        if token != DEFAULT_TOKEN:
            world.authorize(token)
        if scenario is not None:
            if not force:
                raise SimulatorError(
                    "the data file keeps a workspace, and a scenario makes its own: give it a new data file, leave the "
                    "scenario out to go on with what is kept, or say --force to replace that"
                )
            self._make(world.workspaces(), world.seed() if seed is None else seed, workspace, scenario)
        elif seed not in {None, world.seed()}:
            raise SimulatorError(
                f"the data file keeps a workspace made from the seed {world.seed()}, not {seed}: leave the seed out, "
                "or give a new data file"
            )
        else:
            scenarios.go_on(world)

    def _make(self, served: Sequence[Workspace], seed: int, workspace: str, scenario: Scenario | None) -> None:
        if scenario is None:
            workspaces.rebuild(self._world, seed, served, Origin(workspace, seed))
        else:
            scenarios.start(self._world, scenario, seed, served, Origin(scenario.workspace, seed))

    @property
    def seed(self) -> int:
        """The seed in use: a data file or a reset may have brought another one."""
        return self._world.seed()

    @property
    def token(self) -> str:
        """The API token of the workspace."""
        return self._world.workspaces()[0].token

    @property
    def workspace_id(self) -> str:
        """The id of the workspace."""
        return self._world.workspaces()[0].workspace_id

    @property
    def user_id(self) -> str:
        """The id of a user of the workspace."""
        return self._world.workspaces()[0].user_id

    @property
    def user_name(self) -> str:
        """What that user is called. No answer of the platform says it, nor what projects and folders are called."""
        return USER_NAME

    def folders(self) -> Iterator[tuple[str, str]]:
        """The ids and names of the projects and folders of the workspace."""
        for kind in ("project", "folder"):
            for document in self._world.store.find_all(kind, self.workspace_id):
                yield document["id"], document["name"]

    @property
    def other_workspace(self) -> Workspace:
        """The second workspace, behind its own token."""
        return self._world.workspaces()[1]

    def close(self) -> None:
        """Close the data file; the last thing to call. Else it is closed when the simulator is collected."""
        self._world.store.close()


def _workspace(name: str, token: str) -> Workspace:
    return Workspace(name, uuid_of("workspace", name), uuid_of("user", name), token)
