"""What detection has learnt of each stream: a row, in place of the one before."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import StreamKey

_KEEP = "INSERT OR REPLACE INTO learnt (event, stream, at, body) VALUES (?, ?, ?, ?)"


def keep(db: Database, learnt: Mapping[StreamKey, Learnt], at: int) -> None:
    """Store it, at that time (epoch ms); in a transaction of the caller's. Raises StorageError."""
    db.run_many(_KEEP, [(*key, at, value.to_json()) for key, value in learnt.items()])


def find(db: Database, key: StreamKey) -> Learnt | None:
    """What is known of that stream; None where nothing is that this version can read. Raises StorageError."""
    rows = db.rows("SELECT body FROM learnt WHERE event = ? AND stream = ?", key)
    return parse_learnt(rows[0][0]) if rows else None
