"""Proof that an encoder has left: no ask, no claim (monitoring.md, "Delivery"). Pure.

Times are epoch seconds by the platform's clock, at which answers were made (`Dated.lower`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from math import ceil

from livedeck.record import Record

ANSWERS_APART = 4.0
"""Minimum seconds between the first and the last answer without news: one bad replica, or one bad moment, is no proof.
"""

LEAST_WAIT = 15.0
"""Minimum seconds without movement before a stream counts as gone whose own delay is not learnt yet."""

_MISSED = 2.0
"""Poll intervals between two asks from which on an ask between them is missing."""

_ALMOST_ALL = 0.99
"""Share of the streams whose delay is not longer than that of the platform."""


class EncoderStanding(StrEnum):
    """Standing of a stream's encoder. LATE_OR_GONE: its samples are late, and nothing shows yet if it still sends."""

    PRESENT = "present"
    LATE_OR_GONE = "late or gone"
    GONE = "gone"


class Presence(Record):
    """Standing of a stream's encoder at the last good answer.

    `newest`: time of the newest sample. `age`: its age at that answer, so the encoder is gone for at least so many
    seconds. `decided_at`: time at which the standing is decided if nothing new comes; None if it is decided. `answers`:
    number of answers without news. `has_moved`: new samples were seen to arrive.
    """

    standing: EncoderStanding
    newest: float
    age: float
    decided_at: float | None = None
    answers: int = 0
    has_moved: bool = False


class PresenceLimits(Record):
    """Limits by which the presence of an encoder is decided, in seconds.

    `late`: age from which on samples look late. `lost`: age from which on the encoder is gone. `wait`: time without a
    new sample after which the encoder is gone, too; only until the stream's delay is learnt, then None. `due`: time
    without a new sample after which the next one is due.
    """

    late: float
    lost: float
    wait: float | None
    due: float = 0.0


class Asks(Record):
    """Asks for a stream's samples.

    `asked`: time of the last ask, whatever its result. `answered`: date of the last good answer. `quiet_since`: date of
    the last answer with news, or of the first answer after a missing ask. `first`: date of the first answer without
    news since then; `answers`: their number. `has_moved`: an answer brought samples newer than those before.
    `gap`: seconds between the last two asks.
    """

    asked: float | None = None
    answered: float | None = None
    quiet_since: float = 0.0
    first: float | None = None
    answers: int = 0
    has_moved: bool = False
    gap: float = 0.0

    def after_failure(self, sent: float, interval: float) -> Asks:
        """Return the asks after one that failed. It proves nothing, but it was made. `interval`: between two, in s."""
        return replace(self._after_ask(sent, interval), asked=sent)

    def after_answer(self, sent: float, date: float, interval: float, *, has_news: bool) -> Asks:
        """Return the asks after a good answer that was asked for at `sent` and made at `date`.

        `interval`: seconds between two planned asks. `has_news`: it brought samples newer than those before.
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
        """True if at least two good answers without news are far enough apart, with every planned ask between them."""
        return self.first is not None and self.answered is not None and self.answered - self.first >= ANSWERS_APART

    def _after_ask(self, sent: float, interval: float) -> Asks:
        """Return the asks before one at `sent`: if an ask is missing between them, the count starts again.

        None is missing if this process is slow and asked as late the last time.
        """
        gap = 0.0 if self.asked is None else sent - self.asked
        if gap <= _MISSED * max(interval, self.gap):
            return replace(self, gap=gap)
        return replace(self, gap=gap, quiet_since=0.0, first=None, answers=0)


def movement_wait(lags: Iterable[float | None], others: float | None, due: float, most: float) -> float:
    """Return the seconds without movement after which a stream is gone whose own delay is not learnt yet.

    `lags`: delays seen of the stream itself and of its event's last stream (s), None for one that was not seen; without
    any, nothing tells how far apart deliveries are, and the wait is `most`. `others`: delay of the platform's other
    streams (s): it may lengthen the wait, never shorten it. `due`: seconds after which the next sample is due.
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
    """Return whether the encoder is present at the last good answer; None without one.

    `interval`: seconds between two asks. `before`: presence at the answer before. `watched_since`: time since which all
    was watched; what came before is no part of the newest sample's age. An encoder that is gone stays gone until a new
    sample comes: a missing ask is no sample.
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
    """Return the delay that 99 of 100 streams do not exceed (s); None if no stream's delay is learnt."""
    learnt = sorted(lag for lag in lags if lag is not None)
    return learnt[ceil(_ALMOST_ALL * len(learnt)) - 1] if learnt else None
