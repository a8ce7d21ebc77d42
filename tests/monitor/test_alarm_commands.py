"""A command whose alarm has changed meanwhile silences nothing that its sender did not see."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmCommand,
    AlarmGone,
    AlarmGotWorse,
    AlarmKey,
    AlarmOver,
    AlarmRefused,
    AlarmState,
    Severity,
    Verdict,
)
from livedeck.monitor.alarms.commands import carry_out
from livedeck.monitor.kinds import onset_tolerance
from monitor.alarm_stage import RULES, Watcher, critical, finding, state
from monitor.stage import NOW

KEY = AlarmKey("one", "BLACKOUT")
WARNING = Alarm(*KEY[:2], Severity.WARNING, NOW, "Main stage", "black for 8 s", "a picture", changed=NOW, stage=1)
SILENCING = [ActionKind.ACKNOWLEDGE, ActionKind.SHELVE, ActionKind.OUT_OF_SERVICE]
TOLERANCE = onset_tolerance("BLACKOUT")


def command(kind: ActionKind, shown: Alarm | None = WARNING, **fields: str) -> AlarmCommand:
    """Return a command of a person who saw that alarm."""
    return AlarmCommand(KEY, kind, shown.shown if shown else None, 15, "known", **fields)


def outcome(kind: ActionKind, alarm: Alarm, shown: Alarm | None = WARNING) -> Alarm | None:
    """Return the alarm after the command, a minute later."""
    return carry_out(command(kind, shown), alarm, NOW + timedelta(minutes=1), on_air=True, limits=RULES)


@pytest.mark.parametrize("kind", [*SILENCING, ActionKind.NOTE])
def test_what_was_meant_for_another_occurrence_is_refused(kind: ActionKind) -> None:
    other = replace(WARNING, since=NOW + TOLERANCE + timedelta(seconds=1))
    with pytest.raises(AlarmOver, match="BLACKOUT came back at"):
        outcome(kind, other)
    assert outcome(kind, replace(WARNING, since=NOW + TOLERANCE)), "two decks date it so far apart"
    assert outcome(kind, other, shown=None), "who names no occurrence means the one that stands"


@pytest.mark.parametrize("kind", SILENCING)
@pytest.mark.parametrize("worse", [{"severity": Severity.CRITICAL}, {"stage": 2}])
def test_what_got_worse_since_it_was_shown_is_not_silenced(kind: ActionKind, worse: dict[str, object]) -> None:
    with pytest.raises(AlarmGotWorse, match="got worse"):
        outcome(kind, replace(WARNING, **worse))  # type: ignore[arg-type]


@pytest.mark.parametrize("better", [{"severity": Severity.INFO}, {"stage": 0}])
def test_what_got_better_is_silenced_all_the_same(better: dict[str, object]) -> None:
    assert outcome(ActionKind.ACKNOWLEDGE, replace(WARNING, **better))  # type: ignore[arg-type]


@pytest.mark.parametrize(("away", "back"), [("SHELVED", "UNSHELVE"), ("OUT_OF_SERVICE", "IN_SERVICE")])
def test_bringing_back_silences_nothing_and_is_never_too_late(away: str, back: str) -> None:
    since = NOW + timedelta(hours=1)
    other = replace(WARNING, state=AlarmState[away], since=since, severity=Severity.CRITICAL)
    after = outcome(ActionKind[back], other)
    assert after
    assert after.needs_ack


@pytest.mark.parametrize("known", [AlarmState.ACKNOWLEDGED, AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE])
def test_an_acknowledgement_changes_nothing_where_somebody_was_first(known: AlarmState) -> None:
    assert outcome(ActionKind.ACKNOWLEDGE, replace(WARNING, state=known, needs_ack=False)) is None


@pytest.mark.parametrize("known", [AlarmState.ACKNOWLEDGED, AlarmState.SHELVED])
def test_of_two_who_put_it_away_the_later_counts_and_out_of_service_over_all(known: AlarmState) -> None:
    shelved = outcome(ActionKind.SHELVE, replace(WARNING, state=known, needs_ack=False))
    assert shelved
    assert (shelved.state, shelved.reason) == (AlarmState.SHELVED, "known")
    away = outcome(ActionKind.OUT_OF_SERVICE, shelved)
    assert away
    assert away.state is AlarmState.OUT_OF_SERVICE
    with pytest.raises(AlarmRefused, match="return it to service first"):
        outcome(ActionKind.SHELVE, away)


def test_the_same_command_again_is_the_same_answer() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    given = command(ActionKind.SHELVE, watcher.alarm("BLACKOUT"), actor="anna")
    answer = watcher.engine.act(given, watcher.now, on_air=True)
    assert answer
    assert (answer.uid, answer.actor) == (given.uid, "anna")
    watcher.engine.act(command(ActionKind.UNSHELVE), watcher.now, on_air=True)
    assert watcher.engine.find_action(given) == answer, "though it was brought back since"
    assert watcher.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED
    with pytest.raises(AlarmRefused, match="new id for each command"):
        watcher.engine.find_action(replace(given, key=AlarmKey("one", "AUDIO_LOST")))


def test_an_acknowledgement_that_closed_its_alarm_is_the_same_answer_again_too() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    watcher.look(state(), after=20)
    given = command(ActionKind.ACKNOWLEDGE, shown=None)
    answer = watcher.engine.act(given, watcher.now, on_air=True)
    assert answer
    assert answer.kind is ActionKind.CLOSE
    assert watcher.engine.find_action(given) == answer
    with pytest.raises(AlarmRefused, match="new id for each command"):
        watcher.engine.find_action(replace(given, kind=ActionKind.SHELVE))


def test_a_note_ends_at_no_time_though_its_alarm_is_shelved_until_one() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    shelf = watcher.engine.act(command(ActionKind.SHELVE, shown=None), watcher.now, on_air=True)
    note = watcher.engine.act(command(ActionKind.NOTE, shown=None), watcher.now, on_air=True)
    assert shelf
    assert note
    assert (shelf.until, note.until) == (watcher.alarm("BLACKOUT").shelved_until, None)
    assert shelf.until


def test_what_came_from_another_deck_is_known_by_its_id_too() -> None:
    anna, bert = Watcher(), Watcher()
    for watcher in (anna, bert):
        watcher.look(state(finding("BLACKOUT")))
    given = command(ActionKind.ACKNOWLEDGE, shown=None, actor="anna")
    answer = anna.engine.act(given, anna.now, on_air=True)
    assert answer
    bert.engine.take([answer])
    assert bert.engine.find_action(given) == answer


def test_a_command_for_an_alarm_that_is_not_there_says_so() -> None:
    with pytest.raises(AlarmGone):
        Watcher().engine.act(command(ActionKind.ACKNOWLEDGE), NOW, on_air=True)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_acknowledges_and_the_last_one_counts(verdict: Verdict) -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    for said in (Verdict.FALSE, verdict):
        closing = replace(command(ActionKind.CLOSE, shown=None, actor="anna@regie:1"), text=said.value)
        watcher.engine.act(closing, watcher.now, on_air=True)
        watcher.look(state(critical()), after=1)
    alarm = watcher.alarm("BLACKOUT")
    assert (alarm.state, alarm.verdict) == (AlarmState.ACKNOWLEDGED, verdict)
    assert watcher.engine.act(replace(closing, uid="other"), watcher.now, on_air=True) is None
    watcher.engine.act(command(ActionKind.UNACKNOWLEDGE, shown=None, actor="anna@regie:1"), watcher.now, on_air=True)
    watcher.look(state(critical()), after=1)
    assert (watcher.alarm("BLACKOUT").state, watcher.alarm("BLACKOUT").verdict) == (AlarmState.UNACKNOWLEDGED, "")


def test_a_verdict_is_one_of_three_words_and_of_an_alarm_in_sight() -> None:
    with pytest.raises(AlarmRefused, match="real, false, meant so"):
        outcome(ActionKind.CLOSE, WARNING)
    closing = replace(command(ActionKind.CLOSE), text="false")
    shelved = replace(WARNING, state=AlarmState.SHELVED)
    with pytest.raises(AlarmRefused, match="make it visible"):
        carry_out(closing, shelved, NOW, on_air=True, limits=RULES)
    with pytest.raises(AlarmGotWorse):
        carry_out(closing, replace(WARNING, stage=2), NOW, on_air=True, limits=RULES)


def test_a_cleared_alarm_keeps_its_verdict_and_the_next_one_has_none() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    watcher.look(state(), after=20)
    watcher.engine.act(replace(command(ActionKind.CLOSE, shown=None), text="real"), watcher.now, on_air=True)
    watcher.look(state(), after=1)
    assert (watcher.alarm("BLACKOUT").state, watcher.alarm("BLACKOUT").verdict) == (AlarmState.CLEARED, "real")
    watcher.look(state(critical(since=watcher.now + timedelta(seconds=150))), after=150)
    assert watcher.alarm("BLACKOUT").verdict == ""
