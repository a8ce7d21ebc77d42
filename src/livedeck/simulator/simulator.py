"""Simulator as an object: its parts, its app and its tokens."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from livedeck.simulator import api
from livedeck.simulator.app import Wire, build
from livedeck.simulator.engine.clock import SimulatorClock
from livedeck.simulator.engine.disk import Disk
from livedeck.simulator.engine.encoder import CADENCE, Encoders, current_state, encoder_states
from livedeck.simulator.engine.faults import Faults
from livedeck.simulator.engine.identity import secret_of
from livedeck.simulator.engine.journal import ENTRIES, Entry, Journal
from livedeck.simulator.engine.measured import MeasuredSamples
from livedeck.simulator.engine.store import Document, Files, State, Store
from livedeck.simulator.engine.timeline import Timeline
from livedeck.simulator.engine.world import Workspace, World, kept_clock
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.http import Endpoint
from livedeck.simulator.ingest.publishers import Publishers
from livedeck.simulator.rehearsal import scenarios, snapshots, workspaces
from livedeck.simulator.rehearsal.checking import Source, TableError, check_workspace, read_scenario
from livedeck.simulator.rehearsal.scenario import Scenario
from livedeck.simulator.rehearsal.shapes import use_kept_shapes
from livedeck.simulator.rehearsal.truth import truth_of
from livedeck.simulator.rehearsal.workspaces import Table

DEFAULT_TOKEN = "livedeck-demo"  # noqa: S105  public on purpose: good for loopback only
"""API token if none is given."""

USER_NAME = "Demo operator"
"""Name of the user of every workspace."""


class Simulator:
    """Documented platform on one machine: `app` serves the API, uploads, the CDN and the control API.

    With `data`, the simulator keeps everything across restarts: the seed, the tokens, the clock, the scenario and the
    faults too. A `token` other than the default, a `clock` and `faults` replace the kept ones. A `scenario` brings a
    workspace of its own, so it replaces a kept workspace with `force` only.

    Args:
        seed: The number that ids, keys and signals are derived from (None: 1).
        clock: The simulator's time (None: this machine's).
        data: A file for the documents; uploads go to a folder beside it. None: memory, uploads in a temporary folder.
        workspace: The workspace to serve: the name of a shipped one, or a TOML file (None: demo, or the kept one).
        cadence: Seconds between QoS samples.
        scenario: A name, a TOML file or a scenario, played from the start.
        faults: A name or a TOML file of faults that hit from the start.
        meet_segment: The path segment of rooms.
        wire: The profile, the origins of web pages that may call the API, and compression (None: none of them).
        journal: Requests that the journal keeps; 0 turns it off.
        speed: Simulated seconds per real second (None: 1, or the kept speed).
        paused: Whether the clock stands still (None: no, or as kept).
        control_token: The token of the control API (None: a random one, or the kept one).
        snapshot: A snapshot to start from, with its clock unless `clock` is given.
        hls: Events on air play as HLS, and their `play_link` is the master playlist.

    Raises:
        SimulatorError: The data file is unusable or in use by another process; the workspace is unknown; the scenario
            or the faults are invalid; a scenario would replace a kept workspace without `force`; the seed differs from
            the kept one; `meet_segment` is not a path segment; `wire` has an unknown profile or a value
            that is no origin; or the cadence is not positive.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        clock: SimulatorClock | None = None,
        token: str = DEFAULT_TOKEN,
        data: Path | None = None,
        workspace: str | Path | None = None,
        cadence: float = CADENCE,
        scenario: str | Path | Scenario | None = None,
        faults: str | Path | None = None,
        force: bool = False,
        meet_segment: str = "meet",
        wire: Wire | None = None,
        journal: int = ENTRIES,
        speed: float | None = None,
        paused: bool | None = None,
        control_token: str | None = None,
        snapshot: Path | None = None,
        hls: bool = False,
    ) -> None:
        if cadence <= 0:
            raise SimulatorError(f"the cadence must be above 0 s, not {cadence:g}")
        endpoints, wire = api.endpoints(meet_segment), wire or Wire()
        wire.check()
        if snapshot is not None and (scenario, workspace) != (None, None):
            raise SimulatorError("a snapshot brings its own workspace and scenario: leave both out")
        loaded = None if scenario is None else _load(scenario)
        template = None if workspace is None else _read_workspace(workspace)
        data = data and data.resolve()  # a link and its target are one file, with one lock and one folder
        store, disk = Store(data), Disk()
        try:
            self.clock = clock or kept_clock(store) or SimulatorClock()
            files, timeline = Files(data and data.with_name(f"{data.name}.files")), Timeline(store, disk)
            archive = Files(data and data.with_name(f"{data.name}.snapshots"))
            start = _kept_start(archive) if data else State(Store(), Files())
            encoders, ring = Encoders(cadence, MeasuredSamples(store)), Journal(journal)
            self._world = World(store, self.clock, encoders, files, Faults(store), timeline, disk, start, archive, ring)
            if snapshot is not None:
                self._restore(snapshot, seed, token, keep=frozenset({"clock"} if clock else ()), force=force)
                is_start = True
            else:
                if loaded is not None and loaded.start is not None and clock is None:
                    self.clock.change(jump=loaded.start)
                name = None if workspace is None else Path(workspace).stem
                is_start = self._begin(seed, token, name, template, loaded, force=force)
            self.clock.kept_by(self._world.keep_clock)
            if (speed, paused) != (None, None):
                self.clock.change(speed=speed, paused=paused)
            self.control_token = self._world.keep_control_token(control_token)
            if faults is not None:
                scenarios.set_faults(self._world, faults)
            if is_start or start.store.get("world", "world") is None:
                snapshots.take(self._world, start)
        except BaseException:
            store.close()
            raise
        self.publishers = Publishers(self._world)
        self.hls = self._world.hls
        self.hls.is_on = hls
        self.app: Starlette = build(self._world, self.control_token, endpoints, wire, _playback() if hls else ())

    def _restore(self, snapshot: Path, seed: int | None, token: str, *, keep: frozenset[str], force: bool) -> None:
        """Start from a snapshot."""
        if self._world.workspaces() and not force:
            raise SimulatorError("the data file keeps a workspace: give a new data file, or add --force to replace it")
        with snapshots.unpacked(snapshot, self._world.archive.path("")) as state:
            snapshots.restore(self._world, state, keep)
        if seed not in {None, self._world.seed()}:
            raise SimulatorError(f"the snapshot was made from the seed {self._world.seed()}, not {seed}")
        if token != DEFAULT_TOKEN:
            self._world.authorize(token)

    def _begin(
        self,
        seed: int | None,
        token: str,
        workspace: str | None,
        template: Table | None,
        scenario: Scenario | None,
        *,
        force: bool,
    ) -> bool:
        """Create the workspaces, or continue with the kept ones. Returns whether they are new."""
        world, kept, served = self._world, self._world.workspaces(), workspace or "demo"
        if not kept:
            seed = scenario.seed if seed is None and scenario is not None else seed
            seed = 1 if seed is None else seed
            made = [Workspace.of(served, token), Workspace.of("other", secret_of("other", token, seed))]
            self._make(made, seed, template, scenario)
            return True
        if token != DEFAULT_TOKEN:
            world.authorize(token)
        if scenario is not None or workspace is not None:
            if not force:
                given = "workspace" if scenario is None else "scenario"
                raise SimulatorError(
                    "the data file keeps a workspace. Give a new data file, leave the "
                    f"{given} out to continue with the kept workspace, or add --force to replace it"
                )
            seed = scenario.seed if seed is None and scenario is not None else seed
            self._make(world.workspaces(), world.seed() if seed is None else seed, template, scenario)
            return True
        if seed not in {None, world.seed()}:
            raise SimulatorError(
                f"the data file keeps a workspace made from the seed {world.seed()}, not {seed}: leave the seed out, "
                "or give a new data file"
            )
        use_kept_shapes(world)
        scenarios.go_on(world)
        return False

    def _make(self, served: Sequence[Workspace], seed: int, template: Table | None, scenario: Scenario | None) -> None:
        if scenario is None:
            workspaces.rebuild(self._world, seed, served, template)
        else:
            scenarios.start(self._world, scenario, seed, served)

    @property
    def seed(self) -> int:
        """Seed in use, which a data file or a reset may have changed."""
        return self._world.seed()

    @property
    def token(self) -> str:
        return self._world.workspaces()[0].token

    @property
    def workspace_id(self) -> str:
        return self._world.workspaces()[0].workspace_id

    @property
    def user_id(self) -> str:
        """Id of the user of the workspace."""
        return self._world.workspaces()[0].user_id

    @property
    def user_name(self) -> str:
        """Name of the user. No reply of the platform contains names of users, projects or folders."""
        return USER_NAME

    def folders(self) -> Iterator[tuple[str, str]]:
        """Yield the id and name of each project and folder of the workspace."""
        for kind in ("project", "folder"):
            for document in self._world.store.find_all(kind, self.workspace_id):
                yield document["id"], document["name"]

    @property
    def scenario(self) -> Scenario | None:
        """Scenario in play, even after its end; None without one."""
        return scenarios.playing(self._world)

    def progress(self) -> dict[str, object]:
        """Return the position of the scenario in the form that the control API shows."""
        return self._world.timeline.progress(self._world.now())

    def truth(self, entries: Iterable[Entry]) -> Document:
        """Return the scenario as it ran, with the changes among the entries, in the form of the control API."""
        found = truth_of(self._world, entries)
        assert found is not None, "a scenario is played"
        return found

    @property
    def journal(self) -> Journal:
        """Last requests and their replies."""
        return self._world.journal

    def on_air(self) -> list[str]:
        """Return the names of the events whose encoder sends now, by name."""
        now = self._world.now()
        events = self._world.store.find_all("event", self.workspace_id, order=[("name", "asc")])
        states = {event["name"]: current_state(encoder_states(event["encoder"]), now) for event in events}
        return [name for name, state in states.items() if state is not None and state.sending]

    @property
    def other_workspace(self) -> Workspace:
        """Second workspace, behind its own token."""
        return self._world.workspaces()[1]

    def close(self) -> None:
        """Close the data file. Garbage collection closes it otherwise."""
        self._world.store.close()
        self._world.start.store.close()


