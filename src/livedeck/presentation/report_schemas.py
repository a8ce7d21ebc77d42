"""What `status`, `alarms`, `qos` and `doctor` print as JSON, as JSON Schema; `serialization.py` makes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livedeck.presentation.json_schema import FAULTS, nullable, object_schema

_TYPES = {"text": "string", "number": "number", "flag": "boolean", "count": "integer"}


def _fields(**types: str | dict[str, Any]) -> dict[str, Any]:
    """Fields by the words of `_TYPES`; one with a question mark may be null."""
    return {name: _field(kind) if isinstance(kind, str) else kind for name, kind in types.items()}


def _field(kind: str) -> dict[str, Any]:
    name = _TYPES[kind.rstrip("?")]
    return {"type": [name, "null"] if kind.endswith("?") else name}


def _object(**types: str | dict[str, Any]) -> dict[str, Any]:
    return object_schema(_fields(**types), additional=True)


def _list(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_RATES = {"bitrate_video": "number?", "bitrate_audio": "number?", "frame_rate": "number?", "status": "count?"}
_SAMPLE = _object(time="text", **_RATES)
_LAST_SAMPLE = _object(time="text", **_RATES, age="number")

_CONNECTION = _object(
    state="text", since="text?", why="text", lost_share="number", next_try="text?", round_trip="number?", skew="number?"
)

_ALARM = _object(
    event_id="text?",
    kind="text",
    target="text?",
    target_name="text?",
    state="text",
    severity={"enum": ["critical", "warning", "info"]},
    present="flag",
    since="text?",
    changed="text?",
    subject="text",
    actual="text",
    expected="text",
    cause="text?",
    viewers="text?",
    advice="text?",
    acknowledged_until="text?",
    shelved_until="text?",
    answered_by="text?",
    answered_at="text?",
    reason="text?",
    note="text?",
    parent={},
    episodes="count",
    flapping="flag",
    escalated="flag",
    affects={"type": "array"},
    timeline=_list(_object(at="text", text="text", actor="text?")),
)

_EVENT = _object(
    id="text",
    name="text?",
    as_of="text?",
    listed="flag",
    tally="text",
    mark="text?",
    ingest=_object(state="text", since="text?", window_ends="text?"),
    health=_object(score="count?", grade="text", component="text", detail="text"),
    findings=_list(
        _object(kind="text", target="text?", severity="text", actual="text", expected="text", since="text?")
    ),
    qos=_object(freshness="text", as_of="text?", cadence="number?", error="text", lag="number?"),
    content="text",
    last_sample=nullable(_LAST_SAMPLE),
    faults=FAULTS,
)

_OPEN_CHANGE = _object(
    id="text",
    sent="text",
    action="text",
    target=_object(kind="text", id="text?", name="text"),
    by=_object(user="text", host="text", pid="count"),
    detail="text?",
    watched_until="text?",
)

_ALARMS = _fields(as_of="text?", link=_CONNECTION, flood="flag", alarms=_list(_ALARM))

_ENTRY = _object(at="text", what="text", event_id="text?", event="text?", severity="text?", by="text?", text="text")

_STRETCH: dict[str, str | dict[str, Any]] = {"since": "text", "until": "text", "seconds": "number"}

_STRETCHES = _list(_object(**_STRETCH))

_REPORTED_EVENT = _object(
    id="text",
    name="text",
    tally="text",
    deleted="flag",
    planned="text?",
    on_air=_STRETCHES,
    up_seconds="number",
    uptime="number?",
    outages=_STRETCHES,
    unknown=_STRETCHES,
    sample_seconds="number?",
    target="number",
    budget_seconds="number",
    bad_seconds="number",
    bad=_STRETCHES,
    faults=_list(
        _object(
            kind="text", severity="text", target_name="text?", since="text", until="text?", exact="flag", text="text"
        )
    ),
    seconds_by_kind={"type": "object", "additionalProperties": {"type": "number"}},
    worst=nullable(_object(**_STRETCH)),
    restreams=_list(_object(name="text", down=_STRETCHES)),
    markers=_list(_object(at="text", text="text")),
    actions=_list(_ENTRY),
    acknowledgements=_list(
        _object(kind="text", target_name="text?", severity="text", raised="text", seconds="number?", by="text?")
    ),
    seconds_to_acknowledge="number?",
    chat=nullable({"type": "object", "additionalProperties": {"type": "integer"}}),
    not_known=_list({"type": "string"}),
    entries=_list(_ENTRY),
)

_HANDED_EVENT = _object(
    id="text",
    name="text?",
    tally="text",
    planned="text?",
    started="text?",
    restreams=_list(_object(name="text", status="text", enabled="flag")),
)

_HANDED_ALARM = _object(
    event_id="text?",
    subject="text",
    kind="text",
    target_name="text?",
    severity="text",
    state="text",
    since="text",
    actual="text",
    by="text?",
    at="text?",
    until="text?",
    reason="text?",
    note="text?",
)

REPORTS: Mapping[str, dict[str, Any]] = {
    "status": {**_ALARMS, **_fields(events=_list(_EVENT), unreadable="count", open_changes=_list(_OPEN_CHANGE))},
    "alarms": _ALARMS,
    "qos": _fields(
        event=_object(id="text", name="text?"),
        stream=nullable(_object(id="text?", status="text?")),
        as_of="text",
        freshness="text",
        age="number?",
        left_out="count",
        samples=_list(_SAMPLE),
    ),
    "history": _fields(
        schema="text",
        event=_object(id="text", name="text?", deleted="flag"),
        **_STRETCH,
        watched=_list(_object(since="text", until="text")),
        entries=_list(_ENTRY),
        samples=_list(_object(stream_id="text", time="text", **_RATES)),
    ),
    "episodes": _fields(
        schema="text",
        episodes=_list(
            _object(
                **_STRETCH,
                event_id="text",
                event="text?",
                kind="text",
                severity="text",
                target="text?",
                target_name="text?",
                actual="text",
                expected="text",
            )
        ),
    ),
    "handover": _fields(
        schema="text",
        made="text",
        watched="text?",
        fresh="flag",
        on_air=_list(_HANDED_EVENT),
        wrong=_list(_HANDED_ALARM),
        put_away=_list(_HANDED_ALARM),
        next=_list(_HANDED_EVENT),
        open_changes=_list(_object(id="text", sent="text", action="text", target="text", by="text", detail="text?")),
    ),
    "report": _fields(
        schema="text",
        title="text",
        made="text",
        **_STRETCH,
        unwatched=_list(_object(**_STRETCH)),
        events=_list(_REPORTED_EVENT),
    ),
    "search": _fields(schema="text", text="text", entries=_list(_ENTRY)),
    "doctor": _fields(
        checks=_list(_object(name="text", verdict={"enum": ["ok", "warn", "fail"]}, found="text", advice="text"))
    ),
}
"""The fields of each object, by the command."""
