"""The demo workspaces: tables in `data/workspaces/`, made into documents from a seed and the moment of the start.

Offsets in the tables are relative to that moment: `-00:22:05`, `+1d`, `-2d 03:00:00`.
"""

from __future__ import annotations

import re
import secrets
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

from livedeck.simulator.api.annotations import new_annotation
from livedeck.simulator.api.events import DEFAULTS, new_event
from livedeck.simulator.api.materials import new_material
from livedeck.simulator.api.posters import new_poster
from livedeck.simulator.api.rooms import new_profile, new_room
from livedeck.simulator.api.subtitles import new_track
from livedeck.simulator.api.videos import new_video
from livedeck.simulator.engine.clock import stamp
from livedeck.simulator.engine.content import RATE, Pace, transcribe, webvtt
from livedeck.simulator.engine.encoder import EncoderState
from livedeck.simulator.engine.identity import key_of, number_of, uuid_of
from livedeck.simulator.engine.store import Document, Files
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.errors import SimulatorError

Table = dict[str, Any]


def names() -> list[str]:
    """The workspaces that there are tables for."""
    return sorted(file.name.removesuffix(".toml") for file in _tables().iterdir() if file.name.endswith(".toml"))


def found(world: World, seed: int, workspaces: Sequence[Workspace]) -> None:
    """Forget what is there and make these workspaces anew, as of now. All of it or none of it."""
    start = world.clock.now()
    with world.store.transaction():
        world.store.clear()
        world.files.clear()
        fixed = {"id": "world", "start": stamp(start), "secret": secrets.token_hex(32)}
        world.store.create("world", "", fixed | {"seed": seed, "drawn": 0})
        for position, workspace in enumerate(workspaces):
            world.store.create("workspace", "", workspace.document(position))
            making = _Making(seed, start, workspace, _table(workspace.name), world.files)
            for kind, document in making.documents():
                world.store.create(kind, workspace.workspace_id, document)
    world.encoders.forget()


def _tables() -> resources.abc.Traversable:
    return resources.files("livedeck.simulator") / "data" / "workspaces"


def _table(name: str) -> Table:
    if name not in names():
        raise SimulatorError(f"there is no workspace {name!r}: choose from {', '.join(names())}")
    return tomllib.loads((_tables() / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class _Making:
    """One workspace in the making: its table, and what its times and ids are made from."""

    seed: int
    start: datetime
    workspace: Workspace
    table: Table
    files: Files

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Every document of the workspace, with its kind."""
        parents: dict[str, Document] = {}
        for project in self.table["projects"]:
            parents[project["name"]] = {"project_id": self._id("project", project["name"]), "folder_id": None}
            yield "project", {"id": self._id("project", project["name"]), "name": project["name"]}
            for folder in project.get("folders", ()):
                parents[folder] = parents[project["name"]] | {"folder_id": self._id("folder", folder)}
                yield "folder", {"id": self._id("folder", folder), "name": folder} | parents[project["name"]]
        for row in _each(self.table["events"]):
            yield "event", self._event(row, parents.get(row.get("parent", ""), {}))
        for row in self.table.get("videos", ()):
            yield from self._video(row)
        for row in self.table.get("rooms", ()):
            yield "room", self._room(row)

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
                "enabled": "scheduled" in row or "stream" in row,
                "completed_at": self._moment(row.get("finished")),
                "chat": [Pace(self._at(row["stream"]).timestamp(), RATE)] if row.get("chat_active") else [],
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

    def _turns(self, row: Table) -> Iterator[EncoderState]:
        for offset, shape in row.get("encoder", ()):
            yield EncoderState(self._at(offset).timestamp(), shape)
        if "finished" in row:
            yield EncoderState(self._at(row["finished"]).timestamp(), "clean", sending=False)

    def _video(self, row: Table) -> Iterator[tuple[str, Document]]:
        identity, created = self._id("video", row["title"]), self._stamp(row["created"])
        yield "video", new_video(identity, row["title"], row["duration"], created, self._id("event", row["event"]))
        for at in row.get("posters", ()):
            active = at == row["posters"][-1]
            yield "poster", new_poster(self._id("poster", identity, at), identity, at, created, active=active)
        for place, track in enumerate(row.get("subtitles", ()), 1):
            yield "subtitle", self._track(row, identity, place, track)
        for place, note in enumerate(row.get("annotations", ())):
            yield "annotation", new_annotation(self._id("annotation", identity, place), identity, created, note)
        for place, file in enumerate(row.get("materials", ()), 1):
            yield "material", self._material(identity, place, created, file)

    def _track(self, row: Table, video: str, place: int, track: Table) -> Document:
        identity = self._id("subtitle", video, place)
        asked = {"language": track["language"], "description": track["description"]}
        made = new_track(identity, video, self._stamp(row["created"]), place, asked)
        cues = transcribe(number_of(self.seed, "cues", identity), row["duration"])
        if "file" not in track:
            return made | {"cues": cues, "file_name": f"auto-{track['language']}.vtt"}
        self.files.write(identity, webvtt(cues).encode())
        return made | {"file_name": track["file"], "storage": identity}

    def _material(self, video: str, place: int, created: str, file: Table) -> Document:
        drawn = number_of(self.seed, "material", video, place)
        material = new_material(drawn, video, file["title"], file["file"], created)
        content = file["text"].encode()
        self.files.write(material["storage_id"], content)
        return material | {"size": len(content), "position": place}

    def _room(self, row: Table) -> Document:
        identity, created = self._id("room", row["name"]), self._stamp(row["created"])
        room = new_room(identity, row["name"], row.get("type", "permanent_meeting"), created)
        return room | {"restreams": [self._profile(room, *one) for one in enumerate(row.get("relays", ()))]}

    def _profile(self, room: Document, place: int, relay: Table) -> Document:
        identity = self._id("profile", room["id"], place)
        target = self.table["targets"][relay["to"]]
        asked = {"name": relay.get("name", target["name"]), "url": target["url"]}
        key = {"stream_key": key_of(self.seed, "profile", identity)}
        return new_profile(identity, room["id"], asked | key, room["created_at"])

    def _id(self, *parts: object) -> str:
        return uuid_of(self.seed, self.workspace.workspace_id, *parts)

    def _at(self, offset: str) -> datetime:
        return self.start + timedelta(seconds=seconds(offset))

    def _stamp(self, offset: str) -> str:
        return stamp(self._at(offset))

    def _moment(self, offset: str | None) -> str | None:
        return None if offset is None else self._stamp(offset)


def _each(rows: Sequence[Table]) -> Iterator[Table]:
    """Every row, and one with a `count` that often, numbered."""
    for row in rows:
        if "count" not in row:
            yield row
        for number in range(1, row.get("count", 0) + 1):
            yield row | {"name": f"{row['name']} {number:03}"}


_OFFSET = re.compile(r"([+-])(?:(\d{1,3})d)? ?(?:(\d\d):(\d\d):(\d\d))?")


def seconds(offset: str) -> int:
    """The seconds of an offset as the tables write it. Raises ValueError for anything else."""
    match = _OFFSET.fullmatch(offset)
    if match is None:
        raise ValueError(f"not an offset: {offset!r}")
    days, hours, minutes, rest = (int(part or 0) for part in match.groups()[1:])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    return -total if match[1] == "-" else total
