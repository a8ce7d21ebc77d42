"""The tables of rooms and of the relay profiles of one room, and the lines around them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from livedeck.client import RelayProfile, Room
from livedeck.monitor import RoomsState
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column, TableSchema, Value
from livedeck.text import values
from livedeck.text.segments import Group, Line, StyleRole, justify, wrap

ACTIVE = "active"

"""A room of this status may have people in it, and relays that run (decisions.md, "States")."""


QUIET = frozenset({"pending", "scheduled", "cancelled", "finished"})

"""Nobody is inside. A status that is not known is none of them: unknown is not green."""


@dataclass(frozen=True, slots=True)
class Relay:
    """A relay profile as a row. `locked`: when a change was refused because it broadcasts; that edit waits.

    Nothing but a refused change tells that a profile broadcasts, and nothing tells that it does not.
    """

    profile: RelayProfile
    locked: datetime | None = None


def name(one: Room | RelayProfile) -> str:
    """Its name, fit for a cell; its id where it has none."""
    return values.safe(one.name or one.id)


def service(profile: RelayProfile) -> str:
    """The platform's own word for where it goes."""
    return values.safe(profile.service or values.UNKNOWN, 20)


def profiles(room: Room) -> tuple[RelayProfile, ...]:
    """Its profiles in the order of their making; one whose date is not known keeps its place at the end."""
    return tuple(sorted(room.restreams or (), key=lambda one: one.created_at.timestamp() if one.created_at else 1e12))


def _said(text: str, moment: RenderTime, ink: StyleRole = StyleRole.TEXT) -> Line:
    return [(text, StyleRole.STALE if moment.stale else ink)]


def _word(word: str | None) -> str:
    return values.safe(word or values.UNKNOWN, 40)


def status(room: Room, moment: RenderTime) -> Line:
    """The platform's word; active is marked by a sign too."""
    busy = room.status == ACTIVE
    return _said(f"{'●' if busy else ' '} {_word(room.status)}", moment, StyleRole.STRONG if busy else StyleRole.DIM)


def _count(room: Room) -> str:
    return values.UNKNOWN if room.restreams is None else str(len(room.restreams))


def _platforms(room: Room) -> tuple[str, ...]:
    return tuple(dict.fromkeys(service(one) for one in profiles(room)))


def when(at: datetime | None, none: str = values.UNKNOWN) -> str:
    """A day and a time in UTC, or the word for none."""
    return f"{at:%d %b %H:%M}" if at else none


def _stamp(at: datetime | None) -> Value:
    return at.timestamp() if at else None


ROOMS: TableSchema[Room] = TableSchema(
    columns=(
        Column("room", "ROOM", 20, 0, lambda one, at: _said(name(one), at), lambda one, _: name(one), grows=True),
        Column("status", "  STATUS", 11, 1, status, lambda one, _: _word(one.status)),
        Column(
            "relays",
            "RELAYS",
            6,
            0,
            lambda one, at: _said(_count(one), at),
            lambda one, _: None if one.restreams is None else float(len(one.restreams)),
            right=True,
        ),
        Column(
            "platforms",
            "PLATFORMS",
            36,
            4,
            lambda one, at: _said(" ".join(_platforms(one)) or values.NOT_APPLICABLE, at, StyleRole.DIM),
            lambda one, _: _platforms(one),
        ),
        Column(
            "type", "TYPE", 18, 5, lambda one, at: _said(_word(one.type), at, StyleRole.DIM), lambda one, _: one.type
        ),
        Column("code", "CODE", 12, 2, lambda one, at: _said(_word(one.code), at), lambda one, _: one.code),
        Column(
            "created",
            "CREATED (UTC)",
            13,
            3,
            lambda one, at: _said(when(one.created_at), at, StyleRole.DIM),
            lambda one, _: _stamp(one.created_at),
            right=True,
        ),
        Column("link", "JOIN LINK", 44, 6, lambda one, at: _said(values.link(one.link or values.UNKNOWN), at)),
    ),
    key=lambda one: one.id,
    text=lambda one: " ".join([name(one), one.id, *_platforms(one), *map(name, profiles(one))]).casefold(),
    rows=lambda snapshot: snapshot.rooms.rooms,
)


def _locked(one: Relay, moment: RenderTime) -> Line:
    """When a change was refused because it broadcasts; unknown otherwise."""
    if one.locked is None:
        return [(values.UNKNOWN, StyleRole.STALE if moment.stale else StyleRole.DIM)]
    return [(f"▲ at {one.locked:%H:%M:%S}", StyleRole.WARNING)]


