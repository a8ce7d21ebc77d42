"""The connection to the platform, step by step: OK, FAILING, BLIND, and back by itself (monitoring.md). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from livedeck.client import (
    ApiError,
    Exchange,
    Forbidden,
    RateLimited,
    Rejected,
    ServerFault,
    Unauthorized,
    Unreadable,
)
from livedeck.monitor.facts import Link, LinkState, Trouble
from livedeck.monitor.thresholds import Thresholds

_DEFAULTS = Thresholds()

_CAUSES: tuple[tuple[type[ApiError], Trouble], ...] = (
    (Unauthorized, Trouble.UNAUTHORIZED),
    (Forbidden, Trouble.UNAUTHORIZED),
    (RateLimited, Trouble.RATE_LIMITED),
    (ServerFault, Trouble.PLATFORM_FAILING),
    (Rejected, Trouble.REQUEST_REFUSED),
    (Unreadable, Trouble.UNREADABLE),
)
"""The first row to fit names the cause; whatever fits none is NO ANSWER."""

_TROUBLED = frozenset({LinkState.FAILING, LinkState.BLIND})

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
    if state is LinkState.BLIND and not link.trouble:
        link = replace(link, trouble=Trouble.NO_ANSWER)
    if state is link.state:
        return link
    if state is LinkState.OK and link.state in _TROUBLED:
        link = replace(link, recovered=now, trouble=Trouble.NONE)
    return replace(link, state=state, since=now)


def _heard(link: Link, outcome: Outcome) -> Link:
    if outcome.good:
        link = replace(link, as_of=outcome.good)
    if outcome.failure:
        return replace(link, failures=link.failures + 1, why=str(outcome.failure), trouble=_cause(outcome.failure))
    return replace(link, failures=0, why="", trouble=Trouble.NONE) if outcome.listed else link


def _cause(failure: ApiError) -> Trouble:
    return next((trouble for kind, trouble in _CAUSES if isinstance(failure, kind)), Trouble.NO_ANSWER)


def _state(link: Link, silence: float, thresholds: Thresholds) -> LinkState:
    if silence >= blind_limit(link, thresholds):
        return LinkState.BLIND
    if link.failures:
        return LinkState.FAILING
    return LinkState.OK if link.as_of else LinkState.CONNECTING


def blind_limit(link: Link, thresholds: Thresholds) -> float:
    """Seconds of silence that make the deck blind; a cadence slower than usual is no silence."""
    return max(thresholds.blind_after, thresholds.answer_intervals * link.interval)


def stale(link: Link, now: datetime, thresholds: Thresholds = _DEFAULTS) -> bool:
    """Whether nothing on a screen painted at `now` (this machine's clock) may look good.

    Blind, without any answer yet, or without one for two intervals: judged at each painting, so that a monitor that
    hangs cannot keep a screen looking fresh, nor a clock that was set back (monitoring.md, "Freshness first").
    """
    if link.state is LinkState.BLIND or link.as_of is None:
        return True
    return abs((now - link.as_of).total_seconds()) > thresholds.answer_intervals * link.interval


def skew(exchanges: Iterable[Exchange], known: float, thresholds: Thresholds) -> float:
    """Seconds that the server's clock is ahead: the median of the last exchanges, 0 while it is under two seconds.

    `known`: what it was before; a skew that counts goes on counting until it is clearly less.
    """
    offsets = [
        (exchange.server_date - exchange.at).total_seconds() + _HALF_TICK + exchange.round_trip / 2
        for exchange in exchanges
        if exchange.server_date
    ]
    offset = median(offsets) if offsets else 0.0
    least = thresholds.skew_least - (thresholds.skew_swing if known else 0.0)
    return offset if abs(offset) >= least else 0.0


def server_time(link: Link, moment: datetime) -> datetime:
    """A moment of this machine's clock as the server would have told it."""
    return moment + timedelta(seconds=link.skew)
