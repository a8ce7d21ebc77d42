"""Incidents from the log of alarms: an alarm, the alarms hidden while it was open, and what people did. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from livedeck.monitor import DECK, AlarmKey, AlarmRecord, AlarmState, AlarmTransition, person
from livedeck.presentation.badges import SEVERITY_BADGES, severity_chip, words_role
from livedeck.presentation.events import MAX_NAME_CELLS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text.segments import Line, StyleRole, labelled, shorten, wrap
from livedeck.text.values import compact_duration, counted, evidence_text, safe

_OVER = frozenset({AlarmState.RETURNED, AlarmState.CLEARED})

_BEGINS = frozenset({AlarmTransition.RAISED, AlarmTransition.SUPPRESSED, AlarmTransition.SILENCED})
"""Transitions with which the log of an alarm begins, unless its beginning is older than the log."""


class Thread(NamedTuple):
    """One occurrence of an alarm, as its records tell it, oldest first."""

    records: tuple[AlarmRecord, ...]

    @property
    def first(self) -> AlarmRecord:
        """Oldest record."""
        return self.records[0]

    @property
    def last(self) -> AlarmRecord:
        """Newest record."""
        return self.records[-1]

    @property
    def ended(self) -> datetime | None:
        """Time at which the fault cleared; None while it is present."""
        over = [*takewhile(lambda record: record.state in _OVER, reversed(self.records))]
        return over[-1].at if over else None

    def is_open_at(self, at: datetime) -> bool:
        """Return whether the alarm was present and not hidden at a time."""
        states = [record.state for record in self.records if record.at <= at]
        return bool(states) and states[-1] not in _OVER | {AlarmState.SUPPRESSED}

    @property
    def hidden_at(self) -> datetime | None:
        """Time at which another alarm began to hide this one; None if none did."""
        return next((record.at for record in self.records if record.turn is AlarmTransition.SUPPRESSED), None)


class Incident:
    """An alarm that nothing hid, with the alarms that were hidden while it was open."""

    def __init__(self, lead: Thread, members: Sequence[Thread] = ()) -> None:
        self.lead, self.members = lead, tuple(members)

    @property
    def id(self) -> str:
        """Key by which the cursor follows the incident."""
        first = self.lead.first
        return "\x1f".join((*_key(first), f"{first.since.timestamp()}"))

    @property
    def at(self) -> datetime:
        """Beginning of the fault."""
        return self.lead.last.since

    @cached_property
    def records(self) -> tuple[AlarmRecord, ...]:
        """Records of all its alarms, oldest first."""
        threads = (self.lead, *self.members)
        return tuple(sorted((record for thread in threads for record in thread.records), key=lambda record: record.at))

    @property
    def acts(self) -> tuple[AlarmRecord, ...]:
        """Records of what people did."""
        return tuple(record for record in self.records if record.actor or record.turn is AlarmTransition.NOTED)


def incidents(records: Iterable[AlarmRecord]) -> tuple[Incident, ...]:
    """Return the incidents of a log, newest first. `records`: oldest first."""
    threads = _threads(records)
    by_event: dict[str, list[Thread]] = {}
    for thread in threads:
        by_event.setdefault(thread.first.event_id, []).append(thread)
    members: dict[int, list[Thread]] = {}
    leads: list[Thread] = []
    for thread in threads:
        lead = _lead(thread, (*by_event.get(DECK, ()), *by_event[thread.first.event_id]))
        if lead is None:
            leads.append(thread)
        else:
            members.setdefault(id(lead), []).append(thread)
    found = [Incident(lead, members.get(id(lead), ())) for lead in leads]
    return tuple(sorted(found, key=lambda incident: incident.at, reverse=True))


def _key(record: AlarmRecord) -> AlarmKey:
    return AlarmKey(record.event_id, record.kind, record.target)


def _threads(records: Iterable[AlarmRecord]) -> list[Thread]:
    """Return the occurrences: records of one alarm, up to the one after which its fault began anew."""
    current: dict[AlarmKey, list[AlarmRecord]] = {}
    done: list[list[AlarmRecord]] = []
    for record in records:
        before = current.get(_key(record))
        if before and before[-1].state in _OVER and record.since != before[-1].since:
            done.append(before)
            before = None
        current[_key(record)] = [*(before or ()), record]
    return [Thread(tuple(thread)) for thread in (*done, *current.values())]


def _lead(thread: Thread, others: Iterable[Thread]) -> Thread | None:
    """Return the alarm of the deck, or else of the same event, that was open when this one was hidden."""
    at = thread.hidden_at
    if at is None or any(thread.is_open_at(record.at) for record in thread.records if record.at > at):
        return None
    candidates = [other for other in others if other is not thread and other.is_open_at(at)]
    return min(
        candidates,
        key=lambda other: (other.first.event_id != DECK, other.first.severity.rank, other.first.at),
        default=None,
    )


def _began(incident: Incident, _: RenderTime) -> Line:
    return [(f" {incident.at:%d %b} ", StyleRole.DIM), (f"{incident.at:%H:%M:%S}Z", StyleRole.TEXT)]


def _lasted(incident: Incident, render_time: RenderTime) -> Line:
    """Return the length of the fault; `04:10 so far` while it is present."""
    ended = incident.lead.ended
    seconds = ((ended or render_time.now) - incident.at).total_seconds()
    if ended is not None:
        return [(compact_duration(seconds), StyleRole.TEXT)]
    return [(f"{compact_duration(seconds)} so far", StyleRole.STRONG)]


def _severity(incident: Incident, _: RenderTime) -> Line:
    severity = incident.lead.last.severity
    glyph, word = SEVERITY_BADGES[severity][:2]
    return [severity_chip(severity) if incident.lead.ended is None else (f" {glyph} {word} ", StyleRole.DIM)]


def subject(record: AlarmRecord) -> str:
    """Return the event of an alarm and its affected part."""
    return safe(record.subject, 60) + (f" / {safe(record.target_name, 40)}" if record.target_name else "")


def _subject(incident: Incident, _: RenderTime) -> Line:
    return [(subject(incident.lead.last), StyleRole.STRONG)]


def _kind(incident: Incident, _: RenderTime) -> Line:
    record = incident.lead.last
    role = words_role(record.severity) if incident.lead.ended is None else StyleRole.TEXT
    return [(record.kind, role), (f" +{len(incident.members)}" if incident.members else "", StyleRole.DIM)]


def _actual(incident: Incident, _: RenderTime, cells: int = 0) -> Line:
    text = evidence_text(incident.lead.last)
    return [(shorten(text, cells) if cells else text, StyleRole.TEXT)]


def act_text(record: AlarmRecord) -> str:
    """Return what a person did, and who: `acknowledged by anna`; a note in quotes."""
    by = f" by {safe(person(record.actor), 60)}" if record.actor else ""
    text = safe(record.note if record.turn is AlarmTransition.NOTED else record.reason, 200)
    return f"{record.turn.words}{by}{f': {text}' if text else ''}"


def _handled(incident: Incident, _: RenderTime, cells: int = 0) -> Line:
    """Return the last act of a person; `not acknowledged` if the whole log of the alarm has none."""
    if incident.acts:
        text = act_text(incident.acts[-1])
        return [(shorten(text, cells) if cells else text, StyleRole.TEXT)]
    return [("not acknowledged" if incident.lead.first.turn in _BEGINS else "", StyleRole.DIM)]


INCIDENTS: TableSchema[Incident] = TableSchema(
    columns=(
        Column("severity", " SEVERITY", 9, 1, _severity, lambda row, _: float(row.lead.last.severity.rank)),
        Column("began", " BEGAN (UTC)", 18, 0, _began, lambda row, _: row.at.timestamp()),
        Column(
            "lasted", "LASTED", 14, 2, _lasted, lambda row, at: ((row.lead.ended or at.now) - row.at).total_seconds()
        ),
        Column(
            "subject",
            "EVENT",
            18,
            0,
            _subject,
            lambda row, _: row.lead.last.subject,
            grows=True,
            max_width=MAX_NAME_CELLS,
        ),
        Column("kind", "ALARM", 20, 0, _kind, lambda row, _: row.lead.last.kind),
        Column("actual", "ACTUAL", 20, 4, _actual, grows=True, draw=_actual),
        Column("handled", "PEOPLE", 22, 3, _handled, grows=True, draw=_handled),
    ),
    key=lambda row: row.id,
    named_by=("subject", "kind"),
    text=lambda row: " ".join(f"{subject(record)} {record.kind} {record.note}" for record in row.records).casefold(),
)
"""Table of the incidents: one row for each, newest first."""

LABEL_CELLS = 11


def incident_title(incident: Incident) -> str:
    """Return sign, kind and subject of an incident."""
    record = incident.lead.last
    return f"{SEVERITY_BADGES[record.severity].glyph} {record.kind}  {subject(record)}"


def incident_lines(incident: Incident, cells: int) -> list[Line]:
    """Return the whole incident: cause, values, hidden alarms, acts and notes of people, and its timeline."""
    record, room = incident.lead.last, max(1, cells - LABEL_CELLS)
    members = [f"{member.last.kind}  {subject(member.last)}{_span(member)}" for member in incident.members]
    facts: dict[str, list[str]] = {
        "cause": [record.cause],
        "actual": [str(evidence_text(record))],
        "with it": [f"{counted(len(members), 'alarm')} hidden while it was open", *members] if members else [],
        "people": [f"{act.at:%H:%M:%S}Z {act_text(act)}" for act in incident.acts],
        "timeline": [_entry(entry, incident) for entry in incident.records],
    }
    lines: list[Line] = []
    for label, texts in facts.items():
        role = StyleRole.DIM if label == "timeline" else StyleRole.TEXT
        rows = [row for text in texts if text for row in wrap(text, role, room)]
        lines += [labelled("" if index else label, row, LABEL_CELLS) for index, row in enumerate(rows)]
    return lines


def _span(thread: Thread) -> str:
    ended = thread.ended
    return f"  {thread.last.since:%H:%M:%S}-{f'{ended:%H:%M:%S}Z' if ended else ''}"


def _entry(record: AlarmRecord, incident: Incident) -> str:
    """Return a record as a line of the timeline, with the name of a member, and with the value if that is news."""
    name = "" if record in incident.lead.records else f"  {record.kind} {subject(record)}"
    act = act_text(record) if record in incident.acts else record.turn.words
    value = f"  {evidence_text(record)}" if record.turn in _WITH_VALUE else ""
    return f"{record.at:%H:%M:%S}Z {act}{name}{value}"


_WITH_VALUE = frozenset({AlarmTransition.RAISED, AlarmTransition.SEVERITY, AlarmTransition.SUPPRESSED})
"""Transitions whose value is news."""
