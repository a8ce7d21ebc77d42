"""What has to be right before a show, check by check: GO or NO-GO, with reasons. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from livedeck.client import Event, EventRestream
from livedeck.monitor import BroadcastState, EventState, ResourceKey, Severity, Snapshot, event_key, planned_start
from livedeck.text.values import age, safe, short_duration

DUE_SECONDS = 600.0
"""Before its start, from which on the deck looks at an event by itself (interface.md, "Preflight")."""

SHORT_WINDOW = 60
"""Seconds of a reconnect window under which a restarted encoder comes too late."""

NEAR = 15 * 60.0
"""Seconds between the starts of two events that one crew hardly runs at once."""

_FIELDS = ("scheduled", "reconnect_window", "restreams", "poster", "video", "chat_active")
"""Of an event, each of which a check needs; not every answer has them all (platform-api.md, "Live event")."""


class Mark(StrEnum):
    """How an item stands. CHECK: a person has to look. UNKNOWN: nothing tells."""

    GO = "GO"
    CHECK = "CHECK"
    NO_GO = "NO-GO"
    UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was looked at. `advice`: what to do; empty where nothing is to be done.

    `operation`: the name of the one that mends it. `as_of`: when that was so (this machine's clock); None: always.
    """

    name: str
    mark: Mark
    finding: str
    advice: str = ""
    operation: str = ""
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class PreflightFacts:
    """What is known before a show. `now`: the platform's clock. `others`: the other events of the workspace.

    `state`: what the monitor makes of it. `skew`: seconds that this machine's clock is off, 0 while too few to count;
    None: not measured. `is_read_only`: whether changes are refused here. `public_keys`: those of its keys that are also
    a name or an id, in words. `as_of`: when each field of the event, its
    `signal` and the `clock` were read (this machine's clock).
    """

    event: Event
    others: tuple[Event, ...]
    state: EventState | None
    now: datetime
    skew: float | None
    is_read_only: bool
    as_of: Mapping[str, datetime | None] = field(default_factory=dict)
    public_keys: tuple[str, ...] = ()

    def knows(self, name: str) -> bool:
        """Whether that field of the event came, and could be read in full."""
        return _knows(self.event, name)


@dataclass(frozen=True, slots=True)
class Preflight:
    """Every item, in the order in which a crew goes through them."""

    items: tuple[Item, ...]

    @property
    def is_go(self) -> bool:
        """Whether nothing is known that keeps the show from starting."""
        return all(item.mark is not Mark.NO_GO for item in self.items)

    @property
    def against(self) -> str:
        """What keeps it from starting: `conflicts, restreams`; empty where nothing does."""
        return ", ".join(dict.fromkeys(item.name for item in self.marked(Mark.NO_GO)))

    @property
    def verdict(self) -> str:
        """`GO`, or `NO-GO` with what stands against it."""
        return f"NO-GO: {self.against}" if self.against else "GO"

    def marked(self, mark: Mark) -> tuple[Item, ...]:
        """The items that stand so."""
        return tuple(item for item in self.items if item.mark is mark)


def preflight(facts: PreflightFacts) -> Preflight:
    """Look at everything."""
    items = (replace(item, as_of=facts.as_of.get(source)) for check, source in _CHECKS for item in check(facts))
    return Preflight(tuple(items))


def gather_facts(snapshot: Snapshot, event: Event, now: datetime, *, is_read_only: bool) -> PreflightFacts:
    """What the snapshot tells of an event at `now` (the platform's clock); what the list of the events left out as the
    event itself has told it.
    """
    state = snapshot.find(event.id)
    listed = state.event if state else event
    known, asked_at = _completed(snapshot, listed)
    listed_at = state.as_of if state else snapshot.at
    as_of = {name: listed_at if name in listed.model_fields_set else asked_at for name in _FIELDS}
    return PreflightFacts(
        known,
        tuple(_completed(snapshot, other.event)[0] for other in snapshot.events if other.id != event.id),
        state,
        now,
        snapshot.link.measured_skew,
        is_read_only,
        as_of | {"signal": state.qos.as_of if state else None, "clock": snapshot.link.as_of},
        tuple(_public_keys(known)),
    )


