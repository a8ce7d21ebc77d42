"""From alarms to messages: groups, repeats, acknowledged alarms, rate, hours, escalation and end."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from livedeck.monitor import AlarmState, NotWatched, Severity
from livedeck.monitor.model.own import Why
from livedeck.notify import Board, Hours, Outcome, Route, Spool, Status, step, withheld
from notify.stage import NOW, Desk, Pager, acknowledged, alarm, over, titles

WARNING = Severity.WARNING


def test_an_alarm_is_told_once_five_seconds_after_it_began() -> None:
    desk = Desk()
    desk.put(alarm())
    assert desk.watch(4) == []
    assert titles(desk.watch(2)) == ["CRIT NO_INGEST ONE"]
    assert desk.watch(3600, 10) == []


def test_what_fails_together_is_one_message() -> None:
    desk = Desk()
    desk.put(alarm("one"))
    desk.look()
    desk.put(alarm("two"), alarm("three", "FPS_LOW", WARNING))
    (message,) = desk.watch(20)
    assert message.title.startswith("CRIT 3 alarms: NO_INGEST ONE, NO_INGEST TWO, FPS_LOW THREE")


def test_what_is_answered_hidden_or_over_within_five_seconds_is_told_to_nobody() -> None:
    states = (AlarmState.SHELVED, AlarmState.SUPPRESSED, AlarmState.OUT_OF_SERVICE)
    desk = Desk()
    desk.put(*(alarm(str(state)) for state in (*states, "acknowledged", "over")))
    desk.look()
    desk.look(3)
    desk.put(*(replace(alarm(str(state)), state=state, needs_ack=False) for state in states))
    desk.put(acknowledged(alarm("acknowledged")), over(alarm("over")))
    assert desk.watch(600, 5) == []


def test_one_that_gets_worse_is_told_again_and_one_that_gets_better_is_not() -> None:
    desk = Desk()
    desk.put(alarm(severity=WARNING))
    assert titles(desk.watch(10)) == ["WARN NO_INGEST ONE"]
    desk.put(alarm())
    assert titles(desk.watch(10)) == ["CRIT NO_INGEST ONE"]
    desk.put(alarm(severity=WARNING))
    assert desk.watch(60) == []
    desk.put(alarm(stage=1))
    assert titles(desk.watch(10)) == ["CRIT NO_INGEST ONE"]


def test_an_acknowledgement_that_runs_out_escalates_and_pages_nobody_anew() -> None:
    desk = Desk(Route("ops", "ops", escalate=5, escalate_to="boss"))
    desk.put(alarm())
    assert [message.target for message in desk.watch(10)] == ["ops"]
    desk.put(acknowledged(alarm(), desk.now))
    assert desk.watch(1200, 10) == []
    lapsed = replace(alarm(), changed=desk.now, acknowledged_at=NOW, answered_by="anna@x:1")
    desk.put(lapsed)
    assert desk.watch(290, 10) == []
    (message,) = desk.watch(1200, 10)
    assert (message.target, message.status, message.title) == (
        "boss",
        Status.ESCALATED,
        "NOT ACKNOWLEDGED CRIT NO_INGEST ONE",
    )
    assert "Acknowledged: by anna@x, expired" in message.text


def test_the_minutes_of_an_escalation_leave_out_what_was_not_watched() -> None:
    desk = Desk(Route("ops", "ops", escalate=5, escalate_to="boss"))
    desk.put(alarm())
    (told,) = desk.watch(20)
    desk.stops = (NotWatched(desk.now, desk.now + timedelta(minutes=10), Why.SLEPT),)
    assert not desk.look(600)
    (escalated,) = desk.watch(300)
    assert escalated.status is Status.ESCALATED
    assert timedelta(minutes=15) <= escalated.at - told.at <= timedelta(minutes=15, seconds=2)


def test_each_acknowledgement_that_runs_out_escalates_once() -> None:
    desk = Desk(Route("ops", "ops", escalate=5, escalate_to="boss"))
    desk.put(alarm())
    desk.watch(10)
    for _ in range(3):
        at = desk.now
        desk.put(acknowledged(alarm(), at))
        desk.watch(600, 10)
        desk.put(replace(alarm(), changed=desk.now, acknowledged_at=at, answered_by="anna@x:1"))
        assert [message.target for message in desk.watch(1800, 10)] == ["boss"]


def test_its_end_is_told_once_to_all_who_were_told_that_it_began() -> None:
    desk = Desk(Route("ops", "ops", escalate=1, escalate_to="boss"), Route("log", "log", resolved=False))
    desk.put(alarm())
    desk.watch(240, 5)
    desk.put(over(alarm(), desk.now))
    ends = desk.watch(1200, 5)
    assert {message.target for message in ends} == {"ops", "boss"}
    assert titles(ends) == ["RESOLVED NO_INGEST ONE after 4 min"] * 2


def test_what_comes_back_within_two_minutes_is_the_same_fault() -> None:
    desk = Desk()
    desk.put(alarm())
    desk.watch(10)
    for _ in range(3):
        desk.put(over(alarm(), desk.now))
        assert desk.watch(100, 5) == []
        desk.put(alarm(since=desk.now))
        assert desk.watch(100, 5) == []
    desk.put(over(alarm(), desk.now))
    assert [message.status for message in desk.watch(200, 5)] == [Status.RESOLVED]
    desk.put(alarm(since=desk.now))
    assert [message.status for message in desk.watch(20)] == [Status.FIRING]


def test_while_the_platform_does_not_answer_nothing_is_over() -> None:
    desk = Desk()
    desk.put(alarm())
    desk.watch(10)
    desk.alarms.clear()
    assert [message for _ in range(100) for message in desk.look(10, is_known=False)] == []
    assert [message.status for message in desk.watch(200, 5)] == [Status.RESOLVED]


def test_a_storm_is_few_messages_that_count_every_alarm() -> None:
    desk = Desk(Route("ops", "ops", resolved=False))
    for number in range(150):
        desk.put(alarm(f"event-{number:03}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(8, 4)
    desk.watch(3600, 30)
    payloads = [json.loads(message.payload) for message in desk.told]
    named = [entry["life"] for payload in payloads for entry in payload["alarms"]]
    assert len(named) == len(set(named))
    assert len(named) + sum(payload["truncated"] for payload in payloads) == 150
    moments = [message.at for message in desk.told]
    assert all(sum(0 <= (other - at).total_seconds() < 600 for other in moments) <= 6 for at in moments)
    assert len(moments) <= 18


def test_criticals_need_no_allowance_and_use_none_up() -> None:
    desk = Desk()
    full(desk)
    for number in range(40):
        desk.put(alarm(f"event-critical-{number}", since=desk.now, changed=desk.now))
        assert titles(desk.watch(6)) == [f"CRIT NO_INGEST EVENT-CRITICAL-{number}"]
    desk.now += timedelta(minutes=10)
    desk.put(alarm("late", "FPS_LOW", WARNING, since=desk.now, changed=desk.now))
    assert titles(desk.watch(6)) == ["WARN FPS_LOW LATE"]


def test_criticals_that_are_ready_within_five_seconds_share_a_message() -> None:
    desk = Desk()
    for second in range(60):
        desk.put(alarm(f"event-{second}", since=desk.now, changed=desk.now - timedelta(seconds=5)))
        desk.look(1)
    desk.watch(6)
    moments = [message.at for message in desk.told]
    assert min(after - before for before, after in pairwise(moments)) == timedelta(seconds=5)
    assert sum(len(json.loads(message.payload)["alarms"]) for message in desk.told) == 60


def test_a_flood_delays_no_critical_and_is_counted_in_its_message() -> None:
    desk = Desk()
    desk.put(*(alarm(f"event-{number}") for number in range(12)))
    assert "Flood: 12 alarms in the last 10 min" in desk.watch(6)[0].text
    desk.put(alarm("late", since=desk.now, changed=desk.now))
    (message,) = desk.watch(6)
    assert "Flood: 13 alarms in the last 10 min" in message.text


def test_ends_of_criticals_keep_to_the_allowance() -> None:
    desk = Desk()
    for number in range(30):
        desk.put(alarm(f"event-{number}", since=desk.now, changed=desk.now))
        desk.watch(6)
    for number in range(30):
        desk.put(over(desk.alarms[alarm(f"event-{number}").key], desk.now))
        desk.watch(10, 5)
    desk.watch(1800, 5)
    ends = [message for message in desk.told if message.status is Status.RESOLVED]
    assert all(sum(0 <= (other.at - end.at).total_seconds() < 600 for other in ends) <= 6 for end in ends)
    assert sum(len(json.loads(message.payload)["alarms"]) for message in ends) == 30


def test_a_target_that_keeps_alarms_hears_of_each_end_without_an_allowance() -> None:
    desk = Desk()
    desk.plan = replace(desk.plan, keeping=frozenset({"ops"}))
    keys = [alarm(f"event-{number}").key for number in range(20)]
    for key in keys:
        desk.put(alarm(key.event_id, since=desk.now, changed=desk.now))
        desk.watch(6)
    ended = list[datetime]()
    for key in keys:
        ended.append(desk.now)
        desk.put(over(desk.alarms[key], desk.now))
        desk.watch(10)
    desk.watch(130)
    ends = [message for message in desk.told if message.status is Status.RESOLVED]
    assert [event for end in ends for event in re.findall(r"EVENT-\d+", end.title)] == [
        key.event_id.upper() for key in keys
    ]
    assert all(end.at - at <= timedelta(seconds=122) for end, at in zip(ends, ended, strict=True))


def test_what_waits_for_the_rate_and_is_acknowledged_is_not_told_and_what_is_over_by_then_is() -> None:
    desk = Desk()
    for number in range(6):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING))
        desk.watch(10)
    late = [alarm(name, "FPS_LOW", WARNING, since=desk.now) for name in ("answered", "over", "standing")]
    desk.put(*late)
    assert desk.watch(20) == []
    desk.put(acknowledged(late[0], desk.now), over(late[1], desk.now))
    ended, begun = sorted(desk.watch(700, 5), key=lambda message: message.status, reverse=True)
    assert (begun.status, begun.title) == (Status.FIRING, "WARN FPS_LOW STANDING")
    assert (ended.status, ended.title) == (Status.RESOLVED, "CLEARED WARN FPS_LOW OVER after 25 s")
    assert "cleared after" in ended.text


def test_in_quiet_hours_only_what_is_loud_enough_goes_out_and_the_rest_when_they_end() -> None:
    desk = Desk(Route("ops", "ops", hours=Hours.parse("Mo-Su 08:00-20:00")))
    desk.put(alarm("loud"), alarm("soft", "FPS_LOW", WARNING), alarm("gone", "AUDIO_LOW", WARNING))
    assert titles(desk.watch(600, 5)) == ["CRIT NO_INGEST LOUD"]
    desk.put(over(alarm("gone", "AUDIO_LOW", WARNING), desk.now))
    morning = desk.watch(12 * 3600, 60)
    assert titles(morning) == ["WARN FPS_LOW SOFT"]
    assert f"{morning[0].at:%H:%M}" in {"08:00", "08:01"}


def test_an_incident_is_a_message_of_its_own_and_names_its_events() -> None:
    desk = Desk()
    members = tuple(f"event-{number}" for number in range(9))
    desk.put(*(alarm(member) for member in members))
    desk.look()
    desk.look(3)
    hidden = (replace(alarm(member), state=AlarmState.SUPPRESSED, parent="PLATFORM") for member in members)
    desk.put(*hidden, alarm("", "PLATFORM", affects=members))
    (message,) = desk.watch(300, 5)
    assert message.title == "CRIT PLATFORM 9 of 9 events"
    assert "Events: EVENT-0, EVENT-1, EVENT-2, EVENT-3, EVENT-4 and 4 more" in message.text


def test_what_waits_for_the_rate_outlives_a_restart_though_the_fault_does_not(tmp_path: Path) -> None:
    desk = Desk()
    for number in range(6):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING))
        desk.watch(10)
    late = alarm("late", "FPS_LOW", WARNING, since=desk.now)
    desk.put(late)
    assert desk.watch(20) == []
    spool = Spool(tmp_path / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now)
    desk.state = spool.state(desk.now)
    spool.close()
    desk.put(over(late, desk.now))
    first, *_ = desk.watch(700, 5)
    assert first.status is Status.RESOLVED
    assert first.title.startswith("CLEARED WARN FPS_LOW LATE after ")


def test_another_fault_that_began_while_nobody_watched_is_told_and_the_same_one_is_not(tmp_path: Path) -> None:
    desk = Desk()
    desk.put(alarm("same"), alarm("another"))
    desk.watch(20)
    spool = Spool(tmp_path / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now)
    desk.now += timedelta(hours=1)
    desk.state = spool.state(desk.now)
    spool.close()
    desk.put(alarm("another", since=desk.now - timedelta(minutes=10)))
    assert titles(desk.watch(600, 5)) == ["RESOLVED NO_INGEST ANOTHER after 20 s", "CRIT NO_INGEST ANOTHER"]


def test_a_flood_is_still_one_after_a_restart(tmp_path: Path) -> None:
    desk = Desk()
    desk.put(*(alarm(f"event-{number}", "FPS_LOW", WARNING) for number in range(12)))
    desk.watch(10)
    spool = Spool(tmp_path / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now)
    desk.state = spool.state(desk.now)
    spool.close()
    desk.put(alarm("late", "FPS_LOW", WARNING, since=desk.now))
    desk.watch(120)
    first, second = desk.told
    assert second.at - first.at >= timedelta(minutes=1)


def test_of_a_fault_that_came_back_the_end_before_is_not_told_after_its_beginning() -> None:
    desk = Desk()
    desk.put(alarm("one", "FPS_LOW", WARNING))
    desk.watch(10)
    for number in range(5):  # no message is left for ten minutes
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(10)
    desk.put(over(alarm("one", "FPS_LOW", WARNING), desk.now))
    assert desk.watch(150, 5) == []
    desk.put(alarm("one", "FPS_LOW", WARNING, since=desk.now))
    last = [message for message in desk.watch(1800, 5) if "ONE" in message.title]
    assert [message.status for message in last] == [Status.FIRING]


def test_an_end_is_not_told_before_the_message_that_waits_and_says_that_it_stands() -> None:
    desk = Desk()
    one, two = alarm("one"), alarm("two")
    desk.put(one, two)
    unsent = desk.watch(10)
    state = desk.state
    for seconds, alarms in ((10, (acknowledged(one), acknowledged(two))), (300, (over(acknowledged(one)), two))):
        now = desk.now + timedelta(seconds=seconds)
        state, messages, withdrawn = step(desk.plan, state, Board(alarms), now, unsent)
        assert (messages, withdrawn) == ((), ())
    state, messages, withdrawn = step(desk.plan, state, Board(alarms), now + timedelta(minutes=5), unsent)
    assert (messages, withdrawn, withheld(state, unsent, now)) == ((), (), frozenset())
    _, messages, _ = step(desk.plan, state, Board(alarms), now + timedelta(minutes=6))
    assert titles(messages) == ["RESOLVED NO_INGEST ONE after 5 min"]


def full(desk: Desk) -> None:
    """Use up the rate of the route with warnings."""
    for number in range(6):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(10)


def of(desk: Desk, name: str) -> list[tuple[Status, str]]:
    """Return status and first words of the messages about an event."""
    return [(message.status, message.title.split()[0]) for message in desk.told if name in message.text]


def test_what_waits_for_the_rate_and_was_answered_is_told_when_that_runs_out() -> None:
    desk = Desk()
    full(desk)
    late = alarm("late", "FPS_LOW", WARNING, since=desk.now, changed=desk.now)
    desk.put(late)
    desk.watch(20)
    desk.put(acknowledged(late, desk.now))
    desk.watch(900, 5)
    assert of(desk, "LATE") == []
    desk.put(replace(late, changed=desk.now, acknowledged_at=NOW))
    desk.watch(20)
    assert of(desk, "LATE") == [(Status.FIRING, "WARN")]


def test_what_ended_before_it_could_be_told_is_told_though_the_next_fault_is_answered() -> None:
    desk = Desk()
    full(desk)
    late = alarm("late", "FPS_LOW", WARNING, since=desk.now, changed=desk.now)
    desk.put(late)
    desk.watch(20)
    desk.put(over(late, desk.now))
    desk.watch(150, 5)
    desk.put(acknowledged(replace(late, since=desk.now), desk.now))
    desk.watch(900, 5)
    assert of(desk, "LATE") == [(Status.RESOLVED, "CLEARED")]


def test_an_end_that_waits_for_the_rate_is_told_though_the_next_fault_is_answered() -> None:
    desk = Desk()
    early = alarm("early", "FPS_LOW", WARNING)
    desk.put(early)
    desk.watch(10)
    desk.put(over(early, desk.now))
    full(desk)
    desk.watch(120, 5)
    assert of(desk, "EARLY") == [(Status.FIRING, "WARN")]
    desk.put(acknowledged(replace(early, since=desk.now), desk.now))
    desk.watch(900, 5)
    assert of(desk, "EARLY") == [(Status.FIRING, "WARN"), (Status.RESOLVED, "RESOLVED")]


def test_one_that_got_worse_and_was_answered_before_that_could_be_told_is_told_to_be_over() -> None:
    desk = Desk()
    early = alarm("early", severity=WARNING)
    desk.put(early)
    desk.watch(10)
    for number in range(12):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(10)
    worse = replace(early, stage=1, changed=desk.now)
    desk.put(worse)
    desk.watch(10)
    desk.put(acknowledged(worse, desk.now))
    desk.watch(120, 5)
    desk.put(over(acknowledged(worse, desk.now), desk.now))
    desk.watch(1800, 5)
    assert of(desk, "EARLY") == [(Status.FIRING, "WARN"), (Status.RESOLVED, "RESOLVED")]


def test_two_unsent_messages_of_an_alarm_that_ended_answered_are_both_taken_back() -> None:
    desk = Desk()
    standing = alarm("one", severity=WARNING)
    desk.put(standing)
    unsent = desk.watch(10)
    worse = replace(standing, severity=Severity.CRITICAL, changed=desk.now)
    desk.put(worse)
    unsent += desk.watch(10)
    state, now = desk.state, desk.now
    withdrawn: list[str] = []
    for seconds, current in (
        (1, acknowledged(worse)),
        (2, over(acknowledged(worse))),
        (200, over(acknowledged(worse))),
    ):
        state, messages, taken_back = step(
            desk.plan, state, Board((current,)), now + timedelta(seconds=seconds), unsent
        )
        assert messages == ()
        withdrawn += taken_back
    assert withdrawn == [message.key for message in reversed(unsent)]
    assert len(withdrawn) == 2
    assert state.lives == {}


def test_a_message_is_not_taken_back_as_long_as_one_of_its_alarms_ended_unanswered() -> None:
    desk = Desk()
    one, two = alarm("one"), alarm("two")
    desk.put(one, two)
    unsent = desk.watch(10)
    state, now = desk.state, desk.now
    told = []
    for seconds, second in ((1, acknowledged(two)), (200, acknowledged(two)), (201, over(acknowledged(two)))):
        board = Board((over(one), second))
        state, messages, withdrawn = step(desk.plan, state, board, now + timedelta(seconds=seconds), unsent)
        told += titles(messages)
        assert withdrawn == ()
    last = now + timedelta(seconds=400)
    state, messages, withdrawn = step(desk.plan, state, board, last, unsent)
    assert (messages, withdrawn, withheld(state, unsent, last)) == ((), (), frozenset())
    assert [title.split(" after ")[0] for title in told] == ["RESOLVED NO_INGEST ONE"]


def test_an_incident_goes_out_at_once_for_its_members_have_waited() -> None:
    desk = Desk()
    desk.put(alarm("other", "FPS_LOW", WARNING))
    desk.look()
    desk.watch(3)
    desk.put(alarm("", "PLATFORM", affects=("one", "two"), changed=desk.now))
    assert titles(desk.look()) == ["CRIT PLATFORM 2 of 2 events"]
    assert titles(desk.watch(3)) == ["WARN FPS_LOW OTHER"]


def test_an_alarm_that_waited_before_it_was_announced_waits_no_second_time() -> None:
    desk = Desk()
    desk.now += timedelta(seconds=5)
    desk.put(alarm("held"), alarm("new", "FPS_LOW", WARNING, changed=desk.now))
    assert titles(desk.look()) == ["CRIT 2 alarms: NO_INGEST HELD, FPS_LOW NEW"]


def test_a_route_is_told_of_what_fits_it_and_of_nothing_else() -> None:
    desk = Desk(Route("audio", "audio", kinds=("AUDIO_*",)), Route("night", "night", Severity.CRITICAL))
    desk.put(alarm("one"), alarm("two", "AUDIO_LOW", WARNING), alarm("three", "FPS_LOW", WARNING))
    told = [(message.target, message.title) for message in desk.watch(600, 5)]
    assert told == [("audio", "WARN AUDIO_LOW TWO"), ("night", "CRIT NO_INGEST ONE")]


def test_of_what_got_worse_while_it_waited_and_was_answered_then_nobody_is_told_the_end() -> None:
    desk = Desk()
    for number in range(12):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(6)
    last = desk.told[-1].at
    late = alarm("late", severity=WARNING, since=desk.now, changed=desk.now)
    desk.put(late)
    desk.watch(6)
    worse = replace(late, stage=1, changed=desk.now)
    desk.put(worse)
    desk.watch(6)
    desk.put(acknowledged(worse, desk.now))
    desk.look()
    assert desk.told[-1].at == last  # a flood: all of that was within the minute after the last message
    desk.put(over(acknowledged(worse, desk.now), desk.now))
    desk.watch(1800, 5)
    assert of(desk, "LATE") == []


def test_of_what_was_told_and_taken_back_when_it_got_worse_the_end_is_told() -> None:
    desk = Desk()
    standing = alarm("one", severity=WARNING)
    desk.put(standing)
    desk.watch(10)
    worse = replace(standing, severity=Severity.CRITICAL, changed=desk.now)
    desk.put(worse)
    unsent = desk.watch(10)
    ended = Board((over(acknowledged(worse)),))
    state, *_ = step(desk.plan, desk.state, Board((acknowledged(worse),)), desk.now, unsent)
    state, *_ = step(desk.plan, state, ended, desk.now + timedelta(seconds=1), unsent)
    state, messages, withdrawn = step(desk.plan, state, ended, desk.now + timedelta(minutes=3), unsent)
    assert withdrawn == (unsent[0].key,)
    assert [message.status for message in messages] == [Status.RESOLVED]


def test_what_was_told_at_the_end_of_quiet_hours_has_its_minutes_from_then_on() -> None:
    desk = Desk(Route("ops", "ops", hours=Hours.parse("08:00-20:00"), escalate=5, escalate_to="boss"))
    desk.put(alarm("soft", "FPS_LOW", WARNING))
    told, escalated = desk.watch(13 * 3600, 60)
    assert (told.status, escalated.status) == (Status.FIRING, Status.ESCALATED)
    assert timedelta(minutes=5) <= escalated.at - told.at <= timedelta(minutes=6)


def test_what_waits_for_the_rate_goes_out_in_the_morning_where_the_evening_has_ended_by_then() -> None:
    desk = Desk(Route("ops", "ops", hours=Hours.parse("08:00-20:20")))
    full(desk)
    desk.put(alarm("late", "FPS_LOW", WARNING, since=desk.now))
    desk.watch(13 * 3600, 60)
    (late,) = (message for message in desk.told if "LATE" in message.text)
    assert f"{late.at:%H:%M}" in {"08:00", "08:01"}


def test_from_the_eleventh_alarm_on_there_is_one_message_a_minute() -> None:
    desk = Desk()
    desk.put(*(alarm(f"event-{number}", "FPS_LOW", WARNING) for number in range(9)))
    desk.watch(10)
    for number in (9, 10):
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now))
        desk.watch(10)
    desk.watch(120)
    first, tenth, eleventh = (message.at for message in desk.told)
    assert tenth - first < timedelta(seconds=30)
    assert eleventh - tenth == timedelta(minutes=1)


def test_hours_are_those_of_the_machine_where_its_clock_was_set() -> None:
    desk = Desk(Route("ops", "ops", hours=Hours.parse("08:00-20:00")))
    soft = alarm("soft", "FPS_LOW", WARNING)
    for offset, told in ((0.0, 0), (-3600.0, 1)):
        state, *_ = step(desk.plan, desk.state, Board((soft,), offset=offset), NOW)
        _, messages, _ = step(desk.plan, state, Board((soft,), offset=offset), NOW + timedelta(seconds=6))
        assert len(messages) == told


def test_an_alarm_that_grew_far_is_told_again_where_it_becomes_critical() -> None:
    desk = Desk()
    desk.put(alarm(severity=WARNING, stage=150))
    desk.watch(10)
    desk.put(alarm())
    assert titles(desk.watch(10)) == ["CRIT NO_INGEST ONE"]


def test_the_end_of_what_is_forgotten_is_as_severe_as_it_was() -> None:
    desk = Desk()
    desk.put(alarm("soft", "FPS_LOW", WARNING), alarm("loud"))
    desk.watch(10)
    desk.alarms.clear()
    (message,) = desk.watch(200, 5)
    severities = {entry["event_id"]: entry["severity"] for entry in json.loads(message.payload)["alarms"]}
    assert severities == {"loud": "critical", "soft": "warning"}


def test_what_else_is_wrong_with_the_event_is_said_and_what_was_wrong_is_not() -> None:
    desk = Desk()
    desk.put(alarm("one"), over(alarm("one", "AUDIO_LOW", WARNING)), alarm("two", "FPS_LOW", Severity.INFO))
    desk.put(alarm("one", "VIDEO_LOW", Severity.INFO))
    (message,) = desk.watch(10)
    assert "Other alarms: VIDEO_LOW" in message.text.splitlines()


def test_an_escalation_that_waits_is_taken_back_and_the_end_is_told_to_who_knew_of_it() -> None:
    desk = Desk(Route("ops", "ops", escalate=1, escalate_to="boss"))
    standing = alarm("one")
    desk.put(standing)
    *_, escalated = desk.watch(90)
    assert escalated.target == "boss"
    answered = acknowledged(standing, desk.now)
    state, now = desk.state, desk.now
    for seconds, current in ((1, answered), (2, over(answered)), (200, over(answered))):
        at = now + timedelta(seconds=seconds)
        state, messages, withdrawn = step(desk.plan, state, Board((current,)), at, [escalated])
    assert withdrawn == (escalated.key,)
    assert [(message.target, message.status) for message in messages] == [("ops", Status.RESOLVED)]


def test_who_was_told_that_nobody_answers_learns_of_the_end_though_the_next_escalation_is_taken_back() -> None:
    desk = Desk(Route("ops", "ops", escalate=1, escalate_to="boss"))
    standing = alarm("one")
    desk.put(standing)
    assert [message.target for message in desk.watch(90)] == ["ops", "boss"]
    answered = acknowledged(standing, desk.now)
    desk.put(answered)
    desk.watch(10)
    desk.put(replace(answered, state=AlarmState.UNACKNOWLEDGED, needs_ack=True, changed=desk.now))
    (again,) = unsent = desk.watch(90)
    assert again.target == "boss"
    answered = acknowledged(standing, desk.now)
    state, now = desk.state, desk.now
    for seconds, current in ((1, answered), (2, over(answered)), (200, over(answered))):
        at = now + timedelta(seconds=seconds)
        state, messages, withdrawn = step(desk.plan, state, Board((current,)), at, unsent)
    assert withdrawn == (again.key,)
    ends = {(message.target, message.status) for message in messages}
    assert ends == {("ops", Status.RESOLVED), ("boss", Status.RESOLVED)}


def test_what_ended_while_it_waited_and_is_back_within_two_minutes_is_told_as_standing() -> None:
    desk = Desk()
    full(desk)
    late = alarm("late", "FPS_LOW", WARNING, since=desk.now)
    desk.put(late)
    desk.watch(20)
    desk.put(over(late, desk.now))
    desk.watch(60, 5)
    desk.put(late)
    desk.watch(700, 5)
    assert of(desk, "LATE") == [(Status.FIRING, "WARN")]


@pytest.mark.parametrize("lasts", [35, 300, 1500])
@pytest.mark.parametrize("pause", [60, 150, 900])
def test_who_opens_with_firing_and_closes_with_resolved_has_open_what_stands_and_nothing_else(
    lasts: int, pause: int
) -> None:
    desk, pager = Desk(Route("ops", "ops", escalate=10, escalate_to="boss")), Pager()
    for number in range(8):  # more than the rate allows, each in its time
        desk.put(alarm(f"event-{number}", "FPS_LOW", WARNING, since=desk.now, changed=desk.now))
        desk.watch(10)
    for _ in range(4):
        standing = alarm("late", "FPS_LOW", WARNING, since=desk.now, changed=desk.now)
        desk.put(standing)
        desk.watch(lasts, 5)
        desk.put(over(standing, desk.now))
        desk.watch(pause, 5)
    desk.watch(3600, 20)
    pager.take(desk.told)
    assert {key[0] for _, key in pager.keys} == {f"event-{number}" for number in range(8)}
    assert {life.split("/")[0] for _, life in pager.lives} == {f"event-{number}" for number in range(8)}
    desk.put(*(over(standing, desk.now) for standing in desk.alarms.values()))
    desk.watch(3600, 20)
    pager.take(desk.told)
    assert (pager.keys, pager.lives) == (set(), set())


ESCALATING = Route("ops", "ops", escalate=10, escalate_to="boss", resolved=False)


def escalated(desk: Desk) -> list[float]:
    """Return the minutes after which the alarm was escalated, each time."""
    return [(message.at - NOW).total_seconds() / 60 for message in desk.told if message.status is Status.ESCALATED]


def test_a_fault_that_comes_and_goes_escalates_once_and_as_soon_as_one_that_stays() -> None:
    desk = Desk(ESCALATING)
    for _ in range(20):
        desk.put(alarm(since=desk.now, changed=desk.now))
        desk.watch(300, 5)
        desk.put(over(alarm(since=desk.now), desk.now))
        desk.watch(60, 5)
    (minutes,) = escalated(desk)
    assert [message.status for message in desk.told] == [Status.FIRING, Status.ESCALATED]
    assert 10 <= minutes <= 12  # told while it stands


def test_what_another_alarm_hid_meanwhile_escalates_as_soon_as_one_that_it_did_not() -> None:
    desk = Desk(ESCALATING)
    for _ in range(20):
        desk.put(alarm(changed=desk.now))
        desk.watch(300, 5)
        desk.put(replace(alarm(), state=AlarmState.SUPPRESSED, parent="PLATFORM", changed=desk.now))
        desk.watch(60, 5)
    (minutes,) = escalated(desk)
    assert 10 <= minutes <= 12


@pytest.mark.parametrize("state", [AlarmState.ACKNOWLEDGED, AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE])
@pytest.mark.parametrize("has_pause", [False, True])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_an_answer_that_ended_gives_whoever_gave_it_all_minutes_once(
    tmp_path: Path, state: AlarmState, *, has_pause: bool, is_restarted: bool
) -> None:
    desk = Desk(ESCALATING)
    desk.put(alarm())
    desk.watch(60, 5)
    answered_at: datetime | None = desk.now
    desk.put(replace(alarm(), state=state, changed=desk.now, answered_at=answered_at))
    desk.watch(1200, 5)
    if has_pause:  # the fault that returns is another occurrence, and knows of no answer
        desk.put(over(alarm(), desk.now))
        desk.watch(60, 5)
        answered_at = None
    ended = desk.now
    desk.put(alarm(since=desk.now if has_pause else NOW, changed=desk.now, answered_at=answered_at))
    desk.watch(5, 5)
    if is_restarted:
        restart(desk, tmp_path)
    for _ in range(10):
        desk.watch(300, 5)
        desk.put(over(desk.alarms[alarm().key], desk.now))
        desk.watch(60, 5)
        desk.put(alarm(since=desk.now, changed=desk.now))
    (minutes,) = escalated(desk)
    assert timedelta(minutes=10) <= NOW + timedelta(minutes=minutes) - ended <= timedelta(minutes=12)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_an_acknowledgement_that_was_taken_back_delays_no_escalation(tmp_path: Path, *, is_restarted: bool) -> None:
    """The alarm is the one that the alarm engine makes of it (tests/monitor/test_shared_alarms.py)."""
    desk = Desk(ESCALATING)
    desk.put(alarm())
    desk.watch(300, 5)
    desk.put(acknowledged(alarm(), desk.now))
    desk.watch(120, 5)
    if is_restarted:
        restart(desk, tmp_path)
    desk.put(alarm(changed=NOW, answered_by="anna@x:1", answered_at=desk.now))
    desk.watch(1200, 5)
    (minutes,) = escalated(desk)
    assert 10 <= minutes <= 10.5
    assert [message.status for message in desk.told] == [Status.FIRING, Status.ESCALATED]


def test_what_was_not_told_as_it_was_acknowledged_is_told_when_that_is_taken_back() -> None:
    desk = Desk()
    desk.put(alarm())
    desk.look()
    desk.put(acknowledged(alarm(), desk.now))
    assert desk.watch(60, 5) == []
    desk.put(alarm(answered_by="anna@x:1", answered_at=desk.now))
    assert [message.status for message in desk.watch(10)] == [Status.FIRING]


def test_an_acknowledgement_that_ran_out_while_nobody_watched_has_its_minutes_from_then_on(tmp_path: Path) -> None:
    desk = Desk(ESCALATING)
    desk.put(alarm())
    desk.watch(60, 5)
    given = desk.now
    restart(desk, tmp_path)  # before anybody saw the answer
    desk.now += timedelta(minutes=34)
    desk.put(alarm(changed=desk.now - timedelta(minutes=4), acknowledged_at=given, answered_at=given))
    desk.watch(355, 5)
    assert escalated(desk) == []
    desk.watch(10, 5)
    assert len(escalated(desk)) == 1


def restart(desk: Desk, folder: Path) -> None:
    """Continue from the state in the file."""
    spool = Spool(folder / "spool")
    spool.keep(Outcome(desk.state, tuple(desk.told)), desk.now)
    desk.state = spool.state(desk.now)
    spool.close()


def test_what_began_two_minutes_after_it_was_seen_last_is_the_same_fault_and_later_it_is_another() -> None:
    for seconds, told in ((120, []), (121, ["RESOLVED NO_INGEST ONE after 20 s", "CRIT NO_INGEST ONE"])):
        desk = Desk()
        desk.put(alarm())
        desk.watch(20)
        seen = desk.now
        desk.now += timedelta(hours=1)  # nobody watched
        desk.put(alarm(since=seen + timedelta(seconds=seconds)))
        assert titles(desk.watch(60, 5)) == told
