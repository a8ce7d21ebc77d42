"""Lists that are polled only while somebody looks at them: rooms, recordings, what hangs on a video, an event alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from livedeck.client import Api, Incomplete, Material, PagedItems, Recording, Subtitle, checked_cues, collect
from livedeck.monitor.history import History
from livedeck.monitor.model.records import MaterialRecord
from livedeck.monitor.model.resources import ROOM_LIST, CachedList, KnownMaterial, ResourceKey, ResourceKind, Video
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import ItemList, PollResult
from livedeck.monitor.polling.schedule import PollKey, PollSpec

INTERVAL = 15.0
"""Seconds between two requests for a list that is looked at."""

EVENT_INTERVAL = 60.0
"""The same for an event by itself: what the list of the events lacks hardly changes."""

PENDING_INTERVAL = 3.0
"""The same while speech is being recognised (platform-api.md, "Operations": poll until `status` is `done`)."""

RANK = 3
"""Behind every event where the request budget does not suffice."""

MAX_TRACK_BYTES = 16 * 2**20

MAX_LISTS = 500
"""Lists that are kept at most: a deck stays up for weeks."""


class MaterialCache:
    """Materials by video, in the order in which they were last remembered: no endpoint lists them.

    `history`: keeps them (platform-api.md, "Missing operations"); None: they are forgotten when the deck ends.
    """

    def __init__(self, history: History | None, clock: Clock) -> None:
        self._history, self._clock = history, clock
        self._known: dict[str, dict[str, KnownMaterial]] = {}
        self._deleted: set[str] = set()

    async def materials(self, video_id: str, recording: Recording | None) -> tuple[KnownMaterial, ...]:
        """The materials of that video that anybody told of: the platform beside the video, the history, this deck."""
        recorded = await self._history.materials(video_id) if self._history else ()
        materials = dict(self._known.get(video_id, {}))
        for record in recorded:  # written again as it is changed or moved: the last record counts
            from_history = KnownMaterial(
                record.id, video_id, record.title, record.file_name, at=record.at, source="history"
            )
            materials[record.id] = materials.pop(record.id, from_history)  # what this deck saw itself says more
        for material in attached_materials(recording):
            materials[material.id] = KnownMaterial.of(material, video_id, "the platform")
        return tuple(material for material in materials.values() if material.id not in self._deleted)

    async def remember(self, materials: Iterable[KnownMaterial]) -> None:
        """Remember these, in this order, behind what is known."""
        for material in materials:
            of_video = self._known.setdefault(material.video_id, {})
            of_video.pop(material.id, None)
            of_video[material.id] = material
            self._deleted.discard(material.id)
            if self._history:
                now = self._clock.now()  # the newest record of a material says its place, too
                record = MaterialRecord(material.id, material.video_id, material.title, material.file_name, now)
                await self._history.remember_material(record)

    async def forget(self, ids: Sequence[str]) -> None:
        """These are not there any more."""
        self._deleted.update(ids)
        if self._history:
            for material_id in ids:
                await self._history.forget_material(material_id)


def attached_materials(recording: Recording | None) -> Iterator[Material]:
    """`additional_materials` where a video object carries it; what cannot be read is left out."""
    extra = ((recording.model_extra or {}) if recording else {}).get("additional_materials")
    for item in extra if isinstance(extra, list) else ():
        with suppress(ValueError):
            yield Material.model_validate(item)


class ResourceCache:
    """Lists as they were last answered, of which those are polled that a viewer shows.

    `lists`: all that is cached, frozen; another mapping after each answer. `materials`: those that nothing lists.
    """

    def __init__(self, api: Api, clock: Clock, cadence: Cadence, history: History | None) -> None:
        self.lists: Mapping[ResourceKey, CachedList[Any]] = MappingProxyType({})
        self.materials = MaterialCache(history, clock)
        self._api, self._cadence = api, cadence
        self._polled = api.without_retry()  # the next round asks again
        self._watched: dict[str, tuple[ResourceKey, ...]] = {}
        self._current: set[ResourceKey] = set()  # answered since the last refresh

    def watch(self, viewer: str, keys: Iterable[ResourceKey]) -> bool:
        """Poll these lists while that viewer shows them, and no others for it.

        Returns whether one of them is awaited: it was not answered since the last refresh.
        """
        watched = tuple(keys)
        if self._watched.get(viewer, ()) == watched:
            return False
        self._watched.pop(viewer, None)
        if watched:
            self._watched[viewer] = watched
        return not self._current.issuperset(watched)

    def refresh(self) -> None:
        """Something was changed: what was answered, or requested, before now is out of date."""
        self._current.clear()

    def is_current(self, keys: Iterable[ResourceKey]) -> bool:
        """Whether these lists were answered since the last refresh."""
        return self._current.issuperset(keys)

    def schedule(self) -> dict[PollKey, PollSpec]:
        """What is watched, and how often it is asked for."""
        return {key: PollSpec(self._interval(key), RANK) for key in self._keys()}

    def has_response(self, key: ResourceKey) -> bool:
        """Whether that list was asked for, with whatever result."""
        return key in self.lists

    async def fetch(self, key: ResourceKey) -> ItemList:
        """That list from where it is. Raises ApiError."""
        if key.kind is ResourceKind.MATERIALS:
            return ItemList(await self.materials.materials(key.id, self._recording(key.id)))
        return await _FETCH[key.kind](self._polled, key)

    def ingest(self, key: ResourceKey, result: PollResult) -> bool:
        """Keep an answer; a failure keeps the last good one. Returns whether a viewer waited for it."""
        before = self.lists.get(key, CachedList(interval=self._base_interval(key)))
        if isinstance(result.payload, ItemList):
            answer = result.payload
            after = replace(before, items=answer.items, unreadable=answer.unreadable, as_of=result.at, error="")
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
        """The video of that id, which need not be listed. Raises ApiError, NotFound where there is none."""
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
    """What the file of a track says. Raises Incomplete while its speech is recognised, and any other ApiError."""
    track = await api.subtitles.get(key.id, key.track)
    if not track.url or not track.url.reveal():
        raise Incomplete("the track has no file yet: its speech is being recognised")
    what = "read subtitle file"
    return ItemList(checked_cues(await api.cdn.content(track.url, MAX_TRACK_BYTES, what), what))


async def _fetch_event(api: Api, key: ResourceKey) -> ItemList:
    return ItemList((await api.events.get(key.id),))


async def _all_of(items: PagedItems[Any]) -> ItemList:
    return ItemList(await collect(items), len(items.unreadable))


_FETCH: Mapping[ResourceKind, Callable[[Api, ResourceKey], Awaitable[ItemList]]] = {
    ResourceKind.ROOMS: lambda api, _: _all_of(api.rooms.iterate()),
    ResourceKind.RECORDINGS: lambda api, key: _all_of(api.events.iterate_videos(key.id)),
    ResourceKind.POSTERS: lambda api, key: _all_of(api.posters.iterate(key.id)),
    ResourceKind.SUBTITLES: lambda api, key: _all_of(api.subtitles.iterate(key.id, order="position.asc")),
    ResourceKind.ANNOTATIONS: lambda api, key: _all_of(api.annotations.iterate(key.id)),
    ResourceKind.CUES: _fetch_cues,
    ResourceKind.EVENT: _fetch_event,
}
