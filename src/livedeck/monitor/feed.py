"""Interfaces between a screen and the source of its snapshots."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from livedeck.monitor.model.alarm import AlarmKey, Shown
from livedeck.monitor.model.alarm_action import Verdict
from livedeck.monitor.model.explanation import Explanation
from livedeck.monitor.model.records import IntentRecord
from livedeck.monitor.model.resources import KnownMaterial, ResourceKey, Video
from livedeck.monitor.model.silence import Silence, SilenceDraft
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.state import Clock
from livedeck.monitor.model.thresholds import Content
from livedeck.monitor.model.unit import BitrateUnit


class Feed(Protocol):
    """Source of snapshots for a screen. It takes the screen's focus and commands. `Monitor` is the feed that polls.

    Commands are awaited, because they may cross a network. They raise AlarmRefused, with a sentence for the user, if
    the feed cannot carry them out. `shown`: alarm as the user saw it, so that the feed can
    refuse a command for an alarm that has changed since; None for the current alarm.
    """

    @property
    def clock(self) -> Clock:
        """Clock of the times in the snapshots."""

    @property
    def actor(self) -> str:
        """Author of this screen's commands: `user@host:pid`."""

    def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Yield the current snapshot at once, and each later snapshot. Only one listener at a time may call this."""

    def refresh(self) -> None:
        """Poll everything soon, after a change."""

    def note_intent(self, intent: IntentRecord) -> None:
        """Note a change that this user is about to send."""

    def set_focus(self, event_id: str | None) -> None:
        """Poll the samples of the event on the screen more often. `event_id`: None if no event is on the screen."""

    def watch(self, viewer: str, *keys: ResourceKey) -> None:
        """Poll these lists for a screen, in place of its previous lists. `viewer`: name of the screen."""

    async def find_video(self, video_id: str) -> Video:
        """Return a video by id, even if no list holds it. Raises ApiError; NotFound if it does not exist."""

    async def remember_materials(self, *materials: KnownMaterial) -> None:
        """Add materials of a video to the remembered materials, in this order."""

    async def forget_materials(self, *ids: str) -> None:
        """Forget materials that no longer exist."""

    async def explain(self, event_id: str, kind: str = "") -> Explanation | None:
        """Return the explanation of an event's alarms; None without such an event. `kind`: empty for all kinds."""

    async def viewer_picture(self, event_id: str, /) -> bytes:
        """Return the newest picture that viewers of an event get, as JPEG; empty without one."""

    async def acknowledge(self, key: AlarmKey, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm. Returns False if it needs no acknowledgement."""

    async def close_alarm(self, key: AlarmKey, verdict: Verdict, shown: Shown | None = None) -> bool:
        """Acknowledge an alarm with a verdict. Returns False if it has this verdict already."""

    async def unacknowledge(self, key: AlarmKey, shown: Shown | None = None) -> None:
        """Take back your own acknowledgement of an alarm, within `TAKE_BACK_FOR`."""

    async def shelve(
        self, key: AlarmKey, minutes: float | None, reason: str, shown: Shown | None = None, *, only_this: bool = False
    ) -> None:
        """Shelve an alarm. `minutes`: None to shelve it until it clears. `only_this`: do not shelve its symptoms."""

    async def unshelve(self, key: AlarmKey) -> None:
        """Unshelve an alarm."""

    async def out_of_service(self, key: AlarmKey, reason: str, shown: Shown | None = None) -> None:
        """Take an alarm out of service, until `in_service` brings it back."""

    async def in_service(self, key: AlarmKey) -> None:
        """Bring an alarm back into service."""

    async def note(self, key: AlarmKey, text: str, shown: Shown | None = None) -> None:
        """Attach a note to an alarm."""

    async def add_silence(self, draft: SilenceDraft) -> Silence:
        """Add a silence, and return it."""

    async def extend_silence(self, silence_id: str, seconds: float) -> Silence:
        """Extend a silence, and return it. `silence_id`: its id or the beginning of its id."""

    async def end_silence(self, silence_id: str) -> Silence:
        """End a silence, or cancel a planned one, and return it."""

    async def take_as_usual(self, event_id: str) -> bool:
        """Make the current values of an event its baseline. Returns False if it has no samples."""

    async def choose_content(self, event_id: str, content: Content | None) -> bool:
        """Set the content of an event; None for the content in the settings. Returns False if nothing changes."""

    async def choose_unit(self, unit: BitrateUnit) -> bool:
        """Set the unit of the platform's bit rates. Returns False if nothing changes.

        Raises AlarmRefused if the newest rates are implausible in this unit.
        """


@runtime_checkable
class AttachedFeed(Feed, Protocol):
    """Feed of a deck that is attached to a collector (collector.md, "The attached deck")."""

    @property
    def can_poll(self) -> bool:
        """True if this deck can poll the platform itself."""

    def poll_alone(self) -> None:
        """Poll the platform until the collector is back. Raises AlarmRefused if this deck cannot."""

    def attach_again(self) -> None:
        """Attach to the collector again as soon as the collector responds."""
