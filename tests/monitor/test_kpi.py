"""Key figures of alarms count only announced alarms, and say if nothing is recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmAction,
    AlarmChange,
    AlarmFigures,
    AlarmHistory,
    AlarmKey,
    AlarmLimits,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    AnnouncementTally,
    Figure,
    Severity,
    Verdict,
    WatchRecord,
    alarm_figures,
)
from livedeck.monitor.alarms.kpi import announcements, flood_seconds
from monitor.stage import NOW

LIMITS, DAY = AlarmLimits(), 86_400.0
NUMBERS = count()


def turn(
    seconds: float,
    transition: AlarmTransition = AlarmTransition.RAISED,
    *,
    event: str = "one",
    kind: str = "VIDEO_LOW",
    severity: Severity = Severity.WARNING,
    state: AlarmState = AlarmState.UNACKNOWLEDGED,
) -> AlarmRecord:
    """Return a transition `seconds` after NOW."""
    at = NOW + timedelta(seconds=seconds)
    return AlarmRecord(at, transition, event, kind, "", severity, state, at, event, "", "1M", "4M")


def answer(
    seconds: float,
    kind: ActionKind = ActionKind.ACKNOWLEDGE,
    since: float = 0.0,
    actor: str = "anna@regie:1",
    text: str = "",
) -> AlarmAction:
    key = AlarmKey("one", "VIDEO_LOW")
    begun, at = (NOW + timedelta(seconds=number) for number in (since, seconds))
    return AlarmAction(f"{next(NUMBERS)}", key, begun, kind, at, actor, Severity.WARNING, reason=text)


def figures(
    *log: AlarmRecord, answers: tuple[AlarmAction, ...] = (), length: float = DAY, **options: object
) -> dict[str, Figure]:
    known = AlarmHistory(NOW, NOW + timedelta(seconds=length), log, answers, **options)  # type: ignore[arg-type]
    return {figure.key: figure for figure in alarm_figures(known, LIMITS).figures}


def test_an_onset_that_an_incident_explained_was_not_announced() -> None:
    hidden = [turn(0), turn(4, AlarmTransition.SUPPRESSED, state=AlarmState.SUPPRESSED)]
    shown = turn(60, AlarmTransition.RELEASED)
    late = [turn(100, event="two"), turn(140, AlarmTransition.SUPPRESSED, event="two", state=AlarmState.SUPPRESSED)]
    info = turn(7, event="three", severity=Severity.INFO)
    assert announcements([*hidden, info, shown, *late], LIMITS) == [shown, late[0]]


def test_an_onset_that_rang_at_once_and_was_hidden_soon_after_was_announced() -> None:
    rang = turn(0, kind="FPS_LOW")
    hidden = turn(4, AlarmTransition.SUPPRESSED, kind="FPS_LOW", state=AlarmState.SUPPRESSED)
    assert announcements([rang, hidden], LIMITS) == [rang]


def test_the_load_is_by_operator_and_hour() -> None:
    log = [turn(60 * number, event=f"e{number}") for number in range(12)]
    alone = figures(*log, length=3600)
    assert (alone["announced"].value, alone["per_operator_hour"].value) == (12, 12)
    assert alone["per_operator_hour"].is_met is False
    two = figures(*log, answers=(answer(10), answer(20, actor="bea@regie:2")), length=3600)
    assert (two["operator_hours"].value, two["per_operator_hour"].value) == (2, 6)
    assert two["per_operator_hour"].is_met is True
    assert alone["most_in_10_min"].value == 10


@given(st.lists(st.integers(0, 7200), max_size=60))
def test_the_time_in_a_flood_is_the_time_with_too_many_in_the_window(offsets: list[int]) -> None:
    times = sorted(NOW + timedelta(seconds=offset) for offset in offsets)
    window, until = timedelta(seconds=LIMITS.flood_window), NOW + timedelta(seconds=7200)
    each = sum(
        sum(second - window < at <= second for at in times) > LIMITS.flood_count
        for second in (NOW + timedelta(seconds=number) for number in range(7200))
    )
    assert flood_seconds(times, NOW, until, LIMITS) == pytest.approx(each, abs=1)


def test_nuisance_is_counted() -> None:
    over = AlarmTransition.CLEARED
    log = [*(turn(20 * number) for number in range(3)), turn(65, over, state=AlarmState.CLEARED)]
    log += [turn(200, event="two"), turn(210, over, event="two", state=AlarmState.CLEARED)]
    log += [turn(300, event="old")]
    found = figures(*log, length=2 * DAY)
    assert found["chattering"].value == 1
    assert found["fleeting_share"].value == pytest.approx(2 / 5)  # the last of three, and the second event's
    assert found["stale"].value == 1


def test_bad_actors_and_severities() -> None:
    log = [*(turn(100 * n) for n in range(9)), turn(50, event="two", kind="NO_INGEST", severity=Severity.CRITICAL)]
    known = AlarmHistory(NOW, NOW + timedelta(days=1), log, ())
    found: AlarmFigures = alarm_figures(known, LIMITS)
    assert [(actor.kind, actor.count, actor.share) for actor in found.bad_actors] == [
        ("VIDEO_LOW", 9, 0.9),
        ("NO_INGEST", 1, 0.1),
    ]
    by_key = {figure.key: figure for figure in found.figures}
    assert by_key["critical_share"].value == pytest.approx(0.1)
    assert by_key["worst_actor_share"].is_met is False


def test_the_time_to_acknowledge_counts_the_first_person_of_each_occurrence() -> None:
    log = [turn(0), turn(1000), turn(5000)]
    given_ = (answer(30), answer(90), answer(1200, since=1000))
    found = figures(*log, answers=given_)
    assert (found["acknowledged"].value, found["acknowledge_p50"].value, found["acknowledge_p95"].value) == (2, 30, 200)


def test_a_silenced_alarm_counts_once_its_silence_has_ended() -> None:
    log = [
        replace(turn(0), is_silenced=True),
        turn(3600, AlarmTransition.UNSILENCED),
        replace(turn(4000, event="two"), is_silenced=True),
        replace(turn(7600, AlarmTransition.CLEARED, event="two", state=AlarmState.CLEARED), is_silenced=True),
    ]
    assert announcements(log, LIMITS) == [log[1]]
    found = figures(*log, length=10_800)
    assert found["announced"].value == 1
    assert found["silenced_hours"].value == pytest.approx(2)


def test_hours_away_and_hidden() -> None:
    log = [
        turn(0, AlarmTransition.SHELVED, state=AlarmState.SHELVED),
        turn(3600, AlarmTransition.UNSHELVED),
        turn(7200, AlarmTransition.OUT_OF_SERVICE, state=AlarmState.OUT_OF_SERVICE),
        turn(1, AlarmTransition.SUPPRESSED, event="two", state=AlarmState.SUPPRESSED),
    ]
    found = figures(*sorted(log, key=lambda record: record.at), length=10_800)
    assert found["shelved_hours"].value == pytest.approx(2)
    assert found["suppressed"].value == 1


def test_an_alarm_that_goes_from_the_shelf_out_of_service_stays_away() -> None:
    """The log calls this step "unshelved", so only the state after it tells."""
    log = [
        turn(0, AlarmTransition.SHELVED, state=AlarmState.SHELVED),
        turn(3600, AlarmTransition.UNSHELVED, state=AlarmState.OUT_OF_SERVICE),
    ]
    assert figures(*log, length=10_800)["shelved_hours"].value == pytest.approx(3)


def test_an_acknowledged_alarm_that_becomes_visible_again_tells_nobody() -> None:
    for back in (AlarmTransition.RELEASED, AlarmTransition.UNSILENCED):
        log = [turn(0), turn(3600, back, state=AlarmState.ACKNOWLEDGED)]
        assert figures(*log, length=10_800)["announced"].value == 1


def test_a_link_is_no_further_operator() -> None:
    """Whoever used it may be one of those who used a deck."""
    log, given_ = [turn(0), turn(60)], (answer(30), answer(90, since=60, actor="link from anna (pager)"))
    assert figures(*log, answers=given_, length=3600)["operator_hours"].value == 1


def test_precision_is_the_share_of_real_alarms_and_the_last_verdict_counts() -> None:
    def closed(seconds: float, since: float, verdict: Verdict) -> AlarmAction:
        return answer(seconds, ActionKind.CLOSE, since, text=verdict.value)

    given_ = (
        closed(10, 0, Verdict.FALSE),
        closed(20, 0, Verdict.REAL),
        closed(30, 100, Verdict.MEANT_SO),
        closed(40, 200, Verdict.REAL),
        answer(50, ActionKind.UNACKNOWLEDGE, 200),
    )
    precision = figures(answers=given_)["precision"]
    assert precision.value == pytest.approx(1 / 2)
    assert precision.is_met is False


def test_what_is_not_recorded_is_not_zero() -> None:
    found = figures()
    assert (found["precision"].value, found["precision"].missing) == (None, "none closed")
    assert (found["not_watched_share"].value, found["not_watched_share"].missing) == (None, "not recorded")
    assert found["acknowledge_p50"].value is None
    assert figures(watched=())["per_operator_hour"].missing == "under 1 h watched"
    half = WatchRecord(NOW, NOW + timedelta(hours=12), "p"), WatchRecord(NOW, NOW + timedelta(hours=6), "q")
    assert figures(watched=half)["not_watched_share"].value == pytest.approx(0.5)


def test_no_alarm_in_a_time_that_nobody_watched_is_no_good_figure() -> None:
    counts = ("announced", "most_in_10_min", "chattering", "stale", "suppressed")
    unwatched, watched, recorded = figures(watched=()), figures(), figures(turn(5.0), watched=())
    for key in counts:
        assert (unwatched[key].value, unwatched[key].missing, unwatched[key].is_met) == (None, "not watched", None)
        assert watched[key].value == 0.0
    assert recorded["announced"].value == 1.0


def test_a_process_counts_what_it_announces() -> None:
    tally, alarm = (
        AnnouncementTally(LIMITS),
        Alarm("one", "VIDEO_LOW", Severity.WARNING, NOW, "one", "", "", changed=NOW),
    )
    raised = AlarmChange(NOW, AlarmTransition.RAISED, alarm)
    others = [
        AlarmChange(NOW, AlarmTransition.CLEARED, alarm),
        AlarmChange(NOW, AlarmTransition.RAISED, replace(alarm, severity=Severity.INFO)),
    ]
    tally.take([raised] * 11 + others, NOW)
    assert tally.counts == {("VIDEO_LOW", "warning"): 11}
    tally.take([], NOW + timedelta(seconds=100))
    assert tally.flood_seconds == pytest.approx(100)
    for seconds in (700, 1400):
        tally.take([], NOW + timedelta(seconds=seconds))
    assert tally.flood_seconds == pytest.approx(LIMITS.flood_window)
