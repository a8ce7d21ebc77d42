"""Which share of the answers is lost in passing: a state of the link, and no fault of an event (monitoring.md,
"Lost answers")."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from livedeck.client import ApiError, Rejected, ServerFault, Unreachable, Unreadable
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.polling.schedule import PollKey


def is_passing(error: ApiError) -> bool:
    """Whether the same read may be answered in a moment: nobody has refused it, or asked for a pause."""
    if isinstance(error, Rejected) and error.retry_after is not None:
        return False
    return isinstance(error, ServerFault | Unreachable | Unreadable)


class _Failure(NamedTuple):
    key: PollKey
    at: float  # monotonic s


class LossMeter:
    """Counts the answers of the last minute, and those that were lost in passing.

    An answer is lost in passing where the same call is answered soon after, and others meanwhile: what fails for good
    is that call's own fault, and what fails with everything else is an outage.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._answered, self._lost = deque[float](), deque[float]()  # when (monotonic s)
        self._run: list[_Failure] = []  # since the last good answer of all
        self._unsettled: list[_Failure] = []  # of calls that were not answered since, while others were

    def judge_by(self, thresholds: Thresholds) -> None:
        """These limits hold from now on."""
        self._thresholds = thresholds

    def note_answer(self, key: PollKey, at: float) -> None:
        """That call was answered, and well."""
        if self._run and at - self._run[0].at <= self._thresholds.link_outage:
            self._unsettled += self._run
        self._run = []
        recent = [failure for failure in self._unsettled if at - failure.at <= self._thresholds.link_passing]
        self._lost.extend(failure.at for failure in recent if failure.key == key)
        self._unsettled = [failure for failure in recent if failure.key != key]
        self._answered.append(at)

    def note_failure(self, key: PollKey, at: float) -> None:
        """That call failed."""
        self._run.append(_Failure(key, at))

    def _widespread(self) -> int:
        """The failures of so many calls that they are none of theirs."""
        is_wide = len({failure.key for failure in self._unsettled}) >= self._thresholds.poor_link_least
        return len(self._unsettled) if is_wide else 0

    def share(self, at: float, before: float) -> float:
        """The share that was lost in the last minute; 0 while the link is not poor. `before`: what it was."""
        thresholds = self._thresholds
        for times in (self._answered, self._lost):
            while times and times[0] < at - thresholds.link_window:
                times.popleft()
        lost = len(self._lost) + self._widespread()
        limit = thresholds.poor_link / 2 if before else thresholds.poor_link
        share = lost / (lost + len(self._answered)) if lost else 0.0
        return share if lost >= thresholds.poor_link_least and share >= limit else 0.0
