"""The simulator as an object: what it is made from, its app, and its tokens."""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.applications import Starlette

from livedeck.simulator.app import build
from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.encoder import Encoders
from livedeck.simulator.engine.identity import uuid_of
from livedeck.simulator.engine.store import Files, Store
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.rehearsal import scenario as scenarios
from livedeck.simulator.rehearsal import workspaces

DEFAULT_TOKEN = "livedeck-demo"  # noqa: S105  public on purpose: good for loopback only
"""The API token where none was given."""


class Simulator:
    """The documented platform on one machine: `app` serves the API, uploads, the CDN and the control API.

    `seed`: what ids, keys and signals are made from. `clock`: the simulator's time (None: this machine's). `data`: a
    file that keeps everything over restarts, and beside it a folder for uploads (None: in memory, uploads in a
    temporary folder); it keeps its seed and its tokens too, but a `token` other than the default replaces the kept one.
    What a scenario has done so far is kept like every write; its position and the faults in force are not: a restart
    ends it. `workspace`: the table of `data/workspaces/` to serve. `cadence`: seconds between QoS samples. `scenario`:
    a name or a TOML file, played from the start on its own workspace. `faults`: likewise, faults that hit from the
    start.

    Raises SimulatorError for a data file that cannot be used, an unknown workspace, a scenario or faults that are not
    sound, a scenario on a data file that holds a workspace already, or a cadence that is not positive.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        clock: SimulatorClock | None = None,
        token: str = DEFAULT_TOKEN,
        data: Path | None = None,
        workspace: str = "demo",
        cadence: float = 2.0,
        scenario: str | Path | None = None,
        faults: str | Path | None = None,
    ) -> None:
        if cadence <= 0:
            raise SimulatorError(f"the cadence must be above 0 s, not {cadence:g}")
        self.clock = clock or SimulatorClock()
        self.control_token = secrets.token_urlsafe(24)
        loaded = None if scenario is None else scenarios.load(scenario)
        data = data and data.resolve()  # a link and its target are one file, with one lock and one folder
        files = Files(data and data.with_name(f"{data.name}.files"))
        self._world = World(Store(data), self.clock, Encoders(cadence), files)
        if not self._world.workspaces():
            served = _workspace(workspace, token)
            workspaces.rebuild(self._world, seed, [served, _workspace("other", secrets.token_urlsafe(24))])
        elif loaded is not None:
            raise SimulatorError("a scenario starts with a workspace of its own: give it a new data file")
        elif token != DEFAULT_TOKEN:
            self._world.authorize(token)
        if loaded is not None:
            scenarios.start(self._world, loaded, seed)
        if faults is not None:
            scenarios.add_faults(self._world, faults)
        self.app: Starlette = build(self._world, self.control_token)

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
    def other_workspace(self) -> Workspace:
        """The second workspace, behind its own token."""
        return self._world.workspaces()[1]

    def close(self) -> None:
        """Close the data file; the last thing to call. Else it is closed when the simulator is collected."""
        self._world.store.close()


def _workspace(name: str, token: str) -> Workspace:
    return Workspace(name, uuid_of("workspace", name), uuid_of("user", name), token)
