"""Incidents from the log of alarms: an alarm, the alarms hidden while it was open, and what people did. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from livedeck.monitor import (
    DECK,
    AlarmKey,
    AlarmRecord,
    AlarmState,
    AlarmTransition,
    Severity,
    person,
    possible_parents,
)
from livedeck.presentation.badges import SEVERITY_BADGES, severity_chip, words_role
from livedeck.presentation.events import MAX_NAME_CELLS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema
from livedeck.text.segments import Line, StyleRole, cell_len, labelled, shorten, wrap
from livedeck.text.values import compact_duration, counted, evidence_text, safe

_OVER = frozenset({AlarmState.RETURNED, AlarmState.CLEARED})

_HIDDEN_OR_OVER = _OVER | {AlarmState.SUPPRESSED}

_UNANSWERED = frozenset({AlarmState.UNACKNOWLEDGED, AlarmState.RETURNED})

_BEGINS = frozenset({AlarmTransition.RAISED, AlarmTransition.SUPPRESSED, AlarmTransition.SILENCED})
"""Transitions that begin an alarm. If its first record has another one, the alarm began before the log."""


class Thread(NamedTuple):
    """Records of an alarm's occurrence, oldest first."""

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

    def record_at(self, at: datetime) -> AlarmRecord | None:
        """Return the newest record up to a time; None if the occurrence began later."""
        return next((record for record in reversed(self.records) if record.at <= at), None)

    @property
    def hidden_at(self) -> datetime | None:
        """Time from which another alarm hid this one until it cleared; None if visible again later, or never hidden."""
        turns = [record.turn for record in self.records]
        if AlarmTransition.SUPPRESSED not in turns:
            return None
        hidden, *later = self.records[turns.index(AlarmTransition.SUPPRESSED) :]
        return hidden.at if all(record.state in _HIDDEN_OR_OVER for record in later) else None


class Incident:
    """Alarm that no other alarm hid (`lead`), and the alarms that were hidden while it was open (`members`)."""

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
        """Records of the lead and the members, oldest first."""
        threads = (self.lead, *self.members)
        return tuple(sorted((record for thread in threads for record in thread.records), key=lambda record: record.at))

    @cached_property
    def acts(self) -> tuple[AlarmRecord, ...]:
        """Records of what people did."""
        return tuple(filter(_is_act, self.records))


def incidents(records: Iterable[AlarmRecord]) -> tuple[Incident, ...]:
    """Return the incidents of a log, newest first. `records`: oldest first."""
    threads = _threads(records)
    by_key: dict[AlarmKey, list[Thread]] = {}
    for thread in threads:
        by_key.setdefault(_key(thread.first), []).append(thread)
    lead_of: dict[int, Thread] = {}

    def root(thread: Thread) -> Thread:
        return root(lead_of[id(thread)]) if id(thread) in lead_of else thread

    for thread in threads:
        lead = next((lead for lead in map(root, _parents(thread, by_key)) if lead is not thread), None)
        if lead is not None:
            lead_of[id(thread)] = lead
    members: dict[int, list[Thread]] = {}
    for thread in threads:
        if id(thread) in lead_of:
            members.setdefault(id(root(thread)), []).append(thread)
    found = [Incident(thread, members.get(id(thread), ())) for thread in threads if id(thread) not in lead_of]
    return tuple(sorted(found, key=lambda incident: incident.at, reverse=True))


def _is_act(record: AlarmRecord) -> bool:
    return bool(record.actor) or record.turn is AlarmTransition.NOTED


def _key(record: AlarmRecord) -> AlarmKey:
    return AlarmKey(record.event_id, record.kind, record.target)


def _threads(records: Iterable[AlarmRecord]) -> list[Thread]:
    """Return the occurrences of all alarms.

    A record begins a new occurrence if the previous fault has ended and the record's fault began at another time.
    """
    current: dict[AlarmKey, list[AlarmRecord]] = {}
    found: list[list[AlarmRecord]] = []
    for record in records:
        thread = current.get(_key(record))
        if thread is None or (thread[-1].state in _OVER and record.since != thread[-1].since):
            thread = current[_key(record)] = []
            found.append(thread)
        thread.append(record)
    return [Thread(tuple(thread)) for thread in found]


