"""Alarms follow findings: since the first of them, until there is none, the worst first."""

from __future__ import annotations

from datetime import timedelta

from livedeck.monitor import (
    EventState,
    Finding,
    Grade,
    Health,
    Link,
    LinkState,
    Phase,
    QosState,
    Severity,
    Tally,
    Verdict,
)
from livedeck.monitor.alarms import shown, step
from livedeck.monitor.findings import QOS_STALE
from monitor.stage import NOW, model

WELL = Link(LinkState.OK, NOW - timedelta(hours=1))
BLIND = Link(LinkState.BLIND, NOW, why="no answer")


def finding(kind: str, severity: Severity = Severity.WARNING, actual: str = "bad") -> Finding:
    return Finding(kind, severity, actual, "good")


def state(*findings: Finding, name: str = "one", tally: Tally = Tally.ON_AIR, grade: Grade = Grade.POOR) -> EventState:
    return EventState(model(id=name), NOW, Phase(tally), QosState(), Verdict(Health(grade=grade), findings))


def test_since_is_the_first_finding_and_the_words_are_the_latest() -> None:
    first, raised = step((), [state(finding("FPS_LOW"))], WELL, NOW)
    worse = finding("FPS_LOW", Severity.CRITICAL, "worse")
    second, nothing = step(first, [state(worse)], WELL, NOW + timedelta(seconds=9))
    assert [(change.alarm.kind, change.raised) for change in raised] == [("FPS_LOW", True)]
    assert nothing == ()
    assert (second[0].since, second[0].severity, second[0].actual) == (NOW, Severity.CRITICAL, "worse")


def test_an_alarm_goes_with_its_finding_and_with_its_event() -> None:
    before, _ = step((), [state(finding("FPS_LOW")), state(finding("FPS_LOW"), name="two")], WELL, NOW)
    after, changes = step(before, [state()], WELL, NOW)
    assert after == ()
    assert [change.raised for change in changes] == [False, False]


def test_an_event_that_cannot_be_judged_keeps_its_alarms() -> None:
    before, _ = step((), [state(finding("FPS_LOW"))], WELL, NOW)
    after, _ = step(before, [state(QOS_STALE, grade=Grade.STALE)], WELL, NOW + timedelta(seconds=20))
    assert {(alarm.kind, alarm.since) for alarm in after} == {
        ("FPS_LOW", NOW),
        ("QOS_STALE", NOW + timedelta(seconds=20)),
    }


def test_a_blind_deck_shows_its_own_alarm_alone_and_forgets_none() -> None:
    before, _ = step((), [state(finding("FPS_LOW"))], WELL, NOW)
    blind, _ = step(before, [state(grade=Grade.STALE)], BLIND, NOW)
    assert [alarm.kind for alarm in shown(blind, BLIND)] == ["API_BLIND"]
    after, _ = step(blind, [state(finding("FPS_LOW"))], WELL, NOW + timedelta(seconds=60))
    assert [(alarm.kind, alarm.since) for alarm in shown(after, WELL)] == [("FPS_LOW", NOW)]


def test_silence_is_the_links_fault_while_the_link_is_in_trouble_or_just_back() -> None:
    silent = state(QOS_STALE, grade=Grade.STALE)
    for link in (Link(LinkState.FAILING, NOW), Link(LinkState.OK, NOW - timedelta(seconds=5))):
        assert step((), [silent], link, NOW)[0] == ()


def test_critical_comes_first_then_on_air_then_the_oldest() -> None:
    older, _ = step((), [state(finding("OLD", Severity.CRITICAL), name="old")], WELL, NOW)
    alarms, _ = step(
        older,
        [
            state(finding("MILD"), name="mild"),
            state(finding("LATE_START", Severity.CRITICAL), name="late", tally=Tally.LATE),
            state(finding("NEW", Severity.CRITICAL), name="new"),
            state(finding("OLD", Severity.CRITICAL), name="old"),
        ],
        WELL,
        NOW + timedelta(seconds=5),
    )
    assert [alarm.event_id for alarm in alarms] == ["old", "new", "late", "mild"]
