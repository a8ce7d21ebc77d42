"""The writing side, all of it on one thread: opens the file, writes what came, prunes, starts anew where it must."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TypeVar

import structlog

from livedeck.monitor.board import Alarm
from livedeck.monitor.history import earlier, journal
from livedeck.monitor.history.database import Database, StorageError, set_aside
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.history.retention import prune
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.history.writer import SampleWriter
from livedeck.monitor.readings import Readings

T = TypeVar("T")

PRUNED_EACH = timedelta(hours=1)

_WAITING = 10_000
"""Entries that wait in memory at most while the file cannot be written; samples wait as the monitor has them."""

_log = structlog.get_logger("livedeck.history")


@dataclass(frozen=True, slots=True)
class Batch:
    """What waits to be written: entries, how the alarms stand, and every present stream as the monitor knows it now."""

    samples: Mapping[StreamKey, Readings] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    alarms: tuple[Alarm, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.samples or self.entries or self.alarms is not None)

    def then(self, later: Batch) -> Batch:
        """Both, the later one winning; of too many entries the oldest are lost."""
        return Batch(
            {**self.samples, **later.samples},
            (*self.entries, *later.entries)[-_WAITING:],
            self.alarms if later.alarms is None else later.alarms,
        )


class Recorder:
    """Writes batches. `notice`: what became of a file that was corrupt, or empty.

    `limit`: bytes that the file may take, None as many as the disk has. Each method belongs on the writer's thread.
    """

    def __init__(self, path: Path | None, now: datetime, retention: timedelta, limit: int | None) -> None:
        self.notice = ""
        self._path, self._now, self._retention, self._limit = path, now, retention, limit
        self._samples: SampleWriter | None = None
        self._pruning: Iterator[None] | None = None
        self._pruned: datetime | None = None

    def open(self) -> Database:
        """The open file. A corrupt one is set aside and a new one begun. Raises StorageError."""
        return self._opened().db

    def write(self, batch: Batch, now: datetime) -> None:
        """Store all of it, then take a step of pruning. Raises StorageError; what was stored by then is stored once."""
        self._now = now
        try:
            try:
                self._write(batch)
            finally:
                self._prune()
        except StorageError as error:
            if not error.corrupt:
                raise
            self._renew()
            self._write(batch)

    def close(self) -> None:
        """Let go of the file, tidied."""
        self._let_go()

    def _write(self, batch: Batch) -> None:
        writer = self._opened()
        if batch.samples:
            writer.write(batch.samples)
            writer.forget_all_but(batch.samples)
        if not batch.entries and batch.alarms is None:
            return
        with writer.db.transaction():
            journal.write(writer.db, batch.entries)
            if batch.alarms is not None:
                journal.keep(writer.db, batch.alarms)

    def _opened(self) -> SampleWriter:
        if self._samples is None or not self._samples.db.in_place:
            self._let_go()
            try:
                self._samples = self._begun()
            except StorageError as error:
                if not error.corrupt:
                    raise
                self._set_aside()
                self._samples = self._begun()
        return self._samples

    def _begun(self) -> SampleWriter:
        db = Database(self._path, limit=self._limit)
        try:
            return SampleWriter(db)
        except StorageError:
            db.close()
            raise

    def _prune(self) -> None:
        """One step; a file that is full is pruned too. Raises StorageError for one that is corrupt."""
        if self._samples is None:
            return
        db = self._samples.db
        try:
            if self._pruning is None and (self._pruned is None or self._now - self._pruned >= PRUNED_EACH):
                self._pruned = self._now
                old = journal.milliseconds(self._now - self._retention)
                self._pruning = chain(prune(db, old), earlier.move(db, old))
            if self._pruning and next(self._pruning, self) is self:
                self._pruning = None
        except StorageError as error:
            if error.corrupt:
                raise
            _log.warning("history is not pruned", why=str(error))

    def _renew(self) -> None:
        """The open file is corrupt: set it aside, unless another deck did."""
        spoilt = self._samples is not None and self._samples.db.in_place
        self._let_go()
        if spoilt:
            self._set_aside()

    def _set_aside(self) -> None:
        if self._path is None:
            return
        aside = set_aside(self._path, self._now)
        self.notice = f"history {self._path}: it was corrupt; it is now {aside.name}, and a new one was begun"
        _log.error("history set aside", path=str(self._path), aside=str(aside))

    def _let_go(self) -> None:
        writer, self._samples, self._pruning = self._samples, None, None
        if writer:
            writer.db.close()


class Reader:
    """The reading side. A file has a connection of its own; a history in memory has one, and one thread, for both."""

    def __init__(self, path: Path | None, recorder: Recorder) -> None:
        self._path, self._recorder = path, recorder
        self._db: Database | None = None

    def ask(self, question: Callable[[Database], T]) -> T:
        """What the open file answers, all of it of one moment. Raises StorageError."""
        db = self._open()
        with db.transaction("DEFERRED"):
            return question(db)

    def interrupt(self) -> None:
        """End what is being read, from another thread."""
        if self._db:
            self._db.interrupt()

    def close(self) -> None:
        """Let go of the file."""
        db, self._db = self._db, None
        if db:
            db.close()

    def _open(self) -> Database:
        if self._path is None:
            return self._recorder.open()
        if self._db is None or not self._db.in_place:
            self.close()
            self._db = Database(self._path, reads=True)
        return self._db
