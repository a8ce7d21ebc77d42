"""What the Videos screens know: recordings, and the extras of the selected video, each list with its age.

The monitor does not watch videos. A list is asked for while somebody looks at it, and again when it is old.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from livedeck.client import (
    Annotation,
    Api,
    ApiError,
    Cue,
    Poster,
    Recording,
    Subtitle,
    Unfinished,
    checked_cues,
)
from livedeck.monitor import Clock, EventState
from livedeck.ui.shelf import Shelf

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
class Video:
    """A video as the deck knows it. `event`: the name of the event it was recorded of, empty where it has none.

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
class Listing:
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


UNASKED = Listing()


class Library:
    """`video`: the selected one. `part`: the screen of it that is looked at. `track`: whose cues are read."""

    def __init__(self, api: Api | None, shelf: Shelf, clock: Clock) -> None:
        self.api, self.shelf, self.clock = api, shelf, clock
        self.video: Video | None = None
        self.track: Subtitle | None = None
        self.part = PARTS[0]
        self._known: dict[tuple[str, str], Listing] = {}
        self._edition = 0
        self._found: tuple[Video, ...] = ()

    def known(self, part: str) -> Listing:
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

    async def ask(self, part: str, events: Sequence[EventState]) -> tuple[Listing, Listing]:
        """Ask for that part; the list before and after."""
        place = self._place(part)
        before, now, edition = self.known(part), self.clock.now(), self._edition
        try:
            after = Listing(await self._read(part, events), self.clock.now(), now)
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


async def posters(api: Api, video_id: str) -> tuple[Poster, ...]:
    """Every poster of a video. Raises ApiError."""
    return tuple([one async for one in api.posters.iterate(video_id)])


async def tracks(api: Api, video_id: str) -> tuple[Subtitle, ...]:
    """Every track of a video in the order that viewers see. Raises ApiError."""
    return tuple([one async for one in api.subtitles.iterate(video_id, order="position.asc")])


async def notes(api: Api, video_id: str) -> tuple[Annotation, ...]:
    """Every annotation of a video. Raises ApiError."""
    return tuple([one async for one in api.annotations.iterate(video_id)])


async def cues(api: Api, video_id: str, track_id: str) -> tuple[Cue, ...]:
    """What the file of a track says. Raises Unfinished while it is recognised, and any other ApiError."""
    track = await api.subtitles.get(video_id, track_id)
    if not track.url or not track.url.reveal():
        raise Unfinished("the track has no file yet: its speech is being recognised")
    what = "read subtitle file"
    return checked_cues(await api.cdn.content(track.url, LARGEST_TRACK, what), what)


EXTRAS: Mapping[str, Callable[[Api, str], Awaitable[tuple[Any, ...]]]] = {
    "posters": posters,
    "subtitles": tracks,
    "annotations": notes,
}
