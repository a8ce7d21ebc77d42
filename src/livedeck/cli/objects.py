"""What the monitor says, as objects for programs: the JSON of `status` and `alarms`. Pure.

Times are ISO 8601 UTC, rates bit/s, ages and lengths seconds; null is not known.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from livedeck.cli import samples
from livedeck.monitor import Alarm, Change, EventState, Link, Snapshot
from livedeck.ui.renderables.moment import Moment

_UNFIT = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C1 controls, what ends a line or turns its direction, and halves of a surrogate pair."""


def of_snapshot(snapshot: Snapshot, moment: Moment) -> dict[str, Any]:
    """Everything: the link, the events worst first, the alarms most urgent first."""
    return {
        **of_alarms(snapshot, everything=False),
        "events": [of_event(state, moment) for state in snapshot.events],
    }


def of_alarms(snapshot: Snapshot, *, everything: bool) -> dict[str, Any]:
    """The alarms and how far they may be believed; `quiet` are those that nobody must read now."""
    told = {
        "as_of": iso(snapshot.link.as_of),
        "link": of_link(snapshot.link),
        "flood": snapshot.flood,
        "alarms": [of_alarm(one) for one in snapshot.alarms],
    }
    return told | ({"quiet": [of_alarm(one) for one in snapshot.quiet]} if everything else {})


def of_link(link: Link) -> dict[str, Any]:
    """The connection to the platform."""
    return {
        "state": link.state.value,
        "since": iso(link.since),
        "why": link.why,
        "round_trip": link.round_trip,
        "skew": link.skew,
    }


def of_event(state: EventState, moment: Moment) -> dict[str, Any]:
    """One event: its three axes, what is wrong, and its newest sample."""
    phase, health, last = state.phase, state.verdict.health, state.qos.readings.last
    sample = None
    if last is not None:
        sample = {**samples.as_object(last), "age": round(moment.server.timestamp() - last.time, 3)}
    return {
        "id": state.id,
        "name": state.event.name,
        "as_of": iso(state.as_of),
        "tally": phase.tally.value,
        "mark": iso(phase.mark),
        "ingest": {
            "state": phase.ingest.state.value,
            "since": iso(phase.ingest.since),
            "window_ends": iso(phase.ingest.window_ends),
        },
        "health": {
            "score": health.score,
            "grade": health.grade.value,
            "component": health.component,
            "detail": health.detail,
        },
        "findings": [
            {
                "kind": one.kind,
                "target": one.target or None,
                "severity": one.severity.value,
                "actual": one.actual,
                "expected": one.expected,
                "since": iso(one.since),
            }
            for one in state.verdict.findings
        ],
        "qos": {
            "freshness": state.qos.freshness.value,
            "as_of": iso(state.qos.as_of),
            "cadence": state.qos.cadence,
            "error": state.qos.error,
        },
        "last_sample": sample,
    }


def of_alarm(one: Alarm) -> dict[str, Any]:
    """One alarm. `event_id` is null for the deck's own; `target`: a part of the event, as a restream."""
    return {
        "event_id": one.event_id or None,
        "kind": one.kind,
        "target": one.target or None,
        "target_name": one.target_name or None,
        "state": one.state.value,
        "severity": one.severity.value,
        "present": one.present,
        "since": iso(one.since),
        "changed": iso(one.changed),
        "subject": one.subject,
        "actual": one.actual,
        "expected": one.expected,
        "cause": one.diagnosis.cause or None,
        "viewers": one.diagnosis.viewers or None,
        "advice": one.diagnosis.advice or None,
        "acknowledged_until": iso(one.acknowledged_until),
        "shelved_until": iso(one.shelved_until),
        "reason": one.reason or None,
        "note": one.note or None,
        "parent": one.parent or None,
        "episodes": one.episodes,
        "flapping": one.flapping,
        "escalated": one.escalated,
        "affects": list(one.affects),
    }


def of_change(change: Change) -> dict[str, Any]:
    """One turn in the life of an alarm, and the alarm after it."""
    return {"at": iso(change.at), "change": change.turn.value, **of_alarm(change.alarm)}


def line(told: object) -> str:
    """That as JSON in one line. What a terminal obeys, or no encoding knows, is escaped: to a reader it is the same."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(told, ensure_ascii=False))


def iso(moment: datetime | None) -> str | None:
    """A moment in UTC; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
