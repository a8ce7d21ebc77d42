"""The instant that a screen is painted for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.monitor import Snapshot
from livedeck.monitor import stale as is_stale


@dataclass(frozen=True, slots=True)
class RenderTime:
    """`now` is this machine's clock, `server` the platform's. `stale`: nothing on the screen may look good.

    `lit`: whether what blinks is to be seen.
    """

    now: datetime
    server: datetime
    stale: bool
    lit: bool = True

    @classmethod
    def of(cls, snapshot: Snapshot, now: datetime, *, watched: bool = True, lit: bool = True) -> RenderTime:
        """Judged again at each paint, so a monitor that hangs, or stopped, cannot keep the screen looking fresh."""
        stale = not watched or is_stale(snapshot.link, now)
        return cls(now, now + timedelta(seconds=snapshot.link.skew), stale, lit)

    def lasts(self, now: datetime) -> bool:
        """Whether at `now` less than a second has passed since: no shorter time is told, and what is drawn holds."""
        return 0 <= (now - self.now).total_seconds() < 1

    def to_server(self, local: datetime) -> datetime:
        """That instant of this machine's clock by the platform's."""
        return local + (self.server - self.now)

    def since(self, then: datetime) -> float:
        """Seconds from `then` on this machine's clock."""
        return (self.now - then).total_seconds()

    def server_since(self, then: datetime) -> float:
        """Seconds from `then` on the platform's clock; negative while it lies ahead."""
        return (self.server - then).total_seconds()
