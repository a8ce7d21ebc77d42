"""How late the platform delivers samples, learnt from its answers (monitoring.md, "Delivery"). Pure.

Samples that come late without a hole prove that the encoder was there: the delay is learnt from these, and only from
these. So a fault cannot teach the delay, and a delay is no fault. It is the one part of detection that knows the clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median_low
from typing import NamedTuple

from livedeck.monitor.model.thresholds import Thresholds

_MAX_PEAKS, _MAX_SURPRISES = 32, 8
"""Deliveries and surprises remembered."""

_OUTAGE = 15.0
"""Seconds between two answers beyond which the wait was an outage of ours, and no delay of theirs."""

_PLAIN_PEAK = 20.0
"""Seconds: a delay this long is learnt from one delivery."""

_SURPRISES = 2
"""Within half an hour that make a habit."""

_LEAST_STREAMS = 2
"""Of a workspace, that tell how the others are delivered."""


class Surprise(NamedTuple):
    """A silence that was late metrics: when it ended (epoch s, server clock), and how late they were (s)."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the answers taught. Times in epoch s, server clock.

    `first_asked`, `asked`: the first and the last good answer with samples; `newest`: the newest sample known then.
    `peaks`: how old the newest sample was just before each delivery of news without a hole. `surprises`: the silences
    that were late metrics.
    """

    first_asked: float | None = None
    asked: float = 0.0
    newest: float = 0.0
    peaks: tuple[float, ...] = ()
    surprises: tuple[Surprise, ...] = ()

    def lag(self, thresholds: Thresholds) -> float | None:
        """The worst delay that was proven (s); None while too few deliveries were seen."""
        if not self.peaks or (len(self.peaks) < thresholds.delivery_least and max(self.peaks) <= _PLAIN_PEAK):
            return None
        return max(self.peaks)

    def resumed(self) -> Delivery:
        """The same for a process that has asked nothing yet."""
        return Delivery(peaks=self.peaks, surprises=self.surprises)

    @property
    def age(self) -> float | None:
        """How old the newest sample was at the last answer (s); None before the first."""
        return None if self.first_asked is None else self.asked - self.newest

    def steady_lag(self, thresholds: Thresholds) -> float | None:
        """What the last deliveries had in common (s); None while too few were seen."""
        recent = self.peaks[-thresholds.delivery_least :]
        return min(recent) if len(recent) == thresholds.delivery_least else None

    def after_answer(self, at: float, newest: float, thresholds: Thresholds, *, is_proof: bool) -> Delivery:
        """What is known after an answer; `is_proof`: what is new left no hole, so the encoder was there."""
        if self.first_asked is None:
            return replace(self, first_asked=at, asked=at, newest=newest)
        after = replace(self, asked=at, newest=newest)
        peak = self._peak(at)
        if newest <= self.newest or not is_proof or peak < 0:
            return after
        lag = self.lag(thresholds)
        if lag is not None and peak > max(thresholds.missed_after, lag + thresholds.missed_margin):
            after = replace(after, surprises=(*self.surprises, Surprise(at, peak))[-_MAX_SURPRISES:])
        return replace(after, peaks=(*self.peaks, peak)[-_MAX_PEAKS:])

    def late_limit(self, cadence: float | None, usual_lag: float | None, thresholds: Thresholds) -> float:
        """How old the newest sample may be (s); `usual_lag`: of the workspace, None where that is not known either."""
        cadence, own = cadence or 0.0, self.lag(thresholds)
        lag = own if own is not None else usual_lag
        if lag is None:
            return max(thresholds.delivery_patience, thresholds.silence_intervals * cadence)
        recent = [late.seconds for late in self.surprises if self.asked - late.at < thresholds.delivery_fooled]
        lag = max([lag, *recent]) if len(recent) >= _SURPRISES else lag
        least = max(thresholds.missed_after, thresholds.missed_intervals * cadence)
        limit = lag + thresholds.missed_margin_intervals * cadence + thresholds.missed_margin
        return min(max(least, limit), self._most(cadence, thresholds))

    def is_silent(self, cadence: float | None, usual_lag: float | None, thresholds: Thresholds) -> bool:
        """Whether the samples had stopped at the last good answer; without an answer nothing is known.

        While the delay is not known, movement and not age is the evidence, so it is counted from the first look.
        """
        if self.first_asked is None:
            return False
        age = self.asked - self.newest
        is_learnt = self.lag(thresholds) is not None or usual_lag is not None
        waited = age if is_learnt else min(age, self.asked - self.first_asked)
        return age > self._most(cadence, thresholds) or waited > self.late_limit(cadence, usual_lag, thresholds)

    def _peak(self, at: float) -> float:
        waited = at - self.asked
        return self.asked - self.newest + (waited if waited <= _OUTAGE else 0.0)

    @staticmethod
    def _most(cadence: float | None, thresholds: Thresholds) -> float:
        return max(thresholds.missed_most, thresholds.silence_intervals * (cadence or 0.0))


def usual_lag(lags: Iterable[float | None], ages: Iterable[float | None]) -> float | None:
    """The delay of a workspace by those of its streams; until these are known, by how old their newest samples are.

    None where they are too few to tell.
    """
    proven = [lag for lag in lags if lag is not None]
    if len(proven) >= _LEAST_STREAMS:
        return median_low(proven)
    seen = [age for age in ages if age is not None]
    return max(0.0, median_low(seen)) if len(seen) > _LEAST_STREAMS else None
