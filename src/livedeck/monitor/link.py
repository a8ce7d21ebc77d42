"""The connection to the platform, step by step: OK, FAILING, BLIND, and back by itself (monitoring.md). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from livedeck.client import ApiError, Exchange, Unauthorized
from livedeck.monitor.facts import Link, LinkState
from livedeck.monitor.thresholds import Thresholds

_TRUSTED = 2.0
"""Seconds of skew that are not worth correcting: the Date header resolves one second, and the way back is a guess."""

_HALF_TICK = 0.5
"""Date cuts its fraction off: on average the server was half a second further."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one round brought. The event list is the pulse of the link: the others may fail for reasons of their own.

    `good`: the last good answer to anything (this machine's clock); `listed`: the list answered; `failure`: why it did
    not. A round without the list has neither.
    """

    good: datetime | None = None
    listed: bool = False
    failure: ApiError | None = None


def step(link: Link, outcome: Outcome, now: datetime, silence: float, thresholds: Thresholds) -> Link:
    """The link at `now` (this machine's clock); an empty outcome means that only time passed.

    `silence`: seconds since the last good answer, or since the start where there was none; monotonic, for a wall clock
    that is set must not blind the deck.
    """
    link = _heard(link, outcome)
    state = _state(link, silence, thresholds)
    return link if state is link.state else replace(link, state=state, since=now)


def _heard(link: Link, outcome: Outcome) -> Link:
    if outcome.good:
        link = replace(link, as_of=outcome.good)
    if outcome.failure:
        refused = isinstance(outcome.failure, Unauthorized)
        return replace(link, failures=link.failures + 1, why=str(outcome.failure), refused=refused)
    return replace(link, failures=0, why="", refused=False) if outcome.listed else link


def _state(link: Link, silence: float, thresholds: Thresholds) -> LinkState:
    if silence >= blind_limit(link, thresholds):
        return LinkState.BLIND
    if link.failures:
        return LinkState.FAILING
    return LinkState.OK if link.as_of else LinkState.CONNECTING


def blind_limit(link: Link, thresholds: Thresholds) -> float:
    """Seconds of silence that make the deck blind; a cadence slower than usual is no silence."""
    return max(thresholds.blind_after, thresholds.answer_intervals * link.interval)


def skew(exchanges: Iterable[Exchange]) -> float:
    """Seconds that the server's clock is ahead: the median of the last exchanges, 0 while it is under two seconds."""
    offsets = [
        (exchange.server_date - exchange.at).total_seconds() + _HALF_TICK + exchange.round_trip / 2
        for exchange in exchanges
        if exchange.server_date
    ]
    offset = median(offsets) if offsets else 0.0
    return offset if abs(offset) >= _TRUSTED else 0.0


def server_time(link: Link, moment: datetime) -> datetime:
    """A moment of this machine's clock as the server would have told it."""
    return moment + timedelta(seconds=link.skew)
