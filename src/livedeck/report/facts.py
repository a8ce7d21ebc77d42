"""Facts of a show: time on air, outages, faults and acknowledgements. Pure.

Unknown time is not uptime. If no process watched, time without samples counts neither as up nor as down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from livedeck.monitor import (
    VIEWER_ALARMS,
    AlarmHistory,
    AlarmKey,
    AlarmLimits,
    AlarmRecord,
    AlarmTransition,
    EventRecord,
    Figure,
    Marker,
    Readings,
    Severity,
    alarm_figures,
    person,
)
from livedeck.presentation import qos
from livedeck.report.recorded import Recorded, completions
from livedeck.report.samples import cadence_of
from livedeck.report.spans import Span, Spans, common, joined, seconds_of, seconds_within, without
from livedeck.report.timeline import Entry, EntryKind, timeline, unwatched
from livedeck.report.viewers import NO_VIEWERS, ViewerFacts, viewer_facts
from livedeck.text.secrets import masked_line
from livedeck.text.values import evidence_text, safe

DEFAULT_OBJECTIVE = 99.9
"""Uptime objective in percent of the time on air: 3.6 s of each hour may be bad."""

WORST_SECONDS = 300.0
"""Length in seconds of the period that is searched for the most bad seconds."""

_EDGE = 15.0
"""Seconds that the encoder may take to start, and that the newest sample may be late.

