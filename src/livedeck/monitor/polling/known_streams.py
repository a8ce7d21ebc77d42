"""Which streams of an event can be named: the current one, and earlier ones that something remembers.

The platform lists none (platform-api.md, "Missing operations").
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from livedeck.client import Api, Event
from livedeck.monitor.model.records import StreamRecord
from livedeck.text import values


@dataclass(frozen=True, slots=True)
class KnownStream:
    """A stream by its id, and who knows of it: `current`, `history` or `recording`, with what is known beside."""

    id: str
    source: str

    def __str__(self) -> str:
        return f"{values.safe(self.id, 40)} ({self.source})"


async def current_stream(api: Api, event: Event) -> KnownStream | None:
    """The stream that the event names, None where it has none. Raises ApiError."""
    if event.stream is None and "stream" not in event.model_fields_set:
        event = await api.events.get(event.id)
    return KnownStream(event.stream.id, "current") if event.stream and event.stream.id else None


def remembered_streams(current: KnownStream | None, history: Iterable[StreamRecord]) -> tuple[KnownStream, ...]:
    """The current one, then those of the history, newest first; each once."""
    newest = sorted(history, key=lambda record: record.last, reverse=True)
    past = [KnownStream(record.stream_id, f"history, {record.first:%Y-%m-%d %H:%M}Z") for record in newest]
    return _unique([*([current] if current else []), *past])


async def known_streams(api: Api, event: Event, history: Iterable[StreamRecord]) -> tuple[KnownStream, ...]:
    """All of them, each once: those of `remembered_streams`, then those of recordings. Raises ApiError."""
    remembered = remembered_streams(await current_stream(api, event), history)
    return _unique([*remembered, *[stream async for stream in _recorded(api, event)]])


def _unique(streams: Iterable[KnownStream]) -> tuple[KnownStream, ...]:
    unique: dict[str, KnownStream] = {}
    for stream in streams:
        unique.setdefault(stream.id, stream)
    return tuple(unique.values())


async def _recorded(api: Api, event: Event) -> AsyncIterator[KnownStream]:
    """Streams that recordings name; the document shows no such field, and some platforms have it (platform-api.md,
    "Recording")."""
    async for recording in api.events.iterate_videos(event.id):
        stream_id = (recording.model_extra or {}).get("stream_id")
        if isinstance(stream_id, str) and stream_id:
            yield KnownStream(stream_id, f"recording {values.safe(recording.title or '', 40)}".rstrip())
