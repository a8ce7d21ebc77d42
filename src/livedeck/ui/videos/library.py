"""What the Videos screens know: recordings, the extras of the selected video, and materials that nothing lists."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from livedeck.client import Api, ApiError, Cue, Incomplete, Material, Recording, Subtitle, checked_cues, collect
from livedeck.monitor import Clock, EventState, History, KnownMaterial, MaterialRecord, Video

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context


class Shown(Protocol):
    """What the shelf needs of a video."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def recording(self) -> Recording | None:
        """What the platform said of it."""


class MaterialCache:
    """Materials by video, in the order in which they were last put. `history` None: forgotten when the deck ends."""

    def __init__(self, history: History | None, clock: Clock) -> None:
        self.lasts = history is not None
        self._history, self._clock = history, clock
        self._known: dict[str, dict[str, KnownMaterial]] = {}
        self._gone: set[str] = set()

    async def things(self, video: Shown) -> tuple[KnownMaterial, ...]:
        """The materials of that video that anybody told of: the platform beside the video, the history, this deck."""
        kept = await self._history.materials(video.id) if self._history else ()
        told = [KnownMaterial.of(one, video.id, "the platform") for one in state_file(video.recording)]
        recorded = [
            KnownMaterial(one.id, video.id, one.title, one.file_name, at=one.at, source="history") for one in kept
        ]
        ordered = {one.id: one for one in self._known.get(video.id, {}).values()}
        for one in recorded:  # written again as it is changed or moved: the last line counts
            ordered[one.id] = ordered.pop(one.id, one)  # what this deck saw itself says more
        for one in told:
            ordered[one.id] = one
        return tuple(one for one in ordered.values() if one.id not in self._gone)

    async def put(self, things: Iterable[KnownMaterial]) -> None:
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


def state_file(recording: Recording | None) -> tuple[Material, ...]:
    """`additional_materials` where a video object carries it; what cannot be read is left out."""
    found = ((recording.model_extra or {}) if recording else {}).get("additional_materials")
    items = found if isinstance(found, list) else []
    return tuple(_read(items))


def _read(items: Iterable[object]) -> Iterator[Material]:
    for one in items:
        with suppress(ValueError):
            yield Material.model_validate(one)


AGE = 10.0

"""Seconds after which a list that is looked at is asked for again."""


PENDING_AGE = 3.0

"""The same while speech is being recognised (platform-api.md, 4: poll until `status` is `done`)."""


OLD = 30.0

"""Seconds after which a list counts as stale."""


EVENTS = 30

"""So many events are asked for their recordings; the selected one is always among them."""


AT_ONCE = 4


LARGEST_TRACK = 16 * 2**20


PARTS = ("videos", "posters", "subtitles", "annotations", "materials")


@dataclass(frozen=True, slots=True)
class CachedList:
    """A list as it was last answered at `at`; `tried`: when it was last asked for; None: it is to be asked for.

    `why`: the last question failed, and how; what was known stays.
    """

    items: tuple[Any, ...] = ()
    at: datetime | None = None
    tried: datetime | None = None
    why: str = ""

    def due(self, now: datetime) -> bool:
        """Whether it is to be asked for."""
        pending = any(isinstance(one, Subtitle) and one.status == "pending" for one in self.items)
        return self.tried is None or (now - self.tried).total_seconds() >= (PENDING_AGE if pending else AGE)

    def stale(self, now: datetime) -> bool:
        """Whether it may not be believed any more."""
        return self.at is not None and (now - self.at).total_seconds() >= OLD


UNASKED = CachedList()


