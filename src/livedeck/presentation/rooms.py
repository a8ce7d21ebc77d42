"""Cells and columns of meeting rooms and their relay profiles. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from livedeck.client import RelayProfile, Room, Secret
from livedeck.monitor import destination
from livedeck.presentation.events import MAX_NAME_CELLS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, text_column
from livedeck.record import Record
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole, list_parts
from livedeck.text.values import NOT_APPLICABLE, UNKNOWN, safe

ACTIVE = "active"
"""Status of a room that may have participants and running relays (platform-api.md, "Room status")."""

EMPTY_STATUSES = frozenset({"pending", "scheduled", "cancelled", "finished"})
"""Statuses of a room without participants. A room with an unknown status may have participants."""

MAX_RELAYS = 15
"""Maximum number of relay profiles of a room (platform-api.md, "Limits")."""

MAX_RUNNING = 5
"""Maximum number of relays of a room that run at once (platform-api.md, "Limits")."""


class WaitingEdit(NamedTuple):
    """Edit that waits for the end of the relay of the profile `name`. `key`: key that applies the edit."""

    name: str
    since: datetime
    key: str


class Relay(Record):
    """Row of a relay profile. `locked_at`: time at which a change was refused because the profile broadcasts.

    Only this refusal proves that a profile broadcasts. No reply proves that it does not. `is_double`: an earlier
    profile of the room sends to the same destination.
    """

    profile: RelayProfile
    locked_at: datetime | None = None
    is_double: bool = False


def display_name(item: Room | RelayProfile) -> str:
    """Return the name of an item as safe text, or the id if the item has no name."""
    return safe(item.name or item.id)


def service(profile: RelayProfile) -> str:
    """Return the platform's word for the service that the profile relays to."""
    return safe(profile.service or UNKNOWN, 20)


def relay_profiles(room: Room) -> tuple[RelayProfile, ...]:
    """Return the relay profiles by creation time. Profiles without a date are last, in the platform's order."""

    def created(profile: RelayProfile) -> float:
        return profile.created_at.timestamp() if profile.created_at else 1e12

    return tuple(sorted(room.restreams or (), key=created))


def is_known(profile: RelayProfile) -> bool:
    """Return whether address and key were received. Recordings and attached decks have neither (past.md)."""
    return {"url", "stream_key"} <= profile.model_fields_set


def gaps(profile: RelayProfile) -> tuple[str, ...]:
    """Return the missing fields that a relay needs: `address`, `key`. Empty if the reply had neither field."""
    if not is_known(profile):
        return ()
    has_key = profile.stream_key not in {None, _NO_KEY}
    return (*([] if profile.url else ["address"]), *([] if has_key else ["key"]))


_NO_KEY = Secret("")


def key_text(profile: RelayProfile) -> str:
    """Return the masked key: `none` if the profile has no key, `?` if the key is not known."""
    return "none" if "key" in gaps(profile) else str(profile.stream_key or UNKNOWN)


def doubled(room: Room) -> tuple[RelayProfile, ...]:
    """Return the profiles of a room that send to the destination of an earlier profile of the room."""
    seen: set[tuple[str, str]] = set()
    found = []
    for profile in relay_profiles(room):
        place = destination(profile)
        if place in seen:
            found.append(profile)
        elif place:
            seen.add(place)
    return tuple(found)


def profile_mark(profile: RelayProfile, render_time: RenderTime, *, is_double: bool) -> tuple[str, StyleRole]:
    """Return glyph and role of a profile: complete, not known, or unable to relay with its present fields."""
    glyph, role = ("✓", StyleRole.OK) if is_known(profile) else (UNKNOWN, StyleRole.DIM)
    if is_double or gaps(profile):
        glyph, role = "▲", StyleRole.WARNING
    return glyph, StyleRole.STALE if render_time.stale else role


MARKS = ("▲", UNKNOWN, "✓", NOT_APPLICABLE)
"""Marks of profiles and rooms, worst first."""


def relays_cell(room: Room, render_time: RenderTime) -> Line:
    """Return whether the profiles of a room are complete: `✓ 3 complete`, `▲ 1 of 3 incomplete`, `▲ 1 of 3 double`.

    `? 3 not known` if addresses and keys were not received. A complete profile need not work: the platform does not
    report whether a relay runs.
    """
    return _cell(*_relays(room), render_time)


def _relays(room: Room) -> tuple[str, StyleRole]:
    if room.restreams is None:
        return UNKNOWN, StyleRole.DIM
    count = len(room.restreams)
    if not count:
        return f"{NOT_APPLICABLE} no profile", StyleRole.DIM
    for wrong, word in (
        (sum(bool(gaps(profile)) for profile in room.restreams), "incomplete"),
        (len(doubled(room)), "double"),
    ):
        if wrong:
            return f"▲ {wrong} of {count} {word}", StyleRole.WARNING
    if unknown := sum(not is_known(profile) for profile in room.restreams):
        return f"{UNKNOWN} {unknown} not known", StyleRole.DIM
    return f"✓ {count} complete", StyleRole.OK


def worst_first(rooms: Iterable[Room]) -> list[Room]:
    """Return the rooms in order of their profiles: unsound, not known, complete, none."""
    return sorted(rooms, key=lambda room: MARKS.index(_relays(room)[0][0]))


def changed_at(room: Room) -> datetime | None:
    """Return the time of the last change of the room or of one of its profiles; None if unknown."""
    times = [time for profile in relay_profiles(room) for time in (profile.created_at, profile.updated_at)]
    return max((time for time in (room.created_at, *times) if time), default=None)


