"""Which changes of the connection to the platform are news: every process of a machine has one, and tells of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from livedeck.monitor.history import journal
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.journal import Entry
from livedeck.monitor.model.records import LinkRecord

_TOLD_APART = timedelta(minutes=1)
"""How far apart two processes tell one change: each asks the platform in its own time, and backs off by itself."""


def untold(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """The entries without those changes of the link that another process has told, in whatever words. Raises
    StorageError."""
    entries = list(entries)
    moments = [entry.record.at for entry in entries if isinstance(entry.record, LinkRecord)]
    if not moments:
        return entries
    told = journal.read(db, LinkRecord, min(moments) - _TOLD_APART)
    return [entry for entry in entries if not (isinstance(entry.record, LinkRecord) and _is_told(entry.record, told))]


def _is_told(record: LinkRecord, told: Iterable[LinkRecord]) -> bool:
    return any(
        other.process != record.process and other.state is record.state and abs(other.at - record.at) <= _TOLD_APART
        for other in told
    )
