"""Checks before a show: GO or NO-GO, with reasons. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from msgspec import field

from livedeck.client import Event, EventRestream
from livedeck.monitor import BroadcastState, EventState, ResourceKey, Severity, Snapshot, event_key, planned_start
from livedeck.monitor.model.snapshot import OFTEN_UNLISTED
from livedeck.monitor.model.withheld import Withheld, destination, destinations, enabled, has_poster, public_keys
from livedeck.presentation.remembered import Remembered
from livedeck.record import Record
from livedeck.text.values import age, evidence_text, safe, short_duration

DUE_SECONDS = 600.0
"""Seconds before the start of an event when the deck begins to check it by itself (interface.md, "Preflight")."""

SHORT_WINDOW = 60
"""Minimum seconds of a reconnect window in which an encoder can restart."""

NEAR = 15 * 60.0
"""Minimum number of seconds between the starts of two events that one crew can run."""


class Mark(StrEnum):
    """Result of an item. CHECK: a person should look at the item. UNKNOWN: no data."""

    GO = "GO"
    CHECK = "CHECK"
    NO_GO = "NO-GO"
    UNKNOWN = "?"


class Item(Record):
    """Checked item. `advice`: empty if nothing needs to be done.

    `operation`: name of the operation that mends the fault; otherwise empty. `as_of`: time of the data (this machine's
    clock); None for data that do not age.
    """

    name: str
    mark: Mark
    finding: str
    advice: str = ""
    operation: str = ""
    as_of: datetime | None = None


class PreflightFacts(Record):
    """Data of the checks. `now`: time of the platform's clock. `others`: other events of the workspace.

    `state`: state of the event in the monitor. `skew`: seconds by which the platform's clock is ahead; 0 if negligible,
    None if not measured. `is_read_only`: this client refuses changes. `public_keys`: descriptions of keys that are also
    a name or an id. `as_of`: time at which each field, the `signal` and the `clock` were read (this machine's clock).
    `withheld`: facts about keys and addresses that `event` and `others` lack; None if they lack none. `has_all`: False
    if the list of events was incomplete, so that `others` may lack some events.
    """

    event: Event
    others: tuple[Event, ...]
    state: EventState | None
    now: datetime
    skew: float | None
    is_read_only: bool
    as_of: Mapping[str, datetime | None] = field(default_factory=dict)
    public_keys: tuple[str, ...] = ()
    withheld: Withheld | None = None
    has_all: bool = True

    def knows(self, name: str) -> bool:
        """Return whether the field of the event was received and could be read."""
        return _knows(self.event, name)

    def has_destination(self, place: int) -> bool | None:
        """Return whether a restream has an address and a key; None if unknown. `place`: index of the restream."""
        restream = (self.event.restreams or ())[place]
        if _shows_destination(restream):
            return destination(restream) is not None
        return None if self.withheld is None else place not in self.withheld.incomplete

    def shares_destination(self, other: Event) -> bool | None:
        """Return whether both events send to the same address with the same key; None if unknown."""
        if self.withheld is not None and other.id in self.withheld.shared:
            return True
        if destinations(self.event) & destinations(other):
            return True
        both = (*enabled(self.event.restreams or ()), *enabled(other.restreams or ()))
        return False if self.withheld is not None or all(map(_shows_destination, both)) else None


class Preflight(Record):
    """Checked items, in the order of a crew's check."""

    items: tuple[Item, ...]

    @property
    def is_go(self) -> bool:
        """True if no item is NO-GO."""
        return all(item.mark is not Mark.NO_GO for item in self.items)

    @property
    def against(self) -> str:
        """Names of the NO-GO items: `conflicts, restreams`; empty without any."""
        return ", ".join(dict.fromkeys(item.name for item in self.marked(Mark.NO_GO)))

    @property
    def verdict(self) -> str:
        """`GO`, or `NO-GO` with the names of the NO-GO items."""
        return f"NO-GO: {self.against}" if self.against else "GO"

    def marked(self, mark: Mark) -> tuple[Item, ...]:
        """Return the items with a mark."""
        return tuple(item for item in self.items if item.mark is mark)


def preflight(facts: PreflightFacts) -> Preflight:
    """Run all checks."""
    items = (replace(item, as_of=facts.as_of.get(source)) for check, source in _CHECKS for item in check(facts))
    return Preflight(tuple(items))


def gather_facts(snapshot: Snapshot, event: Event, now: datetime, *, is_read_only: bool) -> PreflightFacts:
    """Return the data for the checks of an event at `now` (the platform's clock).

    Fields that the event list lacks are taken from the last response for the event by id.
    """
    state = snapshot.find(event.id)
    listed = state.event if state else event
    complete, asked_at = snapshot.completed(listed), snapshot.cached(event_key(event.id)).as_of
    listed_at = state.as_of if state else snapshot.at
    own = None if snapshot.withheld is None else snapshot.withheld.get(event.id, Withheld())
    as_of = {name: listed_at if name in listed.model_fields_set else asked_at for name in OFTEN_UNLISTED}
    return PreflightFacts(
        complete,
        tuple(snapshot.completed(other.event) for other in snapshot.events if other.id != event.id),
        state,
        now,
        snapshot.link.measured_skew,
        is_read_only,
        as_of | {"signal": state.qos.as_of if state else None, "clock": snapshot.link.as_of},
        public_keys(complete) or (own.public_keys if own else ()),
        own,
        snapshot.is_whole,
    )


def _knows(event: Event, name: str) -> bool:
    is_odd = any(fault.field.partition(".")[0] == name for fault in event.faults)
    return name in event.model_fields_set and not is_odd


def missing_fields(event: Event) -> tuple[str, ...]:
    """Return the fields that the checks need and that the event in the list lacks. They must be polled by id."""
    return tuple(name for name in OFTEN_UNLISTED if name not in event.model_fields_set)


def missing_keys(snapshot: Snapshot, preflights: Mapping[str, Preflight]) -> tuple[ResourceKey, ...]:
    """Return the events to poll by id, because the event list lacks fields that their checks need."""
    if not preflights:
        return ()
    return tuple(
        event_key(state.id) for state in snapshot.events if state.id in preflights and missing_fields(state.event)
    )


def is_due(state: EventState, now: datetime) -> bool:
    """Return whether the event starts within ten minutes of `now` (the platform's clock) or is late."""
    start = planned_start(state.event, now)
    return _is_awaited(state) and start is not None and (now - start).total_seconds() > -DUE_SECONDS


def _is_awaited(state: EventState) -> bool:
    return state.phase.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE}


