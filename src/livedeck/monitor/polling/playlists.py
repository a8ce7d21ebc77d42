"""Choose the events whose playlists are probed (monitoring.md, "Viewers"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from livedeck.monitor.detection.viewers import heights
from livedeck.monitor.model.state import BroadcastState, EventState
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.viewer import Viewed

_ONCE_MORE = 30.0
"""Seconds for which an ended event is still probed after `viewer_after`, when a playing playlist is reported.

A later round can then show that the playlist has stopped.
"""

_AWAITED = frozenset({BroadcastState.SCHEDULED, BroadcastState.LATE})
_AWAY = frozenset({BroadcastState.RECONNECTING, BroadcastState.LOST, BroadcastState.COMPLETED})


def wanted(states: Iterable[EventState], now: datetime, thresholds: Thresholds) -> Iterator[Viewed]:
    """Yield the events to probe at `now` (server time).

    These expect a signal, start within `start_notice`, or have just ended.
    """
    for state in states:
        if _is_wanted(state, now, thresholds):
            event = state.event
            stream_id = (event.stream.id if event.stream else None) or ""
            yield Viewed(
                event.id,
                stream_id,
                str(event.play_link or ""),
                heights(event),
                is_doubted=_is_doubted(state),
                is_protected=event.protected is True,
            )


def _is_wanted(state: EventState, now: datetime, thresholds: Thresholds) -> bool:
    tally, reference = state.phase.tally, state.phase.reference_time
    if tally.expects_signal:
        return True
    if reference is None:
        return False
    elapsed = (now - reference).total_seconds()
    if tally in _AWAITED:
        return abs(elapsed) <= thresholds.start_notice
    return tally is BroadcastState.COMPLETED and 0 <= elapsed <= thresholds.viewer_after + _ONCE_MORE


def _is_doubted(state: EventState) -> bool:
    """Return whether a verdict about the event waits for a witness."""
    is_away = state.is_stale or state.is_undecided or state.phase.tally in _AWAY
    is_failing = state.viewer is not None and state.viewer.is_failing
    return is_away or is_failing or not state.is_listed
