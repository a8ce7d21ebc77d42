"""What has to be right before a show, item by item: GO or NO-GO, with reasons. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from livedeck.client import Event, EventRestream
from livedeck.monitor import BroadcastState, EventState, Severity, planned_start
from livedeck.text.values import age, safe, short_duration

SHORT_WINDOW = 60
"""Seconds of a reconnect window under which a restarted encoder comes too late."""

NEAR = 15 * 60.0
"""Seconds between the starts of two events that one crew hardly runs at once."""


class Mark(StrEnum):
    """How an item stands. CHECK: a person has to look. UNKNOWN: nothing tells."""

    GO = "GO"
    CHECK = "CHECK"
    NO_GO = "NO-GO"
    UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was looked at. `advice`: what to do; empty where nothing is to be done."""

    name: str
    mark: Mark
    finding: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class PreflightFacts:
    """What is known before a show. `now`: the platform's clock. `others`: the other events of the workspace.

    `state`: what the monitor makes of it. `skew`: seconds that this machine's clock is off; None: not measured.
    `skew_limit`: how many are too many. `is_read_only`: whether changes are refused here.
    """

    event: Event
    others: tuple[Event, ...]
    state: EventState | None
    now: datetime
    skew: float | None
    skew_limit: float
    is_read_only: bool


@dataclass(frozen=True, slots=True)
class Preflight:
    """Every item, in the order in which a crew goes through them."""

    items: tuple[Item, ...]

    @property
    def is_go(self) -> bool:
        """Whether nothing is known that keeps the show from starting."""
        return all(item.mark is not Mark.NO_GO for item in self.items)

    @property
    def verdict(self) -> str:
        """`GO`, or `NO-GO` with what stands against it."""
        against = [item.name for item in self.items if item.mark is Mark.NO_GO]
        return f"NO-GO: {', '.join(against)}" if against else "GO"


def preflight(facts: PreflightFacts) -> Preflight:
    """Look at everything."""
    checks = (_schedule, _conflicts, _window, _restreams, _poster, _qualities, _chat, _signal, _clock, _rights)
    return Preflight(tuple(item for check in checks for item in check(facts)))


def _is_on_air(facts: PreflightFacts) -> bool:
    return facts.state is not None and facts.state.phase.tally.expects_signal


def _schedule(facts: PreflightFacts) -> Iterator[Item]:
    tally, start = (
        facts.state.phase.tally if facts.state else BroadcastState.UNKNOWN,
        planned_start(facts.event, facts.now),
    )
    if tally is BroadcastState.COMPLETED:
        yield Item("schedule", Mark.NO_GO, "it is over", "make another event")
    elif _is_on_air(facts):
        yield Item("schedule", Mark.GO, f"it is {tally}")
    elif start is None:
        advice = "livedeck streams schedule EVENT --started-at MOMENT"
        yield Item("schedule", Mark.NO_GO, "it has no start time", advice)
    elif start < facts.now:
        late = age((facts.now - start).total_seconds())
        yield Item("schedule", Mark.NO_GO, f"it was to start {late} ago", "start the encoder, or move the start")
    else:
        until = short_duration((start - facts.now).total_seconds())
        yield Item("schedule", Mark.GO, f"starts {start:%d %b %H:%M:%S}Z, in {until}")
    if facts.event.stream is None and tally is not BroadcastState.COMPLETED:
        yield Item("stream", Mark.CHECK, "no stream is scheduled", "livedeck streams schedule EVENT")


def _conflicts(facts: PreflightFacts) -> Iterator[Item]:
    own = {_destination(restream) for restream in _enabled(facts.event)} - {None}
    start = planned_start(facts.event, facts.now)
    found = False
    for other in facts.others:
        is_running = other.stream is not None and other.stream.status == "live"
        begins = planned_start(other, facts.now)
        is_near = bool(start and begins and abs((begins - start).total_seconds()) < NEAR)
        name = safe(other.name or other.id, 40)
        if (is_running or is_near) and own & {_destination(restream) for restream in _enabled(other)}:
            found = True
            text = f'"{name}" sends to the same destination with the same key'
            yield Item("conflicts", Mark.NO_GO, text, "give one of them another key, or switch its restream off")
        elif is_near and begins and start:
            found = True
            text = f'"{name}" starts at {begins:%H:%M}Z, {_apart(begins, start)}'
            yield Item("conflicts", Mark.CHECK, text, "see that both have a crew")
    if not found:
        yield Item("conflicts", Mark.GO, "no other event shares its time or its destinations")


