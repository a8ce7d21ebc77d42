"""State behind the routes: documents, time, encoders, and the workspaces that the tokens open."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from hmac import compare_digest

from livedeck.simulator.engine.clock import ClockState, SimulatorClock, format_timestamp
from livedeck.simulator.engine.disk import Disk
from livedeck.simulator.engine.encoder import CADENCE, Encoders
from livedeck.simulator.engine.faults import Faults
from livedeck.simulator.engine.hls import Hls
from livedeck.simulator.engine.identity import number_of, secret_of, uuid_of
from livedeck.simulator.engine.ingest import Ingest
from livedeck.simulator.engine.journal import Journal
from livedeck.simulator.engine.measured import MeasuredSamples
from livedeck.simulator.engine.store import Document, Files, State, Store
from livedeck.simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Workspace:
    """Workspace, its user, and the API token that opens it."""

    name: str
    workspace_id: str
    user_id: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, name: str, token: str) -> Workspace:
        """Return the workspace of that name, with the ids that follow from it."""
        return cls(name, uuid_of("workspace", name), uuid_of("user", name), token)

    def document(self, position: int) -> Document:
        """Return the workspace as a document for the store."""
        owner = {"name": self.name, "user_id": self.user_id, "token": self.token}
        return {"id": self.workspace_id, "position": position, **owner}


def kept_clock(store: Store) -> SimulatorClock | None:
    """Return the clock from the store; None if the store has none.

    The clock ran on while the simulator was stopped, unless it was paused.
    """
    document = store.get("world", "clock")
    return None if document is None else SimulatorClock.going_on(ClockState.of(document["state"]))


@dataclass(frozen=True, slots=True)
class World:
    """State of the simulator. `start`: state that a reset restores. `archive`: saved snapshots."""

    store: Store
    clock: SimulatorClock
    encoders: Encoders
    files: Files
    faults: Faults
    timeline: Timeline
    disk: Disk
    start: State
    archive: Files
    journal: Journal = field(default_factory=Journal)
    ingest: Ingest = field(default_factory=Ingest)
    hls: Hls = field(default_factory=Hls)

    @classmethod
    @contextmanager
    def in_memory(cls, clock: SimulatorClock, files: Files, empty: Callable[[], Store] = Store) -> Iterator[World]:
        """Yield an empty world in memory, without a server. `empty`: makes its store."""
        with closing(empty()) as store:
            encoders, disk = Encoders(CADENCE, MeasuredSamples(store)), Disk()
            timeline = Timeline(store, disk)
            yield cls(store, clock, encoders, files, Faults(store), timeline, disk, State(store, files), files)

    def now(self) -> float:
        """Return the simulator's time in epoch seconds."""
        return self.clock.now().timestamp()

    def timestamp(self) -> str:
        """Return the simulator's time in the form that the API writes."""
        return format_timestamp(self.clock.now())

    def keep_clock(self, state: ClockState) -> None:
        """Store the clock for the next restart."""
        self.store.put("world", {"id": "clock", "state": state.document()})

    def keep_control_token(self, given: str | None) -> str:
        """Store the token of the control API and return it: `given`, or the kept one, or a random one."""
        token = given or self._control_token() or secrets.token_urlsafe(24)
        self.store.put("world", {"id": "control", "token": token})
        return token

    def _control_token(self) -> str:
        kept = self.store.get("world", "control")
        return str(kept["token"]) if kept else ""

    def tokens(self) -> list[str]:
        """Return every token: those of the workspaces and that of the control API."""
        return [*(workspace.token for workspace in self.workspaces()), self._control_token()]

    def seed(self) -> int:
        """Return the seed of ids, keys and signals."""
        return int(self._root()["seed"])

    def secret(self) -> bytes:
        """Return the key that signs URLs; it follows from the token and the seed."""
        return secret_of("signature", self.workspaces()[0].token, self.seed()).encode()

    def draw(self) -> int:
        """Return the next pseudorandom number of the seed. Call it in a transaction."""
        root = self._root()
        self.store.update("world", root | {"drawn": root["drawn"] + 1})
        return number_of(root["seed"], "drawn", root["drawn"])

    def new_id(self) -> str:
        """Return a fresh UUID. Call it in a transaction."""
        return uuid_of("new", self.draw())

    def workspaces(self) -> tuple[Workspace, ...]:
        """Return the served workspace first, then the others."""
        documents = self.store.find_all("workspace", "", order=[("position", "asc")])
        return tuple(Workspace(row["name"], row["id"], row["user_id"], row["token"]) for row in documents)

    def authorize(self, token: str) -> None:
        """Replace the token of the served workspace."""
        served = self.workspaces()[0]
        self.store.update("workspace", replace(served, token=token).document(0))

    def workspace_of(self, token: str) -> Workspace | None:
        """Return the workspace that `token` opens, or None."""
        given = token.encode()
        workspaces = self.workspaces()
        return next((workspace for workspace in workspaces if compare_digest(workspace.token.encode(), given)), None)

    def _root(self) -> Document:
        root = self.store.get("world", "world")
        assert root is not None, "a simulator makes its workspaces before it answers"
        return root