def _public_keys(event: Event) -> Iterator[str]:
    if event.streamkey is not None and event.streamkey.is_public:
        yield "the stream key"
    for restream in event.restreams or ():
        if restream.key is not None and restream.key.is_public:
            yield f"the key of restream {safe(restream.name or 'unnamed', 30)}"


def _completed(snapshot: Snapshot, event: Event) -> tuple[Event, datetime | None]:
    """The event with what the list left out, and when it was asked for that by itself; None: never."""
    alone = snapshot.cached(event_key(event.id))
    told: Event | None = next(iter(alone.items), None)
    told_fields = told.model_fields_set if told else frozenset[str]()
    extra = {name: getattr(told, name) for name in missing_fields(event) if name in told_fields}
    return event.model_copy(update=extra) if extra else event, alone.as_of


def _knows(event: Event, name: str) -> bool:
    is_odd = any(fault.field.partition(".")[0] == name for fault in event.faults)
    return name in event.model_fields_set and not is_odd


def missing_fields(event: Event) -> tuple[str, ...]:
    """What a check needs and the answer did not have: the event itself has to be asked for."""
    return tuple(name for name in _FIELDS if name not in event.model_fields_set)


def missing_keys(snapshot: Snapshot, preflights: Mapping[str, Preflight]) -> tuple[ResourceKey, ...]:
    """What has to be asked for these checks, beyond the lists: nothing where the list of the events says it all."""
    return tuple(
        event_key(state.id) for state in snapshot.events if state.id in preflights and missing_fields(state.event)
    )


def is_due(state: EventState, now: datetime) -> bool:
    """Whether it starts within ten minutes of `now` (the platform's clock), or should have, and is not on air yet."""
    start = planned_start(state.event, now)
    is_awaited = state.phase.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE}
    return is_awaited and start is not None and (now - start).total_seconds() > -DUE_SECONDS


def due_preflights(snapshot: Snapshot, now: datetime, *, is_read_only: bool) -> Mapping[str, Preflight]:
    """The checks of every event that is due, by its id."""
    due = (state for state in snapshot.events if is_due(state, now))
    return MappingProxyType(
        {state.id: preflight(gather_facts(snapshot, state.event, now, is_read_only=is_read_only)) for state in due}
    )


_NOT_SAID = "the platform does not say"


def _is_on_air(facts: PreflightFacts) -> bool:
    return facts.state is not None and facts.state.phase.tally.expects_signal


def _schedule(facts: PreflightFacts) -> Iterator[Item]:
    tally = facts.state.phase.tally if facts.state else BroadcastState.UNKNOWN
    start = planned_start(facts.event, facts.now)
    if tally is BroadcastState.COMPLETED:
        yield Item("schedule", Mark.NO_GO, "it is over", "make another event")
    elif _is_on_air(facts):
        yield Item("schedule", Mark.GO, f"it is {tally}")
    elif start is None and not facts.knows("scheduled"):
        yield Item("schedule", Mark.UNKNOWN, _NOT_SAID)
    elif start is None:
        advice = "livedeck event schedule EVENT --started-at MOMENT"
        yield Item("schedule", Mark.NO_GO, "it has no start time", advice, "event.schedule")
    elif start < facts.now:
        late = age((facts.now - start).total_seconds())
        yield Item("schedule", Mark.NO_GO, f"it was to start {late} ago", "start the encoder, or move the start")
    else:
        until = short_duration((start - facts.now).total_seconds())
        yield Item("schedule", Mark.GO, f"starts {start:%d %b %H:%M:%S}Z, in {until}")
    if facts.event.stream is None and tally is not BroadcastState.COMPLETED:
        advice = "livedeck event schedule EVENT --started-at MOMENT"
        yield Item("stream", Mark.CHECK, "no stream is scheduled", advice, "event.schedule")


