"""Baselines of streams in the history: one row for each stream, with its newest baseline."""

from __future__ import annotations

from collections.abc import Mapping

from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import StreamKey

_KEEP = "INSERT OR REPLACE INTO learnt (event, stream, at, body) VALUES (?, ?, ?, ?)"


_BEFORE = "SELECT body FROM learnt WHERE event = ? AND stream != ? AND at >= ? ORDER BY at DESC LIMIT 1"

_REMEMBERED = 7 * 86_400.0
"""Seconds after which the delivery delay of a stream no longer counts for the event's next stream."""

_STREAMS = 8
"""Maximum number of earlier streams, the newest ones, in which `had_sound_before` looks for sound."""


def keep(db: Database, learnt: Mapping[StreamKey, Learnt], at: int) -> None:
    """Store baselines with their time (`at`: epoch ms), within the caller's transaction. Raises StorageError."""
    db.run_many(_KEEP, [(*key, at, value.to_json()) for key, value in learnt.items()])


def find(db: Database, key: StreamKey) -> Learnt | None:
    """Return the baseline of a stream; None if it is missing or this version cannot parse it. Raises StorageError."""
    rows = db.rows("SELECT body FROM learnt WHERE event = ? AND stream = ?", key)
    return parse_learnt(rows[0][0]) if rows else None


def find_before(db: Database, key: StreamKey, until: float) -> Learnt | None:
    """Return the delivery delay of the event's newest other stream, stored in the 7 days before `until` (epoch s).

    Returns None without such a stream, or if this version cannot parse its row. Raises StorageError.
    """
    rows = db.rows(_BEFORE, (*key, (until - _REMEMBERED) * 1000))
    learnt = parse_learnt(rows[0][0]) if rows else None
    return Learnt(delivery=learnt.delivery) if learnt else None


def had_sound_before(db: Database, key: StreamKey) -> bool:
    """Return whether an earlier stream of the event had sound, by its stored baseline. Raises StorageError."""
    rows = db.rows("SELECT body FROM learnt WHERE event = ? AND stream != ? ORDER BY at DESC LIMIT ?", [*key, _STREAMS])
    baselines = (parse_learnt(body) for (body,) in rows)
    return any(found.checkpoint.memory.has_sound for found in baselines if found and found.checkpoint)
