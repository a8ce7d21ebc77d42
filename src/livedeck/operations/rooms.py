"""What can be done with a meeting room and a relay profile of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from livedeck.client import Api, NotFound, Progress, RelayDraft, RelayProfile, Room, RoomDraft
from livedeck.monitor import RoomsState, Severity
from livedeck.operations.diff import Change, lines
from livedeck.operations.operation import Operation, Target
from livedeck.operations.schema import Field, FieldValues, FormSchema, Kind, draft_of
from livedeck.presentation.rooms import ACTIVE, EMPTY_STATUSES, MAX_RELAYS, WaitingEdit, display_name, relay_profiles
from livedeck.text import values
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirmation, short_name
from livedeck.ui.kit.dialogs.form import FormResult

TOO_MANY = 400289

"""The platform's code for more profiles than a room takes (platform-api.md, 7)."""


TYPES = ("permanent_meeting", "instant_meeting")


Service = Callable[[str], str]

"""The platform that an address belongs to."""


def relay(service: Service) -> FormSchema:
    """One profile: all that can be sent of it. `service` is the platform's to work out, and said as one types."""
    return FormSchema(
        (
            Field("name", "Name", required=True, hint="1 to 128 characters"),
            Field(
                "url",
                "Address",
                required=True,
                hint="rtmp:// or rtmps://, without the key",
                means=lambda url: f"platform {service(url)}",
            ),
            Field("stream_key", "Stream key", Kind.HIDDEN, required=True, hint="never shown"),
        ),
        draft_of(RelayDraft, {}),
        noun="relay profile",
    )


def room(service: Service) -> FormSchema:
    """A room and its profiles, which are made together."""
    return FormSchema(
        (
            Field("name", "Name", required=True),
            Field("owner_id", "Owner", required=True, hint="id of a user of the workspace"),
            Field("type", "Type", Kind.CHOICE, required=True, choices=TYPES),
            Field(
                "restreams",
                "",
                Kind.ROWS,
                section="Relay profiles: made now or never, none can be added later",
                of=relay(service),
                most=MAX_RELAYS,
            ),
        ),
        draft_of(RoomDraft, {}),
        least={"owner_id": "-", "name": "-"},
        codes={TOO_MANY: "restreams"},
    )


def entries_of(profile: RelayProfile) -> FieldValues:
    """The profile as its form shows it."""
    return {"name": profile.name or "", "url": profile.url or "", "stream_key": profile.stream_key or ""}


Newest = tuple[Room, ...]

"""The newest rooms of the workspace."""


@dataclass(frozen=True, slots=True)
class RoomSubject:
    """A room frozen when the key was pressed, and the way to see it again."""

    api: Api
    room: Room
    target: Target

    @classmethod
    def of(cls, api: Api, room: Room, as_of: datetime | None, seq: int) -> RoomSubject:
        """That room as it is shown."""
        shown = f"{values.safe(room.status or values.UNKNOWN, 20)}{_as_of(as_of)}"
        return cls(api, room, Target("room", room.id, display_name(room)[:60], shown, seq))

    async def look(self) -> Room:
        """The room as the platform has it now. Raises ApiError."""
        return await self.api.rooms.get(self.room.id)


@dataclass(frozen=True, slots=True)
class RelaySubject:
    """A relay profile of that room, likewise."""

    api: Api
    room: Room
    profile: RelayProfile
    target: Target

    @classmethod
    def of(cls, api: Api, room: Room, profile: RelayProfile, as_of: datetime | None, seq: int) -> RelaySubject:
        """That profile as it is shown."""
        shown = f"a relay profile of {display_name(room)[:60]}{_as_of(as_of)}"
        return cls(api, room, profile, Target("relay profile", profile.id, display_name(profile)[:60], shown, seq))

    def service_of(self, url: str) -> str:
        """The platform that an address belongs to: of its own one the platform's word, else what will be worked out."""
        own = self.profile.service if url == self.profile.url else None
        return values.safe(own or self.api.service_of(url), 20)

    async def look(self) -> RelayProfile:
        """The profile as the platform has it now. Raises NotFound where its room has no such any more, ApiError."""
        room = await self.api.rooms.get(self.room.id)
        found = next((one for one in room.restreams or () if one.id == self.profile.id), None)
        if found is None:
            raise NotFound(f"get relay profile {self.target.name}: its room has no such any more", status=404)
        return found


