"""Rules that prove an encoder gone; without polls nothing is proven (monitoring.md, "Delivery"). Pure.

Times are epoch seconds by the platform's clock. A reply has the earliest time at which it can have been made
(`Dated.lower`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil

from msgspec.structs import replace

from livedeck.monitor.model.state import EventState, IngestState
from livedeck.record import Record

ANSWERS_APART = 4.0
"""Minimum seconds between the first and the last reply without a new sample. One reply may come from a bad replica."""

LOOK_AFTER, LOOK_WITHIN = timedelta(seconds=4), timedelta(seconds=30)
"""Times after the last sample of an event: from the first on, a reply shows whether the event was completed.

After the second, no such reply is awaited any more.
"""

LEAST_WAIT = 15.0
"""Minimum delivery delay (s) that `movement_wait` assumes."""

_MISSED = 2.0
"""More poll intervals than this between two polls of a stream show that a poll is missing."""

_ALMOST_ALL = 0.99
"""Share of the streams. The platform's usual delay (`usual_of_platform`) is the maximum delay of this share."""


def may_have_ended(event: EventState, skew: float, now: datetime) -> bool:
    """Return whether samples have stopped, and no later reply shows whether somebody completed the event.

    After `LOOK_WITHIN` of silence returns False, because no reply is expected to show it any more. `skew`: lead of the
    server's clock (s). `now`: this machine's clock.
    """
    left, ahead = event.phase.ingest.since, timedelta(seconds=skew)
    if event.phase.ingest.state is not IngestState.INTERRUPTED or left is None:
        return False
    return event.as_of + ahead < left + LOOK_AFTER and now + ahead < left + LOOK_WITHIN


class EncoderStanding(StrEnum):
    """Standing of a stream's encoder. LATE_OR_GONE: samples are late, and no proof yet shows if the encoder sends."""

    PRESENT = "present"
    LATE_OR_GONE = "late or gone"
    GONE = "gone"


class Presence(Record):
    """Standing of a stream's encoder at the last good reply.

    `newest`: time of the newest sample. `age`: age of that sample at the reply (s); for a lost encoder, the time that
    it has been away. `decided_at`: time at which the standing is decided if no new sample comes; None if it is decided.
    `answers`: number of replies without a new sample. `has_moved`: this process has seen new samples arrive.
    """

    standing: EncoderStanding
    newest: float
    age: float
    decided_at: float | None = None
    answers: int = 0
    has_moved: bool = False


class PresenceLimits(Record):
    """Limits for the presence of an encoder, in seconds.

    `late`: age of the newest sample above which samples look late. `lost`: age above which the encoder counts as gone.
    `wait`: time without a new sample after which the encoder is gone as well; None once the stream's delay is learnt.
    `due`: time from a new sample until the next one is due.
    """

    late: float
    lost: float
    wait: float | None
    due: float = 0.0


class Asks(Record):
    """Record of the polls of a stream's samples.

    `asked`: time of the last poll, good or failed. `answered`: date of the last good reply. `quiet_since`: date of the
    last reply with new samples, or of the first reply after a missing poll. `first`, `answers`: date of the first reply
    without a new sample since `quiet_since`, and the number of such replies. `has_moved`: a reply has brought new
    samples. `gap`: seconds between the last two polls.
    """

    asked: float | None = None
    answered: float | None = None
    quiet_since: float = 0.0
    first: float | None = None
    answers: int = 0
    has_moved: bool = False
    gap: float = 0.0

    def after_failure(self, sent: float, interval: float) -> Asks:
        """Return the record after a failed poll, which counts as made but proves nothing.

        `sent`: time of the request. `interval`: planned seconds between two polls.
        """
        return replace(self._after_ask(sent, interval), asked=sent)

    def after_answer(self, sent: float, date: float, interval: float, *, has_news: bool) -> Asks:
        """Return the record after a good reply to a request sent at `sent`.

        `date`: time at which the reply was made. `interval`: planned seconds between two polls. `has_news`: the reply
        has samples newer than all before.
        """
        before = self._after_ask(sent, interval)
        if before.answered is None:
            return replace(before, asked=sent, answered=date, quiet_since=date, first=date, answers=1)
        if has_news:
            return Asks(sent, date, date, None, 0, has_moved=True, gap=before.gap)
        is_first = before.first is None
        return replace(
            before,
            asked=sent,
            answered=date,
            quiet_since=before.quiet_since or date,
            first=date if is_first else before.first,
            answers=before.answers + 1,
        )

    @property
    def are_apart(self) -> bool:
        """True if two replies without a new sample are far enough apart, with every planned poll made between them."""
        return self.first is not None and self.answered is not None and self.answered - self.first >= ANSWERS_APART

    def _after_ask(self, sent: float, interval: float) -> Asks:
        """Return the record with a poll at `sent`. If a poll is missing before it, restart the count of replies.

        A gap over `_MISSED` poll intervals shows a missing poll, unless the gap before was about as long.
        """
        gap = 0.0 if self.asked is None else sent - self.asked
        if gap <= _MISSED * max(interval, self.gap):
            return replace(self, gap=gap)
        return replace(self, gap=gap, quiet_since=0.0, first=None, answers=0)


