"""The tables of rooms and of the relay profiles of one room, oldest profile first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from livedeck import wording
from livedeck.client import RelayProfile, Room
from livedeck.ui.renderables.columns import Column, Sheet, Value
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment

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
    return wording.safe(one.name or one.id)


def service(profile: RelayProfile) -> str:
    """The platform's own word for where it goes."""
    return wording.safe(profile.service or wording.UNKNOWN, 20)


def profiles(room: Room) -> tuple[RelayProfile, ...]:
    """Its profiles in the order of their making; one whose date is not known keeps its place at the end."""
    return tuple(sorted(room.restreams or (), key=lambda one: one.created_at.timestamp() if one.created_at else 1e12))


def _said(text: str, moment: Moment, ink: Ink = Ink.TEXT) -> Line:
    return [(text, Ink.STALE if moment.stale else ink)]


def _word(word: str | None) -> str:
    return wording.safe(word or wording.UNKNOWN, 40)


def status(room: Room, moment: Moment) -> Line:
    """The platform's word; active is marked by a sign too."""
    busy = room.status == ACTIVE
    return _said(f"{'●' if busy else ' '} {_word(room.status)}", moment, Ink.STRONG if busy else Ink.DIM)


def _count(room: Room) -> str:
    return wording.UNKNOWN if room.restreams is None else str(len(room.restreams))


def _platforms(room: Room) -> tuple[str, ...]:
    return tuple(dict.fromkeys(service(one) for one in profiles(room)))


def when(at: datetime | None, none: str = wording.UNKNOWN) -> str:
    """A day and a time in UTC, or the word for none."""
    return f"{at:%d %b %H:%M}" if at else none


def _stamp(at: datetime | None) -> Value:
    return at.timestamp() if at else None


ROOMS: Sheet[Room] = Sheet(
    columns=(
        Column("room", "ROOM", 20, 0, lambda one, at: _said(name(one), at), lambda one, _: name(one), wide=True),
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
            lambda one, at: _said(" ".join(_platforms(one)) or wording.NOT_APPLICABLE, at, Ink.DIM),
            lambda one, _: _platforms(one),
        ),
        Column("type", "TYPE", 18, 5, lambda one, at: _said(_word(one.type), at, Ink.DIM), lambda one, _: one.type),
        Column("code", "CODE", 12, 2, lambda one, at: _said(_word(one.code), at), lambda one, _: one.code),
        Column(
            "created",
            "CREATED (UTC)",
            13,
            3,
            lambda one, at: _said(when(one.created_at), at, Ink.DIM),
            lambda one, _: _stamp(one.created_at),
            right=True,
        ),
        Column("link", "JOIN LINK", 44, 6, lambda one, at: _said(wording.link(one.link or wording.UNKNOWN), at)),
    ),
    key=lambda one: one.id,
    text=lambda one: " ".join([name(one), one.id, *_platforms(one), *map(name, profiles(one))]).casefold(),
    grave=lambda _: False,
    rows=lambda snapshot: snapshot.rooms.rooms,
)


def _locked(one: Relay, moment: Moment) -> Line:
    """When a change was refused because it broadcasts; unknown otherwise."""
    if one.locked is None:
        return [(wording.UNKNOWN, Ink.STALE if moment.stale else Ink.DIM)]
    return [(f"▲ at {one.locked:%H:%M:%S}", Ink.WARNING)]


RELAYS: Sheet[Relay] = Sheet(
    columns=(
        Column(
            "platform",
            "PLATFORM",
            13,
            0,
            lambda one, at: _said(service(one.profile), at, Ink.STRONG),
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
            lambda one, at: _said(wording.link(one.profile.url or wording.UNKNOWN), at, Ink.DIM),
            lambda one, _: one.profile.url,
            wide=True,
        ),
        Column("key", "KEY", 8, 1, lambda one, at: _said(str(one.profile.stream_key or wording.UNKNOWN), at)),
        Column(
            "created",
            "CREATED (UTC)",
            13,
            5,
            lambda one, at: _said(when(one.profile.created_at), at, Ink.DIM),
            lambda one, _: _stamp(one.profile.created_at),
            right=True,
        ),
        Column(
            "updated",
            "UPDATED (UTC)",
            13,
            3,
            lambda one, at: _said(when(one.profile.updated_at, "never"), at, Ink.DIM),
            lambda one, _: _stamp(one.profile.updated_at),
            right=True,
        ),
        Column("broadcasting", "BROADCASTING", 13, 0, _locked, lambda one, _: _stamp(one.locked)),
    ),
    key=lambda one: one.profile.id,
    text=lambda one: " ".join([name(one.profile), service(one.profile), one.profile.url or ""]).casefold(),
    grave=lambda _: False,
    rows=lambda _: (),
)
