"""Step the state of the connection: CONNECTING, OK, POOR, FAILING, BLIND (monitoring.md, "Connection"). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
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
from livedeck.monitor.evidence.blame import CHECKING, NO_REPLY, UNWATCHED, Facts, blame, seen
from livedeck.monitor.evidence.workspace import OtherWorkspace
from livedeck.monitor.model.blame import NO_FAILURE, Blame, Failure, Sight
from livedeck.monitor.model.state import ConnectionProblem, ConnectionState, ConnectionStatus
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.record import Record

_DEFAULTS = Thresholds()

_CAUSES: tuple[tuple[type[ApiError], ConnectionProblem], ...] = (
    (Unauthorized, ConnectionProblem.UNAUTHORIZED),
    (Forbidden, ConnectionProblem.UNAUTHORIZED),
    (OtherWorkspace, ConnectionProblem.OTHER_WORKSPACE),
    (RateLimited, ConnectionProblem.RATE_LIMITED),
    (ServerFault, ConnectionProblem.PLATFORM_FAILING),
    (Redirected, ConnectionProblem.REDIRECTED),
    (Rejected, ConnectionProblem.REQUEST_REFUSED),
    (Unreadable, ConnectionProblem.UNREADABLE),
)
"""Type of error -> problem. The first matching row counts; any other error is `ConnectionProblem.NO_ANSWER`."""

_FAILED_STATES = frozenset({ConnectionState.FAILING, ConnectionState.BLIND})

_HALF_TICK = 0.5
"""Average lead in seconds of the server's clock over its `Date` header, which has no fractions."""


class RoundResult(Record):
    """Result of one poll round.

    The connection is judged by the event list, because other calls may fail for reasons of their own.

    `good`: time of the last good reply to any call (this machine's clock). `listed`: the list succeeded. `failure`:
    error of the list. A round without the list sets neither of the two. `last_failure`: error of the last failed call.
    `lost_share`: share of lost replies; 0 while the link is not poor. `slowed_to`: as in ConnectionStatus. `is_tried`:
    enough calls were made to blame the platform for a silence. `is_proven`: a list and samples were good since the
    connection was blind.
    """

    good: datetime | None = None
    listed: bool = False
    failure: ApiError | None = None
    last_failure: ApiError | None = None
    lost_share: float = 0.0
    slowed_to: float = 0.0
    is_tried: bool = True
    is_proven: bool = True


def step(
    link: ConnectionStatus, result: RoundResult, now: datetime, silence: float, thresholds: Thresholds
) -> ConnectionStatus:
    """Return the status of the connection at `now` (this machine's clock) after a round.

    Args:
        link: Status so far.
        result: Result of the round; an empty RoundResult if only time has passed.
        now: This machine's clock.
        silence: Seconds since the last good reply, or since the start. It is monotonic, so that setting the wall clock
            does not blind the deck.
        thresholds: Limits.
    """
    was_blind = link.state is ConnectionState.BLIND or link.is_checking
    link = replace(_with_result(link, result), lost_share=result.lost_share, slowed_to=result.slowed_to)
    state = _state(link, silence, thresholds, is_tried=result.is_tried or link.state is ConnectionState.BLIND)
    if state is ConnectionState.BLIND and not link.problem:
        link = replace(link, problem=ConnectionProblem.NO_ANSWER)
    is_checking = was_blind and state is not ConnectionState.BLIND and not result.is_proven
    if is_checking:
        state = ConnectionState.FAILING
    if state.is_answering and (link.slowed_to or link.problem is ConnectionProblem.RATE_LIMITED):
        link = replace(link, problem=ConnectionProblem.RATE_LIMITED if link.slowed_to else ConnectionProblem.NONE)
    link = replace(link, is_checking=is_checking)
    link = replace(link, blame=_blame(link, result, state))
    if state is link.state:
        return link
    if state.is_answering and link.state in _FAILED_STATES:
        problem = ConnectionProblem.RATE_LIMITED if link.slowed_to else ConnectionProblem.NONE
        link = replace(link, recovered_at=now, problem=problem)
    return replace(link, state=state, since=now)


def _blame(link: ConnectionStatus, result: RoundResult, state: ConnectionState) -> Blame:
    """Return the nearest cause of the connection's state, by the last failed call."""
    facts = Facts(
        own=link.own, answered=link.as_of, is_asked_since=state is ConnectionState.BLIND, slowed_to=link.slowed_to
    )
    if state.is_answering or state is ConnectionState.CONNECTING:
        return blame(facts)
    error = result.last_failure or result.failure
    unseen = _UNDECIDED if state is ConnectionState.BLIND else NO_FAILURE
    found = blame(replace(facts, failure=seen(error) if error else unseen))
    if found.is_own:
        return found
    if link.is_checking and (error is None or not link.failures):
        return replace(link.blame, text=CHECKING, short=CHECKING)
    if error is None and link.blame.text and not link.blame.is_own:
        return link.blame
    return found if found.text else blame(Facts(failure=_UNDECIDED))


_UNDECIDED = Failure(Sight.UNDECIDED)