def _as_of(moment: datetime | None) -> str:
    return f", as of {moment:%H:%M:%S}Z" if moment else ""


def create(api: Api, draft: RoomDraft, edits: tuple[Change, ...]) -> Operation[Newest]:
    """Make it with its profiles. Whether it was made shows by a room of that name that was not there before."""

    async def look() -> Newest:
        return (await api.rooms.list(per_page=100, order="created_at.desc")).items

    async def send(_: Progress) -> Room:
        return await api.rooms.create(draft)

    def made(before: Newest, after: Newest | None) -> bool:
        known = {room.id for room in before}
        return any(room.id not in known and room.name == draft.name for room in after or ())

    target = Target("room", "", values.safe(draft.name, 60))
    return Operation("room.new", "create", target, (), look, lambda *_: (), lambda *_: None, send, made, edits)


def delete(one: RoomSubject) -> Operation[Room]:
    """End it, with all that hangs on it."""

    async def send(_: Progress) -> None:
        await one.api.rooms.delete(one.room.id)

    def ask(room: Room, changes: tuple[str, ...]) -> Confirmation:
        title = display_name(room)[:60]
        named = ", ".join(display_name(profile)[:40] for profile in relay_profiles(room))
        gone = (
            f"Its relay profiles are gone for good, with their keys: {named}." if named else "It has no relay profiles."
        )
        body: tuple[Segment, ...] = (
            ("Everybody inside is put out, and every relay that runs is stopped.", StyleRole.TEXT),
            (gone, StyleRole.TEXT),
            ("There is no way to delete a single profile: this is the whole room.", StyleRole.DIM),
        )
        word = "" if room.status in EMPTY_STATUSES else short_name(title, room.id)
        return Confirmation(f'Delete the room "{title}"?', (*_news(one.target, changes), *body), "Delete", word)

    return Operation(
        "room.delete", "delete", one.target, one.room, one.look, _unlike, ask, send, lambda _, after: after is None
    )


def update(
    one: RelaySubject, draft: RelayDraft, edits: tuple[Change, ...], why: tuple[Segment, ...] = ()
) -> Operation[RelayProfile]:
    """Change what the draft sets. `why`: what is said before all else."""
    wanted = draft.body()

    async def send(_: Progress) -> RelayProfile:
        return await one.api.relays.update(one.room.id, one.profile.id, draft)

    def ask(profile: RelayProfile, changes: tuple[str, ...]) -> Confirmation:
        body: tuple[Segment, ...] = (
            ("This is sent and nothing else:", StyleRole.TEXT),
            *lines(edits),
            *_moves(one.api, profile, wanted),
            ("It applies at the next start of the relay, which happens inside the room.", StyleRole.TEXT),
        )
        news = why if why and not changes else _news(one.target, changes)
        return Confirmation(f'Save "{display_name(profile)[:60]}"?', (*news, *body), "Save")

    def updated(_: RelayProfile, after: RelayProfile | None) -> bool:
        return after is not None and all(getattr(after, field) == value for field, value in wanted.items())

    return Operation("relay.edit", "edit", one.target, one.profile, one.look, _otherwise, ask, send, updated, edits)


def _moves(api: Api, profile: RelayProfile, wanted: Mapping[str, object]) -> tuple[Segment, ...]:
    """The platform follows from the address: it is never sent."""
    if "url" not in wanted:
        return ()
    was, will = values.safe(profile.service or values.UNKNOWN, 20), api.service_of(str(wanted["url"]))
    return ((f"Platform, worked out from the address:  {was}  →  {will}", StyleRole.TEXT),) if was != will else ()


