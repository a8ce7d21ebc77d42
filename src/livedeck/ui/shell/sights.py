"""The pictures of the last moment: a key acts on the one that its presser can have seen."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from livedeck.monitor import Snapshot
from livedeck.ui.kit.selection import SEEN_AFTER


class Sight(NamedTuple):
    """A picture: the snapshot that it shows, and the id of the event under the cursor, None if there is none."""

    snapshot: Snapshot
    event_id: str | None


class Sights:
    """The pictures that were painted lately, and since when each of them stands (monotonic s)."""

    def __init__(self) -> None:
        self._painted: deque[tuple[float, Sight]] = deque()

    def paint(self, sight: Sight, now: float) -> None:
        """Note that this picture stands from now on."""
        last = self._painted[-1][1] if self._painted else None
        if last is None or last.snapshot is not sight.snapshot or last.event_id != sight.event_id:
            self._painted.append((now, sight))

    def last_seen(self, now: float) -> Sight | None:
        """Return the newest picture that stands for `SEEN_AFTER`, else the oldest; None before the first."""
        while len(self._painted) > 1 and self._painted[1][0] <= now - SEEN_AFTER:
            self._painted.popleft()
        return self._painted[0][1] if self._painted else None

    def clear(self) -> None:
        """Forget the pictures."""
        self._painted.clear()
