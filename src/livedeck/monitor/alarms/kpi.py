"""Key figures of alarms from the history (ISA-18.2, IEC 62682; monitoring.md, "Alarm figures"). Pure.

They count announcements, not onsets: an onset that an incident or a parent hid at once was not announced.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from livedeck.monitor.alarms.announce import SHARED
from livedeck.monitor.kinds import onset_tolerance
from livedeck.monitor.model.alarm import AlarmChange, AlarmKey, AlarmState, AlarmTransition, Severity
from livedeck.monitor.model.alarm_action import BY_LINK, ActionKind, AlarmAction, Verdict, person
from livedeck.monitor.model.kpi import AlarmFigures, BadActor, Figure
from livedeck.monitor.model.records import AlarmRecord, WatchRecord
from livedeck.monitor.model.thresholds import AlarmLimits

PER_HOUR, MOST_IN_10_MIN, FLOOD_SHARE = 6.0, 10.0, 0.01
CHATTERING, FLEETING, STALE, ACTOR_SHARE = 0.0, 0.05, 5.0, 0.05
CRITICAL_SHARE, ACKNOWLEDGE_P50, ACKNOWLEDGE_P95, PRECISION = 0.05, 60.0, 300.0, 0.9
"""Goals of the key figures: share of criticals, median and 95th percentile of seconds to acknowledge, precision."""

NOT_RECORDED, NOT_WATCHED, NOTHING = "not recorded", "not watched", "nothing to measure"
UNDER_AN_HOUR = "under 1 h watched"

_CHATTERS, _CHATTERS_IN = 3, timedelta(seconds=60)
_FLEETS = timedelta(seconds=30)
_STALE_AFTER = timedelta(hours=24)
_MOST_ACTORS = 10
_HOUR = timedelta(hours=1)

_BACK = frozenset({AlarmTransition.RELEASED, AlarmTransition.UNSILENCED})
_OVER = frozenset({AlarmTransition.RETURNED, AlarmTransition.CLEARED})
_BY_PERSON = frozenset({ActionKind.ACKNOWLEDGE, ActionKind.CLOSE})


class AlarmHistory(NamedTuple):
    """Records of the time from `since` to `until`, each sorted by time.

    `log`: transitions of alarms at their true times. `answers`: actions of people on alarms. `watched`: times in which
    a process watched; None if they were not recorded.
    """

    since: datetime
    until: datetime
    log: Sequence[AlarmRecord]
    answers: Sequence[AlarmAction]
    watched: Sequence[WatchRecord] | None = None

    @property
    def seconds(self) -> float:
        return max(1.0, (self.until - self.since).total_seconds())

    def spans(self) -> list[tuple[datetime, datetime]]:
        """Return the watched times, sorted and without overlaps; the whole time if they were not recorded."""
        if self.watched is None:
            return [(self.since, self.until)]
        found: list[tuple[datetime, datetime]] = []
        for watch in sorted(self.watched, key=lambda watch: watch.at):
            begin, end = max(watch.at, found[-1][1] if found else self.since), min(watch.until, self.until)
            if begin < end:
                found.append((begin, end))
        return found

    @property
    def watched_seconds(self) -> float:
        return sum((end - begin).total_seconds() for begin, end in self.spans())


def announcements(log: Iterable[AlarmRecord], limits: AlarmLimits) -> list[AlarmRecord]:
    """Return the transitions that announced an alarm, without infos, because nobody is notified of infos.

    The history has every onset at its true time, announced or not. An onset of a shared kind was not announced if the
    alarm was hidden within the longest wait. An onset in a silence was not announced either. A hidden or silenced alarm
    was announced when it became visible.
    """
    log, wait = [*log], timedelta(seconds=limits.shared_hold_most)
    hidden = _times_of(log, {AlarmTransition.SUPPRESSED})
    return [
        record
        for record in log
        if _is_announced(record.turn, record.severity, record.state)
        and not record.is_silenced
        and not (
            record.turn is AlarmTransition.RAISED
            and record.kind in SHARED
            and (at := _next(hidden[_key(record)], record.at)) is not None
            and at <= record.at + wait
        )
    ]


def _is_announced(turn: AlarmTransition, severity: Severity, state: AlarmState) -> bool:
    """Return whether a transition announces an alarm: the alarm is raised, becomes visible, or its silence ends."""
    is_shown = turn is AlarmTransition.RAISED or (turn in _BACK and state is AlarmState.UNACKNOWLEDGED)
    return is_shown and severity is not Severity.INFO


class AnnouncementTally:
    """Counts of a process for its metrics.

    `counts`: number of announced alarms by kind and severity. `flood_seconds`: seconds in a flood.
    """

    def __init__(self, limits: AlarmLimits) -> None:
        self.counts: Mapping[tuple[str, str], int] = {}
        self.flood_seconds = 0.0
        self._limits = limits
        self._times: list[datetime] = []
        self._at: datetime | None = None

    def take(self, changes: Iterable[AlarmChange], now: datetime) -> None:
        """Add the announced transitions of a snapshot."""
        alarms = [
            change.alarm
            for change in changes
            if _is_announced(change.transition, change.alarm.severity, change.alarm.state) and not change.alarm.silenced
        ]
        news = Counter((alarm.kind, alarm.severity.value) for alarm in alarms)
        self.counts = {key: self.counts.get(key, 0) + news[key] for key in {*self.counts, *news}}
        if self._at is not None:
            self.flood_seconds += flood_seconds(self._times, self._at, now, self._limits)
        window = timedelta(seconds=self._limits.flood_window)
        self._times = [*(at for at in self._times if now - at < window), *([now] * len(alarms))]
        self._at = now


def alarm_figures(recorded: AlarmHistory, limits: AlarmLimits) -> AlarmFigures:
    """Compute the key figures of the alarms recorded in a time range.

    If no time was watched and no alarm is recorded, the number of alarms is unknown.
    """
    announced = announcements(recorded.log, limits)
    actors = [*_bad_actors(announced)]
    figures = (
        *_load(recorded, announced, limits),
        *_nuisance(recorded, announced),
        Figure(
            "worst_actor_share",
            "share of the worst alarm",
            actors[0].share if actors else None,
            "share",
            ACTOR_SHARE,
            missing=NOTHING,
        ),
        *_severities(announced),
        *_responses(recorded),
        *_hidden(recorded),
        _not_watched(recorded),
        *_precision(recorded.answers),
    )
    if not recorded.watched_seconds and not recorded.log:
        figures = tuple(
            replace(figure, value=None, missing=NOT_WATCHED) if figure.key in _COUNTS else figure for figure in figures
        )
    return AlarmFigures(recorded.since, recorded.until, figures, tuple(actors))


_COUNTS = frozenset({"announced", "most_in_10_min", "chattering", "stale", "suppressed"})
"""Figures that count recorded alarms."""


def flood_seconds(times: Sequence[datetime], since: datetime, until: datetime, limits: AlarmLimits) -> float:
    """Return the seconds in a flood, with more announcements in the last flood window than a person can follow.

    `times`: times of the announcements, sorted. A further announcement of an alarm counts again.
    """
    window, begun, total = timedelta(seconds=limits.flood_window), since, 0.0
    for number, at in enumerate(times):
        first = number - limits.flood_count  # the oldest of the announcements that make a flood with this one
        if first < 0 or at - times[first] >= window:
            continue
        begin, end = max(at, begun), min(times[first] + window, until)
        total += max(0.0, (end - begin).total_seconds())
        begun = max(begun, end)
    return total


def _key(record: AlarmRecord) -> AlarmKey:
    return AlarmKey(record.event_id, record.kind, record.target)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _load(recorded: AlarmHistory, announced: Sequence[AlarmRecord], limits: AlarmLimits) -> Iterator[Figure]:
    times = sorted(record.at for record in announced)
    hours = _operator_hours(recorded)
    load = len(times) / hours if hours >= 1 else None  # a shorter time gives no hourly rate
    yield Figure("announced", "alarms announced", float(len(times)))
    yield Figure("operator_hours", "operator hours in watched time", hours, "h")
    yield Figure("per_operator_hour", "announced per operator and hour", load, "", PER_HOUR, missing=UNDER_AN_HOUR)
    window = timedelta(seconds=limits.flood_window)
    most, first = 0, 0
    for last, at in enumerate(times):
        while at - times[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    yield Figure(
        "most_in_10_min", f"most announced in {limits.flood_window / 60:.0f} min", float(most), "", MOST_IN_10_MIN
    )
    flood = flood_seconds(times, recorded.since, recorded.until, limits)
    share = flood / recorded.watched_seconds if recorded.watched_seconds else None
    yield Figure("flood_share", "share of the time in a flood", share, "share", FLOOD_SHARE, missing=NOT_WATCHED)


def _operator_hours(recorded: AlarmHistory) -> float:
    """Return the operator hours: watched hours, each multiplied by the number of people who acted on an alarm in it.

    An hour in which nobody acted counts once. The history does not record who had a deck open.
    """
    people: defaultdict[int, set[str]] = defaultdict(set)
    for answer in recorded.answers:
        if not answer.actor.startswith(BY_LINK):  # whoever used the link may be one of the others
            people[int((answer.at - recorded.since) / _HOUR)].add(person(answer.actor))
    total = 0.0
    for since, until in recorded.spans():
        at = since
        while at < until:
            hour = int((at - recorded.since) / _HOUR)
            end = min(until, recorded.since + (hour + 1) * _HOUR)
            total += max(1, len(people[hour])) * ((end - at) / _HOUR)
            at = end
    return total


def _nuisance(recorded: AlarmHistory, announced: Sequence[AlarmRecord]) -> Iterator[Figure]:
    by_key: defaultdict[AlarmKey, list[datetime]] = defaultdict(list)
    for record in announced:
        by_key[_key(record)].append(record.at)
    chattering = sum(
        any(last - first <= _CHATTERS_IN for first, last in zip(times, times[_CHATTERS - 1 :], strict=False))
        for times in by_key.values()
    )
    yield Figure("chattering", "chattering (3 times in 60 s)", float(chattering), "", CHATTERING)
    over = _times_of(recorded.log, _OVER)
    ends = [_next(over[_key(record)], record.at) for record in announced]
    fleeting = sum(end is not None and end - record.at < _FLEETS for record, end in zip(announced, ends, strict=True))
    yield Figure(
        "fleeting_share", "cleared within 30 s", _share(fleeting, len(announced)), "share", FLEETING, missing=NOTHING
    )
    stale = sum(
        (end or recorded.until) - record.at >= _STALE_AFTER for record, end in zip(announced, ends, strict=True)
    )
    yield Figure("stale", "present for over 24 h", float(stale), "", STALE)


def _next(times: Sequence[datetime], at: datetime) -> datetime | None:
    """Return the first of the sorted times at `at` or later; None without one."""
    index = bisect_left(times, at)
    return times[index] if index < len(times) else None


def _times_of(log: Iterable[AlarmRecord], turns: Container[AlarmTransition]) -> defaultdict[AlarmKey, list[datetime]]:
    """Return the sorted times of the transitions in `turns`, by alarm."""
    found: defaultdict[AlarmKey, list[datetime]] = defaultdict(list)
    for record in log:
        if record.turn in turns:
            found[_key(record)].append(record.at)
    return found


def _bad_actors(announced: Sequence[AlarmRecord]) -> Iterator[BadActor]:
    """Yield the alarms that were announced most, by event and kind."""
    counts = Counter((record.event_id, record.kind) for record in announced)
    names = {record.event_id: record.subject for record in announced}
    for (event_id, kind), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_ACTORS]:
        yield BadActor(event_id, names[event_id], kind, count, count / len(announced))


def _severities(announced: Sequence[AlarmRecord]) -> Iterator[Figure]:
    critical = sum(record.severity is Severity.CRITICAL for record in announced)
    share = _share(critical, len(announced))
    yield Figure("critical_share", "share of criticals", share, "share", CRITICAL_SHARE, missing=NOTHING)


def _responses(recorded: AlarmHistory) -> Iterator[Figure]:
    """Yield the times to acknowledge: from the onset of an alarm to its first acknowledgement by a person."""
    taken = sorted(_times_to_acknowledge(recorded))
    yield Figure("acknowledged", "alarms acknowledged", float(len(taken)))
    for key, part, goal in (("acknowledge_p50", 0.5, ACKNOWLEDGE_P50), ("acknowledge_p95", 0.95, ACKNOWLEDGE_P95)):
        value = taken[ceil(part * len(taken)) - 1] if taken else None
        title = f"acknowledged, {100 * part:.0f} % within"
        yield Figure(key, title, value, "s", goal, missing=NOTHING)


def _times_to_acknowledge(recorded: AlarmHistory) -> Iterator[float]:
    raised, seen = _times_of(recorded.log, {AlarmTransition.RAISED}), defaultdict[AlarmKey, list[datetime]](list)
    for answer in recorded.answers:
        tolerance, onsets = onset_tolerance(answer.key.kind), seen[answer.key]
        if answer.kind not in _BY_PERSON or any(abs(since - answer.since) <= tolerance for since in onsets):
            continue
        onsets.append(answer.since)
        before = bisect_right(raised[answer.key], answer.at)
        raised_at = raised[answer.key][before - 1] if before else answer.since
        yield max(0.0, (answer.at - raised_at).total_seconds())


def _hidden(recorded: AlarmHistory) -> Iterator[Figure]:
    """Yield the hours that alarms were shelved or out of service, and the number of suppressed alarms."""
    shelved = _hours(recorded, lambda record: record.state in {AlarmState.SHELVED, AlarmState.OUT_OF_SERVICE})
    silenced = _hours(recorded, lambda record: record.is_silenced and record.turn not in _OVER)
    yield Figure("shelved_hours", "hours shelved or out of service", shelved, "h")
    yield Figure("silenced_hours", "hours silenced", silenced, "h")
    suppressed = sum(record.turn is AlarmTransition.SUPPRESSED for record in recorded.log)
    yield Figure("suppressed", "alarms hidden by another", float(suppressed))


def _hours(recorded: AlarmHistory, is_counted: Callable[[AlarmRecord], bool]) -> float:
    """Return the hours in which the last record of an alarm meets `is_counted`, summed over all alarms."""
    since: dict[AlarmKey, datetime] = {}
    total = timedelta()
    for record in recorded.log:
        key = _key(record)
        if is_counted(record):
            since.setdefault(key, record.at)
        elif key in since:
            total += record.at - since.pop(key)
    return (total + sum((recorded.until - at for at in since.values()), timedelta())) / _HOUR


def _not_watched(recorded: AlarmHistory) -> Figure:
    if recorded.watched is None:
        return Figure("not_watched_share", "share of the time not watched", None, "share", missing=NOT_RECORDED)
    share = max(0.0, 1 - recorded.watched_seconds / recorded.seconds)
    return Figure("not_watched_share", "share of the time not watched", share, "share")


def _precision(answers: Iterable[AlarmAction]) -> Iterator[Figure]:
    """Yield the number of alarms that were closed with a verdict, and the share of real ones.

    The last verdict on an alarm counts.
    """
    verdicts: dict[tuple[AlarmKey, datetime], str] = {}
    for answer in answers:
        if answer.kind is ActionKind.CLOSE and answer.reason in {*Verdict}:
            verdicts[answer.key, answer.since] = answer.reason
        elif answer.kind is ActionKind.UNACKNOWLEDGE:
            verdicts.pop((answer.key, answer.since), None)
    real = sum(verdict == Verdict.REAL for verdict in verdicts.values())
    share = _share(real, len(verdicts))
    yield Figure("closed", "closed with a verdict", float(len(verdicts)))
    yield Figure("precision", "share of real alarms", share, "share", PRECISION, is_least=True, missing="none closed")