def _with_result(link: ConnectionStatus, result: RoundResult) -> ConnectionStatus:
    if result.good:
        link = replace(link, as_of=result.good)
    if result.failure:
        return replace(link, failures=link.failures + 1, reason=str(result.failure), problem=_cause(result.failure))
    return replace(link, failures=0, reason="", problem=ConnectionProblem.NONE) if result.listed else link


def _cause(failure: ApiError) -> ConnectionProblem:
    """Return the problem that a failure shows. Without the platform's error body, a failure proves only its status."""
    if isinstance(failure, Unauthorized | Forbidden) and not failure.is_documented:
        return ConnectionProblem.REQUEST_REFUSED
    if isinstance(failure, ServerFault) and not failure.is_documented:
        return ConnectionProblem.UNREADABLE
    return next((problem for error, problem in _CAUSES if isinstance(failure, error)), ConnectionProblem.NO_ANSWER)


def _state(link: ConnectionStatus, silence: float, thresholds: Thresholds, *, is_tried: bool) -> ConnectionState:
    """Return the state after `silence` (s). `is_tried`: enough calls were made in this time."""
    if silence >= blind_after(link, thresholds) and is_tried:
        return ConnectionState.BLIND
    usual_silence = max(thresholds.recovery, thresholds.answer_intervals * link.slowed_to)
    if (link.lost_share or link.slowed_to) and silence < usual_silence and link.as_of:
        return ConnectionState.POOR
    if link.failures:
        return ConnectionState.FAILING
    return ConnectionState.OK if link.as_of else ConnectionState.CONNECTING


def blind_after(link: ConnectionStatus, thresholds: Thresholds) -> float:
    """Return the seconds of silence after which the deck is blind: more if it polls the list more slowly."""
    return max(thresholds.blind_after, thresholds.answer_intervals * link.interval)


def is_stale(link: ConnectionStatus, now: datetime, thresholds: Thresholds = _DEFAULTS) -> bool:
    """Return whether a screen painted at `now` (this machine's clock) must look stale (monitoring.md, "Freshness").

    This is so while blind, before the first reply, and after two intervals without a reply. The screen calls this at
    each painting, so it does not look fresh if the monitor hangs or the clock is set back.
    """
    if link.state is ConnectionState.BLIND or link.as_of is None or link.is_clock_doubtful:
        return True
    return abs((now - link.as_of).total_seconds()) > thresholds.answer_intervals * link.interval


def stale_blame(link: ConnectionStatus, at: datetime, now: datetime, *, watched: bool) -> Blame:
    """Return the nearest cause for a stale screen at `now`, whose snapshot is of the time `at`.

    `watched`: the monitor has not ended.
    """
    longest = timedelta(seconds=_DEFAULTS.answer_intervals * link.interval)
    if not watched or abs(now - at) > longest:
        return UNWATCHED
    return link.blame if link.blame.text else NO_REPLY


def seconds_ahead(exchanges: Iterable[ResponseTiming], clock_offset: float = 0.0) -> float | None:
    """Return the seconds by which the server's clock is ahead of the monitor's: the median of the last exchanges.

    Returns None if no reply had a date. `clock_offset`: seconds by which this machine's clock is ahead of the
    monitor's; the exchanges are dated by this machine's.
    """
    offsets = _offsets(exchanges, clock_offset)
    return median(ahead for ahead, _ in offsets) if offsets else None


def _offsets(exchanges: Iterable[ResponseTiming], clock_offset: float) -> list[tuple[float, float]]:
    """Return for each dated exchange the seconds by which the server's clock is ahead, and their maximum error (s)."""
    return [
        (
            (exchange.server_date - exchange.at).total_seconds() + _HALF_TICK + exchange.round_trip / 2 + clock_offset,
            _HALF_TICK + exchange.round_trip / 2,
        )
        for exchange in exchanges
        if exchange.server_date and not exchange.age  # a reply from a cache has an old date
    ]


def skew(
    exchanges: Iterable[ResponseTiming], current: float, thresholds: Thresholds, clock_offset: float = 0.0
) -> float:
    """Return the seconds by which the server's clock is ahead; 0 if they are below the limit, or not proven.

    `current`: previous result. It stays until the exchanges disprove it, so slow exchanges never change it. If it is
    not 0, the limit is lower, so that the result does not flicker. `clock_offset`: as in `seconds_ahead`.
    """
    offsets = _offsets(exchanges, clock_offset)
    if not offsets or (current and median(abs(ahead - current) - doubt for ahead, doubt in offsets) <= 0):
        return current
    offset = median(ahead for ahead, _ in offsets)
    is_proven = median(abs(ahead) - doubt for ahead, doubt in offsets) > 0
    minimum = thresholds.skew_least - (thresholds.skew_swing if current else 0.0)
    return offset if is_proven and abs(offset) >= minimum else 0.0


def server_time(link: ConnectionStatus, at: datetime) -> datetime:
    """Return a time of this machine's clock as a time of the server's clock."""
    return at + timedelta(seconds=link.skew)
