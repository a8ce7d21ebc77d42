"""Plan of a show file: the changes that make the platform match the file. Reads only.

An object is found by its id, or else by its exact name; an event also by its project or folder. The plan fails if a
list is incomplete: then nothing proves that an object is missing or that its name is unique. An empty list does not
prove that an object is missing either: the plan then states this doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import click

from livedeck.cli.objects.changing import changed_form
from livedeck.cli.objects.entries import file_entries
from livedeck.cli.show.file import Item, Show
from livedeck.cli.show.posters import SetPosters
from livedeck.client import Api, Event, Invalid, NotFound, Poster, RelayProfile, Room, Subtitle, Unreadable
from livedeck.environment import expand_user
from livedeck.monitor import Video
from livedeck.operations.commands import COMMANDS
from livedeck.operations.diff import ParsedForm
from livedeck.operations.events import FINISHED, PENDING, EventView, SetEventPoster
from livedeck.operations.nouns import NOUNS, Found, Noun, Rows
from livedeck.operations.operation import EditOperation, FieldOperation, Operation
from livedeck.operations.posters import parse_position
from livedeck.presentation.rooms import relay_profiles
from livedeck.text import addresses, times
from livedeck.text.outside import shown
from livedeck.text.times import TimeReference

_OWN = frozenset({"id", "type", "stream", "poster", "subtitles"})
"""Fields of the file that the form of a change lacks."""

_NO_FORM: ParsedForm[Any] = ParsedForm({}, None, {}, ())

Action = Literal["create", "change", "delete", "blocked"]

CREATE: Final = "create"
CHANGE: Final = "change"
DELETE: Final = "delete"
BLOCKED: Final = "blocked"
"""Action of a step if no change can remove its difference."""


@dataclass(frozen=True, slots=True)
class Step:
    """Difference between file and platform. `title`: object in words. `text`: effect, or reason of BLOCKED.

    `item`: object of the file; None for a deletion. `siblings`: objects of the same kind that were read.
    """

    action: Action
    title: str
    text: str = ""
    operation: Operation[Any] | None = None
    item: Item | None = None
    siblings: tuple[Any, ...] = ()

    @property
    def can_repeat(self) -> bool:
        """True if the change only sets values, so that sending it again has no further effect."""
        return isinstance(self.operation, FieldOperation | SetEventPoster)


@dataclass(slots=True)
class Plan:
    """Plan of a show file.

    Attributes:
        steps: Steps in the order in which to send them.
        same: Number of objects that match the file.
        doubt: Why the objects to create may already exist; empty if they cannot.
        others: Deletions of events and tracks that the file lacks, although it declares their project, folder or video.
    """

    steps: list[Step] = field(default_factory=list)
    same: int = 0
    doubt: str = ""
    others: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Planner:
    """Makes plans. `now`: time of the plan."""

    api: Api
    show: Show
    posters: SetPosters
    now: datetime
    _claimed: dict[str, Item] = field(default_factory=dict)

    async def plan(self, items: Sequence[Item]) -> Plan:
        """Return the changes of these objects. Raises UsageError for an ambiguous object, and ApiError."""
        plan, listed = Plan(), {kind: Rows() for kind in ("event", "room")}
        for kind in listed:
            if any(item.kind == kind for item in items) or (kind == "event" and self.show.parent_id):
                listed[kind] = await NOUNS[kind].read_all(self.api, None)
        self._claimed.clear()
        for item in items:
            rows = listed.get(item.kind, Rows())
            current = Video(item.id) if item.kind == "video" else await self._find(item, rows)
            steps = [step async for step in self._steps(item, current, rows, plan)]
            plan.steps += steps
            plan.same += not steps
        new = {step.item.kind for step in plan.steps if step.action == CREATE and step.item}
        plan.doubt = "; ".join(filter(None, (self._doubt(kind, rows) for kind, rows in listed.items() if kind in new)))
        claimed = {*self._claimed}
        if self.show.parent_id:
            need_whole(listed["event"], NOUNS["event"])
            others = (event for event in listed["event"].items if event.parent_id == self.show.parent_id)
            plan.others += [self._deletion("event", event) for event in others if event.id not in claimed]
        return plan

    def _doubt(self, kind: str, rows: Rows) -> str:
        """Return why a list does not prove that an object is missing; empty if it does.

        A list proves nothing if it is empty, or lacks an object that was found by its id.
        """
        ids = {row.id for row in rows.items}
        lacks = [item.title for identity, item in self._claimed.items() if item.kind == kind and identity not in ids]
        if lacks:
            return f"the {kind} list lacks {lacks[0]}, which still exists"
        return "" if ids else f"the {kind} list is empty, which does not prove that no {kind} exists"

    async def _find(self, item: Item, rows: Rows) -> Any:
        """Find the object by its id or name, and read it by its id, because a list may lack fields.

        Returns None if the object does not exist.
        """
        noun, parent = NOUNS[item.kind], item.content.get("parent_id") if item.kind == "event" else None
        if item.id:
            identity = item.id
        else:
            named = [row for row in rows.items if noun.called(row).strip() == item.name]
            same = [row for row in named if not parent or row.parent_id == parent]
            if len(same) > 1:
                ids = ", ".join(shown(row.id) for row in same)
                raise item.fault(f"{len(same)} {noun.noun}s have this name ({ids}): give the id of the one you mean")
            need_whole(rows, noun)
            if not same:
                return None
            identity = same[0].id
        if first := self._claimed.get(identity):
            raise item.fault(f"this is the same object as in {first.where}")
        self._claimed[identity] = item
        try:
            return await (self.api.events if item.kind == "event" else self.api.rooms).get(identity)
        except NotFound:
            raise item.fault(f"the platform has no {noun.noun} with this id") from None

    async def _steps(self, item: Item, current: Any, rows: Rows, plan: Plan) -> Any:
        if item.kind == "video":
            async for step in self._video(item, current, plan):
                yield step
        elif current is None:
            form = self._form(item, f"{item.kind}.create", Found(self.api), _fields(item, "type"))
            yield Step(CREATE, item.title, _later(item), await self._make(f"{item.kind}.create", form), item)
        else:
            steps = self._event(item, current) if item.kind == "event" else self._room(item, current)
            async for step in steps:
                yield Step(step.action, step.title, step.text, step.operation, item, rows.items)

    async def _event(self, item: Item, event: Event) -> Any:
        wanted = item.content.get("type")
        if wanted not in {None, event.type}:
            yield Step(BLOCKED, item.title, f"its type is {shown(str(event.type))}, and a type cannot be changed")
        _check_rows(item)
        if step := await self._edit(item.title, item, "event.edit", Found(self.api, item=event), _fields(item)):
            yield step
        if begins := (item.content.get("stream") or {}).get("started_at"):
            at = times.parse(begins, TimeReference(self.now))
            if command := _stream_command(event, at, self.now):
                found = Found(self.api, item=event)
                form = self._form(item, command, found, {"started_at": begins})
                yield Step(CHANGE, item.title, "", await self._make(command, form, found))
            elif event.stream and event.stream.status != PENDING and not event.stream.finished_at and at > self.now:
                yield Step(BLOCKED, item.title, "it is on air, so its stream is not moved")
        if (url := (item.content.get("poster") or {}).get("url")) and not self.posters.has(event, str(url)):
            found = Found(self.api, item=event)
            form = self._form(item, "event.poster", found, {"poster_url": url})
            poster = await self._make("event.poster", form, found)
            yield Step(CHANGE, item.title, poster.effect(None), poster)

    async def _room(self, item: Item, room: Room) -> Any:
        if item.name and item.name != (room.name or "").strip():
            yield Step(BLOCKED, item.title, f"its name is {shown(room.name or '')}, and a room cannot be renamed")
        if item.content.get("type") not in {None, room.type}:
            yield Step(BLOCKED, item.title, f"its type is {shown(str(room.type))}, and a type cannot be changed")
        if "restreams" not in item.content:
            return
        _check_rows(item)
        profiles, left = relay_profiles(room), {profile.id: profile for profile in relay_profiles(room)}
        for row in item.content["restreams"]:
            profile = _profile(profiles, row)
            if profile is None:
                text = f'it has no relay profile "{shown(str(row.get("name")))}", and none can be added to a room'
                yield Step(BLOCKED, item.title, text)
                continue
            left.pop(profile.id, None)
            fields = {name: value for name, value in row.items() if name != "id"}
            title = f'relay profile "{shown(profile.name or profile.id)}" of {item.title}'
            if step := await self._edit(title, item, "relay.edit", Found(self.api, room, profile), fields):
                yield step
        for profile in left.values():
            text = (
                f'its relay profile "{shown(profile.name or profile.id)}" is not in the file, and none can be removed'
            )
            yield Step(BLOCKED, item.title, text)

    async def _video(self, item: Item, video: Video, plan: Plan) -> Any:
        frame = (item.content.get("poster") or {}).get("from_time")
        if frame is not None:
            try:
                at = parse_position(str(frame))
            except ValueError as error:
                raise item.fault(f"poster.from_time {error}") from None
            rows = await NOUNS["poster"].read_all(self.api, video)
            need_whole(rows, NOUNS["poster"])
            made = [poster for poster in rows.items if _is_at(poster, at)]
            if not made:
                form = self._form(item, "poster.create", Found(self.api, video), {"from_time": str(frame)})
                make = await self._make("poster.create", form, Found(self.api, video))
                yield Step(CREATE, f"poster of {item.title}", "the new poster is then shown", make, item)
            elif not any(poster.active for poster in made):
                found = Found(self.api, video, made[-1])
                shows = await self._make("poster.activate", _NO_FORM, found)
                yield Step(CHANGE, f"poster of {item.title}", "it is shown", shows, item)
        if "subtitles" not in item.content:
            return
        rows = await NOUNS["subtitle"].read_all(self.api, video)
        need_whole(rows, NOUNS["subtitle"])
        wanted = item.content["subtitles"]
        for row in wanted:
            if any(_is_track(track, row) for track in rows.items):
                continue
            if not row.get("file"):
                raise item.fault(f"subtitle {shown(str(row.get('language')))}: the video has none; name its file")
            path = self.show.folder / expand_user(str(row["file"]))
            found = Found(self.api, video)
            form = self._form(item, "subtitle.upload", found, {**row, "file": str(path)})
            upload = await self._make("subtitle.upload", form, found)
            yield Step(CREATE, f"subtitle {shown(str(row['language']))} of {item.title}", "", upload, item)
        for track in rows.items:
            if not any(_is_track(track, row) for row in wanted):
                plan.others.append(self._deletion("subtitle", track, video))

    def _deletion(self, name: str, found: Any, video: Video | None = None) -> Step:
        """Return the deletion of an object that the file does not declare."""
        noun = NOUNS[name]
        title = f'{noun.noun} "{shown(noun.called(found) or found.id)}" ({shown(found.id)})'
        if name == "event" and EventView(found).is_on_air:
            return Step(BLOCKED, title, "it is not in the file, but on air, so it is not deleted; end the event first")
        operation = COMMANDS[f"{name}.delete"].make(Found(self.api, video, found), _NO_FORM)
        assert isinstance(operation, Operation)
        return Step(DELETE, title, "it is not in the file", operation)

    async def _edit(self, title: str, item: Item, command: str, found: Found, fields: Mapping[str, Any]) -> Step | None:
        """Return the change of an object's fields; None if the object has the values of the file."""
        form = self._form(item, command, found, fields)
        if form is None:
            return None
        operation = await self._make(command, form, found)
        assert isinstance(operation, EditOperation), command
        unlike = operation.unlike(operation.seen)  # without spellings that the platform changes
        if not unlike:
            return None
        form = self._form(item, command, found, fields, only=unlike)
        operation = await self._make(command, form, found)
        return Step(CHANGE, title, operation.target.state, operation)

    def _form(
        self, item: Item, command: str, found: Found, fields: Mapping[str, Any], only: Collection[str] = ()
    ) -> ParsedForm[Any] | None:
        """Return the filled form; None if the object has these values. Raises UsageError with the object's line.

        `only`: names of the fields to fill in; empty for all.
        """
        made = COMMANDS[command]
        schema = made.schema
        assert schema is not None, command
        try:
            initial = made.initial_values(found)
            entries = file_entries(schema, fields, initial)
            typed = {name: entry for name, entry in entries if not only or name in only}
            needed = [field.name for field in schema.fields if field.required] if made.is_new else []
            if missing := [name for name in needed if not typed.get(name, initial.get(name))]:
                raise item.fault(f"a new {made.noun.noun} needs {', '.join(missing)}")
            return changed_form(made, found, typed, lambda field: field.name)
        except Invalid as error:
            raise item.fault(str(error)) from None
        except click.UsageError as error:
            text = error.message.removeprefix("--")
            raise (error if error.message.startswith(item.where) else item.fault(text)) from None

    async def _make(self, command: str, form: ParsedForm[Any] | None, found: Found | None = None) -> Operation[Any]:
        assert form is not None, command
        made = COMMANDS[command].make(found or Found(self.api), form)
        return made if isinstance(made, Operation) else await made


