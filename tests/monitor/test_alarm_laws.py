"""Laws of alarms under random faults, actions of persons, links and restarts."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st

from livedeck.monitor import (
    Alarm,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    BroadcastState,
    Episode,
    EventState,
    Finding,
    Grade,
    QosState,
    Readings,
    Severity,
)
from livedeck.monitor.alarms import operator
from livedeck.monitor.alarms.engine import ids_on_air
from livedeck.monitor.alarms.suppression import incident_of
from monitor.alarm_stage import BLIND, RULES, Watcher, state
from monitor.stage import NOW
from trials import trials

KINDS = ("NO_INGEST", "BLACKOUT", "FPS_LOW", "AUDIO_LOST", "PACKET_LOSS", "UNKNOWN_STATUS")
EVENTS = ("one", "two", "three", "four")
ACTS: dict[str, Callable[[Alarm, datetime, bool], Alarm | None]] = {
    "acknowledge": lambda alarm, now, _: operator.acknowledge(alarm, now, RULES),
    "shelve": lambda alarm, now, air: operator.shelve(alarm, 20, "known", now, on_air=air, limits=RULES),
    "one shot": lambda alarm, now, air: operator.shelve(alarm, None, "known", now, on_air=air, limits=RULES),
    "unshelve": lambda alarm, now, _: operator.unshelve(alarm, now),
    "out of service": lambda alarm, now, _: operator.take_out_of_service(alarm, "known", now),
    "in service": lambda alarm, now, _: operator.put_in_service(alarm, now),
    "note": lambda alarm, *_: operator.add_note(alarm, "seen"),
}
PUT_AWAY = {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE}


@dataclass(frozen=True)
class Step:
    """One look: the faults of each event, whether they can be judged, and what happens before it."""

    after: float
    wrong: dict[str, list[Finding]]
    tally: BroadcastState
    stale: bool
    blind: bool
    act: str
    target: int
    restart: bool


NOBODYS = AlarmKey("nobody", "")

FINDINGS = st.builds(
    lambda kind, severity, stage: Finding(
        kind, Severity.INFO if kind == "UNKNOWN_STATUS" else severity, "bad", "good", stage=stage
    ),
    st.sampled_from(KINDS),
    st.sampled_from((Severity.CRITICAL, Severity.WARNING)),
    st.integers(0, 2),
)
STEPS = st.builds(
    Step,
    st.sampled_from((1.0, 5.0, 30.0, 120.0, 400.0, 2000.0)),
    st.dictionaries(
        st.sampled_from(EVENTS), st.lists(FINDINGS, max_size=3, unique_by=lambda finding: finding.kind), max_size=4
    ),
    st.sampled_from((BroadcastState.ON_AIR, BroadcastState.ON_AIR, BroadcastState.LATE)),
    st.booleans(),
    st.sampled_from((False, False, False, True)),
    st.sampled_from(("", *ACTS)),
    st.integers(0, 20),
    st.sampled_from((False, False, False, False, True)),
)


def play(step: Step, watcher: Watcher) -> Watcher:
    """Do what happens before the look, then look. Returns the watcher, a new one after a restart."""
    watcher = restarted(step, watcher)
    act(step, watcher)
    look(step, watcher)
    return watcher


def restarted(step: Step, watcher: Watcher) -> Watcher:
    if not step.restart:
        return watcher
    return Watcher(watcher.engine.alarms.values(), watcher.now)


def look(step: Step, watcher: Watcher) -> None:
    watcher.changes, watcher.alert_count = [], 0
    grade = Grade.STALE if step.stale else Grade.POOR
    states = [state(*step.wrong.get(name, ()), name=name, tally=step.tally, grade=grade) for name in EVENTS]
    moment = watcher.now + timedelta(seconds=step.after)
    watcher.look(*states, after=step.after, link=replace(BLIND, as_of=moment) if step.blind else None)


def act(step: Step, watcher: Watcher) -> AlarmKey:
    """Let a person act on an alarm. Returns its key, or NOBODYS if nothing changed."""
    alarms = sorted(watcher.engine.alarms.values(), key=lambda alarm: alarm.key)
    if step.act and alarms:
        alarm = alarms[step.target % len(alarms)]
        on_air = alarm.event_id in ids_on_air(watcher.states)
        with suppress(AlarmRefused):
            if ACTS[step.act](alarm, watcher.now, on_air):
                watcher.do(lambda alarm: ACTS[step.act](alarm, watcher.now, on_air), alarm.kind, alarm.event_id)
                return alarm.key if step.act != "note" else NOBODYS
    return NOBODYS


@trials(100)
@given(st.lists(STEPS, max_size=20))
def test_every_alarm_is_in_a_state_that_its_facts_allow(steps: list[Step]) -> None:
    watcher = Watcher()
    for step in steps:
        watcher = play(step, watcher)
        for alarm in watcher.engine.alarms.values():
            expected = {
                AlarmState.UNACKNOWLEDGED: alarm.is_ongoing and alarm.needs_ack and not alarm.parent,
                AlarmState.ACKNOWLEDGED: alarm.is_ongoing and not alarm.needs_ack and not alarm.parent,
                AlarmState.RETURNED: not alarm.is_ongoing and alarm.needs_ack,
                AlarmState.CLEARED: not alarm.is_ongoing and not alarm.needs_ack,
                AlarmState.SUPPRESSED: alarm.is_ongoing and bool(alarm.parent),
                AlarmState.SHELVED: bool(alarm.reason) and not alarm.needs_ack,
                AlarmState.OUT_OF_SERVICE: bool(alarm.reason) and not alarm.needs_ack,
            }
            assert expected[alarm.state], alarm
            assert alarm.since <= watcher.now
            assert alarm.changed <= watcher.now


@trials(100)
@given(st.lists(STEPS, max_size=20))
def test_every_critical_is_in_sight_or_put_away_by_a_person_or_said_by_one_that_is(steps: list[Step]) -> None:
    watcher = Watcher()
    for step in steps:
        watcher = play(step, watcher)
        for name, findings in step.wrong.items():
            for finding in findings:
                assert is_covered(watcher.alarm(finding.kind, name), watcher)


def is_covered(alarm: Alarm, watcher: Watcher) -> bool:
    """Return whether the alarm is active or put away, or what hides it is active or was a moment ago."""
    if alarm.active or alarm.state in PUT_AWAY:
        return True
    just_over = watcher.now - timedelta(seconds=RULES.hidden_after)
    parents = [
        parent
        for parent in watcher.engine.alarms.values()
        if parent.kind == alarm.parent and parent.event_id in {"", alarm.event_id}
    ]
    return any(
        is_covered(parent, watcher) if parent.is_ongoing or parent.state in PUT_AWAY else parent.changed >= just_over
        for parent in parents
    )


@trials(100)
@given(st.lists(STEPS, max_size=20))
def test_no_critical_that_somebody_was_told_of_is_forgotten_until_a_person_took_it(steps: list[Step]) -> None:
    watcher, owed = Watcher(), set[AlarmKey]()
    for step in steps:
        watcher = restarted(step, watcher)
        owed.discard(act(step, watcher))
        before = watcher.engine.alarms
        look(step, watcher)
        alarms = watcher.engine.alarms
        for key in tuple(owed):
            incident = incident_of(before[key], alarms) or incident_of(alarms[key], alarms)
            if before[key].parent and alarms[key].reason and not alarms[key].needs_ack:
                owed.discard(key)  # a person put its cause away, and it with that
                continue
            if incident and not alarms[key].needs_ack:
                owed.discard(key)  # its incident speaks for it, and stays until somebody took that
                assert not alarms[key].is_ongoing or not incident.needs_ack
            else:
                assert alarms[key].needs_ack, key
        owed |= {alarm.key for alarm in watcher.shown if alarm.needs_ack and alarm.severity is Severity.CRITICAL}


@trials(100)
@given(st.lists(STEPS, max_size=20))
def test_an_acknowledged_alarm_stays_silent_until_it_is_over_runs_out_or_gets_worse(steps: list[Step]) -> None:
    watcher = Watcher()
    for step in steps:
        watcher = restarted(step, watcher)
        act(step, watcher)
        before = watcher.engine.alarms
        look(step, watcher)
        for key, alarm in before.items():
            if alarm.state is not AlarmState.ACKNOWLEDGED:
                continue
            now = watcher.engine.alarms[key]
            ran_out = alarm.acknowledged_until is not None and alarm.acknowledged_until <= watcher.now
            worse = now.stage > alarm.stage or now.severity.rank < alarm.severity.rank
            assert not now.needs_ack or ran_out or worse


@trials(100)
@given(st.lists(STEPS, max_size=20))
def test_nothing_is_shelved_for_longer_than_an_hour_on_air(steps: list[Step]) -> None:
    watcher = Watcher()
    for step in steps:
        watcher = play(step, watcher)
        for alarm in watcher.engine.alarms.values():
            if alarm.state is AlarmState.SHELVED and alarm.event_id in ids_on_air(watcher.states):
                assert watcher.now - alarm.changed < timedelta(hours=1)


def failing(*names: str, after: float = 1.0, worse: str = "") -> Step:
    """Return a look with the encoders of these events away, and that of `worse` at a later stage."""
    away = {name: [Finding("NO_INGEST", Severity.CRITICAL, "bad", "good", stage=int(name == worse))] for name in names}
    return Step(after, away, BroadcastState.ON_AIR, stale=False, blind=False, act="", target=0, restart=False)


def faulty(name: str, **severities: str) -> Step:
    """Return a look, 30 s later, at an event with faults of these kinds."""
    wrong = [Finding(kind, Severity(severity), "bad", "good") for kind, severity in severities.items()]
    return Step(30.0, {name: wrong}, BroadcastState.ON_AIR, stale=False, blind=False, act="", target=0, restart=False)


@trials(100)
@example(
    [failing("one", "two", "three"), failing("four", "one"), failing("one", "two", "three", after=30.0, worse="one")]
)
@example(
    [
        faulty("one", FPS_LOW="critical"),
        replace(
            faulty("one", PACKET_LOSS="critical", BLACKOUT="warning"), blind=True, stale=True, act="shelve", target=3
        ),
        replace(faulty("one"), after=2000.0, stale=True),
    ]
)
@given(st.lists(STEPS, max_size=15))
def test_looking_twice_changes_nothing(steps: list[Step]) -> None:
    watcher = Watcher()
    for step in steps:
        watcher = play(step, watcher)
        before = watcher.engine.alarms
        again = replace(step, after=0.0, act="", restart=False)
        look(again, watcher)
        assert watcher.engine.alarms == before
        assert (watcher.changes, watcher.alert_count) == ([], 0)


FAULTS = st.lists(
    st.tuples(st.integers(0, 1200), st.integers(5, 120), st.sampled_from(("FPS_LOW", "AUDIO_LOST"))), max_size=8
)


@trials(60)
@given(FAULTS, st.lists(st.integers(1, 240), min_size=1, max_size=40))
def test_alarms_follow_from_the_samples_and_not_from_how_often_they_were_asked_for(
    faults: list[tuple[int, int, str]], waits: list[int]
) -> None:
    """Who looks each five seconds and who looks now and then have the same alarms in the end, and heard of the same."""
    episodes = merged(faults)
    often, seldom = Watcher(), Watcher()
    for watcher, moments in ((often, range(0, 1500, 5)), (seldom, accumulate(waits, initial=0))):
        for moment in [*(moment for moment in moments if moment < 1500), 1500, 1500]:
            watcher.look(at(moment, episodes), after=moment - (watcher.now - NOW).total_seconds())
    assert facts(often) == facts(seldom)


def merged(faults: list[tuple[int, int, str]]) -> list[Episode]:
    """Return faults in a form that a stream can have: a minute between two of the same kind."""
    episodes: list[Episode] = []
    free = {"FPS_LOW": 1, "AUDIO_LOST": 1}
    for begin, lasts, kind in sorted(faults):
        since = max(begin, free[kind])
        free[kind] = since + lasts + 240
        moment = NOW + timedelta(seconds=since)
        episodes.append(Episode(kind, Severity.WARNING, "", moment, moment + timedelta(seconds=lasts), "bad", "good"))
    return episodes


def at(moment: float, episodes: list[Episode]) -> EventState:
    """Return the event at `moment` seconds from NOW, with a sample of that age and the findings of then."""
    now = NOW + timedelta(seconds=moment)
    begun = [episode for episode in episodes if episode.since <= now]
    known = [episode if episode.until and episode.until <= now else replace(episode, until=None) for episode in begun]
    findings = [
        Finding(episode.kind, episode.severity, "bad", "good", episode.since)
        for episode in known
        if episode.until is None
    ]
    rate = array("d", [1.0])
    readings = Readings(array("d", [now.timestamp()]), rate, rate, rate, array("q", [0]))
    return replace(state(*findings), qos=QosState(readings), episodes=tuple(known))


def facts(watcher: Watcher) -> set[tuple[object, ...]]:
    """Return the facts that must not depend on the number of looks."""
    return {
        (alarm.key, alarm.state, alarm.since, alarm.severity, alarm.activations, alarm.flapping, alarm.escalated)
        for alarm in watcher.engine.alarms.values()
    }
