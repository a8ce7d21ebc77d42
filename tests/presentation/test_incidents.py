"""The log of alarms is told by incidents: one thread for what was one fault."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from livedeck.monitor import DECK, Alarm, AlarmChange, AlarmRecord, AlarmState, AlarmTransition, Diagnosis, Severity
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
    """That transition of the alarm, so long ago."""
    changed = replace(alarm, state=state, **changes)  # type: ignore[arg-type]
    at = NOW - timedelta(minutes=minutes_ago)
    return AlarmRecord.of(AlarmChange(at, turn, replace(changed, answered_at=at)))


RAISED = record(LOSS, 20, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
HIDDEN = record(UNSTABLE, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED)
READ = record(LOSS, 18, AlarmTransition.ACKNOWLEDGED, AlarmState.ACKNOWLEDGED, answered_by="anna@regie:7")
NOTED = record(LOSS, 17, AlarmTransition.NOTED, AlarmState.ACKNOWLEDGED, note="cable ordered")
OVER = record(LOSS, 10, AlarmTransition.CLEARED, AlarmState.CLEARED)
HIDDEN_OVER = record(UNSTABLE, 9, AlarmTransition.CLEARED, AlarmState.CLEARED)
STORY = (RAISED, HIDDEN, READ, NOTED, OVER, HIDDEN_OVER)


def told(incident: Incident) -> str:
    """What the pane says, as one line."""
    return " ".join(" ".join(plain(line).split()) for line in incident_lines(incident, 100))


def test_an_incident_tells_cause_what_was_hidden_what_people_did_and_when_each_thing_happened() -> None:
    (incident,) = incidents(STORY)
    assert [member.last.kind for member in incident.members] == ["BITRATE_UNSTABLE"]
    words = told(incident)
    for part in (
        "cause Packets are lost.",
        "actual loss in 4 of 6, expected no loss",
        "with it 1 alarm hidden while it was open BITRATE_UNSTABLE Choir",
        "people 20:42:00Z acknowledged by anna@regie",
        "noted: cable ordered",
        "timeline 20:40:00Z raised loss in 4 of 6, expected no loss 20:41:00Z hidden BITRATE_UNSTABLE Choir rate jumps",
    ):
        assert part in words
    row = plain(row_line(incident, FRESH, layout(INCIDENTS.columns, 160)))
    assert "20:40:00Z  10:00" in row
    assert "PACKET_LOSS +1" in row
    assert "noted: cable" in row


def test_a_fault_that_begins_anew_is_another_incident_and_the_newest_is_first() -> None:
    again = replace(LOSS, since=NOW - timedelta(minutes=3))
    begun = record(again, 3, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
    newest, oldest = incidents((*STORY, begun))
    assert (newest.lead.ended, oldest.lead.ended) == (None, OVER.at)
    assert "so far" in plain(row_line(newest, FRESH, layout(INCIDENTS.columns, 160)))


def test_what_was_hidden_belongs_to_the_fault_of_the_platform_before_one_of_its_event() -> None:
    outage = replace(LOSS, event_id=DECK, kind="PLATFORM", subject="platform")
    began = record(outage, 20, AlarmTransition.RAISED, AlarmState.UNACKNOWLEDGED)
    other = replace(UNSTABLE, event_id="two", subject="Town hall")
    hidden = record(other, 19, AlarmTransition.SUPPRESSED, AlarmState.SUPPRESSED)
    found = {incident.lead.last.kind: incident for incident in incidents((began, RAISED, hidden, HIDDEN))}
    assert [member.last.subject for member in found["PLATFORM"].members] == ["Town hall", "Choir"]
    assert not found["PACKET_LOSS"].members


def test_an_alarm_that_was_only_hidden_for_a_while_is_an_incident_of_its_own() -> None:
    seen = record(UNSTABLE, 12, AlarmTransition.RELEASED, AlarmState.UNACKNOWLEDGED)
    assert len(incidents((RAISED, HIDDEN, OVER, seen))) == 2


def test_nobody_is_said_to_have_been_silent_about_an_alarm_whose_beginning_the_log_lacks() -> None:
    whole, (part,) = incidents((RAISED, OVER)), incidents((OVER,))
    rows = [plain(row_line(incident, FRESH, layout(INCIDENTS.columns, 160))) for incident in (*whole, part)]
    assert ["not acknowledged" in row for row in rows] == [True, False]
