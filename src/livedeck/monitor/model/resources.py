"""What is polled only while somebody looks at it: its keys, lists as last answered, videos and their materials."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from livedeck.client import Material, Recording


@dataclass(frozen=True, slots=True)
class Video:
    """A video. `event`: the name of the event it was recorded of, empty where it has none.

    `recording`: None where only its id is known: no endpoint reads a video (decisions.md, "What has no endpoint").
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
