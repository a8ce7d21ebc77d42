"""Selected video, and its lists in the snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from livedeck.client import Recording, Shortfall, Subtitle
from livedeck.monitor import (
    BroadcastState,
    CachedList,
    EventState,
    ResourceKey,
    ResourceKind,
    Snapshot,
    Video,
    recordings_key,
)

if TYPE_CHECKING:
    from livedeck.ui.shell.context import Context

PARTS = ("videos", "posters", "subtitles", "annotations", "materials")

MAX_EVENTS = 30
"""Maximum number of events whose recordings are polled. The selected event is always among them."""


@dataclass(slots=True)
class VideoSelection:
    """Selection on the Videos screens.

    Attributes:
        video: selected video.
        track: track whose cues are shown.
        part: part that was shown last.
        opened: videos opened by their id, the last opened first.
    """

    video: Video | None = None
    track: Subtitle | None = None
    part: str = PARTS[0]
    opened: tuple[Video, ...] = ()
    _merged: tuple[tuple[tuple[str, CachedList[Recording]], ...], CachedList[Video]] | None = None

    def key(self, part: str) -> ResourceKey | None:
        """Return the key of a part's list; None without a selected video, and for cues without a selected track."""
        if self.video is None or (part == "cues" and self.track is None):
            return None
        return extra_key(self.video, part, self.track.id if part == "cues" and self.track else "")

    def open(self, video: Video) -> None:
        """Select a video that was opened by its id."""
        self.video = video
        self.opened = (video, *(other for other in self.opened if other.id != video.id))

    def videos(self, snapshot: Snapshot, selected: EventState | None) -> tuple[Video, ...]:
        """Return the videos opened by their id, then the recordings. `selected`: the selected event."""
        recordings = self.recordings(snapshot, selected).items
        ids = {video.id for video in recordings}
        return (*(video for video in self.opened if video.id not in ids), *recordings)

    def events(self, snapshot: Snapshot, selected: EventState | None) -> tuple[tuple[str, CachedList[Recording]], ...]:
        """Return the events in `recorded_events` that are polled: name and recordings of each."""
        events = recorded_events(snapshot, selected)[:MAX_EVENTS]
        return tuple((state.event.name or state.id, snapshot.cached(recordings_key(state.id))) for state in events)

    def recordings(self, snapshot: Snapshot, selected: EventState | None) -> CachedList[Video]:
        """Return the recordings of the events in `recorded_events`, newest first. `as_of`: time of the oldest list."""
        lists = self.events(snapshot, selected)
        if self._merged is None or self._merged[0] != lists:
            self._merged = lists, _merge(lists)
        return self._merged[1]


def extra_key(video: Video, part: str, track: str = "") -> ResourceKey:
    """Return the key of a list of a video. `track`: subtitle track, for its cues."""
    return ResourceKey(ResourceKind(part), video.id, track)


def selection_of(ctx: Context) -> VideoSelection:
    """Return the VideoSelection of this deck, which its screens share."""
    return ctx.state(_new_selection)


def _new_selection(_: Context) -> VideoSelection:
    return VideoSelection()


def recorded_events(snapshot: Snapshot, selected: EventState | None) -> list[EventState]:
    """Return the events whose recordings are listed: the selected event, then completed events."""
    completed = [
        state
        for state in snapshot.events
        if state.phase.tally is BroadcastState.COMPLETED and (selected is None or state.id != selected.id)
    ]
    return [*([selected] if selected else []), *completed]


def _merge(lists: Sequence[tuple[str, CachedList[Recording]]]) -> CachedList[Video]:
    videos = [Video(recording.id, name, recording) for name, cached in lists for recording in cached.items]
    videos.sort(key=_created_at, reverse=True)
    as_of = min((cached.as_of for _, cached in lists if cached.as_of), default=None)
    error = next((cached.error for _, cached in lists if cached.error), "")
    interval = max((cached.interval for _, cached in lists), default=0.0)
    unreadable = sum(cached.unreadable for _, cached in lists)
    shortfall = _sum([cached.shortfall for _, cached in lists if cached.shortfall])
    items = tuple({video.id: video for video in videos}.values())
    return CachedList(items, as_of, error, interval, unreadable, shortfall)


def _sum(shortfalls: Sequence[Shortfall]) -> Shortfall | None:
    """Return the sum of the missing rows of several lists; None if no list is incomplete."""
    if not shortfalls:
        return None
    missing, announced = (
        [counts for counts in column if counts is not None]
        for column in zip(*((each.missing, each.announced) for each in shortfalls), strict=True)
    )
    are_known = len(missing) == len(announced) == len(shortfalls)
    return Shortfall(sum(missing), sum(announced)) if are_known else Shortfall()


def _created_at(video: Video) -> float:
    created_at = video.recording.created_at if video.recording else None
    return created_at.timestamp() if created_at else 0.0
