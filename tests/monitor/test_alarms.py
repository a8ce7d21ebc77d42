"""Alarms follow faults, and persons act on alarms: the states of ISA-18.2, one law a test."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from math import inf
from random import Random

import pytest

from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmCommand,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    AlarmTransition,
    BroadcastState,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    Episode,
    EventState,
    Finding,
    Grade,
    Ingest,
    IngestState,
    NotifyFault,
    Phase,
    QosState,
    Reading,
    Readings,
    Severity,
    Thresholds,
)
from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.alarms.ranking import urgent_first, worst_first
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.video import MAY_BE_RADIO
from livedeck.monitor.signal.series import merge
from monitor.alarm_stage import BLIND, RULES, WELL, Watcher, critical, finding, kinds, state
from monitor.stage import NOW, model, samples

QOS_STALE = Finding("QOS_STALE", Severity.CRITICAL, "no new sample", "an answer every few seconds")
ACKNOWLEDGED, UNACKNOWLEDGED, CLEARED = AlarmState.ACKNOWLEDGED, AlarmState.UNACKNOWLEDGED, AlarmState.CLEARED


def acknowledge(watcher: Watcher, kind: str, event: str = "one", by: str = "") -> None:
    def act(alarm: Alarm) -> Alarm | None:
        after = operator.acknowledge(alarm, watcher.now, RULES)
        return after and replace(after, answered_by=by)

    watcher.do(act, kind, event)


def shelve(watcher: Watcher, kind: str, minutes: float | None, *, on_air: bool = True) -> None:
    watcher.do(lambda alarm: operator.shelve(alarm, minutes, "known", watcher.now, on_air=on_air, limits=RULES), kind)


# An alarm follows its fault


@pytest.mark.parametrize(
    ("read", "silent", "is_told"),
    [(-2.0, 12.0, False), (3.9, 12.0, False), (4.0, 12.0, True), (-2.0, 29.9, False), (-2.0, 30.0, True)],
)
def test_a_lost_encoder_waits_for_a_look_at_the_event_that_may_be_completed(
    read: float, silent: float, is_told: bool
) -> None:
    """monitoring.md, "Delivery": the event was read `read` seconds after its last sample, `silent` seconds ago."""
    left = NOW - timedelta(seconds=silent)
    lost = state(critical("RECONNECTING", since=left), tally=BroadcastState.RECONNECTING)
    phase = replace(lost.phase, ingest=Ingest(IngestState.INTERRUPTED, since=left))
    found = replace(lost, phase=phase, as_of=left + timedelta(seconds=read))
    assert [alarm.kind for alarm in Watcher().look(found)] == ["RECONNECTING"] * is_told


def test_since_is_the_first_finding_and_the_words_are_the_latest() -> None:
    watcher = Watcher()
    watcher.look(state(finding("FPS_LOW")))
    (alarm,) = watcher.look(state(finding("FPS_LOW", actual="worse")), after=9)
    assert (alarm.since, alarm.actual, alarm.state) == (NOW, "worse", UNACKNOWLEDGED)
    assert watcher.transitions("FPS_LOW") == ["raised"]


def test_an_alarm_began_when_its_finding_did_but_never_in_the_future() -> None:
    begun = NOW - timedelta(seconds=40)
    old, new = critical(since=begun), finding("AUDIO_LOW", since=NOW + timedelta(seconds=40))
    assert [alarm.since for alarm in Watcher().look(state(old, new))] == [begun, NOW]


def test_what_nobody_acknowledged_stays_when_it_is_over_and_goes_when_it_is_acknowledged() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    (alarm,) = watcher.look(state(), after=10)
    assert alarm.state is AlarmState.RETURNED
    watcher.every(600, 24, state())
    assert kinds(watcher.shown) == ["BLACKOUT"]
    acknowledge(watcher, "BLACKOUT")
    assert (watcher.shown, kinds(watcher.inactive)) == ((), ["BLACKOUT"])
    assert watcher.transitions("BLACKOUT") == ["raised", "returned", "cleared"]


def test_what_was_acknowledged_is_done_when_it_is_over() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    acknowledge(watcher, "BLACKOUT")
    assert watcher.look(state(), after=10) == ()
    assert watcher.transitions("BLACKOUT") == ["raised", "acknowledged", "cleared"]


def test_a_cleared_alarm_is_listed_for_five_minutes() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    acknowledge(watcher, "BLACKOUT")
    watcher.look(state(), after=1)
    watcher.look(state(), after=299)
    assert kinds(watcher.inactive) == ["BLACKOUT"]
    watcher.look(state(), after=1)
    assert watcher.inactive == ()
    watcher.look(state(), after=300)
    assert watcher.engine.alarms == {}


def test_information_owes_nothing() -> None:
    watcher = Watcher()
    watcher.look(state(finding("UNKNOWN_STATUS", Severity.INFO)))
    assert (kinds(watcher.shown), watcher.alert_count) == (["UNKNOWN_STATUS"], 0)
    assert watcher.look(state(), after=5) == ()


def test_one_event_may_have_the_same_alarm_for_two_targets() -> None:
    first, second = (finding("RESTREAM_DOWN", target=target) for target in ("a", "b"))
    watcher = Watcher()
    assert len(watcher.look(state(first, second))) == 2
    watcher.look(state(second), after=20)
    assert watcher.alarm("RESTREAM_DOWN", target="a").state is AlarmState.RETURNED
    assert watcher.alarm("RESTREAM_DOWN", target="b").state is UNACKNOWLEDGED


def test_an_event_that_is_gone_has_no_fault_but_its_unacknowledged_critical_stays() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    (alarm,) = watcher.look(after=10)
    assert alarm.state is AlarmState.RETURNED


# What cannot be judged


def test_an_event_that_cannot_be_judged_keeps_its_alarms() -> None:
    watcher = Watcher()
    watcher.look(state(finding("FPS_LOW")))
    watcher.look(state(QOS_STALE, grade=Grade.STALE), after=20)
    seconds = {alarm.kind: (alarm.since - NOW).total_seconds() for alarm in watcher.shown}
    assert seconds == {"FPS_LOW": 0.0, "QOS_STALE": 20.0}


def test_an_alarm_that_was_open_before_the_platform_failed_stays_on_the_board() -> None:
    watcher = Watcher()
    watcher.look(state(critical("AUDIO_LOST")))
    rung = watcher.alert_count
    blind = state(critical("AUDIO_LOST"), finding("FPS_LOW"), grade=Grade.STALE)
    assert kinds(watcher.look(blind, after=40, link=replace(BLIND, since=watcher.now))) == ["API_BLIND", "AUDIO_LOST"]
    assert kinds(watcher.look(blind, after=60, link=replace(BLIND, since=watcher.now))) == ["API_BLIND", "AUDIO_LOST"]
    assert {alarm.kind: alarm.parent for alarm in watcher.inactive} == {"FPS_LOW": "API_BLIND"}
    assert watcher.alert_count == rung + 1
    assert watcher.transitions("AUDIO_LOST") == ["raised"]


def test_missing_samples_since_the_platform_failed_are_its_fault_and_older_ones_are_not() -> None:
    for since, shown in ((-10.0, ["API_BLIND"]), (-90.0, ["API_BLIND", "RECONNECTING"])):
        watcher, lost = Watcher(), critical("RECONNECTING", since=NOW + timedelta(seconds=since))
        watcher.look(state(lost, tally=BroadcastState.RECONNECTING))
        blind = state(lost, tally=BroadcastState.RECONNECTING, grade=Grade.STALE)
        assert kinds(watcher.look(blind, link=BLIND)) == shown


def test_silence_is_the_links_fault_while_the_link_is_in_trouble_or_just_back() -> None:
    silent = state(QOS_STALE, grade=Grade.STALE)
    back = replace(WELL, recovered_at=NOW - timedelta(seconds=5))
    for link in (replace(WELL, state=ConnectionState.FAILING), back):
        assert Watcher().look(silent, link=link) == ()
    assert len(Watcher().look(silent, link=back, after=5)) == 1


def test_silence_right_after_a_start_is_the_events_own() -> None:
    """A link that was never in trouble is not to blame, however young it is."""
    assert kinds(Watcher().look(state(QOS_STALE, grade=Grade.STALE))) == ["QOS_STALE"]


# The deck's own


@pytest.mark.parametrize(
    ("skew", "severity"), [(0.0, None), (3.0, Severity.WARNING), (-9.0, Severity.WARNING), (11.0, Severity.CRITICAL)]
)
def test_a_clock_that_is_off_is_an_alarm_of_the_deck(skew: float, severity: Severity | None) -> None:
    found = [(*alarm.key, alarm.severity) for alarm in Watcher().look(link=replace(WELL, skew=skew))]
    assert found == ([("", "CLOCK_SKEW", "", severity)] if severity else [])


def test_a_platform_that_asks_for_fewer_calls_is_a_warning_of_the_deck() -> None:
    limited = replace(
        WELL, state=ConnectionState.FAILING, reason="too many requests", problem=ConnectionProblem.RATE_LIMITED
    )
    found = [(alarm.kind, alarm.severity) for alarm in Watcher().look(link=limited)]
    assert found == [("RATE_LIMITED", Severity.WARNING)]


def test_a_history_that_fails_is_a_warning_of_the_deck_for_as_long_as_it_fails() -> None:
    watcher = Watcher()
    (alarm,) = watcher.look(fault="disk full: history.db")
    assert (alarm.kind, alarm.severity, alarm.actual) == ("HISTORY_FAILED", Severity.WARNING, "disk full: history.db")
    assert [alarm.state for alarm in watcher.look(after=5)] == [AlarmState.RETURNED]


@pytest.mark.parametrize(("is_down", "severity"), [(True, Severity.CRITICAL), (False, Severity.WARNING)])
def test_notifications_that_a_target_does_not_take_are_an_alarm_for_as_long_as_that_is_so(
    severity: Severity, *, is_down: bool
) -> None:
    engine = AlarmEngine(Thresholds())
    engine.step(MonitorState((), WELL, NOW, notify_fault=NotifyFault("ops takes nothing", is_down)))
    (alarm,) = engine.alarms.values()
    assert (alarm.kind, alarm.severity, alarm.actual) == ("NOTIFY_FAILING", severity, "ops takes nothing")
    engine.step(MonitorState((), WELL, NOW))
    assert [alarm.state for alarm in engine.alarms.values()] == [AlarmState.RETURNED]


# Acknowledgement


@pytest.mark.parametrize(("severity", "seconds"), [(Severity.CRITICAL, 300), (Severity.WARNING, 1800)])
def test_an_acknowledgement_is_silent_until_it_runs_out(severity: Severity, seconds: int) -> None:
    watcher, bad = Watcher(), state(finding("AUDIO_LOST", severity))
    watcher.look(bad)
    acknowledge(watcher, "AUDIO_LOST")
    watcher.every((seconds - 1) / 10, 10, bad)
    assert (watcher.alarm("AUDIO_LOST").state, watcher.alert_count) == (ACKNOWLEDGED, 1)
    watcher.look(bad, after=1)
    assert (watcher.alarm("AUDIO_LOST").state, watcher.alert_count) == (UNACKNOWLEDGED, 2)
    assert watcher.transitions("AUDIO_LOST")[-1] == "acknowledgement ran out"


@pytest.mark.parametrize("worse", [critical("PACKET_LOSS"), finding("PACKET_LOSS", stage=1)], ids=["severity", "stage"])
def test_what_gets_worse_asks_again(worse: Finding) -> None:
    watcher = Watcher()
    watcher.look(state(finding("PACKET_LOSS")))
    acknowledge(watcher, "PACKET_LOSS")
    watcher.look(state(worse), after=5)
    assert (watcher.alarm("PACKET_LOSS").state, watcher.alert_count) == (UNACKNOWLEDGED, 2)
    assert watcher.transitions("PACKET_LOSS") == ["raised", "acknowledged", "raised"]


def test_what_gets_better_stays_acknowledged() -> None:
    watcher = Watcher()
    watcher.look(state(critical("PACKET_LOSS", stage=2)))
    acknowledge(watcher, "PACKET_LOSS")
    (alarm,) = watcher.look(state(finding("PACKET_LOSS")), after=5)
    assert (alarm.state, alarm.severity) == (ACKNOWLEDGED, Severity.WARNING)
    assert watcher.transitions("PACKET_LOSS")[-1] == "severity changed"


def test_a_warning_that_becomes_critical_rings_again_though_nobody_acknowledged_it() -> None:
    watcher = Watcher()
    watcher.look(state(finding("PACKET_LOSS")))
    watcher.look(state(critical("PACKET_LOSS")), after=5)
    assert (watcher.alert_count, watcher.transitions("PACKET_LOSS")) == (2, ["raised", "severity changed"])


def test_there_is_nothing_to_acknowledge_twice() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    acknowledge(watcher, "BLACKOUT")
    assert operator.acknowledge(watcher.alarm("BLACKOUT"), watcher.now, RULES) is None


# Shelving


def test_a_shelf_ends_by_itself_and_what_is_still_there_asks_again() -> None:
    watcher, bad = Watcher(), state(critical())
    watcher.look(bad)
    shelve(watcher, "BLACKOUT", 15)
    watcher.every(89, 10, bad)
    assert (watcher.shown, [alarm.reason for alarm in watcher.inactive]) == ((), ["known"])
    (alarm,) = watcher.look(bad, after=10)
    assert (alarm.state, alarm.reason, watcher.alert_count) == (UNACKNOWLEDGED, "", 2)
    assert watcher.transitions("BLACKOUT") == ["raised", "shelved", "unshelved"]


def test_an_end_that_came_by_itself_was_done_by_nobody() -> None:
    """Whoever acknowledged it while it lasted did not end it."""
    watcher = Watcher()
    watcher.look(state(critical()))
    acknowledge_as(watcher, "anna@regie:7")
    watcher.look(state(critical()), after=1)
    watcher.look(state(), after=60)
    assert [(change.transition, change.actor) for change in watcher.changes[1:]] == [
        (AlarmTransition.ACKNOWLEDGED, "anna@regie:7"),
        (AlarmTransition.CLEARED, ""),
    ]
    assert [entry.actor for entry in watcher.alarm("BLACKOUT").timeline] == ["", "anna@regie:7", ""]


def test_who_acknowledges_what_is_over_closes_it() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    watcher.look(state(), after=60)
    acknowledge_as(watcher, "anna@regie:7")
    watcher.look(state(), after=1)
    (end,) = (change for change in watcher.changes if change.transition is AlarmTransition.CLEARED)
    assert end.actor == "anna@regie:7"


def acknowledge_as(watcher: Watcher, actor: str) -> None:
    """Acknowledge the blackout as that person."""
    command = AlarmCommand(AlarmKey("one", "BLACKOUT"), ActionKind.ACKNOWLEDGE, actor=actor)
    watcher.engine.act(command, watcher.now, on_air=True)


def test_a_fault_that_comes_back_stays_on_its_timed_shelf() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    shelve(watcher, "BLACKOUT", 15)
    watcher.look(state(), after=60)
    assert watcher.look(state(critical()), after=60) == ()


def test_a_one_shot_shelf_ends_with_the_fault() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    shelve(watcher, "BLACKOUT", None)
    assert watcher.look(state(critical()), after=1800) == ()
    assert watcher.look(state(), after=60) == ()
    assert [alarm.state for alarm in watcher.inactive] == [AlarmState.CLEARED]
    assert kinds(watcher.look(state(critical()), after=60)) == ["BLACKOUT"]


@pytest.mark.parametrize("minutes", [None, 600])
def test_no_shelf_on_air_is_older_than_an_hour(minutes: float | None) -> None:
    """Whenever it was filled: what was shelved before the show does not deafen it."""
    watcher, waiting = Watcher(), state(critical(), tally=BroadcastState.LATE)
    watcher.look(waiting)
    shelve(watcher, "BLACKOUT", minutes, on_air=False)
    assert watcher.look(waiting, after=7000) == ()
    assert kinds(watcher.look(state(critical()), after=1)) == ["BLACKOUT"]


@pytest.mark.parametrize(
    ("minutes", "reason", "words"),
    [
        (61, "known", "On air, shelve for at most 60 min"),
        (0, "known", "more than 0 minutes"),
        (float("nan"), "known", "more than 0 minutes"),
        (5, " ", "A reason is required"),
    ],
)
def test_a_shelf_that_cannot_be_is_refused_in_words(minutes: float, reason: str, words: str) -> None:
    watcher = Watcher()
    (alarm,) = watcher.look(state(critical()))
    with pytest.raises(AlarmRefused, match=words):
        operator.shelve(alarm, minutes, reason, watcher.now, on_air=True, limits=RULES)


def test_what_is_over_cannot_be_shelved_until_it_is_over() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    (alarm,) = watcher.look(state(), after=5)
    with pytest.raises(AlarmRefused, match="has cleared"):
        operator.shelve(alarm, None, "known", watcher.now, on_air=False, limits=RULES)


def test_out_of_service_lasts_until_somebody_ends_it() -> None:
    watcher, bad = Watcher(), state(finding("AUDIO_LOW"))
    watcher.look(bad)
    watcher.do(lambda alarm: operator.take_out_of_service(alarm, "no sound by intent", watcher.now), "AUDIO_LOW")
    watcher.every(3600, 24, bad, state())
    assert (watcher.shown, [alarm.state for alarm in watcher.inactive]) == ((), [AlarmState.OUT_OF_SERVICE])
    watcher.do(lambda alarm: operator.put_in_service(alarm, watcher.now), "AUDIO_LOW")
    assert kinds(watcher.look(bad)) == ["AUDIO_LOW"]
    with pytest.raises(AlarmRefused, match="AUDIO_LOW is not out of service"):
        operator.put_in_service(watcher.alarm("AUDIO_LOW"), watcher.now)


def test_a_note_stays_with_its_alarm_as_plain_text() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    watcher.do(lambda alarm: operator.add_note(alarm, "cable\x1b[31m\nswapped"), "BLACKOUT")
    (alarm,) = watcher.look(state(), after=5)
    assert alarm.note == "cable[31m swapped"
    assert watcher.transitions("BLACKOUT") == ["raised", "noted", "returned"]


# Coming again and again


def come_and_go(watcher: Watcher, times: int, *, on: float = 10, off: float = 20) -> None:
    for _ in range(times):
        watcher.look(state(finding("FPS_LOW")), after=off)
        watcher.look(state(), after=on)


def test_the_third_time_in_two_minutes_is_one_flapping_alarm_and_three_bells_at_most() -> None:
    watcher = Watcher()
    come_and_go(watcher, 2)
    assert not watcher.alarm("FPS_LOW").flapping
    come_and_go(watcher, 20)
    alarm = watcher.alarm("FPS_LOW")
    assert (alarm.flapping, alarm.state, watcher.alert_count) == (True, UNACKNOWLEDGED, 3)
    assert len(watcher.shown) == 1


def test_flapping_ends_two_minutes_after_it_last_came() -> None:
    watcher = Watcher()
    come_and_go(watcher, 3)
    watcher.look(state(), after=109)
    assert watcher.alarm("FPS_LOW").is_ongoing
    watcher.look(state(), after=1)
    assert (watcher.alarm("FPS_LOW").flapping, watcher.alarm("FPS_LOW").state) == (False, AlarmState.RETURNED)


def test_flapping_that_was_acknowledged_is_silent() -> None:
    watcher = Watcher()
    come_and_go(watcher, 4)
    acknowledge(watcher, "FPS_LOW")
    come_and_go(watcher, 5)
    assert (watcher.alarm("FPS_LOW").state, watcher.alert_count) == (ACKNOWLEDGED, 3)


def test_a_warning_that_comes_four_times_in_ten_minutes_is_critical() -> None:
    watcher = Watcher()
    come_and_go(watcher, 3, off=130)
    assert watcher.alarm("FPS_LOW").severity is Severity.WARNING
    come_and_go(watcher, 1, off=130)
    alarm = watcher.alarm("FPS_LOW")
    assert (alarm.severity, alarm.escalated, alarm.flapping, alarm.episodes) == (Severity.CRITICAL, True, False, 4)


def test_more_than_ten_alarms_in_ten_minutes_are_a_flood() -> None:
    watcher = Watcher()
    watcher.look(*(state(finding("FPS_LOW"), name=str(number)) for number in range(10)))
    assert not watcher.engine.is_flood(watcher.now)
    watcher.look(*(state(finding("FPS_LOW"), name=str(number)) for number in range(11)), after=5)
    assert watcher.engine.is_flood(watcher.now)
    assert not watcher.engine.is_flood(watcher.now + timedelta(minutes=10))


def test_one_alarm_that_comes_and_goes_and_an_incident_of_forty_are_no_flood() -> None:
    watcher = Watcher()
    for _ in range(15):
        watcher.look(state(finding("FPS_LOW")), after=20)
        watcher.look(state(), after=20)
        assert not watcher.engine.is_flood(watcher.now)
    watcher.look(*map(calm, names(40)), after=5)
    watcher.look(*(gone(name, 606) if name < "event-2" else calm(name) for name in names(40)), after=5)
    watcher.every(2, 60, *(gone(name, 606) for name in names(40)))
    assert kinds(watcher.shown) == ["PLATFORM", "FPS_LOW"]
    assert not watcher.engine.is_flood(watcher.now)


# Parents


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        ("NO_INGEST", "VIDEO_LOW"),
        ("RECONNECTING", "PACKET_LOSS"),
        ("BLACKOUT", "FPS_COLLAPSE"),
        ("VIDEO_STARVED", "VIDEO_LOW"),
        ("FPS_COLLAPSE", "FPS_LOW"),
        ("KEYFRAME_SEVERE", "KEYFRAME_DRIFT"),
    ],
)
def test_a_parent_hides_its_children_of_the_same_event(parent: str, child: str) -> None:
    watcher = Watcher()
    other = state(finding(child), name="two")
    shown = watcher.look(state(critical(parent), finding(child)), other)
    assert [(alarm.event_id, alarm.kind) for alarm in shown] == [("one", parent), ("two", child)]
    assert [(alarm.kind, alarm.parent) for alarm in watcher.inactive] == [(child, parent)]
    assert watcher.alert_count == 2


PICTURE_SIGNS = [kind.name for kind in ALARM_KINDS.values() if kind.is_of_picture]


@pytest.mark.parametrize(("mild", "grave"), [*permutations(PICTURE_SIGNS, 2)])
def test_of_two_signs_of_one_fault_the_graver_is_on_the_board(mild: str, grave: str) -> None:
    """monitoring.md, "Suppression": a milder parent in the table does not hide it, or the two would hide each other."""
    watcher = Watcher()
    early = finding(mild, since=NOW)
    watcher.look(state(early))
    for _ in range(3):
        watcher.look(state(early, critical(grave, since=NOW + timedelta(seconds=5))), after=10)
    assert kinds(watcher.shown) == [grave]


def test_a_blackout_hides_nothing_of_the_sound() -> None:
    assert len(Watcher().look(state(critical(), critical("AUDIO_LOST")))) == 2


def test_an_encoder_that_came_and_went_and_is_gone_asks_as_its_window_runs_out() -> None:
    """DROPOUTS speaks for short silences; while no sample comes it stands for ever, and would hide that this one is
    none of them."""
    watcher, since = Watcher(), NOW - timedelta(seconds=100)

    def look(stage: int, after: float) -> Alarm:
        away = critical("RECONNECTING", since=NOW, stage=stage)
        watcher.look(state(finding("DROPOUTS", since=since), away), after=after)
        return watcher.alarm("RECONNECTING")

    assert look(0, 5).state is AlarmState.SUPPRESSED
    assert look(0, 200).state is AlarmState.SUPPRESSED
    assert look(1, 100).state is UNACKNOWLEDGED
    assert look(3, 300).state is UNACKNOWLEDGED
    assert watcher.transitions("RECONNECTING")[:2] == ["suppressed", "no longer suppressed"]


def test_what_outlives_its_parent_asks_then_and_what_does_not_was_never_there() -> None:
    watcher = Watcher()
    watcher.look(state(critical(), finding("FPS_LOW"), finding("VIDEO_LOW")))
    watcher.look(state(finding("FPS_LOW")), after=20)
    assert kinds(watcher.shown) == ["BLACKOUT"], "the signs of one fault do not end together"
    watcher.look(state(finding("FPS_LOW")), after=21)
    assert [(alarm.kind, alarm.state) for alarm in watcher.shown] == [
        ("BLACKOUT", AlarmState.RETURNED),
        ("FPS_LOW", UNACKNOWLEDGED),
    ]
    assert watcher.transitions("FPS_LOW") == ["suppressed", "no longer suppressed"]


def put_away(watcher: Watcher, way: ActionKind, minutes: float | None = 30) -> None:
    """Shelve the FPS_COLLAPSE of the one event, or take it out of service."""
    command = AlarmCommand(AlarmKey("one", "FPS_COLLAPSE"), way, minutes=minutes, text="known", actor="anna@regie:1")
    assert watcher.engine.act(command, watcher.now, on_air=True)


def collapsed(*others: Finding, since: float = 0.0) -> EventState:
    """An event whose frame rate collapsed in that second, and what else is wrong with it."""
    return state(critical("FPS_COLLAPSE", since=NOW + timedelta(seconds=since)), *others)


@pytest.mark.parametrize(
    ("way", "words"),
    [(ActionKind.SHELVE, "shelved with FPS_COLLAPSE"), (ActionKind.OUT_OF_SERVICE, "out of service with FPS_COLLAPSE")],
)
def test_a_cause_that_is_put_away_takes_its_symptoms_along(way: ActionKind, words: str) -> None:
    """Those that it hid, and those that come to it later; some were acknowledged, some rang before."""
    watcher, symptoms = Watcher(), [finding("FPS_LOW"), finding("PACKET_LOSS", since=NOW)]
    watcher.look(state(finding("PACKET_LOSS", since=NOW)))
    acknowledge(watcher, "PACKET_LOSS")
    watcher.look(collapsed(finding("PACKET_LOSS", since=NOW)), after=5)
    rung = watcher.alert_count
    put_away(watcher, way)
    for seconds in (5, 5, 600):
        assert watcher.look(collapsed(*symptoms), after=seconds) == ()
    assert {alarm.kind: alarm.reason for alarm in watcher.inactive} == {
        "FPS_COLLAPSE": "known",
        "FPS_LOW": words,
        "PACKET_LOSS": words,
    }
    assert watcher.alert_count == rung


def test_only_this_can_be_shelved_too() -> None:
    watcher, bad = Watcher(), collapsed(finding("FPS_LOW"))
    watcher.look(bad)
    put_away(watcher, ActionKind.SHELVE_ALONE)
    assert kinds(watcher.look(bad, after=5)) == ["FPS_LOW"]
    assert (watcher.alarm("FPS_LOW").state, watcher.alert_count) == (UNACKNOWLEDGED, 2)


def test_a_symptom_stays_hidden_after_its_cause_has_cleared_until_the_shelf_ends_and_is_new_then() -> None:
    watcher = Watcher()
    watcher.look(collapsed(finding("FPS_LOW")))
    put_away(watcher, ActionKind.SHELVE)
    watcher.look(collapsed(finding("FPS_LOW")), after=5)
    for seconds in (60, 60, 1600):
        assert watcher.look(state(finding("FPS_LOW")), after=seconds) == ()
    (alarm,) = watcher.look(state(finding("FPS_LOW")), after=80)
    assert (alarm.kind, alarm.state, alarm.reason, watcher.alert_count) == ("FPS_LOW", UNACKNOWLEDGED, "", 2)


@pytest.mark.parametrize(("seconds", "shown"), [(55.0, []), (65.0, ["FPS_LOW"])])
def test_what_begins_over_a_minute_after_the_cause_has_cleared_is_another_fault(
    seconds: float, shown: list[str]
) -> None:
    watcher = Watcher()
    watcher.look(collapsed())
    put_away(watcher, ActionKind.SHELVE)
    watcher.look(state(), after=10)
    later = finding("FPS_LOW", since=NOW + timedelta(seconds=10 + seconds))
    assert kinds(watcher.look(state(later), after=seconds)) == shown
    assert kinds(watcher.look(state(later), after=300)) == shown


def test_a_symptom_that_gets_graver_than_its_cause_was_shows() -> None:
    """However grave the cause has become since."""
    watcher, mild = Watcher(), finding("FPS_COLLAPSE", since=NOW)
    watcher.look(state(mild, finding("FPS_LOW")))
    put_away(watcher, ActionKind.SHELVE)
    assert watcher.look(state(mild, finding("FPS_LOW")), after=5) == ()
    assert kinds(watcher.look(state(mild, critical("FPS_LOW")), after=5)) == ["FPS_LOW"]
    assert kinds(watcher.look(collapsed(critical("FPS_LOW")), after=5)) == ["FPS_LOW"]


def test_a_cause_that_returns_on_its_shelf_takes_nothing_out_of_sight() -> None:
    watcher, alone = Watcher(), state(finding("FPS_LOW", since=NOW + timedelta(seconds=100)))
    watcher.look(collapsed())
    put_away(watcher, ActionKind.SHELVE)
    watcher.look(state(), after=10)
    assert kinds(watcher.look(alone, after=100)) == ["FPS_LOW"]
    returned = state(*alone.assessment.findings, critical("FPS_COLLAPSE", since=NOW + timedelta(seconds=115)))
    assert kinds(watcher.look(returned, after=10)) == ["FPS_LOW"]


def test_unshelving_brings_all_back_unread() -> None:
    """While the cause lasts it speaks for its symptoms; once it has cleared they speak for themselves."""
    bad = collapsed(finding("FPS_LOW"))
    for is_over, shown in ((False, [("FPS_COLLAPSE", UNACKNOWLEDGED)]), (True, [("FPS_LOW", UNACKNOWLEDGED)])):
        watcher = Watcher()
        watcher.look(state(finding("FPS_LOW")))
        acknowledge(watcher, "FPS_LOW")
        watcher.look(bad, after=5)
        put_away(watcher, ActionKind.SHELVE)
        now = state(finding("FPS_LOW")) if is_over else bad
        watcher.look(now, after=60)
        watcher.look(now, after=60)
        put_away(watcher, ActionKind.UNSHELVE)
        assert [(alarm.kind, alarm.state) for alarm in watcher.look(now, after=5)] == shown


def test_a_parent_that_comes_off_its_shelf_hides_its_children_at_once() -> None:
    watcher, bad = Watcher(), collapsed(finding("FPS_LOW"))
    watcher.look(state(finding("FPS_LOW")))
    watcher.look(bad, after=5)
    put_away(watcher, ActionKind.SHELVE_ALONE, 15)
    assert kinds(watcher.look(bad, after=5)) == ["FPS_LOW"]
    assert kinds(watcher.look(bad, after=900)) == ["FPS_COLLAPSE"]


def test_what_remains_of_an_incident_that_was_shelved_and_cleared_speaks_for_itself() -> None:
    watcher, bad = watching(*names(3)), [gone(name) for name in names(3)]
    watcher.look(*bad)
    command = AlarmCommand(AlarmKey("", "PLATFORM"), ActionKind.SHELVE, minutes=30, text="known", actor="anna@regie:1")
    assert watcher.engine.act(command, watcher.now, on_air=True)
    assert watcher.look(*bad, after=60) == ()
    left = bad[0], calm("event-1"), calm("event-2")
    assert watcher.look(*left, after=5) == ()
    assert [alarm.event_id for alarm in watcher.look(*left, after=21)] == ["event-0"]


@pytest.mark.parametrize(
    ("way", "is_hidden"),
    [(ActionKind.SHELVE, True), (ActionKind.OUT_OF_SERVICE, True), (ActionKind.SHELVE_ALONE, False)],
)
def test_an_incident_that_is_put_away_takes_its_members_along_and_those_that_join(
    way: ActionKind, *, is_hidden: bool
) -> None:
    watcher, everyone = watching(*names(4)), [gone(name) for name in names(4)]
    watcher.look(*everyone[:3], calm("event-3"))
    command = AlarmCommand(AlarmKey("", "PLATFORM"), way, minutes=30, text="known", actor="anna@regie:1")
    assert watcher.engine.act(command, watcher.now, on_air=True)
    for states in ((*everyone[:3], calm("event-3")), everyone, everyone):
        shown = watcher.look(*states, after=20)
        assert not shown if is_hidden else {alarm.kind for alarm in shown} == {"RECONNECTING"}
    assert len(shown) == (0 if is_hidden else 4)


def test_of_several_parents_the_widest_hides() -> None:
    lost = [finding("PACKET_LOSS"), critical("RECONNECTING")]
    watcher = Watcher()
    watcher.look(*(state(*lost, name=name, tally=BroadcastState.RECONNECTING) for name in names(3)))
    assert {alarm.parent for alarm in watcher.inactive} == {"PLATFORM"}
    watcher.look(*watcher.states, after=5, link=replace(BLIND, as_of=watcher.now))
    assert {alarm.parent for alarm in watcher.inactive} == {"API_BLIND"}


def test_an_acknowledgement_outlives_a_parent() -> None:
    watcher = Watcher()
    watcher.look(state(finding("FPS_LOW")))
    acknowledge(watcher, "FPS_LOW")
    watcher.look(state(critical(), finding("FPS_LOW")), after=5)
    watcher.look(state(finding("FPS_LOW")), after=20)
    watcher.look(state(finding("FPS_LOW")), after=21)
    assert (watcher.alarm("FPS_LOW").state, watcher.alert_count) == (ACKNOWLEDGED, 2)


# The platform


def names(count: int) -> list[str]:
    return [f"event-{number}" for number in range(count)]


def calm(name: str) -> EventState:
    return state(name=name)


def watching(*events: str) -> Watcher:
    """Return a watcher that has seen these events without faults."""
    watcher = Watcher()
    watcher.look(*map(calm, events))
    return watcher


def gone(name: str, after: float = 0.0) -> EventState:
    return state(
        critical("RECONNECTING", since=NOW + timedelta(seconds=after)), name=name, tally=BroadcastState.RECONNECTING
    )


def test_three_events_and_half_of_those_on_air_within_half_a_minute_are_one_incident() -> None:
    bad, well = (
        [gone(name, index * 15.0) for index, name in enumerate(names(3))],
        map(calm, ("calm-0", "calm-1", "calm-2")),
    )
    watcher = watching(*names(3))
    (alarm,) = watcher.look(*bad, *well, after=60)
    assert (alarm.kind, alarm.affects, alarm.since) == ("PLATFORM", tuple(names(3)), NOW)
    assert alarm.actual == "3 of 6 events on air: RECONNECTING"
    assert {alarm.parent for alarm in watcher.inactive} == {"PLATFORM"}
    assert watcher.alert_count == 1


@pytest.mark.parametrize(("expected", "is_incident"), [("good", True), (f"video over 50k{MAY_BE_RADIO}", False)])
def test_pictures_that_come_and_go_are_an_incident_and_sound_without_a_picture_is_none(
    expected: str, is_incident: bool
) -> None:
    watcher = watching(*names(3))
    watcher.look(*(state(replace(finding("BLACKOUT"), expected=expected), name=name) for name in names(3)), after=60)
    watcher.every(5, 4, *watcher.states)
    assert ("PLATFORM" in kinds(watcher.shown)) is is_incident


def test_an_incident_leaves_an_older_alarm_of_its_members_on_the_board() -> None:
    """Also where a member of the incident hides the alarm, and while that member waits for the incident."""
    watcher, mute = watching(*names(3)), critical("AUDIO_LOST", since=NOW)
    watcher.look(state(mute, name="event-0"), calm("event-1"), calm("event-2"), after=10)
    watcher.look(state(mute, name="event-0"), calm("event-1"), calm("event-2"), after=10)
    lost = [gone(name, 40) for name in names(3)]
    first = state(mute, lost[0].assessment.findings[0], name="event-0", tally=BroadcastState.RECONNECTING)
    for states in ((first, calm("event-1"), calm("event-2")), (first, *lost[1:]), (first, *lost[1:])):
        watcher.look(*states, after=15)
        assert watcher.alarm("AUDIO_LOST", "event-0").state is UNACKNOWLEDGED
    assert kinds(watcher.shown) == ["PLATFORM", "AUDIO_LOST"]
    assert watcher.transitions("AUDIO_LOST", "event-0") == ["raised"]


SHARES = [
    ([{}, {}, {}], [], "Every event on air failed", "call its support"),
    (
        [{"rtmp_link": "rtmp://a.example/x/key-1"}] * 3,
        [{"rtmp_link": "rtmp://b.example/x/key-2"}],
        "a.example",
        "support",
    ),
    ([{"rtmp_link": "rtmp://a.example/x"}] * 3, [{}], "Unknown", "Ask two sites"),
    ([{"parent_id": "p1"}] * 3, [{"parent_id": "p2"}], "project p1", "Call the site of project p1"),
    ([{"parent_id": "p1"}] * 3, [{"parent_id": "p1"}], "Unknown", "Ask two sites"),
]


@pytest.mark.parametrize(("failed", "well", "cause", "advice"), SHARES)
def test_an_incident_says_what_its_members_share_and_whom_to_call(
    failed: list[dict[str, str]], well: list[dict[str, str]], cause: str, advice: str
) -> None:
    bad = [_with(gone(f"event-{number}"), fields) for number, fields in enumerate(failed)]
    others = [_with(calm(f"calm-{number}"), fields) for number, fields in enumerate(well)]
    watcher = watching(*(event.id for event in (*bad, *others)))
    (alarm,) = watcher.look(*bad, *others, after=60)
    assert alarm.kind == "PLATFORM"
    assert cause in alarm.diagnosis.cause
    assert advice in alarm.diagnosis.advice
    assert "key-" not in repr(alarm.diagnosis)


def test_restreams_of_one_name_that_fail_together_are_the_fault_of_that_platform() -> None:
    down = [
        state(critical("RESTREAM_DOWN", since=NOW, target="r", target_name="Video share"), name=name)
        for name in names(3)
    ]
    watcher = watching(*names(3), "calm")
    (alarm,) = watcher.look(*down, calm("calm"), after=60)
    assert "Each failed restream is named Video share" in alarm.diagnosis.cause
    assert "Call the support of Video share" in alarm.diagnosis.advice


def _with(event: EventState, fields: dict[str, str]) -> EventState:
    return replace(event, event=model(id=event.id, **fields))


@pytest.mark.parametrize(
    ("bad", "calm", "apart"), [(2, 0, 0.0), (3, 4, 0.0), (3, 0, 31.0)], ids=["two", "less than half", "too far apart"]
)
def test_less_than_that_is_none(bad: int, calm: int, apart: float) -> None:
    faulty = [gone(name, index * apart) for index, name in enumerate(names(bad))]
    states = *faulty, *(state(name=f"calm-{n}") for n in range(calm))
    watcher = watching(*names(bad))
    watcher.look(*states, after=90)
    assert kinds(watcher.look(*states, after=5)) == ["RECONNECTING"] * bad


def test_who_fails_soon_after_joins_the_incident_and_that_is_no_news() -> None:
    watcher = watching(*names(5))
    bad = [gone(name, 6.0 * index) for index, name in enumerate(names(5))]
    watcher.look(*bad[:3], state(name="event-3"), state(name="event-4"), after=60)
    acknowledge(watcher, "PLATFORM", "")
    (alarm,) = watcher.look(*bad, after=40)
    assert (len(alarm.affects), alarm.state, watcher.alert_count) == (5, ACKNOWLEDGED, 1)


def test_a_second_coincidence_joins_the_incident_and_it_asks_again() -> None:
    """Its members are the incident's from then on; while they may become that, they are not announced."""
    first, spared = [gone(name) for name in names(4)], [state(name=f"late-{number}") for number in range(4)]
    watcher = watching(*names(4), *(event.id for event in spared))
    watcher.look(*first, *spared, after=1)
    acknowledge(watcher, "PLATFORM", "")
    two = [gone(f"late-{number}", 100) for number in range(2)]
    (alarm,) = watcher.look(*first, *two, *spared[2:], after=110)
    assert (alarm.kind, alarm.state) == ("PLATFORM", ACKNOWLEDGED)
    all_gone = *first, *two, gone("late-2", 105), gone("late-3", 105)
    (alarm,) = watcher.look(*all_gone, after=4)
    assert (len(alarm.affects), alarm.state, watcher.alert_count) == (8, UNACKNOWLEDGED, 2)
    watcher.every(30, 20, *all_gone)
    assert (kinds(watcher.shown), watcher.alert_count) == (["PLATFORM"], 2)


