"""Judges a recording again: compares the recorded alarms with the alarms that today's detection raises.

A recording has the platform's samples, but no polls. So kinds of alarm are not judged if they concern the deck's
machine and link, late metrics, or fields that are not recorded (monitoring.md, "Recordings").
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from livedeck.client import Event, QosSamples
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState, drop_unproven
from livedeck.monitor.detection.restreams import CONNECTED
from livedeck.monitor.history import StreamKey, events, journal, samples
from livedeck.monitor.history.foreign import Foreign, check_whole, in_thread, open_foreign
from livedeck.monitor.kinds import ALARM_KINDS, onset_tolerance
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.kinds.viewer import VIEWER_RULES
from livedeck.monitor.model.alarm import AlarmKey, AlarmState, AlarmTransition, Severity
from livedeck.monitor.model.limits import Limits
from livedeck.monitor.model.readings import Readings
from livedeck.monitor.model.records import (
    ATTRIBUTED_FOR,
    AlarmRecord,
    EventRecord,
    IntentRecord,
    RestreamRecord,
    UnwatchedRecord,
    ending_actors,
)
from livedeck.monitor.model.ruling import Ruling, Rulings
from livedeck.monitor.model.state import BroadcastState
from livedeck.monitor.model.thresholds import Cadence
from livedeck.monitor.polling.poller import EventList, PollResult
from livedeck.monitor.polling.schedule import LIST
from livedeck.monitor.tracker import ClockReading, LinkMeasure, WorldTracker

_LATENCY = 2.0
"""Seconds from the time of a sample until the replay delivers it."""

_ANSWERED = 120.0
"""Seconds of older samples that each reply of the replay repeats."""

_INSTANT = 0.001
"""Resolution of sample times, in seconds."""

_ENDED_APART = timedelta(seconds=30)
"""Two decks may find the end of the same fault at times this far apart, because each polls at its own times."""

_NEAR = timedelta(hours=1)
"""Time to judge before and after each record or sample. Times that are farther from all of them are skipped."""

_LAST = timedelta(seconds=30)
"""Last part of a recording; an alarm that begins there may not have been recorded."""

_NOT_RECORDED = frozenset({"METRICS_LATE", "QOS_STALE", "FUTURE_SAMPLES", "UNKNOWN_DATA"})
"""Kinds of alarm that need data which no recording has."""

_BELOW_PRESET = "VIDEO_BELOW_PRESET"
"""Kind of alarm that needs the presets. Recordings of older versions have neither presets nor dates of restreams."""

_STATUS = {
    BroadcastState.COMPLETED: "finished",
    BroadcastState.SCHEDULED: "pending",
    BroadcastState.LATE: "pending",
    BroadcastState.UNKNOWN: "",
}


@dataclass(frozen=True, slots=True)
class AlarmSpan:
    """Occurrence of an alarm.

    `until`: end of the fault; None if it lasted to the end of the recording. `severity`: highest severity.
    """

    key: AlarmKey
    subject: str
    target_name: str
    since: datetime
    until: datetime | None
    severity: Severity


class Comparison(NamedTuple):
    """Alarm in the recording, compared with today's detection.

    `then`: the recorded alarm; None if none was recorded. `today`: the alarm that today's detection raises, or None.
    `end`: end of the judged time.
    """

    then: AlarmSpan | None
    today: AlarmSpan | None
    end: datetime

    @property
    def differences(self) -> tuple[str, ...]:
        """Differences in words; empty if both alarms agree."""
        then, today, _ = self
        if then is None or today is None:
            return ("would not be raised now",) if then else ("would be raised now",)
        found = []
        if abs(then.since - today.since) > onset_tolerance(then.key.kind):
            found.append(f"would now begin at {today.since:%H:%M:%S}Z")
        if abs((then.until or self.end) - (today.until or self.end)) > _ENDED_APART:
            found.append(f"would now end at {today.until:%H:%M:%S}Z" if today.until else "would not end now")
        if then.severity is not today.severity:
            found.append(f"would now be {today.severity}")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of judging a recording.

    Attributes:
        since: Beginning of the judged time.
        until: End of the judged time.
        alarms: Compared alarms, sorted by onset.
        unjudged: Number of recorded alarms of kinds that a recording has too little data for.
        begun_before: Number of recorded alarms that began before `since`.
        begun_last: Number of recorded alarms in the last 30 s that are not raised today.
        between_polls: Number of restream faults so short that the times of polls decide whether they are raised.
    """

    since: datetime
    until: datetime
    alarms: tuple[Comparison, ...]
    unjudged: int = 0
    begun_before: int = 0
    begun_last: int = 0
    between_polls: int = 0

    @property
    def left_out(self) -> int:
        """Number of recorded alarms that were not compared."""
        return self.unjudged + self.begun_before + self.begun_last + self.between_polls

    @property
    def differs(self) -> bool:
        """True if an alarm differs today."""
        return any(comparison.differences for comparison in self.alarms)


