"""Alarms in the history: one row for each occurrence, and the alarm log without duplicates.

Every process judges the same samples, so several processes find the same change. The history stores it once
(monitoring.md, "Shared alarms").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.monitor.history import journal
from livedeck.monitor.history.database import Database, microseconds
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import Alarm, AlarmKey, AlarmTransition
from livedeck.monitor.model.records import AlarmRecord
from livedeck.text.secrets import masked_line

_SAME_CHANGE = timedelta(minutes=2)
"""Two records of a change by two processes are at most this far apart, because each polls at its own times."""

_REMEMBERED = timedelta(hours=1)
"""Maximum age of cleared alarms that a deck reads at its start, to count how often each of them came."""

_KEEP = """
INSERT INTO alarm (event, kind, target, since, state, changed, is_over, body)
VALUES (:event, :kind, :target, coalesce((
    SELECT since FROM alarm WHERE (event, kind, target) = (:event, :kind, :target)
    AND abs(since - :since) <= :tolerance AND NOT (is_over AND changed < :since)
    ORDER BY abs(since - :since) LIMIT 1
), :since), :state, :changed, :is_over, :body)
ON CONFLICT (event, kind, target, since) DO UPDATE
SET state = excluded.state, changed = excluded.changed, is_over = excluded.is_over, body = excluded.body
WHERE excluded.is_over OR NOT alarm.is_over
"""
"""Statement that stores the state of an occurrence.

Two onsets are one occurrence if they differ by at most the tolerance, and the first had not ended before the second. An
ended occurrence stays ended, even if a late deck still reports its fault as present.
"""

_STANDING = """
SELECT body FROM alarm WHERE (state <> 'cleared' OR changed >= :recent) AND since = (
    SELECT max(since) FROM alarm AS other
    WHERE (other.event, other.kind, other.target) = (alarm.event, alarm.kind, alarm.target)
) ORDER BY rowid
"""

_OLD = "DELETE FROM alarm WHERE rowid IN (SELECT rowid FROM alarm WHERE changed < ? LIMIT ?) RETURNING rowid"


def keep(db: Database, alarms: Iterable[Alarm]) -> None:
    """Store the current state of these alarms, within the caller's transaction. Raises StorageError."""
    db.run_many(_KEEP, [_row(alarm) for alarm in alarms])


def standing(db: Database, now: datetime) -> tuple[Alarm, ...]:
    """Return the newest occurrence of every alarm that is open, or was cleared in the hour before `now`.

    Skips alarms that this version cannot parse. Raises StorageError.
    """
    rows = db.rows(_STANDING, {"recent": microseconds(now - _REMEMBERED)})
    return journal.parse(Alarm, (body for (body,) in rows))


def without_duplicates(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """Drop the alarm changes that another process has already logged, and return the other entries.

    An alarm that another process has raised with a lower severity is logged as a rise of its severity. Raises
    StorageError.
    """
    entries = list(entries)
    moments = [entry.record.at for entry in entries if isinstance(entry.record, AlarmRecord)]
    if not moments:
        return entries
    logged: defaultdict[AlarmKey, list[AlarmRecord]] = defaultdict(list)
    for record in journal.read(db, AlarmRecord, min(moments) - _SAME_CHANGE):
        logged[_key(record)].append(record)
    news = []
    for entry in entries:
        found = entry.record
        if isinstance(found, AlarmRecord):
            found = _news(found, logged[_key(found)])
        if found is not None:
            news.append(entry._replace(record=found))
    return news


def _key(record: AlarmRecord) -> AlarmKey:
    return AlarmKey(record.event_id, record.kind, record.target)


def _news(record: AlarmRecord, logged: Iterable[AlarmRecord]) -> AlarmRecord | None:
    """Return the part of a record that no other process has logged; None without any. `logged`: log of the alarm."""
    others = [other for other in logged if _may_be_same(record, other)]
    if any(_change(other) == _change(record) for other in others):
        return None
    raised = [other.severity.rank for other in others if other.turn in _RAISES]
    if record.turn is not AlarmTransition.RAISED or not raised:
        return record
    return replace(record, turn=AlarmTransition.SEVERITY) if record.severity.rank < min(raised) else None


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` alarms that last changed before `before` (epoch ms). Return whether any was deleted."""
    return bool(db.rows(_OLD, (before * 1000, step)))


def _row(alarm: Alarm) -> dict[str, object]:
    return {
        "event": alarm.event_id,
        "kind": alarm.kind,
        "target": alarm.target,
        "since": microseconds(alarm.since),
        "tolerance": onset_tolerance(alarm.kind) // timedelta(microseconds=1),
        "state": alarm.state.value,
        "changed": microseconds(alarm.changed),
        "is_over": not alarm.is_ongoing,
        "body": journal.dump(_without_secrets(alarm)),
    }


_RAISES = frozenset({AlarmTransition.RAISED, AlarmTransition.SEVERITY})


def _may_be_same(record: AlarmRecord, other: AlarmRecord) -> bool:
    """Return whether `other`, by its process and times, may be another process's record of the same change."""
    return (
        other.process != record.process
        and abs(other.at - record.at) <= _SAME_CHANGE
        and abs(other.since - record.since) <= onset_tolerance(record.kind)
    )


def _change(record: AlarmRecord) -> object:
    """Return the values that are equal in two processes' records of the same change of an alarm.

    Texts and figures may differ, and so may the severity, because each process judges by its own polls.
    """
    match record.turn:
        case AlarmTransition.NOTED:
            return record.turn, record.note
        case turn if turn in _RAISES:  # one process may have raised with the severity that the other changed to
            return record.severity
        case AlarmTransition.CLEARED | AlarmTransition.RETURNED:  # one process may not know yet who ended the event
            return record.turn
    return record.turn, record.reason, record.actor


def _without_secrets(alarm: Alarm) -> Alarm:
    return replace(
        alarm,
        subject=masked_line(alarm.subject),
        target_name=masked_line(alarm.target_name),
        actual=masked_line(alarm.actual),
        expected=masked_line(alarm.expected),
        reason=masked_line(alarm.reason),
        note=masked_line(alarm.note),
        timeline=tuple(entry._replace(text=masked_line(entry.text)) for entry in alarm.timeline),
    )