def _fields(item: Item, *also: str) -> Mapping[str, Any]:
    """Return the declared fields of the form, and those in `also`."""
    return {name: value for name, value in item.content.items() if name not in _OWN or name in also}


def _later(item: Item) -> str:
    """Return the changes that follow a creation, as text."""
    begins, url = (
        (item.content.get(name) or {}).get(key) for name, key in (("stream", "started_at"), ("poster", "url"))
    )
    parts = [f"a stream at {begins}"] if begins else []
    parts += [f"its poster from {addresses.show(str(url))}"] if url else []
    return f"then {' and '.join(parts)}" if parts else ""


def need_whole(rows: Rows, noun: Noun) -> None:
    """Raise Unreadable for an incomplete list."""
    if gaps := rows.gaps(noun):
        raise Unreadable(f"read the show: every {noun.noun} is needed, and {'; '.join(gaps)}")


def _check_rows(item: Item) -> None:
    """Raise UsageError for rows with the same name and no ids."""
    names = Counter(row.get("name") for row in item.content.get("restreams") or () if not row.get("id"))
    if twice := [str(name) for name, count in names.items() if count > 1]:
        raise item.fault(f'two restreams are called "{shown(twice[0])}": give each its id, or another name')


def _profile(profiles: Iterable[RelayProfile], row: Mapping[str, Any]) -> RelayProfile | None:
    """Return the only relay profile with the row's id, or with its name if the row has no id; otherwise None."""
    key = "id" if row.get("id") else "name"
    found = [profile for profile in profiles if getattr(profile, key) == row.get(key)]
    return found[0] if len(found) == 1 else None


def _stream_command(event: Event, at: datetime, now: datetime) -> str:
    """Return the command that plans a stream of the event for the future time `at`.

    Empty if the stream is already planned for this time, or cannot be planned.
    """
    stream = event.stream
    begins = stream.started_at if stream else None
    if at <= now or (begins and abs(begins - at) < timedelta(seconds=1)):
        return ""
    if stream is None or stream.finished_at or stream.status == FINISHED:
        return "event.schedule"
    return "event.reschedule" if stream.status == PENDING else ""


def _is_at(poster: Poster, at: float) -> bool:
    return poster.from_time is not None and abs(poster.from_time - at) < 0.001


def _is_track(track: Subtitle, row: Mapping[str, Any]) -> bool:
    """Return whether a track has the language, description and file name of the row."""
    file = str(row.get("file") or "").rpartition("/")[2]
    named = not file or track.file_name == file
    return named and (track.language, track.description or "") == (row.get("language"), row.get("description") or "")
