"""Values of the monitor for programs: JSON objects and CSV rows. Missing values are null or empty, never 0. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from livedeck.client import FieldFault, Shortfall
from livedeck.monitor import (
    ActionKind,
    Alarm,
    AlarmAction,
    AlarmChange,
    ClaimEvidence,
    ConnectionStatus,
    EventState,
    Finding,
    ListDoubt,
    NotWatched,
    Reading,
    RuleChange,
    Silenced,
    Snapshot,
    ViewerState,
)
from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.text.outside import escaped_json
from livedeck.text.secrets import mask_named, mask_value
from livedeck.text.times import isoformat_utc, timestamp

if TYPE_CHECKING:
    from livedeck.presentation import documents

SAMPLE_FIELDS = ("time", "bitrate_video", "bitrate_audio", "frame_rate", "status")
"""Platform's names of the fields (platform-api.md, "QoS sample"). Rates are always in bit/s."""


def sample_csv_row(reading: Reading) -> str:
    """Return a CSV line without its line end. Numbers and a timestamp need no quotes."""
    return ",".join("" if value is None else str(value) for value in sample_object(reading).values())


def sample_object(reading: Reading) -> documents.Sample:
    """Return the sample under the platform's field names. A missing value is None."""
    return {
        "time": timestamp(reading.time),
        "bitrate_video": _without_fraction(reading.video),
        "bitrate_audio": _without_fraction(reading.audio),
        "frame_rate": _without_fraction(reading.fps),
        "status": reading.status,
    }


