"""Records of changes between two snapshots: changed events, ended episodes, time watched and not watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from livedeck.monitor.history import journal
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.journal import KINDS, Entry
from livedeck.monitor.model.records import WATCH_WRITTEN_EACH, EpisodeRecord, EventRecord, UnwatchedRecord, WatchRecord
from livedeck.monitor.model.snapshot import Snapshot
from livedeck.monitor.model.span import Span
from livedeck.monitor.model.state import Episode, EventState

_KIND = KINDS[EventRecord]

_LAST = f"""
SELECT id, body FROM (
    SELECT id, body, max(at) FROM journal WHERE kind = '{_KIND}' AND at < :since AND topic = coalesce(:topic, topic)
    GROUP BY topic
)
"""  # noqa: S608  constants

_BETWEEN = f"""
SELECT body FROM journal WHERE kind = '{_KIND}' AND at < :until AND topic = coalesce(:topic, topic)
AND (at >= :since OR id IN (SELECT id FROM ({_LAST}))) ORDER BY at, id
"""  # noqa: S608  constants

_OLD = f"""
DELETE FROM journal WHERE id IN (
    SELECT id FROM journal WHERE kind = '{_KIND}' AND at < :since AND id NOT IN (SELECT id FROM ({_LAST})) LIMIT :step
) RETURNING id
"""  # noqa: S608  constants

_EVER = 2**62


class EventWatch:
    """Finds the events that changed since the previous snapshot."""

    def __init__(self) -> None:
        self._recorded: dict[str, tuple[EventState, EventRecord]] = {}

    def changes(self, snapshot: Snapshot) -> Iterator[EventRecord]:
        """Yield a record of each changed, new or vanished event, dated by this machine's clock."""
        at = snapshot.at + timedelta(seconds=snapshot.link.clock_offset)
        before, self._recorded = self._recorded, {}
        for state in snapshot.events:
            previous = before.pop(state.id, None)
            record = previous[1] if previous and _is_alike(previous[0], state) else EventRecord.of(state, at)
            self._recorded[state.id] = state, record
            if previous is None or (record is not previous[1] and not record.is_same(previous[1])):
                yield record
        yield from (replace(record, at=at, is_gone=True) for _, record in before.values())


class EpisodeWatch:
    """Finds the episodes that ended since the previous snapshot."""

    def __init__(self) -> None:
        self._episodes: dict[str, tuple[Episode, ...]] = {}

    def ended(self, snapshot: Snapshot) -> Iterator[EpisodeRecord]:
        """Yield a record of each episode that ended."""
        before, self._episodes = self._episodes, {state.id: state.episodes for state in snapshot.events}
        for state in snapshot.events:
            if state.episodes is before.get(state.id):
                continue
            previous = set(before.get(state.id, ()))
            for episode in state.episodes:
                if episode.until and episode not in previous:
                    yield EpisodeRecord.of(state, episode, episode.until)


class GapWatch:
    """Finds gaps in the watch of each stream that the previous snapshot did not have."""

    def __init__(self) -> None:
        self._gaps: dict[str, tuple[Span, ...]] = {}

    def news(self, snapshot: Snapshot) -> Iterator[UnwatchedRecord]:
        """Yield a record of each new time that was not watched."""
        before, self._gaps = self._gaps, {state.id: state.qos.not_watched for state in snapshot.events}
        for state in snapshot.events:
            gaps, earlier = state.qos.not_watched, before.get(state.id, ())
            if gaps is earlier or state.event.stream is None:
                continue
            for gap in gaps:
                if gap not in earlier:
                    since, until = (datetime.fromtimestamp(time, UTC) for time in gap)
                    yield UnwatchedRecord(since, until, state.id, state.event.stream.id or "")


class PlatformWatch:
    """Finds the stretches of unbroken good replies to this process."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._stretch: WatchRecord | None = None
        self._written: datetime | None = None

    def news(self, snapshot: Snapshot) -> Iterator[WatchRecord]:
        """Yield the stretch that has ended, and the current stretch once in each `WATCH_WRITTEN_EACH`."""
        link = snapshot.link
        if link.as_of is None or not link.state.is_answering:
            yield from self.end()
            return
        answered = link.as_of + timedelta(seconds=link.clock_offset)
        stretch = self._stretch
        if stretch and (answered - stretch.until).total_seconds() > max(_MIN_BREAK, 2 * link.interval):
            yield from self.end()
        elif stretch and answered - stretch.at >= _LONGEST:
            yield from self.end()
            self._stretch = WatchRecord(stretch.until, answered, self._process)
        if self._stretch is None:
            self._stretch = WatchRecord(answered, answered, self._process)
        self._stretch = replace(self._stretch, until=max(self._stretch.until, answered))
        if self._written is None or self._stretch.until - self._written >= WATCH_WRITTEN_EACH:
            self._written = self._stretch.until
            yield self._stretch

    def end(self) -> Iterator[WatchRecord]:
        """End the current stretch of watched time, if any, and yield its record."""
        stretch, self._stretch, self._written = self._stretch, None, None
        if stretch:
            yield stretch


_MIN_BREAK = 30.0
"""Minimum seconds without a good reply that end a stretch of watched time (monitoring.md, "Freshness").

Two poll intervals count instead if they are longer.
"""

_LONGEST = timedelta(hours=1)
"""Maximum length of a stretch of watched time. Pruning deletes a stretch by its start, even if its end is recent."""


def _is_alike(before: EventState, state: EventState) -> bool:
    """Return whether the records of both states would be equal. Must be cheap, because most events are unchanged."""
    return before.phase.tally is state.phase.tally and (before.event is state.event or before.event == state.event)


def read(db: Database, since: datetime | None, until: datetime | None, event_id: str | None) -> tuple[EventRecord, ...]:
    """Return the records of events, oldest first: each event's last record up to `since`, and its records in the range.

    Args:
        db: The history.
        since: Start of the range; None for the start of the history.
        until: End of the range, not included; None for the end of the history.
        event_id: The event; None for all events.

    Raises:
        StorageError: The file cannot be read.
    """
    bounds = {
        "since": -_EVER if since is None else journal.milliseconds(since) + 1,
        "until": _EVER if until is None else journal.milliseconds(until),
        "topic": event_id,
    }
    return journal.parse(EventRecord, (body for (body,) in db.each(_BETWEEN, bounds)))


def without_duplicates(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """Drop event records that equal the event's last record in the file, and return the other entries.

    Raises StorageError.
    """
    entries = list(entries)
    if not any(entry.kind == _KIND for entry in entries):
        return entries
    last = journal.parse(EventRecord, (body for _, body in db.rows(_LAST, {"since": _EVER, "topic": None})))
    current = {record.event_id: record for record in last}
    news = []
    for entry in entries:
        if isinstance(entry.record, EventRecord):
            before, current[entry.topic] = current.get(entry.topic), entry.record
            if before and entry.record.is_same(before):
                continue
        news.append(entry)
    return news


def prune(db: Database, before: int, step: int) -> bool:
    """Delete up to `step` records older than `before` (epoch ms). Returns whether any was deleted.

    The last older record of each event stays, because it has the event's name, and its state until the next change.
    """
    return bool(db.rows(_OLD, {"since": before, "topic": None, "step": step}))
