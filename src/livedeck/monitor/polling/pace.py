"""Pace of the polls: halved if the platform refuses it, then raised step by step (monitoring.md, "Pace")."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Cadence


class _Call(NamedTuple):
    at: float  # monotonic s
    is_refused: bool


class Pace:
    """Share of the usual pace that the platform accepts. `share`: 1 at the usual pace.

    A refusal is a reply with status 429. If too many of the last calls were refused, the share is halved, and the count
    starts again. The share grows after every `pace_step` seconds with some calls and without too many refusals. Times
    are monotonic seconds.
    """

    def __init__(self, cadence: Cadence) -> None:
        self._cadence = cadence
        self._calls = deque[_Call]()
        self._changed_at = -inf
        self.share = 1.0

    def note(self, at: float, *, is_refused: bool, is_pause: bool = False) -> None:
        """Count a call, and halve the share if too many calls were refused.

        `at`: time of the reply. `is_pause`: the refusal demands a pause, so this call alone is enough.
        """
        self._calls.append(_Call(at, is_refused))
        if (is_pause or self._is_refused(at)) and at - self._changed_at >= self._cadence.pace_step:
            self.share = max(self._cadence.pace_least, self.share / 2)
            self._changed_at = at
            self._calls.clear()

    def step(self, at: float) -> float:
        """Return the share, which grows if `pace_step` seconds have passed without too many refusals."""
        if self.share < 1.0 and at - self._changed_at >= self._cadence.pace_step and self._is_accepted(at):
            self.share = min(1.0, self.share * self._cadence.pace_growth)
            self._changed_at = at
        return self.share

    def _is_accepted(self, at: float) -> bool:
        return not self._is_refused(at) and bool(self._calls)

    def _is_refused(self, at: float) -> bool:
        """Return whether too many of the last calls were refused."""
        while self._calls and self._calls[0].at < at - self._cadence.refused_window:
            self._calls.popleft()
        return sum(call.is_refused for call in self._calls) > self._cadence.refused * len(self._calls)
