"""Which calls are wanted, and how often (monitoring.md, "Cadence"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from livedeck.client import Event
from livedeck.monitor.facts import EventState, Phase, Tally
from livedeck.monitor.thresholds import Cadence

LIST = ""
"""Stands for the event list where a call is named by its event id."""

Plan = Mapping[str, float]
"""What to ask -> seconds between asks. The list comes first, then what is most urgent."""

_MAY_SEND_NOW = frozenset({Tally.ON_AIR, Tally.RECONNECTING, Tally.UNKNOWN})


def plan(states: Iterable[EventState], now: datetime, focus: str | None, cadence: Cadence) -> Plan:
    """The wanted calls at `now` (server time), the states being worst first."""
    states = tuple(states)
    near = any(_near(state.phase, now, cadence) for state in states)
    wanted = {LIST: cadence.events_near if near else cadence.events}
    for state in states:
        interval = qos_interval(state.event, state.phase, now, cadence)
        if interval is not None:
            wanted[state.id] = cadence.qos_focus if state.id == focus else interval
    return wanted


def qos_interval(event: Event, phase: Phase, now: datetime, cadence: Cadence) -> float | None:
    """Seconds between asks for an event's samples; None where there is nothing to ask for.

    Without a stream there are none, and after its end they change no more. An event that waits is asked from T-10 min,
    so that an encoder is seen before the platform says so; one that was lost or late for long, as seldom as the list.
    """
    tally = phase.tally
    if event.stream is None or tally in {Tally.DRAFT, Tally.COMPLETED}:
        return None
    if tally in _MAY_SEND_NOW:
        return cadence.qos
    left = _left(phase, now)
    if tally is Tally.SCHEDULED:
        return cadence.qos if left is not None and left <= cadence.near_before else None
    awaited = tally is Tally.LATE and left is not None and -left <= cadence.late_watch
    return cadence.qos if awaited else cadence.events


def _near(phase: Phase, now: datetime, cadence: Cadence) -> bool:
    left = _left(phase, now)
    waiting = phase.tally in {Tally.SCHEDULED, Tally.LATE}
    return waiting and left is not None and -cadence.near_after <= left <= cadence.near_before


def _left(phase: Phase, now: datetime) -> float | None:
    return (phase.mark - now).total_seconds() if phase.mark else None
