"""Silences: the covered alarms, what continues during a silence, its end, its limits, and the merge of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.monitor import (
    Alarm,
    AlarmKey,
    AlarmRefused,
    AlarmState,
    BroadcastState,
    Case,
    CaseEvent,
    MaintenanceWindow,
    Matcher,
    MatchField,
    MatchOp,
    Severity,
    Silence,
    SilenceDraft,
    SilenceGone,
    Silences,
    Thresholds,
    match,
    preview_of,
    silence_of,
    silence_of_draft,
)
from livedeck.monitor.alarms import silencing
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.model.alarm import DECK
from livedeck.text.hours import Hours
from monitor.alarm_stage import Watcher, critical, finding, state
from monitor.recordings import snapshot
from monitor.stage import NOW, model

STUDIO = CaseEvent("4d2c", "Studio A", "news", "show")
CASE = Case("RECONNECTING", Severity.CRITICAL, [STUDIO], ("r1", "Backup"))


def silence(*matchers: str, begins: float = 0, lasts: float = 3600, number: int = 0, **fields: Any) -> Silence:
    """A silence of anna, `begins` seconds from `NOW`; without matchers it covers everything."""
    starts_at = NOW + timedelta(seconds=begins)
    made = Silence(
        f"u{number}",
        f"s-{number}",
        tuple(map(Matcher.parse, matchers)),
        starts_at,
        starts_at + timedelta(seconds=lasts),
        "anna@regie:7",
        "encoder swap",
        NOW,
        "anna@regie:7",
    )
    return replace(made, **fields)


# Matchers


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("event = 4d2c", True),
        ("event=4D2C", False),
        ("event ~ 4D*", True),
        ("name ~ studio *", True),
        ("name !~ Studio *", False),
        ("name = Studio A", True),
        ("name != Studio B", True),
        ("project = news", True),
        ("content = radio", False),
        ("kind = reconnecting", True),
        ("kind ~ RE*", True),
        ("severity = critical", True),
        ("severity != critical", False),
        ("target = Backup", True),
        ("target ~ r?", True),
        ("target !~ *", False),
    ],
)
def test_a_matcher_compares_one_property(text: str, fits: bool) -> None:
    assert match([Matcher.parse(text)], CASE, STUDIO) is fits


@pytest.mark.parametrize("text", ["", "name", "name Studio", "colour = red", "severity = grave", f"name = {'x' * 501}"])
def test_what_is_no_matcher_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"condition|severity|characters"):
        Matcher.parse(text)


def test_without_an_event_no_condition_on_an_event_fits() -> None:
    case = Case("CLOCK_SKEW", Severity.WARNING)
    for field in (MatchField.EVENT, MatchField.NAME, MatchField.PROJECT, MatchField.CONTENT):
        assert not any(match([Matcher(field, op, "*")], case) for op in MatchOp)


def covers(made: Silence, case: Case) -> bool:
    """Return whether the silence covers the alarm a second after its start, off air."""
    return silence_of([made], case, made.starts_at + timedelta(seconds=1), on_air=False) is not None


@pytest.mark.parametrize(
    "kind", ["API_BLIND", "AUTH_FAILED", "RATE_LIMITED", "NOTIFY_FAILING", "COLLECTOR_SILENT", "OWN_SLOW"]
)
@pytest.mark.parametrize("matchers", [(), ("kind ~ *",), ("kind != X",), ("severity = critical",), ("kind ~ {}",)])
def test_the_alarms_of_livedecks_own_sight_are_silenced_by_their_kind_alone(
    kind: str, matchers: tuple[str, ...]
) -> None:
    case = Case(kind, Severity.CRITICAL)
    assert kind in ALARM_KINDS
    assert not covers(silence(*(text.format(kind) for text in matchers)), case)
    assert covers(silence(f"kind = {kind}"), case)


def test_an_incident_is_silenced_only_if_each_of_its_events_is() -> None:
    others = CaseEvent("9f", "Choir")
    assert covers(silence("name ~ Studio *"), Case("PLATFORM", Severity.CRITICAL, [STUDIO]))
    assert not covers(silence("name ~ Studio *"), Case("PLATFORM", Severity.CRITICAL, [STUDIO, others]))


def test_of_several_silences_the_last_to_end_is_told_and_on_air_none_lasts_over_four_hours() -> None:
    short, long = silence(number=1), silence(number=2, lasts=36_000)
    at = NOW + timedelta(minutes=1)
    assert silence_of([short, long], CASE, at, on_air=False) == (long, long.ends_at)
    assert silence_of([short, long], CASE, at, on_air=True) == (long, NOW + timedelta(hours=4))
    assert silence_of([long], CASE, NOW + timedelta(hours=4), on_air=True) is None
    extended = replace(long, at=NOW + timedelta(hours=3))
    assert silence_of([extended], CASE, NOW + timedelta(hours=5), on_air=True) is not None


# The alarms


class Room(Watcher):
    """A watcher that keeps the kinds that rang, step by step."""

    def __init__(self, *silences: Silence, windows: Sequence[MaintenanceWindow] = ()) -> None:
        super().__init__()
        self.engine = AlarmEngine(Thresholds(), windows)
        self.engine.take_silences(silences)

    def rings(self, *states: object, after: float = 1.0) -> int:
        """Return the number of alarms that ring in the next step."""
        before = self.alert_count
        self.look(*states, after=after)  # type: ignore[arg-type]
        return self.alert_count - before


def test_a_silenced_alarm_stands_on_the_board_and_in_the_log_and_does_not_ring() -> None:
    room = Room(silence("kind = BLACKOUT"))
    assert room.rings(state(critical("BLACKOUT")), after=30) == 0
    (alarm,) = room.shown
    assert (alarm.state, alarm.needs_ack) == (AlarmState.UNACKNOWLEDGED, True)
    assert alarm.silenced is not None
    assert (alarm.silenced.until, alarm.silenced.comment) == (NOW + timedelta(hours=1), "encoder swap")
    assert room.transitions("BLACKOUT") == ["raised"]
    assert room.rings(state(critical("BLACKOUT"), finding("AUDIO_LOW"))) == 1


def test_what_stands_at_its_end_rings_once_and_what_is_over_needs_nobody() -> None:
    room, faults = Room(silence(lasts=600)), (critical("BLACKOUT"), finding("AUDIO_LOW"))
    for _ in range(20):
        assert room.rings(state(*faults), after=20) == 0
    assert room.rings(state(faults[0]), after=60) == 0
    assert [(alarm.kind, alarm.state) for alarm in room.inactive] == [("AUDIO_LOW", AlarmState.CLEARED)]
    assert room.rings(state(faults[0]), after=139) == 0
    assert room.rings(state(faults[0]), after=1) == 1
    assert room.transitions("BLACKOUT") == ["raised", "silence ended"]
    assert sum(room.rings(state(faults[0])) for _ in range(30)) == 0


def test_a_silence_hushes_what_rang_before_it_and_the_lapse_of_an_acknowledgement() -> None:
    room, fault = Room(), state(critical("BLACKOUT"))
    assert room.rings(fault, after=30) == 1
    room.engine.take_silences([silence(lasts=7200)])
    assert sum(room.rings(fault, after=60) for _ in range(60)) == 0
    assert room.transitions("BLACKOUT") == ["raised", "silenced"]


def test_critical_passes_a_silence_that_says_so_also_when_a_warning_grows() -> None:
    room = Room(silence(passes=Severity.CRITICAL))
    assert room.rings(state(finding("AUDIO_LOW")), after=30) == 0
    assert room.rings(state(finding("AUDIO_LOW"), critical("BLACKOUT"))) == 1
    assert room.rings(state(critical("AUDIO_LOW"), critical("BLACKOUT"))) == 1


def test_a_planned_silence_begins_in_its_time_and_an_ended_one_stops_at_once() -> None:
    planned = silence(begins=100, lasts=1000)
    room, fault = Room(planned), state(critical("BLACKOUT"))
    room.look(fault, after=99)
    assert room.alarm("BLACKOUT").silenced is None
    room.look(fault, after=1)
    assert room.alarm("BLACKOUT").silenced is not None
    ended = silencing.end(Silences().including([planned]), "s-0", room.now, "ola", "u9")
    assert room.engine.take_silences([ended])
    assert room.rings(fault) == 1
    assert room.alarm("BLACKOUT").silenced is None


def test_a_maintenance_window_is_a_silence_of_each_week_that_a_person_can_end() -> None:
    hours = Hours.parse("Mo-Su 03:00-04:00")
    window = MaintenanceWindow("swap", hours, "Europe/Berlin", (Matcher.parse("kind = BLACKOUT"),), "swap")
    first = window.silence(datetime(2026, 11, 28, 2, 30, tzinfo=UTC))
    assert first is not None
    assert (first.starts_at, first.ends_at) == (
        datetime(2026, 11, 28, 2, tzinfo=UTC),
        datetime(2026, 11, 28, 3, tzinfo=UTC),
    )
    then = window.silence(datetime(2026, 11, 28, 3, 0, tzinfo=UTC))
    assert then is not None
    assert then.starts_at == datetime(2026, 11, 29, 2, tzinfo=UTC)
    at = first.starts_at + timedelta(minutes=1)
    ended = silencing.end(Silences().with_windows([window], at), "swap", at, "anna", "u1")
    assert Silences().including([ended]).with_windows([window], at).current(at) == ()
    assert Silences().including([ended]).with_windows([window], first.ends_at).current(first.ends_at) == (then,)


@pytest.mark.parametrize(
    ("hours", "at", "expected"),
    [
        ("Fr 22:00-02:00", "2026-11-28T01:00", ("2026-11-27T22:00", "2026-11-28T02:00")),
        ("00:00-24:00", "2026-11-28T01:00", ("2026-11-28T00:00", "2026-11-29T00:00")),
        ("Mo 03:00-04:00", "2026-11-30T04:00", ("2026-12-07T03:00", "2026-12-07T04:00")),
        ("Mo 03:00-04:00, Sa 01:00-02:00", "2026-11-28T02:00", ("2026-11-30T03:00", "2026-11-30T04:00")),
    ],
)
def test_hours_have_the_stretch_that_runs_or_comes_next(hours: str, at: str, expected: tuple[str, str]) -> None:
    found = Hours.parse(hours).next_stretch(datetime.fromisoformat(at))
    assert found == tuple(map(datetime.fromisoformat, expected))


# Limits


DRAFT = SilenceDraft((Matcher.parse("event = one"),), 3600.0, "encoder swap", actor="anna@regie:7")
ON_AIR, OFF_AIR = state(name="one"), state(name="one", tally=BroadcastState.COMPLETED)


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (replace(DRAFT, comment=" \n"), "comment"),
        (replace(DRAFT, seconds=0.0), "more than 0 s"),
        (replace(DRAFT, seconds=-5.0), "more than 0 s"),
        (replace(DRAFT, seconds=float("nan")), "more than 0 s"),
        (replace(DRAFT, seconds=32 * 86_400.0), "31 days"),
        (replace(DRAFT, seconds=14_401.0), "event on air"),
        (replace(DRAFT, matchers=()), "everything"),
        (replace(DRAFT, matchers=(Matcher.parse("name ~ *"),)), "everything"),
        (replace(DRAFT, starts_at=NOW - timedelta(hours=2)), "over already"),
        (replace(DRAFT, starts_at=NOW + timedelta(days=400)), "far"),
    ],
)
def test_a_silence_beyond_a_limit_is_refused(draft: SilenceDraft, words: str) -> None:
    with pytest.raises(AlarmRefused, match=words):
        silence_of_draft(draft, [ON_AIR], NOW)


def test_off_air_and_meant_for_everything_more_is_possible() -> None:
    long = replace(DRAFT, seconds=30 * 86_400.0)
    assert silence_of_draft(long, [OFF_AIR], NOW).ends_at == NOW + timedelta(days=30)
    assert silence_of_draft(replace(DRAFT, matchers=(), is_everything=True), [ON_AIR], NOW).takes_everything


def test_an_extension_obeys_the_same_limits_and_only_runs_on_what_runs() -> None:
    running = Silences().including([silence("event = one", lasts=7200)])
    by = silencing.Extender(NOW, "ola", "u5", [ON_AIR])
    assert silencing.extend(running, "s-", 7200, by).ends_at == NOW + timedelta(hours=4)
    with pytest.raises(AlarmRefused, match=r"an event on air .*at most 4 h"):
        silencing.extend(running, "s-0", 7201, by)
    both = by._replace(states=[ON_AIR, ON_AIR])
    with pytest.raises(AlarmRefused, match="2 events on air"):
        silencing.extend(Silences().including([silence(lasts=7200)]), "s-0", 7201, both)
    with pytest.raises(SilenceGone):
        silencing.extend(running, "s-0", 60, by._replace(now=NOW + timedelta(hours=3)))
    two = running.including([silence(number=1)])
    with pytest.raises(AlarmRefused, match="2 silences"):
        silencing.end(two, "s-", NOW, "ola", "u6")


def test_a_preview_says_what_is_covered_now() -> None:
    room = Room()
    room.look(state(critical("BLACKOUT")), state(critical("BLACKOUT"), name="two"), after=30)
    shown = replace(snapshot({}, 0, ()), events=room.states, alarms=room.shown)
    found = preview_of(silence("event = one"), shown)
    assert (len(found.events), len(found.on_air), [alarm.event_id for alarm in found.alarms]) == (1, 1, ["one"])
    assert found.text == "covers now: 1 event, 1 on air, 1 alarm"


# Rows


ACTORS = ("anna", "ola", "kim")


@given(st.integers(0, 2**32))
def test_rows_in_any_order_with_repeats_make_one_state(seed: int) -> None:
    random = Random(seed)
    rows = [
        silence(
            number=random.randrange(5),
            lasts=random.randrange(1, 9000),
            uid=f"u{number}",
            at=NOW + timedelta(seconds=random.randrange(20)),
            actor=random.choice(ACTORS),
        )
        for number in range(30)
    ]
    orders = [random.sample(rows, len(rows)) + random.choices(rows, k=9) for _ in range(3)]
    states = {tuple(sorted(Silences().including(order).latest.items(), key=str)) for order in orders}
    one_by_one = Silences()
    for row in random.sample(rows, len(rows)):
        one_by_one = one_by_one.including([row])
    assert {*states} == {tuple(sorted(one_by_one.latest.items(), key=str))}


def test_a_later_action_is_dated_later_even_if_this_clock_is_behind() -> None:
    known = Silences().including([silence(at=NOW + timedelta(seconds=5))])
    ended = silencing.end(known, "s-0", NOW, "ola", "u2")
    assert ended.at > NOW + timedelta(seconds=5)
    assert known.including([ended]).current(NOW + timedelta(seconds=6)) == ()


@pytest.mark.parametrize(
    ("stream", "is_over"),
    [
        (None, False),
        ({"status": "pending"}, False),
        ({"status": "live"}, False),
        ({"status": "finished"}, True),
        ({"status": "finished", "finished_at": (NOW - timedelta(days=7)).isoformat()}, False),
        ({"status": "finished", "finished_at": (NOW + timedelta(minutes=5)).isoformat()}, True),
    ],
)
def test_a_silence_that_ends_with_its_event_is_over_when_that_has_ended_since(
    stream: dict[str, str] | None, is_over: bool
) -> None:
    """An event that is late, planned or not yet seen on air has not ended."""
    made = silence("event = one", until_end_of="one")
    known = replace(ON_AIR, event=model(id="one", stream=stream and {"id": "s", "event_id": "one", **stream}))
    assert bool(silencing.over_with_event([made], {"one": known}, lambda _: False)) is is_over


def test_a_silence_that_ends_with_its_event_is_over_when_that_is_gone() -> None:
    made = silence("event = one", until_end_of="one")
    assert silencing.over_with_event([made], {}, lambda _: False) == [made]
    assert not silencing.over_with_event([made], {}, lambda _: True)


def test_a_silence_of_an_alarm_that_only_livedeck_has_marks_no_event() -> None:
    """A wall would show each event as under maintenance, and an operator would believe that nothing rings."""
    at = NOW + timedelta(seconds=60)
    assert silencing.end_of_silence([silence("kind = OWN_SLOW")], ON_AIR, at) is None
    assert silencing.end_of_silence([silence("kind = BLACKOUT")], ON_AIR, at) is not None


def test_a_silenced_alarm_that_grows_and_passes_is_logged_as_no_longer_silenced() -> None:
    """Only so the key figures count what rang."""
    room = Room(silence(passes=Severity.CRITICAL))
    room.rings(state(finding("BLACKOUT")), after=30)
    assert room.rings(state(critical("BLACKOUT")), after=30) == 1
    assert room.transitions("BLACKOUT") == ["raised", "silence ended"]


def test_an_alarm_that_cleared_before_a_silence_still_waits_for_its_acknowledgement() -> None:
    room = Room()
    assert room.rings(state(critical("BLACKOUT")), after=30) == 1
    room.rings(state(), after=60)
    room.engine.take_silences([silence(begins=100, lasts=7200)])
    room.rings(state(), after=60)
    (alarm,) = room.shown
    assert (alarm.state, alarm.needs_ack) == (AlarmState.RETURNED, True)


def test_a_restored_alarm_rings_if_its_silence_ended_meanwhile() -> None:
    room, fault = Room(silence(lasts=600)), state(critical("BLACKOUT"))
    room.look(fault, after=30)
    restored: tuple[Alarm, ...] = (room.alarm("BLACKOUT"),)
    later = Room(silence(lasts=600))
    later.engine.restore(restored, NOW + timedelta(seconds=700))
    assert later.rings(fault, after=700) == 1
    assert AlarmKey("one", "BLACKOUT") in later.engine.alarms
    assert DECK == ""
