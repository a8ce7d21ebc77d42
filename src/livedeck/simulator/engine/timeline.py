"""What happens by itself, by the simulator's clock. Nothing runs in the background: a request brings it up to date."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from livedeck.simulator.engine.clock import format_epoch
from livedeck.simulator.errors import ApiError

_log = logging.getLogger("livedeck.simulator")


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something to do at a time (epoch seconds); `label` names it."""

    at: float
    label: str
    run: Callable[[float], object]


@dataclass(frozen=True, slots=True)
class Playback:
    """A scenario that is played: its name, when it began and ends (epoch seconds), and its entries, ascending."""

    name: str
    began_at: float
    ends_at: float
    entries: Sequence[TimelineEntry] = ()


@dataclass(slots=True)
class Timeline:
    """The scenario that is played, if any, and how far it has come."""

    playback: Playback | None = None
    _pending: deque[TimelineEntry] = field(default_factory=deque)

    def start(self, playback: Playback | None) -> None:
        """That one from now on; None: nothing."""
        self.playback = playback
        self._pending = deque(playback.entries if playback else ())

    def catch_up(self, now: float) -> None:
        """Run what has become due, each at its own time. What the state refuses is left out and logged."""
        while self._pending and self._pending[0].at <= now:
            entry = self._pending.popleft()
            try:
                entry.run(entry.at)
            except ApiError as error:
                _log.info("the scenario was refused a step: %s: %s", entry.label, error)

    def progress(self, now: float) -> dict[str, object]:
        """Where it stands, as the control API shows it."""
        if self.playback is None:
            return {"scenario": None}
        total, pending = len(self.playback.entries), len(self._pending)
        return {
            "scenario": self.playback.name,
            "began": format_epoch(self.playback.began_at),
            "ends": format_epoch(self.playback.ends_at),
            "elapsed": round(max(0.0, now - self.playback.began_at), 3),
            "over": now >= self.playback.ends_at,
            "steps": {"done": total - pending, "all": total, "next": self._pending[0].label if pending else None},
        }
