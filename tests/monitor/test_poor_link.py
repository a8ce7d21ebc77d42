"""A link that loses or delays answers is a poor link, and no fault of an event (monitoring.md, "Lost replies")."""

from __future__ import annotations

import pytest

from breadth import slow, slow_rows
from livedeck.monitor import AlarmTransition, ConnectionProblem, ConnectionState, Grade, Severity, Snapshot
from monitor.stage import NOW, event
from monitor.wire import Platform, WallClock, run, watch

MORE = slow_rows(*((seed, f"event-{seed % 6}") for seed in range(2, 12)))


def seconds(snapshot: Snapshot) -> float:
    return (snapshot.at - NOW).total_seconds()


def event_criticals(snapshots: list[Snapshot]) -> set[tuple[str, str]]:
    """Return event and kind of every critical alarm or finding of an event, hidden or not."""
    alarms = [alarm for snapshot in snapshots for alarm in (*snapshot.alarms, *snapshot.quiet)]
    found = [(state.id, finding) for s in snapshots for state in s.events for finding in state.assessment.findings]
    return {
        *((alarm.event_id, alarm.kind) for alarm in alarms if alarm.event_id and alarm.severity is Severity.CRITICAL),
        *((event_id, finding.kind) for event_id, finding in found if finding.severity is Severity.CRITICAL),
    }


def six_events(seed: int = 1) -> Platform:
    return Platform(*(event(f"event-{number}") for number in range(6)), seed=seed)


@pytest.mark.parametrize("share", [0.3, *slow(0.1)])
@pytest.mark.parametrize(("seed", "focus"), [(1, "event-0"), *slow_rows((1, None)), *MORE])
def test_answers_that_are_lost_make_a_poor_link_and_no_alarm_of_an_event(
    share: float, seed: int, focus: str | None
) -> None:
    """A third of them is a 503, a third breaks off, a third never comes."""
    platform = six_events(seed)

    def lose(_: WallClock) -> None:
        platform.lost = share

    def stop(_: WallClock) -> None:
        platform.lost = 0.0

    snapshots = run(watch(platform, 330, (30, lose), (210, stop), focus=focus))
    assert event_criticals(snapshots) == set()
    during = [snapshot.link for snapshot in snapshots if 90 <= seconds(snapshot) < 210]
    poor = [link for link in during if link.state is ConnectionState.POOR]
    assert len(poor) >= 0.8 * len(during)
    assert sum(link.lost_share for link in poor) / len(poor) == pytest.approx(share, rel=0.5)
    assert snapshots[-1].link.state is ConnectionState.OK


@pytest.mark.parametrize("focus", [None, *slow("event-0")])
def test_three_seconds_of_latency_are_no_fault_of_any_of_twenty_events(focus: str | None) -> None:
    """Eight calls at once bring three answers a second: each event is asked less often, and that is known."""
    platform = Platform(*(event(f"event-{number}") for number in range(20)))

    def slow(_: WallClock) -> None:
        platform.delay = 3.0

    snapshots = run(watch(platform, 120, (10, slow), focus=focus))
    assert event_criticals(snapshots) == set()
    last = snapshots[-1]
    assert last.link.state is ConnectionState.OK
    assert {state.assessment.health.grade for state in last.events} == {Grade.GOOD}


@pytest.mark.parametrize(
    ("portal", "problem"), [("portal", ConnectionProblem.UNREADABLE), ("redirect", ConnectionProblem.REDIRECTED)]
)
def test_a_captive_portal_is_the_connections_fault_and_none_of_an_event(
    portal: str, problem: ConnectionProblem
) -> None:
    platform = six_events()

    def close(_: WallClock) -> None:
        setattr(platform, portal, True)

    def accept(_: WallClock) -> None:
        setattr(platform, portal, False)

    snapshots = run(watch(platform, 180, (30, close), (100, accept), focus="event-0"))
    assert event_criticals(snapshots) == set()
    during = [snapshot.link for snapshot in snapshots if 45 <= seconds(snapshot) < 100]
    assert {link.problem for link in during} == {problem}
    raised = [
        change.alarm.kind for s in snapshots for change in s.changes if change.transition is AlarmTransition.RAISED
    ]
    assert raised == ["API_BLIND"]
    assert {state.assessment.health.grade for state in snapshots[-1].events} == {Grade.GOOD}


@pytest.mark.parametrize("away", [20.0, 45.0, 100.0])
def test_a_platform_that_is_back_is_known_within_five_seconds(away: float) -> None:
    platform = six_events()

    def fail(_: WallClock) -> None:
        platform.fails = 503, {}

    def mend(_: WallClock) -> None:
        platform.fails = None

    snapshots = run(watch(platform, 60 + away, (30, fail), (30 + away, mend)))
    back = next(s for s in snapshots if seconds(s) >= 30 + away and s.link.state is ConnectionState.OK)
    assert seconds(back) - 30 - away <= 5.0
    waiting = [snapshot for snapshot in snapshots if snapshot.link.failures and snapshot.link.next_try]
    assert waiting
    assert all((s.link.next_try - s.at).total_seconds() <= 5.0 for s in waiting if s.link.next_try)
