"""All that lives behind the routes: documents, time, encoders and who may enter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hmac import compare_digest

from livedeck.service.clock import ServiceClock
from livedeck.service.encoder import Encoders
from livedeck.service.store import Document, Query, Store


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
    clock: ServiceClock
    encoders: Encoders

    def now(self) -> float:
        """The service's time in epoch seconds."""
        return self.clock.now().timestamp()

    def seed(self) -> int:
        """The seed that everything was made from."""
        founded = self.store.get("world", "world")
        return int(founded["seed"]) if founded else 0

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
