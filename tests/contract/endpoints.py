"""The 43 endpoints of platform-api.md, "Operations": the contract of client and simulator.

`path` is as the document writes it, without the address before it; the poster upload counts twice, for a video and for
an event. `client`: the method that sends it. `action`: the action of a person that sends it, by its name in the
registry. `operation`: of a write, by its name in the catalogue.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Row(NamedTuple):
    """Endpoint."""

    method: str
    path: str
    chapter: str
    client: str
    action: str
    operation: str = ""

    @property
    def shape(self) -> tuple[str, str]:
        """Method and path, whatever the names of its ids and the suffix of the chat."""
        return self.method, shape(self.path)


def shape(path: str) -> str:
    """Return a path of the document or of a route, with its ids left blank."""
    return re.sub(
        r"/chat\.(?:json|csv|txt|\{\w+\})$", "/chat.*", re.sub(r"(?<=/)(?::\w+|\{\w+(?::\w+)?\})", "{}", path)
    )


_POSTERS = "/v1/videos/:video_id/posters"
_SUBTITLES = "/v1/videos/:video_id/subtitles"
_ANNOTATIONS = "/v1/videos/:video_id/annotations"
_MATERIALS = "/v1/additional-materials"
_EVENTS = "/v2/live/events"
_EVENT = "/v2/live/events/:event_id"
_ROOMS = "/v1/meet/rooms"
_MEETING = "Meeting rooms and relay profiles"

ROWS = (
    Row("GET", _POSTERS, "Posters of a video", "api.posters.list", "screen.videos"),
    Row("POST", _POSTERS, "Posters of a video", "api.posters.create", "poster.create", "poster.create"),
    Row("GET", f"{_POSTERS}/:poster_id", "Posters of a video", "api.posters.get", "poster.delete"),
    Row(
        "POST",
        f"{_POSTERS}/:poster_id/active",
        "Posters of a video",
        "api.posters.set_active",
        "poster.activate",
        "poster.activate",
    ),
    Row(
        "DELETE", f"{_POSTERS}/:poster_id", "Posters of a video", "api.posters.delete", "poster.delete", "poster.delete"
    ),
    Row("POST", "/v2/poster", "Posters of a video", "api.posters.upload_for_video", "poster.import", "poster.import"),
    Row("POST", "/v2/poster", "Posters of a video", "api.posters.upload_for_event", "event.poster", "event.poster"),
    Row("GET", _SUBTITLES, "Subtitles", "api.subtitles.list", "screen.videos"),
    Row("POST", _SUBTITLES, "Subtitles", "api.subtitles.upload", "subtitle.upload", "subtitle.upload"),
    Row(
        "POST", f"{_SUBTITLES}/auto", "Subtitles", "api.subtitles.generate", "subtitle.recognise", "subtitle.recognise"
    ),
    Row("PATCH", f"{_SUBTITLES}/reorder", "Subtitles", "api.subtitles.reorder", "order.send", "subtitle.reorder"),
    Row("GET", f"{_SUBTITLES}/:subtitle_id", "Subtitles", "api.subtitles.get", "subtitle.read"),
    Row("PATCH", f"{_SUBTITLES}/:subtitle_id", "Subtitles", "api.subtitles.update", "subtitle.edit", "subtitle.edit"),
    Row("POST", f"{_SUBTITLES}/:subtitle_id/copy", "Subtitles", "api.subtitles.copy", "subtitle.copy", "subtitle.copy"),
    Row(
        "DELETE",
        f"{_SUBTITLES}/:subtitle_id",
        "Subtitles",
        "api.subtitles.delete",
        "subtitle.delete",
        "subtitle.delete",
    ),
    Row("GET", _ANNOTATIONS, "Annotations", "api.annotations.list", "screen.videos"),
    Row("GET", f"{_ANNOTATIONS}/:annotation_id", "Annotations", "api.annotations.get", "annotation.edit"),
    Row("POST", _ANNOTATIONS, "Annotations", "api.annotations.create", "annotation.create", "annotation.create"),
    Row(
        "PUT",
        f"{_ANNOTATIONS}/:annotation_id",
        "Annotations",
        "api.annotations.update",
        "annotation.edit",
        "annotation.edit",
    ),
    Row(
        "DELETE",
        f"{_ANNOTATIONS}/:annotation_id",
        "Annotations",
        "api.annotations.delete",
        "annotation.delete",
        "annotation.delete",
    ),
    Row(
        "POST",
        "/additional-material",
        "Additional materials",
        "api.materials.upload",
        "material.upload",
        "material.upload",
    ),
    Row("GET", f"{_MATERIALS}/:material_id/link", "Additional materials", "api.materials.link", "material.link"),
    Row(
        "PUT",
        f"{_MATERIALS}/:material_id",
        "Additional materials",
        "api.materials.rename",
        "material.edit",
        "material.edit",
    ),
    Row(
        "PATCH",
        f"{_MATERIALS}/reorder",
        "Additional materials",
        "api.materials.reorder",
        "order.send",
        "material.reorder",
    ),
    Row(
        "DELETE",
        f"{_MATERIALS}/:material_id",
        "Additional materials",
        "api.materials.delete",
        "material.delete",
        "material.delete",
    ),
    Row("POST", _EVENTS, "Live events", "api.events.create", "event.create", "event.create"),
    Row("PUT", _EVENT, "Live events", "api.events.update", "event.edit", "event.edit"),
    Row("GET", _EVENT, "Live events", "api.events.get", "event.edit"),
    Row("GET", _EVENTS, "Live events", "api.events.list", "screen.events"),
    Row("GET", f"{_EVENT}/videos", "Live events", "api.events.videos", "screen.videos"),
    Row("PUT", f"{_EVENT}/enable", "Live events", "api.events.enable", "event.enable", "event.enable"),
    Row("PUT", f"{_EVENT}/complete", "Live events", "api.events.complete", "event.complete", "event.complete"),
    Row("POST", f"{_EVENT}/stream", "Live events", "api.streams.schedule", "event.schedule", "event.schedule"),
    Row("PUT", f"{_EVENT}/stream", "Live events", "api.streams.reschedule", "event.reschedule", "event.reschedule"),
    Row("DELETE", _EVENT, "Live events", "api.events.delete", "event.delete", "event.delete"),
    Row("PUT", f"{_EVENT}/move", "Live events", "api.events.move", "event.move", "event.move"),
    Row("GET", f"{_EVENT}/qos", "Live events", "api.qos.get", "screen.qos"),
    Row("GET", f"{_EVENT}/stream/:stream_id/chat.json", "Live events", "api.chat.export", "chat.export"),
    Row("POST", _ROOMS, _MEETING, "api.rooms.create", "room.create", "room.create"),
    Row("GET", f"{_ROOMS}/{{room_id}}", _MEETING, "api.rooms.get", "relay.edit"),
    Row("GET", _ROOMS, _MEETING, "api.rooms.list", "screen.rooms"),
    Row(
        "PATCH",
        f"{_ROOMS}/{{room_id}}/restreams/{{restream_id}}",
        _MEETING,
        "api.relays.update",
        "relay.edit",
        "relay.edit",
    ),
    Row("DELETE", f"{_ROOMS}/{{room_id}}", _MEETING, "api.rooms.delete", "room.delete", "room.delete"),
)

BY_WAY_OF = {
    "api.annotations.iterate": "api.annotations.list",
    "api.chat.messages": "api.chat.export",
    "api.chat.selected": "api.chat.export",
    "api.events.iterate": "api.events.list",
    "api.events.iterate_videos": "api.events.videos",
    "api.posters.iterate": "api.posters.list",
    "api.rooms.iterate": "api.rooms.list",
    "api.subtitles.iterate": "api.subtitles.list",
    "api.subtitles.wait_done": "api.subtitles.get",
}
"""Methods of the client that send the request of another method."""
