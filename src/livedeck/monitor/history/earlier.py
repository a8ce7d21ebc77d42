"""A file of the first format had a row for each sample: those rows move into their slots, a few each tick."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.monitor.history.database import Database
from livedeck.monitor.history.packing import SLOT, columns_of
from livedeck.monitor.history.samples import store_slot

_STEP = 20
"""Slots that one step moves: some 10 ms, so that a month of ten events takes half a night of the deck."""


def move(db: Database) -> Iterator[None]:
    """Move the rows, a step each time that the next item is asked for; then the table goes. Raises StorageError."""
    if not db.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sample'"):
        return
    while db.rows("SELECT 1 FROM sample LIMIT 1"):
        with db.transaction():
            for _ in range(_STEP):
                _move_slot(db)
        yield
    db.run("DROP TABLE sample")


def _move_slot(db: Database) -> None:
    """Of a slot that the retention ended, the roll-up is gone, and so its rows go nowhere."""
    for stream, time in db.rows("SELECT stream, time FROM sample ORDER BY stream, time LIMIT 1"):
        slot = time // SLOT
        if db.rows("SELECT 1 FROM rollup WHERE stream = ? AND slot = ?", (stream, slot)):
            store_slot(db, stream, slot, columns_of(()))
        db.run("DELETE FROM sample WHERE stream = ? AND time < ?", (stream, (slot + 1) * SLOT))
