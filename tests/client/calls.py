"""Every public call of the client, found by inspection, with arguments that the document allows."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from livedeck.client import AnnotationDraft, Api, ChatExport, EventDraft, RelayDraft, RoomDraft, Secret, SubtitleDraft
from livedeck.client.resources.base import Resource

VTT = b"WEBVTT\n\n00:01.000 --> 00:02.500\nHello\n"
KEY = "key-of-the-relay-88bb"

DRAFTS: Mapping[str, object] = {
    "api.events.create": EventDraft(name="Evening show", type="one-time"),
    "api.events.update": EventDraft(name="Evening show"),
    "api.rooms.create": RoomDraft(
        owner_id="o1",
        name="Studio",
        restreams=(RelayDraft(name="A", url="rtmp://a.example/x", stream_key=Secret(KEY)),),
    ),
    "api.relays.update": RelayDraft(stream_key=Secret(KEY)),
    "api.subtitles.update": SubtitleDraft(language="en", description="Spoken"),
    "api.annotations.create": AnnotationDraft(type="text", title="Look"),
    "api.annotations.update": AnnotationDraft(title="Look"),
}


def values(folder: Path) -> dict[str, Any]:
    """Return an argument for each name that a call requires."""
    file = folder / "track.vtt"
    file.write_bytes(VTT)
    return {
        "from_time": 1.5,
        "poster_url": "https://cdn.example.com/picture.png",
        "language": "en",
        "description": "Spoken",
        "file": file,
        "file_name": "track.vtt",
        "title": "A track",
        "languages": ["en", "de"],
        "subtitle_ids": ["s1", "s2"],
        "material_ids": ["m1", "m2"],
        "started_at": datetime(2026, 11, 21, 18, tzinfo=UTC),
        "export": ChatExport("event_id", "stream_id"),
        "to": folder / "chat.json",
    }


def names() -> list[str]:
    """Return each public method of each resource, such as `api.posters.create`."""
    api = Api(base_url="http://127.0.0.1", token="t")
    resources = {name: resource for name, resource in vars(api).items() if isinstance(resource, Resource)}
    return sorted(
        f"api.{name}.{method}"
        for name, resource in resources.items()
        for method, _ in inspect.getmembers(resource, inspect.ismethod)
        if not method.startswith("_") and method not in {"address", "watch"}  # sends nothing; ends with its stream
    )


def bound(api: Api, name: str, folder: Path, identifier: str | None = None) -> Any:
    """Begin a call with all required arguments. An id is the name of its parameter unless `identifier` is given."""
    _, resource, method = name.split(".")
    function = getattr(getattr(api, resource), method)
    known = values(folder) | {"draft": DRAFTS.get(name)}
    parameters = inspect.signature(function).parameters.values()
    required = [
        each
        for each in parameters
        if each.name == "draft" or (each.default is each.empty and each.kind is not each.VAR_KEYWORD)
    ]
    return function(**{each.name: known.get(each.name, identifier or each.name) for each in required})


async def result(begun: Awaitable[object] | AsyncIterator[object]) -> object:
    """Return the result of a call; for an iterator, all its items."""
    if isinstance(begun, AsyncIterator):
        return [item async for item in begun]
    return await begun
