"""A command to an alarm as it crosses: its path and its body, for both sides (collector.md, "Commands"). Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict

from livedeck.monitor import ActionKind, AlarmCommand, AlarmKey, Severity, Shown
from livedeck.text.times import format_timestamp


class Body(BaseModel):
    """A body: it holds what it names and nothing else."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class Seen(Body):
    """The alarm as the person saw it: what is meant for it silences no other. `stage`: a snapshot leaves
    out the first."""

    since: AwareDatetime
    severity: Severity
    stage: int = 0


class Away(Seen):
    """Why it is put out of sight."""

    reason: str


class Shelf(Away):
    """For so many minutes; None: until it is over."""

    minutes: float | None


class Note(Seen):
    """Words beside it."""

    text: str


class Verb(NamedTuple):
    """What is answered, and what must be said with it."""

    kind: ActionKind
    body: type[Body]


VERBS: Mapping[str, Verb] = {
    "acknowledge": Verb(ActionKind.ACKNOWLEDGE, Seen),
    "unacknowledge": Verb(ActionKind.UNACKNOWLEDGE, Seen),
    "shelve": Verb(ActionKind.SHELVE, Shelf),
    "unshelve": Verb(ActionKind.UNSHELVE, Body),
    "out-of-service": Verb(ActionKind.OUT_OF_SERVICE, Away),
    "in-service": Verb(ActionKind.IN_SERVICE, Body),
    "note": Verb(ActionKind.NOTE, Note),
}
"""By the last part of the path."""


def request_of(command: AlarmCommand) -> tuple[str, dict[str, Any]]:
    """The path and the body of a command; its id goes in the header Idempotency-Key."""
    name, verb = next((name, verb) for name, verb in VERBS.items() if verb.kind is command.kind)
    words = {"minutes": command.minutes, "reason": command.text, "text": command.text}
    if shown := command.shown:
        words |= {"since": format_timestamp(shown.since), "severity": shown.severity.value, "stage": shown.stage}
    body = {field: words[field] for field in verb.body.model_fields if field in words}
    return f"/v1/alarms/{key_text(command.key)}/{name}", body


def command_of(key: AlarmKey, kind: ActionKind, body: Body, actor: str, uid: str) -> AlarmCommand:
    """What that request wants done, by whom, under which id."""
    words = body.model_dump()
    shown = Shown(body.since, body.severity, body.stage) if isinstance(body, Seen) else None
    text = words.get("reason", words.get("text", ""))
    return AlarmCommand(key, kind, shown, words.get("minutes"), text, actor, uid)


def key_text(key: AlarmKey) -> str:
    """The key of an alarm as a part of a path: ids are foreign text."""
    return urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def parse_key(text: str) -> AlarmKey | None:
    """Back; None where it is none."""
    try:
        names = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        json.dumps(names, ensure_ascii=False).encode()  # halves of a character cannot be answered with
    except (ValueError, RecursionError):
        return None
    is_key = isinstance(names, list) and len(names) == 3 and all(isinstance(name, str) for name in names)
    return AlarmKey(*names) if is_key else None
