"""Alarms: what is wrong, since when, and in which order it is read (monitoring.md, "Alarms"). Pure.

An alarm follows its finding: `since` is when the fault began as far as the data tell, else when it was first seen;
severity and words are its latest. Its later states
(acknowledged, shelved, cleared but listed) and its delays need only `Change` and the alarms of the step before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.monitor.facts import Alarm, EventState, Finding, Grade, Link, LinkState, Severity, Tally
from livedeck.monitor.findings import QOS_STALE
from livedeck.monitor.thresholds import Thresholds

SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
"""Loudest first."""

DECK = ""
"""The `event_id` of the deck's own alarms."""

_DEFAULTS = Thresholds()
_ON_AIR = frozenset({Tally.ON_AIR, Tally.RECONNECTING, Tally.LOST})

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
    after = {_key(alarm): alarm for alarm in _deck(before, link, now)}
    for state in states:
        after |= {_key(alarm): alarm for alarm in _event(before, state, link, now, thresholds.recovery)}
    changes = [Change(after[key], raised=True) for key in after if key not in before]
    changes += [Change(before[key], raised=False) for key in before if key not in after]
    on_air = frozenset(state.id for state in states if state.phase.tally in _ON_AIR)
    return tuple(sorted(after.values(), key=lambda alarm: urgency(alarm, on_air))), tuple(changes)


def shown(alarms: Iterable[Alarm], link: Link) -> tuple[Alarm, ...]:
    """What a person should read: while the deck is blind its own alarms hide those of the events."""
    return tuple(alarm for alarm in alarms if link.state is not LinkState.BLIND or alarm.event_id == DECK)


def urgency(alarm: Alarm, on_air: frozenset[str]) -> tuple[int, bool, datetime, str, str]:
    """Sort key: critical first, on air (and the deck itself) first, oldest first."""
    aside = alarm.event_id != DECK and alarm.event_id not in on_air
    return SEVERITIES.index(alarm.severity), aside, alarm.since, alarm.event_id, alarm.kind


def _key(alarm: Alarm) -> _Key:
    return alarm.event_id, alarm.kind


def _deck(before: dict[_Key, Alarm], link: Link, now: datetime) -> Iterator[Alarm]:
    for finding in _link_findings(link):
        yield _alarm(before, DECK, "platform", finding, now)


def _link_findings(link: Link) -> Iterator[Finding]:
    if link.state is LinkState.BLIND:
        yield Finding("API_BLIND", Severity.CRITICAL, link.why or "no answer", "an answer from the platform")
    if link.refused:
        yield Finding("AUTH_FAILED", Severity.CRITICAL, link.why, "a token that the platform accepts")


def _event(before: dict[_Key, Alarm], state: EventState, link: Link, now: datetime, recovery: float) -> Iterator[Alarm]:
    blamed = link.state is not LinkState.OK or (now - link.since).total_seconds() < recovery
    found = [finding for finding in state.verdict.findings if not (blamed and finding == QOS_STALE)]
    if state.verdict.health.grade is Grade.STALE:
        kinds = {finding.kind for finding in found}
        yield from (alarm for key, alarm in before.items() if key[0] == state.id and key[1] not in kinds)
    for finding in found:
        begun = now if finding.since is None else min(now, finding.since - timedelta(seconds=link.skew))
        yield _alarm(before, state.id, state.event.name or state.id, finding, begun)


def _alarm(before: dict[_Key, Alarm], event_id: str, subject: str, finding: Finding, begun: datetime) -> Alarm:
    known = before.get((event_id, finding.kind))
    since = known.since if known else begun
    return Alarm(event_id, finding.kind, finding.severity, since, subject, finding.actual, finding.expected)
