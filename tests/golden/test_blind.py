"""A frozen or unbelievable value looks bad in time (monitoring.md, "Freshness")."""

from __future__ import annotations

from itertools import pairwise

import pytest

from golden.log import Log
from golden.player import play
from golden.plays import SEEDS
from livedeck.monitor import ConnectionState, Freshness, Grade, Snapshot, is_stale

BEGIN, END = 30.0, 150.0
"""Seconds at which the faults of these scenarios begin and end."""

MUTE = ("api-dead", "broken-json", "slow-api", "token-revoked")


def between(log: Log, begin: float, end: float) -> list[Snapshot]:
    found = [snapshot for at, snapshot in log.snapshots if begin <= at < end]
    assert found
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MUTE)
def test_without_answers_the_deck_is_blind_within_30_s_and_nothing_looks_good(name: str, seed: int) -> None:
    log = play(name, seed)
    for snapshot in between(log, BEGIN + 30.5, END):
        assert snapshot.link.state is ConnectionState.BLIND
        assert is_stale(snapshot.link, snapshot.at)
        assert {state.qos.freshness for state in snapshot.events if state.qos.as_of} == {Freshness.STALE}
        assert all(state.is_stale for state in snapshot.events if state.qos.as_of)
        assert {state.assessment.health.grade for state in snapshot.events} <= {Grade.STALE, Grade.NONE}
        assert all(state.assessment.health.score is None for state in snapshot.events)
        assert all(alarm.event_id == "" for alarm in snapshot.alarms)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MUTE)
def test_nobody_is_told_how_good_it_is_while_it_goes_blind(name: str, seed: int) -> None:
    """From two lost answers on no event is good, though the banner needs its 30 s."""
    for snapshot in between(play(name, seed), BEGIN + 17.5, END):
        assert not any(state.assessment.health.grade is Grade.GOOD for state in snapshot.events)


@pytest.mark.parametrize("seed", SEEDS)
def test_samples_whose_time_stands_still_are_stale_though_answers_keep_coming(seed: int) -> None:
    log = play("frozen-qos", seed)
    frozen = between(log, BEGIN + 37.5, END)
    assert all(later.link.as_of != earlier.link.as_of for earlier, later in list(pairwise(frozen))[::8])
    for snapshot in frozen:
        assert snapshot.link.state is ConnectionState.OK
        judged = [state for state in snapshot.events if state.qos.as_of]
        assert len(judged) == 3
        assert {state.qos.freshness for state in judged} == {Freshness.STALE}
        assert not any(state.assessment.health.score for state in judged)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [*MUTE, "frozen-qos", "rate-limited", "api-5xx"])
def test_when_it_is_over_every_event_is_good_again(name: str, seed: int) -> None:
    log = play(name, seed)
    _, last = log.snapshots[-1]
    assert last.link.state is ConnectionState.OK
    assert {state.assessment.health.grade for state in last.events if state.qos.as_of} == {Grade.GOOD}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_encoder_that_comes_and_goes_rings_three_times_at_most(seed: int) -> None:
    assert 1 <= sum(len(snapshot.bells) for _, snapshot in play("flapping", seed).snapshots) <= 3