def test_an_incident_tells_who_joined_and_left_it_and_who_answered_when() -> None:
    watcher = Watcher()

    def look(*bad: int, after: float = 0.0) -> None:
        states = [(gone if number in bad else calm)(f"event-{number}") for number in range(9)]
        named = (replace(row, event=model(id=row.id, name=row.id.title())) for row in states)
        watcher.look(*named, after=after)

    look(0, 1, 2, 3, 4, 5, 6)
    look(0, 1, 2, 3, 4, 5, 6, 7, after=3)
    acknowledge(watcher, "PLATFORM", "", by="anna@regie:1")
    look(0, 4, 5, 6, 7, after=4)
    look(after=5)
    alarm = watcher.alarm("PLATFORM", "")
    assert [((entry.at - NOW).total_seconds(), entry.text, entry.actor) for entry in alarm.timeline] == [
        (0, "raised", ""),
        (0, "joined: Event-0, Event-1, Event-2, Event-3, Event-4 and 2 more", ""),
        (3, "joined: Event-7", ""),
        (3, "acknowledged", "anna@regie:1"),
        (7, "left: Event-1, Event-2, Event-3", ""),
        (12, "cleared", "anna@regie:1"),
    ]


def test_another_occurrence_has_a_timeline_of_its_own() -> None:
    watcher = Watcher()
    for after in (0, 300):
        watcher.look(state(critical()), after=after)
        watcher.look(state(), after=20)
        acknowledge(watcher, "BLACKOUT")
    told = [entry.text for entry in watcher.alarm("BLACKOUT").timeline]
    assert told == ["raised", "cleared, not acknowledged", "cleared"]


