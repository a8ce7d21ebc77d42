"""Operations on meeting rooms and their relay profiles, their forms, and edits that wait until a relay ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from livedeck.client import NotFound, RelayDraft, RelayProfile, Room, RoomDraft
from livedeck.monitor import CachedList, Severity
from livedeck.operations.diff import ParsedForm, change_lines
from livedeck.operations.operation import (
    Confirmation,
    ConfirmLevel,
    Conflicts,
    CreateFromForm,
    DeleteOperation,
    EditOperation,
    Operation,
    Platform,
    SendContext,
    Target,
    conflict_lines,
    newest_rows,
)
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormResult, FormSchema, Referent, draft_maker
from livedeck.presentation.rooms import ACTIVE, EMPTY_STATUSES, MAX_RELAYS, display_name, relay_profiles
from livedeck.text import addresses, values
from livedeck.text.segments import Segment, StyleRole

TOO_MANY_PROFILES = 400289
"""Platform's code for more profiles than a room allows (platform-api.md, "Error codes")."""

ROOM_TYPES = ("permanent_meeting", "instant_meeting")

ServiceOf = Callable[[str], str]
"""Function from an address to the name of its streaming platform."""


def relay_form(service_of: ServiceOf) -> FormSchema[RelayDraft]:
    """Return the form of a profile.

    `service_of`: names the platform of a typed address, for the hint below the field.
    """
    return FormSchema(
        (
            Field("name", "Name", required=True, hint="1 to 128 characters"),
            Field(
                "url",
                "Address",
                required=True,
                hint="rtmp:// or rtmps://, without the key",
                describe=lambda url: f"platform {service_of(url)}",
                is_long=True,
            ),
            Field("stream_key", "Stream key", FieldKind.HIDDEN, required=True, hint="never shown"),
        ),
        draft_maker(RelayDraft),
        noun="relay profile",
    )


def room_form(service_of: ServiceOf) -> FormSchema[RoomDraft]:
    """Return the form of a new room with its profiles."""
    return FormSchema(
        (
            Field("name", "Name", required=True),
            Field(
                "owner_id",
                "Owner",
                FieldKind.REFERENCE,
                required=True,
                hint="a user of the workspace",
                referent=Referent.USER,
            ),
            Field("type", "Type", FieldKind.CHOICE, required=True, choices=ROOM_TYPES),
            Field(
                "restreams",
                "",
                FieldKind.ROWS,
                section="Relay profiles (can only be created with the room)",
                row_schema=relay_form(service_of),
                max_rows=MAX_RELAYS,
            ),
        ),
        draft_maker(RoomDraft),
        sample={"owner_id": "-", "name": "-"},
        field_by_code={TOO_MANY_PROFILES: "restreams"},
    )


def relay_entries(profile: RelayProfile) -> FieldValues:
    """Return a profile as entries of its form."""
    return {"name": profile.name or "", "url": profile.url or "", "stream_key": profile.stream_key or ""}


def service_for(profile: RelayProfile, service_of: ServiceOf) -> ServiceOf:
    """Return a ServiceOf that returns the stored platform of the profile for its own address.

    For other addresses, it returns the result of `service_of`.
    """

    def service(url: str) -> str:
        own = profile.service if url == profile.url else None
        return values.safe(own or service_of(url), 20)

    return service


@dataclass(frozen=True, slots=True)
class RoomTarget:
    """Room as the person saw it when they requested the operation."""

    target: Target
    room: Room

    @classmethod
    def of(cls, room: Room, as_of: datetime | None = None, seq: int = 0) -> RoomTarget:
        """Make a target from a room in the snapshot with the number `seq`. `as_of`: None if the room was just read."""
        state = f"{values.safe(room.status or values.UNKNOWN, 20)}{_as_of(as_of)}"
        return cls(Target("room", room.id, display_name(room)[:60], state, seq), room)


@dataclass(frozen=True, slots=True)
class RelayTarget:
    """Relay profile of a room as the person saw it when they requested the operation."""

    target: Target
    room: Room
    profile: RelayProfile

    @classmethod
    def of(cls, room: Room, profile: RelayProfile, as_of: datetime | None = None, seq: int = 0) -> RelayTarget:
        """Make a target from a profile in the snapshot with the number `seq`. `as_of`: None if it was just read."""
        state = f"a relay profile of {display_name(room)[:60]}{_as_of(as_of)}"
        return cls(Target("relay profile", profile.id, display_name(profile)[:60], state, seq), room, profile)


def _as_of(as_of: datetime | None) -> str:
    return f", as of {as_of:%H:%M:%S}Z" if as_of else ""


NewestRooms = tuple[Room, ...]


