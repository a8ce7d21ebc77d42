"""Dates of replies on the platform's clock, so that a reply read late does not look like a lost encoder. Pure."""

from __future__ import annotations

from livedeck.record import Record

_TICK = 1.0
"""Resolution of a `Date` header in seconds: the header has no fractions."""

CACHED_AFTER = 5.0
"""Minimum age of a reply at its request (s) to count as cached. A smaller age may come from a wrong clock."""


class Dated(Record):
    """Times of a request and its reply, in epoch seconds.

    `sent`, `read`: times at which the request was sent and the reply was read, by this machine's clock. `date`: `Date`
    header of the reply, by the platform's clock; None without a header. `age`: seconds that a cache held the reply
    (`Age` header). `skew`, in every method: seconds by which the platform's clock is ahead of this machine's.
    """

    sent: float
    read: float
    date: float | None = None
    age: float = 0.0

    def is_cached(self, skew: float) -> bool:
        """Return whether the reply was made clearly before its request was sent.

        Such a reply can prove that a sample exists, never that it is absent.
        """
        if self.age > CACHED_AFTER:
            return True
        return self.date is not None and self.date + _TICK < self.sent + skew - CACHED_AFTER

    def lower(self, skew: float) -> float:
        """Return the earliest time at which the reply can have been made, by the platform's clock.

        This is the `Date` header, or the time of the request without a usable header. The header has no fractions of
        a second, so a request within that second gives the fraction.
        """
        sent = self.sent + skew
        return sent if self._date(skew) is None else min(max(sent, self._date(skew) or 0.0), self._latest(skew))

    def upper(self, skew: float) -> float:
        """Return the latest time at which the reply can have been made, by the platform's clock."""
        read = self.read + skew
        return read if self._date(skew) is None else max(self.lower(skew), min(read, self._latest(skew)))

    def moved(self, seconds: float) -> Dated:
        """Return the same times on a clock that is ahead of this machine's by `seconds`."""
        return Dated(self.sent + seconds, self.read + seconds, self.date, self.age)

    def _date(self, skew: float) -> float | None:
        """Return the `Date` header; None without a header, or for a future date, which comes from a wrong clock."""
        is_ahead = self.date is not None and self.date > self.read + skew + CACHED_AFTER
        return None if is_ahead else self.date

    def _latest(self, skew: float) -> float:
        return (self._date(skew) or 0.0) + _TICK
