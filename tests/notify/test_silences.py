"""Silences and notifications: no message during a silence, and one group at its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from livedeck.monitor import Alarm, AlarmState, Case, CaseEvent, Matcher, Severity, Silence, Silenced, silence_of
from livedeck.notify import Board, EventInfo, Message, Outcome, Route, Spool, Status, step
from notify.stage import NOW, Desk, Pager, acknowledged, alarm, over, titles


def silence(*matchers: str, begins: float = 0, lasts: float = 3600, **fields: Any) -> Silence:
    """Return a silence of anna, `begins` seconds from `NOW`."""
    starts_at = NOW + timedelta(seconds=begins)
    ends_at = starts_at + timedelta(seconds=lasts)
    found = tuple(map(Matcher.parse, matchers))
    made = Silence("u", "s-1", found, starts_at, ends_at, "anna@x:1", "swap", NOW, "anna@x:1")
    return replace(made, **fields)


class Quiet(Desk):
    """Notifier whose board has silences, and whose alarms are marked as the monitor does."""

    def __init__(self, *silences: Silence, routes: tuple[Route, ...] = ()) -> None:
        super().__init__(*routes)
        self.silences = silences

    def _marked(self, standing: Alarm) -> Alarm:
        events = [CaseEvent(standing.event_id, standing.subject)] if standing.event_id else []
        case = Case(standing.kind, standing.severity, events)
        found = silence_of(self.silences, case, self.now, on_air=True)
        words = found and Silenced(found[0].id, found[1], found[0].comment, found[0].by)
        return replace(standing, silenced=words)

    def look(self, after: float = 0.0, *, is_known: bool = True) -> list[Message]:
        """Step, and return the new messages."""
        self.now += timedelta(seconds=after)
        events = {key.event_id: EventInfo(key.event_id.upper(), is_on_air=True) for key in self.alarms if key.event_id}
        board = Board([*map(self._marked, self.alarms.values())], events, is_known, silences=self.silences)
        self.state, messages, _ = step(self.plan, self.state, board, self.now)
        self.told += messages
        return list(messages)


def test_nothing_goes_out_inside_a_silence_and_all_that_stands_is_one_message_at_its_end() -> None:
    desk = Quiet(silence(lasts=600))
    desk.put(alarm("one"), alarm("two", "FPS_LOW", Severity.WARNING), alarm("three"))
    assert desk.watch(300) == []
    desk.put(alarm("four", since=desk.now, changed=desk.now), over(alarm("three"), desk.now))
    assert desk.watch(299) == []
    (message,) = desk.watch(60)
    assert message.title.startswith("CRIT 3 alarms: NO_INGEST ONE, NO_INGEST FOUR, FPS_LOW TWO")
    assert message.at == NOW + timedelta(seconds=600)
    assert desk.watch(3600, 10) == []


def test_what_was_told_before_is_told_again_at_the_end_and_its_end_waits_for_that_of_the_silence() -> None:
    desk, pager = Quiet(silence(begins=60, lasts=600)), Pager()
    desk.put(alarm("one"), alarm("two"))
    (told,) = desk.watch(59)
    pager.take([told])
    desk.look(10)
    desk.put(over(alarm("two"), desk.now))
    assert desk.watch(580) == []
    del desk.alarms[alarm("two").key]
    assert desk.watch(10) == []
    after = desk.watch(60)
    assert sorted((message.status, message.title.split()[2]) for message in after) == [
        (Status.FIRING, "ONE"),
        (Status.RESOLVED, "TWO"),
    ]
    pager.take(after)
    assert {key for _, key in pager.keys} == {("one", "NO_INGEST", "")}


def test_critical_passes_where_the_silence_says_so() -> None:
    desk = Quiet(silence(passes=Severity.CRITICAL))
    desk.put(alarm("one", severity=Severity.WARNING), alarm("two"))
    assert titles(desk.watch(60)) == ["CRIT NO_INGEST TWO"]
    desk.put(alarm("one"))
    assert titles(desk.watch(60)) == ["CRIT NO_INGEST ONE"]


def test_an_acknowledged_alarm_stays_answered_after_a_silence() -> None:
    desk = Quiet(silence(lasts=600))
    desk.put(acknowledged(alarm("one")))
    assert desk.watch(1200, 5) == []


def test_a_restart_inside_a_silence_forgets_no_announcement_at_its_end(tmp_path: Path) -> None:
    desk = Quiet(silence(begins=60, lasts=600))
    desk.put(alarm("one"))
    (_,) = desk.watch(59)
    assert desk.watch(300) == []
    spool = Spool(tmp_path / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now, 0.0)
    desk.state = spool.state(desk.now)
    spool.close()
    assert len(desk.watch(600)) == 1


def test_what_stands_at_the_end_of_a_silence_escalates_anew() -> None:
    """It is announced again, so the minutes of its levels begin anew, whoever was told before."""
    route = Route("ops", "ops", escalate=10, escalate_to="boss")
    desk = Quiet(silence(begins=1200, lasts=600), routes=(route,))
    desk.put(alarm("one"))
    told = desk.watch(1190, 10)
    assert [message.target for message in told] == ["ops", "boss"]
    told = desk.watch(1800, 10)
    assert [message.target for message in told] == ["ops", "boss"]


def test_no_alarm_escalates_inside_a_silence() -> None:
    desk = Quiet(silence(begins=60, lasts=1800), routes=(Route("ops", "ops", escalate=5, escalate_to="boss"),))
    desk.put(alarm("one"))
    assert [message.target for message in desk.watch(50)] == ["ops"]
    assert desk.watch(1800, 5) == []
    assert [message.target for message in desk.watch(400, 5)] == ["ops", "boss"]


@pytest.mark.parametrize("seed", range(8))
def test_of_random_alarms_none_is_told_inside_a_silence_and_each_beginning_has_its_end(seed: int) -> None:
    random, pager = Random(seed), Pager()
    covering = silence("name ~ *O*", begins=100, lasts=900)
    desk = Quiet(covering)
    for _ in range(150):
        name = random.choice(("one", "two", "three", "four"))
        standing = desk.alarms.get(alarm(name).key)
        if standing is None or not standing.present:
            desk.put(alarm(name, since=desk.now, changed=desk.now, severity=random.choice([*Severity][:2])))
        elif random.random() < 0.5:
            desk.put(over(standing, desk.now))
        for message in desk.watch(random.choice((5, 10, 30)), 5):
            pager.take([message])
            if covering.covers(message.at):
                assert all(key == "three" for key, *_ in _keys(message)), message.title
    for standing in [*desk.alarms.values()]:
        desk.put(replace(over(standing, desk.now), state=AlarmState.CLEARED))
    pager.take(desk.watch(1500, 5))
    assert (pager.keys, pager.lives) == (set(), set())


def _keys(message: Message) -> list[tuple[str, ...]]:
    import json

    return [tuple(entry["key"]) for entry in json.loads(message.payload)["alarms"]]
