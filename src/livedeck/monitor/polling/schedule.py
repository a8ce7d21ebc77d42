"""Which calls are wanted, and how often (monitoring.md, "Cadence"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from livedeck.client import Event
from livedeck.monitor.detection.restreams import CONNECTED
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.state import BroadcastState, EventState, IngestState, Phase
from livedeck.monitor.model.thresholds import Cadence

LIST = ""

"""Stands for the event list where a call is named by its event id."""


ROOMS = "\0rooms"

"""Stands for the room list there: no id can be in a path with that in it."""


class PollSpec(NamedTuple):
    """Seconds between asks, and who goes first where not all can be asked in time: the lowest rank."""

    interval: float
    rank: int


PollSchedule = Mapping[str, PollSpec]

"""What to ask, the list first, then what is most urgent."""


_SPARE = 0.9

"""Of the budget: the list, and who is looked at, want their part."""


_MAY_SEND_NOW = frozenset({BroadcastState.ON_AIR, BroadcastState.RECONNECTING, BroadcastState.UNKNOWN})


def plan(
    states: Iterable[EventState], now: datetime, focus: str | None, cadence: Cadence, *, rooms: bool = False
) -> PollSchedule:
    """The wanted calls at `now` (server time), the states being worst first. `rooms`: somebody looks at them."""
    states = tuple(states)
    near = any(_near(state.phase, now, cadence) or _unsure(state) for state in states)
    wanted = {LIST: PollSpec(cadence.events_near if near else cadence.events, 0)}
    for state in states:
        interval = qos_interval(state.event, state.phase, now, cadence)
        if interval is not None:
            rank = 1 if state.phase.tally.expects_signal else 2
            wanted[state.id] = PollSpec(cadence.qos_focus if state.id == focus else interval, rank)
    if rooms:
        wanted[ROOMS] = PollSpec(cadence.rooms, 3)
    return wanted


def fit_rate_limit(cadence: Cadence, states: Iterable[EventState]) -> Cadence:
    """The cadence that the budget allows: with too many events on air each is asked less often.

    It is known to be so, therefore: an answer that was never due is not missed.
    """
    asked = sum(state.phase.tally in _MAY_SEND_NOW for state in states)
    return replace(cadence, qos=max(cadence.qos, asked / (_SPARE * cadence.budget)))


def qos_interval(event: Event, phase: Phase, now: datetime, cadence: Cadence) -> float | None:
    """Seconds between asks for an event's samples; None where there is nothing to ask for.

    Without a stream there are none, and after its end they change no more. An event that waits is asked from T-10 min,
    so that an encoder is seen before the platform says so; one that was lost or late for long, as seldom as the list.
    """
    tally = phase.tally
    if event.stream is None or tally in {BroadcastState.DRAFT, BroadcastState.COMPLETED}:
        return None
    if tally in _MAY_SEND_NOW:
        return cadence.qos
    left = _left(phase, now)
    if tally is BroadcastState.SCHEDULED:
        return cadence.qos if left is not None and left <= cadence.near_before else None
    awaited = tally is BroadcastState.LATE and left is not None and -left <= cadence.late_watch
    return cadence.qos if awaited else cadence.events


def _near(phase: Phase, now: datetime, cadence: Cadence) -> bool:
    left = _left(phase, now)
    waiting = phase.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE}
    return waiting and left is not None and -cadence.near_after <= left <= cadence.near_before


def _unsure(state: EventState) -> bool:
    """Whether a restream was listed otherwise than it is told: it must be known before the list is due again."""
    if state.phase.tally is not BroadcastState.ON_AIR or state.phase.ingest.state is not IngestState.RECEIVING:
        return False
    listed = [one for one in state.event.restreams or () if one.id and one.enabled and one.status]
    down = {one.id for one in listed if one.status != CONNECTED}
    return down != {finding.target for finding in state.assessment.findings if finding.kind == RESTREAM_KIND.name}


def _left(phase: Phase, now: datetime) -> float | None:
    return (phase.reference_time - now).total_seconds() if phase.reference_time else None