@pytest.mark.parametrize("count", [3, 40])
def test_no_bell_of_a_member_is_rung_before_the_incident_is_known(count: int) -> None:
    """However they come in, one after the other or at once, within the five seconds in which each is asked."""
    for seed in range(20):
        random, watcher = Random(seed), Watcher()
        heard = {name: random.uniform(0, 4.9) for name in names(count)}
        for moment in (0.0, *sorted(heard.values()), 4.95, 5.0, 5.5, 10.0, 60.0):
            after = max(0.0, moment - (watcher.now - NOW).total_seconds())
            watcher.look(*(gone(name) if at <= moment else state(name=name) for name, at in heard.items()), after=after)
        assert (kinds(watcher.shown), watcher.alert_count) == (["PLATFORM"], 1)


def test_a_bell_that_waits_rings_once_if_no_incident_comes_and_not_if_somebody_answered() -> None:
    calm = [state(name=name) for name in names(3)[1:]]
    watcher = Watcher()
    watcher.look(gone("event-0"), *calm)
    assert (watcher.alert_count, watcher.engine.seconds_to_announcement(watcher.now)) == (0, 5.0)
    watcher.every(1, 10, gone("event-0"), *calm)
    assert (watcher.alert_count, watcher.engine.seconds_to_announcement(watcher.now)) == (1, inf)
    quick = Watcher()
    quick.look(gone("event-0"), *calm)
    quick.do(lambda alarm: operator.acknowledge(alarm, quick.now, RULES), "RECONNECTING", "event-0")
    quick.every(1, 10, gone("event-0"), *calm)
    assert quick.alert_count == 0
    alone = Watcher()
    alone.look(gone("event-0"), *calm[:1])
    assert alone.alert_count == 1, "two events make no incident: nothing is waited for"


