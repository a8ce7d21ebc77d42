"""Rounds of the probe of an event, and the faults that they show, as frozen values.

Times are by this machine's clock, as in ViewerState.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise

from msgspec import field

from livedeck.monitor.model.viewer import ViewerState
from livedeck.record import Record

VIEWER_GONE, VIEWER_STALLED = "VIEWER_GONE", "VIEWER_STALLED"
"""Kinds that prove that viewers get nothing."""


class ViewerFault(Record):
    """Fault for viewers, pending or raised.

    `since`: start of the fault. `bad`: number of bad rounds in a row. `good`: number of good rounds since the last bad
    one. `actual`, `expected`: evidence of the last bad round. `is_grave`: the fault has the escalated severity.
    `is_slight`: the fault is only an info.
    """

    since: datetime
    actual: str
    expected: str
    bad: int = 1
    good: int = 0
    is_raised: bool = False
    is_grave: bool = False
    is_slight: bool = False


class Viewing(Record):
    """Result of the fold over the rounds of an event's probe.

    `rounds`: states after the rounds of the last minute, oldest first; at least one. `watched_since`: time since
    which no round was missed. `faults`: kind -> fault. `skew`: seconds by which the server's clock is ahead.
    """

    rounds: tuple[ViewerState, ...]
    watched_since: datetime
    faults: Mapping[str, ViewerFault] = field(default_factory=dict)
    skew: float = 0.0

    @property
    def newest(self) -> ViewerState:
        """State after the newest round."""
        return self.rounds[-1]

    @property
    def is_lost(self) -> bool:
        """True if the newest rounds, enough to raise the alarm, found no playlist or a stalled one."""
        return self.newest.is_failing and any(
            kind in self.faults and self.faults[kind].is_raised for kind in (VIEWER_GONE, VIEWER_STALLED)
        )

    @property
    def at(self) -> datetime:
        """Time of the newest round."""
        return self.newest.as_of or self.watched_since

    @property
    def missed(self) -> int:
        """Number of missing segments in the rounds of the last minute."""
        return _growth([state.missed for state in self._counted])

    @property
    def listed(self) -> int:
        """Number of segments that these rounds asked for."""
        return _growth([state.listed for state in self._counted])

    @property
    def _counted(self) -> tuple[ViewerState, ...]:
        """States whose counters are compared: `rounds`, with an empty state before the first round of a probe."""
        return (ViewerState(), *self.rounds) if self.rounds[0].rounds <= 1 else self.rounds


def _growth(totals: list[int]) -> int:
    """Return the growth of a counter. A restart of the probe sets it to 0."""
    return sum(after - before if after >= before else after for before, after in pairwise(totals))
