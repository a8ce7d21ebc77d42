"""The usual delay of samples is learnt from samples without a gap: a delay is no fault, and a fault is no delay."""

from __future__ import annotations

import pytest

from bench.detection import play
from bench.families import Chance, Maker, Show
from livedeck.monitor import Thresholds
from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.evidence.presence import usual_of_platform

T = Thresholds()
CADENCE = 2.0


def delivered(lag: float, answers: int = 10, *, is_proof: bool = True, begun: Delivery | None = None) -> Delivery:
    """Return the delivery after `answers` replies, each 5 s, with samples `lag` seconds late."""
    delivery = begun or Delivery()
    start = delivery.asked + 5 if begun else 0.0
    for index in range(answers):
        at = start + 5.0 * index
        delivery = delivery.after_answer(at, at - lag, T, is_proof=is_proof)
    return delivery


def stalled(delivery: Delivery, seconds: float) -> Delivery:
    """Return the delivery after some seconds of replies without new samples."""
    for _ in range(int(seconds / 5)):
        delivery = delivery.after_answer(delivery.asked + 5, delivery.newest, T, is_proof=True)
    return delivery


def is_over(delivery: Delivery) -> bool:
    """Return whether the newest sample is older than any learnt delay."""
    limit = delivery.lost_limit(CADENCE, T)
    return limit is not None and (delivery.age or 0.0) > limit


@pytest.mark.parametrize("lag", [2.0, 20.0, 40.0, 120.0])
def test_samples_that_are_steadily_late_are_no_silence(lag: float) -> None:
    delivery = delivered(lag)
    assert not is_over(delivery)
    assert delivery.lag(T) == lag + 5
    assert not is_over(stalled(delivery, 5))
    assert is_over(stalled(delivery, 15))


def test_samples_that_left_a_hole_teach_nothing() -> None:
    delivery = delivered(2.0)
    assert delivered(60.0, is_proof=False, begun=delivery).lag(T) == delivery.lag(T)


def test_a_fault_is_told_after_three_minutes_however_late_samples_are() -> None:
    assert delivered(300.0).lost_limit(CADENCE, T) == T.missed_most


def test_before_it_is_learnt_age_is_no_limit() -> None:
    first = Delivery().after_answer(0.0, -60.0, T, is_proof=True)
    assert (first.lost_limit(CADENCE, T), first.seen_lag) == (None, None)
    assert stalled(first, 80).lost_limit(CADENCE, T) is None
    moved = first.after_answer(5.0, -57.0, T, is_proof=True)
    assert moved.seen_lag == 65.0
    assert moved.lag(T) == 65.0, "one plain delivery is enough"


def test_two_silences_that_were_late_metrics_are_believed_for_half_an_hour() -> None:
    """A path that stalls each two minutes must not ring each time."""
    delivery = delivered(2.0, 40)
    for _ in range(2):
        late = stalled(delivery, 25)
        assert is_over(late)
        delivery = delivered(2.0, 40, begun=late)
    assert not is_over(stalled(delivery, 25))


def test_almost_all_streams_show_the_delay_of_a_platform() -> None:
    assert usual_of_platform([None, None]) is None
    assert usual_of_platform([5.0, None, 40.0, 6.0]) == 40.0
    assert usual_of_platform([*(5.0 for _ in range(199)), 40.0]) == 5.0


@pytest.mark.parametrize("lag", [20.0, 40.0])
def test_an_event_whose_samples_are_late_is_not_reconnecting(lag: float) -> None:
    """Through the whole monitor, from the answers to the alarms."""
    source = Maker(Chance("late", 1)).source(600.0, lag=lambda _: lag)
    assert play(Show((source,), lasts=600.0)).told == []


def test_a_stall_of_the_metrics_is_withdrawn_and_an_encoder_that_was_away_is_not() -> None:
    def told(*, is_away: bool) -> list[tuple[str, str]]:
        maker = Maker(Chance("stall", 1))
        if is_away:
            maker.sends = lambda at: not 300 <= at < 340
        source = maker.source(500.0, lag=lambda at: max(1.0, 340 - at) if 300 <= at < 340 else 1.0)
        return [(alarm.kind, alarm.ended_as) for alarm in play(Show((source,), lasts=500.0)).told]

    assert told(is_away=False) == [("RECONNECTING", "info")]
    assert told(is_away=True) == [("RECONNECTING", "critical")]