def test_an_incident_rings_again_when_its_acknowledgement_runs_out_and_at_no_other_time() -> None:
    watcher = Watcher()
    bad = [gone(name) for name in names(5)]
    watcher.look(*bad)
    watcher.every(10, 40, *bad)
    assert watcher.alert_count == 1
    acknowledge(watcher, "PLATFORM", "")
    watcher.every(10, 29, *bad)
    assert watcher.alert_count == 1
    watcher.every(10, 3, *bad)
    assert (watcher.alert_count, watcher.alarm("PLATFORM", "").state) == (2, UNACKNOWLEDGED)


def test_a_member_that_came_back_while_its_incident_lasts_owes_nothing() -> None:
    watcher = Watcher()
    watcher.look(gone("event-0"), *(state(name=name) for name in names(9)[1:]))
    watcher.look(*(gone(name) for name in names(9)), after=3)
    watcher.look(state(name="event-0"), *(gone(name) for name in names(9)[1:]), after=30)
    assert (kinds(watcher.shown), watcher.alarm("RECONNECTING", "event-0").state) == (["PLATFORM"], CLEARED)


def test_an_incident_hides_nothing_of_the_events_that_it_does_not_list() -> None:
    bad = [*(gone(name) for name in names(3)), gone("alone", 200.0)]
    watcher = watching(*names(3), "alone")
    watcher.look(*bad, after=210)
    shown = watcher.look(*bad, after=5)
    assert [(alarm.kind, alarm.event_id) for alarm in shown] == [("PLATFORM", ""), ("RECONNECTING", "alone")]