def goes_to(room: Room, render_time: RenderTime, cells: int) -> Line:
    """Return the names of the profiles that fit, with their marks, worst first."""
    doubles = doubled(room)
    marked = [
        (*profile_mark(profile, render_time, is_double=profile in doubles), display_name(profile))
        for profile in relay_profiles(room)
    ]
    marked.sort(key=lambda mark: MARKS.index(mark[0]))
    parts: list[Line] = [[(f"{glyph} {name}", role)] for glyph, role, name in marked]
    return list_parts(parts, cells) or [(UNKNOWN if room.restreams is None else NOT_APPLICABLE, StyleRole.DIM)]


def _goes_to(room: Room, render_time: RenderTime) -> Line:
    return goes_to(room, render_time, GOES_TO_CELLS)


GOES_TO_CELLS = 24
"""Minimum width of a room's profiles in cells."""


def room_status(room: Room, render_time: RenderTime) -> Line:
    """Return the platform's word for the status. An active room also has a glyph."""
    active = room.status == ACTIVE
    role = StyleRole.STRONG if active else StyleRole.DIM
    return _cell(f"{'●' if active else ' '} {_word(room.status)}", role, render_time)


def _cell(text: str, role: StyleRole, render_time: RenderTime) -> Line:
    return [(text, StyleRole.STALE if render_time.stale else role)]


def _word(word: str | None) -> str:
    return safe(word or UNKNOWN, 40)


def _platforms(room: Room) -> tuple[str, ...]:
    return tuple(dict.fromkeys(service(profile) for profile in relay_profiles(room)))


def _date(at: datetime | None, missing: str = UNKNOWN) -> str:
    return f"{at:%d %b %H:%M}" if at else missing


def _epoch(at: datetime | None) -> Value:
    return at.timestamp() if at else None


def _relay_count(room: Room) -> Value:
    return None if room.restreams is None else float(len(room.restreams))


ROOMS: TableSchema[Room] = TableSchema(
    columns=(
        text_column("room", "ROOM", 20, 0, display_name, grows=True, max_width=MAX_NAME_CELLS, role=StyleRole.STRONG),
        Column("status", "  STATUS", 11, 1, room_status, lambda room, _: _word(room.status)),
        Column("relays", "RELAYS", 19, 0, relays_cell, lambda room, _: _relay_count(room)),
        Column(
            "platforms",
            "GOES TO",
            GOES_TO_CELLS,
            3,
            _goes_to,
            lambda room, _: _platforms(room),
            grows=True,
            draw=goes_to,
        ),
        text_column("code", "CODE", 12, 2, lambda room: _word(room.code), value=lambda room: room.code),
        text_column(
            "changed",
            "CHANGED (UTC)",
            13,
            4,
            lambda room: _date(changed_at(room)),
            value=lambda room: _epoch(changed_at(room)),
            right=True,
        ),
        text_column(
            "type", "TYPE", 18, 6, lambda room: _word(room.type), value=lambda room: room.type, role=StyleRole.DIM
        ),
        Column("link", "JOIN LINK", 44, 5, lambda room, at: _cell(addresses.show(room.link), StyleRole.TEXT, at)),
    ),
    key=lambda room: room.id,
    text=lambda room: " ".join(
        [display_name(room), room.id, *_platforms(room), *map(display_name, relay_profiles(room))]
    ).casefold(),
    rows=lambda snapshot: worst_first(snapshot.rooms.items),
    is_worst_first=True,
)


def _ready(relay: Relay, render_time: RenderTime) -> Line:
    return [profile_mark(relay.profile, render_time, is_double=relay.is_double)]


def _broadcasting(relay: Relay, render_time: RenderTime) -> Line:
    """Return when a change was refused because the profile broadcasts; `?` if none was."""
    if relay.locked_at is None:
        return _cell(UNKNOWN, StyleRole.DIM, render_time)
    return [(f"▲ at {relay.locked_at:%H:%M:%S}", StyleRole.WARNING)]


RELAYS: TableSchema[Relay] = TableSchema(
    columns=(
        Column("ready", " ", 1, 0, _ready, lambda relay, _: float(relay.is_double or bool(gaps(relay.profile)))),
        text_column("platform", "PLATFORM", 13, 0, lambda relay: service(relay.profile), role=StyleRole.STRONG),
        text_column("name", "RELAY PROFILE", 16, 0, lambda relay: display_name(relay.profile)),
        text_column(
            "address",
            "ADDRESS",
            22,
            2,
            lambda relay: addresses.show(relay.profile.url),
            value=lambda relay: relay.profile.url,
            role=StyleRole.DIM,
            grows=True,
        ),
        Column("key", "KEY", 8, 1, lambda relay, at: _cell(key_text(relay.profile), StyleRole.TEXT, at)),
        text_column(
            "created",
            "CREATED (UTC)",
            13,
            5,
            lambda relay: _date(relay.profile.created_at),
            value=lambda relay: _epoch(relay.profile.created_at),
            role=StyleRole.DIM,
            right=True,
        ),
        text_column(
            "updated",
            "UPDATED (UTC)",
            13,
            3,
            lambda relay: _date(relay.profile.updated_at, "never"),
            value=lambda relay: _epoch(relay.profile.updated_at),
            role=StyleRole.DIM,
            right=True,
        ),
        Column("broadcasting", "BROADCASTING", 13, 0, _broadcasting, lambda relay, _: _epoch(relay.locked_at)),
    ),
    key=lambda relay: relay.profile.id,
    named_by=("name",),
    text=lambda relay: " ".join(
        [display_name(relay.profile), service(relay.profile), relay.profile.url or ""]
    ).casefold(),
)