class DuePreflights:
    """Checks of the events that start soon or are late. Sorts the starts of an event list once, not for each call."""

    def __init__(self, *, is_read_only: bool) -> None:
        self._is_read_only = is_read_only
        self._awaited: Remembered[list[tuple[datetime, int]]] = Remembered()

    def at(self, snapshot: Snapshot, now: datetime) -> Mapping[str, Preflight]:
        """Return event id -> checks for every event that is due at `now` (the platform's clock)."""
        awaited = self._awaited.get((snapshot.events,), None, lambda: _earliest_starts(snapshot.events))
        end = bisect_left(awaited, (now + timedelta(seconds=DUE_SECONDS), 0))
        states = (snapshot.events[place] for place in sorted(place for _, place in awaited[:end]))
        return MappingProxyType(
            {
                state.id: preflight(gather_facts(snapshot, state.event, now, is_read_only=self._is_read_only))
                for state in states
                if is_due(state, now)
            }
        )


def _earliest_starts(states: Sequence[EventState]) -> list[tuple[datetime, int]]:
    """Return the earliest possible start of each awaited event and its index in `states`, in order of time."""
    starts = (
        (planned_start(state.event, _LONG_AGO), place) for place, state in enumerate(states) if _is_awaited(state)
    )
    return sorted((start, place) for start, place in starts if start is not None)


_LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Time before every planned start."""


def due_preflights(snapshot: Snapshot, now: datetime, *, is_read_only: bool) -> Mapping[str, Preflight]:
    """Return event id -> checks for every due event."""
    return DuePreflights(is_read_only=is_read_only).at(snapshot, now)


_NOT_REPORTED = "the platform does not report it"


def _is_on_air(facts: PreflightFacts) -> bool:
    return facts.state is not None and facts.state.phase.tally.expects_signal


def _schedule(facts: PreflightFacts) -> Iterator[Item]:
    tally = facts.state.phase.tally if facts.state else BroadcastState.UNKNOWN
    start = planned_start(facts.event, facts.now)
    if tally is BroadcastState.COMPLETED:
        yield Item("schedule", Mark.NO_GO, "the event has ended", "create another event")
    elif _is_on_air(facts):
        yield Item("schedule", Mark.GO, f"already {tally}")
    elif start is None and not facts.knows("scheduled"):
        yield Item("schedule", Mark.UNKNOWN, _NOT_REPORTED)
    elif start is None:
        advice = "livedeck event schedule EVENT --started-at MOMENT"
        yield Item("schedule", Mark.NO_GO, "no start time", advice, "event.schedule")
    elif start < facts.now:
        late = age((facts.now - start).total_seconds())
        yield Item("schedule", Mark.NO_GO, f"should have started {late} ago", "start the encoder, or move the start")
    else:
        until = short_duration((start - facts.now).total_seconds())
        yield Item("schedule", Mark.GO, f"starts {start:%d %b %H:%M:%S}Z, in {until}")
    if facts.event.stream is None and tally is not BroadcastState.COMPLETED:
        advice = "livedeck event schedule EVENT --started-at MOMENT"
        yield Item("stream", Mark.CHECK, "no stream is scheduled", advice, "event.schedule")


def _conflicts(facts: PreflightFacts) -> Iterator[Item]:
    start = planned_start(facts.event, facts.now)
    near: list[tuple[timedelta, str, str]] = []
    unknown = [] if facts.knows("restreams") else ["this event"]
    is_shared = False
    for other in facts.others:
        is_running = other.stream is not None and other.stream.status == "live"
        begins = planned_start(other, facts.now)
        apart = begins - start if start and begins else None
        is_near = apart is not None and abs(apart.total_seconds()) < NEAR
        name = f'"{safe(other.name or other.id, 40)}"'
        is_same = facts.shares_destination(other)
        if (is_running or is_near) and (is_same is None or not _knows(other, "restreams")):
            unknown.append(name)
        if (is_running or is_near) and is_same:
            is_shared = True
            advice = "give one of them another key, or switch its restream off"
            text = f"{name} sends to the same destination with the same key"
            yield Item("conflicts", Mark.NO_GO, text, advice, "event.edit")
        elif is_near and apart is not None and begins:
            near.append((abs(apart), name, f"starts at {begins:%H:%M}Z, {_apart(apart)}"))
    near.sort()
    if near:
        names = ", ".join(name for _, name, _ in near)
        text = " ".join(near[0][1:]) if len(near) == 1 else f"{len(near)} others start at about the same time: {names}"
        yield Item("conflicts", Mark.CHECK, text, "make sure that each event has a crew")
    if unknown:
        yield Item("conflicts", Mark.UNKNOWN, f"the platform does not report the restreams of {', '.join(unknown)}")
    elif not near and not is_shared and not facts.has_all:
        yield Item("conflicts", Mark.UNKNOWN, "none with the received events, but the list is incomplete")
    elif not near and not is_shared:
        yield Item("conflicts", Mark.GO, "no other event shares its time or its destinations")


def _apart(apart: timedelta) -> str:
    """Return the distance of another event's start from the start of this event: `6 min earlier`."""
    minutes = round(apart.total_seconds() / 60)
    return f"{abs(minutes)} min {'later' if minutes > 0 else 'earlier'}" if minutes else "at the same time"


def _shows_destination(restream: EventRestream) -> bool:
    """Return whether address and key were received. A history and a collector pass on neither."""
    return {"url", "key"} <= restream.model_fields_set


def _window(facts: PreflightFacts) -> Iterator[Item]:
    seconds = facts.event.reconnect_window
    if seconds is None:
        yield Item("reconnect window", Mark.UNKNOWN, _NOT_REPORTED)
    elif seconds < SHORT_WINDOW:
        text = f"{seconds} s is too short for an encoder to restart"
        advice = "livedeck event edit EVENT --reconnect-window 600"
        yield Item("reconnect window", Mark.CHECK, text, advice, "event.edit")
    else:
        yield Item("reconnect window", Mark.GO, short_duration(seconds))


def _restreams(facts: PreflightFacts) -> Iterator[Item]:
    every = facts.event.restreams or ()
    in_use = enabled(every)
    checked = [(restream, facts.has_destination(place)) for place, restream in enumerate(every) if restream in in_use]
    without_key = [restream for restream, is_complete in checked if is_complete is False]
    if without_key:
        names = ", ".join(safe(restream.name or "unnamed", 30) for restream in without_key)
        advice = "livedeck event edit EVENT --restreams FILE"
        yield Item("restreams", Mark.NO_GO, f"no address or key: {names}", advice, "event.edit")
    elif not facts.knows("restreams"):
        yield Item("restreams", Mark.UNKNOWN, _NOT_REPORTED)
    elif any(is_complete is None for _, is_complete in checked):
        yield Item("restreams", Mark.UNKNOWN, "stored data and collectors omit addresses and keys")
    elif not every:
        yield Item("restreams", Mark.GO, "none")
    elif not in_use:
        names = ", ".join(safe(restream.name or "unnamed", 30) for restream in every)
        advice = "switch a restream on, or remove all of them"
        yield Item("restreams", Mark.NO_GO, f"switched off: {names}", advice, "event.edit")
    elif len(in_use) < len(every):
        text = f"{len(every) - len(in_use)} of {len(every)} switched off"
        yield Item("restreams", Mark.CHECK, text, "make sure that this is intended", "event.edit")
    else:
        yield Item("restreams", Mark.GO, f"{len(in_use)} enabled, each with a key")


