"""An incident is announced before its members, whatever the order of polls; and a first look is no incident."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import (
    AlarmChange,
    AlarmState,
    AlarmTransition,
    BroadcastState,
    EventState,
    Ingest,
    IngestState,
    Phase,
    QosState,
    Reading,
    Readings,
    Thresholds,
)
from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.model.span import Span
from livedeck.monitor.signal.series import merge
from monitor.alarm_stage import RULES, WELL, Watcher, critical, finding, state
from monitor.stage import NOW, model, samples
from trials import trials

RAISED, SUPPRESSED, RETURNED = AlarmTransition.RAISED, AlarmTransition.SUPPRESSED, AlarmTransition.RETURNED
CUT = 60.0
"""Second in which encoders are cut."""


def well(name: str) -> EventState:
    """Return an event on air whose samples come."""
    return state(name=name)


def late(name: str, since: float = CUT) -> EventState:
    """Return an event with its newest sample at that second, before anybody can tell whether the next one is late."""
    readings = merge(Readings(), samples([Reading((NOW + timedelta(seconds=since)).timestamp(), 4e6, 128e3, 30.0, 0)]))
    return replace(state(name=name), qos=QosState(readings, is_overdue=True))


def gone(name: str, since: float = CUT, kind: str = "RECONNECTING") -> EventState:
    """Return an event whose encoder left in that second."""
    return state(critical(kind, since=NOW + timedelta(seconds=since)), name=name, tally=BroadcastState.RECONNECTING)


def names(count: int) -> list[str]:
    """Return the names of so many events."""
    return [f"event-{number:03}" for number in range(count)]


def at(watcher: Watcher, second: float, states: Iterable[EventState]) -> None:
    """Look at these events in that second."""
    watcher.look(*states, after=second - (watcher.now - NOW).total_seconds())


def told(changes: Iterable[AlarmChange]) -> list[tuple[str, str]]:
    """Return kind and transition of the changes."""
    return [(change.alarm.kind, change.transition.value) for change in changes]


def seconds(watcher: Watcher) -> list[tuple[float, str]]:
    """Return second and kind of each announced onset."""
    return [
        ((change.at - NOW).total_seconds(), change.alarm.kind)
        for change in watcher.changes
        if change.transition is RAISED
    ]


ASKED = st.lists(st.integers(0, 29).map(lambda half: half / 2), min_size=40, max_size=40)
"""Seconds after the first proof at which each of forty events is polled."""


@trials(60)
@given(ASKED, st.integers(0, 2**20))
def test_whenever_each_event_is_asked_the_incident_is_announced_first_and_within_fifteen_seconds(
    asked: list[float], order: int
) -> None:
    """Events are late from the cut on, and gone once they are asked; whoever comes first waits for the others."""
    watcher, first = Watcher(), min(asked)
    everyone = dict(zip(names(len(asked)), (CUT + 11 + moment for moment in asked), strict=True))
    at(watcher, 0, map(well, everyone))
    moments = sorted({*everyone.values(), CUT + 11 + first + 5, CUT + 11 + first + 15, CUT + 40})
    for moment in moments:
        states = [gone(name) if since <= moment else late(name) for name, since in everyone.items()]
        cut = order % len(states)
        at(watcher, moment, (*states[cut:], *states[:cut]))
        assert {alarm.kind for alarm in watcher.shown} <= {"PLATFORM"}
    assert watcher.changes[0].alarm.kind == "PLATFORM"
    assert {change.transition for change in watcher.changes[1:]} == {SUPPRESSED}
    assert {change.alarm.key for change in watcher.changes[1:]} == {(name, "RECONNECTING", "") for name in everyone}
    assert watcher.alert_count == 1
    assert seconds(watcher)[0][0] <= CUT + 11 + first + 15


@trials(60)
@given(ASKED, st.integers(3, 8))
def test_no_onset_is_lost_or_waits_longer_than_five_seconds_if_the_others_are_well(
    asked: list[float], few: int
) -> None:
    everyone = dict(zip(names(len(asked)), (CUT + moment for moment in asked), strict=True))
    failing = dict([*everyone.items()][:few])
    watcher = Watcher()
    at(watcher, 0, map(well, everyone))
    for moment in sorted({*failing.values(), *(since + 5.0 for since in failing.values()), CUT + 40}):
        at(watcher, moment, (gone(n, failing[n]) if failing.get(n, inf) <= moment else well(n) for n in everyone))
    waits = {change.alarm.event_id: (change.at - change.alarm.changed).total_seconds() for change in watcher.changes}
    assert {change.transition for change in watcher.changes} == {RAISED}
    assert sorted(waits) == sorted(failing)
    assert max(waits.values()) <= 5.0
    assert watcher.alert_count == few


def sending(name: str, newest: float) -> EventState:
    """Return an event on air that sends each two seconds, with its newest sample at that second."""
    return replace(late(name, newest), qos=replace(late(name, newest).qos, is_overdue=False, cadence=2.0))


def silent(name: str, since: float) -> EventState:
    """Return an event that sent each two seconds and whose encoder left in that second."""
    return replace(gone(name, since), qos=sending(name, since).qos)


@trials(60)
@given(ASKED, st.randoms(use_true_random=False))
def test_encoders_that_leave_together_are_an_incident_although_their_last_samples_lie_apart(
    asked: list[float], random: Random
) -> None:
    """Each is asked every five seconds, and its newest sample then is some seconds old."""
    last = {name: CUT - random.choice((0.0, 0.5, 1.0, 1.5)) for name in names(len(asked))}
    proven = dict(zip(last, (CUT + 11 + moment / 3 for moment in asked), strict=True))
    watcher = Watcher()
    at(watcher, 0, (sending(name, 0.0) for name in last))
    for moment in sorted({*proven.values(), CUT + 40}):
        at(watcher, moment, (silent(n, last[n]) if proven[n] <= moment else sending(n, last[n]) for n in last))
    assert watcher.changes[0].alarm.kind == "PLATFORM"
    assert {change.transition for change in watcher.changes[1:]} == {SUPPRESSED}


@trials(60)
@given(st.lists(st.integers(0, 9).map(lambda half: half / 2), min_size=5, max_size=60), st.integers(0, 3))
def test_an_encoder_that_leaves_alone_is_announced_at_once_after_the_others_have_sent_on(
    asked: list[float], lag: int
) -> None:
    """Others are asked every five seconds; the newest sample of each answer is some seconds old."""
    everyone, proven = names(len(asked)), CUT + 13

    def newest(name: str, moment: float) -> float:
        phase = asked[everyone.index(name)]
        return phase + 5 * ((moment - phase) // 5) - lag

    watcher = Watcher()
    at(watcher, 0, (sending(name, 0.0) for name in everyone))
    at(watcher, proven, (silent(everyone[0], CUT), *(sending(name, newest(name, proven)) for name in everyone[1:])))
    assert told(watcher.changes) == [("RECONNECTING", "raised")]


def replied(event: EventState, second: float) -> EventState:
    """Return the event with its last good reply in that second."""
    return replace(event, qos=replace(event.qos, as_of=NOW + timedelta(seconds=second)))


def test_a_slow_machine_announces_the_incident_before_its_members() -> None:
    """Each event is polled so seldom that most replies are from before the cut when the first onset is known."""
    asked = {name: CUT + 11 + 0.35 * index for index, name in enumerate(names(40))}
    watcher = Watcher()
    at(watcher, 0, map(well, asked))
    for moment in (*asked.values(), CUT + 40):
        at(
            watcher,
            moment,
            (replied(gone(n), since) if since <= moment else replied(well(n), CUT - 1) for n, since in asked.items()),
        )
    assert watcher.changes[0].alarm.kind == "PLATFORM"
    assert {change.transition for change in watcher.changes[1:]} == {SUPPRESSED}


@pytest.mark.parametrize(("last_reply", "announced"), [(CUT + 12, 5.0), (CUT + 18, 7.0), (CUT - 1, 15.0)])
def test_an_onset_waits_for_the_replies_of_the_others_for_fifteen_seconds_at_most(
    last_reply: float, announced: float
) -> None:
    watcher, everyone, onset = Watcher(), names(40), CUT + 11
    at(watcher, 0, (replied(well(name), 0) for name in everyone))
    for second in (onset, onset + 5, onset + 7, onset + 15):
        reply = last_reply if second >= last_reply else CUT - 1
        at(watcher, second, (gone(everyone[0]), *(replied(well(name), reply) for name in everyone[1:])))
    assert seconds(watcher) == [(onset + announced, "RECONNECTING")]


def test_events_that_are_late_hold_three_onsets_back_and_let_them_go_once_they_are_well() -> None:
    watcher, everyone = Watcher(), names(40)
    at(watcher, 0, map(well, everyone))
    for second in (70, 72, 75, 78):
        at(watcher, second, (*map(gone, everyone[:3]), *map(late, everyone[3:])))
        assert (watcher.changes, watcher.shown) == ([], ())
    assert watcher.engine.seconds_to_announcement(watcher.now) == 7.0
    at(watcher, 79, (*map(gone, everyone[:3]), *map(well, everyone[3:])))
    assert told(watcher.changes) == [("RECONNECTING", "raised")] * 3
    assert {change.at for change in watcher.changes} == {watcher.now}
    assert watcher.engine.seconds_to_announcement(watcher.now) == inf


def test_events_that_are_still_in_doubt_after_fifteen_seconds_count_as_failed() -> None:
    """The incident lasts as long as they are, and tells by name only who has failed for certain."""
    watcher, everyone = Watcher(), names(40)
    at(watcher, 0, map(well, everyone))
    states = [*map(gone, everyone[:3]), *map(late, everyone[3:])]
    at(watcher, 70, states)
    at(watcher, 84.9, states)
    assert watcher.changes == []
    at(watcher, 85, states)
    assert told(watcher.changes) == [("PLATFORM", "raised"), *[("RECONNECTING", "suppressed")] * 3]
    assert watcher.changes[0].alarm.affects == tuple(everyone[:3])
    at(watcher, 90, states)
    assert [alarm.kind for alarm in watcher.shown] == ["PLATFORM"]


@pytest.mark.parametrize("since", [CUT - 40, CUT + 40])
def test_events_that_are_late_since_another_time_hold_nothing_back(since: float) -> None:
    watcher, everyone = Watcher(), names(40)
    at(watcher, 0, map(well, everyone))
    states = [*map(gone, everyone[:3]), *(late(name, since) for name in everyone[3:])]
    at(watcher, 110, states)
    at(watcher, 115, states)
    assert told(watcher.changes) == [("RECONNECTING", "raised")] * 3


def test_an_event_alone_on_air_and_a_kind_of_one_encoder_are_announced_at_once() -> None:
    alone = Watcher()
    at(alone, 0, [well("one"), well("two")])
    at(alone, 70, [gone("one"), well("two")])
    assert told(alone.changes) == [("RECONNECTING", "raised")]
    many = Watcher()
    at(many, 0, map(well, names(9)))
    own = [state(finding("FPS_LOW", since=NOW + timedelta(seconds=70)), name=name) for name in names(9)]
    at(many, 70, own)
    assert told(many.changes) == [("FPS_LOW", "raised")] * 9


def test_what_was_announced_before_is_shown_until_the_next_onset_is_announced() -> None:
    """An alarm that returned stays listed as that; the log has the true time of its next onset."""
    watcher, others = Watcher(), [well(name) for name in names(9)[1:]]
    at(watcher, 0, [well("event-000"), *others])
    at(watcher, 70, [gone("event-000"), *others])
    at(watcher, 75, [gone("event-000"), *others])
    at(watcher, 200, [well("event-000"), *others])
    at(watcher, 300, [gone("event-000", 290), *others])
    assert [alarm.state for alarm in watcher.shown] == [AlarmState.RETURNED]
    at(watcher, 305, [gone("event-000", 290), *others])
    assert [alarm.state for alarm in watcher.shown] == [AlarmState.UNACKNOWLEDGED]
    assert [((change.at - NOW).total_seconds(), change.transition) for change in watcher.changes] == [
        (75.0, RAISED),
        (200.0, RETURNED),
        (305.0, RAISED),
    ]
    assert [(change.at - NOW).total_seconds() for change in watcher.log] == [70.0, 200.0, 300.0]


def test_a_fault_that_ends_while_it_waits_is_announced_with_its_end() -> None:
    watcher, others = Watcher(), [well(name) for name in names(9)[1:]]
    at(watcher, 0, [well("event-000"), *others])
    at(watcher, 70, [gone("event-000"), *others])
    at(watcher, 72, [well("event-000"), *others])
    assert watcher.changes == []
    at(watcher, 75, [well("event-000"), *others])
    assert told(watcher.changes) == [("RECONNECTING", "raised"), ("RECONNECTING", "returned")]


def test_a_member_that_ends_while_it_waits_for_its_incident_is_not_announced() -> None:
    """The incident explains it, and nobody needs to acknowledge what is over and was never said."""
    watcher, everyone = Watcher(), names(40)
    at(watcher, 0, map(well, everyone))
    at(watcher, 70, (*map(gone, everyone[:10]), *map(late, everyone[10:])))
    for second in (73, 80, 90):
        at(watcher, second, (*map(well, everyone[:5]), *map(gone, everyone[5:])))
    assert told(watcher.changes) == [("PLATFORM", "raised"), *[("RECONNECTING", "suppressed")] * 35]
    assert [alarm.kind for alarm in watcher.shown] == ["PLATFORM"]
    assert watcher.alert_count == 1
    assert sum(change.transition is RAISED for change in watcher.log) >= 11  # the history has what was


def test_an_alarm_that_a_person_has_handled_elsewhere_waits_no_longer() -> None:
    watcher, others = Watcher(), [well(name) for name in names(9)[1:]]
    at(watcher, 0, [well("event-000"), *others])
    at(watcher, 70, [gone("event-000"), *others])
    watcher.do(lambda alarm: operator.acknowledge(alarm, watcher.now, RULES), "RECONNECTING", "event-000")
    at(watcher, 71, [gone("event-000"), *others])
    assert told(watcher.changes) == [("RECONNECTING", "raised"), ("RECONNECTING", "acknowledged")]
    assert watcher.alert_count == 0


# The first look


def unpolled(name: str) -> EventState:
    """Return an event on air whose samples were not polled yet."""
    return replace(state(name=name), phase=Phase(BroadcastState.ON_AIR, ingest=Ingest(IngestState.UNKNOWN)))


def test_what_stood_at_the_first_look_is_one_group_and_no_incident() -> None:
    watcher, everyone = Watcher(), names(40)
    at(watcher, 100, map(unpolled, everyone))
    at(watcher, 101, (*map(gone, everyone[:30]), *map(unpolled, everyone[30:])))
    assert watcher.changes == []
    at(watcher, 102, map(gone, everyone))
    assert told(watcher.changes) == [("RECONNECTING", "raised")] * 40
    assert all(change.alarm.found for change in watcher.changes)
    at(watcher, 200, map(gone, everyone))
    assert {alarm.kind for alarm in watcher.shown} == {"RECONNECTING"}


def test_a_first_look_waits_five_seconds_for_an_event_that_does_not_answer() -> None:
    watcher, everyone = Watcher(), names(9)
    at(watcher, 100, map(unpolled, everyone))
    states = [*map(gone, everyone[:2]), *map(unpolled, everyone[2:])]
    for second in (101, 105.9):
        at(watcher, second, states)
        assert watcher.changes == []
    at(watcher, 106, states)
    assert len(watcher.changes) == 2


def test_what_is_found_counts_for_no_incident_and_what_begins_later_does() -> None:
    watcher, everyone = Watcher(), names(9)
    at(watcher, 100, (*map(gone, everyone[:4]), *map(well, everyone[4:])))
    assert len(watcher.changes) == 4
    at(watcher, 110, (*map(gone, everyone[:4]), gone(everyone[4], 105), *map(well, everyone[5:])))
    at(watcher, 115, (*map(gone, everyone[:4]), gone(everyone[4], 105), *map(well, everyone[5:])))
    assert "PLATFORM" not in {alarm.kind for alarm in watcher.shown}
    assert [change.alarm.found for change in watcher.changes] == [True] * 4 + [False]


def unwatched(event: EventState, left: float, since: float) -> EventState:
    """Return the event with a last sample in second `left`; replies cover nothing more before second `since`."""
    span = Span((NOW + timedelta(seconds=left)).timestamp(), (NOW + timedelta(seconds=since)).timestamp())
    readings = merge(Readings(), samples([Reading(span.since, 4e6, 128e3, 30.0, 0)]))
    if event.phase.tally is not BroadcastState.RECONNECTING:
        return replace(event, qos=QosState(readings, cadence=2.0, not_watched=(span,)))
    ingest = Ingest(IngestState.INTERRUPTED, since=NOW + timedelta(seconds=since))
    return replace(event, phase=replace(event.phase, ingest=ingest), qos=QosState(readings, cadence=2.0))


@pytest.mark.parametrize(("left", "is_incident"), [(60.0, False), (575.0, True)])
@pytest.mark.parametrize(("kind", "onset"), [("RECONNECTING", 600.0), ("BLACKOUT", 611.0)])
@pytest.mark.parametrize("is_second", [False, True])
def test_encoders_that_failed_in_unwatched_time_failed_together_only_if_it_was_short(
    left: float, kind: str, onset: float, *, is_incident: bool, is_second: bool
) -> None:
    """The end of that time is the same for all events, and the start of none of their faults."""
    watcher, everyone = Watcher(), names(9)
    at(watcher, 0, map(well, everyone))
    if is_second:
        at(watcher, 20, (gone(name, 10, kind) for name in everyone[:2]))
        at(watcher, 40, map(well, everyone))

    def fault(name: str) -> EventState:
        lost = gone(name, onset, kind)
        return unwatched(lost if kind == "RECONNECTING" else state(*lost.assessment.findings, name=name), left, 600.0)

    for second in (625, 640, 660):
        at(watcher, second, map(fault, everyone))
    later = [change for change in watcher.changes if change.at > NOW + timedelta(seconds=600)]
    onsets = [change.alarm for change in later if change.transition is RAISED]
    assert ("PLATFORM" in {alarm.kind for alarm in onsets}) is is_incident
    assert {alarm.found for alarm in onsets} == {not is_incident}


def test_a_fault_that_comes_back_began_under_our_eyes() -> None:
    watcher = Watcher()
    at(watcher, 100, [gone("one")])
    assert watcher.alarm("RECONNECTING").found
    at(watcher, 300, [well("one")])
    at(watcher, 400, [gone("one", 390)])
    assert not watcher.alarm("RECONNECTING").found


def test_a_report_waits_for_nothing() -> None:
    """Its first look is its last."""
    engine, states = AlarmEngine(Thresholds()), (gone("one"), *map(unpolled, names(5)))
    now = NOW + timedelta(seconds=100)
    changes, bells, _ = engine.step(MonitorState(states, replace(WELL, as_of=now), now, is_last=True))
    assert (told(changes), len(bells)) == ([("RECONNECTING", "raised")], 1)


@pytest.mark.parametrize(
    ("shared", "kind"),
    [({"rtmp_link": "rtmp://ingest.example/live"}, "PLATFORM"), ({"streamkey": "k-1"}, "RECONNECTING")],
)
def test_events_of_one_ingest_link_may_be_an_incident_and_those_of_one_encoder_are_none(
    shared: dict[str, str], kind: str
) -> None:
    """The link may be the address of every encoder; a stream key is that of one."""
    watcher, everyone = Watcher(), names(4)

    def fed(event: EventState) -> EventState:
        return replace(event, event=model(id=event.id, **shared))

    at(watcher, 0, map(fed, map(well, everyone)))
    at(watcher, CUT + 11, map(fed, map(gone, everyone)))
    at(watcher, CUT + 40, map(fed, map(gone, everyone)))
    assert watcher.changes[0].alarm.kind == kind
