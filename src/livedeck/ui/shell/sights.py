"""Recent pictures of the screen. A key acts on the newest picture that a person had time to see before the press."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from livedeck.monitor import Snapshot
from livedeck.ui.kit.selection import SEEN_AFTER


class Sight(NamedTuple):
    """Contents of the screen: the snapshot that it was drawn from, and the id of the event under the cursor."""

    snapshot: Snapshot
    event_id: str | None


class Sights:
    """Recently painted pictures, each with the time of painting (monotonic s)."""

    def __init__(self) -> None:
        self._painted: deque[tuple[float, Sight]] = deque()

    def paint(self, sight: Sight, now: float) -> None:
        """Record that a picture is on the screen from now on (monotonic s)."""
        last = self._painted[-1][1] if self._painted else None
        if last is None or last.snapshot is not sight.snapshot or last.event_id != sight.event_id:
            self._painted.append((now, sight))

    def last_seen(self, now: float) -> Sight | None:
        """Return the newest picture of at least `SEEN_AFTER` seconds of age, or else the oldest; None without any."""
        while len(self._painted) > 1 and self._painted[1][0] <= now - SEEN_AFTER:
            self._painted.popleft()
        return self._painted[0][1] if self._painted else None

    def clear(self) -> None:
        self._painted.clear()