class ResourceCache:
    """`video`: the selected one. `part`: the screen of it that is looked at. `track`: whose cues are read."""

    def __init__(self, api: Api | None, shelf: MaterialCache, clock: Clock) -> None:
        self.api, self.shelf, self.clock = api, shelf, clock
        self.video: Video | None = None
        self.track: Subtitle | None = None
        self.part = PARTS[0]
        self._known: dict[tuple[str, str], CachedList] = {}
        self._edition = 0
        self._found: tuple[Video, ...] = ()

    def known(self, part: str) -> CachedList:
        """What is known of that part of the selected video; of all videos for `videos`."""
        return self._known.get(self._place(part), UNASKED)

    def expire(self) -> None:
        """Something was changed, or somebody wants to know: every list is asked for again when it is looked at."""
        self._edition += 1
        self._known = {place: replace(one, tried=None) for place, one in self._known.items()}

    def videos(self) -> tuple[Video, ...]:
        """Those opened by their id, then the recordings."""
        known = self.known("videos").items
        ids = {one.id for one in known}
        return (*(one for one in self._found if one.id not in ids), *known)

    async def find(self, video_id: str) -> Video:
        """Select the video of that id. Raises ApiError, NotFound where there is none."""
        known = next((one for one in self.videos() if one.id == video_id), None)
        if known is None:
            assert self.api is not None
            await self.api.posters.list(video_id, per_page=1)
            known = Video(video_id)
            self._found = (known, *self._found)
        self.video = known
        return known

    async def ask(self, part: str, events: Sequence[EventState]) -> tuple[CachedList, CachedList]:
        """Ask for that part; the list before and after."""
        place = self._place(part)
        before, now, edition = self.known(part), self.clock.now(), self._edition
        try:
            after = CachedList(await self._read(part, events), self.clock.now(), now)
        except ApiError as error:
            after = replace(before, tried=now, why=str(error))
        self._known[place] = after if edition == self._edition else replace(after, tried=None)
        return before, after

    def _place(self, part: str) -> tuple[str, str]:
        one = {"videos": None, "cues": self.track}.get(part, self.video)
        return part, one.id if one else ""

    async def _read(self, part: str, events: Sequence[EventState]) -> tuple[Any, ...]:
        assert self.api is not None
        if part == "videos":
            return await recordings(self.api, events)
        assert self.video is not None
        if part == "materials":
            return await self.shelf.things(self.video)
        if part == "cues":
            assert self.track is not None
            return await cues(self.api, self.video.id, self.track.id)
        return await EXTRAS[part](self.api, self.video.id)


async def recordings(api: Api, events: Sequence[EventState]) -> tuple[Video, ...]:
    """What was recorded of these events, the newest first. Raises ApiError."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def of(state: EventState) -> list[Video]:
        async with gate:
            name = state.event.name or state.id
            return [Video(one.id, name, one) async for one in api.events.iterate_videos(state.id)]

    found = [video for some in await asyncio.gather(*map(of, events[:EVENTS])) for video in some]
    dated = sorted(found, key=_made, reverse=True)
    return tuple({one.id: one for one in dated}.values())


def _made(video: Video) -> float:
    made = video.recording.created_at if video.recording else None
    return made.timestamp() if made else 0.0


async def cues(api: Api, video_id: str, track_id: str) -> tuple[Cue, ...]:
    """What the file of a track says. Raises Unfinished while it is recognised, and any other ApiError."""
    track = await api.subtitles.get(video_id, track_id)
    if not track.url or not track.url.reveal():
        raise Incomplete("the track has no file yet: its speech is being recognised")
    what = "read subtitle file"
    return checked_cues(await api.cdn.content(track.url, LARGEST_TRACK, what), what)


EXTRAS: Mapping[str, Callable[[Api, str], Awaitable[tuple[Any, ...]]]] = {
    "posters": lambda api, video_id: collect(api.posters.iterate(video_id)),
    "subtitles": lambda api, video_id: collect(api.subtitles.iterate(video_id, order="position.asc")),
    "annotations": lambda api, video_id: collect(api.annotations.iterate(video_id)),
}


def library_of(ctx: Context) -> ResourceCache:
    """What this deck knows of videos."""
    return ctx.state(_library)


def _library(ctx: Context) -> ResourceCache:
    return ResourceCache(ctx.api, MaterialCache(ctx.history, ctx.clock), ctx.clock)