See monitoring.md, "Order and holes".
"""

_SAME_ONSET = timedelta(seconds=60)
"""Maximum difference between the start of an alarm and the start of its episode."""

RESTREAM_DOWN = "RESTREAM_DOWN"
_SILENCE = frozenset({"RECONNECTING", "NO_INGEST", "DROPOUTS"})
"""Kinds of alarms about missing samples. Outages describe the same time more precisely."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Fault. `until`: None if the fault was still present at the end of the data.

    `is_exact`: the end is known from samples or from the platform's dates. If not, `until` is the time at which a deck
    noticed the end.
    """

    kind: str
    severity: Severity
    since: datetime
    until: datetime | None
    text: str
    target_name: str = ""
    is_exact: bool = True

    def span(self, end: datetime) -> Span:
        """Return the time of the fault. A fault that is still present lasts until `end`."""
        return Span(self.since, max(self.since, self.until or end))


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Raised alarm, and the first person who acknowledged it.

    `by`: this person; empty if nobody acknowledged it. `seconds`: time from the raise to the acknowledgement; None if
    nobody acknowledged it.
    """

    kind: str
    severity: Severity
    raised: datetime
    target_name: str = ""
    by: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EventFacts:
    """Facts of an event in a period. `cadence`: seconds between samples, which is also the accuracy of outages.

    `on_air`: time from the start to the end of the event's streams, by the platform's dates. It consists of `up`,
    `outages` and `unknown`. `up`: time with samples. `outages`: watched time without samples. `unknown`: the rest.
    `bad`: time of outages and of critical faults of picture or sound. `restreams`: name -> time in which the restream
    was down. `worst`: the five minutes with the most bad seconds. `figures`: key figures of the event's alarms. `chat`:
    minute -> number of messages; None if unknown. `planned`: planned start of the first stream; None if not recorded.
    `unrecorded`: as in `Recorded`. `until`: end of the data, to which a fault without an end lasts. `viewers`: what
    viewers got, as a probe saw it; without a probe its rounds are 0. `bad` is about the ingest, not about viewers.
    """

    event: EventRecord
    span: Span
    on_air: Spans = ()
    up: Spans = ()
    outages: Spans = ()
    unknown: Spans = ()
    cadence: float | None = None
    faults: tuple[Fault, ...] = ()
    bad: Spans = ()
    worst: Span | None = None
    restreams: Mapping[str, Spans] = field(default_factory=dict)
    markers: tuple[Marker, ...] = ()
    acknowledgements: tuple[Acknowledgement, ...] = ()
    figures: tuple[Figure, ...] = ()
    entries: tuple[Entry, ...] = ()
    samples: Readings = field(default_factory=Readings)
    chat: Mapping[datetime, int] | None = None
    objective: float = DEFAULT_OBJECTIVE
    planned: datetime | None = None
    unrecorded: frozenset[str] = frozenset()
    until: datetime | None = None
    viewers: ViewerFacts = NO_VIEWERS

    @property
    def name(self) -> str:
        """Name of the event, or its id."""
        return masked_line(self.event.name or self.event.event_id, 80)

    @property
    def uptime(self) -> float | None:
        """Percentage of the known time on air with a signal; None if all time on air is unknown."""
        up, down = seconds_of(self.up), seconds_of(self.outages)
        if not down:  # without a rounding error
            return 100.0 if up else None
        return 100.0 * up / (up + down)

    @property
    def charted(self) -> Span | None:
        """Time of the charts: from the first to the last of time on air, outages and samples; None without any."""
        edges = [at for span in (*self.on_air, *self.outages) for at in span]
        times = self.samples.time[:1] + self.samples.time[-1:]
        edges += [datetime.fromtimestamp(at, UTC) for at in times]
        return Span(min(edges), max(edges)) if edges and min(edges) < max(edges) else None

    @property
    def budget(self) -> float:
        """Error budget: seconds of the time on air that may be bad."""
        return seconds_of(self.on_air) * (100.0 - self.objective) / 100.0

    @property
    def spent(self) -> float:
        """Used error budget: bad seconds on air."""
        return seconds_of(self.bad)

    @property
    def minutes_by_kind(self) -> Mapping[str, tuple[Severity, int, float]]:
        """Kind of fault -> highest severity, number of faults, total seconds; the most severe kind first."""
        kinds: dict[str, list[Fault]] = {}
        for fault in self.faults:
            kinds.setdefault(fault.kind, []).append(fault)
        sums = {
            kind: (
                min((fault.severity for fault in faults), key=lambda severity: severity.rank),
                len(faults),
                seconds_of(joined(fault.span(self.until or self.span.until) for fault in faults)),
            )
            for kind, faults in kinds.items()
        }
        return dict(sorted(sums.items(), key=lambda item: (item[1][0].rank, -item[1][2])))

    @property
    def seconds_to_acknowledge(self) -> float | None:
        """Median seconds from the raise of an alarm to its acknowledgement; None if no alarm was acknowledged."""
        taken = [item.seconds for item in self.acknowledgements if item.seconds is not None]
        return median(taken) if taken else None

    def of_kind(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        """Return the timeline entries of these kinds."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Report on the events of a period, in the order of their starts. `made`: time at which the report was written."""

    title: str
    span: Span
    made: datetime
    events: tuple[EventFacts, ...]
    unwatched: Spans = ()


def facts_of(
    recorded: Recorded, event: EventRecord, objective: float, chat: Mapping[datetime, int] | None
) -> EventFacts:
    """Return the facts of `event` in `recorded`."""
    samples = _samples(recorded)
    on_air = _on_air(recorded, event)
    up, holes, cadence = _signal(samples, on_air)
    not_watched = [Span(gap.at, gap.until) for gap in recorded.unwatched]
    watched = without([Span(watch.at, watch.until) for watch in recorded.watched], not_watched)
    silences = [Span(episode.since, episode.until) for episode in recorded.episodes if episode.kind in _SILENCE]
    outages = _outages(holes, joined([*watched, *silences]))
    faults = tuple(sorted(_faults(recorded), key=lambda fault: (fault.since, fault.severity.rank)))
    until = _known_until(recorded)
    bad = common(joined([*outages, *_critical(faults, until)]), on_air)
    facts = EventFacts(
        event,
        recorded.span,
        on_air,
        up,
        outages,
        without(holes, outages),
        cadence,
        faults,
        bad,
        restreams=_restreams(recorded, faults, until),
        markers=recorded.markers,
        acknowledgements=tuple(_acknowledgements(recorded)),
        figures=_figures(recorded),
        entries=timeline(recorded),
        samples=samples,
        chat=chat,
        objective=objective,
        planned=_planned(recorded, on_air),
        unrecorded=recorded.unrecorded,
        until=until,
        viewers=viewer_facts(recorded.rounds, on_air),
    )
    return replace(facts, worst=_worst(facts))


def _planned(recorded: Recorded, on_air: Spans) -> datetime | None:
    """Return the last planned start before the first stream, or else the last one in any record; None without any."""
    before = [record for record in recorded.events if not on_air or record.at <= on_air[0].since]
    plans = [record.planned for record in before if record.is_waiting]
    others = [record.planned for record in reversed(recorded.events)]
    return next((plan for plan in (*reversed(plans), *others) if plan), None)


def may_have_been_on_air(record: EventRecord, span: Span) -> bool:
    """Return whether the record of an event allows that the event was on air during the span."""
    is_on_air = record.tally.expects_signal or record.is_completed
    end = record.finished_at or (record.at if record.is_completed else None)
    is_over = end is not None and end < span.since
    return is_on_air and not is_over and (record.started_at is None or record.started_at < span.until)


def report_of(title: str, recorded: Recorded, events: Sequence[EventFacts], made: datetime) -> Report:
    """Return a report on events, and on the times without a watching process."""
    order = sorted(events, key=lambda facts: facts.on_air[0].since if facts.on_air else facts.span.since)
    return Report(title, recorded.span, made, tuple(order), unwatched(recorded))


def _samples(recorded: Recorded) -> Readings:
    """Return the samples of all streams, sorted by time."""
    found = Readings()
    for readings in sorted(recorded.samples.values(), key=lambda readings: readings.time[0]):
        for column in ("time", "video", "audio", "fps", "status"):
            getattr(found, column).extend(getattr(readings, column))
    return found


def _on_air(recorded: Recorded, event: EventRecord) -> Spans:
    """Return the time on air of each stream, from its start to its end or to the end of the data.

    If the event is completed and the stream has no end, the stream counts only if an earlier record has it on air.
    `event`: last record of the event, which may be later than the period.
    """
    last: dict[str, EventRecord] = {}
    ends = completions((*recorded.events, event))
    for record in (*recorded.events, event):
        is_seen = record.finished_at or record.stream_id in last
        if record.started_at is None or not (record.tally.expects_signal or (record.is_completed and is_seen)):
            continue
        last[record.stream_id] = record
    for record in recorded.events:
        for stream_id, end in last.items():
            if record.at > end.at and (record.is_gone or record.stream_id != stream_id):
                ends.setdefault(stream_id, record.at)
    newest = _known_until(recorded)
    spans = [
        Span(record.started_at, record.finished_at or ends.get(stream_id) or newest)
        for stream_id, record in last.items()
        if record.started_at
    ]
    return common(spans, [recorded.span])


def _known_until(recorded: Recorded) -> datetime:
    """Return the end of the data within the span: the end of the last watched time, or the last sample if later."""
    ends = [watch.until for watch in recorded.watched]
    ends += [datetime.fromtimestamp(samples.time[-1], UTC) for samples in recorded.samples.values()]
    return min(recorded.span.until, max(ends, default=recorded.span.since))


def longest_step(cadence: float | None) -> float:
    """Return the seconds between two samples above which some are missing. `cadence`: the usual seconds between two."""
    return qos.longest_step(cadence) if cadence else _EDGE


def _signal(samples: Readings, on_air: Spans) -> tuple[Spans, Spans, float | None]:
    """Return the time with samples, the time without samples, and the median seconds between samples."""
    cadence = cadence_of(samples)
    longest = longest_step(cadence)
    up, holes = list[Span](), list[Span]()
    for span in on_air:
        first, last = span.since.timestamp(), span.until.timestamp()
        times = [first, *(time for time in samples.time if first < time < last), last]
        for before, after in pairwise(times):
            most = max(_EDGE, longest) if before == first or after == last else longest
            step = Span(datetime.fromtimestamp(before, UTC), datetime.fromtimestamp(after, UTC))
            (up if after - before <= most else holes).append(step)
    return joined(up), joined(holes), cadence


def _outages(holes: Spans, watched: Spans) -> Spans:
    """Return the parts of `holes` (times without samples) that were watched.

    `watched`: includes the times of alarms about silence. Omits a part shorter than `_EDGE`, unless it is a whole hole.
    """
    watched_holes = common(holes, watched)
    return tuple(span for span in watched_holes if span in holes or span.seconds >= _EDGE)


def _critical(faults: Iterable[Fault], end: datetime) -> Spans:
    """Return the time of critical faults of picture or sound."""
    return joined(
        fault.span(end)
        for fault in faults
        if fault.severity is Severity.CRITICAL and fault.kind not in {*_SILENCE, RESTREAM_DOWN, *VIEWER_ALARMS}
    )


def _faults(recorded: Recorded) -> Iterator[Fault]:
    """Yield a fault for each episode of the event, and for each alarm without an episode."""
    newest = {(episode.kind, episode.target, episode.since): episode for episode in recorded.episodes}
    for episode in newest.values():
        name = safe(episode.target_name, 40)
        yield Fault(episode.kind, episode.severity, episode.since, episode.until, evidence_text(episode, 200), name)
    for key, occurrence in _occurrences(recorded):
        has_episode = any(
            (episode.kind, episode.target) == (key.kind, key.target)
            and (
                abs(episode.since - occurrence.since) <= _SAME_ONSET
                or _overlaps(episode.since, episode.until, occurrence)
            )
            for episode in newest.values()
        )
        if not has_episode and occurrence.span(recorded.span.until).until >= recorded.span.since:
            yield occurrence


def _overlaps(since: datetime, until: datetime, fault: Fault) -> bool:
    return since <= (fault.until or until) and fault.since <= until


def _occurrences(recorded: Recorded) -> Iterator[tuple[AlarmKey, Fault]]:
    """Yield the key of each alarm of the event, with a fault that lasts from the raise to the clearance."""
    present: dict[AlarmKey, Fault] = {}
    for record in recorded.alarms:
        if not record.event_id:
            continue
        key = AlarmKey(record.event_id, record.kind, record.target)
        fault = present.get(key)
        if record.turn in _ENDS:
            if fault:
                yield key, replace(present.pop(key), until=record.at, is_exact=False)
        elif fault is None:
            present[key] = _fault(record)
        elif record.severity.rank < fault.severity.rank:
            present[key] = replace(fault, severity=record.severity)
    yield from present.items()


_ENDS = frozenset({AlarmTransition.RETURNED, AlarmTransition.CLEARED})


def _fault(record: AlarmRecord) -> Fault:
    name = safe(record.target_name, 40)
    return Fault(record.kind, record.severity, record.since, None, evidence_text(record, 200), name, is_exact=False)


def _acknowledgements(recorded: Recorded) -> Iterator[Acknowledgement]:
    """Yield the acknowledged alarms of the event in the order of their acknowledgement, then the other alarms."""
    waiting: dict[AlarmKey, Acknowledgement] = {}
    handled: list[tuple[AlarmKey, Acknowledgement]] = []
    for record in recorded.alarms:
        key = AlarmKey(record.event_id, record.kind, record.target)
        if not record.event_id:
            continue
        if record.turn is AlarmTransition.RAISED and record.severity is not Severity.INFO:
            if key in waiting:
                continue
            name = safe(record.target_name, 40)
            waiting[key] = Acknowledgement(record.kind, record.severity, record.at, name)
        elif key in waiting and record.actor and record.turn in {AlarmTransition.ACKNOWLEDGED, AlarmTransition.CLEARED}:
            alarm = waiting.pop(key)
            by = safe(person(record.actor), 60)
            handled.append((key, replace(alarm, by=by, seconds=(record.at - alarm.raised).total_seconds())))
        elif record.turn is AlarmTransition.UNACKNOWLEDGED and key not in waiting:
            last = next((number for number in reversed(range(len(handled))) if handled[number][0] == key), None)
            if last is not None:  # the acknowledgement was taken back, so the time counts from the start again
                waiting[key] = replace(handled.pop(last)[1], by="", seconds=None)
    yield from (acknowledgement for _, acknowledgement in handled)
    yield from (alarm for alarm in waiting.values() if recorded.contains(alarm.raised))


def _figures(recorded: Recorded) -> tuple[Figure, ...]:
    """Return the key figures of the event's alarms in the span."""
    since, until = recorded.span
    log = [record for record in recorded.alarms if record.event_id and recorded.contains(record.at)]
    answers = [action for action in recorded.alarm_actions if action.key.event_id]
    return alarm_figures(AlarmHistory(since, until, log, answers, recorded.watched), AlarmLimits()).figures


def _restreams(recorded: Recorded, faults: Iterable[Fault], until: datetime) -> Mapping[str, Spans]:
    names = [safe(restream.name or restream.id, 40) for record in recorded.events for restream in record.restreams]
    downs = [fault for fault in faults if fault.kind == RESTREAM_DOWN]
    return {
        name: joined(fault.span(until) for fault in downs if fault.target_name == name)
        for name in dict.fromkeys([*names, *(fault.target_name for fault in downs)])
    }


def _worst(facts: EventFacts) -> Span | None:
    """Return the five minutes on air with the most bad seconds; fewer minutes if the stream ends within them.

    If several have equally many, seconds with a warning decide. Returns None without bad seconds and warnings.
    """
    warned = common(
        joined(
            fault.span(facts.until or facts.span.until) for fault in facts.faults if fault.severity is not Severity.INFO
        ),
        facts.on_air,
    )
    edges = {at for span in (*facts.bad, *warned) for at in (span.since, span.until - timedelta(seconds=WORST_SECONDS))}
    starts = sorted(edge for edge in edges if any(span.since <= edge < span.until for span in facts.on_air))
    starts += [span.since for span in facts.on_air] if edges else []

    def badness(start: datetime) -> tuple[float, float]:
        return seconds_within(facts.bad, start, WORST_SECONDS), seconds_within(warned, start, WORST_SECONDS)

    if not starts:
        return None
    worst = max(starts, key=badness)
    if not any(badness(worst)):
        return None
    ends = (span.until for span in facts.on_air if span.since <= worst < span.until)
    return Span(worst, min(worst + timedelta(seconds=WORST_SECONDS), next(ends)))


def gaps_text(facts: EventFacts) -> list[str]:
    """Return the gaps of the data, one sentence each."""
    sentences = []
    if not facts.on_air:
        sentences.append("The history shows no time on air in this period.")
    if facts.unknown:
        seconds = seconds_of(facts.unknown)
        sentences.append(
            f"{seconds:.0f} s on air have no sample and were not watched: they count neither as up nor as down."
        )
    if facts.unrecorded:
        sentences.append(
            "This collector (older version) does not record unwatched times of the event, "
            "so an outage may be such a time."
        )
    if facts.cadence is not None:
        sentences.append(f"Samples are {facts.cadence:g} s apart, so outages are accurate to {facts.cadence:g} s.")
    elif facts.on_air:
        sentences.append("There are no samples: whether a signal arrived is unknown.")
    if facts.planned is None:
        sentences.append("No planned start is recorded.")
    if facts.chat is None:
        sentences.append("The history does not contain chat: add an export with --chat to see messages per minute.")
    if any(fault.until is None for fault in facts.faults):
        sentences.append("Faults without an end were still present when the history was last written.")
    return sentences
