"""The lines around the two tables of rooms: how old they are, whose profiles these are, a key while it is shown."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from livedeck import wording
from livedeck.client import RelayProfile, Room
from livedeck.monitor import RoomsState
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, Part, spread, wrapped
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.renderables.room_rows import name, profiles, status

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


def age(state: RoomsState, moment: Moment, cells: int) -> Line:
    """How many, as of when, and why the last try failed."""
    left: list[Part] = [(0, [(" ROOMS", Ink.HEAD)])]
    if state.as_of is not None:
        count = sum(len(room.restreams or ()) for room in state.rooms)
        left += [(1, [(f"{len(state.rooms)} rooms, {count} relay profiles", Ink.DIM)]), (0, [_as_of(state, moment)])]
    if state.error:
        left.append((0, [(f"▲ {wording.safe(state.error, 160)}", Ink.WARNING)]))
    return spread(left, [(2, [(f"asked every {state.interval:g} s ", Ink.DIM)])], cells)


def _as_of(state: RoomsState, moment: Moment) -> tuple[str, Ink]:
    assert state.as_of is not None
    said = f"as of {state.as_of:%H:%M:%S}Z ({wording.age(moment.since(state.as_of))})"
    return (f"▒ STALE, {said}", Ink.WARNING) if moment.stale else (said, Ink.DIM)


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
        return f"{wording.UNKNOWN} the platform did not say which profiles it has"
    return "this room was made without relay profiles, and none can be added to it"


def title(room: Room | None, waits: Waits | None, moment: Moment, cells: int) -> list[Line]:
    """Whose profiles stand below; the edit that waits, else where what cannot be done here is done."""
    if room is None:
        return []
    count = len(profiles(room))
    left: list[Part] = [
        (0, [(f" {name(room)}", Ink.STALE if moment.stale else Ink.STRONG)]),
        (0, status(room, moment)),
        (1, [(f"{count} of {MOST} relay profiles", Ink.DIM)]),
    ]
    right: list[Part] = [
        (3, [(f"code {wording.safe(room.code or wording.UNKNOWN, 20)}", Ink.DIM)]),
        (2, [(f"{wording.link(room.link or wording.UNKNOWN)} ", Ink.DIM)]),
    ]
    text, ink = (ELSEWHERE, Ink.DIM)
    if waits:
        text, ink = (
            f"▲ since {waits.since:%H:%M:%S}Z the edit of {waits.name} waits: {waits.key} applies it",
            Ink.WARNING,
        )
    return [spread(left, right, cells), *([(" ", Ink.TEXT), *line] for line in wrapped(text, ink, cells - 2))]


def shown_key(profile: RelayProfile, left: float, cells: int) -> list[Line]:
    """A stream key in clear, whole, and for how long."""
    assert profile.stream_key is not None
    key, room = wording.safe(profile.stream_key.reveal()), max(20, cells - 2)
    head = f" stream key of {name(profile)}, hidden again in {left:.0f} s"
    return [[(head, Ink.WARNING)], *([(f" {key[at : at + room]}", Ink.STRONG)] for at in range(0, len(key), room))]
