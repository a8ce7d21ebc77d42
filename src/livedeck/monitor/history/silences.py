"""Silences in the history: a row of the table `silence` for each action of a person.

Every process appends rows; none changes the rows of another. The table is added with the first silence, because older
versions refuse a file with an unknown table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from livedeck.monitor.history import journal
from livedeck.monitor.history.database import SILENCES, Database, microseconds
from livedeck.monitor.model.silence import Silence, Silences

_INSERT = "INSERT OR IGNORE INTO silence (uid, silence, at, ends_at, body) VALUES (?, ?, ?, ?, ?)"
_READ = "SELECT id, body FROM silence WHERE id > ? ORDER BY id"
_HAS_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'silence'"

OLD = """
at < :before AND NOT EXISTS (
    SELECT 1 FROM silence AS other
    WHERE other.silence = silence.silence AND (other.ends_at >= :before OR other.at >= :before)
)
"""
"""SQL condition that selects the rows of silences that ended long ago. `before`: microseconds since the epoch."""

_OLD = f"DELETE FROM silence WHERE id IN (SELECT id FROM silence WHERE {OLD} LIMIT :step) RETURNING id"  # noqa: S608  constants


def has_table(db: Database) -> bool:
    """Return whether the file has ever held a silence. Raises StorageError."""
    return bool(db.rows(_HAS_TABLE))


def write(db: Database, rows: Iterable[Silence]) -> None:
    """Append the rows that the file does not have yet, within the caller's transaction. Raises StorageError."""
    values = [(row.uid, row.id, microseconds(row.at), microseconds(row.ends_at), journal.dump(row)) for row in rows]
    if values:
        db.run(SILENCES)
        db.run_many(_INSERT, values)


def read(db: Database, after: int) -> tuple[int, tuple[Silence, ...]]:
    """Return the id of the last row, and the rows after row `after` in the order of writing.

    Skips rows that this version cannot parse. Raises StorageError.
    """
    if not has_table(db):
        return after, ()
    rows = db.checked("silence.id .body", _READ, [after])
    return rows[-1][0] if rows else after, journal.parse(Silence, (body for _, body in rows))


def since(db: Database, moment: datetime) -> tuple[Silence, ...]:
    """Return the silences that end at `moment` or later, each with its latest values, in the order of their starts."""
    found = Silences().including(read(db, 0)[1]).latest.values()
    kept = [silence for silence in found if silence.ends_at >= moment]
    return tuple(sorted(kept, key=lambda silence: (silence.starts_at, silence.id)))


def is_sound(row: Mapping[str, Any]) -> bool:
    """Return whether this version can parse a row (column name -> value)."""
    return bool(journal.parse(Silence, [row["body"]]))


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` rows of silences that ended before `before` (epoch ms). Return whether any was deleted."""
    return has_table(db) and bool(db.rows(_OLD, {"before": before * 1000, "step": step}))
