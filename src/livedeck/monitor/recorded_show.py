"""Show in a recording: its events over time, its samples and its alarms."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from livedeck.monitor.history import StreamKey, published
from livedeck.monitor.history.database import StorageError
from livedeck.monitor.history.foreign import check_whole, open_foreign
from livedeck.monitor.judging import AlarmSpan, alarm_spans, read_recorded
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.published.codec import UnreadableSnapshotError, listed_events
from livedeck.monitor.published.difference import Values


class EventChange(NamedTuple):
    """Stored fields of an event from `at` on (codec.py); None if it was no longer listed."""

    at: datetime
    event_id: str
    fields: Values | None


class RecordedShow(NamedTuple):
    """Show from its first snapshot with a reply of the platform to its last one.

    `events`: ascending by time. `alarms`: those that the recorded data can show.
    """

    since: datetime
    until: datetime
    events: tuple[EventChange, ...]
    streams: Mapping[StreamKey, Readings]
    alarms: tuple[AlarmSpan, ...]


def read_show(path: Path) -> RecordedShow:
    """Read the show from a recording, or from the file of a history. Raises StorageError."""
    check_whole(path)
    with closing(open_foreign(path)) as db:
        events: list[EventChange] = []
        before: dict[str, Values] = {}
        since = until = None
        for frame in published.each(db) if "published" in db.tables else ():
            listed = _listed(path, frame)
            if listed is None:
                continue
            since, until = since or frame.at, frame.at
            gone = before.keys() - listed.keys()
            events += [EventChange(frame.at, event_id, None) for event_id in gone]
            events += [EventChange(frame.at, *item) for item in listed.items() if before.get(item[0]) != item[1]]
            before = listed
        if since is None or until is None:
            raise StorageError(path, "it has no snapshot of a platform that replied")
        recorded = read_recorded(db)
        alarms = alarm_spans(record for record in recorded.log if recorded.can_show(record))
        return RecordedShow(since, until, tuple(events), recorded.streams, tuple(alarms))


def _listed(path: Path, frame: published.Frame) -> dict[str, Values] | None:
    try:
        return listed_events(frame.values)
    except UnreadableSnapshotError as error:
        raise StorageError(path, f"the snapshot of {frame.at:%Y-%m-%d %H:%M:%S}Z cannot be read: {error}") from error
