"""Learn the platform's delivery delay of samples (monitoring.md, "Delivery"). Pure.

Samples that arrive late but without a gap prove that the encoder was connected. The delay is learnt from such samples
only, so a fault never changes the learnt delay.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from livedeck.monitor.model.thresholds import Thresholds
from livedeck.record import Record

_MAX_PEAKS, _MAX_SURPRISES = 32, 8
"""Maximum number of remembered deliveries, and of remembered surprises."""

_OUTAGE = 15.0
"""Maximum seconds between two replies that count as a delay of the platform. A longer gap is this machine's outage."""

_PLAIN_PEAK = 20.0
"""Delay in seconds above which a single delivery is enough to learn the delay."""

_SURPRISES = 2
"""Minimum number of surprises within half an hour that make their longest delay a normal delay."""


class Surprise(NamedTuple):
    """Silence that was only a late delivery. `at`: its end (epoch s, server clock). `seconds`: the delay."""

    at: float
    seconds: float


class Delivery(Record):
    """Delivery delay of a stream's samples, learnt from replies. Times are epoch seconds of the server clock.

    `first_asked`, `asked`: times of the first and the last good reply with samples. `newest`: time of the newest sample
    in the last reply. `peaks`: age of the newest sample just before each delivery without a gap (s). `surprises`:
    silences that were only late deliveries.
    """

    first_asked: float | None = None
    asked: float = 0.0
    newest: float = 0.0
    peaks: tuple[float, ...] = ()
    surprises: tuple[Surprise, ...] = ()

    def lag(self, thresholds: Thresholds) -> float | None:
        """Return the longest proven delay (s); None after too few deliveries."""
        if not self.peaks or (len(self.peaks) < thresholds.delivery_least and max(self.peaks) <= _PLAIN_PEAK):
            return None
        return max(self.peaks)

    def resumed(self) -> Delivery:
        """Return a copy without the times of replies, for a process that has not polled yet."""
        return Delivery(peaks=self.peaks, surprises=self.surprises)

    @property
    def seen_lag(self) -> float | None:
        """Longest delay so far (s), even if it does not count as learnt yet; None before the first delivery."""
        return max(self.peaks, default=None)

    @property
    def age(self) -> float | None:
        """Age of the newest sample at the last reply (s); None before the first reply."""
        return None if self.first_asked is None else self.asked - self.newest

    def steady_lag(self, thresholds: Thresholds) -> float | None:
        """Return the shortest delay of the last deliveries (s); None after too few deliveries."""
        recent = self.peaks[-thresholds.delivery_least :]
        return min(recent) if len(recent) == thresholds.delivery_least else None

    def after_answer(self, at: float, newest: float, thresholds: Thresholds, *, is_proof: bool) -> Delivery:
        """Return the state after a reply.

        Args:
            at: Time of the reply.
            newest: Time of the newest sample in the reply.
            thresholds: Limits of the stream.
            is_proof: The new samples leave no gap, so the encoder was connected.
        """
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

    def lost_limit(self, cadence: float | None, thresholds: Thresholds) -> float | None:
        """Return the age (s) of the newest sample above which the encoder is gone; None until the delay is learnt.

        `cadence`: seconds between samples; None before the second sample.
        """
        lag = self.lag(thresholds)
        if lag is None:
            return None
        cadence = cadence or 0.0
        recent = [late.seconds for late in self.surprises if self.asked - late.at < thresholds.delivery_fooled]
        lag = max([lag, *recent]) if len(recent) >= _SURPRISES else lag
        least = max(thresholds.missed_after, thresholds.missed_intervals * cadence)
        limit = lag + thresholds.missed_margin_intervals * cadence + thresholds.missed_margin
        most = max(thresholds.missed_most, thresholds.silence_intervals * cadence)
        return min(max(least, limit), most)

    def _peak(self, at: float) -> float:
        waited = at - self.asked
        return self.asked - self.newest + (waited if waited <= _OUTAGE else 0.0)
