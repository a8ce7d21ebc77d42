"""Time of a stream that answers cover: a missing sample is a silence only there (monitoring.md, "Not watched"). Pure.

All times are epoch seconds of the server clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from statistics import median_low
from typing import NamedTuple

from livedeck.record import Record

MAX_SPANS = 64
"""Maximum number of spans that are kept of a stream; the oldest are dropped."""

START_SLACK = 30.0
"""Largest distance in seconds between a stream's start and its first sample, or the first time that answers cover."""

_MAX_LENGTHS = 21
"""Number of answers from which the usual length of an answer is learnt."""


class Span(NamedTuple):
    """Range of time."""

    since: float
    until: float

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.until - self.since


class Coverage(Record):
    """Time of a stream in which every sample of the platform is known.

    `spans`: covered ranges, ascending and apart. `lengths`: lengths of the newest answers (s). `is_whole`: the first
    span reaches back to the stream's start.
    """

    spans: tuple[Span, ...] = ()
    lengths: tuple[float, ...] = ()
    is_whole: bool = False

    @property
    def length(self) -> float:
        """Usual length of an answer (s); 0 until an answer had samples."""
        return median_low(self.lengths) if self.lengths else 0.0

    def after_answer(
        self,
        times: Sequence[float],
        at: float,
        *,
        newest: float,
        lag: float,
        started_at: float | None = None,
        joins: float = 0.0,
        is_proof: bool = True,
    ) -> Coverage:
        """Return the coverage after an answer.

        An answer covers the time from its first sample to its newest. It also covers the usual length of an answer
        before `at`. If it brings nothing newer than `newest`, it covers on to `at` minus `lag`.

        Args:
            times: Times of its samples, ascending.
            at: Lower bound of the server's time at which the answer was made.
            newest: Time of the newest sample known before; -inf without any.
            lag: Longest delay of a sample (s).
            started_at: Start of the stream; None if unknown.
            joins: Seconds between two spans in which no sample can hide; such spans become one.
            is_proof: False if the answer can prove the presence of samples, but not their absence.
        """
        has_news = bool(times) and times[-1] > newest
        until = times[-1] if has_news or (times and not is_proof) else at - lag if is_proof else -inf
        is_reach_known = is_proof and self.length and (not times or times[-1] <= at)
        since = min([*times[:1], *([at - self.length] if is_reach_known else [])], default=until)
        is_start = started_at is not None and since <= started_at + START_SLACK
        if is_start and started_at is not None:
            since = min(since, started_at)
        lengths = (*self.lengths, times[-1] - times[0])[-_MAX_LENGTHS:] if has_news else self.lengths
        if since >= until and not has_news:
            return self
        spans = _joined(self.spans, Span(since, until), joins)
        return Coverage(spans[-MAX_SPANS:], lengths, (self.is_whole or is_start) and len(spans) <= MAX_SPANS)

    def reaching(self, time: float) -> Coverage:
        """Return the coverage with its last span extended to `time`."""
        if not self.spans or self.spans[-1].until >= time:
            return self
        return Coverage((*self.spans[:-1], Span(self.spans[-1].since, time)), self.lengths, self.is_whole)

    def pieces(self, since: float, until: float) -> list[Span]:
        """Return the covered parts of a range."""
        first = max(0, bisect_right(self.spans, (since, inf)) - 1)
        clipped = (Span(max(since, span.since), min(until, span.until)) for span in self.spans[first:])
        return [span for span in clipped if span.since < span.until]

    def seconds(self, since: float, until: float) -> float:
        """Return the number of covered seconds in a range."""
        return sum(piece.seconds for piece in self.pieces(since, until))

    def gaps(self, since: float, until: float) -> tuple[Span, ...]:
        """Return the ranges between two spans that touch a range."""
        between = (Span(before.until, after.since) for before, after in zip(self.spans, self.spans[1:], strict=False))
        return tuple(gap for gap in between if gap.until > since and gap.since < until)

    def known_seconds(self, until: float) -> float | None:
        """Return the covered seconds up to a time; None if all is known since the stream's start."""
        if self.is_whole and self.spans[0].until >= until:
            return None
        return self.seconds(-inf, until)

    def known_since(self, time: float) -> float:
        """Return the time since which all is known without a break, but not before `time`."""
        return max(time, self.spans[-1].since) if self.spans else time

    def first_change(self, before: Coverage, until: float) -> float:
        """Return the first time at which this coverage differs from an earlier one, inf if it does not up to `until`.

        Spans before the oldest one of either are no difference, because old spans are dropped.
        """
        if self is before or not self.spans or not before.spans:
            return inf
        since = max(self.spans[0].since, before.spans[0].since)
        mine, others = self.pieces(since, until), before.pieces(since, until)
        for piece, other in zip(mine, others, strict=False):
            if piece != other:
                return min(piece.since, other.since) if piece.since != other.since else min(piece.until, other.until)
        rest = mine[len(others) :] or others[len(mine) :]
        return rest[0].since if rest else inf


EVERYTHING = Coverage((Span(-inf, inf),), is_whole=True)
"""Coverage of a stream of which all samples are known."""


def _joined(spans: tuple[Span, ...], new: Span, joins: float) -> tuple[Span, ...]:
    """Return the spans with a new one, which takes in the spans that are at most `joins` seconds away."""
    if spans and spans[-1].since <= new.since <= spans[-1].until + joins:
        return (*spans[:-1], Span(spans[-1].since, max(spans[-1].until, new.until)))
    apart = [span for span in spans if span.until + joins < new.since or new.until + joins < span.since]
    near = [span for span in spans if span not in apart]
    since, until = min([new.since, *(span.since for span in near)]), max([new.until, *(span.until for span in near)])
    return tuple(sorted([*apart, Span(since, until)]))
