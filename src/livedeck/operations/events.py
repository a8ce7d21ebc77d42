"""Operations on live events and their streams, and their forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from livedeck.client import (
    ApiError,
    Conflict,
    Event,
    EventDraft,
    EventRestream,
    EventRestreamDraft,
    Invalid,
    RecordDraft,
    ScheduleDraft,
    Secret,
    Stream,
    VideoDraft,
)
from livedeck.monitor import BroadcastState, EventState, enabled
from livedeck.operations.diff import Change, ParsedForm, differences
from livedeck.operations.nouns import unreadable_inside
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    CreateFromForm,
    DeleteOperation,
    EditOperation,
    FieldOperation,
    Operation,
    Platform,
    SendContext,
    Target,
    cause_of,
    newest_rows,
)
from livedeck.operations.posters import NOT_TOLD, PICTURE_FORM
from livedeck.operations.schema import (
    Entry,
    Field,
    FieldKind,
    FieldValues,
    FormSchema,
    Referent,
    Suggestion,
    draft_maker,
    label_of,
)
from livedeck.presentation.render_time import RenderTime
from livedeck.text import addresses, times, values

WAITING = frozenset({BroadcastState.SCHEDULED, BroadcastState.LATE})
"""Tallies of an event before its stream. SCHEDULED becomes LATE as time passes."""

WITHOUT_AUDIENCE = frozenset({BroadcastState.DRAFT, BroadcastState.COMPLETED, *WAITING})
"""Tallies of events without an audience. UNKNOWN is not one of them, because such an event may have an audience."""

PENDING = "pending"
"""Platform's status of a stream that has not begun."""

FINISHED = "finished"
"""Platform's status of a stream that has ended."""

_ENDS_FOR_GOOD = "The event ends for good: ingest accepts no more streams."

PRESETS = ("360p", "480p", "720p", "1080p", "1440p", "2160p")

RESTREAM_FORM = FormSchema(
    (
        Field("name", "Name", required=True),
        Field("url", "Address", required=True, hint="rtmp:// or rtmps://, without the key", is_long=True),
        Field("key", "Stream key", FieldKind.HIDDEN, required=True, hint="never shown"),
        Field("description", "Description"),
        Field("enabled", "Enabled", FieldKind.FLAG),
    ),
    draft_maker(EventRestreamDraft),
    noun="restream",
    sample={"name": "-", "url": "rtmp://localhost/", "key": Secret("-")},
)

_NAME = Field("name", "Name", required=True)

_TYPE = Field(
    "type", "Type", FieldKind.CHOICE, choices=("one-time", "recurring"), required=True, hint="cannot be changed later"
)

_FIELDS = (
    Field(
        "parent_id",
        "Project or folder",
        FieldKind.REFERENCE,
        hint="empty for none",
        nullable=True,
        referent=Referent.FOLDER,
    ),
    Field(
        "scheduled.time", "Start", FieldKind.DATETIME, hint="like 18:30, in 20 min, 2026-11-21 18:30Z", nullable=True
    ),
    Field("auto_start", "Start by itself", FieldKind.FLAG, hint="when the encoder sends", section="Ingest"),
    Field(
        "reconnect_window",
        "Reconnect window",
        FieldKind.NUMBER,
        hint="seconds",
        section="Ingest",
        describe=lambda seconds: values.duration(float(seconds)),
    ),
    Field("latency_mode", "Latency", FieldKind.CHOICE, choices=("standard", "reduced"), section="Ingest"),
    Field(
        "video.presets",
        "Qualities",
        FieldKind.MULTI_CHOICE,
        choices=PRESETS,
        hint="none: the platform's",
        nullable=True,
        section="Ingest",
    ),
    Field("protected", "Encrypted", FieldKind.FLAG, hint="stream encryption", section="Ingest"),
    Field("time_shift", "Time shift", FieldKind.FLAG, hint="viewers may go back", section="Ingest"),
    Field(
        "record.parent_id",
        "Recording goes to",
        FieldKind.REFERENCE,
        hint="empty: the platform decides",
        nullable=True,
        section="Ingest",
        referent=Referent.FOLDER,
    ),
    Field("restreams", "", FieldKind.ROWS, section="Restreams", row_schema=RESTREAM_FORM),
    Field("chat_active", "Chat", FieldKind.FLAG, section="Chat"),
    Field("show_members", "Show members", FieldKind.FLAG, section="Chat"),
    Field("chat_after_stream", "After the stream", FieldKind.FLAG, section="Chat"),
    Field("chat_preview", "In video preview", FieldKind.FLAG, section="Chat"),
)

