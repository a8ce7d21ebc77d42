"""Dates of answers on the platform's clock, so that a late reader takes no late answer for a lost encoder. Pure."""

from __future__ import annotations

from livedeck.record import Record

_TICK = 1.0
"""Resolution of a `Date` header in seconds; it drops fractions."""

CACHED_AFTER = 5.0
"""Seconds by which an answer must be older than its request to count as cached, and by which a clock may err."""


class Dated(Record):
    """Moments of an answer, in epoch seconds.

    `sent`, `read`: times at which its request left and at which it was read, by this machine's clock. `date`: its
    `Date` header, by the platform's clock; None if it has none. `age`: seconds that a cache had held it (`Age` header).

    `skew`, in every method: seconds that the platform's clock is ahead of this machine's.
    """

    sent: float
    read: float
    date: float | None = None
    age: float = 0.0

    def is_cached(self, skew: float) -> bool:
        """Return whether the answer was made clearly before its request left. It proves presence, never absence."""
        if self.age > CACHED_AFTER:
            return True
        return self.date is not None and self.date + _TICK < self.sent + skew - CACHED_AFTER

    def lower(self, skew: float) -> float:
        """Return the earliest time at which the answer was made, by the platform's clock.

        The `Date` header counts, and the time of the request gives its fraction of a second. Without a header, or with
        one that lies after the reading, the time of the request counts. The time of reading never does.
        """
        sent = self.sent + skew
        return sent if self._date(skew) is None else min(max(sent, self._date(skew) or 0.0), self._latest(skew))

    def upper(self, skew: float) -> float:
        """Return the latest time at which the answer was made, by the platform's clock."""
        read = self.read + skew
        return read if self._date(skew) is None else max(self.lower(skew), min(read, self._latest(skew)))

    def moved(self, seconds: float) -> Dated:
        """Return the same moments by a clock that is ahead of this machine's by some seconds."""
        return Dated(self.sent + seconds, self.read + seconds, self.date, self.age)

    def _date(self, skew: float) -> float | None:
        """Return the `Date` header; None if there is none, or if another clock than the usual one wrote it."""
        is_ahead = self.date is not None and self.date > self.read + skew + CACHED_AFTER
        return None if is_ahead else self.date

    def _latest(self, skew: float) -> float:
        return (self._date(skew) or 0.0) + _TICK
