"""The state machine of the connection: CONNECTING, OK, FAILING, BLIND and back (monitoring.md, "Connection"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from livedeck.client import (
    ApiError,
    Forbidden,
    RateLimited,
    Redirected,
    Rejected,
    ResponseTiming,
    ServerFault,
    Unauthorized,
    Unreadable,
)
from livedeck.monitor.model.state import ConnectionProblem, ConnectionState, ConnectionStatus
from livedeck.monitor.model.thresholds import Thresholds

_DEFAULTS = Thresholds()

_CAUSES: tuple[tuple[type[ApiError], ConnectionProblem], ...] = (
    (Unauthorized, ConnectionProblem.UNAUTHORIZED),
    (Forbidden, ConnectionProblem.UNAUTHORIZED),
    (RateLimited, ConnectionProblem.RATE_LIMITED),
    (ServerFault, ConnectionProblem.PLATFORM_FAILING),
    (Redirected, ConnectionProblem.REDIRECTED),
    (Rejected, ConnectionProblem.REQUEST_REFUSED),
    (Unreadable, ConnectionProblem.UNREADABLE),
)
"""The first row to fit names the cause; whatever fits none is NO ANSWER."""

_FAILED_STATES = frozenset({ConnectionState.FAILING, ConnectionState.BLIND})

_HALF_TICK = 0.5
"""Date cuts its fraction off: on average the server was half a second further."""


@dataclass(frozen=True, slots=True)
class RoundResult:
    """What one round brought. The event list is the pulse of the connection: other calls may fail for reasons of their
    own.

    `good`: the last good answer to anything (this machine's clock); `listed`: the list answered; `failure`: why it did
    not. A round without the list has neither. `lost_share`: of the answers, in passing; 0 where the link is not poor.
    """

    good: datetime | None = None
    listed: bool = False
    failure: ApiError | None = None
    lost_share: float = 0.0


def step(
    link: ConnectionStatus, result: RoundResult, now: datetime, silence: float, thresholds: Thresholds
) -> ConnectionStatus:
    """The connection at `now` (this machine's clock); an empty result means that only time passed.

    `silence`: seconds since the last good answer, or since the start where there was none; monotonic, for a wall clock
    that is set must not blind the deck.
    """
    link = replace(_with_result(link, result), lost_share=result.lost_share)
    state = _state(link, silence, thresholds)
    if state is ConnectionState.BLIND and not link.problem:
        link = replace(link, problem=ConnectionProblem.NO_ANSWER)
    if state is link.state:
        return link
    if state.is_answering and link.state in _FAILED_STATES:
        link = replace(link, recovered_at=now, problem=ConnectionProblem.NONE)
    return replace(link, state=state, since=now)


def _with_result(link: ConnectionStatus, result: RoundResult) -> ConnectionStatus:
    if result.good:
        link = replace(link, as_of=result.good)
    if result.failure:
        return replace(link, failures=link.failures + 1, reason=str(result.failure), problem=_cause(result.failure))
    return replace(link, failures=0, reason="", problem=ConnectionProblem.NONE) if result.listed else link


def _cause(failure: ApiError) -> ConnectionProblem:
    return next((problem for error, problem in _CAUSES if isinstance(failure, error)), ConnectionProblem.NO_ANSWER)


def _state(link: ConnectionStatus, silence: float, thresholds: Thresholds) -> ConnectionState:
    if silence >= blind_after(link, thresholds):
        return ConnectionState.BLIND
    if link.lost_share and silence < thresholds.recovery:
        return ConnectionState.POOR
    if link.failures:
        return ConnectionState.FAILING
    return ConnectionState.OK if link.as_of else ConnectionState.CONNECTING


def blind_after(link: ConnectionStatus, thresholds: Thresholds) -> float:
    """Seconds of silence that make the deck blind; a cadence slower than usual is no silence."""
    return max(thresholds.blind_after, thresholds.answer_intervals * link.interval)


def is_stale(link: ConnectionStatus, now: datetime, thresholds: Thresholds = _DEFAULTS) -> bool:
    """Whether nothing on a screen painted at `now` (this machine's clock) may look good.

    Blind, without any answer yet, or without one for two intervals: judged at each painting, so that a monitor that
    hangs cannot keep a screen looking fresh, nor a clock that was set back (monitoring.md, "Freshness").
    """
    if link.state is ConnectionState.BLIND or link.as_of is None or link.is_clock_doubtful:
        return True
    return abs((now - link.as_of).total_seconds()) > thresholds.answer_intervals * link.interval


def seconds_ahead(exchanges: Iterable[ResponseTiming], clock_offset: float = 0.0) -> float | None:
    """Seconds that the server's clock is ahead of the monitor's: the median of the last exchanges; None where no answer
    had a date. `clock_offset`: seconds that this machine's clock, by which they are noted, is ahead of the monitor's.
    """
    offsets = [
        (exchange.server_date - exchange.at).total_seconds() + _HALF_TICK + exchange.round_trip / 2 + clock_offset
        for exchange in exchanges
        if exchange.server_date
    ]
    return median(offsets) if offsets else None


def skew(
    exchanges: Iterable[ResponseTiming], current: float, thresholds: Thresholds, clock_offset: float = 0.0
) -> float:
    """The same where it matters: 0 while it is under two seconds.

    `current`: what it was before; a skew that counts goes on counting until it is clearly less.
    """
    offset = seconds_ahead(exchanges, clock_offset)
    minimum = thresholds.skew_least - (thresholds.skew_swing if current else 0.0)
    return offset if offset is not None and abs(offset) >= minimum else 0.0


def server_time(link: ConnectionStatus, at: datetime) -> datetime:
    """A moment of this machine's clock by the server's clock."""
    return at + timedelta(seconds=link.skew)