def test_an_incident_ends_when_fewer_remain_and_they_speak_for_themselves() -> None:
    watcher = Watcher()
    bad = [gone(name) for name in names(3)]
    watcher.look(*bad)
    acknowledge(watcher, "PLATFORM", "")
    left = bad[0], state(name="event-1"), state(name="event-2")
    assert watcher.look(*left, after=60) == (), "its last members come back at any moment"
    assert [(alarm.event_id, alarm.state) for alarm in watcher.look(*left, after=21)] == [("event-0", UNACKNOWLEDGED)]


def test_an_incident_of_three_lasts_while_two_of_them_fail() -> None:
    watcher, bad = Watcher(), [gone(name) for name in names(3)]
    watcher.look(*bad)
    watcher.every(20, 5, *bad[:2], calm("event-2"))
    assert kinds(watcher.shown) == ["PLATFORM"]


def test_a_fault_that_stood_before_neither_counts_nor_is_hidden() -> None:
    old = [state(critical("PACKET_LOSS", since=NOW - timedelta(minutes=9)), name=name) for name in names(2)]
    watcher = Watcher()
    watcher.look(*old, gone("event-2"), after=1)
    watcher.look(*old, gone("event-2"), after=5)
    assert sorted(kinds(watcher.shown)) == ["PACKET_LOSS", "PACKET_LOSS", "RECONNECTING"]
    loss = critical("PACKET_LOSS", since=NOW - timedelta(minutes=9))
    dark = critical("BLACKOUT", since=NOW)
    watcher.look(*(state(loss, dark, name=name) for name in names(2)), state(dark, name="event-2"), after=5)
    assert sorted(kinds(watcher.shown)) == ["PACKET_LOSS", "PACKET_LOSS", "PLATFORM"]
    assert watcher.alarm("RECONNECTING", "event-2").state is AlarmState.CLEARED, (
        "it is over, and its incident speaks for it"
    )