def _apart(other: datetime, start: datetime) -> str:
    """How far another start is from this one: `6 min before it`."""
    minutes = round((other - start).total_seconds() / 60)
    return f"{abs(minutes)} min {'after' if minutes > 0 else 'before'} it" if minutes else "as it does"


def _enabled(event: Event) -> list[EventRestream]:
    return [restream for restream in event.restreams or () if restream.enabled is not False]


def _destination(restream: EventRestream) -> tuple[str, str] | None:
    if not restream.url or not restream.key or not restream.key.reveal():
        return None
    return restream.url.rstrip("/"), restream.key.reveal()


def _window(facts: PreflightFacts) -> Iterator[Item]:
    seconds = facts.event.reconnect_window
    if seconds is None:
        yield Item("reconnect window", Mark.UNKNOWN, "the platform does not say")
    elif seconds < SHORT_WINDOW:
        text = f"{seconds} s: an encoder that restarts comes too late"
        yield Item("reconnect window", Mark.CHECK, text, "livedeck events edit EVENT --reconnect-window 600")
    else:
        yield Item("reconnect window", Mark.GO, short_duration(seconds))


def _restreams(facts: PreflightFacts) -> Iterator[Item]:
    every, enabled = facts.event.restreams or (), _enabled(facts.event)
    without_key = [restream for restream in enabled if _destination(restream) is None]
    if not every:
        yield Item("restreams", Mark.GO, "none")
    elif without_key:
        names = ", ".join(safe(restream.name or "unnamed", 30) for restream in without_key)
        advice = "livedeck events edit EVENT --restreams FILE"
        yield Item("restreams", Mark.NO_GO, f"without address or key: {names}", advice)
    elif len(enabled) < len(every):
        text = f"{len(every) - len(enabled)} of {len(every)} switched off"
        yield Item("restreams", Mark.CHECK, text, "see that this is meant")
    else:
        yield Item("restreams", Mark.GO, f"{len(enabled)} enabled, each with a key")


def _poster(facts: PreflightFacts) -> Iterator[Item]:
    poster = facts.event.poster
    if poster is None or not poster.original:
        yield Item("poster", Mark.CHECK, "none", "livedeck events poster EVENT --poster-url ADDRESS")
    else:
        yield Item("poster", Mark.GO, safe(poster.status or "there", 20))


def _qualities(facts: PreflightFacts) -> Iterator[Item]:
    presets = facts.event.video.presets if facts.event.video else None
    yield Item("qualities", Mark.GO, " ".join(presets) if presets else "left to the platform")


def _chat(facts: PreflightFacts) -> Iterator[Item]:
    is_active = facts.event.chat_active
    if is_active is None:
        yield Item("chat", Mark.UNKNOWN, "the platform does not say")
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
        yield Item("signal", Mark.NO_GO, texts, "livedeck alarms says what to do")
    elif findings:
        yield Item("signal", Mark.CHECK, texts, "livedeck alarms says what to do")
    else:
        seconds = max(0.0, facts.now.timestamp() - newest.time)
        yield Item("signal", Mark.GO, f"good, the newest sample {age(seconds)} old")


def _clock(facts: PreflightFacts) -> Iterator[Item]:
    if facts.skew is None:
        yield Item("clock", Mark.UNKNOWN, "the platform's clock was not measured")
    elif abs(facts.skew) > facts.skew_limit:
        text = f"this machine's is {abs(facts.skew):.0f} s {'behind' if facts.skew > 0 else 'ahead'}"
        yield Item("clock", Mark.CHECK, text, "set it by the network")
    else:
        yield Item("clock", Mark.GO, "agrees with the platform's")


def _rights(facts: PreflightFacts) -> Iterator[Item]:
    if facts.is_read_only:
        yield Item("token", Mark.CHECK, "reads; changes are refused here", "leave out --read-only to act")
    else:
        yield Item("token", Mark.UNKNOWN, "reads; only a change tells whether it may change things")
