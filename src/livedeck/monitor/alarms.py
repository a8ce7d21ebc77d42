"""Alarms: what is wrong, since when, and in which order it is read (monitoring.md, "Alarms"). Pure.

An alarm follows its finding: `since` is when the fault began as far as the data tell, else when it was first seen;
severity and words are its latest. Its later states
(acknowledged, shelved, cleared but listed) and its delays need only `Change` and the alarms of the step before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.monitor.facts import Alarm, EventState, Finding, Grade, Link, LinkState, Severity, Trouble
from livedeck.monitor.findings import QOS_STALE
from livedeck.monitor.thresholds import Thresholds

SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
"""Loudest first."""

DECK = ""
"""The `event_id` of the deck's own alarms."""

_DEFAULTS = Thresholds()

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """An alarm that came (`raised`) or went."""

    alarm: Alarm
    raised: bool


def step(
    alarms: Iterable[Alarm],
    states: Iterable[EventState],
    link: Link,
    now: datetime,
    thresholds: Thresholds = _DEFAULTS,
) -> tuple[tuple[Alarm, ...], tuple[Change, ...]]:
    """The alarms after one look at everything, most urgent first, and what changed; `now` is this machine's clock.

    An event that cannot be judged keeps the alarms it had: nothing proves that they are over. Where the link itself is
    in trouble, the silence of an event is no alarm of its own.
    """
    states = tuple(states)
    before = {_key(alarm): alarm for alarm in alarms}
    after = {_key(alarm): alarm for alarm in _deck(before, link, now, thresholds)}
    for state in states:
        after |= {_key(alarm): alarm for alarm in _event(before, state, link, now, thresholds.recovery)}
    changes = [Change(after[key], raised=True) for key in after if key not in before]
    changes += [Change(before[key], raised=False) for key in before if key not in after]
    places = {DECK: 0} | {state.id: _place(state) for state in states}
    return tuple(sorted(after.values(), key=lambda alarm: urgency(alarm, places))), tuple(changes)


def shown(alarms: Iterable[Alarm], link: Link) -> tuple[Alarm, ...]:
    """What a person should read: while the deck is blind its own alarms hide those of the events."""
    return tuple(alarm for alarm in alarms if link.state is not LinkState.BLIND or alarm.event_id == DECK)


def urgency(alarm: Alarm, places: Mapping[str, int]) -> tuple[int, int, datetime, str, str]:
    """Sort key, the one order of what is wrong: critical first, then by the place of whose it is, then the oldest.

    Places: the deck itself, events on air from which nothing arrives, other events on air, the rest.
    """
    return SEVERITIES.index(alarm.severity), places[alarm.event_id], alarm.since, alarm.event_id, alarm.kind


def _place(state: EventState) -> int:
    if state.phase.silent:
        return 1
    return 2 if state.phase.tally.owes_bits else 3


def _key(alarm: Alarm) -> _Key:
    return alarm.event_id, alarm.kind


def _deck(before: dict[_Key, Alarm], link: Link, now: datetime, thresholds: Thresholds) -> Iterator[Alarm]:
    for finding in (*_link_findings(link), *_skew_findings(link, thresholds)):
        yield _alarm(before, DECK, "platform", finding, now)


def _link_findings(link: Link) -> Iterator[Finding]:
    if link.state is LinkState.BLIND:
        yield Finding("API_BLIND", Severity.CRITICAL, link.why or "no answer", "an answer from the platform")
    if link.refused:
        yield Finding("AUTH_FAILED", Severity.CRITICAL, link.why, "a token that the platform accepts")
    if link.trouble is Trouble.RATE_LIMITED:
        yield Finding("RATE_LIMITED", Severity.WARNING, link.why, "a platform that takes our calls")


def _skew_findings(link: Link, thresholds: Thresholds) -> Iterator[Finding]:
    """A skew that counts at all is a warning (`connection.skew` leaves the rest out)."""
    if link.skew:
        severity = Severity.CRITICAL if abs(link.skew) > thresholds.skew_critical else Severity.WARNING
        actual = f"this machine's clock is {abs(link.skew):.0f} s {'behind' if link.skew > 0 else 'ahead'}"
        expected = f"the platform's time, within {thresholds.skew_least:.0f} s"
        yield Finding("CLOCK_SKEW", severity, actual, expected)


def _event(before: dict[_Key, Alarm], state: EventState, link: Link, now: datetime, recovery: float) -> Iterator[Alarm]:
    blamed = link.state is not LinkState.OK or _just_back(link, now, recovery)
    found = [finding for finding in state.verdict.findings if not (blamed and finding.kind == QOS_STALE)]
    if state.verdict.health.grade is Grade.STALE:
        kinds = {finding.kind for finding in found}
        yield from (alarm for key, alarm in before.items() if key[0] == state.id and key[1] not in kinds)
    for finding in found:
        begun = now if finding.since is None else min(now, finding.since - timedelta(seconds=link.skew))
        yield _alarm(before, state.id, state.event.name or state.id, finding, begun)


def _just_back(link: Link, now: datetime, recovery: float) -> bool:
    """After an outage every event is silent until it was asked again; after a start each has its first answer due."""
    return link.recovered is not None and (now - link.recovered).total_seconds() < recovery


def _alarm(before: dict[_Key, Alarm], event_id: str, subject: str, finding: Finding, begun: datetime) -> Alarm:
    known = before.get((event_id, finding.kind))
    since = known.since if known else begun
    return Alarm(event_id, finding.kind, finding.severity, since, subject, finding.actual, finding.expected)
