"""What happens by itself, by the service's clock. Nothing runs in the background: each request brings it up to date."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from livedeck.simulator.engine.clock import stamp_epoch
from livedeck.simulator.errors import Refusal

_log = logging.getLogger("livedeck.simulator")


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something to do at a moment (epoch seconds); `says` names it."""

    at: float
    says: str
    do: Callable[[float], object]


@dataclass(frozen=True, slots=True)
class Programme:
    """A name, when it began and ends (epoch seconds), and all that is due in it, ascending."""

    name: str
    began: float
    ends: float
    dues: Sequence[TimelineEntry] = ()


@dataclass(slots=True)
class Timeline:
    """The programme that is on, if any, and how far it has come."""

    programme: Programme | None = None
    _left: deque[TimelineEntry] = field(default_factory=deque)

    def begin(self, programme: Programme | None) -> None:
        """That one from now on; None: nothing."""
        self.programme = programme
        self._left = deque(programme.dues if programme else ())

    def catch_up(self, now: float) -> None:
        """Do what has become due, each at its own moment. What the state refuses is left out and logged."""
        while self._left and self._left[0].at <= now:
            due = self._left.popleft()
            try:
                due.do(due.at)
            except Refusal as refusal:
                _log.info("the scenario was refused a step: %s: %s", due.says, refusal)

    def where(self, now: float) -> dict[str, object]:
        """Where it stands, as the admin door shows it."""
        if self.programme is None:
            return {"scenario": None}
        every, left = len(self.programme.dues), len(self._left)
        return {
            "scenario": self.programme.name,
            "began": stamp_epoch(self.programme.began),
            "ends": stamp_epoch(self.programme.ends),
            "elapsed": round(max(0.0, now - self.programme.began), 3),
            "over": now >= self.programme.ends,
            "steps": {
                "done": every - left,
                "all": every,
                "next": self._left[0].says if left else None,
            },
        }
