"""Name what the members of an incident share, and whom to call (monitoring.md, "PLATFORM incident"). Pure."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from livedeck.monitor.kinds.kind import Incident, IncidentCase
from livedeck.monitor.kinds.restream import RESTREAM_KIND
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.state import EventState
from livedeck.text.values import safe


def diagnose_incident(
    incident: Incident, case: IncidentCase, events: Collection[EventState], general: Diagnosis
) -> Diagnosis:
    """Return the diagnosis of an incident: its cause is a property that only the failed events on air share.

    Args:
        incident: The incident.
        case: The alarms and inputs of the events on air.
        events: All events.
        general: Diagnosis of the kind, which says the effect on viewers.
    """
    if case.hosts:
        return general
    on_air = [event for event in events if event.id in case.inputs]
    members = [event for event in on_air if event.id in incident.affects]
    others = [event for event in on_air if event.id not in incident.affects]
    if name := _common_restream(incident, case):
        cause = f"Each failed restream is named {name}: the fault is at that platform, or on the line to it."
        advice = f"Call the support of {name} if its page does not show the stream. The events here go on."
    elif not others:
        cause = "Every event on air failed: the fault is at the platform, or on a line that all encoders use."
        advice = "Check the platform's status page; call its support before you change encoders."
    elif host := _common_host(members, others):
        cause = f"All failed events, and no others on air, send to {host}: the fault is there, or on the line to it."
        advice = f"Call the platform's support and name {host} before you change encoders."
    elif project := _common({_project(event) for event in members}, {_project(event) for event in others}):
        cause = f"All failed events, and no others on air, are in project {project}: its site or line may fail."
        advice = f"Call the site of project {project}; the platform serves the other events."
    else:
        cause = "Unknown: no ingest address or project separates the failed events from the others on air."
        advice = "Ask two sites what they share (line, power, encoder); check the platform's status page."
    return Diagnosis(cause, _viewers_of(members) or general.viewers, advice)


def _viewers_of(members: Collection[EventState]) -> str:
    """Return what viewers of the failed events get, in a sentence; empty without a probe."""
    viewers = [event.viewer for event in members if event.viewer and event.viewer.is_known]
    if not viewers:
        return ""
    lost = sum(viewer.is_failing for viewer in viewers)
    if lost * 2 > len(viewers):
        return f"{lost} of {len(viewers)} are gone for viewers, from here."
    return f"{sum(viewer.is_playing for viewer in viewers)} of {len(viewers)} play for viewers, from here."


def _common(members: set[str], others: set[str]) -> str:
    """Return the value that all members share; empty if their values differ, or if another event has it too."""
    value = next(iter(members)) if len(members) == 1 else ""
    return "" if value in others else safe(value, 60)


def _common_host(members: Collection[EventState], others: Collection[EventState]) -> str:
    """Return the ingest host that only the members have; empty without one, or if another event's host is unknown."""
    hosts = {_host(event) for event in others}
    return "" if "" in hosts else _common({_host(event) for event in members}, hosts)


def _host(event: EventState) -> str:
    """Return the host of the ingest address, without its key."""
    return urlsplit(str(event.event.rtmp_link or "")).hostname or ""


def _project(event: EventState) -> str:
    return event.event.parent_id or ""


def _common_restream(incident: Incident, case: IncidentCase) -> str:
    """Return the name of the failed restreams; empty if names differ, or if the incident has any other fault."""
    alarms = [alarm for alarm in case.alarms if alarm.event_id in incident.affects]
    is_restream = bool(alarms) and all(alarm.kind == RESTREAM_KIND.name for alarm in alarms)
    names = {alarm.target_name for alarm in alarms}
    return safe(next(iter(names)), 60) if is_restream and len(names) == 1 else ""