@dataclass(frozen=True, slots=True)
class CreateRoom(CreateFromForm[Room]):
    """Create a room with its profiles."""

    name = "room.create"
    audit_name = "room.new"
    verb = "create"
    past = "created"
    kind = "room"
    help = "Create a room with up to 15 relay profiles, all or nothing"
    schema = room_form(lambda _: values.UNKNOWN)
    reads_newest = True

    form: ParsedForm[RoomDraft]

    async def read(self, platform: Platform) -> NewestRooms:
        return newest_rows(await platform.api.rooms.list(per_page=100, order="created_at.desc"))

    async def send(self, context: SendContext[NewestRooms], /) -> Room:
        return await context.api.rooms.create(self.form.draft)

    def is_like(self, item: Room, /) -> bool:
        draft = self.form.draft
        profiles = [_sent_fields(profile) for profile in item.restreams or ()]
        wanted = [_sent_fields(profile) for profile in draft.restreams]
        return (item.name, item.type) == (draft.name, draft.type) and sorted(profiles, key=repr) == sorted(
            wanted, key=repr
        )


def _sent_fields(profile: RelayProfile | RelayDraft) -> tuple[object, ...]:
    return profile.name, (profile.url or "").strip().rstrip("/"), profile.stream_key


@dataclass(frozen=True, slots=True)
class RoomOperation(Operation[Room]):
    """Change of an existing room."""

    kind = "room"

    room: RoomTarget

    @property
    def target(self) -> Target:
        return self.room.target

    @property
    def seen(self) -> Room:
        return self.room.room

    async def read(self, platform: Platform) -> Room:
        return await platform.api.rooms.get(self.target.id)


class DeleteRoom(DeleteOperation[Room], RoomOperation):
    """Delete a room with its relay profiles, which ends the room's meeting."""

    name = "room.delete"
    level = ConfirmLevel.TYPE_NAME
    help = "Delete the room: the meeting and its relays end, its profiles are lost"

    def conflicts(self, before: Room, now: Room, /) -> Conflicts:
        texts = []
        if before.name != now.name:
            texts.append(f'its name was "{display_name(before)[:60]}" and is "{display_name(now)[:60]}" now')
        if before.status != now.status:
            was, is_ = (values.safe(room.status or values.UNKNOWN, 20) for room in (before, now))
            texts.append(f"it was {was} and is {is_} now")
        old, new = relay_profiles(before), relay_profiles(now)
        if [profile.id for profile in old] != [profile.id for profile in new]:
            texts.append(f"it had {len(old)} relay profiles and has {len(new)} now")
        return tuple(texts)

    def confirmation(self, current: Room, conflicts: Conflicts, /) -> Confirmation:
        title = display_name(current)[:60]
        names = ", ".join(display_name(profile)[:40] for profile in relay_profiles(current))
        gone = (
            f"Its relay profiles are deleted for good, with their keys: {names}."
            if names
            else "It has no relay profiles."
        )
        effect: tuple[Segment, ...] = (
            ("Everybody inside is removed, and every running relay stops.", StyleRole.TEXT),
            (gone, StyleRole.TEXT),
            ("A single profile cannot be deleted: this deletes the whole room.", StyleRole.DIM),
        )
        level = ConfirmLevel.ASK if current.status in EMPTY_STATUSES else ConfirmLevel.TYPE_NAME
        lines = (*conflict_lines(self.target, conflicts), *effect)
        return Confirmation(f'Delete the room "{title}"?', lines, "Delete", level)

    def real_name(self, current: Room, /) -> str:
        return current.name or ""

    async def send(self, context: SendContext[Room], /) -> None:
        await context.api.rooms.delete(self.target.id)


