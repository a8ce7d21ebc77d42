"""Lines around the tables of rooms and relay profiles, and the checks of a room. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from livedeck.client import EventRestream, RelayProfile, Room
from livedeck.monitor import BroadcastState, CachedList, EventState, destination, enabled
from livedeck.presentation import events, streams
from livedeck.presentation.connection import missing_rows
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.rooms import (
    ACTIVE,
    MAX_RELAYS,
    MAX_RUNNING,
    WaitingEdit,
    display_name,
    doubled,
    gaps,
    is_known,
    key_text,
    profile_mark,
    relay_profiles,
    relays_cell,
    room_status,
    service,
    worst_first,
)
from livedeck.text import addresses
from livedeck.text.segments import Group, Line, StyleRole, cell_len, clip, fit, justify, labelled, wrap
from livedeck.text.values import UNKNOWN, age, counted, safe

REVEALED = 10.0
"""Seconds that a stream key stays visible (trust.md, "Secrets")."""

RELAYS_NOTE = (
    "participants start and stop relays inside the room, and the platform does not report which are running;"
    " profiles can only be created with their room"
)


def freshness_line(rooms: CachedList[Room], render_time: RenderTime, cells: int, *, is_past: bool = False) -> Line:
    """Return a line with the numbers of rooms and profiles, their age, and the error of a failed last request.

    `is_past`: the deck shows the past, where nothing is polled.
    """
    left: list[Group] = [(0, [(" ROOMS", StyleRole.HEAD)])]
    if rooms.as_of is not None:
        profiles = [profile for room in rooms.items for profile in room.restreams or ()]
        wrong = sum(bool(gaps(profile)) for profile in profiles) + sum(len(doubled(room)) for room in rooms.items)
        active = sum(room.status == ACTIVE for room in rooms.items)
        as_of = f"as of {rooms.as_of:%H:%M:%S}Z ({age(render_time.seconds_since(rooms.as_of))})"
        stale = (f"▒ STALE, {as_of}", StyleRole.WARNING)
        left += [
            (0, [(counted(len(rooms.items), "room"), StyleRole.STRONG)]),
            (3, [("● ", StyleRole.STRONG), (f"{active} active", StyleRole.TEXT)] if active else []),
            (1, [(counted(len(profiles), "relay profile"), StyleRole.TEXT)]),
            (0, [(f"▲ {wrong} incomplete or double", StyleRole.WARNING)] if wrong else []),
            (0, [stale if render_time.stale else (as_of, StyleRole.DIM)]),
        ]
    if missing := missing_rows(rooms, "room"):
        left.append((0, missing))
    if rooms.error:
        left.append((0, [(f"▲ {safe(rooms.error, 160)}", StyleRole.WARNING)]))
    polling: list[Group] = [(2, [(f"polled every {rooms.interval:g} s ", StyleRole.DIM)])]
    return justify(left, [] if is_past else polling, cells)


def no_rooms_text(rooms: CachedList[Room], *, is_past: bool = False) -> str:
    """Return the reason why the table of rooms is empty, as a template for `with_keys`."""
    if is_past and rooms.as_of is None:
        return "rooms were not recorded at this time"
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


def room_title(
    room: Room | None, edit: WaitingEdit | None, render_time: RenderTime, cells: int, *, has_facts: bool
) -> list[Line]:
    """Return a line with the room, and a note about its waiting edit or else about the limits of relays.

    `has_facts`: False if a pane has the room's code and address.
    """
    if room is None:
        return []
    left: list[Group] = [
        (0, [(f" {display_name(room)}", StyleRole.STALE if render_time.stale else StyleRole.STRONG)]),
        (0, room_status(room, render_time)),
        (1, relays_cell(room, render_time)),
    ]
    right: list[Group] = [
        (3, [(f"code {safe(room.code or UNKNOWN, 20)}", StyleRole.DIM)]),
        (2, [(f"{addresses.show(room.link)} ", StyleRole.DIM)]),
    ]
    note, role = RELAYS_NOTE, StyleRole.DIM
    if edit:
        note = f"▲ the edit of {edit.name} has waited since {edit.since:%H:%M:%S}Z; {edit.key} applies it"
        role = StyleRole.WARNING
    head = justify(left, right if has_facts else [], cells)
    return [head, *([(" ", StyleRole.TEXT), *line] for line in wrap(note, role, cells - 2))]


def check_lines(
    room: Room | None,
    rooms: Sequence[Room],
    states: Iterable[EventState],
    render_time: RenderTime,
    cells: int,
    *,
    missing: str = "",
) -> list[Line]:
    """Return the checks of a room's relays, from the data of the room, and below them the facts about the room.

    `states`: events, whose restreams may send to the same destinations. `missing`: events that `states` lacks, in
    words; empty if it has all.
    """
    if room is None:
        return [[("no room selected", StyleRole.DIM)]]
    checks = (*_checks(room, rooms, states, missing), (_OPEN, "running relays: the platform does not report them"))
    facts = (
        ("join at", addresses.show(room.link)),
        ("code", safe(room.code or UNKNOWN, 20)),
        ("type", safe(room.type or UNKNOWN, 40)),
        ("created", f"{room.created_at:%d %b %Y %H:%M}Z" if room.created_at else UNKNOWN),
        ("id", safe(room.id, 40)),
    )
    return [
        *_signed_lines(checks, render_time, cells),
        [],
        *(clip(labelled(label, [(text, StyleRole.DIM)], LABEL_CELLS), cells) for label, text in facts),
    ]


def other_check_lines(
    room: Room | None,
    rooms: Sequence[Room],
    states: Iterable[EventState],
    render_time: RenderTime,
    cells: int,
    *,
    rows: int,
    missing: str = "",
) -> list[Line]:
    """Return the checks of the rooms beside `room` in at most `rows` lines, rooms with a fault first.

    The last line counts the rooms that do not fit. `missing`: as in `check_lines`.
    """
    lines: list[Line] = []
    others = [other for other in worst_first(rooms) if room is None or other.id != room.id]
    for index, other in enumerate(others):
        checks = _signed_lines(_checks(other, rooms, states, missing), render_time, cells)
        head: Line = [(display_name(other), StyleRole.STALE if render_time.stale else StyleRole.STRONG)]
        is_last = index == len(others) - 1
        if len(lines) + 2 + len(checks) + (not is_last) > rows:
            left = f"▼ {counted(len(others) - index, 'more room')}"
            return [*lines, [(left, StyleRole.DIM)]] if len(lines) < rows else lines
        lines += [[], head, *checks]
    return lines


LABEL_CELLS = 10

_Check = tuple[tuple[str, StyleRole], str]
"""Sign and words of a check."""


def _signed_lines(checks: Iterable[_Check], render_time: RenderTime, cells: int) -> list[Line]:
    return [
        [(mark if not row else " ", StyleRole.STALE if render_time.stale else role), (" ", StyleRole.TEXT), *line]
        for (mark, role), text in checks
        for row, line in enumerate(wrap(text, StyleRole.TEXT, cells - 2))
    ]


_GOOD, _BAD = ("✓", StyleRole.OK), ("▲", StyleRole.WARNING)
_NOTE, _OPEN = ("·", StyleRole.DIM), ("?", StyleRole.DIM)


def _checks(room: Room, rooms: Sequence[Room], states: Iterable[EventState], missing: str) -> Iterator[_Check]:
    profiles = relay_profiles(room)
    if room.restreams is None:
        yield _OPEN, "the platform did not send the profiles of this room"
    elif not profiles:
        yield _NOTE, "no relay profile: this room cannot send to another platform"
    else:
        yield from _profile_checks(room, profiles, rooms, states, missing)


def _profile_checks(
    room: Room, profiles: Sequence[RelayProfile], rooms: Sequence[Room], states: Iterable[EventState], missing: str
) -> Iterator[_Check]:
    count = f"{len(profiles)} of {MAX_RELAYS} relay profiles"
    if len(profiles) > MAX_RUNNING:
        yield _NOTE, f"{count}; at most {MAX_RUNNING} can run at once"
    else:
        yield _GOOD, f"{count}; all can run at once"
    for profile in filter(gaps, profiles):
        yield _BAD, f"{display_name(profile)} has no {' and no '.join(gaps(profile))}"
    all_known = all(map(is_known, profiles))
    if not all_known:
        yield _OPEN, "stored data and collectors omit addresses and keys"
    elif not any(map(gaps, profiles)):
        yield _GOOD, "each profile has an address and a key"
    for profile in doubled(room):
        yield _BAD, f"{display_name(profile)} sends to the same destination as another profile of this room"
    yield from _event_checks(profiles, states, missing if all_known else None)
    for other in rooms:
        shared = {destination(profile) for profile in relay_profiles(other)} if other.id != room.id else set()
        for profile in profiles:
            if destination(profile) in shared - {None}:
                yield _NOTE, f"{display_name(other)} has the destination of {display_name(profile)}, too"


def _event_checks(
    profiles: Sequence[RelayProfile], states: Iterable[EventState], missing: str | None
) -> Iterator[_Check]:
    """Yield the checks of events on air that may send to a destination of the profiles.

    `missing`: events that `states` lacks, in words; None if a destination of the profiles is unknown.
    """
    on_air = [state for state in states if state.phase.tally.expects_signal]
    names = _names_by_destination(on_air)
    taken = [(profile, name) for profile in profiles if (name := names.get(destination(profile)))]
    for profile, name in taken:
        yield _BAD, f"{name}, on air, sends to the destination of {display_name(profile)}"
    unknown = sum(not _has_known_destinations(state) for state in on_air)
    if unknown:
        yield _OPEN, f"the destinations of {counted(unknown, 'event')} on air are not known"
    elif missing and not taken:
        yield _OPEN, f"unknown whether an event on air sends here: {missing}"
    elif missing is not None and not taken:
        yield _GOOD, "no event on air sends to these destinations"


def _names_by_destination(states: Iterable[EventState]) -> dict[tuple[str, str] | None, str]:
    """Return each destination of the events -> name of an event that sends there."""
    return {
        place: events.name(state)
        for state in states
        for place in map(destination, enabled(state.event.restreams or ()))
        if place
    }


def _has_known_destinations(state: EventState) -> bool:
    """Return whether the platform sent address and key of each enabled restream of an event."""
    restreams = state.event.restreams
    return restreams is not None and all(map(destination, enabled(restreams)))


def all_room_lines(
    rooms: Sequence[Room], render_time: RenderTime, cells: int, rows: int, empty_text: str = ""
) -> list[Line]:
    """Return the rooms with their relay profiles and addresses in at most `rows` lines, rooms with a fault first.

    `empty_text`: text to show if there are no rooms.
    """
    lines: list[Line] = []
    for room in worst_first(rooms):
        if len(lines) > rows:
            break
        head: list[Group] = [(0, [(display_name(room), StyleRole.STRONG)]), (0, relays_cell(room, render_time))]
        code: list[Group] = [(1, [(f"code {safe(room.code or UNKNOWN, 20)}", StyleRole.DIM)])]
        lines += [*([[]] if lines else []), justify(head, code, cells)]
        doubles = doubled(room)
        for profile in relay_profiles(room):
            lines += _profile_lines(profile, render_time, cells, is_double=profile in doubles)
    if len(lines) > rows:
        return [*lines[: rows - 1], [("▼ more in the table above", StyleRole.DIM)]]
    return lines or [*wrap(empty_text, StyleRole.DIM, cells)]


_User = tuple[RelayProfile | EventRestream, Room | EventState]
"""Relay profile or restream, and its room or event."""


def address_lines(
    rooms: Sequence[Room],
    states: Iterable[EventState],
    render_time: RenderTime,
    cells: int,
    rows: int,
    *,
    selected: Room | None = None,
    missing: Iterable[str] = (),
    empty_text: str = "",
) -> list[Line]:
    """Return each address that relay profiles send to, with the rooms and events set to send there.

    Completed events and restreams that are switched off are left out. The last line counts the lines that do not fit.

    Args:
        rooms: all rooms.
        states: events.
        render_time: time of the picture.
        cells: width of a line.
        rows: maximum number of lines.
        selected: room whose lines are emphasized.
        missing: rooms that `rooms` lacks and events that `states` lacks, in words; a text is empty if none is lacking.
        empty_text: reason why there are no rooms.
    """
    if not rooms:
        return [*wrap(empty_text, StyleRole.DIM, cells)]
    current = [state for state in states if state.phase.tally is not BroadcastState.COMPLETED]
    unread = sum(room.restreams is None or not all(map(is_known, room.restreams)) for room in rooms)
    unknown = sum(not _has_known_destinations(state) for state in current)
    doubts = [
        *missing,
        f"the relay profiles of {counted(unread, 'room')} are not known" if unread else "",
        f"the destinations of {counted(unknown, 'event')} are not known" if unknown else "",
    ]
    users: list[_User] = [
        *((profile, room) for room in worst_first(rooms) for profile in relay_profiles(room)),
        *((restream, state) for state in current for restream in enabled(state.event.restreams or ())),
    ]
    by_address: dict[str, list[_User]] = {}
    for target, owner in users:
        by_address.setdefault((target.url or "").rstrip("/"), []).append((target, owner))
    groups = [
        (address, here) for address, here in by_address.items() if address and isinstance(here[0][0], RelayProfile)
    ]  # profiles are first
    counts = Counter(filter(None, (destination(target) for target, _ in users)))
    widest = max((cell_len(_owner_name(owner)) for _, here in groups for _, owner in here), default=0)
    free = cells - KIND_CELLS - WHEN_CELLS - TARGET_CELLS - KEY_CELLS - 2
    name_cells, has_change = min(widest, max(0, free)), free - widest >= CHANGED_CELLS
    lines: list[Line] = [line for doubt in doubts for line in wrap(f"{UNKNOWN} {doubt}", StyleRole.DIM, cells) if doubt]
    total = len(lines) + sum(len(here) + 2 for _, here in groups) - (0 if lines or not groups else 1)
    for address, here in groups:
        if len(lines) >= rows:
            break
        profiles = sum(isinstance(target, RelayProfile) for target, _ in here)
        words = f"  {counted(profiles, 'relay profile')}, {counted(len(here) - profiles, 'destination')} of events"
        lines += [*([[]] if lines else []), [(addresses.show(address), StyleRole.HEAD), (words, StyleRole.DIM)]]
        fitting = here[: max(0, rows - len(lines))]
        lines += [
            _user_line(user, counts, render_time, name_cells, selected=selected, has_change=has_change)
            for user in fitting
        ]
    if total > rows:
        return [*lines[: rows - 1], [(f"▼ {total - rows + 1} more lines", StyleRole.DIM)]]
    return lines if groups else [*lines, [("no relay profile with a known address", StyleRole.DIM)]]


def _user_line(
    user: _User,
    counts: Counter[tuple[str, str]],
    render_time: RenderTime,
    name_cells: int,
    *,
    selected: Room | None,
    has_change: bool,
) -> Line:
    """Return a line about a relay profile or restream, with its room or event.

    The line has kind, status or time of the owner, the owner, the target with its status, the last letters of its key,
    and its last change. `counts`: number of users of each destination. `name_cells`: width of the owner's name.
    `has_change`: False if the last change does not fit.
    """
    target, owner = user
    name_role = StyleRole.TEXT
    if isinstance(target, RelayProfile):
        assert isinstance(owner, Room)
        kind: Line = [(" room", StyleRole.DIM)]
        when, key = room_status(owner, render_time), key_text(target)
        glyph, role = profile_mark(target, render_time, is_double=target in doubled(owner))
        status = f"no {', no '.join(gaps(target))}" if gaps(target) else ""
        name_role = StyleRole.STRONG if selected and owner.id == selected.id else name_role
    else:
        assert isinstance(owner, EventState)
        kind, when = events.tally(owner, render_time), events.clock_cell(owner, render_time)
        key = str(target.key or UNKNOWN)
        glyph, role = streams.destination_mark(owner, target, render_time)
        status = safe(target.status or UNKNOWN, 20)
    place = destination(target)
    shared = " shared" if place and counts[place] > 1 else ""
    name_role = StyleRole.STALE if render_time.stale else name_role
    changed = (target.updated_at or target.created_at) if has_change else None
    return [
        *fit(kind, KIND_CELLS),
        *fit(when, WHEN_CELLS),
        *fit([(_owner_name(owner), name_role)], name_cells, ellipsis=True),
        (" ", StyleRole.TEXT),
        *fit([(f"{glyph} {safe(target.name or UNKNOWN)} {status}", role)], TARGET_CELLS, ellipsis=True),
        (" ", StyleRole.TEXT),
        *fit([(f"{key}{shared}", StyleRole.DIM)], KEY_CELLS),
        (f"  changed {changed:%d %b %H:%M}" if changed else "", StyleRole.DIM),
    ]


def _owner_name(owner: Room | EventState) -> str:
    return display_name(owner) if isinstance(owner, Room) else events.name(owner)


KIND_CELLS, WHEN_CELLS, TARGET_CELLS, KEY_CELLS, CHANGED_CELLS = 11, 13, 34, 15, len("  changed 09 Nov 14:44")
"""Widths of columns in `address_lines`."""


def _profile_lines(profile: RelayProfile, render_time: RenderTime, cells: int, *, is_double: bool) -> list[Line]:
    """Return a profile in two lines: sign, name and platform; then address, last letters of the key, last change."""
    glyph, role = profile_mark(profile, render_time, is_double=is_double)
    changed = profile.updated_at or profile.created_at
    address: list[Group] = [(0, [(f"    {addresses.show(profile.url)}", StyleRole.DIM)])]
    rest: list[Group] = [
        (1, [(f"key {key_text(profile)}", StyleRole.DIM)]),
        (2, [(f"changed {changed:%d %b %H:%M}", StyleRole.DIM)] if changed else []),
    ]
    text = StyleRole.STALE if render_time.stale else StyleRole.TEXT
    name: list[Group] = [(0, [(f"  {glyph} ", role), (display_name(profile), text)])]
    return [justify(name, [(1, [(service(profile), text)])], cells), justify(address, rest, cells)]


def revealed_key(profile: RelayProfile, seconds_left: float, cells: int) -> list[Line]:
    """Return the whole stream key, unmasked, with the seconds until it is hidden again."""
    assert profile.stream_key is not None
    key, width = safe(profile.stream_key.reveal()), max(20, cells - 2)
    head = f" stream key of {display_name(profile)}, hidden again in {seconds_left:.0f} s"
    rows = (key[start : start + width] for start in range(0, len(key), width))
    return [[(head, StyleRole.WARNING)], *([(f" {row}", StyleRole.STRONG)] for row in rows)]
