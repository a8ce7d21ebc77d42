"""What the monitor says, for programs: JSON objects and CSV rows. Pure. Missing is empty or null, and never 0."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from livedeck.monitor import Alarm, AlarmChange, ConnectionStatus, EventState, Reading, Readings, Snapshot
from livedeck.presentation.qos import status_style
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values as wording

FIELDS = ("time", "bitrate_video", "bitrate_audio", "frame_rate", "status")

"""The names of the document (platform-api.md, 2); rates in bit/s whatever the platform counts in."""


HEAD = f"{'TIME':<24}  {'VIDEO':>7}  {'AUDIO':>7}  {'FPS':>6}  STATUS"


def csv_row(reading: Reading) -> str:
    """One line, without its end. Numbers and a timestamp need no quotes."""
    return ",".join("" if value is None else str(value) for value in as_object(reading).values())


def as_object(reading: Reading) -> dict[str, Any]:
    """The sample under the document's names; None is missing."""
    values = (reading.video, reading.audio, reading.fps)
    return dict(zip(FIELDS, (stamp(reading.time), *map(_whole, values), reading.status), strict=True))


def row(reading: Reading) -> str:
    """One line for people, under HEAD."""
    rates = f"{wording.bits(reading.video):>7}  {wording.bits(reading.audio):>7}  {wording.frames(reading.fps):>6}"
    return f"{stamp(reading.time):<24}  {rates}  {_status(reading.status)}"


def stamp(time: float) -> str:
    """Epoch seconds as ISO 8601 UTC, to the millisecond."""
    return f"{datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def since(readings: Readings, last: float | None) -> Iterable[Reading]:
    """The samples of the newest `last` seconds, counted from the newest of all; None: every one."""
    newest = readings.last
    begin = None if newest is None or last is None else newest.time - last
    return (one for one in map(readings.__getitem__, range(len(readings))) if begin is None or one.time >= begin)


def _status(status: int | None) -> str:
    if status is None:
        return wording.UNKNOWN
    shown = status_style(status)
    return f"{status} {shown.word}" if status == 0 else f"{status} {shown.glyph} {shown.word}"


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value


_UNFIT = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

"""C1 controls, what ends a line or turns its direction, and halves of a surrogate pair."""


def of_snapshot(snapshot: Snapshot, moment: RenderTime) -> dict[str, Any]:
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


def of_link(link: ConnectionStatus) -> dict[str, Any]:
    """The connection to the platform."""
    return {
        "state": link.state.value,
        "since": iso(link.since),
        "why": link.reason,
        "round_trip": link.round_trip,
        "skew": link.skew,
    }


def of_event(state: EventState, moment: RenderTime) -> dict[str, Any]:
    """One event: its three axes, what is wrong, and its newest sample."""
    phase, health, last = state.phase, state.assessment.health, state.qos.readings.last
    sample = None
    if last is not None:
        sample = {**as_object(last), "age": round(moment.server.timestamp() - last.time, 3)}
    return {
        "id": state.id,
        "name": state.event.name,
        "as_of": iso(state.as_of),
        "tally": phase.tally.value,
        "mark": iso(phase.reference_time),
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
            for one in state.assessment.findings
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


def of_change(change: AlarmChange) -> dict[str, Any]:
    """One turn in the life of an alarm, and the alarm after it."""
    return {"at": iso(change.at), "change": change.transition.value, **of_alarm(change.alarm)}


def line(told: object) -> str:
    """That as JSON in one line. What a terminal obeys, or no encoding knows, is escaped: to a reader it is the same."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(told, ensure_ascii=False))


def iso(moment: datetime | None) -> str | None:
    """A moment in UTC; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
