"""Monitor values for programs: JSON objects and CSV rows. Missing values are null or empty, never 0. Pure."""

from __future__ import annotations

import json
from typing import Any

from livedeck.client import FieldFault
from livedeck.monitor import (
    Alarm,
    AlarmAction,
    AlarmChange,
    ConnectionStatus,
    EventState,
    Reading,
    RuleChange,
    Snapshot,
)
from livedeck.presentation import events
from livedeck.presentation.render_time import RenderTime
from livedeck.text.outside import escaped_json
from livedeck.text.secrets import mask_value
from livedeck.text.times import isoformat_utc, timestamp

SAMPLE_FIELDS = ("time", "bitrate_video", "bitrate_audio", "frame_rate", "status")
"""The platform's names (platform-api.md, "QoS sample"); rates are in bit/s, whatever unit the platform uses."""


def sample_csv_row(reading: Reading) -> str:
    """One line, without its end. Numbers and a timestamp need no quotes."""
    return ",".join("" if value is None else str(value) for value in sample_object(reading).values())


def sample_object(reading: Reading) -> dict[str, Any]:
    """The sample under the platform's field names; None is missing."""
    rates = (reading.video, reading.audio, reading.fps)
    values = (timestamp(reading.time), *map(_without_fraction, rates), reading.status)
    return dict(zip(SAMPLE_FIELDS, values, strict=True))


def _without_fraction(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value


def snapshot_object(snapshot: Snapshot, render_time: RenderTime) -> dict[str, Any]:
    """Everything: the connection, the events worst first, the alarms most urgent first; how many events are missing."""
    return {
        **alarms_object(snapshot, include_quiet=False),
        "events": [event_object(state, render_time) for state in snapshot.events],
        "unreadable": snapshot.unreadable,
    }


def alarms_object(snapshot: Snapshot, *, include_quiet: bool) -> dict[str, Any]:
    """The alarms, and the connection that tells how fresh they are; quiet ones need no attention now."""
    alarms = {
        "as_of": isoformat_utc(snapshot.link.as_of),
        "link": connection_object(snapshot.link),
        "flood": snapshot.flood,
        "alarms": [alarm_object(alarm) for alarm in snapshot.alarms],
    }
    return alarms | ({"quiet": [alarm_object(alarm) for alarm in snapshot.quiet]} if include_quiet else {})


def connection_object(connection: ConnectionStatus) -> dict[str, Any]:
    """The connection to the platform."""
    return {
        "state": connection.state.value,
        "since": isoformat_utc(connection.since),
        "why": connection.reason,
        "lost_share": connection.lost_share,
        "next_try": isoformat_utc(connection.next_try),
        "round_trip": connection.round_trip,
        "skew": connection.skew,
    }


def event_object(state: EventState, render_time: RenderTime) -> dict[str, Any]:
    """One event: its phase, health and QoS, what is wrong, its newest sample, and what could not be read."""
    phase, health, last = state.phase, state.assessment.health, state.qos.readings.last
    sample = None
    if last is not None:
        sample = {**sample_object(last), "age": round(render_time.server.timestamp() - last.time, 3)}
    return {
        "id": state.id,
        "name": state.event.name,
        "as_of": isoformat_utc(state.as_of),
        "listed": state.is_listed,
        "tally": phase.tally.value,
        "mark": isoformat_utc(phase.reference_time),
        "ingest": {
            "state": phase.ingest.state.value,
            "since": isoformat_utc(phase.ingest.since),
            "window_ends": isoformat_utc(phase.ingest.window_ends),
        },
        "health": {
            "score": health.score,
            "grade": health.grade.value,
            "component": health.component,
            "detail": health.detail,
        },
        "findings": [
            {
                "kind": finding.kind,
                "target": finding.target or None,
                "severity": finding.severity.value,
                "actual": finding.actual,
                "expected": finding.expected,
                "since": isoformat_utc(finding.since),
            }
            for finding in state.assessment.findings
        ],
        "qos": {
            "freshness": state.qos.freshness.value,
            "as_of": isoformat_utc(state.qos.as_of),
            "cadence": state.qos.cadence,
            "error": state.qos.error,
            "lag": None if state.qos.lag is None else round(state.qos.lag, 3),
        },
        "content": state.content.value,
        "last_sample": sample,
        "faults": [fault_object(fault) for fault in events.faults(state)],
    }


def fault_object(fault: FieldFault) -> dict[str, str]:
    """What could not be read, and the shape of what came; never its value."""
    return {"field": fault.field, "expected": fault.expected, "came": fault.actual}


def alarm_object(alarm: Alarm) -> dict[str, Any]:
    """One alarm. `event_id` is null for the deck's own; `target`: a part of the event, such as a restream."""
    return {
        "event_id": alarm.event_id or None,
        "kind": alarm.kind,
        "target": alarm.target or None,
        "target_name": alarm.target_name or None,
        "state": alarm.state.value,
        "severity": alarm.severity.value,
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
        "answered_by": alarm.answered_by or None,
        "answered_at": isoformat_utc(alarm.answered_at),
        "reason": alarm.reason or None,
        "note": alarm.note or None,
        "parent": alarm.parent or None,
        "episodes": alarm.episodes,
        "flapping": alarm.flapping,
        "escalated": alarm.escalated,
        "affects": list(alarm.affects),
        "timeline": [
            {"at": isoformat_utc(entry.at), "text": entry.text, "actor": entry.actor or None}
            for entry in alarm.timeline
        ],
    }


def change_object(change: AlarmChange) -> dict[str, Any]:
    """One transition of an alarm, and the alarm after it."""
    return {"at": isoformat_utc(change.at), "change": change.transition.value, **alarm_object(change.alarm)}


def answer_object(answer: AlarmAction) -> dict[str, Any]:
    """What a person answered to an alarm. `since`: of the fault that was answered."""
    return {
        "at": isoformat_utc(answer.at),
        "answer": answer.kind.value,
        "event_id": answer.key.event_id or None,
        "kind": answer.key.kind,
        "target": answer.key.target or None,
        "since": isoformat_utc(answer.since),
        "by": answer.actor,
        "until": isoformat_utc(answer.until),
        "reason": answer.reason or None,
    }


def rule_change_object(change: RuleChange) -> dict[str, Any]:
    """How events are judged otherwise than before. `error`: the settings cannot be used, and nothing changed."""
    return {
        "at": isoformat_utc(change.at),
        "judged": change.text,
        "event_id": change.event_id or None,
        "by": change.actor or None,
        "error": change.is_fault,
    }


def to_json(value: object) -> str:
    """The value as JSON in one line, its secrets masked.

    Characters that steer a terminal, or that no encoding has, are escaped.
    """
    return escaped_json(json.dumps(mask_value(value), ensure_ascii=False))
