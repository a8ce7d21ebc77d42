"""History as it was at a moment in the past, without later rows.

Temporary views with the names of the file's tables show only the earlier rows, so the queries stay the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from livedeck.monitor.history import published, samples
from livedeck.monitor.history.columns import SLOT
from livedeck.monitor.history.database import ADDED, Database, StorageError, microseconds
from livedeck.monitor.history.foreign import ReadingEndedError, Stop, open_foreign
from livedeck.monitor.history.published import Frame
from livedeck.monitor.history.reads import HistoryReads
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.published.codec import KnownSamples, UnreadableSnapshotError, known_samples

T = TypeVar("T")

_VIEWS = f"""
CREATE TEMP TABLE cut (at INTEGER NOT NULL);
INSERT INTO cut VALUES (0);
CREATE TEMP TABLE known (stream INTEGER PRIMARY KEY, newest INTEGER NOT NULL);
CREATE TEMP VIEW stream AS SELECT id, event, name, base, min(rolled, newest / {SLOT}) AS rolled
    FROM main.stream JOIN temp.known ON known.stream = id;
CREATE TEMP VIEW sample AS SELECT sample.* FROM main.sample JOIN temp.known USING (stream)
    WHERE time <= newest AND NOT EXISTS (
        SELECT 1 FROM main.late WHERE (late.stream, late.time) = (sample.stream, sample.time)
        AND late.at > (SELECT at FROM temp.cut)
    );
CREATE TEMP VIEW recent AS SELECT recent.* FROM main.recent JOIN main.stream ON stream.id = recent.stream
    JOIN temp.known ON known.stream = recent.stream
    WHERE time <= base + newest AND NOT EXISTS (
        SELECT 1 FROM main.late WHERE (late.stream, late.time) = (recent.stream, recent.time - base)
        AND late.at > (SELECT at FROM temp.cut)
    );
CREATE TEMP VIEW rollup AS SELECT rollup.* FROM main.rollup JOIN temp.known USING (stream) WHERE slot < newest / {SLOT};
CREATE TEMP VIEW journal AS SELECT * FROM main.journal WHERE at <= (SELECT at / 1000 FROM temp.cut);
CREATE TEMP VIEW answer AS SELECT * FROM main.answer WHERE at <= (SELECT at FROM temp.cut);
CREATE TEMP VIEW silence AS SELECT * FROM main.silence WHERE at <= (SELECT at FROM temp.cut);
CREATE TEMP VIEW viewer_round AS SELECT * FROM main.viewer_round WHERE at <= (SELECT at / 1000 FROM temp.cut);
CREATE TEMP VIEW alarm AS SELECT rowid, * FROM main.alarm WHERE changed <= (SELECT at FROM temp.cut);
CREATE TEMP VIEW learnt AS SELECT * FROM main.learnt WHERE at <= (SELECT at / 1000 FROM temp.cut)
"""  # noqa: S608  constants
"""Statements that make the views. `cut.at`: the moment (microseconds since the epoch).

`known.newest`: newest sample of each stream at the moment (ms since the stream's base).
"""

_KNOWN = "INSERT OR REPLACE INTO temp.known SELECT id, ? - base FROM main.stream"

_KNOWN_THEN = """
INSERT OR REPLACE INTO temp.known SELECT stream.id, ? - base FROM main.stream JOIN main.event ON event.id = event
WHERE (event.name, stream.name) = (?, ?)
"""


class PastHistory(HistoryReads):
    """Read-only history as it was at the moment of the last `show`."""

    fault: str = ""
    failures: int = 0

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._db: Database | None = None
        self._thread = ThreadPoolExecutor(1, "livedeck-past")
        self._stop = Stop()
        self._readings: dict[str, tuple[KnownSamples, Readings]] = {}

    async def bounds(self) -> tuple[datetime, datetime] | None:
        """Return the first and the last moment that can be shown; None without any."""
        return await self._read(published.bounds, None)

    async def show(self, at: datetime, frame: Frame | None = None) -> tuple[Frame, Mapping[str, Readings]] | None:
        """Move to a moment. Returns the last snapshot up to then, and the samples of its events by event id.

        Returns None if every snapshot is later. `frame`: snapshot of an earlier moment, to read on from there.
        """

        def stand(db: Database) -> tuple[Frame, Mapping[str, Readings]] | None:
            found = published.following(db, frame, at) if frame else published.find(db, at)
            marks = _known_samples(db, found) if found else {}
            _cut(db, at, marks)
            self._readings = {event: (mark, self._known_readings(db, event, mark)) for event, mark in marks.items()}
            return (found, {event: readings for event, (_, readings) in self._readings.items()}) if found else None

        return await self._read(stand, None)

    async def news_beside(self, at: datetime, step: int) -> datetime | None:
        """Return the time of the next change after `at`, or of the previous change if `step` is negative; or None."""
        return await self._read(lambda db: published.news_beside(db, at, step), None)

    async def close(self) -> None:
        """Stop a running read and close the file."""
        self._stop.set()
        db, self._db = self._db, None
        if db:
            await asyncio.get_running_loop().run_in_executor(self._thread, db.close)
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _known_readings(self, db: Database, event: str, mark: KnownSamples) -> Readings:
        previous = self._readings.get(event)
        if previous and previous[0] == mark:
            return previous[1]
        return samples.readings(db, StreamKey(event, mark.stream_id), mark.newest, mark.size)

    async def _read(self, query: Callable[[Database], T], otherwise: T) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, query, otherwise)

    def _answer(self, query: Callable[[Database], T], otherwise: T) -> T:
        self.fault = ""
        try:
            with self._stop:
                if self._db is None:
                    self._db = _open(self.path)
                return query(self._db)
        except StorageError as error:
            self.fault = str(error)
            self.failures += 1
        except ReadingEndedError:  # `close` was called
            pass
        return otherwise


def _known_samples(db: Database, frame: Frame) -> Mapping[str, KnownSamples]:
    try:
        return known_samples(frame.values)
    except UnreadableSnapshotError as error:
        at = f"{frame.at:%Y-%m-%d %H:%M:%S}Z"
        raise StorageError(db.path, f"the snapshot of {at} cannot be read: {error}") from error


def _open(path: Path) -> Database:
    db = open_foreign(path, views=True)
    try:
        for statement in _VIEWS.split(";\n"):
            if all(table in db.tables or f"TEMP VIEW {table} " not in statement for table in ("recent", *ADDED)):
                db.run(statement)
    except BaseException:
        db.close()
        raise
    return db


def _cut(db: Database, at: datetime, marks: Mapping[str, KnownSamples]) -> None:
    """Hide all rows later than `at`.

    `marks`: event id -> newest sample to show of its stream. Any other stream shows its samples up to `at`.
    """
    db.run("UPDATE temp.cut SET at = ?", [microseconds(at)])
    db.run(_KNOWN, [microseconds(at) // 1000])
    rows = [(round(mark.newest * 1000), event, mark.stream_id) for event, mark in marks.items()]
    db.run_many(_KNOWN_THEN, rows)
