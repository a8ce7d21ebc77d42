"""A look at the history of a deck that runs beside us: it is read and never written."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from livedeck.monitor.board import Alarm, AlarmKey, AlarmState
from livedeck.monitor.history.database import Database, StorageError
from livedeck.monitor.history.journal import kept

REMEMBERED = 1000
"""Alarms that were cleared: a wall stays up for weeks."""


class Glance:
    """Of one history file, which may come, go and be set aside at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cleared: dict[AlarmKey, Alarm] = {}

    async def alarms(self) -> tuple[Alarm, ...]:
        """How they stood there last; none where there is no file that can be read. Read off the event loop.

        One that was cleared is so, though the deck lists it no more, until it comes again; the newest are remembered.
        """
        stood = self._cleared | {alarm.key: alarm for alarm in await asyncio.to_thread(self._read)}
        cleared = [alarm for alarm in stood.values() if alarm.state is AlarmState.CLEARED]
        newest = sorted(cleared, key=attrgetter("changed"))[-REMEMBERED:]
        self._cleared = {alarm.key: alarm for alarm in newest}
        return tuple(stood.values())

    def _read(self) -> tuple[Alarm, ...]:
        with suppress(StorageError):
            db = Database(self._path, reads=True)
            try:
                return kept(db)
            finally:
                db.close()
        return ()