@dataclass(frozen=True, slots=True)
class EditRelay(EditOperation[RelayProfile]):
    """Change fields of a relay profile.

    `service_of`: names the platform of an address; the name is never sent. `reason`: first lines of a confirmation
    without conflicts.
    """

    name = "relay.edit"
    kind = "relay profile"
    help = "Change name, address or stream key of a relay profile; the relay uses them from its next start"
    schema = relay_form(lambda _: values.UNKNOWN)

    relay: RelayTarget
    form: ParsedForm[RelayDraft]
    service_of: ServiceOf
    reason: tuple[Segment, ...] = ()

    @property
    def target(self) -> Target:
        return self.relay.target

    @property
    def seen(self) -> RelayProfile:
        return self.relay.profile

    async def read(self, platform: Platform) -> RelayProfile:
        room = await platform.api.rooms.get(self.relay.room.id)
        found = next((profile for profile in room.restreams or () if profile.id == self.target.id), None)
        if found is None:
            text = f"get relay profile {self.target.name}: its room no longer has it"
            raise NotFound(text, status=404, code=404404)  # as the platform says it about a profile
        return found

    def conflicts(self, before: RelayProfile, now: RelayProfile, /) -> Conflicts:
        """Describe the fields that another person has changed. Never shows a stream key."""
        facts = {"name": "name", "url": "address"}
        texts = [
            f'its {fact} was "{_shown(getattr(before, field))}" and is "{_shown(getattr(now, field))}" now'
            for field, fact in facts.items()
            if getattr(before, field) != getattr(now, field)
        ]
        return (*texts, *(("its stream key has changed",) if before.stream_key != now.stream_key else ()))

    def confirmation(self, current: RelayProfile, conflicts: Conflicts, /) -> Confirmation:
        lines: tuple[Segment, ...] = (
            *(self.reason if self.reason and not conflicts else conflict_lines(self.target, conflicts)),
            (self.effect(current), StyleRole.TEXT),
            *change_lines(self.changes),
            *self._service_change(current),
            ("The change applies at the next start of the relay in the room.", StyleRole.TEXT),
        )
        return Confirmation(f'Save "{display_name(current)[:60]}"?', lines, "Save")

    def _service_change(self, current: RelayProfile) -> tuple[Segment, ...]:
        url = self.form.values.get("url")
        before, after = values.safe(current.service or values.UNKNOWN, 20), self.service_of(url) if url else ""
        if not url or before == after:
            return ()
        return ((f"Platform (from the address):  {before}  →  {after}", StyleRole.TEXT),)

    def entries(self, current: RelayProfile, /) -> FieldValues:
        return relay_entries(current)

    def unlike(self, current: RelayProfile, /) -> tuple[str, ...]:
        """Return the fields that differ. Ignores spaces and final slashes that the platform removes from an address."""
        names = EditOperation.unlike(self, current)
        sent = str(self.form.values.get("url", "")).replace(" ", "").rstrip("/")
        return tuple(name for name in names if name != "url" or (current.url or "").rstrip("/") != sent)

    def read_of_answer(self, answer: object, /) -> RelayProfile | None:
        return answer if isinstance(answer, RelayProfile) else None

    async def send(self, context: SendContext[RelayProfile], /) -> RelayProfile:
        return await context.api.relays.update(self.relay.room.id, self.target.id, self.form.draft)


def _shown(text: str | None) -> str:
    """Return a name or an address with its secret parts masked."""
    return addresses.show_in(values.safe(text or "", 200))[:60]


@dataclass(frozen=True, slots=True)
class DeferredEdit:
    """Edit of a profile that waits for the end of its relay. It may contain a stream key.

    `since`: time at which it was refused because of the relay. `was_active`: a list read after `since` showed the room
    as active. Only then can a later list show that the relay has ended. `is_missing`: the newest list lacks the room.
    """

    relay: RelayTarget
    result: FormResult
    since: datetime
    was_active: bool = False
    is_missing: bool = False


class DeferredEdits:
    """Waiting edits. They exist only in memory, because they may contain stream keys."""

    def __init__(self) -> None:
        self._waiting: dict[str, DeferredEdit] = {}
        self._ready: list[str] = []

    @property
    def waiting(self) -> Mapping[str, DeferredEdit]:
        """Id of a profile -> its waiting edit, oldest first."""
        return self._waiting

    def of_room(self, room: Room | None) -> DeferredEdit | None:
        """Return the oldest waiting edit of the room, or None."""
        return next((edit for edit in self._waiting.values() if room and edit.relay.room.id == room.id), None)

    def defer(self, edit: DeferredEdit) -> None:
        """Let an edit wait until its room is no longer active."""
        self._waiting[edit.relay.profile.id] = replace(edit, was_active=edit.relay.room.status == ACTIVE)

    def drop(self, profile_id: str) -> None:
        """Drop the waiting edit of a profile, if there is one."""
        self._waiting.pop(profile_id, None)

    def check_ready(self, rooms: CachedList[Room]) -> Iterator[tuple[str, Severity]]:
        """Mark edits as ready if their room was active and no longer is. Yield a message with its severity for each.

        A list without the room proves nothing: the edit goes on waiting, and a message says so once.
        """
        for profile_id, edit in list(self._waiting.items()):
            if rooms.as_of is None or rooms.as_of < edit.since:
                continue
            room = rooms.find(edit.relay.room.id)
            if room is None:
                self._waiting[profile_id] = replace(edit, is_missing=True)
                if not edit.is_missing:
                    text = f"the newest list lacks the room of {edit.relay.target.name}; its edit goes on waiting"
                    yield text, Severity.WARNING
            elif edit.was_active and room.status != ACTIVE:
                self._waiting[profile_id] = replace(edit, was_active=False, is_missing=False)
                self._ready.append(profile_id)
                text = f"the waiting edit of {edit.relay.target.name} can be applied"
                yield f"{display_name(room)[:60]} is no longer active: {text}", Severity.INFO
            elif room.status == ACTIVE:
                self._waiting[profile_id] = replace(edit, was_active=True, is_missing=False)

    def next_ready(self) -> str | None:
        """Return the id of the next profile with an edit that is ready, or None. Each edit is returned once."""
        while self._ready:
            profile_id = self._ready.pop(0)
            if profile_id in self._waiting:
                return profile_id
        return None


OPERATIONS = (CreateRoom, DeleteRoom, EditRelay)