def _parents(thread: Thread, by_key: Mapping[AlarmKey, Sequence[Thread]]) -> Iterator[Thread]:
    """Yield the occurrences that may have hidden this one, those with the widest scope first.

    Such an occurrence was open when this one was hidden, and has a severity above info. For each alarm, only the last
    occurrence before that time counts. It may be hidden, too, such as RECONNECTING by PLATFORM.
    """
    at, event_id = thread.hidden_at, thread.first.event_id
    if at is None:
        return
    for kind in possible_parents(thread.first.kind, event_id):
        for key in (AlarmKey(DECK, kind), AlarmKey(event_id, kind)):
            others = by_key.get(key, ())
            begun = bisect_right(others, at, key=lambda other: other.first.at)
            record = others[begun - 1].record_at(at) if begun else None
            if record is not None and record.state not in _OVER and record.severity is not Severity.INFO:
                yield others[begun - 1]


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
    """Return the last act of a person on the lead, after `not acknowledged` if nobody has acknowledged the lead.

    Without an act, the line is only `not acknowledged`. It is empty if the lead began before the log and may have been
    acknowledged then.
    """
    lead = incident.lead
    act = next((act_text(record) for record in reversed(lead.records) if _is_act(record)), "")
    is_unanswered = not act and lead.last.state is not AlarmState.ACKNOWLEDGED and lead.first.turn in _BEGINS
    if not is_unanswered and lead.last.state not in _UNANSWERED:
        return [(shorten(act, cells) if cells else act, StyleRole.TEXT)]
    rest = f"; {act}" if act else ""
    has_room = not cells or cell_len(_NOT_ACKNOWLEDGED + rest) <= cells
    return [(_NOT_ACKNOWLEDGED, StyleRole.DIM), (rest if has_room else "", StyleRole.TEXT)]


_NOT_ACKNOWLEDGED = "not acknowledged"


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
        Column("handled", "PEOPLE", 22, 3, _handled, grows=True, max_width=34, draw=_handled),
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


def incident_lines(incident: Incident, cells: int, rows: int) -> list[Line]:
    """Return cause, values, acts and notes of people, hidden alarms and timeline of an incident.

    Entries that do not fit in `rows` lines are counted. People, hidden alarms and timeline have at least one line each.
    """
    record, room, has_members = incident.lead.last, max(1, cells - LABEL_CELLS), bool(incident.members)
    lines = _fact("cause", wrap(record.cause, StyleRole.TEXT, room))
    lines += _fact("actual", wrap(evidence_text(record), StyleRole.TEXT, room))
    people = _newest(incident.acts, _act_entry, rows - len(lines) - has_members - 1, StyleRole.TEXT, room)
    lines += _fact("people", people)
    lines += _fact("with it", _with_it(incident.members, rows - len(lines) - 1))
    entries = _newest(incident.records, lambda entry: _entry(entry, incident), rows - len(lines), StyleRole.DIM, room)
    return [*lines, *_fact("timeline", entries)]


def _fact(label: str, lines: Iterable[Line]) -> list[Line]:
    return [labelled("" if row else label, line, LABEL_CELLS) for row, line in enumerate(lines)]


def _newest(
    records: Sequence[AlarmRecord], write: Callable[[AlarmRecord], str], rows: int, role: StyleRole, cells: int
) -> list[Line]:
    """Return as many of the newest records as fit in `rows` lines, at least one, after the number of earlier ones."""
    rows = max(1, rows)
    texts = [write(record) for record in records[-rows:]]
    while texts:
        earlier = len(records) - len(texts)
        head = f"{earlier:,} earlier · " if earlier else ""
        lines = [line for text in (head + texts[0], *texts[1:]) for line in wrap(text, role, cells)]
        if len(lines) <= rows:
            return lines
        if len(texts) == 1:
            *above, last = [*wrap(head + texts[0], role, max(1, cells - 2))][:rows]
            return [*above, [*last, (" …", role)]]
        del texts[0]
    return []


MOST_MEMBERS = 3
"""Maximum number of hidden alarms that the pane names."""


def _with_it(members: Sequence[Thread], rows: int) -> list[Line]:
    """Return the number of hidden alarms and, if the rows have room, a line for each of the first ones."""
    if not members:
        return []
    named = len(members)
    if named > min(MOST_MEMBERS, rows - 1):
        named = max(0, min(MOST_MEMBERS, rows - 2))
    texts = [f"{counted(len(members), 'alarm')} hidden while it was open"]
    texts += [f"{member.last.kind}  {subject(member.last)}{_span(member)}" for member in members[:named]]
    texts += [f"{len(members) - named:,} more"] if 0 < named < len(members) else []
    return [[(text, StyleRole.TEXT)] for text in texts]


def _span(thread: Thread) -> str:
    ended = thread.ended
    return f"  {thread.last.since:%H:%M:%S}-{f'{ended:%H:%M:%S}Z' if ended else ''}"


def _act_entry(act: AlarmRecord) -> str:
    return f"{act.at:%H:%M:%S}Z {act_text(act)}"


def _entry(record: AlarmRecord, incident: Incident) -> str:
    """Return a record as a line of the timeline, with kind and subject unless the record is about the lead.

    The value is included for the transitions in `_WITH_VALUE`.
    """
    name = "" if _key(record) == _key(incident.lead.first) else f"  {record.kind} {subject(record)}"
    act = act_text(record) if _is_act(record) else record.turn.words
    value = f"  {evidence_text(record)}" if record.turn in _WITH_VALUE else ""
    return f"{record.at:%H:%M:%S}Z {act}{name}{value}"


_WITH_VALUE = frozenset({AlarmTransition.RAISED, AlarmTransition.SEVERITY, AlarmTransition.SUPPRESSED})
"""Transitions that the timeline shows with the alarm's value."""
