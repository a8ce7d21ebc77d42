"""Set operations on periods of time. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple


class Span(NamedTuple):
    """Period from `since` to `until`. The time `until` is not included."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds()


Spans = tuple[Span, ...]
"""Periods in ascending order that neither overlap nor touch."""


def joined(spans: Iterable[Span]) -> Spans:
    """Return the union of the spans."""
    found: list[Span] = []
    for span in sorted(span for span in spans if span.since < span.until):
        if found and span.since <= found[-1].until:
            found[-1] = found[-1]._replace(until=max(found[-1].until, span.until))
        else:
            found.append(span)
    return tuple(found)


def common(spans: Iterable[Span], others: Iterable[Span]) -> Spans:
    """Return the intersection of `spans` and `others`."""
    others = joined(others)
    pairs = ((span, other) for span in joined(spans) for other in others)
    return joined(Span(max(span.since, other.since), min(span.until, other.until)) for span, other in pairs)


def without(spans: Iterable[Span], holes: Iterable[Span]) -> Spans:
    """Return the spans without the time of `holes`."""
    holes, left = joined(holes), []
    for span in joined(spans):
        start = span.since
        for hole in holes:
            if hole.until > start and hole.since < span.until:
                left.append(Span(start, max(start, hole.since)))
                start = max(start, hole.until)
        left.append(Span(start, span.until))
    return joined(left)


def seconds_of(spans: Iterable[Span]) -> float:
    """Return the total length in seconds."""
    return sum((span.seconds for span in spans), 0.0)


def seconds_within(spans: Iterable[Span], since: datetime, seconds: float) -> float:
    """Return the total length (s) of the spans within the `seconds` after `since`."""
    window = Span(since, since + timedelta(seconds=seconds))
    return seconds_of(common(spans, [window]))