def movement_wait(lags: Iterable[float | None], others: float | None, due: float, most: float) -> float:
    """Return how long (s) a stream may bring no new sample before its encoder counts as gone.

    Used until the stream's own delay is learnt.

    Args:
        lags: Delays seen so far of this stream and of the event's last stream (s); None for a stream not seen.
        others: Usual delay of the platform's other streams (s). It may lengthen the wait, never shorten it.
        due: Seconds from a new sample until the next one is due.
        most: Maximum wait (s). It is returned if `lags` has no delay.
    """
    seen = [lag for lag in lags if lag is not None]
    if not seen:
        return most
    return min(most, max(*seen, others or 0.0, LEAST_WAIT) + due)


def presence(
    asks: Asks,
    newest: float,
    limits: PresenceLimits,
    interval: float,
    before: Presence | None,
    *,
    watched_since: float = 0.0,
) -> Presence | None:
    """Return the standing of the encoder at the last good reply; None without such a reply.

    An encoder that is gone stays gone until a new sample comes.

    Args:
        asks: Record of the polls.
        newest: Time of the newest sample.
        limits: Limits of this stream.
        interval: Seconds between two polls.
        before: Presence at the previous reply.
        watched_since: Start of the watched time; the age of the newest sample counts from there at the earliest.
    """
    if asks.answered is None:
        return None
    age, quiet = asks.answered - max(newest, watched_since), asks.answered - asks.quiet_since
    here = Presence(EncoderStanding.PRESENT, newest, age, None, asks.answers, asks.has_moved)
    if before is not None and before.standing is EncoderStanding.GONE and before.newest >= newest:
        return replace(here, standing=EncoderStanding.GONE)
    if asks.first is None:
        return here
    settled = max(ANSWERS_APART, limits.due) if limits.wait is not None else ANSWERS_APART
    is_over = age > limits.lost or (limits.wait is not None and quiet > limits.wait)
    if is_over and asks.are_apart and quiet >= settled:
        return replace(here, standing=EncoderStanding.GONE)
    unmoved = min(age, quiet) if limits.wait is not None and asks.has_moved else age
    if unmoved <= limits.late:
        return here
    lost_at = max(newest, watched_since) + limits.lost
    due = lost_at if limits.wait is None else min(lost_at, asks.quiet_since + limits.wait)
    due = max(due, asks.first + ANSWERS_APART, asks.quiet_since + settled)
    polls = max(1, ceil((due - asks.answered) / interval))
    return replace(here, standing=EncoderStanding.LATE_OR_GONE, decided_at=asks.answered + polls * interval)


def usual_of_platform(lags: Iterable[float | None]) -> float | None:
    """Return the delay that 99 % of the streams do not exceed (s); None if no stream's delay is learnt."""
    learnt = sorted(lag for lag in lags if lag is not None)
    return learnt[ceil(_ALMOST_ALL * len(learnt)) - 1] if learnt else None
