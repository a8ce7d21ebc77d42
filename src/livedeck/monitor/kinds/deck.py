"""The kinds of alarm about the deck itself: its connection, its clock, its history, and the platform as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from math import ceil

from livedeck.monitor.kinds.kind import (
    API_BLIND,
    PLATFORM,
    AlarmKind,
    DeckCase,
    DeckDetector,
    Incident,
    IncidentDetector,
    Observation,
)
from livedeck.monitor.model.alarm import Alarm, Diagnosis
from livedeck.monitor.model.state import ClockChange, Component, ConnectionProblem, ConnectionState, Severity
from livedeck.monitor.model.thresholds import AlarmLimits, Thresholds
from livedeck.text.values import age, safe


def _observe_blind(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    connection = case.connection
    if connection.state is not ConnectionState.BLIND:
        return None
    since = connection.since + timedelta(seconds=connection.skew)
    return Observation(connection.reason or "no answer", "an answer from the platform", since)


def _observe_unauthorized(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    if not case.connection.is_unauthorized:
        return None
    return Observation(case.connection.reason, "a token that the platform accepts")


def _observe_rate_limited(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    if case.connection.problem is not ConnectionProblem.RATE_LIMITED:
        return None
    return Observation(case.connection.reason, "a platform that takes our calls")


def _observe_skew(case: DeckCase, thresholds: Thresholds) -> Observation | None:
    """A skew that counts at all is a warning (`connection.skew` leaves the rest out)."""
    skew = case.connection.skew - case.connection.clock_offset
    if abs(skew) < (thresholds.skew_least if case.connection.clock_offset else 0.001):
        return None
    return Observation(
        f"this machine's clock is {age(abs(skew))} {'behind' if skew > 0 else 'ahead'}",
        f"the platform's time, within {thresholds.skew_least:.0f} s",
        is_escalated=abs(skew) > thresholds.skew_critical,
    )


def _observe_clock(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    change = case.connection.clock_change
    return Observation(clock_change_text(change), "a clock that goes on") if change else None


def _observe_history(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    return Observation(safe(case.history_error), "a history that can be written") if case.history_error else None


def _observe_incident(
    previous: Collection[str], alarms: Iterable[Alarm], on_air: Collection[str], limits: AlarmLimits
) -> Incident | None:
    """The incident that lasts or begins: who fails soon after one of its events joins it."""
    alarms = list(alarms)
    failed_at = _first_faults(alarms)
    minimum = max(limits.shared_events, ceil(limits.shared_part * len(on_air)))
    members = _with_joining(previous, failed_at, limits) if previous else ()
    if len(members) < minimum:
        members = _densest(failed_at, limits)
    if len(members) < minimum:
        return None
    kinds = sorted({alarm.kind for alarm in alarms if alarm.event_id in members})
    actual = f"{len(members)} of {len(on_air)} events on air: {', '.join(kinds)}"
    observation = Observation(actual, "faults one at a time", stage=len(members))
    return Incident(observation, members, failed_at[members[0]])


def _first_faults(alarms: Iterable[Alarm]) -> Mapping[str, datetime]:
    """Event -> when its first fault began, the earliest first."""
    failed_at: dict[str, datetime] = {}
    for alarm in sorted(alarms, key=lambda alarm: (alarm.since, alarm.event_id)):
        failed_at.setdefault(alarm.event_id, alarm.since)
    return failed_at


def _with_joining(previous: Collection[str], failed_at: Mapping[str, datetime], limits: AlarmLimits) -> tuple[str, ...]:
    members, window = [event_id for event_id in failed_at if event_id in previous], _window(limits)
    for event_id, since in failed_at.items():
        if event_id not in members and any(abs(since - failed_at[member]) <= window for member in members):
            members.append(event_id)
    return tuple(sorted(members, key=lambda event_id: (failed_at[event_id], event_id)))


def _densest(failed_at: Mapping[str, datetime], limits: AlarmLimits) -> tuple[str, ...]:
    """The most events whose faults began within one window."""
    event_ids, times, window = list(failed_at), list(failed_at.values()), _window(limits)
    densest, end = (0, 0), 0
    for begin, first in enumerate(times):
        while end < len(times) and times[end] <= first + window:
            end += 1
        if end - begin > densest[1] - densest[0]:
            densest = begin, end
    return tuple(event_ids[slice(*densest)])


def _window(limits: AlarmLimits) -> timedelta:
    return timedelta(seconds=limits.shared_window)


def clock_change_text(change: ClockChange) -> str:
    """`this machine's clock was set 01:00:00 forward at 12:10:05Z`, or for how long it slept, until when."""
    at, length = f"{change.at:%H:%M:%S}Z", age(round(abs(change.seconds)))
    if change.is_sleep:
        return f"this machine slept {length}, until {at}: nothing was watched"
    return f"this machine's clock was set {length} {'forward' if change.seconds > 0 else 'back'} at {at}"


DECK_KINDS = (
    AlarmKind(
        name=API_BLIND,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_blind),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform does not answer, or this machine's network is down.",
            viewers="Unknown: streams may well go on.",
            advice="Check this machine's network; watch the players themselves.",
        ),
    ),
    AlarmKind(
        name="AUTH_FAILED",
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_unauthorized),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The token was revoked, has expired, or belongs to another workspace.",
            viewers="Nothing; but nobody is watching.",
            advice="Make a new token in the workspace and restart the deck with it.",
        ),
    ),
    AlarmKind(
        name="RATE_LIMITED",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_rate_limited),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform takes fewer calls than are made with this token.",
            viewers="Nothing.",
            advice="Close other decks and scripts that use this token.",
        ),
    ),
    AlarmKind(
        name="CLOCK_SKEW",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_skew),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="This machine's clock is not set by the network.",
            viewers="Nothing; who goes by this clock starts early or late.",
            advice="Turn on time synchronisation (NTP); go by the deck's countdown until then.",
        ),
    ),
    AlarmKind(
        name="MACHINE_CLOCK",
        severity=Severity.INFO,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_clock),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="This machine slept, or somebody or NTP set its clock.",
            viewers="Nothing.",
            advice="After a sleep look at what happened meanwhile: nobody watched.",
        ),
    ),
    AlarmKind(
        name="HISTORY_FAILED",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_history),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The history file cannot be written: disk full, locked, or not allowed.",
            viewers="Nothing.",
            advice="Make room on the disk or free the file; the deck tries again by itself.",
        ),
    ),
    AlarmKind(
        name=PLATFORM,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=IncidentDetector(observe=_observe_incident),
        hidden_by=(API_BLIND,),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="Many events failed together: the platform, or a line that they share.",
            viewers="Much or all of the programme is disturbed.",
            advice="Look at the platform's status page; call its support before you touch encoders.",
        ),
    ),
)