async def judge(path: Path, limits: Limits | None = None, cadence: Cadence | None = None) -> Judgement | None:
    """Judge a recording with these limits, or with the defaults. Returns None if it has no samples.

    Raises StorageError.
    """
    recorded = await in_thread(partial(_recorded, path))
    if not recorded.streams:
        return None
    limits, cadence = limits or Limits(), cadence or Cadence()
    today = await _Replay(recorded, limits, cadence).run()
    since, until = recorded.since, recorded.until
    judged = [record for record in recorded.log if recorded.can_show(record)]
    logged = alarm_spans(judged)
    then, now = (
        [span for span in spans if span.since >= since]
        for spans in (logged, alarm_spans(record for record in today if recorded.can_show(record)))
    )
    every = [Comparison(*pair, until) for pair in _paired(then, now)]
    hold = limits.base.restream_hold
    shortest = timedelta(seconds=hold.seconds + hold.off + cadence.events)
    pairs = [pair for pair in every if not _is_between_polls(pair, shortest)]
    alarms = [pair for pair in pairs if (pair.then and pair.today) or _onset(pair) < until - _LAST]
    compared = sum(pair.then is not None for pair in alarms)
    unjudged = {
        (record.event_id, record.kind, record.target, record.since)
        for record in recorded.log
        if not recorded.can_show(record)
    }
    return Judgement(
        since,
        until,
        tuple(sorted(alarms, key=_onset)),
        unjudged=len(unjudged),
        begun_before=len(logged) - len(then),
        begun_last=sum(pair.then is not None for pair in pairs) - compared,
        between_polls=len(every) - len(pairs),
    )


def _onset(comparison: Comparison) -> datetime:
    return min(span.since for span in comparison[:2] if span)


def _is_between_polls(pair: Comparison, shortest: timedelta) -> bool:
    """Return whether only the recording or only the replay raised a restream's fault, shorter than `shortest`.

    Whether such a short fault is raised depends on the times of the polls.
    """
    span = pair.then or pair.today
    is_one_sided = span is not None and (pair.then is None or pair.today is None)
    if span is None or not is_one_sided or span.key.kind != RESTREAM_KIND.name:
        return False
    return (span.until or pair.end) - span.since < shortest


class Recorded(NamedTuple):
    """Data of a recording that `judge` needs."""

    events: tuple[EventRecord, ...]
    streams: Mapping[StreamKey, Readings]
    rulings: tuple[Ruling, ...]
    log: tuple[AlarmRecord, ...]
    intents: tuple[IntentRecord, ...]
    unwatched: tuple[UnwatchedRecord, ...]

    def gaps(self, key: StreamKey) -> Iterator[tuple[float, float]]:
        """Yield the times of a stream that were not watched (epoch s)."""
        for record in self.unwatched:
            if (record.event_id, record.stream_id) == key:
                yield record.at.timestamp(), record.until.timestamp()

    @property
    def since(self) -> datetime:
        """Time of the first sample, or of the first event record if that is later."""
        first = datetime.fromtimestamp(min(readings.time[0] for readings in self.streams.values()), UTC)
        return max([first, *(record.at for record in self.events[:1])])

    @property
    def until(self) -> datetime:
        """Time of the last sample or record."""
        newest = datetime.fromtimestamp(max(readings.time[-1] for readings in self.streams.values()), UTC)
        return max([newest, *(record.at for record in self.events), *(record.at for record in self.log)])

    def can_show(self, record: AlarmRecord) -> bool:
        """Return whether the recording has the data that an alarm of this kind needs."""
        kind, states = record.kind, (event for event in self.events if event.event_id == record.event_id)
        if kind == _BELOW_PRESET:
            return all(event.presets is not None for event in states)
        if kind == RESTREAM_KIND.name:
            return all(restream.changed_at is not None for event in states for restream in event.restreams)
        return kind not in {*_NOT_RECORDED, *VIEWER_RULES} and kind in ALARM_KINDS and not ALARM_KINDS[kind].is_of_deck

    def stretches(self) -> Iterator[tuple[datetime, datetime]]:
        """Yield the time ranges within `_NEAR` of a record or sample, in order."""
        near = _NEAR.total_seconds()
        runs = [(at, at) for at in (record.at.timestamp() for record in (*self.events, *self.log, *self.rulings))]
        for readings in self.streams.values():
            first = readings.time[0]
            for time, following in pairwise(readings.time):
                if following - time > near:
                    runs.append((first, time))
                    first = following
            runs.append((first, readings.time[-1]))
        since, until = min(runs)
        for first, last in (*sorted(runs), (inf, inf)):
            if first - until > 2 * near:
                yield datetime.fromtimestamp(since - near, UTC), datetime.fromtimestamp(until + near, UTC)
                since = first
            until = max(until, last)


