"""Calls to make and their intervals (monitoring.md, "Cadence"). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from livedeck.client import Event
from livedeck.monitor.detection.restreams import CONNECTED, DISCONNECTED
from livedeck.monitor.evidence.presence import LOOK_WITHIN
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.resources import ResourceKey, ResourceKind
from livedeck.monitor.model.state import BroadcastState, EventState, IngestState, Phase
from livedeck.monitor.model.thresholds import Cadence

PollKey: TypeAlias = str | ResourceKey
"""Key of a call: LIST, PROBE, an event id for the event's samples, or a list polled on demand."""

LIST = ""
"""Key of the call for the event list."""

PROBE = "?"
"""Key of the call that asks for a single row of the event list (monitoring.md, "Back-off"). It is no id of an event."""


class PollSpec(NamedTuple):
    """Seconds between two polls of a call, and its rank: the lowest rank goes first if time is short."""

    interval: float
    rank: int


PollSchedule: TypeAlias = Mapping[PollKey, PollSpec]
"""Calls to make: the list first, then the most urgent."""

_SPARE = 0.9
"""Share of the request budget for events. The event list and the lists on a screen need the rest."""

_EARLY_SHARE = 0.1
"""Share of the request budget for events that start much later, and may have a test signal."""

_MAY_SEND_NOW = frozenset({BroadcastState.ON_AIR, BroadcastState.RECONNECTING, BroadcastState.UNKNOWN})
_OFF_PLATFORM = frozenset({ResourceKind.CUES, ResourceKind.MATERIALS})


def is_on_platform(key: PollKey) -> bool:
    """Return whether a call goes to the platform's API, so that its result shows the state of the connection.

    Cues come from the file server, and materials from the history.
    """
    return not (isinstance(key, ResourceKey) and key.kind in _OFF_PLATFORM)


def schedule_events(
    states: Iterable[EventState], now: datetime, focus: Collection[str], cadence: Cadence
) -> dict[PollKey, PollSpec]:
    """Return the calls to make for events at `now` (server time).

    `states`: worst first. `focus`: ids of the events on a screen.
    """
    states = tuple(states)
    near = any(
        _is_near_start(state.phase, now, cadence) or _has_unsettled_restream(state) or _is_falling_silent(state, now)
        for state in states
    )
    schedule: dict[PollKey, PollSpec] = {LIST: PollSpec(cadence.events_near if near else cadence.events, 0)}
    for state in states:
        interval = qos_interval(state.event, state.phase, now, cadence)
        if interval is not None:
            rank = 1 if state.phase.tally.expects_signal else 2
            schedule[state.id] = PollSpec(cadence.qos_focus if state.id in focus else interval, rank)
    return schedule


def with_asks(schedule: PollSchedule, asks: PollSchedule, seconds_to_list: float | None) -> PollSchedule:
    """Return the schedule with the calls that check events in doubt.

    `asks`: requests by id; the shorter interval counts if the schedule has the same call. `seconds_to_list`: seconds
    between two event lists; None for the usual interval.
    """
    if not asks and seconds_to_list is None:
        return schedule
    merged = {**schedule, **{key: min(spec, schedule.get(key, spec)) for key, spec in asks.items()}}
    if seconds_to_list is not None:
        merged[LIST] = PollSpec(min(seconds_to_list, schedule[LIST].interval), 0)
    return merged


def fit_rate_limit(
    cadence: Cadence,
    states: Iterable[EventState],
    round_trip: float = 0.0,
    pace: float = 1.0,
    capacity: float | None = None,
) -> Cadence:
    """Return the cadence that the request budget allows: the more events are on air, the less often each is polled.

    Args:
        cadence: Usual cadence.
        states: All events.
        round_trip: Seconds from a request to its reply. They limit the polls, because few calls are in flight at once.
        pace: Share of this cadence that the platform accepts.
        capacity: Polls per second that a slow machine makes in time; an event on a screen is then polled like the
            others. None for no limit.
    """
    tallies = [state.phase.tally for state in states if state.event.stream]
    on_air = sum(tally in _MAY_SEND_NOW for tally in tallies)
    early = tallies.count(BroadcastState.SCHEDULED)
    budget = min(cadence.budget, cadence.at_once / round_trip) if round_trip else cadence.budget
    budget = budget if capacity is None else min(budget, capacity)
    qos = max(cadence.qos, on_air / (_SPARE * budget))
    return replace(
        cadence,
        qos=qos / pace,
        qos_focus=(cadence.qos_focus if capacity is None else max(cadence.qos_focus, qos)) / pace,
        qos_early=max(cadence.qos_early, early / (_EARLY_SHARE * budget)) / pace,
    )


def qos_interval(event: Event, phase: Phase, now: datetime, cadence: Cadence) -> float | None:
    """Return the seconds between two polls of an event's samples; None to make no polls.

    An event without a stream has no samples, and after the stream's end they do not change. From 10 min before its
    planned start an event is polled as on air, because its encoder may already send. Before that, it is polled now and
    then for a test signal. An event that is lost or late for long is polled as seldom as the list.
    """
    tally = phase.tally
    if event.stream is None or tally in {BroadcastState.DRAFT, BroadcastState.COMPLETED}:
        return None
    if tally in _MAY_SEND_NOW:
        return cadence.qos
    left = _seconds_to_start(phase, now)
    if tally is BroadcastState.SCHEDULED:
        return cadence.qos if left is not None and left <= cadence.near_before else cadence.qos_early
    is_awaited = tally is BroadcastState.LATE and left is not None and -left <= cadence.late_watch
    return cadence.qos if is_awaited else cadence.events


def _is_near_start(phase: Phase, now: datetime, cadence: Cadence) -> bool:
    left = _seconds_to_start(phase, now)
    is_waiting = phase.tally in {BroadcastState.SCHEDULED, BroadcastState.LATE}
    return is_waiting and left is not None and -cadence.near_after <= left <= cadence.near_before


def _has_unsettled_restream(state: EventState) -> bool:
    """Return whether a restream's status in the list contradicts the findings, so that a new list is needed soon."""
    if state.phase.tally is not BroadcastState.ON_AIR or state.phase.ingest.state is not IngestState.RECEIVING:
        return False
    if not state.event.restreams:
        return False
    statuses = {restream.id: restream.status for restream in state.event.restreams if restream.enabled}
    down = {finding.target for finding in state.assessment.findings if finding.kind == RESTREAM_KIND.name}
    return any(
        (status == DISCONNECTED and restream_id not in down) or (status == CONNECTED and restream_id in down)
        for restream_id, status in statuses.items()
        if restream_id
    )


def _is_falling_silent(state: EventState, now: datetime) -> bool:
    """Return whether samples are overdue or have just stopped. A new list then shows if the event was completed."""
    ingest = state.phase.ingest
    has_just_stopped = ingest.state is IngestState.INTERRUPTED and ingest.since and now < ingest.since + LOOK_WITHIN
    return state.late_since is not None or bool(has_just_stopped)


def _seconds_to_start(phase: Phase, now: datetime) -> float | None:
    return (phase.reference_time - now).total_seconds() if phase.reference_time else None