def _conflicts(facts: PreflightFacts) -> Iterator[Item]:
    own, start = _destinations(facts.event), planned_start(facts.event, facts.now)
    near: list[tuple[timedelta, str, str]] = []
    unknown = [] if facts.knows("restreams") else ["it"]
    is_shared = False
    for other in facts.others:
        is_running = other.stream is not None and other.stream.status == "live"
        begins = planned_start(other, facts.now)
        apart = begins - start if start and begins else None
        is_near = apart is not None and abs(apart.total_seconds()) < NEAR
        name = f'"{safe(other.name or other.id, 40)}"'
        if (is_running or is_near) and not _knows(other, "restreams"):
            unknown.append(name)
        if (is_running or is_near) and own & _destinations(other):
            is_shared = True
            advice = "give one of them another key, or switch its restream off"
            text = f"{name} sends to the same destination with the same key"
            yield Item("conflicts", Mark.NO_GO, text, advice, "event.edit")
        elif is_near and apart is not None and begins:
            near.append((abs(apart), name, f"starts at {begins:%H:%M}Z, {_apart(apart)}"))
    near.sort()
    if near:
        names = ", ".join(name for _, name, _ in near)
        text = " ".join(near[0][1:]) if len(near) == 1 else f"{len(near)} others start near it: {names}"
        yield Item("conflicts", Mark.CHECK, text, "see that each has a crew")
    if unknown:
        yield Item("conflicts", Mark.UNKNOWN, f"the platform does not say where {', '.join(unknown)} goes")
    elif not near and not is_shared:
        yield Item("conflicts", Mark.GO, "no other event shares its time or its destinations")


def _apart(apart: timedelta) -> str:
    """How far another start is from this one: `6 min before it`."""
    minutes = round(apart.total_seconds() / 60)
    return f"{abs(minutes)} min {'after' if minutes > 0 else 'before'} it" if minutes else "as it does"


def _destinations(event: Event) -> frozenset[tuple[str, str]]:
    """Address and key of every restream that is switched on and has both."""
    return frozenset(destination for restream in _enabled(event) if (destination := _destination(restream)))


def _enabled(event: Event) -> list[EventRestream]:
    return [restream for restream in event.restreams or () if restream.enabled is not False]


def _destination(restream: EventRestream) -> tuple[str, str] | None:
    if not restream.url or not restream.key or not restream.key.reveal():
        return None
    return restream.url.rstrip("/"), restream.key.reveal()


def _window(facts: PreflightFacts) -> Iterator[Item]:
    seconds = facts.event.reconnect_window
    if seconds is None:
        yield Item("reconnect window", Mark.UNKNOWN, _NOT_SAID)
    elif seconds < SHORT_WINDOW:
        text = f"{seconds} s: an encoder that restarts comes too late"
        advice = "livedeck event edit EVENT --reconnect-window 600"
        yield Item("reconnect window", Mark.CHECK, text, advice, "event.edit")
    else:
        yield Item("reconnect window", Mark.GO, short_duration(seconds))


def _restreams(facts: PreflightFacts) -> Iterator[Item]:
    every, enabled = facts.event.restreams or (), _enabled(facts.event)
    without_key = [restream for restream in enabled if _destination(restream) is None]
    if without_key:
        names = ", ".join(safe(restream.name or "unnamed", 30) for restream in without_key)
        advice = "livedeck event edit EVENT --restreams FILE"
        yield Item("restreams", Mark.NO_GO, f"without address or key: {names}", advice, "event.edit")
    elif not facts.knows("restreams"):
        yield Item("restreams", Mark.UNKNOWN, _NOT_SAID)
    elif not every:
        yield Item("restreams", Mark.GO, "none")
    elif not enabled:
        names = ", ".join(safe(restream.name or "unnamed", 30) for restream in every)
        advice = "switch one of them on, or take them all away"
        yield Item("restreams", Mark.NO_GO, f"switched off: {names}", advice, "event.edit")
    elif len(enabled) < len(every):
        text = f"{len(every) - len(enabled)} of {len(every)} switched off"
        yield Item("restreams", Mark.CHECK, text, "see that this is meant", "event.edit")
    else:
        yield Item("restreams", Mark.GO, f"{len(enabled)} enabled, each with a key")


