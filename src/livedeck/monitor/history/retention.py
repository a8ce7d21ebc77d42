"""Old rows leave the file in small steps, so that nobody waits for them."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.monitor.history.database import Database
from livedeck.monitor.history.journal import LASTING
from livedeck.monitor.history.packing import SLOT

_STEP = 200
"""Rows that one step deletes at most: a millisecond or two."""

_OLD_SLOTS = (
    "DELETE FROM rollup WHERE stream = :stream AND slot < :end AND slot <= coalesce("
    "(SELECT slot FROM rollup WHERE stream = :stream ORDER BY slot LIMIT 1 OFFSET :step), :end)"
)
_OLD_ENTRIES = "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE at < ? AND kind NOT IN (?, ?) LIMIT ?)"


def prune(db: Database, before: int) -> Iterator[None]:
    """Delete what is older than `before` (epoch ms), a step each time that the next item is asked for.

    Events and streams stay, a few bytes each: another deck may be writing to them. Raises StorageError.
    """
    for stream, base in db.rows("SELECT id, base FROM stream"):
        end = (before - base) // SLOT
        while _any(db, "SELECT 1 FROM rollup WHERE stream = ? AND slot < ? LIMIT 1", stream, end):
            db.run(_OLD_SLOTS, {"stream": stream, "end": end, "step": _STEP})
            yield
    db.run("DELETE FROM recent WHERE time < ?", [before // SLOT * SLOT])
    while _any(db, "SELECT 1 FROM journal WHERE at < ? AND kind NOT IN (?, ?) LIMIT 1", before, *LASTING):
        db.run(_OLD_ENTRIES, (before, *LASTING, _STEP))
        yield


def _any(db: Database, query: str, *values: object) -> bool:
    return bool(db.rows(query, values))
