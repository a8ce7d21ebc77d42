"""All that lives behind the routes: documents, time, encoders and who may enter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hmac import compare_digest

from livedeck.simulator.engine.clock import SimulatorClock, stamp
from livedeck.simulator.engine.encoder import Encoders
from livedeck.simulator.engine.faults import Faults
from livedeck.simulator.engine.identity import number_of, uuid_of
from livedeck.simulator.engine.store import Document, Files, Query, Store
from livedeck.simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace, a user of it, and the API token that opens it."""

    name: str
    workspace_id: str
    user_id: str
    token: str = field(repr=False)

    def document(self, position: int) -> Document:
        """As it is stored."""
        owner = {"name": self.name, "user_id": self.user_id, "token": self.token}
        return {"id": self.workspace_id, "position": position, **owner}


@dataclass(frozen=True, slots=True)
class World:
    """What every route works on."""

    store: Store
    clock: SimulatorClock
    encoders: Encoders
    files: Files
    faults: Faults = field(default_factory=Faults)
    agenda: Timeline = field(default_factory=Timeline)

    def now(self) -> float:
        """The service's time in epoch seconds."""
        return self.clock.now().timestamp()

    def seed(self) -> int:
        """The seed that everything was made from."""
        return int(self._founded()["seed"])

    def stamp(self) -> str:
        """The service's time as the API writes it."""
        return stamp(self.clock.now())

    def secret(self) -> bytes:
        """What signed URLs are signed with."""
        return str(self._founded()["secret"]).encode()

    def draw(self) -> int:
        """A number that never comes twice, the same for the same seed and the same past. Call it in a transaction."""
        founded = self._founded()
        self.store.change("world", founded | {"drawn": founded["drawn"] + 1})
        return number_of(founded["seed"], "drawn", founded["drawn"])

    def new_id(self) -> str:
        """A fresh UUID. Call it in a transaction."""
        return uuid_of("new", self.draw())

    def workspaces(self) -> tuple[Workspace, ...]:
        """The served workspace first, then the others."""
        documents, _ = self.store.find(Query("workspace", "", order=[("position", "asc")]))
        return tuple(Workspace(row["name"], row["id"], row["user_id"], row["token"]) for row in documents)

    def let_in(self, token: str) -> None:
        """From now on this token opens the served workspace, in place of the one before."""
        served = self.workspaces()[0]
        self.store.change("workspace", replace(served, token=token).document(0))

    def owner(self, token: str) -> Workspace | None:
        """The workspace that this token opens."""
        given = token.encode()
        return next((one for one in self.workspaces() if compare_digest(one.token.encode(), given)), None)

    def _founded(self) -> Document:
        founded = self.store.get("world", "world")
        assert founded is not None, "a service founds its world before it answers"
        return founded
