"""Rounds of the probe in the history.

The table is added with the first round, because older versions refuse a file with an unknown table.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from livedeck.monitor.history.database import VIEWER_ROUNDS, Database
from livedeck.monitor.history.journal import milliseconds
from livedeck.monitor.model.viewer import Delivery, Picture, Sound, ViewerRound

_SCALE = 1000
_MOST = 10**12
"""Largest stored number. The measured segment comes from strangers, so a value may be any number."""

_INSERT = "INSERT OR IGNORE INTO viewer_round VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_READ = "SELECT * FROM viewer_round WHERE event = ? AND at >= ? AND at < ? ORDER BY at"
_HAS_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'viewer_round'"
_OLD = (
    "DELETE FROM viewer_round WHERE (event, at) IN (SELECT event, at FROM viewer_round WHERE at < ? LIMIT ?) "
    "RETURNING at"
)
_WORDS = {each.value for kind in (Delivery, Picture, Sound) for each in kind}


def has_table(db: Database) -> bool:
    """Return whether the file has ever held a round. Raises StorageError."""
    return bool(db.rows(_HAS_TABLE))


def write(db: Database, rounds: Iterable[ViewerRound]) -> None:
    """Append rounds, within the caller's transaction. Raises StorageError."""
    values = [_row(each) for each in rounds]
    if values:
        db.run(VIEWER_ROUNDS)
        db.run_many(_INSERT, values)


def _row(found: ViewerRound) -> tuple[object, ...]:
    measured = (found.latency, found.ratio, found.luma, found.change, found.loudness, found.peak)
    words = (found.delivery.value, found.picture.value, found.sound.value)
    counts = (min(found.listed, _MOST), min(found.missed, _MOST))
    return (found.event_id, milliseconds(found.at), *words, *map(_stored, measured), *counts)


def _stored(value: float | None) -> int | None:
    """Return a number as it is stored; None if it is missing or not finite."""
    if value is None or not -_MOST < value * _SCALE < _MOST:
        return None
    return round(value * _SCALE)


def read(db: Database, event_id: str, since: datetime, until: datetime) -> tuple[ViewerRound, ...]:
    """Return the rounds of an event from `since` to `until` (excluded), oldest first. Raises StorageError."""
    if not has_table(db):
        return ()
    rows = db.checked("viewer_round.*", _READ, (event_id, milliseconds(since), milliseconds(until)))
    return tuple(_round(row) for row in rows if is_known(row[2:5]))


def is_known(words: Iterable[Any]) -> bool:
    """Return whether this version knows the words of a row."""
    return all(word in _WORDS for word in words)


def _round(row: tuple[Any, ...]) -> ViewerRound:
    event_id, at, delivery, picture, sound, latency, ratio, luma, change, loudness, peak, listed, missed = row
    return ViewerRound(
        datetime.fromtimestamp(at / _SCALE, UTC),
        event_id,
        Delivery(delivery),
        Picture(picture),
        Sound(sound),
        _scaled(latency),
        _scaled(ratio),
        _scaled(luma),
        _scaled(change),
        _scaled(loudness),
        _scaled(peak),
        listed,
        missed,
    )


def _scaled(value: int | None) -> float | None:
    return None if value is None else value / _SCALE


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` rounds before `before` (epoch ms). Return whether any was deleted."""
    return has_table(db) and bool(db.rows(_OLD, (before, step)))
