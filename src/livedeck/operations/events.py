"""What can be done with a live event and its stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from livedeck.client import (
    Api,
    Event,
    EventDraft,
    EventRestream,
    EventRestreamDraft,
    Progress,
    RecordDraft,
    ScheduleDraft,
    Secret,
    VideoDraft,
)
from livedeck.monitor import BroadcastState, EventState, Snapshot
from livedeck.operations.diff import Change, lines
from livedeck.operations.operation import Operation, Target
from livedeck.operations.schema import Entry, Field, FieldValues, FormSchema, Kind, draft_of
from livedeck.presentation.render_time import RenderTime
from livedeck.text import times, values
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirmation, short_name

WAITING = frozenset({BroadcastState.SCHEDULED, BroadcastState.LATE})

"""Only time lies between the two."""


QUIET = frozenset({BroadcastState.DRAFT, BroadcastState.COMPLETED, *WAITING})

"""No audience is cut off. A tally that is not known is none of them: unknown is not green."""


ENDED = "finished"


@dataclass(frozen=True, slots=True)
class EventView:
    """The platform's object, and what the monitor made of it when it was shown (None: it was not)."""

    event: Event
    state: EventState | None

    @property
    def tally(self) -> BroadcastState:
        """What it is to the audience, as far as anybody knows."""
        return self.state.phase.tally if self.state else BroadcastState.UNKNOWN

    @property
    def on_air(self) -> bool:
        """Whether an audience may be watching, as far as anybody knows."""
        stream = self.event.stream
        running = bool(stream and not stream.finished_at and stream.status not in {"pending", ENDED})
        return running or (self.state is not None and self.tally not in QUIET)


@dataclass(frozen=True, slots=True)
class EventTarget:
    """An event frozen when the key was pressed, and the way to see it again. `known`: the last snapshot."""

    api: Api
    known: Callable[[], Snapshot | None]
    seen: EventView
    target: Target

    @classmethod
    def of(
        cls, api: Api, known: Callable[[], Snapshot | None], state: EventState, moment: RenderTime, seq: int
    ) -> EventTarget:
        """That event, as it is shown at that moment."""
        name = values.safe(state.event.name or "", 60) or state.id
        shown = f"{words(state, moment)}, as of {state.as_of:%H:%M:%S}Z"
        return cls(api, known, EventView(state.event, state), Target("event", state.id, name, shown, seq))

    async def look(self) -> EventView:
        """The event as the platform has it now, by the id that was shown. Raises ApiError."""
        event = await self.api.events.get(self.target.id)
        snapshot = self.known()
        return EventView(event, snapshot.find(self.target.id) if snapshot else None)


def words(state: EventState, moment: RenderTime) -> str:
    """Its state as the screen shows it: `ON AIR for 01:02:48, health 100 GOOD, 4 of 4 restreams connected`."""
    phase, health = state.phase, state.assessment.health
    said = [phase.tally.value]
    if phase.reference_time is not None and phase.tally is not BroadcastState.COMPLETED:
        since = moment.server_seconds_since(phase.reference_time)
        said[0] += f" for {values.duration(since)}" if since >= 0 else f", T-{values.duration(-since)}"
    if phase.tally.expects_signal:
        said.append(f"health {values.NO_DATA if health.score is None else health.score} {health.grade}".rstrip())
        said += _restreams(state.event)
    return ", ".join(said)


def _restreams(event: Event) -> list[str]:
    wanted = [one for one in event.restreams or () if one.enabled is not False]
    connected = sum(one.status == "connected" for one in wanted)
    return [f"{connected} of {len(wanted)} restreams connected"] if wanted else []


def differences(seen: EventView, now: EventView) -> tuple[str, ...]:
    """What matters to whoever acts on it and is otherwise than it was seen: `its name was "A" and is "B" now`."""
    said = seen.event.model_fields_set & now.event.model_fields_set
    texts = {
        "name": f"its name was {_name(seen.event)} and is {_name(now.event)} now",
        "type": f"its type was {_word(seen.event.type)} and is {_word(now.event.type)} now",
        "parent_id": "it was moved to another project or folder",
        "scheduled": f"its start was {_start(seen.event)} and is {_start(now.event)} now",
    }
    changed = (name for name in texts if name in said and getattr(seen.event, name) != getattr(now.event, name))
    return (*(texts[name] for name in changed), *_stream(seen, now))


def _name(event: Event) -> str:
    return f'"{values.safe(event.name or "", 60)}"'


def _word(word: str | None) -> str:
    return values.safe(word or values.UNKNOWN, 20)


def _start(event: Event) -> str:
    time = event.scheduled.time if event.scheduled else None
    return f"{time:%d %b %H:%M:%S}Z" if time else "not set"