@pytest.mark.parametrize(
    ("severity", "shown"), [(Severity.WARNING, ["PLATFORM"]), (Severity.INFO, ["PACKET_LOSS"] * 3)]
)
def test_information_is_no_fault_that_several_events_share(severity: Severity, shown: list[str]) -> None:
    watcher = watching(*names(3))
    watcher.look(*(state(finding("PACKET_LOSS", severity, since=NOW), name=name) for name in names(3)), after=5)
    assert kinds(watcher.shown) == shown


def test_events_of_one_encoder_are_one_input() -> None:
    """By the key that it sends to, or by the numbers that it sends."""
    same_key = [replace(gone(name), event=model(event_id=name, streamkey="the-one-key")) for name in names(3)]
    keyed = watching(*names(3))
    keyed.look(*same_key, after=5)
    assert kinds(keyed.look(*same_key, after=5)) == ["RECONNECTING"] * 3
    rows = [Reading(2.0 * index, 4e6 + index, 128e3, 30.0, 0) for index in range(20)]
    same_rows = [replace(gone(name), qos=QosState(merge(Readings(), samples(rows)))) for name in names(3)]
    alike = watching(*names(3))
    alike.look(*same_rows, after=5)
    assert kinds(alike.look(*same_rows, after=5)) == ["RECONNECTING"] * 3