def _kept_start(archive: Files) -> State:
    """Return the start that the data file keeps, which is empty at first."""
    for left in archive.path("").glob(f"{snapshots.WORK}*"):  # by a killed process
        shutil.rmtree(left, ignore_errors=True)
    folder = archive.path(".start")
    folder.mkdir(mode=0o700, exist_ok=True)
    return State(Store(folder / "world.sqlite"), Files(folder / "files"))


def _playback() -> Sequence[Endpoint[Any]]:
    """Return the endpoints of HLS. The import is here, so that a simulator without HLS loads nothing of it."""
    from livedeck.simulator.media.routes import ENDPOINTS

    return ENDPOINTS


def _load(scenario: str | Path | Scenario) -> Scenario:
    """Load a scenario and check it. Raises SimulatorError with every problem."""
    if isinstance(scenario, Scenario):
        return scenario
    if Path(scenario).suffix != ".toml":
        return scenarios.load(scenario)
    try:
        return read_scenario(Source.of_file(Path(scenario)), {})
    except TableError as error:
        raise SimulatorError(f"{scenario} is invalid: {'; '.join(map(str, error.problems))}") from None


def _read_workspace(workspace: str | Path) -> Table | None:
    """Read a custom workspace; return None for a shipped one. Raises SimulatorError with every problem."""
    path = Path(workspace)
    if path.suffix != ".toml":
        if str(workspace) not in workspaces.names():
            raise SimulatorError(
                f"no workspace is called {str(workspace)!r}: choose from {', '.join(workspaces.names())}, "
                "or give a TOML file"
            )
        return None
    try:
        source = Source.of_file(path)
        check_workspace(source)
    except TableError as error:
        raise SimulatorError(f"{path} is invalid: {'; '.join(map(str, error.problems))}") from None
    return source.table
