"""Served workspace as the TOML of a template: it rebuilds the same names, not the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import tomlkit

from livedeck.simulator.api.events import DEFAULTS
from livedeck.simulator.engine.encoder import MEASURED, RECORDED
from livedeck.simulator.engine.store import Document
from livedeck.simulator.engine.world import World
from livedeck.simulator.rehearsal.offsets import offset_of
from livedeck.simulator.rehearsal.shapes import own_shapes
from livedeck.simulator.rehearsal.template import EventRow

_COMMENT = """\
# Workspace of a simulator. Offsets count from the start.
# Left out: ids, keys (an empty key stays), chat, posters of one's own, moderators, earlier streams of an event, videos
# of deleted events, and uploads that are not UTF-8 text. A real or recorded encoder is written as the shape clean.
# Two events, rooms or videos with the same name are refused: rename one of them.
"""
_COPIED = sorted({*EventRow.model_fields} & {*DEFAULTS} - {"scheduled", "stream", "video"})


def template_of(world: World) -> str:
    """Return the served workspace as TOML, with times relative to now."""
    writer = _Writer(world)
    tables = {
        "projects": writer.projects(),
        "events": [writer.event(row) for row in writer.all("event")],
        "videos": [*writer.videos()],
        "rooms": [writer.room(row) for row in writer.all("room") if not row["deleted_at"]],
        "targets": writer.targets,
        "shapes": own_shapes(world),
    }
    return _COMMENT + tomlkit.dumps({name: rows for name, rows in tables.items() if rows or name == "events"})


class _Writer:
    def __init__(self, world: World) -> None:
        self._world = world
        self._workspace = world.workspaces()[0].workspace_id
        self._now = world.now()
        self.targets: dict[str, Document] = {}

    def all(self, kind: str) -> list[Document]:
        return self._world.store.find_all(kind, self._workspace, order=[("created_at", "asc")])

    def projects(self) -> list[Document]:
        folders = self.all("folder")
        return [
            {"name": project["name"]}
            | _given(folders=[row["name"] for row in folders if row["project_id"] == project["id"]])
            for project in self.all("project")
        ]

    def event(self, event: Document) -> Document:
        stream = event["stream"] or {}
        parent = self._world.store.get("folder", event["folder_id"] or "") or self._world.store.get(
            "project", event["project_id"] or ""
        )
        finished = stream.get("finished_at")
        states = event["encoder"] if stream else []
        states = states[:-1] if states and finished and not states[-1][2] else states
        began = datetime.fromisoformat(stream["started_at"]).timestamp() if states else 0.0
        return (
            {"name": event["name"], "created": self._offset(event["created_at"])}
            | _given(
                parent=parent and parent["name"],
                updated=self._offset(event["updated_at"]),
                scheduled=self._offset(event["scheduled"]["time"]),
                stream=self._offset(stream.get("started_at")),
                finished=self._offset(finished),
                video=event["video"] if event["video"]["presets"] else None,
            )
            | {name: event[name] for name in _COPIED if event.get(name) != DEFAULTS[name]}
            | _given(
                encoder=[
                    [offset_of((began if shape == RECORDED else at) - self._now), _shape(shape, sending=sending)]
                    for at, shape, sending in states
                ]
            )
            | _given(relays=[self._relay(row, row["key"]) for row in event["restreams"]])
        )

    def _relay(self, row: Document, key: str) -> Document:
        target = {"name": row["name"], "url": row["url"]} | _given(description=row.get("description"))
        target |= {} if key else {"key": ""}
        name = next((name for name, other in self.targets.items() if other == target), None)
        if name is None:
            name = f"target-{len(self.targets) + 1}"
            self.targets[name] = target
        is_down, is_off = row.get("status") == "disconnected", row.get("enabled") is False
        return {"to": name} | ({"status": "disconnected"} if is_down else {}) | ({"enabled": False} if is_off else {})

    def videos(self) -> Iterator[Document]:
        """Yield the videos whose event is not deleted."""
        for video in self.all("video"):
            event = self._world.store.get("event", video["event_id"])
            if event is not None:
                yield self._video(video, event["name"])

    def _video(self, video: Document, event: str) -> Document:
        extras = {kind: self._of(kind, video) for kind in ("poster", "subtitle", "annotation", "material")}
        return {
            "title": video["title"],
            "event": event,
            "created": self._offset(video["created_at"]),
            "duration": video["duration"],
        } | _given(
            posters=[row["from_time"] for row in sorted(extras["poster"], key=lambda row: row["active"])],
            subtitles=[
                {"language": row["language"], "description": row["description"]}
                | (_given(file=row["file_name"]) if row["storage"] else {})
                for row in extras["subtitle"]
            ],
            annotations=[
                {"type": row["annotation_type"]}
                | {name: row[name] for name in ("title", "link", "start_time", "end_time") if row[name] != ""}
                for row in extras["annotation"]
            ],
            materials=[row for material in extras["material"] for row in self._material(material)],
        )

    def _of(self, kind: str, video: Document) -> list[Document]:
        rows = self._world.store.find_all(kind, self._workspace, [("of_video", video["id"])])
        order = {"poster": "from_time", "annotation": "start_time"}.get(kind, "position")
        return sorted(rows, key=lambda row: float(row[order]))

    def _material(self, material: Document) -> list[Document]:
        try:
            content = self._world.files.path(material["storage_id"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return []
        return [{"title": material["title"], "file": material["filename"], "text": content}]

    def room(self, room: Document) -> Document:
        return (
            {"name": room["name"], "created": self._offset(room["created_at"])}
            | ({} if room["type"] == "permanent_meeting" else {"type": room["type"]})
            | _given(relays=[self._relay(row, row["stream_key"]) for row in room["restreams"]])
        )

    def _offset(self, timestamp: str | None) -> str | None:
        return None if timestamp is None else offset_of(datetime.fromisoformat(timestamp).timestamp() - self._now)


def _shape(shape: str, *, sending: bool) -> str:
    """Return the shape for the table of a workspace: `silent` while the encoder does not send.

    A real or recorded encoder gets the shape `clean`, because a table describes only simulated ones.
    """
    if not sending:
        return "silent"
    return "clean" if shape in {MEASURED, RECORDED} else shape


def _given(**fields: Any) -> Document:
    return {name: value for name, value in fields.items() if value not in (None, "", [])}
