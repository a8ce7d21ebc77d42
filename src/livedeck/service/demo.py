"""The demo workspaces: tables in `data/`, made into documents from a seed and the moment of the start.

Offsets in the tables are relative to that moment: `-00:22:05`, `+1d`, `-2d 03:00:00`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

from livedeck.service.chapters.events import DEFAULTS, new_event
from livedeck.service.clock import stamp
from livedeck.service.encoder import Turn
from livedeck.service.errors import ServiceError
from livedeck.service.identity import key_of, number_of, uuid_of
from livedeck.service.store import Document
from livedeck.service.world import Workspace, World

Table = dict[str, Any]


def names() -> list[str]:
    """The workspaces that there are tables for."""
    return sorted(file.name.removesuffix(".toml") for file in _tables().iterdir() if file.name.endswith(".toml"))


def found(world: World, seed: int, workspaces: Sequence[Workspace]) -> None:
    """Forget what is there and make these workspaces anew, as of now. All of it or none of it."""
    start = world.clock.now()
    with world.store.transaction():
        world.store.clear()
        world.store.create("world", "", {"id": "world", "seed": seed, "start": stamp(start)})
        for position, workspace in enumerate(workspaces):
            world.store.create("workspace", "", workspace.document(position))
            for kind, document in _Making(seed, start, workspace, _table(workspace.name)).documents():
                world.store.create(kind, workspace.workspace_id, document)
    world.encoders.forget()


def _tables() -> resources.abc.Traversable:
    return resources.files("livedeck.service") / "data"


def _table(name: str) -> Table:
    if name not in names():
        raise ServiceError(f"there is no workspace {name!r}: choose from {', '.join(names())}")
    return tomllib.loads((_tables() / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class _Making:
    """One workspace in the making: its table, and what its times and ids are made from."""

    seed: int
    start: datetime
    workspace: Workspace
    table: Table

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Every document of the workspace, with its kind."""
        parents: dict[str, Document] = {}
        for project in self.table["projects"]:
            parents[project["name"]] = {"project_id": self._id("project", project["name"]), "folder_id": None}
            yield "project", {"id": self._id("project", project["name"]), "name": project["name"]}
            for folder in project.get("folders", ()):
                parents[folder] = parents[project["name"]] | {"folder_id": self._id("folder", folder)}
                yield "folder", {"id": self._id("folder", folder), "name": folder} | parents[project["name"]]
        for row in self.table["events"]:
            yield "event", self._event(row, parents.get(row.get("parent", ""), {}))

    def _event(self, row: Table, parent: Document) -> Document:
        identity = self._id("event", row["name"])
        key = key_of(self.seed, "streamkey", identity)
        event = new_event(identity, self.workspace.workspace_id, row["name"], self._stamp(row["created"]), key)
        return (
            event
            | {name: value for name, value in row.items() if name in DEFAULTS}
            | parent
            | {
                "parent_id": parent.get("folder_id") or parent.get("project_id"),
                "restreams": [self._restream(event, place, relay) for place, relay in enumerate(row.get("relays", ()))],
                "scheduled": {"time": self._moment(row.get("scheduled"))},
                "stream": self._stream(identity, row),
                "encoder": [*self._turns(row)],
                "signal": number_of(self.seed, "signal", identity),
                "updated_at": self._moment(row.get("updated")),
            }
        )

    def _restream(self, event: Document, place: int, relay: Table) -> Document:
        identity = self._id("restream", event["id"], place)
        target = self.table["targets"][relay["to"]]
        fixed = {"id": identity, "event_id": event["id"], "key": key_of(self.seed, "restream", identity)}
        state = {"status": relay.get("status", "connected"), "enabled": relay.get("enabled", True)}
        return fixed | dict(target) | state | {"created_at": event["created_at"], "updated_at": None}

    def _stream(self, event: str, row: Table) -> Document | None:
        if "stream" not in row:
            return None
        ended = row.get("finished")
        status = "finished" if ended else "pending"
        times = {"started_at": self._moment(row["stream"]), "finished_at": self._moment(ended)}
        return {"id": self._id("stream", event), "event_id": event, "status": status} | times

    def _turns(self, row: Table) -> Iterator[Turn]:
        for offset, shape in row.get("encoder", ()):
            yield Turn(self._at(offset).timestamp(), shape)
        if "finished" in row:
            yield Turn(self._at(row["finished"]).timestamp(), "clean", sending=False)

    def _id(self, *parts: object) -> str:
        return uuid_of(self.seed, self.workspace.workspace_id, *parts)

    def _at(self, offset: str) -> datetime:
        return self.start + timedelta(seconds=seconds(offset))

    def _stamp(self, offset: str) -> str:
        return stamp(self._at(offset))

    def _moment(self, offset: str | None) -> str | None:
        return None if offset is None else self._stamp(offset)


_OFFSET = re.compile(r"([+-])(?:(\d+)d)? ?(?:(\d\d):(\d\d):(\d\d))?")


def seconds(offset: str) -> int:
    """The seconds of an offset as the tables write it. Raises ValueError for anything else."""
    match = _OFFSET.fullmatch(offset)
    if match is None:
        raise ValueError(f"not an offset: {offset!r}")
    days, hours, minutes, rest = (int(part or 0) for part in match.groups()[1:])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    return -total if match[1] == "-" else total
