"""Alarm kinds of the deck itself: connection, clock, history, collectors, and the platform as a whole."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from livedeck.monitor.evidence.blame import CHECKING, Facts, blame, diagnosed
from livedeck.monitor.evidence.playlists import Way, way_of
from livedeck.monitor.kinds.kind import (
    API_BLIND,
    CDN,
    COLLECTOR_SILENT,
    PLATFORM,
    PROBE_BLIND,
    UNIT_UNKNOWN,
    AlarmKind,
    DeckCase,
    DeckDetector,
    Incident,
    IncidentCase,
    IncidentDetector,
    Observation,
)
from livedeck.monitor.model.alarm import Alarm, Diagnosis, Severity
from livedeck.monitor.model.blame import Culprit, Failure, Sight
from livedeck.monitor.model.own import NotWatched, Why, watched_seconds
from livedeck.monitor.model.state import ClockChange, Component, ConnectionProblem, ConnectionState
from livedeck.monitor.model.thresholds import AlarmLimits, Thresholds
from livedeck.text.values import age, safe

_LEAST_LEFT = 2
"""Minimum number of failing inputs in an open incident; a single failing input has a fault of its own."""


_LONG_APART = 600.0
"""Seconds without the shared Redis after which ENGINE_APART is critical."""


def _observe_blind(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    """Report a silent platform; nothing while the connection is checked, because `unjudged_keys` keeps the alarm."""
    connection, found = case.connection, case.connection.blame
    is_failing = connection.is_checking and found.text != CHECKING
    if connection.state is not ConnectionState.BLIND and not is_failing:
        return None
    since = connection.since + timedelta(seconds=connection.skew)
    return Observation(found.text or connection.reason or "no reply", "a usable reply", since, blame=found)


def _observe_probe(case: DeckCase, thresholds: Thresholds) -> Observation | None:
    """Report a probe that reaches no playlist on several hosts, or that has a fault of its own."""
    if case.probe_fault:
        return Observation(safe(case.probe_fault), "a probe that sees pictures")
    limits, playlists = thresholds.attention, case.playlists
    if playlists is None or not playlists.proven:
        return None
    is_answering = case.connection.state.is_answering
    way = way_of(playlists, is_answering=is_answering, least=limits.shared_events, part=limits.shared_part)
    if way is not Way.OWN_WAY:
        return None
    hosts = f"{playlists.asked} of {playlists.asked} playlists on {len(playlists.hosts)} hosts fail"
    return Observation(f"{hosts}: this machine's way to them, or several CDNs", "playlists that play")


def _observe_unauthorized(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    if not case.connection.is_unauthorized:
        return None
    return Observation(case.connection.reason, "a token that the platform accepts")


def _observe_rate_limited(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    """Report a refused pace; critical while it leaves the monitor or an event on air without data.

    If the platform is silent for another reason, API_BLIND reports that: nothing then shows if the pace is still
    refused.
    """
    connection = case.connection
    is_refused = connection.problem is ConnectionProblem.RATE_LIMITED
    is_blind = connection.state is ConnectionState.BLIND
    if not is_refused and (is_blind or not connection.slowed_to):
        return None
    found = blame(Facts(failure=Failure(Sight.PACE), slowed_to=connection.slowed_to, unserved=case.unserved))
    is_escalated = is_blind or case.unserved > 0
    return Observation(found.text, "a platform that accepts requests", is_escalated=is_escalated, blame=found)


def _observe_skew(case: DeckCase, thresholds: Thresholds) -> Observation | None:
    """Report the skew of this machine's clock. `connection.skew` is 0 while the skew is too small to matter."""
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
    return Observation(clock_change_text(change), "a steady clock") if change else None


