"""What a show came to: when it was on air, when its signal was away, what was wrong, who answered. Pure.

Unknown is not uptime: a time in which neither a sample is there nor somebody watched counts neither way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from livedeck.monitor import AlarmKey, AlarmRecord, AlarmTransition, EventRecord, Marker, Readings, Severity, person
from livedeck.report.recorded import Recorded
from livedeck.report.spans import Span, Spans, common, joined, seconds_of, seconds_within, without
from livedeck.report.timeline import Entry, EntryKind, timeline, unwatched
from livedeck.text.secrets import masked_line
from livedeck.text.values import safe

DEFAULT_TARGET = 99.9
"""Percent of the time on air that are to be good: 3.6 s of an hour may be bad."""

WORST_SECONDS = 300.0
"""The worst stretch that is told: five minutes."""

_EDGE = 15.0
"""Seconds that an encoder may take to come, and the newest sample to be there (monitoring.md, "Order and holes")."""

_SAME_ONSET = timedelta(seconds=60)
"""How far apart an alarm and its episode may date the beginning of a fault."""

RESTREAM_DOWN = "RESTREAM_DOWN"
_SILENCE = frozenset({"RECONNECTING", "NO_INGEST", "DROPOUTS"})
"""Kinds that tell of missing samples: the outages do, to the sample."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that was wrong. `until`: None where it still was at the end of what is known. `is_exact`: whether its
    end is by samples or the platform's dates; else it is when it was noticed."""

    kind: str
    severity: Severity
    since: datetime
    until: datetime | None
    text: str
    target_name: str = ""
    is_exact: bool = True

    def span(self, end: datetime) -> Span:
        """Its time, up to `end` where it lasts."""
        return Span(self.since, max(self.since, self.until or end))


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """An alarm that rang, and who answered first, so many seconds after it was raised; None where nobody did."""

    kind: str
    severity: Severity
    raised: datetime
    target_name: str = ""
    by: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EventFacts:
    """One event in a stretch of time. `cadence`: seconds between samples: an outage is known that well.

    `on_air`: from the start to the end of its streams, as the platform says. `up`: its samples were there; `outages`:
    they were missing while somebody watched; `unknown`: neither is known. `bad`: an outage, or a critical fault of
    picture or sound. `restreams`: name -> when it was down. `worst`: five minutes and the bad seconds in it.
    `chat`: messages a minute; None where they are not known.
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
    entries: tuple[Entry, ...] = ()
    samples: Readings = field(default_factory=Readings)
    chat: Mapping[datetime, int] | None = None
    target: float = DEFAULT_TARGET

    @property
    def name(self) -> str:
        """What it is called."""
        return masked_line(self.event.name or self.event.event_id, 80)

    @property
    def uptime(self) -> float | None:
        """Percent of the known time on air in which its signal was there; None where nothing is known."""
        known = seconds_of(self.up) + seconds_of(self.outages)
        return 100.0 * seconds_of(self.up) / known if known else None

    @property
    def budget(self) -> float:
        """Seconds of the time on air that may be bad."""
        return seconds_of(self.on_air) * (100.0 - self.target) / 100.0

    @property
    def spent(self) -> float:
        """Seconds that were."""
        return seconds_of(self.bad)

    @property
    def minutes_by_kind(self) -> Mapping[str, tuple[Severity, int, float]]:
        """Kind -> the loudest that it was, how often, and for how many seconds, the loudest first."""
        kinds: dict[str, list[Fault]] = {}
        for fault in self.faults:
            kinds.setdefault(fault.kind, []).append(fault)
        sums = {
            kind: (
                min((fault.severity for fault in faults), key=lambda severity: severity.rank),
                len(faults),
                seconds_of(joined(fault.span(self.span.until) for fault in faults)),
            )
            for kind, faults in kinds.items()
        }
        return dict(sorted(sums.items(), key=lambda item: (item[1][0].rank, -item[1][2])))

    @property
    def seconds_to_acknowledge(self) -> float | None:
        """The middle of what the answered alarms took; None where none was."""
        taken = [answer.seconds for answer in self.acknowledgements if answer.seconds is not None]
        return median(taken) if taken else None

    def of_kind(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        """The entries of these kinds."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The events of a stretch, in the order of their start; `made`: when it was written."""

    title: str
    span: Span
    made: datetime
    events: tuple[EventFacts, ...]
    unwatched: Spans = ()


