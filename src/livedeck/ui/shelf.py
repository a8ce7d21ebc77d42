"""The additional materials that the deck knows of: no endpoint lists them (decisions.md, "What has no endpoint")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from livedeck.client import Material, Recording
from livedeck.monitor import Clock, History, MaterialRecord


class Shown(Protocol):
    """What the shelf needs of a video."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def recording(self) -> Recording | None:
        """What the platform said of it."""


@dataclass(frozen=True, slots=True)
class Thing:
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
    def of(cls, one: Material, video_id: str, source: str) -> Thing:
        """As the platform described it."""
        return cls(
            one.id,
            video_id,
            one.title or "",
            one.filename or "",
            one.filetype or "",
            one.size,
            one.created_at,
            source,
        )


class Shelf:
    """Materials by video, in the order in which they were last put. `history` None: forgotten when the deck ends."""

    def __init__(self, history: History | None, clock: Clock) -> None:
        self.lasts = history is not None
        self._history, self._clock = history, clock
        self._known: dict[str, dict[str, Thing]] = {}
        self._gone: set[str] = set()

    async def things(self, video: Shown) -> tuple[Thing, ...]:
        """The materials of that video that anybody told of: the platform beside the video, the history, this deck."""
        kept = await self._history.materials(video.id) if self._history else ()
        told = [Thing.of(one, video.id, "the platform") for one in beside(video.recording)]
        recorded = [Thing(one.id, video.id, one.title, one.file_name, at=one.at, source="history") for one in kept]
        ordered = {one.id: one for one in self._known.get(video.id, {}).values()}
        for one in recorded:  # written again as it is changed or moved: the last line counts
            ordered[one.id] = ordered.pop(one.id, one)  # what this deck saw itself says more
        for one in told:
            ordered[one.id] = one
        return tuple(one for one in ordered.values() if one.id not in self._gone)

    async def put(self, things: Iterable[Thing]) -> None:
        """Remember these, in this order, behind what is known."""
        for one in things:
            shelf = self._known.setdefault(one.video_id, {})
            shelf.pop(one.id, None)
            shelf[one.id] = one
            self._gone.discard(one.id)
            if self._history:
                now = self._clock.now()  # the newest line of a material says its place, too
                record = MaterialRecord(one.id, one.video_id, one.title, one.file_name, now)
                await self._history.remember_material(record)

    async def drop(self, ids: Sequence[str]) -> None:
        """These are not there any more."""
        self._gone.update(ids)
        if self._history:
            for identity in ids:
                await self._history.forget_material(identity)


def beside(recording: Recording | None) -> tuple[Material, ...]:
    """`additional_materials` where a video object carries it; what cannot be read is left out."""
    found = ((recording.model_extra or {}) if recording else {}).get("additional_materials")
    items = found if isinstance(found, list) else []
    return tuple(_read(items))


def _read(items: Iterable[object]) -> Iterator[Material]:
    for one in items:
        with suppress(ValueError):
            yield Material.model_validate(one)
