"""Resources that are polled on demand: keys, lists as last received, videos and their materials."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from livedeck.client import Material, Recording, Shortfall
from livedeck.record import Record

T = TypeVar("T")


class ResourceKind(StrEnum):
    """Kind of a list that is polled on demand."""

    ROOMS = "rooms"
    RECORDINGS = "recordings"  # of an event
    POSTERS = "posters"  # of a video, like the three below
    SUBTITLES = "subtitles"
    ANNOTATIONS = "annotations"
    MATERIALS = "materials"
    CUES = "cues"  # of a subtitle track
    EVENT = "event"  # a single event, with fields that the list lacks


class ResourceKey(NamedTuple):
    """Key of a list. `id`: event or video of the list. `track`: subtitle track."""

    kind: ResourceKind
    id: str = ""
    track: str = ""


ROOM_LIST = ResourceKey(ResourceKind.ROOMS)


def recordings_key(event_id: str) -> ResourceKey:
    """Return the key of an event's recordings."""
    return ResourceKey(ResourceKind.RECORDINGS, event_id)


def event_key(event_id: str) -> ResourceKey:
    """Return the key of a single event, as read by its id."""
    return ResourceKey(ResourceKind.EVENT, event_id)


class CachedList(Record, Generic[T]):
    """List as last received, in the platform's order.

    `as_of`: time of the last good reply (this machine's clock); None before the first. `error`: reason of a failure
    since, or empty; the items of the last good reply stay. `interval`: seconds between two polls; a list older than two
    intervals is stale. `unreadable`: number of rows left out because their id could not be read. `shortfall`: rows that
    the platform announced but that were not received; None if the list is complete.
    """

    items: tuple[T, ...] = ()
    as_of: datetime | None = None
    error: str = ""
    interval: float = 30.0
    unreadable: int = 0
    shortfall: Shortfall | None = None

    def find(self, item_id: str) -> T | None:
        """Return the item with an id, or None."""
        items: tuple[Any, ...] = self.items
        return next((item for item in items if item.id == item_id), None)

    def is_stale(self, now: datetime) -> bool:
        """Return whether the list may be outdated (monitoring.md, "Freshness")."""
        return self.as_of is None or (now - self.as_of).total_seconds() > 2 * self.interval


class Video(Record):
    """Video. `event`: name of the recorded event, or empty.

    `recording`: None if only the id is known, because the platform cannot return a single video (platform-api.md,
    "Missing operations").
    """

    id: str
    event: str = ""
    recording: Recording | None = None

    @property
    def title(self) -> str:
        """Title of the video, or its id if it has no title."""
        return (self.recording and self.recording.title) or self.id

    @property
    def duration(self) -> float | None:
        """Duration in seconds; None if unknown."""
        return self.recording.duration if self.recording else None


class KnownMaterial(Record):
    """Additional material of a video. `size`: bytes; None if unknown. `source`: where the deck found the material."""

    id: str
    video_id: str
    title: str = ""
    file_name: str = ""
    media_type: str = ""
    size: int | None = None
    at: datetime | None = None
    source: str = ""

    @classmethod
    def of(cls, material: Material, video_id: str, source: str) -> KnownMaterial:
        """Return a material of the platform."""
        return cls(
            material.id,
            video_id,
            material.title or "",
            material.filename or "",
            material.filetype or "",
            material.size,
            material.created_at,
            source,
        )
