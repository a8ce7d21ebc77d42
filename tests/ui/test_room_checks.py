"""The data of the deck proves what the panes of the Rooms screen say about relays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from livedeck.client import EventRestream, RelayProfile, Room, Secret
from livedeck.monitor import CachedList, EventState
from livedeck.monitor.published.codec import encode_record
from livedeck.presentation.rooms import RELAYS, Relay, relays_cell, worst_first
from livedeck.text.segments import plain
from livedeck.ui.rooms.view import (
    address_lines,
    all_room_lines,
    check_lines,
    freshness_line,
    other_check_lines,
    room_title,
)
from presentation.test_events import FRESH, NOW, STALE, state

KEY = Secret("a-key-of-a-relay-1")
PLACE = "rtmp://live.example/app"
STUDIO = RelayProfile(id="one", name="Studio", url=PLACE, stream_key=KEY, service="custom")
OTHER = RelayProfile(id="two", name="Other", url=PLACE, stream_key=Secret("a-key-of-a-relay-2"), service="own")


def sent(profile: RelayProfile) -> RelayProfile:
    """Return the profile as an attached deck and a recording have it."""
    return RelayProfile.model_validate(encode_record(profile))


def room(*profiles: RelayProfile, name: str = "Hall", **fields: object) -> Room:
    return Room.model_validate({"id": name, "name": name, "restreams": [*profiles], **fields})


def on_air(**fields: object) -> EventState:
    """Return an event on air with one restream."""
    restream = EventRestream.model_validate({"name": "Out", "url": PLACE, "key": KEY, "enabled": True, **fields})
    known = state(name="Choir")
    return replace(known, event=known.event.model_copy(update={"restreams": (restream,)}))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (room(STUDIO, OTHER), "✓ 2 complete"),
        (room(), "- no profile"),
        (room().model_copy(update={"restreams": None}), "?"),
        (room(STUDIO, OTHER.model_copy(update={"stream_key": None})), "▲ 1 of 2 incomplete"),
        (room(STUDIO, OTHER.model_copy(update={"url": None})), "▲ 1 of 2 incomplete"),
        (room(STUDIO, OTHER.model_copy(update={"stream_key": KEY})), "▲ 1 of 2 double"),
        (room(STUDIO, OTHER.model_copy(update={"stream_key": KEY, "url": f"{PLACE}/"})), "▲ 1 of 2 double"),
        (room(STUDIO, sent(OTHER)), "? 1 not known"),
        (room(sent(STUDIO), sent(OTHER)), "? 2 not known"),
        (room(STUDIO.model_copy(update={"url": ""}), sent(OTHER)), "▲ 1 of 2 incomplete"),
    ],
)
def test_a_room_says_whether_its_profiles_are_complete(shown: Room, words: str) -> None:
    assert plain(relays_cell(shown, FRESH)) == words


def checks(*profiles: RelayProfile, events: tuple[EventState, ...] = (), others: tuple[Room, ...] = ()) -> str:
    """Return the checks of a room, as one line."""
    hall = room(*profiles)
    return " ".join(" ".join(plain(line).split()) for line in check_lines(hall, (hall, *others), events, FRESH, 80))


def test_a_destination_that_an_event_on_air_uses_is_named_and_one_that_may_be_is_no_good_news() -> None:
    assert "✓ no event on air sends to these destinations" in checks(STUDIO, events=(on_air(key=Secret("x" * 20)),))
    for same in (on_air(), on_air(url=f"{PLACE}/"), on_air(enabled=None)):
        assert "▲ Choir, on air, sends to the destination of Studio" in checks(STUDIO, events=(same,))
    for unknown in (on_air(key=None), on_air(url=None), state(restreams=None)):
        words = checks(STUDIO, events=(unknown,))
        assert "? the destinations of 1 event on air are not known" in words
        assert "✓ no event on air" not in words


def test_events_that_were_not_received_may_send_there() -> None:
    hall, missing = room(STUDIO), "6 of 12 events not received"
    lines = check_lines(hall, (hall,), (), FRESH, 80, missing=missing)
    words = " ".join(plain(line) for line in lines)
    assert f"? unknown whether an event on air sends here: {missing}" in words
    assert "no event on air" not in words


def test_rooms_that_could_not_be_read_are_not_missing() -> None:
    (line,) = all_room_lines((), FRESH, 70, 8, "the rooms could not be read")
    assert plain(line) == "the rooms could not be read"


def test_a_profile_names_what_it_lacks_and_who_else_sends_there() -> None:
    words = checks(STUDIO, OTHER.model_copy(update={"stream_key": None}), others=(room(STUDIO, name="Foyer"),))
    assert "▲ Other has no key" in words
    assert "each profile has an address and a key" not in words
    assert "· Foyer has the destination of Studio, too" in words
    assert "? running relays: the platform does not report them" in words
    double = checks(STUDIO, OTHER.model_copy(update={"stream_key": KEY}))
    assert "▲ Other sends to the same destination as another profile of this room" in double


def test_the_other_rooms_are_checked_too_bad_ones_first_and_those_that_do_not_fit_are_counted() -> None:
    hall, good, bad = room(STUDIO), room(name="Foyer"), room(OTHER.model_copy(update={"url": None}), name="Gallery")

    def texts(rows: int) -> list[str]:
        return [plain(line) for line in other_check_lines(hall, (hall, good, bad), (), FRESH, 80, rows=rows)]

    whole = texts(12)
    assert [whole.index(name) for name in ("Gallery", "Foyer")] == [1, 6]
    assert whole[3] == "▲ Other has no address"
    assert "Hall" not in whole
    assert texts(len(whole)) == whole
    assert texts(len(whole) - 1)[-1] == "▼ 1 more room"
    assert texts(2) == ["▼ 2 more rooms"]
    assert texts(0) == []


def test_withheld_addresses_and_keys_are_unknown_and_neither_missing_nor_sound() -> None:
    words = checks(sent(STUDIO), sent(OTHER))
    assert "? stored data and collectors omit addresses and keys" in words
    assert " has no " not in words
    assert "✓ each profile" not in words
    assert "✓ no event on air" not in words
    pane = "\n".join(plain(line) for line in all_room_lines([room(sent(STUDIO))], FRESH, 70, 8))
    assert "  ? Studio" in pane
    assert "key ?" in pane
    assert "▲" not in plain(freshness_line(CachedList((room(sent(STUDIO)),), NOW), FRESH, 160))


def test_an_empty_key_is_none_and_no_hidden_one() -> None:
    empty = OTHER.model_copy(update={"stream_key": Secret("")})
    (column,) = [column for column in RELAYS.columns if column.name == "key"]
    cells = [plain(column.render(Relay(profile), FRESH)) for profile in (empty, STUDIO, sent(STUDIO))]
    assert cells == ["none", f"{KEY}", "?"]
    assert "key none" in "".join(plain(line) for line in all_room_lines([room(empty)], FRESH, 70, 8))


def test_more_profiles_than_can_run_at_once_are_no_fault() -> None:
    many = [STUDIO.model_copy(update={"id": f"{n}", "stream_key": Secret(f"a-key-of-relay-{n}")}) for n in range(6)]
    assert "· 6 of 15 relay profiles; at most 5 can run at once" in checks(*many)


@pytest.mark.parametrize("rows", [3, 8, 40])
def test_the_pane_of_all_rooms_shows_no_key_and_says_if_more_are_there(rows: int) -> None:
    rooms = [room(STUDIO, OTHER, name=f"Hall {n}") for n in range(4)]
    for moment in (FRESH, STALE):
        lines = [plain(line) for line in all_room_lines(rooms, moment, 70, rows)]
        assert len(lines) <= rows
        assert KEY.reveal() not in "".join(lines)
        assert ("▼ more" in lines[-1]) == (rows < 23)


def test_rooms_with_unsound_profiles_are_first_and_rooms_without_profiles_last() -> None:
    rooms = [room(name="Empty"), room(STUDIO, name="Sound"), room(sent(STUDIO), name="Withheld")]
    rooms.append(room(STUDIO.model_copy(update={"url": None}), name="Broken"))
    assert [item.name for item in worst_first(rooms)] == ["Broken", "Withheld", "Sound", "Empty"]


def addressed(*states: EventState, rows: int = 40, missing: str = "") -> list[str]:
    """Return the lines of the pane of addresses, for a hall and a foyer."""
    rooms = room(STUDIO, status="pending"), room(OTHER, name="Foyer")
    lines = address_lines(rooms, states, FRESH, 112, rows, missing=("", missing))
    return [" ".join(plain(line).split()) for line in lines]


def test_the_pane_of_addresses_names_the_rooms_and_the_events_that_send_there() -> None:
    head, hall, foyer, choir = addressed(on_air(status="connected"))
    assert head == "rtmp://live.example/app 2 relay profiles, 1 destination of events"
    assert hall == f"room pending Hall ✓ Studio {KEY} shared"
    assert foyer == f"room ? Foyer ✓ Other {OTHER.stream_key}"
    assert choir.endswith(f"Choir ✓ Out connected {KEY} shared")
    assert "ON AIR" in choir
    assert KEY.reveal() not in hall + choir


def test_the_pane_of_addresses_has_the_last_change_of_a_profile_and_of_a_destination() -> None:
    dated = STUDIO.model_copy(update={"created_at": NOW})
    lines = address_lines([room(dated)], [on_air(updated_at=NOW.isoformat())], FRESH, 130, 8)
    assert [plain(line).endswith(f"changed {NOW:%d %b %H:%M}") for line in lines] == [False, True, True]
    narrow = address_lines([room(dated)], [], FRESH, 96, 8)
    assert not any("changed" in plain(line) for line in narrow), "a part of a date says less than none"


def test_code_and_address_of_a_room_are_in_its_title_only_if_no_pane_has_them() -> None:
    hall = room(STUDIO, code="123-456-789")
    for has_facts in (True, False):
        assert ("123-456-789" in plain(room_title(hall, None, FRESH, 120, has_facts=has_facts)[0])) is has_facts


def test_an_event_that_sends_elsewhere_is_not_at_the_address_and_one_that_may_is_said() -> None:
    assert not [line for line in addressed(on_air(url="rtmp://other.example/app")) if "Choir" in line]
    for unknown in (on_air(url=None), state(restreams=None)):
        assert addressed(unknown)[0] == "? the destinations of 1 event are not known"
    assert addressed(missing="6 of 12 events not received")[0] == "? 6 of 12 events not received"


def test_the_pane_of_addresses_counts_the_lines_that_do_not_fit() -> None:
    assert addressed(on_air(), rows=2)[1:] == ["▼ 3 more lines"]


def test_rooms_that_were_not_received_are_not_without_addresses() -> None:
    (line,) = address_lines((), (), FRESH, 70, 8, empty_text="waiting for the platform")
    assert plain(line) == "waiting for the platform"
    doubt, line = address_lines([room(sent(STUDIO))], (), FRESH, 70, 8)
    assert plain(doubt) == "? the relay profiles of 1 room are not known"
    assert plain(line) == "no relay profile with a known address"
    unread = room(name="Foyer").model_copy(update={"restreams": None})
    lines = [plain(line) for line in address_lines([room(STUDIO), unread], (), FRESH, 112, 8)]
    assert lines[0] == "? the relay profiles of 1 room are not known"


def test_a_restream_that_is_switched_off_sends_to_no_address() -> None:
    head, hall, foyer = addressed(on_air(enabled=False))
    assert head == "rtmp://live.example/app 2 relay profiles, 0 destinations of events"
    assert "shared" not in hall + foyer
