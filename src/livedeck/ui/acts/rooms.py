"""What can be done with a meeting room and a relay profile of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from livedeck import wording
from livedeck.client import Api, NotFound, Progress, RelayDraft, RelayProfile, Room, RoomDraft
from livedeck.ui.acts.act import Act, Target
from livedeck.ui.dialogs.confirm import Question, short_name
from livedeck.ui.dialogs.edits import Change, lines
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Span
from livedeck.ui.renderables.room_rows import QUIET, name, profiles

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
        shown = f"{wording.safe(room.status or wording.UNKNOWN, 20)}{_as_of(as_of)}"
        return cls(api, room, Target("room", room.id, name(room)[:60], shown, seq))

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
        shown = f"a relay profile of {name(room)[:60]}{_as_of(as_of)}"
        return cls(api, room, profile, Target("relay profile", profile.id, name(profile)[:60], shown, seq))

    def service_of(self, url: str) -> str:
        """The platform that an address belongs to: of its own one the platform's word, else what will be worked out."""
        own = self.profile.service if url == self.profile.url else None
        return wording.safe(own or self.api.service_of(url), 20)

    async def look(self) -> RelayProfile:
        """The profile as the platform has it now. Raises NotFound where its room has no such any more, ApiError."""
        room = await self.api.rooms.get(self.room.id)
        found = next((one for one in room.restreams or () if one.id == self.profile.id), None)
        if found is None:
            raise NotFound(f"get relay profile {self.target.name}: its room has no such any more", status=404)
        return found


def _as_of(moment: datetime | None) -> str:
    return f", as of {moment:%H:%M:%S}Z" if moment else ""


def create(api: Api, draft: RoomDraft, edits: tuple[Change, ...]) -> Act[Newest]:
    """Make it with its profiles. Whether it was made shows by a room of that name that was not there before."""

    async def look() -> Newest:
        return (await api.rooms.list(per_page=100, order="created_at.desc")).items

    async def send(_: Progress) -> Room:
        return await api.rooms.create(draft)

    def made(before: Newest, after: Newest | None) -> bool:
        known = {room.id for room in before}
        return any(room.id not in known and room.name == draft.name for room in after or ())

    target = Target("room", "", wording.safe(draft.name, 60))
    return Act("room.new", "create", target, (), look, lambda *_: (), lambda *_: None, send, made, edits)


def delete(one: RoomSubject) -> Act[Room]:
    """End it, with all that hangs on it."""

    async def send(_: Progress) -> None:
        await one.api.rooms.delete(one.room.id)

    def ask(room: Room, changes: tuple[str, ...]) -> Question:
        title = name(room)[:60]
        named = ", ".join(name(profile)[:40] for profile in profiles(room))
        gone = (
            f"Its relay profiles are gone for good, with their keys: {named}." if named else "It has no relay profiles."
        )
        body: tuple[Span, ...] = (
            ("Everybody inside is put out, and every relay that runs is stopped.", Ink.TEXT),
            (gone, Ink.TEXT),
            ("There is no way to delete a single profile: this is the whole room.", Ink.DIM),
        )
        word = "" if room.status in QUIET else short_name(title, room.id)
        return Question(f'Delete the room "{title}"?', (*_news(one.target, changes), *body), "Delete", word)

    return Act(
        "room.delete", "delete", one.target, one.room, one.look, _unlike, ask, send, lambda _, after: after is None
    )


def update(
    one: RelaySubject, draft: RelayDraft, edits: tuple[Change, ...], why: tuple[Span, ...] = ()
) -> Act[RelayProfile]:
    """Change what the draft sets. `why`: what is said before all else."""
    wanted = draft.body()

    async def send(_: Progress) -> RelayProfile:
        return await one.api.relays.update(one.room.id, one.profile.id, draft)

    def ask(profile: RelayProfile, changes: tuple[str, ...]) -> Question:
        body: tuple[Span, ...] = (
            ("This is sent and nothing else:", Ink.TEXT),
            *lines(edits),
            *_moves(one.api, profile, wanted),
            ("It applies at the next start of the relay, which happens inside the room.", Ink.TEXT),
        )
        news = why if why and not changes else _news(one.target, changes)
        return Question(f'Save "{name(profile)[:60]}"?', (*news, *body), "Save")

    def updated(_: RelayProfile, after: RelayProfile | None) -> bool:
        return after is not None and all(getattr(after, field) == value for field, value in wanted.items())

    return Act("relay.edit", "edit", one.target, one.profile, one.look, _otherwise, ask, send, updated, edits)


def _moves(api: Api, profile: RelayProfile, wanted: Mapping[str, object]) -> tuple[Span, ...]:
    """The platform follows from the address: it is never sent."""
    if "url" not in wanted:
        return ()
    was, will = wording.safe(profile.service or wording.UNKNOWN, 20), api.service_of(str(wanted["url"]))
    return ((f"Platform, worked out from the address:  {was}  →  {will}", Ink.TEXT),) if was != will else ()


def _news(target: Target, changes: tuple[str, ...]) -> tuple[Span, ...]:
    if changes:
        return tuple((f"▲ Since you looked: {change}.", Ink.WARNING) for change in changes)
    return ((f"It is {target.state}.", Ink.TEXT),)


def _unlike(seen: Room, now: Room) -> tuple[str, ...]:
    """What is otherwise with a room, for whoever is about to end it."""
    texts = []
    if seen.name != now.name:
        texts.append(f'its name was "{name(seen)[:60]}" and is "{name(now)[:60]}" now')
    if seen.status != now.status:
        was, is_ = (wording.safe(room.status or wording.UNKNOWN, 20) for room in (seen, now))
        texts.append(f"it was {was} and is {is_} now")
    if [one.id for one in profiles(seen)] != [one.id for one in profiles(now)]:
        texts.append(f"it had {len(profiles(seen))} relay profiles and has {len(profiles(now))} now")
    return tuple(texts)


def _otherwise(seen: RelayProfile, now: RelayProfile) -> tuple[str, ...]:
    """What somebody else has changed of a profile; a key is never told."""
    shown = {"name": "name", "url": "address"}
    texts = [
        f'its {word} was "{wording.safe(getattr(seen, field) or "", 60)}"'
        f' and is "{wording.safe(getattr(now, field) or "", 60)}" now'
        for field, word in shown.items()
        if getattr(seen, field) != getattr(now, field)
    ]
    return (*texts, *(("its stream key is another one now",) if seen.stream_key != now.stream_key else ()))