def test_the_signs_of_one_picture_fault_are_one_alarm_of_the_gravest() -> None:
    watcher, since = Watcher(), NOW - timedelta(seconds=40)
    signs = finding("PACKET_LOSS", since=since), critical("FPS_COLLAPSE", since=NOW), finding("VIDEO_LOW", since=NOW)
    watcher.look(state(*signs), after=1)
    assert (kinds(watcher.shown), watcher.alert_count) == (["FPS_COLLAPSE"], 1)
    apart = finding("PACKET_LOSS", since=NOW - timedelta(seconds=90)), signs[1]
    assert kinds(Watcher().look(state(*apart), after=1)) == ["FPS_COLLAPSE", "PACKET_LOSS"]


def test_information_rings_for_nobody_and_counts_as_no_habit() -> None:
    watcher = Watcher()
    for _ in range(6):
        watcher.look(state(finding("PACKET_LOSS", Severity.INFO)), after=30)
        watcher.look(state(), after=30)
    alarm = watcher.look(state(finding("PACKET_LOSS")), after=30)[0]
    assert (alarm.severity, alarm.flapping, watcher.alert_count) == (Severity.WARNING, False, 1)


# After a restart


def test_a_restart_keeps_every_state_until_the_platform_has_told_more() -> None:
    watcher, bad = Watcher(), state(critical(), finding("AUDIO_LOW"), finding("UNKNOWN_DATA"))
    watcher.look(bad)
    acknowledge(watcher, "BLACKOUT")
    shelve(watcher, "AUDIO_LOW", 30)
    again = Watcher(watcher.engine.alarms.values(), watcher.now)
    again.look(link=ConnectionStatus(ConnectionState.CONNECTING, NOW), after=5)
    unheard = replace(bad, phase=Phase(BroadcastState.ON_AIR), assessment=replace(bad.assessment, findings=()))
    again.look(unheard, after=5)
    again.look(bad, after=5)
    states = {alarm.kind: alarm.state for alarm in again.engine.alarms.values()}
    assert states == {"BLACKOUT": ACKNOWLEDGED, "AUDIO_LOW": AlarmState.SHELVED, "UNKNOWN_DATA": UNACKNOWLEDGED}
    assert (again.changes, again.alert_count) == ([], 0)


