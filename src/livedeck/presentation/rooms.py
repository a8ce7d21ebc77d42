"""Cells and columns of meeting rooms and their relay profiles. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from livedeck.client import RelayProfile, Room
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value, text_column
from livedeck.record import Record
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import NOT_APPLICABLE, UNKNOWN, safe

ACTIVE = "active"
"""Status of a room that may have participants and running relays (platform-api.md, "Room status")."""

EMPTY_STATUSES = frozenset({"pending", "scheduled", "cancelled", "finished"})
"""Statuses of a room without participants. A room with an unknown status may have participants."""

MAX_RELAYS = 15
"""Maximum number of relay profiles of a room (platform-api.md, "Limits")."""


class WaitingEdit(NamedTuple):
    """Edit that waits for the end of the relay of the profile `name`. `key`: key that applies the edit."""

    name: str
    since: datetime
    key: str


class Relay(Record):
    """Row of a relay profile. `locked_at`: time at which a change was refused because the profile broadcasts.

    Only a refused change proves that a profile broadcasts. No response proves that it does not.
    """

    profile: RelayProfile
    locked_at: datetime | None = None


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


def room_status(room: Room, render_time: RenderTime) -> Line:
    """Return the platform's word for the status. An active room also has a glyph."""
    active = room.status == ACTIVE
    role = StyleRole.STRONG if active else StyleRole.DIM
    return _cell(f"{'●' if active else ' '} {_word(room.status)}", render_time, role)


def _cell(text: str, render_time: RenderTime, role: StyleRole = StyleRole.TEXT) -> Line:
    return [(text, StyleRole.STALE if render_time.stale else role)]


def _word(word: str | None) -> str:
    return safe(word or UNKNOWN, 40)


def _platforms(room: Room) -> tuple[str, ...]:
    return tuple(dict.fromkeys(service(profile) for profile in relay_profiles(room)))


def _date(at: datetime | None, missing: str = UNKNOWN) -> str:
    return f"{at:%d %b %H:%M}" if at else missing


def _epoch(at: datetime | None) -> Value:
    return at.timestamp() if at else None


def _count(room: Room) -> str:
    return UNKNOWN if room.restreams is None else str(len(room.restreams))


def _relay_count(room: Room) -> Value:
    return None if room.restreams is None else float(len(room.restreams))


ROOMS: TableSchema[Room] = TableSchema(
    columns=(
        text_column("room", "ROOM", 20, 0, display_name, grows=True),
        Column("status", "  STATUS", 11, 1, room_status, lambda room, _: _word(room.status)),
        text_column("relays", "RELAYS", 6, 0, _count, value=_relay_count, right=True),
        text_column(
            "platforms",
            "PLATFORMS",
            36,
            4,
            lambda room: " ".join(_platforms(room)) or NOT_APPLICABLE,
            value=_platforms,
            role=StyleRole.DIM,
        ),
        text_column(
            "type", "TYPE", 18, 5, lambda room: _word(room.type), value=lambda room: room.type, role=StyleRole.DIM
        ),
        text_column("code", "CODE", 12, 2, lambda room: _word(room.code), value=lambda room: room.code),
        text_column(
            "created",
            "CREATED (UTC)",
            13,
            3,
            lambda room: _date(room.created_at),
            value=lambda room: _epoch(room.created_at),
            role=StyleRole.DIM,
            right=True,
        ),
        Column("link", "JOIN LINK", 44, 6, lambda room, at: _cell(addresses.show(room.link), at)),
    ),
    key=lambda room: room.id,
    text=lambda room: " ".join(
        [display_name(room), room.id, *_platforms(room), *map(display_name, relay_profiles(room))]
    ).casefold(),
    rows=lambda snapshot: snapshot.rooms.items,
)


def _broadcasting(relay: Relay, render_time: RenderTime) -> Line:
    """Return the time at which a change was refused because the profile broadcasts; `?` without one."""
    if relay.locked_at is None:
        return _cell(UNKNOWN, render_time, StyleRole.DIM)
    return [(f"▲ at {relay.locked_at:%H:%M:%S}", StyleRole.WARNING)]


RELAYS: TableSchema[Relay] = TableSchema(
    columns=(
        text_column("platform", "PLATFORM", 13, 0, lambda relay: service(relay.profile), role=StyleRole.STRONG),
        text_column("name", "RELAY PROFILE", 16, 0, lambda relay: display_name(relay.profile)),
        text_column(
            "address",
            "ADDRESS",
            24,
            2,
            lambda relay: addresses.show(relay.profile.url),
            value=lambda relay: relay.profile.url,
            role=StyleRole.DIM,
            grows=True,
        ),
        Column("key", "KEY", 8, 1, lambda relay, at: _cell(str(relay.profile.stream_key or UNKNOWN), at)),
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
