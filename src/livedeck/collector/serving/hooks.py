"""Webhooks of pagers and chats that acknowledge or annotate a notified alarm (collector.md, "Webhooks").

They name an alarm by the `dedup_key` of its notification, and cannot read anything.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Annotated, Literal, Protocol

from pydantic import AwareDatetime, BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from livedeck.collector.protocol.commands import Body
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.acts import outcome_text, refusal_of, unsaved_note
from livedeck.collector.serving.endpoints import ONCE, Caller, Endpoint, Refusal, read_content, refused, uid_of
from livedeck.log import Log
from livedeck.monitor import ActionKind, Alarm, AlarmCommand, AlarmKey, AlarmRefused, History, Monitor, Shown
from livedeck.notify import SpoolError
from livedeck.text.secrets import masked_line

_log = Log("livedeck.collector")


class Life(Protocol):
    """Alarm from its onset until people are notified of its end."""

    @property
    def key(self) -> AlarmKey: ...

    def shown(self, alarm: Alarm) -> Shown | None:
        """Return the alarm as the last notification showed it; None if no notification did, or if it began anew."""


FindLife = Callable[[str], Life | None]
"""Function that finds an alarm's `Life` by its dedup key. Raises SpoolError if another collector notifies."""

MAX_AGE = timedelta(minutes=15)
"""Age from which an event of PagerDuty is ignored. PagerDuty repeats a failed webhook for a day."""

MAX_PAYLOAD = 128 * 1024
"""Maximum number of bytes of a webhook of PagerDuty."""

_MAX_SIGNATURES, _MAX_INCIDENTS, _MAX_AUTHOR, _MAX_NOTE = 8, 1000, 60, 500

_ACTIONS = {"acknowledge": ActionKind.ACKNOWLEDGE, "note": ActionKind.NOTE}


class AlarmHook(Body):
    """Acknowledgement or note by a webhook. `by`: name of the person, as the sender of the webhook knows it."""

    dedup_key: Annotated[str, Field(min_length=1, max_length=255)]
    action: Literal["acknowledge", "note"]
    text: Annotated[str, Field(max_length=1000)] = ""
    by: Annotated[str, Field(max_length=200)] = ""


class Outcome(TypedDict):
    """Outcome of a webhook. `changed`: false if it had no effect. `say`: outcome in words."""

    changed: bool
    say: str


class _Agent(BaseModel):
    type: str = ""
    summary: str | None = None


class _Reference(BaseModel):
    id: str = ""


class _Data(BaseModel):
    """Incident or note. `incident_key`: dedup key of an incident. `incident`, `content`: parts of a note."""

    id: str = ""
    incident_key: str | None = None
    incident: _Reference | None = None
    content: str | None = None


class _Event(BaseModel):
    id: str
    event_type: str
    occurred_at: AwareDatetime
    agent: _Agent | None = None
    data: _Data


class _Webhook(BaseModel):
    """Fields of a webhook of PagerDuty (V3) that are read."""

    event: _Event