def _public(facts: PreflightFacts) -> Iterator[Item]:
    for key in facts.public_keys:
        text = f"{key} is also a name or an id, so it is public"
        yield Item("keys", Mark.CHECK, text, "use another key: anyone can send with this one")


def _poster(facts: PreflightFacts) -> Iterator[Item]:
    poster = facts.event.poster
    if not facts.knows("poster"):
        yield Item("poster", Mark.UNKNOWN, _NOT_REPORTED)
    elif poster and "original" not in poster.model_fields_set and facts.withheld is None:
        yield Item("poster", Mark.UNKNOWN, "its address is neither stored nor published")
    elif poster is None or not (has_poster(facts.event) or (facts.withheld and facts.withheld.has_poster)):
        yield Item("poster", Mark.CHECK, "none", "livedeck event poster EVENT --url ADDRESS", "event.poster")
    else:
        yield Item("poster", Mark.GO, safe(poster.status or "set", 20))


def _qualities(facts: PreflightFacts) -> Iterator[Item]:
    presets = facts.event.video.presets if facts.event.video else None
    if facts.knows("video"):
        yield Item("qualities", Mark.GO, safe(" ".join(presets), 60) if presets else "chosen by the platform")
    else:
        yield Item("qualities", Mark.UNKNOWN, _NOT_REPORTED)


def _chat(facts: PreflightFacts) -> Iterator[Item]:
    is_active = facts.event.chat_active
    if is_active is None:
        yield Item("chat", Mark.UNKNOWN, _NOT_REPORTED)
    else:
        after = ", also after the stream" if facts.event.chat_after_stream else ""
        yield Item("chat", Mark.GO, f"on{after}" if is_active else "off")


def _signal(facts: PreflightFacts) -> Iterator[Item]:
    state = facts.state
    newest = state.qos.readings.last if state else None
    if state and newest is None and state.qos.as_of is None and _is_on_air(facts):
        reason = safe(state.qos.error, 120)
        yield Item("signal", Mark.UNKNOWN, f"samples could not be read: {reason}" if reason else "samples not read yet")
        return
    if state is None or newest is None:
        mark = Mark.NO_GO if _is_on_air(facts) else Mark.CHECK
        yield Item("signal", mark, "no sample yet", "send a test signal")
        return
    findings = [finding for finding in state.assessment.findings if finding.severity is not Severity.INFO]
    texts = "; ".join(f"{finding.kind} {evidence_text(finding, 120)}" for finding in findings)
    if any(finding.severity is Severity.CRITICAL for finding in findings):
        yield Item("signal", Mark.NO_GO, texts, "livedeck alarm list has the advice")
        return
    if findings:
        yield Item("signal", Mark.CHECK, texts, "livedeck alarm list has the advice")
        return
    seconds = max(0.0, facts.now.timestamp() - newest.time)
    if seconds > OLD_SIGNAL:
        yield Item("signal", Mark.CHECK, f"newest sample {age(seconds)} old", "send a test signal")
    elif _is_on_air(facts) and state.is_measured:
        yield Item("signal", Mark.GO, f"good, newest sample {age(seconds)} old")
    else:  # findings need an event on air (monitoring.md, "Verdicts")
        yield Item("signal", Mark.GO, f"samples arrive, newest {age(seconds)} old; not judged before the start")


OLD_SIGNAL = 60.0
"""Age of the newest sample in seconds above which a test signal counts as gone."""


def _clock(facts: PreflightFacts) -> Iterator[Item]:
    if facts.skew is None:
        yield Item("clock", Mark.UNKNOWN, "the platform's clock is not known yet")
    elif facts.skew:
        text = f"this machine is {abs(facts.skew):.0f} s {'behind' if facts.skew > 0 else 'ahead'}"
        yield Item("clock", Mark.CHECK, text, "synchronise this machine's clock")
    else:
        yield Item("clock", Mark.GO, "matches the platform's clock")


def _rights(facts: PreflightFacts) -> Iterator[Item]:
    if facts.is_read_only:
        yield Item(
            "token",
            Mark.CHECK,
            "read access confirmed; changes are refused here",
            "leave out --read-only to make changes",
        )
    else:
        yield Item("token", Mark.UNKNOWN, "read access confirmed; write access unknown until the first change")


_CHECKS: tuple[tuple[Callable[[PreflightFacts], Iterator[Item]], str], ...] = (
    (_schedule, "scheduled"),
    (_conflicts, "restreams"),
    (_window, "reconnect_window"),
    (_restreams, "restreams"),
    (_public, ""),
    (_poster, "poster"),
    (_qualities, "video"),
    (_chat, "chat_active"),
    (_signal, "signal"),
    (_clock, "clock"),
    (_rights, ""),
)
"""Checks, each with the name of its data in `PreflightFacts.as_of`; empty for a check of data that do not age."""