def facts_of(recorded: Recorded, event: EventRecord, target: float, chat: Mapping[datetime, int] | None) -> EventFacts:
    """Everything that `recorded`, of that event, tells of it."""
    samples = _samples(recorded)
    on_air = _on_air(recorded)
    up, holes, cadence = _signal(samples, on_air)
    watched = joined(Span(watch.at, watch.until) for watch in recorded.watched)
    silences = [Span(episode.since, episode.until) for episode in recorded.episodes if episode.kind in _SILENCE]
    outages = _outages(holes, joined([*watched, *silences]))
    faults = tuple(sorted(_faults(recorded), key=lambda fault: (fault.since, fault.severity.rank)))
    bad = common(joined([*outages, *_critical(faults, recorded.span.until)]), on_air)
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
        restreams=_restreams(recorded, faults),
        markers=recorded.markers,
        acknowledgements=tuple(_acknowledgements(recorded)),
        entries=timeline(recorded),
        samples=samples,
        chat=chat,
        target=target,
    )
    return replace(facts, worst=_worst(facts))


def may_have_been_on_air(record: EventRecord, span: Span) -> bool:
    """Whether that record of an event says so of some time in the stretch."""
    is_on_air = record.tally.expects_signal or record.is_completed
    is_over = record.finished_at is not None and record.finished_at < span.since
    return is_on_air and not is_over and (record.started_at is None or record.started_at < span.until)


def report_of(title: str, recorded: Recorded, events: Sequence[EventFacts], made: datetime) -> Report:
    """These events, and when nobody watched."""
    order = sorted(events, key=lambda facts: facts.on_air[0].since if facts.on_air else facts.span.since)
    return Report(title, recorded.span, made, tuple(order), unwatched(recorded))


def _samples(recorded: Recorded) -> Readings:
    """Those of all its streams, by time."""
    found = Readings()
    for readings in sorted(recorded.samples.values(), key=lambda readings: readings.time[0]):
        for column in ("time", "video", "audio", "fps", "status"):
            getattr(found, column).extend(getattr(readings, column))
    return found


def _on_air(recorded: Recorded) -> Spans:
    """From the start to the end of each stream; one without an end lasts for as long as anything is known."""
    last: dict[str, EventRecord] = {}
    ends: dict[str, datetime] = {}
    for record in recorded.events:
        if record.started_at is None or not (record.tally.expects_signal or record.is_completed):
            continue
        last[record.stream_id] = record
    for record in recorded.events:
        for stream_id, end in last.items():
            if record.at > end.at and (record.is_gone or record.stream_id != stream_id):
                ends.setdefault(stream_id, record.at)
    known = [watch.until for watch in recorded.watched]
    known += [datetime.fromtimestamp(samples.time[-1], UTC) for samples in recorded.samples.values()]
    newest = max(known, default=recorded.span.since)
    spans = [
        Span(record.started_at, record.finished_at or ends.get(stream_id) or newest)
        for stream_id, record in last.items()
        if record.started_at
    ]
    return common(spans, [recorded.span])


def _signal(samples: Readings, on_air: Spans) -> tuple[Spans, Spans, float | None]:
    """When samples were there, when they were missing, and how far apart they are as a rule."""
    steps = [after - before for before, after in pairwise(samples.time)]
    cadence = median(steps) if steps else None
    longest = max(2.5 * cadence, cadence + 2.0) if cadence else _EDGE
    up, holes = list[Span](), list[Span]()
    for span in on_air:
        first, last = span.since.timestamp(), span.until.timestamp()
        times = [first, *(time for time in samples.time if first < time < last), last]
        for before, after in pairwise(times):
            most = _EDGE if before == first or after == last else longest
            step = Span(datetime.fromtimestamp(before, UTC), datetime.fromtimestamp(after, UTC))
            (up if after - before <= most else holes).append(step)
    return joined(up), joined(holes), cadence


def _outages(holes: Spans, watched: Spans) -> Spans:
    """The holes, as far as somebody watched or found that nothing came; a moment of a hole that was mostly not watched
    proves nothing."""
    seen = common(holes, watched)
    return tuple(span for span in seen if span in holes or span.seconds >= _EDGE)


def _critical(faults: Iterable[Fault], end: datetime) -> Spans:
    """When viewers had a critical fault of picture or sound."""
    return joined(
        fault.span(end)
        for fault in faults
        if fault.severity is Severity.CRITICAL and fault.kind not in _SILENCE | {RESTREAM_DOWN}
    )