def _stream(seen: EventView, now: EventView) -> tuple[str, ...]:
    """What is otherwise with the stream; of several words for it the plainest."""
    if seen.tally is not now.tally and not {seen.tally, now.tally} <= WAITING:
        return (f"it was {seen.tally} and is {now.tally} now",)
    one, other = seen.event.stream, now.event.stream
    if (one.id if one else None) != (other.id if other else None):
        return ("its stream is another one now",)
    if one and other and one.status != other.status:
        return (f"its stream was {_word(one.status)} and is {_word(other.status)} now",)
    return ()


PRESETS = ("360p", "480p", "720p", "1080p", "1440p", "2160p")


RESTREAM = FormSchema(
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


NEW = FormSchema((_FIELDS[0], _TYPE, *_FIELDS[1:]), _DRAFT)

"""To make one. `type` is asked for."""


CHANGE = FormSchema(_FIELDS, _DRAFT)

"""To change one. `type` cannot be changed (decisions.md, "Requests")."""


DEFAULTS: FieldValues = NEW.blank() | {
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


def entries_of(event: Event, zone: tzinfo | None) -> FieldValues:
    """The event as the form shows it; what the platform did not say is unknown, not empty."""
    start = event.scheduled.time if event.scheduled else None
    return {
        "name": event.name or "",
        "parent_id": event.parent_id or "",
        "scheduled.time": times.format_time(start, zone) if start else "",
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
        return sorted(map(_event_sheet_plain, now or ()), key=repr) == sorted(map(_event_sheet_plain, wanted), key=repr)
    return bool(now == wanted)


def _event_sheet_plain(one: object) -> object:
    if isinstance(one, EventRestream | EventRestreamDraft):
        return one.name, (one.url or "").rstrip("/"), one.key, one.enabled is not False, one.description or ""
    return one


Newest = tuple[Event, ...]

"""The newest events of the workspace."""


def create(api: Api, draft: EventDraft, edits: tuple[Change, ...]) -> Operation[Newest]:
    """Make it. Whether it was made shows by an event of that name that was not there before."""

    async def look() -> Newest:
        return (await api.events.list(per_page=100)).items

    async def send(_: Progress) -> Event:
        return await api.events.create(draft)

    def made(before: Newest, after: Newest | None) -> bool:
        known = {event.id for event in before}
        return any(event.id not in known and event.name == draft.name for event in after or ())

    target = Target("event", "", values.safe(draft.name, 60))
    return Operation("event.create", "create", target, (), look, lambda *_: (), lambda *_: None, send, made, edits)


Ask = Callable[[EventView, tuple[str, ...]], Confirmation | None]

Call = Callable[[], Awaitable[object]]

Shown = Callable[[EventView, EventView | None], bool | None]


def complete(one: EventTarget) -> Operation[EventView]:
    """End it."""
    effect = "Ingest stops, viewers are cut off, the recording closes. It cannot be resumed."
    quiet = "It ends for good: ingest accepts no more streams."
    return _act(one, "complete", lambda: one.api.events.complete(one.target.id), _completed, _risky(one, effect, quiet))


def enable(one: EventTarget) -> Operation[EventView]:
    """Let streams in."""
    effect = "Ingest accepts a stream from now on, and viewers can watch it."
    return _act(one, "enable", lambda: one.api.events.enable(one.target.id), _touched, _plain(one, "enable", effect))


def delete(one: EventTarget) -> Operation[EventView]:
    """Delete it for good."""
    quiet = "It is deleted for good, its settings and stream keys with it. Its recordings stay."
    ask = _risky(one, f"Viewers are cut off at once. {quiet}", quiet, verb="delete")
    return _act(one, "delete", lambda: one.api.events.delete(one.target.id), lambda _, after: after is None, ask)


def move(one: EventTarget, parent_id: str) -> Operation[EventView]:
    """Put it into another project or folder."""
    was, there = (values.safe(place or "none", 60) for place in (one.seen.event.parent_id, parent_id))
    effect = f"It moves from {was} to {there}. Who sees and manages it may change with that."

    def moved(_: EventView, after: EventView | None) -> bool:
        return after is not None and after.event.parent_id == parent_id

    ask = _risky(one, effect, effect, verb="move")
    act = _act(one, "move", lambda: one.api.events.move(one.target.id, parent_id), moved, ask)
    return replace(act, edits=(Change("Project or folder", was, there),))


def update(
    one: EventTarget, draft: EventDraft, wanted: Mapping[str, object], edits: tuple[Change, ...]
) -> Operation[EventView]:
    """Change what the draft sets. `wanted`: the same by dotted names; `edits`: the same in words."""

    def changed(seen: EventView, now: EventView) -> tuple[str, ...]:
        return (*differences(seen, now), *_overtaken(seen, now, wanted))

    def updated(_: EventView, after: EventView | None) -> bool:
        return after is not None and stands(after.event, wanted)

    ask = _plain(one, "save", "This is sent and nothing else:", lines(edits))
    act = _act(one, "edit", lambda: one.api.events.update(one.target.id, draft), updated, ask)
    return replace(act, differences=changed, edits=edits)


def poster(one: EventTarget, url: str) -> Operation[EventView]:
    """Give it the picture at that address."""

    def changed(before: EventView, after: EventView | None) -> bool:
        old, new = before.event.poster, after.event.poster if after else None
        return new is not None and (old is None or (new.id, new.original) != (old.id, old.original))

    ask = _willing(one, "poster", f"Its picture becomes {values.link(url)}.")
    return _act(one, "poster", lambda: one.api.posters.upload_for_event(one.target.id, url), changed, ask)


def schedule(one: EventTarget, at: datetime) -> Operation[EventView]:
    """Give it a stream that begins then."""

    def scheduled(before: EventView, after: EventView | None) -> bool:
        old, new = before.event.stream, after.event.stream if after else None
        return new is not None and (old is None or new.id != old.id)

    effect = f"A stream is scheduled for {_moment(at)}. It takes the place of the present one."
    ask = _willing(one, "schedule", effect)
    act = _act(one, "schedule", lambda: one.api.streams.schedule(one.target.id, at), scheduled, ask, noun="stream")
    return replace(act, edits=(Change("Stream begins", "", _moment(at)),))


def reschedule(one: EventTarget, at: datetime) -> Operation[EventView]:
    """Move its stream to another time."""
    stream = one.seen.event.stream
    was = _moment(stream.started_at) if stream and stream.started_at else "not set"

    def moved(_: EventView, after: EventView | None) -> bool:
        now = after.event.stream if after else None
        return bool(now and now.started_at and abs((now.started_at - at).total_seconds()) < 1)

    ask = _willing(one, "reschedule", f"Its stream moves from {was} to {_moment(at)}.")
    act = _act(one, "reschedule", lambda: one.api.streams.reschedule(one.target.id, at), moved, ask, noun="stream")
    return replace(act, edits=(Change("Stream begins", was, _moment(at)),))


def _act(
    one: EventTarget, verb: str, call: Call, shown: Shown, ask: Ask, *, noun: str = "event"
) -> Operation[EventView]:
    async def send(_: Progress) -> object:
        return await call()

    return Operation(f"{noun}.{verb}", verb, one.target, one.seen, one.look, differences, ask, send, shown)


def _risky(one: EventTarget, effect: str, quiet: str, *, verb: str = "complete") -> Ask:
    """Asked always; on air the short name has to be typed."""

    def ask(sight: EventView, changes: tuple[str, ...]) -> Confirmation:
        return _question(one, sight, changes, verb, effect if sight.on_air else quiet, typed=sight.on_air)

    return ask


def _plain(one: EventTarget, verb: str, effect: str, more: tuple[Segment, ...] = ()) -> Ask:
    """Asked always; nobody is cut off."""
    return lambda sight, changes: _question(one, sight, changes, verb, effect, more=more)


def _willing(one: EventTarget, verb: str, effect: str) -> Ask:
    """A form was consent enough, unless an audience is there or something changed meanwhile."""
    ask = _plain(one, verb, effect)
    return lambda sight, changes: ask(sight, changes) if changes or sight.on_air else None


def _question(
    one: EventTarget,
    sight: EventView,
    changes: tuple[str, ...],
    verb: str,
    effect: str,
    *,
    more: tuple[Segment, ...] = (),
    typed: bool = False,
) -> Confirmation:
    """What, its state, the effect; and before all of it what has changed since the person looked."""
    name = values.safe(sight.event.name or "", 60) or one.target.id
    news: tuple[Segment, ...] = tuple((f"▲ Since you looked: {change}.", StyleRole.WARNING) for change in changes)
    state = () if changes else ((f"It is {one.target.state}.", StyleRole.TEXT),)
    word = short_name(name, one.target.id) if typed else ""
    return Confirmation(
        f'{verb.capitalize()} "{name}"?', (*news, *state, (effect, StyleRole.TEXT), *more), verb.capitalize(), word
    )


def _completed(before: EventView, after: EventView | None) -> bool | None:
    """Its stream ended; without one a later date is all there is, and while one runs that tells nothing."""
    stream = after.event.stream if after else None
    if stream and (stream.finished_at or stream.status == ENDED):
        return True
    touched = _touched(before, after)
    return None if touched and before.on_air else touched


def _touched(before: EventView, after: EventView | None) -> bool:
    """Whether the platform dates a change later than before: the only trace of what no field shows."""
    earlier, later = before.event.updated_at, after.event.updated_at if after else None
    return later is not None and (earlier is None or later > earlier)


def _overtaken(seen: EventView, now: EventView, wanted: Mapping[str, object]) -> tuple[str, ...]:
    """Fields that are about to be overwritten and that somebody else changed meanwhile."""
    before, after = facts(seen.event), facts(now.event)
    told = {"name", "scheduled.time", "parent_id"}  # `differences` says these
    names = [name for name in wanted if name in before and name not in told and before[name] != after[name]]
    return tuple(f"somebody else changed {name}" for name in names)


def _moment(at: datetime) -> str:
    return f"{at:%d %b %Y %H:%M:%S}Z"
