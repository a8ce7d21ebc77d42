"""Where a reader of rows that are only ever appended has got to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from livedeck.monitor.history.database import Database

T = TypeVar("T")


class RowCursor(Generic[T]):
    """Reads on from where it stopped; where the file is another by now, from its beginning.

    `read`: gives what stands behind a row, in the order in which it was written, and the last row.
    """

    def __init__(self, read: Callable[[Database, int], tuple[int, tuple[T, ...]]]) -> None:
        self._read = read
        self._db: Database | None = None
        self._version, self._last = -1, 0
        self._inode = 0

    def read(self, db: Database) -> tuple[T, ...]:
        """What others, and this process, appended since the last time. Raises StorageError."""
        version = db.version()
        if db is self._db and version == self._version:
            return ()
        if db.inode != self._inode:
            self._inode, self._last = db.inode, 0
        self._last, rows = self._read(db, self._last)
        self._db, self._version = db, version
        return rows