def _recorded(path: Path) -> Recorded:
    check_whole(path)
    with closing(open_foreign(path)) as db:
        return read_recorded(db)


def read_recorded(db: Foreign) -> Recorded:
    """Read the parts of a recording that judging needs. Raises StorageError."""
    records = events.read(db, None, None, None)
    names = "SELECT event.name, stream.name FROM stream JOIN event ON event.id = event"
    keys = db.checked("event.name stream.name", names)
    streams = {StreamKey(*key): samples.readings(db, StreamKey(*key), 2**40) for key in keys}
    _, rulings = journal.rulings(db, 0)
    filled = {key: readings for key, readings in streams.items() if len(readings)}
    return Recorded(
        _dated(records),
        filled,
        rulings,
        journal.read(db, AlarmRecord),
        journal.read(db, IntentRecord),
        journal.read(db, UnwatchedRecord),
    )


def _dated(records: Iterable[EventRecord]) -> tuple[EventRecord, ...]:
    """Return the records with each change of a restream at the platform's date, not at the time of a poll.

    Several processes may have written the records. A state of a restream is left out if its date is older than that of
    the state before.
    """
    found: list[EventRecord] = []
    last: dict[str, EventRecord] = {}
    for record in records:
        before = last.get(record.event_id, record)
        earlier = {restream.id: restream for restream in before.restreams}
        restreams = [_newer(restream, earlier.get(restream.id, restream)) for restream in record.restreams]
        changes = {at for at in (restream.changed_at for restream in restreams) if at and before.at < at < record.at}
        for at in sorted(changes) if before.restreams else ():
            then = {
                restream.id: restream for restream in restreams if restream.changed_at and restream.changed_at <= at
            }
            found.append(replace(before, at=at, restreams=tuple(then.get(key, old) for key, old in earlier.items())))
        last[record.event_id] = replace(record, restreams=tuple(restreams))
        found.append(last[record.event_id])
    return tuple(sorted(found, key=lambda record: record.at))


def _newer(restream: RestreamRecord, last: RestreamRecord) -> RestreamRecord:
    is_older = restream.changed_at and last.changed_at and restream.changed_at < last.changed_at
    return last if is_older else restream


class _Replay:
    """Run of detection and alarms over the recorded data, as if they were replies of the platform."""

    def __init__(self, recorded: Recorded, limits: Limits, cadence: Cadence) -> None:
        self._recorded, self._limits, self._cadence = recorded, limits, cadence
        self._world = WorldTracker((), self._moment(recorded.since), limits, cadence)
        self._engine = AlarmEngine(limits.base)
        self._rulings = Rulings()
        self._listed: dict[str, tuple[EventRecord, Event]] = {}
        self._answered: dict[StreamKey, float] = {}  # time up to which a stream's samples were delivered (epoch s)
        self._changes = iter(recorded.events)
        self._next = next(self._changes, None)

    async def run(self) -> list[AlarmRecord]:
        """Return the alarm log of the whole recording."""
        log: list[AlarmRecord] = []
        listed_at = self._recorded.since
        for now in self._moments():
            await asyncio.sleep(0)  # lets ctrl-c cancel the loop
            has_changed = self._update_events(now)
            results = []
            if now >= listed_at or has_changed or self._is_restream_down():
                results.append(self._result(LIST, now, EventList(tuple(event for _, event in self._listed.values()))))
                listed_at = now + timedelta(seconds=self._cadence.events)
            results += [self._result(event_id, now, payload) for event_id, payload in self._responses(now)]
            for result in results:
                await self._world.ingest(result)
            log += await self._step(now, tuple(results))
        return log

    def _moments(self) -> Iterator[datetime]:
        """Yield the times of polls, without long gaps between records."""
        now, step = self._recorded.since, timedelta(seconds=self._cadence.qos)
        for first, last in self._recorded.stretches():
            now = max(now, first)
            while now <= min(last, self._recorded.until):
                yield now
                now += step

    async def _step(self, now: datetime, results: tuple[PollResult, ...]) -> list[AlarmRecord]:
        if rulings := [ruling for ruling in self._recorded.rulings if ruling.at <= now and self._rulings.lacks(ruling)]:
            self._rulings = self._rulings.including(rulings)
            self._world.judge_by(self._limits, self._rulings)
        await self._world.analyse_outdated(lambda: False)
        await self._world.evaluate_all(results, self._moment(now), LinkMeasure())
        intents = [intent for intent in self._recorded.intents if now - ATTRIBUTED_FOR <= intent.at <= now]
        self._world.attribute_ends(ending_actors(intents))
        state = MonitorState(self._world.states, self._world.status, now, ended=self._world.ended)
        changes = self._engine.step(replace(state, events=drop_unproven(state, self._limits.base))).log
        return [AlarmRecord.of(change) for change in changes]

    def _moment(self, now: datetime) -> ClockReading:
        return ClockReading(now, now.timestamp())

    def _result(self, key: str, now: datetime, payload: EventList | QosSamples) -> PollResult:
        return PollResult(key, now, now.timestamp(), payload)

    def _is_restream_down(self) -> bool:
        """Return whether a restream may be down. The hold of its alarm can then end between two polls."""
        listed = (record for record, _ in self._listed.values())
        return any(item.is_enabled and item.status != CONNECTED for record in listed for item in record.restreams)

    def _update_events(self, now: datetime) -> bool:
        """Take the records up to `now`. Returns whether there were any."""
        before = self._next
        while self._next and self._next.at <= now:
            record = self._next
            self._listed.pop(record.event_id, None)
            if record.is_gone:
                self._world.drop(record.event_id, self._moment(now))
            else:
                self._listed[record.event_id] = record, _event(record)
            self._next = next(self._changes, None)
        return self._next is not before

    def _responses(self, now: datetime) -> Iterator[tuple[str, QosSamples]]:
        for record, event in self._listed.values():
            if event.stream and not record.is_completed:
                key, until = StreamKey(record.event_id, record.stream_id), now.timestamp() - _LATENCY
                gaps, patience = [*self._recorded.gaps(key)], _ANSWERED + 2 * self._cadence.qos
                if any(begin < until < end + patience for begin, end in gaps):
                    continue  # in unwatched time, or so soon after it that a reply would cover some of that time
                since, self._answered[key] = self._answered.get(key, 0.0) - _ANSWERED, until
                since = max([since, *(end - _INSTANT for _, end in gaps if end < until)])
                yield event.id, _response(self._recorded.streams.get(key, Readings()), since, until)