def _faults(recorded: Recorded) -> Iterator[Fault]:
    """Those that are over, by their episodes; and the alarms of this event that have none."""
    newest = {(episode.kind, episode.target, episode.since): episode for episode in recorded.episodes}
    for episode in newest.values():
        name = safe(episode.target_name, 40)
        yield Fault(episode.kind, episode.severity, episode.since, episode.until, safe(episode.actual, 200), name)
    for key, occurrence in _occurrences(recorded):
        is_known = any(
            (episode.kind, episode.target) == (key.kind, key.target)
            and (
                abs(episode.since - occurrence.since) <= _SAME_ONSET
                or _overlaps(episode.since, episode.until, occurrence)
            )
            for episode in newest.values()
        )
        if not is_known and occurrence.span(recorded.span.until).until >= recorded.span.since:
            yield occurrence


def _overlaps(since: datetime, until: datetime, fault: Fault) -> bool:
    return since <= (fault.until or until) and fault.since <= until


def _occurrences(recorded: Recorded) -> Iterator[tuple[AlarmKey, Fault]]:
    """Each alarm of the event from its coming to its going."""
    present: dict[AlarmKey, Fault] = {}
    for record in recorded.alarms:
        if not record.event_id:
            continue
        key = AlarmKey(record.event_id, record.kind, record.target)
        known = present.get(key)
        if record.turn in _ENDS:
            if known:
                yield key, replace(present.pop(key), until=record.at, is_exact=False)
        elif known is None:
            present[key] = _fault(record)
        elif record.severity.rank < known.severity.rank:
            present[key] = replace(known, severity=record.severity)
    yield from present.items()


_ENDS = frozenset({AlarmTransition.RETURNED, AlarmTransition.CLEARED})


def _fault(record: AlarmRecord) -> Fault:
    name = safe(record.target_name, 40)
    return Fault(record.kind, record.severity, record.since, None, safe(record.actual, 200), name, is_exact=False)


def _acknowledgements(recorded: Recorded) -> Iterator[Acknowledgement]:
    """Each alarm of the event that asked for a person, by when it did."""
    waiting: dict[AlarmKey, Acknowledgement] = {}
    answered: list[tuple[AlarmKey, Acknowledgement]] = []
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
            rung = waiting.pop(key)
            by = safe(person(record.actor), 60)
            answered.append((key, replace(rung, by=by, seconds=(record.at - rung.raised).total_seconds())))
        elif record.turn is AlarmTransition.UNACKNOWLEDGED and key not in waiting:
            last = next((number for number in reversed(range(len(answered))) if answered[number][0] == key), None)
            if last is not None:  # as if it never had been: it waits since it was raised
                waiting[key] = replace(answered.pop(last)[1], by="", seconds=None)
    yield from (acknowledgement for _, acknowledgement in answered)
    yield from (rung for rung in waiting.values() if recorded.contains(rung.raised))


def _restreams(recorded: Recorded, faults: Iterable[Fault]) -> Mapping[str, Spans]:
    names = [safe(restream.name or restream.id, 40) for record in recorded.events for restream in record.restreams]
    downs = [fault for fault in faults if fault.kind == RESTREAM_DOWN]
    return {
        name: joined(fault.span(recorded.span.until) for fault in downs if fault.target_name == name)
        for name in dict.fromkeys([*names, *(fault.target_name for fault in downs)])
    }


def _worst(facts: EventFacts) -> Span | None:
    """The five minutes on air with the most bad seconds, and then the most of warnings; None where all was well."""
    warned = common(
        joined(fault.span(facts.span.until) for fault in facts.faults if fault.severity is not Severity.INFO),
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
    return Span(worst, worst + timedelta(seconds=WORST_SECONDS)) if any(badness(worst)) else None


def gaps_text(facts: EventFacts) -> list[str]:
    """What is not known of it, a sentence each."""
    sentences = []
    if not facts.on_air:
        sentences.append("It was not on air in this time, as far as the history knows.")
    if facts.unknown:
        seconds = seconds_of(facts.unknown)
        sentences.append(
            f"For {seconds:.0f} s on air no sample is there and nobody watched: counted neither as up nor as down."
        )
    if facts.cadence is not None:
        sentences.append(f"A sample comes every {facts.cadence:g} s: outages are known to that.")
    elif facts.on_air:
        sentences.append("No sample is there: whether a signal came is not known.")
    if facts.event.scheduled is None:
        sentences.append("No planned start is recorded.")
    if facts.chat is None:
        sentences.append("Chat is not in the history: give an export of it with --chat for messages a minute.")
    if any(fault.until is None for fault in facts.faults):
        sentences.append("Faults without an end still stood when the history was last written.")
    return sentences
