"""Workspaces: documents built from a table (template.py), a seed and the time of the start."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from livedeck.simulator.api.annotations import new_annotation
from livedeck.simulator.api.events import DEFAULTS, new_event
from livedeck.simulator.api.materials import new_material
from livedeck.simulator.api.posters import new_poster
from livedeck.simulator.api.rooms import new_profile, new_room
from livedeck.simulator.api.subtitles import new_track
from livedeck.simulator.api.videos import new_video
from livedeck.simulator.engine.clock import format_timestamp
from livedeck.simulator.engine.content import MESSAGES_PER_SECOND, ChatRate, transcribe, webvtt
from livedeck.simulator.engine.encoder import EncoderState
from livedeck.simulator.engine.identity import key_of, number_of, uuid_of
from livedeck.simulator.engine.reference import read_table, table_names
from livedeck.simulator.engine.store import Document, Files, Store
from livedeck.simulator.engine.world import Workspace, World
from livedeck.simulator.rehearsal.event_fields import create_event
from livedeck.simulator.rehearsal.naming import there_are
from livedeck.simulator.rehearsal.offsets import seconds_of
from livedeck.simulator.rehearsal.shapes import use_shapes
from livedeck.simulator.rehearsal.template import numbered

Table = Mapping[str, Any]
POSTED = ("scenario", "workspace_table")
"""Kinds of the documents that hold posted tables; they outlive a workspace."""


def names() -> list[str]:
    """Return the names of the shipped workspaces."""
    return table_names("workspaces")


def posted_tables(store: Store) -> dict[str, Table]:
    """Return the posted workspaces by name."""
    return {row["id"]: row["table"] for row in store.find_all("workspace_table", "", order=[("id", "asc")])}


def find_table(name: str, posted: Mapping[str, Table], folder: Path | None = None) -> Table:
    """Return the table of a workspace: a shipped one, a posted one, or the file `NAME.toml` in `folder`.

    Raises LookupError, which lists the existing names, and OSError or ValueError for a file that cannot be read.
    """
    if name in names():
        return _shipped(name)
    if name in posted:
        return posted[name]
    beside = [] if folder is None else sorted(path.stem for path in folder.glob("*.toml"))
    if folder is not None and name in beside:
        return read_toml((folder / f"{name}.toml").read_text(encoding="utf-8"))
    raise LookupError(f'no workspace is called "{name}"; {there_are([*names(), *posted], name)}')


@cache
def _shipped(name: str) -> Table:
    return read_table("workspaces", name)


def event_names(table: Table) -> list[str]:
    """Return the names of the events in the table of a workspace."""
    return [row["name"] for row in _numbered(table["events"])]


def read_toml(content: str) -> dict[str, Any]:
    """Return the table with its dates as text, as JSON has them. Raises ValueError if it is not TOML."""
    table: dict[str, Any] = json.loads(json.dumps(tomllib.loads(content), default=_iso))
    return table


def _iso(value: datetime | date | time) -> str:
    return value.isoformat()


def rebuild(world: World, seed: int, workspaces: Sequence[Workspace], table: Table | None = None) -> None:
    """Replace everything with `workspaces`, as of now, without faults or scenario, in one transaction.

    The clock, the tokens and the posted tables stay. `table`: table of the first workspace; None for the shipped table
    with its name.
    """
    start, files = world.clock.now(), set[str]()
    with world.store.transaction():
        control = world.store.get("world", "control")
        world.store.clear(keep=POSTED)
        if control is not None:
            world.store.put("world", control)
        world.store.put("world", {"id": "world", "start": format_timestamp(start), "seed": seed, "drawn": 0})
        world.store.put("world", {"id": "table", "table": table})
        world.keep_clock(world.clock.state)
        for position, workspace in enumerate(workspaces):
            world.store.insert("workspace", "", workspace.document(position))
            rows = table if table is not None and position == 0 else find_table(workspace.name, {})
            builder = _WorkspaceBuilder(seed, start, workspace, rows, world.files)
            for kind, document in builder.documents():
                world.store.insert(kind, workspace.workspace_id, document)
                files.add(document.get("storage") or document.get("storage_id", ""))
        for event_id, fields in (table or {}).get("recorded", {}).items():
            create_event(world, start.timestamp(), event_id, fields)
        world.timeline.forget()
        use_shapes(world, (table or {}).get("shapes", {}))
    world.files.keep(files)
    world.faults.restart()


def serve(world: World, name: str, seed: int, table: Table | None) -> None:
    """Create a workspace in place of the served one, as of now. `table`: None for a shipped one."""
    served, *others = world.workspaces()
    rebuild(world, seed, [replace(served, name=name), *others], table)


def served_table(world: World) -> Table | None:
    """Return the table that the served workspace was created from, None for a shipped one."""
    kept = world.store.get("world", "table")
    table: Table | None = None if kept is None else kept["table"]
    return table


@dataclass(frozen=True, slots=True)
class _WorkspaceBuilder:
    """Documents of a workspace, built from its table, the seed and the start."""

    seed: int
    start: datetime
    workspace: Workspace
    table: Table
    files: Files

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield every document of the workspace, with its kind."""
        parents: dict[str, Document] = {}
        for project in self.table.get("projects", ()):
            parents[project["name"]] = {"project_id": self._id("project", project["name"]), "folder_id": None}
            yield "project", {"id": self._id("project", project["name"]), "name": project["name"]}
            for folder in project.get("folders", ()):
                parents[folder] = parents[project["name"]] | {"folder_id": self._id("folder", folder)}
                yield "folder", {"id": self._id("folder", folder), "name": folder} | parents[project["name"]]
        for row in _numbered(self.table["events"]):
            yield "event", self._event(row, parents.get(row.get("parent", ""), {}))
        for row in self.table.get("videos", ()):
            yield from self._video(row)
        for row in self.table.get("rooms", ()):
            yield "room", self._room(row)

    def _event(self, row: Table, parent: Document) -> Document:
        event_id = self._id("event", row["name"])
        key = key_of(self.seed, "streamkey", event_id)
        event = new_event(event_id, self.workspace.workspace_id, row["name"], self._timestamp(row["created"]), key)
        return (
            event
            | {name: value for name, value in row.items() if name in DEFAULTS}
            | parent
            | {
                "parent_id": parent.get("folder_id") or parent.get("project_id"),
                "restreams": [self._restream(event, index, relay) for index, relay in enumerate(row.get("relays", ()))],
                "scheduled": {"time": self._optional_timestamp(row.get("scheduled"))},
                "stream": self._stream(event_id, row),
                "encoder": [*self._encoder_states(row)],
                "signal": number_of(self.seed, "signal", event_id),
                "enabled": "scheduled" in row or "stream" in row,
                "completed_at": self._optional_timestamp(row.get("finished")),
                "chat": self._chat_rates(row),
                "updated_at": self._optional_timestamp(row.get("updated")),
            }
        )

    def _restream(self, event: Document, index: int, relay: Table) -> Document:
        restream_id = self._id("restream", event["id"], index)
        target = self.table["targets"][relay["to"]]
        fixed = {"id": restream_id, "event_id": event["id"], "key": key_of(self.seed, "restream", restream_id)}
        state = {"status": relay.get("status", "connected"), "enabled": relay.get("enabled", True)}
        named = {"description": "", **target, **{name: relay[name] for name in ("name",) if name in relay}}
        return fixed | named | state | {"created_at": event["created_at"], "updated_at": None}

    def _stream(self, event_id: str, row: Table) -> Document | None:
        if "stream" not in row:
            return None
        finished = row.get("finished")
        status = "finished" if finished else "pending"
        times = {"started_at": self._timestamp(row["stream"]), "finished_at": self._optional_timestamp(finished)}
        return {"id": self._id("stream", event_id), "event_id": event_id, "status": status} | times

    def _encoder_states(self, row: Table) -> Iterator[EncoderState]:
        for offset, shape in row.get("encoder", ()):
            yield EncoderState(self._at(offset).timestamp(), shape)
        if "finished" in row:
            yield EncoderState(self._at(row["finished"]).timestamp(), "clean", sending=False)

    def _chat_rates(self, row: Table) -> list[ChatRate]:
        is_on = row.get("chat_active")
        begins = is_on and "stream" in row
        return [ChatRate(self._at(row["stream"]).timestamp(), MESSAGES_PER_SECOND)] if begins else []

    def _video(self, row: Table) -> Iterator[tuple[str, Document]]:
        video_id, created_at = self._id("video", row["title"]), self._timestamp(row["created"])
        yield "video", new_video(video_id, row["title"], row["duration"], created_at, self._id("event", row["event"]))
        for at in row.get("posters", ()):
            active = at == row["posters"][-1]
            yield "poster", new_poster(self._id("poster", video_id, at), video_id, at, created_at, active=active)
        for position, track in enumerate(row.get("subtitles", ()), 1):
            yield "subtitle", self._track(row, video_id, position, track)
        for index, draft in enumerate(row.get("annotations", ())):
            yield "annotation", new_annotation(self._id("annotation", video_id, index), video_id, created_at, draft)
        for position, file in enumerate(row.get("materials", ()), 1):
            yield "material", self._material(video_id, position, created_at, file)

    def _track(self, row: Table, video_id: str, position: int, track: Table) -> Document:
        track_id = self._id("subtitle", video_id, position)
        draft = {"language": track["language"], "description": track["description"]}
        document = new_track(track_id, video_id, self._timestamp(row["created"]), position, draft)
        cues = transcribe(number_of(self.seed, "cues", track_id), row["duration"])
        if "file" not in track:
            return document | {"cues": cues, "file_name": f"auto-{track['language']}.vtt"}
        self.files.save(track_id, webvtt(cues).encode())
        return document | {"file_name": track["file"], "storage": track_id}

    def _material(self, video_id: str, position: int, created_at: str, file: Table) -> Document:
        number = number_of(self.seed, "material", video_id, position)
        material = new_material(number, video_id, file["title"], file["file"], created_at)
        content = file["text"].encode()
        self.files.save(material["storage_id"], content)
        return material | {"size": len(content), "position": position}

    def _room(self, row: Table) -> Document:
        room_id, created_at = self._id("room", row["name"]), self._timestamp(row["created"])
        room = new_room(room_id, row["name"], row.get("type", "permanent_meeting"), created_at)
        profiles = [self._profile(room, index, relay) for index, relay in enumerate(row.get("relays", ()))]
        return room | {"restreams": profiles}

    def _profile(self, room: Document, index: int, relay: Table) -> Document:
        profile_id = self._id("profile", room["id"], index)
        target = self.table["targets"][relay["to"]]
        draft = {"name": relay.get("name", target["name"]), "url": target["url"]}
        key = {"stream_key": target.get("key") or key_of(self.seed, "profile", profile_id)}
        return new_profile(profile_id, room["id"], draft | key, room["created_at"])

    def _id(self, *parts: object) -> str:
        return uuid_of(self.seed, self.workspace.workspace_id, *parts)

    def _at(self, offset: str) -> datetime:
        return self.start + timedelta(seconds=seconds_of(offset))

    def _timestamp(self, offset: str) -> str:
        return _timestamp(self.start, offset)

    def _optional_timestamp(self, offset: str | None) -> str | None:
        return None if offset is None else self._timestamp(offset)


@lru_cache(64)
def _timestamp(start: datetime, offset: str) -> str:
    """Return the time of an offset. Cached, because the numbered events of a row share their offsets."""
    return format_timestamp(start + timedelta(seconds=seconds_of(offset)))


def _numbered(rows: Sequence[Table]) -> Iterator[Table]:
    """Yield every row; a row with a `count` repeats that often, numbered."""
    for row in rows:
        for name in numbered(row["name"], row.get("count")):
            yield {**row, "name": name}