class Hooks:
    """Routes of webhooks. `secret`: signs the webhooks of PagerDuty; empty if it is not set."""

    def __init__(self, monitor: Monitor, history: History | None, access: Access, find: FindLife, secret: str) -> None:
        self._monitor, self._history, self._access, self._find = monitor, history, access, find
        self._secret = secret
        self._incidents: dict[str, str] = {}  # id of PagerDuty -> dedup key, because a note names the id alone

    async def respond_to_alarm(self, request: Request, caller: Caller, hook: AlarmHook) -> Outcome:
        """Acknowledge or annotate an alarm for the owner of a token."""
        actor = f"{caller.name} ({masked_line(hook.by, _MAX_AUTHOR)})" if hook.by else caller.name
        return await self._act(hook.dedup_key, _ACTIONS[hook.action], hook.text, actor, uid_of(request))

    async def receive_pagerduty(self, request: Request) -> Response:
        """Acknowledge or annotate an alarm as a person did in PagerDuty.

        A signed webhook gets 200 even without effect, because PagerDuty would repeat it and give up in the end.
        """
        try:
            content = await read_content(request, MAX_PAYLOAD)
            self._check_signature(request, content)
            event = _Webhook.model_validate_json(content).event
        except Refusal as refusal:
            return refused(refusal)
        except ValidationError:
            return _reply({"changed": False, "say": "ignored: no event of an incident"})
        try:
            reply = await self._apply(event)
        except Refusal as refusal:
            if refusal.status == 503:
                return refused(refusal)
            reply = Outcome(changed=False, say=refusal.body["say"])
        _log.info("webhook of PagerDuty", kind=masked_line(event.event_type, 60), say=reply["say"])
        return _reply(reply)

    def _check_signature(self, request: Request, content: bytes) -> None:
        """Raise Refusal unless PagerDuty signed the body."""
        if not self._secret:
            raise Refusal(503, "no webhooks", "set pagerduty_secret_command or pagerduty_secret_file of [collector]")
        expected = f"v1={hmac.new(self._secret.encode(), content, sha256).hexdigest()}".encode()
        signatures = request.headers.get("x-pagerduty-signature", "").split(",", _MAX_SIGNATURES)[:_MAX_SIGNATURES]
        if not any(hmac.compare_digest(signature.strip().encode(), expected) for signature in signatures):
            self._access.count_wrong(request, "webhook of PagerDuty not signed with the secret")
            raise Refusal(401, "wrong signature", "X-PagerDuty-Signature does not fit the secret in the settings")

    async def _apply(self, event: _Event) -> Outcome:
        """Apply an act of a person in PagerDuty to the alarm. Raises Refusal."""
        data, now = event.data, self._monitor.clock.now() + timedelta(seconds=self._monitor.clock.offset)
        if data.incident_key:
            self._incidents.pop(data.id, None)
            self._incidents[data.id] = data.incident_key
            if len(self._incidents) > _MAX_INCIDENTS:
                del self._incidents[next(iter(self._incidents))]
        kinds = {"incident.acknowledged": ActionKind.ACKNOWLEDGE, "incident.annotated": ActionKind.NOTE}
        kind = kinds.get(event.event_type)
        if kind is None or event.agent is None or not event.agent.type.startswith("user"):
            raise Refusal(200, "ignored", "ignored: neither an acknowledgement nor a note of a person")
        if now - event.occurred_at > MAX_AGE:
            raise Refusal(200, "too old", f"ignored: older than {MAX_AGE // timedelta(minutes=1)} min")
        key = data.incident_key or self._incidents.get(data.incident.id if data.incident else "", "")
        actor = f"{masked_line(event.agent.summary or 'somebody', _MAX_AUTHOR)} (PagerDuty)"
        uid = sha256(f"pagerduty {event.id}".encode(errors="replace")).hexdigest()[:32]
        return await self._act(key, kind, data.content or "", actor, uid)

    async def _act(self, dedup_key: str, kind: ActionKind, text: str, actor: str, uid: str) -> Outcome:
        """Carry out an action on the alarm of a dedup key. Raises Refusal."""
        try:
            life = self._find(dedup_key)
        except SpoolError as error:
            raise Refusal(503, "not on duty", f"{error}; retry there") from None
        alarm = self._monitor.find_alarm(life.key) if life else None
        shown = life.shown(alarm) if life and alarm else None
        if alarm is None or shown is None:
            raise Refusal(404, "gone", "no notification has this dedup_key, or its alarm has ended")
        note = masked_line(text, _MAX_NOTE) if kind is ActionKind.NOTE else ""
        if kind is ActionKind.NOTE and not note.strip():
            raise Refusal(422, "not understood", "text: a note needs a text")
        command = AlarmCommand(alarm.key, kind, shown, text=note, actor=actor, uid=uid)
        try:
            action = self._monitor.carry_out(command)
        except AlarmRefused as error:
            raise refusal_of(error) from None
        say = f"{outcome_text(self._monitor.find_alarm(alarm.key))}{await unsaved_note(self._history)}"
        return {"changed": action is not None, "say": say}


def _reply(value: Outcome) -> Response:
    return JSONResponse(value, headers={"Cache-Control": "no-store"})


HOOKS: tuple[Endpoint[Hooks], ...] = (
    Endpoint("POST", "/v1/hooks/alarm", "respond", Hooks.respond_to_alarm, AlarmHook, (ONCE,), refuses=(404, 409, 503)),
    Endpoint("POST", "/v1/hooks/pagerduty", "", Hooks.receive_pagerduty, reply=Outcome, refuses=(401, 413, 429, 503)),
)
