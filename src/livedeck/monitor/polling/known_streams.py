"""Streams of an event: the current one, and earlier ones from the history and from recordings.

The platform has no list of an event's streams (platform-api.md, "Missing operations").
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from livedeck.client import Api, Event
from livedeck.monitor.model.records import StreamRecord
from livedeck.record import Record
from livedeck.text import values


class KnownStream(Record):
    """Stream of an event. `source`: `current`, `history` or `recording`, with a date or a title."""

    id: str
    source: str

    def __str__(self) -> str:
        return f"{values.safe(self.id, 40)} ({self.source})"


async def current_stream(api: Api, event: Event) -> KnownStream | None:
    """Return the current stream of the event, or None. Raises ApiError."""
    if event.stream is None and "stream" not in event.model_fields_set:
        event = await api.events.get(event.id)
    return KnownStream(event.stream.id, "current") if event.stream and event.stream.id else None


def remembered_streams(current: KnownStream | None, history: Iterable[StreamRecord]) -> tuple[KnownStream, ...]:
    """Return the current stream and then the streams of the history, newest first, without duplicates."""
    newest = sorted(history, key=lambda record: record.last, reverse=True)
    past = [KnownStream(record.stream_id, f"history, {record.first:%Y-%m-%d %H:%M}Z") for record in newest]
    return _unique([*([current] if current else []), *past])


async def known_streams(api: Api, event: Event, history: Iterable[StreamRecord]) -> tuple[KnownStream, ...]:
    """Return the event's streams without duplicates: current, in the history, with a recording. Raises ApiError."""
    remembered = remembered_streams(await current_stream(api, event), history)
    return _unique([*remembered, *[stream async for stream in _recorded(api, event)]])


def _unique(streams: Iterable[KnownStream]) -> tuple[KnownStream, ...]:
    unique: dict[str, KnownStream] = {}
    for stream in streams:
        unique.setdefault(stream.id, stream)
    return tuple(unique.values())


async def _recorded(api: Api, event: Event) -> AsyncIterator[KnownStream]:
    """Yield the streams of the event's recordings.

    Their ids are in a field that only some platforms have and no document names (platform-api.md, "Recording").
    """
    async for recording in api.events.iterate_videos(event.id):
        stream_id = (recording.model_extra or {}).get("stream_id")
        if isinstance(stream_id, str) and stream_id:
            yield KnownStream(stream_id, f"recording {values.safe(recording.title or '', 40)}".rstrip())
