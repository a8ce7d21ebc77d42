"""Measure the share of lost replies: a state of the link, not a fault of an event (monitoring.md, "Lost replies")."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from livedeck.client import ApiError, Rejected, ServerFault, Unreachable, Unreadable
from livedeck.monitor.evidence.blame import is_common, seen
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.polling.schedule import PollKey

_PASSING_STATUS = frozenset({408, 425})


def is_passing(error: ApiError) -> bool:
    """Return whether a quick retry of a failed read may succeed: the read was neither refused nor rate-limited."""
    if isinstance(error, Rejected) and error.retry_after is not None:
        return False
    is_early_or_late = isinstance(error, Rejected) and error.status in _PASSING_STATUS
    return is_early_or_late or isinstance(error, ServerFault | Unreachable | Unreadable)


class _Call(NamedTuple):
    key: PollKey
    at: float  # monotonic s
    is_failed: bool


class CallTally:
    """Counter of calls in the last minute, and of their failures with 5xx or without a reply.

    Such failures may have a cause that affects every call alike.
    """

    def __init__(self) -> None:
        self._calls = deque[_Call]()

    def note(self, key: PollKey, at: float, error: ApiError | None, window: float) -> None:
        """Count a call at `at` (monotonic s), and forget calls older than `window` seconds. `error`: None if good."""
        self._calls.append(_Call(key, at, error is not None and is_common(seen(error))))
        while self._calls[0].at < at - window:
            self._calls.popleft()

    def failed_share(self, key: PollKey) -> float:
        """Return the share of failed calls, leaving out the calls of `key`; 0 without other calls."""
        others = [call.is_failed for call in self._calls if call.key != key]
        return sum(others) / len(others) if others else 0.0


class _Failure(NamedTuple):
    key: PollKey
    at: float  # monotonic s


class LossMeter:
    """Counter of good and lost replies in the last minute.

    A reply is lost if its call fails, soon succeeds again, and other calls succeed in between. A call that keeps
    failing has a fault of its own. If all calls fail, that is an outage.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._answered, self._lost = deque[float](), deque[float]()  # times (monotonic s)
        self._run: list[_Failure] = []  # failures since the last good reply to any call
        self._unsettled: list[_Failure] = []  # earlier failures of calls that have not succeeded since

    def judge_by(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds

    def note_answer(self, key: PollKey, at: float) -> None:
        """Count a good reply to a call at `at` (monotonic s)."""
        if self._run and at - self._run[0].at <= self._thresholds.link_outage:
            self._unsettled += self._run
        self._run = []
        recent = [failure for failure in self._unsettled if at - failure.at <= self._thresholds.link_passing]
        self._lost.extend(failure.at for failure in recent if failure.key == key)
        self._unsettled = [failure for failure in recent if failure.key != key]
        self._answered.append(at)

    def note_failure(self, key: PollKey, at: float) -> None:
        """Count a failed call at `at` (monotonic s)."""
        self._run.append(_Failure(key, at))

    def _widespread(self) -> int:
        """Return the number of failures that no later success has explained, if many different calls failed; else 0."""
        is_wide = len({failure.key for failure in self._unsettled}) >= self._thresholds.poor_link_least
        return len(self._unsettled) if is_wide else 0

    def share(self, at: float, before: float) -> float:
        """Return the share of replies lost in the last minute; 0 while the link is not poor.

        `at`: present time (monotonic s). `before`: previous result; if it is not 0, a lower limit applies.
        """
        thresholds = self._thresholds
        for times in (self._answered, self._lost):
            while times and times[0] < at - thresholds.link_window:
                times.popleft()
        lost = len(self._lost) + self._widespread()
        limit = thresholds.poor_link / 2 if before else thresholds.poor_link
        share = lost / (lost + len(self._answered)) if lost else 0.0
        return share if lost >= thresholds.poor_link_least and share >= limit else 0.0
