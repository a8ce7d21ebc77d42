"""Five players of each shipped drill: a person would rank them by the same order of scores."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache

import pytest

from livedeck.cli.drill.evidence import truth_from
from livedeck.drill.grade import grade
from livedeck.drill.truth import Act, Answer, Change, Evidence, Raised, Timing, Truth
from livedeck.monitor import AlarmKey, Severity
from livedeck.simulator import Simulator, load_scenario, scenario_names

DRILLS = [name for name in scenario_names() if load_scenario(name).answers]
Made = list[Act | Change]
Player = Callable[[int, Answer, Raised], Made]


@cache
def truth_of(drill: str) -> Truth:
    with closing(Simulator(scenario=drill, seed=1)) as simulator:
        return truth_from(simulator.truth(()))


def score(drill: str, *players: Player) -> float:
    """Return the score of a drill whose incidents have a player each; the last player has the rest."""
    truth, raised, made = truth_of(drill), [], list[Act | Change]()
    for number, row in enumerate(truth.answers):
        key = AlarmKey(f"id of {row.event}", row.alarm, row.target)
        alarm = Raised(row.since + timedelta(seconds=10), key, row.event, row.target, row.severity or Severity.WARNING)
        raised.append(alarm)
        made += players[min(number, len(players) - 1)](number, row, alarm)
    acts = tuple(act for act in made if isinstance(act, Act))
    changes = tuple(change for change in made if isinstance(change, Change))
    found = grade(Evidence(truth, truth.ends, tuple(raised), acts, changes))
    assert found.void == ""
    assert found.score is not None
    return found.score


def reacting(after: Callable[[Timing], float]) -> Player:
    """Return a player who reacts correctly, some seconds after each alarm."""

    def react(number: int, row: Answer, alarm: Raised) -> Made:
        made: Made = [Act(alarm.at + timedelta(seconds=after(row.acknowledge)), alarm.key, "anna")]
        if row.action:
            at = alarm.at + timedelta(seconds=after(row.action))
            is_note = bool(row.note)
            made.append(Act(at, alarm.key, "anna", row.note) if is_note else right(number, row, at))
        return made

    return react


def right(number: int, row: Answer, at: datetime) -> Change:
    return Change(at, row.asks, f"id of {row.event}", row.event, is_carried_out=True, answers=(number,))


def healthy(alarm: Raised, after: float, *, ends_event: bool = False) -> Change:
    """Return a change of an event that has no fault."""
    at = alarm.at + timedelta(seconds=after)
    return Change(at, f"change {after:g}", "id of Foyer", "Foyer", is_carried_out=True, ends_event=ends_event)


def wrong(_number: int, _row: Answer, alarm: Raised) -> Made:
    """Acknowledge at once, and act on another event."""
    return [Act(alarm.at, alarm.key, "anna"), healthy(alarm, 5)]


def panicking(_number: int, _row: Answer, alarm: Raised) -> Made:
    """Press every key."""
    note = Act(alarm.at, alarm.key, "anna", "encoder line share camera audio")
    return [Act(alarm.at, alarm.key, "anna"), note, *(healthy(alarm, after, ends_event=True) for after in range(4))]


def sleeping(_number: int, _row: Answer, _alarm: Raised) -> Made:
    return []


PERFECT = reacting(lambda _: 1)
SLOW = reacting(lambda timing: (timing.par + timing.limit) / 2)
LATEST = reacting(lambda timing: timing.limit - 1)


@pytest.mark.parametrize("drill", DRILLS)
def test_five_players_have_the_order_in_which_a_person_would_rank_them(drill: str) -> None:
    perfect, slow, mistaken, asleep, panic = (
        score(drill, player) for player in (PERFECT, SLOW, wrong, sleeping, panicking)
    )
    assert (perfect, slow) == (100.0, 50.0)
    assert slow > mistaken >= asleep == panic == 0.0


@pytest.mark.parametrize("drill", DRILLS)
def test_one_change_of_a_healthy_event_costs_more_than_to_be_as_late_as_possible(drill: str) -> None:
    for number in range(len(truth_of(drill).answers)):
        before = [PERFECT] * number
        assert score(drill, *before, wrong, PERFECT) < score(drill, *before, LATEST, PERFECT)
        assert score(drill, *before, panicking, PERFECT) <= score(drill, *before, wrong, PERFECT)