def _event(record: EventRecord) -> Event:
    """Return the event as the platform would list it, with the recorded fields only."""
    stream: dict[str, Any] | None = None
    if record.stream_id:
        stream = {
            "id": record.stream_id,
            "status": _STATUS.get(record.tally, "live"),
            "started_at": record.started_at,
            "finished_at": record.finished_at,
        }
    return Event.model_validate(
        {
            "id": record.event_id,
            "name": record.name,
            "parent_id": record.parent_id or None,
            "video": None if record.presets is None else {"presets": record.presets},
            "scheduled": {"time": record.scheduled} if record.scheduled else None,
            "stream": stream,
            "restreams": [
                {
                    "id": item.id,
                    "name": item.name,
                    "status": item.status,
                    "enabled": item.is_enabled,
                    "updated_at": item.changed_at,
                }
                for item in record.restreams
            ],
        }
    )


def _response(readings: Readings, since: float, until: float) -> QosSamples:
    """Return the samples after `since` and up to `until` (epoch s)."""
    part = slice(bisect_right(readings.time, since), bisect_right(readings.time, until))
    return QosSamples(
        readings.time[part], readings.video[part], readings.audio[part], readings.fps[part], readings.status[part]
    )


_OVER = frozenset({AlarmTransition.RETURNED, AlarmTransition.CLEARED})


def alarm_spans(log: Iterable[AlarmRecord]) -> list[AlarmSpan]:
    """Return the occurrences of alarms in an alarm log, sorted by onset."""
    spans: dict[tuple[AlarmKey, datetime], AlarmSpan] = {}
    for record in log:
        key = AlarmKey(record.event_id, record.kind, record.target)
        found = (span for span in spans.values() if span.key == key)
        near = (span for span in found if abs(span.since - record.since) <= onset_tolerance(record.kind))
        span = next(near, None) or AlarmSpan(
            key, record.subject, record.target_name, record.since, None, record.severity
        )
        until = span.until
        if record.turn in _OVER or record.state in {AlarmState.RETURNED, AlarmState.CLEARED}:
            until = until or record.at
        elif record.turn is AlarmTransition.RAISED:
            until = None
        severity = min(span.severity, record.severity, key=lambda severity: severity.rank)
        spans[span.key, span.since] = replace(span, until=until, severity=severity)
    return sorted(spans.values(), key=lambda span: (span.since, span.key))


_PAIRED = timedelta(minutes=5)
"""Occurrences of an alarm whose onsets are at most this far apart are compared with each other."""


def _paired(then: list[AlarmSpan], today: list[AlarmSpan]) -> Iterator[tuple[AlarmSpan | None, AlarmSpan | None]]:
    unpaired = list(today)
    for span in then:
        alike = [other for other in unpaired if other.key == span.key and abs(other.since - span.since) <= _PAIRED]
        nearest = min(alike, key=lambda other: abs(other.since - span.since), default=None)
        if nearest:
            unpaired.remove(nearest)
        yield span, nearest
    yield from ((None, span) for span in unpaired)