_DRAFT = draft_maker(EventDraft, {"scheduled": ScheduleDraft, "record": RecordDraft, "video": VideoDraft})
CREATE_FORM = FormSchema((_NAME, _TYPE, *_FIELDS), _DRAFT)

EDIT_FORM = FormSchema((_NAME, *_FIELDS), _DRAFT)
"""Form to edit an event. It lacks the type, because the type cannot change (platform-api.md, "Upload headers")."""

CREATE_DEFAULTS: FieldValues = CREATE_FORM.empty() | {
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
"""Field of a draft -> value that the platform sets if the field is not sent (platform-api.md, "Event draft")."""


def _parent_id(fields: Mapping[str, Any]) -> str:
    return str(fields["parent_id"])


MOVE_FORM = FormSchema(
    (
        Field(
            "parent_id",
            "Project or folder",
            FieldKind.REFERENCE,
            hint="the new place",
            required=True,
            referent=Referent.FOLDER,
        ),
    ),
    _parent_id,
)


def _started_at(fields: Mapping[str, Any]) -> datetime:
    started_at = fields["started_at"]
    assert isinstance(started_at, datetime)
    return started_at


SCHEDULE_FORM = FormSchema(
    (Field("started_at", "Begins", FieldKind.DATETIME, hint="like 18:30 or in 20 min", required=True),), _started_at
)


def edit_entries(event: Event, zone: tzinfo | None) -> FieldValues:
    """Return an event as entries of its form.

    Where the platform sent no value, a yes-or-no field is unknown and any other field is empty. Only changed entries
    are sent.
    """
    current = platform_values(event)
    start, window = current["scheduled.time"], current["reconnect_window"]
    texts = {name: current[name] or "" for name in ("name", "parent_id", "latency_mode", "record.parent_id")}
    return {
        **current,
        **texts,
        "scheduled.time": times.format_time(start, zone) if start else "",
        "reconnect_window": "" if window is None else str(window),
        "video.presets": current["video.presets"] or (),
        "restreams": tuple(_restream_row(restream) for restream in current["restreams"] or ()),
    }


def _restream_row(restream: EventRestream) -> Mapping[str, Entry]:
    return {
        "id": restream.id or "",
        "name": restream.name or "",
        "url": restream.url or "",
        "key": restream.key or "",
        "description": restream.description or "",
        "enabled": restream.enabled,
    }


def platform_values(event: Event) -> Mapping[str, Any]:
    """Return the event's value for each field of its form, for a comparison with the sent values."""
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


def has_values(event: Event, expected: Mapping[str, object]) -> bool:
    """Return whether the event has all expected values.

    Ignores fractions of a second, the order of qualities, and fields of restreams that were not sent.
    """
    return not unlike(event, expected)


def unlike(event: Event, expected: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the fields whose values in the event differ from the expected values."""
    current = platform_values(event)
    return tuple(name for name, value in expected.items() if name in current and not _is_same(current[name], value))


def _is_same(current: Any, expected: Any) -> bool:
    if isinstance(expected, datetime) and isinstance(current, datetime):
        return abs((current - expected).total_seconds()) < 1
    if isinstance(expected, tuple):
        return sorted(map(_comparable, current or ()), key=repr) == sorted(map(_comparable, expected), key=repr)
    return bool(current == expected)


def _comparable(item: object) -> object:
    if isinstance(item, EventRestream | EventRestreamDraft):
        return item.name, (item.url or "").rstrip("/"), item.key, item.enabled is not False, item.description or ""
    return item


@dataclass(frozen=True, slots=True)
class EventView:
    """Event as the platform sent it. `state`: state of the event in the monitor; None if the monitor lacks it."""

    event: Event
    state: EventState | None = None

    @property
    def tally(self) -> BroadcastState:
        """Tally of the event; UNKNOWN without a monitor."""
        return self.state.phase.tally if self.state else BroadcastState.UNKNOWN

    @property
    def is_on_air(self) -> bool:
        """True if the event may have an audience, by its stream or by the monitor."""
        stream = self.event.stream
        is_running = bool(stream and not stream.finished_at and stream.status not in {PENDING, FINISHED})
        return is_running or (self.state is not None and self.tally not in WITHOUT_AUDIENCE)


@dataclass(frozen=True, slots=True)
class EventTarget:
    """Event as the person saw it when they requested the operation."""

    target: Target
    view: EventView

    @classmethod
    def of_event(cls, event: Event) -> EventTarget:
        """Make a target from an event without a monitor. The state comes from the event's stream alone."""
        view, stream = EventView(event), event.stream
        state = f"on air: its stream is {_word(stream.status)}" if stream and view.is_on_air else ""
        return cls(Target("event", event.id, _target_name(event), state), view)

    @classmethod
    def of_state(cls, state: EventState, render_time: RenderTime, seq: int) -> EventTarget:
        """Make a target from an event in the snapshot with the number `seq`, which was painted at `render_time`."""
        shown = f"{describe_state(state, render_time)}, as of {state.as_of:%H:%M:%S}Z"
        return cls(Target("event", state.id, _target_name(state.event), shown, seq), EventView(state.event, state))


def _target_name(event: Event) -> str:
    return values.safe(event.name or "", 60) or event.id


def describe_state(state: EventState, render_time: RenderTime) -> str:
    """Describe the state of an event: `On air for 01:02:48, health 100 GOOD, 4 of 4 restreams connected`."""
    phase, health = state.phase, state.assessment.health
    parts = [phase.tally.value.capitalize()]
    if phase.reference_time is not None and phase.tally is not BroadcastState.COMPLETED:
        elapsed = render_time.server_seconds_since(phase.reference_time)
        clock = values.short_duration(abs(elapsed))
        parts[0] += f" for {clock}" if elapsed >= 0 else f", starts in {clock}"
    if phase.tally.expects_signal:
        parts.append(f"health {values.NO_DATA if health.score is None else health.score} {health.grade}".rstrip())
        statuses = [restream.status for restream in enabled(state.event.restreams or ())]
        parts += [f"{statuses.count('connected')} of {len(statuses)} restreams connected"] if statuses else []
    return ", ".join(parts)


def event_conflicts(before: EventView, now: EventView) -> Conflicts:
    """Describe how two reads of an event differ: in its stream, and in the fields that people can set.

    Compares only fields in both responses.
    """
    reported = before.event.model_fields_set & now.event.model_fields_set
    texts = {
        "name": f"its name was {_quoted_name(before.event)} and is {_quoted_name(now.event)} now",
        "type": f"its type was {_word(before.event.type)} and is {_word(now.event.type)} now",
        "scheduled": f"its start was {_start(before.event)} and is {_start(now.event)} now",
    }
    changed = (name for name in texts if name in reported and getattr(before.event, name) != getattr(now.event, name))
    rest = [field.name for field in EDIT_FORM.fields if field.name.partition(".")[0] in reported - texts.keys()]
    old, new = edit_entries(before.event, None), edit_entries(now.event, None)
    named = (texts[name] for name in changed)
    return (*named, *differences(EDIT_FORM, old, new, rest), *_stream_conflicts(before, now))


def _quoted_name(event: Event) -> str:
    return f'"{values.safe(event.name or "", 60)}"'


def _word(word: str | None) -> str:
    return values.safe(word or values.UNKNOWN, 20)


def _start(event: Event) -> str:
    time = event.scheduled.time if event.scheduled else None
    return f"{time:%d %b %H:%M:%S}Z" if time else "not set"


def _stream_conflicts(before: EventView, now: EventView) -> Conflicts:
    """Describe the most important change of the event's stream; empty without a change."""
    if before.tally is not now.tally and not {before.tally, now.tally} <= WAITING:
        return (f"it was {before.tally} and is {now.tally} now",)
    old, new = before.event.stream, now.event.stream
    if (old.id if old else None) != (new.id if new else None):
        return ("its stream is a different one now",)
    if old and new and old.status != new.status:
        return (f"its stream was {_word(old.status)} and is {_word(new.status)} now",)
    if old and new and old.started_at and new.started_at and not _begins_at(new, old.started_at):
        times_shown = _format_time(old.started_at), _format_time(new.started_at)
        return ("its stream began at {} and begins at {} now".format(*times_shown),)
    return ()


def _begins_at(stream: Stream, at: datetime) -> bool:
    """Return whether the stream begins at the time `at`. The platform may cut off fractions of a second."""
    return stream.started_at is not None and abs((stream.started_at - at).total_seconds()) < 1


def _format_time(at: datetime) -> str:
    return f"{at:%d %b %Y %H:%M:%S}Z"


NewestEvents = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class CreateEvent(CreateFromForm[Event]):
    """Create an event."""

    name = "event.create"
    verb = "create"
    past = "created"
    kind = "event"
    help = "Create an event, as a draft"
    schema = CREATE_FORM
    reads_newest = True

    form: ParsedForm[EventDraft]

    async def read(self, platform: Platform) -> NewestEvents:
        return newest_rows(await platform.api.events.list(per_page=100))

    async def send(self, context: SendContext[NewestEvents], /) -> Event:
        return await context.api.events.create(self.form.draft)

    def is_like(self, item: Event, /) -> bool:
        return item.type == self.form.draft.type and has_values(item, self.form.values)


@dataclass(frozen=True, slots=True)
class EventOperation(Operation[EventView]):
    """Change of an existing event."""

    kind = "event"

    event: EventTarget

    @property
    def target(self) -> Target:
        return self.event.target

    @property
    def seen(self) -> EventView:
        return self.event.view

    async def read(self, platform: Platform) -> EventView:
        event = await platform.api.events.get(self.target.id)
        snapshot = platform.snapshot()
        return EventView(event, snapshot.find(self.target.id) if snapshot else None)

    def conflicts(self, before: EventView, now: EventView, /) -> Conflicts:
        return event_conflicts(before, now)

    def read_of_answer(self, answer: object, /) -> EventView | None:
        return EventView(answer) if isinstance(answer, Event) else None

    def confirm_level(self, current: EventView, _conflicts: Conflicts, /) -> ConfirmLevel:
        """Return `level` while the event may be on air; otherwise ASK, because it has no audience."""
        return self.level if current.is_on_air else ConfirmLevel.ASK

    def confirmation(self, current: EventView, conflicts: Conflicts, /) -> Confirmation:
        confirmation, name = Operation.confirmation(self, current, conflicts), _target_name(current.event)
        return replace(confirmation, title=f'{confirmation.button} "{name}"?')

    def real_name(self, current: EventView, /) -> str:
        return current.event.name or ""


class EventFormOperation(EventOperation):
    """Change of an event with a short form.

    It needs a confirmation only while the event is on air or after conflicts.
    """

    level = ConfirmLevel.ASK

    def confirm_level(self, current: EventView, conflicts: Conflicts, /) -> ConfirmLevel:
        return ConfirmLevel.ASK if conflicts or current.is_on_air else ConfirmLevel.NONE


class CompleteEvent(FieldOperation[EventView], EventOperation):
    """End an event. Only the end of its stream proves the change, because no field shows that an event is completed."""

    name = "event.complete"
    verb = "complete"
    past = "completed"
    level = ConfirmLevel.TYPE_NAME
    help = "End the event: ingest stops, viewers are cut off"
    evidence = "the stream was running before and has ended"
    no_evidence = "no field says whether an event without a running stream is completed"
    may_conflict = False

    def effect(self, current: EventView, /) -> str:
        if current.is_on_air:
            return "Ingest stops, viewers are cut off, the recording closes. The event cannot be resumed."
        if self.is_so(current):
            return f"Its stream has already ended; {self.no_evidence}. {_ENDS_FOR_GOOD}"
        return _ENDS_FOR_GOOD

    async def send(self, context: SendContext[EventView], /) -> None:
        await context.api.events.complete(self.target.id)

    def is_so(self, current: EventView, /) -> bool:
        stream = current.event.stream
        return bool(stream and (stream.finished_at or stream.status == FINISHED))

    def can_show(self, before: EventView, /) -> bool:
        return before.event.stream is not None and not self.is_so(before)

    def shows(self, before: EventView, after: EventView | None, /) -> bool:
        old, new = before.event.stream, after.event.stream if after else None
        is_same = old is not None and new is not None and old.id == new.id
        return is_same and FieldOperation.shows(self, before, after)


class EnableEvent(EventOperation):
    """Enable an event, so that it accepts streams."""

    name = "event.enable"
    verb = "enable"
    past = "enabled"
    level = ConfirmLevel.ASK
    help = "Accept streams and let viewers watch"
    no_evidence = "no field says whether an event is enabled"

    def effect(self, _current: EventView, /) -> str:
        return "Ingest accepts streams from now on, and viewers can watch them."

    async def send(self, context: SendContext[EventView], /) -> None:
        await context.api.events.enable(self.target.id)


class DeleteEvent(DeleteOperation[EventView], EventOperation):
    """Delete an event for good."""

    name = "event.delete"
    level = ConfirmLevel.TYPE_NAME
    help = "Delete the event for good"

    def effect(self, current: EventView, /) -> str:
        cut_off = "Viewers are cut off at once. " if current.is_on_air else ""
        return f"{cut_off}The event is deleted for good, with its settings and stream keys. Its recordings stay."

    async def send(self, context: SendContext[EventView], /) -> None:
        await context.api.events.delete(self.target.id)


@dataclass(frozen=True, slots=True)
class MoveEvent(FieldOperation[EventView], EventOperation):
    """Move an event to another project or folder. `folders`: names of projects and folders by id."""

    name = "event.move"
    verb = "move"
    past = "moved"
    level = ConfirmLevel.TYPE_NAME
    help = "Move the event to another project or folder"
    evidence = "the event has moved to the new place"
    shows_values = True
    looks_like = ("event.edit",)
    schema = MOVE_FORM

    parent_id: str
    folders: tuple[Suggestion, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        parents = (self.seen.event.parent_id, self.parent_id)
        before, after = (values.safe(label_of(parent or "none", self.folders), 80) for parent in parents)
        return (Change("Project or folder", before, after),)

    def effect(self, _current: EventView, /) -> str:
        (change,) = self.changes
        return f"The event moves from {change.before} to {change.after}. Other people may then see and manage it."

    async def send(self, context: SendContext[EventView], /) -> Event:
        return await context.api.events.move(self.target.id, self.parent_id)

    def is_so(self, current: EventView, /) -> bool:
        return current.event.parent_id == self.parent_id

    def other_values(self, current: EventView, /) -> tuple[str, ...]:
        if self.is_so(current):
            return ()
        return (f"project or folder {values.safe(label_of(current.event.parent_id or 'none', self.folders), 80)}",)


@dataclass(frozen=True, slots=True)
class EditEvent(EditOperation[EventView], EventOperation):
    """Change fields of an event."""

    name = "event.edit"
    help = "Change any field of the event, its restreams too"
    looks_like = ("event.move",)
    schema = EDIT_FORM

    form: ParsedForm[EventDraft]

    async def send(self, context: SendContext[EventView], /) -> Event:
        left_out = unreadable_inside(context.current.event, "restreams")
        if left_out and "restreams" in self.form.values:  # sent whole, so unreadable restreams would be lost
            raise Invalid("event draft", "restreams", f"cannot be changed, because some are unreadable: {left_out[0]}")
        return await context.api.events.update(self.target.id, self.form.draft)

    def entries(self, current: EventView, /) -> FieldValues:
        return edit_entries(current.event, None)

    def unlike(self, current: EventView, /) -> tuple[str, ...]:
        return unlike(current.event, self.form.values)


@dataclass(frozen=True, slots=True)
class SetEventPoster(EventFormOperation):
    """Set the poster of an event from the picture at an address."""

    name = "event.poster"
    verb = "set the poster of"
    button = "set poster"
    past = "given its poster"
    help = "Set the event's poster from the picture at an address"
    no_evidence = NOT_TOLD
    may_conflict = False
    schema = PICTURE_FORM

    url: str

    def conflicts(self, before: EventView, now: EventView, /) -> Conflicts:
        old, new = before.event.poster, now.event.poster
        is_another = old is not None and new is not None and old.id != new.id
        return (*event_conflicts(before, now), *(("its poster is a different one now",) if is_another else ()))

    def effect(self, _current: EventView, /) -> str:
        return f"Its poster becomes the picture at {addresses.show(self.url)}."

    async def send(self, context: SendContext[EventView], /) -> object:
        return await context.api.posters.upload_for_event(self.target.id, self.url)


class _StreamOperation(EventFormOperation):
    """Operation that sets the time at which the event's stream begins."""

    __slots__ = ()

    shows_values = True
    schema = SCHEDULE_FORM

    started_at: datetime

    def is_of_another(self, answer: object, _before: EventView, /) -> bool:
        """Return whether the response is a stream of another event."""
        event_id = answer.event_id if isinstance(answer, Stream) else None
        return bool(event_id) and str(event_id).casefold() != self.target.id.casefold()

    def is_so(self, current: EventView, /) -> bool:
        stream = current.event.stream
        return stream is not None and _begins_at(stream, self.started_at)

    def other_values(self, current: EventView, /) -> tuple[str, ...]:
        if self.is_so(current):
            return ()
        begins = current.event.stream and current.event.stream.started_at
        return (f"a stream that begins {_format_time(begins)}" if begins else "no stream with a start",)


@dataclass(frozen=True, slots=True)
class ScheduleStream(_StreamOperation):
    """Schedule a stream of an event."""

    name = "event.schedule"
    audit_name = "stream.schedule"
    verb = "schedule"
    past = "scheduled"
    help = "Schedule a stream of the event"
    evidence = "the event has a new stream, which begins at the sent time"
    looks_like = ("event.reschedule",)

    started_at: datetime

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("Stream begins", "", _format_time(self.started_at)),)

    def effect(self, current: EventView, /) -> str:
        replaced = " It replaces the current one." if current.event.stream else ""
        return f"A stream is scheduled for {_format_time(self.started_at)}.{replaced}"

    async def send(self, context: SendContext[EventView], /) -> object:
        return await context.api.streams.schedule(self.target.id, self.started_at)

    def refusal_text(self, error: ApiError, current: EventView, /) -> str:
        stream = current.event.stream
        if not isinstance(error, Conflict) or stream is None or stream.status != PENDING or stream.started_at is None:
            return cause_of(error)
        scheduled = _format_time(stream.started_at)
        return f"the event already has a scheduled stream ({scheduled}); move that one (S in the deck)"

    def shows(self, before: EventView, after: EventView | None, /) -> bool:
        old, new = before.event.stream, after.event.stream if after else None
        return new is not None and (old is None or new.id != old.id) and _begins_at(new, self.started_at)


@dataclass(frozen=True, slots=True)
class RescheduleStream(_StreamOperation, FieldOperation[EventView]):
    """Move the stream of an event to another time."""

    name = "event.reschedule"
    audit_name = "stream.reschedule"
    verb = "reschedule"
    past = "rescheduled"
    help = "Move the event's stream to another time"
    evidence = "the start of the stream has changed to the requested time"
    looks_like = ("event.schedule",)

    started_at: datetime

    @property
    def changes(self) -> tuple[Change, ...]:
        stream = self.seen.event.stream
        before = _format_time(stream.started_at) if stream and stream.started_at else "not set"
        return (Change("Stream begins", before, _format_time(self.started_at)),)

    def effect(self, _current: EventView, /) -> str:
        (change,) = self.changes
        return f"Its stream moves from {change.before} to {change.after}."

    async def send(self, context: SendContext[EventView], /) -> object:
        return await context.api.streams.reschedule(self.target.id, self.started_at)


OPERATIONS = (
    CreateEvent,
    EditEvent,
    EnableEvent,
    CompleteEvent,
    MoveEvent,
    DeleteEvent,
    SetEventPoster,
    ScheduleStream,
    RescheduleStream,
)
