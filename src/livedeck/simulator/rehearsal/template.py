"""Tables of a workspace: one model for each, and the rules that join them (simulator.md, "Workspaces")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from livedeck.simulator.api.annotations import AnnotationType
from livedeck.simulator.api.events import PRESETS, EventSettings, EventType, Preset
from livedeck.simulator.api.rooms import MAX_PROFILES, RoomType
from livedeck.simulator.engine.encoder import SHAPES
from livedeck.simulator.engine.hls import PICTURES, SOUNDS
from livedeck.simulator.models import UNSET, Boolean, Must, RequestBody, RtmpAddress, integer, number, one_of, text
from livedeck.simulator.rehearsal.naming import there_are
from livedeck.simulator.rehearsal.offsets import Offset
from livedeck.simulator.rehearsal.shapes import ShapeRow

MAX_EVENTS = 5000
"""Maximum number of events of a workspace. A row with a `count` is that many events."""

Name = Annotated[str, text(1, 255)]
Text = Annotated[str, text(0, 2000)]
Problems = Iterator[tuple[str, str]]
"""Pairs of a path in the table, such as `events[2].parent`, and the reason."""


class ProjectRow(RequestBody):
    """Project and the names of its folders."""

    name: Name
    folders: Annotated[list[Name], Field(max_length=1000)] = UNSET


class TargetRow(RequestBody):
    """Address that relays send to. Without a `key`, each relay has one of its own."""

    name: Name
    url: RtmpAddress
    key: Annotated[str, text(0, 512)] = UNSET
    description: Text = ""


class RelayRow(RequestBody):
    """Relay of an event or a room to a target."""

    to: Name
    name: Annotated[str, text(1, 128)] = UNSET
    status: Annotated[str, one_of("connected", "disconnected")] = UNSET
    enabled: Boolean = UNSET


class PictureRow(RequestBody):
    """Sizes of the picture."""

    presets: Annotated[list[Preset], Field(max_length=len(PRESETS))]


class EventRow(EventSettings):
    """Event. `stream`, `finished`: begin and end of its stream. `encoder`: pairs of a begin and a shape, ascending.

    `count`: number of events with this name and a number. `parent`: name of a project or folder.
    """

    name: Name
    count: Annotated[int, integer(1, MAX_EVENTS)] = UNSET
    subtitle: Annotated[str, text(0, 255)] = UNSET
    type: EventType = UNSET
    parent: Name = UNSET
    created: Offset
    updated: Offset = UNSET
    scheduled: Offset = UNSET
    stream: Offset = UNSET
    finished: Offset = UNSET
    encoder: Annotated[
        list[Annotated[tuple[Offset, Name], Must('a pair of offset and shape, such as ["-00:04:00", "clean"]')]],
        Field(max_length=1000),
    ] = UNSET
    relays: Annotated[list[RelayRow], Field(max_length=50)] = UNSET
    video: PictureRow = UNSET
    allow_chat_links: Boolean = UNSET
    picture: Annotated[str, one_of(*PICTURES)] = UNSET
    sound: Annotated[str, one_of(*SOUNDS)] = UNSET


class SubtitleRow(RequestBody):
    """Track of a video; without a `file`, speech recognition made it."""

    language: Annotated[str, text(2, 2)]
    description: Annotated[str, text(0, 255)]
    file: Name = UNSET


class AnnotationRow(RequestBody):
    """Annotation of a video. It leads to no other video and has no poster, because a table knows no ids."""

    type: AnnotationType
    title: Annotated[str, text(0, 255)]
    link: Annotated[str, text(0, 2048)] = UNSET
    start_time: Annotated[int, integer(0, 2**31 - 1)]
    end_time: Annotated[int, integer(0, 2**31 - 1)]


class MaterialRow(RequestBody):
    """File of a video, with its text."""

    title: Name
    file: Name
    text: Annotated[str, text(0, 1_000_000)]


class VideoRow(RequestBody):
    """Video of an event. `duration`: seconds. `posters`: seconds into the video."""

    title: Name
    event: Name
    created: Offset
    duration: Annotated[float, number(0, 1e6)]
    posters: Annotated[list[Annotated[float, number(0, 1e6)]], Field(max_length=1000)] = UNSET
    subtitles: Annotated[list[SubtitleRow], Field(max_length=100)] = UNSET
    annotations: Annotated[list[AnnotationRow], Field(max_length=1000)] = UNSET
    materials: Annotated[list[MaterialRow], Field(max_length=1000)] = UNSET


class RoomRow(RequestBody):
    """Room; its relays are its profiles."""

    name: Name
    type: RoomType = UNSET
    created: Offset
    relays: Annotated[list[RelayRow], Field(max_length=MAX_PROFILES)] = UNSET


class Template(RequestBody):
    """Whole workspace; offsets count from its start."""

    projects: Annotated[list[ProjectRow], Field(max_length=1000, default_factory=list)]
    targets: Annotated[dict[str, TargetRow], Must("tables [targets.NAME]")] = Field(default_factory=dict)
    shapes: Annotated[dict[str, ShapeRow], Must("tables [shapes.NAME]")] = Field(default_factory=dict)
    events: Annotated[list[EventRow], Field(max_length=MAX_EVENTS)]
    videos: Annotated[list[VideoRow], Field(max_length=1000, default_factory=list)]
    rooms: Annotated[list[RoomRow], Field(max_length=1000, default_factory=list)]


def find_flaws(template: Template, shapes: Collection[str] = ()) -> Problems:
    """Yield the contradictions between the tables. `shapes`: further shapes for its encoders."""
    shape_names = [*shapes, *template.shapes, *SHAPES]
    folders = [name for project in template.projects for name in (project.name, *(project.folders or ()))]
    yield from _twice("projects", folders, "project or folder")
    yield from _twice("events", _event_names(template), "event")
    yield from _twice("rooms", [room.name for room in template.rooms], "room")
    yield from _twice("videos", [video.title for video in template.videos], "video")
    if sum(event.count or 1 for event in template.events) > MAX_EVENTS:
        yield "events", f"must be at most {MAX_EVENTS} events"
    for index, event in enumerate(template.events):
        for field, reason in _event_flaws(event, folders, template.targets, shape_names):
            yield f"events[{index}].{field}", reason
    events = _event_names(template)
    for index, video in enumerate(template.videos):
        if video.event not in events:
            yield f"videos[{index}].event", f'no event is called "{video.event}"; {there_are(events, video.event)}'
        for position, annotation in enumerate(video.annotations or ()):
            if annotation.end_time < annotation.start_time:
                yield f"videos[{index}].annotations[{position}].end_time", "must not be before start_time"
    for index, room in enumerate(template.rooms):
        for field, reason in _relay_flaws(room.relays or (), template.targets):
            yield f"rooms[{index}].{field}", reason


def _event_names(template: Template) -> list[str]:
    return [name for event in template.events for name in numbered(event.name, event.count)]


def numbered(name: str, count: int | None) -> list[str]:
    """Return the names of `count` events (None: one without a number)."""
    return [name] if count is None else [f"{name} {number:03}" for number in range(1, count + 1)]


def _twice(table: str, names: Sequence[str], what: str) -> Problems:
    for name, times in Counter(names).items():
        if times > 1:
            yield table, f'{times} {what}s are called "{name}"'


def _event_flaws(
    event: EventRow, folders: Sequence[str], targets: Mapping[str, TargetRow], shapes: Collection[str]
) -> Problems:
    given = event.given()
    if given.get("parent", "") not in {"", *folders}:
        reason = f'no project or folder is called "{event.parent}"; {there_are(folders, event.parent)}'
        yield "parent", reason
    for field in ("finished", "encoder"):
        if field in given and "stream" not in given:
            yield field, "needs `stream`, the time at which its stream begins"
    if given.get("finished", 1e9) <= given.get("stream", -1e9):
        yield "finished", "must be after `stream`"
    states = given.get("encoder", [])
    if [begin for begin, _ in states] != sorted({begin for begin, _ in states}):
        yield "encoder", "must ascend by time"
    for index, (_, shape) in enumerate(states):
        if shape not in shapes:
            yield f"encoder[{index}][1]", f'no shape is called "{shape}"; {there_are(shapes, shape)}'
    yield from _relay_flaws(event.relays or (), targets)


def _relay_flaws(relays: Sequence[RelayRow], targets: Mapping[str, TargetRow]) -> Problems:
    for index, relay in enumerate(relays):
        if relay.to not in targets:
            yield f"relays[{index}].to", f'no target is called "{relay.to}"; {there_are(targets, relay.to)}'
