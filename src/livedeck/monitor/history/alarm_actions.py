"""Alarm actions in the history: one row for each, in the table `answer`.

Every process appends rows; none changes the rows of another.
"""

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
    SELECT 1 FROM answer AS later
    WHERE later.answer IN ('shelve', 'shelve alone', 'unshelve', 'out of service', 'in service')
    AND (later.event, later.kind, later.target) = (answer.event, answer.kind, answer.target)
    AND (later.at, later.uid) > (answer.at, answer.uid)
))
"""
"""SQL condition that selects the actions that may be deleted. `before`: microseconds since the epoch.

"Out of service" has no end of its own, so such an action stays until a later one replaces it.
"""

_OLD = f"DELETE FROM answer WHERE id IN (SELECT id FROM answer WHERE {OLD} LIMIT :step) RETURNING id"  # noqa: S608  constants


def write(db: Database, actions: Iterable[AlarmAction]) -> None:
    """Append the actions that the file does not have yet, within the caller's transaction. Raises StorageError."""
    db.run_many(_INSERT, [_row(action) for action in actions])


def read(db: Database, after: int) -> tuple[int, tuple[AlarmAction, ...]]:
    """Return the id of the last row, and the actions after row `after` in the order of writing.

    Skips actions of a kind or severity that this version does not have. Raises StorageError.
    """
    rows = db.checked(_CHECKED, _READ, [after])
    actions = tuple(_action(*row[1:]) for row in rows if row[6] in _KINDS and row[9] in _SEVERITIES)
    return rows[-1][0] if rows else after, actions


def is_sound(row: Mapping[str, Any]) -> bool:
    """Return whether this version of livedeck has the kind and the severity of a row (column name -> value)."""
    return row["answer"] in _KINDS and row["severity"] in _SEVERITIES


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` actions older than `before` (epoch ms). Return whether any was deleted."""
    return bool(db.rows(_OLD, {"before": before * 1000, "step": step}))


def _row(action: AlarmAction) -> tuple[object, ...]:
    return (
        action.uid,
        *action.key,
        microseconds(action.since),
        action.kind.value,
        microseconds(action.at),
        action.actor,
        action.severity.value,
        action.stage,
        None if action.until is None else microseconds(action.until),
        action.reason,
    )


def _action(uid: str, *columns: Any) -> AlarmAction:
    event, alarm_kind, target, since, action_kind, at, actor, severity, stage, until, reason = columns
    return AlarmAction(
        uid,
        AlarmKey(event, alarm_kind, target),
        moment(since),
        ActionKind(action_kind),
        moment(at),
        actor,
        Severity(severity),
        stage,
        None if until is None else moment(until),
        reason,
    )
