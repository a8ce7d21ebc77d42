"""What a snapshot says that the one before did not: where events stand, which faults are over, how long was watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from livedeck.monitor.history import journal
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.journal import KINDS, Entry
from livedeck.monitor.model.records import WATCH_WRITTEN_EACH, EpisodeRecord, EventRecord, WatchRecord
from livedeck.monitor.model.snapshot import Snapshot
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
    """Which events stand otherwise than at the snapshot before."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[EventState, EventRecord]] = {}

    def changes(self, snapshot: Snapshot) -> Iterator[EventRecord]:
        """A record of each that does, by the clock of this machine."""
        at = snapshot.at + timedelta(seconds=snapshot.link.clock_offset)
        before, self._known = self._known, {}
        for state in snapshot.events:
            known = before.pop(state.id, None)
            record = known[1] if known and _is_alike(known[0], state) else EventRecord.of(state, at)
            self._known[state.id] = state, record
            if known is None or (record is not known[1] and not record.is_same(known[1])):
                yield record
        yield from (replace(record, at=at, is_gone=True) for _, record in before.values())


class EpisodeWatch:
    """Which faults of events are over that were not at the snapshot before."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Episode, ...]] = {}

    def ended(self, snapshot: Snapshot) -> Iterator[EpisodeRecord]:
        """A record of each."""
        before, self._known = self._known, {state.id: state.episodes for state in snapshot.events}
        for state in snapshot.events:
            if state.episodes is before.get(state.id):
                continue
            known = set(before.get(state.id, ()))
            for episode in state.episodes:
                if episode.until and episode not in known:
                    yield EpisodeRecord.of(state, episode, episode.until)


class PlatformWatch:
    """Since when and until when this process has the platform's answers, without a break."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._stretch: WatchRecord | None = None
        self._written: datetime | None = None

    def news(self, snapshot: Snapshot) -> Iterator[WatchRecord]:
        """The stretch that ended, and now and then the one that lasts."""
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
        """The stretch that lasted until now, as it is over."""
        stretch, self._stretch, self._written = self._stretch, None, None
        if stretch:
            yield stretch


_MIN_BREAK = 30.0
"""Seconds without an answer that are a break, at least: two intervals are (monitoring.md, "Freshness")."""

_LONGEST = timedelta(hours=1)
"""Of a stretch: what is older than the retention is pruned by its beginning."""


def _is_alike(before: EventState, state: EventState) -> bool:
    """Whether nothing can have changed that a record tells: most events are as they were."""
    return before.phase.tally is state.phase.tally and (before.event is state.event or before.event == state.event)


def read(db: Database, since: datetime | None, until: datetime | None, event_id: str | None) -> tuple[EventRecord, ...]:
    """How the events stood from then until before then, oldest first: the record that held at `since`, and those that
    followed; of that event, or of all. Raises StorageError."""
    bounds = {
        "since": -_EVER if since is None else journal.milliseconds(since) + 1,
        "until": _EVER if until is None else journal.milliseconds(until),
        "topic": event_id,
    }
    return journal.parse(EventRecord, (body for (body,) in db.each(_BETWEEN, bounds)))


def untold(db: Database, entries: Iterable[Entry]) -> list[Entry]:
    """The entries without those records of events that say what the file says already. Raises StorageError."""
    entries = list(entries)
    if not any(entry.kind == _KIND for entry in entries):
        return entries
    last = journal.parse(EventRecord, (body for _, body in db.rows(_LAST, {"since": _EVER, "topic": None})))
    known = {record.event_id: record for record in last}
    news = []
    for entry in entries:
        if isinstance(entry.record, EventRecord):
            before, known[entry.topic] = known.get(entry.topic), entry.record
            if before and entry.record.is_same(before):
                continue
        news.append(entry)
    return news


def prune(db: Database, before: int, step: int) -> bool:
    """Delete `step` records at most of before then (epoch ms), but the last of each event: the names of events outlive
    what is known of them, and how they stood then holds until they changed. Whether there were any."""
    return bool(db.rows(_OLD, {"since": before, "topic": None, "step": step}))