def _public(facts: PreflightFacts) -> Iterator[Item]:
    for key in facts.public_keys:
        text = f"{key} is also a name or an id, which everybody can read"
        yield Item("keys", Mark.CHECK, text, "give it another key: anybody can send with this one")


def _poster(facts: PreflightFacts) -> Iterator[Item]:
    poster = facts.event.poster
    if not facts.knows("poster"):
        yield Item("poster", Mark.UNKNOWN, _NOT_SAID)
    elif poster is None or not poster.original:
        yield Item("poster", Mark.CHECK, "none", "livedeck event poster EVENT --url ADDRESS", "event.poster")
    else:
        yield Item("poster", Mark.GO, safe(poster.status or "there", 20))


def _qualities(facts: PreflightFacts) -> Iterator[Item]:
    presets = facts.event.video.presets if facts.event.video else None
    if facts.knows("video"):
        yield Item("qualities", Mark.GO, safe(" ".join(presets), 60) if presets else "left to the platform")
    else:
        yield Item("qualities", Mark.UNKNOWN, _NOT_SAID)


def _chat(facts: PreflightFacts) -> Iterator[Item]:
    is_active = facts.event.chat_active
    if is_active is None:
        yield Item("chat", Mark.UNKNOWN, _NOT_SAID)
    else:
        after = ", also after the stream" if facts.event.chat_after_stream else ""
        yield Item("chat", Mark.GO, f"on{after}" if is_active else "off")


def _signal(facts: PreflightFacts) -> Iterator[Item]:
    state = facts.state
    newest = state.qos.readings.last if state else None
    if state is None or newest is None:
        mark = Mark.NO_GO if _is_on_air(facts) else Mark.CHECK
        yield Item("signal", mark, "no sample yet", "send a test signal")
        return
    findings = [finding for finding in state.assessment.findings if finding.severity is not Severity.INFO]
    texts = "; ".join(f"{finding.kind} {safe(finding.actual, 60)}" for finding in findings)
    if any(finding.severity is Severity.CRITICAL for finding in findings):
        yield Item("signal", Mark.NO_GO, texts, "livedeck alarm list says what to do")
    elif findings:
        yield Item("signal", Mark.CHECK, texts, "livedeck alarm list says what to do")
    else:
        seconds = max(0.0, facts.now.timestamp() - newest.time)
        yield Item("signal", Mark.GO, f"good, the newest sample {age(seconds)} old")


def _clock(facts: PreflightFacts) -> Iterator[Item]:
    if facts.skew is None:
        yield Item("clock", Mark.UNKNOWN, "the platform's clock was not measured")
    elif facts.skew:
        text = f"this machine's is {abs(facts.skew):.0f} s {'behind' if facts.skew > 0 else 'ahead'}"
        yield Item("clock", Mark.CHECK, text, "set it by the network")
    else:
        yield Item("clock", Mark.GO, "agrees with the platform's")


def _rights(facts: PreflightFacts) -> Iterator[Item]:
    if facts.is_read_only:
        yield Item("token", Mark.CHECK, "reads; changes are refused here", "leave out --read-only to act")
    else:
        yield Item("token", Mark.UNKNOWN, "reads; only a change tells whether it may change things")


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
"""Each with what it looks at: a field of the event, its signal, the clock; the rights are never told."""