def _observe_slow(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    slowness = case.connection.own.slowness
    if slowness is None:
        return None
    events = f"{slowness.events} {'event is' if slowness.events == 1 else 'events are'}"
    return Observation(
        f"this machine is {slowness.behind:.0f} s behind: {events} judged late",
        "a machine that polls every event in time",
        slowness.since + timedelta(seconds=case.connection.skew),
        is_escalated=slowness.is_grave,
    )


def _observe_unit(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    return Observation(safe(case.unit_question), "bit rates in a known unit") if case.unit_question else None


def _observe_history(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    return Observation(safe(case.history_error), "a history that can be written") if case.history_error else None


def _observe_notify(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    fault = case.notify_fault
    expected = "targets that accept notifications"
    return Observation(safe(fault.reason), expected, is_escalated=fault.is_down) if fault.reason else None


def _observe_silence(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    if case.silence is None:
        return None
    since = case.silence.since + timedelta(seconds=case.connection.skew)
    return Observation(safe(case.silence.reason), "a collector that responds", since)


def _observe_apart(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    sharing = case.sharing
    if sharing.apart_since is None or case.now is None:
        return None
    since = sharing.apart_since + timedelta(seconds=case.connection.skew)
    is_long = watched_seconds(sharing.apart_since, case.now, case.connection.own.stops) >= _LONG_APART
    return Observation(safe(sharing.reason), "collectors that share their polls", since, is_escalated=is_long)


def _observe_lost(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    lost = case.sharing.lost
    if not lost:
        return None
    return Observation(f"{', '.join(map(safe, lost))} disappeared without signing off", "all collectors running")


def _observe_list(case: DeckCase, _thresholds: Thresholds) -> Observation | None:
    doubt, found = case.list_doubt, blame(Facts(list_doubt=case.list_doubt))
    if doubt is None or not found.text:
        return None
    since = doubt.since + timedelta(seconds=case.connection.skew)
    return Observation(found.text, "a list of all events", since, blame=found)


class Wave(NamedTuple):
    """Newest alarms that began together and are not part of the current incident.

    `raised`: number of their inputs. `possible`: `raised` plus the inputs whose samples became late or gone together
    with these alarms. `needed`: number of inputs that make an incident.
    """

    alarms: Collection[Alarm] = ()
    raised: int = 0
    possible: int = 0
    needed: int = 1

    @property
    def is_possible(self) -> bool:
        """True if the alarms and the inputs whose samples are late or gone are together enough for an incident."""
        return self.possible >= self.needed


def newest_wave(case: IncidentCase, limits: AlarmLimits) -> Wave:
    """Return the largest group of recent alarms that began together, without those of the current incident."""
    window = timedelta(seconds=limits.shared_window)
    recent = case.now - timedelta(seconds=limits.shared_recent)
    keys = {alarm.key for alarm in _current(case, window)}
    others = [alarm for alarm in case.alarms if alarm.key not in keys and _known_since(alarm) > recent]
    alarms = _densest(others, window, case)
    spared = set(case.inputs.values()) - {case.inputs[alarm.event_id] for alarm in case.alarms if alarm.key in keys}
    raised = _inputs(alarms, case)
    is_enough = len(raised) >= limits.shared_events
    late = (_late_inputs(alarms[0].since, window, case) & spared) - raised if is_enough else set[Hashable]()
    return Wave(alarms, len(raised), len(raised) + len(late) if is_enough else 0, needed_inputs(len(spared), limits))


def _observe_incident(case: IncidentCase, limits: AlarmLimits) -> Incident | None:
    """Return the current incident, or a new one if enough faults began together on different inputs; else None.

    A fault that is older than the incident is not part of it. An event that fails soon after the first one joins the
    incident. A second group of faults, on inputs that were fine before, joins too and raises the stage.
    """
    window, previous, wave = timedelta(seconds=limits.shared_window), case.previous, newest_wave(case, limits)
    current, count = _current(case, window), wave.possible if case.is_late_counted else wave.raised
    joined = [*wave.alarms] if count >= wave.needed else []
    least = max(_LEAST_LEFT, needed_inputs(len(set(case.inputs.values())), limits) / 2)
    if previous and len(_inputs(current + joined, case) | _late_inputs(previous.since, window, case)) >= least:
        since, members, stage = previous.since, current + joined, previous.stage + bool(joined)
    elif joined:
        since, members, stage = joined[0].since, joined, previous.stage + 1 if previous else 0
    elif previous:  # the incident is over, so its last members may be part of a new one
        return _observe_next_incident(previous, case, limits)
    else:
        return None
    event_ids = {alarm.event_id for alarm in members}
    return _incident(_members(case, since, event_ids, window), since, stage, case)


def _observe_cdn(case: IncidentCase, limits: AlarmLimits) -> Incident | None:
    """Return the incident of the hosts on which enough playlists failed together; None without such a host."""
    found = [
        (host, of_host, incident)
        for host in sorted(set(case.hosts.values()))
        if (incident := _observe_incident(of_host := _of_host(host, case), limits))
    ]
    if not found:
        return None
    is_news = case.previous is not None and any(of_host.previous is None for _, of_host, _ in found)
    stage = max(incident.observation.stage for _, _, incident in found) + is_news
    actual = "; ".join(_host_words(host, of_host, incident, case) for host, of_host, incident in found)
    affects = tuple(event_id for _, _, incident in found for event_id in incident.affects)
    since = min(incident.since for _, _, incident in found)
    return Incident(Observation(actual, "playlists that play", stage=stage), affects, since)


def _of_host(host: str, case: IncidentCase) -> IncidentCase:
    """Return the part of a case that is about a host."""
    ids = {event_id for event_id, each in case.hosts.items() if each == host}
    previous = case.previous if case.previous and not ids.isdisjoint(case.previous.affects) else None
    return replace(
        case,
        alarms=[alarm for alarm in case.alarms if alarm.event_id in ids],
        inputs={event_id: source for event_id, source in case.inputs.items() if event_id in ids},
        previous=previous and replace(previous, affects=tuple(each for each in previous.affects if each in ids)),
    )


def _host_words(host: str, of_host: IncidentCase, incident: Incident, case: IncidentCase) -> str:
    failed, count = len(incident.affects), len(of_host.inputs)
    way = ", or the way to it from here" if failed == count == len(case.inputs) else ""
    return safe(f"{host}{way}: {failed} of {count} playlists fail", 120)


def _observe_next_incident(previous: Alarm, case: IncidentCase, limits: AlarmLimits) -> Incident | None:
    """Return a new incident, one stage above the previous one, from the alarms that outlast it; None if too few do."""
    following = _observe_incident(replace(case, previous=None), limits)
    return following and following._replace(observation=following.observation._replace(stage=previous.stage + 1))


def _current(case: IncidentCase, window: timedelta) -> list[Alarm]:
    """Return the members of the current incident; an empty list without an incident."""
    return _members(case, case.previous.since, case.previous.affects, window) if case.previous else []


def _late_inputs(since: datetime, window: timedelta, case: IncidentCase) -> set[Hashable]:
    """Return the inputs whose newest samples, now late or gone, are at most `window` before or after `since`."""
    return {case.inputs[event_id] for event_id, onset in case.late.items() if abs(onset - since) <= window}


def _known_since(alarm: Alarm) -> datetime:
    """Return the time at which the alarm was raised, which may be later than its onset."""
    entries = (entry.at for entry in alarm.timeline if entry.at >= alarm.since)
    return max(alarm.since, next(entries, alarm.changed))


def needed_inputs(input_count: int, limits: AlarmLimits) -> int:
    """Return the number of inputs, out of `input_count`, that must fail together to make an incident."""
    return max(limits.shared_events, ceil(limits.shared_part * input_count))


def _members(case: IncidentCase, since: datetime, event_ids: Collection[str], window: timedelta) -> list[Alarm]:
    """Return the alarms of an incident that began at `since`.

    They are the alarms that began within `window` of `since`, and later alarms of the same events or of `event_ids`.
    """
    listed = {alarm.event_id for alarm in case.alarms if abs(alarm.since - since) <= window}.union(event_ids)
    return [alarm for alarm in case.alarms if alarm.event_id in listed and alarm.since >= since - window]


def _densest(alarms: Iterable[Alarm], window: timedelta, case: IncidentCase) -> list[Alarm]:
    """Return the alarms of the window in which the most inputs began to fail, earliest first."""
    onsets = sorted(alarms, key=lambda alarm: (alarm.since, alarm.event_id))
    densest: list[Alarm] = []
    end = 0
    for begin, first in enumerate(onsets):
        while end < len(onsets) and onsets[end].since <= first.since + window:
            end += 1
        if _input_count(onsets[begin:end], case) > _input_count(densest, case):
            densest = onsets[begin:end]
    return densest


def _input_count(alarms: Iterable[Alarm], case: IncidentCase) -> int:
    return len(_inputs(alarms, case))


def _inputs(alarms: Iterable[Alarm], case: IncidentCase) -> set[Hashable]:
    return {case.inputs[alarm.event_id] for alarm in alarms}


def _incident(members: list[Alarm], since: datetime, stage: int, case: IncidentCase) -> Incident:
    ordered = sorted(members, key=lambda alarm: (alarm.since, alarm.event_id))
    event_ids = tuple(dict.fromkeys(alarm.event_id for alarm in ordered))
    kinds = ", ".join(sorted({alarm.kind for alarm in members}))
    actual = f"{len(event_ids)} of {len(case.inputs)} events on air: {kinds}"
    return Incident(Observation(actual, "no fault of many events at once", stage=stage), event_ids, since)


def clock_change_text(change: ClockChange) -> str:
    """Return a clock change in words, such as `this machine's clock was set 01:00:00 forward at 12:10:05Z: ...`."""
    if change.is_sleep:
        return not_watched_text(NotWatched(change.at - timedelta(seconds=change.seconds), change.at, change.why))
    length = age(round(abs(change.seconds)))
    direction = "forward" if change.seconds > 0 else "back"
    return f"this machine's clock was set {length} {direction} at {change.at:%H:%M:%S}Z: ages stay right"


_CAUSES = {
    Why.SLEPT: "this machine slept",
    Why.STOPPED: "this process was stopped",
    Why.SLOW: "this machine was too slow",
    Why.OUTRUN: "the rehearsal ran ahead of this process",
}


def not_watched_text(stop: NotWatched) -> str:
    """Return a stop of this process in words: `not watched 21:04:10Z to 21:14:10Z: this machine slept`."""
    return f"not watched {stop.since:%H:%M:%S}Z to {stop.until:%H:%M:%S}Z: {_CAUSES[stop.why]}"


DECK_KINDS = (
    AlarmKind(
        name=API_BLIND,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_blind),
        hidden_by=("AUTH_FAILED", "RATE_LIMITED"),
        shared=False,
        explained_by=(),
        diagnosis=diagnosed(Culprit.UNKNOWN, viewers="Unknown: streams may still be running."),
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
            cause="The platform refuses the token: it may be revoked, expired, or of another workspace.",
            viewers="No effect, but events are not monitored.",
            advice="Create a new token in the workspace and store it at the source that the alarm names.",
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
        diagnosis=diagnosed(Culprit.REFUSAL, viewers="No effect, but events are polled less often."),
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
            cause="This machine's clock is not synchronised, or the platform's is wrong.",
            viewers="No effect, but a start by this clock is early or late.",
            advice="Turn on time synchronisation (NTP); until then, use the deck's countdown.",
        ),
    ),
    AlarmKind(
        name="MACHINE_CLOCK",
        severity=Severity.INFO,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_clock, subject="this machine"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="This machine slept, this process was stopped, or a person or NTP set the clock.",
            viewers="No effect.",
            advice="Look at the charts for the time that was not watched.",
        ),
    ),
    AlarmKind(
        name="OWN_SLOW",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_slow, subject="this machine"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="This machine has too little processor time for so many events.",
            viewers="No effect, but faults are reported late, and missing samples are not judged.",
            advice="Watch fewer events, use a larger machine, or add a collector.",
        ),
    ),
    AlarmKind(
        name=UNIT_UNKNOWN,
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_unit),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The platform may count bit rates in kilobits; its document names no unit.",
            viewers="No effect, but no bit rate raises an alarm until the unit is known.",
            advice="Compare a rate with the encoder's setting, then set bitrate_unit, or choose the unit with `:unit`.",
        ),
    ),
    AlarmKind(
        name="HISTORY_FAILED",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_history, subject="history"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The history file is damaged or cannot be written (disk full, locked, no permission).",
            viewers="No effect.",
            advice="Free disk space or unlock the file; the deck retries and saves all readable data.",
        ),
    ),
    AlarmKind(
        name="NOTIFY_FAILING",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_notify, subject="notifier"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="A notification target refuses messages or does not respond, or its address or secret has changed.",
            viewers="No effect, but people are not notified of faults.",
            advice="Watch the alarms here; fix the target (`livedeck notify list`); run `livedeck notify dead retry`.",
        ),
    ),
    AlarmKind(
        name="LIST_WRONG",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_list),
        hidden_by=(API_BLIND,),
        shared=False,
        explained_by=(),
        diagnosis=diagnosed(Culprit.LIST, viewers="No effect."),
    ),
    AlarmKind(
        name=COLLECTOR_SILENT,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_silence, subject="collector"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The collector stopped, the network to it is down, or it refuses this deck's token.",
            viewers="Unknown: streams may still be running.",
            advice="Run `livedeck doctor` to find the cause; let this deck poll by itself, or watch the players.",
        ),
    ),
    AlarmKind(
        name="ENGINE_APART",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_apart, subject="collector"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="The collectors' shared Redis does not respond, or this collector cannot reach it.",
            viewers="No effect; each collector polls everything itself.",
            advice="Restore Redis; until then, many events are polled less often (`livedeck docs engine`).",
        ),
    ),
    AlarmKind(
        name="COLLECTOR_LOST",
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_lost, subject="collector"),
        hidden_by=(),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="A collector, its machine or its network failed.",
            viewers="No effect; the other collectors took over its events.",
            advice="Restart it; until then, the others share its request budget.",
        ),
    ),
    AlarmKind(
        name=PROBE_BLIND,
        severity=Severity.WARNING,
        component=Component.NONE,
        detector=DeckDetector(observe=_observe_probe, subject="probe"),
        hidden_by=(API_BLIND,),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="This machine's way to the CDNs fails, several CDNs fail, or the probe cannot decode pictures.",
            viewers="Unknown: viewers elsewhere may get every programme.",
            advice="Play an event on another network; check this machine's proxy and firewall.",
        ),
    ),
    AlarmKind(
        name=CDN,
        severity=Severity.CRITICAL,
        component=Component.NONE,
        detector=IncidentDetector(observe=_observe_cdn),
        hidden_by=(API_BLIND, PROBE_BLIND),
        shared=False,
        explained_by=(),
        diagnosis=Diagnosis(
            cause="A host of playlists fails for many events: the CDN, or the way to it from here.",
            viewers="No picture, or a picture that stops, for every viewer of that host.",
            advice="Play one of the events on another network; then call the CDN's support and name the host.",
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
            cause="Many events failed together: the platform or a shared line.",
            viewers="Many or all programmes are disturbed.",
            advice="Check the platform's status page; call its support before you change encoders.",
        ),
    ),
)
