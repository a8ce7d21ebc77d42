"""Lines around the tables of rooms and relay profiles. Pure."""

from __future__ import annotations

from livedeck.client import RelayProfile, Room
from livedeck.monitor import CachedList
from livedeck.presentation.connection import missing_rows
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.rooms import MAX_RELAYS, WaitingEdit, display_name, relay_profiles, room_status
from livedeck.text import addresses
from livedeck.text.segments import Group, Line, StyleRole, justify, wrap
from livedeck.text.values import UNKNOWN, age, safe

REVEALED = 10.0
"""Seconds that a stream key stays visible (trust.md, "Secrets")."""

RELAYS_NOTE = (
    "participants start and stop relays inside the room, and the platform does not report which are running;"
    " profiles can only be created with their room"
)


def freshness_line(rooms: CachedList[Room], render_time: RenderTime, cells: int) -> Line:
    """Return a line with the numbers of rooms and profiles, their age, and the error of a failed last request."""
    left: list[Group] = [(0, [(" ROOMS", StyleRole.HEAD)])]
    if rooms.as_of is not None:
        profiles = sum(len(room.restreams or ()) for room in rooms.items)
        as_of = f"as of {rooms.as_of:%H:%M:%S}Z ({age(render_time.seconds_since(rooms.as_of))})"
        stale = (f"▒ STALE, {as_of}", StyleRole.WARNING)
        left += [
            (1, [(f"{len(rooms.items)} rooms, {profiles} relay profiles", StyleRole.DIM)]),
            (0, [stale if render_time.stale else (as_of, StyleRole.DIM)]),
        ]
    if missing := missing_rows(rooms, "room"):
        left.append((0, missing))
    if rooms.error:
        left.append((0, [(f"▲ {safe(rooms.error, 160)}", StyleRole.WARNING)]))
    return justify(left, [(2, [(f"polled every {rooms.interval:g} s ", StyleRole.DIM)])], cells)


def no_rooms_text(rooms: CachedList[Room]) -> str:
    """Return the reason why the table of rooms is empty, as a template for `with_keys`."""
    if rooms.shortfall:
        return "the platform announced rooms, but sent none"
    if rooms.as_of is not None:
        return "this workspace has no rooms; {room.create} creates one"
    return "the rooms could not be read" if rooms.error else "waiting for the platform"


def no_profiles_text(room: Room | None) -> str:
    """Return the reason why the table of profiles is empty."""
    if room is None:
        return "no room selected"
    if room.restreams is None:
        return f"{UNKNOWN} the platform did not send the profiles of this room"
    return "this room was created without relay profiles, and none can be added"


def room_title(room: Room | None, edit: WaitingEdit | None, render_time: RenderTime, cells: int) -> list[Line]:
    """Return a line with the room, and a note about its waiting edit or else about the limits of relays."""
    if room is None:
        return []
    left: list[Group] = [
        (0, [(f" {display_name(room)}", StyleRole.STALE if render_time.stale else StyleRole.STRONG)]),
        (0, room_status(room, render_time)),
        (1, [(f"{len(relay_profiles(room))} of {MAX_RELAYS} relay profiles", StyleRole.DIM)]),
    ]
    right: list[Group] = [
        (3, [(f"code {safe(room.code or UNKNOWN, 20)}", StyleRole.DIM)]),
        (2, [(f"{addresses.show(room.link)} ", StyleRole.DIM)]),
    ]
    note, role = RELAYS_NOTE, StyleRole.DIM
    if edit:
        note = f"▲ the edit of {edit.name} has waited since {edit.since:%H:%M:%S}Z; {edit.key} applies it"
        role = StyleRole.WARNING
    return [justify(left, right, cells), *([(" ", StyleRole.TEXT), *line] for line in wrap(note, role, cells - 2))]


def revealed_key(profile: RelayProfile, seconds_left: float, cells: int) -> list[Line]:
    """Return the whole stream key, unmasked, with the seconds until it is hidden again."""
    assert profile.stream_key is not None
    key, width = safe(profile.stream_key.reveal()), max(20, cells - 2)
    head = f" stream key of {display_name(profile)}, hidden again in {seconds_left:.0f} s"
    rows = (key[start : start + width] for start in range(0, len(key), width))
    return [[(head, StyleRole.WARNING)], *([(f" {row}", StyleRole.STRONG)] for row in rows)]
