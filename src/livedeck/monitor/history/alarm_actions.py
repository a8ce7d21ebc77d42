"""What persons answered to alarms: one row each. Every process appends, none changes what another has written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from livedeck.monitor.history.database import Database, microseconds, moment
from livedeck.monitor.model.alarm import AlarmKey, Severity
from livedeck.monitor.model.alarm_action import ActionKind, AlarmAction

_COLUMNS = "uid, event, kind, target, since, answer, at, actor, severity, stage, until, reason"
_INSERT = f"INSERT OR IGNORE INTO answer ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  constants
_READ = f"SELECT id, {_COLUMNS} FROM answer WHERE id > ? ORDER BY id"  # noqa: S608  constants
_CHECKED = "answer.id " + " ".join(f".{name}" for name in _COLUMNS.split(", "))

_KINDS = frozenset(ActionKind)
_SEVERITIES = frozenset(Severity)

OLD = """
at < :before AND NOT (answer = 'out of service' AND NOT EXISTS (
    SELECT 1 FROM answer AS later WHERE later.answer IN ('shelve', 'unshelve', 'out of service', 'in service')
    AND (later.event, later.kind, later.target) = (answer.event, answer.kind, answer.target)
    AND (later.at, later.uid) > (answer.at, answer.uid)
))
"""
"""Answers that may go. What took an alarm out of service stays for as long as nothing took its place: it has no end of
its own. `before`: microseconds since the epoch."""

_OLD = f"DELETE FROM answer WHERE id IN (SELECT id FROM answer WHERE {OLD} LIMIT :step) RETURNING id"  # noqa: S608  constants


def write(db: Database, answers: Iterable[AlarmAction]) -> None:
    """Append these, each once however often it is given; in a transaction of the caller's. Raises StorageError."""
    db.run_many(_INSERT, [_row(answer) for answer in answers])


def read(db: Database, after: int) -> tuple[int, tuple[AlarmAction, ...]]:
    """The answers behind row `after`, in the order in which they were written, and the last row.

    Rows of another version are left out. Raises StorageError.
    """
    rows = db.checked(_CHECKED, _READ, [after])
    answers = tuple(_answer(*row[1:]) for row in rows if row[6] in _KINDS and row[9] in _SEVERITIES)
    return rows[-1][0] if rows else after, answers


def is_sound(row: Mapping[str, Any]) -> bool:
    """Whether a row, by its columns, is one of this version."""
    return row["answer"] in _KINDS and row["severity"] in _SEVERITIES


def prune(db: Database, before: int, step: int) -> bool:
    """Delete `step` answers at most that are older than `before` (epoch ms); whether there were any."""
    return bool(db.rows(_OLD, {"before": before * 1000, "step": step}))


def _row(answer: AlarmAction) -> tuple[object, ...]:
    return (
        answer.uid,
        *answer.key,
        microseconds(answer.since),
        answer.kind.value,
        microseconds(answer.at),
        answer.actor,
        answer.severity.value,
        answer.stage,
        None if answer.until is None else microseconds(answer.until),
        answer.reason,
    )


def _answer(uid: str, *columns: Any) -> AlarmAction:
    event, kind, target, since, answer, at, actor, severity, stage, until, reason = columns
    return AlarmAction(
        uid,
        AlarmKey(event, kind, target),
        moment(since),
        ActionKind(answer),
        moment(at),
        actor,
        Severity(severity),
        stage,
        None if until is None else moment(until),
        reason,
    )
