"""The log of alarms is grouped by incidents: one thread for one fault."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from livedeck.monitor import (
    DECK,
    Alarm,
    AlarmChange,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    Diagnosis,
    Severity,
    possible_parents,
)
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.presentation.incidents import INCIDENTS, Incident, incident_lines, incidents
from livedeck.presentation.table import layout, row_line
from livedeck.text.segments import plain
from presentation.test_events import FRESH, NOW

LOSS = Alarm(
    "one",
    "PACKET_LOSS",
    Severity.CRITICAL,
    NOW - timedelta(minutes=20),
    "Choir",
    "loss in 4 of 6",
    "no loss",
    changed=NOW,
    diagnosis=Diagnosis("Packets are lost."),
)
UNSTABLE = replace(LOSS, kind="BITRATE_UNSTABLE", severity=Severity.WARNING, actual="rate jumps")


def record(alarm: Alarm, minutes_ago: float, turn: AlarmTransition, state: AlarmState, **changes: str) -> AlarmRecord:
    """Return a transition of the alarm some minutes ago."""
    changed = replace(alarm, state=state, **changes)  # type: ignore[arg-type]
    at = NOW - timedelta(minutes=minutes_ago)
    return AlarmRecord.of(AlarmChange(at, turn, replace(changed, answered_at=at)))


RAISED = record(LOSS, 20, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
HIDDEN = record(UNSTABLE, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED)
READ = record(LOSS, 18, AlarmTransition.ACKNOWLEDGED, AlarmState.ACKNOWLEDGED, answered_by="anna@regie:7")
NOTED = record(LOSS, 17, AlarmTransition.NOTED, AlarmState.ACKNOWLEDGED, note="cable ordered")
OVER = record(LOSS, 10, AlarmTransition.CLEARED, AlarmState.CLEARED)
HIDDEN_OVER = record(UNSTABLE, 9, AlarmTransition.CLEARED, AlarmState.CLEARED)
NOTED_BELOW = record(UNSTABLE, 18, AlarmTransition.NOTED, AlarmState.SUPPRESSED, note="seen")
NOTED_FIRST = record(LOSS, 18, AlarmTransition.NOTED, AlarmState.UNACKNOWLEDGED, note="ok")
TAKEN_BACK = record(LOSS, 16, AlarmTransition.UNACKNOWLEDGED, AlarmState.UNACKNOWLEDGED, answered_by="anna@regie:7")
RETURNED = record(LOSS, 10, AlarmTransition.RETURNED, AlarmState.RETURNED)
UNSIGNED = record(LOSS, 18, AlarmTransition.ACKNOWLEDGED, AlarmState.ACKNOWLEDGED)
STORY = (RAISED, HIDDEN, READ, NOTED, OVER, HIDDEN_OVER)


def told(incident: Incident) -> str:
    """Return the text of the pane, as one line."""
    return " ".join(" ".join(plain(line).split()) for line in incident_lines(incident, 100, 40))


def row(incident: Incident) -> str:
    """Return the row of the table, as on a wide screen."""
    return plain(row_line(incident, FRESH, layout(INCIDENTS.columns, 160)))


def test_an_incident_tells_cause_what_was_hidden_what_people_did_and_when_each_thing_happened() -> None:
    (incident,) = incidents(STORY)
    assert [member.last.kind for member in incident.members] == ["BITRATE_UNSTABLE"]
    words = told(incident)
    for part in (
        "cause Packets are lost.",
        "actual loss in 4 of 6, expected no loss",
        "people 20:42:00Z acknowledged by anna@regie",
        "noted: cable ordered with it 1 alarm hidden while it was open BITRATE_UNSTABLE Choir",
        "timeline 20:40:00Z raised loss in 4 of 6, expected no loss 20:41:00Z hidden BITRATE_UNSTABLE Choir rate jumps",
    ):
        assert part in words
    assert "20:40:00Z  10:00" in row(incident)
    assert "PACKET_LOSS +1" in row(incident)
    assert "noted: cable" in row(incident)


def test_a_fault_that_begins_anew_is_another_incident_and_the_newest_is_first() -> None:
    again = replace(LOSS, since=NOW - timedelta(minutes=3))
    begun = record(again, 3, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
    newest, oldest = incidents((*STORY, begun))
    assert (newest.lead.ended, oldest.lead.ended) == (None, OVER.at)
    assert "so far" in row(newest)


def test_what_was_hidden_belongs_to_the_fault_of_the_platform_before_one_of_its_event() -> None:
    outage = replace(LOSS, event_id=DECK, kind="PLATFORM", subject="platform")
    began = record(outage, 20, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
    low = replace(UNSTABLE, kind="VIDEO_LOW")
    hidden = [
        record(alarm, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED)
        for alarm in (replace(low, event_id="two", subject="Town hall"), low)
    ]
    found = {incident.lead.last.kind: incident for incident in incidents((began, RAISED, *hidden))}
    assert [member.last.subject for member in found["PLATFORM"].members] == ["Town hall", "Choir"]
    assert not found["PACKET_LOSS"].members


def test_an_alarm_that_was_only_hidden_for_a_while_is_an_incident_of_its_own() -> None:
    seen = record(UNSTABLE, 12, AlarmTransition.RELEASED, AlarmState.UNACKNOWLEDGED)
    assert len(incidents((RAISED, HIDDEN, OVER, seen))) == 2


def test_nobody_is_said_to_have_been_silent_about_an_alarm_whose_beginning_the_log_lacks() -> None:
    whole, (part,) = incidents((RAISED, OVER)), incidents((OVER,))
    assert ["not acknowledged" in row(incident) for incident in (*whole, part)] == [True, False]


def of_deck(kind: str, severity: Severity = Severity.CRITICAL) -> AlarmRecord:
    """Return an alarm of the deck, raised before all others."""
    alarm = replace(LOSS, event_id=DECK, kind=kind, subject="platform", severity=severity)
    return record(alarm, 21, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)


def test_no_alarm_is_lost_when_another_hides_the_one_that_hid_it() -> None:
    away, still = replace(LOSS, kind="RECONNECTING"), replace(LOSS, kind="PICTURE_STILL")
    platform = replace(LOSS, kind="PLATFORM", event_id=DECK, subject="platform")
    log = (
        record(away, 20, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED),
        record(still, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED),
        record(platform, 18, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED),
        record(away, 18, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED),
        record(UNSTABLE, 17, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED),
    )
    (incident,) = incidents(log)
    assert incident.lead.last.kind == "PLATFORM"
    assert [member.last.kind for member in incident.members] == ["RECONNECTING", "PICTURE_STILL", "BITRATE_UNSTABLE"]


@pytest.mark.parametrize("kind", sorted({*ALARM_KINDS} - {*possible_parents(UNSTABLE.kind, "one"), UNSTABLE.kind}))
def test_a_kind_that_cannot_hide_an_alarm_leads_it_in_no_incident(kind: str) -> None:
    other = replace(LOSS, kind=kind, event_id=DECK if ALARM_KINDS[kind].is_of_deck else "one")
    began = record(other, 21, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
    found = {incident.lead.last.kind: incident for incident in incidents((began, RAISED, HIDDEN))}
    assert [member.last.kind for member in found["PACKET_LOSS"].members] == ["BITRATE_UNSTABLE"]


def test_an_info_leads_no_incident() -> None:
    found = incidents((of_deck("API_BLIND", Severity.INFO), RAISED, HIDDEN))
    assert {incident.lead.last.kind: len(incident.members) for incident in found} == {"PACKET_LOSS": 1, "API_BLIND": 0}


def test_the_acts_of_an_incident_are_found_once() -> None:
    (incident,) = incidents(STORY)
    assert incident.acts is incident.acts


@pytest.mark.parametrize("rows", range(6, 30))
def test_a_pane_of_any_height_has_people_and_timeline_and_counts_what_it_leaves_out(rows: int) -> None:
    """Six lines at 80x24."""
    signs = [
        replace(UNSTABLE, kind=kind)
        for kind in ("BITRATE_UNSTABLE", "VIDEO_LOW", "FPS_LOW", "VIDEO_DECAY", "FPS_COLLAPSE")
    ]
    hidden = [record(sign, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED) for sign in signs]
    notes = [
        record(LOSS, 16 - each, AlarmTransition.NOTED, AlarmState.ACKNOWLEDGED, note=f"n{each}") for each in range(4)
    ]
    (incident,) = incidents((RAISED, *hidden, READ, *notes, OVER))
    lines = [" ".join(plain(line).split()) for line in incident_lines(incident, 76, rows)]
    assert len(lines) <= rows
    starts = [
        label
        for line in lines
        for label in ("cause", "actual", "people", "with it", "timeline")
        if line.startswith(label)
    ]
    assert starts == ["cause", "actual", "people", "with it", "timeline"]
    assert lines[-1].endswith("20:50:00Z cleared")
    people = lines[2 : next(row for row, line in enumerate(lines) if line.startswith("with it"))]
    assert "noted: n3" in people[-1]
    assert (len(people) == 5) or f"people {5 - len(people)} earlier · " in people[0]
    assert "5 alarms hidden while it was open" in " ".join(lines)
    members = [line for line in lines if line.startswith(tuple(sign.kind for sign in signs))]
    assert len(members) <= 3
    assert not members or f"{5 - len(members)} more" in lines
    timeline = lines[next(row for row, line in enumerate(lines) if line.startswith("timeline")) :]
    assert "earlier" in timeline[0] or "raised" in timeline[0]


def test_a_note_that_has_more_lines_than_room_ends_in_an_ellipsis() -> None:
    noted = record(LOSS, 17, AlarmTransition.NOTED, AlarmState.ACKNOWLEDGED, note="cable ordered " * 12)
    (incident,) = incidents((RAISED, noted))
    lines = [plain(line) for line in incident_lines(incident, 76, 4)]
    assert lines[2].endswith(" …")
    assert max(map(len, lines)) <= 76


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ((RAISED,), "not acknowledged"),
        ((RAISED, HIDDEN, NOTED_BELOW), "not acknowledged"),
        ((RAISED, READ), "acknowledged by anna"),
        ((RAISED, READ, TAKEN_BACK), "not acknowledged"),
        ((RAISED, RETURNED), "not acknowledged"),
        ((RETURNED,), "not acknowledged"),
        ((RAISED, UNSIGNED), ""),
        ((RAISED, NOTED_FIRST), "not acknowledged; noted: ok"),
        ((RAISED, READ, OVER), "acknowledged by anna"),
    ],
)
def test_people_is_about_the_lead_alone(log: tuple[AlarmRecord, ...], words: str) -> None:
    (incident,) = incidents(log)
    people = next(column for column in INCIDENTS.columns if column.name == "handled")
    assert plain(people.render(incident, FRESH)).startswith(words)
    cells = plain(row_line(incident, FRESH, layout(INCIDENTS.columns, 160)))
    assert ("not acknowledged" in cells) == words.startswith("not")
