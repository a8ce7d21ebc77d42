"""Interface between the monitor and the probe of what viewers get."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from livedeck.monitor.model.viewer import ViewerState


class Viewed(NamedTuple):
    """Event whose playlist the probe reads.

    `link`: viewing URL of the platform, or empty. `presets`: heights of the renditions that the platform makes, in
    pixels. `is_doubted`: a verdict about the event waits for a witness, so the probe asks more often for a while.
    `is_protected`: viewers need a password, so no picture is kept.
    """

    event_id: str
    stream_id: str
    link: str = ""
    presets: tuple[int, ...] = ()
    is_doubted: bool = False
    is_protected: bool = False


class Viewer(Protocol):
    """Probe of the playlists of events. No call waits for the network."""

    def want(self, events: Collection[Viewed]) -> None:
        """Set the events to probe from now on."""

    def states(self) -> Mapping[str, ViewerState]:
        """Return event id -> newest state, for the wanted events."""

    def fault(self) -> str:
        """Return the fault of the probe itself, in words; empty without one."""

    @property
    def note(self) -> str:
        """Number of probed events, and their traffic, in words."""

    def picture(self, event_id: str) -> bytes:
        """Return the newest picture of an event as JPEG, 160 x 90 pixels; empty without one."""
