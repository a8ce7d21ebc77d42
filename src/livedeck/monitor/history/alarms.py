"""How the alarms stand, one row for each occurrence, and which of their changes are news.

Every process judges the same samples and writes what changed for it; what another has written is neither doubled nor
undone (monitoring.md, "Shared alarms").
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

_TOLD_APART = timedelta(minutes=2)
"""How far apart two processes tell one change: each asks the platform in its own time."""

_REMEMBERED = timedelta(hours=1)
"""How long a cleared alarm matters to a deck that starts: how often it came of late."""

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
"""Two onsets are one occurrence where two decks may date it so, and the later is not from after the end of the other.
An occurrence that is over does not stand again: a deck that is behind will find its end too."""

_STANDING = """
SELECT body FROM alarm WHERE (state <> 'cleared' OR changed >= :recent) AND since = (
    SELECT max(since) FROM alarm AS other
    WHERE (other.event, other.kind, other.target) = (alarm.event, alarm.kind, alarm.target)
) ORDER BY rowid
"""

_OLD = "DELETE FROM alarm WHERE rowid IN (SELECT rowid FROM alarm WHERE changed < ? LIMIT ?) RETURNING rowid"


def keep(db: Database, alarms: Iterable[Alarm]) -> None:
    """Store how these alarms stand; in a transaction of the caller's. Raises StorageError."""
    db.run_many(_KEEP, [_row(alarm) for alarm in alarms])


def standing(db: Database, now: datetime) -> tuple[Alarm, ...]:
    """The newest occurrence of every alarm, as it last stood, but for what was cleared long ago; one of another
    version, or that has rotted, is left out. Raises StorageError."""
    rows = db.rows(_STANDING, {"recent": microseconds(now - _REMEMBERED)})
    return journal.parse(Alarm, (body for (body,) in rows))


def untold(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """The entries without those changes of alarms that another process has told. Raises StorageError."""
    entries = list(entries)
    moments = [entry.record.at for entry in entries if isinstance(entry.record, AlarmRecord)]
    if not moments:
        return entries
    told: defaultdict[object, list[AlarmRecord]] = defaultdict(list)
    for record in journal.read(db, AlarmRecord, min(moments) - _TOLD_APART):
        told[_what(record)].append(record)
    return [entry for entry in entries if not (isinstance(entry.record, AlarmRecord) and _is_told(entry.record, told))]


def prune(db: Database, before: int, step: int) -> bool:
    """Delete `step` alarms at most that last changed before then (epoch ms); whether there were any."""
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


def _is_told(record: AlarmRecord, told: dict[object, list[AlarmRecord]]) -> bool:
    return any(
        other.process != record.process
        and abs(other.at - record.at) <= _TOLD_APART
        and abs(other.since - record.since) <= onset_tolerance(record.kind)
        for other in told.get(_what(record), ())
    )


def _what(record: AlarmRecord) -> object:
    """What became of which alarm, without the words and figures of the moment. It may stand otherwise for another
    process by then: a note is the same to one that has not yet seen the fault end."""
    alarm = record.event_id, record.kind, record.target
    if record.turn is AlarmTransition.NOTED:
        return alarm, record.turn, record.note
    actor = "" if record.turn is AlarmTransition.CLEARED else record.actor  # who is behind an end not all know yet
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
