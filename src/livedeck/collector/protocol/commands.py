"""Conversion of alarm commands to the path and JSON body of a request, and back (collector.md, "Commands"). Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict

from livedeck.monitor import ActionKind, AlarmCommand, AlarmKey, Severity, Shown, Verdict
from livedeck.text.times import format_timestamp


class Body(BaseModel):
    """Base of request bodies. The handler of a request refuses unknown fields."""

    model_config = ConfigDict(
        strict=True, frozen=True, allow_inf_nan=False, json_schema_extra={"additionalProperties": False}
    )


class ShownAlarm(Body):
    """Alarm as the person saw it, so that the command does not affect a later alarm."""

    since: AwareDatetime
    severity: Severity
    stage: int = 0


class Removal(ShownAlarm):
    """Body of a command that hides the alarm, with the reason."""

    reason: str


class Shelving(Removal):
    """Body of a command that shelves the alarm. `minutes`: minutes that it stays shelved; None until it clears."""

    minutes: float | None


class Note(ShownAlarm):
    """Body of a command that attaches a note to the alarm."""

    text: str


class Closing(ShownAlarm):
    """Body of a command that closes the alarm with a verdict."""

    verdict: Verdict


class Verb(NamedTuple):
    """Kind of alarm action, and the type of its request body."""

    kind: ActionKind
    body: type[Body]


VERBS: Mapping[str, Verb] = {
    "acknowledge": Verb(ActionKind.ACKNOWLEDGE, ShownAlarm),
    "close": Verb(ActionKind.CLOSE, Closing),
    "unacknowledge": Verb(ActionKind.UNACKNOWLEDGE, ShownAlarm),
    "shelve": Verb(ActionKind.SHELVE, Shelving),
    "shelve-alone": Verb(ActionKind.SHELVE_ALONE, Shelving),
    "unshelve": Verb(ActionKind.UNSHELVE, Body),
    "out-of-service": Verb(ActionKind.OUT_OF_SERVICE, Removal),
    "in-service": Verb(ActionKind.IN_SERVICE, Body),
    "note": Verb(ActionKind.NOTE, Note),
}
"""Last part of the request path -> verb."""


def request_of(command: AlarmCommand) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of the request for a command. Send its id as the header Idempotency-Key."""
    name, verb = next((name, verb) for name, verb in VERBS.items() if verb.kind is command.kind)
    values = {"minutes": command.minutes, "reason": command.text, "text": command.text, "verdict": command.text}
    if shown := command.shown:
        values |= {"since": format_timestamp(shown.since), "severity": shown.severity.value, "stage": shown.stage}
    body = {field: values[field] for field in verb.body.model_fields if field in values}
    return f"/v1/alarms/{key_text(command.key)}/{name}", body


def command_of(key: AlarmKey, kind: ActionKind, body: Body, actor: str, uid: str) -> AlarmCommand:
    """Return the command that `actor` requests. `uid`: idempotency key of the request."""
    values = body.model_dump()
    shown = Shown(body.since, body.severity, body.stage) if isinstance(body, ShownAlarm) else None
    text = next((str(values[name]) for name in ("reason", "text", "verdict") if name in values), "")
    return AlarmCommand(key, kind, shown, values.get("minutes"), text, actor, uid)


def key_text(key: AlarmKey) -> str:
    """Return the key of an alarm as a path segment, in base64url, because ids may have any characters."""
    return urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def parse_key(text: str) -> AlarmKey | None:
    """Return the alarm key in a path segment; None for any other segment."""
    try:
        names = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        json.dumps(names, ensure_ascii=False).encode()  # raises for lone surrogates, which no reply can contain
    except (ValueError, RecursionError):
        return None
    is_key = isinstance(names, list) and len(names) == 3 and all(isinstance(name, str) for name in names)
    return AlarmKey(*names) if is_key else None
