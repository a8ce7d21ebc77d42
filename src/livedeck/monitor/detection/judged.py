"""Input for judging an event at one moment, as a frozen value."""

from __future__ import annotations

from math import ceil

from msgspec.structs import replace

from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules
from livedeck.monitor.evidence.coverage import Coverage
from livedeck.monitor.evidence.presence import ANSWERS_APART, Asks, Presence, PresenceLimits, movement_wait, presence
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.record import Record


class DeliveryJudge(Record):
    """Input for judging the presence of an encoder.

    `event_lag`: delay of the event's previous stream (s). `others_lag`: delay of the platform's other streams (s). Each
    is None if unknown. `cadence`: seconds between samples; None if unknown. `interval`: seconds between two polls.
    `known_since`: start of the watched time since the newest sample (epoch s, server clock). `before`: presence at the
    last reply.
    """

    asks: Asks
    delivery: Delivery
    thresholds: Thresholds
    newest: float
    known_since: float
    interval: float
    cadence: float | None = None
    event_lag: float | None = None
    others_lag: float | None = None
    before: Presence | None = None

    @property
    def limits(self) -> PresenceLimits:
        thresholds, slow = self.thresholds, self.cadence or 0.0
        due = thresholds.missed_margin_intervals * slow
        longest = max(thresholds.delivery_patience, thresholds.silence_intervals * slow)
        lost = self.delivery.lost_limit(self.cadence, thresholds)
        seen = self.delivery.seen_lag, self.event_lag
        return PresenceLimits(
            late=self.delivery.lag(thresholds) or max(thresholds.missed_after, thresholds.missed_intervals * slow),
            lost=longest + due if lost is None else lost,
            wait=movement_wait(seen, self.others_lag, due, longest) if lost is None else None,
            due=due,
        )

    @property
    def least_answers(self) -> int:
        """Minimum number of replies without a new sample that prove that the encoder is gone."""
        return 1 + ceil(ANSWERS_APART / self.interval)

    def judge(self) -> Presence | None:
        """Return the standing of the encoder at the last good reply; None without such a reply."""
        return presence(self.asks, self.newest, self.limits, self.interval, self.before, watched_since=self.known_since)

    def after_empty(self, at: float) -> DeliveryJudge:
        """Return the state after a good reply without a new sample.

        `at`: time that counts as both the time of the request and the time of the reply.
        """
        after = replace(
            self,
            asks=self.asks.after_answer(at, at, self.interval, has_news=False),
            delivery=self.delivery.after_answer(at, self.newest, self.thresholds, is_proof=True),
        )
        return replace(after, before=after.judge())


class Judged(Record):
    """Input for judging an event.

    `rules`: rules of the last analysis; None before it. `case`: input of the last assessment. `delivery`: None without
    a sample.
    """

    analysis: SignalAnalysis
    rules: StreamRules | None
    coverage: Coverage
    case: EventCase | None
    thresholds: Thresholds
    delivery: DeliveryJudge | None
