"""Proof by a probe for or against a verdict from the platform's replies (monitoring.md, "Viewers"). Pure.

A second source may confirm a verdict, or make it milder: it may lower a critical alarm to a warning. It never ends an
alarm, and never makes an event good. A probe that is off, stale or without proof changes nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from livedeck.monitor.model.state import BroadcastState, EventState
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.model.viewer import Picture, Sound, ViewerState
from livedeck.monitor.model.viewing import Viewing

_LEAST_ROUNDS = 2
"""Number of recent rounds that a witness needs: a single round may have read an old copy from a cache."""

_SLOW_ROUNDS = 2.5
"""Intervals in which even a probe with rare rounds makes two rounds."""


class Witness(Enum):
    """Proof of a probe. LIVE: viewers get pictures that are newer than the newest sample. AGAINST: they get nothing."""

    NONE = auto()
    LIVE = auto()
    AGAINST = auto()


def witness(viewing: Viewing | None, newest: float | None, now: datetime, thresholds: Thresholds) -> Witness:
    """Return the proof by a probe about an event whose samples are missing.

    A player's buffer plays on after an encoder died. So the newest segment must be later than the newest sample by two
    segments and the latency. In a playlist without dates, the head must move in three rounds, each at least two
    segments later than the newest sample. A black or still picture proves nothing, because a slate moves the head too.

    Args:
        viewing: Rounds of the event's probe; None without a probe.
        newest: Time of the newest sample (epoch s, server clock); None without a sample.
        now: Server time.
        thresholds: Limits of the event.
    """
    if viewing is None or newest is None:
        return Witness.NONE
    skew, state = timedelta(seconds=viewing.skew), viewing.newest
    longest = max(thresholds.viewer_witness, _SLOW_ROUNDS * state.interval)
    since = now - skew - timedelta(seconds=longest)
    recent = [each for each in viewing.rounds if each.as_of and each.as_of >= since]
    if len(recent) < _LEAST_ROUNDS:
        return Witness.NONE
    if viewing.is_lost:
        return Witness.AGAINST
    is_programme = state.picture not in {Picture.STILL, Picture.BLACK}
    is_moving = any(each.advances for each in recent)
    if not (state.is_playing and is_moving and is_programme and state.target):
        return Witness.NONE
    buffered = newest + thresholds.viewer_witness_segments * state.target
    if state.head_time and state.latency is not None:
        is_newer = state.head_time.timestamp() > buffered + state.latency
        return Witness.LIVE if is_newer else Witness.NONE
    moved = [each for each in viewing.rounds if each.as_of and each.advances and _server(each, viewing) > buffered]
    is_undated = state.head_time is None
    return Witness.LIVE if is_undated and len(moved) >= thresholds.viewer_witness_rounds else Witness.NONE


def _server(state: ViewerState, viewing: Viewing) -> float:
    """Return the time of a round (epoch s, server clock)."""
    return state.as_of.timestamp() + viewing.skew if state.as_of else 0.0


def witness_words(found: Witness, viewing: Viewing | None) -> str:
    """Return the words about viewers that follow the evidence of a missing signal; empty without proof."""
    if found is Witness.NONE or viewing is None:
        return ""
    if found is Witness.AGAINST:
        return "viewers see it too, from here"
    parts = [
        *(["picture"] if viewing.newest.picture is Picture.MOVES else []),
        *(["sound"] if viewing.newest.sound is Sound.HEARD else []),
    ]
    return f"metrics gone; viewers still get {' and '.join(parts) or 'new segments'}, from here"


_DEFAULTS = Thresholds()


def contradiction(state: EventState, now: datetime | None, thresholds: Thresholds = _DEFAULTS) -> str:
    """Return how the playlist contradicts the platform's list; empty if it does not, or if nothing is known.

    `now`: server time; None to skip the checks that need it.
    """
    viewer = state.viewer
    if viewer is None or not viewer.is_playing:
        return ""
    if state.phase.tally is BroadcastState.COMPLETED:
        ended = state.phase.reference_time
        is_late = ended is not None and now is not None and (now - ended).total_seconds() >= thresholds.viewer_after
        return "completed, and still plays" if is_late else ""
    return "unlisted, plays" if not state.is_listed else ""
