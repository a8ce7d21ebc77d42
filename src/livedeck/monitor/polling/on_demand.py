"""Lists that are polled only while a screen shows them: rooms, recordings, extras of a video, a single event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from livedeck.client import Api, Incomplete, Material, PagedItems, Recording, Subtitle, checked_cues, collect
from livedeck.monitor.history import History, NotReadError
from livedeck.monitor.model.records import MaterialRecord
from livedeck.monitor.model.resources import ROOM_LIST, CachedList, KnownMaterial, ResourceKey, ResourceKind, Video
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import ItemList, PollResult
from livedeck.monitor.polling.schedule import PollKey, PollSpec

INTERVAL = 15.0
"""Seconds between two polls of a watched list."""

EVENT_INTERVAL = 60.0
"""Seconds between two polls of a single event, whose additional fields hardly change."""

PENDING_INTERVAL = 3.0
"""Seconds between two polls during speech recognition (platform-api.md, "Operations")."""

RANK = 3
"""Rank of these lists in the schedule: after every event if the request budget is short."""

MAX_TRACK_BYTES = 16 * 2**20

MAX_LISTS = 500
"""Maximum number of cached lists, because a deck runs for weeks."""


class MaterialCache:
    """Materials of videos. The platform has no list of them (platform-api.md, "Missing operations").

    `history`: stores the materials; None to lose them when the deck ends.
    """

    def __init__(self, history: History | None, clock: Clock) -> None:
        self._history, self._clock = history, clock
        self._known: dict[str, dict[str, KnownMaterial]] = {}
        self._deleted: set[str] = set()

    async def materials(self, video_id: str, recording: Recording | None) -> tuple[KnownMaterial, ...]:
        """Return the materials of a video, from the platform's video object, the history and this deck.

        Raises NotReadError.
        """
        history = self._history
        recorded = await history.whole(history.materials(video_id)) if history else ()
        materials = dict(self._known.get(video_id, {}))
        for record in recorded:  # each change or move adds a record, and the last record counts
            from_history = KnownMaterial(
                record.id, video_id, record.title, record.file_name, at=record.at, source="history"
            )
            materials[record.id] = materials.pop(record.id, from_history)  # this deck's own data is more complete
        for material in attached_materials(recording):
            materials[material.id] = KnownMaterial.of(material, video_id, "the platform")
        return tuple(material for material in materials.values() if material.id not in self._deleted)

    async def remember(self, materials: Iterable[KnownMaterial]) -> None:
        """Add materials to the remembered materials, in this order."""
        for material in materials:
            of_video = self._known.setdefault(material.video_id, {})
            of_video.pop(material.id, None)
            of_video[material.id] = material
            self._deleted.discard(material.id)
            if self._history:
                now = self._clock.now()  # the newest record of a material also holds its position
                record = MaterialRecord(material.id, material.video_id, material.title, material.file_name, now)
                await self._history.remember_material(record)

    async def forget(self, ids: Sequence[str]) -> None:
        """Forget materials that no longer exist."""
        self._deleted.update(ids)
        if self._history:
            for material_id in ids:
                await self._history.forget_material(material_id)


def attached_materials(recording: Recording | None) -> Iterator[Material]:
    """Yield the readable `additional_materials` of a video object."""
    extra = ((recording.model_extra or {}) if recording else {}).get("additional_materials")
    for item in extra if isinstance(extra, list) else ():
        with suppress(ValueError):
            yield Material.model_validate(item)


class ResourceCache:
    """Lists as last received. The lists on a screen are polled.

    `lists`: all cached lists; a new mapping after each reply. `materials`: materials of videos.
    """

    def __init__(self, api: Api, clock: Clock, cadence: Cadence, history: History | None) -> None:
        self.lists: Mapping[ResourceKey, CachedList[Any]] = MappingProxyType({})
        self.materials = MaterialCache(history, clock)
        self._api, self._cadence = api, cadence
        self._polled = api.without_retry()  # the next round retries
        self._watched: dict[str, tuple[ResourceKey, ...]] = {}
        self._current: set[ResourceKey] = set()  # lists received since the last refresh

    def watch(self, viewer: str, keys: Iterable[ResourceKey]) -> bool:
        """Poll these lists, and no others, for a screen or an attached deck (`viewer`).

        Returns whether the lists are new for this viewer, and one of them has had no reply since the last refresh.
        """
        watched = tuple(keys)
        if self._watched.get(viewer, ()) == watched:
            return False
        self._watched.pop(viewer, None)
        if watched:
            self._watched[viewer] = watched
        return not self._current.issuperset(watched)

    def is_watched(self, key: ResourceKey) -> bool:
        """Return whether a list is polled for any viewer."""
        return any(key in keys for keys in self._watched.values())

    def refresh(self) -> None:
        """Mark all replies, and all requests under way, as outdated after a change."""
        self._current.clear()

    def is_current(self, keys: Iterable[ResourceKey]) -> bool:
        """Return whether all these lists had a reply since the last refresh."""
        return self._current.issuperset(keys)

    def schedule(self) -> dict[PollKey, PollSpec]:
        """Return the watched lists with their intervals."""
        return {key: PollSpec(self._interval(key), RANK) for key in self._keys()}

    def has_response(self, key: ResourceKey) -> bool:
        """Return whether a list was polled, with any result."""
        return key in self.lists

    async def fetch(self, key: ResourceKey) -> ItemList:
        """Fetch a list from its source. Raises ApiError."""
        if key.kind is ResourceKind.MATERIALS:
            try:
                return ItemList(await self.materials.materials(key.id, self._recording(key.id)))
            except NotReadError as error:
                raise Incomplete(str(error)) from None
        return await _FETCH[key.kind](self._polled, key)

    def ingest(self, key: ResourceKey, result: PollResult) -> bool:
        """Store a response. After a failure, the items of the last good response stay.

        Returns True for the list's first response since the last refresh. An outdated response does not count.
        """
        before = self.lists.get(key, CachedList(interval=self._base_interval(key)))
        if isinstance(result.payload, ItemList):
            answer = result.payload
            after = replace(
                before,
                items=answer.items,
                unreadable=answer.unreadable,
                shortfall=answer.shortfall,
                as_of=result.at,
                error="",
            )
        else:
            after = replace(before, error=str(result.payload))
        lists = {**self.lists}
        lists.pop(key, None)
        while len(lists) >= MAX_LISTS:
            oldest = next(iter(lists))
            del lists[oldest]
            self._current.discard(oldest)
        self.lists = MappingProxyType({**lists, key: after})
        if result.is_outdated or key in self._current:
            return False
        self._current.add(key)
        return True

    async def find_video(self, video_id: str) -> Video:
        """Return a video by id, even if no list holds it. Raises ApiError; NotFound if it does not exist."""
        await self._api.posters.list(video_id, per_page=1)
        return Video(video_id)

    def _keys(self) -> Iterable[ResourceKey]:
        return dict.fromkeys(key for keys in self._watched.values() for key in keys)

    def _interval(self, key: ResourceKey) -> float:
        items = self.lists[key].items if key in self.lists else ()
        is_pending = any(isinstance(item, Subtitle) and item.status == "pending" for item in items)
        return PENDING_INTERVAL if is_pending else self._base_interval(key)

    def _base_interval(self, key: ResourceKey) -> float:
        if key.kind is ResourceKind.EVENT:
            return EVENT_INTERVAL
        return self._cadence.rooms if key == ROOM_LIST else INTERVAL

    def _recording(self, video_id: str) -> Recording | None:
        lists = (cached for key, cached in self.lists.items() if key.kind is ResourceKind.RECORDINGS)
        return next((recording for cached in lists if (recording := cached.find(video_id))), None)


async def _fetch_cues(api: Api, key: ResourceKey) -> ItemList:
    """Return the cues in the file of a track. Raises ApiError, which is Incomplete during speech recognition."""
    track = await api.subtitles.get(key.id, key.track)
    if not track.url or not track.url.reveal():
        raise Incomplete("the track has no file yet: its speech is being recognised")
    summary = "read subtitle file"
    return ItemList(checked_cues(await api.cdn.content(track.url, MAX_TRACK_BYTES, summary), summary))


async def _fetch_event(api: Api, key: ResourceKey) -> ItemList:
    return ItemList((await api.events.get(key.id),))


async def _all_of(items: PagedItems[Any]) -> ItemList:
    return ItemList(await collect(items), len(items.unreadable), items.shortfall)


_FETCH: Mapping[ResourceKind, Callable[[Api, ResourceKey], Awaitable[ItemList]]] = {
    ResourceKind.ROOMS: lambda api, _: _all_of(api.rooms.iterate()),
    ResourceKind.RECORDINGS: lambda api, key: _all_of(api.events.iterate_videos(key.id)),
    ResourceKind.POSTERS: lambda api, key: _all_of(api.posters.iterate(key.id)),
    ResourceKind.SUBTITLES: lambda api, key: _all_of(api.subtitles.iterate(key.id, order="position.asc")),
    ResourceKind.ANNOTATIONS: lambda api, key: _all_of(api.annotations.iterate(key.id)),
    ResourceKind.CUES: _fetch_cues,
    ResourceKind.EVENT: _fetch_event,
}
