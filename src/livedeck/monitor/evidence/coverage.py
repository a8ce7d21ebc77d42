"""Coverage: the times for which all samples of a stream were received (monitoring.md, "Not watched"). Pure.

Only in these times does a missing sample prove that the encoder sent none. Times are epoch seconds of the server clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from statistics import median_low

from livedeck.monitor.model.span import Span
from livedeck.record import Record

MAX_SPANS = 64
"""Maximum number of spans in the coverage of a stream; the oldest are dropped."""

START_SLACK = 30.0
"""Seconds after a stream's start within which its first sample, or its first covered time, still counts as the start.
"""

_MAX_LENGTHS = 21
"""Number of newest replies that the usual length of a reply is learnt from."""


class Coverage(Record):
    """Time of a stream whose samples have all been received.

    `spans`: covered ranges, ascending and apart. `lengths`: seconds from the first to the last sample of each of the
    newest replies. `is_whole`: the first span reaches back to the stream's start.
    """

    spans: tuple[Span, ...] = ()
    lengths: tuple[float, ...] = ()
    is_whole: bool = False

    @property
    def length(self) -> float:
        """Usual time from the first to the last sample of a reply (s); 0 until a reply had samples."""
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
        is_part: bool = False,
    ) -> Coverage:
        """Return the coverage after a reply.

        A reply covers the time from its first sample to its newest. It also covers the usual length of a reply before
        `at`. If all its samples were received before, it covers the time up to `at` minus `lag`.

        Args:
            times: Times of the reply's samples, ascending.
            at: Earliest server time at which the reply can have been made.
            newest: Time of the newest sample received before this reply; -inf without any.
            lag: Longest delay of a sample (s).
            started_at: Start of the stream; None if unknown.
            joins: Spans that are at most this far apart (s) become one, because no sample fits between them.
            is_proof: False if the reply can prove only that samples exist, not that they are absent.
            is_part: The samples are only the newest of the reply, so they prove nothing about earlier time.
        """
        has_news = bool(times) and times[-1] > newest
        until = times[-1] if has_news or (times and not is_proof) else at - lag if is_proof else -inf
        is_reach_known = is_proof and not is_part and self.length and (not times or times[-1] <= at)
        since = min([*times[:1], *([at - self.length] if is_reach_known else [])], default=until)
        is_start = not is_part and started_at is not None and since <= started_at + START_SLACK
        if is_start and started_at is not None:
            since = min(since, started_at)
        has_length = has_news and not is_part
        lengths = (*self.lengths, times[-1] - times[0])[-_MAX_LENGTHS:] if has_length else self.lengths
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
        if self.spans and self.spans[-1].since <= since and until <= self.spans[-1].until:  # the usual case
            return max(0.0, until - since)
        return sum(piece.seconds for piece in self.pieces(since, until))

    def gaps(self, since: float, until: float) -> tuple[Span, ...]:
        """Return the gaps between spans that touch a range."""
        between = (Span(before.until, after.since) for before, after in zip(self.spans, self.spans[1:], strict=False))
        return tuple(gap for gap in between if gap.until > since and gap.since < until)

    def known_seconds(self, until: float) -> float | None:
        """Return the covered seconds up to a time; None if everything since the stream's start is covered."""
        if self.is_whole and self.spans[0].until >= until:
            return None
        return self.seconds(-inf, until)

    def known_since(self, time: float) -> float:
        """Return the start of the last covered span, or `time` if that is later."""
        return max(time, self.spans[-1].since) if self.spans else time

    def first_change(self, before: Coverage, until: float) -> float:
        """Return the first time at which this coverage differs from `before`; inf if both are equal up to `until`.

        Only the time that both still record is compared, because old spans are dropped.
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
"""Coverage without a gap, for samples that are taken as complete."""


def _joined(spans: tuple[Span, ...], new: Span, joins: float) -> tuple[Span, ...]:
    """Return the spans and a new one; spans at most `joins` seconds away from the new one become part of it."""
    if spans and spans[-1].since <= new.since <= spans[-1].until + joins:
        return (*spans[:-1], Span(spans[-1].since, max(spans[-1].until, new.until)))
    apart = [span for span in spans if span.until + joins < new.since or new.until + joins < span.since]
    near = [span for span in spans if span not in apart]
    since, until = min([new.since, *(span.since for span in near)]), max([new.until, *(span.until for span in near)])
    return tuple(sorted([*apart, Span(since, until)]))
