"""Laws of the grade of a drill."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drill.drilling import BEGAN, acknowledged, answer, at, changed, evidence, key, raised, truth, wrong
from livedeck.drill.grade import ENDED_EARLY, NEVER_RAISED, TOO_BUSY, grade, is_lost
from livedeck.drill.truth import Act, Change, Evidence, ExpectedAlarm, Raised, Refused, Starved, Timing
from livedeck.monitor import AlarmKey, Severity

SECONDS = st.floats(0, 400)
REACTION = st.none() | SECONDS


@pytest.mark.parametrize(
    ("drill", "score"),
    [
        (evidence(), 100.0),
        (evidence(acknowledge=105, act=180), 50.0),
        (evidence(acknowledge=None, act=None), 0.0),
        (evidence(more=[wrong(300), wrong(400)]), 80.0),
        (evidence(more=[wrong(300, "complete_event Foyer", ends_event=True)]), 75.0),
    ],
    ids=["all at once", "half way", "nothing", "two wrong changes", "a live event completed"],
)
def test_exact_scores(drill: Evidence, score: float) -> None:
    assert grade(drill).score == score


@given(SECONDS, SECONDS, SECONDS)
def test_credit_never_rises_with_time(par: float, more: float, seconds: float) -> None:
    timing = Timing(par, par + more)
    assert 0 <= timing.credit(seconds + 1) <= timing.credit(seconds) <= 1
    assert (timing.credit(par), timing.credit(par + more + 0.001), timing.credit(None)) == (1, 0, 0)


@given(REACTION, REACTION, st.integers(0, 12), st.booleans())
def test_a_score_is_from_0_to_100_and_a_wrong_change_never_helps(
    acknowledge: float | None, act: float | None, count: int, ends_event: bool
) -> None:
    changes = [wrong(20 * number, ends_event=ends_event) for number in range(count)]
    without = grade(evidence(acknowledge=acknowledge, act=act))
    graded = grade(evidence(acknowledge=acknowledge, act=act, more=changes))
    assert graded.score is not None
    assert 0 <= graded.score <= (without.score or 0) <= 100
    assert graded.score == pytest.approx(max(0, graded.reactions - count * (25 if ends_event else 10)), abs=0.05)
    # The alarms are raised at 10 and 70 s, and the wrong changes are made each 20 s.
    is_lost = [act is None and count > made for made in (1, 4)]
    kept = [0 if lost else row.credit for row, lost in zip(without.incidents, is_lost, strict=True)]
    assert [row.credit for row in graded.incidents] == kept


STAGES = st.sampled_from(["Foyer", "Stage 0", "Stage 1", "Stage 2"])


@given(SECONDS, STAGES, st.tuples(REACTION, REACTION, REACTION))
def test_a_wrong_change_costs_the_open_incidents_of_its_event_or_else_those_that_ask_for_an_action(
    seconds: float, event: str, reactions: tuple[float | None, float | None, float | None]
) -> None:
    """Three overlapping incidents: two ask for a change, the last for an acknowledgement alone."""
    rows = answer(0), answer(1), replace(answer(2), action=None)
    acts = [acknowledged(number) for number in range(2)]
    acts += [acknowledged(2, reactions[2])] if reactions[2] is not None else []
    changes = [changed(number, act) for number, act in enumerate(reactions[:2]) if act is not None]
    drill = Evidence(truth(*rows), at(7200), (raised(0), raised(1), raised(2)), tuple(acts), tuple(changes))
    without = grade(drill).incidents
    graded = grade(replace(drill, changes=(*changes, replace(wrong(seconds), event=event)))).incidents

    when = at(seconds)
    acted = reactions[0], reactions[1], None
    open_rows = [
        number
        for number, (limit, after) in enumerate(zip((300, 300, 180), acted, strict=True))
        if raised(number).at <= when <= raised(number, 10 + (limit if after is None else min(limit, after))).at
    ]
    same = [number for number in open_rows if event == f"Stage {number}"]
    struck = same or [number for number in open_rows if number != 2] or open_rows
    lost = [number for number in struck if number == 2 or reactions[number] is None]
    assert [number for number, row in enumerate(graded) if row.wrong] == struck
    kept = [0 if number in lost else row.credit for number, row in enumerate(without)]
    assert [row.credit for row in graded] == kept


def test_a_wrong_change_costs_no_acknowledged_incident_while_another_waits_for_its_action() -> None:
    rows = answer(0), replace(answer(1), action=None)
    acts = acknowledged(0), acknowledged(1, 1)
    drill = Evidence(truth(*rows), at(7200), (raised(0), raised(1, 0)), acts, (wrong(75),))
    assert [incident.credit for incident in grade(drill).incidents] == [0.0, 1.0]
    done = replace(drill, changes=(changed(0, 2), *drill.changes))
    assert [incident.credit for incident in grade(done).incidents] == [1.0, 0.0]


@given(SECONDS, st.booleans(), st.booleans(), st.floats(0, 170), SECONDS)
def test_a_wrong_change_in_place_of_the_reaction_costs_more_than_any_delay(
    other: float, is_ended: bool, is_asked: bool, acknowledge: float, act: float
) -> None:
    """`other`: reaction to the second incident, the same in both drills."""

    def played(first: tuple[float, float | None], more: list[Change]) -> float:
        row = answer() if is_asked else replace(answer(), action=None)
        acts = (acknowledged(0, first[0]), acknowledged(30, other))
        changes = [changed(0, first[1])] if first[1] is not None and is_asked else []
        drill = Evidence(truth(row, answer(30)), at(7200), (raised(0), raised(30)), acts, (*changes, *more))
        score = grade(drill).score
        assert score is not None
        return score

    slow = played((acknowledge, act), [])
    mistaken = played((0, None), [wrong(60, ends_event=is_ended)])
    assert mistaken < slow


def test_the_right_change_after_a_wrong_one_has_its_credit() -> None:
    assert grade(evidence(1, act=60, more=[wrong(40)])).score == 90.0
    assert grade(evidence(1, act=None, more=[wrong(40)])).score == 0.0
    assert grade(evidence(1, act=None, more=[wrong(311)])).score == 20.0  # after the limit


def test_an_acknowledgement_alone_counts_three_tenths() -> None:
    assert grade(evidence(act=None)).score == 30.0
    assert grade(evidence(acknowledge=None)).score == 70.0
    only = replace(answer(), action=None)
    assert grade(Evidence(truth(only), at(7200), (raised(),), (acknowledged(),))).score == 100.0


def test_a_critical_incident_weighs_three_times_a_warning() -> None:
    drill = Evidence(truth(answer(0), answer(1, Severity.WARNING)), at(7200), (raised(0), raised(1)))
    right_on_critical = replace(drill, acts=(acknowledged(0),), changes=(changed(0),))
    right_on_warning = replace(drill, acts=(acknowledged(1),), changes=(changed(1),))
    assert (grade(right_on_critical).score, grade(right_on_warning).score) == (75.0, 25.0)


def test_a_change_that_was_not_carried_out_is_neither_right_nor_wrong() -> None:
    refused = evidence(1, act=None, more=[changed(0, is_carried_out=False), replace(wrong(5), is_carried_out=False)])
    assert grade(refused).score == 30.0


def test_an_allowed_change_costs_nothing_and_a_wanted_one_is_never_wrong() -> None:
    drill = evidence(more=[replace(wrong(300), is_allowed=True), changed(0, 2000)])
    assert (grade(drill).score, grade(drill).wrong) == (100.0, ())


@given(st.lists(st.integers(0, 10), max_size=8))
def test_the_same_change_within_10_s_counts_once(offsets: list[int]) -> None:
    assert grade(evidence(more=[wrong(300 + offset) for offset in (0, *offsets)])).score == 90.0
    assert grade(evidence(more=[wrong(300), wrong(310.001)])).score == 80.0
    assert grade(evidence(more=[wrong(300), wrong(311), wrong(315)])).score == 80.0
    assert grade(evidence(more=[wrong(300), wrong(301, "update_event Lobby")])).score == 80.0


def test_a_note_is_an_action_if_it_has_the_word() -> None:
    noted = Evidence(truth(answer(note="encoder")), at(7200), (raised(),), (acknowledged(),))
    for text, score in (("Encoder swapped", 100.0), ("called: ENCODER.", 100.0), ("encoders", 30.0), ("", 30.0)):
        note = Act(raised().at, key(), "anna@desk", text)
        assert grade(replace(noted, acts=(acknowledged(), note))).score == score, text
    elsewhere = Act(raised().at, AlarmKey("id-0", "VIDEO_LOW", ""), "anna@desk", "encoder")
    assert grade(replace(noted, acts=(acknowledged(), elsewhere))).score == 30.0


def test_an_act_before_the_alarm_is_no_reaction_to_it_but_an_early_repair_is() -> None:
    early = evidence(1, acknowledge=-5, act=-5)
    assert grade(early).score == 70.0
    assert grade(evidence(1, act=-11)).score == 30.0  # before the fault


def test_a_row_with_a_target_is_about_that_part_alone() -> None:
    row, other = replace(answer(), target="Video share"), replace(raised(), target="Social network")
    assert grade(Evidence(truth(row), at(7200), (other,))).incidents[0].void == NEVER_RAISED
    assert grade(Evidence(truth(row), at(7200), (replace(other, target="Video share"),))).incidents[0].void == ""


def test_seconds_count_from_the_time_at_which_the_deck_could_show_the_alarm() -> None:
    late = evidence(1, acknowledge=45, act=75)
    assert grade(late).score == 92.6
    shown = grade(replace(late, raised=(replace(raised(), shown=at(25)),)))
    (incident,) = shown.incidents
    assert (shown.score, incident.raised, incident.counted_from) == (100.0, at(10), at(25))
    assert (incident.seconds_to(incident.acknowledged), incident.limit) == (30.0, at(325))


def test_an_acknowledgement_of_any_part_counts_for_a_row_without_a_target() -> None:
    parts = [replace(raised(), key=AlarmKey("id-0", "AUDIO_LOST", part), target=part) for part in ("left", "right")]
    row, act = replace(answer(), action=None), replace(acknowledged(), key=parts[1].key)
    (incident,) = grade(Evidence(truth(row), at(7200), tuple(parts), (act,))).incidents
    assert (incident.credit, incident.parts) == (1.0, ("left", "right"))


@pytest.mark.parametrize(
    ("severities", "busy", "is_without"),
    [
        ((Severity.CRITICAL, Severity.CRITICAL), 1, False),
        ((Severity.CRITICAL, Severity.WARNING), 1, True),
        ((Severity.WARNING, Severity.CRITICAL), 1, False),
        ((None, Severity.WARNING), 1, False),
        ((None, None, Severity.WARNING), 2, True),
    ],
)
def test_a_drill_is_lost_once_nothing_can_give_it_a_score(
    severities: tuple[Severity | None, ...], busy: int, *, is_without: bool
) -> None:
    rows = tuple(replace(answer(10 * number), severity=severity) for number, severity in enumerate(severities))
    starved = [Starved(row.since, row.since + timedelta(seconds=1)) for row in rows[:busy]]
    assert is_lost(truth(*rows), starved) is is_without
    assert not is_lost(truth(*rows), [])


def test_an_alarm_long_after_its_cause_belongs_to_the_next_row_of_its_kind() -> None:
    first, second = replace(answer(), until=at(60)), replace(answer(), since=at(300))
    late = grade(Evidence(truth(first, second), at(7200), (raised(0, 310),)))
    assert [incident.void for incident in late.incidents] == [NEVER_RAISED, ""]
    in_time = grade(Evidence(truth(first, second), at(7200), (raised(0, 150), raised(0, 310))))
    assert [incident.raised for incident in in_time.incidents] == [at(150), at(310)]


@pytest.mark.parametrize(
    ("void", "spoil"),
    [
        (NEVER_RAISED, lambda drill: replace(drill, raised=drill.raised[1:])),
        (TOO_BUSY, lambda drill: replace(drill, starved=(Starved(at(1), at(5)),))),
        (
            "a step was refused: encoder Stage 0: gone",
            lambda drill: replace(
                drill, truth=replace(drill.truth, refused=(Refused(at(20), "encoder Stage 0", "Stage 0", "gone"),))
            ),
        ),
    ],
)
def test_a_void_incident_leaves_both_sums(void: str, spoil: object) -> None:
    assert callable(spoil)
    right_but_the_first = evidence(3)
    right_but_the_first = replace(
        right_but_the_first, acts=right_but_the_first.acts[1:], changes=right_but_the_first.changes[1:]
    )
    graded = grade(spoil(right_but_the_first))
    assert (graded.score, graded.incidents[0].credit, graded.incidents[0].void) == (100.0, None, void)


def test_a_drill_that_ended_before_the_limit_is_void_from_there() -> None:
    last = raised(2).at + timedelta(seconds=300)
    assert [incident.void for incident in grade(replace(evidence(3), ended=last)).incidents] == ["", "", ""]
    ended = grade(replace(evidence(3, acknowledge=None, act=None), ended=last - timedelta(seconds=1)))
    assert [incident.void for incident in ended.incidents] == ["", "", ENDED_EARLY]
    assert ended.score == 0.0


def test_there_is_no_score_if_over_half_of_the_weight_is_void() -> None:
    half = grade(replace(evidence(2), raised=evidence(2).raised[:1]))
    over = grade(replace(evidence(3), raised=evidence(3).raised[:1]))
    assert (half.score, half.void) == (100.0, "")
    assert (over.score, over.void) == (None, NEVER_RAISED)
    assert grade(evidence(0)).score is None


def test_a_busy_machine_is_void_and_never_a_low_score() -> None:
    slow = replace(evidence(2, acknowledge=170, act=290), starved=(Starved(at(0), at(7200)),))
    assert (grade(slow).score, grade(slow).void) == (None, TOO_BUSY)


def test_missed_and_false_alarms_are_the_decks_and_leave_the_score() -> None:
    hidden = ExpectedAlarm("VIDEO_LOW", "Stage 0", "", at(0), shown=False)
    missed = ExpectedAlarm("FPS_LOW", "Stage 1", "", at(0), at(60))
    rows = [ExpectedAlarm("AUDIO_LOST", f"Stage {number}", "", at(60 * number)) for number in range(2)]
    stray = Raised(at(30), AlarmKey("id-9", "CLOCK_SKEW"), "", "", Severity.WARNING)
    drill = evidence()
    drill = replace(
        drill,
        truth=replace(drill.truth, alarms=(hidden, missed, *rows)),
        raised=(*drill.raised, stray, replace(stray, at=BEGAN - timedelta(seconds=1))),
    )
    graded = grade(drill)
    assert (graded.score, graded.missed, graded.false) == (100.0, (missed,), (stray,))


def test_an_alarm_after_the_end_of_the_drill_is_not_false() -> None:
    stray = Raised(at(7201), AlarmKey("id-9", "CLOCK_SKEW"), "", "", Severity.WARNING)
    assert grade(replace(evidence(), raised=(*evidence().raised, stray))).false == ()


def test_an_alarm_after_a_change_of_its_event_is_not_false() -> None:
    ended = Raised(at(400), AlarmKey("id-f", "ENDED_ON_AIR"), "Foyer", "", Severity.WARNING)
    drill = replace(evidence(more=[wrong(390, ends_event=True)]), raised=(*evidence().raised, ended))
    assert ended not in grade(drill).false


def test_seen_is_the_first_act_and_a_wrong_change_belongs_to_the_incident_that_is_open() -> None:
    drill = evidence(acknowledge=40, act=20, more=[wrong(30), wrong(80), wrong(90, "delete_event Foyer"), wrong(101)])
    first, second = grade(drill).incidents
    assert (first.seconds_to(first.seen), first.acknowledged_by) == (20, "anna@desk")
    assert (first.wrong, second.wrong) == (1, 2)


def test_a_busy_time_or_a_refused_step_after_the_limit_voids_nothing() -> None:
    late = raised().at + timedelta(seconds=300)
    drill = replace(evidence(1), starved=(Starved(late, at(7200)),))
    drill = replace(drill, truth=replace(drill.truth, refused=(Refused(late, "encoder Stage 0", "Stage 0", "gone"),)))
    assert grade(drill).incidents[0].void == ""


def test_a_drill_that_ended_before_a_fault_blames_no_deck() -> None:
    ended = replace(evidence(2), ended=at(50), raised=evidence(2).raised[:1])
    assert [incident.void for incident in grade(ended).incidents] == [ENDED_EARLY, ENDED_EARLY]