@pytest.mark.parametrize("tally", [BroadcastState.SCHEDULED, BroadcastState.LATE])
def test_a_start_that_is_late_is_so_over_a_restart_until_its_samples_were_asked_for(tally: BroadcastState) -> None:
    """Else each restart would tell its end, and then its beginning."""
    late = replace(state(critical("LATE_START")), phase=Phase(tally, ingest=Ingest(IngestState.NONE)))
    watcher = Watcher()
    watcher.look(late)
    again = Watcher(watcher.engine.alarms.values(), watcher.now)
    unasked = replace(late, phase=Phase(tally), assessment=replace(late.assessment, findings=()))
    again.look(unasked, after=5)
    again.look(late, after=5)
    assert (again.changes, again.alert_count) == ([], 0)
    again.look(replace(unasked, phase=late.phase), after=5)
    assert [change.transition for change in again.changes] == [AlarmTransition.RETURNED]


def test_an_unacknowledged_critical_outlives_a_restart_though_its_fault_did_not() -> None:
    watcher = Watcher()
    watcher.look(state(critical()))
    again = Watcher(watcher.engine.alarms.values(), watcher.now)
    assert [alarm.state for alarm in again.look(state(), after=60)] == [AlarmState.RETURNED]


def test_a_shelf_that_cannot_be_trusted_comes_back_empty() -> None:
    """Its time is over, or it was filled in a future that has not come."""
    watcher = Watcher()
    watcher.look(state(critical()))
    shelve(watcher, "BLACKOUT", 10)
    for moment in (watcher.now + timedelta(minutes=11), watcher.now - timedelta(days=1)):
        again = Watcher(watcher.engine.alarms.values(), moment)
        assert [alarm.state for alarm in again.look(state(critical()))] == [UNACKNOWLEDGED]


# Order


def test_unacknowledged_comes_before_acknowledged_critical_before_warning_then_the_oldest() -> None:
    watcher = Watcher()
    watcher.look(
        state(critical("BAD"), name="old"), state(critical("BAD"), name="known"), state(critical("BAD"), name="over")
    )
    acknowledge(watcher, "BAD", "known")
    states = [
        state(finding("FPS_LOW"), name="mild"),
        state(critical("LATE_START"), name="late", tally=BroadcastState.LATE),
        state(critical("AUDIO_LOST"), name="new"),
        *(state(critical("BAD"), name=name) for name in ("known", "old")),
        state(name="over"),
    ]
    watcher.look(*states, after=5)
    shown = watcher.look(*states, after=5)
    assert [alarm.event_id for alarm in shown] == ["old", "new", "late", "known", "over", "mild"]


def test_alarms_and_events_stand_in_one_order_and_silence_before_bad_pictures() -> None:
    """Within a severity: nothing arrives, it arrives badly, not on air; only then the oldest."""
    watcher = Watcher()
    silent = replace(
        state(critical("RECONNECTING"), name="gone"),
        phase=Phase(BroadcastState.RECONNECTING, ingest=Ingest(IngestState.INTERRUPTED)),
    )
    late = state(critical("LATE_START"), name="late", tally=BroadcastState.LATE)
    calm, informed = state(name="calm"), state(finding("UNKNOWN_STATUS", Severity.INFO), name="a-told")
    watcher.look(late, state(critical(), name="bad"))
    states = [calm, informed, late, state(finding("MILD"), name="mild"), state(critical(), name="bad"), silent]
    watcher.look(*states, after=4)
    shown = watcher.look(*states, after=5)
    assert [alarm.event_id for alarm in shown] == ["gone", "bad", "late", "mild", "a-told"]
    ranked = [event.id for event in worst_first(states, urgent_first(watcher.engine.alarms.values(), states))]
    assert ranked == ["gone", "bad", "late", "mild", "a-told", "calm"]


def test_a_fault_that_ended_between_two_looks_clears_at_the_look_that_saw_it() -> None:
    """Its start is no end."""

    def seen(until: float, *findings: Finding, episodes: tuple[Episode, ...] = ()) -> EventState:
        readings = merge(Readings(), samples([Reading(NOW.timestamp() + until, 4e6, 128e3, 30.0, 0)]))
        return replace(state(*findings), episodes=episodes, qos=QosState(readings))

    watcher = Watcher()
    watcher.look(seen(10, critical(since=NOW)), after=10)
    ended = Episode("BLACKOUT", Severity.CRITICAL, "", NOW, NOW + timedelta(seconds=52), "", "")
    watcher.look(seen(60, episodes=(ended,)), after=50)
    assert watcher.alarm("BLACKOUT").cleared_at == watcher.now


def test_what_another_monitor_has_judged_is_no_news_to_one_that_takes_over() -> None:
    """It sees fewer samples: a fault that went on may look to it like one that was over and another that began."""

    def seen(*episodes: tuple[float, float]) -> EventState:
        found = tuple(
            Episode(kind, Severity.CRITICAL, "", NOW + timedelta(seconds=since), NOW + timedelta(seconds=until), "", "")
            for since, until in episodes
        )
        series = merge(Readings(), samples([Reading(NOW.timestamp() + 200.0, 4e6, 128e3, 30.0, 0)]))
        standing = state(critical(kind, since=NOW + timedelta(seconds=100)))
        return replace(standing, episodes=found, qos=QosState(series))

    kind = "BLACKOUT"
    before = Watcher(now=NOW)
    before.look(state(critical(kind, since=NOW)))
    acknowledge(before, kind)
    for until, is_news in ((150.0, False), (190.0, True)):
        alone = Watcher(now=NOW + timedelta(seconds=200))
        alone.engine.restore(before.engine.alarms.values(), alone.now, NOW + timedelta(seconds=160))
        for _ in range(3):
            alone.look(seen((110.0, until)), after=2)
        assert alone.alarm(kind).needs_ack is is_news, until
