"""A file of the first format had a row for each sample: those rows move into their slots, a few each tick."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.monitor.history.database import Database
from livedeck.monitor.history.samples import SLOT, store_earlier

_STEP = 20

"""Slots that one step moves: some 10 ms, so that a month of ten events takes half a night of the deck."""


_NEXT = """
SELECT stream, time, (SELECT base FROM stream WHERE id = sample.stream) FROM sample ORDER BY stream, time LIMIT 1
"""


def move(db: Database, before: int) -> Iterator[None]:
    """Move the rows, a step each time that the next item is asked for; then the table goes. Raises StorageError.

    What is older than `before` (epoch ms) goes nowhere.
    """
    while _step(db, before):
        yield


def _step(db: Database, before: int) -> bool:
    """Whether there may be more. Another deck may be moving too, and one of an earlier livedeck go on adding rows.

    It prunes samples before their roll-ups, and so may leave some whose samples are nowhere.
    """
    with db.transaction():
        if not db.rows("SELECT 1 FROM sqlite_master WHERE name = 'sample'"):
            return False
        for _ in range(_STEP):
            if not _move_slot(db, before):
                db.run("DELETE FROM rollup WHERE samples IS NULL")
                db.run("DROP TABLE sample")
                return False
    return True


def _move_slot(db: Database, before: int) -> bool:
    """Whether there was one."""
    for stream, time, base in db.rows(_NEXT):
        slot = time // SLOT
        if slot >= (before - base) // SLOT:
            store_earlier(db, stream, slot)
        db.run("DELETE FROM sample WHERE stream = ? AND time < ?", (stream, (slot + 1) * SLOT))
        return True
    return False
