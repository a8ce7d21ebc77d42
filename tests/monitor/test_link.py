"""The link breaks, is told, and comes back by itself; what was known stays, with its age."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from livedeck.monitor import Freshness, Grade, IngestState, LinkState, Snapshot, Tally
from monitor.conftest import Raise
from monitor.stage import NOW, Deck, event


def seconds(snapshot: Snapshot) -> float:
    return (snapshot.at - NOW).total_seconds()


async def watched(deck: Deck) -> Snapshot:
    """The first snapshot in which the event is judged."""
    while True:
        snapshot = await deck.next()
        if any(state.verdict.health.grade is Grade.GOOD for state in snapshot.events):
            return snapshot


async def test_the_first_snapshot_comes_before_any_answer(deck: Raise) -> None:
    one = deck(event())
    one.stage.hang()
    snapshot = await one.next()
    assert (snapshot.seq, snapshot.link.state, snapshot.events) == (0, LinkState.CONNECTING, ())


async def test_snapshots_are_numbered_without_a_gap(deck: Raise) -> None:
    one = deck(event())
    assert [(await one.next()).seq for _ in range(20)] == list(range(20))


async def test_a_platform_that_never_answered_blinds_the_deck_after_30_s(deck: Raise) -> None:
    one = deck(event())
    one.stage.fails = 503, {}
    while (snapshot := await one.next()).link.state is not LinkState.BLIND:
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
    assert away.link.state is LinkState.BLIND
    assert away.link.as_of == before.link.as_of
    (state,) = away.events
    assert state.qos.as_of == before.events[0].qos.as_of
    assert state.qos.readings is before.events[0].qos.readings
    assert state.qos.freshness is Freshness.STALE
    assert state.phase.tally is Tally.ON_AIR
    assert state.phase.ingest.state is IngestState.RECEIVING
    one.stage.fails = None
    one.stage.release()
    back = await one.until(160)
    assert (back.link.state, back.link.failures, back.link.why) == (LinkState.OK, 0, "")
    assert back.events[0].verdict.health.grade is Grade.GOOD
    assert back.alarms == ()


async def test_nothing_is_green_while_the_platform_is_away(deck: Raise) -> None:
    one = deck(event(), event("two"))
    await one.until(10)
    one.stage.fails = 503, {}
    while (snapshot := await one.next()).link.state is not LinkState.BLIND:
        fresh = [state for state in snapshot.events if state.qos.freshness is Freshness.FRESH]
        assert all(state in fresh or state.verdict.health.score is None for state in snapshot.events)
    for state in snapshot.events:
        assert (state.verdict.health.score, state.verdict.health.grade) == (None, Grade.STALE)


async def test_one_lost_round_is_failing_and_counts(deck: Raise) -> None:
    one = deck(event())
    await watched(one)
    one.stage.fails = 500, {}
    seen = [await one.next() for _ in range(30)]
    failing = [snapshot.link for snapshot in seen if snapshot.link.state is LinkState.FAILING]
    assert [link.failures for link in failing][:1] == [1]
    assert failing[-1].failures > 1
    assert len({link.since for link in failing}) == 1
    assert "list events" in failing[0].why


async def test_a_refused_token_is_an_alarm_of_its_own(deck: Raise) -> None:
    one = deck(event())
    await watched(one)
    one.stage.fails = 401, {}
    snapshot = await one.until(20)
    assert snapshot.link.refused
    assert [alarm.kind for alarm in snapshot.alarms] == ["AUTH_FAILED"]
    one.stage.fails = None
    assert (await one.until(60)).alarms == ()


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
    assert snapshot.link.state is LinkState.OK
    assert snapshot.events[0].verdict.health.grade is Grade.STALE
    assert "get QoS" in snapshot.events[0].qos.error
    assert [alarm.kind for alarm in snapshot.alarms] == ["QOS_STALE"]
    assert snapshot.events[0].phase.tally is Tally.ON_AIR


async def test_an_event_that_was_never_answered_is_not_silently_unknown(deck: Raise) -> None:
    one = deck(event())
    one.stage.fails_qos = 500, {}
    snapshot = await one.until(20)
    assert snapshot.events[0].qos.freshness is Freshness.NEVER
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
    assert snapshot.events[0].phase.tally is Tally.ON_AIR
    assert snapshot.events[0].verdict.health.grade is Grade.GOOD
