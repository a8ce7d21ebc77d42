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
from livedeck.monitor.model.alarm import Alarm, AlarmTransition
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

Two onsets are one occurrence if they differ by the tolerance at most, and the first had not ended before the second. An
occurrence that has ended stays so, even if a deck that is behind still reports it as present.
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
    """Return the entries without alarm changes that another process has already logged. Raises StorageError."""
    entries = list(entries)
    moments = [entry.record.at for entry in entries if isinstance(entry.record, AlarmRecord)]
    if not moments:
        return entries
    logged: defaultdict[object, list[AlarmRecord]] = defaultdict(list)
    for record in journal.read(db, AlarmRecord, min(moments) - _SAME_CHANGE):
        logged[_identity(record)].append(record)
    return [
        entry for entry in entries if not (isinstance(entry.record, AlarmRecord) and _is_logged(entry.record, logged))
    ]


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


def _is_logged(record: AlarmRecord, logged: dict[object, list[AlarmRecord]]) -> bool:
    return any(
        other.process != record.process
        and abs(other.at - record.at) <= _SAME_CHANGE
        and abs(other.since - record.since) <= onset_tolerance(record.kind)
        for other in logged.get(_identity(record), ())
    )


def _identity(record: AlarmRecord) -> object:
    """Return the values that are equal in two processes' records of one change: the alarm and its transition.

    Texts and figures may differ. For a note the severity may differ too, because one process may not have seen the end
    of the fault yet.
    """
    alarm = record.event_id, record.kind, record.target
    if record.turn is AlarmTransition.NOTED:
        return alarm, record.turn, record.note
    # one process may not know yet who ended the event
    actor = "" if record.turn is AlarmTransition.CLEARED else record.actor
    return alarm, record.turn, (record.severity, record.reason, actor)


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
