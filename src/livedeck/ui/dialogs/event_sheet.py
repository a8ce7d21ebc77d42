"""The form of an event: every field of the document that can be sent (platform-api.md, 4). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from livedeck.client import (
    Event,
    EventDraft,
    EventRestream,
    EventRestreamDraft,
    RecordDraft,
    ScheduleDraft,
    Secret,
    VideoDraft,
)
from livedeck.ui.dialogs import when
from livedeck.ui.dialogs.fields import Entries, Entry, Field, Kind, Sheet, draft_of

PRESETS = ("360p", "480p", "720p", "1080p", "1440p", "2160p")

RESTREAM = Sheet(
    (
        Field("name", "Name", required=True),
        Field("url", "Address", required=True, hint="rtmp:// or rtmps://, without the key"),
        Field("key", "Stream key", Kind.HIDDEN, required=True, hint="never shown"),
        Field("description", "Description"),
        Field("enabled", "Enabled", Kind.FLAG),
    ),
    draft_of(EventRestreamDraft, {}),
    noun="restream",
    least={"name": "-", "url": "rtmp://localhost/", "key": Secret("-")},
)

_FIELDS = (
    Field("name", "Name", required=True),
    Field("parent_id", "Project or folder", hint="its id; empty for none", empties=True),
    Field("scheduled.time", "Start", Kind.MOMENT, hint="18:30, in 20 min, 2026-11-21 18:30Z", empties=True),
    Field("auto_start", "Start by itself", Kind.FLAG, hint="when the encoder sends", section="Ingest"),
    Field("reconnect_window", "Reconnect window", Kind.NUMBER, hint="seconds", section="Ingest"),
    Field("latency_mode", "Latency", Kind.CHOICE, choices=("standard", "reduced"), section="Ingest"),
    Field(
        "video.presets",
        "Qualities",
        Kind.WORDS,
        choices=PRESETS,
        hint="none: the platform's",
        empties=True,
        section="Ingest",
    ),
    Field("protected", "Encrypted", Kind.FLAG, hint="stream encryption", section="Ingest"),
    Field("time_shift", "Time shift", Kind.FLAG, hint="viewers may go back", section="Ingest"),
    Field("record.parent_id", "Recording goes to", hint="id of project or folder", empties=True, section="Ingest"),
    Field("restreams", "", Kind.ROWS, section="Restreams", of=RESTREAM),
    Field("chat_active", "Chat", Kind.FLAG, section="Chat"),
    Field("show_members", "Show members", Kind.FLAG, section="Chat"),
    Field("chat_after_stream", "After the stream", Kind.FLAG, section="Chat"),
    Field("chat_preview", "In video preview", Kind.FLAG, section="Chat"),
)

_TYPE = Field(
    "type", "Type", Kind.CHOICE, choices=("one-time", "recurring"), required=True, hint="cannot be changed later"
)

_DRAFT = draft_of(EventDraft, {"scheduled": ScheduleDraft, "record": RecordDraft, "video": VideoDraft})

NEW = Sheet((_FIELDS[0], _TYPE, *_FIELDS[1:]), _DRAFT)
"""To make one. `type` is asked for."""

CHANGE = Sheet(_FIELDS, _DRAFT)
"""To change one. `type` cannot be changed (decisions.md, "Requests")."""

DEFAULTS: Entries = NEW.blank() | {
    "type": "one-time",
    "auto_start": False,
    "protected": False,
    "time_shift": False,
    "reconnect_window": "600",
    "latency_mode": "standard",
    "show_members": True,
    "chat_active": False,
    "chat_after_stream": True,
    "chat_preview": True,
}
"""What the platform makes of a field that is not sent (platform-api.md, 4, "Create event request fields")."""


def entries_of(event: Event, zone: tzinfo | None) -> Entries:
    """The event as the form shows it; what the platform did not say is unknown, not empty."""
    start = event.scheduled.time if event.scheduled else None
    return {
        "name": event.name or "",
        "parent_id": event.parent_id or "",
        "scheduled.time": when.shown(start, zone) if start else "",
        "auto_start": event.auto_start,
        "reconnect_window": "" if event.reconnect_window is None else str(event.reconnect_window),
        "latency_mode": event.latency_mode or "",
        "video.presets": (event.video.presets if event.video else None) or (),
        "protected": event.protected,
        "time_shift": event.time_shift,
        "record.parent_id": (event.record.parent_id if event.record else None) or "",
        "restreams": tuple(_row(restream) for restream in event.restreams or ()),
        "chat_active": event.chat_active,
        "show_members": event.show_members,
        "chat_after_stream": event.chat_after_stream,
        "chat_preview": event.chat_preview,
    }


def _row(restream: EventRestream) -> Mapping[str, Entry]:
    return {
        "id": restream.id or "",
        "name": restream.name or "",
        "url": restream.url or "",
        "key": restream.key or "",
        "description": restream.description or "",
        "enabled": restream.enabled,
    }


def facts(event: Event) -> Mapping[str, object]:
    """What the platform says of each field of the form, so that it can be held against what was sent."""
    return {
        "name": event.name,
        "parent_id": event.parent_id,
        "scheduled.time": event.scheduled.time if event.scheduled else None,
        "auto_start": event.auto_start,
        "reconnect_window": event.reconnect_window,
        "latency_mode": event.latency_mode,
        "video.presets": event.video.presets if event.video else None,
        "protected": event.protected,
        "time_shift": event.time_shift,
        "record.parent_id": event.record.parent_id if event.record else None,
        "restreams": event.restreams,
        "chat_active": event.chat_active,
        "show_members": event.show_members,
        "chat_after_stream": event.chat_after_stream,
        "chat_preview": event.chat_preview,
    }


def stands(event: Event, wanted: Mapping[str, object]) -> bool:
    """Whether all of that is so: a moment within the second, qualities in any order, restreams by what was sent."""
    now = facts(event)
    return all(_same(now[name], value) for name, value in wanted.items() if name in now)


def _same(now: Any, wanted: Any) -> bool:
    if isinstance(wanted, datetime) and isinstance(now, datetime):
        return abs((now - wanted).total_seconds()) < 1
    if isinstance(wanted, tuple):
        return sorted(map(_plain, now or ()), key=repr) == sorted(map(_plain, wanted), key=repr)
    return bool(now == wanted)


def _plain(one: object) -> object:
    if isinstance(one, EventRestream | EventRestreamDraft):
        return one.name, (one.url or "").rstrip("/"), one.key, one.enabled is not False, one.description or ""
    return one
