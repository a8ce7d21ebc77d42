"""Actions on alarms at several decks: every deck reaches the same state from the same actions, and none is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livedeck.monitor import (
    TAKE_BACK_FOR,
    ActionKind,
    AlarmAction,
    AlarmCommand,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    EventState,
    History,
    HistoryReader,
    Severity,
    Verdict,
    person,
)
from monitor.alarm_stage import Watcher, critical, finding, state
from monitor.recordings import locked
from monitor.stage import NOW

KEY = AlarmKey("one", "BLACKOUT")


class Deck(Watcher):
    """Watcher at which persons act. It stores their actions, to carry them to other decks."""

    def __init__(self, actor: str, now: datetime = NOW) -> None:
        super().__init__(now=now)
        self.actor, self.given = actor, list[AlarmAction]()

    def answer(self, kind: ActionKind, key: AlarmKey = KEY) -> AlarmAction | None:
        """Act as a person at this deck. Returns None if the action is impossible or changes nothing."""
        with suppress(AlarmRefused):
            text = f"seen at {self.now:%H:%M:%S}" if kind is not ActionKind.CLOSE else [*Verdict][self.now.second % 3]
            command = AlarmCommand(key, kind, minutes=5, text=text, actor=self.actor)
            answer = self.engine.act(command, self.now, on_air=True)
            self.given += [answer] if answer else []
            return answer
        return None

    def shows(self) -> list[tuple[object, ...]]:
        """Return everything that a person sees of every alarm at this deck."""
        return sorted(
            (
                *alarm.key,
                alarm.state,
                alarm.needs_ack,
                alarm.acknowledged_until,
                alarm.shelved_until,
                alarm.answered_by,
                alarm.answered_at,
                alarm.reason,
                alarm.note,
                alarm.verdict,
            )
            for alarm in self.engine.alarms.values()
        )


@dataclass(frozen=True)
class Moment:
    """Step of a story: time passes, faults are present, one deck acts, and some decks read the actions of others."""

    after: float
    faulty: frozenset[str]
    deck: int
    kind: ActionKind
    event: str
    hearing: frozenset[int]
    restarted: int


EVENTS, DECKS = ("one", "two"), (0, 1, 2)
MOMENTS = st.builds(
    Moment,
    st.sampled_from((0.0, 0.0, 4.0, 60.0, 400.0)),
    st.frozensets(st.sampled_from(EVENTS)),
    st.sampled_from(DECKS),
    st.sampled_from([*ActionKind]),
    st.sampled_from(EVENTS),
    st.frozensets(st.sampled_from(DECKS)),
    st.sampled_from((*DECKS, 9, 9, 9)),
)


def faults(moment: Moment, began: dict[str, datetime], now: datetime) -> list[EventState]:
    """Return the events as every deck sees them: each fault has one beginning for all."""
    for name in EVENTS:
        began[name] = began.get(name, now) if name in moment.faulty else datetime.max.replace(tzinfo=now.tzinfo)
        if name not in moment.faulty:
            del began[name]
    return [state(*([critical(since=began[name])] if name in began else ()), name=name) for name in EVENTS]


def restarted(deck: Deck) -> Deck:
    """Return another process with the same alarms, and without the stored actions."""
    again = Deck(deck.actor, deck.now)
    again.engine.restore(deck.engine.alarms.values(), deck.now)
    return again


@settings(max_examples=25, deadline=None)
@given(st.lists(MOMENTS, max_size=10), st.randoms(use_true_random=False))
def test_every_deck_makes_the_same_of_the_same_answers(moments: list[Moment], random: Random) -> None:
    """In whatever order they hear of them within some seconds, and whichever was restarted meanwhile."""
    decks = [Deck(f"person{number}@regie:{number}") for number in DECKS]
    began: dict[str, datetime] = {}
    given: list[AlarmAction] = []
    for moment in moments:
        states = faults(moment, began, decks[0].now + timedelta(seconds=moment.after / 4))
        for number, deck in enumerate(decks):
            if number == moment.restarted:
                decks[number] = restarted(deck)
            if number in moment.hearing or number == moment.restarted or moment.after:
                decks[number].engine.take(random.sample(given, len(given)))
            for _ in range(4 if moment.after else 1):
                decks[number].look(*states, after=moment.after / 4)
        answer = decks[moment.deck].answer(moment.kind, AlarmKey(moment.event, "BLACKOUT"))
        given += [answer] if answer else []
    for deck in decks:
        deck.engine.take(random.sample(given, len(given)))
        deck.look(*deck.states)
    assert decks[0].shows() == decks[1].shows() == decks[2].shows()


def test_an_acknowledgement_is_shown_by_whom_and_does_not_hold_for_what_has_got_worse() -> None:
    anna, bert = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in (anna, bert):
        deck.look(state(finding("BLACKOUT")))
    bert.engine.take([given for given in [anna.answer(ActionKind.ACKNOWLEDGE)] if given])
    bert.look(*bert.states, after=1)
    alarm = bert.alarm("BLACKOUT")
    assert (alarm.state, person(alarm.answered_by), alarm.answered_at) == (AlarmState.ACKNOWLEDGED, "anna@regie", NOW)
    bert.look(state(critical()), after=1)
    assert bert.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED
    late = Deck("carl@regie:3", bert.now)
    late.engine.take(anna.given)
    late.look(state(critical(since=NOW)))
    assert late.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED


def test_what_came_again_after_it_was_answered_asks_again_though_it_began_before_the_answer() -> None:
    """Samples come late: nobody had seen that it was back."""
    anna = Deck("anna@regie:1")
    anna.look(state(critical(since=NOW)))
    anna.look(state(), after=20)
    anna.answer(ActionKind.ACKNOWLEDGE)
    anna.look(state(critical(since=NOW + timedelta(seconds=15))), after=5)
    assert anna.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED


def test_an_older_answer_never_undoes_a_newer_one_and_one_from_the_future_waits() -> None:
    anna, bert = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in (anna, bert):
        deck.look(state(critical(since=NOW)))
    shelf, back = anna.answer(ActionKind.SHELVE), anna.answer(ActionKind.UNSHELVE)
    assert shelf
    assert back
    bert.engine.take([back])
    bert.engine.take([shelf])
    bert.look(*bert.states)
    assert bert.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED
    bert.engine.take([replace(shelf, uid="later", at=NOW + timedelta(hours=1))])
    bert.look(*bert.states)
    assert bert.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED
    assert bert.answer(ActionKind.ACKNOWLEDGE)


OUTAGE = [f"event{number}" for number in range(40)]
PLATFORM = AlarmKey("", "PLATFORM")


def outage(began: datetime, down: int = len(OUTAGE)) -> list[EventState]:
    """Return forty events, `down` of whose encoders are gone since then, and the others are back."""
    gone = critical("RECONNECTING", since=began)
    return [state(*([gone] if place < down else []), name=name) for place, name in enumerate(OUTAGE)]


def owed(deck: Deck) -> list[AlarmKey]:
    """Return the alarms that await an acknowledgement."""
    return [alarm.key for alarm in deck.shown if alarm.needs_ack]


@pytest.mark.parametrize("kind", [None, ActionKind.ACKNOWLEDGE, ActionKind.SHELVE])
def test_forty_encoders_that_fail_at_once_and_come_back_are_one_alarm_to_answer(kind: ActionKind | None) -> None:
    """At the deck where it is answered and at another, by whatever key; and unanswered nothing else is owed."""
    anna, bert = decks = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in decks:
        deck.look(*outage(NOW, 2))
        deck.look(*outage(NOW), after=5)
        assert owed(deck) == [PLATFORM]
    given = [anna.answer(kind, PLATFORM), anna.answer(ActionKind.NOTE, PLATFORM)] if kind else []
    bert.engine.take([answer for answer in given if answer])
    for deck in decks:
        deck.look(*deck.states, after=1)
        assert owed(deck) == ([] if kind else [PLATFORM])
        assert {alarm.note for alarm in deck.inactive} == ({"seen at 12:00:05"} if kind else {""})
        for down in (30, 15, 3, 0):
            deck.look(*outage(NOW, down), after=3)
        deck.every(5, 12, *deck.states)
        assert owed(deck) == ([] if kind else [PLATFORM])
    anna.answer(ActionKind.ACKNOWLEDGE, PLATFORM)
    assert owed(anna) == []


def test_a_member_that_stays_down_after_its_incident_asks_again() -> None:
    anna = Deck("anna@regie:1")
    anna.look(*outage(NOW))
    anna.answer(ActionKind.ACKNOWLEDGE, PLATFORM)
    anna.look(*anna.states, after=1)
    anna.every(5, 24, *outage(NOW, 1))
    assert owed(anna) == [AlarmKey(OUTAGE[0], "RECONNECTING")]


def answer(number: int, **fields: Any) -> AlarmAction:
    """Return an acknowledgement with its own id."""
    at = NOW + timedelta(microseconds=number)
    plain = AlarmAction(f"uid-{number}", KEY, NOW, ActionKind.ACKNOWLEDGE, at, "anna@regie:1", Severity.CRITICAL)
    return replace(plain, **fields)


def is_there(path: Path) -> bool:
    """Return whether the file exists."""
    return path.exists()


async def test_every_reader_of_a_file_gets_every_answer_once_and_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    reader = HistoryReader(path)
    assert await reader.new_alarm_actions() == ()
    assert not is_there(path), "who only reads makes nothing"
    decks = [await History.open(path, NOW) for _ in range(2)]
    given = [answer(number, until=NOW, reason="“known”") for number in range(40)]
    for number, row in enumerate(given):
        decks[number % 2].record_alarm_action(row)
    for deck in decks:
        await deck.flush()
    for read in (*(deck.new_alarm_actions for deck in decks), reader.new_alarm_actions):
        assert sorted(await read(), key=lambda row: row.order) == given
        assert await read() == ()
    decks[0].record_alarm_action(given[0])
    decks[0].record_alarm_action(answer(41))
    await decks[0].flush()
    assert await decks[1].new_alarm_actions() == await reader.new_alarm_actions() == (answer(41),)
    for deck in decks:
        await deck.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE answer SET answer = 'of another version' WHERE uid = 'uid-3'")
    assert len(await HistoryReader(path).new_alarm_actions()) == 40


async def test_what_cannot_be_written_at_once_is_written_later(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    await (await History.open(path, NOW)).close()
    with locked(path):
        history = await History.open(path, NOW)
        history.record_alarm_action(answer(1))
        await history.flush()
        assert history.fault
    history.record_alarm_action(answer(2))
    await history.flush()
    await history.close()
    assert await HistoryReader(path).new_alarm_actions() == (answer(1), answer(2))


async def test_old_answers_are_pruned_but_for_what_is_still_out_of_service(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    other = KEY._replace(event_id="two")
    kept = answer(3, key=other, kind=ActionKind.OUT_OF_SERVICE)
    history = await History.open(path, NOW)
    for row in (answer(1), answer(2, kind=ActionKind.OUT_OF_SERVICE), answer(4, kind=ActionKind.IN_SERVICE), kept):
        history.record_alarm_action(row)
    await history.close()
    later = await History.open(path, NOW + timedelta(days=31))
    for number in range(10):
        later.record_alarm_action(answer(10 + number, at=NOW + timedelta(days=31)))
        await later.flush()
    await later.close()
    old = [row for row in await HistoryReader(path).new_alarm_actions() if row.at < NOW + timedelta(days=1)]
    assert old == [kept]


async def test_no_secret_that_a_person_typed_is_kept_or_shown(tmp_path: Path) -> None:
    given = answer(1, kind=ActionKind.NOTE, reason="moved to rtmp://ingest.example/live/sk-1234567890abcdef")
    assert "sk-1234567890abcdef" not in given.reason
    history = await History.open(tmp_path / "history.sqlite", NOW)
    history.record_alarm_action(given)
    await history.close()
    assert b"sk-1234567890abcdef" not in (tmp_path / "history.sqlite").read_bytes()
    assert await HistoryReader(tmp_path / "history.sqlite").new_alarm_actions() == (given,)


def test_an_acknowledgement_that_its_giver_takes_back_is_as_if_it_had_never_been_at_every_deck() -> None:
    anna, bert = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in (anna, bert):
        deck.look(state(finding("BLACKOUT")))
    before = anna.alarm("BLACKOUT")
    for deck in (anna, bert):
        deck.look(*deck.states, after=20)
    for kind in (ActionKind.ACKNOWLEDGE, ActionKind.UNACKNOWLEDGE):
        assert anna.answer(kind)
        bert.engine.take(anna.given)
        rings = [deck.alert_count for deck in (anna, bert)]
        for deck in (anna, bert):
            deck.look(*deck.states, after=2)
    assert rings == [anna.alert_count, bert.alert_count], "it rang when it was raised"
    for deck in (anna, bert):
        alarm = deck.alarm("BLACKOUT")
        assert (alarm.state, alarm.needs_ack, alarm.changed, alarm.acknowledged_at, alarm.acknowledged_until) == (
            before.state,
            True,
            before.since,
            None,
            None,
        )
        assert (alarm.timeline[-1].text, alarm.timeline[-1].actor) == ("acknowledgement taken back", "anna@regie:1")
        assert deck.transitions("BLACKOUT")[-2:] == ["acknowledged", "acknowledgement taken back"]


def test_nobody_takes_back_what_another_one_acknowledged_or_what_is_too_long_ago() -> None:
    anna, bert = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in (anna, bert):
        deck.look(state(finding("BLACKOUT")))
    back = AlarmCommand(KEY, ActionKind.UNACKNOWLEDGE, actor="bert@regie:2")
    with pytest.raises(AlarmRefused, match="BLACKOUT is not acknowledged: there is nothing to take back"):
        bert.engine.act(back, bert.now, on_air=True)
    assert anna.answer(ActionKind.ACKNOWLEDGE)
    bert.engine.take(anna.given)
    bert.look(*bert.states, after=1)
    with pytest.raises(AlarmRefused, match="only anna@regie can take it back"):
        bert.engine.act(back, bert.now, on_air=True)
    again = Deck("anna@regie:77", anna.now)  # the same person, by another process
    again.engine.restore(anna.engine.alarms.values(), anna.now)
    again.engine.take(anna.given)
    again.look(*anna.states, after=TAKE_BACK_FOR.total_seconds() + 1)
    mine = replace(back, actor=again.actor)
    with pytest.raises(AlarmRefused, match="cannot be taken back after 5 min"):
        again.engine.act(mine, again.now, on_air=True)
    assert again.alarm("BLACKOUT").state is AlarmState.ACKNOWLEDGED
    at_last = again.engine.act(mine, NOW + TAKE_BACK_FOR, on_air=True)
    assert at_last
    assert again.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED


def test_what_was_over_when_it_was_acknowledged_waits_to_be_read_again() -> None:
    anna = Deck("anna@regie:1")
    anna.look(state(finding("BLACKOUT")))
    anna.look(state(), after=5)
    assert anna.answer(ActionKind.ACKNOWLEDGE)
    anna.look(state(), after=1)
    assert anna.alarm("BLACKOUT").state is AlarmState.CLEARED
    assert anna.answer(ActionKind.UNACKNOWLEDGE)
    anna.look(state(), after=1)
    assert anna.alarm("BLACKOUT").state is AlarmState.RETURNED


def test_of_two_who_acknowledged_at_once_the_promise_of_the_other_holds_when_the_first_takes_theirs_back() -> None:
    anna, bert = Deck("anna@regie:1"), Deck("bert@regie:2")
    for deck in (anna, bert):
        deck.look(state(finding("BLACKOUT")))
    assert bert.answer(ActionKind.ACKNOWLEDGE)
    anna.look(*anna.states, after=1)
    assert anna.answer(ActionKind.ACKNOWLEDGE)
    anna.engine.take(bert.given)
    anna.look(*anna.states, after=1)
    assert anna.answer(ActionKind.UNACKNOWLEDGE)
    anna.look(*anna.states, after=1)
    assert (anna.alarm("BLACKOUT").state, anna.alarm("BLACKOUT").answered_by) == (AlarmState.ACKNOWLEDGED, bert.actor)


def test_an_acknowledgement_that_ran_out_before_the_one_that_was_taken_back_is_remembered() -> None:
    """It is a reason of its own to escalate (notifications.md, "From alarm to message")."""
    anna = Deck("anna@regie:1")
    anna.look(state(critical()))
    assert anna.answer(ActionKind.ACKNOWLEDGE)
    for _ in range(2):
        anna.look(state(critical()), after=200)
    assert anna.alarm("BLACKOUT").state is AlarmState.UNACKNOWLEDGED
    assert anna.answer(ActionKind.ACKNOWLEDGE)
    anna.look(state(critical()), after=1)
    assert anna.alarm("BLACKOUT").acknowledged_at != NOW
    assert anna.answer(ActionKind.UNACKNOWLEDGE)
    anna.look(state(critical()), after=1)
    assert anna.alarm("BLACKOUT").acknowledged_at == NOW