RELAYS: TableSchema[Relay] = TableSchema(
    columns=(
        Column(
            "platform",
            "PLATFORM",
            13,
            0,
            lambda one, at: _said(service(one.profile), at, StyleRole.STRONG),
            lambda one, _: service(one.profile),
        ),
        Column(
            "name",
            "RELAY PROFILE",
            16,
            0,
            lambda one, at: _said(name(one.profile), at),
            lambda one, _: name(one.profile),
        ),
        Column(
            "address",
            "ADDRESS",
            24,
            2,
            lambda one, at: _said(values.link(one.profile.url or values.UNKNOWN), at, StyleRole.DIM),
            lambda one, _: one.profile.url,
            grows=True,
        ),
        Column("key", "KEY", 8, 1, lambda one, at: _said(str(one.profile.stream_key or values.UNKNOWN), at)),
        Column(
            "created",
            "CREATED (UTC)",
            13,
            5,
            lambda one, at: _said(when(one.profile.created_at), at, StyleRole.DIM),
            lambda one, _: _stamp(one.profile.created_at),
            right=True,
        ),
        Column(
            "updated",
            "UPDATED (UTC)",
            13,
            3,
            lambda one, at: _said(when(one.profile.updated_at, "never"), at, StyleRole.DIM),
            lambda one, _: _stamp(one.profile.updated_at),
            right=True,
        ),
        Column("broadcasting", "BROADCASTING", 13, 0, _locked, lambda one, _: _stamp(one.locked)),
    ),
    key=lambda one: one.profile.id,
    text=lambda one: " ".join([name(one.profile), service(one.profile), one.profile.url or ""]).casefold(),
)


MOST = 15

"""Relay profiles of a room (platform-api.md, 8)."""


ELSEWHERE = (
    "a participant starts and stops a relay inside the room, and the platform does not tell which run;"
    " profiles are made with their room, never alone"
)


class Waits(NamedTuple):
    """An edit that waits for the relay of the profile of that name to end; `key` asks whether to apply it."""

    name: str
    since: datetime
    key: str


def age(state: RoomsState, moment: RenderTime, cells: int) -> Line:
    """How many, as of when, and why the last try failed."""
    left: list[Group] = [(0, [(" ROOMS", StyleRole.HEAD)])]
    if state.as_of is not None:
        count = sum(len(room.restreams or ()) for room in state.rooms)
        left += [
            (1, [(f"{len(state.rooms)} rooms, {count} relay profiles", StyleRole.DIM)]),
            (0, [_as_of(state, moment)]),
        ]
    if state.error:
        left.append((0, [(f"▲ {values.safe(state.error, 160)}", StyleRole.WARNING)]))
    return justify(left, [(2, [(f"asked every {state.interval:g} s ", StyleRole.DIM)])], cells)


def _as_of(state: RoomsState, moment: RenderTime) -> tuple[str, StyleRole]:
    assert state.as_of is not None
    said = f"as of {state.as_of:%H:%M:%S}Z ({values.age(moment.seconds_since(state.as_of))})"
    return (f"▒ STALE, {said}", StyleRole.WARNING) if moment.stale else (said, StyleRole.DIM)


def nothing(state: RoomsState) -> str:
    """Why there is no room in the table: not asked, not answered, and none are three things. To be `worded`."""
    if state.as_of is not None:
        return "this workspace has no rooms: {room.new} makes one"
    return "the rooms could not be asked for" if state.error else "waiting for the platform's first answer"


def no_profile(room: Room | None) -> str:
    """Why there is no profile in the table."""
    if room is None:
        return "no room selected"
    if room.restreams is None:
        return f"{values.UNKNOWN} the platform did not say which profiles it has"
    return "this room was made without relay profiles, and none can be added to it"


def title(room: Room | None, waits: Waits | None, moment: RenderTime, cells: int) -> list[Line]:
    """Whose profiles stand below; the edit that waits, else where what cannot be done here is done."""
    if room is None:
        return []
    count = len(profiles(room))
    left: list[Group] = [
        (0, [(f" {name(room)}", StyleRole.STALE if moment.stale else StyleRole.STRONG)]),
        (0, status(room, moment)),
        (1, [(f"{count} of {MOST} relay profiles", StyleRole.DIM)]),
    ]
    right: list[Group] = [
        (3, [(f"code {values.safe(room.code or values.UNKNOWN, 20)}", StyleRole.DIM)]),
        (2, [(f"{values.link(room.link or values.UNKNOWN)} ", StyleRole.DIM)]),
    ]
    text, ink = (ELSEWHERE, StyleRole.DIM)
    if waits:
        text, ink = (
            f"▲ since {waits.since:%H:%M:%S}Z the edit of {waits.name} waits: {waits.key} applies it",
            StyleRole.WARNING,
        )
    return [justify(left, right, cells), *([(" ", StyleRole.TEXT), *line] for line in wrap(text, ink, cells - 2))]


def shown_key(profile: RelayProfile, left: float, cells: int) -> list[Line]:
    """A stream key in clear, whole, and for how long."""
    assert profile.stream_key is not None
    key, room = values.safe(profile.stream_key.reveal()), max(20, cells - 2)
    head = f" stream key of {name(profile)}, hidden again in {left:.0f} s"
    return [
        [(head, StyleRole.WARNING)],
        *([(f" {key[at : at + room]}", StyleRole.STRONG)] for at in range(0, len(key), room)),
    ]
