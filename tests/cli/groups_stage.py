"""Every command of the groups, and every other command that sends one of the 43 operations, ready to be called."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from cli.commands import TIMEOUT, called, served

ON_AIR, DRAFT, REHEARSAL = "Choir, hall B", "Untitled event", "Rehearsal Tuesday"
VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nGood evening\n"
PICTURE = "https://pictures.example/a.png"


@dataclass
class Stage:
    """Simulator over HTTP. `home`: home of the user. `service`: JSON that `serve` printed."""

    home: Path
    service: dict[str, Any]

    @property
    def env(self) -> dict[str, str]:
        """Settings that point at the simulator, as variables."""
        names = {"LIVEDECK_BASE_URL": "base_url", "LIVEDECK_UPLOAD_URL": "upload_url", "LIVEDECK_TOKEN": "token"}
        return {name: str(self.service[field]) for name, field in names.items()}

    def read(self, *words: str) -> Any:
        """Return the JSON that a command prints."""
        done = called(self.home, *words, "--json", env=self.env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ids(self, *words: str) -> list[str]:
        """Return the ids in a list that a command prints."""
        return [item["id"] for item in self.read(*words)["items"]]

    def video(self) -> str:
        """Return the id of the recording that has tracks, annotations and posters."""
        return self.ids("video", "list", REHEARSAL)[0]

    def file(self, name: str, text: str) -> str:
        """Write a file in the home and return its path."""
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def made(self, *words: str) -> str:
        """Return the id of the object that a command creates."""
        result = self.read(*words, "--yes")
        assert result["verdict"] == "done", result
        return str(result["target"]["id"])

    def control(self, method: str, path: str, body: Any = None) -> None:
        """Send a request to the simulator's control API."""
        request = urllib.request.Request(
            f"{self.service['control_url']}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self.service['control_token']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            assert answer.status < 300

    @contextmanager
    def fault(self, **what: Any) -> Iterator[None]:
        """Keep a fault in force until the end of the block."""
        match = {name: what.pop(name) for name in ("method", "path") if name in what}
        self.control("POST", "faults", what | {"match": match})
        try:
            yield
        finally:
            self.control("DELETE", "faults")


@contextmanager
def stage(home: Path) -> Iterator[Stage]:
    """Yield a stage with a simulator of its own."""
    with served(home) as (_, service):
        yield Stage(home, service)


def _with_stream(stage: Stage) -> str:
    event = _draft(stage)
    stage.made("event", "schedule", event, "--started-at", "in 1 h")
    return event


_COUNT = count(1)


def _key_file(stage: Stage) -> str:
    """Return the path of a file with a key that no relay profile has yet."""
    return stage.file("key", f"key-77f{next(_COUNT)}")


def _room(stage: Stage) -> tuple[str, str]:
    for room in stage.ids("room", "list"):
        relays = stage.ids("room", "relay", "list", room)
        if relays:
            return room, relays[0]
    raise AssertionError("no room has a relay profile")


def _poster(stage: Stage) -> tuple[str, str]:
    video = stage.video()
    return video, stage.made("video", "poster", "create", video, "--from-time", "12")


def _track(stage: Stage) -> tuple[str, str]:
    video = stage.video()
    file = stage.file("a.uk.vtt", VTT)
    return video, stage.made("video", "subtitle", "upload", video, "--file", file, "--language", "uk")


def _annotation(stage: Stage) -> tuple[str, str]:
    video = stage.video()
    times = ("--start-time", "90", "--end-time", "120")
    return video, stage.made("video", "annotation", "create", video, "--title", "Bar 118", *times)


def _material(stage: Stage) -> tuple[str, str]:
    video = stage.video()
    return video, stage.made("video", "material", "upload", video, "--file", stage.file("words.txt", "words"))


def _draft(stage: Stage) -> str:
    return stage.made("event", "create", "--name", "Made for this")


def folder(stage: Stage) -> str:
    """The id of a project or folder."""
    events = stage.read("event", "list")["items"]
    return next(str(event["parent_id"]) for event in events if event["parent_id"])


Line = Callable[[Stage], tuple[str, ...]]

CHANGES: Mapping[str, Line] = {
    "event.create": lambda _: ("event", "create", "--name", "Evening show", "--type", "one-time"),
    "event.edit": lambda stage: ("event", "edit", _draft(stage), "--name", "Renamed", "--chat-active"),
    "event.enable": lambda stage: ("event", "enable", _draft(stage)),
    "event.complete": lambda stage: ("event", "complete", _draft(stage)),
    "event.move": lambda stage: ("event", "move", _draft(stage), "--parent-id", folder(stage)),
    "event.delete": lambda stage: ("event", "delete", _draft(stage)),
    "event.poster": lambda stage: ("event", "poster", _draft(stage), "--url", PICTURE),
    "event.schedule": lambda stage: ("event", "schedule", _draft(stage), "--started-at", "in 20 min"),
    "event.reschedule": lambda stage: ("event", "reschedule", _with_stream(stage), "--started-at", "in 20 min"),
    "room.create": lambda stage: ("room", "create", "--name", "Board", "--owner-id", stage.service["user_id"]),
    "room.delete": lambda stage: (
        "room", "delete", stage.made("room", "create", "--name", "Gone", "--owner-id", stage.service["user_id"]),
    ),
    "relay.edit": lambda stage: ("room", "relay", "edit", *_room(stage), "--stream-key-file", _key_file(stage)),
    "poster.create": lambda stage: ("video", "poster", "create", stage.video(), "--from-time", "0:20"),
    "poster.import": lambda stage: ("video", "poster", "import", stage.video(), "--url", PICTURE),
    "poster.activate": lambda stage: ("video", "poster", "activate", *_poster(stage)),
    "poster.delete": lambda stage: ("video", "poster", "delete", *_poster(stage)),
    "subtitle.upload": lambda stage: (
        "video", "subtitle", "upload", stage.video(), "--file", stage.file("b.fr.vtt", VTT), "--language", "fr",
    ),
    "subtitle.recognise": lambda stage: ("video", "subtitle", "recognise", stage.video(), "--languages", "it"),
    "subtitle.edit": lambda stage: ("video", "subtitle", "edit", *_track(stage), "--description", "For the hall"),
    "subtitle.copy": lambda stage: ("video", "subtitle", "copy", *_track(stage)),
    "subtitle.delete": lambda stage: ("video", "subtitle", "delete", *_track(stage)),
    "subtitle.reorder": lambda stage: (
        "video", "subtitle", "reorder", stage.video(), *stage.ids("video", "subtitle", "list", stage.video())[::-1],
    ),
    "annotation.create": lambda stage: (
        "video", "annotation", "create", stage.video(), "--title", "Bar 1", "--start-time", "9", "--end-time", "12",
    ),
    "annotation.edit": lambda stage: ("video", "annotation", "edit", *_annotation(stage), "--title", "Bar 119"),
    "annotation.delete": lambda stage: ("video", "annotation", "delete", *_annotation(stage)),
    "material.upload": lambda stage: (
        "video", "material", "upload", stage.video(), "--file", stage.file("c.txt", "words"), "--title", "The words",
    ),
    "material.edit": lambda stage: ("video", "material", "edit", *_material(stage), "--title", "Other words"),
    "material.delete": lambda stage: ("video", "material", "delete", *_material(stage)),
    "material.reorder": lambda stage: (
        "video", "material", "reorder", stage.video(), _material(stage)[1], _material(stage)[1],
    ),
}  # fmt: skip
"""Name of an operation -> function that returns a line for it, about an object that the test may change."""

READS: Mapping[str, Line] = {
    "api.events.list": lambda _: ("event", "list"),
    "api.events.get": lambda _: ("event", "get", ON_AIR),
    "api.events.videos": lambda _: ("video", "list", REHEARSAL),
    "api.rooms.list": lambda _: ("room", "list"),
    "api.rooms.get": lambda stage: ("room", "relay", "list", _room(stage)[0]),
    "api.posters.list": lambda stage: ("video", "poster", "list", stage.video()),
    "api.posters.get": lambda stage: ("video", "poster", "get", *_poster(stage)),
    "api.subtitles.list": lambda stage: ("video", "subtitle", "list", stage.video()),
    "api.subtitles.get": lambda stage: ("video", "subtitle", "get", *_track(stage)),
    "api.annotations.list": lambda stage: ("video", "annotation", "list", stage.video()),
    "api.annotations.get": lambda stage: ("video", "annotation", "get", *_annotation(stage)),
    "api.materials.link": lambda stage: ("video", "material", "get", *_material(stage)),
    "api.qos.get": lambda _: ("event", "qos", ON_AIR),
    "api.chat.export": lambda _: ("event", "chat", ON_AIR, "-o", "-"),
}
"""Method of the client -> function that returns a line which sends its request."""