def _news(target: Target, changes: tuple[str, ...]) -> tuple[Segment, ...]:
    if changes:
        return tuple((f"▲ Since you looked: {change}.", StyleRole.WARNING) for change in changes)
    return ((f"It is {target.state}.", StyleRole.TEXT),)


def _unlike(seen: Room, now: Room) -> tuple[str, ...]:
    """What is otherwise with a room, for whoever is about to end it."""
    texts = []
    if seen.name != now.name:
        texts.append(f'its name was "{display_name(seen)[:60]}" and is "{display_name(now)[:60]}" now')
    if seen.status != now.status:
        was, is_ = (values.safe(room.status or values.UNKNOWN, 20) for room in (seen, now))
        texts.append(f"it was {was} and is {is_} now")
    if [one.id for one in relay_profiles(seen)] != [one.id for one in relay_profiles(now)]:
        texts.append(f"it had {len(relay_profiles(seen))} relay profiles and has {len(relay_profiles(now))} now")
    return tuple(texts)


def _otherwise(seen: RelayProfile, now: RelayProfile) -> tuple[str, ...]:
    """What somebody else has changed of a profile; a key is never told."""
    shown = {"name": "name", "url": "address"}
    texts = [
        f'its {word} was "{values.safe(getattr(seen, field) or "", 60)}"'
        f' and is "{values.safe(getattr(now, field) or "", 60)}" now'
        for field, word in shown.items()
        if getattr(seen, field) != getattr(now, field)
    ]
    return (*texts, *(("its stream key is another one now",) if seen.stream_key != now.stream_key else ()))


@dataclass(frozen=True, slots=True)
class DeferredEdit:
    """One of them. It lives as long as the deck: it may hold a key.

    `since`: of the refusal. `active`: whether the room was seen active since; only then does its end tell anything.
    """

    one: RelaySubject
    filled: FormResult
    since: datetime
    active: bool = False


class DeferredEdits:
    """`waiting`: by the id of the profile, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, DeferredEdit] = {}
        self._offered: list[str] = []

    @property
    def waiting(self) -> Mapping[str, DeferredEdit]:
        """What waits now."""
        return self._waiting

    def keep(self, one: RelaySubject, filled: FormResult, now: datetime) -> None:
        """Let that edit wait until the room is seen to have ended its relays."""
        self._waiting[one.profile.id] = DeferredEdit(one, filled, now, one.room.status == ACTIVE)

    def drop(self, profile_id: str) -> None:
        """That edit waits no longer."""
        self._waiting.pop(profile_id, None)

    def heed(self, state: RoomsState) -> Iterator[tuple[str, Severity]]:
        """Look whether a relay is over: its room was active, and is not any more. Gives what is to be told."""
        for key, one in list(self._waiting.items()):
            if state.as_of is None or state.as_of < one.since:
                continue
            room = state.find(one.one.room.id)
            if room is None:
                self.drop(key)
                yield f"{one.one.target.name}: its room is gone, and with it the edit that waited", Severity.WARNING
            elif one.active and room.status != ACTIVE:
                self._waiting[key] = replace(one, active=False)
                self._offered.append(key)
                edit = f"the edit of {one.one.target.name} that waits can be applied"
                yield f"{display_name(room)[:60]} is no longer active: {edit}", Severity.INFO
            elif room.status == ACTIVE:
                self._waiting[key] = replace(one, active=True)

    def offer(self) -> str | None:
        """The next edit to be asked about, once: the id of its profile."""
        while self._offered:
            key = self._offered.pop(0)
            if key in self._waiting:
                return key
        return None

    def shown(self, room: Room | None, key: str) -> WaitingEdit | None:
        """The edit that waits longest of those of that room, and the key that applies it."""
        known = [one for one in self._waiting.values() if room and one.one.room.id == room.id]
        return WaitingEdit(known[0].one.target.name, known[0].since, key) if known else None
