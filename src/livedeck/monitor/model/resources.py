"""What is polled only while somebody looks at it: its keys, lists as last answered, videos and their materials."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from livedeck.client import Material, Recording

T = TypeVar("T")


class ResourceKind(StrEnum):
    """What a list is of."""

    ROOMS = "rooms"
    RECORDINGS = "recordings"  # of an event
    POSTERS = "posters"  # of a video, as the three below
    SUBTITLES = "subtitles"
    ANNOTATIONS = "annotations"
    MATERIALS = "materials"
    CUES = "cues"  # of a subtitle track
    EVENT = "event"  # by itself, with the fields that the list left out


class ResourceKey(NamedTuple):
    """Names one list. `id`: of the event or the video that it belongs to; `track`: of the subtitle track."""

    kind: ResourceKind
    id: str = ""
    track: str = ""


ROOM_LIST = ResourceKey(ResourceKind.ROOMS)


def recordings_key(event_id: str) -> ResourceKey:
    """The list of the recordings of that event."""
    return ResourceKey(ResourceKind.RECORDINGS, event_id)


def event_key(event_id: str) -> ResourceKey:
    """The list of that event alone, as it is answered when it is asked for by its id."""
    return ResourceKey(ResourceKind.EVENT, event_id)


@dataclass(frozen=True, slots=True)
class CachedList(Generic[T]):
    """A list as it was last answered, in the platform's order.

    `as_of`: when the last good answer came (this machine's clock); None: there was none, which is not the same as an
    empty list. `error`: why the last request failed, or empty; what was known stays. `interval`: seconds between two
    requests; what is older than two of them is stale. `unreadable`: rows of that answer that are left out, as not even
    their id could be read.
    """

    items: tuple[T, ...] = ()
    as_of: datetime | None = None
    error: str = ""
    interval: float = 30.0
    unreadable: int = 0

    def find(self, item_id: str) -> T | None:
        """The item with that id, or None where it is not listed."""
        items: tuple[Any, ...] = self.items
        return next((item for item in items if item.id == item_id), None)

    def is_stale(self, now: datetime) -> bool:
        """Whether it may be otherwise by now (monitoring.md, "Freshness")."""
        return self.as_of is None or (now - self.as_of).total_seconds() > 2 * self.interval


@dataclass(frozen=True, slots=True)
class Video:
    """A video. `event`: the name of the event it was recorded of, empty where it has none.

    `recording`: None where only its id is known: no endpoint reads a video (platform-api.md, "Missing operations").
    """

    id: str
    event: str = ""
    recording: Recording | None = None

    @property
    def title(self) -> str:
        """Its title, or its id where it has none."""
        return (self.recording and self.recording.title) or self.id

    @property
    def duration(self) -> float | None:
        """Seconds; None where nobody said."""
        return self.recording.duration if self.recording else None


@dataclass(frozen=True, slots=True)
class KnownMaterial:
    """A material. `size`: bytes, None where nobody said. `source`: how the deck knows of it."""

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
        """As the platform described it."""
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