def _without_fraction(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value


def snapshot_object(snapshot: Snapshot, render_time: RenderTime) -> documents.Workspace:
    """Return connection, events (worst first), alarms (most urgent first) and number of unreadable events."""
    return {
        **_open_alarms(snapshot),
        "events": [event_object(state, render_time) for state in snapshot.events],
        "unreadable": snapshot.unreadable,
        "shortfall": shortfall_object(snapshot.shortfall),
        "list_doubt": list_doubt_object(snapshot.list_doubt),
    }


def list_doubt_object(doubt: ListDoubt | None) -> documents.ListDoubt | None:
    """Return the doubt about the event list as JSON; None without doubt."""
    if doubt is None:
        return None
    return {
        "since": isoformat_utc(doubt.since),
        "listed": doubt.listed,
        "missing": doubt.missing,
        "served": doubt.served,
        "expected": doubt.expected,
    }


def shortfall_object(shortfall: Shortfall | None) -> documents.Shortfall | None:
    """Return the rows that a list lacks as JSON; None if the list is complete."""
    return {"missing": shortfall.missing, "announced": shortfall.announced} if shortfall else None


def alarms_object(snapshot: Snapshot, *, include_quiet: bool) -> documents.Alarms:
    """Return alarms and connection. `include_quiet`: return also alarms that need no attention now."""
    shown = _open_alarms(snapshot)
    found: documents.Alarms = {
        "as_of": shown["as_of"],
        "link": shown["link"],
        "flood": shown["flood"],
        "alarms": shown["alarms"],
    }
    if include_quiet:
        found["quiet"] = [alarm_object(alarm) for alarm in snapshot.quiet]
    return found


def _open_alarms(snapshot: Snapshot) -> documents.OpenAlarms:
    return {
        "as_of": isoformat_utc(snapshot.link.as_of),
        "link": connection_object(snapshot.link),
        "flood": snapshot.flood,
        "alarms": [alarm_object(alarm) for alarm in snapshot.alarms],
    }


def connection_object(connection: ConnectionStatus) -> documents.Link:
    """Return the connection to the platform."""
    return {
        "state": connection.state.value,
        "since": isoformat_utc(connection.since),
        "reason": connection.reason,
        "cause": connection.blame.cause.value,
        "text": connection.blame.text,
        "lost_share": connection.lost_share,
        "slowed_to": connection.slowed_to,
        "next_retry": isoformat_utc(connection.next_try),
        "round_trip": connection.round_trip,
        "skew": connection.skew,
    }


def event_object(state: EventState, render_time: RenderTime) -> documents.Event:
    """Return an event: phase, health, QoS, findings, newest sample and unreadable fields."""
    phase, health, last = state.phase, state.assessment.health, state.qos.readings.last
    ingest = events.known_ingest(state, render_time)
    sample: documents.LastSample | None = None
    if last is not None:
        sample = {**sample_object(last), "age": round(render_time.server.timestamp() - last.time, 3)}
    return {
        "id": state.id,
        "name": state.event.name,
        "as_of": isoformat_utc(state.as_of),
        "listed": state.is_listed,
        "tally": phase.tally.value,
        "reference_time": isoformat_utc(phase.reference_time),
        "ingest": {
            "state": ingest.state.value,
            "since": isoformat_utc(ingest.since),
            "window_ends": isoformat_utc(ingest.window_ends),
        },
        "health": {
            "score": health.score,
            "grade": health.grade.value,
            "component": health.component,
            "detail": health.detail,
        },
        "findings": [_finding_object(finding) for finding in state.assessment.findings],
        "qos": {
            "freshness": state.qos.freshness.value,
            "as_of": isoformat_utc(state.qos.as_of),
            "cadence": state.qos.cadence,
            "error": state.qos.error,
            "lag": None if state.qos.lag is None else round(state.qos.lag, 3),
            "not_watched": [
                {"since": timestamp(since), "until": timestamp(until)} for since, until in state.qos.not_watched
            ],
        },
        "content": state.content.value,
        "last_sample": sample,
        "faults": [fault_object(fault) for fault in events.faults(state)],
        "evidence": _evidence_object(state.evidence),
        "not_known": _not_known_object(state, render_time),
        "viewer": _viewer_object(state.viewer),
    }


def _viewer_object(viewer: ViewerState | None) -> documents.Viewer | None:
    if viewer is None:
        return None
    return {
        "source": viewer.source.value,
        "delivery": viewer.delivery.value,
        "picture": viewer.picture.value,
        "sound": viewer.sound.value,
        "since": isoformat_utc(viewer.since),
        "as_of": isoformat_utc(viewer.as_of),
        "stale": viewer.is_stale,
        "latency": viewer.latency,
        "ratio": viewer.ratio,
        "loudness": viewer.loudness,
        "track": viewer.track,
        "rungs": [*viewer.rungs],
        "missing_segments": viewer.missed,
        "listed_segments": viewer.listed,
        "host": viewer.host,
        "error": viewer.error,
    }


def _not_known_object(state: EventState, render_time: RenderTime) -> documents.NotKnown | None:
    if not events.is_doubtful(state, render_time):
        return None
    cause = events.doubt_cause(state, render_time)
    return {"since": isoformat_utc(events.known_until(state)), "cause": cause.cause.value, "text": cause.short}


def _evidence_object(evidence: ClaimEvidence | None) -> documents.Evidence | None:
    if evidence is None:
        return None
    return {
        "claim": evidence.claim,
        "state": evidence.state.value,
        "have": evidence.have,
        "need": evidence.need,
        "since": isoformat_utc(evidence.since),
    }


def _finding_object(finding: Finding) -> documents.Finding:
    return {
        "kind": finding.kind,
        "target": finding.target or None,
        "severity": finding.severity,
        "actual": finding.actual,
        "expected": finding.expected,
        "since": isoformat_utc(finding.since),
    }


def fault_object(fault: FieldFault) -> documents.Fault:
    """Return an unreadable field with a description of the received value, never the value."""
    return {"field": fault.field, "expected": fault.expected, "actual": fault.actual}


def alarm_object(alarm: Alarm) -> documents.Alarm:
    """Return an alarm. `event_id` is null for the deck's own alarms."""
    return {
        "event_id": alarm.event_id or None,
        "kind": alarm.kind,
        "target": alarm.target or None,
        "target_name": alarm.target_name or None,
        "state": alarm.state.value,
        "severity": alarm.severity,
        "present": alarm.present,
        "since": isoformat_utc(alarm.since),
        "changed": isoformat_utc(alarm.changed),
        "subject": alarm.subject,
        "actual": alarm.actual,
        "expected": alarm.expected,
        "cause": alarm.diagnosis.cause or None,
        "viewers": alarm.diagnosis.viewers or None,
        "advice": alarm.diagnosis.advice or None,
        "acknowledged_until": isoformat_utc(alarm.acknowledged_until),
        "shelved_until": isoformat_utc(alarm.shelved_until),
        "handled_by": alarm.answered_by or None,
        "handled_at": isoformat_utc(alarm.answered_at),
        "reason": alarm.reason or None,
        "note": alarm.note or None,
        "verdict": alarm.verdict or None,
        "suppressed_by": alarm.parent or None,
        "episodes": alarm.episodes,
        "flapping": alarm.flapping,
        "escalated": alarm.escalated,
        "found": alarm.found,
        "silenced": _silenced_object(alarm.silenced),
        "affects": list(alarm.affects),
        "timeline": [
            {"at": isoformat_utc(entry.at), "text": entry.text, "actor": entry.actor or None}
            for entry in alarm.timeline
        ],
    }


def _silenced_object(silenced: Silenced | None) -> documents.Silenced | None:
    if silenced is None:
        return None
    until = isoformat_utc(silenced.until)
    return {"id": silenced.id, "until": until, "comment": silenced.comment, "by": silenced.by}


def change_object(change: AlarmChange) -> documents.AlarmChangeLine:
    """Return a transition of an alarm, and the alarm after the transition."""
    return {"at": isoformat_utc(change.at), "change": change.transition.value, **alarm_object(change.alarm)}


def alarm_action_object(action: AlarmAction) -> documents.AlarmActionLine:
    """Return an operator's action on an alarm. `since`: start of the fault."""
    return {
        "at": isoformat_utc(action.at),
        "action": action.kind.value,
        "event_id": action.key.event_id or None,
        "kind": action.key.kind,
        "target": action.key.target or None,
        "since": isoformat_utc(action.since),
        "by": action.actor,
        "until": isoformat_utc(action.until),
        "reason": action.reason or None,
    }


def alarm_done_object(alarm: Alarm, action: ActionKind, *, has_changed: bool) -> documents.AlarmDone:
    """Return the result of an action on an alarm. `has_changed`: False if the alarm was in that state before."""
    return {
        "event_id": alarm.event_id or None,
        "kind": alarm.kind,
        "target": alarm.key.target or None,
        "action": action.value,
        "changed": has_changed,
    }


def rule_change_object(change: RuleChange) -> documents.RuleChangeLine:
    """Return a change of the rules that judge events. `error`: the settings are invalid, and nothing changed."""
    return {
        "at": isoformat_utc(change.at),
        "rule": change.text,
        "event_id": change.event_id or None,
        "by": change.actor or None,
        "error": change.is_fault,
    }


def not_watched_object(stop: NotWatched) -> documents.NotWatchedLine:
    """Return a time that livedeck did not watch, with its cause."""
    return {"since": isoformat_utc(stop.since), "until": isoformat_utc(stop.until), "not_watched": stop.why.value}


def to_json(value: object) -> str:
    """Return the value as one line of JSON with masked secrets.

    Characters that control a terminal or cannot be encoded are escaped.
    """
    return escaped_json(json.dumps(mask_value(value), ensure_ascii=False))


def to_indented_json(value: object) -> str:
    """Return a JSON value of unknown shape on several lines, masked and escaped as by `to_json`."""
    lines = json.dumps(mask_named(value), ensure_ascii=False, indent=2).split("\n")
    return "\n".join(map(escaped_json, lines))
