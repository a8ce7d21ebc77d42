"""A broken link is reported and recovers by itself; known data stays, with its age."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from livedeck.client import ResponseTiming
from livedeck.monitor import (
    AlarmState,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    Freshness,
    Grade,
    IngestState,
    Snapshot,
    Thresholds,
    is_stale,
)
from livedeck.monitor.polling.connection import skew
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, at, event


def seconds(snapshot: Snapshot) -> float:
    return (snapshot.at - NOW).total_seconds()


async def watched(deck: Deck) -> Snapshot:
    """Return the first snapshot in which the event is judged."""
    while True:
        snapshot = await deck.next()
        if any(state.assessment.health.grade is Grade.GOOD for state in snapshot.events):
            return snapshot


async def test_the_first_snapshot_comes_before_any_answer(deck: Raise) -> None:
    one = deck(event())
    one.stage.hang()
    snapshot = await one.next()
    assert (snapshot.seq, snapshot.link.state, snapshot.events) == (0, ConnectionState.CONNECTING, ())


async def test_snapshots_are_numbered_without_a_gap(deck: Raise) -> None:
    one = deck(event())
    assert [(await one.next()).seq for _ in range(20)] == list(range(20))


async def test_a_platform_that_never_answered_blinds_the_deck_after_30_s(deck: Raise) -> None:
    one = deck(event())
    one.stage.fails = 503, {}
    while (snapshot := await one.next()).link.state is not ConnectionState.BLIND:
        assert seconds(snapshot) < 30
    assert seconds(snapshot) == pytest.approx(30, abs=0.02)
    assert [alarm.kind for alarm in snapshot.alarms] == ["API_BLIND"]


@pytest.mark.parametrize("how", ["fails", "hangs"])
async def test_last_good_data_stay_with_their_age_while_the_platform_is_away_and_it_comes_back_by_itself(
    deck: Raise, how: str
) -> None:
    one = deck(event())
    before = await watched(one)
    one.stage.fails = (503, {}) if how == "fails" else None
    if how == "hangs":
        one.stage.hang()
    away = await one.until(120)
    assert away.link.state is ConnectionState.BLIND
    assert away.link.as_of == before.link.as_of
    (state,) = away.events
    assert state.qos.as_of == before.events[0].qos.as_of
    assert state.qos.readings is before.events[0].qos.readings
    assert state.qos.freshness is Freshness.STALE
    assert state.phase.tally is BroadcastState.ON_AIR
    assert state.phase.ingest.state is IngestState.RECEIVING
    one.stage.fails = None
    one.stage.release()
    back = await one.until(160)
    assert (back.link.state, back.link.failures, back.link.reason) == (ConnectionState.OK, 0, "")
    assert back.events[0].assessment.health.grade is Grade.GOOD
    assert [(alarm.kind, alarm.state) for alarm in back.alarms] == [("API_BLIND", AlarmState.RETURNED)]


async def test_nothing_is_green_while_the_platform_is_away(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    one.stage.fails = 503, {}
    while (snapshot := await one.next()).link.state is not ConnectionState.BLIND:
        fresh = [state for state in snapshot.events if state.qos.freshness is Freshness.FRESH]
        assert all(state in fresh or state.assessment.health.score is None for state in snapshot.events)
    for state in snapshot.events:
        assert (state.assessment.health.score, state.assessment.health.grade) == (None, Grade.STALE)


async def test_one_lost_round_is_failing_and_counts(deck: Raise) -> None:
    one = deck(event())
    await watched(one)
    one.stage.fails = 500, {}
    seen = [await one.next() for _ in range(30)]
    failing = [snapshot.link for snapshot in seen if snapshot.link.state is ConnectionState.FAILING]
    assert [link.failures for link in failing][:1] == [1]
    assert failing[-1].failures > 1
    assert len({link.since for link in failing}) == 1
    assert "list events" in failing[0].reason


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "TOKEN REFUSED"),
        (403, "TOKEN REFUSED"),
        (429, "RATE LIMITED"),
        (302, "SENT ELSEWHERE"),
        (404, "REQUEST REFUSED"),
        (503, "PLATFORM FAILING"),
    ],
)
async def test_the_link_says_the_cause_of_its_trouble_and_nothing_when_it_is_over(
    deck: Raise, status: int, words: str
) -> None:
    one = deck(event())
    assert (await watched(one)).link.problem == ""
    one.stage.fails = status, {}
    assert (await one.until(20)).link.problem == words
    one.stage.fails = None
    over = 300 if status == 429 else 90  # after a refusal of its pace, the deck comes back to it step by step
    assert (await one.until(over)).link.problem == ""


async def test_an_answer_that_is_not_as_documented_is_unreadable(deck: Raise) -> None:
    one = deck(event())
    one.stage.events = [{"name": "an event without an id"}]
    assert (await one.until(5)).link.problem.banner == "REPLY UNREADABLE"


async def test_a_platform_that_says_nothing_gives_no_answer(deck: Raise) -> None:
    one = deck(event())
    one.stage.hang()
    snapshot = await one.until(40)
    assert (snapshot.link.state, snapshot.link.problem.banner) == (ConnectionState.BLIND, "NO REPLY")
    one.stage.release()
    assert (await one.until(80)).link.problem == ""


@pytest.mark.parametrize(
    ("state", "age", "judged"),
    [
        (ConnectionState.OK, 30.0, False),
        (ConnectionState.OK, 30.1, True),
        (ConnectionState.OK, -30.1, True),
        (ConnectionState.FAILING, 1.0, False),
        (ConnectionState.BLIND, 1.0, True),
        (ConnectionState.CONNECTING, None, True),
    ],
)
def test_past_two_intervals_a_screen_is_stale_and_without_an_answer_always(
    state: ConnectionState, age: float | None, judged: bool
) -> None:
    link = ConnectionStatus(state, NOW, as_of=None if age is None else NOW)
    assert is_stale(link, NOW + timedelta(seconds=age or 0.0)) is judged


async def test_silence_that_the_platform_tells_is_not_doubtful(deck: Raise) -> None:
    """The encoder left, and fresh answers say so; what is over and not asked any more is not doubtful either."""
    ended = {"id": "x", "status": "finished", "started_at": at(-900), "finished_at": at(-800)}
    one = deck(event(), event("done", stream=ended))
    one.stage.silent_from = 20.0
    gone = await one.until(100)
    assert gone.events[0].phase.tally is BroadcastState.RECONNECTING
    assert [state.is_stale for state in gone.events] == [False, False]
    one.stage.fails = 503, {}
    assert [state.is_stale for state in (await one.until(200)).events] == [True, True]


async def test_a_refused_token_is_an_alarm_of_its_own(deck: Raise) -> None:
    one = deck(event())
    await watched(one)
    one.stage.fails = 401, {}
    snapshot = await one.until(20)
    assert snapshot.link.is_unauthorized
    assert [alarm.kind for alarm in snapshot.alarms] == ["AUTH_FAILED"]
    one.stage.fails = None
    assert {alarm.state for alarm in (await one.until(60)).alarms} == {AlarmState.RETURNED}


async def test_an_outage_is_no_alarm_of_every_event(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await watched(one)
    one.stage.fails = 503, {}
    kinds = set()
    while seconds(snapshot := await one.next()) < 90:
        kinds |= {alarm.kind for alarm in snapshot.alarms}
    one.stage.fails = None
    while seconds(snapshot := await one.next()) < 150:
        kinds |= {alarm.kind for alarm in snapshot.alarms}
    assert kinds == {"API_BLIND"}


async def test_one_event_that_cannot_be_asked_is_stale_while_the_link_is_well(deck: Raise) -> None:
    one = deck(event())
    await watched(one)
    one.stage.fails_qos = 500, {}
    snapshot = await one.until(40)
    assert snapshot.link.state is ConnectionState.OK
    assert snapshot.events[0].assessment.health.grade is Grade.STALE
    assert "get QoS" in snapshot.events[0].qos.error
    assert snapshot.events[0].is_stale
    (alarm,), (finding,) = snapshot.alarms, snapshot.events[0].assessment.findings
    assert (alarm.kind, alarm.actual, alarm.since) == (
        "QOS_STALE",
        "not answered, while other calls are: the platform answers 500",
        snapshot.events[0].qos.as_of,
    )
    assert (finding.kind, finding.actual, finding.since) == (alarm.kind, alarm.actual, alarm.since)
    assert snapshot.events[0].phase.tally is BroadcastState.ON_AIR


async def test_an_event_that_was_never_answered_is_not_silently_unknown(deck: Raise) -> None:
    one = deck(event())
    one.stage.fails_qos = 500, {}
    snapshot = await one.until(25)
    assert snapshot.events[0].qos.freshness is Freshness.NEVER
    assert snapshot.events[0].is_stale
    assert [alarm.kind for alarm in snapshot.alarms] == ["QOS_STALE"]


async def test_break_and_recovery_are_logged_once_each_and_without_the_token(deck: Raise) -> None:
    with capture_logs() as logs:
        one = deck(event())
        await watched(one)
        one.stage.fails = 503, {}
        await one.until(100)
        one.stage.fails = None
        await one.until(150)
    said = [entry["event"] for entry in logs if entry["event"].startswith("platform")]
    assert said == ["platform lost", "platform back"]
    assert "token-of-tests" not in repr(logs)


@pytest.mark.parametrize(("ahead", "told"), [(0.0, 0.0), (1.2, 0.0), (40.0, 40.0), (-40.0, -40.0)])
async def test_the_servers_clock_is_told_by_its_answers(deck: Raise, ahead: float, told: float) -> None:
    """Date resolves a second: within half of one, and nothing where less than two would be corrected."""
    one = deck(event())
    one.stage.ahead = ahead
    snapshot = await one.until(30)
    assert snapshot.link.skew == pytest.approx(told, abs=0.6)
    assert snapshot.events[0].phase.tally is BroadcastState.ON_AIR
    assert snapshot.events[0].assessment.health.grade is Grade.GOOD


def test_a_skew_near_its_limit_does_not_come_and_go() -> None:
    """It counts from two seconds on, and until it is clearly less."""

    def seen(offset: float, known: float) -> float:
        date = NOW + timedelta(seconds=offset - 0.5)  # Date is cut to its second: half a one is given back
        return skew([ResponseTiming(NOW, 0.0, date)], known, Thresholds())

    assert [seen(1.9, 0.0), seen(2.1, 0.0)] == [0.0, 2.1]
    assert [seen(1.5, 2.1), seen(0.5, 2.1)] == [1.5, 0.0]


def test_slow_exchanges_begin_no_skew_that_their_length_explains() -> None:
    """A reply that was dated just before it came, and one dated as soon as it was asked for."""
    both = [ResponseTiming(NOW, 5.0, NOW), ResponseTiming(NOW, 5.0, NOW - timedelta(seconds=5))]
    for slow in both:
        assert skew([slow] * 5, 0.0, Thresholds()) == 0.0
    quick = [ResponseTiming(NOW, 0.1, NOW + timedelta(seconds=3))] * 3
    assert skew([*both, *quick], 0.0, Thresholds()) == pytest.approx(3.55)


@pytest.mark.parametrize(
    ("round_trip", "dated", "expected"),
    [
        (5.0, 0.0, 3.0),  # the server's clock is 0 to 6 s ahead
        (5.0, -3.0, 3.0),  # 3 s behind to 3 s ahead
        (18.0, 3.0, 3.0),  # 3 s to 22 s ahead
        (5.0, -5.0, 0.0),  # 5 s behind to 1 s ahead: 3 s are disproved, and no other skew is proven
        (18.0, 3600.0, 3609.5),  # 3600 s to 3619 s ahead: the server's clock was set
    ],
)
def test_slow_exchanges_change_a_skew_only_if_they_disprove_it(
    round_trip: float, dated: float, expected: float
) -> None:
    slow = ResponseTiming(NOW, round_trip, NOW + timedelta(seconds=dated))
    assert skew([slow] * 5, 3.0, Thresholds()) == expected


def test_replies_without_a_date_of_the_server_keep_the_skew() -> None:
    cached = ResponseTiming(NOW, 0.1, NOW - timedelta(seconds=50), age=53.0)
    assert skew([cached, ResponseTiming(NOW, 0.1, None)], 3.0, Thresholds()) == 3.0


def test_a_server_stamped_its_answer_half_a_round_trip_before_it_came() -> None:
    """And `Date` is cut to its second: half a one is given back."""
    timing = ResponseTiming(NOW, 4.0, NOW + timedelta(seconds=10))
    assert skew([timing], 0.0, Thresholds()) == 12.5
