"""What a screen needs of whoever watches the platform for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from livedeck.monitor.model.alarm import AlarmKey, Shown
from livedeck.monitor.model.resources import KnownMaterial, ResourceKey, Video
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Content


class Feed(Protocol):
    """Snapshots one way, what a person looks at and answers the other. `Monitor` polls the platform for it.

    Commands are awaited, as they may have a way to go. What a feed cannot do it refuses with AlarmRefused, in a
    sentence. `shown`: the alarm as the person saw it, so that no late key press silences what it was not meant for;
    None: as it stands.
    """

    @property
    def clock(self) -> Clock:
        """That of every time that the snapshots tell."""

    @property
    def actor(self) -> str:
        """Who acts here: `user@host:pid`."""

    def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """All that is known: at once, and whenever it changed. One listener at a time."""

    def refresh(self) -> None:
        """Something was changed: everything should be asked anew."""

    def set_focus(self, event_id: str | None) -> None:
        """Somebody is looking at that event: its samples are wanted more often. None: at no one."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """That viewer shows these lists, and no others, from now on."""

    async def find_video(self, video_id: str) -> Video:
        """The video of that id, which need not be listed. Raises ApiError, NotFound where there is none."""

    async def remember_materials(self, *materials: KnownMaterial) -> None:
        """Remember these materials of a video, in this order, behind what is known."""

    async def forget_materials(self, *ids: str) -> None:
        """These materials are not there any more."""

    async def acknowledge(self, key: AlarmKey, shown: Shown | None = None) -> bool:
        """Promise to act on that alarm. False where it needed none."""

    async def unacknowledge(self, key: AlarmKey, shown: Shown | None = None) -> None:
        """Take an own acknowledgement of that alarm back, within `TAKE_BACK_FOR`."""

    async def shelve(self, key: AlarmKey, minutes: float | None, reason: str, shown: Shown | None = None) -> None:
        """Put it out of sight for so many minutes, None: until it is over."""

    async def unshelve(self, key: AlarmKey) -> None:
        """Bring it back in sight."""

    async def out_of_service(self, key: AlarmKey, reason: str, shown: Shown | None = None) -> None:
        """Put it out of sight until it is put in service again."""

    async def in_service(self, key: AlarmKey) -> None:
        """End that."""

    async def note(self, key: AlarmKey, text: str, shown: Shown | None = None) -> None:
        """Keep these words beside it."""

    async def take_as_usual(self, event_id: str) -> bool:
        """Judge that event by what it sends now. False where there are no samples."""

    async def choose_content(self, event_id: str, content: Content | None) -> bool:
        """Set the content of an event; None follows the settings. Return False if nothing changes."""


@runtime_checkable
class AttachedFeed(Feed, Protocol):
    """That of a deck whose platform a collector watches (collector.md, "The attached deck")."""

    @property
    def can_poll(self) -> bool:
        """Whether this deck could ask the platform by itself."""

    def poll_alone(self) -> None:
        """Ask it from now on, until the collector is well again. Raises AlarmRefused."""

    def attach_again(self) -> None:
        """Go back to the collector as soon as it is heard."""
