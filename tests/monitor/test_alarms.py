"""Alarms follow findings: since the first of them, until there is none, the worst first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.monitor import (
    EventState,
    Finding,
    Grade,
    Health,
    Ingest,
    IngestState,
    Link,
    LinkState,
    Phase,
    QosState,
    Severity,
    Tally,
    Trouble,
    Verdict,
)
from livedeck.monitor.alarms import shown, step
from livedeck.monitor.findings import of_asking
from livedeck.monitor.ranking import worst_first
from monitor.stage import NOW, model

QOS_STALE = of_asking("", None)

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
    back = Link(LinkState.OK, NOW, recovered=NOW - timedelta(seconds=5))
    for link in (Link(LinkState.FAILING, NOW), back):
        assert step((), [silent], link, NOW)[0] == ()
    assert len(step((), [silent], back, NOW + timedelta(seconds=5))[0]) == 1


def test_silence_right_after_a_start_is_the_events_own() -> None:
    """A link that was never in trouble is not to blame, however young it is."""
    alarms, _ = step((), [state(QOS_STALE, grade=Grade.STALE)], Link(LinkState.OK, NOW), NOW)
    assert [alarm.kind for alarm in alarms] == ["QOS_STALE"]


def test_an_alarm_began_when_its_finding_did() -> None:
    begun = NOW - timedelta(seconds=40)
    alarms, _ = step((), [state(of_asking("no answer", begun), grade=Grade.STALE)], WELL, NOW)
    assert [(alarm.actual, alarm.since) for alarm in alarms] == [("no answer", begun)]


@pytest.mark.parametrize(
    ("skew", "severity"),
    [(0.0, None), (3.0, Severity.WARNING), (-9.0, Severity.WARNING), (11.0, Severity.CRITICAL)],
)
def test_a_clock_that_is_off_is_an_alarm_of_the_deck(skew: float, severity: Severity | None) -> None:
    alarms, _ = step((), [], replace(WELL, skew=skew), NOW)
    found = [(alarm.event_id, alarm.kind, alarm.severity) for alarm in alarms]
    assert found == ([("", "CLOCK_SKEW", severity)] if severity else [])


def test_a_platform_that_asks_for_fewer_calls_is_a_warning_of_the_deck() -> None:
    limited = Link(LinkState.FAILING, NOW, why="too many requests", trouble=Trouble.RATE_LIMITED)
    alarms, _ = step((), [], limited, NOW)
    assert [(alarm.kind, alarm.severity) for alarm in alarms] == [("RATE_LIMITED", Severity.WARNING)]


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


def test_alarms_and_events_stand_in_one_order_and_silence_before_bad_pictures() -> None:
    """Within a severity: nothing arrives, it arrives badly, not on air; only then the oldest."""
    bad, gone = finding("BLACKOUT", Severity.CRITICAL), finding("RECONNECTING", Severity.CRITICAL)
    silent = replace(
        state(gone, name="gone", tally=Tally.RECONNECTING),
        phase=Phase(Tally.RECONNECTING, ingest=Ingest(IngestState.INTERRUPTED)),
    )
    late = state(finding("LATE_START", Severity.CRITICAL), name="late", tally=Tally.LATE)
    calm, told = state(name="calm"), state(finding("UNKNOWN_STATUS", Severity.INFO), name="a-told")
    older, _ = step((), [late, state(bad, name="bad")], WELL, NOW)
    states = [calm, told, late, state(finding("MILD"), name="mild"), state(bad, name="bad"), silent]
    alarms, _ = step(older, states, WELL, NOW + timedelta(seconds=9))
    assert [alarm.event_id for alarm in alarms] == ["gone", "bad", "late", "mild", "a-told"]
    ranked = [one.id for one in worst_first(states, alarms)]
    assert ranked == ["gone", "bad", "late", "mild", "a-told", "calm"]
