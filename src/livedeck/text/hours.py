"""Hours of the week, as people write them: `Mo-Fr 08:00-18:00, Sa 10:00-14:00`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import NamedTuple

from livedeck.record import Record

_DAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_SPAN = re.compile(
    r"(?:(?P<first>[a-z]{2})(?:-(?P<last>[a-z]{2}))?\s+)?(?P<begin>\d{2}:\d{2})-(?P<end>\d{2}:\d{2})", re.IGNORECASE
)


class Span(NamedTuple):
    """Hours from `begin` to `end` on some weekdays (0 is Monday).

    If `end` is before `begin`, the hours end on the next day.
    """

    days: frozenset[int]
    begin: time
    end: time

    def covers(self, local: datetime) -> bool:
        """Return whether a time is in the span."""
        at, day = local.time(), local.weekday()
        if self.begin < self.end:
            return day in self.days and self.begin <= at < self.end
        return (day in self.days and at >= self.begin) or ((day - 1) % 7 in self.days and at < self.end)


class Hours(Record):
    """Hours of the week. Without spans: always."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Hours:
        """Read hours such as `Mo-Fr 08:00-18:00, Sa 10:00-14:00`.

        Hours without days are for every day; an empty text means always. Raises ValueError.
        """
        return cls(tuple(_parse_span(part.strip()) for part in text.split(",") if part.strip()))

    def covers(self, local: datetime) -> bool:
        """Return whether a time is in the hours."""
        return not self.spans or any(span.covers(local) for span in self.spans)

    def next_stretch(self, local: datetime) -> tuple[datetime, datetime] | None:
        """Return begin and end of the stretch that covers `local`, or else of the next one; None without spans.

        If several stretches cover `local`, returns the one that ends last.
        """
        stretches = [stretch for stretch in self._stretches(local) if stretch[1] > local]
        running = [stretch for stretch in stretches if stretch[0] <= local]
        return max(running, key=lambda stretch: stretch[1]) if running else min(stretches, default=None)

    def _stretches(self, local: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Yield begin and end of each stretch that begins from a day before `local` to a week after it."""
        for offset in range(-1, 8):
            day = (local + timedelta(days=offset)).date()
            for span in self.spans:
                if day.weekday() in span.days:
                    last = day if span.begin < span.end else day + timedelta(days=1)
                    yield (
                        datetime.combine(day, span.begin, local.tzinfo),
                        datetime.combine(last, span.end, local.tzinfo),
                    )


def _parse_span(text: str) -> Span:
    match = _SPAN.fullmatch(text)
    try:
        first, last, begin, end = match.groups() if match else ("", "", "", "")
        first_day = _DAYS.index((first or "mo").lower())
        last_day = _DAYS.index((last or first or "su").lower())
        days = frozenset((first_day + step) % 7 for step in range((last_day - first_day) % 7 + 1))
        return Span(days, _time(begin), _time(end))
    except ValueError:
        raise ValueError(f"{text!r} is not a range of hours; write Mo-Fr 08:00-18:00, Sa 10:00-14:00") from None


def _time(text: str) -> time:
    """Read a time; `24:00` is the midnight at the end of a day."""
    return time() if text == "24:00" else time.fromisoformat(text)
